//! A game that is played from move texts.
use anyhow::bail;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use selfplay::rules::{Kind, Move, Notation, Position, Reveal, Ruleset, World};

/// A game in progress: the truth of it, or what somebody knows of it.
#[derive(Clone, Debug)]
pub enum Line {
    /// Everything is known to the referee.
    Truth(Box<World>),
    /// What comes to light must be told with the moves.
    Seen(Box<Position>),
}

/// A move that was played.
#[derive(Clone, Copy, Debug)]
pub struct Played {
    /// What its mover, or whoever the game is seen by, knew before it.
    pub before: Position,
    /// The move.
    pub mv: Move,
    /// What it brought to light.
    pub reveal: Reveal,
}

impl Played {
    /// Its text.
    pub fn text(&self, notation: Notation) -> anyhow::Result<String> {
        Ok(notation.print_revealed(&self.before, self.mv, self.reveal)?)
    }
}

impl Line {
    /// A game from a position's text, or from the form's start. Forms that hide nothing, and texts ending in
    /// `world`, tell the truth; others what a player or both know.
    pub fn start(rules: &'static Ruleset, fen: Option<&str>) -> anyhow::Result<Line> {
        let Some(fen) = fen else {
            return Ok(Line::of(Position::start(rules)));
        };
        if fen.trim_end().ends_with(" world") {
            let world = World::from_fen(rules, fen)?;
            return Ok(Line::Truth(Box::new(world)));
        }
        Ok(Line::of(Position::from_fen(rules, fen)?))
    }

    fn of(position: Position) -> Line {
        if position.rules().hides() {
            Line::Seen(Box::new(position))
        } else {
            Line::Truth(Box::new(World::from_position(position)))
        }
    }

    /// What whoever decides next knows.
    pub fn position(&self) -> &Position {
        match self {
            Line::Truth(world) => world.position(world.decider()),
            Line::Seen(position) => position,
        }
    }

    /// Plays the move that `text` names; an error leaves the game as it was.
    pub fn play(&mut self, notation: Notation, text: &str) -> anyhow::Result<Played> {
        let before = *self.position();
        if before.awaits_reveal() {
            bail!(
                "'{text}': what the move before it turned up is not told; add it there, as in 马二进三变车 or h0g2=R"
            );
        }
        let (mv, told) = notation.parse(&before, text)?;
        let reveal = match self {
            Line::Truth(world) => {
                let mut next = world.clone();
                // The truth holds no chance: the generator is never asked.
                let mut unused = Pcg64Mcg::seed_from_u64(0);
                let light = next.try_apply(mv, &mut unused)?.unwrap_or_default();
                check_told(text, told.mover, light.mover)?;
                check_told(text, told.taken, light.taken)?;
                *world = next;
                light
            }
            Line::Seen(position) => {
                let mut next = **position;
                next.try_play(mv)?;
                let light = settle(&mut next, told);
                **position = next;
                light
            }
        };
        Ok(Played { before, mv, reveal })
    }
}

/// What is told to come to light must be the truth.
fn check_told(text: &str, told: Option<Kind>, truth: Option<Kind>) -> anyhow::Result<()> {
    match told {
        Some(kind) if truth != Some(kind) => {
            let truth = truth.map_or("nothing".into(), |kind| kind.letter().to_string());
            bail!(
                "'{text}' tells of {}, but {truth} came to light",
                kind.letter()
            )
        }
        _ => Ok(()),
    }
}

/// Brings to light what is told of a move and what alone can be; what stays open is awaited if it moved, and
/// stays unseen if it was taken. Returns what came to light.
fn settle(position: &mut Position, told: Reveal) -> Reveal {
    let mut possible = Vec::new();
    position.reveals(&mut possible);
    let agrees = |told: Option<Kind>, kind| told.is_none() || told == kind;
    possible.retain(|(r, _)| agrees(told.mover, r.mover) && agrees(told.taken, r.taken));
    let Some(&(first, _)) = possible.first() else {
        return told;
    };
    let only = |kind: fn(&Reveal) -> Option<Kind>| {
        let same = possible.iter().all(|(r, _)| kind(r) == kind(&first));
        kind(&first).filter(|_| same)
    };
    let light = Reveal {
        mover: only(|r| r.mover),
        taken: only(|r| r.taken),
    };
    if first.mover.is_none() || light.mover.is_some() {
        position.reveal(light);
    }
    light
}

/// The notation of each of a game's moves: `from`, or as it looks; squares are `uci` if any of them has a rank 10.
pub fn notations<'a>(
    from: Option<Notation>,
    texts: impl Iterator<Item = &'a str>,
) -> Vec<Notation> {
    let looks = |text| from.or_else(|| Notation::recognise(text));
    let mut all: Vec<_> = texts
        .map(|text| looks(text).unwrap_or(Notation::Coordinates))
        .collect();
    if all.contains(&Notation::Uci) {
        for notation in all.iter_mut().filter(|n| **n == Notation::Coordinates) {
            *notation = Notation::Uci;
        }
    }
    all
}

/// Whether Black is to move in a position's text.
pub fn starts_with_black(fen: &str) -> bool {
    fen.split_whitespace()
        .skip(1)
        .take(2)
        .any(|field| field == "b")
}
