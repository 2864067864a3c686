//! Latitudes and longitudes of variables of files whose coordinates are x and y of a projection, by the conventions of CF.

use tgm_grid::Mapping;
use tgm_std::Result;

use crate::dataset::Dataset;
use crate::model::{Attribute, Attributes, Coordinate, Values, Variable, text_attribute};

/// Points of which places are computed, at most.
const MOST: usize = 1 << 28;
/// What coordinates say of themselves, and what they are called: x and y in metres, or in degrees of a rotated globe.
const IN_METRES: [[&str; 3]; 2] = [
    ["projection_x_coordinate", "projection_x_angular_coordinate", "x"],
    ["projection_y_coordinate", "projection_y_angular_coordinate", "y"],
];
const IN_DEGREES: [[&str; 3]; 2] =
    [["grid_longitude", "grid_longitude", "rlon"], ["grid_latitude", "grid_latitude", "rlat"]];

impl Dataset {
    /// The latitudes and the longitudes that the grid mapping of a variable says for its x and y: as many as both have together. `None` without
    /// a mapping that is known, or without x and y.
    ///
    /// # Errors
    /// The errors of reading labels.
    pub(crate) fn projected(&self, variable: &Variable) -> Result<Option<(Coordinate, Coordinate)>> {
        let Some(mapping) = self.mapping(variable) else { return Ok(None) };
        let [x, y] = if mapping.is_in_degrees() { IN_DEGREES } else { IN_METRES };
        let (across, up) = (self.along(variable, x, &mapping)?, self.along(variable, y, &mapping)?);
        let (Some(across), Some(up)) = (across, up) else { return Ok(None) };
        let place = |dim: &str| variable.dims.iter().position(|own| own == dim);
        let is_by_column = place(&across.dim) < place(&up.dim);
        let (outer, inner) = if is_by_column { (&across, &up) } else { (&up, &across) };
        if outer.numbers.len().checked_mul(inner.numbers.len()).is_none_or(|count| count > MOST) || across.dim == up.dim
        {
            return Ok(None);
        }
        let points = outer.numbers.iter().flat_map(|outer| inner.numbers.iter().map(move |inner| (*outer, *inner)));
        let places = points
            .map(|(outer, inner)| if is_by_column { mapping.place(outer, inner) } else { mapping.place(inner, outer) });
        let (latitudes, longitudes): (Vec<f64>, Vec<f64>) = places.unzip();
        let dims = vec![outer.dim.clone(), inner.dim.clone()];
        let coordinate = |name: &str, values: Vec<f64>, units: &str| {
            let attributes = vec![
                ("units".to_string(), Attribute::from(units)),
                ("standard_name".to_string(), Attribute::from(name)),
            ];
            Coordinate { name: name.into(), dims: dims.clone(), values: Values::Floats(values), attributes }
        };
        Ok(Some((
            coordinate("latitude", latitudes, "degrees_north"),
            coordinate("longitude", longitudes, "degrees_east"),
        )))
    }

    /// The grid mapping that a variable names.
    fn mapping(&self, variable: &Variable) -> Option<Mapping> {
        // Arrays of programs may have a string of PROJ.
        let grid = text_attribute(&variable.attributes, "grid").filter(|text| text.contains("proj="));
        if let Some(found) = grid.and_then(|text| Mapping::of_proj(text).ok()) {
            return Some(found);
        }
        // The long form of the attribute is "mapping: x y".
        let name = text_attribute(&variable.attributes, "grid_mapping")?.split([' ', ':']).next()?;
        let of_variable = self.variable(name).map(|it| &it.attributes);
        let attributes = of_variable.or_else(|| self.coordinate(name).map(|it| &it.attributes))?;
        let text = |name: &str| text_attribute(attributes, name);
        Mapping::of_cf(text("grid_mapping_name")?, |name| numbers(attributes, name), text)
    }

    /// The coordinate along one dimension of a variable with one of two standard names, or without one and called so, in metres or degrees.
    fn along(
        &self,
        variable: &Variable,
        [standard, angular, called]: [&str; 3],
        mapping: &Mapping,
    ) -> Result<Option<Along>> {
        for dim in &variable.dims {
            let Some(labels) = self.labels(dim)? else { continue };
            let text = |name: &str| text_attribute(&labels.attributes, name);
            let is_it = text("standard_name").map_or(dim == called, |name| name == standard || name == angular);
            if !is_it || labels.dims != [dim.as_str()] {
                continue;
            }
            let unit = match text("units") {
                Some("km" | "kilometer" | "kilometre" | "kilometers" | "kilometres") => 1e3,
                Some("m" | "metre" | "meter" | "metres" | "meters") | None => 1.0,
                Some(units) if units.starts_with("degree") => 1.0,
                Some(units) => match mapping.height().filter(|_| units.starts_with("rad")) {
                    Some(height) => height,
                    None => return Ok(None),
                },
            };
            #[expect(clippy::cast_precision_loss, reason = "metres and degrees are small")]
            let found = match &labels.values {
                Values::Floats(all) => all.iter().map(|number| number * unit).collect(),
                Values::Integers(all) => all.iter().map(|number| *number as f64 * unit).collect(),
                _ => return Ok(None),
            };
            return Ok(Some(Along { dim: dim.clone(), numbers: found }));
        }
        Ok(None)
    }
}

/// Numbers along a dimension.
struct Along {
    dim: String,
    numbers: Vec<f64>,
}

/// The numbers of an attribute.
fn numbers(attributes: &Attributes, name: &str) -> Option<Vec<f64>> {
    let (_, found) = attributes.iter().find(|(known, _)| known == name)?;
    #[expect(clippy::cast_precision_loss, reason = "metres and degrees are small")]
    match found {
        Attribute::Float(number) => Some(vec![*number]),
        Attribute::Integer(number) => Some(vec![*number as f64]),
        Attribute::Floats(all) => Some(all.clone()),
        Attribute::Integers(all) => Some(all.iter().map(|number| *number as f64).collect()),
        Attribute::Text(_) | Attribute::Texts(_) | Attribute::Nested(_) => None,
    }
}
