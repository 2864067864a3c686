//! Latitudes and longitudes of points.

/// The latitudes of the rows and the longitudes of the columns of a regular grid, in degrees.
pub type Axes = (Vec<f64>, Vec<f64>);

/// Where points are, in degrees, in the order of their values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coordinates {
    /// Latitudes, from -90 to 90.
    pub latitudes: Vec<f64>,
    /// Longitudes, at least 0 and below 360.
    pub longitudes: Vec<f64>,
}

impl Coordinates {
    /// No points, with memory for `points` of them. `None` if there is no memory.
    pub(crate) fn with_capacity(points: u32) -> Option<Self> {
        let (mut found, points) = (Self::default(), usize::try_from(points).ok()?);
        found.latitudes.try_reserve_exact(points).ok()?;
        found.longitudes.try_reserve_exact(points).ok()?;
        Some(found)
    }

    pub(crate) fn push(&mut self, latitude: f64, longitude: f64) {
        self.latitudes.push(latitude);
        self.longitudes.push(longitude);
    }

    /// The latitudes of the rows and the longitudes of the columns of a field with this shape, if these say where all points
    /// are. Longitudes that cross 0 or 180 degrees go on without a jump: those on the other side of it are turned by 360 degrees.
    ///
    /// ```
    /// use tgm_grid::Coordinates;
    ///
    /// let points = Coordinates { latitudes: vec![1.0, 1.0, 0.0, 0.0], longitudes: vec![5.0, 6.0, 5.0, 6.0] };
    /// assert_eq!(points.axes(&[2, 2]), Some((vec![1.0, 0.0], vec![5.0, 6.0])));
    /// assert_eq!(points.axes(&[4]), None);
    /// let greenwich = Coordinates { latitudes: vec![50.0; 3], longitudes: vec![358.0, 359.9, 1.8] };
    /// assert_eq!(greenwich.axes(&[1, 3]), Some((vec![50.0], vec![-2.0, -0.1, 1.8])));
    /// ```
    pub fn axes(&self, shape: &[u64]) -> Option<Axes> {
        let Self { latitudes, longitudes } = self;
        let [_, columns] = shape else { return None };
        let columns = usize::try_from(*columns).ok().filter(|columns| *columns > 0)?;
        let first_row = longitudes.get(..columns)?;
        let is_parallel = |row: &[f64]| row.iter().all(|latitude| Some(latitude) == row.first());
        let is_regular =
            latitudes.chunks(columns).all(is_parallel) && longitudes.chunks(columns).all(|row| row == first_row);
        // Latitudes never jump. Here they may stand for longitudes too, where the first dimension is the longitude.
        is_regular.then(|| Self::of_axes(latitudes.iter().step_by(columns).copied().collect(), first_row.to_vec()))
    }

    /// Degrees of rows and columns as [`Self::axes`] gives them.
    pub(crate) fn of_axes(rows: Vec<f64>, columns: Vec<f64>) -> Axes {
        (without_jump(rows), without_jump(columns))
    }
}

/// Degrees along a row that rise or fall all the way, if a turn of 360 degrees is all that they lack for that. The part with the
/// greater numbers is turned, as ecCodes does.
fn without_jump(degrees: Vec<f64>) -> Vec<f64> {
    let steps = || degrees.iter().zip(degrees.iter().skip(1)).map(|(one, next)| next - one);
    let mut jumps = steps().enumerate().filter(|(_, step)| step.abs() > 180.0);
    let (Some((at, jump)), None) = (jumps.next(), jumps.next()) else { return degrees };
    let is_turned = |number: usize| if jump < 0.0 { number <= at } else { number > at };
    // Rounded to the number that people write: 359.9 - 360 is not -0.1.
    let turn = |degree: f64| ((degree - 360.0) * 1e12).round() / 1e12;
    let turned: Vec<f64> =
        degrees.iter().enumerate().map(|(number, it)| if is_turned(number) { turn(*it) } else { *it }).collect();
    let is_even =
        turned.iter().zip(turned.iter().skip(1)).all(|(one, next)| if jump < 0.0 { one < next } else { one > next });
    if is_even { turned } else { degrees }
}

/// The angle between two points as seen from the centre of the sphere, in degrees.
pub(crate) fn angle(a: (f64, f64), b: (f64, f64)) -> f64 {
    let half = |difference: f64| (difference.to_radians() / 2.0).sin().powi(2);
    let cosines = a.0.to_radians().cos() * b.0.to_radians().cos();
    2.0 * (half(a.0 - b.0) + cosines * half(a.1 - b.1)).sqrt().min(1.0).asin().to_degrees()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longitudes_go_on_without_a_jump() {
        let cases: [(&[f64], &[f64]); 7] = [
            (&[340.0, 350.0, 0.0, 10.0], &[-20.0, -10.0, 0.0, 10.0]),
            (&[20.0, 10.0, 0.0, 350.0, 340.0], &[20.0, 10.0, 0.0, -10.0, -20.0]),
            (&[170.0, 180.0, -170.0], &[-190.0, -180.0, -170.0]),
            (&[180.0, 270.0, 0.0, 90.0], &[-180.0, -90.0, 0.0, 90.0]),
            // Nothing to turn, two jumps, and no order.
            (&[0.0, 90.0, 180.0, 270.0], &[0.0, 90.0, 180.0, 270.0]),
            (&[350.0, 0.0, 350.0], &[350.0, 0.0, 350.0]),
            (&[350.0, 0.0, 355.0, 5.0], &[350.0, 0.0, 355.0, 5.0]),
        ];
        for (given, expected) in cases {
            assert_eq!(without_jump(given.to_vec()), expected, "{given:?}");
        }
    }
}
