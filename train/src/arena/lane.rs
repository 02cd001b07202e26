//! One game in progress after another.
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use selfplay::eval::{Batch, Evaluation};
use selfplay::game::{Color, Ending, Game, Outcome, Reason, Referee, Turn, random_move};
use selfplay::rules::{Move, Reveal, World};

use super::external::Guest;
use super::seat::{Answer, Seat};
use super::{ArenaError, GameEnd, Match, PlayedGame, seed_of};

/// A board.
pub struct Lane {
    pair: u32,
    /// The first player's colour.
    first: Color,
    /// The position before the first move.
    start: String,
    world: World,
    rng: Pcg64Mcg,
    /// The moves, with what they brought to light.
    moves: Vec<String>,
    legal: Vec<Move>,
    /// How many of the moves were placements that only one side saw.
    placements: usize,
    opening_plies: u16,
    seats: [Seat; 2],
}

/// What a lane does next.
pub enum Step {
    /// It waits for the answer to a row that it put into that player's batch.
    Asked(usize),
    /// It waits for an engine.
    Waits,
    /// The game is over.
    Over(GameEnd),
}

impl Lane {
    /// A board with game number `game` of the match set up.
    pub fn new(shared: &Match, game: usize) -> Self {
        let mut lane = Lane {
            pair: 0,
            first: Color::Red,
            start: String::new(),
            world: shared.openings[game / 2].start.clone(),
            rng: Pcg64Mcg::seed_from_u64(0),
            moves: Vec::new(),
            legal: Vec::new(),
            placements: 0,
            opening_plies: 0,
            seats: shared.players.map(Seat::new),
        };
        lane.begin(shared, game);
        lane
    }

    /// Sets up game number `game` of the match.
    pub fn begin(&mut self, shared: &Match, game: usize) {
        let opening = &shared.openings[game / 2];
        self.pair = (game / 2) as u32;
        self.first = if game.is_multiple_of(2) {
            Color::Red
        } else {
            Color::Black
        };
        self.world = opening.start.clone();
        self.start = self.world.fen();
        // Both games of a pair draw the same chance.
        self.rng = Pcg64Mcg::seed_from_u64(seed_of(shared.seed, [game as u64 / 2, 0, 1]));
        self.moves.clear();
        self.placements = 0;
        self.opening_plies = opening.plies;
        for (color, guest) in guests(&mut self.seats, self.first) {
            guest.begin(&self.world, color);
        }
        for &mv in &opening.moves {
            self.note(mv);
        }
        for (player, seat) in self.seats.iter_mut().enumerate() {
            let color = seat_color(self.first, player);
            let seed = seed_of(shared.seed, [game as u64, player as u64, 2]);
            seat.begin(shared.players[player], &self.world, color, seed);
        }
    }

    /// Plays on until a network is asked, an engine thinks or the game is over; `ply_cap` 0 caps nothing.
    pub fn run(&mut self, ply_cap: u16, batches: [&mut Batch; 2]) -> Result<Step, ArenaError> {
        loop {
            let color = match self.world.turn() {
                Turn::Decision(color) => color,
                Turn::Over(ending) => return Ok(Step::Over(GameEnd::Ruled(ending))),
                Turn::Chance => unreachable!("a referee holds no chance"),
            };
            if ply_cap > 0 && self.played() >= ply_cap.into() {
                return Ok(over(Outcome::Draw, Reason::PlyCap));
            }
            let player = usize::from(color != self.first);
            let placing = !self.world.is_public();
            let at_random = match placing {
                true => self.seats[player].arranges_at_random(),
                false => self.played() < self.opening_plies.into(),
            };
            let seat = &mut self.seats[player];
            let answer = match at_random {
                true => Answer::Move(self.random_move(color)),
                false => seat.ask(&self.world, color, placing, batches[player])?,
            };
            match answer {
                Answer::Move(mv) => {
                    self.placements += usize::from(placing);
                    self.play(mv);
                }
                Answer::Asked => return Ok(Step::Asked(player)),
                Answer::Waits => return Ok(Step::Waits),
                Answer::Resigns => {
                    return Ok(over(Outcome::Win(color.other()), Reason::Resignation));
                }
                Answer::Failed(fault) => {
                    return Ok(Step::Over(GameEnd::Failed {
                        loser: color,
                        fault,
                    }));
                }
            }
        }
    }

