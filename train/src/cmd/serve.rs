//! `fanqi serve`: a page in the browser to play against an exported network.
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use anyhow::Context;
use play::output::note;
use web::server;

/// Serve a page to play against an exported network, in all forms, until Ctrl-C.
///
/// Only this machine can reach it unless --bind says otherwise.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Folder that `fanqi export --format onnx` made.
    bundle: PathBuf,
    /// Address to listen at; 0.0.0.0: every machine in the network may play.
    #[arg(long, default_value_t = Ipv4Addr::LOCALHOST.into())]
    bind: IpAddr,
    /// Port to listen at; 0: any that is free.
    #[arg(long, default_value_t = 8000)]
    port: u16,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let engine = server::bundle::engine(&args.bundle)?;
    ctrlc::set_handler(|| std::process::exit(0)).context("cannot listen for Ctrl-C")?;
    let ready = |address: SocketAddr| {
        let who = match address.ip().is_loopback() {
            true => "only this machine can reach it",
            false => "whoever reaches this machine can play",
        };
        note(format_args!("http://{address} ({who}); Ctrl-C ends it"));
    };
    let address = SocketAddr::new(args.bind, args.port);
    server::serve(engine, address, server::Limits::default(), ready).with_context(|| {
        format!(
            "--bind {} --port {}: cannot listen there",
            args.bind, args.port
        )
    })
}
