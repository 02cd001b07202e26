//! Tables of text.
use std::fmt::{self, Write};

use crate::arena::MatchResult;
use crate::rating::Rating;

/// Writes lines of cells in columns as wide as their widest cell: the first two to the left, the others to the right.
pub fn write_aligned(out: &mut impl Write, lines: &[Vec<String>]) -> fmt::Result {
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<_> = (0..columns).map(width).collect();
    for line in lines {
        let mut text = String::new();
        for (column, (cell, &width)) in line.iter().zip(&widths).enumerate() {
            let gap = if column == 0 { "" } else { "  " };
            match column {
                0 | 1 => write!(text, "{gap}{cell:<width$}")?,
                _ => write!(text, "{gap}{cell:>width$}")?,
            }
        }
        writeln!(out, "{text}")?;
    }
    Ok(())
}

/// The heads of [`score_cells`].
pub const SCORE_HEAD: [&str; 8] = ["games", "W", "D", "L", "score %", "95 %", "Elo", "95 %"];

/// Games, wins, draws, losses, score and Elo with their intervals.
pub fn score_cells([wins, draws, losses]: [u32; 3], rating: &Rating) -> [String; 8] {
    [
        rating.games.to_string(),
        wins.to_string(),
        draws.to_string(),
        losses.to_string(),
        format!("{:.1}", 100.0 * rating.score),
        rating.score_interval.to_string(),
        rating.elo_text(),
        rating.elo_interval.to_string(),
    ]
}

/// Wins, draws and losses of a match's first player.
pub fn counts(result: &MatchResult) -> [u32; 3] {
    [result.wins, result.draws, result.losses]
}
