//! `fanqi adjudicate`: how a game ends by the moves played (棋例).
use anyhow::Context;
use play::line::{self, Line};
use play::output::print;
use selfplay::game::{Color, Ending, Outcome, Turn};
use selfplay::rules::{Notation, Position, Repetition, Square, judge_repetition};

use super::StartArgs;
use crate::forms::RepetitionKey;

/// Judge a game by its moves: who wins, why, and the moves that were repeated.
///
/// The verdict is red_wins, black_wins, draw or undecided, by the first ending on the way. Of a repetition it also prints the
/// cycle that was judged, what each side is guilty of (one side alone loses, both draw), and the pieces chased.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    start: StartArgs,
    /// Moves from there, separated by spaces or commas, with or without numbers, in any notation: h2e2, laid down h2e2~. Behind it
    /// stands what came to light, unless the position tells: h2e2=R turned up a rook, h2e2xN took a knight.
    #[arg(long, required_unless_present = "lines", allow_hyphen_values = true)]
    moves: Option<String>,
    /// Notation of the moves; if missing, each is read by its looks: squares as `uci` (ranks 1-10) if a rank 10 occurs among the
    /// moves, else as `coordinates` (ranks 0-9).
    #[arg(long, value_name = "NOTATION")]
    from: Option<Notation>,
    /// Read games from standard input instead, one a line, each as `FEN moves h2e2 h9g7`, and print verdict, reason and
    /// plies until then of each on a line as it comes.
    #[arg(long, conflicts_with_all = ["fen", "moves"])]
    lines: bool,
    /// Judgement of a third occurrence.
    #[arg(long, value_enum, default_value = "form")]
    repetition: RepetitionKey,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let mut rules = *args.start.rules()?;
    rules.repetition = args.repetition.vary(rules.repetition);
    let rules = rules.keep();
    if args.lines {
        return super::each_line(|text| {
            let (line, moves) = super::line_and_moves(rules, text)?;
            Ok(match judge(line, args.from, &moves)? {
                Some(verdict) => format!(
                    "{} {} {}",
                    verdict.outcome(),
                    verdict.ending.reason,
                    verdict.plies
                ),
                None => format!("undecided none {}", moves.len()),
            })
        });
    }
    let line = args.start.line(rules)?;
    let texts: Vec<&str> = line::words(args.moves.as_deref().unwrap_or_default()).collect();
    if let Some(verdict) = judge(line, args.from, &texts).context("--moves")? {
        return verdict.print(&texts);
    }
    print("verdict undecided")?;
    print("reason none")?;
    Ok(())
}

/// The first ending of a game by its moves, if there is one.
fn judge(
    mut line: Line,
    from: Option<Notation>,
    texts: &[&str],
) -> anyhow::Result<Option<Verdict>> {
    let (mut ending, mut plies) = (verdict(&line, 0), 0);
    line.play_all(from, texts.iter().copied(), |line, _| {
        plies += 1;
        ending = ending.take().or_else(|| verdict(line, plies));
        Ok(())
    })?;
    if ending.is_none() {
        line.check_told()?;
    }
    Ok(ending)
}

/// How a game has ended, after that many moves, if it has.
fn verdict(line: &Line, plies: usize) -> Option<Verdict> {
    let Turn::Over(ending) = line.turn() else {
        return None;
    };
    let (position, history) = line.now();
    let repetition = judge_repetition(position, history);
    Some(Verdict {
        ending,
        plies,
        position: *position,
        repetition: repetition.filter(|repetition| repetition.ending == ending),
    })
}

/// An ending, and where it stood.
struct Verdict {
    ending: Ending,
    plies: usize,
    position: Position,
    repetition: Option<Repetition>,
}

impl Verdict {
    fn outcome(&self) -> &'static str {
        match self.ending.outcome {
            Outcome::Win(Color::Red) => "red_wins",
            Outcome::Win(Color::Black) => "black_wins",
            Outcome::Draw => "draw",
        }
    }

    fn print(&self, texts: &[&str]) -> anyhow::Result<()> {
        print(format_args!("verdict {}", self.outcome()))?;
        print(format_args!("reason {}", self.ending.reason))?;
        if self.plies < texts.len() {
            print(format_args!("after ply {}", self.plies))?;
        }
        let Some(repetition) = self.repetition else {
            return Ok(());
        };
        let cycle = &texts[self.plies - repetition.plies..self.plies];
        print(format_args!("cycle {}", cycle.join(" ")))?;
        for (color, name) in [(Color::Red, "red"), (Color::Black, "black")] {
            if let Some(offence) = repetition.offence(color) {
                print(format_args!("offence {name} {offence}"))?;
            }
        }
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
