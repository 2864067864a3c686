//! Arrays in pieces: an object for each box of an array.
//!
//! Whatever reads one point of an array decodes the object that has it. So large arrays become several objects:
//!
//! | made of | the place of a piece, in the metadata of its object |
//! |---|---|
//! | NetCDF and HDF5 | `netcdf.origin`, `netcdf.shape` of the whole array, `netcdf.chunk_shape` |
//! | Zarr | `zarr.origin`; the message has the description of the array under `zarr.array` |

use std::collections::{BTreeMap, BTreeSet};
#[cfg(feature = "netcdf")]
use std::ops::Range;

use ciborium::Value;
use tgm_core::descriptor::Dtype;
use tgm_std::Result;

use crate::error::encoding;
use crate::maps::get;
use crate::texts::TEXTS;

/// What becomes an object.
#[cfg(any(feature = "netcdf", feature = "zarr"))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chunks {
    /// In NetCDF each array of up to 16 MiB, and boxes of whole chunks with about 4 MiB of larger ones. In Zarr each array of up to
    /// 64 MiB, and each stored chunk of larger ones; if some chunks of an array cannot be read, each of the others.
    #[default]
    Fit,
    /// Each chunk that is stored. Those at the edge are cut to the array's shape. An array without chunks is one. More chunks of
    /// NetCDF than the limit of objects are joined as above, and more chunks of Zarr are an error.
    Keep,
    /// Each array.
    Join,
}

/// Bytes of a piece, where chunks are smaller.
#[cfg(feature = "netcdf")]
const PIECE: u64 = 4 << 20;

const ORIGIN: &str = "origin";
const SHAPE: &str = "shape";
const CHUNK_SHAPE: &str = "chunk_shape";
/// What to do about chunks that are missing.
const JOIN: &str = "Arrays that are joined when Zarr is read have all values";

/// The place of an object in an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) origin: Vec<u64>,
    /// The shape of the array.
    pub(crate) whole: Vec<u64>,
    /// The shape of pieces that are not at the edge.
    pub(crate) chunk: Vec<u64>,
}

impl Piece {
    /// The place of an object of this shape, by its metadata and by the metadata of its message. `None` for a whole array, and for one that
    /// does not lie in the array that it names.
    pub(crate) fn of(entry: &BTreeMap<String, Value>, extra: &BTreeMap<String, Value>, shape: &[u64]) -> Option<Self> {
        let of_netcdf = || {
            let own = entry.get("netcdf")?;
            Some((numbers(own, &[ORIGIN])?, numbers(own, &[SHAPE])?, numbers(own, &[CHUNK_SHAPE])?))
        };
        let of_zarr = || {
            let (own, message) = (entry.get("zarr")?, extra.get("zarr")?);
            let chunk = numbers(message, &["array", "chunk_grid", "configuration", CHUNK_SHAPE])?;
            Some((numbers(own, &[ORIGIN])?, numbers(message, &["array", SHAPE])?, chunk))
        };
        let (origin, whole, chunk) = of_netcdf().or_else(of_zarr)?;
        let dims = shape.len();
        let is_array = origin.len() == dims && whole.len() == dims && chunk.len() == dims && !chunk.contains(&0);
        let ends = origin.iter().zip(shape).map(|(at, len)| at.checked_add(*len));
        let is_within = ends.zip(&whole).all(|(end, len)| end.is_some_and(|end| end <= *len));
        // A chunk may be longer than the array.
        let chunk = chunk.iter().zip(&whole).map(|(chunk, len)| (*chunk).min((*len).max(1))).collect();
        (is_array && is_within).then_some(Self { origin, whole, chunk })
    }

    /// Whether a piece of this shape is one of those that lie beside each other, `chunk` after `chunk`.
    fn is_of_grid(&self, shape: &[u64]) -> bool {
        let mut axes = self.origin.iter().zip(&self.whole).zip(self.chunk.iter().zip(shape));
        axes.all(|((start, whole), (chunk, len))| {
            start % chunk == 0 && *len == whole.saturating_sub(*start).min(*chunk)
        })
    }

    /// The entries of `netcdf` that tell this place.
    #[cfg(feature = "netcdf")]
    pub(crate) fn entries(&self) -> [(Value, Value); 3] {
        let list = |numbers: &[u64]| Value::Array(numbers.iter().map(|number| (*number).into()).collect());
        [(ORIGIN, &self.origin), (SHAPE, &self.whole), (CHUNK_SHAPE, &self.chunk)]
            .map(|(key, numbers)| (key.into(), list(numbers)))
    }

