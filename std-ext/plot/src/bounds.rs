//! Parts of the globe.

/// The edges of a part of the globe, in degrees. `east` is more than `west`, and at most 360 degrees more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Degrees east of the left edge.
    pub west: f64,
    /// Degrees east of the right edge. They are more than at the left edge.
    pub east: f64,
    /// Degrees north of the upper edge.
    pub north: f64,
    /// Degrees north of the lower edge.
    pub south: f64,
}

impl Bounds {
    /// Degrees from west to east, and from north to south.
    pub fn size(&self) -> (f64, f64) {
        (self.east - self.west, self.north - self.south)
    }

    /// Where a longitude and a latitude are, as shares from the top left.
    pub fn share(&self, (longitude, latitude): (f64, f64)) -> (f64, f64) {
        let (width, height) = self.size();
        ((longitude - self.west) / width, (self.north - latitude) / height)
    }
}
