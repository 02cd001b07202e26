//! Players as the command line names them: read and written, and what is refused with which words.
use std::path::PathBuf;
use std::time::Duration;

use play::engine::Protocol;
use proptest::prelude::*;
use selfplay::mcts::RootKind;
use selfplay::opponent::Builtin;
use selfplay::rules::Ranks;
use train::arena::Arrangement;
use train::arena::spec::{EngineSpec, Limits, NetworkSpec, PlayerSpec, Who};

/// Any printable text, spaces and signs of the grammar included.
fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[ -~]{1,12}", "[?&=%#:@. ]{1,6}", "[a-z棋翻]{1,8}"]
}

/// A path, a word or an option's name: nothing that is trimmed away.
fn word() -> impl Strategy<Value = String> {
    text().prop_filter("blank", |text| text.trim() == text && !text.is_empty())
}

fn arrangement() -> impl Strategy<Value = Arrangement> {
    prop_oneof![
        Just(Arrangement::Random),
        (0.0f32..=10.0).prop_map(|temperature| Arrangement::Searched { temperature }),
    ]
}

fn network() -> impl Strategy<Value = Who> {
    use proptest::option::of;
    let root = prop_oneof![Just(RootKind::Gumbel), Just(RootKind::Puct)];
    let keys = (
        of(any::<u64>()),
        of(1u32..=100_000),
        of(0.0f32..=10.0),
        of(arrangement()),
        of(root),
    );
    let keys = prop_oneof![
        keys.prop_map(|keys| (None, keys)),
        (1u32..=1000).prop_map(|level| (Some(level), (None, None, None, None, None))),
    ];
    let path = word().prop_map(|path| format!("./{path}"));
    (path, keys).prop_map(|(path, (level, keys))| {
        let (step, visits, temperature, arrangement, root) = keys;
        Who::Network(NetworkSpec {
            path: PathBuf::from(path),
            step,
            level,
            visits,
            temperature,
            arrangement,
            root,
        })
    })
}

fn engine() -> impl Strategy<Value = Who> {
    use proptest::collection::btree_map;
    use proptest::option::of;
    let ranks = of(prop_oneof![Just(Ranks::FromZero), Just(Ranks::FromOne)]);
    let protocol = prop_oneof![Just(Protocol::Uci), Just(Protocol::Ucci)];
    let limits = (of(1u64..), of(1u64..=1000), of(1u64..=86_400_000)).prop_filter_map(
        "no limit",
        |(nodes, depth, move_ms)| {
            let limits = Limits {
                nodes,
                depth,
                move_ms,
            };
            (limits != Limits::default()).then_some(limits)
        },
    );
    let options = btree_map(word(), prop_oneof![Just(String::new()), text()], 0..3);
    let timeout = (10u64..=86_400_000).prop_map(Duration::from_millis);
    let words = (word(), proptest::collection::vec(word(), 0..3));
    (words, protocol, ranks, limits, timeout, options).prop_map(
        |((program, args), protocol, ranks, limits, timeout, options)| {
            Who::Engine(EngineSpec {
                program,
                args,
                protocol,
                ranks,
                limits,
                timeout,
                options: options.into_iter().collect(),
            })
        },
    )
}