    /// Removes the place from the metadata of an object.
    pub(crate) fn forget(entry: &mut BTreeMap<String, Value>) {
        entry.remove("zarr");
        let Some(Value::Map(own)) = entry.get_mut("netcdf") else { return };
        own.retain(|(key, _)| !matches!(key.as_text(), Some(ORIGIN | SHAPE | CHUNK_SHAPE)));
        if own.is_empty() {
            entry.remove("netcdf");
        }
    }
}

/// For each object of a message, given as its metadata, shape and type: the number of the first object of its array, and its place
/// in the array. `None` for a whole array, and for pieces that are not all of one. Then a sentence on each array of
/// which pieces are missing: Zarr does not store chunks that hold the fill value alone.
pub(crate) fn of_message<'m>(
    extra: &BTreeMap<String, Value>,
    objects: impl Iterator<Item = (Option<&'m BTreeMap<String, Value>>, Vec<u64>, Dtype)>,
) -> (Vec<Option<(usize, Piece)>>, Vec<String>) {
    let (mut found, mut arrays, mut is_empty) =
        (Vec::new(), BTreeMap::<String, Array>::new(), !extra.contains_key(TEXTS));
    for (index, (entry, shape, dtype)) in objects.enumerate() {
        is_empty = false;
        let place = entry.and_then(|entry| Some((entry.get("name")?.as_text()?, Piece::of(entry, extra, &shape)?)));
        found.push(place.map(|(name, piece)| {
            let count = shape.iter().fold(1_u64, |count, len| count.saturating_mul(*len));
            let known = arrays.entry(name.to_string()).or_insert_with(|| Array {
                first: index,
                whole: piece.whole.clone(),
                chunk: piece.chunk.clone(),
                dtype,
                places: BTreeSet::new(),
                count: 0,
                is_sound: true,
            });
            known.count = known.count.saturating_add(count);
            let is_first = known.places.insert(piece.origin.clone());
            let is_like = (&known.whole, &known.chunk, known.dtype) == (&piece.whole, &piece.chunk, dtype);
            known.is_sound &= is_first && is_like && piece.is_of_grid(&shape);
            (name.to_string(), piece)
        }));
    }
    let whole = |(name, piece): (String, Piece)| {
        let array = arrays.get(&name)?;
        array.is_whole().then_some((array.first, piece))
    };
    let places = found.into_iter().map(|place| place.and_then(whole)).collect();
    let incomplete = arrays.iter().filter(|(_, array)| !array.is_whole()).map(|(name, _)| {
        format!("array {name}: chunks are missing, so each of the others is an array of its own. {JOIN}")
    });
    let without = extra.get("zarr").filter(|_| is_empty).and_then(Value::as_map).map(|zarr| {
        let name = get(zarr, "path").and_then(Value::as_text).unwrap_or_default();
        format!("array {name}: it has no chunks, so it is left out. {JOIN}")
    });
    (places, incomplete.chain(without).collect())
}

/// What the pieces of an array so far have in common.
struct Array {
    first: usize,
    whole: Vec<u64>,
    chunk: Vec<u64>,
    dtype: Dtype,
    places: BTreeSet<Vec<u64>>,
    /// Elements of all pieces.
    count: u64,
    /// Whether no two lie in one place, and all are of one array.
    is_sound: bool,
}

impl Array {
    fn is_whole(&self) -> bool {
        let count = self.whole.iter().try_fold(1_u64, |count, len| count.checked_mul(*len));
        self.is_sound && count == Some(self.count)
    }
}

/// The list of numbers at a path of maps.
fn numbers(value: &Value, path: &[&str]) -> Option<Vec<u64>> {
    let found = path.iter().try_fold(value, |value, wanted| {
        value.as_map()?.iter().find(|(key, _)| key.as_text() == Some(wanted)).map(|(_, value)| value)
    })?;
    found.as_array()?.iter().map(|number| u64::try_from(number.as_integer()?).ok()).collect()
}

/// The shape of pieces of an array that has such chunks: whole chunks that lie side by side, with about 4 MiB.
#[cfg(feature = "netcdf")]
pub(crate) fn piece_shape(shape: &[usize], chunk: &[usize], width: usize) -> Vec<usize> {
    let mut piece: Vec<usize> = chunk.iter().zip(shape).map(|(chunk, len)| (*chunk).clamp(1, (*len).max(1))).collect();
    let mut bytes = piece.iter().fold(width as u64, |bytes, len| bytes.saturating_mul(*len as u64)).max(1);
    for (len, whole) in piece.iter_mut().zip(shape).rev() {
        let times = usize::try_from(PIECE / bytes).unwrap_or(usize::MAX).min(whole.div_ceil(*len));
        if times < 2 && *len < *whole {
            break;
        }
        let longer = len.saturating_mul(times.max(1)).min(*whole);
        bytes = bytes.saturating_mul(longer as u64 / (*len).max(1) as u64).max(1);
        *len = longer.max(1);
        if longer < *whole {
            break;
        }
    }
    piece
}

