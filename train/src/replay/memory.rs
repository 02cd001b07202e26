//! How much memory there is for the window, asked before it is taken: what the kernel grants and cannot
//! give later ends the process without a word.
use std::fs;

/// Bytes that a new allocation can hope for; `None` where the system does not say.
pub(super) fn available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let kilobytes = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim_end_matches("kB").trim().parse().ok()
    };
    let free = 1024 * (kilobytes("MemAvailable:")? + kilobytes("SwapFree:").unwrap_or(0));
    // A container's own limit, if it has one ("max" otherwise).
    let limit = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let limit = limit.and_then(|text| text.trim().parse().ok());
    Some(limit.map_or(free, |limit| free.min(limit)))
}
