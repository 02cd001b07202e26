//! A game at the board: the truth of it, who sits where, and what each of the two has seen of every ply.
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use selfplay::game::{Color, Ending, Game as _, Outcome, Reason, Referee, Turn};
use selfplay::rules::{Kind, Move, Notation, Position, Reveal, Ruleset, World};
use serde::{Deserialize, Serialize};

use crate::cell::Cell;

/// Both sides, in the order in which they arrange and move.
pub const SIDES: [Color; 2] = [Color::Red, Color::Black];
/// Most plies of a game, placements included: far beyond any that the natural limit leaves room for in practice.
pub const MOST_PLIES: usize = 2000;

/// Which sides people play; the engine has the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum People {
    /// Red.
    Red,
    /// Black.
    Black,
    /// Both, in turn at one screen, which shows what the side to decide knows.
    Both,
}

impl People {
    /// Whether people decide for that side.
    pub fn play(self, color: Color) -> bool {
        match self {
            People::Red => color == Color::Red,
            People::Black => color == Color::Black,
            People::Both => true,
        }
    }
}

/// Why a request to a game is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GameError {
    /// No move text.
    #[error("{0}")]
    NoMove(String),
    /// The rules forbid it.
    #[error("'{mv}' is not legal here; `legal` of the state lists the moves that are")]
    Illegal {
        /// The move.
        mv: String,
    },
    /// The game has ended.
    #[error("the game is over; undo, or begin another one")]
    Over,
    /// It is the other side's turn.
    #[error("it is the engine's turn: ask for its move, or undo")]
    EnginesTurn,
    /// It is people's turn.
    #[error("it is not the engine's turn, but yours")]
    PeoplesTurn,
    /// There is nothing that could be taken back.
    #[error("there is no move of yours to take back")]
    NothingToUndo,
    /// Nobody arranges pieces now.
    #[error("no piece is to be placed now")]
    NoArrangement,
    /// No such ply.
    #[error("there is no ply {ply}; the game has {plies}")]
    NoPly {
        /// Asked for.
        ply: usize,
        /// How many there are.
        plies: usize,
    },
    /// Too long a game.
    #[error("the game has {MOST_PLIES} plies, and no more are kept; begin another one")]
    TooLong,
    /// What was thought about is no longer the position.
    #[error("the game went on meanwhile; ask again")]
    Stale,
}

/// A ply as one player saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// In coordinates, with what came to light for this player.
    pub text: String,
    /// In coordinates, with all that came to light for anybody and this player knows now: a record, which whoever reads it can
    /// play again.
    pub told: String,
    /// In Chinese notation, with the same as `text`.
    pub chinese: String,
    /// In WXF notation, with the same as `text`.
    pub wxf: String,
    /// What was taken, as this player knows it now.
    pub taken: Option<Cell>,
}

/// A ply.
#[derive(Clone, Debug)]
pub struct Ply {
    /// Who played it.
    pub side: Color,
    /// The move.
    pub mv: Move,
    /// Whether it left the other side in check.
    pub check: bool,
    /// `[viewer]`; `None` of a placement that this player did not see.
    pub seen: [Option<Seen>; 2],
}

/// How the pieces that are left to be placed are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rest {
    /// Each way as likely.
    Random,
    /// Each where a piece of its kind stands in Xiangqi, as far as that is possible.
    Home,
}

/// A game in progress.
#[derive(Clone, Debug)]
pub struct Game {
    start: World,
    world: World,
    plies: Vec<Ply>,
    people: People,
    resigned: Option<Color>,
    changes: u64,
    rng: Pcg64Mcg,
}

impl Game {
    /// A new game; what chance decides follows from `seed`.
    pub fn new(rules: &'static Ruleset, people: People, seed: u64) -> Game {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let world = World::start(rules, &mut rng);
        Game::from_world(world, people, rng.random())
    }

    /// A game that goes on from there.
    pub fn from_world(world: World, people: People, seed: u64) -> Game {
        Game {
            start: world.clone(),
            world,
            plies: Vec::new(),
            people,
            resigned: None,
            changes: 0,
            rng: Pcg64Mcg::seed_from_u64(seed),
        }
    }

