//! The page over HTTP: its files, games by random names, and searches in a bounded number.
//!
//! | request | body | answer |
//! |---|---|---|
//! | `GET /`, `GET /FILE` | | the page's files, which are in the program; no other path is ever opened |
//! | `GET /api/about` | | [`About`](crate::facts::About) |
//! | `POST /api/games` | [`Start`] | name and state of a new game |
//! | `POST /api/games/NAME` | [`Request`] | [`table::Answer`] |
//! | `POST /api/games/NAME/reply` | [`Strength`] | the state behind the engine's move |
//! | `POST /api/games/NAME/analysis` | [`Strength`] | [`think::Analysis`](crate::think::Analysis) of what the viewer knows |
//!
//! Bodies are JSON. What is refused is answered with a status of 4xx and `{"error": WHY}`.
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{self, DefaultBodyLimit, FromRequest, FromRequestParts, Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::TcpListener;

use crate::facts::Strength;
use crate::game::{Game, GameError};
use crate::state;
use crate::table::{self, Request, Start};
use crate::think::{Purpose, Think};

pub mod bundle;
pub mod engine;
mod error;
mod files;
mod listen;
mod rooms;

pub use engine::Engine;
use error::Refusal;
pub use listen::Limits;
use listen::listen;
use rooms::{Room, Rooms};

/// Longest body of a request, bytes: a record of a long game fits.
const LONGEST_BODY: usize = 1 << 16;

/// What every request is answered from.
struct Hall {
    engine: Engine,
    rooms: Rooms,
    limits: Limits,
}

type Shared = State<Arc<Hall>>;
type Answered = Result<Response, Refusal>;

/// Serves the page of `engine` on `address` until the process ends; `ready` is told where it listens, which differs where the
/// port is 0.
pub fn serve(
    engine: Engine,
    address: SocketAddr,
    limits: Limits,
    ready: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(address).await?;
        ready(listener.local_addr()?);
        listen(listener, router(engine, limits), limits).await
    })
}

/// All that is answered.
fn router(engine: Engine, limits: Limits) -> Router {
    let hall = Arc::new(Hall {
        engine,
        rooms: Rooms::default(),
        limits,
    });
    Router::new()
        .route("/", get(files::index))
        .route("/{file}", get(files::file))
        .route("/api/about", get(about))
        .route("/api/games", post(begin))
        .route("/api/games/{name}", post(ask))
        .route("/api/games/{name}/reply", post(reply))
        .route("/api/games/{name}/analysis", post(analysis))
        .fallback(nothing)
        .method_not_allowed_fallback(other_method)
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .with_state(hall)
}

/// A body as JSON. Another content type is refused, so that no page of another origin can send one unasked.
struct Asked<T>(T);

impl<T: DeserializeOwned> FromRequest<Arc<Hall>> for Asked<T> {
    type Rejection = Refusal;

    async fn from_request(
        request: extract::Request,
        hall: &Arc<Hall>,
    ) -> Result<Asked<T>, Refusal> {
        let kind = request.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok());
        if !kind.is_some_and(|kind| kind.starts_with("application/json")) {
            return Err(Refusal::NotJson);
        }
        let body = Bytes::from_request(request, hall);
        let body = tokio::time::timeout(hall.limits.patience, body).await;
        let body = body.map_err(|_| Refusal::TooSlow)?;
        let body = body.map_err(|_| Refusal::TooLong(LONGEST_BODY))?;
        Ok(Asked(table::read(&body)?))
    }
}

fn json(value: &impl Serialize) -> Answered {
    Ok(axum::Json(value).into_response())
}

async fn nothing() -> Refusal {
    Refusal::NotFound
}

async fn other_method() -> Refusal {
    Refusal::Method
}

/// The part of a path that is a name.
pub(crate) struct Name(String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Name, Refusal> {
        let path = Path::from_request_parts(parts, state).await;
        path.map_or(Err(Refusal::NotFound), |Path(name)| Ok(Name(name)))
    }
}

async fn about(State(hall): Shared) -> Answered {
    json(&hall.engine.facts().about())
}

/// A new game's name and state.
#[derive(Serialize)]
struct Begun {
    name: String,
    state: state::State,
}

async fn begin(State(hall): Shared, Asked(start): Asked<Start>) -> Answered {
    let game = start.game(|name| hall.engine.facts().rules(name), rooms::seed()?)?;
    let state = state::State::of(&game);
    let name = hall.rooms.add(game)?;
    json(&Begun { name, state })
}

async fn ask(State(hall): Shared, Name(name): Name, Asked(request): Asked<Request>) -> Answered {
    let room = hall.rooms.get(&name)?;
    let answer = table::answer(&mut room.game(), &request)?;
    json(&answer)
}

async fn reply(
    State(hall): Shared,
    Name(name): Name,
    Asked(strength): Asked<Strength>,
) -> Answered {
    let room = hall.rooms.get(&name)?;
    let mut think = search(&hall, &room, strength, Purpose::Move).await?;
    let mut game = room.game();
    think.play(&mut game)?;
    json(&state::State::of(&game))
}

async fn analysis(
    State(hall): Shared,
    Name(name): Name,
    Asked(strength): Asked<Strength>,
) -> Answered {
    let room = hall.rooms.get(&name)?;
    let think = search(&hall, &room, strength, Purpose::Analysis).await?;
    match think.analysis().filter(|_| think.is_of(&room.game())) {
        Some(analysis) => json(&analysis),
        None => Err(Refusal::Game(GameError::Stale)),
    }
}

/// Searches a game's position on a thread of its own, as long as whoever asked waits and the game does not go on.
async fn search(
    hall: &Arc<Hall>,
    room: &Arc<Room>,
    strength: Strength,
    purpose: Purpose,
) -> Result<Think, Refusal> {
    let seed = rooms::seed()?;
    let begin = |game: &Game| {
        let facts = hall.engine.facts();
        let order = facts.order(strength, game.rules().name)?;
        let think = Think::begin(game, purpose, &facts.search, order.effort, seed)?;
        Ok::<_, Refusal>((order, think))
    };
    let (order, mut think) = begin(&room.game())?;
    let permit = hall.engine.admit().await?;
    // Whoever asked has gone once this function is dropped.
    let asked = Arc::new(());
    let asks = Arc::downgrade(&asked);
    let (hall, room) = (Arc::clone(hall), Arc::clone(room));
    let work = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        let wanted = |think: &Think| asks.strong_count() > 0 && think.is_of(&room.game());
        hall.engine.run(&order, &mut think, wanted).map(|()| think)
    });
    work.await
        .map_err(|error| Refusal::Failed(error.to_string()))?
}
