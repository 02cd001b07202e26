//! A player at a board.
use selfplay::eval::Batch;
use selfplay::game::{Color, Referee};
use selfplay::mcts::Search;
use selfplay::opponent::Opponent;
use selfplay::rules::{Move, Reveal, View, World};

use super::external::{Fault, Guest, StartError};
use super::{Arrangement, Player, seed_of};

/// A player at a board.
pub enum Seat {
    Builtin(Box<Opponent<View>>),
    Searched(Box<Thinker>),
    External(Box<Guest>),
}

/// What a player answers when it is to move.
pub enum Answer {
    Move(Move),
    /// It has put a row into its batch and waits for the evaluation.
    Asked,
    /// Its engine thinks.
    Waits,
    Resigns,
    /// Its engine failed.
    Failed(Fault),
}

/// A search, and whether it is in the middle of a decision.
pub struct Thinker {
    search: Search<View>,
    thinking: bool,
    visits: u32,
    temperature: f32,
    arrangement: Arrangement,
    seed: u64,
}

impl Seat {
    /// A seat for `player`, which [`Seat::begin`] takes into a game.
    pub fn new(player: &Player) -> Seat {
        match player {
            Player::Builtin(builtin) => Seat::Builtin(Box::new(Opponent::new(*builtin, 0))),
            Player::External(external) => Seat::External(Box::new(Guest::new(external.clone()))),
            Player::Searched(searched) => Seat::Searched(Box::new(Thinker {
                search: Search::new(searched.search.clone()),
                thinking: false,
                visits: searched.visits,
                temperature: searched.temperature,
                arrangement: searched.arrangement,
                seed: 0,
            })),
        }
    }

    /// Whether its placements are random.
    pub fn arranges_at_random(&self) -> bool {
        matches!(self, Seat::Searched(thinker) if thinker.arrangement == Arrangement::Random)
    }

    /// Takes up a game whose opening has led to `world`.
    pub fn begin(&mut self, player: &Player, world: &World, color: Color, seed: u64) {
        match (self, player) {
            (Seat::Builtin(opponent), Player::Builtin(builtin)) => {
                **opponent = Opponent::new(*builtin, seed);
            }
            (Seat::Searched(thinker), _) => thinker.begin(world, color, seed),
            // An engine was told of the opening move by move.
            (Seat::Builtin(_) | Seat::External(_), _) => {}
        }
    }

    /// Is asked for a move of `color`, again after each [`Answer::Asked`] and [`Answer::Waits`]; `placing`: for a
    /// placement in a secret arrangement.
    pub fn ask(
        &mut self,
        world: &World,
        color: Color,
        placing: bool,
        batch: &mut Batch,
    ) -> Result<Answer, StartError> {
        Ok(match self {
            Seat::Builtin(opponent) => {
                Answer::Move(opponent.choose(&world.view(color), world.history(color)))
            }
            Seat::Searched(thinker) => thinker
                .think(placing, batch)
                .map_or(Answer::Asked, Answer::Move),
            Seat::External(guest) => guest.ask(world.position(color))?,
        })
    }
}

impl Thinker {
    /// Forgets everything and looks at `world` as `color`.
    pub fn begin(&mut self, world: &World, color: Color, seed: u64) {
        self.seed = seed;
        self.thinking = false;
        self.search
            .begin(world.view(color), world.history(color), seed);
    }

    /// The same where this player alone has learnt something that is not in its tree, after `plies`.
    pub fn begin_anew(&mut self, world: &World, color: Color, plies: usize) {
        self.begin(world, color, seed_of(self.seed, [plies as u64, 0, 3]));
    }

    /// Goes on with the tree below a move and what it brought to light.
    pub fn advance(&mut self, mv: Move, revealed: Option<Reveal>) {
        self.search.advance(mv);
        if let Some(reveal) = revealed {
            self.search.reveal(reveal);
        }
    }

    /// The answer to the row that [`Thinker::think`] put into a batch, if it did.
    pub fn answer(&mut self, evaluation: selfplay::eval::Evaluation<'_>) {
        if self.thinking {
            self.search.apply(evaluation);
        }
    }

    /// The chosen move, a placement where `placing`, or `None` after putting a row into `batch`.
    fn think(&mut self, placing: bool, batch: &mut Batch) -> Option<Move> {
        if !self.thinking {
            self.search.plan(self.visits, false);
        }
        self.thinking = self.search.gather(batch);
        let temperature = match self.arrangement {
            Arrangement::Searched { temperature } if placing => temperature,
            _ => self.temperature,
        };
        (!self.thinking).then(|| self.search.choose(temperature))
    }
}
