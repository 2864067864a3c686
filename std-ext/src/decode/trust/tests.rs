use std::cell::Cell;

use tgm_core::Message;
use tgm_core::frame::Frame;

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
        #[cfg(feature = "zio")]
        {
            let bridge = crate::zio::BridgeOptions { decode: options.clone(), ..Default::default() };
            assert_eq!(hashed(|| crate::zio::from_tensogram(&bytes, &bridge)), expect(all));
        }
        for (i, object) in objects.iter().enumerate() {
            let (one, mut scratch, mut out) = (expect(bodies[i]), Scratch::default(), vec![0; 8000]);
            assert_eq!(hashed(|| crate::decode_object(&bytes, i, &options)), one);
            assert_eq!(hashed(|| crate::decode_range(&bytes, i, &ranges, &options)), one);
            assert_eq!(hashed(|| crate::values(object, &options)), one);
            assert_eq!(hashed(|| crate::ranges(object, &ranges, &options)), one);
            assert_eq!(hashed(|| crate::values_into(object, &options, &mut scratch, &mut out)), one);
            assert_eq!(hashed(|| crate::ranges_into(object, &ranges, &options, &mut scratch, &mut out)), one);
        }
    }
}

#[test]
fn a_payload_from_elsewhere_has_no_digest() {
    let bytes = message();
    let object = Message::parse(&bytes).unwrap().object(0).unwrap();
    let other = object.with_payload(&[7; 8000]);
    assert!(crate::values(&other, &DecodeOptions::default()).is_ok());
    let options = DecodeOptions { verify_hash: true, ..DecodeOptions::default() };
    assert!(crate::values(&object, &options).is_ok());
    assert!(matches!(crate::values(&other, &options), Err(TensogramError::MissingHash { .. })));
}
