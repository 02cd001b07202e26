//! The game behind the page: what its JSON says is what the rules say, to one player and no more.
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use selfplay::game::{Color, Game as _, Referee, Turn};
use selfplay::rules::{Move, Ruleset, Square, World};
use serde_json::{Value, json};
use web::game::{Game, GameError, People};
use web::table::{self, Start};

const SIDES: [Color; 2] = [Color::Red, Color::Black];

/// Asks as the page does: text in, text out.
fn ask(game: &mut Game, request: Value) -> Result<Value, GameError> {
    let request = serde_json::from_str(&request.to_string()).expect("a request");
    let answer = table::answer(game, &request)?;
    let text = serde_json::to_string(&answer).expect("plain fields");
    Ok(serde_json::from_str(&text).expect("JSON"))
}

fn state(game: &mut Game) -> Value {
    ask(game, json!({"do": "state"})).expect("a state")
}

/// The moves that a state offers.
fn offered(state: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let moves = state["legal"].as_array().into_iter().flatten();
    let placements = state["placing"]["moves"].as_array().into_iter().flatten();
    moves
        .filter_map(|entry| text(&entry["move"]))
        .chain(placements.filter_map(text))
        .collect()
}

/// A random one; captures are liked.
fn pick(state: &Value, rng: &mut Pcg64Mcg) -> Option<String> {
    let all = offered(state);
    let takes = |text: &&String| {
        let mv: Move = text.parse().expect("a move");
        mv.placed().is_none() && state["board"]["squares"][mv.to().index()] != ""
    };
    let captures: Vec<_> = all.iter().filter(takes).collect();
    let capture = captures.choose(rng).filter(|_| rng.random_bool(0.4));
    capture.copied().or_else(|| all.choose(rng)).cloned()
}

fn play_on(game: &mut Game, plies: usize, rng: &mut Pcg64Mcg) {
    for _ in 0..plies {
        let Some(mv) = pick(&state(game), rng) else {
            return;
        };
        ask(game, json!({"do": "play", "move": mv})).expect("legal");
    }
}

fn legal(world: &World) -> Vec<String> {
    let Turn::Decision(color) = world.turn() else {
        return Vec::new();
    };
    let mut moves = Vec::new();
    world.view(color).legal_moves(&mut moves);
    let mut texts: Vec<_> = moves.iter().map(Move::to_string).collect();
    texts.sort();
    texts
}

#[test]
fn a_game_through_json_is_the_game_of_the_rules() {
    for (number, rules) in Ruleset::all().iter().enumerate() {
        let mut rng = Pcg64Mcg::seed_from_u64(number as u64);
        let mut game = Game::new(rules, People::Both, number as u64);
        let mut world = game.start().clone();
        for ply in 0..200 {
            let seen = state(&mut game);
            let decider = world.decider();
            assert_eq!(
                seen["fen"],
                world.position(decider).fen(),
                "{}, ply {ply}",
                rules.name
            );
            let mut offered = offered(&seen);
            offered.sort();
            assert_eq!(offered, legal(&world), "{}, ply {ply}", rules.name);
            match world.turn() {
                Turn::Over(ending) => {
                    assert_eq!(seen["over"]["reason"], ending.reason.to_string());
                    assert_eq!(seen["decider"], Value::Null);
                    break;
                }
                _ => assert_eq!(seen["over"], Value::Null),
            }
            let text = pick(&seen, &mut rng).expect("a move");
            ask(&mut game, json!({"do": "play", "move": text})).expect("legal");
            world.apply(
                text.parse().expect("a move"),
                &mut Pcg64Mcg::seed_from_u64(0),
            );
        }
        let seen = state(&mut game);
        assert_eq!(seen["ply"], game.plies().len());
    }
}

#[test]
fn what_is_taken_back_has_never_been() {
    for (number, rules) in Ruleset::all().iter().enumerate() {
        let mut rng = Pcg64Mcg::seed_from_u64(100 + number as u64);
        let mut game = Game::new(rules, People::Both, number as u64);
        let mut past = Vec::new();
        for _ in 0..80 {
            let now = state(&mut game);
            let Some(mv) = pick(&now, &mut rng) else {
                break;
            };
            past.push(now);
            ask(&mut game, json!({"do": "play", "move": mv})).expect("legal");
        }
        let plies = game.plies().len();
        while let Some(before) = past.pop() {
            let back = ask(&mut game, json!({"do": "undo"})).expect("something to undo");
            assert_eq!(back, before, "{} after {plies} plies", rules.name);
        }
        assert_eq!(game.undo(), Err(GameError::NothingToUndo));
    }
}

#[test]
fn undo_goes_back_to_people() {
    let rules = Ruleset::by_name("xiangqi").expect("a form");
    let mut game = Game::new(rules, People::Black, 1);
    assert_eq!(game.undo(), Err(GameError::NothingToUndo));
    game.play_engine("h2e2".parse().expect("a move"))
        .expect("Red's turn");
    let before = state(&mut game);
    game.play("h9g7").expect("legal");
    game.play_engine("h0g2".parse().expect("a move"))
        .expect("Red's turn");
    assert_eq!(
        ask(&mut game, json!({"do": "undo"})).expect("undone"),
        before
    );
    game.resign().expect("a game");
    assert_eq!(state(&mut game)["over"]["result"], "red");
    assert_eq!(
        ask(&mut game, json!({"do": "undo"})).expect("undone"),
        before
    );
}

