//! The game within the browser: what it answers is what a server would, and what cannot be is refused in the same words.
use std::fs;
use std::path::{Path, PathBuf};

use browser::{Numbers, Place, Player};
use selfplay::bundle::rows::{read_outputs, write_inputs};
use selfplay::bundle::{Bundle, tensors};
use selfplay::eval::{Batch, EvalError, Evaluator, mix};
use selfplay::expand::{GLOBALS, PLANES};
use selfplay::policy::SQUARES;
use serde_json::{Value, json};
use web::facts::{Facts, Strength};
use web::game::Game;
use web::state::State;
use web::table::{self, Start};
use web::think::{Purpose, Think};

fn bundle() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data/bundle")
}

/// Four outputs, arbitrary, but the same for the same inputs.
fn outputs(inputs: &[f32]) -> [Vec<f32>; 4] {
    let hash = (inputs.iter()).fold(0, |hash, x| mix(hash ^ u64::from(x.to_bits())));
    let number = |i: usize| (mix(hash ^ i as u64) >> 40) as f32 / (1 << 24) as f32;
    let told = tensors::outputs();
    let widths = [0, 1, 2, 3].map(|i| told[i].width());
    let mut all = widths.map(|width| (0..width).map(number).collect::<Vec<_>>());
    let total: f32 = all[1].iter().sum();
    all[1].iter_mut().for_each(|share| *share /= total);
    for square in 0..SQUARES {
        let kinds = (0..6).map(|kind| kind * SQUARES + square);
        let total: f32 = kinds.clone().map(|i| all[3][i]).sum();
        kinds.for_each(|i| all[3][i] /= total);
    }
    all
}

/// A network with those outputs, as a server asks it.
struct StandIn;

impl Evaluator for StandIn {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvalError> {
        let mut inputs = vec![0.0; PLANES * SQUARES + GLOBALS];
        let (planes, globals) = inputs.split_at_mut(PLANES * SQUARES);
        write_inputs(&batch.records, planes, globals);
        let outputs = outputs(&inputs);
        batch.clear_outputs();
        read_outputs(outputs.each_ref().map(Vec::as_slice), batch);
        batch.normalise(0)
    }

    fn step(&self) -> u64 {
        0
    }
}

/// The answer to a call, and to one with a file behind it.
fn call(player: &mut Player, call: Value) -> Value {
    call_with(player, call, &[])
}

fn call_with(player: &mut Player, call: Value, file: &[u8]) -> Value {
    let answer = player.answer(call.to_string().as_bytes(), file);
    serde_json::from_slice(&answer).expect("JSON")
}

/// A player with the bundle of the tests.
fn opened() -> Player {
    let mut player = Player::default();
    let text = fs::read(bundle().join("model.json")).expect("there");
    let open = json!({"call": "open", "folder": "bundle", "name": "bundle"});
    let places = call_with(&mut player, open, &text)["places"].clone();
    let names: Vec<_> = Numbers::places().into_iter().map(|p| p.name).collect();
    let told: Vec<_> = (places.as_array().into_iter().flatten())
        .map(|place| place["name"].as_str().expect("a name").to_owned())
        .collect();
    assert_eq!(names, told, "{places}");
    player
}

/// What a search finds, its rows answered as a script does: the numbers read where they stand, and written there.
fn search(player: &mut Player, purpose: &str, strength: Value, seed: u64) -> Value {
    let begin = json!({"call": "search", "purpose": purpose, "strength": strength, "seed": seed});
    let begun = call(player, begin);
    if begun["file"] != "model.onnx" {
        return begun;
    }
    loop {
        let step = call(player, json!({"call": "step", "enough": false}));
        if step["row"] != true {
            return match step.get("found") {
                Some(found) => found.clone(),
                None => step,
            };
        }
        let numbers = player.numbers().all();
        let (read, written): (Vec<Place>, Vec<_>) =
            Numbers::places().into_iter().partition(|place| place.input);
        let inputs = &numbers[..read[read.len() - 1].end];
        for (place, output) in written.iter().zip(outputs(inputs)) {
            numbers[place.start..place.end].copy_from_slice(&output);
        }
    }
}

/// A game as a server plays it.
struct Served {
    facts: Facts,
    game: Game,
}

impl Served {
    fn begin(start: &Value, seed: u64) -> Served {
        let facts = Facts::of(&Bundle::open(&bundle()).expect("sound"), "bundle".into());
        let facts = facts.expect("settings of a search");
        let start: Start = serde_json::from_value(start.clone()).expect("a start");
        let game = start.game(|name| facts.rules(name), seed).expect("a game");
        Served { facts, game }
    }

    fn ask(&mut self, request: Value) -> Value {
        let request = serde_json::from_value(request).expect("a request");
        let answer = table::answer(&mut self.game, &request).expect("granted");
        plain(serde_json::to_string(&answer))
    }

