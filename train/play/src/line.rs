//! A game that is played from move texts.
use anyhow::{Context, anyhow, bail, ensure};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use selfplay::game::{Color, Game, Referee, Turn};
use selfplay::rules::{History, Kind, Move, Notation, Position, Reveal, Ruleset, View, World};

/// A game in progress: the truth of it, or what somebody knows of it.
#[derive(Clone, Debug)]
pub enum Line {
    /// Everything is known to the referee.
    Truth(Box<World>),
    /// What comes to light must be told with the moves.
    Seen(Box<Seen>),
}

/// What somebody knows of a game.
#[derive(Clone, Debug)]
pub struct Seen {
    view: View,
    history: History,
    /// What was told with the last move.
    told: Reveal,
    unseen: Unseen,
}

/// How many pieces of each kind were told as taken that the viewer may not see, `[owner][kind]`: they stay in its pools.
#[derive(Clone, Debug, Default)]
pub struct Unseen([[u8; 7]; 2]);

impl Seen {
    /// What is known of the position now.
    pub fn position(&self) -> &Position {
        self.view.position()
    }
}

impl Unseen {
    /// Plays a legal move of which `told` is told, as [`Notation::parse`] returns it, and brings that to light. Returns what came
    /// to light, if the move left anything to chance; an error says why what is told cannot be, and then nothing is played.
    pub fn play(
        &mut self,
        view: &mut View,
        history: &mut History,
        mv: Move,
        told: Reveal,
    ) -> Result<Option<Reveal>, String> {
        let before = *view.position();
        self.check(&before, told)?;
        view.play(mv, history);
        let chance = view.position().awaits_reveal();
        let light = settle(view, history, told);
        self.add(&before, told, view.position());
        Ok(chance.then_some(light))
    }

    /// Whether what is told of a legal move can be, beside all that was told before; else why not. `told`: as
    /// [`Notation::parse`] returns it.
    fn check(&self, before: &Position, told: Reveal) -> Result<(), String> {
        let us = before.turn();
        for (color, kind) in [(us, told.mover), (us.other(), told.taken)] {
            let Some(kind) = kind else { continue };
            let told = self.0[color as usize][kind.index()];
            if told > 0 && told >= before.pool(color)[kind.index()] {
                let letter = kind.letter();
                return Err(format!(
                    "no {letter} of {color:?}'s is left to come to light: {told} were told as taken before"
                ));
            }
        }
        Ok(())
    }

    /// Counts what was told of a move between two positions, if the viewer did not see it.
    fn add(&mut self, before: &Position, told: Reveal, after: &Position) {
        let Some(kind) = told.taken else { return };
        let owner = before.turn().other();
        if before.pool(owner) == after.pool(owner) {
            self.0[owner as usize][kind.index()] += 1;
        }
    }
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
    /// A game from a position's text, or from the form's start, also called `startpos`; `startpos red` is the start as Red knows
    /// it, in arranged forms before the first placement. Forms that hide nothing, and texts ending in `world`, tell the truth;
    /// others what a player or both know.
    pub fn start(rules: &'static Ruleset, fen: Option<&str>) -> anyhow::Result<Line> {
        let words: Vec<_> = fen.map_or(vec!["startpos"], |fen| {
            fen.split_whitespace().take(3).collect()
        });
        let fen = match words[..] {
            ["startpos"] => return Ok(Line::of(Position::start(rules))),
            ["startpos", "red"] => return Ok(Line::of(Position::start_for(rules, Color::Red))),
            ["startpos", "black"] => return Ok(Line::of(Position::start_for(rules, Color::Black))),
            _ => fen.unwrap_or_default(),
        };
        if World::is_fen(fen) {
            let world = World::from_fen(rules, fen)?;
            return Ok(Line::Truth(Box::new(world)));
        }
        Ok(Line::of(Position::from_fen(rules, fen)?))
    }

