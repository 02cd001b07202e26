//! A bundle is read whole and sound, or not at all.
use std::fs;
use std::path::Path;

use selfplay::bundle::{
    self, Axis, Bundle, Checkpoint, FORMAT, FileInfo, FileKind, FormRules, Level, MANIFEST,
    Manifest, NetworkInfo, PlayInfo, PolicyTable, Precision, TrainingInfo, sha256, tensors,
};
use selfplay::expand::table;
use selfplay::rules::{RepetitionRule, Ruleset};
use serde_json::{Value, json};

fn level(number: u32, crc32c: &str) -> Level {
    Level {
        form: "jieqi".into(),
        level: number,
        elo: 12.0,
        elo_interval: [-20.0, 44.0],
        step: 0,
        crc32c: crc32c.into(),
        visits: 1,
        temperature: 1.0,
        noise: 0.0,
        policy_loss: Some(2.1),
    }
}

fn manifest(files: Vec<FileInfo>) -> Manifest {
    Manifest {
        format: FORMAT,
        program: "fanqi 0.1.0".into(),
        licence: None,
        forms: Ruleset::all()
            .iter()
            .map(|rules| FormRules::of(rules))
            .collect(),
        inputs: tensors::inputs(),
        planes: table::planes(),
        globals: table::globals(),
        policy: PolicyTable::own(),
        outputs: tensors::outputs(),
        network: NetworkInfo {
            settings: Default::default(),
            parameters: 5,
        },
        training: TrainingInfo {
            run: "a".into(),
            step: 3,
            rows: 96,
            crc32c: "1a2b3c4d".into(),
            games: Some(7),
            seconds: None,
            shares: vec![1.0],
            config: String::new(),
        },
        play: PlayInfo {
            search: [("root".to_owned(), json!("gumbel"))].into(),
            arrangement_temperature: 1.0,
        },
        level: None,
        levels: vec![
            level(1, "1a2b3c4d"),
            level(2, "00000000"),
            level(3, "00000001"),
        ],
        files,
    }
}

/// A bundle whose networks are a few bytes.
fn write(folder: &Path) -> Manifest {
    let file = |name: &str, kind, precision, bytes: &[u8]| {
        fs::write(folder.join(name), bytes).expect("written");
        FileInfo {
            name: name.into(),
            kind,
            checkpoint: None,
            precision,
            opset: None,
            joined: None,
            bytes: bytes.len() as u64,
            sha256: sha256(&folder.join(name)).expect("there"),
        }
    };
    let other = FileInfo {
        checkpoint: Some(Checkpoint {
            step: 1,
            crc32c: "00000001".into(),
        }),
        ..file("model-1.onnx", FileKind::Onnx, Some(Precision::F32), b"1")
    };
    let manifest = manifest(vec![
        other,
        file("model.onnx", FileKind::Onnx, Some(Precision::F32), b"f32"),
        file(
            "model.int8.onnx",
            FileKind::Onnx,
            Some(Precision::Int8),
            b"int8",
        ),
        file("README.md", FileKind::Readme, None, b"# a"),
    ]);
    save(
        folder,
        &serde_json::to_value(&manifest).expect("plain fields"),
    );
    manifest
}

fn save(folder: &Path, manifest: &Value) {
    fs::write(folder.join(MANIFEST), manifest.to_string()).expect("written");
}

#[test]
fn what_was_written_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let written = write(folder.path());
    let bundle = Bundle::open(folder.path()).expect("sound");
    assert_eq!(*bundle.manifest(), written);
    assert_eq!(bundle.forms(), Ruleset::all());
    let file = |kind, precision| {
        bundle
            .file(kind, precision)
            .map(|p| fs::read(p).expect("there"))
    };
    assert_eq!(
        file(FileKind::Onnx, Some(Precision::Int8)),
        Some(b"int8".to_vec())
    );
    assert_eq!(file(FileKind::Onnx, None), Some(b"f32".to_vec()));
    assert_eq!(file(FileKind::Onnx, Some(Precision::F16)), None);
    assert_eq!(file(FileKind::Torchscript, None), None);
    let plays = |level: usize| {
        let level = &written.levels[level - 1];
        let file = bundle.level_file(level, FileKind::Onnx, Some(Precision::F32));
        file.map(|p| fs::read(p).expect("there"))
    };
    assert_eq!(
        [1, 2, 3].map(plays),
        [Some(b"f32".to_vec()), None, Some(b"1".to_vec())]
    );
    let playable: Vec<_> = written.playable("jieqi").map(|l| l.level).collect();
    assert_eq!(
        (playable, written.playable("xiangqi").count()),
        (vec![1, 3], 0)
    );
    assert_eq!(written.inputs[0].shape[0], Axis::Free("N".into()));
}

/// SHA-256 of "abc" (FIPS 180-2, appendix B.1).
#[test]
fn the_sum_is_sha_256() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("abc");
    fs::write(&path, "abc").expect("written");
    assert_eq!(
        sha256(&path).expect("there"),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
}

/// A change of the manifest at a JSON pointer, or none, and a change of the folder, are refused with all of `words`.
fn check(change: Option<(&str, Value)>, damage: impl Fn(&Path), words: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut manifest = serde_json::to_value(write(folder.path())).expect("plain fields");
    if let Some((pointer, value)) = change {
        *manifest.pointer_mut(pointer).expect(pointer) = value;
        save(folder.path(), &manifest);
    }
    damage(folder.path());
    let error = Bundle::open(folder.path())
        .expect_err("refused")
        .to_string();
    for word in words {
        assert!(error.contains(word), "no {word:?} in: {error}");
    }
}

