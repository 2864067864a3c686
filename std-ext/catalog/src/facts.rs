//! Facts: what the metadata and the descriptor of an object say, as far as they say what the object is and where it lies among
//! others. A dataset is made of them.
//!
//! A fact has a path and a value. Values are what CBOR has for them, unless the path begins with `#`.

use tgm_core::cbor::{Kind, Value};
use tgm_core::descriptor::{Descriptor, Dtype, Encoding};
use tgm_core::metadata::{MessageMetadata, ObjectMetadata, RESERVED_KEY};
use tgm_grid::{GridError, GridSection};
use tgm_std::{Result, TensogramError};

/// The type of an object's elements, by its name.
pub const DTYPE: &str = "#dtype";
/// The shape of an object, as numbers of 8 bytes, the lowest byte first.
pub const SHAPE: &str = "#shape";
/// The section of GRIB that says the grid.
pub const GRID: &str = "#grid";
/// There, and empty, if elements are packed, and `float32` tells all of them apart.
pub const FITS_FLOAT32: &str = "#float32";
/// What stands before keys of messages that say something of the message itself.
pub const EXTRA: &str = "_extra_.";

/// Keys whose values are taken whole, whatever they are.
const WHOLE: [&str; 8] = ["area", "attributes", "dim_names", "dimensions", "netcdf", "place", "time", "zarr"];
/// The same, of messages.
const WHOLE_OF_MESSAGES: [&str; 10] =
    ["attributes", "dim_names", "dimensions", "groups", "netcdf", "part", "record", "texts", "unlimited", "zarr"];
/// Whether a key of GRIB says how a field is stored, or repeats what another fact says: section 3 is a fact as a whole. All other keys
/// can tell fields apart.
const fn is_of_storage(key: &str) -> bool {
    // Lengths are compared first, which a search in a list does not do.
    matches!(
        key.as_bytes(),
        b"biFourierResolutionParameterM"
            | b"biFourierResolutionParameterN"
            | b"biFourierTruncationType"
            | b"centralLongitude"
            | b"data"
            | b"dataRepresentationTemplateNumber"
            | b"dataRepresentationType"
            | b"Di"
            | b"Dj"
            | b"Dx"
            | b"dx"
            | b"Dy"
            | b"dy"
            | b"field"
            | b"fields"
            | b"firstFixedSurfaceName"
            | b"gridDefinitionTemplateNumber"
            | b"gridPointPosition"
            | b"groups"
            | b"iDirectionIncrement"
            | b"J"
            | b"jDirectionIncrement"
            | b"K"
            | b"LaD"
            | b"Latin"
            | b"Latin1"
            | b"Latin2"
            | b"latitudeOfFirstGridPoint"
            | b"latitudeOfLastGridPoint"
            | b"latitudeOfReferencePoint"
            | b"latitudeOfSouthernPole"
            | b"latitudeOfSubSatellitePoint"
            | b"lengths"
            | b"longitudeOfFirstGridPoint"
            | b"longitudeOfLastGridPoint"
            | b"longitudeOfReferencePoint"
            | b"longitudeOfSouthernPole"
            | b"longitudeOfSubSatellitePoint"
            | b"LoV"
            | b"M"
            | b"N"
            | b"Ni"
            | b"Nj"
            | b"Nr"
            | b"NrInRadiusOfEarth"
            | b"Nside"
            | b"numberOfDataPoints"
            | b"Nx"
            | b"Ny"
            | b"ordering"
            | b"orientationOfTheGrid"
            | b"roomy"
            // The level says it.
            | b"scaledValueOfFirstFixedSurface"
            | b"scaleFactorOfFirstFixedSurface"
            | b"scanningMode"
            | b"standardParallel"
            | b"unused"
            | b"X1"
            | b"Xo"
            | b"Xp"
            | b"XpInGridLengths"
            | b"XR"
            | b"Y1"
            | b"Yo"
            | b"Yp"
            | b"YpInGridLengths"
            | b"YR"
    )
}

/// What takes facts.
pub trait FactSink {
    /// Takes a fact.
    fn fact(&mut self, path: &str, value: &[u8]);

    /// Whether [`Self::unread`] is wanted. It takes some time.
    fn wants_unread(&self) -> bool {
        false
    }

    /// Takes a key that is not a fact.
    fn unread(&mut self, _path: &str) {}
}

/// Tells facts of the objects of one message, one after the other.
#[derive(Debug, Default)]
pub struct Facts<'a> {
    path: String,
    /// The section of GRIB that says the grid, of the object before. It holds on.
    section: Option<&'a [u8]>,
}

impl<'a> Facts<'a> {
    /// Says what a message says: facts of the message itself, whose paths begin with [`EXTRA`], and facts of all of its objects.
    /// Where an object says something else under the same path, that counts.
    ///
    /// # Errors
    /// The errors of reading metadata.
    pub fn of_message(&mut self, metadata: &MessageMetadata<'_>, sink: &mut impl FactSink) -> Result<()> {
        for entry in metadata.frame().extra_entries() {
            let (key, value) = entry?;
            let Ok(key) = key.as_str() else { continue };
            if WHOLE_OF_MESSAGES.contains(&key) {
                sink.fact(self.joined(EXTRA, key), value.as_encoded());
            } else {
                self.add_entry(key, &value, sink)?;
            }
        }
        Ok(())
    }

