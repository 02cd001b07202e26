//! What makes a form: one field a question, one reader a field.
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize, Serializer};

use super::types::Kind;
use crate::game::Color;

/// A set of kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Kinds(u8);

impl Kinds {
    /// No kind.
    pub const NONE: Kinds = Kinds(0);

    /// The kinds of a list.
    pub const fn of(kinds: &[Kind]) -> Kinds {
        let (mut set, mut i) = (0, 0);
        while i < kinds.len() {
            set |= 1 << kinds[i] as u8;
            i += 1;
        }
        Kinds(set)
    }

    /// Whether `kind` is one of them.
    pub const fn has(self, kind: Kind) -> bool {
        self.0 >> kind as u8 & 1 != 0
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// One bit a kind, by [`Kind::index`].
    pub const fn bits(self) -> u8 {
        self.0
    }
}

/// The letters, in the order of [`Kind::ALL`].
impl Serialize for Kinds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kinds = Kind::ALL.into_iter().filter(|&kind| self.has(kind));
        serializer.collect_str(&kinds.map(Kind::letter).collect::<String>())
    }
}

/// How the kinds that take part lie at the start (RULES.md §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// Face up, each at home.
    Open,
    /// Face down, each at home, as both players know.
    AtHome,
    /// Face down, dealt at random; neither player knows how.
    Dealt,
    /// Face down, arranged by the owner, who alone knows how.
    Arranged,
}

/// Who sees what a captured unknown piece was (RULES.md §2, §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeenBy {
    /// Both players.
    Both,
    /// The player who captured it.
    Captor,
    /// Nobody.
    Nobody,
}

/// What the third occurrence of a position means (RULES.md §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepetitionRule {
    /// A draw, whatever was played.
    Draw,
    /// Perpetual check, or perpetual chase of one piece, by one side alone loses; else a draw.
    Wxf,
    /// As [`RepetitionRule::Wxf`], and any mixture of checks, mate threats and chases with every move loses.
    Cxa,
}

/// Which plies without a capture count towards the natural limit (RULES.md §1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckDiscount {
    /// All of them.
    None,
    /// All but each side's checks beyond this many since the last capture, and the replies to those.
    Beyond(u8),
}

/// A form of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Ruleset {
    /// Name in configs and on the command line.
    pub name: &'static str,
    /// How the pieces lie at the start.
    pub layout: Layout,
    /// The kinds that may lie face down; never the king.
    pub takes_part: Kinds,
    /// Whether a face-up piece of those may be laid face down again where it lands.
    pub turns_down: bool,
    /// The face-up kinds that leave their usual range: B crosses the river, A the palace too.
    pub roams: Kinds,
    /// Whether a face-down piece that plays as one of those leaves the range too.
    pub fake_roams: bool,
    /// Who sees what a captured unknown piece was.
    pub captured_seen_by: SeenBy,
    /// Plies without a capture that draw the game; 0: no limit.
    pub no_capture_plies: u16,
    /// Whether checks count towards that limit.
    pub check_discount: CheckDiscount,
    /// Judgement of a third occurrence.
    pub repetition: RepetitionRule,
}

impl Ruleset {
    /// RULES.md §1, which the other forms vary.
    pub const XIANGQI: Ruleset = Ruleset {
        name: "xiangqi",
        layout: Layout::Open,
        takes_part: Kinds::NONE,
        turns_down: false,
        roams: Kinds::NONE,
        fake_roams: false,
        captured_seen_by: SeenBy::Both,
        no_capture_plies: 120,
        check_discount: CheckDiscount::None,
        repetition: RepetitionRule::Wxf,
    };

    /// Every form: RULES.md §1, the ten of §2, §3.
    pub fn all() -> &'static [&'static Ruleset] {
        &ALL
    }

    /// The form of that name.
    pub fn by_name(name: &str) -> Option<&'static Ruleset> {
        ALL.into_iter().find(|rules| rules.name == name)
    }

    /// The same rules for as long as the program runs, as every position refers to them; equal ones are
    /// kept once.
    pub fn keep(self) -> &'static Ruleset {
        static KEPT: Mutex<Vec<&'static Ruleset>> = Mutex::new(Vec::new());
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let known = ALL.iter().chain(kept.iter()).find(|known| ***known == self);
        if let Some(known) = known {
            return known;
        }
        let rules: &'static Ruleset = Box::leak(Box::new(self));
        kept.push(rules);
        rules
    }

    /// Whether both players know the same at every moment of a game.
    pub fn open_to_both(&self) -> bool {
        match self.layout {
            Layout::Open | Layout::AtHome => true,
            Layout::Dealt => self.captured_seen_by != SeenBy::Captor,
            Layout::Arranged => false,
        }
    }

    /// Whether each side arranges its pieces before the first move.
    pub fn arranged(&self) -> bool {
        self.layout == Layout::Arranged
    }

    /// Whether some piece may be unknown to some player.
    pub fn hides(&self) -> bool {
        matches!(self.layout, Layout::Dealt | Layout::Arranged)
    }

    /// Whether `viewer` sees what an unknown piece was that `captor` took; without a viewer, whether
    /// both players do.
    pub fn sees_captured(&self, viewer: Option<Color>, captor: Color) -> bool {
        match self.captured_seen_by {
            SeenBy::Both => true,
            SeenBy::Captor => viewer == Some(captor),
            SeenBy::Nobody => false,
        }
    }

    /// Whether a piece of that kind may leave its usual range.
    pub(super) fn roams(&self, kind: Kind, face_down: bool) -> bool {
        self.roams.has(kind) && (!face_down || self.fake_roams)
    }
}

use Kind::{Advisor as A, Bishop as B, Cannon as C, Knight as N, Pawn as P, Rook as R};

/// RULES.md §2's table.
const fn fanqi(name: &'static str, layout: Layout, takes_part: &[Kind], roams: &[Kind]) -> Ruleset {
    Ruleset {
        name,
        layout,
        takes_part: Kinds::of(takes_part),
        turns_down: true,
        roams: Kinds::of(roams),
        ..Ruleset::XIANGQI
    }
}

/// RULES.md §3.
const JIEQI: Ruleset = Ruleset {
    turns_down: false,
    captured_seen_by: SeenBy::Captor,
    no_capture_plies: 80,
    ..fanqi("jieqi", Layout::Dealt, &[R, N, B, A, C, P], &[B, A])
};

static ALL: [&Ruleset; 12] = [
    &Ruleset::XIANGQI,
    &fanqi("fanqi-1", Layout::Open, &[R, N, C], &[]),
    &fanqi("fanqi-2", Layout::AtHome, &[R, N, C, P], &[]),
    &fanqi("fanqi-3", Layout::Arranged, &[R, N, C, P], &[]),
    &fanqi("fanqi-4", Layout::Dealt, &[R, N, C, P], &[]),
    &fanqi("fanqi-5", Layout::Arranged, &[R, N, B, C, P], &[B]),
    &fanqi("fanqi-6", Layout::Dealt, &[R, N, B, C, P], &[B]),
    &fanqi("fanqi-7", Layout::Arranged, &[R, N, A, C, P], &[A]),
    &fanqi("fanqi-8", Layout::Dealt, &[R, N, A, C, P], &[A]),
    &fanqi("fanqi-9", Layout::Arranged, &[R, N, B, A, C, P], &[B, A]),
    &fanqi("fanqi-10", Layout::Dealt, &[R, N, B, A, C, P], &[B, A]),
    &JIEQI,
];
