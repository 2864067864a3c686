//! Functions over messages in memory that `tgm/compat` alone calls.

use ciborium::Value;
use tgm_std::TensogramError;

use crate::answer::{buffer, run};
use crate::failure::{Failure, map, wrong};
use crate::metadata;
use crate::read::{decoding, message};

/// `bytes`: where messages are, as pairs of offset and length.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_scan(args: u32) -> u32 {
    run(args, |mut args| {
        let pair =
            |(offset, length): (usize, usize)| Value::Array(vec![(offset as u64).into(), (length as u64).into()]);
        Ok(Value::Array(tgm_std::scan(&args.bytes("bytes")?).into_iter().map(pair).collect()))
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
