//! `fanqi arena`: matches between any players.
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use play::output::{note, print};
use selfplay::rules::{Ruleset, World};

use crate::arena::spec::PlayerSpec;
use crate::arena::{Opening, draw_openings};
use crate::cli::Broken;
use crate::config::Config;
use crate::pipeline::match_threads;
use crate::rating::sprt::Sprt;
use crate::tournament::entrant::{Candidate, Entrant};
use crate::tournament::store::{Opened, Settings, Store};
use crate::tournament::table::CrossTable;
use crate::tournament::{Tournament, openings, pairings};

/// Games at most of a test, without --games.
const MOST_GAMES_OF_A_TEST: u32 = 20_000;

/// Let networks, built-in opponents and engines play each other: all pairs of players, every opening twice with
/// colours swapped, in hidden forms the same deal.
///
/// A player is random, greedy, alphabeta:D, a run directory or a checkpoint (`runs/quick?step=1000&visits=64`), or an
/// engine (`engine:fairy-stockfish?nodes=1000&skill=-10`). After `?` stand keys with `&` between them. Of all players:
/// name. Of networks: step, level (which needs `fanqi grade`), visits, temperature, arrangement, root. Of engines: nodes, depth, movetime (milliseconds),
/// timeout (seconds), protocol (uci, ucci), ranks (0-9, 1-10), skill, option.NAME.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Players, two at least.
    #[arg(required = true, num_args = 2.., value_name = "PLAYER")]
    players: Vec<PlayerSpec>,
    /// Name of the form; if missing, what the first network was trained in, else xiangqi.
    #[arg(long)]
    form: Option<String>,
    /// Games of each match, even; `arena.games` if missing, 20000 at most with --sprt.
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    games: Option<u32>,
    /// Play until it is known whether the first player is ELO1 or only ELO0 Elo stronger than the second (sequential
    /// probability ratio test on pairs), or all --games are played.
    #[arg(long, num_args = 2, value_names = ["ELO0", "ELO1"], allow_negative_numbers = true)]
    sprt: Option<Vec<f64>>,
    /// Probability at most of taking ELO0 for ELO1, above 0 and below 0.5.
    #[arg(long, default_value_t = 0.05, requires = "sprt")]
    alpha: f64,
    /// Probability at most of taking ELO1 for ELO0, above 0 and below 0.5.
    #[arg(long, default_value_t = 0.05, requires = "sprt")]
    beta: f64,
    /// Folder in which the games are kept, one by one as they end. The same command goes on with what is missing;
    /// --games may grow.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Random plies of each opening; `arena.opening_plies` if missing.
    #[arg(long, value_parser = clap::value_parser!(u16).range(0..=100))]
    opening_plies: Option<u16>,
    /// File of openings instead: a FEN, or moves from the start, a line.
    #[arg(long, conflicts_with = "opening_plies")]
    openings: Option<PathBuf>,
    /// Games against an engine at a time, each with a process of its own; as many as there are cores if missing.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    engines: Option<u16>,
    /// Let networks play a form that they were not trained in, by its own rules.
    #[arg(long, requires = "form")]
    force: bool,
    /// Change one key of the config, for example `--set run.seed=2` or `--set search.root=puct`: of the matches, and of
    /// what every network's checkpoint has. May be repeated.
    #[arg(long = "set", value_name = "TABLE.KEY=VALUE")]
    sets: Vec<String>,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    check_names(&args.players)?;
    let config = Config::load(None, &args.sets)?;
    let own = Config::load(None, &[])?;
    ensure!(
        config.ruleset == own.ruleset && config.net == own.net,
        "--set cannot change the [ruleset] or the [net]: networks play by the rules that they were trained with; --form F plays another form"
    );
    let sprt = sprt(&args)?;
    let games = args.games.unwrap_or(match sprt {
        Some(_) => MOST_GAMES_OF_A_TEST,
        None => config.arena.games,
    });
    ensure!(
        games.is_multiple_of(2),
        "--games {games}: must be even: every opening is played twice"
    );
    let candidates: Vec<_> = (args.players.iter())
        .map(|spec| Candidate::load(spec.clone(), &args.sets, args.form.as_deref()))
        .collect::<Result<_, _>>()?;
    let rules = form(&args, &candidates)?;
    let (openings, described) = find_openings(&args, &config, rules, games as usize / 2)?;
    let longest = openings
        .iter()
        .map(|opening| opening.plies)
        .max()
        .unwrap_or(0);
    ensure!(
        config.arena.ply_cap == 0 || config.arena.ply_cap > longest,
        "`arena.ply_cap` = {}: games would be cut within their openings of up to {longest} plies",
        config.arena.ply_cap
    );
    let entrants: Vec<_> = (candidates.into_iter())
        .map(|candidate| candidate.enter(rules))
        .collect::<Result<_, _>>()?;
    let settings = settings(&config, rules, &described, &entrants);
    let tournament = tournament(&args, &config, rules, entrants, openings, sprt);
    let names: Vec<_> = (tournament.entrants.iter())
        .map(|entrant| entrant.name.clone())
        .collect();
    let opened = args.out.as_ref().map(|folder| {
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        Store::open(folder, &settings, rules, &names, tournament.openings.len())
    });
    let opened = opened.transpose()?;
    if let Some(opened) = &opened {
        report(opened);
    }
    let stop = super::interrupted("stopping, games in progress are dropped")?;
    play(&tournament, &names, opened, &stop)
}

