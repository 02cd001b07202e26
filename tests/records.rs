//! Game records: PGN and DhtmlXQ in, PGN out, and what is said of games that cannot be used.
#[path = "support/records.rs"]
mod files;

use files::{CHINESE, file, games_at};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use selfplay::game::{Color, Ending, Game, Outcome, Reason, Referee, Turn};
use selfplay::policy;
use selfplay::rules::{Notation, Ruleset, World};
use train::games::GameText;
use train::records::import::{Imported, import};
use train::records::{RecordedGame, export};
use train::samples;

fn form(name: &str) -> &'static Ruleset {
    Ruleset::by_name(name).expect("a form")
}

fn games(content: impl AsRef<[u8]>) -> Vec<RecordedGame> {
    let (_folder, path) = file(content);
    games_at(&path)
}

fn texts(game: &RecordedGame) -> Vec<&str> {
    game.moves.iter().map(|mv| mv.text.as_str()).collect()
}

const SAME: [&str; 6] = ["h2e2", "h9g7", "h0g2", "i9h9", "i0h0", "b9c7"];
const WXF: &str =
    "[Game \"Chinese Chess\"]\n[Format \"WXF\"]\n1.C2=5 H8+7 2.H2+3 R9=8 3.R1=2 H2+3 1-0\n";
const ICCS: &str = "[Format \"ICCS\"]\n1. H2-E2 H9-G7\n2. H0-G2 I9-H9\n3. I0-H0 B9-C7\n1-0\n";
const DHTMLXQ: &str = "\
[DhtmlXQ]
[DhtmlXQ_ver]www_dpxq_com[/DhtmlXQ_ver]
[DhtmlXQ_title]第一局[/DhtmlXQ_title]
[DhtmlXQ_binit]8979695949392919097717866646260600102030405060708012720323436383[/DhtmlXQ_binit]
[DhtmlXQ_movelist]774770627967807089791022[/DhtmlXQ_movelist]
[DhtmlXQ_move_0_1_1]7062[/DhtmlXQ_move_0_1_1]
[DhtmlXQ_result]红胜[/DhtmlXQ_result]
[/DhtmlXQ]
";

/// Reads the one game and makes its rows.
fn imported(content: impl AsRef<[u8]>) -> Imported {
    let games = games(content);
    assert_eq!(games.len(), 1, "{games:?}");
    import(&games[0], form("xiangqi"), None, 7).unwrap_or_else(|e| panic!("{e:#}"))
}

#[test]
fn one_game_in_four_texts_gives_the_same_rows() {
    let expected = imported(CHINESE);
    assert!(expected.cut.is_none());
    assert_eq!(
        (expected.plies, expected.rows.len()),
        (SAME.len(), SAME.len())
    );
    for other in [WXF, ICCS, DHTMLXQ] {
        let found = imported(other);
        assert!(found.cut.is_none(), "{other}: {:?}", found.cut);
        assert_eq!(found.rows, expected.rows, "{other}");
    }
    let rows = &expected.rows;
    assert_eq!(samples::check_rows(rows), Ok(()));
    for (i, text) in SAME.iter().enumerate() {
        let (entries, red) = (rows.policy_range(i), i % 2 == 0);
        let played: Vec<_> = entries.filter(|&e| rows.policy_prob[e] > 0).collect();
        assert_eq!(played.len(), 1);
        assert_eq!(rows.policy_prob[played[0]], u16::MAX);
        let squares: Vec<_> = text.as_bytes().chunks(2).collect();
        let square = |s: &[u8]| {
            let at = usize::from(s[0] - b'a') + 9 * usize::from(s[1] - b'0');
            if red { at } else { policy::flip_square(at) }
        };
        let expected = Some((square(squares[0]), square(squares[1])));
        assert_eq!(policy::squares(rows.policy_index[played[0]]), expected);
        assert_eq!(rows.outcome[i], if red { 0 } else { 2 });
        assert_eq!(
            rows.search_wdl[i],
            if red {
                [1.0, 0.0, 0.0]
            } else {
                [0.0, 0.0, 1.0]
            }
        );
        assert_eq!(
            (rows.ply[i], rows.plies_left[i]),
            (i as u16, (SAME.len() - i) as u16)
        );
        assert_eq!((rows.game[i], rows.policy_weight[i]), (7, 1));
    }
}

