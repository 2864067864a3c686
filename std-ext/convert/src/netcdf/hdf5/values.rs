//! Values of datasets.

use half::f16;
use std::ops::Range;

use hdf5_metno::dataset::Layout as Stored;
use hdf5_metno::filters::Filter;
use hdf5_metno::plist::dataset_create::FillTime;
use hdf5_metno::types::{EnumType, FloatSize, H5Type, IntSize, TypeDescriptor};
use hdf5_metno::{Dataset, Hyperslab, Selection, SliceOrIndex};
use ndarray::IxDyn;
use num_complex::{Complex32, Complex64};
use tgm_core::descriptor::Dtype;
use tgm_dataset::reading::gather;
use tgm_std::{DecodeLimits, Reason, Result};

use super::super::tree::{Characters, Dimension, Kind, Layout, Text, Tree, Variable};
use super::Ledger;
use super::attributes::{self, Of, named, texts_of_dataset};
use super::compound::{self, Within};
use super::scales::{NOT_COORDINATE, Scales};
use crate::error::{encoding, reason_of};
use crate::note::Note;
use crate::pieces::{Side, copy_box};
use crate::streamed::Chosen;

/// The most bytes of text that a variable may have.
const MAX_TEXT: usize = 1 << 20;

/// Adds a dataset to what the file holds. What is not kept is reported.
pub(super) fn add<'f>(
    tree: &mut Tree<'f>,
    path: &str,
    dataset: Dataset,
    (scales, len, limits): (&Scales, u64, &'f DecodeLimits),
    ledger: &mut Ledger,
    report: &mut dyn FnMut(Note),
) {
    let (group, name) = path.rsplit_once('/').unwrap_or(("", path));
    let name = name.strip_prefix(NOT_COORDINATE).unwrap_or(name);
    let path = super::path_in(group, name);
    let attributes = attributes::read(&dataset, &path, Of::Dataset, ledger, report);
    if let Some((len, is_unlimited)) = scales.without_variable(&dataset) {
        tree.dimensions.push((path, len, is_unlimited));
        return;
    }
    if let Err(what) = stored_here(&dataset) {
        report(Note::failed(path, encoding(what)));
        return;
    }
    if dataset.space().is_ok_and(|space| space.is_null()) {
        report(Note::not_kept(path, "the variable: it has no shape and no value"));
        return;
    }
    let described = dataset.dtype().map_err(reason_of).and_then(|dtype| {
        let unknown = |error| Reason::with_source(unknown_type(dtype.size(), &error), None, error);
        dtype.to_descriptor().map_err(unknown)
    });
    let descriptor = match described {
        Ok(descriptor) => descriptor,
        Err(what) => {
            report(Note::failed(path, encoding(what).within("its type is not kept")));
            return;
        }
    };
    let dimensions = scales.dimensions(&dataset, &mut |what| {
        report(Note::failed(path.as_str(), encoding(what).within("a dimension has no name")));
    });
    let layout = layout(&dataset);
    if let Some(kind) = kind(&descriptor) {
        let read = reader(dataset, &kind, &dimensions, Vec::new(), (len, limits));
        tree.variables.push(Variable {
            path,
            kind,
            dimensions,
            attributes,
            compound: None,
            layout,
            stages: Chosen::default(),
            read,
        });
        return;
    }
    if let TypeDescriptor::Compound(compound) = &descriptor {
        for (field, own) in compound::fields(compound) {
            let place = format!("{path}.{}", field.join("."));
            let Some(kind) = kind(own) else {
                let what = format!("its type is {}", named(own));
                report(Note::failed(place, encoding(what).within("the field is not kept")));
                continue;
            };
            tree.variables.push(Variable {
                path: place,
                read: reader(dataset.clone(), &kind, &dimensions, field, (len, limits)),
                kind,
                dimensions: dimensions.clone(),
                attributes: attributes.clone(),
                compound: Some(path.clone()),
                layout: layout.clone(),
                stages: Chosen::default(),
            });
        }
        return;
    }
    let not_kept = |what| encoding(what).within("the variable is not kept");
    let len = match &descriptor {
        TypeDescriptor::FixedAscii(len) | TypeDescriptor::FixedUnicode(len) => (*len).max(1),
        TypeDescriptor::VarLenAscii | TypeDescriptor::VarLenUnicode => 1,
        other => {
            report(Note::failed(path, not_kept(Reason::from(format!("its type is {}", named(other))))));
            return;
        }
    };
    // An unlimited dimension can be longer than what is stored.
    let (own, shape) = (dataset.shape(), dimensions.iter().map(|dimension| dimension.len).collect::<Vec<_>>());
    let room = shape.iter().try_fold(len, |product, dim| product.checked_mul(*dim));
    if room.is_none_or(|room| room > MAX_TEXT) {
        let what = format!("its type is {}, which is not kept beyond {MAX_TEXT} bytes", named(&descriptor));
        report(Note::failed(path, encoding(what)));
        return;
    }
    let texts = if let Some(bytes) = attributes::characters(&dataset, &descriptor) {
        let bytes = bytes.map_err(not_kept).and_then(|bytes| whole(bytes, &own, &shape, 0));
        bytes.map(|bytes| (Vec::new(), Some(Characters::new(bytes))))
    } else {
        let texts = texts_of_dataset(&dataset, &descriptor, MAX_TEXT).map_err(not_kept);
        texts.and_then(|texts| whole(texts, &own, &shape, String::new())).map(|texts| (texts, None))
    };
    match texts {
        Ok((values, characters)) => tree.texts.push(Text { path, dimensions, attributes, values, characters }),
        Err(error) => report(Note::failed(path, error)),
    }
}

