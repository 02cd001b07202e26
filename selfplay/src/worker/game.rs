//! One game of self-play: what is decided between two searches.
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::finished::{FinishedGame, MoveOf, Resignation, RevealOf};
use super::{SelfplayConfig, game_seed};
use crate::game::{Color, Ending, Features, Outcome, Reason, Referee, Turn, Wdl};
use crate::mcts::{Decision, Search};
use crate::record::{RECORD_BYTES, Rows, quantise};

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
    rows: Rows,
    /// The side to move of each row.
    viewers: Vec<Color>,
    opening_plies: usize,
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
        let mut live = Live {
            id,
            seed,
            rng,
            start: world.clone(),
            world,
            moves: Vec::new(),
            reveals: Vec::new(),
            rows: Rows::default(),
            viewers: Vec::new(),
            opening_plies,
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

    /// Starts the next decision: the evaluation of the raw prior in the opening, then full searches
    /// and fast ones without noise (playout cap randomisation: Wu 2019, section 3.1).
    fn plan(&mut self, config: &SelfplayConfig, search: &mut Search<W::View>) {
        if self.in_opening() {
            return search.plan(1, false);
        }
        self.full = self.rng.random::<f32>() < config.full_search_share;
        search.plan(
            if self.full {
                config.visits
            } else {
                config.fast_visits
            },
            self.full,
        );
    }

    fn in_opening(&self) -> bool {
        self.moves.len() < self.opening_plies
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
        } else {
            let decision = search.decision();
            self.evaluations += u64::from(decision.evaluations);
            self.push_row(turn, &decision, search, net_step);
            if self.resigns(turn, decision.wdl, config) {
                let outcome = Outcome::Win(turn.other());
                return Some(Ending {
                    outcome,
                    reason: Reason::Resignation,
                });
            }
            search.choose(config.temperature(self.moves.len()))
        };
        self.play(mv, search);
        match self.world.turn() {
            Turn::Over(ending) => return Some(ending),
            _ if self.is_capped(config) => {
                return Some(Ending {
                    outcome: Outcome::Draw,
                    reason: Reason::PlyCap,
                });
            }
            Turn::Decision(turn) if !self.world.open_to_both() => self.begin(turn, search),
            Turn::Decision(_) | Turn::Chance => {}
        }
        self.plan(config, search);
        None
    }

    fn is_capped(&self, config: &SelfplayConfig) -> bool {
        config.ply_cap > 0 && self.moves.len() >= config.ply_cap.into()
    }

    fn play(&mut self, mv: MoveOf<W>, search: &mut Search<W::View>) {
        let reveal = self.world.apply(mv, &mut self.rng);
        if self.world.open_to_both() {
            search.advance(mv);
            if let Some(reveal) = reveal {
                search.reveal(reveal);
            }
        }
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

    fn push_row(
        &mut self,
        turn: Color,
        decision: &Decision<MoveOf<W>>,
        search: &Search<W::View>,
        net_step: u64,
    ) {
        let rows = &mut self.rows;
        let mut record = [0; RECORD_BYTES];
        if let Some(position) = search.position() {
            position.record(search.history(), &mut record);
        }
        rows.records.push(record);
        for info in &decision.moves {
            rows.policy_index.push(info.policy_index);
            rows.policy_prob.push(quantise(info.target));
        }
        rows.policy_end.push(rows.policy_index.len() as u64);
        rows.policy_weight.push(self.full.into());
        let Wdl { win, draw, loss } = decision.wdl;
        rows.search_wdl.push([win, draw, loss]);
        rows.truth.push(self.world.truth(turn));
        rows.game.push(self.id);
        rows.ply.push(saturate(self.moves.len()));
        rows.net_step.push(net_step);
        self.viewers.push(turn);
    }

    /// By colour, the lowest threshold under which its expected score stayed for `moves` own moves in
    /// a row; 1 in a game too short for that.
    fn lowest(&self, moves: usize) -> [f32; 2] {
        [Color::Red, Color::Black].map(|color| {
            let own = self.viewers.iter().zip(&self.rows.search_wdl);
            let scores: Vec<_> = own
                .filter(|(viewer, _)| **viewer == color)
                .map(|(_, wdl)| expected_score(wdl[0], wdl[1]))
                .collect();
            let highest = |run: &[f32]| run.iter().copied().fold(0.0, f32::max);
            scores.windows(moves).map(highest).fold(1.0, f32::min)
        })
    }

    /// Fills in what the rows could not know before the end.
    pub fn finish(mut self, config: &SelfplayConfig, ending: Ending) -> FinishedGame<W> {
        let lowest = self
            .plays_on
            .then(|| self.lowest(config.resign_moves.max(1) as usize));
        let rows = &mut self.rows;
        for (row, &viewer) in self.viewers.iter().enumerate() {
            let Wdl { win, draw, .. } = Wdl::of(ending.outcome, viewer);
            rows.outcome.push(if win == 1.0 {
                0
            } else if draw == 1.0 {
                1
            } else {
                2
            });
            rows.plies_left
                .push(saturate(self.moves.len() - self.opening_plies - row));
        }
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
            opening_plies: self.opening_plies.min(self.moves.len()),
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
            rows: self.rows,
        }
    }
}

/// Points that a side expects, 0..=1.
fn expected_score(win: f32, draw: f32) -> f32 {
    win + draw / 2.0
}

fn saturate(plies: usize) -> u16 {
    plies.min(u16::MAX.into()) as u16
}
