//! Reading a box of a variable: one plan over all objects that it touches.
//!
//! ```text
//! indices of each dimension ─► parts: runs of indices within one piece ─► cells: one part of each dimension
//! each cell: its object, what is picked of it, and where that lies in the result
//! ```
//! Where each cell is one run of the result, threads decode straight into it. Otherwise cells are decoded into memory beside it,
//! some at a time, and copied from there.

mod held;
mod joined;

use std::num::NonZeroU64;

use tgm_catalog::tree::side_by_side;
use tgm_core::descriptor::Dtype;
use tgm_core::selection::Pick;
use tgm_std::codec::threads::Threads;
use tgm_std::{DecodeOptions, Result, Scratch, interrupt, read};
use zerocopy::{FromBytes as _, IntoBytes as _};

use crate::archive::{Archive, Kept, bad, check, object_of};
use crate::indices::{Indices, Part, parts};
use crate::model::{Content, Hole, Pieces, Variable, product};
use crate::reading::gather;
use crate::source::DISTANT_AT_ONCE;

/// Frames of up to this many bytes are read whole. Only the wanted parts of longer ones are read.
const SMALL: u64 = 256 << 10;
/// Bytes of a file that are read at once, where small frames lie close to each other.
const WINDOW: u64 = 1 << 20;
/// Bytes between two frames, up to which both are read at once.
const GAP: u64 = 16 << 10;
/// Bytes that are decoded beside the result at a time.
const BESIDE: u64 = 32 << 20;

/// A box of a variable, planned.
struct Plan<'v> {
    variable: &'v Variable,
    pieces: &'v Pieces,
    parts: Vec<Vec<Part>>,
    /// The lengths of the result, dimensions of one index included.
    out: Vec<u64>,
    /// Elements from one index of a dimension to the next, in the result.
    strides: Vec<u64>,
    counts: Vec<u64>,
    /// Bytes of an element of the result, and of an element as decoded.
    width: usize,
    dtype: Dtype,
    is_widened: bool,
    /// Whether elements of 64 bits become `float32` as they are decoded.
    is_single: bool,
}

/// A cell of a plan.
struct Cell {
    object: Option<u32>,
    parts: Vec<Part>,
    /// The first element of the result.
    start: u64,
    elements: u64,
}

impl Cell {
    /// What a cell picks of its object, whose leading dimensions of one index may be left out.
    fn picks(&self, dims: usize) -> Result<Vec<Pick>> {
        let (before, of_object) = self.parts.split_at(self.parts.len().saturating_sub(dims));
        if of_object.len() != dims || before.iter().any(|part| part.start != 0) {
            return Err(bad("an object has other dimensions than when the dataset was opened"));
        }
        let pick = |part: &Part| {
            let step = NonZeroU64::new(part.step).unwrap_or(NonZeroU64::MIN);
            // All of a part lies in its piece, which is a part of an object; it has an element at least.
            let last = part.start + (part.count - 1) * part.step;
            Pick::Range { start: part.start, end: last + 1, step }
        };
        Ok(of_object.iter().map(pick).collect())
    }
}

impl<'v> Plan<'v> {
    fn new(variable: &'v Variable, indices: &[Indices], is_single: bool) -> Result<Self> {
        let Content::Pieces(pieces) = &variable.content else {
            return Err(bad(format!("{}: its values are texts", variable.name)));
        };
        if indices.len() != variable.shape.len() {
            let (given, has) = (indices.len(), variable.shape.len());
            return Err(bad(format!("{}: {given} picks for {has} dimensions", variable.name)));
        }
        let of_dim = indices.iter().zip(variable.shape.iter().zip(&pieces.chunk));
        let parts = of_dim.map(|(indices, (len, chunk))| parts(indices, *len, *chunk)).collect::<Result<_>>();
        let out: Vec<u64> = indices.iter().map(Indices::count).collect();
        let (mut stride, mut strides) = (1_u64, Vec::with_capacity(out.len()));
        for len in out.iter().rev() {
            strides.push(stride);
            // Picked again and again, indices can be more than 64 bits count. No output has a length for them.
            stride = stride.saturating_mul(*len);
        }
        strides.reverse();
        let dtype = if is_single { Dtype::Float32 } else { variable.dtype().unwrap_or(pieces.dtype) };
        Ok(Self {
            variable,
            pieces,
            parts: parts.map_err(|error| error.within(&variable.name))?,
            counts: pieces.counts(&variable.shape),
            out,
            strides,
            width: width(dtype),
            dtype,
            is_widened: dtype != pieces.dtype && pieces.packed.is_none() && !is_single,
            is_single,
        })
    }

