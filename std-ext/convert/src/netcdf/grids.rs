//! Where the points of fields from GRIB are, as variables of latitudes and longitudes.

use netcdf::FileMut;
use tgm_grid::Places;

use crate::dimensions::Dimensions;
use crate::names::Names;
use crate::tree::OwnDimensions;

/// The grids of a file. Fields on the same grid share its variables.
#[derive(Debug, Default)]
pub(super) struct Grids {
    known: Vec<(OwnDimensions, Vec<u64>, Places)>,
}

/// Names and units of CF.
const LATITUDE: (&str, &str) = ("latitude", "degrees_north");
const LONGITUDE: (&str, &str) = ("longitude", "degrees_east");

impl Grids {
    /// The grid of a field with this shape. A new one is written.
    pub(super) fn take(
        &mut self,
        shape: &[u64],
        places: Places,
        (file, names, dimensions): (&mut FileMut, &mut Names, &mut Dimensions),
    ) -> Result<OwnDimensions, netcdf::Error> {
        let is_same = |(_, known, other): &&(OwnDimensions, Vec<u64>, Places)| known == shape && *other == places;
        if let Some((grid, ..)) = self.known.iter().find(is_same) {
            return Ok(grid.clone());
        }
        let mut free = |wanted: &str| loop {
            let name = names.take(wanted);
            if !dimensions.is_there(&name) {
                return name;
            }
        };
        let grid = if let Places::Regular(regular) = &places {
            let (rows, columns) = regular.axes();
            let mut names = [free(LATITUDE.0), free(LONGITUDE.0)];
            for ((name, values), kind) in names.iter().zip([rows, columns]).zip([LATITUDE, LONGITUDE]) {
                dimensions.add_own(name, values.len() as u64);
                file.add_dimension(name, values.len())?;
                add_variable(file, name, &[name], &values, kind)?;
            }
            if regular.is_by_column() {
                names.reverse();
            }
            OwnDimensions { names: Some(names.into()), variables: None }
        } else {
            let wanted = if shape.len() == 2 { &["y", "x"][..] } else { &["point"] };
            let own: Vec<String> = wanted.iter().map(|name| free(name)).collect();
            let variables = [free(LATITUDE.0), free(LONGITUDE.0)];
            for (name, len) in own.iter().zip(shape) {
                dimensions.add_own(name, *len);
                file.add_dimension(name, usize::try_from(*len)?)?;
            }
            let own_names: Vec<&str> = own.iter().map(String::as_str).collect();
            let points = places.points().unwrap_or_default();
            let values = [points.latitudes, points.longitudes];
            for ((name, values), kind) in variables.iter().zip(values).zip([LATITUDE, LONGITUDE]) {
                add_variable(file, name, &own_names, &values, kind)?;
            }
            OwnDimensions { names: Some(own), variables: Some(variables.join(" ")) }
        };
        self.known.push((grid.clone(), shape.to_vec(), places));
        Ok(grid)
    }
}

fn add_variable(
    file: &mut FileMut,
    name: &str,
    dimensions: &[&str],
    values: &[f64],
    (standard_name, units): (&str, &str),
) -> Result<(), netcdf::Error> {
    let mut variable = file.add_variable::<f64>(name, dimensions)?;
    variable.put_attribute("standard_name", standard_name)?;
    variable.put_attribute("units", units)?;
    variable.put_values(values, ..)
}