/// Values of the shape `own` in the shape of their dimensions.
fn whole<T: Clone>(values: Vec<T>, own: &[usize], shape: &[usize], fill: T) -> Result<Vec<T>> {
    if own == shape {
        return Ok(values);
    }
    pasted((&values, own, &vec![0; own.len()]), own, (shape, fill))
}

/// The type that the bindings do not describe, as far as they say.
fn unknown_type(size: usize, error: &hdf5_metno::Error) -> String {
    match error.to_string() {
        what if what.contains("float") => format!("floats of {size} bytes, such as long double"),
        what if what.contains("integer") => format!("integers of {size} bytes"),
        what if what.contains("class") => "opaque, bits or times".into(),
        what => what,
    }
}

/// Checks that the values lie in the file, and that HDF5 reads them by itself.
fn stored_here(dataset: &Dataset) -> Result<(), Reason> {
    let list = dataset.dcpl().map_err(reason_of)?;
    if list.get_layout().map_err(reason_of)? == Stored::Virtual {
        return Err("it is put together from other datasets, which are not read".into());
    }
    if !list.get_external().map_err(reason_of)?.is_empty() {
        return Err("its values lie in other files, which are not read".into());
    }
    for filter in list.get_filters().map_err(reason_of)? {
        if let Filter::User(number, _) = filter {
            return Err(format!("its filter {number} is not part of HDF5 or h5py").into());
        }
    }
    Ok(())
}

/// How the values lie in the file.
fn layout(dataset: &Dataset) -> Layout {
    // A box is read into memory that nothing has written to: see `part`.
    if dataset.dcpl().and_then(|list| list.get_fill_time()).map_or(true, |time| time == FillTime::Never) {
        return Layout::Whole;
    }
    dataset.chunk().map_or(Layout::Rows, Layout::Chunks)
}

/// What the values are. `None` for those that are not numbers.
fn kind(descriptor: &TypeDescriptor) -> Option<Kind> {
    let complex = |size: FloatSize| match size {
        FloatSize::U4 => Some(Dtype::Complex64),
        FloatSize::U8 => Some(Dtype::Complex128),
        FloatSize::U2 => None,
    };
    Some(match descriptor {
        TypeDescriptor::Integer(size) => Kind::Numbers(integer(*size, true)),
        TypeDescriptor::Unsigned(size) => Kind::Numbers(integer(*size, false)),
        TypeDescriptor::Float(FloatSize::U2) => Kind::Numbers(Dtype::Float16),
        TypeDescriptor::Float(FloatSize::U4) => Kind::Numbers(Dtype::Float32),
        TypeDescriptor::Float(FloatSize::U8) => Kind::Numbers(Dtype::Float64),
        TypeDescriptor::Boolean => Kind::Bools,
        TypeDescriptor::Enum(EnumType { size, signed, members }) => {
            let width = 8 * *size as u32;
            let value = |value: u64| if *signed { sign_extended(value, width) } else { i128::from(value) };
            let names = members.iter().map(|member| (member.name.clone(), value(member.value))).collect();
            Kind::Named(integer(*size, *signed), names)
        }
        TypeDescriptor::Compound(compound) => Kind::Numbers(complex(compound::parts(compound)?)?),
        _ => return None,
    })
}

