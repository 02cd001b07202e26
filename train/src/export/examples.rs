//! Positions with what the network reads and answers, so that the author of another program can check it number by number.
use anyhow::anyhow;
use model::expand::{InputBuffer, PLANES};
use model::export::Outputs;
use model::infer::Infer;
use model::params::to_vec;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use selfplay::expand::{GLOBALS, expand};
use selfplay::game::{Color, Features, Game, Referee, Turn, random_move};
use selfplay::policy::{INDICES, SQUARES};
use selfplay::record::{RECORD_BYTES, Record};
use selfplay::rules::{Move, Ruleset, World};
use serde::Serialize;
use tch::{Device, Kind};

use crate::network::Network;

/// What chance decides in the examples follows from this and the form's place in the list.
const SEED: u64 = 1;
/// Plies of play before the second example of a form.
const PLIES: u32 = 24;

/// A position, its input and the answers.
#[derive(Clone, Debug, Serialize)]
pub struct Example {
    /// Name of the form.
    pub form: String,
    /// The position as the viewer knows it.
    pub fen: String,
    /// The side to decide, from whose point of view all else is.
    pub decides: Color,
    /// Of each plane that is not 0 everywhere, but the last: its index and the squares where it is 1, `file + 9 * rank`.
    pub planes: Vec<(usize, Vec<usize>)>,
    /// Every global.
    pub globals: Vec<f32>,
    /// Every legal move, the likeliest first.
    pub moves: Vec<MoveAnswer>,
    /// Probabilities of win, draw, loss.
    pub wdl: [f32; 3],
    /// Plies to the end of the game.
    pub moves_left: f32,
    /// Of each unknown piece that a belief can be about: its square and the probabilities of A B N R C P.
    pub belief: Vec<(usize, [f32; 6])>,
}

/// A legal move and what the network says of it.
#[derive(Clone, Debug, Serialize)]
pub struct MoveAnswer {
    /// The move on the board, `h2e2`; laid down `h2e2~`, placed `R@a0`.
    pub r#move: String,
    /// Its place in `policy`.
    pub index: u16,
    /// What stands there.
    pub logit: f32,
    /// The softmax over the legal moves.
    pub prior: f32,
}

/// A position before the network was asked.
struct Asked {
    rules: &'static Ruleset,
    fen: String,
    decides: Color,
    record: Record,
    moves: Vec<Move>,
    indices: Vec<u16>,
    unknown: Vec<u8>,
}

/// Of each form of a network its start, and a position after some random moves.
pub fn examples(network: &Network) -> anyhow::Result<Vec<Example>> {
    let mut asked = Vec::new();
    for (i, rules) in network.forms.rules().enumerate() {
        let mut rng = Pcg64Mcg::seed_from_u64(SEED + i as u64);
        let mut world = World::start(rules, &mut rng);
        asked.push(Asked::of(rules, &world));
        asked.push(Asked::of(rules, played(&mut world, &mut rng)));
    }
    let records: Vec<_> = asked.iter().map(|asked| asked.record).collect();
    let answer = || -> Result<[Vec<f32>; 4], tch::TchError> {
        let infer = Infer::new(&network.weights, Device::Cpu, Kind::Float)?;
        let mut buffer = InputBuffer::new(Kind::Float, Device::Cpu);
        let outputs = Outputs::of(&infer, &buffer.fill(&records)?)?.into_tensors();
        let [policy, wdl, left, belief] =
            outputs.map(|t| t.f_flatten(0, -1).and_then(|t| to_vec(&t)));
        Ok([policy?, wdl?, left?, belief?])
    };
    let [policy, wdl, left, belief] = answer().map_err(|e| anyhow!("torch failed: {e}"))?;
    let rows = policy.chunks(INDICES).zip(wdl.chunks(3)).zip(&left);
    let rows = rows.zip(belief.chunks(6 * SQUARES)).zip(&asked);
    Ok(rows
        .map(|((((policy, wdl), &left), belief), asked)| Example {
            moves_left: left,
            wdl: [wdl[0], wdl[1], wdl[2]],
            ..asked.example(policy, belief)
        })
        .collect())
}

/// The game after the arrangement, if there is one, and some random plies; earlier where it would be over.
fn played<'a>(world: &'a mut World, rng: &mut Pcg64Mcg) -> &'a World {
    let (mut plies, mut moves) = (0, Vec::new());
    while plies < PLIES {
        let view = world.view(world.decider());
        view.legal_moves(&mut moves);
        plies += u32::from(!view.is_secret());
        let mv = random_move(&view, &moves, rng);
        let before = world.clone();
        world.apply(mv, rng);
        if !matches!(world.turn(), Turn::Decision(_)) {
            *world = before;
            break;
        }
    }
    world
}

impl Asked {
    fn of(rules: &'static Ruleset, world: &World) -> Asked {
        let decides = world.decider();
        let view = world.view(decides);
        let (mut record, mut moves, mut unknown) = ([0; RECORD_BYTES], Vec::new(), Vec::new());
        view.record(world.history(decides), &mut record);
        view.legal_moves(&mut moves);
        view.unknown(&mut unknown);
        Asked {
            rules,
            fen: view.position().fen(),
            decides,
            record,
            indices: moves.iter().map(|&mv| view.policy_index(mv)).collect(),
            moves,
            unknown,
        }
    }

    /// All but the outputs of a single number.
    fn example(&self, policy: &[f32], belief: &[f32]) -> Example {
        let (mut planes, mut globals) = (vec![0.0; PLANES * SQUARES], vec![0.0; GLOBALS]);
        expand(&[self.record], &mut planes, &mut globals, |x| x);
        let set = |plane: usize| -> Vec<usize> {
            let is_set = |&square: &usize| planes[square * PLANES + plane] == 1.0;
            (0..SQUARES).filter(is_set).collect()
        };
        let planes = (0..PLANES - 1).map(|plane| (plane, set(plane)));
        let believed = |&square: &u8| {
            let square = usize::from(square);
            let of_kind = |kind: usize| belief[kind * SQUARES + square];
            (square, [0, 1, 2, 3, 4, 5].map(of_kind))
        };
        Example {
            form: self.rules.name.to_owned(),
            fen: self.fen.clone(),
            decides: self.decides,
            planes: planes.filter(|(_, squares)| !squares.is_empty()).collect(),
            globals,
            moves: self.answers(policy),
            wdl: [0.0; 3],
            moves_left: 0.0,
            belief: self.unknown.iter().map(believed).collect(),
        }
    }

    fn answers(&self, policy: &[f32]) -> Vec<MoveAnswer> {
        let logit = |&index: &u16| policy[usize::from(index)];
        let most = self
            .indices
            .iter()
            .map(logit)
            .fold(f32::NEG_INFINITY, f32::max);
        let likely = |index: &u16| f64::from(logit(index) - most).exp();
        let sum: f64 = self.indices.iter().map(likely).sum();
        let answer = |(mv, index): (&Move, &u16)| MoveAnswer {
            r#move: mv.to_string(),
            index: *index,
            logit: logit(index),
            prior: (likely(index) / sum) as f32,
        };
        let mut answers: Vec<_> = self.moves.iter().zip(&self.indices).map(answer).collect();
        answers.sort_by(|a, b| b.logit.total_cmp(&a.logit));
        answers
    }
}