    /// Says what an object says.
    ///
    /// # Errors
    /// The errors of reading metadata.
    pub fn of_object(
        &mut self,
        about: &ObjectMetadata<'a>,
        descriptor: &Descriptor<'_>,
        sink: &mut impl FactSink,
    ) -> Result<()> {
        let mut is_of_grib = false;
        for entry in about.entries() {
            let (key, value) = entry?;
            let Ok(key) = key.as_str() else { continue };
            if key == "grib" && value.kind() == Kind::Map {
                for entry in &value.as_map()? {
                    let (key, value) = entry?;
                    let Ok(key) = key.as_str() else { continue };
                    if key == "sections" {
                        is_of_grib = true;
                        self.section = section_of(&value)?.or(self.section);
                    } else if is_of_storage(key) {
                        self.leave("grib.", key, sink);
                    } else {
                        self.add_scalar("grib", key, &value, sink);
                    }
                }
            } else {
                self.add_entry(key, &value, sink)?;
            }
        }
        if let Some(section) = self.section.filter(|_| is_of_grib) {
            sink.fact(GRID, section);
        }
        sink.fact(DTYPE, descriptor.dtype().name().as_bytes());
        let shape: Vec<u8> = descriptor.shape().iter().flat_map(u64::to_le_bytes).collect();
        sink.fact(SHAPE, &shape);
        if fits_float32(descriptor) {
            sink.fact(FITS_FLOAT32, &[]);
        }
        Ok(())
    }

    /// Adds a key at the top, and what its map holds.
    fn add_entry(&mut self, key: &str, value: &Value<'_>, sink: &mut impl FactSink) -> Result<()> {
        if key == RESERVED_KEY || key.is_empty() {
            return Ok(());
        }
        match value.kind() {
            _ if WHOLE.contains(&key) && matches!(value.kind(), Kind::Map | Kind::Array) => {
                sink.fact(key, value.as_encoded());
            }
            Kind::Map => {
                for entry in &value.as_map()? {
                    let (inner, value) = entry?;
                    if let Ok(inner) = inner.as_str() {
                        self.add_scalar(key, inner, &value, sink);
                    }
                }
            }
            Kind::Array | Kind::Bytes | Kind::Null => self.leave("", key, sink),
            _ => sink.fact(key, value.as_encoded()),
        }
        Ok(())
    }

    /// Adds a key of a map. Bounds of a grid are the only list.
    fn add_scalar(&mut self, map: &str, key: &str, value: &Value<'_>, sink: &mut impl FactSink) {
        let is_scalar = !matches!(value.kind(), Kind::Map | Kind::Array | Kind::Bytes | Kind::Null);
        if is_scalar || (key == "area" && value.kind() == Kind::Array) {
            self.path.clear();
            self.path.push_str(map);
            self.path.push('.');
            self.path.push_str(key);
            sink.fact(&self.path, value.as_encoded());
        } else if sink.wants_unread() {
            sink.unread(&format!("{map}.{key}"));
        }
    }

    /// Notes a key that is not read.
    fn leave(&mut self, map: &str, key: &str, sink: &mut impl FactSink) {
        if sink.wants_unread() {
            sink.unread(self.joined(map, key));
        }
    }

    fn joined(&mut self, map: &str, key: &str) -> &str {
        self.path.clear();
        self.path.push_str(map);
        self.path.push_str(key);
        &self.path
    }
}

/// The section that says the grid, of the sections that an object has.
fn section_of<'a>(sections: &Value<'a>) -> Result<Option<&'a [u8]>> {
    GridSection::among(sections).map_err(|error| match error {
        GridError::Metadata(error) => error.into(),
        error => TensogramError::Metadata(error.to_string().into()),
    })
}

/// Whether packed values of 64 bits stay apart in 32: rounding moves none of them by more than a quarter of the distance to
/// the next.
fn fits_float32(descriptor: &Descriptor<'_>) -> bool {
    if descriptor.dtype() != Dtype::Float64 || descriptor.encoding().known() != Some(Encoding::SimplePacking) {
        return false;
    }
    let Ok(packing) = descriptor.packing() else { return false };
    let step = packing.scale();
    let last = packing.reference_value + step * (2_f64.powi(packing.bits_per_value.cast_signed()) - 1.0);
    let most = packing.reference_value.abs().max(last.abs());
    let is_normal = |number: f64| number < f64::from(f32::MAX) && number > 1e-30;
    match packing.bits_per_value {
        // One value for all.
        0 => most == 0.0 || is_normal(most),
        _ => is_normal(most) && is_normal(step) && most / 16_777_216.0 <= step / 4.0,
    }
}
