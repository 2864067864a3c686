//! Parts of the globe.

/// The edges of a part of the globe, in degrees. `east` is more than `west`, and at most 360 degrees more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) west: f64,
    pub(crate) east: f64,
    pub(crate) north: f64,
    pub(crate) south: f64,
}

impl Bounds {
    /// Degrees from west to east, and from north to south.
    pub(crate) fn size(&self) -> (f64, f64) {
        (self.east - self.west, self.north - self.south)
    }

    /// Where a longitude and a latitude are, as shares from the top left.
    pub(crate) fn share(&self, (longitude, latitude): (f64, f64)) -> (f64, f64) {
        let (width, height) = self.size();
        ((longitude - self.west) / width, (self.north - latitude) / height)
    }
}
