//! A game as text: what the viewer knows of it, and once it is over the truth.
use selfplay::game::{Color, Outcome};
use selfplay::rules::Position;

use crate::game::{Game, Ply};

/// Plies that stand on one line.
const PLIES_PER_LINE: usize = 10;

/// The record of a game as PGN, its moves in coordinates with what came to light. While the game goes on, it tells what the
/// viewer knows; once it is over, the start is the truth, and both players' placements stand there.
pub fn text(game: &Game) -> String {
    write(game, game.over().is_some())
}

/// The record of a game with all that anybody knows of it, to go on from.
pub fn truth(game: &Game) -> String {
    write(game, true)
}

/// The record, of the whole truth or of what the viewer knows.
fn write(game: &Game, whole: bool) -> String {
    let (rules, viewer) = (game.rules(), game.viewer());
    let told = rules.hides() && whole;
    let start = game.start().position(viewer);
    let fen = match told {
        true => Some(game.start().fen()),
        false => Some(start.fen()).filter(|fen| *fen != Position::start_for(rules, viewer).fen()),
    };
    let player = |color| match game.people().play(color) {
        true => "person",
        false => "fanqi",
    };
    let result = result(game);
    let mut tags = vec![
        ("Game", "Chinese Chess".to_owned()),
        ("Event", "fanqi serve".to_owned()),
        ("Red", player(Color::Red).to_owned()),
        ("Black", player(Color::Black).to_owned()),
        ("Result", result.to_owned()),
        ("Variant", rules.name.to_owned()),
    ];
    tags.extend(
        game.over()
            .map(|ending| ("Termination", ending.reason.to_string())),
    );
    tags.extend(fen.map(|fen| ("FEN", fen)));
    let tags: String = (tags.iter())
        .map(|(name, value)| format!("[{name} \"{value}\"]\n"))
        .collect();
    let seen_by = |ply: &Ply| if told { ply.side } else { viewer };
    let moves = (game.plies().iter())
        .filter_map(|ply| Some(ply.seen[seen_by(ply) as usize].as_ref()?.told.clone()));
    let moves: Vec<_> = moves.collect();
    let lines: String = (moves.chunks(PLIES_PER_LINE))
        .map(|line| line.join(" ") + "\n")
        .collect();
    format!("{tags}\n{lines}{result}\n")
}

fn result(game: &Game) -> &'static str {
    match game.over().map(|ending| ending.outcome) {
        None => "*",
        Some(Outcome::Win(Color::Red)) => "1-0",
        Some(Outcome::Win(Color::Black)) => "0-1",
        Some(Outcome::Draw) => "1/2-1/2",
    }
}
