//! What the network believes of pieces that the viewer does not know, made consistent with the pools.
use crate::policy::SQUARES;

/// How much likelier than the pool alone says a square's unknown piece is of each kind.
///
/// With `p` the probability believed at the root, `n` the unseen pieces of that kind then and `N` all
/// unseen pieces, an entry is `p / (n / N)`. The weight of an identity anywhere below the root is the entry times
/// the unseen pieces of the kind that are left there.
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

/// Unknown pieces of one side: at most all but the king.
const PIECES: usize = 15;
/// No belief is taken to be surer than this leaves room for: with zeros, some beliefs fit no pool.
const DOUBT: f64 = 1e-6;
/// Rounds of balancing at most, and the error of a pool's sum at which it ends. Each round nears the limit by
/// a factor that is small unless beliefs are sure and contradict the pool, where a rough answer will do.
const ROUNDS: usize = 1000;
const PRECISION: f64 = 1e-6;

impl Beliefs {
    /// Takes up what is believed of some of one side's unknown pieces: of the one on each of `squares`
    /// (absolute), `believed` says how likely it is an A, B, N, R, C, P. `pool`: that side's unseen pieces of each
    /// kind (K A B N R C P), at least as many as squares.
    ///
    /// The table squares x kinds is scaled by a factor a row and a factor a column so that the rows sum to 1
    /// and the columns to the pool (Sinkhorn 1967): of all tables with those sums the one that is nearest
    /// to the beliefs, by relative entropy. Pieces beyond those on `squares`, taken unseen, are one more row, of
    /// which the mean of the others is believed.
    pub fn balance(&mut self, squares: &[usize], believed: &[[f32; 6]], pool: &[u8; 7]) {
        let squares = &squares[..squares.len().min(PIECES).min(believed.len())];
        let unseen: f64 = pool.iter().map(|&n| f64::from(n)).sum();
        let beyond = unseen - squares.len() as f64;
        if squares.is_empty() || beyond < 0.0 {
            return;
        }
        let mut table = [[0.0; 6]; PIECES + 1];
        let mut sums = [1.0; PIECES + 1];
        let (rows, last) = table.split_at_mut(squares.len());
        sums[squares.len()] = beyond;
        for (row, believed) in rows.iter_mut().zip(believed) {
            for (kind, cell) in row.iter_mut().enumerate() {
                *cell = f64::from(believed[kind]).max(DOUBT);
                last[0][kind] += *cell;
            }
        }
        let rows = squares.len() + usize::from(beyond > 0.0);
        scale(&mut table[..rows], &sums[..rows], pool);
        for (&square, row) in squares.iter().zip(&table) {
            for (kind, probability) in row.iter().enumerate() {
                let share = f64::from(pool[kind + 1]) / unseen;
                let ratio = if share > 0.0 {
                    probability / share
                } else {
                    1.0
                };
                self.ratio[square][kind + 1] = ratio as f32;
            }
        }
    }
}

/// Scales rows and columns in turn until they sum to `sums` and to the pool.
fn scale(table: &mut [[f64; 6]], sums: &[f64], pool: &[u8; 7]) {
    for _ in 0..ROUNDS {
        let mut off = 0f64;
        for (kind, &n) in pool[1..].iter().enumerate() {
            let sum: f64 = table.iter().map(|row| row[kind]).sum();
            off = off.max((sum - f64::from(n)).abs());
            let factor = if n == 0 { 0.0 } else { f64::from(n) / sum };
            table.iter_mut().for_each(|row| row[kind] *= factor);
        }
        for (row, sum) in table.iter_mut().zip(sums) {
            let factor = sum / row.iter().sum::<f64>();
            row.iter_mut().for_each(|cell| *cell *= factor);
        }
        if off < PRECISION {
            return;
        }
    }
}
