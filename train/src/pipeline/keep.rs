//! Which checkpoints a run keeps.

/// The steps to be removed of checkpoints at `steps`, ascending, so that `keep` are left, at least 2: the first one, the
/// newest half, and of those between a selection spread evenly over the logarithm of the step, as a run learns: always
/// the one goes whose neighbours are nearest to each other.
///
/// Early networks are what weak levels of strength are made of (`fanqi grade`), and a run cannot make them again.
pub fn surplus(steps: &[u64], keep: usize) -> Vec<u64> {
    let mut kept = steps.to_vec();
    let mut removed = Vec::new();
    let newest = (keep / 2).max(1);
    while kept.len() > keep.max(2) {
        let hole = |&place: &usize| {
            let [before, after] = [kept[place - 1], kept[place + 1]].map(|step| step.max(1) as f64);
            (after / before).ln()
        };
        let between = 1..kept.len() - newest;
        let Some(place) = between.min_by(|a, b| hole(a).total_cmp(&hole(b))) else {
            break;
        };
        removed.push(kept.remove(place));
    }
    removed
}
