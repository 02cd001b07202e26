//! What can be set, in either protocol.
use std::path::PathBuf;

use selfplay::bundle::Level;
use selfplay::game::Color;
use selfplay::mcts::RootKind;
use selfplay::rules::{Ranks, Ruleset};

use super::protocol::{Protocol, quote};

/// What an option's value may be.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `true` or `false`; the default.
    Check(bool),
    /// A whole number: default, least, most.
    Spin(u64, u64, u64),
    /// One of a list; the default.
    Combo(String, Vec<&'static str>),
    /// Any text; the default.
    Text(&'static str),
    /// No value.
    Button,
}

/// The values.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// `UCI_Variant`; `None`: the first form that the network was trained in.
    pub variant: Option<&'static str>,
    /// `UCI_Ranks`: how UCI's moves count ranks.
    pub ranks: Ranks,
    /// `MultiPV`: lines of analysis.
    pub lines: usize,
    /// `Hash`: MiB that the tree may take; a search holds there.
    pub hash_mib: usize,
    /// `Threads`: for one evaluation, where its evaluator can use several.
    pub threads: usize,
    /// `Move Overhead`: milliseconds of a move's time that the way to the clock takes.
    pub overhead_ms: u64,
    /// `UCI_ShowWDL`: whether lines of analysis have win, draw and loss in thousandths.
    pub show_wdl: bool,
    /// `Visits`: new simulations a move at most, save in an infinite search; 0: no limit.
    pub visits: u64,
    /// `Temperature` of the move choice; 0: the best move.
    pub temperature: f32,
    /// `Root`: how the root chooses what to visit; `None`: as the network was trained.
    pub root: Option<RootKind>,
    /// `Side`: whose knowledge a position is that does not say; `None`: that of the side to move.
    pub side: Option<Color>,
    /// `Level`: the level of strength that is played; 0: what the two below say.
    pub level: u64,
    /// `UCI_LimitStrength`: whether `UCI_Elo` chooses the level.
    pub limit_strength: bool,
    /// `UCI_Elo`: the level of the nearest rating is played; `None`: the strongest.
    pub elo: Option<u64>,
    /// Whether `visits` are searched as in matches, in one round. No option: levels have it so.
    pub whole: bool,
    /// `usemillisec`: whether UCCI's times are in milliseconds, not in seconds.
    pub millisec: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            variant: None,
            ranks: Ranks::FromZero,
            lines: 1,
            hash_mib: 256,
            threads: 1,
            overhead_ms: 30,
            show_wdl: false,
            visits: 0,
            temperature: 0.0,
            root: None,
            side: None,
            level: 0,
            limit_strength: false,
            elo: None,
            whole: false,
            millisec: false,
        }
    }
}

/// What a new value asks of the session.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Nothing.
    None,
    /// To load a network.
    Load(PathBuf),
    /// To forget the tree.
    Forget,
    /// To play another form.
    Variant,
    /// To play another level.
    Strength,
}

/// The options that a network with levels has.
const STRENGTH: [&str; 3] = ["Level", "UCI_LimitStrength", "UCI_Elo"];

/// The options of strength, for levels of which the first is the weakest; none without levels.
fn strength(levels: &[Level]) -> Vec<(&'static str, Kind)> {
    let (Some(weakest), Some(strongest)) = (levels.first(), levels.last()) else {
        return Vec::new();
    };
    let [least, most] = [weakest, strongest].map(|level| level.elo.max(0.0).round() as u64);
    let kinds = [
        Kind::Spin(0, 0, strongest.level.into()),
        Kind::Check(false),
        Kind::Spin(most, least, most),
    ];
    STRENGTH.into_iter().zip(kinds).collect()
}

/// Every option and its default; `variant` is the form played if none is chosen, `levels` those of the form played.
pub fn all(variant: &str, levels: &[Level]) -> Vec<(&'static str, Kind)> {
    let forms = Ruleset::all().iter().map(|rules| rules.name).collect();
    let ours = Options::default();
    let spin = |default: usize, most| Kind::Spin(default as u64, 1, most);
    let mut all = vec![
        ("Model", Kind::Text("<empty>")),
        ("UCI_Variant", Kind::Combo(variant.to_owned(), forms)),
        ("UCI_Ranks", Kind::Combo("0-9".into(), vec!["0-9", "1-10"])),
        ("MultiPV", spin(ours.lines, 128)),
        // A tree's links have 31 bits, which is enough for 24 GiB.
        ("Hash", spin(ours.hash_mib, 16384)),
        ("Clear Hash", Kind::Button),
        ("Threads", spin(ours.threads, 512)),
        ("Move Overhead", Kind::Spin(ours.overhead_ms, 0, 5000)),
        ("Ponder", Kind::Check(false)),
        ("UCI_ShowWDL", Kind::Check(ours.show_wdl)),
        ("Visits", Kind::Spin(ours.visits, 0, 1_000_000_000)),
        ("Temperature", Kind::Text("0")),
        (
            "Root",
            Kind::Combo("auto".into(), vec!["auto", "gumbel", "puct"]),
        ),
        (
            "Side",
            Kind::Combo("auto".into(), vec!["auto", "red", "black"]),
        ),
        ("usemillisec", Kind::Check(ours.millisec)),
    ];
    all.extend(strength(levels));
    all
}