/// A game with what `viewer` cannot know exchanged: its start and its moves.
struct Twin {
    start: World,
    moves: Vec<Move>,
}

/// Squares of the start where a piece lies that `viewer` still does not know at the end of `game`.
fn never_seen(game: &Game, viewer: Color, owner: Color) -> Vec<Square> {
    let first = game
        .plies()
        .iter()
        .take_while(|ply| ply.mv.placed().is_some());
    let start = game.at(first.count()).expect("within the game");
    let mut hidden: Vec<Square> = Square::all()
        .filter(|&square| {
            let piece = start.position(viewer).piece_at(square);
            piece.is_some_and(|p| p.color == owner && p.identity().is_none())
        })
        .collect();
    for ply in game.plies() {
        let Some(seen) = &ply.seen[viewer as usize] else {
            continue;
        };
        let shown = |square: Square, text: char| {
            square == ply.mv.from() && seen.text.contains('=') && text == '='
                || square == ply.mv.to() && seen.text.contains('x')
        };
        hidden.retain(|&square| !shown(square, '='));
    }
    hidden
}

/// Exchanges two pieces of `owner` that `viewer` never saw, if there are two of different kinds.
fn twin(game: &Game, viewer: Color, owner: Color) -> Option<Twin> {
    let hidden = never_seen(game, viewer, owner);
    let kind = |square: Square| {
        let placed = game
            .plies()
            .iter()
            .find(|ply| ply.mv.placed().is_some() && ply.mv.from() == square);
        placed
            .and_then(|ply| ply.mv.placed())
            .or_else(|| game.start().identity(square))
    };
    let a = *hidden.first()?;
    let b = *hidden.iter().find(|&&b| kind(b) != kind(a))?;
    let other = |square: Square| {
        if square == a {
            b
        } else if square == b {
            a
        } else {
            square
        }
    };
    let moves = game.plies().iter().map(|ply| match ply.mv.placed() {
        Some(_) => Move::place(kind(other(ply.mv.from())).expect("a piece"), ply.mv.from()),
        None => ply.mv,
    });
    let fen = game.start().fen();
    let (board, rest) = fen.split_once(' ').expect("fields");
    let mut ranks = Vec::new();
    for (text, rank) in board.split('/').zip((0..10).rev()) {
        let (mut out, mut file) = (String::new(), 0);
        for c in text.chars() {
            if let Some(gap) = c.to_digit(10) {
                file += gap as usize;
            }
            let here =
                Square::new(file, rank).filter(|s| [a, b].contains(s) && c.is_ascii_alphabetic());
            let letter = here.and_then(|s| kind(other(s))).map(|kind| match owner {
                Color::Red => kind.letter(),
                Color::Black => kind.letter().to_ascii_lowercase(),
            });
            let unplaced = c == 'X' || c == 'x';
            out.push(letter.filter(|_| !unplaced).unwrap_or(c));
            file += usize::from(c.is_ascii_alphabetic());
        }
        ranks.push(out);
    }
    let start = World::from_fen(game.rules(), &format!("{} {rest}", ranks.join("/")));
    Some(Twin {
        start: start.expect("as sound as the other one"),
        moves: moves.collect(),
    })
}

