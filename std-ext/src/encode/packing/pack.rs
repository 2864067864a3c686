//! Values packed into bit fields.

use std::mem::MaybeUninit;

use tgm_codec::kernels::pack::{self, Quantisation, ValueBytes};
use tgm_codec::kernels::simd::Simd;
use tgm_codec::threads::Threads;
use tgm_core::descriptor::ByteOrder;
use tgm_core::packing::Packing;

use super::check::{self, MAX_BITS};
use super::values::{BLOCK, Values};
use crate::base::error::Result;
#[cfg(doc)]
use crate::base::error::TensogramError;

/// Packs values with checked parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packer {
    reference: f64,
    factor: f64,
    bits: u32,
}

impl Packer {
    /// Checks the parameters and prepares packing.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for a reference value that is not finite; [`TensogramError::Encoding`] for more
    /// than 64 bits, and for a binary scale out of range.
    pub(crate) fn new(packing: &Packing) -> Result<Self> {
        check::parameters(packing)?;
        Ok(Self { reference: packing.reference_value, factor: packing.factor(), bits: packing.bits_per_value })
    }

    /// Bytes of `count` fields. They are never more than the bytes of `count` values.
    pub(crate) const fn packed_len(self, count: usize) -> usize {
        (count as u128 * self.bits as u128).div_ceil(8) as usize
    }

    /// Packs `values` into `out`, whose length is [`Self::packed_len`] of their number.
    pub(crate) fn pack_into(self, values: Values<'_>, out: &mut [u8]) {
        self.pack_by(Simd::best(), values, out);
    }

    /// [`Self::pack_into`] with the instructions of one level.
    pub(super) fn pack_by(self, simd: Simd, values: Values<'_>, out: &mut [u8]) {
        let fields = Quantisation { reference: self.reference, factor: self.factor, bits: self.bits };
        let done = pack::pack(simd, ValueBytes { bytes: values.bytes, order: values.order }, fields, out);
        let rest = values.from(done);
        // `out` has the length of all values, of which `done` are some.
        let out = out.get_mut(self.packed_len(done)..).unwrap_or(&mut []);
        match rest.order {
            ByteOrder::Big => self.pack(rest.bytes, f64::from_be_bytes, out),
            ByteOrder::Little => self.pack(rest.bytes, f64::from_le_bytes, out),
        }
    }

    /// [`Self::pack_into`] fresh memory on several threads.
    pub(crate) fn pack_on<'o>(
        self,
        threads: Threads,
        values: Values<'_>,
        memory: &'o mut [MaybeUninit<u8>],
    ) -> &'o mut [u8] {
        let grain = self.packed_len(BLOCK).max(1);
        threads.fresh_pieces(memory, grain, |start, piece| self.pack_into(values.from(start / grain * BLOCK), piece))
    }

    /// The plain algorithm, for the values that vector instructions leave over.
    fn pack(self, values: &[[u8; 8]], load: impl Fn([u8; 8]) -> f64 + Copy, out: &mut [u8]) {
        let narrow = |bytes: &[u8; 8]| self.quantise_narrow(load(*bytes));
        match self.bits {
            0 => {}
            8 => out.iter_mut().zip(values).for_each(|(out, v)| [.., *out] = narrow(v).to_be_bytes()),
            16 => pack_bytes(values, narrow, out, |q| {
                let [.., a, b] = q.to_be_bytes();
                [a, b]
            }),
            24 => pack_bytes(values, narrow, out, |q| {
                let [_, a, b, c] = q.to_be_bytes();
                [a, b, c]
            }),
            1..=31 => pack_fields(values.iter().map(|v| u64::from(narrow(v))), self.bits, out),
            bits => pack_fields(values.iter().map(|v| self.quantise(load(*v))), bits, out),
        }
    }

    /// The field of a value, for widths below 32 bits. These conversions vectorise.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "kept within 0 and 2^31 - 1")]
    fn quantise_narrow(self, value: f64) -> u32 {
        let most = f64::from(((1_u64 << self.bits) - 1) as u32);
        // An infinite factor turns the reference value into NaN. `max` makes that 0.
        let scaled = ((value - self.reference) * self.factor).max(0.0).min(most);
        let whole = scaled as i32;
        let up = scaled - f64::from(whole) >= 0.5;
        whole as u32 + u32::from(up)
    }

    /// The field of a value.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "saturates as the format says; beyond 2^53 there is no fraction to round"
    )]
    fn quantise(self, value: f64) -> u64 {
        let scaled = (value - self.reference) * self.factor;
        let whole = scaled as u64;
        let up = scaled - whole as f64 >= 0.5;
        whole.saturating_add(u64::from(up)).min(u64::MAX >> (MAX_BITS - self.bits))
    }
}

/// Packs fields of N whole bytes.
fn pack_bytes<const N: usize>(
    values: &[[u8; 8]],
    quantise: impl Fn(&[u8; 8]) -> u32,
    out: &mut [u8],
    bytes: impl Fn(u32) -> [u8; N],
) {
    for (out, value) in out.as_chunks_mut().0.iter_mut().zip(values) {
        *out = bytes(quantise(value));
    }
}

/// Packs fields of any width. Bits are gathered in `gathered`, and written in words of 64.
fn pack_fields(fields: impl Iterator<Item = u64>, bits: u32, out: &mut [u8]) {
    let (mut words, mut gathered, mut count) = (out, 0_u128, 0);
    for field in fields {
        gathered = (gathered << bits) | u128::from(field);
        count += bits;
        if count >= 64 {
            count -= 64;
            #[expect(clippy::cast_possible_truncation, reason = "the bits above have been written")]
            let word = (gathered >> count) as u64;
            let Some((out, rest)) = std::mem::take(&mut words).split_first_chunk_mut() else { return };
            *out = word.to_be_bytes();
            words = rest;
        }
    }
    // The remaining bits, moved to the top of a word.
    #[expect(clippy::cast_possible_truncation, reason = "the bits above have been written")]
    let last = if count == 0 { 0 } else { (gathered as u64) << (64 - count) };
    words.iter_mut().zip(last.to_be_bytes()).for_each(|(out, byte)| *out = byte);
}
