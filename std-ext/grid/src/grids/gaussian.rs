//! Gaussian latitudes: their sines are the roots of the Legendre polynomial of degree 2 N.

use std::f64::consts::PI;

/// The most parallels between a pole and the equator. Grids in use have up to 8000.
pub(crate) const MOST: u32 = 1 << 13;
/// Terms of a Taylor series, after which no digit changes.
const TERMS: u32 = 40;
/// Steps of Newton's method, which doubles the right digits in each.
const STEPS: usize = 4;

/// The latitudes of a grid with `parallels` rows between a pole and the equator, from north to south, in degrees. `None`
/// for no parallels, and for more than any grid has.
///
/// O(N): the series of the polynomial around each root gives the next one (Glaser, Liu and Rokhlin 2007).
pub(crate) fn latitudes(parallels: u32) -> Option<Vec<f64>> {
    if parallels == 0 || parallels > MOST {
        return None;
    }
    let degree = 2 * parallels;
    let mut here = Here::on_the_equator(degree);
    let south = (0..parallels).rev().map(|row| {
        // Where the root would be for an infinite degree.
        here.go_to_root_near((PI * (f64::from(row) + 0.75) / (f64::from(degree) + 0.5)).cos());
        -here.sine.asin().to_degrees()
    });
    let south: Vec<_> = south.collect();
    let north = south.iter().rev().map(|latitude| -latitude);
    Some(north.chain(south.iter().copied()).collect())
}

/// The Legendre polynomial and its slope at a place. Both have a factor in common, which moves no root.
struct Here {
    /// The degree `n` by `n + 1`.
    product: f64,
    sine: f64,
    value: f64,
    slope: f64,
}

impl Here {
    /// A polynomial of even degree has an extreme there.
    fn on_the_equator(degree: u32) -> Self {
        let degree = f64::from(degree);
        Self { product: degree * (degree + 1.0), sine: 0.0, value: 1.0, slope: 0.0 }
    }

    fn go_to_root_near(&mut self, guess: f64) {
        let reach = guess - self.sine;
        let terms = self.terms(reach);
        let (mut at, mut slope) = (1.0, 0.0);
        for _ in 0..STEPS {
            let value;
            (value, slope) = sum(&terms, at);
            at -= value / slope;
        }
        *self = Self { product: self.product, sine: self.sine + at * reach, value: 0.0, slope: slope / reach };
    }

    /// The terms of the Taylor series from here for a distance, by the differential equation that Legendre polynomials solve:
    /// (1 − x²) u″ − 2 x u′ + n (n + 1) u = 0.
    fn terms(&self, reach: f64) -> [f64; TERMS as usize] {
        let mut terms = [0.0; TERMS as usize];
        let (mut term, mut next) = (self.value, self.slope * reach);
        for (k, place) in (0..TERMS).map(f64::from).zip(&mut terms) {
            *place = term;
            let pushed = 2.0 * self.sine * (k + 1.0) * (k + 1.0) * reach * next;
            let pulled = (self.product - k * (k + 1.0)) * reach * reach * term;
            let after = (pushed - pulled) / ((1.0 - self.sine * self.sine) * (k + 1.0) * (k + 2.0));
            (term, next) = (next, after);
        }
        terms
    }
}

/// What a series of terms and its derivative are for a part of the distance.
fn sum(terms: &[f64], at: f64) -> (f64, f64) {
    let add = |(value, slope): (f64, f64), term: &f64| (value * at + term, slope * at + value);
    terms.iter().rev().fold((0.0, 0.0), add)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn latitudes_are_those_of_tables() {
        let found = latitudes(1).unwrap();
        // The sine is one over the square root of three.
        assert!(
            (found[0] - (1.0_f64 / 3.0).sqrt().asin().to_degrees()).abs() < 1e-12
                && (found[0] + found[1]).abs() < 1e-15
        );
        let found = latitudes(32).unwrap();
        for (latitude, known) in found.iter().zip([87.863_799, 85.096_527, 82.312_913]) {
            assert!((latitude - known).abs() < 1e-6, "{latitude}");
        }
        assert_eq!(found.len(), 64);
        assert!(found.windows(2).all(|pair| pair[0] > pair[1]));
        assert!(latitudes(0).is_none() && latitudes(u32::MAX).is_none());
    }

    /// The polynomial by its recurrence, which takes no series, changes its sign around each latitude.
    #[test]
    fn sines_of_latitudes_are_roots_for_small_and_large_grids() {
        let polynomial = |degree: u32, at: f64| {
            let step =
                |(before, value): (f64, f64), n: f64| (value, ((2.0 * n - 1.0) * at * value - (n - 1.0) * before) / n);
            (2..=degree).map(f64::from).fold((1.0, at), step).1
        };
        for (parallels, rows) in [(2, 1), (3, 1), (48, 1), (320, 1), (1280, 17), (MOST, 509)] {
            let found = latitudes(parallels).unwrap();
            for latitude in found.iter().step_by(rows) {
                let [below, above] =
                    [-1e-9, 1e-9].map(|apart| polynomial(2 * parallels, (latitude + apart).to_radians().sin()));
                assert!(below * above < 0.0, "{parallels}: {latitude}");
            }
        }
    }
}
