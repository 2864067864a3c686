//! Errors, told apart by variant, as programs that recover from them do.

use tensogram::{
    DataObjectDescriptor, DecodeOptions, Dtype, EncodeOptions, GlobalMetadata, StreamingEncoder, TensogramError,
    decode, decode_object, decode_range, encode,
};

use crate::fields::{bytes, descriptor};

/// The variant, and whether its text contains the fragment.
fn name(error: &TensogramError, fragment: &str) -> String {
    let (variant, text) = match error {
        TensogramError::Framing(text) => ("framing", text.to_string()),
        TensogramError::Metadata(text) => ("metadata", text.to_string()),
        TensogramError::Encoding(text) if text.contains("NaN") => ("encoding of NaN", text.to_string()),
        TensogramError::Encoding(text) => ("encoding", text.to_string()),
        TensogramError::Compression(text) => ("compression", text.to_string()),
        TensogramError::Object(text) => ("object", format!("{text}")),
        TensogramError::Io(error) => ("io", error.to_string()),
        TensogramError::HashMismatch { object_index, .. } => ("hash mismatch", format!("{object_index:?}")),
        TensogramError::MissingHash { object_index } => ("missing hash", object_index.to_string()),
        TensogramError::Remote(text) => ("remote", text.to_string()),
        _ => ("new", String::new()),
    };
    let prefixed = error.to_string().contains(": ") || variant == "missing hash";
    format!("{variant} {} {prefixed}", text.contains(fragment))
}

fn report<T>(what: &str, result: Result<T, TensogramError>, fragment: &str) {
    match result {
        Ok(_) => println!("{what}: fine"),
        Err(error) => println!("{what}: {}", name(&error, fragment)),
    }
}

fn encoded(change: impl FnOnce(&mut DataObjectDescriptor), data: &[f64]) -> Result<Vec<u8>, TensogramError> {
    let mut descriptor = descriptor(Dtype::Float64, &[2]);
    change(&mut descriptor);
    encode(&GlobalMetadata::default(), &[(&descriptor, &bytes(data))], &EncodeOptions::default())
}

pub(crate) fn run() {
    println!("== mistakes");
    report("fine", encoded(|_| {}, &[1.0, 2.0]), "");
    report("data too short", encoded(|_| {}, &[1.0]), "does not match expected 16 bytes");
    report("ndim", encoded(|d| d.ndim = 2, &[1.0, 2.0]), "ndim 2 does not match shape.len() 1");
    report("strides", encoded(|d| d.strides.clear(), &[1.0, 2.0]), "strides.len() 0 does not match");
    report("type", encoded(|d| d.obj_type.clear(), &[1.0, 2.0]), "obj_type must not be empty");
    report("encoding", encoded(|d| d.encoding = "x".into(), &[1.0, 2.0]), "unknown encoding: x");
    report("filter", encoded(|d| d.filter = "x".into(), &[1.0, 2.0]), "unknown filter: x");
    report("compression", encoded(|d| d.compression = "x".into(), &[1.0, 2.0]), "unknown compression: x");
    report("bits", encoded(|d| d.encoding = "simple_packing".into(), &[1.0, 2.0]), "requires sp_bits_per_value");
    report("NaN", encoded(|_| {}, &[1.0, f64::NAN]), "NaN at element 1 of float64 array");
    report("szip", encoded(|d| d.compression = "szip".into(), &[1.0, 2.0]), "missing required parameter: szip_");
    let mut global = GlobalMetadata::default();
    global.reserved.insert("x".to_string(), 1.into());
    let options = EncodeOptions::default();
    report("reserved", encode(&global, &[], &options), "must not write to '_reserved_' at message level");
    let global = GlobalMetadata { base: vec![Default::default()], ..Default::default() };
    report("base", encode(&global, &[], &options), "metadata base has 1 entries but only 0 descriptors");

    let strict = DecodeOptions { verify_hash: true, ..Default::default() };
    let Ok(message) = encoded(|_| {}, &[1.0, 2.0]) else { return };
    report("object", decode_object(&message, 7, &strict), "object index 7 out of range (num_objects=1)");
    report("range", decode_range(&message, 0, &[(1, 2)], &strict), "exceeds payload size");
    report("cut", decode(&message[..message.len() - 9], &strict), "");
    report("empty", decode(&[], &strict), "too short");
    report("magic", decode(&[b'x'; 100], &strict), "magic");
    let unhashed = EncodeOptions { hashing: false, ..Default::default() };
    let plain = descriptor(Dtype::Uint8, &[1]);
    let bare = encode(&GlobalMetadata::default(), &[(&plain, &[1])], &unhashed);
    report("no digest", bare.and_then(|bare| decode(&bare, &strict)), "0");
    let mut damaged = message.clone();
    let starts = tensogram::framing::decode_message(&message).map(|message| message.objects[0].3);
    if let Ok(start) = starts {
        damaged[start + 16] ^= 1;
    }
    report("damage", decode(&damaged, &strict), "Some(0)");
    report("damage unnoticed", decode(&damaged, &DecodeOptions::default()), "");

    let Ok(mut encoder) = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &options) else { return };
    report("preceder", encoder.write_preceder(Default::default()), "");
    report("preceder twice", encoder.write_preceder(Default::default()), "write_preceder called twice");
    report("dangling", encoder.finish(), "dangling PrecederMetadata: finish called");
}
