//! A rating list as text: the list, the cross table, and whether the ratings explain the results.
use std::fmt::{self, Display};

use super::cross::CrossCell;
use super::list::{Estimate, PlayerRating, RatingList};
use crate::table::write_aligned;

/// Standard deviations beyond which a cell of the cross table is marked: one cell in some 700 by chance.
const MARKED: f64 = 3.2;
/// Probability of the fit below which the results are said not to be transitive.
const SIGNIFICANT: f64 = 0.01;

impl Display for RatingList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_aligned(f, &self.list())?;
        if self.players.len() > 2 {
            writeln!(f, "\nscore in % of the row's player, games in brackets")?;
            write_aligned(f, &self.table())?;
        }
        writeln!(f)?;
        let rate = share(&self.draw_rate);
        writeln!(f, "draws between equals: {rate} %")?;
        if let Some(advantage) = &self.first_mover {
            writeln!(f, "moving first: {} Elo", elo(advantage))?;
        }
        self.write_fit(f)
    }
}

impl RatingList {
    fn list(&self) -> Vec<Vec<String>> {
        let head = [
            "", "player", "Elo", "95 %", "games", "W", "D", "L", "score %", "LOS %",
        ];
        let mut lines = vec![head.map(str::to_owned).to_vec()];
        for (place, player) in self.players.iter().enumerate() {
            let next = self.superiority[place].get(place + 1);
            lines.push(line(place + 1, player, next));
        }
        lines
    }

    fn table(&self) -> Vec<Vec<String>> {
        let count = self.players.len();
        let mut head = vec![String::new(), "player".to_owned()];
        head.extend((1..=count).map(|place| place.to_string()));
        let mut lines = vec![head];
        for (place, player) in self.players.iter().enumerate() {
            let mut cells = vec![(place + 1).to_string(), player.name.clone()];
            cells.extend(self.cross_table[place].iter().map(cell));
            lines.push(cells);
        }
        lines
    }

    fn write_fit(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dispersion = self.fit.dispersion;
        writeln!(
            f,
            "a pair of games varies {dispersion:.2} times as much as two games of different openings"
        )?;
        if let Some(p) = self.fit.p_value {
            let meaning = match p < SIGNIFICANT {
                true => "the results are not transitive: no one number a player explains them",
                false => "one number a player explains the results",
            };
            let (chi, degrees) = (self.fit.chi_squared, self.fit.degrees);
            writeln!(
                f,
                "{meaning} (chi-squared {chi:.1}, {degrees} degrees, p = {p:.3})"
            )?;
        }
        let marked = (self.cross_table.iter().flatten().flatten()).any(is_marked);
        if marked {
            writeln!(f, "! beside a score: the ratings do not explain it")?;
        }
        for cycle in &self.cycles {
            let scores = cycle
                .scores
                .iter()
                .map(|score| format!("{:.0} %", 100.0 * score));
            let steps: Vec<_> = (cycle.players.iter().zip(scores))
                .map(|(player, score)| format!("{player} > ({score}) "))
                .collect();
            let first = cycle.players.first().map_or("", String::as_str);
            writeln!(f, "cycle: {}{first}", steps.concat())?;
        }
        Ok(())
    }
}

fn line(place: usize, player: &PlayerRating, next: Option<&f64>) -> Vec<String> {
    let [lost, drawn, won] = player.games;
    let interval = match player.anchor {
        true => "anchor".to_owned(),
        false => between(&player.elo),
    };
    vec![
        place.to_string(),
        player.name.clone(),
        format!("{:.0}", player.elo.value),
        interval,
        (lost + drawn + won).to_string(),
        won.to_string(),
        drawn.to_string(),
        lost.to_string(),
        format!("{:.1}", 100.0 * player.score),
        next.map_or(String::new(), |los| format!("{:.1}", 100.0 * los)),
    ]
}

fn cell(cell: &Option<CrossCell>) -> String {
    let Some(cell) = cell else {
        return "-".to_owned();
    };
    let (score, games): (_, u64) = (100.0 * cell.score, cell.games.iter().sum());
    let mark = if is_marked(cell) { "!" } else { "" };
    format!("{mark}{score:.1} ({games})")
}

fn is_marked(cell: &CrossCell) -> bool {
    cell.standardised.is_some_and(|z| z.abs() > MARKED)
}

fn elo(estimate: &Estimate) -> String {
    format!("{:+.0} ({})", estimate.value, between(estimate))
}

fn between(estimate: &Estimate) -> String {
    format!(
        "{:.0}..{:.0}",
        estimate.interval.lower, estimate.interval.upper
    )
}

fn share(estimate: &Estimate) -> String {
    let [value, lower, upper] = [
        estimate.value,
        estimate.interval.lower,
        estimate.interval.upper,
    ]
    .map(|x| 100.0 * x);
    format!("{value:.1} ({lower:.1}..{upper:.1})")
}
