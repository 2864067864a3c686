//! Messages in memory, by tgm-core alone: raw, packed, szip and shuffled values, masks and digests.
//!
//! Functions name a buffer with one message, which they leave as it is. They give the number of a buffer with the answer, or 0
//! after an error.

use std::cell::RefCell;
use std::fmt::Display;

use tgm_core::Message;
use tgm_core::descriptor::{ByteOrder, Compression, Dtype};
use tgm_core::object::DataObject;
use tgm_core::packing::Unpack;
use tgm_core::tensor::Element;
use tgm_core::wire::FrameType;

use crate::memory::{keep, with};

thread_local! {
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The text of an error.
type Failure = String;

fn words(error: impl Display) -> Failure {
    error.to_string()
}

/// Runs `work` on the bytes of a buffer.
fn run(buffer: u32, work: impl FnOnce(&[u8]) -> Result<Vec<u8>, Failure>) -> u32 {
    let done = with(buffer, work).unwrap_or_else(|| Err("there is no such buffer".to_owned()));
    match done {
        Ok(bytes) => keep(bytes),
        Err(text) => {
            LAST.replace(text);
            0
        }
    }
}

fn object<T>(
    message: &[u8],
    index: u32,
    work: impl FnOnce(&DataObject<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let message = Message::parse(message).map_err(words)?;
    work(&message.object(index as usize).map_err(words)?)
}

/// The text of the last error.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_small_error() -> u32 {
    keep(LAST.take().into_bytes())
}

/// Where messages are: pairs of offset and length, 64 bits each, little-endian.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_small_scan(buffer: u32) -> u32 {
    run(buffer, |bytes| {
        let mut found = Vec::new();
        let mut scanner = tgm_core::scan::scan(bytes);
        while let Some(segment) = scanner.next_segment().map_err(words)? {
            if segment.is_message() {
                found.extend(segment.offset().to_le_bytes());
                found.extend(segment.length().to_le_bytes());
            }
        }
        Ok(found)
    })
}

/// The CBOR of the metadata frame that counts: in a streamed message the last one.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_small_metadata(buffer: u32) -> u32 {
    run(buffer, |bytes| {
        let mut found = Vec::new();
        for frame in Message::parse(bytes).map_err(words)?.frames() {
            let frame = frame.map_err(words)?;
            if matches!(frame.frame_type(), FrameType::HeaderMetadata | FrameType::FooterMetadata) {
                found = frame.body().to_vec();
            }
        }
        Ok(found)
    })
}

/// The descriptors of all objects: each after its length, 32 bits, little-endian.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_small_descriptors(buffer: u32) -> u32 {
    run(buffer, |bytes| {
        let mut found = Vec::new();
        for object in Message::parse(bytes).map_err(words)?.objects() {
            let object = object.map_err(words)?;
            let cbor = object.descriptor().as_encoded();
            found.extend(u32::try_from(cbor.len()).map_err(words)?.to_le_bytes());
            found.extend_from_slice(cbor);
        }
        Ok(found)
    })
}

/// The values of an object, in the byte order of WebAssembly.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_small_values(buffer: u32, index: u32) -> u32 {
    run(buffer, |bytes| object(bytes, index, values))
}

/// The most bytes that a payload may become for each byte of it. szip reaches about a thousand.
const MOST_EXPANSION: u64 = 1 << 14;

fn values(object: &DataObject<'_>) -> Result<Vec<u8>, Failure> {
    let descriptor = object.descriptor();
    let len = descriptor.decoded_len().map_err(words)?;
    let stored = object.region().len() as u64;
    if len > stored.saturating_add(1 << 16).saturating_mul(MOST_EXPANSION) {
        return Err(format!("{stored} bytes state {len} bytes of values"));
    }
    let len = usize::try_from(len).map_err(words)?;
    if descriptor.compression().known() == Some(Compression::None) {
        let mut out = zeros::<u8>(len)?;
        object.decode_into(0..descriptor.element_count(), ByteOrder::NATIVE, &mut out).map_err(words)?;
        return Ok(out);
    }
    let scratch = usize::try_from(object.scratch_len().map_err(words)?).map_err(words)?;
    let mut scratch = zeros::<u8>(scratch)?;
    match descriptor.dtype() {
        Dtype::Float32 => floats(object, &mut scratch, f32::to_ne_bytes),
        Dtype::Float64 => floats(object, &mut scratch, f64::to_ne_bytes),
        other => Err(format!("compressed values of type {} need the reader", other.name())),
    }
}

/// Packed values as the bytes of `T`.
fn floats<T: Unpack + Element + Clone + Default, const N: usize>(
    object: &DataObject<'_>,
    scratch: &mut [u8],
    bytes: fn(T) -> [u8; N],
) -> Result<Vec<u8>, Failure> {
    let count = usize::try_from(object.descriptor().element_count()).map_err(words)?;
    let mut out = zeros::<T>(count)?;
    object.decode_floats_into(scratch, &mut out).map_err(words)?;
    Ok(out.into_iter().flat_map(bytes).collect())
}

fn zeros<T: Clone + Default>(len: usize) -> Result<Vec<T>, Failure> {
    let mut out = Vec::new();
    out.try_reserve_exact(len).map_err(words)?;
    out.resize(len, T::default());
    Ok(out)
}

/// Checks the digests of a message: an empty buffer, or an error for the first wrong one.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_small_verify(buffer: u32) -> u32 {
    run(buffer, |bytes| {
        Message::parse(bytes).map_err(words)?.verify_all().map_err(words)?;
        Ok(Vec::new())
    })
}