#[test]
fn a_viewer_is_told_nothing_of_what_it_cannot_know() {
    let mut compared = 0;
    for rules in Ruleset::all().iter().filter(|rules| rules.hides()) {
        for seed in 0..6 {
            let mut rng = Pcg64Mcg::seed_from_u64(seed);
            let mut both = Game::new(rules, People::Both, seed);
            play_on(&mut both, 34 + 6 * seed as usize, &mut rng);
            for (viewer, people) in SIDES.into_iter().zip([People::Red, People::Black]) {
                for owner in SIDES {
                    let Some(twin) = twin(&both, viewer, owner) else {
                        continue;
                    };
                    let replay = |start: &World, moves: &[Move]| {
                        let mut game = Game::from_world(start.clone(), people, 0);
                        moves.iter().for_each(|&mv| game.apply(mv).expect("legal"));
                        game
                    };
                    let moves: Vec<_> = both.plies().iter().map(|ply| ply.mv).collect();
                    let mut game = replay(both.start(), &moves);
                    let mut other = replay(&twin.start, &twin.moves);
                    assert_ne!(
                        (game.start().fen(), moves),
                        (other.start().fen(), twin.moves),
                        "the truths differ"
                    );
                    assert_eq!(
                        state(&mut game),
                        state(&mut other),
                        "{} {viewer:?}",
                        rules.name
                    );
                    for ply in 0..game.plies().len() {
                        let look = json!({"do": "look", "ply": ply});
                        assert_eq!(ask(&mut game, look.clone()), ask(&mut other, look));
                    }
                    if game.over().is_none() {
                        let record = json!({"do": "record"});
                        assert_eq!(ask(&mut game, record.clone()), ask(&mut other, record));
                    }
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 100, "only {compared} compared");
}

fn start(form: &str, people: People, text: &str) -> Result<Game, String> {
    let start = json!({"form": form, "people": people, "text": text});
    let start: Start = serde_json::from_value(start).expect("a start");
    start
        .game(Ruleset::by_name, 7)
        .map_err(|error| error.to_string())
}

#[test]
fn a_record_is_read_as_it_is_written() {
    for rules in Ruleset::all() {
        for (seed, people) in [(1, People::Red), (2, People::Black), (3, People::Both)] {
            let mut rng = Pcg64Mcg::seed_from_u64(seed);
            let mut both = Game::new(rules, People::Both, seed);
            play_on(&mut both, 60, &mut rng);
            let mut game = Game::from_world(both.start().clone(), people, 0);
            both.plies()
                .iter()
                .for_each(|ply| game.apply(ply.mv).expect("legal"));
            let record = ask(&mut game, json!({"do": "record"})).expect("a record");
            let text = record["record"].as_str().expect("a text");
            let mut again = start("xiangqi", people, text)
                .unwrap_or_else(|why| panic!("{}: {why}\n{text}", rules.name));
            let (told, was) = (state(&mut again), state(&mut game));
            for field in ["form", "fen", "decider", "over", "legal"] {
                assert_eq!(
                    told[field], was[field],
                    "{} {field} of {people:?}\n{text}",
                    rules.name
                );
            }
            assert_eq!(told["board"]["squares"], was["board"]["squares"]);
        }
    }
}

#[test]
fn positions_and_moves_of_others_are_read() {
    let cases = [
        ("xiangqi", "1. 炮二平五 马8进7 2. 马二进三", 3),
        ("xiangqi", "1.炮二平五 (炮八平五 {:-( } 马2进3) 马8进7", 2),
        ("xiangqi", "h2e2 h9g7", 2),
        ("xiangqi", "C2=5 H8+7", 2),
        (
            "xiangqi",
            "3k5/9/9/9/9/9/9/9/4R4/4K4 w - - 0 1 moves e1a1 {a comment} d9d8",
            2,
        ),
        (
            "jieqi",
            "xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/X1X1X1X1X/1X5X1/9/XXXXKXXXX w A2B2N2R2C2P5a2b2n2r2c2p5 0 1 moves h2e2=R",
            1,
        ),
        (
            "jieqi",
            "3xkxxxx/9/1x5x1/x1x1x1x1x/9/9/X1X1X1X1X/1X5X1/9/XXXXKXXXX w A2B2N2R2C2P5a2b2n1r1c1p5 0 5 red",
            0,
        ),
        ("fanqi-10", "", 0),
        ("fanqi-9", "R@a0 N@b0", 2),
        ("fanqi-3", "R@a9", 12),
    ];
    for (form, text, plies) in cases {
        let game = start(form, People::Red, text);
        let game = game.unwrap_or_else(|why| panic!("{form} {text}: {why}"));
        assert!(
            game.plies().len() >= plies,
            "{form} {text}: {} plies",
            game.plies().len()
        );
    }
    let game = start("xiangqi", People::Red, "[Variant \"jieqi\"]\n\n*\n").expect("a form");
    assert_eq!(game.rules().name, "jieqi");
}

#[test]
fn what_cannot_be_read_is_refused_in_words() {
    let cases = [
        ("xiangqi", "h2h8", "h2h8"),
        ("xiangqi", "hello", "hello"),
        ("xiangqi", "9/9/9/9/9/9/9/9/9/9 w", "FEN"),
        ("jieqi", "h2e2 h7e7=R", "not told"),
        ("jieqi", "h2e2=R b2e2=R a3a4=R", "R"),
        ("nothing", "h2e2", "there is no form 'nothing'"),
        ("xiangqi", "[Variant \"shogi\"]\n\n*", "shogi"),
    ];
    for (form, text, says) in cases {
        let why = start(form, People::Red, text).expect_err(text);
        assert!(why.contains(says), "{form} {text}: {why}");
    }
}

#[test]
fn a_refused_request_changes_nothing() {
    let rules = Ruleset::by_name("fanqi-9").expect("a form");
    let mut game = Game::new(rules, People::Red, 3);
    let before = state(&mut game);
    let illegal = ask(&mut game, json!({"do": "play", "move": "h2e2"}));
    assert_eq!(illegal, Err(GameError::Illegal { mv: "h2e2".into() }));
    let king = ask(&mut game, json!({"do": "play", "move": "K@a0"}));
    assert!(matches!(king, Err(GameError::NoMove(_))));
    assert_eq!(
        ask(&mut game, json!({"do": "look", "ply": 5})),
        Err(GameError::NoPly { ply: 5, plies: 0 })
    );
    assert_eq!(state(&mut game), before);
    ask(&mut game, json!({"do": "arrange", "how": "home"})).expect("arranged");
    let engine = ask(&mut game, json!({"do": "play", "move": "R@a9"}));
    assert_eq!(engine, Err(GameError::EnginesTurn));
}
