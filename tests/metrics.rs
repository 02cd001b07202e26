//! Metrics files: what was logged is what is read, by own readers and by TensorBoard.
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::Command;

use prost::Message;
use train::metrics::{self, Metrics};
use train::tensorboard::{Event, masked_crc};

fn open(folder: &Path, step: u64) -> Metrics {
    Metrics::open(&folder.join("metrics.jsonl"), folder, step).unwrap()
}

/// Reads an event file and checks both checksums of each record.
fn read_events(path: &Path) -> Vec<Event> {
    let bytes = std::fs::read(path).unwrap();
    let (mut rest, mut events) = (&bytes[..], Vec::new());
    let u32_of = |b: &[u8]| u32::from_le_bytes(b.try_into().unwrap());
    while !rest.is_empty() {
        let length = u64::from_le_bytes(rest[..8].try_into().unwrap()) as usize;
        assert_eq!(u32_of(&rest[8..12]), masked_crc(&rest[..8]));
        let data = &rest[12..12 + length];
        assert_eq!(u32_of(&rest[12 + length..16 + length]), masked_crc(data));
        events.push(Event::decode(data).unwrap());
        rest = &rest[16 + length..];
    }
    events
}

#[test]
fn the_checksum_is_crc32c_masked() {
    // RFC 3720, B.4: 32 bytes of zero have CRC-32C 8a9136aa; masking as in the TFRecord format.
    let crc: u32 = 0x8a91_36aa;
    let masked = crc.rotate_right(15).wrapping_add(0xa282_ead8);
    assert_eq!(masked_crc(&[0; 32]), masked);
}

#[test]
fn both_files_hold_what_was_logged() {
    let folder = tempfile::tempdir().unwrap();
    let mut m = open(folder.path(), 2);
    m.log(4, &[("loss/policy", 2.5), ("games", 17.0)]).unwrap();
    m.log(5, &[("loss/policy", f64::NAN), ("rows", 1e7)])
        .unwrap();
    let lines = metrics::read(&folder.path().join("metrics.jsonl")).unwrap();
    assert_eq!(lines.len(), 2);
    let keys: Vec<_> = lines[0].keys().map(String::as_str).collect();
    assert_eq!(keys.len(), 4);
    assert_eq!(
        (&lines[0]["step"], &lines[0]["loss/policy"]),
        (&4.into(), &2.5.into())
    );
    assert_eq!(
        (&lines[1]["loss/policy"], &lines[1]["rows"]),
        (&serde_json::Value::Null, &1e7.into())
    );
    let events = read_events(m.event_file());
    assert_eq!(events[0].file_version.as_deref(), Some("brain.Event:2"));
    assert_eq!(
        (events[1].step, events[1].session_log.unwrap().status),
        (3, 1)
    );
    let scalar = |event: usize, value: usize| {
        let e = &events[event];
        let v = &e.summary.as_ref().unwrap().value[value];
        (e.step, v.tag.as_str(), v.simple_value)
    };
    assert_eq!(scalar(2, 0), (4, "loss/policy", 2.5));
    assert_eq!(scalar(2, 1), (4, "games", 17.0));
    assert_eq!(scalar(3, 1), (5, "rows", 1e7));
    assert!(scalar(3, 0).2.is_nan());
    assert_eq!(lines[0]["time"].as_f64().unwrap(), events[2].wall_time);
}

#[test]
fn numbers_of_an_earlier_step_are_curves_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut m = open(folder.path(), 0);
    m.log(9, &[("a", 1.0)]).unwrap();
    m.log_of(9, ("of", 4), &[("b", 2.0)]).unwrap();
    let lines = metrics::read(&folder.path().join("metrics.jsonl")).unwrap();
    let line = ["step", "of", "b"].map(|name| lines[1][name].as_f64());
    assert_eq!(line, [Some(9.0), Some(4.0), Some(2.0)]);
    let events = read_events(m.event_file());
    let values = &events[3].summary.as_ref().unwrap().value;
    assert_eq!(
        (events[3].step, values.len(), values[0].tag.as_str()),
        (4, 1, "b")
    );
}

#[test]
fn a_half_written_line_is_cut_off_on_resume() {
    for tail in ["", "{", "{\"time\":1.0,\"step\":9", &"x".repeat(10_000)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.jsonl");
        open(folder.path(), 0).log(1, &[("a", 1.0)]).unwrap();
        OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .write_all(tail.as_bytes())
            .unwrap();
        assert_eq!(metrics::read(&path).unwrap().len(), 1);
        let mut again = open(folder.path(), 1);
        again.log(2, &[("a", 2.0)]).unwrap();
        let lines = metrics::read(&path).unwrap();
        assert_eq!(
            lines
                .iter()
                .map(|l| l["step"].as_u64().unwrap())
                .collect::<Vec<_>>(),
            [1, 2]
        );
        // Each process has an event file of its own.
        assert_eq!(read_events(again.event_file()).len(), 3);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    }
    let folder = tempfile::tempdir().unwrap();
    File::create(folder.path().join("metrics.jsonl"))
        .unwrap()
        .write_all(b"half")
        .unwrap();
    open(folder.path(), 0).log(1, &[]).unwrap();
    assert_eq!(
        metrics::read(&folder.path().join("metrics.jsonl"))
            .unwrap()
            .len(),
        1
    );
}

const TENSORBOARD_READER: &str = "
import sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
a = EventAccumulator(sys.argv[1]); a.Reload()
print([(t, [(e.step, e.value) for e in a.Scalars(t)]) for t in sorted(a.Tags()['scalars'])])
";

#[test]
fn tensorboard_reads_the_files_and_drops_what_a_restart_repeats() {
    if !Command::new("python3")
        .args(["-c", "import tensorboard"])
        .output()
        .is_ok_and(|o| o.status.success())
    {
        eprintln!("skipped: python3 with tensorboard is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut first = open(folder.path(), 0);
    for step in 1..=4 {
        first
            .log(step, &[("loss/policy", step as f64 / 2.0)])
            .unwrap();
    }
    // Killed; the last checkpoint was that of step 2.
    open(folder.path(), 2)
        .log(3, &[("loss/policy", 9.0), ("games", 1.0)])
        .unwrap();
    let out = Command::new("python3")
        .args(["-c", TENSORBOARD_READER])
        .arg(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    let expected = "[('games', [(3, 1.0)]), ('loss/policy', [(1, 0.5), (2, 1.0), (3, 9.0)])]";
    assert_eq!(
        text.trim(),
        expected,
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
}
