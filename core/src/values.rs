//! All values of an object as floats, in one call.
//!
//! ```text
//! payload ─► szip, if any ─► scratch ─► unshuffle ─► unpack or convert ─► out ─► restore masks
//!                └──────── packed values of whole bytes go directly ──────┘
//! ```

use zerocopy::IntoBytes;

use crate::error::{ErrorKind, Result};
use crate::formula::Unpack;
use crate::names::{ByteOrder, Compression, Dtype, Stage};
use crate::object::DataObject;
use crate::stored::Stored;
#[cfg(feature = "szip")]
use crate::stored::stored_len;
#[cfg(feature = "szip")]
use crate::szip::{Params, Start, decode_from};
use crate::tensor::{Element, Elements};

/// Elements that are converted at a time.
const BLOCK: usize = 64;
/// Bytes of the widest element that is converted.
const WIDEST: usize = size_of::<u64>();

impl DataObject<'_> {
    /// How many bytes of scratch memory [`Self::decode_floats_into`] needs: O(1).
    ///
    /// 0 for payloads that are not compressed, and for packed values of 8, 16, 24 or 32 bits that are compressed with szip
    /// and not filtered. For other payloads with szip: the number of uncompressed bytes.
    ///
    /// # Errors
    /// [`ErrorKind::NeedsDecoding`] for another compression, and for szip if that feature is off; the errors of
    /// [`crate::stored::stored_len`].
    pub fn scratch_len(&self) -> Result<u64> {
        match self.descriptor().compression().known() {
            Some(Compression::None) => Ok(0),
            #[cfg(feature = "szip")]
            Some(Compression::Szip) if self.is_packed_only() => Ok(0),
            #[cfg(feature = "szip")]
            Some(Compression::Szip) => stored_len(self.descriptor()),
            other => Err(ErrorKind::NeedsDecoding(Stage::Compression(other)).at(self.descriptor().offset())),
        }
    }

    /// Decodes all values to `out`, as `f64` or `f32`, with NaN and infinities restored. No allocation.
    ///
    /// Every stage is undone that this crate knows: szip, shuffle, simple_packing and masks. Plain integers and floats are
    /// converted to `f64`, and rounded to the nearest value if `f64` cannot hold them; for `f32` the result is rounded once
    /// more. `scratch` must have [`Self::scratch_len`] bytes or more. With feature `szip` this takes 1 KiB of stack.
    ///
    /// This does not check the digest; see [`Self::payload`].
    ///
    /// ```
    /// # #[cfg(all(feature = "packing", feature = "szip"))] {
    /// # let bytes: &[u8] = include_bytes!("../samples/b16-none-szip.tgm");
    /// let object = tgm_core::Message::parse(bytes)?.object(0)?; // simple_packing and szip
    /// let (mut scratch, mut out) = ([0; 1024], [0.0_f64; 4096]);
    /// let count = object.descriptor().element_count() as usize;
    /// object.decode_floats_into(&mut scratch, &mut out[..count])?;
    /// # assert_eq!(object.scratch_len(), Ok(0));
    /// # }
    /// # Ok::<(), tgm_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::OutputLength`] if `out` does not have the number of elements, or if `scratch` is too short;
    /// [`ErrorKind::DtypeMismatch`] for complex numbers and bitmasks; [`ErrorKind::NeedsDecoding`] for a stage that this
    /// crate does not know or that is not compiled in; the errors of the stages and their parameters.
    pub fn decode_floats_into<T: Unpack + Element>(&self, scratch: &mut [u8], out: &mut [T]) -> Result<()> {
        if out.len() as u64 != self.descriptor().element_count() {
            return Err(ErrorKind::OutputLength.at(self.region_offset()));
        }
        if !self.decompress_packed(out)? {
            self.stored_in(scratch)?.floats_into(out).map_err(|e| e.shift(self.region_offset()))?;
        }
        // Integers have no NaN and no infinities, so their masks have nothing to restore.
        if self.descriptor().dtype().is_float() {
            return self.restore_as(T::DTYPE, 0, ByteOrder::NATIVE, out.as_mut_bytes());
        }
        Ok(())
    }

    /// The uncompressed bytes: the payload itself, or decompressed to `scratch`.
    fn stored_in<'s>(&'s self, scratch: &'s mut [u8]) -> Result<Stored<'s>> {
        let len = usize::try_from(self.scratch_len()?).ok();
        let bytes =
            len.and_then(|len| scratch.get_mut(..len)).ok_or(ErrorKind::OutputLength.at(self.region_offset()))?;
        match self.descriptor().compression().known() {
            #[cfg(feature = "szip")]
            Some(Compression::Szip) => {
                let params = Params::of(self.descriptor())?;
                decode_from(self.payload(), &params, Start::default(), bytes)
                    .map_err(|e| e.shift(self.region_offset()))?;
                self.stored_from(bytes)
            }
            _ => {
                let _ = bytes;
                self.stored()
            }
        }
    }

    /// Whether the payload is packed values without a filter, each of which is a whole sample of szip.
    #[cfg(all(feature = "packing", feature = "szip"))]
    fn is_packed_only(&self) -> bool {
        use crate::names::{Encoding, Filter};
        self.descriptor().encoding().known() == Some(Encoding::SimplePacking)
            && self.descriptor().filter().known() == Some(Filter::None)
    }

    #[cfg(all(not(feature = "packing"), feature = "szip"))]
    const fn is_packed_only(&self) -> bool {
        false
    }

    /// Decompresses and unpacks in one pass, if the payload allows it. Returns whether it did.
    #[cfg(all(feature = "packing", feature = "szip"))]
    fn decompress_packed<T: Unpack>(&self, out: &mut [T]) -> Result<bool> {
        let descriptor = self.descriptor();
        if descriptor.compression().known() != Some(Compression::Szip) || !self.is_packed_only() {
            return Ok(false);
        }
        if descriptor.dtype() != Dtype::Float64 {
            return Err(crate::stored::not_float64(descriptor));
        }
        let (params, formula) = (Params::of(descriptor)?, descriptor.packing()?.formula());
        crate::szip::decode_packed_with(self.payload(), &params, Start::default(), formula, out, T::from_f64)
            .map_err(|e| e.shift(self.region_offset()))?;
        Ok(true)
    }

    #[cfg(not(all(feature = "packing", feature = "szip")))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "same signature as with the features")]
    const fn decompress_packed<T: Unpack>(&self, _out: &mut [T]) -> Result<bool> {
        Ok(false)
    }
}

