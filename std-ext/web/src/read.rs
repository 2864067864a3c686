//! Functions over messages in memory.

use ciborium::Value;
use tgm_std::{DecodeOptions, GlobalMetadata, TensogramError};

use crate::answer::{Answer, buffer, run};
use crate::args::Args;
use crate::failure::{Failure, map, wrong};
use crate::metadata;

/// The options of decoding among arguments.
pub(crate) fn decoding(args: &mut Args) -> DecodeOptions {
    DecodeOptions {
        restore_non_finite: !args.flag("keepZeros"),
        verify_hash: args.flag("verifyHash"),
        strict_hash_presence: args.flag("strict"),
        reference_range_refusals: args.flag("refuse"),
        ..DecodeOptions::default()
    }
}

/// Pairs of descriptor and values.
fn message(found: GlobalMetadata, objects: impl Iterator<Item = Answer>) -> Answer {
    let objects = objects.collect::<Result<_, _>>()?;
    Ok(map([("metadata", metadata::metadata(found)), ("objects", Value::Array(objects))]))
}

/// `bytes`: where messages are, as pairs of offset and length.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_scan(args: u32) -> u32 {
    run(args, |mut args| {
        let pair =
            |(offset, length): (usize, usize)| Value::Array(vec![(offset as u64).into(), (length as u64).into()]);
        Ok(Value::Array(tgm_std::scan(&args.bytes("bytes")?).into_iter().map(pair).collect()))
    })
}

/// `bytes`, options: the metadata of the first message, and each object's descriptor and values.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_decode(args: u32) -> u32 {
    run(args, |mut args| {
        let (bytes, options) = (args.bytes("bytes")?, decoding(&mut args));
        let (found, objects) = tgm_std::decode(&bytes, &options)?;
        message(
            found,
            objects
                .into_iter()
                .map(|(descriptor, values)| Ok(Value::Array(vec![metadata::descriptor(&descriptor)?, buffer(values)]))),
        )
    })
}

/// `bytes`, `index`, options: as [`tgm_decode`], with one object.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_decode_object(args: u32) -> u32 {
    run(args, |mut args| {
        let (bytes, index, options) = (args.bytes("bytes")?, args.integer("index")?, decoding(&mut args));
        let (found, descriptor, values) = tgm_std::decode_object(&bytes, index, &options)?;
        let object = Value::Array(vec![metadata::descriptor(&descriptor)?, buffer(values)]);
        message(found, std::iter::once(Ok(object)))
    })
}

/// `bytes`, `index`, `ranges`, options: the object's descriptor, and the values of each range.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_decode_range(args: u32) -> u32 {
    run(args, |mut args| {
        let (bytes, index, options) = (args.bytes("bytes")?, args.integer("index")?, decoding(&mut args));
        let ranges = args.ranges("ranges")?.unwrap_or_default();
        let (descriptor, parts) = tgm_std::decode_range(&bytes, index, &ranges, &options)?;
        let parts = parts.into_iter().map(buffer).collect();
        Ok(map([("descriptor", metadata::descriptor(&descriptor)?), ("parts", Value::Array(parts))]))
    })
}

/// `bytes`: the metadata of the first message.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_metadata(args: u32) -> u32 {
    run(args, |mut args| Ok(metadata::metadata(tgm_std::decode::decode_metadata(&args.bytes("bytes")?)?)))
}

/// `bytes`: the metadata of the first message, and the descriptors of its objects.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_descriptors(args: u32) -> u32 {
    run(args, |mut args| described(tgm_std::decode::decode_descriptors(&args.bytes("bytes")?)?))
}

/// Metadata and descriptors of a message.
pub(crate) fn described((found, descriptors): (GlobalMetadata, Vec<tgm_std::DataObjectDescriptor>)) -> Answer {
    let descriptors = descriptors.iter().map(metadata::descriptor).collect::<Result<_, _>>()?;
    Ok(map([("metadata", metadata::metadata(found)), ("descriptors", Value::Array(descriptors))]))
}

/// `bytes`, `algo`: the digest, 16 hexadecimal digits.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_hash(args: u32) -> u32 {
    run(args, |mut args| {
        let name = args.text("algo")?.ok_or_else(|| wrong("algo"))?;
        if name != "xxh3" {
            let text = format!("unknown hash type: {name:?} (expected \"xxh3\")");
            return Err(Failure::from(TensogramError::Metadata(text.into())));
        }
        Ok(tgm_std::hash::compute_hash(&args.bytes("bytes")?).into())
    })
}
