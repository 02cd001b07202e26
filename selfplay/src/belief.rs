//! What the network believes of pieces that the viewer does not know, made consistent with the pools.
use crate::policy::SQUARES;

/// How much likelier than the pool alone says a square's unknown piece is of each kind.
///
/// With `p` the probability believed at the root and `n` the unseen pieces of that kind then, an entry is
/// `p / n`, so that the weight of an identity anywhere below the root is the entry times the unseen pieces left.
#[derive(Clone, Debug)]
pub struct Beliefs {
    /// `[square][kind]`, absolute squares; 1 everywhere: as the pool says.
    pub ratio: [[f32; 7]; SQUARES],
}

impl Default for Beliefs {
    fn default() -> Self {
        let ratio = [[1.0; 7]; SQUARES];
        Beliefs { ratio }
    }
}
