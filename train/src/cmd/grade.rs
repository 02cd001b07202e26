//! `fanqi grade`: levels of strength from a run's checkpoints.
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, anyhow, bail, ensure};
use play::output::{note, print};
use selfplay::rules::Ruleset;
use tch::Device;

use crate::arena::{Player, Searched};
use crate::cli::Broken;
use crate::config::Config;
use crate::grade::field::Field;
use crate::grade::grading::{self, Graded, Verdict, Wish};
use crate::grade::hall::{self, Hall, HallError, House};
use crate::grade::loss::policy_loss;
use crate::grade::table::LevelTable;
use crate::levels::{Level, Levels};
use crate::network::Network;
use crate::pipeline::load::Look;
use crate::pipeline::match_threads;
use crate::pipeline::strength::searched;
use crate::tournament::store::Settings;

/// Positions over which the policy loss of a level is taken.
const LOSS_POSITIONS: usize = 2000;

/// Grade a run into levels of strength, evenly spaced in Elo from near-random to the strongest, and write RUN/levels.toml.
///
/// Checkpoints of the run at several numbers of simulations play each other; of them the levels are chosen, then
/// checked by other games: each must beat the one below for certain. Where that fails, or where the run's range has no
/// room for so many levels --min-gap apart, there are fewer. The games are kept in RUN/grade: after Ctrl-C or a
/// kill the same command goes on. The levels are played by `fanqi arena "RUN?level=3"` and by the engine's options Level,
/// or UCI_LimitStrength and UCI_Elo.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run directory. It may be trained meanwhile, as long as training keeps the checkpoints (`checkpoint.keep`).
    run: PathBuf,
    /// Levels.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=100))]
    levels: u16,
    /// Grade this form only; all that the run trained if missing.
    #[arg(long)]
    form: Option<String>,
    /// Games of each match of neighbours in the check, even; up to four times as many where they are not told apart. The
    /// games by which the levels are chosen follow from it.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    games: u32,
    /// Simulations a move of the strongest level; the run's own in matches (`arena.visits`) if missing.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    visits: Option<u32>,
    /// Least distance of neighbours in Elo.
    #[arg(long, default_value_t = 60.0, value_name = "ELO")]
    min_gap: f64,
    /// Drop the games of an earlier grading that was made with other checkpoints or settings.
    #[arg(long)]
    fresh: bool,
    /// Change one key of the run's config, for example `--set run.seed=2`; not those of [search], by which the levels
    /// will be played. May be repeated.
    #[arg(long = "set", value_name = "TABLE.KEY=VALUE")]
    sets: Vec<String>,
}

/// A checkpoint that may become a level.
struct Checkpoint {
    step: u64,
    crc32c: u32,
    searched: Searched,
    device: Device,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    ensure!(
        args.games.is_multiple_of(2),
        "--games {}: must be even: every opening is played twice",
        args.games
    );
    ensure!(
        (0.0..=1000.0).contains(&args.min_gap),
        "--min-gap {}: expected 0 to 1000 Elo",
        args.min_gap
    );
    let look = Look::at(&args.run, &args.sets)?;
    check_sets(&look.config, &Look::of(&args.run)?.config)?;
    let forms = forms(&look, args.form.as_deref())?;
    let known = Levels::of_run(&look.files, &look.state.run)?;
    let mut levels = known.unwrap_or_else(|| Levels::new(&look.state.run));
    let field = field(&look, args.visits)?;
    let checkpoints = checkpoints(&args, &look, &field)?;
    let stop = super::interrupted("stopping, games in progress are dropped")?;
    for rules in forms {
        let graded = grade(&args, &look, rules, &field, &checkpoints, &stop);
        let Some((of_form, verdict)) = graded? else {
            note("stopped; the games are kept, the same command goes on");
            return Ok(());
        };
        for level in &of_form {
            look.files.checkpoint(level.step).map_err(|error| {
                Broken(format!("{error}: training removed it meanwhile; raise checkpoint.keep, or grade when it rests"))
            })?;
        }
        levels.replace(rules.name, of_form);
        let path = look.files.levels_path();
        levels
            .write(&path)
            .map_err(|error| Broken(error.to_string()))?;
        show(rules, levels.of(rules.name), &verdict)?;
        print(format_args!("written to {}", path.display()))?;
    }
    Ok(())
}