/// Type, default and range, as both protocols declare them.
pub fn describe(kind: &Kind) -> String {
    match kind {
        Kind::Check(default) => format!("check default {default}"),
        Kind::Spin(default, least, most) => {
            format!("spin default {default} min {least} max {most}")
        }
        Kind::Combo(default, values) => {
            let values: String = values.iter().map(|value| format!(" var {value}")).collect();
            format!("combo default {default}{values}")
        }
        Kind::Text(default) => format!("string default {default}"),
        Kind::Button => "button".to_owned(),
    }
}

/// A name without case, spaces and underscores.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| !matches!(c, ' ' | '_'));
    letters.flat_map(char::to_lowercase).collect()
}

/// Another's name for an option.
fn own_name(name: &str) -> &str {
    match name {
        "hashsize" => "hash",
        "millisec" => "usemillisec",
        name => name,
    }
}

impl Options {
    /// Sets `name`, whatever its case, with or without spaces and underscores, to `value`; `levels` as in [`all`].
    pub fn set(
        &mut self,
        protocol: Protocol,
        name: &str,
        value: Option<&str>,
        levels: &[Level],
    ) -> Result<Effect, String> {
        let wanted = plain(name);
        let wanted = own_name(&wanted);
        if let Some(name) = STRENGTH
            .iter()
            .find(|known| levels.is_empty() && plain(known) == wanted)
        {
            return Err(format!(
                "option {name}: no network with levels of this form is loaded; `fanqi grade RUN` makes them"
            ));
        }
        let all = all("", levels);
        let Some((name, kind)) = all.iter().find(|(known, _)| plain(known) == wanted) else {
            let names: Vec<_> = all.iter().filter_map(|(n, _)| protocol.option(n)).collect();
            let (name, names) = (quote(name), names.join(", "));
            return Err(format!("there is no option '{name}'; known: {names}"));
        };
        if protocol.option(name).is_none() {
            return Err(format!("option {name}: {} has it not", protocol.name()));
        }
        let value = value.unwrap_or_default();
        let value = check(value, kind).map_err(|expected| {
            let value = quote(value);
            format!("option {name}: '{value}' is not {expected}; it stays as it was")
        })?;
        self.take(name, &value)
    }

    /// Takes a value that fits the option's kind.
    fn take(&mut self, name: &str, value: &str) -> Result<Effect, String> {
        let number = value.parse().unwrap_or(0);
        let yes = value == "true";
        match name {
            // As programs write the empty text.
            "Model" if matches!(value, "" | "<empty>") => {
                return Err("option Model: expected a name; it stays as it was".into());
            }
            "Model" => return Ok(Effect::Load(PathBuf::from(value))),
            "Clear Hash" => return Ok(Effect::Forget),
            "UCI_Variant" => {
                self.variant = Ruleset::by_name(value).map(|rules| rules.name);
                return Ok(Effect::Variant);
            }
            "UCI_Ranks" => {
                self.ranks = match value {
                    "0-9" => Ranks::FromZero,
                    _ => Ranks::FromOne,
                }
            }
            "MultiPV" => self.lines = number as usize,
            "Hash" => self.hash_mib = number as usize,
            "Threads" => self.threads = number as usize,
            "Move Overhead" => self.overhead_ms = number,
            "UCI_ShowWDL" => self.show_wdl = yes,
            "Visits" => self.visits = number,
            "Temperature" => {
                let range = 0.0..=10.0;
                let read = value.parse().ok().filter(|t| range.contains(t));
                self.temperature = read.ok_or_else(|| {
                    let value = quote(value);
                    format!("option Temperature: '{value}' is not a number from 0 to 10; it stays as it was")
                })?;
            }
            "Root" => {
                self.root = match value {
                    "gumbel" => Some(RootKind::Gumbel),
                    "puct" => Some(RootKind::Puct),
                    _ => None,
                };
                return Ok(Effect::Forget);
            }
            "Side" => {
                self.side = match value {
                    "red" => Some(Color::Red),
                    "black" => Some(Color::Black),
                    _ => None,
                }
            }
            "usemillisec" => self.millisec = yes,
            "Level" => {
                self.level = number;
                return Ok(Effect::Strength);
            }
            "UCI_LimitStrength" => {
                self.limit_strength = yes;
                return Ok(Effect::Strength);
            }
            "UCI_Elo" => {
                self.elo = Some(number);
                return Ok(Effect::Strength);
            }
            // Whether the program lets us think in the opponent's time changes nothing in how we use our own.
            _ => {}
        }
        Ok(Effect::None)
    }
}

/// The value as it is declared, or what was expected.
fn check(value: &str, kind: &Kind) -> Result<String, String> {
    let expected = match kind {
        Kind::Check(_) => match value.to_ascii_lowercase().as_str() {
            value @ ("true" | "false") => return Ok(value.to_owned()),
            "on" => return Ok("true".to_owned()),
            "off" => return Ok("false".to_owned()),
            _ => "true or false".to_owned(),
        },
        Kind::Spin(_, least, most) => match value.parse() {
            Ok(number) if (*least..=*most).contains(&number) => return Ok(number.to_string()),
            _ => format!("a whole number from {least} to {most}"),
        },
        Kind::Combo(_, values) => {
            match values
                .iter()
                .find(|known| known.eq_ignore_ascii_case(value))
            {
                Some(known) => return Ok((*known).to_owned()),
                None => format!("one of {}", values.join(", ")),
            }
        }
        Kind::Text(_) => return Ok(value.to_owned()),
        Kind::Button => return Ok(String::new()),
    };
    Err(expected)
}