    /// The number of values. `None` if it has more than 64 bits.
    fn elements(&self) -> Option<u64> {
        product(&self.out)
    }

    /// The number of cells: 0 also where there is no [`Self::elements`].
    fn cells(&self) -> u64 {
        let of_dims: Vec<u64> = self.parts.iter().map(|parts| parts.len() as u64).collect();
        product(&of_dims).unwrap_or(0)
    }

    fn cell(&self, number: u64) -> Cell {
        let mut left = number;
        let mut parts: Vec<Part> = Vec::with_capacity(self.parts.len());
        for of_dim in self.parts.iter().rev() {
            let count = (of_dim.len() as u64).max(1);
            let part = usize::try_from(left % count).ok().and_then(|at| of_dim.get(at)).copied();
            parts.extend(part);
            left /= count;
        }
        parts.reverse();
        let place = parts.iter().zip(&self.counts).fold(0_u64, |place, (part, count)| place * count + part.piece);
        let found = self.pieces.places.binary_search_by_key(&place, |(place, _)| *place);
        let object = found.ok().and_then(|at| self.pieces.places.get(at)).map(|(_, object)| *object);
        let start = parts.iter().zip(&self.strides).fold(0, |start, (part, stride)| start + part.out * stride);
        let elements = parts.iter().map(|part| part.count).product();
        Cell { object, parts, start, elements }
    }

    /// Whether each cell is one run of the result, and all have the same length.
    fn is_in_order(&self) -> bool {
        // After the first dimension that is cut, no dimension may be. Before it, parts have one index each.
        let mut dims = self.parts.iter().zip(&self.out);
        for (parts, _) in dims.by_ref() {
            if parts.iter().any(|part| part.count != 1) {
                let is_even = parts.iter().all(|part| Some(part.count) == parts.first().map(|first| first.count));
                return is_even && dims.all(|(parts, len)| matches!(parts.as_slice(), [part] if part.count == *len));
            }
        }
        true
    }

    /// Writes the values of cells, one after the other.
    fn write(&self, archive: &Archive, cells: &[u64], out: &mut [u8], options: &DecodeOptions) -> Result<()> {
        let (mut kept, mut scratch, mut rest) = (Kept::default(), Scratch::default(), out);
        let cells: Vec<Cell> = cells.iter().map(|cell| self.cell(*cell)).collect();
        for (number, cell) in cells.iter().enumerate() {
            interrupt::check()?;
            let len = usize::try_from(cell.elements).ok().and_then(|count| count.checked_mul(self.width));
            let (place, behind) = len
                .and_then(|len| std::mem::take(&mut rest).split_at_mut_checked(len))
                .ok_or_else(|| bad("the result is too short"))?;
            rest = behind;
            let Some(object) = cell.object else {
                self.fill(place)?;
                continue;
            };
            let rest = cells.get(number..).unwrap_or(&[]);
            self.decode(archive, (cell, object), rest, (&mut kept, &mut scratch), place, options)
                .map_err(|error| error.within(format_args!("{}: {}", self.variable.name, archive.place(object))))?;
        }
        Ok(())
    }

