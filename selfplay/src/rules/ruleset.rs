//! What makes a form: one field a question, one reader a field.

/// What the third occurrence of a position means (RULES.md §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepetitionRule {
    /// A draw, whatever was played.
    Draw,
    /// Perpetual check by one side alone loses; else a draw.
    PerpetualCheck,
}

/// Which plies without a capture count towards the natural limit (RULES.md §1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckDiscount {
    /// All of them.
    None,
    /// All but each side's checks beyond this many since the last capture, and the replies to those.
    Beyond(u8),
}

/// A form of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ruleset {
    /// Name in configs and on the command line.
    pub name: &'static str,
    /// The position games start from, a FEN.
    pub start: &'static str,
    /// Plies without a capture that draw the game; 0: no limit.
    pub no_capture_plies: u16,
    /// Whether checks count towards that limit.
    pub check_discount: CheckDiscount,
    /// Judgement of a third occurrence.
    pub repetition: RepetitionRule,
}

/// RULES.md §1.
static XIANGQI: Ruleset = Ruleset {
    name: "xiangqi",
    start: "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1",
    no_capture_plies: 120,
    check_discount: CheckDiscount::None,
    repetition: RepetitionRule::PerpetualCheck,
};

static ALL: [&Ruleset; 1] = [&XIANGQI];

impl Ruleset {
    /// Every form.
    pub fn all() -> &'static [&'static Ruleset] {
        &ALL
    }

    /// The form of that name.
    pub fn by_name(name: &str) -> Option<&'static Ruleset> {
        ALL.into_iter().find(|rules| rules.name == name)
    }
}
