//! Sections 1 and 2 as metadata.

use super::super::dates::{Day, hhmm};
use super::super::entries::{Entries, add};
use super::super::error::GribError;
use super::super::fields::Field;
use super::super::keys::GribKeys;

/// The entries of `grib` and of `mars` for a field.
///
/// # Errors
/// [`GribErrorKind::ShortSection`](super::super::GribErrorKind::ShortSection).
pub(in super::super) fn entries(field: &Field<'_>, _keys: GribKeys) -> Result<(Entries, Entries), GribError> {
    let section = field.identification;
    let century = i64::from(section.u8(25)?);
    let day =
        Day::new((century - 1) * 100 + i64::from(section.u8(13)?), section.u8(14)?.into(), section.u8(15)?.into());
    let time = hhmm(section.u8(16)?.into(), section.u8(17)?.into());
    let mut grib = Vec::new();
    add(&mut grib, "centre", Some(section.u8(5)?));
    add(&mut grib, "subCentre", Some(section.u8(26)?));
    add(&mut grib, "tablesVersion", Some(section.u8(4)?));
    add(&mut grib, "indicatorOfParameter", Some(section.u8(9)?));
    add(&mut grib, "indicatorOfTypeOfLevel", Some(section.u8(10)?));
    add(&mut grib, "level", Some(section.u16(11)?));
    add(&mut grib, "date", Some(day.number()));
    add(&mut grib, "time", Some(time * 100));
    Ok((grib, Vec::new()))
}
