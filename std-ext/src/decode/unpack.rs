//! Simple-packed values as numbers of the caller's type, from any element on.

use tgm_codec::kernels::packing::Value;
use tgm_codec::threads::Threads;
use tgm_core::descriptor::ByteOrder;
use tgm_core::tensor::Element;
use zerocopy::IntoBytes as _;

use super::bounds::range_of;
use super::masks::Masks;
use super::plan::{Plan, check_encoded};
use super::range_bytes::RangeBytes;
use super::scratch::Scratch;
use super::stored::open;
use super::trust::Trusted;
use crate::base::error::Result;
use crate::base::options::DecodeOptions;

/// Unpacks `out.len()` values from element `start` on; masked ones restored if the options say so.
///
/// # Errors
/// [`TensogramError::Encoding`](crate::TensogramError::Encoding) if the object has fewer values, or its values are not
/// packed; the errors of [`Plan`], the codec and the masks.
pub(super) fn unpack_into<T: Element + Value>(
    object: Trusted<'_, '_>,
    start: u64,
    options: &DecodeOptions,
    threads: Threads,
    scratch: &mut Scratch,
    out: &mut [T],
) -> Result<()> {
    let descriptor = object.descriptor();
    let range = range_of(descriptor, (start, out.len() as u64))?;
    check_encoded(descriptor)?;
    options.limits.check_bytes(u64::MAX, size_of_val(out) as u64)?;
    let Scratch { bytes, masks, work, .. } = scratch;
    let is_all = range == (0..descriptor.element_count());
    // Parts are read one after the other, on the calling thread.
    let plan = Plan::new(object, options, ByteOrder::NATIVE, if is_all { threads } else { Threads::NONE })?;
    let source = if is_all {
        RangeBytes::All(open(&plan, plan.stored()?, bytes, work)?)
    } else {
        RangeBytes::open(&plan, range.end, bytes, work)?
    };
    source.unpack_into(&plan, start, out)?;
    if plan.must_restore() {
        let masks = Masks::read(object, options, masks)?.of_dtype(T::DTYPE);
        masks.restore_into(start, ByteOrder::NATIVE, out.as_mut_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tgm_core::{ErrorKind, Message};

    use super::*;
    use crate::encode::{MessageBuilder, ObjectBuilder};

    /// Work on the whole is not counted.
    #[test]
    fn a_part_takes_its_own_blocks_and_everything_is_decoded_at_once() {
        let values: Vec<f64> = (0..10_000).map(f64::from).collect();
        let object = ObjectBuilder::new(&[10_000], &values).unwrap().simple_packing(16).szip();
        let message = MessageBuilder::new().object(object.parameter("szip_rsi", 2)).encode().unwrap();
        let object = Message::parse(&message).unwrap().object(0).unwrap();
        let options = DecodeOptions::default();
        let decoded = |start, count| {
            let (trusted, mut scratch) = (Trusted::new(&object, &options).unwrap(), Scratch::default());
            unpack_into(trusted, start, &options, Threads::NONE, &mut scratch, &mut vec![0.0_f64; count]).unwrap();
            scratch.work.done_so_far().decoded
        };
        assert_eq!(decoded(0, 10_000), 0);
        // Two intervals of 32 values in two bytes each.
        assert!((1..=128).contains(&decoded(5000, 30)));
        assert!(decoded(0, 9999) > 0);
    }

    /// What the object is decides, and not what its payload is.
    #[test]
    fn plain_values_are_not_packed_even_if_their_payload_is_damaged() {
        let values: Vec<f32> = (0..100_u8).map(f32::from).collect();
        let object = ObjectBuilder::new(&[100], &values).unwrap().szip();
        let message = MessageBuilder::new().object(object).encode().unwrap();
        let object = Message::parse(&message).unwrap().object(0).unwrap();
        let options = DecodeOptions::default();
        for payload in [object.payload(), &[1, 2, 3], &[]] {
            let object = object.with_payload(payload);
            let trusted = Trusted::new(&object, &options).unwrap();
            let mut out = [0.0; 100];
            let unpacked = unpack_into(trusted, 0, &options, Threads::NONE, &mut Scratch::default(), &mut out);
            assert_eq!(unpacked.unwrap_err().cause().unwrap().kind(), ErrorKind::NotPacked);
        }
    }
}