    fn search(&mut self, purpose: Purpose, visits: u32, seed: u64) -> Value {
        let strength: Strength = serde_json::from_value(json!({"visits": visits})).expect("plain");
        let order = self.facts.order(strength, self.game.rules().name);
        let effort = order.expect("a strength").effort;
        let think = Think::begin(&self.game, purpose, &self.facts.search, effort, seed);
        let (mut think, mut batch) = (think.expect("something to decide"), Batch::default());
        while think.gather(&mut batch) {
            StandIn.evaluate(&mut batch).expect("evaluated");
            think.apply(&batch);
        }
        match purpose {
            Purpose::Analysis => plain(serde_json::to_string(&think.analysis())),
            Purpose::Move => {
                think.play(&mut self.game).expect("the same game");
                plain(serde_json::to_string(&State::of(&self.game)))
            }
        }
    }
}

fn plain(text: serde_json::Result<String>) -> Value {
    serde_json::from_str(&text.expect("plain fields")).expect("JSON")
}

/// The legal move or placement of a state with this number, counted round.
fn choice(state: &Value, number: usize) -> Option<Value> {
    let moves = state["legal"].as_array().into_iter().flatten();
    let placed = state["placing"]["moves"].as_array().into_iter().flatten();
    let moves = moves.map(|mv| &mv["move"]);
    let all: Vec<_> = moves.chain(placed.filter(|mv| mv.is_string())).collect();
    (!all.is_empty()).then(|| all[number % all.len()].clone())
}

#[test]
fn a_game_is_the_one_that_a_server_plays() {
    for (form, people) in [
        ("xiangqi", "red"),
        ("jieqi", "black"),
        ("fanqi-2", "red"),
        ("fanqi-9", "black"),
        ("fanqi-10", "red"),
    ] {
        let start = json!({"form": form, "people": people});
        let mut player = opened();
        let mut served = Served::begin(&start, 5);
        let about = call(&mut player, json!({"call": "about"}));
        assert_eq!(about, plain(serde_json::to_string(&served.facts.about())));
        let begin = json!({"call": "begin", "start": start, "seed": 5});
        let mut state = call(&mut player, begin);
        assert_eq!(state, served.ask(json!({"do": "state"})));
        for number in 0..60 {
            let seed = 100 + number as u64;
            let name = format!("{form}, step {number}");
            if !state["over"].is_null() {
                break;
            }
            if state["mine"] != true {
                state = search(&mut player, "move", json!({"visits": 12}), seed);
                assert_eq!(state, served.search(Purpose::Move, 12, seed), "{name}");
                continue;
            }
            if number % 9 == 0 {
                let found = search(&mut player, "analysis", json!({"visits": 20}), seed);
                let expected = served.search(Purpose::Analysis, 20, seed);
                assert_eq!(found, expected, "{name}");
            }
            let Some(mv) = choice(&state, 7 * number) else {
                break;
            };
            let request = match number {
                6 if state["arranging"] == true => json!({"do": "arrange", "how": "home"}),
                20 => json!({"do": "undo"}),
                30 => json!({"do": "look", "ply": 3}),
                _ => json!({"do": "play", "move": mv}),
            };
            let answer = call(&mut player, json!({"call": "ask", "request": request}));
            assert_eq!(answer, served.ask(request), "{name}");
            state = served.ask(json!({"do": "state"}));
        }
    }
}

#[test]
fn a_kept_game_goes_on() {
    for form in ["xiangqi", "jieqi", "fanqi-9", "fanqi-3"] {
        let mut player = opened();
        let start = json!({"form": form, "people": "red"});
        let mut state = call(
            &mut player,
            json!({"call": "begin", "start": start, "seed": 8}),
        );
        for number in 0..40 {
            let kept = call(&mut player, json!({"call": "keep"}));
            let mut later = opened();
            let again = call(
                &mut later,
                json!({"call": "begin", "start": kept, "seed": 9}),
            );
            let now = call(
                &mut player,
                json!({"call": "ask", "request": {"do": "state"}}),
            );
            for field in [
                "fen", "legal", "placing", "board", "people", "mine", "moves",
            ] {
                assert_eq!(again[field], now[field], "{form} {number} {field}: {kept}");
            }
            state = match choice(&state, 3 * number).filter(|_| state["mine"] == true) {
                Some(mv) => {
                    let request = json!({"do": "play", "move": mv});
                    call(&mut player, json!({"call": "ask", "request": request}))
                }
                None if state["over"].is_null() => {
                    search(&mut player, "move", json!({"visits": 2}), 1)
                }
                None => break,
            };
        }
    }
}

