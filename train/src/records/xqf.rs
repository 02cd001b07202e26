//! XQF, the files of XQStudio (象棋演播室): one game each, in binary.
//!
//! | bytes | meaning |
//! |---|---|
//! | 0..2 | `XQ` |
//! | 2 | version; 10 is as the program's author published it on 2001-04-16, later ones scramble the squares |
//! | 3, 8..12 | mask and or-bytes of the scrambling |
//! | 12, 13, 14, 15 | its keys: of the sum, of the pieces' squares, of the moves' starts and ends |
//! | 16..48 | squares of the 32 pieces, file from Red's left · 10 + rank from Red's side; above 89: not there |
//! | 51 | result: 1 Red won, 2 Black won, 3 or 4 drawn |
//! | 80, 208, 272, 288, 304, 320 | title, event, date, place, Red, Black: a byte of length, then the text in GBK |
//! | 1024.. | the moves, the first one empty |
//!
//! A move is its start + 24, its end + 32, flags, a byte of no meaning, then a comment's length (4 bytes, little-endian) and text:
//! to version 10 always, later if flag 0x20 is set. Flags 0xF0 (later 0x80): a move follows on this one; 0x0F (later
//! 0x40): a variation to it stands behind all that follows. So the main line is what comes first.
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use encoding_rs::GBK;
use selfplay::game::{Color, Outcome};
use selfplay::rules::Square;

use super::setup::{self, MEN};
use super::{MOST_PLIES, RecordedGame, RecordedMove};
use crate::atomic::FileError;

/// Bytes before the moves.
const HEAD: usize = 1024;
/// Bytes of a file that are read.
const LONGEST: u64 = 64 << 20;
/// The last version that is not scrambled.
const PLAIN: u8 = 10;
/// The first version whose list of pieces is rotated.
const ROTATED: u8 = 12;
/// What the keys mask to make the bytes that are added to the moves.
const STREAM: &[u8; 32] = b"[(C) Copyright Mr. Dong Shiwei.]";

/// Reads a file if it looks like an XQF file; a game that cannot be read is blamed for it.
pub(super) fn read(path: &Path) -> Result<Option<RecordedGame>, FileError> {
    let mut file = File::open(path).map_err(|e| FileError::io(path, "opening", e))?;
    let mut mark = [0; 4];
    match file.read_exact(&mut mark) {
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        read => read.map_err(|e| FileError::io(path, "reading", e))?,
    }
    // No text goes on with such a character; version 10 is a line feed, with a zero behind.
    let [b'X', b'Q', version @ 1..=31, behind] = mark else {
        return Ok(None);
    };
    if version.is_ascii_whitespace() && behind != 0 {
        return Ok(None);
    }
    let mut bytes = mark.to_vec();
    let mut rest = file.take(LONGEST);
    rest.read_to_end(&mut bytes)
        .map_err(|e| FileError::io(path, "reading", e))?;
    Ok(Some(game(&bytes)))
}

/// The game in an XQF file's bytes.
pub fn game(bytes: &[u8]) -> RecordedGame {
    let mut game = RecordedGame {
        line: 1,
        ..RecordedGame::default()
    };
    if let Err(why) = fill(bytes, &mut game) {
        game.blame(format!("XQF: {why}"));
    }
    game
}

fn fill(bytes: &[u8], game: &mut RecordedGame) -> Result<(), String> {
    let (head, body) = bytes
        .split_at_checked(HEAD)
        .ok_or_else(|| format!("{} bytes, cut off in the head of {HEAD}", bytes.len()))?;
    for (name, at, most) in [
        ("Title", 80, 63),
        ("Event", 208, 63),
        ("Date", 272, 15),
        ("Site", 288, 15),
        ("Red", 304, 15),
        ("Black", 320, 15),
    ] {
        let length = usize::from(head[at]).min(most);
        let (text, _) = GBK.decode_without_bom_handling(&head[at + 1..=at + length]);
        let text = text.trim_matches(['\0', ' ']);
        if !text.is_empty() {
            game.tags.push((name.into(), text.to_owned()));
        }
    }
    game.outcome = match head[51] {
        1 => Some(Outcome::Win(Color::Red)),
        2 => Some(Outcome::Win(Color::Black)),
        3 | 4 => Some(Outcome::Draw),
        _ => None,
    };
    let keys = Keys::of(head);
    let moves = moves(body, &keys)?;
    let first = moves.first().map(|&(from, _)| from);
    let fen = setup::fen(&keys.men(head), first)?;
    game.tags.push(("FEN".into(), fen));
    let text = |&(from, to): &(Square, Square)| format!("{from}{to}");
    game.moves = moves
        .iter()
        .map(|mv| RecordedMove {
            text: text(mv),
            line: 1,
        })
        .collect();
    Ok(())
}

