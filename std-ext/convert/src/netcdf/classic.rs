//! The older forms of NetCDF, which have no groups, read by netCDF-C after [`header`] was checked.

mod header;

use std::ops::Range;

use ciborium::Value;
use netcdf::types::NcVariableType;
use netcdf::{AttributeValue, Extent, File, Variable as Stored};
use tgm_std::internal::reserve;
use tgm_std::{DecodeLimits, Result};

use header::Header;
pub(super) use header::check;

use super::attributes::cbor;
use super::tree::{Attribute, Characters, Dimension, Kind, Layout, Read, Text, Tree, Variable};
use super::types;
use crate::error::{encoding, encoding_from};
use crate::note::Note;
use crate::streamed::Chosen;

/// The most bytes of text that a variable may have.
const MAX_TEXT: usize = 1 << 20;

/// Reads what the file holds, but for values.
pub(super) fn read<'f>(
    file: &'f File,
    header: &Header,
    (len, limits): (u64, &'f DecodeLimits),
    report: &mut dyn FnMut(Note),
) -> Tree<'f> {
    let mut kept = 0;
    let attributes = attributes(file.attributes(), "the file", &mut kept, report);
    let mut tree = Tree {
        attributes,
        groups: Vec::new(),
        variables: Vec::new(),
        texts: Vec::new(),
        dimensions: Vec::new(),
        links: Vec::new(),
    };
    let mut used = Vec::new();
    for variable in file.variables() {
        kept += 1;
        let path = variable.name();
        used.extend(variable.dimensions().iter().map(netcdf::Dimension::name));
        let attributes = self::attributes(variable.attributes(), &path, &mut kept, report);
        if header.is_cut(&path) {
            report(Note::failed(path, encoding("its values lie beyond the end of the file")));
            continue;
        }
        let dimensions = dimensions(&variable);
        if let Some(dtype) = types::dtype(&variable.vartype()) {
            let read: Box<Read<'f>> = Box::new(move |part| values(&variable, dtype.byte_width(), part, (len, limits)));
            tree.variables.push(Variable {
                path,
                kind: Kind::Numbers(dtype),
                dimensions,
                attributes,
                compound: None,
                layout: Layout::Rows,
                stages: Chosen::default(),
                read,
            });
        } else if variable.vartype() == NcVariableType::Char {
            match characters(&variable, (len, limits)) {
                Ok(bytes) => {
                    let (values, characters) = (Vec::new(), Some(Characters::new(bytes)));
                    tree.texts.push(Text { path, dimensions, attributes, values, characters });
                }
                Err(error) => report(Note::failed(path, error)),
            }
        } else {
            report(Note::failed(path, encoding("its type is not known")));
        }
    }
    for dimension in file.dimensions().filter(|dimension| !used.contains(&dimension.name())) {
        tree.dimensions.push((dimension.name(), dimension.len() as u64, dimension.is_unlimited()));
    }
    tree.join();
    if kept != header.counted() {
        let what =
            format!("the header has {} variables and attributes, of which {kept} are kept or listed", header.counted());
        report(Note::failed("the file", encoding(what)));
    }
    tree
}

fn attributes<'a>(
    attributes: impl Iterator<Item = netcdf::Attribute<'a>>,
    place: &str,
    kept: &mut usize,
    report: &mut dyn FnMut(Note),
) -> Vec<Attribute> {
    let mut read = Vec::new();
    for stored in attributes {
        *kept += 1;
        let name = stored.name().to_string();
        match stored.value() {
            Ok(value) => {
                let kind = types::of_attribute(&value);
                let value = match value {
                    // Texts of the older forms can end with NUL, which belongs to no text.
                    AttributeValue::Str(text) => Value::from(text.trim_end_matches('\0')),
                    value => cbor(value),
                };
                read.push(Attribute { name, value, kind });
            }
            Err(error) => report(Note::not_kept(place, format!("attribute {name}: {error}"))),
        }
    }
    read
}

fn dimensions(variable: &Stored<'_>) -> Vec<Dimension> {
    let dimension = |dimension: &netcdf::Dimension<'_>| Dimension {
        name: Some((dimension.name(), String::new())),
        len: dimension.len(),
        is_unlimited: dimension.is_unlimited(),
    };
    variable.dimensions().iter().map(dimension).collect()
}

/// The values of a variable, or of a box of it.
fn values(
    variable: &Stored<'_>,
    width: usize,
    part: Option<&[Range<usize>]>,
    (len, limits): (u64, &DecodeLimits),
) -> Result<Vec<u8>> {
    let whole = || variable.dimensions().iter().map(|dimension| 0..dimension.len()).collect();
    let ranges: Vec<Range<usize>> = part.map_or_else(whole, <[_]>::to_vec);
    let bytes = ranges.iter().try_fold(width, |product, range| product.checked_mul(range.len()));
    let bytes = bytes.ok_or_else(|| encoding("its shape is too large"))?;
    let mut values = reserve(limits.check_bytes(len, bytes as u64)?)?;
    if bytes > 0 {
        let extent = |range: &Range<usize>| Extent::SliceCount { start: range.start, count: range.len(), stride: 1 };
        let extents: Vec<Extent> = ranges.iter().map(extent).collect();
        variable.get_raw_values_into(&mut values, extents).map_err(|error| encoding_from("its values", error))?;
    }
    Ok(values)
}

/// The bytes of a variable of characters.
fn characters(variable: &Stored<'_>, limits: (u64, &DecodeLimits)) -> Result<Vec<u8>> {
    if variable.len() > MAX_TEXT {
        return Err(encoding(format!("its texts have more than {MAX_TEXT} bytes")));
    }
    values(variable, 1, None, limits)
}
