//! The engine's side: a search in steps, so that whoever runs it decides how positions are evaluated and when it is enough.
use selfplay::eval::Batch;
use selfplay::game::{Color, Referee, Wdl};
use selfplay::mcts::{NodeRef, Search, SearchConfig};
use selfplay::rules::{Move, Notation, Position, Reveal, View};
use serde::{Deserialize, Serialize};

use crate::game::{Game, GameError};
use crate::state::color_name;

/// Most simulations of one search.
pub const MOST_VISITS: u32 = 10_000;
/// Moves that an analysis lists.
const LISTED: usize = 6;
/// Longest line that is shown, in plies.
const LONGEST: usize = 8;

/// How much is searched, and how a move is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Simulations, 1..=[`MOST_VISITS`].
    pub visits: u32,
    /// Temperature of the choice; 0: the best move.
    pub temperature: f32,
    /// The same of a placement in a secret arrangement, if that is higher.
    pub arrangement_temperature: f32,
}

/// What a search was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The engine's move, from what the engine knows.
    Move,
    /// What the viewer's position is worth, from what the viewer knows.
    Analysis,
}

/// A search under way. [`Think::gather`] and [`Think::apply`] in turn until the former is false.
#[derive(Debug)]
pub struct Think {
    search: Search<View>,
    viewer: Color,
    ply: usize,
    /// [`Game::changes`] when it began.
    changes: u64,
    temperature: f32,
}

impl Think {
    /// The search of a game's position; chance in it follows from `seed`.
    pub fn begin(
        game: &Game,
        purpose: Purpose,
        config: &SearchConfig,
        effort: Effort,
        seed: u64,
    ) -> Result<Think, GameError> {
        let decider = game.decider().ok_or(GameError::Over)?;
        let viewer = match purpose {
            Purpose::Move if game.people().play(decider) => return Err(GameError::PeoplesTurn),
            Purpose::Move => decider,
            Purpose::Analysis => game.viewer(),
        };
        let arranging = game.world().position(decider).arranging().is_some();
        // Of the other side's arrangement there is nothing to say before it stands.
        if arranging && viewer != decider {
            return Err(GameError::EnginesTurn);
        }
        let temperature = match arranging {
            true => effort.temperature.max(effort.arrangement_temperature),
            false => effort.temperature,
        };
        let mut search = Search::new(config.clone());
        let world = game.world();
        search.begin(world.view(viewer), world.history(viewer), seed);
        search.plan(effort.visits.clamp(1, MOST_VISITS), false);
        Ok(Think {
            search,
            viewer,
            ply: game.plies().len(),
            changes: game.changes(),
            temperature,
        })
    }

    /// Puts the row to be evaluated next alone into `batch`; false once the search is over.
    pub fn gather(&mut self, batch: &mut Batch) -> bool {
        batch.clear();
        self.search.gather(batch)
    }

    /// Takes the evaluation of that row.
    pub fn apply(&mut self, batch: &Batch) {
        self.search.apply(batch.evaluation(0));
    }

    /// Whether the game, the one that it was begun for, is as it was then.
    pub fn is_of(&self, game: &Game) -> bool {
        game.changes() == self.changes
    }

    /// Plays the move that was found. Refused if the game has gone on since the search began.
    pub fn play(&mut self, game: &mut Game) -> Result<(), GameError> {
        if !self.is_of(game) {
            return Err(GameError::Stale);
        }
        let mv = self.search.choose(self.temperature);
        game.play_engine(mv)
    }

    /// What was found; the root must have been evaluated.
    pub fn analysis(&self) -> Option<Analysis> {
        let root = self.search.root()?;
        let turn = root.turn()?;
        let decision = self.search.decision();
        let position = self.search.position()?.position();
        let mut moves: Vec<_> = root.moves().collect();
        moves.sort_by_key(|&(mv, _, child)| {
            std::cmp::Reverse((mv == decision.best, child.map_or(0, |child| child.visits())))
        });
        let listed = moves.iter().filter_map(|&(mv, prior, child)| {
            let child = child?;
            Some(Best {
                mv: mv.to_string(),
                from: mv.from().index(),
                to: mv.to().index(),
                visits: child.visits(),
                prior,
                proven: child.exact(),
                red: Share::of(child.wdl(Color::Red)),
                line: line(*position, mv, child),
            })
        });
        Some(Analysis {
            ply: self.ply,
            viewer: color_name(self.viewer),
            turn: color_name(turn),
            visits: decision.visits,
            proven: decision.exact,
            plies_left: decision.moves_left,
            red: Share::of(root.wdl(Color::Red)),
            moves: listed.take(LISTED).collect(),
        })
    }
}

/// What a search has found.
#[derive(Clone, Debug, Serialize)]
pub struct Analysis {
    /// Plies of the game that it is about.
    pub ply: usize,
    /// Whose knowledge it rests on.
    pub viewer: &'static str,
    /// The side to decide.
    pub turn: &'static str,
    /// Simulations.
    pub visits: u32,
    /// Whether the value follows from the rules alone.
    pub proven: bool,
    /// Plies that the game is expected to go on for.
    pub plies_left: f32,
    /// What Red may expect.
    pub red: Share,
    /// The best moves, the best one first.
    pub moves: Vec<Best>,
}

/// A move of an analysis.
#[derive(Clone, Debug, Serialize)]
pub struct Best {
    /// Its text.
    #[serde(rename = "move")]
    pub mv: String,
    /// Square that is left, or placed on.
    pub from: usize,
    /// Square that is reached, or placed on.
    pub to: usize,
    /// Simulations of it.
    pub visits: u32,
    /// What the network thought of it before, 0..=1.
    pub prior: f32,
    /// Whether its value follows from the rules alone.
    pub proven: bool,
    /// What Red may expect of it.
    pub red: Share,
    /// It and what is likely to follow, in Chinese notation, up to where chance decides.
    pub line: Vec<String>,
}

/// Probabilities that Red wins, that nobody does, that Black does; they sum to 1.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Share {
    /// Red wins.
    pub win: f32,
    /// Nobody wins.
    pub draw: f32,
    /// Black wins.
    pub loss: f32,
}

impl Share {
    fn of(wdl: Wdl) -> Share {
        Share {
            win: wdl.win,
            draw: wdl.draw,
            loss: wdl.loss,
        }
    }
}

/// A move and those most searched behind it.
fn line(mut position: Position, mv: Move, child: NodeRef<'_, Move, Reveal>) -> Vec<String> {
    let (mut texts, mut next) = (Vec::new(), Some((mv, child)));
    while let Some((mv, node)) = next.filter(|_| texts.len() < LONGEST) {
        let Ok(text) = Notation::Chinese.print(&position, mv) else {
            break;
        };
        texts.push(text);
        position.play(mv);
        let tried = node.moves().filter_map(|(mv, _, child)| Some((mv, child?)));
        next = match position.awaits_reveal() {
            true => None,
            false => tried.max_by_key(|(_, child)| child.visits()),
        };
    }
    texts
}