impl Stored<'_> {
    /// Writes all values to `out` as floats.
    fn floats_into<T: Unpack + Element>(&self, out: &mut [T]) -> Result<()> {
        #[cfg(feature = "packing")]
        match self.unpack_into(0, out) {
            Err(error) if error.kind() == ErrorKind::NotPacked => {}
            unpacked => return unpacked,
        }
        match self.dtype() {
            Dtype::Float16 => self.convert_into::<half::f16, T>(out),
            Dtype::Bfloat16 => self.convert_into::<half::bf16, T>(out),
            Dtype::Float32 => self.convert_into::<f32, T>(out),
            Dtype::Float64 => self.convert_into::<f64, T>(out),
            Dtype::Int8 => self.convert_into::<i8, T>(out),
            Dtype::Int16 => self.convert_into::<i16, T>(out),
            Dtype::Int32 => self.convert_into::<i32, T>(out),
            Dtype::Int64 => self.convert_into::<i64, T>(out),
            Dtype::Uint8 => self.convert_into::<u8, T>(out),
            Dtype::Uint16 => self.convert_into::<u16, T>(out),
            Dtype::Uint32 => self.convert_into::<u32, T>(out),
            Dtype::Uint64 => self.convert_into::<u64, T>(out),
            found @ (Dtype::Complex64 | Dtype::Complex128 | Dtype::Bitmask) => {
                Err(ErrorKind::DtypeMismatch { expected: T::DTYPE, found }.at(0))
            }
        }
    }

    /// Converts all elements, which are of type `S`, block by block through a buffer on the stack.
    fn convert_into<S: Real, T: Unpack>(&self, out: &mut [T]) -> Result<()> {
        let mut buffer = [0; BLOCK * WIDEST];
        let mut start = 0_u64;
        for block in out.chunks_mut(BLOCK) {
            let end = start.saturating_add(block.len() as u64);
            let len = block.len().wrapping_mul(size_of::<S>());
            let bytes = buffer.get_mut(..len).unwrap_or_default();
            self.decode_into(start..end, ByteOrder::NATIVE, bytes)?;
            let elements = Elements::<S>::new(bytes, ByteOrder::NATIVE)?;
            for (slot, element) in block.iter_mut().zip(&elements) {
                *slot = T::from_f64(element.to_f64());
            }
            start = end;
        }
        Ok(())
    }
}

