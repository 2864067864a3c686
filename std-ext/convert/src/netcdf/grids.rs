//! Where the points of fields from GRIB are, as variables of latitudes and longitudes.

use netcdf::FileMut;

use crate::dimensions::Dimensions;
use crate::grib2::Coordinates;
use crate::names::Names;

/// The grids of a file. Fields on the same grid share its variables.
#[derive(Debug, Default)]
pub(super) struct Grids {
    known: Vec<(Grid, Vec<u64>, Coordinates)>,
}

/// What a field says of its grid.
#[derive(Clone, Debug, Default)]
pub(super) struct Grid {
    /// The dimensions of the field.
    pub(super) dimensions: Vec<String>,
    /// The variables with the latitude and the longitude of each point, where dimensions do not say them.
    pub(super) variables: Option<String>,
}

/// Names and units of CF.
const LATITUDE: (&str, &str) = ("latitude", "degrees_north");
const LONGITUDE: (&str, &str) = ("longitude", "degrees_east");

impl Grids {
    /// The grid of a field with this shape. A new one is written.
    pub(super) fn take(
        &mut self,
        shape: &[u64],
        coordinates: Coordinates,
        (file, names, dimensions): (&mut FileMut, &mut Names, &mut Dimensions),
    ) -> Result<Grid, netcdf::Error> {
        let is_same = |(_, known, points): &&(Grid, Vec<u64>, Coordinates)| known == shape && *points == coordinates;
        if let Some((grid, ..)) = self.known.iter().find(is_same) {
            return Ok(grid.clone());
        }
        let Coordinates { latitudes, longitudes } = &coordinates;
        let mut free = |wanted: &str| loop {
            let name = names.take(wanted);
            if !dimensions.is_there(&name) {
                return name;
            }
        };
        let grid = if let Some((rows, columns)) = coordinates.axes(shape) {
            let names = [free(LATITUDE.0), free(LONGITUDE.0)];
            for ((name, values), kind) in names.iter().zip([rows, columns]).zip([LATITUDE, LONGITUDE]) {
                dimensions.add_own(name, values.len() as u64);
                file.add_dimension(name, values.len())?;
                add_variable(file, name, &[name], &values, kind)?;
            }
            Grid { dimensions: names.into(), variables: None }
        } else {
            let wanted = if shape.len() == 2 { &["y", "x"][..] } else { &["point"] };
            let own: Vec<String> = wanted.iter().map(|name| free(name)).collect();
            let variables = [free(LATITUDE.0), free(LONGITUDE.0)];
            for (name, len) in own.iter().zip(shape) {
                dimensions.add_own(name, *len);
                file.add_dimension(name, usize::try_from(*len)?)?;
            }
            let own_names: Vec<&str> = own.iter().map(String::as_str).collect();
            for ((name, values), kind) in variables.iter().zip([latitudes, longitudes]).zip([LATITUDE, LONGITUDE]) {
                add_variable(file, name, &own_names, values, kind)?;
            }
            Grid { dimensions: own, variables: Some(variables.join(" ")) }
        };
        self.known.push((grid.clone(), shape.to_vec(), coordinates));
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
