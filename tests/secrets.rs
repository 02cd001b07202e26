//! What a player cannot know changes nothing that it sees, notes or does.
mod common;

use common::games::{form, games, play, quick, record_of, rng, starts, viewers};
use selfplay::game::{Color, Referee, Turn};
use selfplay::mcts::RootKind;
use selfplay::rules::{Kind, Layout, Move, Ruleset, Square, World};
use selfplay::worker::{FinishedGame, SelfplayConfig};

/// A board's field, a square a text, by index.
fn cells(fen: &str) -> (Vec<String>, &str) {
    let (board, rest) = fen.split_once(' ').expect("fields");
    let mut cells = vec![String::new(); 90];
    for (rank, text) in (0..10).rev().zip(board.split('/')) {
        let mut file = 0;
        for c in text.chars() {
            match c.to_digit(10) {
                Some(gap) => file += gap as usize,
                None if c.is_alphabetic() => {
                    cells[9 * rank + file].push(c);
                    file += 1;
                }
                None => cells[9 * rank + file - 1].push(c),
            }
        }
    }
    (cells, rest)
}

/// The world with what lies on `squares`, of one side each, moved on to the next of them.
fn rotated(world: &World, squares: &[Vec<Square>]) -> World {
    let fen = world.fen();
    let (mut board, rest) = cells(&fen);
    for squares in squares.iter().filter(|squares| !squares.is_empty()) {
        let first = board[squares[0].index()].clone();
        for pair in squares.windows(2) {
            board[pair[0].index()] = board[pair[1].index()].clone();
        }
        board[squares[squares.len() - 1].index()] = first;
    }
    let one = |cell: &String| {
        if cell.is_empty() {
            "1".into()
        } else {
            cell.clone()
        }
    };
    let ranks: Vec<String> = board
        .chunks(9)
        .rev()
        .map(|rank| rank.iter().map(one).collect())
        .collect();
    let fen = format!("{} {rest}", ranks.join("/"));
    let rules = world.position(Color::Red).rules();
    World::from_fen(rules, &fen).unwrap_or_else(|error| panic!("{fen}: {error}"))
}

/// By colour, the squares of the pieces at the start whose identity never comes to light to any of `viewers`.
fn never_seen(game: &FinishedGame<World>, viewers: &[Color]) -> [Vec<Square>; 2] {
    let mut world = game.start.clone();
    let mut unseen: [Vec<Square>; 2] = Default::default();
    for square in Square::all() {
        if let Some(piece) = world.position(Color::Red).piece_at(square)
            && piece.is_down()
        {
            unseen[piece.color as usize].push(square);
        }
    }
    for &mv in &game.moves {
        let Turn::Decision(decider) = world.turn() else {
            panic!("over too early")
        };
        let sees = |viewer: &Color| {
            world
                .position(*viewer)
                .rules()
                .sees_captured(Some(*viewer), decider)
        };
        if mv.placed().is_none() {
            unseen[decider as usize].retain(|&square| square != mv.from());
            if viewers.iter().any(sees) {
                unseen[decider.other() as usize].retain(|&square| square != mv.to());
            }
        }
        world.apply(mv, &mut rng());
    }
    unseen
}

/// What nobody ever saw changes nothing at all: not a move, not a row.
#[test]
fn a_truth_that_never_comes_to_light_changes_no_game() {
    let mut permuted = 0;
    for name in ["fanqi-4", "fanqi-6", "fanqi-8", "fanqi-10", "jieqi"] {
        let settings = SelfplayConfig {
            ply_cap: 60,
            ..quick(4)
        };
        let done = play(settings.clone(), RootKind::Gumbel, starts(form(name), 0..4));
        for (id, game) in done {
            let squares = never_seen(&game, &[Color::Red, Color::Black]);
            let other = rotated(&game.start, &squares);
            permuted += usize::from(other.fen() != game.start.fen());
            let again = play(
                settings.clone(),
                RootKind::Gumbel,
                games(id..id + 1, {
                    let other = other.clone();
                    move |_| other.clone()
                }),
            );
            let again = &again[&id];
            let truthless = |game: &FinishedGame<World>| {
                let mut rows = game.rows.clone();
                rows.truth.clear();
                rows
            };
            assert_eq!(
                (&again.moves, &again.reveals),
                (&game.moves, &game.reveals),
                "{name} {id}"
            );
            assert_eq!(truthless(again), truthless(&game), "{name} {id}");
        }
    }
    assert!(permuted > 10, "{permuted}");
}

/// The rows of `viewer` and its views in `world` are those of the game as it was, if `moves` are played.
fn check_secrecy(game: &FinishedGame<World>, mut world: World, moves: &[Move], viewer: Color) {
    let mut truth = game.start.clone();
    let mut rows = game.rows.records.iter();
    let mut played = 0;
    for (&mv, &other) in game.moves.iter().zip(moves) {
        let Turn::Decision(decider) = truth.turn() else {
            panic!("over too early")
        };
        assert_eq!(world.turn(), truth.turn());
        assert_eq!(world.view(viewer), truth.view(viewer));
        let public = truth.is_public();
        if !public || played >= game.opening_plies {
            for seer in viewers(&truth, decider) {
                let row = rows.next().expect("a row");
                if seer == viewer {
                    assert_eq!(*row, record_of(&world, viewer));
                }
            }
        }
        played += usize::from(public);
        truth.apply(mv, &mut rng());
        world
            .try_apply(other, &mut rng())
            .expect("legal in either truth");
    }
}

#[test]
fn what_a_player_never_saw_changes_none_of_its_rows() {
    let mut permuted = 0;
    let closed = Ruleset::all().iter().filter(|rules| !rules.open_to_both());
    for rules in closed {
        let settings = SelfplayConfig {
            ply_cap: 70,
            ..quick(4)
        };
        for game in play(settings, RootKind::Gumbel, starts(rules, 0..4)).values() {
            for viewer in [Color::Red, Color::Black] {
                let mut unseen = never_seen(game, &[viewer]);
                let mut moves = game.moves.clone();
                let mut world = game.start.clone();
                if rules.layout == Layout::Arranged {
                    // The opponent arranges those pieces in another way.
                    let squares = std::mem::take(&mut unseen[viewer.other() as usize]);
                    rotate_placements(&mut moves, &squares);
                } else {
                    world = rotated(&world, &unseen);
                }
                permuted += usize::from(moves != game.moves || world.fen() != game.start.fen());
                check_secrecy(game, world, &moves, viewer);
            }
        }
    }
    assert!(permuted > 20, "{permuted}");
}

/// Places on each of `squares` what was placed on the next of them.
fn rotate_placements(moves: &mut [Move], squares: &[Square]) {
    let place = |mv: &Move| mv.placed().filter(|_| squares.contains(&mv.from()));
    let mut kinds: Vec<Kind> = moves.iter().filter_map(place).collect();
    if !kinds.is_empty() {
        kinds.rotate_left(1);
    }
    let mut kinds = kinds.into_iter();
    for mv in moves.iter_mut().filter(|mv| place(mv).is_some()) {
        *mv = Move::place(kinds.next().expect("as many"), mv.from());
    }
}
