//! The schema: every key of `configs/default.toml` with its type, default and range.
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::sync::LazyLock;

use toml::{Table, Value};

/// The text of `configs/default.toml`.
pub const DEFAULT: &str = include_str!("../../../configs/default.toml");

/// What the schema says of one key.
pub(super) struct Key {
    /// The default, which also decides the type.
    pub default: Value,
    /// Bounds, of a number.
    pub range: Option<Range>,
    /// Place in the file, from 0.
    pub place: usize,
}

/// The numbers from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    low: f64,
    high: f64,
    /// Whether `high` itself belongs to it.
    closed: bool,
}

impl Range {
    /// The bounds at the start of a comment such as `0..=1 share of`, or `0..1` without the 1 itself.
    fn parse(comment: &str) -> Option<Self> {
        let (low, rest) = comment.split_once("..")?;
        let (closed, rest) = rest
            .strip_prefix('=')
            .map_or((false, rest), |rest| (true, rest));
        let high = rest
            .split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'))
            .next()?;
        Some(Range {
            low: low.parse().ok()?,
            high: high.trim_end_matches('.').parse().ok()?,
            closed,
        })
    }

    /// The lowest and the highest number in it.
    #[cfg(test)]
    pub fn ends(&self) -> [f64; 2] {
        let high = if self.closed {
            self.high
        } else {
            self.high.next_down()
        };
        [self.low, high]
    }

    /// Whether `x` is in it; NaN never is.
    pub fn contains(&self, x: f64) -> bool {
        x >= self.low && (x < self.high || self.closed && x == self.high)
    }
}

impl Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Range { low, high, closed } = self;
        match closed {
            true => write!(f, "{low}..={high}"),
            false => write!(f, "{low}..{high}, {high} itself excluded"),
        }
    }
}

/// All keys, `table.key`.
pub(super) static SCHEMA: LazyLock<BTreeMap<String, Key>> = LazyLock::new(|| {
    let table: Table = DEFAULT.parse().expect("configs/default.toml is TOML");
    let mut notes = BTreeMap::new();
    let mut section = String::new();
    for (place, line) in DEFAULT.lines().enumerate() {
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            section = name.to_owned();
        } else if let Some((key, rest)) = line.split_once(" = ") {
            let range = rest
                .rsplit_once("# ")
                .and_then(|(_, comment)| Range::parse(comment));
            notes.insert(format!("{section}.{key}"), (range, place));
        }
    }
    let keyed = flatten(&table).into_iter().map(|(key, default)| {
        let (range, place) = notes[&key];
        let key_of = Key {
            default,
            range,
            place,
        };
        (key, key_of)
    });
    keyed.collect()
});

/// `table.key` to value, tables opened; an empty table stands for itself.
pub(super) fn flatten(table: &Table) -> BTreeMap<String, Value> {
    let mut out = BTreeMap::new();
    for (key, value) in table {
        match value {
            Value::Table(inner) if !inner.is_empty() => {
                out.extend(
                    flatten(inner)
                        .into_iter()
                        .map(|(k, v)| (format!("{key}.{k}"), v)),
                );
            }
            other => {
                out.insert(key.clone(), other.clone());
            }
        }
    }
    out
}

impl Key {
    /// The value as this key's type and in its range, or what was expected.
    pub fn checked(&self, value: Value) -> Result<Value, String> {
        let value = match (&self.default, value) {
            (Value::Float(_), Value::Integer(i)) => Value::Float(i as f64),
            (_, value) => value,
        };
        let number = match (&self.default, &value) {
            (Value::Float(_), Value::Float(x)) => Some(*x),
            (Value::Integer(_), Value::Integer(i)) => Some(*i as f64),
            (a, b) if a.type_str() == b.type_str() => None,
            (_, b) => {
                return Err(format!(
                    "expected {}, found {}",
                    self.expected(),
                    article(b)
                ));
            }
        };
        match (number, self.range) {
            (Some(x), Some(range)) if !range.contains(x) => {
                Err(format!("out of range, expected {range}"))
            }
            _ => Ok(value),
        }
    }

    /// The type, with the range or an example.
    fn expected(&self) -> String {
        let kind = article(&self.default);
        match (self.range, &self.default) {
            (Some(range), _) => format!("{kind} in {range}"),
            (None, Value::Array(_) | Value::String(_)) => {
                format!("{kind} such as {}", self.default)
            }
            (None, _) => kind.to_owned(),
        }
    }
}

fn article(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a string",
        Value::Integer(_) => "an integer",
        Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "an array",
        Value::Table(_) => "a table",
    }
}

/// The most similar of all keys; one that agrees in its last part counts as very similar.
pub(super) fn nearest(key: &str) -> String {
    let last = |s: &str| s.rsplit('.').next().unwrap_or_default().to_owned();
    let own = last(key);
    let distance = |name: &String| {
        strsim::damerau_levenshtein(key, name)
            .min(1 + strsim::damerau_levenshtein(&own, &last(name)))
    };
    let nearest = SCHEMA.keys().min_by_key(|name| distance(name));
    nearest.cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_the_schema_has_a_range_that_holds_its_default() {
        for (key, schema) in SCHEMA.iter() {
            let number = match schema.default {
                Value::Integer(i) => i as f64,
                Value::Float(x) => x,
                _ => continue,
            };
            let range = schema.range.unwrap_or_else(|| panic!("{key} has no range"));
            assert!(range.contains(number), "{key}: {number} is not in {range}");
        }
    }

    #[test]
    fn a_range_holds_its_ends_as_it_says_and_never_what_is_no_number() {
        let closed = Range::parse("-1..=0.5 share of").expect("a range");
        let open = Range::parse("0..1. Decay").expect("a range");
        for (range, inside, outside) in [
            (closed, [-1.0, 0.5, 0.0], [-1.1, 0.6, f64::INFINITY]),
            (open, [0.0, 0.9999, 0.5], [-0.1, 1.0, f64::INFINITY]),
        ] {
            assert!(inside.into_iter().all(|x| range.contains(x)), "{range}");
            assert!(!outside.into_iter().any(|x| range.contains(x)), "{range}");
            assert!(!range.contains(f64::NAN) && !range.contains(f64::NEG_INFINITY));
        }
        for comment in ["auto, cpu", "whether ..", "1 to 2", ""] {
            assert_eq!(Range::parse(comment), None, "{comment}");
        }
    }
}