/// The main line.
fn moves(body: &[u8], keys: &Keys) -> Result<Vec<(Square, Square)>, String> {
    let (mut moves, mut at) = (Vec::new(), 0);
    for number in 0..=MOST_PLIES {
        let cut_off = || format!("it is cut off in move {number}");
        let bytes = |at: usize, n: usize| -> Option<Vec<u8>> {
            let bytes = body.get(at..)?.get(..n)?.iter().enumerate();
            Some(bytes.map(|(i, &b)| keys.plain(b, HEAD + at + i)).collect())
        };
        let step = bytes(at, 4).ok_or_else(cut_off)?;
        at += 4;
        let plain = keys.version <= PLAIN;
        if plain || step[2] & 0x20 != 0 {
            let length = bytes(at, 4).ok_or_else(cut_off)?;
            let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]);
            at += 4 + length.saturating_sub(keys.comment) as usize;
        }
        if number > 0 {
            let from = square(step[0].wrapping_sub(24).wrapping_sub(keys.from));
            let to = square(step[1].wrapping_sub(32).wrapping_sub(keys.to));
            let squares = from.zip(to);
            moves.push(squares.ok_or_else(|| format!("move {number} leaves the board"))?);
        }
        let more = if plain { 0xF0 } else { 0x80 };
        if step[2] & more == 0 {
            return Ok(moves);
        }
    }
    Err(format!("more than {MOST_PLIES} moves"))
}

fn square(byte: u8) -> Option<Square> {
    Square::new((byte / 10).into(), (byte % 10).into())
}

/// What the scrambling adds.
struct Keys {
    version: u8,
    /// To the squares of the pieces.
    men: u8,
    /// To the start of a move.
    from: u8,
    /// To its end.
    to: u8,
    /// To a comment's length.
    comment: u32,
    /// To the moves' bytes, by their place in the file.
    stream: [u8; 32],
}

impl Keys {
    fn of(head: &[u8]) -> Keys {
        let version = head[2];
        if version <= PLAIN {
            return Keys {
                version,
                men: 0,
                from: 0,
                to: 0,
                comment: 0,
                stream: [0; 32],
            };
        }
        let times = |key: u8, factor: u8| {
            let (key, factor) = (u32::from(key), u32::from(factor));
            ((54 * key * key + 221) * factor) as u8
        };
        let (mask, ors, keys) = (head[3], &head[8..12], &head[12..16]);
        let men = times(keys[1], keys[1]);
        let from = times(keys[2], men);
        let byte = |i: usize| STREAM[i] & (keys[i % 4] & mask | ors[i % 4]);
        Keys {
            version,
            men,
            from,
            to: times(keys[3], from),
            comment: (u32::from(keys[0]) * 256 + u32::from(keys[1])) % 32_000 + 767,
            stream: std::array::from_fn(byte),
        }
    }

    /// A byte of the moves, which stands at that place in the file.
    fn plain(&self, byte: u8, at: usize) -> u8 {
        byte.wrapping_sub(self.stream[at % self.stream.len()])
    }

    /// The squares of the pieces.
    fn men(&self, head: &[u8]) -> [Option<Square>; MEN] {
        let mut squares = [None; MEN];
        for (i, &byte) in head[16..16 + MEN].iter().enumerate() {
            let man = match self.version {
                ROTATED.. => (i + usize::from(self.men) + 1) % MEN,
                _ => i,
            };
            squares[man] = square(byte.wrapping_sub(self.men));
        }
        squares
    }
}
