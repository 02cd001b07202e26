//! Connections: how many there may be, and how long each may take to ask.
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Pause after a connection that could not be accepted, as where no more files can be opened.
const PAUSE: Duration = Duration::from_millis(100);

/// What connections may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most at once; others wait until one ends.
    pub connections: usize,
    /// Longest time without a request, and for a request to come whole; then the connection ends.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            // Programs may usually open 1024 files.
            connections: 512,
            patience: Duration::from_secs(10),
        }
    }
}

/// Answers with `router` whoever connects, until the process ends.
pub async fn listen(listener: TcpListener, router: Router, limits: Limits) -> io::Result<()> {
    let places = Arc::new(Semaphore::new(limits.connections));
    loop {
        let place = Arc::clone(&places).acquire_owned().await;
        let place = place.map_err(io::Error::other)?;
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let _place = place;
            // What a connection breaks off with concerns nobody else.
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(limits.patience)
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}
