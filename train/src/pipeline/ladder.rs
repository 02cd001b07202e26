//! The ladder's place in a run: when it works, what it gets, and what becomes of what it tells.
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crossbeam_channel::Receiver;

use super::{Run, match_threads};
use crate::ladder::list::Standing;
use crate::ladder::throttle::Throttle;
use crate::ladder::{Background, Event, Ladder};

/// What stands in a line of metrics for the training step that its ratings are of.
const STEP: &str = "ladder/step";

/// A run's ladder, if it has one.
#[derive(Default)]
pub(super) enum LadderSeat {
    /// There is none.
    #[default]
    None,
    /// It rests.
    Idle(Box<Ladder>),
    /// Its thread works.
    AtWork(Background),
}

impl LadderSeat {
    /// Training steps of the checkpoints that it still needs.
    pub fn needed(&self) -> BTreeSet<u64> {
        match self {
            LadderSeat::None => BTreeSet::new(),
            LadderSeat::Idle(ladder) => ladder.needed(),
            LadderSeat::AtWork(background) => background.needed(),
        }
    }
}

impl Run {
    /// Opens the ladder, and says what was dropped of it.
    pub(super) fn open_ladder(&mut self) -> anyhow::Result<()> {
        if self.config.ladder.every_checkpoints == 0 {
            return Ok(());
        }
        let (ladder, said) = Ladder::open(
            &self.dir,
            &self.state,
            &self.config,
            &self.forms,
            self.placement,
        )?;
        said.iter().for_each(|line| self.progress.say(line));
        self.ladder = LadderSeat::Idle(ladder.into());
        Ok(())
    }

    /// Sets the ladder to work beside self-play.
    pub(super) fn start_ladder(&mut self) -> anyhow::Result<()> {
        if let LadderSeat::Idle(ladder) = std::mem::take(&mut self.ladder) {
            let background = Background::start(*ladder, self.config.ladder.share)?;
            self.ladder = LadderSeat::AtWork(background);
            self.offer_to_ladder();
        }
        Ok(())
    }

    /// Lays the newest checkpoint before the ladder if it is one of those that may come onto it.
    pub(super) fn offer_to_ladder(&self) {
        let every = u64::from(self.config.ladder.every_checkpoints);
        if let LadderSeat::AtWork(background) = &self.ladder
            && self.state.training.checkpoints.is_multiple_of(every)
        {
            background.offer(self.slot.latest());
        }
    }

    /// Notes what the ladder has told.
    pub(super) fn hear_ladder(&mut self) -> anyhow::Result<()> {
        let LadderSeat::AtWork(background) = &self.ladder else {
            return Ok(());
        };
        let events = background.events.clone();
        self.note_all(&events)
    }

    /// Ends the ladder's work; games in progress are dropped.
    pub(super) fn stop_ladder(&mut self) -> anyhow::Result<()> {
        if let LadderSeat::AtWork(background) = std::mem::take(&mut self.ladder) {
            let (ladder, events) = background.stop();
            if let Some(ladder) = ladder {
                self.ladder = LadderSeat::Idle(ladder.into());
            }
            self.note_all(&events)?;
        }
        Ok(())
    }

    /// After self-play and training: takes up the last checkpoint, and plays with all cores what is left to be played. It is no
    /// part of the run's work, so a failure is only told.
    pub(super) fn finish_ladder(&mut self, interrupted: &AtomicBool) -> anyhow::Result<()> {
        let LadderSeat::Idle(mut ladder) = std::mem::take(&mut self.ladder) else {
            return Ok(());
        };
        let last = Arc::new(self.learner.publish()?);
        let threads = match_threads(&self.config, [self.placement.device]);
        let throttle = Throttle::new(1.0, Arc::default());
        let mut noted = Ok(());
        let climbed = ladder.enter(last).and_then(|()| {
            ladder.climb(threads, &throttle, interrupted, &mut |event| {
                if noted.is_ok() {
                    noted = self.note_event(event);
                }
            })
        });
        self.ladder = LadderSeat::Idle(ladder);
        if let Err(why) = climbed {
            self.progress
                .say(&format!("the ladder stands still: {why:#}"));
        }
        noted
    }

    fn note_all(&mut self, events: &Receiver<Event>) -> anyhow::Result<()> {
        events
            .try_iter()
            .try_for_each(|event| self.note_event(event))
    }

    fn note_event(&mut self, event: Event) -> anyhow::Result<()> {
        match event {
            Event::Said(line) => self.progress.say(&line),
            Event::Rated {
                form,
                step,
                standing,
            } => {
                self.log_standing(&form, step, &standing)?;
                let games: u64 = standing.games.iter().sum();
                self.progress.say(&format!(
                    "ladder: {form}, step {step}: Elo {:+.0} ({:+.0}..{:+.0}), {games} games",
                    standing.elo, standing.interval.lower, standing.interval.upper
                ));
            }
        }
        Ok(())
    }

    /// Logs the rating of a training step's checkpoint.
    fn log_standing(&mut self, form: &str, step: u64, standing: &Standing) -> anyhow::Result<()> {
        let group = match self.forms.is_one() {
            true => "ladder".to_owned(),
            false => format!("ladder/{form}"),
        };
        let numbers = [
            ("elo", standing.elo),
            ("elo_lower", standing.interval.lower),
            ("elo_upper", standing.interval.upper),
            ("games", standing.games.iter().sum::<u64>() as f64),
        ]
        .map(|(name, number)| (format!("{group}/{name}"), number));
        let numbers = numbers.each_ref().map(|(name, n)| (name.as_str(), *n));
        let now = self.learner.steps();
        Ok(self.metrics.log_of(now, (STEP, step), &numbers)?)
    }
}
