//! One game in progress after another, and the two players at its board.
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use selfplay::eval::{Batch, Evaluation};
use selfplay::game::{Color, Ending, Features, Game, Outcome, Reason, Referee, Turn, random_move};
use selfplay::mcts::Search;
use selfplay::opponent::{Material, Opponent};

use super::{Arrangement, Match, MoveOf, PlayedGame, Player, seed_of};

/// A board.
pub struct Lane<W: Referee>
where
    W::View: Material,
{
    pair: u32,
    /// The first player's colour.
    first: Color,
    world: W,
    rng: Pcg64Mcg,
    moves: Vec<MoveOf<W>>,
    legal: Vec<MoveOf<W>>,
    /// How many of the moves were placements that only one side saw.
    placements: usize,
    opening_plies: u16,
    seats: [Seat<W::View>; 2],
}

/// What a lane does next.
pub enum Step {
    /// It waits for the answer to a row that it put into that player's batch.
    Asked(usize),
    /// The game is over.
    Over(Ending),
}

/// A player at a board.
enum Seat<G: Material + Features> {
    Builtin(Opponent<G>),
    Searched(Box<Thinker<G>>),
}

/// A search, and whether it is in the middle of a decision.
struct Thinker<G: Features> {
    search: Search<G>,
    thinking: bool,
    visits: u32,
    temperature: f32,
    arrangement: Arrangement,
    seed: u64,
}

impl<W: Referee> Lane<W>
where
    W::View: Material,
{
    /// A board with game number `game` of the match set up.
    pub fn new(shared: &Match<W>, game: usize) -> Self {
        let opening = &shared.openings[game / 2];
        let mut lane = Lane {
            pair: 0,
            first: Color::Red,
            world: opening.world.clone(),
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
    pub fn begin(&mut self, shared: &Match<W>, game: usize) {
        let opening = &shared.openings[game / 2];
        self.pair = (game / 2) as u32;
        self.first = if game.is_multiple_of(2) {
            Color::Red
        } else {
            Color::Black
        };
        self.world = opening.world.clone();
        // Both games of a pair draw the same chance.
        self.rng = Pcg64Mcg::seed_from_u64(seed_of(shared.seed, [game as u64 / 2, 0, 1]));
        self.moves.clone_from(&opening.moves);
        self.placements = 0;
        self.opening_plies = shared.config.opening_plies;
        for (player, seat) in self.seats.iter_mut().enumerate() {
            let color = seat_color(self.first, player);
            let seed = seed_of(shared.seed, [game as u64, player as u64, 2]);
            match (seat, shared.players[player]) {
                (Seat::Builtin(opponent), Player::Builtin(builtin)) => {
                    *opponent = Opponent::new(*builtin, seed)
                }
                (Seat::Searched(thinker), _) => thinker.begin(&self.world, color, seed),
                (Seat::Builtin(_), Player::Searched(_)) => {}
            }
        }
    }

    /// Plays on until a network is asked or the game is over; `ply_cap` 0 caps nothing.
    pub fn run(&mut self, ply_cap: u16, batches: [&mut Batch; 2]) -> Step {
        loop {
            let color = match self.world.turn() {
                Turn::Decision(color) => color,
                Turn::Over(ending) => return Step::Over(ending),
                Turn::Chance => unreachable!("a referee holds no chance"),
            };
            if ply_cap > 0 && self.played() >= ply_cap.into() {
                return Step::Over(Ending {
                    outcome: Outcome::Draw,
                    reason: Reason::PlyCap,
                });
            }
            let player = usize::from(color != self.first);
            let placing = !self.world.is_public();
            let at_random = match &self.seats[player] {
                Seat::Searched(thinker) if placing => thinker.arrangement == Arrangement::Random,
                _ => !placing && self.played() < self.opening_plies.into(),
            };
            let mv = match &mut self.seats[player] {
                _ if at_random => self.random_move(color),
                Seat::Builtin(opponent) => {
                    opponent.choose(&self.world.view(color), self.world.history(color))
                }
                Seat::Searched(thinker) => match thinker.think(placing, batches[player]) {
                    Some(mv) => mv,
                    None => return Step::Asked(player),
                },
            };
            self.placements += usize::from(placing);
            self.play(mv);
        }
    }

    /// Plies since the pieces are arranged.
    fn played(&self) -> usize {
        self.moves.len() - self.placements
    }

    fn random_move(&mut self, color: Color) -> MoveOf<W> {
        let view = self.world.view(color);
        view.legal_moves(&mut self.legal);
        random_move(&view, &self.legal, &mut self.rng)
    }

    fn play(&mut self, mv: MoveOf<W>) {
        self.moves.push(mv);
        let before = self.world.turn();
        let secret = !self.world.is_public();
        let revealed = self.world.apply(mv, &mut self.rng);
        let one_tree = self.world.open_to_both();
        // Of one's own placement nobody else learns, and one's own tree goes on.
        let arranges = secret && self.world.turn() == before;
        for (player, seat) in self.seats.iter_mut().enumerate() {
            let Seat::Searched(thinker) = seat else {
                continue;
            };
            if one_tree {
                thinker.search.advance(mv);
                if let Some(reveal) = revealed {
                    thinker.search.reveal(reveal);
                }
                continue;
            }
            let color = seat_color(self.first, player);
            if arranges && before == Turn::Decision(color) {
                thinker.search.advance(mv);
            } else {
                // What this player alone has learnt is not in its tree.
                let seed = seed_of(thinker.seed, [self.moves.len() as u64, 0, 3]);
                thinker.begin(&self.world, color, seed);
            }
        }
    }

    /// Takes the answer to the row that [`Lane::run`] put into a batch.
    pub fn answer(&mut self, evaluation: Evaluation<'_>) {
        for seat in &mut self.seats {
            if let Seat::Searched(thinker) = seat
                && thinker.thinking
            {
                thinker.search.apply(evaluation);
            }
        }
    }

    /// The game that has ended so.
    pub fn finished(&self, ending: Ending) -> PlayedGame {
        let moves: Vec<_> = self.moves.iter().map(ToString::to_string).collect();
        PlayedGame {
            pair: self.pair,
            first: self.first,
            moves: moves.join(" "),
            plies: self.moves.len() as u32,
            opening_plies: self.opening_plies,
            ending,
        }
    }
}

/// The colour of a player, the first one's being `first`.
fn seat_color(first: Color, player: usize) -> Color {
    if player == 0 { first } else { first.other() }
}

impl<G: Material + Features> Seat<G> {
    fn new(player: &Player) -> Self {
        match player {
            Player::Builtin(builtin) => Seat::Builtin(Opponent::new(*builtin, 0)),
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
}

impl<G: Features> Thinker<G> {
    /// Forgets everything and looks at `world` as `color`.
    fn begin<W: Referee<View = G>>(&mut self, world: &W, color: Color, seed: u64) {
        self.seed = seed;
        self.thinking = false;
        self.search
            .begin(world.view(color), world.history(color), seed);
    }

    /// The chosen move, a placement where `placing`, or `None` after putting a row into `batch`.
    fn think(&mut self, placing: bool, batch: &mut Batch) -> Option<G::Move> {
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
