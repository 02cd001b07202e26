//! Configs: what is refused, and that the words name the value's key and where it came from.
mod binary;

use std::path::PathBuf;

use binary::{data, fanqi, ok, refused, train};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use selfplay::rules::{CheckDiscount, Color, RepetitionRule, Ruleset, SeenBy};
use tempfile::TempDir;
use toml::{Table, Value};
use train::config::{Config, DEFAULT};
use train::forms::Forms;

/// A config file in a folder of its own.
fn file(text: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("some.toml");
    std::fs::write(&path, text).expect("written");
    (folder, path)
}

/// The error of a file's text with `sets` over it.
fn error(text: impl AsRef<[u8]>, sets: &[&str]) -> String {
    let (_folder, path) = file(text);
    let sets: Vec<_> = sets.iter().map(ToString::to_string).collect();
    match Config::load(Some(&path), &sets) {
        Ok(_) => panic!("accepted with {sets:?}"),
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn has(error: &str, words: &[&str]) {
    for word in words {
        assert!(error.contains(word), "no {word:?} in: {error}");
    }
}

/// Every table, key and default.
fn keys() -> Vec<(String, String, Value)> {
    let tables: Table = DEFAULT.parse().expect("TOML");
    let keys = tables.into_iter().flat_map(|(table, keys)| {
        let Value::Table(keys) = keys else {
            panic!("{table} is no table")
        };
        keys.into_iter()
            .map(move |(key, value)| (table.clone(), key, value))
    });
    keys.collect()
}

fn defaults() -> Config {
    Config::load(None, &[]).expect("the defaults are valid")
}

#[test]
fn every_bad_value_of_every_key_is_refused_with_its_key_and_its_source() {
    let bad = [
        "nan",
        "inf",
        "-inf",
        "-2",
        "-0.5",
        "1e30",
        "1e300",
        "9223372036854775807",
        "99999999999999999999999999",
        "\"\"",
        "\"nonsense\"",
        "nonsense",
        "[]",
        "[1]",
        "[\"nonsense\"]",
        "[[]]",
        "{}",
        "2026-01-01",
        "",
    ];
    // What these keys may be though it is odd.
    let fine = |key: &str, value: &str| match key {
        "search.draw_score" => value == "-0.5",
        "arena.opponents" | "ruleset.forms" => value == "[]",
        // Whether a file is there is seen when it is read.
        "pretrain.shards" => ["[]", "[\"nonsense\"]"].contains(&value),
        _ => false,
    };
    for (table, key, default) in keys() {
        let key = format!("{table}.{key}");
        for value in bad.into_iter().filter(|value| !fine(&key, value)) {
            let set = format!("{key}={value}");
            let by_set = error(format!("{key} = {default}\n"), &[&set]);
            // [device] is checked as a whole, and names its keys without the table.
            let last = key.rsplit('.').next().expect("a key");
            has(&by_set, &[&format!("--set {set}"), last]);
            assert!(!by_set.contains("some.toml"), "{by_set}");
            let by_file = error(format!("{key} = {value}\n"), &["run.minutes=3"]);
            has(&by_file, &["some.toml"]);
            assert!(!by_file.contains("--set"), "{by_file}");
        }
    }
}

#[test]
fn a_number_that_can_never_work_is_out_of_range() {
    for (set, expected) in [
        ("optim.beta1=1", "0..1, 1 itself excluded"),
        ("optim.beta2=1.0", "0..1, 1 itself excluded"),
        ("optim.clip_norm=0", "0.000001..="),
        ("optim.learning_rate=0", "0.0000001..="),
        ("optim.batch_rows=0", "1..="),
        ("search.c_scale=0", "0.0001..="),
        ("search.considered=1", "2..="),
        ("search.dirichlet_total=0", "0.01..="),
        ("selfplay.full_search_share=0", "0.001..="),
        ("selfplay.temperature_halflife=0", "0.1..="),
        ("selfplay.games_per_worker=1", "2..="),
        ("replay.max_rows=100000001", "1..=100000000"),
        ("replay.held_out_rows=1000000000", "1..=100000000"),
        ("replay.growth_exponent=0", "0.01..="),
        ("replay.held_out_share=1", "0..=0.5"),
        ("arena.opening_plies=0", "1..="),
        ("arena.games=0", "2..="),
        ("run.report_seconds=0", "0.1..="),
    ] {
        has(
            &error("", &[set]),
            &[set, "out of range, expected", expected],
        );
    }
    for set in [
        "optim.beta1=0.9999",
        "optim.beta2=0",
        "arena.opening_plies=1",
    ] {
        let sets = [set.to_owned(), "arena.games=44".to_owned()];
        Config::load(None, &sets).expect(set);
    }
}

#[test]
fn keys_that_contradict_each_other_are_each_named_with_their_source() {
    for sets in [
        &["selfplay.fast_visits=5", "selfplay.visits=4"][..],
        &["selfplay.ply_cap=8", "selfplay.opening_plies=8"],
        &["replay.min_rows=20", "replay.max_rows=10"],
        &[
            "replay.burst_rows=10",
            "replay.ratio=4.0",
            "samples.shard_rows=64",
        ],
        &[
            "replay.burst_rows=255",
            "optim.batch_rows=256",
            "samples.shard_rows=64",
            "replay.ratio=0.5",
        ],
        &["optim.decay_rows=7", "optim.warmup_rows=7"],
        &["optim.policy_weight=0.0", "optim.value_weight=0.0"],
        &["arena.ply_cap=3", "arena.opening_plies=3"],
        &["arena.games=46", "arena.opening_plies=1"],
        &["arena.games=1922", "arena.opening_plies=2"],
        &["arena.games=79668", "arena.opening_plies=3"],
    ] {
        let shown = |set: &str, source: &str| {
            let (key, value) = set.split_once('=').expect("a set");
            format!("`{key}` = {value} ({source})")
        };
        // Those beyond the second only bring the two about.
        for first_in_file in [false, true] {
            let from = usize::from(first_in_file);
            let text = if first_in_file { sets[0] } else { "" };
            let error = error(text, &sets[from..]);
            let first = match first_in_file {
                true => error.contains("some.toml)"),
                false => error.contains(&shown(sets[0], &format!("--set {}", sets[0]))),
            };
            assert!(first, "{error}");
            has(&error, &[&shown(sets[1], &format!("--set {}", sets[1]))]);
        }
    }
    let error = error("", &["replay.min_rows=5000000"]);
    has(&error, &["`replay.max_rows` = 1000000 (the default)"]);
}

#[test]
fn a_name_that_there_is_not_is_answered_with_those_that_there_are() {
    for (set, words) in [
        ("search.root=alphabeta", &["gumbel", "puct"][..]),
        ("optim.kind=adam", &["adamw", "sgd"]),
        ("ruleset.base=chess", &["xiangqi"]),
        ("arena.opponents=[\"gredy\"]", &["gredy", "greedy"]),
        (
            "arena.opponents=[\"alphabeta:21\"]",
            &["alphabeta:21", "20"],
        ),
        (
            "arena.opponents=random",
            &["expected an array such as [\"random\"], found a string"],
        ),
        ("arena.opponents=gredy", &["such as [\"gredy\"]", "greedy"]),
        (
            "ruleset.forms=nope",
            &["such as [\"nope\"]", "no such form", "fanqi-10"],
        ),
        (
            "ruleset.forms=jieqi, xiangqi:2",
            &["such as [\"jieqi\", \"xiangqi:2\"], found"],
        ),
        ("ruleset.forms=[jieqi]", &["such as [\"jieqi\"]", "a shell"]),
        ("pretrain.shards=a.h5", &["an array such as [\"a.h5\"]"]),
        // A word of which TOML makes something else.
        ("ruleset.fake_roams=true", &["`form`", "`yes`", "`no`"]),
        ("ruleset.captured_seen_by=0", &["`form`", "`captor`"]),
        ("ruleset.base=1", &["no such form", "fanqi-10"]),
        ("device.device=1.5", &["a string such as \"auto\""]),
        ("device.device=gpu", &["cpu", "cuda:N"]),
        ("device.device=cuda:", &["cuda:N"]),
        ("device.inference_precision=f8", &["bf16"]),
        ("device.training_precision=f16", &["bf16"]),
    ] {
        let mut words = words.to_vec();
        let source = format!("--set {set}");
        words.push(&source);
        has(&error("", &[set]), &words);
    }
}

#[test]
fn an_opponent_named_twice_is_refused_however_it_is_written() {
    for (list, twice) in [
        ("[\"random\", \"random\"]", "`random` is named twice"),
        (
            "[\"greedy\", \"random\", \"greedy\"]",
            "`greedy` is named twice",
        ),
        (
            "[\"alphabeta:2\", \"alphabeta:02\"]",
            "`alphabeta:2` is named twice",
        ),
    ] {
        let set = format!("arena.opponents={list}");
        has(&error("", &[&set]), &[&format!("--set {set}"), twice]);
        has(&error(&set, &[]), &["some.toml", "arena.opponents", twice]);
    }
    for list in [
        "[\"jieqi\", \"jieqi\"]",
        "[\"jieqi\", \"xiangqi\", \"jieqi:2\"]",
    ] {
        let set = format!("ruleset.forms={list}");
        let twice = "jieqi is named twice";
        has(&error("", &[&set]), &[&format!("--set {set}"), twice]);
    }
    let set = "ladder.opponents=[\"random\", \"greedy\", \"greedy\"]";
    has(&error("", &[set]), &["`greedy` is named twice"]);
    let set = "pretrain.shards=[\"a.h5\", \"b.h5\", \"a.h5\"]";
    has(&error("", &[set]), &["`a.h5` is named twice"]);
    // Every list of the schema is tried above.
    let lists = keys().into_iter().filter(|(.., value)| value.is_array());
    assert_eq!(lists.count(), 4);
}

#[test]
fn a_weight_of_a_form_that_is_none_is_refused() {
    for form in [
        "jieqi:",
        "jieqi:0",
        "jieqi:-1",
        "jieqi:x",
        "jieqi:nan",
        "jieqi:1001",
        "jieqi:1:2",
    ] {
        let set = format!("ruleset.forms=[\"{form}\"]");
        has(
            &error("", &[&set]),
            &[&format!("--set {set}"), form, "weight"],
        );
    }
    for form in ["jeiqi", "", ":2"] {
        let set = format!("ruleset.forms=[\"{form}\"]");
        has(
            &error("", &[&set]),
            &[&format!("--set {set}"), "no such form", "fanqi-10"],
        );
    }
}

#[test]
fn forms_and_their_rules_follow_the_config() {
    let forms = |sets: &[&str]| {
        let sets: Vec<_> = sets.iter().map(|set| (*set).to_owned()).collect();
        let config = Config::load(None, &sets).expect("a config");
        Forms::of(&config.ruleset).expect("forms")
    };
    assert_eq!(forms(&[]).names(), "xiangqi");
    assert_eq!(
        forms(&["ruleset.base=jieqi"]),
        Forms::one(Ruleset::by_name("jieqi").unwrap())
    );
    let several = forms(&[
        "ruleset.forms=[\"fanqi-3:3\", \"jieqi\"]",
        "ruleset.captured_seen_by=nobody",
    ]);
    assert_eq!(several.names(), "fanqi-3,jieqi");
    assert!(
        several
            .rules()
            .all(|rules| rules.captured_seen_by == SeenBy::Nobody)
    );
    assert!(
        several
            .describe()
            .contains("\"captured_seen_by\":\"nobody\""),
        "{}",
        several.describe()
    );
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let third = (0..4000)
        .filter(|_| several.start(&mut rng).position(Color::Red).rules().name == "fanqi-3")
        .count();
    assert!(
        (2800..3200).contains(&third),
        "{third} of 4000, expected three in four"
    );
    let limit = forms(&[
        "ruleset.no_capture_plies=33",
        "ruleset.check_discount=10",
        "ruleset.fake_roams=yes",
        "ruleset.repetition=draw",
    ]);
    let rules = limit.rules().next().expect("a form");
    assert_eq!((rules.no_capture_plies, rules.fake_roams), (33, true));
    assert_eq!(
        (rules.check_discount, rules.repetition),
        (CheckDiscount::Beyond(10), RepetitionRule::Draw)
    );
    for (text, rule) in [
        ("form", RepetitionRule::Wxf),
        ("wxf", RepetitionRule::Wxf),
        ("cxa", RepetitionRule::Cxa),
    ] {
        let forms = forms(&[&format!("ruleset.repetition={text}")]);
        assert!(
            forms.rules().all(|rules| rules.repetition == rule),
            "{text}"
        );
    }
}

#[test]
fn a_config_that_is_not_utf8_is_refused_with_its_line() {
    let utf16: Vec<u8> = "\u{feff}[run]\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    for (bytes, line) in [
        (&b"[run]\nseed = 1\n# caf\xe9\n"[..], "line 3"),
        (b"\xff", "line 1"),
        (b"[run]\r\n# \xc3", "line 2"),
        (&utf16, "line 1"),
    ] {
        has(
            &error(bytes, &[]),
            &["some.toml", line, "UTF-8", "save the file"],
        );
    }
    has(
        &error(b"[run]\nseed = 1\0\n", &[]),
        &["some.toml", "not valid", "line 2"],
    );
    let (_folder, path) = file("\u{feff}[run]\nseed = 7 # caf\u{e9}\n");
    assert_eq!(
        Config::load(Some(&path), &[])
            .expect("a mark is no harm")
            .run
            .seed,
        7
    );
}

#[test]
fn the_last_of_several_sets_of_a_key_counts() {
    let sets = ["run.seed=2", "run.minutes=1", "run.seed = 3"].map(str::to_owned);
    let (_folder, path) = file("[run]\nseed = 1\nworkers = 2\n");
    let config = Config::load(Some(&path), &sets).expect("valid");
    assert_eq!((config.run.seed, config.run.workers), (3, 2));
    assert_eq!(config.sources.of("run.seed"), Some("--set run.seed = 3"));
    assert_eq!(config.sources.of("run.workers"), path.to_str());
    assert_eq!(config.sources.of("net.blocks"), None);
    has(
        &error("run.seed = 1\nrun.seed = 2\n", &[]),
        &["some.toml", "duplicate key"],
    );
}

#[test]
fn a_runs_own_config_must_have_every_key() {
    let config = defaults();
    let text = config.to_toml();
    let check = |text: &str, words: &[&str]| {
        let (_folder, path) = file(text);
        for loaded in [
            Config::load_resolved(&path),
            Config::load_run(&path, &["run.seed=1".to_owned()]),
        ] {
            let error = loaded.expect_err("refused").to_string();
            has(
                &error,
                &["some.toml", "is missing", "put the file back", "--run DIR"],
            );
            has(&error, words);
        }
    };
    let (_folder, path) = file(&text);
    assert_eq!(Config::load_resolved(&path).expect("whole"), config);
    check("", &["`ruleset.base`", "base = \"xiangqi\""]);
    check(
        "[ruleset]\nbase = \"xiangqi\"\n[run]\n",
        &["`ruleset.forms`", "forms = []"],
    );
    for (table, key, default) in keys() {
        let mut without: Table = text.parse().expect("TOML");
        let removed = without[&table]
            .as_table_mut()
            .and_then(|keys| keys.remove(&key));
        assert!(removed.is_some(), "{table}.{key}");
        let line = format!("{key} = {default}");
        check(
            &without.to_string(),
            &[&format!("`{table}.{key}`"), &line, "1 of"],
        );
    }
}

#[test]
fn a_change_that_a_run_cannot_take_is_named_with_its_source() {
    let run = defaults();
    for (set, change) in [
        ("net.channels=16", "`net.channels`: 64 -> 16"),
        ("run.seed=2", "`run.seed`: 1 -> 2"),
        ("optim.kind=sgd", "`optim.kind`: \"adamw\" -> \"sgd\""),
        ("pretrain.epochs=3", "`pretrain.epochs`: 2 -> 3"),
        (
            "replay.held_out_share=0.5",
            "`replay.held_out_share`: 0.02 -> 0.5",
        ),
    ] {
        let new = Config::load(None, &[set.to_owned()]).expect("valid");
        let error = run
            .changes_on_resume(&new, "some.toml")
            .expect_err("refused")
            .to_string();
        has(&error, &[&format!("{change} (--set {set})"), "--run DIR"]);
        let error = new
            .changes_on_resume(&run, "some.toml")
            .expect_err("refused")
            .to_string();
        has(&error, &["the default, as some.toml does not set it"]);
    }
}

#[test]
fn a_strange_set_is_refused_as_what_it_is() {
    for (set, words) in [
        (
            "run.seed.x=1",
            &["unknown key `run.seed.x`", "`run.seed`"][..],
        ),
        ("run.seed={x=1}", &["unknown key `run.seed.x`"]),
        ("run=1", &["`run` = 1", "[run]"]),
        ("run=", &["`run` = \"\"", "[run]"]),
        ("x.y.z=1", &["unknown key `x.y.z`"]),
        ("seed=1", &["unknown key `seed`", "`run.seed`"]),
        ("run.seed=1=2", &["integer in 0..=4294967295"]),
        ("run.seed=-1", &["out of range"]),
        ("run.seed=1e30", &["expected an integer in 0..="]),
        (
            "run.seed=99999999999999999999",
            &["expected an integer in 0..="],
        ),
        ("run.seed=", &["expected an integer in 0..="]),
        ("run.minutes=nan", &["out of range"]),
        ("run.minutes=inf", &["out of range"]),
        ("replay.mirror=yes", &["expected true or false"]),
        ("replay.mirror=1", &["expected true or false"]),
        ("ruleset.base=", &["no such form"]),
        ("=1", &["TABLE.KEY=VALUE"]),
        ("", &["TABLE.KEY=VALUE"]),
        ("run..seed=1", &["not valid"]),
        ("run.seed=1\nrun.minutes=2", &["TABLE.KEY=VALUE"]),
        ("[run]\nseed=1", &["TABLE.KEY=VALUE"]),
    ] {
        let error = error("", &[set]);
        has(&error, &["--set"]);
        has(&error, words);
    }
}

#[test]
fn each_kind_of_error_ends_the_program_before_anything_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    for (sets, words) in [
        (&["run.seed.x=1"][..], &["unknown key `run.seed.x`"][..]),
        (&["run.seed=1e30"], &["expected an integer in 0..="]),
        (&["optim.beta1=1"], &["out of range"]),
        (&["search.root=alphabeta"], &["gumbel"]),
        (&["arena.opponents=[\"random\", \"random\"]"], &["twice"]),
        (&["device.device=gpu"], &["cuda:N"]),
        (
            &["run.minutes=1", "arena.ply_cap=2"],
            &["(--set arena.ply_cap=2)", "tiny.toml)"],
        ),
        (&["="], &["TABLE.KEY=VALUE"]),
    ] {
        let error = refused(&mut train(&run, sets), words);
        has(&error, &["--set"]);
        assert!(!run.exists(), "{sets:?}: something was written");
    }
    let latin = folder.path().join("latin.toml");
    std::fs::write(&latin, b"[run]\n# caf\xe9\n").expect("written");
    refused(
        &mut binary::train_config(&latin, &run, &[]),
        &["latin.toml", "line 2", "UTF-8"],
    );
    assert!(!run.exists(), "something was written");
}

