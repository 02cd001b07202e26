//! What a position is built from.
use crate::game::Color;
use crate::policy::SQUARES;
use crate::rules::geometry::{Bits, home_kind};
use crate::rules::ruleset::{Layout, Ruleset};
use crate::rules::types::{Face, Piece, Square};

/// What a position is built from, checked by whoever made it.
pub(in crate::rules) struct Setup {
    pub rules: &'static Ruleset,
    pub board: [Option<Piece>; SQUARES],
    /// Face-down pieces that only the viewer, their owner, knows.
    pub secret: Bits,
    pub pools: [[u8; 7]; 2],
    pub viewer: Option<Color>,
    pub turn: Color,
    pub no_capture: u16,
    pub ply: u16,
}

impl Setup {
    /// The start of a game as `viewer` knows it.
    pub(super) fn start(rules: &'static Ruleset, viewer: Option<Color>) -> Setup {
        let (mut board, mut pools) = ([None; SQUARES], [[0; 7]; 2]);
        for color in [Color::Red, Color::Black] {
            for square in Square::all() {
                let Some(kind) = home_kind(color, square) else {
                    continue;
                };
                let down = |identity| Face::Down { identity };
                let face = match rules.layout {
                    Layout::AtHome if rules.takes_part.has(kind) => down(Some(kind)),
                    Layout::Dealt | Layout::Arranged if rules.takes_part.has(kind) => {
                        pools[color as usize][kind.index()] += 1;
                        down(None)
                    }
                    _ => Face::Up,
                };
                board[square.index()] = Some(Piece { color, kind, face });
            }
        }
        Setup {
            rules,
            board,
            secret: 0,
            pools,
            viewer: viewer.filter(|_| !rules.open_to_both()),
            turn: Color::Red,
            no_capture: 0,
            ply: 0,
        }
    }
}
