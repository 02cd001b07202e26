//! What must hold of rows on disk.
use selfplay::policy;
use selfplay::record::{DOWN, HOMES, IDENTITY_SHIFT, Rows, at};

/// The law of [`Rows`] in a file; the error names the column and the row.
pub fn check_rows(rows: &Rows) -> Result<(), String> {
    let n = rows.len();
    if n == 0 {
        return Err("no rows".into());
    }
    let lengths = [
        ("policy_end", rows.policy_end.len()),
        ("policy_weight", rows.policy_weight.len()),
        ("search_wdl", rows.search_wdl.len()),
        ("outcome", rows.outcome.len()),
        ("plies_left", rows.plies_left.len()),
        ("truth", rows.truth.len()),
        ("game", rows.game.len()),
        ("ply", rows.ply.len()),
        ("net_step", rows.net_step.len()),
    ];
    if let Some((name, len)) = lengths.into_iter().find(|&(_, len)| len != n) {
        return Err(format!("column `{name}` has {len} rows, `records` has {n}"));
    }
    let entries = rows.policy_index.len();
    if rows.policy_prob.len() != entries {
        return Err(format!(
            "`policy_prob` has {} entries, `policy_index` has {entries}",
            rows.policy_prob.len()
        ));
    }
    if rows.policy_end[n - 1] != entries as u64 {
        return Err(format!(
            "`policy_end` ends at {}, `policy_index` has {entries} entries",
            rows.policy_end[n - 1]
        ));
    }
    let mut start = 0;
    for i in 0..n {
        let end = rows.policy_end[i];
        if end <= start || end > entries as u64 {
            return Err(format!(
                "row {i}: `policy_end` {end} after {start}, of {entries} entries"
            ));
        }
        check_row(rows, i, start as usize..end as usize).map_err(|e| format!("row {i}: {e}"))?;
        start = end;
    }
    Ok(())
}

/// Whether a square of a record can hold that byte: nothing, a face-up piece, or one that is no king and
/// lies face down, whether or not it is known.
fn is_square(byte: u8) -> bool {
    match (byte & DOWN != 0, byte & 7, byte >> IDENTITY_SHIFT & 7) {
        (false, kind, identity) => byte == 0 || (kind != 0 && identity == 0),
        (true, kind, identity) => kind >= 2 && identity != 1,
    }
}

fn check_row(rows: &Rows, i: usize, entries: std::ops::Range<usize>) -> Result<(), String> {
    let record = &rows.records[i];
    if let Some(s) = (0..policy::SQUARES).find(|&s| !is_square(record[at::SQUARES + s])) {
        return Err(format!(
            "`records` has {} on square {s}",
            record[at::SQUARES + s]
        ));
    }
    for byte in [at::LAST_FROM, at::LAST_TO, at::PLACING] {
        if record[byte] as usize >= policy::SQUARES && record[byte] != u8::MAX {
            return Err(format!(
                "`records` byte {byte} is {}, not a square",
                record[byte]
            ));
        }
    }
    for (&kind, home) in rows.truth[i].iter().zip(HOMES) {
        let byte = record[at::SQUARES + home as usize];
        let is_unknown = byte & DOWN != 0 && byte >> IDENTITY_SHIFT & 7 == 0;
        if kind != 0 && !(is_unknown && matches!(kind, 2..=7)) {
            return Err(format!(
                "`truth` has {kind} on square {home}, where `records` has {byte}"
            ));
        }
    }
    let indices = &rows.policy_index[entries.clone()];
    if let Some(&bad) = indices
        .iter()
        .find(|&&p| p as usize >= policy::INDICES || policy::squares(p).is_none())
    {
        return Err(format!("`policy_index` {bad} is no move on the board"));
    }
    let sum: i64 = rows.policy_prob[entries.clone()]
        .iter()
        .map(|&p| i64::from(p))
        .sum();
    let weight = rows.policy_weight[i];
    // Rounding each of n entries moves the sum by at most n / 2; float error in the target gets the other half.
    if weight > 1 || (weight == 1 && (sum - 65535).unsigned_abs() > entries.len() as u64 + 1) {
        return Err(format!(
            "`policy_prob` sums to {sum} with `policy_weight` {weight}"
        ));
    }
    let wdl = rows.search_wdl[i];
    let sum: f32 = wdl.iter().sum();
    if !wdl.iter().all(|p| (-1e-3..=1.001).contains(p)) || (sum - 1.0).abs() > 1e-2 {
        return Err(format!("`search_wdl` {wdl:?} are not probabilities"));
    }
    if rows.outcome[i] > 2 {
        return Err(format!("`outcome` {} is not 0, 1 or 2", rows.outcome[i]));
    }
    Ok(())
}