const fn integer(size: IntSize, is_signed: bool) -> Dtype {
    match (size, is_signed) {
        (IntSize::U1, true) => Dtype::Int8,
        (IntSize::U2, true) => Dtype::Int16,
        (IntSize::U4, true) => Dtype::Int32,
        (IntSize::U8, true) => Dtype::Int64,
        (IntSize::U1, false) => Dtype::Uint8,
        (IntSize::U2, false) => Dtype::Uint16,
        (IntSize::U4, false) => Dtype::Uint32,
        (IntSize::U8, false) => Dtype::Uint64,
    }
}

fn sign_extended(value: u64, width: u32) -> i128 {
    let spare = 64_u32.saturating_sub(width);
    i128::from((value << spare).cast_signed() >> spare)
}

/// What reads the values of a dataset.
fn reader<'f>(
    dataset: Dataset,
    kind: &Kind,
    dimensions: &[Dimension],
    field: Vec<String>,
    (len, limits): (u64, &'f DecodeLimits),
) -> Box<super::super::tree::Read<'f>> {
    let dtype = kind.dtype();
    let shape: Vec<usize> = dimensions.iter().map(|dimension| dimension.len).collect();
    macro_rules! each {
        ($($dtype:ident $type:ty: $zero:expr, $bytes:expr);*) => {
            match dtype {
                $(Dtype::$dtype => Box::new(move |part| {
                    let values = part_of::<$type>(&field, &dataset, (&shape, part), $zero, (len, limits))?;
                    gather(values.into_iter().map(|value| Ok($bytes(value))))
                }),)*
                other => Box::new(move |_| Err(encoding(format!("{other} is not read")))),
            }
        };
    }
    each!(
        Int8 i8: 0, i8::to_ne_bytes;
        Int16 i16: 0, i16::to_ne_bytes;
        Int32 i32: 0, i32::to_ne_bytes;
        Int64 i64: 0, i64::to_ne_bytes;
        Uint8 u8: 0, u8::to_ne_bytes;
        Uint16 u16: 0, u16::to_ne_bytes;
        Uint32 u32: 0, u32::to_ne_bytes;
        Uint64 u64: 0, u64::to_ne_bytes;
        Float16 f16: f16::ZERO, f16::to_ne_bytes;
        Float32 f32: 0.0, f32::to_ne_bytes;
        Float64 f64: 0.0, f64::to_ne_bytes;
        Complex64 Complex32: Complex32::new(0.0, 0.0), (|value: Complex32| -> [u8; 8] { zerocopy::transmute!([value.re, value.im]) });
        Complex128 Complex64: Complex64::new(0.0, 0.0), (|value: Complex64| -> [u8; 16] { zerocopy::transmute!([value.re, value.im]) })
    )
}

/// [`part`] of the values of a field. Without names these are all values.
fn part_of<T: H5Type + Copy>(
    field: &[String],
    dataset: &Dataset,
    wanted: (&[usize], Option<&[Range<usize>]>),
    zero: T,
    limits: (u64, &DecodeLimits),
) -> Result<Vec<T>> {
    if field.is_empty() {
        return part(dataset, wanted, zero, limits);
    }
    let values = compound::read(field, || part(dataset, wanted, Within(zero), limits))?;
    Ok(values.into_iter().map(|Within(value)| value).collect())
}

