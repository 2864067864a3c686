//! The streaming encoder, called in any order: accepted objects read back, and refused ones leave the message
//! unchanged.

use std::collections::BTreeMap;
use std::io::Cursor;

use tgm_std::{
    AggregateHashPolicy, ByteOrder, DataObjectDescriptor, DecodeOptions, Dtype, EncodeOptions, GlobalMetadata,
    StreamingEncoder, ValidateOptions, decode, scan, validate_message,
};

use crate::given::Given;
use crate::{limits, options, provenance};

/// Takes the last bytes of `bytes` as calls.
pub fn check(bytes: &[u8]) {
    let mut given = Given(bytes);
    let policies = [AggregateHashPolicy::Auto, AggregateHashPolicy::None, AggregateHashPolicy::Footer];
    let options = EncodeOptions {
        hashing: given.byte() & 1 == 0,
        aggregate_hash: given.choice(&policies),
        provenance: Some(provenance()),
        ..EncodeOptions::default()
    };
    let metadata = GlobalMetadata { extra: entry(&mut given), ..GlobalMetadata::default() };
    let sink = Cursor::new(Vec::new());
    let mut encoder = StreamingEncoder::new(sink, &metadata, &options).expect("nothing that could be refused");
    let mut messages = Vec::new();
    let mut expected = Expected::default();
    for _ in 0..given.up_to(12) {
        match given.byte() % 5 {
            0 => {
                let preceder = entry(&mut given);
                let done = encoder.write_preceder(preceder.clone());
                assert_eq!(done.is_ok(), expected.preceder.is_none(), "{done:?}");
                expected.preceder.get_or_insert(preceder);
            }
            1 => {
                let (descriptor, data) = object(&mut given);
                encoder.write_object(&descriptor, data).expect("bytes of the length that the shape has");
                expected.write(data);
            }
            2 => {
                let (descriptor, data) = object(&mut given);
                encoder.write_object_pre_encoded(&descriptor, data).expect("bytes that need no pipeline");
                expected.write(data);
            }
            3 => {
                let (descriptor, data) = object(&mut given);
                let before = (encoder.object_count(), encoder.bytes_written());
                let wrong = DataObjectDescriptor { encoding: "unknown".into(), ..descriptor };
                assert!(encoder.write_object(&wrong, data).is_err());
                assert_eq!((encoder.object_count(), encoder.bytes_written()), before);
            }
            _ => {
                let is_pending = expected.preceder.is_some();
                let backfill = given.byte() & 1 == 1;
                let message =
                    if backfill { encoder.finish_and_reset_with_backfill() } else { encoder.finish_and_reset() };
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
        let sink = if given.byte() & 1 == 1 { encoder.finish_with_backfill() } else { encoder.finish() };
        messages.push((sink.expect("no preceder is pending").into_inner(), expected));
    }
    messages.iter().for_each(|(message, expected)| expected.assert_read(message, options.hashing));
    let file: Vec<u8> = messages.iter().flat_map(|(message, _)| message.iter().copied()).collect();
    assert!(scan(&file).iter().map(|(_, len)| *len).eq(messages.iter().map(|(message, _)| message.len())));
}

/// What a message must hold.
#[derive(Default)]
struct Expected<'a> {
    objects: Vec<(&'a [u8], Option<Entry>)>,
    preceder: Option<Entry>,
}

type Entry = BTreeMap<String, ciborium::Value>;

impl<'a> Expected<'a> {
    fn write(&mut self, data: &'a [u8]) {
        self.objects.push((data, self.preceder.take()));
    }

    fn assert_read(&self, message: &[u8], hashing: bool) {
        assert_eq!(scan(message), [(0, message.len())]);
        let (metadata, objects) =
            decode(message, &DecodeOptions { verify_hash: hashing, ..options() }).expect("written");
        assert!(objects.iter().map(|(_, values)| &values[..]).eq(self.objects.iter().map(|(data, _)| *data)));
        for (base, (_, preceder)) in metadata.base.iter().zip(&self.objects) {
            for (key, value) in preceder.iter().flatten() {
                assert_eq!(base.get(key), Some(value));
            }
        }
        let report = validate_message(message, &ValidateOptions { limits: limits(), ..ValidateOptions::default() });
        assert!(report.is_ok(), "{report:?}");
    }
}

/// Up to two entries.
fn entry(given: &mut Given<'_>) -> Entry {
    (0..given.byte() % 3).map(|_| (format!("k{}", given.byte() % 4), u64::from(given.number()).into())).collect()
}

/// Some bytes, and their descriptor.
fn object<'a>(given: &mut Given<'a>) -> (DataObjectDescriptor, &'a [u8]) {
    let len = usize::from(given.byte()).min(given.0.len());
    let (data, rest) = given.0.split_at(len);
    *given = Given(rest);
    (DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[len as u64]), data)
}
