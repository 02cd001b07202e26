//! The page's server: what it refuses and how, two people at once, and the page in a browser.
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use selfplay::bundle::Level;
use selfplay::eval::{Batch, EvalError, Evaluator, HashEvaluator};
use selfplay::mcts::{RootKind, SearchConfig};
use selfplay::rules::Ruleset;
use serde_json::{Value, json};
use web::facts::Facts;
use web::server::{Engine, Limits};

/// Settings of a search, as `configs/default.toml` has them.
fn search() -> SearchConfig {
    SearchConfig {
        root: RootKind::Gumbel,
        considered: 16,
        c_visit: 50.0,
        c_scale: 1.0,
        c_puct: 1.25,
        c_puct_base: 19652.0,
        fpu_reduction: 0.2,
        dirichlet_total: 10.0,
        dirichlet_share: 0.25,
        draw_score: 0.0,
        belief: true,
        secret_anchor: 0.5,
    }
}

fn level(form: &str, level: u32, visits: u32) -> Level {
    Level {
        form: form.to_owned(),
        level,
        elo: 100.0 * f64::from(level),
        elo_interval: [0.0, 1000.0],
        step: 1,
        crc32c: format!("{level:08x}"),
        visits,
        temperature: 0.0,
        noise: 0.0,
        policy_loss: None,
    }
}

/// A server of a stand-in network: of each form level 1 can be played, level 2 cannot.
fn serve() -> SocketAddr {
    limited(Limits::default())
}

fn limited(limits: Limits) -> SocketAddr {
    serve_with(limits, |_| Ok(Box::new(HashEvaluator::default())))
}

fn serve_with(
    limits: Limits,
    open: impl Fn(Option<&Level>) -> Result<Box<dyn Evaluator>, String> + Send + Sync + 'static,
) -> SocketAddr {
    let forms = Ruleset::all().iter();
    let levels = forms.flat_map(|rules| {
        [
            (level(rules.name, 1, 4), true),
            (level(rules.name, 2, 64), false),
        ]
    });
    let facts = Facts {
        name: "stand-in".to_owned(),
        step: 1,
        forms: Ruleset::all().to_vec(),
        levels: levels.collect(),
        search: search(),
        arrangement_temperature: 1.0,
    };
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let ready = |address| tell.send(address).expect("the test waits");
        web::server::serve(Engine::new(facts, Box::new(open)), address, limits, ready)
    });
    told.recv().expect("it listens")
}

/// Status and body of the answer to a request as it stands.
fn raw(address: SocketAddr, request: &[u8]) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    // What is too long is refused before it is all sent.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    (
        status.unwrap_or_else(|| panic!("no status: {answer:?}")),
        body.to_owned(),
    )
}

fn send(address: SocketAddr, method: &str, path: &str, kind: &str, body: &str) -> (u16, String) {
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
    );
    raw(address, (head + body).as_bytes())
}

fn post(address: SocketAddr, path: &str, body: Value) -> (u16, Value) {
    let (status, text) = send(address, "POST", path, "application/json", &body.to_string());
    (
        status,
        serde_json::from_str(&text).unwrap_or_else(|why| panic!("{path}: {why}: {text}")),
    )
}

fn begin(address: SocketAddr, form: &str, people: &str) -> (String, Value) {
    let (status, begun) = post(
        address,
        "/api/games",
        json!({"form": form, "people": people}),
    );
    assert_eq!(status, 200, "{begun}");
    let name = begun["name"].as_str().expect("a name");
    (format!("/api/games/{name}"), begun["state"].clone())
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let address = serve();
    let (game, _) = begin(address, "xiangqi", "red");
    let cases = [
        (
            game.as_str(),
            json!({"do": "play", "move": "h2h8"}),
            422,
            "not legal",
        ),
        (
            &game,
            json!({"do": "play", "move": "hello"}),
            400,
            "is not a move",
        ),
        (&game, json!({"do": "look", "ply": 9}), 400, "no ply 9"),
        (&game, json!({"do": "dance"}), 400, "dance"),
        (
            &game,
            json!({"do": "arrange", "how": "home"}),
            409,
            "no piece",
        ),
        (&game, json!({"do": "undo"}), 409, "no move"),
        (
            "/api/games/0123",
            json!({"do": "state"}),
            404,
            "no such game",
        ),
        (
            "/api/games",
            json!({"form": "chess", "people": "red"}),
            400,
            "no form 'chess'",
        ),
        (
            "/api/games",
            json!({"form": "xiangqi", "people": "red", "text": "9/9 w"}),
            400,
            "9/9",
        ),
        ("/api/nothing", json!({}), 404, "nothing here"),
    ];
    for (path, body, expected, says) in cases {
        let (status, answer) = post(address, path, body.clone());
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(
            status == expected && error.contains(says),
            "{path} {body}: {status} {answer}"
        );
    }
    let reply = format!("{game}/reply");
    for (strength, says) in [
        (json!({"visits": 4}), "not the engine's turn"),
        (json!({"level": 2}), "not in this bundle"),
        (json!({"level": 7}), "no level 7"),
        (json!({"visits": 0}), "expected 1 to"),
        (json!({"visits": 4_000_000}), "expected 1 to"),
    ] {
        let (status, answer) = post(address, &reply, strength);
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(
            (400..500).contains(&status) && error.contains(says),
            "{status} {answer}"
        );
    }
    assert_eq!(
        post(address, &game, json!({"do": "state"})).1["ply"],
        0,
        "nothing was played"
    );
}

