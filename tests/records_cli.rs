//! `fanqi records`: files of games in and out, and what is said of what cannot be used.
mod binary;
#[path = "support/records.rs"]
mod files;

use std::fs;
use std::path::Path;
use std::process::Command;

use binary::{fanqi, limited, ok, refused, signal, stderr, train, until, with_space};
use files::{CHINESE, file, games_at};
use train::atomic::names;
use train::records::RecordedGame;
use train::samples;

#[test]
fn the_binary_imports_and_reports() {
    let cut = CHINESE.replace("车一平二!", "车一平三!");
    let (folder, path) = file(
        [
            CHINESE,
            "[Event \"open\"]\n1. h2e2 *\n",
            &cut,
            "[Event \"noise\"]\n\u{1}\u{2}garbage\u{fffd} 1-0\n",
        ]
        .concat(),
    );
    let out = folder.path().join("games.h5");
    let import = |more: &[&str]| {
        let mut command = fanqi(["records", "import"]);
        command.arg(&path).arg("--out").arg(&out).args(more);
        command
    };
    let output = import(&[]).output().expect("it starts");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(
        binary::stdout(&output),
        "4 games read: 1 used whole, 1 in part, 2 not; 10 rows written\n"
    );
    for words in [
        ["games.pgn: game 2 (line 13)", "not used", "no result"],
        ["games.pgn: game 3 (line 15)", "up to ply 4", "'车一平三'"],
        ["games.pgn: game 4 (line 27)", "not used", "garbage"],
    ] {
        let line = said.lines().find(|line| line.contains(words[0]));
        let line = line.unwrap_or_else(|| panic!("{said}"));
        words
            .iter()
            .for_each(|word| assert!(line.contains(word), "{line}"));
    }
    let (head, rows) = samples::read(&out, Some("xiangqi")).expect("samples");
    assert_eq!((head.run.as_str(), rows.len()), ("import", 10));
    refused(&mut import(&[]), &["--out", "games.h5", "already there"]);
    std::fs::remove_file(&out).expect("removed");
    ok(&mut import(&["--file-rows", "6"]));
    let second = folder.path().join("games-2.h5");
    assert_eq!(samples::read(&second, None).expect("samples").1.len(), 4);
    std::fs::write(&path, "1. h2e2 *").expect("written");
    for used in [&out, &second] {
        std::fs::remove_file(used).expect("removed");
    }
    refused(&mut import(&[]), &["1 games read", "nothing is written"]);
    assert!(!out.exists());
    refused(&mut import(&["--form", "chess"]), &["--form chess"]);
    // Nothing is written if not all can be.
    std::fs::write(&path, CHINESE).expect("written");
    let missing = folder.path().join("missing.pgn");
    refused(
        import(&["--file-rows", "6"]).arg(&missing),
        &["missing.pgn", "opening"],
    );
    refused(
        import(&["--file-rows", "6"]).arg(folder.path()),
        &["not a regular file"],
    );
    std::fs::write(&second, "mine").expect("written");
    refused(
        &mut import(&["--file-rows", "6"]),
        &["games-2.h5", "already there"],
    );
    assert_eq!(
        names(folder.path()).expect("names"),
        ["games-2.h5", "games.pgn"]
    );
    std::fs::remove_file(&path).expect("removed");
    refused(&mut import(&[]), &["games.pgn", "opening"]);
}

