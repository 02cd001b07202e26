//! Numbers as protocols write them.

/// A whole number; below 0 it is 0, beyond 64 bits the largest.
pub fn number(word: &str) -> Option<u64> {
    let digits = word.strip_prefix('-').unwrap_or(word);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(if digits.len() < word.len() {
        0
    } else {
        digits.parse().unwrap_or(u64::MAX)
    })
}