/// A level is played by the search that its checkpoint carries.
fn check_sets(config: &Config, own: &Config) -> anyhow::Result<()> {
    let secret = |config: &Config| config.arena.arrangement_temperature;
    ensure!(
        config.search == own.search && secret(config) == secret(own),
        "--set cannot change the [search] or arena.arrangement_temperature by which the levels will be played"
    );
    ensure!(
        config.arena.ply_cap == 0 || config.arena.ply_cap > config.arena.opening_plies,
        "`arena.ply_cap` = {}: games would be cut within their openings",
        config.arena.ply_cap
    );
    Ok(())
}

fn forms(look: &Look, wanted: Option<&str>) -> anyhow::Result<Vec<&'static Ruleset>> {
    let trained = look.forms.rules();
    let forms: Vec<_> = trained
        .filter(|rules| wanted.is_none_or(|name| name == rules.name))
        .collect();
    match (forms.is_empty(), wanted) {
        (true, Some(name)) => bail!("--form {name}: the run trained {}", look.forms.names()),
        _ => Ok(forms),
    }
}

/// The checkpoints that the run has committed, up to its arena's simulations or so many.
fn field(look: &Look, visits: Option<u32>) -> anyhow::Result<Field> {
    let steps: Vec<_> = (look.files.checkpoints()?.into_iter())
        .map(|(step, _)| step)
        .filter(|&step| step <= look.state.training.step)
        .collect();
    ensure!(
        steps.contains(&look.state.training.step),
        "{}: the newest checkpoint, of step {}, is not there",
        look.files.path().display(),
        look.state.training.step
    );
    let visits = visits.unwrap_or_else(|| look.config.match_visits());
    Ok(Field::new(&steps, visits))
}

fn checkpoints(args: &Args, look: &Look, field: &Field) -> anyhow::Result<Vec<Checkpoint>> {
    let load = |&step: &u64| {
        let network = Network::load(&args.run, Some(step), &args.sets)?;
        let origin = &network.about.origin.run;
        ensure!(
            *origin == look.state.run,
            "{}: a checkpoint of another run ({origin}, this one is {})",
            look.files.checkpoint_path(step).display(),
            look.state.run
        );
        let player = searched(&network.config, network.placement, network.weights);
        let Player::Searched(searched) = player else {
            bail!("a network that does not search");
        };
        Ok(Checkpoint {
            step,
            crc32c: network.about.crc32c,
            searched,
            device: network.placement.device,
        })
    };
    field.steps().iter().map(load).collect()
}

/// How a place of the field plays.
fn player(field: &Field, place: usize, checkpoints: &[Checkpoint]) -> Option<Player> {
    let Some(setting) = field.setting(place) else {
        return Some(Player::Builtin(Field::BUILTINS[place]));
    };
    let checkpoint = checkpoints
        .iter()
        .find(|checkpoint| checkpoint.step == setting.step)?;
    Some(Player::Searched(Searched {
        visits: setting.visits,
        temperature: setting.temperature,
        ..checkpoint.searched.clone()
    }))
}

/// What must be the same when a grading goes on.
fn settings(
    config: &Config,
    rules: &'static Ruleset,
    field: &Field,
    checkpoints: &[Checkpoint],
) -> Settings {
    let mut settings = BTreeMap::from([
        ("form".to_owned(), rules.name.to_owned()),
        (
            "rules".to_owned(),
            serde_json::to_string(rules).unwrap_or_default(),
        ),
        ("run.seed".to_owned(), config.run.seed.to_string()),
        ("arena.ply_cap".to_owned(), config.arena.ply_cap.to_string()),
        (
            "arena.opening_plies".to_owned(),
            config.arena.opening_plies.to_string(),
        ),
        ("visits".to_owned(), format!("{:?}", field.visits())),
    ]);
    for checkpoint in checkpoints {
        let facts = [
            ("checkpoint", format!("{:08x}", checkpoint.crc32c)),
            (
                "search",
                serde_json::to_string(&checkpoint.searched.search).unwrap_or_default(),
            ),
            ("arrangement", checkpoint.searched.arrangement.to_string()),
        ];
        for (name, fact) in facts {
            settings.insert(format!("step {}: {name}", checkpoint.step), fact);
        }
    }
    settings
}