    fn fill(&self, out: &mut [u8]) -> Result<()> {
        let element = match &self.pieces.hole {
            Hole::Widened => f64::NAN.to_ne_bytes().to_vec(),
            Hole::Nan => nan(self.dtype).ok_or_else(|| bad("elements of this type have no NaN"))?,
            Hole::Fill(element) if self.is_single => singles_of(element)?,
            Hole::Fill(element) => element.clone(),
            Hole::Refused => {
                let (name, dtype) = (&self.variable.name, self.dtype.name());
                return Err(bad(format!("{name}: a place has no object, and {dtype} has no NaN: give a fill value")));
            }
        };
        if element.len() != self.width {
            return Err(bad(format!("{}: the fill value is of another type", self.variable.name)));
        }
        out.chunks_exact_mut(self.width.max(1)).for_each(|place| place.copy_from_slice(&element));
        Ok(())
    }

    fn decode(
        &self,
        archive: &Archive,
        (cell, number): (&Cell, u32),
        rest: &[Cell],
        (kept, scratch): (&mut Kept, &mut Scratch),
        out: &mut [u8],
        options: &DecodeOptions,
    ) -> Result<()> {
        let (source, entry) = archive.entry(number)?;
        let dtype = self.pieces.dtype;
        let is_direct = !self.is_widened && !self.is_single && dtype != Dtype::Bitmask && self.pieces.packed.is_none();
        // A chunk may be longer than all of the array.
        let piece = product(&self.pieces.chunk).unwrap_or(u64::MAX);
        // A part of a long object: only its bytes are read.
        if entry.length > SMALL && cell.elements < piece && !self.is_widened {
            let picks = cell.picks(cell.parts.len() - self.pieces.leading)?;
            return source.with_object(entry, |object| {
                check(object.dtype(), dtype)?;
                let request = object.read().select(&picks).options(options);
                if is_direct { request.bytes_into(out) } else { self.convert(&request.bytes()?, out) }
            });
        }
        let object = object_of(kept.frame(archive, number, || ahead(archive, number, rest))?, dtype)?;
        let picks = cell.picks(object.descriptor().shape().len())?;
        if is_direct {
            return read(&object).select(&picks).options(options).scratch(scratch).bytes_into(out);
        }
        if self.is_widened {
            let mut values = vec![0.0_f64; out.len() / size_of::<f64>()];
            read(&object).select(&picks).options(options).scratch(scratch).values_into(&mut values)?;
            return copy(values.as_bytes(), out);
        }
        // Memory of one type is where floats may lie, unless the caller's is not.
        if self.is_single
            && let Ok(singles) = <[f32]>::mut_from_bytes(&mut *out)
        {
            return read(&object).select(&picks).options(options).scratch(scratch).values_into(singles);
        }
        let bits = read(&object).select(&picks).options(options).bytes()?;
        self.convert(&bits, out)
    }

    /// Truth values out of bits, values out of packed integers, and `float32` out of longer floats.
    fn convert(&self, bits: &[u8], out: &mut [u8]) -> Result<()> {
        if self.is_single {
            return copy(&singles_of(bits)?, out);
        }
        if let Some(conversion) = &self.pieces.packed {
            return copy(&conversion.apply(bits.to_vec())?, out);
        }
        if self.pieces.dtype != Dtype::Bitmask {
            return Err(bad("these values are neither packed nor bits"));
        }
        if bits.len() < out.len().div_ceil(8) {
            return Err(bad("there are too few truth values"));
        }
        for (places, byte) in out.chunks_mut(8).zip(bits) {
            places.iter_mut().enumerate().for_each(|(bit, place)| *place = byte << bit >> 7);
        }
        Ok(())
    }