#[test]
fn the_binary_exports_a_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let (run, pgn) = (folder.path().join("run"), folder.path().join("games.pgn"));
    ok(&mut train(&run, &["run.produced_rows=1"]));
    let mut export = fanqi(["records", "export"]);
    export
        .arg(&run)
        .arg("--out")
        .arg(&pgn)
        .args(["--to", "chinese"]);
    let said = ok(&mut export);
    refused(&mut export, &["--out", "games.pgn", "already there"]);
    let count = games_at(&pgn).len();
    assert!(
        count > 0 && said.starts_with(&format!("{count} games written")),
        "{said}"
    );
    let out = folder.path().join("games.h5");
    let mut import = fanqi(["records", "import"]);
    import.arg(&pgn).arg("--out").arg(&out);
    let said = ok(&mut import);
    assert!(
        said.contains(&format!("{count} used whole, 0 in part, 0 not")),
        "{said}"
    );
    let none = folder.path().join("none");
    refused(
        fanqi(["records", "export"])
            .arg(&none)
            .arg("--out")
            .arg(folder.path().join("other.pgn")),
        &["none"],
    );
}

/// Games by changed rules are never taken for games by the form's own.
#[test]
fn changed_rules_go_with_the_games() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let (run, pgn) = (path("run"), path("games.pgn"));
    let both = "ruleset.captured_seen_by=\"both\"";
    let jieqi = "ruleset.base=\"jieqi\"";
    ok(&mut train(&run, &["run.produced_rows=1", jieqi, both]));
    ok(fanqi(["records", "export"])
        .arg(&run)
        .arg("--out")
        .arg(&pgn));
    let games = games_at(&pgn);
    let told = |game: &RecordedGame| game.tag("Rules") == Some("captured_seen_by=both");
    assert!(!games.is_empty() && games.iter().all(told));
    let import = |out: &Path, more: &[&str]| {
        let mut command = fanqi(["records", "import", "--form", "jieqi"]);
        command.arg(&pgn).arg("--out").arg(out).args(more);
        command
    };
    let words = [
        "captured_seen_by=both",
        "--set ruleset.KEY=VALUE",
        "nothing is written",
    ];
    refused(&mut import(&path("own.h5"), &[]), &words);
    let shard = path("both.h5");
    let said = ok(&mut import(&shard, &["--set", both]));
    assert!(
        said.contains(&format!("{} used whole", games.len())),
        "{said}"
    );
    let sets = ["--set", "ruleset.base=\"fanqi-1\""];
    refused(&mut import(&path("no.h5"), &sets), &["--set", "open rules"]);
    let shards = format!("pretrain.shards=[{:?}]", shard.display().to_string());
    let words = [
        "both.h5",
        "by other rules",
        "captured_seen_by=captor",
        "--set ruleset",
    ];
    refused(&mut train(&path("other"), &[jieqi, &shards]), &words);
}

/// What is said of a file that cannot be imported; nothing is written then.
fn not_imported(content: &[u8], more: &[&str], words: &[&str]) -> String {
    let (folder, path) = file(content);
    let out = folder.path().join("games.h5");
    let mut import = fanqi(["records", "import"]);
    import.arg(&path).arg("--out").arg(&out).args(more);
    let said = refused(&mut import, words);
    assert!(!out.exists(), "{said}");
    said
}

#[test]
fn games_of_another_form_are_counted_and_told_once() {
    let of = |form: &str| format!("[Variant \"{form}\"]\n1. h2e2 h9g7 1-0\n\n");
    let all = of("jieqi").repeat(5) + &of("Standard") + "[Event \"open\"]\n1. h2e2 *\n";
    let words = [
        "5 games are not used: of the form \"jieqi\", not \"xiangqi\"; give --form jieqi",
        "1 game is not used: of the form \"Standard\"",
        "no such form; known: xiangqi",
        "game 7 (line 19) is not used: it has no result",
        "7 games read",
    ];
    let said = not_imported(all.as_bytes(), &[], &words);
    assert_eq!(said.lines().count(), 4, "{said}");
    let (folder, path) = file(of("jieqi") + CHINESE);
    let mut import = fanqi(["records", "import"]);
    let out = folder.path().join("games.h5");
    let output = import.arg(&path).arg("--out").arg(&out).output();
    let output = output.expect("it starts");
    let told = "1 game is not used: of the form \"jieqi\", not \"xiangqi\"; give --form jieqi\n";
    assert_eq!(stderr(&output), told);
    let counts = "2 games read: 1 used whole, 0 in part, 1 not; 6 rows written\n";
    assert_eq!(binary::stdout(&output), counts);
}