    /// Its form.
    pub fn rules(&self) -> &'static Ruleset {
        self.world.position(Color::Red).rules()
    }

    /// The truth; what leaves this crate of it is one player's view.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The truth at the start.
    pub fn start(&self) -> &World {
        &self.start
    }

    /// The plies so far.
    pub fn plies(&self) -> &[Ply] {
        &self.plies
    }

    /// How often it has changed: two states of a game with the same number are the same state.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Which sides people play.
    pub fn people(&self) -> People {
        self.people
    }

    /// How it ended, if it did.
    pub fn over(&self) -> Option<Ending> {
        if let Some(color) = self.resigned {
            return Some(Ending {
                outcome: Outcome::Win(color.other()),
                reason: Reason::Resignation,
            });
        }
        match self.world.turn() {
            Turn::Over(ending) => Some(ending),
            Turn::Decision(_) | Turn::Chance => None,
        }
    }

    /// The side that is to decide, unless the game is over.
    pub fn decider(&self) -> Option<Color> {
        self.over().is_none().then(|| self.world.decider())
    }

    /// Whose knowledge the page shows: that of the side people play; of the side to decide where they play both.
    pub fn viewer(&self) -> Color {
        match self.people {
            People::Red => Color::Red,
            People::Black => Color::Black,
            People::Both => self.world.decider(),
        }
    }

    /// The legal moves of the side to decide, as it knows the position; none once the game is over.
    pub fn legal(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        if let Some(color) = self.decider() {
            self.world.view(color).legal_moves(&mut moves);
        }
        moves
    }

    /// The side to decide, if people play it.
    fn peoples_turn(&self) -> Result<Color, GameError> {
        let color = self.decider().ok_or(GameError::Over)?;
        match self.people.play(color) {
            true => Ok(color),
            false => Err(GameError::EnginesTurn),
        }
    }

    /// Plays people's move, a text in coordinates such as `h2e2`, `h2e2~` or `R@a0`.
    pub fn play(&mut self, text: &str) -> Result<(), GameError> {
        self.peoples_turn()?;
        let mv: Move = text
            .parse()
            .map_err(|e: selfplay::rules::ParseMoveError| GameError::NoMove(e.to_string()))?;
        self.apply(mv)
    }

    /// Plays the engine's move.
    pub fn play_engine(&mut self, mv: Move) -> Result<(), GameError> {
        let color = self.decider().ok_or(GameError::Over)?;
        match self.people.play(color) {
            true => Err(GameError::PeoplesTurn),
            false => self.apply(mv),
        }
    }

    /// Plays a move of whoever is to decide, if it is legal.
    pub fn apply(&mut self, mv: Move) -> Result<(), GameError> {
        let side = self.decider().ok_or(GameError::Over)?;
        if self.plies.len() >= MOST_PLIES {
            return Err(GameError::TooLong);
        }
        let before = SIDES.map(|viewer| *self.world.position(viewer));
        if !before[side as usize].is_legal(mv) {
            let mv = mv.to_string();
            return Err(GameError::Illegal { mv });
        }
        let light = self.world.apply(mv, &mut self.rng).unwrap_or_default();
        let seen = SIDES.map(|viewer| {
            let unseen = mv.placed().is_some() && viewer != side;
            (!unseen).then(|| seen(&before[viewer as usize], mv, light, viewer, side))
        });
        self.plies.push(Ply {
            side,
            mv,
            check: self.world.position(side.other()).in_check(),
            seen,
        });
        self.changes += 1;
        Ok(())
    }

    /// Arranges the pieces that are left of the side to decide.
    pub fn arrange(&mut self, how: Rest) -> Result<(), GameError> {
        let side = self.peoples_turn()?;
        self.world
            .position(side)
            .arranging()
            .ok_or(GameError::NoArrangement)?;
        self.fill(side, how)
    }

    /// Places all that `side` has left to place.
    pub(crate) fn fill(&mut self, side: Color, how: Rest) -> Result<(), GameError> {
        while self.world.position(side).arranging().is_some() {
            let position = *self.world.position(side);
            let home = position.next_placed().and_then(|s| position.piece_at(s));
            let mut legal = Vec::new();
            position.legal_moves(&mut legal);
            let at_home = legal
                .iter()
                .find(|mv| mv.placed() == home.map(|piece| piece.kind));
            let mut random = || random_placement(&position, &legal, &mut self.rng);
            let mv = match (how, at_home) {
                (Rest::Home, Some(&mv)) => Some(mv),
                _ => random(),
            };
            self.apply(mv.ok_or(GameError::NoArrangement)?)?;
        }
        Ok(())
    }

    /// Takes back everything since people's last decision, and that; a resignation alone comes first.
    pub fn undo(&mut self) -> Result<(), GameError> {
        if self.resigned.take().is_some() {
            self.changes += 1;
            return Ok(());
        }
        let last = self
            .plies
            .iter()
            .rposition(|ply| self.people.play(ply.side));
        let keep = last.ok_or(GameError::NothingToUndo)?;
        self.world = self.at(keep)?;
        self.plies.truncate(keep);
        self.changes += 1;
        Ok(())
    }

    /// Whether [`Game::undo`] can do anything.
    pub fn may_undo(&self) -> bool {
        self.resigned.is_some() || self.plies.iter().any(|ply| self.people.play(ply.side))
    }

    /// People resign: the side whose turn it is, if it is theirs, else the one they play.
    pub fn resign(&mut self) -> Result<(), GameError> {
        let turn = self.decider().ok_or(GameError::Over)?;
        self.resigned = Some(match self.people.play(turn) {
            true => turn,
            false => turn.other(),
        });
        self.changes += 1;
        Ok(())
    }

    /// The truth behind the first `ply` plies.
    pub fn at(&self, ply: usize) -> Result<World, GameError> {
        let plies = self.plies.get(..ply).ok_or(GameError::NoPly {
            ply,
            plies: self.plies.len(),
        })?;
        let mut world = self.start.clone();
        // The truth holds no chance: the generator is never asked.
        let mut unused = Pcg64Mcg::seed_from_u64(0);
        for ply in plies {
            world.apply(ply.mv, &mut unused);
        }
        Ok(world)
    }
}