    fn of(position: Position) -> Line {
        if position.rules().hides() {
            Line::Seen(Box::new(Seen {
                view: View::new(position),
                history: History::default(),
                told: Reveal::default(),
                unseen: Unseen::default(),
            }))
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
            Line::Seen(seen) => (seen.view.position(), &seen.history),
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
            Line::Seen(seen) => seen.view.turn(&seen.history),
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
            let otherwise = || Notation::Uci.parse(self.position(), text).is_ok();
            let hint = match from.is_none() && notation == Notation::Coordinates && otherwise() {
                true => {
                    " (ranks are read as 0-9 unless a rank 10 occurs; `--from uci` reads them as 1-10)"
                }
                false => "",
            };
            let played = self.play(notation, text);
            let played = played.with_context(|| format!("move {}{hint}", i + 1))?;
            after(self, played)?;
        }
        Ok(())
    }

    /// An error that says what the last move brought to light, if that is not told.
    pub fn check_told(&self) -> anyhow::Result<()> {
        match self.untold() {
            Some(untold) => bail!("the last move {untold}"),
            None => Ok(()),
        }
    }

    /// What is missing of the last move, if not all that it brought to light is told.
    fn untold(&self) -> Option<String> {
        match self {
            Line::Seen(seen) if seen.view.position().awaits_reveal() => {
                Some(untold(seen.view.position(), seen.told))
            }
            _ => None,
        }
    }

    /// Plays the move that `text` names; an error leaves the game as it was.
    pub fn play(&mut self, notation: Notation, text: &str) -> anyhow::Result<Played> {
        if let Some(untold) = self.untold() {
            bail!("'{text}': the move before it {untold}");
        }
        let before = *self.position();
        let (mv, told) = notation.parse(&before, text)?;
        let reveal = match self {
            Line::Truth(world) => {
                // Only what is told can turn out wrong behind the move.
                let earlier = (told != Reveal::default()).then(|| world.clone());
                // The truth holds no chance: the generator is never asked.
                let mut unused = Pcg64Mcg::seed_from_u64(0);
                let light = world.try_apply(mv, &mut unused)?.unwrap_or_default();
                let is_true = check_true(text, told.mover, light.mover)
                    .and_then(|()| check_true(text, told.taken, light.taken));
                if let (Err(_), Some(earlier)) = (&is_true, earlier) {
                    *world = earlier;
                }
                is_true?;
                light
            }
            Line::Seen(seen) => {
                let Seen {
                    view,
                    history,
                    unseen,
                    ..
                } = &mut **seen;
                let light = unseen.play(view, history, mv, told);
                let light = light
                    .map_err(|why| anyhow!("'{text}': {why}"))?
                    .unwrap_or(told);
                seen.told = told;
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
fn settle(view: &mut View, history: &mut History, told: Reveal) -> Reveal {
    let &[light] = &possible(view.position(), told)[..] else {
        return told;
    };
    view.reveal(light, history);
    light
}

/// What may come to light that agrees with what is told.
fn possible(position: &Position, told: Reveal) -> Vec<Reveal> {
    let mut possible = Vec::new();
    position.reveals(&mut possible);
    let agrees =
        |told: Option<Kind>, kind: Option<Kind>| told.is_none() || kind.is_none() || told == kind;
    let possible = possible.into_iter().map(|(reveal, _)| reveal);
    possible
        .filter(|r| agrees(told.mover, r.mover) && agrees(told.taken, r.taken))
        .collect()
}

/// What is missing of a move with which `told` was told and which [`settle`] left open.
pub fn untold(position: &Position, told: Reveal) -> String {
    let possible = possible(position, told);
    let letters = |kind: fn(&Reveal) -> Option<Kind>| -> String {
        let kinds = Kind::ALL.into_iter();
        kinds
            .filter(|&k| possible.iter().any(|r| kind(r) == Some(k)))
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

/// The moves in a text, between spaces and commas; their numbers (`1.`, also stuck to a move) are left out.
pub fn words(text: &str) -> impl Iterator<Item = &str> + Clone {
    let separate = |c: char| c.is_whitespace() || matches!(c, ',' | '，' | '、');
    let unnumbered = |word: &'_ str| -> usize {
        let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
        let points = rest.trim_start_matches(['.', '…']);
        match rest.len() < word.len() && points.len() < rest.len() {
            true => word.len() - points.len(),
            false => 0,
        }
    };
    let words = text
        .split(separate)
        .map(move |word| &word[unnumbered(word)..]);
    words.filter(|word| !word.is_empty())
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
