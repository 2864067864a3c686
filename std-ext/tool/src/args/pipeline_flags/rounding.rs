//! How far packed values are from what they were before.

use std::sync::{Arc, Mutex, PoisonError};

use tgm_core::descriptor::{ByteOrder, Dtype, Encoding};
use tgm_std::codec::threads::Threads;
use tgm_std::pipeline::{decode_pipeline, encode_pipeline};
use tgm_std::{DataObjectDescriptor, DecodeOptions, EncodeOptions, TensogramError};

use super::PipelineFlags;
use super::staging::PACKING;
use crate::show::output::Out;

/// Values that are packed and unpacked at a time: they stay in the cache.
const BLOCK: usize = 32 << 10;

/// Values that are compared side by side: two of the longest vectors that there are.
const LANES: usize = 16;

/// What packing did to the objects so far. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Rounding(Arc<Mutex<Told>>);

#[derive(Clone, Copy, Debug, Default)]
struct Told {
    /// Objects that were packed.
    objects: u64,
    /// Those whose values changed.
    rounded: u64,
    /// Objects that were not packed, because their values must be exact.
    exact: u64,
    /// The greatest difference.
    absolute: f64,
    /// The greatest difference as a part of what lies between the least and the greatest value of its object.
    relative: f64,
}

/// The extremes of some values, and how far one of them is from what it becomes.
#[derive(Clone, Copy, Debug)]
struct Error {
    least: f64,
    greatest: f64,
    difference: f64,
}

impl Error {
    /// Counts a finite value and the bytes of what it becomes.
    fn add(&mut self, before: f64, after: [u8; 8]) {
        let difference = (before - f64::from_ne_bytes(after)).abs();
        // Comparisons become one instruction each, since none of these is NaN.
        self.least = if before < self.least { before } else { self.least };
        self.greatest = if before > self.greatest { before } else { self.greatest };
        self.difference = if difference > self.difference { difference } else { self.difference };
    }

    /// The error of both.
    const fn with(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            greatest: self.greatest.max(other.greatest),
            difference: self.difference.max(other.difference),
        }
    }
}

impl Rounding {
    /// Counts an object that is packed as its descriptor says. `values` are what it is packed from, in its byte order. NaN and
    /// infinities do not count.
    ///
    /// # Errors
    /// The errors of packing.
    pub(super) fn add(
        &self,
        packed: &DataObjectDescriptor,
        values: &[u8],
        options: &EncodeOptions,
    ) -> Result<(), TensogramError> {
        let threads = Threads::resolve(options.threads, values.len() as u64, options.parallel_threshold_bytes)?;
        let values: &[[u8; 8]] = values.as_chunks().0;
        let blocks: Vec<_> = values.chunks(BLOCK).collect();
        let found = threads.map(&blocks, |block| error_of(packed, block))?;
        let none = Error { least: f64::INFINITY, greatest: f64::NEG_INFINITY, difference: 0.0 };
        let error = found.into_iter().flatten().fold(none, Error::with);
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.objects += 1;
        if error.difference > 0.0 {
            told.rounded += 1;
            told.absolute = told.absolute.max(error.difference);
            // Equal values have no range, and a difference of them is all of it.
            told.relative = told.relative.max((error.difference / (error.greatest - error.least)).min(1.0));
        }
        Ok(())
    }

    /// Counts an object that keeps its values.
    pub(super) fn leave(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).exact += 1;
    }
}

impl PipelineFlags {
    /// Says how far the values are from what they were, if objects were packed.
    pub(crate) fn tell_rounding(&self, out: &mut Out) {
        let told = *self.rounding.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Told { objects, rounded, exact, absolute, relative } = told;
        let objects = if objects == 1 { "1 object".to_string() } else { format!("{objects} objects") };
        match (told.objects, rounded) {
            (0, _) => {}
            (_, 0) => out.note(&format!("packed {objects}: all values stay as they were")),
            _ => out.note(&format!(
                "packed {objects}: the greatest error is {absolute:.3e}, and at most {relative:.1e} of an object's range"
            )),
        }
        match exact {
            0 => {}
            1 => out.note("1 coordinate or code keeps its values"),
            _ => out.note(&format!("{exact} coordinates or codes keep their values")),
        }
    }
}

/// The error of some values. `None` if none of them is finite.
fn error_of(packed: &DataObjectDescriptor, block: &[[u8; 8]]) -> Result<Option<Error>, TensogramError> {
    // A loop for each order: a function that is chosen at run time would be called for each value.
    let mut values: Vec<f64> = match packed.byte_order {
        ByteOrder::Big => block.iter().map(|bytes| f64::from_be_bytes(*bytes)).collect(),
        ByteOrder::Little => block.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect(),
    };
    let Some(first) = values.iter().copied().find(|value| value.is_finite()) else { return Ok(None) };
    // What a mask holds is not packed.
    values.iter_mut().filter(|value| !value.is_finite()).for_each(|value| *value = first);
    let mut alone = DataObjectDescriptor::new(Dtype::Float64, ByteOrder::NATIVE, &[values.len() as u64]);
    alone.encoding = Encoding::SimplePacking.name().to_string();
    alone.params = packed.params.clone();
    alone.params.retain(|name, _| PACKING.iter().any(|key| key.name() == name));
    let mut bytes = vec![0; block.as_flattened().len()];
    bytes.as_chunks_mut().0.iter_mut().zip(&values).for_each(|(to, value)| *to = value.to_ne_bytes());
    let options = EncodeOptions { parallel_threshold_bytes: Some(usize::MAX), ..EncodeOptions::default() };
    let (described, region) = encode_pipeline(&alone, &bytes, &options)?;
    let made = decode_pipeline(&described, &region, &DecodeOptions::default())?;
    let mut lanes = [Error { least: first, greatest: first, difference: 0.0 }; LANES];
    let (rows, rest) = values.as_chunks::<LANES>();
    let (made_rows, made_rest) = made.as_chunks().0.as_chunks::<LANES>();
    for (before, after) in rows.iter().zip(made_rows) {
        for ((error, before), after) in lanes.iter_mut().zip(before).zip(after) {
            error.add(*before, *after);
        }
    }
    for ((error, before), after) in lanes.iter_mut().zip(rest).zip(made_rest) {
        error.add(*before, *after);
    }
    Ok(lanes.into_iter().reduce(Error::with))
}
