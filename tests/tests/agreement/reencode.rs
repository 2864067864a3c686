//! Messages that the reference wrote are decoded and encoded again, and the bytes are the same (FORMAT §4.3, §4.4,
//! §4.6).

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::descriptor::{Encoding, Filter};
use tgm_core::hash::HashPresence;
use tgm_core::object::DataObject;
use tgm_core::stored::stored_len;
use tgm_core::wire::{FrameType, MessageFlags};
use tgm_core::{Message, szip};
use tgm_std::{
    AggregateHashPolicy, DataObjectDescriptor, DecodeOptions, EncodeOptions, GlobalMetadata, MaskMethod, MasksMetadata,
    Provenance, RESERVED_KEY, StreamingEncoder, decode, encode, encode_pre_encoded, scan,
};
use tgm_tests::corpus::{Sample, samples_where};

/// The least number of messages that must be compared, so that no test can pass by skipping.
const LEAST_ENCODED: usize = if LZ4_IS_REPRODUCIBLE { 250 } else { 200 };
const LEAST_PRE_ENCODED: usize = 100;
const LEAST_STREAMED: usize = 40;

/// Whether lz4 finds the matches that the writer found: its search hashes machine words, so theirs must be like ours.
const LZ4_IS_REPRODUCIBLE: bool = cfg!(all(target_pointer_width = "64", target_endian = "little"));

/// A message taken apart.
struct Parts {
    /// Whether the payloads were given encoded: encoding them could have refused or replaced something.
    pre_encoded: bool,
    metadata: GlobalMetadata,
    objects: Vec<(DataObjectDescriptor, Vec<u8>)>,
    regions: Vec<Vec<u8>>,
    options: EncodeOptions,
}

#[test]
fn encoding_decoded_messages_gives_the_same_bytes() {
    let (mut compared, mut corrected, mut different) = (0, 0, Vec::new());
    for_each_message(|name, bytes, parts| {
        if parts.pre_encoded || parts.objects.iter().any(|(descriptor, _)| !is_reproducible(descriptor)) {
            return;
        }
        compared += 1;
        let objects: Vec<_> = parts.objects.iter().map(|(descriptor, data)| (descriptor, &**data)).collect();
        match encode(&parts.metadata, &objects, &parts.options) {
            Ok(encoded) if encoded == bytes => {}
            Ok(encoded) if differs_by_wrong_offsets(bytes, &encoded) => corrected += 1,
            Ok(encoded) => different.push(format!("{name}: {}", first_difference(bytes, &encoded))),
            Err(error) => different.push(format!("{name}: {error}")),
        }
    });
    assert!(corrected < 20, "{corrected} messages had wrong offsets");
    assert!(different.is_empty(), "{} of {compared} differ:\n{}", different.len(), different.join("\n"));
    assert!(compared >= LEAST_ENCODED, "{compared} messages compared");
}

#[test]
fn framing_encoded_payloads_gives_the_same_bytes() {
    let (mut compared, mut different) = (0, Vec::new());
    for_each_message(|name, bytes, parts| {
        // With encoding `none`, the format demands a payload as long as the raw elements.
        let compresses =
            |d: &DataObjectDescriptor| d.encoding == "none" && (d.compression != "none" || d.masks.is_some());
        if parts.objects.iter().any(|(descriptor, _)| compresses(descriptor)) {
            return;
        }
        compared += 1;
        let objects = parts.objects.iter().zip(&parts.regions).map(|((descriptor, _), region)| (descriptor, &**region));
        match encode_pre_encoded(&parts.metadata, &objects.collect::<Vec<_>>(), &parts.options) {
            Ok(encoded) if encoded == bytes => {}
            Ok(encoded) => different.push(format!("{name}: {}", first_difference(bytes, &encoded))),
            Err(error) => different.push(format!("{name}: {error}")),
        }
    });
    assert!(different.is_empty(), "{} of {compared} differ:\n{}", different.len(), different.join("\n"));
    assert!(compared >= LEAST_PRE_ENCODED, "{compared} messages compared");
}

#[test]
fn streaming_decoded_messages_gives_the_same_bytes() {
    let (mut compared, mut different) = (0, Vec::new());
    for sample in samples_where(false).iter().filter(|sample| sample.class == "valid" && is_current(sample)) {
        for (offset, len) in scan(&sample.bytes) {
            let bytes = &sample.bytes[offset..offset + len];
            let Some(streamed) = stream_again(bytes) else { continue };
            compared += 1;
            match streamed {
                Ok(streamed) if streamed == bytes => {}
                Ok(streamed) => {
                    different.push(format!("{}@{offset}: {}", sample.name, first_difference(bytes, &streamed)));
                }
                Err(error) => different.push(format!("{}@{offset}: {error}", sample.name)),
            }
        }
    }
    assert!(different.is_empty(), "{} of {compared} differ:\n{}", different.len(), different.join("\n"));
    assert!(compared >= LEAST_STREAMED, "{compared} messages compared");
}

