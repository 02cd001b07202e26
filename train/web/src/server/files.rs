//! The page's files, compiled into the program.
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS,
};
use axum::response::{IntoResponse, Response};

use super::Name;
use super::error::Refusal;
use crate::page::{self, File};

/// The page loads its own files and talks to its own server, nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page.
pub async fn index() -> Result<Response, Refusal> {
    file(Name(page::INDEX.to_owned())).await
}

/// A file of the page, by its whole name.
pub async fn file(Name(name): Name) -> Result<Response, Refusal> {
    let File { kind, text, .. } = page::files()
        .find(|file| file.name == name)
        .ok_or(Refusal::NotFound)?;
    let headers = [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, "no-cache"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((headers, text).into_response())
}