/// One of the pieces that are left, each as likely.
fn random_placement(position: &Position, legal: &[Move], rng: &mut Pcg64Mcg) -> Option<Move> {
    let left = position.pool(position.decider());
    let ways = |mv: &Move| mv.placed().map_or(0, |kind: Kind| left[kind.index()]);
    legal.choose_weighted(rng, ways).ok().copied()
}

/// A ply as `viewer` saw it, to whom the position before it was `before`; `light`: all that came to light to anybody.
fn seen(before: &Position, mv: Move, light: Reveal, viewer: Color, side: Color) -> Seen {
    let unknown = |square| {
        let piece = before.piece_at(square);
        piece.is_some_and(|piece| piece.identity().is_none())
    };
    let sees = before.rules().sees_captured(Some(viewer), side);
    let reveal = Reveal {
        mover: light.mover.filter(|_| unknown(mv.from())),
        taken: light.taken.filter(|_| unknown(mv.to()) && sees),
    };
    let told = Reveal {
        taken: light.taken.filter(|_| sees || !unknown(mv.to())),
        ..light
    };
    let taken = Cell::seen(before, mv.to(), viewer).filter(|_| mv.placed().is_none());
    let taken = taken.map(|cell| Cell {
        truth: cell.truth.or(reveal.taken),
        known: SIDES.map(|color| {
            cell.known[color as usize] || before.rules().sees_captured(Some(color), side)
        }),
        ..cell
    });
    let print = |notation: Notation| {
        let text = notation.print_revealed(before, mv, reveal);
        text.unwrap_or_else(|_| format!("{mv}{reveal}"))
    };
    Seen {
        text: print(Notation::Coordinates),
        told: format!("{mv}{told}"),
        chinese: print(Notation::Chinese),
        wxf: print(Notation::Wxf),
        taken,
    }
}