/// Streams the objects of a streamed message again; `None` for buffered messages and for objects that cannot be
/// reproduced.
fn stream_again(bytes: &[u8]) -> Option<tgm_std::Result<Vec<u8>>> {
    let message = Message::parse(bytes).ok()?;
    let flags = message.flags();
    if !flags.has(MessageFlags::FOOTER_METADATA) || message.hash_presence().ok()? == HashPresence::All {
        return None;
    }
    let as_stored = DecodeOptions { native_byte_order: false, ..DecodeOptions::default() };
    let (footer, objects) = decode(bytes, &as_stored).ok()?;
    if objects.iter().any(|(descriptor, _)| !is_reproducible(descriptor)) {
        return None;
    }
    // The header holds the metadata that the writer began with.
    let header = tgm_std::decode_metadata(bytes).ok()?;
    let hashes =
        if flags.has(MessageFlags::FOOTER_HASHES) { AggregateHashPolicy::Footer } else { AggregateHashPolicy::None };
    let mut options = EncodeOptions {
        hashing: flags.has(MessageFlags::HASHES_PRESENT),
        aggregate_hash: hashes,
        allow_nan: true,
        allow_inf: true,
        provenance: Some(provenance(&footer.reserved)?),
        ..EncodeOptions::default()
    };
    for masks in objects.iter().filter_map(|(descriptor, _)| descriptor.masks.as_ref()) {
        take_methods(masks, &mut options);
    }
    let stream = || {
        let mut encoder = StreamingEncoder::new(std::io::Cursor::new(Vec::new()), &header, &options)?;
        let mut objects = objects.iter();
        for frame in message.frames() {
            let frame = frame?;
            match frame.frame_type() {
                FrameType::PrecederMetadata => {
                    let mut preceder = tgm_std::metadata::cbor_to_global_metadata(frame.body())?;
                    encoder.write_preceder(preceder.base.remove(0))?;
                }
                FrameType::NTensorFrame => {
                    let (descriptor, data) = objects.next().expect("as many objects as frames");
                    encoder.write_object(descriptor, data)?;
                }
                _ => {}
            }
        }
        let sink = if message.total_length().is_none() { encoder.finish()? } else { encoder.finish_with_backfill()? };
        Ok(sink.into_inner())
    };
    Some(stream())
}

/// Whether payloads are equal, and the only difference is that the reference's `szip_block_offsets` are wrong and ours
/// are right (PIPELINE §5.4).
fn differs_by_wrong_offsets(reference: &[u8], ours: &[u8]) -> bool {
    let objects = |bytes| Message::parse(bytes).unwrap().objects().map(Result::unwrap);
    objects(reference).zip(objects(ours)).all(|(theirs, ours)| {
        let offsets = |object: &DataObject<'_>| -> Vec<u64> {
            object.descriptor().szip_block_offsets().unwrap().into_iter().flat_map(|offsets| offsets.iter()).collect()
        };
        theirs.payload() == ours.payload()
            && (offsets(&theirs) == offsets(&ours) || offsets(&ours) == true_offsets(&ours))
    })
}

/// Where the intervals of an object's szip stream begin, found by reading the stream.
fn true_offsets(object: &DataObject<'_>) -> Vec<u64> {
    let (descriptor, stored) = (object.descriptor(), object.descriptor().szip().unwrap());
    let (bits, implied) = if descriptor.encoding().known() == Some(Encoding::SimplePacking) {
        (descriptor.packing().unwrap().bits_per_value, szip::flags::MSB)
    } else if descriptor.filter().known() == Some(Filter::Shuffle) {
        (8, 0)
    } else {
        (8 * u32::try_from(descriptor.dtype().byte_width()).unwrap(), 0)
    };
    let params = szip::Params::new(bits, stored.block_size, stored.rsi, stored.flags | implied).unwrap();
    let samples = stored_len(descriptor).unwrap() / params.container_size() as u64;
    szip::RsiOffsets::new(object.payload(), &params, samples).map(Result::unwrap).collect()
}

/// Calls `check` with every buffered message of releases that flag each frame with a digest.
fn for_each_message(mut check: impl FnMut(&str, &[u8], &Parts)) {
    for sample in samples_where(false).iter().filter(|sample| sample.class == "valid" && is_current(sample)) {
        for (offset, len) in scan(&sample.bytes) {
            let bytes = &sample.bytes[offset..offset + len];
            if let Some(mut parts) = take_apart(bytes) {
                parts.pre_encoded = sample.name.starts_with("preencoded/");
                check(&format!("{}@{offset}", sample.name), bytes, &parts);
            }
        }
    }
}

/// Whether a release of the reference since 0.21 wrote the file, without later edits by hand.
fn is_current(sample: &Sample) -> bool {
    let version = sample.json["producer"]["version"].as_str().unwrap_or_default();
    let by_hand = sample.json.get("derived_from").is_some() || sample.name.starts_with("layout/");
    !by_hand && ["0.21", "0.22", "0.23", "0.24"].iter().any(|release| version.starts_with(release))
}

