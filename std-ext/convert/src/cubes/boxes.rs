//! The values of a variable, box by box: one thread reads ahead while the boxes before are written.

use std::num::NonZeroU64;
use std::sync::mpsc::sync_channel;

use tgm_core::descriptor::Dtype;
use tgm_dataset::{Indices, Variable};
use tgm_std::codec::interrupt::Watch;
use tgm_std::codec::threads::Threads;
use tgm_std::internal::reserve;
use tgm_std::{DecodeOptions, Result, TensogramError, interrupt};

use super::{Planned, converted};
use crate::error::encoding;
use crate::note::Note;

/// Bytes of a chunk, at least, if the variable has as many: small fields share one.
const LEAST: u64 = 512 << 10;
/// Bytes of a chunk, at most: larger fields are cut along their first dimension.
const MOST: u64 = 32 << 20;
/// Bytes of boxes that are read at once. As many wait and are written meanwhile.
const BATCH: u64 = 32 << 20;

/// Values of a box.
pub(crate) struct Boxed {
    pub(crate) origin: Vec<u64>,
    pub(crate) shape: Vec<u64>,
    /// The elements, row-major, in the byte order of the machine, a truth value in a byte.
    pub(crate) bytes: Vec<u8>,
}

/// The chunks of a variable with elements of so many bytes: an object each, several small ones, or a part of a large one.
pub(crate) fn chunk_of(variable: &Variable, width: u64) -> Vec<u64> {
    let mut chunk: Vec<u64> = variable.piece_shape().iter().map(|len| (*len).max(1)).collect();
    let bytes = |chunk: &[u64]| chunk.iter().fold(width, |bytes, len| bytes.saturating_mul(*len));
    let leading = variable.leading();
    for at in (0..leading).rev() {
        let (own, len) = (bytes(&chunk).max(1), variable.shape.get(at).copied().unwrap_or(1).max(1));
        if own >= LEAST {
            break;
        }
        if let Some(place) = chunk.get_mut(at) {
            *place = len.min(LEAST.div_ceil(own));
        }
    }
    for at in leading..chunk.len() {
        let own = bytes(&chunk);
        if own <= MOST {
            break;
        }
        if let Some(len) = chunk.get_mut(at) {
            *len = len.div_ceil(own.div_ceil(MOST)).max(1);
        }
    }
    chunk
}

/// How boxes of a variable are read.
struct Reading<'p> {
    planned: &'p Planned<'p>,
    /// The lengths of a box. Boxes at the end are cut to the shape.
    lens: Vec<u64>,
    counts: Vec<u64>,
    of_values: Dtype,
    width: usize,
    options: DecodeOptions,
}

/// A box that was read, and what could not be read of it.
type Found = (Option<Boxed>, Vec<TensogramError>);

/// Reads a variable in boxes of these lengths, by as many threads as the options say, and hands some at a time to `write`, in
/// order. An object that cannot be read is reported and has NaN in its place; among other types its box is left out.
///
/// # Errors
/// The errors of `write`; that the work is stopped.
pub(crate) fn each_batch(
    planned: &Planned<'_>,
    lens: &[u64],
    options: &DecodeOptions,
    report: &mut dyn FnMut(Note),
    write: &mut dyn FnMut(Vec<Boxed>) -> Result<()>,
) -> Result<()> {
    let shape = &planned.variable.shape;
    let of_values = planned.variable.dtype().unwrap_or(planned.dtype);
    let width = if of_values == Dtype::Bitmask { 1 } else { of_values.byte_width() };
    let lens: Vec<u64> = shape.iter().zip(lens).map(|(len, wanted)| (*wanted).clamp(1, (*len).max(1))).collect();
    let counts: Vec<u64> = shape.iter().zip(&lens).map(|(len, of_box)| len.div_ceil(*of_box)).collect();
    // A box that is too large for numbers is one at a time, and is refused when memory is asked for it.
    let bytes = lens.iter().fold(width as u64, |bytes, len| bytes.saturating_mul(*len));
    let total = counts.iter().fold(1_u64, |all, count| all.saturating_mul(*count));
    let at_once = (BATCH / bytes.max(1)).clamp(1, 256);
    let threads = Threads::resolve(options.threads, u64::MAX, Some(0))?;
    let options = DecodeOptions { threads: 1, native_byte_order: true, ..options.clone() };
    let reading = &Reading { planned, lens, counts, of_values, width, options };
    let watch = Watch::of_this_thread();
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel::<Result<Vec<Found>>>(1);
        scope.spawn(move || {
            let work = || {
                let mut start = 0;
                while start < total {
                    let end = start.saturating_add(at_once).min(total);
                    let numbers: Vec<u64> = (start..end).collect();
                    let batch = threads.map(&numbers, |number| reading.read(*number));
                    let is_last = batch.is_err();
                    // Without a receiver the writing has failed.
                    if sender.send(batch).is_err() || is_last {
                        return;
                    }
                    start = end;
                }
            };
            match watch {
                Some(watch) => watch.run(work),
                None => work(),
            }
        });
        for batch in receiver {
            interrupt::check()?;
            let mut boxes = Vec::new();
            for (found, failures) in batch? {
                for error in failures {
                    report(Note::failed(&planned.name, error));
                }
                boxes.extend(found);
            }
            write(boxes)?;
        }
        Ok(())
    })
}

