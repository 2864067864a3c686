//! Latitudes and longitudes of points.

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
    /// are.
    ///
    /// ```
    /// use tgm_grid::Coordinates;
    ///
    /// let points = Coordinates { latitudes: vec![1.0, 1.0, 0.0, 0.0], longitudes: vec![5.0, 6.0, 5.0, 6.0] };
    /// assert_eq!(points.axes(&[2, 2]), Some((vec![1.0, 0.0], vec![5.0, 6.0])));
    /// assert_eq!(points.axes(&[4]), None);
    /// ```
    pub fn axes(&self, shape: &[u64]) -> Option<(Vec<f64>, Vec<f64>)> {
        let Self { latitudes, longitudes } = self;
        let [_, columns] = shape else { return None };
        let columns = usize::try_from(*columns).ok().filter(|columns| *columns > 0)?;
        let first_row = longitudes.get(..columns)?;
        let is_parallel = |row: &[f64]| row.iter().all(|latitude| Some(latitude) == row.first());
        let is_regular =
            latitudes.chunks(columns).all(is_parallel) && longitudes.chunks(columns).all(|row| row == first_row);
        is_regular.then(|| (latitudes.iter().step_by(columns).copied().collect(), first_row.to_vec()))
    }
}