fn play(
    tournament: &Tournament,
    names: &[String],
    opened: Option<Opened>,
    stop: &AtomicBool,
) -> anyhow::Result<()> {
    let (store, known) = match opened {
        Some(opened) => (Some(opened.store), opened.games),
        None => (None, Vec::new()),
    };
    let (before, began) = (known.len(), Instant::now());
    let played = tournament.play(store.as_ref(), known, stop, &|text| note(text));
    let encounters = played.map_err(|broken| Broken(broken.to_string()))?;
    let table = CrossTable::new(names, &encounters);
    let all = 2 * tournament.openings.len() * pairings(names.len()).count();
    let whole: usize = encounters.iter().map(|e| e.result.games.len()).sum();
    if let Some(new) = whole.checked_sub(before).filter(|&new| new > 0) {
        let seconds = began.elapsed().as_secs_f64();
        note(format_args!(
            "{new} games in {seconds:.1} s, {:.2} games/s",
            new as f64 / seconds
        ));
    }
    let verdict = tournament.sprt.map_or(String::new(), |sprt| {
        let pairs = encounters.first().map(|e| e.result.pairs);
        let state = sprt.state(&pairs.unwrap_or_default());
        format!("\n{}", sprt.describe(&state))
    });
    if stop.load(Relaxed) && whole < all {
        let next = match store {
            Some(_) => "the same command goes on",
            None => "nothing is kept without --out DIR",
        };
        note(format_args!(
            "stopped after {whole} of {all} games in whole pairs; {next}"
        ));
    }
    print(format_args!(
        "{}, {whole} games\n\n{table}{verdict}",
        tournament.rules.name
    ))?;
    Ok(())
}

/// The test that is asked for.
fn sprt(args: &Args) -> anyhow::Result<Option<Sprt>> {
    let Some([elo0, elo1]) = args.sprt.as_deref() else {
        return Ok(None);
    };
    let players = args.players.len();
    ensure!(
        players == 2,
        "--sprt: a test is about two players, {players} are named"
    );
    let sprt = Sprt::new(*elo0, *elo1, args.alpha, args.beta);
    Ok(Some(sprt.context("--sprt")?))
}

fn report(opened: &Opened) {
    if opened.dropped > 0 {
        note(format_args!(
            "{}: a half game at its end is dropped ({} bytes)",
            opened.store.games_path().display(),
            opened.dropped
        ));
    }
    if !opened.games.is_empty() {
        note(format_args!("going on after {} games", opened.games.len()));
    }
}