impl Reading<'_> {
    /// Reads the box of a number.
    fn read(&self, number: u64) -> Result<Found> {
        let (mut left, mut origin) = (number, Vec::with_capacity(self.lens.len()));
        for (count, len) in self.counts.iter().zip(&self.lens).rev() {
            origin.push((left % (*count).max(1)).saturating_mul(*len));
            left /= (*count).max(1);
        }
        origin.reverse();
        let ends = self.planned.variable.shape.iter().zip(&self.lens).zip(&origin);
        let shape: Vec<u64> = ends.map(|((all, len), start)| (*len).min(all.saturating_sub(*start))).collect();
        let count = shape.iter().fold(self.width as u64, |bytes, len| bytes.saturating_mul(*len));
        let mut bytes = reserve(usize::try_from(count).map_err(|_| encoding("a box is too long"))?)?;
        let mut failures = Vec::new();
        if let Err(error) = self.read_part(&origin, &shape, &mut bytes) {
            interrupt::check()?;
            if self.lens.iter().take(self.leading()).all(|len| *len == 1) {
                failures.push(error);
                if !self.spoil(&mut bytes) {
                    return Ok((None, failures));
                }
            } else if !self.read_each(&origin, &shape, &mut bytes, &mut failures)? {
                return Ok((None, failures));
            }
        }
        let bytes = converted(bytes, self.of_values, self.planned.dtype)?;
        Ok((Some(Boxed { origin, shape, bytes }), failures))
    }

    const fn leading(&self) -> usize {
        self.planned.variable.leading()
    }

    fn read_part(&self, origin: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        let range =
            |(start, count): (&u64, &u64)| Indices::Range { start: *start, count: *count, step: NonZeroU64::MIN };
        let indices: Vec<Indices> = origin.iter().zip(shape).map(range).collect();
        self.planned.dataset.read_into(&self.planned.variable.name, &indices, &self.options, out)
    }

    /// Reads the objects of a box one by one, so that what is damaged is alone. Returns whether the box can be written.
    fn read_each(
        &self,
        origin: &[u64],
        shape: &[u64],
        out: &mut [u8],
        failures: &mut Vec<TensogramError>,
    ) -> Result<bool> {
        let (outer, inner) = shape.split_at_checked(self.leading()).unwrap_or((shape, &[]));
        let len = inner.iter().fold(self.width as u64, |bytes, len| bytes.saturating_mul(*len));
        let len = usize::try_from(len).map_err(|_| encoding("a field is too long"))?.max(1);
        for (number, part) in (0_u64..).zip(out.chunks_exact_mut(len)) {
            interrupt::check()?;
            let (mut left, mut at) = (number, origin.to_vec());
            for (place, len) in at.iter_mut().zip(outer).rev() {
                *place = place.saturating_add(left % (*len).max(1));
                left /= (*len).max(1);
            }
            let one: Vec<u64> = outer.iter().map(|_| 1).chain(inner.iter().copied()).collect();
            if let Err(error) = self.read_part(&at, &one, part) {
                failures.push(error);
                if !self.spoil(part) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Makes NaN of values that could not be read. Returns whether their type has it.
    fn spoil(&self, out: &mut [u8]) -> bool {
        match self.of_values {
            Dtype::Float64 => out.as_chunks_mut().0.iter_mut().for_each(|value| *value = f64::NAN.to_ne_bytes()),
            Dtype::Float32 => out.as_chunks_mut().0.iter_mut().for_each(|value| *value = f32::NAN.to_ne_bytes()),
            _ => return false,
        }
        true
    }
}
