//! What the page is told of a game: one player's knowledge of it, as JSON.
use selfplay::game::{Color, Ending, Outcome, Referee};
use selfplay::rules::{Kind, Move, Notation, Position, Square, World};
use serde::Serialize;

use crate::cell::Cell;
use crate::game::{Game, Ply, SIDES};
use crate::label::{self, Label};

/// `red` or `black`.
pub fn color_name(color: Color) -> &'static str {
    match color {
        Color::Red => "red",
        Color::Black => "black",
    }
}

/// A game as the viewer knows it.
#[derive(Clone, Debug, Serialize)]
pub struct State {
    /// Name of the form.
    pub form: &'static str,
    /// Whether some piece may be unknown to some player.
    pub hides: bool,
    /// Whether both players know the same.
    pub shared: bool,
    /// Whether pieces are arranged before the first move.
    pub arranged: bool,
    /// The sides that people play: `red`, `black` or `both`.
    pub people: crate::game::People,
    /// Whose knowledge this is.
    pub viewer: &'static str,
    /// Plies so far, placements included; it names this state within the game.
    pub ply: usize,
    /// The side to decide; `null` once the game is over.
    pub decider: Option<&'static str>,
    /// Whether people are to decide.
    pub mine: bool,
    /// Whether the side to decide arranges its pieces.
    pub arranging: bool,
    /// How it ended.
    pub over: Option<Over>,
    /// The board.
    pub board: Board,
    /// Legal moves, if people are to decide.
    pub legal: Vec<Legal>,
    /// The placement that people are to decide.
    pub placing: Option<Placing>,
    /// The plies that the viewer has seen.
    pub moves: Vec<Line>,
    /// Whether there is something to take back.
    pub may_undo: bool,
    /// The position as a FEN of the viewer's.
    pub fen: String,
    /// Plies without a capture that count towards the natural limit.
    pub no_capture: u16,
    /// The natural limit; 0: none.
    pub no_capture_limit: u16,
}

/// How a game ended.
#[derive(Clone, Debug, Serialize)]
pub struct Over {
    /// `red`, `black` or `draw`.
    pub result: &'static str,
    /// Name of a [`selfplay::game::Reason`].
    pub reason: String,
    /// What people call that.
    pub label: Label,
}

/// A position as the viewer knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Board {
    /// The text of each square ([`Cell`]), by index, `file + 9 * rank`.
    pub squares: Vec<String>,
    /// The last ply, if the viewer saw it.
    pub last: Option<Last>,
    /// The pieces taken so far, as the viewer knows them ([`Cell`]), oldest first.
    pub taken: Vec<String>,
    /// `[side][kind]`, kinds K A B N R C P: pieces that the viewer has never seen.
    pub unseen: [[u8; 7]; 2],
}

/// The last ply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Last {
    /// Square that was left, or placed on.
    pub from: usize,
    /// Square that was reached, or placed on.
    pub to: usize,
    /// Who played it.
    pub side: &'static str,
    /// Whether it gave check.
    pub check: bool,
}

/// A legal move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Legal {
    /// Its text, to be played by.
    #[serde(rename = "move")]
    pub mv: String,
    /// Square that is left.
    pub from: usize,
    /// Square that is reached.
    pub to: usize,
    /// Whether the piece is laid face down there.
    pub down: bool,
    /// In Chinese notation, if there is a choice between two moves from and to these squares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chinese: Option<String>,
}

/// What is to be placed next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Placing {
    /// Where.
    pub square: usize,
    /// Pieces that are left to place, of each kind K A B N R C P.
    pub left: [u8; 7],
    /// The text of the placement of each kind, in that order; `null` where it is not legal.
    pub moves: [Option<String>; 7],
}

/// A ply in the list of moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// Plies of the game up to and with it.
    pub ply: usize,
    /// Who played it.
    pub side: &'static str,
    /// Whether it placed a piece in an arrangement.
    pub placement: bool,
    /// In coordinates, with what came to light for the viewer.
    pub text: String,
    /// In Chinese notation.
    pub chinese: String,
    /// In WXF notation.
    pub wxf: String,
    /// Whether it gave check.
    pub check: bool,
}