    /// Copies the values of a cell to where they belong in the result.
    fn scatter(&self, cell: &Cell, values: &[u8], out: &mut [u8]) -> Result<()> {
        let error = || bad("the result is too short");
        // Dimensions at the end that are whole make one run with the one before them.
        let mut run = 1_u64;
        let mut outer = cell.parts.len();
        for (part, len) in cell.parts.iter().zip(&self.out).rev() {
            run *= part.count;
            outer -= 1;
            if part.count != *len {
                break;
            }
        }
        let outer_parts = cell.parts.get(..outer).unwrap_or(&[]);
        let len = usize::try_from(run).ok().and_then(|run| run.checked_mul(self.width)).ok_or_else(error)?;
        for (number, values) in (0_u64..).zip(values.chunks_exact(len.max(1))) {
            let (mut left, mut start) = (number, cell.start);
            for (part, stride) in outer_parts.iter().zip(&self.strides).rev() {
                start += (left % part.count.max(1)) * stride;
                left /= part.count.max(1);
            }
            let at = usize::try_from(start).ok().and_then(|start| start.checked_mul(self.width)).ok_or_else(error)?;
            let place = out.get_mut(at..).and_then(|out| out.get_mut(..len)).ok_or_else(error)?;
            place.copy_from_slice(values);
        }
        Ok(())
    }

    fn read(&self, archive: &Archive, out: &mut [u8], options: &DecodeOptions, threads: Threads) -> Result<()> {
        let cells: Vec<u64> = (0..self.cells()).collect();
        // One object on all threads, several objects side by side.
        let alone = DecodeOptions { threads: 1, ..options.clone() };
        let options = if cells.len() > 1 && !threads.is_one() { &alone } else { options };
        if cells.is_empty() || self.elements() == Some(0) {
            return Ok(());
        }
        let share = share(archive, cells.len(), threads);
        if self.is_in_order() {
            let len = out.len() / cells.len();
            let jobs: Vec<_> = cells.chunks(share).zip(out.chunks_mut((len * share).max(1))).collect();
            let jobs: Vec<_> = jobs.into_iter().map(|(cells, out)| (cells, std::sync::Mutex::new(out))).collect();
            each(archive, &jobs, threads, |(cells, out)| {
                let mut out = out.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                self.write(archive, cells, &mut out, options)
            })?;
            return Ok(());
        }
        let mut window: Vec<u64> = Vec::new();
        let mut bytes = 0_u64;
        for cell in cells {
            let len = self.cell(cell).elements * self.width as u64;
            if !window.is_empty() && bytes + len > BESIDE {
                self.read_beside(archive, &window, out, options, threads)?;
                window.clear();
                bytes = 0;
            }
            window.push(cell);
            bytes += len;
        }
        self.read_beside(archive, &window, out, options, threads)
    }

    /// Decodes cells side by side, and copies them to the result.
    fn read_beside(
        &self,
        archive: &Archive,
        cells: &[u64],
        out: &mut [u8],
        options: &DecodeOptions,
        threads: Threads,
    ) -> Result<()> {
        let groups: Vec<&[u64]> = cells.chunks(share(archive, cells.len(), threads)).collect();
        let decoded = each(archive, &groups, threads, |group| {
            let elements = group.iter().map(|cell| self.cell(*cell).elements).sum::<u64>();
            let len = usize::try_from(elements).ok().and_then(|count| count.checked_mul(self.width));
            let mut bytes = tgm_std::internal::reserve(len.ok_or_else(|| bad("the result is too long"))?)?;
            self.write(archive, group, &mut bytes, options)?;
            Ok::<_, tgm_std::TensogramError>(bytes)
        })?;
        for (group, bytes) in groups.iter().zip(decoded) {
            let mut rest = bytes.as_slice();
            for cell in group.iter().map(|cell| self.cell(*cell)) {
                let len = usize::try_from(cell.elements).ok().and_then(|count| count.checked_mul(self.width));
                let parts = len.and_then(|len| rest.split_at_checked(len));
                let (values, behind) = parts.ok_or_else(|| bad("a piece is too short"))?;
                rest = behind;
                self.scatter(&cell, values, out)?;
            }
        }
        Ok(())
    }
}

/// How many cells one job takes.
fn share(archive: &Archive, cells: usize, threads: Threads) -> usize {
    let jobs = if archive.is_distant() { DISTANT_AT_ONCE } else { threads.count().max(1) as usize * 4 };
    cells.div_ceil(jobs).max(1)
}

