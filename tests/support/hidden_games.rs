//! Random games of every form beside the plain truth of them: who every piece is, and which player knows it.
#![allow(dead_code, reason = "each test file uses its own part")]
use rand::seq::{IndexedRandom, IteratorRandom};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use selfplay::game::{Features, Game, Referee, Turn};
use selfplay::record::{RECORD_BYTES, Record};
use selfplay::rules::{
    CheckDiscount, Color, Kind, Layout, Move, Position, Reveal, Ruleset, SeenBy, Square, World,
};

pub const COLORS: [Color; 2] = [Color::Red, Color::Black];
/// K A B N R C P of a side.
pub const SET: [u8; 7] = [1, 2, 2, 2, 2, 2, 5];
const START: &str = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR";

pub fn form(name: &str) -> &'static Ruleset {
    Ruleset::by_name(name).unwrap_or_else(|| panic!("{name} is no form"))
}

/// A form with some fields chosen otherwise.
pub fn varied(base: &str, vary: impl FnOnce(&mut Ruleset)) -> &'static Ruleset {
    let mut rules = *form(base);
    vary(&mut rules);
    Box::leak(Box::new(rules))
}

/// A form, with the choice of who sees what was captured.
pub fn seen_by(base: &str, seen_by: SeenBy) -> &'static Ruleset {
    varied(base, |rules| rules.captured_seen_by = seen_by)
}

/// Every form, and forms with fields chosen otherwise.
pub fn forms_and_variants() -> Vec<&'static Ruleset> {
    let mut forms = Ruleset::all().to_vec();
    for base in ["jieqi", "fanqi-10", "fanqi-9", "fanqi-3"] {
        let choices = [SeenBy::Both, SeenBy::Captor, SeenBy::Nobody];
        forms.extend(choices.map(|choice| seen_by(base, choice)));
    }
    forms.push(varied("fanqi-10", |rules| rules.fake_roams = true));
    forms.push(varied("jieqi", |rules| {
        rules.check_discount = CheckDiscount::Beyond(1);
    }));
    forms
}

/// A piece, and who knows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Man {
    pub color: Color,
    /// `None`: not placed yet.
    pub kind: Option<Kind>,
    pub down: bool,
    /// `[viewer]`.
    pub known: [bool; 2],
    /// Where it lay at the start.
    pub origin: Square,
}

/// Letters of a board's text, with the mark behind each.
pub fn read_board(text: &str) -> Vec<(Square, char, Option<char>)> {
    let (mut found, mut at) = (Vec::new(), 0);
    let mut letters = text.split(' ').next().unwrap_or("").chars().peekable();
    while let Some(letter) = letters.next() {
        if let Some(gap) = letter.to_digit(10) {
            at += gap as usize;
        } else if letter != '/' {
            let mark = letters.next_if(|c| "~!?".contains(*c));
            found.push((
                Square::new(at % 9, 9 - at / 9).expect("on the board"),
                letter,
                mark,
            ));
            at += 1;
        }
    }
    found
}

/// Writes a board's text from what stands on each square.
pub fn write_board(piece: impl Fn(Square) -> Option<String>) -> String {
    let (mut text, mut gap) = (String::new(), 0);
    for rank in (0..10).rev() {
        for file in 0..9 {
            let found = Square::new(file, rank).and_then(&piece);
            if found.is_none() {
                gap += 1;
            }
            if gap > 0 && (found.is_some() || file == 8) {
                text += &std::mem::take(&mut gap).to_string();
            }
            text += &found.unwrap_or_default();
        }
        text += if rank > 0 { "/" } else { "" };
    }
    text
}

pub fn letter(color: Color, kind: Kind) -> char {
    match color {
        Color::Red => kind.letter(),
        Color::Black => kind.letter().to_ascii_lowercase(),
    }
}

fn color_of(letter: char) -> Color {
    if letter.is_ascii_uppercase() {
        Color::Red
    } else {
        Color::Black
    }
}

/// What a game is in truth.
#[derive(Clone, Debug)]
pub struct Truth {
    pub rules: &'static Ruleset,
    pub board: Vec<Option<Man>>,
    pub taken: Vec<Man>,
}

impl Truth {
    /// The truth of a game that has just started.
    fn of(rules: &'static Ruleset, world: &World) -> Truth {
        let mut board = vec![None; 90];
        let dealt = read_board(&world.fen());
        for (origin, home, _) in read_board(START) {
            let kind = Kind::from_letter(home).expect("a piece");
            let down = rules.layout != Layout::Open && rules.takes_part.has(kind);
            let hidden = down && matches!(rules.layout, Layout::Dealt | Layout::Arranged);
            let told = dealt
                .iter()
                .find(|d| d.0 == origin)
                .map(|d| Kind::from_letter(d.1));
            board[origin.index()] = Some(Man {
                color: color_of(home),
                kind: told.expect("a piece on each home square"),
                down,
                known: [!hidden; 2],
                origin,
            });
        }
        Truth {
            rules,
            board,
            taken: Vec::new(),
        }
    }

    fn play(&mut self, mv: Move, us: Color) {
        let (from, to) = (mv.from().index(), mv.to().index());
        if mv.placed().is_some() {
            let man = self.board[from].as_mut().expect("a free place");
            (man.kind, man.known[us as usize]) = (mv.placed(), true);
            return;
        }
        let mut man = self.board[from].take().expect("a piece moves");
        if let Some(mut taken) = self.board[to].take() {
            for viewer in COLORS {
                taken.known[viewer as usize] |= self.sees(viewer, us);
            }
            self.taken.push(taken);
        }
        man.down = !man.down && mv.turns_down();
        man.known = [true; 2];
        self.board[to] = Some(man);
    }

