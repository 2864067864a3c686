//! Gaussian latitudes: their sines are the roots of the Legendre polynomial of degree 2 N.

use std::f64::consts::PI;

/// The most parallels between a pole and the equator: as many take half a second of work. Grids in use have up to 8000.
pub(crate) const MOST: u32 = 1 << 13;
/// Steps of Newton's method, which doubles the right digits in each.
const STEPS: usize = 10;
/// A step after which all digits are right.
const LAST_STEP: f64 = 1e-9;

/// The latitudes of a grid with `parallels` rows between a pole and the equator, from north to south, in degrees. `None`
/// for no parallels, and for more than any grid has.
///
/// O(N²).
pub(crate) fn latitudes(parallels: u32) -> Option<Vec<f64>> {
    if parallels == 0 || parallels > MOST {
        return None;
    }
    let degree = 2 * parallels;
    let north = (0..parallels).map(|row| {
        // Where the root would be for an infinite degree.
        let mut root = (PI * (f64::from(row) + 0.75) / (f64::from(degree) + 0.5)).cos();
        for _ in 0..STEPS {
            let step = newton(degree, root);
            root -= step;
            if step.abs() < LAST_STEP {
                break;
            }
        }
        root.asin().to_degrees()
    });
    let north: Vec<_> = north.collect();
    let south = north.iter().rev().map(|latitude| -latitude);
    Some(north.iter().copied().chain(south).collect())
}

/// The polynomial of a degree, divided by its derivative.
fn newton(degree: u32, at: f64) -> f64 {
    let (mut before, mut value) = (1.0, at);
    for n in 2..=degree {
        let n = f64::from(n);
        (before, value) = (value, ((2.0 * n - 1.0) * at * value - (n - 1.0) * before) / n);
    }
    let slope = f64::from(degree) * (before - at * value) / (1.0 - at * at);
    value / slope
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
}
