//! `fanqi rate`: ratings of all players of stored games.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail, ensure};
use play::output::{note, print};

use crate::rating::{self, RatingOptions, anchors};
use crate::records::results::Results;
use crate::tournament::store;

/// Games left out that are told one by one.
const TOLD: usize = 10;

/// Rate all players of stored games: maximum-likelihood Elo with draws, 95 % intervals, a cross table, and whether
/// one number a player explains the results.
///
/// A game counts by its tags Red, Black, Variant and its result; its moves are not read: a game without any, a forfeit,
/// counts as well, and a result that the board would refute counts as told.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files of games (PGN, DhtmlXQ, XQF), or folders of `fanqi arena --out`.
    #[arg(required = true, value_name = "GAMES")]
    files: Vec<PathBuf>,
    /// Rate games of this form only.
    #[arg(long)]
    form: Option<String>,
    /// A player of known rating; the others are rated on its scale. May be repeated. Without any, the mean is 0.
    #[arg(long = "anchor", value_name = "PLAYER=ELO", value_parser = anchor)]
    anchors: Vec<(String, f64)>,
    /// File of such players: a table [anchors] of lines "PLAYER" = ELO. Those without a game are ignored.
    #[arg(long = "anchors", value_name = "FILE")]
    anchor_file: Option<PathBuf>,
    /// Fit how much moving first is worth; else nothing.
    #[arg(long)]
    first_mover: bool,
    /// Games a player, half won and half lost, that keep ratings of perfect scores finite; 0: none.
    #[arg(long, default_value_t = RatingOptions::default().prior_games, allow_negative_numbers = true)]
    prior_games: f64,
    /// Print everything as JSON instead.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let form = args.form.as_deref().map(super::rules).transpose()?;
    let mut results = Results::default();
    for path in &args.files {
        results.read(&games_file(path), form.map(|rules| rules.name))?;
    }
    report(&results);
    let forms: Vec<_> = results.forms.iter().map(String::as_str).collect();
    ensure!(
        form.is_some() || forms.len() < 2,
        "games of {}: strength in one form is none in another; choose with --form",
        forms.join(", ")
    );
    let (games, played) = (results.games, forms.join(", "));
    if let (0, Some(form)) = (games, form) {
        bail!("no game of {} among those of {played}", form.name);
    }
    let encounters = results.encounters();
    let mut anchors: BTreeMap<_, _> = args.anchors.into_iter().collect();
    if let Some(path) = &args.anchor_file {
        let playing = anchors::playing(anchors::read(path)?, &encounters);
        ensure!(
            !playing.is_empty(),
            "{}: none of these players has a game here",
            path.display()
        );
        anchors.extend(playing);
    }
    let options = RatingOptions {
        anchors,
        first_mover: args.first_mover,
        prior_games: args.prior_games,
    };
    let list = rating::rate(&encounters, &options)?;
    if args.json {
        print(serde_json::to_string_pretty(&list)?)?;
    } else {
        let form = form.map_or(played.as_str(), |rules| rules.name);
        print(format_args!("{form}, {games} games\n\n{list}"))?;
    }
    Ok(())
}

/// A tournament's games are in its folder.
fn games_file(path: &Path) -> PathBuf {
    match path.is_dir() {
        true => path.join(store::GAMES),
        false => path.to_owned(),
    }
}

fn report(results: &Results) {
    for game in results.left_out.iter().take(TOLD) {
        note(format_args!(
            "{}, game {} (line {}): left out: {}",
            game.path.display(),
            game.number,
            game.line,
            game.why
        ));
    }
    if results.left_out.len() > TOLD {
        let more = results.left_out.len() - TOLD;
        note(format_args!("{more} more games are left out"));
    }
}

/// `PLAYER=ELO`; the name may have an equals sign, too.
fn anchor(text: &str) -> anyhow::Result<(String, f64)> {
    let expected = || anyhow!("expected PLAYER=ELO, for example random=0");
    let (name, elo) = text.rsplit_once('=').with_context(expected)?;
    ensure!(!name.is_empty(), expected());
    let elo = elo.parse().with_context(expected)?;
    Ok((name.to_owned(), elo))
}
