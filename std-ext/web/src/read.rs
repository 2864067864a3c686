//! Functions over messages in memory.

use ciborium::Value;
use tgm_std::{DecodeOptions, GlobalMetadata};

use crate::answer::{Answer, buffer, run};
use crate::args::Args;
use crate::failure::map;
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
pub(crate) fn message(found: GlobalMetadata, objects: impl Iterator<Item = Answer>) -> Answer {
    let objects = objects.collect::<Result<_, _>>()?;
    Ok(map([("metadata", metadata::metadata(found)), ("objects", Value::Array(objects))]))
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

/// Metadata and descriptors of a message.
pub(crate) fn described((found, descriptors): (GlobalMetadata, Vec<tgm_std::DataObjectDescriptor>)) -> Answer {
    let descriptors = descriptors.iter().map(metadata::descriptor).collect::<Result<_, _>>()?;
    Ok(map([("metadata", metadata::metadata(found)), ("descriptors", Value::Array(descriptors))]))
}