/// The boxes of an array in pieces, in order.
#[cfg(feature = "netcdf")]
pub(crate) fn boxes(shape: &[usize], piece: &[usize]) -> impl Iterator<Item = Vec<Range<usize>>> + use<> {
    let axes: Vec<(usize, usize, usize)> =
        shape.iter().zip(piece).map(|(len, piece)| (len.div_ceil(*piece), *piece, *len)).collect();
    let count = axes.iter().fold(1_usize, |count, (pieces, ..)| count.saturating_mul(*pieces));
    (0..count).map(move |number| {
        let mut rest = number;
        let mut ranges: Vec<Range<usize>> = Vec::with_capacity(axes.len());
        for (pieces, piece, len) in axes.iter().rev() {
            let start = rest % pieces * piece;
            rest /= pieces;
            ranges.push(start..start.saturating_add(*piece).min(*len));
        }
        ranges.reverse();
        ranges
    })
}

/// An array, or a box of one: its elements, its shape, and the first index of what is copied.
pub(crate) type Side<'a, T> = (T, &'a [usize], &'a [usize]);

/// Copies the elements of a box from one array to another, of the same number of dimensions.
///
/// # Errors
/// [`tgm_std::TensogramError::Encoding`] if the box is not within both.
pub(crate) fn copy_box<T: Clone>(
    (from, from_shape, from_origin): Side<'_, &[T]>,
    (to, to_shape, to_origin): Side<'_, &mut [T]>,
    shape: &[usize],
) -> Result<()> {
    let misplaced = || encoding(format!("a box of {shape:?} is not within arrays of {from_shape:?} and {to_shape:?}"));
    let is_within = |whole: &[usize], origin: &[usize]| {
        let ends = origin.iter().zip(shape).map(|(at, len)| at.checked_add(*len));
        let is_box = ends.zip(whole).all(|(end, len)| end.is_some_and(|end| end <= *len));
        is_box && whole.len() == shape.len() && origin.len() == shape.len()
    };
    if !is_within(from_shape, from_origin) || !is_within(to_shape, to_origin) {
        return Err(misplaced());
    }
    if shape.contains(&0) {
        return Ok(());
    }
    let (row, outer) = shape.split_last().map_or((1, &[][..]), |(row, outer)| (*row, outer));
    let rows: usize = outer.iter().product();
    // Where a row of the box begins in an array.
    let start = |mut number: usize, whole: &[usize], origin: &[usize]| {
        let (mut step, mut start) = (1, 0);
        for (axis, (len, at)) in whole.iter().zip(origin).enumerate().rev() {
            let index = if let Some(own) = outer.get(axis) {
                let index = number % own;
                number /= own;
                index
            } else {
                0
            };
            start += (at + index) * step;
            step *= len;
        }
        start
    };
    for number in 0..rows {
        let (source, target) = (start(number, from_shape, from_origin), start(number, to_shape, to_origin));
        let values = from.get(source..source + row).ok_or_else(misplaced)?;
        to.get_mut(target..target + row).ok_or_else(misplaced)?.clone_from_slice(values);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_copied_between_arrays() {
        let from: Vec<u8> = (0..24).collect();
        let mut to = [99; 12];
        // Elements 1..3, 0..2, 2..4 of an array of 3 × 2 × 4.
        copy_box((&from, &[3, 2, 4], &[1, 0, 2]), (&mut to, &[2, 2, 3], &[0, 0, 1]), &[2, 2, 2]).unwrap();
        assert_eq!(to, [99, 10, 11, 99, 14, 15, 99, 18, 19, 99, 22, 23]);
        let mut one = [0];
        copy_box((&[7], &[], &[]), (&mut one, &[], &[]), &[]).unwrap();
        assert_eq!(one, [7]);
        assert!(copy_box((&from, &[3, 8], &[2, 0]), (&mut [0; 16], &[2, 8], &[0, 0]), &[2, 8]).is_err());
        assert!(copy_box((&from, &[24], &[0]), (&mut to, &[3, 4], &[0, 0]), &[1]).is_err());
    }

    #[test]
    fn pieces_are_of_an_array_if_they_are_all_of_it() {
        let list = |numbers: &[u64]| Value::Array(numbers.iter().map(|number| (*number).into()).collect());
        let piece = |origin: u64, whole: u64| {
            let place = [(ORIGIN, origin), (SHAPE, whole), (CHUNK_SHAPE, 2)].map(|(key, it)| (key.into(), list(&[it])));
            BTreeMap::from([("name".to_string(), "a".into()), ("netcdf".into(), Value::Map(place.to_vec()))])
        };
        let firsts = |pieces: &[(BTreeMap<String, Value>, u64, Dtype)]| -> Vec<Option<usize>> {
            let objects = pieces.iter().map(|(entry, len, dtype)| (Some(entry), vec![*len], *dtype));
            of_message(&BTreeMap::new(), objects).0.into_iter().map(|place| place.map(|(first, _)| first)).collect()
        };
        let (int, float) = (Dtype::Int32, Dtype::Float32);
        let one = (piece(0, 5), 2, int);
        assert_eq!(firsts(&[(piece(4, 5), 1, int), one.clone(), (piece(2, 5), 2, int)]), [Some(0); 3]);
        for (why, others) in [
            ("one is missing", vec![(piece(2, 5), 2, int)]),
            ("two lie in one place", vec![(piece(0, 5), 2, int), (piece(4, 5), 1, int)]),
            ("one lies between two places", vec![(piece(1, 5), 2, int), (piece(4, 5), 1, int)]),
            ("one is shorter", vec![(piece(2, 5), 1, int), (piece(4, 5), 1, int), (piece(3, 5), 1, int)]),
            ("one has another type", vec![(piece(2, 5), 2, float), (piece(4, 5), 1, int)]),
            ("one is of another array", vec![(piece(2, 5), 2, int), (piece(4, 6), 1, int)]),
            ("one is not within its array", vec![(piece(2, 5), 2, int), (piece(5, 5), 1, int)]),
        ] {
            assert_eq!(firsts(&[vec![one.clone()], others].concat()).into_iter().flatten().count(), 0, "{why}");
        }
    }

    #[test]
    fn arrays_without_some_or_all_of_their_pieces_are_listed() {
        let list = |number: u64| Value::Array(vec![number.into()]);
        let map = |entries: &[(&str, Value)]| {
            Value::Map(entries.iter().map(|(key, value)| ((*key).into(), value.clone())).collect())
        };
        let grid = map(&[("configuration", map(&[(CHUNK_SHAPE, list(2))]))]);
        let array = map(&[(SHAPE, list(4)), ("chunk_grid", grid)]);
        let extra = BTreeMap::from([("zarr".to_string(), map(&[("path", "a".into()), ("array", array)]))]);
        let entry =
            |origin| BTreeMap::from([("name".into(), "a".into()), ("zarr".into(), map(&[(ORIGIN, list(origin))]))]);
        let listed = |extra: &BTreeMap<String, Value>, origins: &[u64]| {
            let entries: Vec<_> = origins.iter().map(|origin| entry(*origin)).collect();
            let objects = entries.iter().map(|entry| (Some(entry), vec![2], Dtype::Int8));
            of_message(extra, objects).1.join(" ")
        };
        assert_eq!(listed(&extra, &[0, 2]), "");
        assert!(listed(&extra, &[2]).starts_with("array a: chunks are missing"));
        assert!(listed(&extra, &[]).starts_with("array a: it has no chunks"));
        let with_texts = [extra, BTreeMap::from([(TEXTS.to_string(), map(&[]))])].into_iter().flatten().collect();
        assert_eq!(listed(&with_texts, &[]), "");
    }

    #[cfg(feature = "netcdf")]
    #[test]
    fn pieces_are_whole_chunks_of_about_4_mib() {
        type Lens = &'static [usize];
        let cases: [(Lens, Lens, usize, Lens); 7] = [
            (&[96, 721, 1440], &[1, 721, 1440], 4, &[1, 721, 1440]),
            (&[96, 721, 1440], &[1, 100, 100], 4, &[1, 700, 1440]),
            (&[100_000, 100], &[1, 1], 8, &[5242, 100]),
            (&[100_000_000], &[512], 8, &[524_288]),
            (&[64, 4096, 4096], &[64, 4096, 4096], 4, &[64, 4096, 4096]),
            (&[1000, 1000, 10], &[1, 1, 10], 8, &[52, 1000, 10]),
            (&[], &[], 8, &[]),
        ];
        for (shape, chunk, width, piece) in cases {
            assert_eq!(piece_shape(shape, chunk, width), piece, "{shape:?} {chunk:?}");
            let count = boxes(shape, piece).map(|ranges| ranges.iter().map(ExactSizeIterator::len).product::<usize>());
            assert_eq!(count.sum::<usize>(), shape.iter().product::<usize>());
        }
        assert_eq!(boxes(&[3, 2], &[2, 2]).collect::<Vec<_>>(), [vec![0..2, 0..2], vec![2..3, 0..2]]);
    }
}
