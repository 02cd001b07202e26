//! Why a request is refused, and with which status.
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::facts::StrengthError;
use crate::game::GameError;
use crate::load::LoadError;
use crate::table::Unreadable;

/// Why a request is refused.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// No such path or game.
    #[error("there is nothing here")]
    NotFound,
    /// A path that is asked in another way.
    #[error("this path answers another method: GET for the page and /api/about, else POST")]
    Method,
    /// No such game.
    #[error(
        "there is no such game: it was given up for newer ones, or the server was started anew; begin another one"
    )]
    NoGame,
    /// Another content type.
    #[error("expected JSON, with the header 'Content-Type: application/json'")]
    NotJson,
    /// No JSON of the kind expected.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// Too long a body.
    #[error("the request is too long; at most {0} bytes are read")]
    TooLong(usize),
    /// A body that does not come.
    #[error("the request did not come whole in time; send it again")]
    TooSlow,
    /// The game says no.
    #[error(transparent)]
    Game(#[from] GameError),
    /// No game can be begun so.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// No such strength.
    #[error(transparent)]
    Strength(#[from] StrengthError),
    /// As many searches as there may be.
    #[error("too many searches at once; ask again in a moment")]
    Busy,
    /// Our fault.
    #[error("{0}")]
    Failed(String),
}

impl Refusal {
    fn status(&self) -> StatusCode {
        match self {
            Refusal::NotFound | Refusal::NoGame => StatusCode::NOT_FOUND,
            Refusal::Method => StatusCode::METHOD_NOT_ALLOWED,
            Refusal::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Refusal::Unreadable(_) | Refusal::Load(_) | Refusal::Strength(_) => {
                StatusCode::BAD_REQUEST
            }
            Refusal::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Refusal::TooLong(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Refusal::Game(GameError::NoMove(_) | GameError::NoPly { .. }) => {
                StatusCode::BAD_REQUEST
            }
            Refusal::Game(GameError::Illegal { .. }) => StatusCode::UNPROCESSABLE_ENTITY,
            Refusal::Game(_) => StatusCode::CONFLICT,
            Refusal::Busy => StatusCode::TOO_MANY_REQUESTS,
            Refusal::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let error = self.to_string();
        (self.status(), Json(json!({ "error": error }))).into_response()
    }
}