/// Does all jobs on all threads. Jobs that wait for servers wait side by side.
fn each<J: Sync, R: Send>(
    archive: &Archive,
    jobs: &[J],
    threads: Threads,
    f: impl Fn(&J) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    if archive.is_distant() {
        side_by_side(jobs, DISTANT_AT_ONCE, f).into_iter().collect()
    } else {
        threads.map(jobs, f)
    }
}

/// Floats of 64 bits as `float32`.
fn singles_of(floats: &[u8]) -> Result<Vec<u8>> {
    #[expect(clippy::cast_possible_truncation, reason = "the nearest float is asked for")]
    let single = |bytes: &[u8; 8]| Ok((f64::from_ne_bytes(*bytes) as f32).to_ne_bytes());
    gather(floats.as_chunks().0.iter().map(single))
}

fn copy(from: &[u8], to: &mut [u8]) -> Result<()> {
    if from.len() != to.len() {
        return Err(bad(format!("an object gives {} bytes, {} are expected", from.len(), to.len())));
    }
    to.copy_from_slice(from);
    Ok(())
}

/// Bytes of an element of the result. Truth values take one.
pub(crate) const fn width(dtype: Dtype) -> usize {
    if matches!(dtype, Dtype::Bitmask) { 1 } else { dtype.byte_width() }
}

/// NaN as an element.
fn nan(dtype: Dtype) -> Option<Vec<u8>> {
    Some(match dtype {
        Dtype::Float16 => 0x7e00_u16.to_ne_bytes().to_vec(),
        Dtype::Bfloat16 => 0x7fc0_u16.to_ne_bytes().to_vec(),
        Dtype::Float32 => f32::NAN.to_ne_bytes().to_vec(),
        Dtype::Float64 => f64::NAN.to_ne_bytes().to_vec(),
        Dtype::Complex64 => [f32::NAN.to_ne_bytes(); 2].concat(),
        Dtype::Complex128 => [f64::NAN.to_ne_bytes(); 2].concat(),
        _ => return None,
    })
}

/// Writes what `indices` pick of a variable to all of `out`, row-major, in the byte order of the machine.
pub(crate) fn read_into(
    archive: &Archive,
    variable: &Variable,
    indices: &[Indices],
    options: &DecodeOptions,
    out: &mut [u8],
) -> Result<()> {
    read_as(archive, variable, indices, (false, options), out)
}

/// Whether [`read_singles_into`] reads a variable: its elements are floats of 64 bits, as they are stored.
pub(crate) fn can_be_single(variable: &Variable) -> bool {
    let is_long = |part: &Variable| match &part.content {
        Content::Pieces(pieces) => pieces.dtype == Dtype::Float64 && pieces.packed.is_none(),
        _ => false,
    };
    variable.dtype() == Some(Dtype::Float64) && variable.parts().into_iter().all(is_long)
}

/// The same as [`read_into`] as `float32`, without memory for the longer floats.
pub(crate) fn read_singles_into(
    archive: &Archive,
    variable: &Variable,
    indices: &[Indices],
    options: &DecodeOptions,
    out: &mut [u8],
) -> Result<()> {
    read_as(archive, variable, indices, (true, options), out)
}

fn read_as(
    archive: &Archive,
    variable: &Variable,
    indices: &[Indices],
    (is_single, options): (bool, &DecodeOptions),
    out: &mut [u8],
) -> Result<()> {
    let options = DecodeOptions { native_byte_order: true, ..options.clone() };
    let dtype = if is_single { Some(Dtype::Float32) } else { variable.dtype() };
    if let Content::Joined(joined) = &variable.content {
        check_len((variable, dtype), product(&indices.iter().map(Indices::count).collect::<Vec<_>>()), out)?;
        let dtype = dtype.unwrap_or(joined.dtype);
        return joined::read_into(archive, joined::JoinedVariable { variable, joined, dtype }, indices, &options, out);
    }
    if let Content::Held(held) = &variable.content {
        check_len((variable, dtype), product(&indices.iter().map(Indices::count).collect::<Vec<_>>()), out)?;
        return held::read_into((variable, held), indices, out);
    }
    let plan = Plan::new(variable, indices, is_single)?;
    check_len((variable, dtype), plan.elements(), out)?;
    let threads = Threads::resolve(options.threads, out.len() as u64, options.parallel_threshold_bytes)?;
    // Few values may need much decoding.
    let threads = if plan.cells() > 64 { Threads::resolve(options.threads, 1, Some(0))? } else { threads };
    plan.read(archive, out, &options, threads)
}