    fn sees(&self, viewer: Color, captor: Color) -> bool {
        match self.rules.captured_seen_by {
            SeenBy::Both => true,
            SeenBy::Captor => viewer == captor,
            SeenBy::Nobody => false,
        }
    }

    pub fn men(&self, color: Color) -> impl Iterator<Item = (Square, Man)> + '_ {
        let at = |(i, man): (usize, &Option<Man>)| Some((Square::from_index(i)?, (*man)?));
        self.board
            .iter()
            .enumerate()
            .filter_map(at)
            .filter(move |(_, man)| man.color == color)
    }

    /// What a side's pieces are that `viewer` has never seen: the set less all that it knows.
    pub fn pool(&self, viewer: Color, color: Color) -> [u8; 7] {
        let mut pool = SET;
        let taken = self.taken.iter().filter(|man| man.color == color);
        let all = self.men(color).map(|(_, man)| man).chain(taken.copied());
        for man in all.filter(|man| man.known[viewer as usize]) {
            pool[man.kind.expect("known").index()] -= 1;
        }
        pool
    }

    /// The world's text up to the counters.
    pub fn text(&self, turn: Color) -> String {
        let board = write_board(|square| {
            let man = self.board[square.index()]?;
            let letter = man
                .kind
                .map_or(if man.color == Color::Red { 'X' } else { 'x' }, |kind| {
                    letter(man.color, kind)
                });
            let mark = match man.known {
                _ if !man.down || man.kind.is_none() => "",
                [true, true] => "~",
                [false, false] => "?",
                _ => "!",
            };
            Some(format!("{letter}{mark}"))
        });
        let side = if turn == Color::Red { 'w' } else { 'b' };
        format!("{board} {side} {}", self.lost())
    }

    /// What was taken and some player has not seen.
    fn lost(&self) -> String {
        if !self.rules.hides() {
            return "- -".into();
        }
        let mut text = String::new();
        for color in COLORS {
            for kind in Kind::ALL {
                let lost =
                    |m: &&Man| m.color == color && m.kind == Some(kind) && m.known != [true; 2];
                match self.taken.iter().filter(lost).count() {
                    0 => {}
                    n => text += &format!("{}{n}", letter(color, kind)),
                }
            }
        }
        if text.is_empty() { "-".into() } else { text }
    }

    /// What a move brings to light for `viewer`.
    pub fn reveal(&self, viewer: Color, mv: Move) -> Reveal {
        let unknown =
            |square: Square| self.board[square.index()].filter(|man| !man.known[viewer as usize]);
        let mover = self.board[mv.from().index()].expect("a piece moves").color;
        Reveal {
            mover: unknown(mv.from()).and_then(|man| man.kind),
            taken: unknown(mv.to())
                .filter(|_| self.sees(viewer, mover))
                .and_then(|man| man.kind),
        }
    }
}

/// A random game in progress.
#[derive(Clone, Debug)]
pub struct Walk {
    pub world: World,
    pub truth: Truth,
    pub rng: Pcg64Mcg,
    pub moves: Vec<Move>,
}

impl Walk {
    pub fn start(rules: &'static Ruleset, seed: u64) -> Walk {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let world = World::start(rules, &mut rng);
        Walk {
            truth: Truth::of(rules, &world),
            world,
            rng,
            moves: Vec::new(),
        }
    }

    /// The game after up to `plies` moves.
    pub fn after(rules: &'static Ruleset, seed: u64, plies: usize) -> Walk {
        let mut walk = Walk::start(rules, seed);
        walk.on(plies, |_| {});
        walk
    }

    /// Who is to decide, unless the game is over.
    pub fn decider(&self) -> Option<Color> {
        match self.world.turn() {
            Turn::Decision(color) => Some(color),
            Turn::Over(_) => None,
            Turn::Chance => panic!("the truth holds no chance"),
        }
    }

    pub fn rules(&self) -> &'static Ruleset {
        self.truth.rules
    }

    pub fn position(&self, viewer: Color) -> &Position {
        self.world.position(viewer)
    }

    pub fn legal(&self, viewer: Color) -> Vec<Move> {
        let mut moves = vec![Move::default()];
        self.world.view(viewer).legal_moves(&mut moves);
        moves
    }

    pub fn record(&self, viewer: Color) -> Record {
        let mut record = [0xff; RECORD_BYTES];
        let view = self.world.view(viewer);
        view.record(self.world.history(viewer), &mut record);
        record
    }

    /// A random move: often a capture, often the way back, so that pieces vanish and positions repeat.
    fn pick(&mut self, us: Color) -> Option<Move> {
        let moves = self.legal(us);
        let position = *self.position(us);
        let captures = moves.iter().filter(|mv| position.is_capture(**mv));
        let capture = captures.choose(&mut self.rng).copied();
        let back = self.moves.iter().rev().nth(1).copied();
        let back = back
            .map(|mv| Move::new(mv.to(), mv.from()))
            .filter(|mv| moves.contains(mv));
        let preferred = match self.rng.random_range(0..10) {
            0..3 => capture,
            3..5 => back,
            _ => None,
        };
        preferred.or_else(|| moves.choose(&mut self.rng).copied())
    }

    pub fn play(&mut self, mv: Move) {
        let us = self.decider().expect("the game goes on");
        self.truth.play(mv, us);
        self.world.apply(mv, &mut self.rng);
        self.moves.push(mv);
    }

    /// Plays up to `plies` random moves; `see` looks at every position on the way.
    pub fn on(&mut self, plies: usize, mut see: impl FnMut(&Walk)) {
        for _ in 0..plies {
            see(self);
            let Some(mv) = self.decider().and_then(|us| self.pick(us)) else {
                return;
            };
            self.play(mv);
        }
    }
}