/// Grades one form; `None` if it was stopped.
fn grade(
    args: &Args,
    look: &Look,
    rules: &'static Ruleset,
    field: &Field,
    checkpoints: &[Checkpoint],
    stop: &AtomicBool,
) -> anyhow::Result<Option<(Vec<Level>, Verdict)>> {
    let folder = look.files.grade_path(rules.name);
    let settings = settings(&look.config, rules, field, checkpoints);
    if args.fresh {
        hall::drop_games(&folder)?;
    }
    hall::refuse_another(&folder, &settings)?;
    let devices = checkpoints.iter().map(|checkpoint| checkpoint.device);
    let house = House {
        rules,
        config: look.config.arena.match_config(1),
        threads: match_threads(&look.config, devices),
        seed: look.config.run.seed,
        report: Duration::from_secs_f64(look.config.run.report_seconds),
    };
    let players = (0..field.len()).map(|place| {
        let player = player(field, place, checkpoints);
        Ok((
            field.name(place),
            player.context("a player without a checkpoint")?,
        ))
    });
    let players = players.collect::<anyhow::Result<Vec<_>>>()?;
    let mut hall = Hall::new(house, players, &folder, settings, stop);
    let wish = Wish {
        levels: args.levels.into(),
        min_gap: args.min_gap,
        games: args.games,
    };
    match grading::grade(field, &wish, &mut hall) {
        Ok(verdict) => {
            let levels = levels(rules, &hall, &verdict, checkpoints)?;
            Ok(Some((levels, verdict)))
        }
        Err(HallError::Stopped) => Ok(None),
        Err(HallError::Folder(error)) => Err(error),
        Err(HallError::Openings(error)) => Err(error.into()),
        Err(error) => Err(Broken(format!(
            "{error}; the games are kept, the same command goes on"
        ))
        .into()),
    }
}

/// The levels as they are written, with their policy loss under the network of the strongest.
fn levels(
    rules: &'static Ruleset,
    hall: &Hall,
    verdict: &Verdict,
    checkpoints: &[Checkpoint],
) -> anyhow::Result<Vec<Level>> {
    let of = |graded: &Graded| {
        let found = checkpoints
            .iter()
            .find(|checkpoint| checkpoint.step == graded.setting.step);
        found.ok_or_else(|| anyhow!("a level without a checkpoint"))
    };
    let strongest = verdict.levels.last().context("no level")?;
    let mut evaluator = (of(strongest)?.searched.evaluators)()?;
    let level = |(place, graded): (usize, &Graded)| {
        let games = hall.games(verdict.part, graded.player);
        let loss = policy_loss(rules, games, LOSS_POSITIONS, evaluator.as_mut())?;
        let interval = graded.elo.interval;
        Ok(Level {
            form: rules.name.to_owned(),
            level: place as u32 + 1,
            elo: graded.elo.value,
            elo_interval: [interval.lower, interval.upper],
            step: graded.setting.step,
            crc32c: of(graded)?.crc32c,
            visits: graded.setting.visits,
            temperature: graded.setting.temperature,
            noise: 0.0,
            policy_loss: loss.mean,
        })
    };
    verdict.levels.iter().enumerate().map(level).collect()
}

fn show(rules: &Ruleset, levels: &[Level], verdict: &Verdict) -> anyhow::Result<()> {
    let table = LevelTable {
        levels,
        graded: &verdict.levels,
    };
    let count = levels.len();
    print(format_args!(
        "{}: {count} level{}, `random` having 0 Elo; policy loss in nats a move under the net of the strongest\n\n{table}",
        rules.name,
        if count == 1 { "" } else { "s" }
    ))?;
    for why in &verdict.short {
        print(format_args!("fewer levels than asked for: {why}"))?;
    }
    Ok(())
}