fn builtin() -> impl Strategy<Value = Who> {
    prop_oneof![
        Just(Who::Builtin(Builtin::Random)),
        Just(Who::Builtin(Builtin::Greedy)),
        (1u8..=20).prop_map(|depth| Who::Builtin(Builtin::AlphaBeta { depth })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn what_is_written_is_read(who in prop_oneof![network(), engine(), builtin()], name in "[ !#-~棋]{0,11}[a-z]") {
        let spec = PlayerSpec { name, who };
        let text = spec.to_string();
        let read: PlayerSpec = text.parse().map_err(|e| TestCaseError::fail(format!("{text}: {e}")))?;
        prop_assert_eq!(&read, &spec, "{}", text);
        // Without a name of its own, the text is the name.
        let who = spec.who.to_string();
        if let Ok(read) = who.parse::<PlayerSpec>() {
            prop_assert_eq!((read.name, read.who), (who, spec.who));
        }
    }

    #[test]
    fn any_text_is_a_player_or_refused(text in "\\PC{0,40}") {
        if let Ok(spec) = text.parse::<PlayerSpec>() {
            prop_assert_eq!(spec.to_string().parse::<PlayerSpec>(), Ok(spec));
        }
    }
}

fn read(text: &str) -> Who {
    let spec: PlayerSpec = text.parse().unwrap_or_else(|e| panic!("{e}"));
    spec.who
}

#[test]
fn players_are_read() {
    let Who::Network(net) = read("runs/quick?step=1000&visits=64&temperature=0.5") else {
        panic!("a network");
    };
    assert_eq!(net.path, PathBuf::from("runs/quick"));
    assert_eq!((net.step, net.visits), (Some(1000), Some(64)));
    assert_eq!(net.temperature, Some(0.5));

    let Who::Engine(engine) = read("engine:fairy-stockfish?nodes=1000&skill=-10") else {
        panic!("an engine");
    };
    assert_eq!(engine.program, "fairy-stockfish");
    assert_eq!(engine.limits.nodes, Some(1000));
    let skill = ("Skill Level".to_owned(), "-10".to_owned());
    assert_eq!(engine.options, [skill]);

    let text = "engine:fanqi ucci my%20runs/a?protocol=ucci&movetime=100&option.Hash=16&ranks=1-10";
    let Who::Engine(engine) = read(text) else {
        panic!("an engine");
    };
    assert_eq!(engine.args, ["ucci", "my runs/a"]);
    assert_eq!(engine.protocol, Protocol::Ucci);
    assert_eq!(engine.ranks, Some(Ranks::FromOne));
    assert_eq!(engine.limits.move_ms, Some(100));
    assert_eq!(engine.options, [("Hash".to_owned(), "16".to_owned())]);

    assert_eq!(
        read("alphabeta:2"),
        Who::Builtin(Builtin::AlphaBeta { depth: 2 })
    );
    let named: PlayerSpec = "random?name=a coin".parse().expect("a player");
    assert_eq!(named.name, "a coin");
    let Who::Network(net) = read("./random") else {
        panic!("a path");
    };
    assert_eq!(net.path, PathBuf::from("./random"));
}

/// The text is refused, with all of the words.
fn check(text: &str, words: &[&str]) {
    let error = text.parse::<PlayerSpec>().expect_err(text).to_string();
    for word in [&[text], words].concat() {
        assert!(error.contains(word), "{text}: no {word:?} in: {error}");
    }
}

#[test]
fn what_is_no_player_is_refused_with_a_reason() {
    check("", &["random", "engine:PROGRAM", "run directory"]);
    check("alphabeta", &["alphabeta:D", "1 to 20"]);
    check("alphabeta:99", &["1 to 20"]);
    check("random?visits=3", &["`visits`", "known: name"]);
    check("runs/a?vists=3", &["`vists`", "visits, temperature"]);
    check("runs/a?visits=0", &["`visits=0`", "1 to 100000"]);
    check("runs/a?visits=3&visits=4", &["`visits`", "twice"]);
    check("runs/a?temperature=nan", &["0 to 10"]);
    check("runs/a?step=-1", &["`step=-1`"]);
    check("runs/a?root=best", &["gumbel or puct"]);
    check("runs/a?level=0", &["`level=0`", "1 to 1000"]);
    for key in [
        "step=3",
        "visits=3",
        "temperature=1",
        "arrangement=1",
        "root=puct",
    ] {
        let name = key.split('=').next().unwrap_or_default();
        check(&format!("runs/a?level=3&{key}"), &["`level=3`", name]);
    }
    check("runs/a?arrangement=x", &["random, or a temperature"]);
    check("runs/a?visits", &["`visits`", "KEY=VALUE"]);
    check("runs/a?", &["KEY=VALUE"]);
    check("runs/a?name=", &["name"]);
    check("runs/a?name=a\"b", &["quotation marks"]);
    check("engine:?nodes=1", &["engine:PROGRAM"]);
    check("engine:x", &["nodes=", "depth=", "movetime="]);
    check("engine:x?node=1", &["`node`", "nodes, depth"]);
    check("engine:x?nodes=0", &["`nodes=0`"]);
    check("engine:x?nodes=1&protocol=xboard", &["uci or ucci"]);
    check("engine:x?nodes=1&ranks=0-8", &["0-9 or 1-10"]);
    check("engine:x?nodes=1&timeout=0", &["0.01 to 86400"]);
    check("engine:x?nodes=1&option.=3", &["option.NAME=VALUE"]);
    check("runs/%FF", &["%FF", "UTF-8"]);
}
