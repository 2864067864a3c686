//! Grid mappings in the words of CF (conventions 1.11, appendix F).

use crate::coordinates::Axes;

/// A grid mapping: its name and its attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct CfMapping {
    /// `grid_mapping_name`.
    pub name: &'static str,
    /// Attributes with their numbers, one or two each.
    pub numbers: Vec<(&'static str, Vec<f64>)>,
    /// Attributes that are texts.
    pub texts: Vec<(&'static str, &'static str)>,
}

impl CfMapping {
    /// A mapping whose attributes are single numbers.
    pub(crate) fn new<const N: usize>(name: &'static str, numbers: [(&'static str, f64); N]) -> Self {
        Self { name, numbers: numbers.map(|(name, number)| (name, vec![number])).to_vec(), texts: vec![] }
    }

    /// The same with one more attribute.
    pub(crate) fn with(mut self, name: &'static str, numbers: &[f64]) -> Self {
        self.numbers.push((name, numbers.to_vec()));
        self
    }

    /// The numbers of an attribute.
    pub fn number(&self, name: &str) -> Option<Vec<f64>> {
        self.numbers.iter().find(|(known, _)| *known == name).map(|(_, numbers)| numbers.clone())
    }

    /// The text of an attribute.
    pub fn text(&self, name: &str) -> Option<&'static str> {
        self.texts.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    /// Whether x and y are degrees. Otherwise they are metres.
    pub fn is_in_degrees(&self) -> bool {
        self.name == Self::ROTATED
    }

    /// Whether rows are parallels, so that latitudes and longitudes say where all points are.
    pub fn has_parallels(&self) -> bool {
        self.name == Self::MERCATOR
    }

    /// The name of a cylinder around the equator.
    pub(crate) const MERCATOR: &'static str = "mercator";
    /// The name of a rotated globe.
    pub(crate) const ROTATED: &'static str = "rotated_latitude_longitude";
}

/// A grid whose rows and columns lie evenly on a plane, or on a rotated globe.
#[derive(Clone, Debug, PartialEq)]
pub struct Projected {
    /// How x and y become latitude and longitude.
    pub mapping: CfMapping,
    /// y of the rows and x of the columns: metres, or degrees of a rotated globe.
    pub axes: Axes,
    /// Whether the first dimension of a field is x.
    pub is_by_column: bool,
}
