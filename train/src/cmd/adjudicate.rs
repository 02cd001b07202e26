//! `fanqi adjudicate`: how a game ends by the moves played (棋例).
use anyhow::{Context, bail, ensure};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use selfplay::game::{Color, Ending, Game, Outcome, Referee, Turn};
use selfplay::rules::{
    History, Move, Position, Repetition, Reveal, Ruleset, Square, View, World, judge_repetition,
};

use crate::forms::RepetitionKey;
use crate::output::print;

/// Judge a game by its moves: who wins, why, and the moves that were repeated.
///
/// The verdict is red_wins, black_wins, draw or undecided, by the first ending on the way.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the form: xiangqi, jieqi, fanqi-1 to fanqi-10.
    #[arg(long, default_value = "xiangqi")]
    form: String,
    /// Position, as a player or both know it, or the truth (ending in `world`); the start if missing.
    #[arg(long)]
    fen: Option<String>,
    /// Moves from there, separated by spaces: h2e2, laid down h2e2~. Behind it stands what came to light, unless
    /// the position tells: h2e2=R turned up a rook, h2e2xN took a knight.
    #[arg(long)]
    moves: String,
    /// Judgement of a third occurrence.
    #[arg(long, value_enum, default_value = "form")]
    repetition: RepetitionKey,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let mut rules = *super::rules(&args.form)?;
    rules.repetition = args.repetition.vary(rules.repetition);
    let mut line = Line::new(rules.keep(), args.fen.as_deref())?;
    let texts: Vec<&str> = args.moves.split_whitespace().collect();
    let mut verdict = line.verdict(0);
    for (i, text) in texts.iter().enumerate() {
        line.play(text)
            .with_context(|| format!("--moves: move {} '{text}'", i + 1))?;
        verdict = verdict.or_else(|| line.verdict(i + 1));
    }
    if let Some(verdict) = verdict {
        return verdict.print(&texts);
    }
    print("verdict undecided")?;
    print("reason none")?;
    Ok(())
}

/// A game in progress, by the truth or by what is known of it.
enum Line {
    World(Box<World>),
    View(Box<View>, History),
}

impl Line {
    fn new(rules: &'static Ruleset, fen: Option<&str>) -> anyhow::Result<Line> {
        let about = || format!("--fen {:?}", fen.unwrap_or_default());
        Ok(match fen {
            Some(fen) if super::is_world(fen) => {
                let world = World::from_fen(rules, fen).with_context(about)?;
                Line::World(Box::new(world))
            }
            Some(fen) => {
                let view = View::from_fen(rules, fen).with_context(about)?;
                Line::View(Box::new(view), History::default())
            }
            None => {
                let view = View::new(Position::start(rules));
                Line::View(Box::new(view), History::default())
            }
        })
    }

    /// The position and its past, as the side to move knows them.
    fn now(&self) -> (&Position, &History) {
        match self {
            Line::View(view, history) => (view.position(), history),
            Line::World(world) => {
                let mover = match world.turn() {
                    Turn::Decision(color) => color,
                    Turn::Chance | Turn::Over(_) => world.position(Color::Red).turn(),
                };
                (world.position(mover), world.history(mover))
            }
        }
    }

    /// Plays a move with what came to light.
    fn play(&mut self, text: &str) -> anyhow::Result<()> {
        let suffix = text.find(['=', 'x']).unwrap_or(text.len());
        let (mv, told): (Move, Reveal) = (text[..suffix].parse()?, text[suffix..].parse()?);
        let (position, _) = self.now();
        ensure!(
            position.is_legal(mv),
            "it is not legal in {}",
            position.fen()
        );
        let light = match self {
            Line::World(world) => {
                // The truth leaves nothing to chance.
                let mut rng = Pcg64Mcg::seed_from_u64(0);
                world.apply(mv, &mut rng).unwrap_or_default()
            }
            Line::View(view, history) => {
                view.play(mv, history);
                let mut reveals = Vec::new();
                view.reveals(&mut reveals);
                let mut possible = reveals.iter().map(|(reveal, _)| *reveal);
                match possible.clone().next() {
                    None => Reveal::default(),
                    Some(_) if possible.any(|reveal| reveal == told) => {
                        view.reveal(told, history);
                        told
                    }
                    Some(example) => bail!(
                        "something comes to light that the position does not tell: say what, such as {mv}{example}"
                    ),
                }
            }
        };
        ensure!(
            told == Reveal::default() || told == light,
            "what comes to light is '{light}', not '{told}'"
        );
        Ok(())
    }

    /// How the game has ended, after that many moves, if it has.
    fn verdict(&self, plies: usize) -> Option<Verdict> {
        let turn = match self {
            Line::World(world) => world.turn(),
            Line::View(view, history) => view.turn(history),
        };
        let Turn::Over(ending) = turn else {
            return None;
        };
        let (position, history) = self.now();
        let repetition = judge_repetition(position, history);
        Some(Verdict {
            ending,
            plies,
            position: *position,
            repetition: repetition.filter(|repetition| repetition.ending == ending),
        })
    }
}

/// An ending, and where it stood.
struct Verdict {
    ending: Ending,
    plies: usize,
    position: Position,
    repetition: Option<Repetition>,
}

impl Verdict {
    fn print(&self, texts: &[&str]) -> anyhow::Result<()> {
        let outcome = match self.ending.outcome {
            Outcome::Win(Color::Red) => "red_wins",
            Outcome::Win(Color::Black) => "black_wins",
            Outcome::Draw => "draw",
        };
        print(format_args!("verdict {outcome}"))?;
        print(format_args!("reason {}", self.ending.reason))?;
        if self.plies < texts.len() {
            print(format_args!("after move {}", self.plies))?;
        }
        let Some(repetition) = self.repetition else {
            return Ok(());
        };
        let cycle = &texts[self.plies - repetition.plies..self.plies];
        print(format_args!("cycle {}", cycle.join(" ")))?;
        let chased = [Color::Red, Color::Black].map(|color| repetition.chased_by(color));
        for square in chased.into_iter().flatten() {
            print(format_args!("chased {}", self.piece(square)))?;
        }
        Ok(())
    }

    fn piece(&self, square: Square) -> String {
        let piece = self.position.piece_at(square);
        let name = piece.map_or(String::new(), |p| format!("{:?} {:?} ", p.color, p.kind));
        format!("{}{square}", name.to_lowercase())
    }
}
