//! Engines in matches: in every form, and with every fault that one may have.
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use selfplay::game::{Color, Ending, Outcome, Reason};
use selfplay::opponent::Builtin;
use selfplay::rules::{Ruleset, World};
use train::arena::spec::{PlayerSpec, Who};
use train::arena::{
    External, FaultKind, GameEnd, MatchConfig, MatchResult, PlayedGame, Player, Watch, play_match,
};

const GO_ON: ControlFlow<()> = ControlFlow::Continue(());
/// For machines that are busy otherwise.
const PATIENT: &str = "&timeout=3600";
const RANDOM: Player = Player::Builtin(Builtin::Random);

/// The engine that a text names.
fn engine(text: &str, form: &str) -> External {
    let spec: PlayerSpec = text.parse().unwrap_or_else(|e| panic!("{e}"));
    let Who::Engine(spec) = spec.who else {
        panic!("{text} is no engine");
    };
    let rules = Ruleset::by_name(form).expect("a form");
    External { spec, rules }
}

/// A player's text for an engine that plays the first legal move, with a fault.
fn faulty(folder: &Path, fault: &str, number: u32, keys: &str) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/fake_engine.py");
    let word = |path: &Path| {
        path.display()
            .to_string()
            .replace('%', "%25")
            .replace(' ', "%20")
    };
    format!(
        "engine:python3 {} {fault} {number} {} {} uci?nodes=1{keys}",
        word(&script),
        word(folder),
        word(Path::new(env!("CARGO_BIN_EXE_fanqi"))),
    )
}

fn config(pairs: u32, games_per_thread: usize) -> MatchConfig {
    MatchConfig {
        pairs,
        opening_plies: 2,
        ply_cap: 30,
        threads: 1,
        games_per_thread,
    }
}

fn play(
    engine: External,
    config: &MatchConfig,
    finished: &(dyn Fn(&PlayedGame) -> ControlFlow<()> + Sync),
) -> MatchResult {
    let rules = engine.rules;
    let start = |rng: &mut _| World::start(rules, rng);
    let watch = Watch {
        stop: &AtomicBool::new(false),
        finished,
    };
    let player = Player::External(engine.into());
    play_match(&start, [&player, &RANDOM], config, 1, &watch).expect("a match")
}

#[test]
fn an_engine_plays_every_form_by_either_protocol() {
    let fanqi = env!("CARGO_BIN_EXE_fanqi")
        .replace('%', "%25")
        .replace(' ', "%20");
    for rules in Ruleset::all() {
        let text = match rules.arranged() {
            true => format!("engine:{fanqi} uci?nodes=1&option.UCI_Ranks=1-10&ranks=1-10"),
            false => format!("engine:{fanqi} ucci?depth=1&movetime=10&protocol=ucci"),
        };
        let played = play(engine(&text, rules.name), &config(1, 2), &|_| GO_ON);
        assert_eq!(played.games.len(), 2, "{}", rules.name);
        for game in &played.games {
            let ruled = matches!(game.ending, GameEnd::Ruled(_));
            assert!(ruled, "{}: {:?}", rules.name, game.ending);
        }
    }
}

/// Every game of a match with a faulty engine is lost with that reason and words.
fn check_fault(fault: &str, keys: &str, kind: FaultKind, words: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine(&faulty(folder.path(), fault, 3, keys), "xiangqi");
    let played = play(engine, &config(1, 1), &|_| GO_ON);
    assert_eq!(played.losses, 2, "{fault}: {played:?}");
    for game in &played.games {
        let GameEnd::Failed {
            loser,
            fault: found,
        } = &game.ending
        else {
            panic!("{fault}: {:?}", game.ending);
        };
        assert_eq!(
            (*loser, found.kind),
            (game.first, kind),
            "{fault}: {found:?}"
        );
        for word in words {
            assert!(
                found.detail.contains(word),
                "{fault}: no {word:?} in {found:?}"
            );
        }
        // The opening, and two moves of the engine's.
        let replies = if game.first == Color::Red { 2 } else { 3 };
        assert_eq!(game.plies, 2 + 2 + replies, "{fault}: {game:?}");
    }
}

#[test]
fn an_engine_that_fails_has_lost_and_is_started_anew() {
    check_fault(
        "crash",
        PATIENT,
        FaultKind::Crash,
        &["while it was to move", "exit status: 3"],
    );
    check_fault("hang", "&timeout=1.5", FaultKind::Timeout, &["1.5 s"]);
    check_fault("flood", "&timeout=1.5", FaultKind::Timeout, &["1.5 s"]);
    check_fault(
        "illegal",
        PATIENT,
        FaultKind::IllegalMove,
        &["'a0a9'", "not legal"],
    );
    check_fault(
        "rubbish",
        PATIENT,
        FaultKind::NoMove,
        &["'rubbish'", "no move"],
    );
    check_fault("silence", PATIENT, FaultKind::NoMove, &["no move"]);
}

#[test]
fn one_fault_costs_one_game() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine(&faulty(folder.path(), "crash-once", 2, PATIENT), "xiangqi");
    let played = play(engine, &config(3, 1), &|_| GO_ON);
    assert_eq!(played.games.len(), 6);
    let crashed = |game: &&PlayedGame| game.ending.reason() == "crash";
    assert_eq!(played.games.iter().filter(crashed).count(), 1, "{played:?}");
    assert_eq!(played.reasons.get("crash"), Some(&1));
}

#[test]
fn an_engine_may_resign() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine(&faulty(folder.path(), "resign", 1, PATIENT), "xiangqi");
    let played = play(engine, &config(1, 1), &|_| GO_ON);
    let resigned = |game: &PlayedGame| {
        game.ending
            == GameEnd::Ruled(Ending {
                outcome: Outcome::Win(game.first.other()),
                reason: Reason::Resignation,
            })
    };
    // A process resigns once.
    assert!(resigned(&played.games[0]), "{played:?}");
}

