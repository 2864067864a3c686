//! Boxes of numbers that are in memory.

use tgm_std::Result;

use crate::archive::bad;
use crate::indices::{Indices, flat};
use crate::model::{Held, Variable};

/// Writes what `indices` pick to all of `out`, which is as long as that.
pub(super) fn read_into((variable, held): (&Variable, &Held), indices: &[Indices], out: &mut [u8]) -> Result<()> {
    if indices.len() != variable.shape.len() {
        let (given, has) = (indices.len(), variable.shape.len());
        return Err(bad(format!("{}: {given} picks for {has} dimensions", variable.name)));
    }
    let places = flat(&variable.shape, indices).map_err(|error| error.within(&variable.name))?;
    for (out, at) in out.as_chunks_mut::<8>().0.iter_mut().zip(places) {
        let number = held.numbers.get(at).ok_or_else(|| bad(format!("{}: a value is missing", variable.name)))?;
        *out = number.to_ne_bytes();
    }
    Ok(())
}