/// Takes a message apart; `None` for streamed messages, whose layout differs, and for releases before 0.21.
fn take_apart(bytes: &[u8]) -> Option<Parts> {
    let message = Message::parse(bytes).ok()?;
    let flags = message.flags();
    let is_old = flags.has(MessageFlags::HASHES_PRESENT) && message.hash_presence().ok()? == HashPresence::All;
    if is_old || flags.has(MessageFlags::FOOTER_METADATA) {
        return None;
    }
    let as_stored = DecodeOptions { native_byte_order: false, ..DecodeOptions::default() };
    let (mut metadata, objects) = decode(bytes, &as_stored).ok()?;
    let regions = message.objects().map(|object| Some(object.ok()?.region().to_vec())).collect::<Option<_>>()?;
    let provenance = provenance(&metadata.reserved)?;
    metadata.reserved.clear();
    for entry in &mut metadata.base {
        entry.remove(RESERVED_KEY);
    }
    let aggregate_hash = match (flags.has(MessageFlags::HEADER_HASHES), flags.has(MessageFlags::FOOTER_HASHES)) {
        (true, true) => AggregateHashPolicy::Both,
        (true, false) => AggregateHashPolicy::Header,
        (false, true) => AggregateHashPolicy::Footer,
        (false, false) => AggregateHashPolicy::None,
    };
    let mut options = EncodeOptions {
        hashing: flags.has(MessageFlags::HASHES_PRESENT),
        aggregate_hash,
        allow_nan: true,
        allow_inf: true,
        provenance: Some(provenance),
        ..EncodeOptions::default()
    };
    for masks in objects.iter().filter_map(|(descriptor, _)| descriptor.masks.as_ref()) {
        take_methods(masks, &mut options);
    }
    Some(Parts { pre_encoded: false, metadata, objects, regions, options })
}

fn take_methods(masks: &MasksMetadata, options: &mut EncodeOptions) {
    let small = options.small_mask_threshold_bytes as u64;
    for (mask, option) in [
        (&masks.nan, &mut options.nan_mask_method),
        (&masks.pos_inf, &mut options.pos_inf_mask_method),
        (&masks.neg_inf, &mut options.neg_inf_mask_method),
    ] {
        let Some(mask) = mask else { continue };
        let mut method = MaskMethod::from_name(&mask.method).expect("a method of the format");
        let level = mask.params.get("level").and_then(Value::as_integer).and_then(|level| i32::try_from(level).ok());
        match (&mut method, level) {
            (MaskMethod::Zstd { level }, given) => *level = given,
            (MaskMethod::Blosc2 { codec, level }, Some(given)) => {
                *level = given;
                let name = mask.params.get("codec").and_then(Value::as_text).unwrap_or_default();
                *codec = tgm_std::Blosc2Codec::from_name(name).unwrap_or_default();
            }
            _ => {}
        }
        if mask.method != "none" || mask.length > small {
            options.small_mask_threshold_bytes = 0;
        }
        *option = method;
    }
}

fn provenance(reserved: &BTreeMap<String, Value>) -> Option<Provenance> {
    let text = |value: &Value| value.as_text().map(str::to_string);
    let encoder = reserved.get("encoder")?.as_map()?;
    let of_encoder = |key: &str| encoder.iter().find(|(k, _)| k.as_text() == Some(key)).and_then(|(_, v)| text(v));
    Some(Provenance {
        time: text(reserved.get("time")?)?,
        uuid: text(reserved.get("uuid")?)?,
        encoder_name: of_encoder("name")?,
        encoder_version: of_encoder("version")?,
    })
}

/// Whether encoding the decoded values must give the original bytes.
fn is_reproducible(descriptor: &DataObjectDescriptor) -> bool {
    let is_codec_reproducible = match descriptor.compression.as_str() {
        // Lossy.
        "zfp" | "sz3" => false,
        "blosc2" => cfg!(feature = "full") && !is_blosclz(descriptor),
        "lz4" => LZ4_IS_REPRODUCIBLE,
        _ => true,
    };
    let are_masks_reproducible = descriptor.masks.as_ref().is_none_or(|masks| {
        let mut masks = [&masks.nan, &masks.pos_inf, &masks.neg_inf].into_iter().flatten();
        masks.all(|mask| match mask.method.as_str() {
            "blosc2" => cfg!(feature = "full"),
            "lz4" => LZ4_IS_REPRODUCIBLE,
            _ => true,
        })
    });
    is_codec_reproducible && are_masks_reproducible
}

/// Whether the codec is blosclz, which comes in another version here than in the reference.
fn is_blosclz(descriptor: &DataObjectDescriptor) -> bool {
    descriptor.params.get("blosc2_codec").and_then(Value::as_text) == Some("blosclz")
}

fn first_difference(expected: &[u8], got: &[u8]) -> String {
    let at = expected.iter().zip(got).position(|(a, b)| a != b);
    let at = at.unwrap_or(expected.len().min(got.len()));
    let part = |bytes: &[u8]| tgm_tests::hex(&bytes[at.saturating_sub(8).min(bytes.len())..(at + 16).min(bytes.len())]);
    format!(
        "lengths {} and {}, first difference at byte {at}: {} and {}",
        expected.len(),
        got.len(),
        part(expected),
        part(got)
    )
}
