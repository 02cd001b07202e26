//! How far a player's moves are from what the strongest network would play.
use anyhow::Context;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use selfplay::eval::{Batch, Evaluator};
use selfplay::game::{Features, Game, Referee, Turn};
use selfplay::record::RECORD_BYTES;
use selfplay::rules::{Color, Ranks, Ruleset, World};

use crate::arena::PlayedGame;

/// Rows that are evaluated at a time.
const BATCH: usize = 256;

/// A mean of -ln(prior of the move chosen), in nats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolicyLoss {
    /// The mean; 0 without positions.
    pub mean: f64,
    /// Positions.
    pub count: usize,
}

/// The mean over the first `most` positions in which the player of `games` chose among several moves, with its place in
/// each game (0: the game's first player). Openings, which are random, and placements, which are secret, do not count.
/// `evaluator`: the network whose priors are taken, without search.
pub fn policy_loss<'a>(
    rules: &'static Ruleset,
    games: impl Iterator<Item = (&'a PlayedGame, usize)>,
    most: usize,
    evaluator: &mut dyn Evaluator,
) -> anyhow::Result<PolicyLoss> {
    let mut sum = Sum::default();
    for (game, place) in games {
        if sum.count + sum.chosen.len() >= most {
            break;
        }
        let color = match place {
            0 => game.first,
            _ => game.first.other(),
        };
        replay(rules, game, color, most, evaluator, &mut sum)?;
    }
    sum.evaluate(evaluator)?;
    Ok(PolicyLoss {
        mean: sum.loss / sum.count.max(1) as f64,
        count: sum.count,
    })
}

#[derive(Default)]
struct Sum {
    loss: f64,
    count: usize,
    batch: Batch,
    /// By row of the batch: place of the move chosen among the legal ones.
    chosen: Vec<usize>,
}

impl Sum {
    fn evaluate(&mut self, evaluator: &mut dyn Evaluator) -> anyhow::Result<()> {
        if self.chosen.is_empty() {
            return Ok(());
        }
        evaluator.evaluate(&mut self.batch)?;
        for (row, chosen) in self.chosen.drain(..).enumerate() {
            let prior = self.batch.evaluation(row).log_priors[chosen];
            self.loss -= f64::from(prior);
            self.count += 1;
        }
        self.batch.clear();
        Ok(())
    }
}

/// Adds the choices of `color` in a game.
fn replay(
    rules: &'static Ruleset,
    game: &PlayedGame,
    color: Color,
    most: usize,
    evaluator: &mut dyn Evaluator,
    sum: &mut Sum,
) -> anyhow::Result<()> {
    let mut world = World::from_fen(rules, &game.start).context("the start of a kept game")?;
    // The truth holds no chance: the generator is never asked.
    let mut unused = Pcg64Mcg::seed_from_u64(0);
    let (mut legal, mut played) = (Vec::new(), 0);
    for text in game.moves.split_whitespace() {
        let said = Ranks::FromZero.read(text);
        let mv = said
            .with_context(|| format!("'{text}' in a kept game is no move"))?
            .mv;
        let choice = world.turn() == Turn::Decision(color) && world.is_public();
        if choice && played >= game.opening_plies && sum.count + sum.chosen.len() < most {
            let view = world.view(color);
            view.legal_moves(&mut legal);
            let place = legal.iter().position(|&known| known == mv);
            if let Some(place) = place.filter(|_| legal.len() > 1) {
                let mut record = [0; RECORD_BYTES];
                view.record(world.history(color), &mut record);
                let indices = legal.iter().map(|&mv| view.policy_index(mv));
                sum.batch.push(record, indices, &[]);
                sum.chosen.push(place);
            }
            if sum.chosen.len() == BATCH {
                sum.evaluate(evaluator)?;
            }
        }
        played += u16::from(world.is_public());
        world
            .try_apply(mv, &mut unused)
            .context("a move of a kept game")?;
    }
    Ok(())
}
