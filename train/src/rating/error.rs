//! Why players cannot be rated.
use thiserror::Error;

/// Why a set of results gives no ratings.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum RatingError {
    /// There is nothing to rate.
    #[error("there are no games to rate")]
    NoGames,
    /// A player met itself.
    #[error("{0} plays against itself: two players need two names")]
    Itself(String),
    /// More games of two players than can be counted.
    #[error("{0} and {1} have more than 4 294 967 295 games")]
    TooMany(String, String),
    /// An anchor that is not among the players.
    #[error("the anchor {name} is not among the players: {}", players.join(", "))]
    UnknownAnchor {
        /// The anchor.
        name: String,
        /// All who have games.
        players: Vec<String>,
    },
    /// An anchor's rating is not a number of Elo.
    #[error("the anchor {name} has the rating {elo}: expected a number of Elo within ±{max}")]
    AnchorRating {
        /// The anchor.
        name: String,
        /// Its rating.
        elo: f64,
        /// The greatest rating that is accepted.
        max: f64,
    },
    /// The weight of the prior is not one.
    #[error("prior_games is {0}: expected a finite number of games, at least 0")]
    Prior(f64),
    /// Groups of players without a game between them.
    #[error(
        "no games connect these groups of players, so their ratings cannot be compared: {}. \
         Play games between the groups, or anchor a player in each",
        groups.iter().map(|group| format!("[{}]", group.join(", "))).collect::<Vec<_>>().join(", ")
    )]
    Disconnected {
        /// The groups' names, each sorted, by their first name.
        groups: Vec<Vec<String>>,
    },
    /// The likelihood has no finite maximum.
    #[error(
        "the likelihood of the ratings has no finite maximum: some players won or lost every game against the \
         others, or every game was drawn. A prior_games above 0 keeps the ratings finite"
    )]
    NoMaximum,
}