    /// Plies since the pieces are arranged.
    fn played(&self) -> usize {
        self.moves.len() - self.placements
    }

    fn random_move(&mut self, color: Color) -> Move {
        let view = self.world.view(color);
        view.legal_moves(&mut self.legal);
        random_move(&view, &self.legal, &mut self.rng)
    }

    /// Plays a move and notes it, tells the engines of it; what came to light.
    fn note(&mut self, mv: Move) -> Option<Reveal> {
        let Lane {
            world, seats, rng, ..
        } = self;
        let secret = !world.is_public();
        let before = guests(seats, self.first).next().map(|_| world.clone());
        let revealed = world.apply(mv, rng);
        let light = revealed.unwrap_or_default();
        if let Some(before) = before {
            for (color, guest) in guests(seats, self.first) {
                if !secret {
                    guest.hear(mv, seen(&before, color, mv, light));
                } else if before.decider() == color {
                    guest.hear(mv, Reveal::default());
                }
            }
        }
        self.moves.push(format!("{mv}{light}"));
        revealed
    }

    fn play(&mut self, mv: Move) {
        let before = self.world.turn();
        let secret = !self.world.is_public();
        let revealed = self.note(mv);
        let one_tree = self.world.open_to_both();
        // Of one's own placement nobody else learns, and one's own tree goes on.
        let arranges = secret && self.world.turn() == before;
        for (player, seat) in self.seats.iter_mut().enumerate() {
            let Seat::Searched(thinker) = seat else {
                continue;
            };
            let color = seat_color(self.first, player);
            if one_tree {
                thinker.advance(mv, revealed);
            } else if arranges && before == Turn::Decision(color) {
                thinker.advance(mv, None);
            } else {
                thinker.begin_anew(&self.world, color, self.moves.len());
            }
        }
    }

    /// Takes the answer to the row that [`Lane::run`] put into a batch.
    pub fn answer(&mut self, evaluation: Evaluation<'_>) {
        for seat in &mut self.seats {
            if let Seat::Searched(thinker) = seat {
                thinker.answer(evaluation);
            }
        }
    }

    /// The engine that the game waits for.
    pub fn engine(&self) -> Option<&Guest> {
        let mut engines = self.seats.iter().filter_map(|seat| match seat {
            Seat::External(guest) if guest.is_waited_for() => Some(&**guest),
            _ => None,
        });
        engines.next()
    }

    /// The game that has ended so.
    pub fn finished(&self, ending: GameEnd) -> PlayedGame {
        PlayedGame {
            pair: self.pair,
            first: self.first,
            start: self.start.clone(),
            moves: self.moves.join(" "),
            plies: self.moves.len() as u32,
            opening_plies: self.opening_plies,
            ending,
        }
    }
}

fn over(outcome: Outcome, reason: Reason) -> Step {
    Step::Over(GameEnd::Ruled(Ending { outcome, reason }))
}

/// The colour of a player, the first one's being `first`.
fn seat_color(first: Color, player: usize) -> Color {
    if player == 0 { first } else { first.other() }
}

/// The engines at the board, with their colours.
fn guests(seats: &mut [Seat; 2], first: Color) -> impl Iterator<Item = (Color, &mut Guest)> {
    (seats.iter_mut().enumerate()).filter_map(move |(player, seat)| match seat {
        Seat::External(guest) => Some((seat_color(first, player), &mut **guest)),
        _ => None,
    })
}

/// Of `light`, what `viewer` gets to see of what `mv` brings to light in `world`.
fn seen(world: &World, viewer: Color, mv: Move, light: Reveal) -> Reveal {
    let (mut view, mut history) = (world.view(viewer), world.history(viewer).clone());
    view.play(mv, &mut history);
    let mut may = Vec::new();
    view.reveals(&mut may);
    let (mover, taken) = may.first().map_or((false, false), |(reveal, _)| {
        (reveal.mover.is_some(), reveal.taken.is_some())
    });
    Reveal {
        mover: light.mover.filter(|_| mover),
        taken: light.taken.filter(|_| taken),
    }
}
