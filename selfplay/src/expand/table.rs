//! What each plane and each global of the network's input is, as data: for whoever reads this, and for programs that
//! make the input themselves.
use serde::{Deserialize, Serialize};

use super::{LIMIT_UNIT, SET, global, plane};

/// A plane or a global.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feature {
    /// Place along its axis.
    pub index: usize,
    /// Unique among the planes, or among the globals.
    pub name: String,
    /// What it says.
    pub meaning: String,
    /// The values that it may have.
    pub range: String,
}

/// One feature, or one for each of `kinds`, whose letter stands for `{}` and whose number in a set for `{set}`; `{limit}` is the unit of the
/// natural limit.
struct Group {
    first: usize,
    name: &'static str,
    kinds: &'static str,
    meaning: &'static str,
    range: &'static str,
}

const ALL: &str = "KABNRCP";
const HIDDEN: &str = "ABNRCP";
const ONE: &str = "";
const BIT: &str = "0 or 1";
const SHARE: &str = "0..=1";

const fn group(
    first: usize,
    name: &'static str,
    kinds: &'static str,
    meaning: &'static str,
    range: &'static str,
) -> Group {
    Group {
        first,
        name,
        kinds,
        meaning,
        range,
    }
}

/// The planes: a number on every square.
#[rustfmt::skip]
static PLANE_GROUPS: [Group; 11] = [
    group(plane::OWN, "own_{}", ALL, "an own piece that plays as {} stands on the square", BIT),
    group(plane::OTHER, "other_{}", ALL, "an opponent's piece that plays as {} stands on the square", BIT),
    group(plane::LAST_FROM, "last_from", ONE, "the last move left the square", BIT),
    group(plane::LAST_TO, "last_to", ONE, "the last move reached the square", BIT),
    group(plane::PLACING, "placing", ONE, "the next piece of an arrangement is placed on the square", BIT),
    group(plane::OWN_DOWN, "own_down", ONE, "an own piece lies face down", BIT),
    group(plane::OTHER_DOWN, "other_down", ONE, "an opponent's piece lies face down", BIT),
    group(plane::OWN_KNOWN, "own_down_is_{}", HIDDEN, "an own piece lies face down and is known to be {}", BIT),
    group(plane::OTHER_KNOWN, "other_down_is_{}", HIDDEN, "an opponent's piece lies face down and is known to be {}", BIT),
    group(plane::SECRET, "secret", ONE, "a piece lies face down and only its owner, the viewer, knows what it is", BIT),
    group(plane::ONES, "ones", ONE, "1 everywhere, so that convolutions see where the board ends", "1"),
];

/// The globals: a number for the whole board.
#[rustfmt::skip]
static GLOBAL_GROUPS: [Group; 20] = [
    group(0, "no_capture", ONE, "plies without a capture, divided by those that end the game, at most 1; 0 without such a limit", SHARE),
    group(1, "occurred", ONE, "the position occurred before", BIT),
    group(2, "occurred_twice", ONE, "the position occurred at least twice before", BIT),
    group(3, "in_check", ONE, "the side to move is in check", BIT),
    group(4, "viewer_decides", ONE, "the viewer is to decide, or both players know the same", BIT),
    group(5, "arranging", ONE, "pieces are being arranged", BIT),
    group(6, "lays_down", ONE, "rule: face-up pieces may be laid down (翻下)", BIT),
    group(7, "fakes_roam", ONE, "rule: face-down pieces roam as face-up ones do", BIT),
    group(8, "roams_{}", "AB", "rule: a face-up {} roams the whole board", BIT),
    group(global::TAKES_PART, "takes_part_{}", HIDDEN, "rule: {} may lie face down", BIT),
    group(global::LAYOUT, "layout_open", ONE, "rule: all pieces start face up", BIT),
    group(global::LAYOUT + 1, "layout_at_home", ONE, "rule: pieces start face down, each at home", BIT),
    group(global::LAYOUT + 2, "layout_dealt", ONE, "rule: pieces start face down, dealt at random", BIT),
    group(global::LAYOUT + 3, "layout_arranged", ONE, "rule: pieces start face down, arranged by their owner", BIT),
    group(global::SEEN_BY, "taken_seen_by_captor", ONE, "rule: what a taken unknown piece was is seen by the captor alone", BIT),
    group(global::SEEN_BY + 1, "taken_seen_by_nobody", ONE, "rule: what a taken unknown piece was is seen by nobody", BIT),
    group(global::OWN_POOL, "own_unseen_{}", HIDDEN, "own {} that the viewer has not seen, divided by {set}", SHARE),
    group(global::OTHER_POOL, "other_unseen_{}", HIDDEN, "the opponent's {} that the viewer has not seen, divided by {set}", SHARE),
    group(global::LIMIT, "no_capture_limit", ONE, "rule: plies without a capture that end the game, divided by {limit}; 0 without such a limit", "0..=2.125"),
    group(global::REPETITION_RULE, "repetition", ONE, "rule: a third occurrence draws (0), is judged as WXF does (1), as CXA does (2)", "0, 1 or 2"),
];

/// Every plane, by index.
pub fn planes() -> Vec<Feature> {
    PLANE_GROUPS.iter().flat_map(Group::features).collect()
}

/// Every global, by index.
pub fn globals() -> Vec<Feature> {
    GLOBAL_GROUPS.iter().flat_map(Group::features).collect()
}

impl Group {
    fn features(&self) -> Vec<Feature> {
        let feature = |index: usize, letter: &str| {
            let set = HIDDEN.find(letter).map_or(0.0, |kind| SET[kind]);
            let told = |text: &str| {
                let text = text.replace("{set}", &set.to_string());
                let text = text.replace("{limit}", &LIMIT_UNIT.to_string());
                text.replace("{}", letter)
            };
            Feature {
                index: self.first + index,
                name: told(self.name),
                meaning: told(self.meaning),
                range: self.range.to_owned(),
            }
        };
        if self.kinds.is_empty() {
            return vec![feature(0, "")];
        }
        let letters = self.kinds.split("").filter(|letter| !letter.is_empty());
        let numbered = letters.enumerate();
        numbered.map(|(i, letter)| feature(i, letter)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::{GLOBALS, PLANES};
    use super::*;

    fn check(features: &[Feature], count: usize) {
        assert_eq!(features.len(), count);
        assert!(features.iter().enumerate().all(|(i, f)| f.index == i));
        let names: HashSet<_> = features.iter().map(|f| &f.name).collect();
        assert_eq!(names.len(), count);
        assert!(features.iter().all(|f| !f.meaning.contains(['{', '}'])));
    }

    #[test]
    fn every_feature_has_its_index_and_a_name_of_its_own() {
        check(&planes(), PLANES);
        check(&globals(), GLOBALS);
        let pawns = &globals()[global::OWN_POOL + 5];
        assert_eq!(pawns.name, "own_unseen_P");
        assert!(pawns.meaning.ends_with("divided by 5"));
    }
}