/// Games are kept by the names of their players.
fn check_names(players: &[PlayerSpec]) -> anyhow::Result<()> {
    let mut names = HashSet::new();
    match players.iter().find(|player| !names.insert(&player.name)) {
        Some(twice) => bail!(
            "two players are called `{}`; give one of them another name with name=…",
            twice.name
        ),
        None => Ok(()),
    }
}

/// The rules of the form that is played: as the networks were trained in it, which must be alike.
fn form(args: &Args, candidates: &[Candidate]) -> anyhow::Result<&'static Ruleset> {
    let networks =
        || (candidates.iter()).filter_map(|player| Some((player.name(), player.network()?)));
    let first = networks().find_map(|(_, network)| network.forms.rules().next());
    let own = match (&args.form, first) {
        (Some(name), _) => super::rules(name)?,
        (None, Some(rules)) => super::rules(rules.name)?,
        (None, None) => &Ruleset::XIANGQI,
    };
    if args.force {
        return Ok(own);
    }
    let mut found: Option<(&str, &'static Ruleset)> = None;
    for (name, network) in networks() {
        let trained = network.rules(own.name).with_context(|| {
            format!(
                "player `{name}` was trained in {}, not in {}; choose with --form, or give --force as well to let it play what it has never seen",
                network.forms.names(),
                own.name
            )
        })?;
        match found {
            Some((other, rules)) if rules != trained => bail!(
                "players `{other}` and `{name}` were trained with different rules of {form}; give --form {form} --force to play by its own",
                form = own.name
            ),
            _ => found = Some((name, trained)),
        }
    }
    Ok(found.map_or(own, |(_, rules)| rules))
}

/// The openings, and what tells them from others.
fn find_openings(
    args: &Args,
    config: &Config,
    rules: &'static Ruleset,
    pairs: usize,
) -> anyhow::Result<(Vec<Opening>, String)> {
    let seed = config.run.seed;
    let Some(path) = &args.openings else {
        let plies = args.opening_plies.unwrap_or(config.arena.opening_plies);
        let start = |rng: &mut _| World::start(rules, rng);
        let openings = draw_openings(&start, pairs, plies, seed)?;
        return Ok((openings, format!("{plies} random plies")));
    };
    let mut file = openings::read(path, rules, seed)?;
    let count = file.openings.len();
    ensure!(
        count >= pairs,
        "{}: {count} openings, which are enough for --games {}; deterministic players would repeat their games",
        path.display(),
        2 * count
    );
    file.openings.truncate(pairs);
    Ok((
        file.openings,
        format!("a file of checksum {:08x}", file.crc32c),
    ))
}

/// What must be the same when a tournament goes on.
fn settings(
    config: &Config,
    rules: &'static Ruleset,
    openings: &str,
    entrants: &[Entrant],
) -> Settings {
    let mut settings = BTreeMap::from([
        ("form".to_owned(), rules.name.to_owned()),
        (
            "rules".to_owned(),
            serde_json::to_string(rules).unwrap_or_default(),
        ),
        ("openings".to_owned(), openings.to_owned()),
        ("run.seed".to_owned(), config.run.seed.to_string()),
        ("arena.ply_cap".to_owned(), config.arena.ply_cap.to_string()),
    ]);
    for (place, entrant) in entrants.iter().enumerate() {
        let player = format!("player {}", place + 1);
        for (fact, value) in &entrant.facts {
            settings.insert(format!("{player}: {fact}"), value.clone());
        }
        settings.insert(player, entrant.name.clone());
    }
    settings
}

fn tournament(
    args: &Args,
    config: &Config,
    rules: &'static Ruleset,
    entrants: Vec<Entrant>,
    openings: Vec<Opening>,
    sprt: Option<Sprt>,
) -> Tournament {
    let threads = match_threads(config, entrants.iter().filter_map(|entrant| entrant.device));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    Tournament {
        rules,
        entrants,
        openings,
        seed: config.run.seed,
        config: config.arena.match_config(threads),
        engine_games: args.engines.map_or(cores, usize::from),
        report: Duration::from_secs_f64(config.run.report_seconds),
        sprt,
    }
}
