//! One game of self-play: what is decided between two searches.
//!
//! An arrangement is played like the game itself, a search a placement. Its policy target is the search's: a
//! placement's value is learnt from games that lie up to hundreds of plies ahead, and the search hands on
//! what the value head has made of all of them, with the other kinds compared under the same noise; the
//! bare outcome of one game says next to nothing of one placement in fifteen. Exploration is the root's noise,
//! in fast searches too, the temperature of the first move, and that some arrangements are random: from those the
//! value head learns what a placement is worth that the policy shuns, and the belief head that it happens.
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::finished::{FinishedGame, MoveOf, Resignation, RevealOf};
use super::notes::{Notes, Source, expected_score};
use super::{SelfplayConfig, game_seed};
use crate::game::{Color, Ending, Game, Outcome, Reason, Referee, Turn, Wdl, random_move};
use crate::mcts::Search;

/// A game in progress. Its search is lent to it, so that the tree's memory outlives the game.
#[derive(Debug)]
pub(super) struct Live<W: Referee> {
    pub id: u64,
    pub seed: u64,
    rng: Pcg64Mcg,
    start: W,
    world: W,
    moves: Vec<MoveOf<W>>,
    reveals: Vec<(usize, RevealOf<W>)>,
    /// How many of them were placements that only one side saw.
    placements: usize,
    notes: Notes,
    opening_plies: usize,
    /// Whose arrangement is drawn at random.
    arranges_at_random: [bool; 2],
    /// The search under way is a full one.
    full: bool,
    /// Never resigns.
    plays_on: bool,
    /// Own moves in a row that met the resignation threshold, by colour.
    hopeless: [u32; 2],
    would_resign: Option<(Color, usize)>,
    evaluations: u64,
}

impl<W: Referee> Live<W> {
    /// The game of that id and its first search, or how it ended before the first move.
    pub fn start(
        (run_seed, id): (u64, u64),
        start: impl FnOnce(&mut Pcg64Mcg) -> W,
        config: &SelfplayConfig,
        search: &mut Search<W::View>,
    ) -> (Self, Option<Ending>) {
        let seed = game_seed(run_seed, id);
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let world = start(&mut rng);
        let opening_plies = rng.random_range(0..=config.opening_plies).into();
        let plays_on = rng.random::<f32>() < config.resign_playout_share;
        let mut drawn = || rng.random::<f32>() < config.random_arrangement_share;
        let arranges_at_random = match world.is_public() {
            true => [false; 2],
            false => [drawn(), drawn()],
        };
        let mut live = Live {
            id,
            seed,
            rng,
            start: world.clone(),
            world,
            moves: Vec::new(),
            reveals: Vec::new(),
            placements: 0,
            notes: Notes::default(),
            opening_plies,
            arranges_at_random,
            full: false,
            plays_on,
            hopeless: [0; 2],
            would_resign: None,
            evaluations: 0,
        };
        let ending = match live.world.turn() {
            Turn::Decision(turn) => {
                live.begin(turn, search);
                live.plan(config, search);
                None
            }
            Turn::Over(ending) => Some(ending),
            Turn::Chance => unreachable!("the truth holds no chance"),
        };
        (live, ending)
    }

    fn begin(&mut self, turn: Color, search: &mut Search<W::View>) {
        let (view, seed) = (self.world.view(turn), self.rng.next_u64());
        search.begin(view, self.world.history(turn), seed);
    }

    /// Starts the next decision: the evaluation of the raw prior in the opening, and where a placement is drawn
    /// at random; then full searches and fast ones, which have no noise once pieces move (playout cap
    /// randomisation: Wu 2019, section 3.1).
    fn plan(&mut self, config: &SelfplayConfig, search: &mut Search<W::View>) {
        if self.in_opening() || self.places_at_random() {
            return search.plan(1, false);
        }
        self.full = self.rng.random::<f32>() < config.full_search_share;
        search.plan(
            if self.full {
                config.visits
            } else {
                config.fast_visits
            },
            self.full || !self.world.is_public(),
        );
    }

    /// Plies played since the pieces are arranged.
    fn played(&self) -> usize {
        self.moves.len() - self.placements
    }

    fn in_opening(&self) -> bool {
        self.world.is_public() && self.played() < self.opening_plies
    }

    fn places_at_random(&self) -> bool {
        let drawn = |turn: Color| self.arranges_at_random[turn as usize];
        !self.world.is_public() && matches!(self.world.turn(), Turn::Decision(turn) if drawn(turn))
    }