#[test]
fn comments_variations_and_marks_are_skipped() {
    let found = games(CHINESE);
    let expected = [
        "炮二平五",
        "马８进７",
        "马二进三",
        "车９平８",
        "车一平二",
        "马２进３",
    ];
    assert_eq!(texts(&found[0]), expected);
    assert_eq!(found[0].tag("red"), Some("湖北 柳大华"));
    assert_eq!(found[0].outcome, Some(Outcome::Win(Color::Red)));
    assert_eq!(found[0].moves[2].line, 9);
}

#[test]
fn encodings_are_found() {
    for encoding in [encoding_rs::GBK, encoding_rs::GB18030, encoding_rs::UTF_8] {
        let (bytes, _, lossy) = encoding.encode(CHINESE);
        assert!(!lossy);
        assert_eq!(games(bytes), games(CHINESE), "{}", encoding.name());
    }
    let marked = [b"\xef\xbb\xbf", CHINESE.as_bytes()].concat();
    assert_eq!(games(marked), games(CHINESE));
    let wide: Vec<u8> = [0xfeff]
        .into_iter()
        .chain(CHINESE.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(games(wide), games(CHINESE));
    assert_eq!(games(CHINESE.replace('\n', "\r\n")), games(CHINESE));
}

#[test]
fn a_file_holds_many_games_of_either_text() {
    let untagged = "1. h2e2 *\n\n1. h2e2 h9g7 1/2-1/2 1. c3c4 0-1\n";
    let all = [untagged, CHINESE, DHTMLXQ, WXF, ICCS, DHTMLXQ].concat();
    let found = games(&all);
    let plies: Vec<_> = found.iter().map(|game| game.moves.len()).collect();
    assert_eq!(plies, [1, 2, 1, 6, 6, 6, 6, 6]);
    assert_eq!(
        found.iter().map(|g| g.number).collect::<Vec<_>>(),
        (1..=8).collect::<Vec<_>>()
    );
    assert_eq!(found[4].line, CHINESE.lines().count() + 4);
    assert_eq!(found[1].outcome, Some(Outcome::Draw));
    // All on one long line.
    let long = "1. 炮二平五 马8进7 2. 马二进三 1-0 ".repeat(30_000);
    let found = games(&long);
    assert_eq!(found.len(), 30_000);
    assert!(
        found
            .iter()
            .all(|game| game.moves.len() == 3 && game.line == 1)
    );
    // Without results, the tags part them.
    let open = "[Event \"a\"]\n1. h2e2\n[Event \"b\"]\n1. h2e2 h9g7\n";
    let plies: Vec<_> = games(open).iter().map(|game| game.moves.len()).collect();
    assert_eq!(plies, [1, 2]);
    assert_eq!(games("").len() + games("\n\n{ nothing }\n").len(), 0);
}

#[test]
fn an_impossible_move_keeps_what_came_before() {
    let found = imported(CHINESE.replace("车一平二!", "车一平三!"));
    assert_eq!((found.plies, found.rows.len()), (4, 4));
    // The game went on for two plies more.
    assert_eq!(found.rows.plies_left, [6, 5, 4, 3]);
    let why = format!("{:#}", found.cut.expect("cut"));
    for word in ["move 3 of Red", "line 11", "'车一平三'", "same side"] {
        assert!(why.contains(word), "{why}");
    }
}

#[test]
fn games_that_cannot_be_used_say_why() {
    let check = |content: &str, words: &[&str]| {
        let games = games(content);
        let rules = form(if content.contains("Jieqi") {
            "jieqi"
        } else {
            "xiangqi"
        });
        let why = format!("{:#}", import(&games[0], rules, None, 0).unwrap_err());
        words
            .iter()
            .for_each(|word| assert!(why.contains(word), "no {word} in: {why}"));
    };
    check("[Result \"1-0\"]\n1. h2e2 0-1\n", &["told twice", "'0-1'"]);
    check("1. h2e2 *\n", &["no result"]);
    check("[Event \"x\"]\n[Result \"1-0\"]\n", &["no moves"]);
    check(
        "1. h9g7 1-0\n",
        &[
            "move 1 of Red",
            "line 1",
            "'h9g7'",
            "no piece of Red's side",
        ],
    );
    check("[Game \"Chess\"]\n1. e4 1-0\n", &["Game", "Chess"]);
    check("[Variant \"jieqi\"]\n1. h2e2 1-0\n", &["jieqi", "--form"]);
    check(
        "[FEN \"nonsense\"]\n1. h2e2 1-0\n",
        &["FEN", "nonsense", "board"],
    );
    check("[Game \"Jieqi\"]\n1. h2e2 1-0\n", &["face down", "world"]);
    check(
        "1. h2e2 {for ever\n1. h9g7 1-0\n",
        &["comment", "line 1", "never closed"],
    );
    check(
        "1. h2e2 h9g7\n2. (h0g2 1-0\n",
        &["variation", "line 2", "never closed"],
    );
    check(
        "[DhtmlXQ]\n[DhtmlXQ_movelist]77477[/DhtmlXQ_movelist]\n",
        &["movelist", "5 digits"],
    );
    check(
        "[DhtmlXQ]\n[DhtmlXQ_movelist]7747xx[/DhtmlXQ_movelist]\n",
        &["movelist", "'x'"],
    );
    check(
        "[DhtmlXQ]\n[DhtmlXQ_movelist]9999[/DhtmlXQ_movelist]\n",
        &["movelist", "leaves the board"],
    );
    check("[DhtmlXQ]\n", &["DhtmlXQ_movelist"]);
    let binit = "[DhtmlXQ]\n[DhtmlXQ_binit]7979[/DhtmlXQ_binit]\n[DhtmlXQ_movelist]7747[/DhtmlXQ_movelist]\n";
    check(binit, &["binit", "2 squares", "32"]);
    check(&format!("{} 1-0", "h2e2 ".repeat(10_001)), &["10000 plies"]);
    // A comment that is never closed ends at the next game.
    let after = games("1. h2e2 {for ever\n[Event \"next\"]\n1. h2e2 h9g7 1-0\n");
    assert_eq!(after[1].moves.len(), 2);
}

#[test]
fn the_last_position_tells_a_missing_result() {
    let fen = "3k5/R8/9/9/9/9/9/9/9/1R3K3 w - - 0 1";
    let found = imported(format!("[FEN \"{fen}\"]\n1. b0b9 *\n"));
    assert_eq!((found.rows.outcome, found.plies), (vec![0], 1));
}

#[test]
fn a_mate_on_the_board_refutes_another_result() {
    let mate = "3k5/R8/9/9/9/9/9/9/9/1R3K3 w - - 0 1\"]\n1. b0b9";
    let stalemate = "3k5/9/R8/9/9/9/9/9/9/4K4 w - - 0 1\"]\n1. a7a8";
    for (game, reason) in [(mate, "checkmate"), (stalemate, "stalemate")] {
        for (end, told) in [
            ("0-1", true),
            ("d9d8 1/2-1/2", true),
            ("1-0", false),
            ("*", false),
        ] {
            let found = imported(format!("[FEN \"{game} {end}\n"));
            assert_eq!((found.rows.outcome, found.plies), (vec![0], 1), "{end}");
            assert_eq!(found.cut.is_some(), end.starts_with('d'));
            let why = found.refuted.unwrap_or_default();
            assert_eq!(why.contains(reason) && why.contains("1-0"), told, "{why}");
        }
    }
    // Where nothing on the board decides, the record does.
    assert!(imported("1. h2e2 0-1\n").refuted.is_none());
}

#[test]
fn a_dhtmlxq_position_is_played_from() {
    // A lone chariot and the kings; Black's is to move.
    let squares = ["99"; 32].map(String::from);
    let mut squares = squares.to_vec();
    (squares[0], squares[4], squares[20]) = ("09".into(), "49".into(), "30".into());
    let text = format!(
        "[DhtmlXQ]\n[DhtmlXQ_binit]{}[/DhtmlXQ_binit]\n[DhtmlXQ_movelist]3031[/DhtmlXQ_movelist]\n\
         [DhtmlXQ_result]和棋[/DhtmlXQ_result]\n[/DhtmlXQ]\n",
        squares.concat()
    );
    let found = games(&text);
    assert_eq!(
        found[0].tag("FEN"),
        Some("3k5/9/9/9/9/9/9/9/9/R3K4 b - - 0 1")
    );
    assert_eq!(imported(&text).rows.outcome, [1]);
}

/// A random game as a run keeps it.
fn random_game(rules: &'static Ruleset, seed: u64, plies: usize) -> GameText {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut world = World::start(rules, &mut rng);
    let start = world.fen();
    let (mut moves, mut texts) = (Vec::new(), Vec::new());
    while let (Turn::Decision(decider), true) = (world.turn(), texts.len() < plies) {
        world.view(decider).legal_moves(&mut moves);
        let mv = *moves.choose(&mut rng).expect("a move");
        let light = world
            .apply(mv, &mut rng)
            .map_or(String::new(), |r| r.to_string());
        texts.push(format!("{mv}{light}"));
    }
    GameText {
        id: seed,
        run: "5f3a90c1d2e4b678".into(),
        seed,
        form: rules.name.into(),
        start,
        moves: texts,
        ending: Ending {
            outcome: Outcome::Draw,
            reason: Reason::PlyCap,
        },
        net_step_first: 1,
        net_step_last: 2,
        would_resign: None,
    }
}

#[test]
fn what_is_exported_is_imported_in_every_form_and_notation() {
    for rules in Ruleset::all() {
        let game = random_game(rules, 3, 90);
        let mut first = None;
        for notation in Notation::ALL {
            let played = game.moves.iter().map(String::as_str);
            let moves = export::moves(rules, &game.start, played, notation);
            let moves = moves.unwrap_or_else(|e| panic!("{e:#}"));
            let mut text = Vec::new();
            export::write(&mut text, &game, rules, (notation, &moves)).expect("written");
            let read = games(&text);
            assert_eq!(
                (read.len(), texts(&read[0])),
                (1, moves.iter().map(String::as_str).collect())
            );
            let from = read[0]
                .tag("Format")
                .expect("a format")
                .parse()
                .expect("a notation");
            let found = import(&read[0], rules, Some(from), 0).unwrap_or_else(|e| panic!("{e:#}"));
            assert!(
                found.cut.is_none(),
                "{notation} {}: {:?}",
                rules.name,
                found.cut
            );
            assert_eq!(found.plies, game.moves.len());
            assert_eq!(samples::check_rows(&found.rows), Ok(()));
            assert_eq!(first.get_or_insert_with(|| found.rows.clone()), &found.rows);
        }
    }
}

/// Bytes of records with some changed; they are read to the end, whatever they say.
fn fuzz(seed: u64, bytes: usize) {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let seeds = [CHINESE, WXF, ICCS, DHTMLXQ].map(|text| text.as_bytes().to_vec());
    let gbk = encoding_rs::GBK.encode(CHINESE).0.into_owned();
    let (mut fed, mut used) = (0, 0);
    while fed < bytes {
        let mut content = Vec::new();
        for _ in 0..rng.random_range(1..20) {
            let mut text = seeds.choose(&mut rng).unwrap_or(&gbk).clone();
            if rng.random_range(0..5) == 0 {
                text = gbk.clone();
            }
            for _ in 0..rng.random_range(0..3) {
                let at = rng.random_range(0..text.len());
                match rng.random_range(0..4) {
                    0 => text[at] = rng.random(),
                    1 => drop(text.drain(at..(at + 9).min(text.len()))),
                    2 => text.insert(at, *b"{}()[]\";\n%$*".choose(&mut rng).expect("a sign")),
                    _ => text.extend((0..rng.random_range(1..50)).map(|_| rng.random::<u8>())),
                }
            }
            content.extend(text);
        }
        fed += content.len();
        for game in games(&content) {
            match import(&game, form("xiangqi"), None, 0) {
                Ok(found) => {
                    used += 1;
                    assert_eq!(samples::check_rows(&found.rows), Ok(()));
                }
                Err(why) => assert!(format!("{why:#}").len() < 2000, "{why:#}"),
            }
        }
    }
    assert!(used * 5000 > bytes, "{used} games were still used");
}

#[test]
fn changed_records_are_read_to_their_end() {
    fuzz(1, 200_000);
}

#[test]
#[ignore = "minutes; run with --release"]
fn ten_megabytes_of_changed_records_are_read_to_their_end() {
    fuzz(2, 10 << 20);
}
