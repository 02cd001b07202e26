//! `levels.toml`: what is written is read, and what is refused with which words.
use proptest::prelude::*;
use train::levels::{Level, Levels};

const FORMS: [&str; 3] = ["fanqi-9", "jieqi", "xiangqi"];

/// Numbers as they are written: rounded.
fn level(form: &str, number: u32, tenths: i32, rest: (u64, u32, u32, u32, u32)) -> Level {
    let (step, crc32c, visits, temperature, loss) = rest;
    let rounded = |tenths: i32| f64::from(tenths) / 10.0;
    Level {
        form: form.to_owned(),
        level: number,
        elo: rounded(tenths),
        elo_interval: [rounded(tenths - 205), rounded(tenths + 300)],
        step,
        crc32c,
        visits,
        temperature: temperature as f32 / 16.0,
        noise: 0.0,
        policy_loss: f64::from(loss) / 1000.0,
    }
}

fn ladder(form: &'static str) -> impl Strategy<Value = Vec<Level>> {
    let rest = (
        0u64..1 << 50,
        any::<u32>(),
        1u32..=100_000,
        0u32..=160,
        0u32..20_000,
    );
    proptest::collection::vec((1i32..2000, rest), 1..12).prop_map(move |steps| {
        let mut elo = -500;
        let rung = |(place, (gap, rest)): (usize, (i32, _))| {
            elo += gap;
            level(form, place as u32 + 1, elo, rest)
        };
        steps.into_iter().enumerate().map(rung).collect()
    })
}

fn all() -> impl Strategy<Value = Levels> {
    let ladders = FORMS.map(|form| proptest::option::of(ladder(form)));
    ("[0-9a-f]{16}", ladders).prop_filter_map("no level", |(run, ladders)| {
        let mut levels = Levels::new(run);
        for (form, ladder) in FORMS.into_iter().zip(ladders) {
            levels.replace(form, ladder.unwrap_or_default());
        }
        FORMS
            .iter()
            .any(|form| !levels.of(form).is_empty())
            .then_some(levels)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn what_is_written_is_read(levels in all()) {
        let text = levels.to_string();
        prop_assert_eq!(Levels::parse(&text).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?, levels);
    }

    #[test]
    fn any_text_is_levels_or_refused(text in "\\PC{0,60}") {
        let _ = Levels::parse(&text);
    }
}

/// Two levels, as somebody might have them.
const TWO: &str = r#"format = 1
run = "00ff"
form = "xiangqi"

[[level]]
form = "xiangqi"
level = 1
elo = 12
elo_interval = [-20.0, 44.0]
step = 0
crc32c = "1a2b3c4d"
visits = 1
temperature = 1.0
noise = 0.0
policy_loss = 2.1

[[level]]
form = "xiangqi"
level = 2
elo = 150.0
elo_interval = [110.0, 190.0]
step = 400
crc32c = "00000001"
visits = 8
temperature = 0.0
noise = 0.0
policy_loss = 0.9
"#;

#[test]
fn levels_are_found_by_number() {
    let levels = Levels::parse(TWO).expect("levels");
    assert_eq!(
        levels.level("xiangqi", 1).map(|level| level.crc32c),
        Ok(0x1a2b_3c4d)
    );
    assert_eq!(levels.level("xiangqi", 2).map(|level| level.visits), Ok(8));
    assert_eq!(levels.steps().into_iter().collect::<Vec<_>>(), [0, 400]);
    let none = levels.level("xiangqi", 3).expect_err("no level 3");
    assert!(none.contains("1 to 2"), "{none}");
    let none = levels.level("jieqi", 1).expect_err("no levels");
    assert!(
        none.contains("graded: xiangqi") && none.contains("--form jieqi"),
        "{none}"
    );
}

/// [`TWO`] with a text replaced is refused, with all of the words.
fn check(from: &str, to: &str, words: &[&str]) {
    assert!(TWO.contains(from), "{from}");
    let error = Levels::parse(&TWO.replacen(from, to, 1)).expect_err(to);
    for word in words {
        assert!(error.contains(word), "{to}: no {word:?} in: {error}");
    }
}

#[test]
fn what_is_no_table_of_levels_is_refused_with_a_reason() {
    check("format = 1", "format = 2", &["format = 2", "reads 1"]);
    check("format = 1\n", "", &["format"]);
    check("run = \"00ff\"\n", "", &["run"]);
    check(
        "form = \"xiangqi\"\n",
        "form = \"jieqi\"\n",
        &["jieqi", "no [[level]]"],
    );
    check(
        "level = 2",
        "level = 3",
        &["3 of xiangqi", "expected level 2"],
    );
    check("level = 1", "level = 0", &["expected level 1"]);
    check(
        "elo = 150.0",
        "elo = 11.0",
        &["2 of xiangqi", "not above 12"],
    );
    check("elo = 150.0", "elo = nan", &["elo = NaN"]);
    check("[110.0, 190.0]", "[160.0, 190.0]", &["elo_interval"]);
    check("visits = 8", "visits = 0", &["visits = 0", "1 to 100000"]);
    check(
        "temperature = 1.0",
        "temperature = 11.0",
        &["temperature = 11", "0 to 10"],
    );
    check("noise = 0.0", "noise = 0.1", &["noise = 0.1", "expected 0"]);
    check("policy_loss = 0.9", "policy_loss = inf", &["policy_loss"]);
    check("\"00000001\"", "\"1\"", &["crc32c", "8 hexadecimal digits"]);
    check("visits = 8", "vists = 8", &["vists"]);
    check(
        "[[level]]\nform = \"xiangqi\"",
        "[[level]]\nform = \"chess\"",
        &["no such form"],
    );
}