/// An element that is a real number.
trait Real: Element {
    /// The nearest `f64`.
    fn to_f64(self) -> f64;
}

macro_rules! reals {
    ($($type:ty),+) => {
        $(
            impl Real for $type {
                #[inline]
                #[allow(clippy::cast_precision_loss, clippy::cast_lossless, reason = "rounding is what was asked for")]
                fn to_f64(self) -> f64 {
                    self as f64
                }
            }
        )+
    };
}

reals!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);

impl Real for half::f16 {
    #[inline]
    fn to_f64(self) -> f64 {
        self.to_f64()
    }
}

impl Real for half::bf16 {
    #[inline]
    fn to_f64(self) -> f64 {
        self.to_f64()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::string::ToString;
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::Message;
    use crate::formula::sealed::FromF64;
    use crate::tensor::AnyView;

    /// Decodes every message in a folder in two ways that must agree. Returns the number of decoded objects.
    fn check_folder(path: &Path) -> usize {
        let mut count = 0;
        for entry in std::fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "tgm") {
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            for object in Message::parse(&bytes).unwrap().objects().map(|object| object.unwrap()) {
                count += usize::from(check(&object, &path.display().to_string()));
            }
        }
        count
    }

    /// Compares the values of one object with the values that another way to decode it gives. Returns whether it can be decoded.
    fn check(object: &DataObject<'_>, name: &str) -> bool {
        let Ok(scratch_len) = object.scratch_len() else { return false };
        let count = usize::try_from(object.descriptor().element_count()).unwrap();
        let (mut scratch, mut out) = (vec![0; usize::try_from(scratch_len).unwrap()], vec![0.0_f64; count]);
        let found = object.decode_floats_into(&mut scratch, &mut out);
        let Ok(()) = found else {
            let error = found.unwrap_err().kind();
            let is_known = matches!(
                error,
                ErrorKind::DtypeMismatch { .. } | ErrorKind::NeedsDecoding(_) | ErrorKind::SzipBitsPerSample(_)
            );
            assert!(is_known, "{name}: {error}");
            return false;
        };
        let as_bits = |values: &[f64]| -> Vec<u64> { values.iter().map(|value| value.to_bits()).collect() };
        let expected = expected(object, count);
        assert_eq!(as_bits(&out), as_bits(&expected), "{name}");
        let mut single = vec![0.0_f32; count];
        object.decode_floats_into(&mut scratch, &mut single).unwrap();
        for (single, double) in single.iter().zip(&expected) {
            let is_same = single.to_bits() == f32::from_f64(*double).to_bits();
            assert!(is_same || single.is_nan() && double.is_nan(), "{name}");
        }
        let mut short = vec![0.0_f64; count + 1];
        let error = object.decode_floats_into(&mut scratch, &mut short).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutputLength);
        true
    }

    #[test]
    fn samples_with_szip_are_decoded_packed_or_plain() {
        let packed: &[u8] = include_bytes!("../samples/b16-none-szip.tgm");
        for bytes in [packed, include_bytes!("../samples/none-szip-int16-big.tgm")] {
            assert!(check(&Message::parse(bytes).unwrap().object(0).unwrap(), "a sample"));
        }
        // The descriptor comes last. The name of another type is as long.
        let mut single = packed.to_vec();
        let at = single.windows(7).rposition(|name| name == b"float64").unwrap();
        single[at..at + 7].copy_from_slice(b"float32");
        let object = Message::parse(&single).unwrap().object(0).unwrap();
        let mut out = vec![0.0_f32; usize::try_from(object.descriptor().element_count()).unwrap()];
        let error = object.decode_floats_into(&mut [], &mut out).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::DtypeMismatch { .. }), "{error}");
    }

    /// The values as they come from single steps: `szip::decode_into` if needed, then `decode_into`.
    fn expected(object: &DataObject<'_>, count: usize) -> Vec<f64> {
        let mut bytes = vec![0; usize::try_from(object.descriptor().decoded_len().unwrap()).unwrap()];
        let all = 0..object.descriptor().element_count();
        if object.descriptor().compression().known() == Some(Compression::None) {
            object.decode_into(all, ByteOrder::NATIVE, &mut bytes).unwrap();
        } else {
            let mut raw = vec![0; usize::try_from(stored_len(object.descriptor()).unwrap()).unwrap()];
            let params = Params::of(object.descriptor()).unwrap();
            crate::szip::decode_into(object.payload(), &params, &mut raw).unwrap();
            let stored = Stored::new(object.descriptor(), &raw).unwrap();
            stored.decode_into(all, ByteOrder::NATIVE, &mut bytes).unwrap();
            object.restore_into(0, ByteOrder::NATIVE, &mut bytes).unwrap();
        }
        let shape = [count as u64];
        match AnyView::new(object.descriptor().dtype(), &bytes, ByteOrder::NATIVE, (&shape).into()).unwrap() {
            AnyView::Float16(view) => view.iter().map(Real::to_f64).collect(),
            AnyView::Bfloat16(view) => view.iter().map(Real::to_f64).collect(),
            AnyView::Float32(view) => view.iter().map(Real::to_f64).collect(),
            AnyView::Float64(view) => view.iter().map(Real::to_f64).collect(),
            AnyView::Int8(view) => view.iter().map(Real::to_f64).collect(),
            AnyView::Int16(view) => view.iter().map(Real::to_f64).collect(),
            AnyView::Int32(view) => view.iter().map(Real::to_f64).collect(),
            AnyView::Int64(view) => view.iter().map(Real::to_f64).collect(),
            AnyView::Uint8(view) => view.iter().map(Real::to_f64).collect(),
            AnyView::Uint16(view) => view.iter().map(Real::to_f64).collect(),
            AnyView::Uint32(view) => view.iter().map(Real::to_f64).collect(),
            AnyView::Uint64(view) => view.iter().map(Real::to_f64).collect(),
            other => panic!("{:?} is not real", other.dtype()),
        }
    }

    #[test]
    fn floats_of_one_call_are_the_values_that_the_stages_give_one_by_one() {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(check_folder(&package.join("samples")) > 3);
        let checkout = package.join("../tests/data");
        if checkout.is_dir() {
            for folder in ["dtypes", "simple_packing", "codecs", "masks", "shapes"] {
                assert!(check_folder(&checkout.join(folder)) > 3, "{folder}");
            }
        }
    }

    #[test]
    fn scratch_is_checked_and_only_asked_for_where_bytes_have_to_be_kept() {
        let direct = include_bytes!("../samples/b16-none-szip.tgm");
        let object = Message::parse(direct).unwrap().object(0).unwrap();
        assert_eq!(object.scratch_len(), Ok(0));
        let kept = include_bytes!("../samples/none-szip-int16-big.tgm");
        let object = Message::parse(kept).unwrap().object(0).unwrap();
        let count = usize::try_from(object.descriptor().element_count()).unwrap();
        assert_eq!(object.scratch_len(), Ok(2 * count as u64));
        let error = object.decode_floats_into(&mut [0; 1], &mut vec![0.0_f32; count]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutputLength);
    }
}