#[test]
fn what_holds_no_games_is_refused_as_what_it_is() {
    not_imported(b"", &[], &["no game was found in 1 file", "DhtmlXQ"]);
    let samples = b"\x89HDF\r\n\x1a\n and so on";
    let words = ["games.pgn", "an HDF5 file", "`pretrain.shards`"];
    not_imported(samples, &[], &words);
    let kept = b"[Id \"1\"]\n[NetStep \"0 0\"]\n\n1: h2e2 h9g7\n";
    not_imported(kept, &[], &["that a run keeps", "fanqi records export"]);
    let view = "xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/X1X1X1X1X/1X5X1/9/XXXXKXXXX w A2B2N2R2C2P5a2b2n2r2c2p5 0 1";
    let seen = format!("[FEN \"{view}\"]\n1. h2e2=C 1-0\n");
    let words = ["tells what players know", "ends in 'world'"];
    not_imported(seen.as_bytes(), &["--form", "jieqi"], &words);
    let words = ["no tag FEN", "jieqi", "ends in 'world'"];
    not_imported(b"1. h2e2=C 1-0\n", &["--form", "jieqi"], &words);
}

/// As people type it in the folder where the files are.
#[test]
fn a_bare_name_is_a_file_of_the_current_folder() {
    let (folder, _path) = file(CHINESE);
    let here = |args: &[&str]| {
        let mut command = fanqi(args);
        ok(command.current_dir(folder.path()))
    };
    let run = folder.path().join("run");
    ok(&mut train(&run, &["run.produced_rows=1", "arena.games=2"]));
    here(&["records", "import", "games.pgn", "--out", "games.h5"]);
    here(&["records", "export", "run", "--out", "run.pgn"]);
    here(&["report", "run", "--out", "page.html"]);
    assert_eq!(
        names(folder.path()).expect("names"),
        ["games.h5", "games.pgn", "page.html", "run", "run.pgn"]
    );
}

#[test]
fn a_place_that_is_none_is_refused_before_anything_is_read() {
    let (folder, path) = file("1. h2e2 *\n");
    let out = folder.path().join("none").join("games.h5");
    let mut import = fanqi(["records", "import"]);
    import.arg(&path).arg("--out").arg(&out);
    let words = ["--out", "there is no folder", "none; create it"];
    let said = refused(&mut import, &words);
    assert_eq!(said.lines().count(), 1, "{said}");
    for (set, words) in [
        ("ruleset.base=jieqi", &["only the form's open rules"][..]),
        ("run.minutes=3", &["only the form's open rules"]),
        ("ruleset.bases=3", &["unknown key `ruleset.bases`"]),
        ("ruleset.fake_roams=true", &["`form`", "`yes`", "`no`"]),
    ] {
        not_imported(b"1. h2e2 1-0\n", &["--set", set], words);
    }
}

#[test]
fn text_behind_a_result_is_told() {
    let (folder, path) = file("[Red \"a\"]\n[Black \"b\"]\n1. h2e2 1-0\n\n1. c3c4 0-1\n");
    let out = folder.path().join("games.h5");
    let mut import = fanqi(["records", "import"]);
    let output = import.arg(&path).arg("--out").arg(&out).output();
    let said = stderr(&output.expect("it starts"));
    let words = "game 1 (line 1): the text behind its result (line 5) is no game and not used\n";
    assert!(said.ends_with(words), "{said}");
}