#[test]
fn damage_is_named() {
    let nothing = |_: &Path| {};
    let write = |name: &'static str, text: &'static str| {
        move |folder: &Path| fs::write(folder.join(name), text).expect("written")
    };
    let remove = |name: &'static str| {
        move |folder: &Path| fs::remove_file(folder.join(name)).expect("there")
    };
    check(
        None,
        remove(MANIFEST),
        &["no bundle", "has no model.json", "fanqi export --out"],
    );
    check(
        None,
        remove("model.int8.onnx"),
        &["model.int8.onnx: missing", "export it again"],
    );
    check(
        None,
        write("model.onnx", "f64"),
        &["model.onnx: changed", "SHA-256", "copy the whole"],
    );
    check(
        None,
        write("README.md", "# a long"),
        &["README.md: changed", "8 bytes", "says 3 bytes"],
    );
    check(None, write(MANIFEST, "{\"format\": 1"), &["no whole JSON"]);
    check(
        None,
        write(MANIFEST, "{\"format\": 1}"),
        &["no bundle", "program"],
    );
    let change = |pointer, value, words: &[&str]| check(Some((pointer, value)), nothing, words);
    change("/program", json!("other 1.0"), &["no bundle", "program"]);
    change("/format", json!("1"), &["no `format`"]);
    change(
        "/format",
        json!(FORMAT + 1),
        &["format 2", "reads format 1", "newer version of the program"],
    );
    change(
        "/format",
        json!(0),
        &["format 0", "export the network again"],
    );
    change("/training", json!({}), &["model.json: missing field `run`"]);
    change("/files/0/kind", json!("keras"), &["model.json", "keras"]);
    change(
        "/files/0/name",
        json!("../x"),
        &["\"../x\"", "in this folder"],
    );
    change("/files/0/name", json!("/etc/hostname"), &["in this folder"]);
    change("/files/0/name", json!("a/b"), &["in this folder"]);
    change("/files/0/name", json!(""), &["in this folder"]);
    change("/files/0/name", json!("model.json"), &["in this folder"]);
    change("/files/0/name", json!("README.md"), &["README.md twice"]);
    change("/forms", json!([]), &["`forms` is empty"]);
    change(
        "/forms/0/name",
        json!("chess"),
        &["form \"chess\"", "known: xiangqi"],
    );
    change(
        "/forms/0/name",
        json!("jieqi"),
        &["form \"jieqi\"", "`layout`"],
    );
    change(
        "/forms/0/takes_part",
        json!("K"),
        &["form \"xiangqi\"", "`takes_part`"],
    );
    change(
        "/forms/1",
        serde_json::to_value(FormRules::of(&Ruleset::XIANGQI)).expect("plain"),
        &["twice"],
    );
    change(
        "/forms/0/no_capture_plies",
        json!(256),
        &["`no_capture_plies` = 256", "0..=255"],
    );
    change("/forms/0/no_capture_plies", json!(-1), &["model.json"]);
    change(
        "/planes/3/name",
        json!("own_horse"),
        &["`planes` is not this program's", "fanqi 0.1.0"],
    );
    change("/globals", json!([]), &["`globals` is not"]);
    change("/policy/planes/9/files", json!(3), &["`policy` is not"]);
    change("/inputs/0/shape/1", json!(34), &["`inputs` is not"]);
    change("/outputs/1/name", json!("value"), &["`outputs` is not"]);
}

/// What a run may change of its rules is read, and fields of later programs and other words are no fault.
#[test]
fn changed_rules_words_and_unknown_fields_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut manifest = serde_json::to_value(write(folder.path())).expect("plain fields");
    manifest["forms"][0]["repetition"] = json!("cxa");
    manifest["forms"][0]["check_discount"] = json!({"beyond": 3});
    manifest["planes"][0]["meaning"] = json!("said better");
    manifest["later"] = json!(true);
    save(folder.path(), &manifest);
    let bundle = Bundle::open(folder.path()).expect("sound");
    assert_eq!(bundle.forms()[0].repetition, RepetitionRule::Cxa);
}

#[test]
fn only_an_earlier_bundle_is_in_nobodys_way() {
    let top = tempfile::tempdir().expect("a folder");
    let folder = top.path().join("bundle");
    let refused = |words: &[&str]| {
        let error = bundle::may_replace(&folder)
            .expect_err("refused")
            .to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
        assert!(error.contains("choose another folder"), "{error}");
    };
    let allowed = || bundle::may_replace(&folder).is_ok();
    assert!(allowed());
    fs::write(&folder, "text").expect("written");
    refused(&["it is a file"]);
    fs::remove_file(&folder).expect("there");
    fs::create_dir(&folder).expect("made");
    assert!(allowed());
    fs::write(folder.join("README.md"), "mine").expect("written");
    refused(&["has no model.json"]);
    let mut manifest = serde_json::to_value(write(&folder)).expect("plain fields");
    assert!(allowed());
    // One that is damaged may go as well.
    fs::remove_file(folder.join("model.onnx")).expect("there");
    assert!(allowed());
    fs::write(folder.join("notes.txt"), "mine").expect("written");
    refused(&["also holds notes.txt"]);
    fs::remove_file(folder.join("notes.txt")).expect("there");
    manifest["format"] = json!(0);
    save(&folder, &manifest);
    assert!(allowed());
    manifest["format"] = json!(9);
    save(&folder, &manifest);
    refused(&["newer format 9"]);
}