impl State {
    /// What the viewer knows of a game.
    pub fn of(game: &Game) -> State {
        let (viewer, rules) = (game.viewer(), game.rules());
        let position = *game.world().view(viewer).position();
        let decider = game.decider();
        let mine = decider.is_some_and(|color| game.people().play(color));
        // Where people decide, they are the viewer.
        let legal = if mine { game.legal() } else { Vec::new() };
        let placing = placing(&position, &legal);
        let is_move = |mv: &&Move| mv.placed().is_none();
        let arranging = decider.and_then(|color| game.world().position(color).arranging());
        State {
            form: rules.name,
            hides: rules.hides(),
            shared: rules.open_to_both(),
            arranged: rules.arranged(),
            people: game.people(),
            viewer: color_name(viewer),
            ply: game.plies().len(),
            decider: decider.map(color_name),
            mine,
            arranging: arranging.is_some(),
            over: game.over().map(Over::of),
            board: Board::of(game.world(), game.plies(), viewer),
            legal: (legal.iter().filter(is_move))
                .map(|&mv| Legal::of(&position, &legal, mv))
                .collect(),
            placing,
            moves: lines(game.plies(), viewer),
            may_undo: game.may_undo(),
            fen: position.fen(),
            no_capture: position.no_capture(),
            no_capture_limit: rules.no_capture_plies,
        }
    }
}

impl Over {
    fn of(ending: Ending) -> Over {
        Over {
            result: match ending.outcome {
                Outcome::Win(color) => color_name(color),
                Outcome::Draw => "draw",
            },
            reason: ending.reason.to_string(),
            label: label::reason(ending.reason),
        }
    }
}

impl Board {
    /// What `viewer` knows of the truth that `plies` have led to.
    pub fn of(world: &World, plies: &[Ply], viewer: Color) -> Board {
        let view = world.view(viewer);
        let position = view.position();
        let text = |square| {
            let cell = Cell::seen(position, square, viewer);
            cell.map_or(String::new(), |cell| cell.to_string())
        };
        let seen = |ply: &Ply| ply.seen[viewer as usize].clone();
        let taken = plies.iter().filter_map(|ply| seen(ply)?.taken);
        Board {
            squares: Square::all().map(text).collect(),
            last: plies
                .last()
                .filter(|ply| ply.seen[viewer as usize].is_some())
                .map(Last::of),
            taken: taken.map(|cell| cell.to_string()).collect(),
            unseen: SIDES.map(|color| position.pool(color)),
        }
    }
}

impl Last {
    fn of(ply: &Ply) -> Last {
        Last {
            from: ply.mv.from().index(),
            to: ply.mv.to().index(),
            side: color_name(ply.side),
            check: ply.check,
        }
    }
}

impl Legal {
    /// One of the moves of `all`.
    fn of(position: &Position, all: &[Move], mv: Move) -> Legal {
        let squares = |mv: &Move| (mv.from(), mv.to());
        let twin = |other: &Move| *other != mv && squares(other) == squares(&mv);
        let print = || Notation::Chinese.print(position, mv).ok();
        Legal {
            mv: mv.to_string(),
            from: mv.from().index(),
            to: mv.to().index(),
            down: mv.turns_down(),
            chinese: all.iter().any(twin).then(print).flatten(),
        }
    }
}

/// The placement that is to be decided among `legal`, if there is one.
fn placing(position: &Position, legal: &[Move]) -> Option<Placing> {
    let square = position.next_placed().filter(|_| !legal.is_empty())?;
    let text = |kind: Kind| {
        let mv = legal.iter().find(|mv| mv.placed() == Some(kind));
        mv.map(Move::to_string)
    };
    Some(Placing {
        square: square.index(),
        left: position.pool(position.decider()),
        moves: Kind::ALL.map(text),
    })
}

/// The list of moves, as far as `viewer` saw them.
fn lines(plies: &[Ply], viewer: Color) -> Vec<Line> {
    let line = |(i, ply): (usize, &Ply)| {
        let seen = ply.seen[viewer as usize].as_ref()?;
        Some(Line {
            ply: i + 1,
            side: color_name(ply.side),
            placement: ply.mv.placed().is_some(),
            text: seen.text.clone(),
            chinese: seen.chinese.clone(),
            wxf: seen.wxf.clone(),
            check: ply.check,
        })
    };
    plies.iter().enumerate().filter_map(line).collect()
}