    /// Ends a search that is ready: notes its row, plays its move and starts the next search, unless
    /// the game is over. `net_step`: of the network that searched.
    pub fn decide(
        &mut self,
        config: &SelfplayConfig,
        search: &mut Search<W::View>,
        net_step: u64,
    ) -> Option<Ending> {
        let Turn::Decision(turn) = self.world.turn() else {
            return None;
        };
        let mv = if self.in_opening() {
            self.evaluations += 1;
            search.sample_prior()
        } else if self.places_at_random() {
            self.evaluations += 1;
            let (view, mut legal) = (self.world.view(turn), Vec::new());
            view.legal_moves(&mut legal);
            random_move(&view, &legal, &mut self.rng)
        } else {
            let decision = search.decision();
            self.evaluations += u64::from(decision.evaluations);
            let source = Source {
                game: self.id,
                net_step,
                ply: self.moves.len(),
                full: self.full,
            };
            self.notes.push(&self.world, turn, &decision, &source);
            if self.world.is_public() && self.resigns(turn, decision.wdl, config) {
                let outcome = Outcome::Win(turn.other());
                return Some(Ending {
                    outcome,
                    reason: Reason::Resignation,
                });
            }
            search.choose(config.temperature(self.played()))
        };
        self.play(turn, mv, search);
        match self.world.turn() {
            Turn::Over(ending) => return Some(ending),
            _ if self.is_capped(config) => {
                return Some(Ending {
                    outcome: Outcome::Draw,
                    reason: Reason::PlyCap,
                });
            }
            Turn::Decision(_) | Turn::Chance => {}
        }
        self.plan(config, search);
        None
    }

    fn is_capped(&self, config: &SelfplayConfig) -> bool {
        config.ply_cap > 0 && self.played() >= config.ply_cap.into()
    }

    /// Plays a move and takes the search to the next decision, with its tree where that is the same player's
    /// and nothing came to pass that the tree does not hold.
    fn play(&mut self, turn: Color, mv: MoveOf<W>, search: &mut Search<W::View>) {
        let public = self.world.is_public();
        let reveal = self.world.apply(mv, &mut self.rng);
        let next = self.world.turn();
        if self.world.open_to_both() {
            search.advance(mv);
            if let Some(reveal) = reveal {
                search.reveal(reveal);
            }
        } else if !public && next == Turn::Decision(turn) {
            search.advance(mv);
        } else if let Turn::Decision(next) = next {
            self.begin(next, search);
        }
        self.placements += usize::from(!public);
        self.reveals.extend(reveal.map(|r| (self.moves.len(), r)));
        self.moves.push(mv);
    }

    /// Counts `turn`'s hopeless moves in a row; whether it resigns now.
    fn resigns(&mut self, turn: Color, wdl: Wdl, config: &SelfplayConfig) -> bool {
        let count = &mut self.hopeless[turn as usize];
        let hopeless = expected_score(wdl.win, wdl.draw) < config.resign_below;
        *count = if hopeless { *count + 1 } else { 0 };
        let meets = hopeless && *count >= config.resign_moves.max(1);
        if meets && self.would_resign.is_none() {
            self.would_resign = Some((turn, self.moves.len()));
        }
        meets && !self.plays_on
    }

    /// Fills in what the rows could not know before the end.
    pub fn finish(self, config: &SelfplayConfig, ending: Ending) -> FinishedGame<W> {
        let resign_moves = config.resign_moves.max(1) as usize;
        let lowest = self.plays_on.then(|| self.notes.lowest(resign_moves));
        let opening_plies = self.opening_plies.min(self.played());
        let rows = self.notes.finish(ending.outcome, self.moves.len());
        let resignation = match self.would_resign {
            Some((loser, _)) if ending.reason == Reason::Resignation => {
                Resignation::Resigned(loser)
            }
            Some((loser, ply)) => Resignation::played_on(loser, ply, ending.outcome),
            None => Resignation::None,
        };
        let steps = &rows.net_step;
        FinishedGame {
            id: self.id,
            seed: self.seed,
            start: self.start,
            opening_plies,
            moves: self.moves,
            reveals: self.reveals,
            ending,
            resignation,
            lowest,
            evaluations: self.evaluations,
            net_steps: (
                steps.first().copied().unwrap_or(0),
                steps.last().copied().unwrap_or(0),
            ),
            rows,
        }
    }
}
