//! Settings of the search; `configs/default.toml` says what each is for.
use serde::{Deserialize, Serialize};

/// How the root chooses which move to visit next, and what its policy target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RootKind {
    /// Gumbel-top-k with sequential halving; target: prior improved by completed Q (Danihelka et al. 2022).
    Gumbel,
    /// PUCT with Dirichlet noise; target: visit counts (AlphaZero).
    Puct,
}

/// The `[search]` table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchConfig {
    /// Root selection.
    pub root: RootKind,
    /// Gumbel: number of moves drawn for sequential halving, at least 2.
    pub considered: u32,
    /// Gumbel: visits added to the largest visit count in the scale of Q.
    pub c_visit: f32,
    /// Gumbel: scale of Q, which is taken in 0..=1.
    pub c_scale: f32,
    /// PUCT: exploration constant at few visits.
    pub c_puct: f32,
    /// PUCT: visits over which the exploration constant grows (`c + ln((n + base + 1) / base)`).
    pub c_puct_base: f32,
    /// PUCT: an unvisited move counts as the parent's Q minus this times the root of the visited prior mass.
    pub fpu_reduction: f32,
    /// PUCT: concentration of the root's noise; each move's alpha is this divided by the number of moves.
    pub dirichlet_total: f32,
    /// PUCT: share of the noise in the root's priors, 0..=1.
    pub dirichlet_share: f32,
    /// Weight of the draw probability in a leaf's value, -1..=1 (0: a draw is worth 0).
    pub draw_score: f32,
    /// Whether what the network believes of the opponent's pieces weights the chance nodes; else all identities
    /// in the pool are as likely.
    pub belief: bool,
    /// Share by which the priors of a secret decision at the root are drawn towards those of a random one, 0..=1.
    pub secret_anchor: f32,
}