#[test]
fn results_that_boards_refute_are_counted_and_the_first_named() {
    let fen = "3k5/R8/9/9/9/9/9/9/9/1R3K3 w - - 0 1";
    let (folder, path) = file(format!("[FEN \"{fen}\"]\n1. b0b9 0-1\n").repeat(12));
    let out = folder.path().join("games.h5");
    let mut import = fanqi(["records", "import"]);
    let output = import.arg(&path).arg("--out").arg(&out).output();
    let output = output.expect("it starts");
    let counts = "12 games read: 12 used whole, 0 in part, 0 not; 12 with results that the board refutes; 12 rows written\n";
    assert_eq!(binary::stdout(&output), counts);
    let said = stderr(&output);
    assert_eq!(said.lines().count(), 11, "{said}");
    assert!(
        said.contains("game 10 (line 19): its result is told as 0-1"),
        "{said}"
    );
    assert!(said.contains("2 more games"), "{said}");
}

#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    let out = folder.path().join("games.h5");
    let words = ["pipe", "not a regular file"];
    refused(
        fanqi(["records", "import"])
            .arg(&pipe)
            .arg("--out")
            .arg(&out),
        &words,
    );
    refused(fanqi(["rate"]).arg(&pipe), &words);
}

#[test]
fn a_file_size_limit_ends_in_order() {
    let (folder, path) = file(CHINESE);
    let name = |name: &str| folder.path().join(name).display().to_string();
    let run = name("run");
    ok(&mut train(
        Path::new(&run),
        &["run.produced_rows=1", "arena.games=2"],
    ));
    let (games, samples, pgn) = (path.display().to_string(), name("out.h5"), name("out.pgn"));
    for command in [
        ["records", "import", &games, "--out", &samples],
        ["records", "export", &run, "--out", &pgn],
    ] {
        assert!(!with_space(1, &command));
        let error = stderr(&limited(1, &command));
        assert!(
            error.contains("out.") && !error.contains(".tmp-"),
            "{error}"
        );
        assert_eq!(names(folder.path()).expect("names"), ["games.pgn", "run"]);
    }
    for command in [
        ["records", "import", &games, "--out", &samples],
        ["records", "export", &run, "--out", &pgn],
    ] {
        assert!(with_space(10_000, &command));
    }
}

/// Starts an import that takes a while, and waits until it has written that file.
fn long_import(folder: &Path, until_there: &str) -> binary::Running {
    let path = folder.join("long.pgn");
    fs::write(&path, CHINESE.repeat(20_000)).expect("written");
    let mut import = fanqi(["records", "import", "--file-rows", "600"]);
    let running = binary::start(import.arg(&path).arg("--out").arg(folder.join("games.h5")));
    until("the import's files", || folder.join(until_there).exists());
    running
}

#[test]
fn a_stopped_import_leaves_nothing() {
    for signal_name in ["-INT", "-TERM"] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut import = long_import(folder.path(), ".tmp-games-2.h5");
        signal(import.id(), signal_name);
        assert!(import.wait().expect("it ends").success(), "{signal_name}");
        assert_eq!(names(folder.path()).expect("names"), ["long.pgn"]);
    }
}

#[test]
fn what_a_killed_import_left_goes_with_the_next() {
    let (folder, path) = file(CHINESE);
    let folder = folder.path();
    let others = [
        ".tmp-games-02.h5",
        ".tmp-games-1.h5",
        ".tmp-games-x.h5",
        ".tmp-other-2.h5",
    ];
    for other in others {
        fs::write(folder.join(other), "").expect("written");
    }
    let mut killed = long_import(folder, ".tmp-games-3.h5");
    let mut import = fanqi(["records", "import"]);
    import.arg(&path).arg("--out").arg(folder.join("games.h5"));
    refused(&mut import, &["games.h5", "another import is writing it"]);
    for unfinished in [".tmp-games.h5", ".tmp-games-2.h5"] {
        assert!(folder.join(unfinished).exists());
    }
    killed.kill().expect("it runs");
    killed.wait().expect("it ends");
    ok(&mut import);
    let left = [&others[..], &["games.h5", "games.pgn", "long.pgn"]].concat();
    assert_eq!(names(folder).expect("names"), left);
}