#[test]
fn a_run_whose_own_config_was_cut_goes_no_further() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    ok(&mut train(
        &run,
        &["run.produced_rows=1", "arena.opponents=[]"],
    ));
    let config = run.join("config.toml");
    let whole = std::fs::read_to_string(&config).expect("readable");
    let cut: String = whole
        .lines()
        .filter(|line| !line.starts_with("beta1"))
        .map(|line| format!("{line}\n"))
        .collect();
    let before = binary::state(&run);
    for (text, key) in [("", "`ruleset.base`"), (cut.as_str(), "`optim.beta1`")] {
        std::fs::write(&config, text).expect("written");
        let check = |command: &mut std::process::Command| {
            refused(command, &["config.toml", key, "is missing", "--run DIR"]);
            assert_eq!(std::fs::read_to_string(&config).expect("readable"), text);
        };
        check(&mut train(&run, &["run.produced_rows=1"]));
        check(fanqi(["strength"]).arg(&run));
    }
    assert_eq!(binary::state(&run), before);
    std::fs::write(&config, whole).expect("written");
    ok(fanqi(["strength"])
        .arg(&run)
        .args(["--set", "arena.opponents=[]"]));
}

#[test]
fn every_shipped_config_reads_back_exactly_once_resolved() {
    for entry in std::fs::read_dir(data("../../configs")).expect("configs") {
        let path = entry.expect("an entry").path();
        let config = Config::load(Some(&path), &[]).expect("valid");
        let (_folder, copy) = file(config.to_toml());
        assert_eq!(Config::load_resolved(&copy).expect("valid"), config);
    }
}