/// Places that are taken at most for each object of a variable, and in any case.
const PLACES_OF_OBJECT: u64 = 1000;
const PLACES: u64 = 100_000;

/// Checks that what is picked of a variable is not nearly all holes: fields that differ in several keys at once lie far apart, and their
/// box has as many places as the labels of each key multiplied.
///
/// # Errors
/// [`tgm_std::TensogramError::Metadata`] for more than 1000 places for each object, and more than 100,000.
pub(crate) fn check_places(variable: &Variable, indices: &[Indices]) -> Result<()> {
    let leading = indices.iter().take(variable.leading());
    let places = product(&leading.map(Indices::count).collect::<Vec<_>>());
    let objects = variable.object_count();
    let most = PLACES_OF_OBJECT.saturating_mul(objects as u64).max(PLACES);
    if variable.leading() == 0 || places.is_some_and(|places| places <= most) {
        return Ok(());
    }
    let places = places.map_or("more than 2^64".into(), |places| places.to_string());
    let (name, dims) = (&variable.name, variable.dims.get(..variable.leading()).unwrap_or_default().join(", "));
    Err(bad(format!(
        "{name}: {places} places along {dims} for {objects} objects, so nearly all are empty: select labels of these, or only some objects"
    )))
}

/// Checks what is computed of a variable over the dimensions of the names `over`, before memory is taken for it.
///
/// # Errors
/// [`tgm_std::TensogramError::Metadata`] for a dimension that the variable lacks, for picks that are not one for each dimension, and for
/// what [`check_places`] refuses.
pub(crate) fn check_over(variable: &Variable, indices: &[Indices], over: &[&str]) -> Result<()> {
    let Variable { name, dims, .. } = variable;
    if let Some(dim) = over.iter().find(|dim| !dims.iter().any(|known| known == **dim)) {
        return Err(bad(format!("{name} has no dimension {dim}; it has {}", dims.join(", "))));
    }
    if indices.len() != dims.len() {
        return Err(bad(format!("{name}: {} picks for {} dimensions", indices.len(), dims.len())));
    }
    check_places(variable, indices)
}

/// # Errors
/// [`tgm_std::TensogramError::Metadata`] if `out` has another length than so many values take.
fn check_len((variable, dtype): (&Variable, Option<Dtype>), count: Option<u64>, out: &[u8]) -> Result<()> {
    let width = dtype.map_or(0, width) as u64;
    let expected = count.and_then(|count| count.checked_mul(width));
    if expected == Some(out.len() as u64) {
        return Ok(());
    }
    let (name, given) = (&variable.name, out.len());
    let expected = expected.map_or("more".into(), |expected| expected.to_string());
    Err(bad(format!("{name}: output has {given} bytes, the selection has {expected}")))
}

/// Where the bytes end that are read at once with an object: the next cells' too, if they lie close to it.
fn ahead(archive: &Archive, object: u32, cells: &[Cell]) -> u64 {
    let Ok((_, first)) = archive.entry(object) else { return 0 };
    let mut end = first.end();
    for object in cells.iter().skip(1).filter_map(|cell| cell.object) {
        let Ok((_, entry)) = archive.entry(object) else { break };
        let next = entry.end();
        let is_near = entry.source == first.source && entry.offset >= end && entry.offset - end <= GAP;
        if !is_near || entry.length > SMALL || next - first.offset > WINDOW {
            break;
        }
        end = next;
    }
    end
}
