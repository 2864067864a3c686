//! Lines in a picture.

/// Lines of points as shares of an area, from its top left.
pub type Lines = Vec<Vec<(f64, f64)>>;
