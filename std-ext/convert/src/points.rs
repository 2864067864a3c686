//! Files with the coordinates of unstructured grids, as ICON and ocean models have them.
//!
//! | file | what it has |
//! |---|---|
//! | `.nc`, feature `netcdf` | variables with one of the names of [`KnownPoints::NAMES`], in degrees, or in radians as `units` say; the attribute `uuidOfHGrid` |
//! | `.npz`, feature `npz`; messages | arrays with these names; `units` of an object may say radians |

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use ciborium::Value;
use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_grid::{Coordinates, KnownPoints};
use tgm_std::{DecodeOptions, Result, TensogramError, scan};

use crate::arrays::{Array, Arrays};
use crate::error::encoding;

/// The points that a file has. Takes 16 bytes for each, and the file if it is not NetCDF.
///
/// # Errors
/// [`TensogramError::Io`]; the errors of the file's format; [`TensogramError::Encoding`] for a file without coordinates.
pub fn read(path: &Path, options: &DecodeOptions) -> Result<KnownPoints> {
    let io = |error: std::io::Error| TensogramError::io(path, &error);
    let mut start = Vec::new();
    File::open(path).map_err(io)?.take(START).read_to_end(&mut start).map_err(io)?;
    let found = if start.starts_with(b"\x89HDF") || start.starts_with(b"CDF") {
        of_netcdf(path, options)?
    } else {
        let bytes = std::fs::read(path).map_err(io)?;
        let arrays = arrays(&bytes, options)?;
        known(&|name| Ok(numbers(&arrays, name)), &|_| None)?
    };
    found.ok_or_else(|| {
        let names = KnownPoints::NAMES.map(|(latitudes, longitudes)| format!("{latitudes} and {longitudes}"));
        encoding(format!("{}: it has no coordinates of a grid, such as {}", path.display(), names.join(", ")))
    })
}

/// How many bytes at the start say which format it is.
const START: u64 = 8;

#[cfg(feature = "netcdf")]
fn of_netcdf(path: &Path, options: &DecodeOptions) -> Result<Option<KnownPoints>> {
    crate::netcdf::known::with_numbers(path, &options.limits, known)
}

#[cfg(not(feature = "netcdf"))]
fn of_netcdf(path: &Path, _: &DecodeOptions) -> Result<Option<KnownPoints>> {
    let text = "this build reads no NetCDF: feature `netcdf` does. An .npz of its coordinates in degrees, `clat` and `clon` say, is read too";
    Err(encoding(format!("{}: {text}", path.display())))
}

/// The arrays of an archive of numpy, or of messages.
fn arrays<'a>(bytes: &'a [u8], options: &DecodeOptions) -> Result<Vec<Array<'a>>> {
    #[cfg(feature = "npz")]
    if crate::npz::MAGICS.iter().any(|magic| bytes.starts_with(magic)) {
        return Ok(crate::npz::read(bytes, crate::arrays::Bools::Bitmask, options)?.arrays);
    }
    let mut found = Vec::new();
    for (start, len) in scan(bytes) {
        let message = bytes.get(start..).and_then(|rest| rest.get(..len)).unwrap_or_default();
        found.extend(Arrays::decode(message, options)?.arrays);
    }
    Ok(found)
}

/// The numbers of the array with a name, if they are floats, and their units.
fn numbers(arrays: &[Array<'_>], name: &str) -> Option<Numbers> {
    let array = arrays.iter().find(|array| array.name() == Some(name))?;
    let values = array.values_in(ByteOrder::NATIVE);
    let floats = match array.descriptor.dtype {
        Dtype::Float64 => values.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect(),
        Dtype::Float32 => values.as_chunks().0.iter().map(|bytes| f32::from_ne_bytes(*bytes).into()).collect(),
        _ => return None,
    };
    let of_file = array
        .metadata
        .get("attributes")
        .and_then(Value::as_map)
        .and_then(|map| map.iter().find(|(key, _)| key.as_text() == Some(UNITS)).map(|(_, value)| value));
    let units = array.metadata.get(UNITS).or(of_file).and_then(Value::as_text).map(str::to_string);
    Some((floats, units))
}

const UNITS: &str = "units";

/// Floats, and their units.
type Numbers = (Vec<f64>, Option<String>);

/// The sets of points whose names are there, and the identity of the grid. `None` if there is no set.
fn known(
    numbers: &dyn Fn(&str) -> Result<Option<Numbers>>,
    text: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<KnownPoints>> {
    let mut sets = Vec::new();
    for (latitudes, longitudes) in KnownPoints::NAMES {
        let (Some(latitudes), Some(longitudes)) = (numbers(latitudes)?, numbers(longitudes)?) else { continue };
        let (latitudes, mut longitudes) = (degrees(latitudes), degrees(longitudes));
        for longitude in &mut longitudes {
            *longitude = longitude.rem_euclid(360.0);
        }
        if latitudes.len() == longitudes.len() {
            sets.push(Coordinates { latitudes, longitudes });
        }
    }
    let uuid = text(KnownPoints::UUID).and_then(|text| KnownPoints::parse_uuid(&text));
    Ok((!sets.is_empty()).then(|| KnownPoints::new(sets, uuid)))
}

/// Numbers in degrees.
fn degrees((mut numbers, units): Numbers) -> Vec<f64> {
    if units.is_some_and(|units| units.trim_start().starts_with("rad")) {
        for number in &mut numbers {
            *number = number.to_degrees();
        }
    }
    numbers
}
