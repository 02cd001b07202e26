//! How texts of games are divided: whatever a game lacks, no other gets what is its own.
#[path = "support/records.rs"]
mod files;

use files::{CHINESE, file, games_at};
use proptest::prelude::*;
use selfplay::game::{Color, Outcome};
use train::records::RecordedGame;
use train::records::games::Games;

fn games(content: impl AsRef<[u8]>) -> Vec<RecordedGame> {
    let (_folder, path) = file(content);
    games_at(&path)
}

fn texts(game: &RecordedGame) -> Vec<&str> {
    game.moves.iter().map(|mv| mv.text.as_str()).collect()
}

/// What one game of a file has.
#[derive(Clone, Debug)]
struct Parts {
    /// Whether the tags Game, Event and FEN are there; Red is, and Result where there is no other result.
    tags: [bool; 3],
    moves: bool,
    /// Whether its result stands behind the moves.
    token: bool,
    unclosed: Option<char>,
}

impl Parts {
    fn strategy() -> impl Strategy<Value = Parts> {
        let unclosed = prop_oneof![4 => Just(None), 1 => Just(Some('{')), 1 => Just(Some('('))];
        let parts = (any::<[bool; 3]>(), any::<bool>(), any::<bool>(), unclosed);
        parts.prop_map(|(tags, moves, token, unclosed)| Parts {
            tags,
            moves,
            token,
            unclosed,
        })
    }

    fn tags(&self, number: usize) -> Vec<(String, String)> {
        let [game, event, fen] = self.tags;
        [
            (game, "Game", "Chinese Chess".to_owned()),
            (event, "Event", format!("event {number}")),
            (fen, "FEN", format!("position {number}")),
            (true, "Red", format!("player {number}")),
            (!self.token, "Result", "0-1".to_owned()),
        ]
        .into_iter()
        .filter(|(there, _, _)| *there)
        .map(|(_, name, value)| (name.to_owned(), value))
        .collect()
    }

    fn text(&self, number: usize) -> String {
        let tags = self.tags(number).into_iter();
        let mut text: String = tags
            .map(|(name, value)| format!("[{name} \"{value}\"]\n"))
            .collect();
        text.push('\n');
        if self.moves {
            text.push_str("1. h2e2 h9g7\n");
        }
        if self.token {
            text.push_str("0-1\n");
        }
        text.extend(self.unclosed.map(|sign| format!("{sign}for ever\n")));
        text + "\n"
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_game_keeps_its_own(
        parts in prop::collection::vec(Parts::strategy(), 1..6),
        end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
    ) {
        let text: String = parts.iter().enumerate().map(|(i, parts)| parts.text(i)).collect();
        let found = games(text.replace('\n', end));
        prop_assert_eq!(found.len(), parts.len(), "{}", text);
        for (i, (game, parts)) in found.iter().zip(&parts).enumerate() {
            prop_assert_eq!(&game.tags, &parts.tags(i), "{}", text);
            prop_assert_eq!(game.moves.len(), if parts.moves { 2 } else { 0 }, "{}", text);
            prop_assert_eq!(game.outcome, Some(Outcome::Win(Color::Black)), "{}", text);
            let broken = parts.unclosed.is_some();
            let (fault, behind) = (broken && !parts.token, broken && parts.token);
            prop_assert_eq!((game.fault.is_some(), game.behind.is_some()), (fault, behind), "{}", text);
        }
    }
}

#[test]
fn an_event_begins_a_game_but_behind_the_tag_game() {
    let found = games("[Red \"a\"]\n[Result \"1-0\"]\n\n[Event \"x\"]\n\n1. h2e2 0-1\n");
    let tags: Vec<_> = found.iter().map(|game| game.tags.len()).collect();
    assert_eq!((tags, found[1].line), (vec![2, 1], 4));
    let one =
        "[Game \"Chinese Chess\"]\n\n[Event \"x\"]\n\n[Red \"a\"]\n[Red \"a\"]\n1. h2e2 0-1\n";
    assert_eq!(games(one).len(), 1);
    let all: String = (0..1500).map(|i| format!("[Tag{i} \"x\"]\n")).collect();
    let found = games(all + "1. h2e2 1-0\n");
    let why = found[0].fault.as_deref().expect("a fault");
    assert!(
        found.len() == 1 && why.contains("more than 1000 tags"),
        "{why}"
    );
}

#[test]
fn text_behind_a_result_is_no_game() {
    let check = |text: &str, expected: &[(usize, Option<usize>)]| {
        let found = games(text);
        let found: Vec<_> = found.iter().map(|g| (g.moves.len(), g.behind)).collect();
        assert_eq!(found, expected, "{text}");
    };
    check("1. h2e2 h9g7 1-0 2. h0g2 i9h9 0-1\n", &[(2, Some(1))]);
    check("[Red \"a\"]\n1. h2e2 1-0\n\n1. c3c4 0-1\n", &[(1, Some(4))]);
    check("1. h2e2 1-0\nh2e2 h9g7 1-0\n", &[(1, Some(2))]);
    check(
        "1. h2e2 1-0\n第二局\n１．炮二平五 1-0\n",
        &[(1, Some(2)), (1, None)],
    );
    check("1. h2e2 1-0 {won} 1-0 ; really\n", &[(1, None)]);
    check("1. h2e2 1-0\n{for ever\n", &[(1, Some(2))]);
    let twice = &games("1. h2e2 1-0\n0-1\n")[0];
    let why = twice.fault.as_deref().unwrap_or_default();
    assert!(why.contains("told twice"), "{why}");
}

#[test]
fn marks_stuck_to_a_move_are_cut_off() {
    let found = games("1. i0h0$1 i9h9!?$2 2. h0h1$10! $3 h9h8?$4 1-0$5\n");
    assert_eq!(texts(&found[0]), ["i0h0", "i9h9", "h0h1", "h9h8"]);
    assert_eq!(found[0].outcome, Some(Outcome::Win(Color::Red)));
}

#[test]
fn lines_end_with_lf_cr_or_both() {
    // Long enough for line ends to fall on the ends of what is read at a time.
    let text = CHINESE.repeat(300);
    let expected = games(&text);
    for end in ["\r\n", "\r"] {
        assert_eq!(games(text.replace('\n', end)), expected, "{end:?}");
    }
}

#[test]
fn utf_32_is_refused_by_name() {
    let units = || CHINESE.chars().map(u32::from);
    let marked = || std::iter::once(0xfeff).chain(units());
    let contents: [Vec<u8>; 4] = [
        units().flat_map(u32::to_le_bytes).collect(),
        units().flat_map(u32::to_be_bytes).collect(),
        marked().flat_map(u32::to_le_bytes).collect(),
        marked().flat_map(u32::to_be_bytes).collect(),
    ];
    for content in contents {
        let (_folder, path) = file(content);
        let error = Games::open(&path).err().expect("refused").to_string();
        for word in ["games.pgn", "UTF-32", "UTF-8"] {
            assert!(error.contains(word), "{error}");
        }
    }
}
