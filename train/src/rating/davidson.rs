//! Davidson's model of a game with draws, its gradient and information.
//!
//! With `v` the draw parameter, from 0, and `d` how much stronger the player is than its opponent,
//!
//! ```text
//! P(win) : P(draw) : P(loss) = e^(d/2) : v : e^(-d/2)
//! d = (1 + v/2) ln(10)/400 (rating - opponent's rating ± advantage)
//! ```
//!
//! (Davidson 1970, "On extending the Bradley-Terry model to accommodate ties in paired comparison experiments",
//! JASA 65; the multiplicative advantage of the one that moves first: Davidson and Beaver 1977, Biometrics 33.) Without
//! draws this is the Bradley-Terry model, which is Elo's. The expected score follows from `d`, and the derivative of
//! the likelihood by `d` is score minus expected score: the model knows no more of a game than its points.
//!
//! The factor `1 + v/2` is not Davidson's, who measures strength by wins against losses, draws set aside: there
//! the same score means the more Elo the more draws there are. With the factor, the expected score of players of nearly
//! equal strength is that of Elo's curve, `1 / (1 + 10^(-Elo/400))`, whatever `v`; at `v = 0` and `v = 2`, half the
//! games drawn, it is that curve everywhere. (Coulom's BayesElo scales its ratings to the same end.)
use nalgebra::{Matrix3, Vector3};

/// Logits in one Elo.
pub(super) const LOGITS: f64 = std::f64::consts::LN_10 / 400.0;

/// Probabilities of loss, draw and win of a player `difference` Elo stronger than its opponent, the first move's
/// advantage counted in, where of the games between equals the share `draw_rate`, from 0 to below 1, is drawn.
pub fn outcome_probabilities(difference: f64, draw_rate: f64) -> [f64; 3] {
    let draw = 2.0 * draw_rate / (1.0 - draw_rate);
    GameModel::new(LOGITS * difference, 0.0, 1.0, draw)
        .log_probability
        .map(f64::exp)
}

/// One game under the model. Derivatives are by (difference of the ratings, first move's advantage, ln v), the former
/// two in logits.
#[derive(Clone, Copy)]
pub(super) struct GameModel {
    /// `[3]`, ln P of loss, draw, win of the player.
    pub log_probability: [f64; 3],
    /// `[3]`, gradient of each.
    pub gradient: [Vector3<f64>; 3],
    /// `[3]`, minus the second derivative of each; their mean is the Fisher information.
    pub curvature: [Matrix3<f64>; 3],
    /// Fisher information: the expectation of a gradient times itself.
    pub information: Matrix3<f64>,
    /// Mean of the player's points, 0..=1.
    pub expected: f64,
    /// Variance of the player's points.
    pub variance: f64,
}

impl GameModel {
    /// The player is `difference` logits stronger; the one that moves first has `advantage` logits more: the player
    /// where `side` is 1, its opponent where it is -1. `draw` is v.
    pub fn new(difference: f64, advantage: f64, side: f64, draw: f64) -> Self {
        let scale = 1.0 + draw / 2.0;
        let lead = difference + side * advantage;
        let half = scale * lead / 2.0;
        let weights = [-half, draw.ln(), half];
        let top = half.abs().max(draw.ln());
        let total = top + weights.map(|w| (w - top).exp()).iter().sum::<f64>().ln();
        let log_probability = weights.map(|w| w - total);
        let probability = log_probability.map(f64::exp);
        let expected = probability[2] + probability[1] / 2.0;
        let surprise: [f64; 3] = std::array::from_fn(|halves| halves as f64 / 2.0 - expected);
        let gradient = std::array::from_fn(|halves| {
            let drawn = f64::from(u8::from(halves == 1)) - probability[1];
            Vector3::new(
                scale * surprise[halves],
                side * scale * surprise[halves],
                drawn + surprise[halves] * lead * draw / 2.0,
            )
        });
        let mut information = Matrix3::zeros();
        let mut variance = 0.0;
        for (halves, p) in probability.into_iter().enumerate() {
            let g: Vector3<f64> = gradient[halves];
            information += p * g * g.transpose();
            variance += p * surprise[halves].powi(2);
        }
        let (mixed, last) = (draw / 2.0, lead * draw / 2.0);
        #[rustfmt::skip]
        let of_strength = Matrix3::new(
            0.0, 0.0, mixed,
            0.0, 0.0, side * mixed,
            mixed, side * mixed, last,
        );
        GameModel {
            log_probability,
            gradient,
            curvature: surprise.map(|surprise| information - surprise * of_strength),
            information,
            expected,
            variance,
        }
    }
}
