use std::cell::Cell;
use std::collections::BTreeMap;

use tgm_core::Message;
use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_core::frame::Frame;

use super::Trusted;
use crate::decode::checked::CheckedMessage;
use crate::decode::object_of_frame;
use crate::decode::whole::trusted_values;
use crate::encode::encode_data_object_frame;
use crate::model::types::{DataObjectDescriptor, MaskDescriptor, MasksMetadata};
use crate::{DecodeOptions, MessageBuilder, ObjectBuilder, Scratch, TensogramError};

thread_local! {
    /// Bytes that this thread hashed to check objects.
    static HASHED: Cell<u64> = const { Cell::new(0) };
}

pub(super) fn count(frame: &Frame<'_>) {
    HASHED.set(HASHED.get() + frame.body().len() as u64);
}

/// Bytes hashed by `f`.
fn hashed<T>(f: impl FnOnce() -> crate::Result<T>) -> u64 {
    HASHED.set(0);
    f().unwrap();
    HASHED.get()
}

fn message() -> Vec<u8> {
    let values: Vec<f64> = (0..1000_u16).map(f64::from).collect();
    let object = || ObjectBuilder::new(&[1000], &values).unwrap();
    let packed = object().simple_packing(16).szip();
    MessageBuilder::new().object(object()).object(packed).object(object().shuffle()).encode().unwrap()
}

/// All values, as packages beside this one read them.
fn values_beside(bytes: &[u8], options: &DecodeOptions) -> crate::Result<()> {
    let (opened, proof) = CheckedMessage::for_values(bytes, options, None)?;
    for object in opened.message.objects() {
        trusted_values(Trusted::proven(&object?, proof), options)?;
    }
    Ok(())
}

#[test]
fn a_digest_is_computed_once_for_a_call_and_never_unasked() {
    let bytes = message();
    let message = Message::parse(&bytes).unwrap();
    let objects: Vec<_> = message.objects().map(|object| object.unwrap()).collect();
    let bodies: Vec<u64> = objects.iter().map(|object| object.frame().body().len() as u64).collect();
    let (all, ranges) = (bodies.iter().sum(), [(0, 10); 100]);
    for verify_hash in [true, false] {
        let expect = |bytes: u64| if verify_hash { bytes } else { 0 };
        let options = DecodeOptions { verify_hash, ..DecodeOptions::default() };
        for threads in [1, 3] {
            let options = DecodeOptions { threads, parallel_threshold_bytes: Some(0), ..options.clone() };
            assert_eq!(hashed(|| crate::decode(&bytes, &options)), expect(all));
            assert_eq!(hashed(|| crate::decode_with_masks(&bytes, &options)), expect(all));
        }
        assert_eq!(hashed(|| crate::objects(&bytes, options.clone())?.collect::<crate::Result<Vec<_>>>()), expect(all));
        assert_eq!(hashed(|| values_beside(&bytes, &options)), expect(all));
        for (i, object) in objects.iter().enumerate() {
            let (one, mut scratch, mut out) = (expect(bodies[i]), Scratch::default(), vec![0; 8000]);
            assert_eq!(hashed(|| crate::decode_object(&bytes, i, &options)), one);
            assert_eq!(hashed(|| crate::decode_range(&bytes, i, &ranges, &options)), one);
            assert_eq!(hashed(|| crate::read(object).options(&options).bytes()), one);
            assert_eq!(hashed(|| crate::read(object).ranges(&ranges).options(&options).bytes()), one);
            assert_eq!(
                hashed(|| crate::read(object).options(&options).scratch(&mut scratch).bytes_into(&mut out)),
                one
            );
            assert_eq!(
                hashed(|| crate::read(object)
                    .ranges(&ranges)
                    .options(&options)
                    .scratch(&mut scratch)
                    .bytes_into(&mut out)),
                one
            );
        }
    }
}

#[test]
fn a_payload_from_elsewhere_has_no_digest() {
    let bytes = message();
    let object = Message::parse(&bytes).unwrap().object(0).unwrap();
    let other = object.with_payload(&[7; 8000]);
    assert!(crate::read(&other).bytes().is_ok());
    let options = DecodeOptions { verify_hash: true, ..DecodeOptions::default() };
    assert!(crate::read(&object).options(&options).bytes().is_ok());
    assert!(matches!(crate::read(&other).options(&options).bytes(), Err(TensogramError::MissingHash { .. })));
}

#[test]
fn offsets_of_errors_count_from_the_frame_whatever_comes_before_the_region() {
    let nan = MaskDescriptor { method: "rle".into(), offset: 20, length: 4, params: BTreeMap::default() };
    let masks = Some(MasksMetadata { nan: Some(nan), ..MasksMetadata::default() });
    let descriptor =
        DataObjectDescriptor { masks, ..DataObjectDescriptor::new(Dtype::Float32, ByteOrder::Little, &[5]) };
    let offset_of = |is_first: bool| {
        let frame = encode_data_object_frame(&descriptor, &[0x81; 24], is_first, false).unwrap();
        let object = object_of_frame(&frame).unwrap();
        let error = crate::read(&object).bytes().unwrap_err();
        error.cause().unwrap().offset() - object.region_offset()
    };
    // The mask is damaged, and its blob begins at byte 20 of the region.
    assert!((20..24).contains(&offset_of(false)));
    assert_eq!(offset_of(true), offset_of(false), "after the descriptor");
}