#[test]
fn no_file_is_opened_but_the_pages_own() {
    let address = serve();
    let paths = [
        "/../Cargo.toml",
        "/..%2fCargo.toml",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/assets/../page.js",
        "/page.js/",
        "/api/../../etc/passwd",
        "/page.js%00",
        "/model.json",
    ];
    for path in paths {
        let (status, body) = send(address, "GET", path, "text/plain", "");
        assert!((400..500).contains(&status), "{path}: {status} {body}");
        assert!(
            !body.contains("[workspace]") && !body.contains("root:"),
            "{path}: {body}"
        );
    }
    for (path, says) in [
        ("/", "<!doctype html>"),
        ("/board.js", "class Board"),
        ("/ink.css", "--paper"),
    ] {
        let (status, body) = send(address, "GET", path, "text/plain", "");
        assert!(status == 200 && body.contains(says), "{path}: {status}");
    }
}

#[test]
fn bodies_that_cannot_be_read_are_refused() {
    let address = serve();
    let huge = format!("{{\"form\": \"{}\"}}", "x".repeat(1 << 20));
    let (status, _) = send(address, "POST", "/api/games", "application/json", &huge);
    assert_eq!(status, 413);
    let cases = [
        ("text/plain", "{}", 415),
        ("application/json", "{", 400),
        ("application/json", "", 400),
        ("application/json", "[[[[[[[[", 400),
        (
            "application/json",
            "{\"form\": \"xiangqi\", \"people\": \"green\"}",
            400,
        ),
        (
            "application/json",
            "{\"form\": \"xiangqi\", \"people\": \"red\", \"more\": 1}",
            400,
        ),
    ];
    for (kind, body, expected) in cases {
        let (status, answer) = send(address, "POST", "/api/games", kind, body);
        assert!(
            status == expected && answer.contains("\"error\""),
            "{body}: {status} {answer}"
        );
    }
    let (status, answer) = send(address, "GET", "/api/games", "", "");
    assert!(
        status == 405 && answer.contains("another method"),
        "{status} {answer}"
    );
    let (status, answer) = send(address, "GET", "/%ff", "", "");
    assert!(
        status == 404 && answer.contains("\"error\""),
        "{status} {answer}"
    );
    assert_eq!(raw(address, b"nonsense\r\n\r\n").0, 400);
}

#[test]
fn who_connects_and_says_nothing_keeps_nobody_out() {
    let address = limited(Limits {
        connections: 3,
        patience: Duration::from_millis(200),
    });
    let said = [
        "",
        "POST /api/games HTTP/1.1\r\nHost: h",
        "POST /api/games HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
        "GET /api/about HTTP/1.1\r\nHost: here\r\n\r\n",
    ];
    let mut idle: Vec<_> = (0..12)
        .map(|i| {
            let mut stream = TcpStream::connect(address).expect("it listens");
            let said = said[i % said.len()];
            stream.write_all(said.as_bytes()).expect("written");
            stream
        })
        .collect();
    let (_, state) = begin(address, "xiangqi", "red");
    assert_eq!(state["ply"], 0);
    for stream in &mut idle {
        // Each is told why, if it asked for anything, and is left.
        let mut end = Vec::new();
        let _ = stream.read_to_end(&mut end);
        let end = String::from_utf8_lossy(&end);
        assert!(
            end.is_empty() || ["408", "200"].iter().any(|s| end.contains(s)),
            "{end}"
        );
    }
}

/// Takes its time.
struct Slow(HashEvaluator);

impl Evaluator for Slow {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvalError> {
        thread::sleep(Duration::from_millis(2));
        self.0.evaluate(batch)
    }

    fn step(&self) -> u64 {
        self.0.step()
    }
}