/// The words of a refusal.
fn refused(answer: &Value) -> &str {
    answer["error"].as_str().unwrap_or_default()
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let mut player = Player::default();
    let early = call(&mut player, json!({"call": "about"}));
    assert!(refused(&early).contains("no bundle"), "{early}");
    let mut player = opened();
    let early = call(
        &mut player,
        json!({"call": "ask", "request": {"do": "state"}}),
    );
    assert!(refused(&early).contains("no game"), "{early}");
    let begin = json!({"call": "begin", "start": {"form": "xiangqi", "people": "red"}, "seed": 1});
    call(&mut player, begin);
    let ask = |request: Value| json!({"call": "ask", "request": request});
    let search = |strength: Value| json!({"call": "search", "purpose": "move", "strength": strength, "seed": 1});
    let begin =
        |form: &str| json!({"call": "begin", "start": {"form": form, "people": "red"}, "seed": 1});
    let cases = [
        (ask(json!({"do": "play", "move": "h2h8"})), "not legal"),
        (ask(json!({"do": "play", "move": "hello"})), "is not a move"),
        (ask(json!({"do": "look", "ply": 9})), "no ply 9"),
        (ask(json!({"do": "dance"})), "cannot be read"),
        (ask(json!({"do": "arrange", "how": "home"})), "no piece"),
        (ask(json!({"do": "undo"})), "no move"),
        (begin("chess"), "no form 'chess'"),
        (search(json!({"visits": 4})), "not the engine's turn"),
        (search(json!({"level": 7})), "no level 7"),
        (search(json!({"visits": 0})), "expected 1 to"),
        (search(json!({"visits": 4_000_000})), "expected 1 to"),
        (json!({"call": "step", "enough": false}), "went on"),
        (json!({"call": "dance"}), "cannot be read"),
        (json!(7), "cannot be read"),
    ];
    for (request, says) in cases {
        let answer = call(&mut player, request.clone());
        assert!(refused(&answer).contains(says), "{request}: {answer}");
    }
    let state = call(&mut player, ask(json!({"do": "state"})));
    assert_eq!(state["ply"], 0, "nothing was played");
}

#[test]
fn a_search_ends_with_the_position_that_it_is_of() {
    let mut player = opened();
    let begin = json!({"call": "begin", "start": {"form": "xiangqi", "people": "red"}, "seed": 1});
    call(&mut player, begin);
    let search =
        json!({"call": "search", "purpose": "analysis", "strength": {"visits": 50}, "seed": 1});
    let step = json!({"call": "step", "enough": false});
    // Forth and back: as many plies as before, but not the same game.
    for requests in [
        &[json!({"do": "play", "move": "h2e2"})][..],
        &[json!({"do": "resign"}), json!({"do": "undo"})],
    ] {
        call(&mut player, search.clone());
        let row = call(&mut player, step.clone());
        assert_eq!(row["row"], true, "{row}");
        for request in requests {
            call(&mut player, json!({"call": "ask", "request": request}));
        }
        let late = call(&mut player, step.clone());
        assert!(refused(&late).contains("went on"), "{late}");
        call(
            &mut player,
            json!({"call": "ask", "request": {"do": "undo"}}),
        );
    }
    // A network that answers with no numbers is not believed.
    call(&mut player, search.clone());
    call(&mut player, step.clone());
    player.numbers().all().fill(f32::NAN);
    let wrong = call(&mut player, step.clone());
    assert!(refused(&wrong).contains("non-finite"), "{wrong}");
    // What was found must do, once there is something.
    call(&mut player, search);
    let enough = json!({"call": "step", "enough": true});
    assert_eq!(call(&mut player, enough.clone())["row"], true);
    player.numbers().all().fill(0.5);
    let found = call(&mut player, enough);
    assert_eq!(found["found"]["visits"], 1, "{found}");
}

#[test]
fn a_bundle_that_is_not_whole_is_refused() {
    let text = fs::read_to_string(bundle().join("model.json")).expect("there");
    let manifest: Value = serde_json::from_str(&text).expect("JSON");
    let changed = |pointer: &str, value: Value| {
        let mut manifest = manifest.clone();
        *manifest.pointer_mut(pointer).expect(pointer) = value;
        manifest.to_string()
    };
    let cases = [
        ("{".to_owned(), "no whole JSON"),
        (changed("/program", json!("other")), "no bundle"),
        (changed("/format", json!(2)), "format 2"),
        (changed("/planes/3/name", json!("own_horse")), "`planes`"),
        (changed("/forms/0/name", json!("chess")), "\"chess\""),
        (
            changed("/files/0/kind", json!("safetensors")),
            "no network as ONNX",
        ),
        (changed("/play/search/root", json!("luck")), "play.search"),
    ];
    for (text, says) in cases {
        let open = json!({"call": "open", "folder": "bundle", "name": "a"});
        let answer = call_with(&mut Player::default(), open, text.as_bytes());
        assert!(refused(&answer).contains(says), "{says}: {answer}");
    }
    let mut player = opened();
    let network = fs::read(bundle().join("model.onnx")).expect("there");
    let mut check = |file: &str, bytes: &[u8]| {
        call_with(&mut player, json!({"call": "check", "file": file}), bytes)
    };
    assert_eq!(check("model.onnx", &network), Value::Null);
    let mut other = network.clone();
    other[100] ^= 1;
    for (file, bytes, says) in [
        ("model.onnx", &other[..], "SHA-256"),
        ("model.onnx", &network[1..], "its length"),
        ("model-9.onnx", &network, "does not name model-9.onnx"),
    ] {
        let answer = check(file, bytes);
        assert!(refused(&answer).contains(says), "{says}: {answer}");
    }
}
