//! Every form through the real binary: trained, matched, inspected, and its kept games true.
mod binary;

use std::path::Path;

use binary::{fanqi, ok, refused, stderr, stdout, train};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use selfplay::game::{Referee, Turn};
use selfplay::rules::{Move, Ruleset, World};
use train::games::{self, GameText};

/// The games that a run has kept.
fn kept(run: &Path) -> Vec<GameText> {
    let files = std::fs::read_dir(run.join("games")).expect("games");
    files
        .flat_map(|file| games::read(&file.expect("an entry").path()).expect("whole"))
        .collect()
}

/// The text from its start leads to its end by legal moves, and what it says came to light did.
fn replay(game: &GameText) {
    let rules = Ruleset::by_name(&game.form).expect("a form");
    let mut world = World::from_fen(rules, &game.start).expect("a world");
    let mut rng = Pcg64Mcg::seed_from_u64(0);
    for text in &game.moves {
        let end = text.find(['=', 'x']).unwrap_or(text.len());
        let mv: Move = text[..end].parse().expect("a move");
        let reveal = world.try_apply(mv, &mut rng).expect("a legal move");
        let light = reveal.map_or(String::new(), |reveal| reveal.to_string());
        assert_eq!(text[end..], light, "{text} of game {}", game.id);
    }
    if let Turn::Over(ending) = world.turn() {
        assert_eq!(ending, game.ending, "game {}", game.id);
    }
}

/// A tiny run, `set` deciding what it plays, whose table has a row a form against `random`.
fn check(set: &str, forms: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let table = ok(&mut train(&run, &[set, "arena.first_checkpoint=false"]));
    for form in forms {
        let row = |opponent: &str| {
            table
                .lines()
                .any(|l| l.starts_with(form) && l.contains(opponent))
        };
        let arranged = Ruleset::by_name(form).expect("a form").arranged();
        assert!(row("random"), "no row of {form}:\n{table}");
        assert_eq!(row("random arrangement"), arranged, "{table}");
    }
    let games = kept(&run);
    assert!(games.len() > 4, "{} games", games.len());
    games.iter().for_each(replay);
    assert!(games.iter().all(|game| forms.contains(&game.form.as_str())));
    let again =
        ok(fanqi(["strength"])
            .arg(&run)
            .args(["--form", forms[0], "--set", "arena.games=2"]));
    assert!(again.contains(forms[0]), "{again}");
    refused(
        fanqi(["strength"]).arg(&run).args(["--form", "xiangqi"]),
        &["xiangqi", "trained", "--force"],
    );
    let forced = ["--form", "xiangqi", "--force", "--set", "arena.games=2"];
    let table = ok(fanqi(["strength"]).arg(&run).args(forced));
    assert!(table.contains("\nxiangqi (untrained)  random"), "{table}");
    assert!(!again.contains("(untrained)"), "{again}");
    refused(
        &mut train(&run, &["ruleset.base=fanqi-1", "ruleset.forms=[]"]),
        &["ruleset"],
    );
}

#[test]
fn jieqi_is_trained() {
    check("ruleset.base=jieqi", &["jieqi"]);
}

#[test]
fn a_dealt_form_is_trained() {
    check("ruleset.base=fanqi-10", &["fanqi-10"]);
}

#[test]
fn several_forms_are_trained_in_one_run() {
    check(
        "ruleset.forms=[\"fanqi-2:2\", \"fanqi-4\", \"fanqi-7\"]",
        &["fanqi-2", "fanqi-4", "fanqi-7"],
    );
}

#[test]
fn an_arranged_form_is_trained_and_its_arrangements_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    ok(&mut train(
        &run,
        &[
            "ruleset.base=fanqi-9",
            "run.produced_rows=300",
            "run.report_seconds=0.1",
        ],
    ));
    kept(&run).iter().for_each(replay);
    // More than are drawn at a time.
    let output = fanqi(["inspect", "--arrangements", "--count", "3000"])
        .arg(&run)
        .output()
        .expect("fanqi starts");
    let (text, said) = (stdout(&output), stderr(&output));
    assert!(output.status.success(), "{said}");
    let shown = |line: &str| line.contains("ETA") && line.contains("of 45000 pieces");
    assert!(said.lines().any(shown), "{said}");
    let tables: Vec<_> = text
        .lines()
        .filter(|line| line.ends_with("h   i"))
        .collect();
    assert_eq!(tables.len(), 6, "{text}");
    // The squares of a home rank hold one piece each: over the kinds their shares sum to 1.
    let corner = text.lines().filter(|line| line.starts_with("0 "));
    let shares = corner.map(|line| line[3..7].trim().parse().unwrap_or(0));
    let sum: i32 = shares.sum();
    assert!((97..=103).contains(&sum), "{sum} % on a0:\n{text}");
    check_refused(&run);
}

/// What cannot be shown of a run of `fanqi-9` is refused.
fn check_refused(run: &Path) {
    refused(fanqi(["inspect"]).arg(run), &["--arrangements"]);
    let other = ["inspect", "--arrangements", "--form", "fanqi-3"];
    refused(fanqi(other).arg(run), &["fanqi-9", "fanqi-3"]);
    let open = ["inspect", "--arrangements", "--form", "xiangqi"];
    let words = ["--form xiangqi", "not arranged", "fanqi-7"];
    refused(fanqi(open).arg(run), &words);
    let step = ["inspect", "--arrangements", "--step", "99999"];
    let error = refused(fanqi(step).arg(run), &["step 99999", "choose one of these"]);
    assert!(!error.contains("--run DIR"), "{error}");
    let alone = [
        "arena.opponents=[]",
        "arena.first_checkpoint=false",
        "arena.random_arrangement=false",
    ];
    let mut strength = fanqi(["strength"]);
    let strength = strength.arg(run);
    alone.iter().for_each(|set| {
        strength.args(["--set", set]);
    });
    refused(strength, &["no opponent", "`arena.opponents`"]);
    for command in [&["inspect", "--arrangements"][..], &["strength"]] {
        let mut unknown = fanqi(command);
        unknown.arg(run).args(["--form", "x"]);
        let words = ["--form x: there is no such form", "fanqi-10"];
        refused(&mut unknown, &words);
    }
}