#[test]
fn searches_that_nobody_waits_for_end() {
    let address = serve_with(Limits::default(), |_| {
        Ok(Box::new(Slow(HashEvaluator::default())))
    });
    let body = json!({"visits": 10_000}).to_string();
    let length = body.len();
    for _ in 0..100 {
        let (game, _) = begin(address, "xiangqi", "black");
        let head = format!(
            "POST {game}/reply HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream
            .write_all((head + &body).as_bytes())
            .expect("written");
    }
    let (game, _) = begin(address, "xiangqi", "black");
    let reply = format!("{game}/reply");
    // Each of them would take 20 seconds and more; that they are given up is noticed soon.
    let answered = (0..100).find_map(|_| {
        let (status, answer) = post(address, &reply, json!({"visits": 1}));
        thread::sleep(Duration::from_millis(50));
        (status != 429).then_some((status, answer))
    });
    let (status, state) = answered.expect("not busy for ever");
    assert_eq!((status, &state["ply"]), (200, &json!(1)));
}

#[test]
fn two_people_play_at_once_and_do_not_meet() {
    let address = serve();
    let players: Vec<_> = [("xiangqi", "h2e2"), ("jieqi", "b2e2")]
        .map(|(form, mv)| {
            thread::spawn(move || {
                let (game, _) = begin(address, form, "red");
                for round in 0..6 {
                    let (status, state) = match round {
                        0 => post(address, &game, json!({"do": "play", "move": mv})),
                        _ => {
                            let now = post(address, &game, json!({"do": "state"})).1;
                            let mv = now["legal"][0]["move"].clone();
                            post(address, &game, json!({"do": "play", "move": mv}))
                        }
                    };
                    assert_eq!((status, &state["form"]), (200, &json!(form)), "{state}");
                    if state["over"] != Value::Null {
                        break;
                    }
                    let (status, state) =
                        post(address, &format!("{game}/reply"), json!({"level": 1}));
                    assert_eq!((status, &state["mine"]), (200, &json!(true)), "{state}");
                }
                game
            })
        })
        .into_iter()
        .collect();
    let games: Vec<_> = players
        .into_iter()
        .map(|player| player.join().expect("played"))
        .collect();
    assert_ne!(games[0], games[1]);
}

#[test]
fn the_engine_moves_once_however_often_it_is_asked() {
    let address = serve();
    let (game, _) = begin(address, "fanqi-10", "black");
    let reply = format!("{game}/reply");
    let asked: Vec<_> = (0..4)
        .map(|_| {
            let reply = reply.clone();
            thread::spawn(move || post(address, &reply, json!({"visits": 200})).0)
        })
        .collect();
    let statuses: Vec<_> = asked
        .into_iter()
        .map(|asked| asked.join().expect("answered"))
        .collect();
    assert_eq!(
        statuses.iter().filter(|&&status| status == 200).count(),
        1,
        "{statuses:?}"
    );
    assert!(
        statuses
            .iter()
            .all(|&status| status == 200 || status == 409),
        "{statuses:?}"
    );
    let (_, state) = post(address, &game, json!({"do": "state"}));
    assert_eq!((&state["ply"], &state["mine"]), (&json!(1), &json!(true)));
    let (status, found) = post(address, &format!("{game}/analysis"), json!({"visits": 50}));
    assert_eq!(status, 200, "{found}");
    let [win, draw, loss] =
        ["win", "draw", "loss"].map(|part| found["red"][part].as_f64().expect("a share"));
    assert!((win + draw + loss - 1.0).abs() < 1e-3, "{found}");
    let legal = state["legal"].as_array().expect("moves");
    let best = found["moves"].as_array().expect("moves");
    assert!(
        !best.is_empty()
            && best
                .iter()
                .all(|b| legal.iter().any(|l| l["move"] == b["move"]))
    );
}

/// Plays whole games in Chromium, if there is one.
fn browse(form: &str) {
    let address = serve();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/web_page.py");
    let mut command = Command::new("python3");
    command.args([script, &format!("http://{address}/"), form]);
    // A folder for screenshots.
    command.args(std::env::var_os("WEB_SHOTS"));
    let Ok(out) = command.output() else {
        eprintln!("skipped: python3 is not installed");
        return;
    };
    let text = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
    match out.status.code() {
        Some(0) => {}
        Some(77) => eprintln!("skipped: {text}"),
        code => panic!("{code:?}: {text}"),
    }
}

#[test]
fn a_browser_plays_xiangqi() {
    browse("xiangqi");
}

#[test]
fn a_browser_plays_jieqi() {
    browse("jieqi");
}

#[test]
fn a_browser_plays_an_arranged_form() {
    browse("fanqi-9");
}