/// The first engine answers only after another game is over, which a thread that waited for it would never reach.
#[test]
fn games_go_on_while_an_engine_thinks() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine(&faulty(folder.path(), "wait-once", 1, PATIENT), "xiangqi");
    let over = |_: &PlayedGame| {
        std::fs::write(folder.path().join("go-on"), "").expect("a file");
        GO_ON
    };
    let played = play(engine, &config(2, 2), &over);
    let ruled = |game: &PlayedGame| matches!(game.ending, GameEnd::Ruled(_));
    assert!(played.games.iter().all(ruled), "{played:?}");
    assert_eq!(played.games.len(), 4);
}

/// A move's text without what it brought to light.
fn plain(mv: &str) -> &str {
    mv.split(['=', 'x']).next().expect("a move")
}

#[test]
fn an_engine_is_told_what_its_player_sees() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = engine(&faulty(folder.path(), "log", 0, PATIENT), "jieqi");
    let played = play(engine, &config(4, 1), &|_| GO_ON);
    let log = std::fs::read_to_string(folder.path().join("log")).expect("a log");
    let (mut told_of, mut hidden) = (0, 0);
    for line in log.lines() {
        let moves = line.strip_prefix("position startpos moves ").expect(line);
        let told: Vec<_> = moves.split(' ').collect();
        // Who is to move is told, and in whose game.
        let turn = told.len() % 2;
        let is_of = |game: &&PlayedGame| {
            let kept: Vec<_> = game.moves.split(' ').collect();
            let same = |(told, kept): (&&str, &&str)| plain(told) == plain(kept);
            game.first as usize == turn
                && told.len() < kept.len()
                && told.iter().zip(&kept).all(same)
        };
        let game = played
            .games
            .iter()
            .find(is_of)
            .expect("a game that goes so");
        for (ply, (told, kept)) in told.iter().zip(game.moves.split(' ')).enumerate() {
            // What the other side took it alone has seen.
            let seen = match ply % 2 == turn {
                true => kept,
                false => kept.split('x').next().expect("a move"),
            };
            assert_eq!(*told, seen, "ply {ply} of {line}");
            told_of += usize::from(seen.contains('='));
            hidden += usize::from(seen != kept);
        }
    }
    assert!(
        told_of > 0 && hidden > 0,
        "{told_of} reveals, {hidden} hidden: {played:?}"
    );
}

/// The engine is refused for a form, with all of the words.
fn check_unfit(text: &str, form: &str, words: &[&str]) {
    let error = engine(text, form).check().expect_err(text).to_string();
    for word in words {
        assert!(error.contains(word), "{text}: no {word:?} in: {error}");
    }
}

#[test]
fn an_engine_that_cannot_play_is_refused_with_a_reason() {
    let fanqi = env!("CARGO_BIN_EXE_fanqi")
        .replace('%', "%25")
        .replace(' ', "%20");
    check_unfit(
        "engine:no-such-engine?nodes=1",
        "xiangqi",
        &["no-such-engine", "cannot be started"],
    );
    check_unfit(
        "engine:false?nodes=1",
        "xiangqi",
        &["ended", "exit status: 1"],
    );
    check_unfit(
        &format!("engine:{fanqi} uci?nodes=1&option.Hsah=3"),
        "xiangqi",
        &["`Hsah`", "Hash"],
    );
    let script = tempfile::tempdir().expect("a folder");
    let plain = script.path().join("plain.sh");
    let says = |lines: &str| {
        std::fs::write(
            &plain,
            format!("read hello; printf '{lines}\\n'; read more"),
        )
        .expect("a script");
        format!(
            "engine:sh {}?nodes=1",
            plain.display().to_string().replace(' ', "%20")
        )
    };
    let name = engine(&says("id name Plain 1\\nuciok"), "xiangqi")
        .check()
        .expect("it plays");
    assert_eq!(name, "Plain 1");
    check_unfit(&says("uciok"), "jieqi", &["jieqi", "UCI_Variant"]);
    let variants = "option name UCI_Variant type combo default chess var chess var jieqi";
    check_unfit(
        &says(&format!("{variants}\\nuciok")),
        "xiangqi",
        &["xiangqi", "UCI_Variant"],
    );
    check_unfit(
        &says(&format!("{variants}\\nuciok")),
        "jieqi",
        &["Side", "fanqi uci"],
    );
    let ucci = says("ucciok").replace("nodes=1", "movetime=100&protocol=ucci");
    check_unfit(&ucci, "xiangqi", &["seconds", "nodes or depth"]);
}

/// Debian's, where it is installed.
#[test]
fn fairy_stockfish_plays() {
    let Some(path) = ["/usr/games/fairy-stockfish", "/usr/bin/fairy-stockfish"]
        .into_iter()
        .find(|path| Path::new(path).exists())
    else {
        eprintln!("skipped: fairy-stockfish is not installed");
        return;
    };
    let engine = engine(&format!("engine:{path}?nodes=200&skill=-10"), "xiangqi");
    let name = engine.check().expect("it plays");
    assert!(name.contains("Fairy-Stockfish"), "{name}");
    let config = MatchConfig {
        ply_cap: 0,
        ..config(2, 2)
    };
    let played = play(engine.clone(), &config, &|_| GO_ON);
    assert_eq!(played.games.len(), 4);
    assert!(played.wins > 2, "{played:?}");
    let error = External {
        rules: Ruleset::by_name("fanqi-1").expect("a form"),
        ..engine
    };
    let error = error
        .check()
        .expect_err("it does not play 翻棋")
        .to_string();
    assert!(error.contains("fanqi-1"), "{error}");
}
