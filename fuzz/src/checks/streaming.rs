//! The streaming encoder, called in any order: accepted objects read back, and refused ones leave the message
//! unchanged.

use std::collections::BTreeMap;
use std::io::Cursor;

use tgm_arbitrary::arbitrary::{Result, Unstructured};
use tgm_arbitrary::{Object, Pipeline, any};
use tgm_std::{
    AggregateHashPolicy, ByteOrder, DataObjectDescriptor, DecodeOptions, Dtype, EncodeOptions, GlobalMetadata,
    StreamingEncoder, ValidateOptions, decode, scan, validate_message,
};

use crate::{limits, options};

/// Takes `bytes` as calls.
pub fn check(bytes: &[u8]) {
    calls(&mut Unstructured::new(bytes)).expect("no bytes are refused");
}

fn calls(u: &mut Unstructured<'_>) -> Result<()> {
    let policies = [AggregateHashPolicy::Auto, AggregateHashPolicy::None, AggregateHashPolicy::Footer];
    let options = EncodeOptions { aggregate_hash: *u.choose(&policies)?, ..any(u)? };
    let metadata: GlobalMetadata = any(u)?;
    let sink = Cursor::new(Vec::new());
    let mut encoder = StreamingEncoder::new(sink, &metadata, &options).expect("nothing that could be refused");
    let mut messages = Vec::new();
    let mut expected = Expected::default();
    for _ in 0..u.int_in_range(0..=12_u8)? {
        match u.int_in_range(0..=4_u8)? {
            0 => {
                let preceder = entry(u)?;
                let done = encoder.write_preceder(preceder.clone());
                assert_eq!(done.is_ok(), expected.preceder.is_none(), "{done:?}");
                expected.preceder.get_or_insert(preceder);
            }
            1 => {
                let object: Object = u.arbitrary()?;
                encoder.write_object(&object.descriptor, &object.data).expect("an object that can be encoded");
                expected.write(object);
            }
            2 => {
                let object = plain(u)?;
                let done = encoder.write_object_pre_encoded(&object.descriptor, &object.data);
                done.expect("bytes that need no pipeline");
                expected.write(object);
            }
            3 => {
                let object: Object = u.arbitrary()?;
                let before = (encoder.object_count(), encoder.bytes_written());
                let wrong = DataObjectDescriptor { encoding: "unknown".into(), ..object.descriptor };
                assert!(encoder.write_object(&wrong, &object.data).is_err());
                assert_eq!((encoder.object_count(), encoder.bytes_written()), before);
            }
            _ => {
                let is_pending = expected.preceder.is_some();
                let message =
                    if u.arbitrary()? { encoder.finish_and_reset_with_backfill() } else { encoder.finish_and_reset() };
                assert_eq!(message.is_err(), is_pending);
                // If a message cannot be ended, it goes on.
                if let Ok(message) = message {
                    messages.push((message, std::mem::take(&mut expected)));
                }
            }
        }
        assert_eq!(encoder.object_count(), expected.objects.len());
    }
    if expected.preceder.is_some() {
        assert!(encoder.finish().is_err());
    } else {
        let sink = if u.arbitrary()? { encoder.finish_with_backfill() } else { encoder.finish() };
        messages.push((sink.expect("no preceder is pending").into_inner(), expected));
    }
    messages.iter().for_each(|(message, expected)| expected.assert_read(message, options.hashing));
    let file: Vec<u8> = messages.iter().flat_map(|(message, _)| message.iter().copied()).collect();
    assert!(scan(&file).iter().map(|(_, len)| *len).eq(messages.iter().map(|(message, _)| message.len())));
    Ok(())
}

/// What a message must hold.
#[derive(Default)]
struct Expected {
    objects: Vec<(Object, Option<Entry>)>,
    preceder: Option<Entry>,
}

type Entry = BTreeMap<String, ciborium::Value>;

impl Expected {
    fn write(&mut self, object: Object) {
        self.objects.push((object, self.preceder.take()));
    }

    fn assert_read(&self, message: &[u8], hashing: bool) {
        assert_eq!(scan(message), [(0, message.len())]);
        let as_stored = DecodeOptions { native_byte_order: false, verify_hash: hashing, ..options() };
        let (metadata, objects) = decode(message, &as_stored).expect("written");
        assert_eq!(objects.len(), self.objects.len());
        let mut pairs = self.objects.iter().zip(&objects);
        assert!(pairs.all(|((object, _), (descriptor, values))| object.is_kept(descriptor, values)), "{objects:?}");
        for (base, (_, preceder)) in metadata.base.iter().zip(&self.objects) {
            for (key, value) in preceder.iter().flatten() {
                assert_eq!(base.get(key), Some(value));
            }
        }
        let report = validate_message(message, &ValidateOptions { limits: limits(), ..ValidateOptions::default() });
        assert!(report.is_ok(), "{report:?}");
    }
}

/// Metadata of an object.
fn entry(u: &mut Unstructured<'_>) -> Result<Entry> {
    Ok(any::<GlobalMetadata>(u)?.extra)
}

/// An object of bytes without stages.
fn plain(u: &mut Unstructured<'_>) -> Result<Object> {
    let len = usize::from(u.arbitrary::<u8>()?).min(u.len());
    let descriptor = DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[len as u64]);
    Ok(Object::new(descriptor, u.bytes(len)?.to_vec(), Pipeline::PLAIN).expect("no stage"))
}
