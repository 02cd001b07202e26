//! A game that is played from move texts.
use anyhow::{Context, bail, ensure};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use selfplay::game::{Game, Referee, Turn};
use selfplay::rules::{History, Kind, Move, Notation, Position, Reveal, Ruleset, View, World};

/// A game in progress: the truth of it, or what somebody knows of it.
#[derive(Clone, Debug)]
pub enum Line {
    /// Everything is known to the referee.
    Truth(Box<World>),
    /// What comes to light must be told with the moves.
    Seen(Box<View>, History),
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
        if World::is_fen(fen) {
            let world = World::from_fen(rules, fen)?;
            return Ok(Line::Truth(Box::new(world)));
        }
        Ok(Line::of(Position::from_fen(rules, fen)?))
    }

    fn of(position: Position) -> Line {
        if position.rules().hides() {
            Line::Seen(Box::new(View::new(position)), History::default())
        } else {
            Line::Truth(Box::new(World::from_position(position)))
        }
    }

    /// The position and its past, as whoever decides next knows them.
    pub fn now(&self) -> (&Position, &History) {
        match self {
            Line::Truth(world) => {
                let decider = world.decider();
                (world.position(decider), world.history(decider))
            }
            Line::Seen(view, history) => (view.position(), history),
        }
    }

    /// What whoever decides next knows.
    pub fn position(&self) -> &Position {
        self.now().0
    }

    /// What is next; [`Turn::Chance`] if what the last move turned up is yet to be told.
    pub fn turn(&self) -> Turn {
        match self {
            Line::Truth(world) => world.turn(),
            Line::Seen(view, history) => view.turn(history),
        }
    }

    /// Plays the moves that `texts` name, in the notation `from` or in what each looks like, as [`notations`] has it;
    /// `after` is shown the game behind each. An error names the number of the move, from 1.
    pub fn play_all<'a>(
        &mut self,
        from: Option<Notation>,
        texts: impl Iterator<Item = &'a str> + Clone,
        mut after: impl FnMut(&Line, Played) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let notations = notations(from, texts.clone());
        for (i, (text, notation)) in texts.zip(notations).enumerate() {
            let played = self.play(notation, text);
            let played = played.with_context(|| format!("move {}", i + 1))?;
            after(self, played)?;
        }
        Ok(())
    }

    /// An error that says what the last move brought to light, if that is not told.
    pub fn check_told(&self) -> anyhow::Result<()> {
        let position = self.position();
        ensure!(
            !position.awaits_reveal(),
            "the last move {}",
            untold(position)
        );
        Ok(())
    }

    /// Plays the move that `text` names; an error leaves the game as it was.
    pub fn play(&mut self, notation: Notation, text: &str) -> anyhow::Result<Played> {
        let before = *self.position();
        if before.awaits_reveal() {
            bail!("'{text}': the move before it {}", untold(&before));
        }
        let (mv, told) = notation.parse(&before, text)?;
        let reveal = match self {
            Line::Truth(world) => {
                let mut next = world.clone();
                // The truth holds no chance: the generator is never asked.
                let mut unused = Pcg64Mcg::seed_from_u64(0);
                let light = next.try_apply(mv, &mut unused)?.unwrap_or_default();
                check_true(text, told.mover, light.mover)?;
                check_true(text, told.taken, light.taken)?;
                *world = next;
                light
            }
            Line::Seen(view, history) => {
                view.play(mv, history);
                let light = settle(view, history, told);
                // Told all the same, of a piece that this viewer may not see.
                let taken = light.taken.or(told.taken);
                Reveal { taken, ..light }
            }
        };
        Ok(Played { before, mv, reveal })
    }
}

/// What is told to come to light must be the truth.
fn check_true(text: &str, told: Option<Kind>, truth: Option<Kind>) -> anyhow::Result<()> {
    let Some(kind) = told else { return Ok(()) };
    let came = truth.map_or("nothing".into(), |kind| kind.letter().to_string());
    ensure!(
        truth == told,
        "'{text}' tells of {}, but {came} came to light",
        kind.letter()
    );
    Ok(())
}

/// Brings to light what is told of the move just played and what alone can be; is more open that the viewer sees, it
/// is awaited. What is told of a piece that the viewer may not see stays unseen. `told`: as [`Notation::parse`] returns
/// it. Returns what came to light.
pub fn settle(view: &mut View, history: &mut History, told: Reveal) -> Reveal {
    let mut possible = Vec::new();
    view.reveals(&mut possible);
    let agrees =
        |told: Option<Kind>, kind: Option<Kind>| told.is_none() || kind.is_none() || told == kind;
    possible.retain(|(r, _)| agrees(told.mover, r.mover) && agrees(told.taken, r.taken));
    let &[(light, _)] = &possible[..] else {
        return told;
    };
    view.reveal(light, history);
    light
}

/// What is missing of a move that [`settle`] left open.
pub fn untold(position: &Position) -> String {
    let mut possible = Vec::new();
    position.reveals(&mut possible);
    let letters = |kind: fn(&Reveal) -> Option<Kind>| -> String {
        let kinds = Kind::ALL.into_iter();
        kinds
            .filter(|&k| possible.iter().any(|(r, _)| kind(r) == Some(k)))
            .map(Kind::letter)
            .collect()
    };
    let (movers, takens) = (letters(|r| r.mover), letters(|r| r.taken));
    let mut missing = Vec::new();
    if movers.len() > 1 {
        missing.push(format!(
            "turned up a piece that may be any of {movers} (told as h0g2=R)"
        ));
    }
    if takens.len() > 1 {
        missing.push(format!(
            "took a piece that may be any of {takens} (told as h0g2xN)"
        ));
    }
    missing.join(" and ") + ", which is not told"
}

/// The notation of each of a game's moves: `from`, or as it looks; squares are `uci` if any of them has a rank 10.
/// What looks like no move is taken for one of the game's first notation, or for a Chinese one if it has such
/// characters, so that an error speaks of what was meant.
pub fn notations<'a>(
    from: Option<Notation>,
    texts: impl Iterator<Item = &'a str> + Clone,
) -> Vec<Notation> {
    let looks = |text| from.or_else(|| Notation::recognise(text));
    let usual = texts.clone().find_map(looks);
    let unlike = |text: &str| match text.is_ascii() {
        true => usual.unwrap_or(Notation::Coordinates),
        false => Notation::Chinese,
    };
    let mut all: Vec<_> = texts
        .map(|text| looks(text).unwrap_or_else(|| unlike(text)))
        .collect();
    if all.contains(&Notation::Uci) {
        for notation in all.iter_mut().filter(|n| **n == Notation::Coordinates) {
            *notation = Notation::Uci;
        }
    }
    all
}