/// The values of a dataset in the shape that its dimensions have, or of a box of it. A dataset can be shorter than an unlimited
/// dimension: the rest is its fill value.
fn part<T: H5Type + Copy>(
    dataset: &Dataset,
    (shape, part): (&[usize], Option<&[Range<usize>]>),
    zero: T,
    (len, limits): (u64, &DecodeLimits),
) -> Result<Vec<T>> {
    let failed = |error: hdf5_metno::Error| encoding(reason_of(error));
    let ranges: Vec<Range<usize>> = part.map_or_else(|| shape.iter().map(|len| 0..*len).collect(), <[_]>::to_vec);
    let wanted: Vec<usize> = ranges.iter().map(ExactSizeIterator::len).collect();
    let own = dataset.shape();
    if own.len() != ranges.len() {
        return Err(encoding(format!("an array of {own:?} does not fit its dimensions, {shape:?}")));
    }
    let check = |shape: &[usize]| {
        let bytes = shape.iter().try_fold(size_of::<T>(), |product, dim| product.checked_mul(*dim));
        limits.check_bytes(len, bytes.map_or(u64::MAX, |bytes| bytes as u64))
    };
    check(&wanted)?;
    let list = dataset.dcpl().map_err(failed)?;
    let fill = list.get_fill_value_as::<T>().ok().flatten().unwrap_or(zero);
    let stored = ranges.iter().zip(&own).map(|(range, len)| range.start.min(*len)..range.end.min(*len));
    let stored: Vec<Range<usize>> = stored.collect();
    let stored_shape: Vec<usize> = stored.iter().map(ExactSizeIterator::len).collect();
    if stored_shape.contains(&0) {
        return filled(&wanted, fill);
    }
    let origin: Vec<usize> = stored.iter().map(|range| range.start).collect();
    // Memory that is not written to would be handed out as values.
    let values = if stored_shape != own && list.get_fill_time().map_err(failed)? != FillTime::Never {
        let slab: Vec<SliceOrIndex> = stored.into_iter().map(SliceOrIndex::from).collect();
        let selection = Selection::from(Hyperslab::from(slab));
        // Row-major, from the first element on.
        dataset.read_slice::<T, _, IxDyn>(selection).map_err(failed)?.into_raw_vec_and_offset().0
    } else {
        check(&own)?;
        let mut values = filled(&own, zero)?;
        dataset.as_reader().read_into_raw(&mut values).map_err(failed)?;
        if stored_shape == own {
            values
        } else {
            pasted((&values, &own, &origin), &stored_shape, (&stored_shape, zero))?
        }
    };
    if stored_shape == wanted {
        return Ok(values);
    }
    pasted((&values, &stored_shape, &vec![0; wanted.len()]), &stored_shape, (&wanted, fill))
}

/// An array of one value.
fn filled<T: Clone>(shape: &[usize], value: T) -> Result<Vec<T>> {
    let count = shape.iter().try_fold(1_usize, |product, dim| product.checked_mul(*dim));
    let count =
        count.ok_or_else(|| encoding(format!("an array of {shape:?} has more values than there are addresses")))?;
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|_| encoding(format!("cannot allocate {count} values")))?;
    values.resize(count, value);
    Ok(values)
}

/// A box of an array at the start of another one, which is filled.
fn pasted<T: Clone>(from: Side<'_, &[T]>, shape: &[usize], (whole, fill): (&[usize], T)) -> Result<Vec<T>> {
    let mut values = filled(whole, fill)?;
    copy_box(from, (&mut values, whole, &vec![0; whole.len()]), shape)?;
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_lie_at_the_start_of_larger_ones() {
        let padded = |values: &[i32], own: &[usize], whole: &[usize], fill| {
            pasted((values, own, &vec![0; own.len()]), own, (whole, fill)).ok()
        };
        assert_eq!(padded(&[1, 2, 3, 4], &[2, 2], &[3, 3], 0), Some(vec![1, 2, 0, 3, 4, 0, 0, 0, 0]));
        assert_eq!(padded(&[1, 2], &[1, 2, 1], &[2, 2, 2], 9), Some(vec![1, 9, 2, 9, 9, 9, 9, 9]));
        assert_eq!(padded(&[], &[2, 0], &[2, 1], 7), Some(vec![7, 7]));
        assert_eq!([sign_extended(255, 8), sign_extended(127, 8), sign_extended(u64::MAX, 64)], [-1, 127, -1]);
    }
}
