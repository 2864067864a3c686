//! Levels 3 and 4: decoding as a test.

use std::borrow::Cow;

use tgm_codec::about::Input;
use tgm_codec::threads::Threads;
use tgm_core::ErrorKind;
use tgm_core::descriptor::{Compression, Descriptor, Dtype, Encoding, Filter, Key};
use tgm_core::object::DataObject;

use super::issue::IssueCode;
use super::options::ValidateOptions;
use crate::base::error::{Result, TensogramError};
use crate::base::options::{CompressionBackend, DecodeOptions};
use crate::decode::trust::Trusted;
use crate::decode::whole;

/// The reason why decoding failed.
pub(super) type Fault = (IssueCode, String);

/// Whether an object has any stage.
pub(super) fn has_pipeline(descriptor: &Descriptor<'_>) -> bool {
    descriptor.compression().known() != Some(Compression::None)
        || descriptor.filter().known() != Some(Filter::None)
        || descriptor.encoding().known() != Some(Encoding::None)
}

/// Options for decoding: values in stored byte order, so that plain values are borrowed, and without restoring masks.
pub(super) fn decode_options(options: &ValidateOptions) -> DecodeOptions {
    DecodeOptions {
        native_byte_order: false,
        restore_non_finite: false,
        limits: options.limits,
        ..DecodeOptions::default()
    }
}

/// The values of an object in the descriptor's byte order. Masks are ignored.
pub(super) fn decode<'a>(object: &DataObject<'a>, options: &ValidateOptions) -> Result<Cow<'a, [u8]>, Fault> {
    let has_pipeline = has_pipeline(object.descriptor());
    if has_pipeline {
        configure(object.descriptor())
            .map_err(|error| (IssueCode::PipelineConfigFailed, format!("cannot set up the pipeline: {error}")))?;
    }
    // Digests are checked before, with findings of their own.
    let options = decode_options(options);
    let values = Trusted::new(object, &options).and_then(|o| whole::decode_values(o, &options, Threads::NONE));
    values.map_err(|error| {
        let code = if has_pipeline {
            IssueCode::DecodePipelineFailed
        } else if is_wrong_size(object) {
            IssueCode::DecodedSizeMismatch
        } else {
            IssueCode::DecodeObjectFailed
        };
        (code, error.to_string())
    })
}

/// Checks that every stage is known and compiled in, and that its parameters are present and readable. Numbers out of
/// range are left to decoding.
fn configure(descriptor: &Descriptor<'_>) -> Result<()> {
    let unknown = |stage: &str, name: String| TensogramError::encoding(format!("unknown {stage}: {name}"));
    match descriptor.encoding().known() {
        None => return Err(unknown("encoding", descriptor.encoding().to_string())),
        Some(Encoding::None) => {}
        Some(Encoding::SimplePacking) => {
            readable(descriptor.packing())?;
            if descriptor.dtype() != Dtype::Float64 {
                let mismatch = ErrorKind::DtypeMismatch { expected: Dtype::Float64, found: descriptor.dtype() };
                return Err(mismatch.at(descriptor.offset()).into());
            }
        }
    }
    match descriptor.filter().known() {
        None => return Err(unknown("filter", descriptor.filter().to_string())),
        Some(Filter::None) => {}
        Some(Filter::Shuffle) => readable(descriptor.shuffle_element_size())?,
    }
    let compression = descriptor.compression();
    let Some(known) = compression.known() else { return Err(unknown("compression", compression.to_string())) };
    let Some(codec) = tgm_codec::find(known) else { return Ok(()) };
    let dtype = descriptor.dtype();
    if codec.about().input == Input::Bits && dtype != Dtype::Bitmask {
        return Err(TensogramError::encoding(format!("{known} only supports dtype=bitmask, got dtype={dtype}")));
    }
    codec.check(descriptor)?;
    tgm_codec::codec(known, CompressionBackend::Auto)?;
    Ok(())
}

/// Accepts numbers that are out of range.
fn readable<T>(parameter: tgm_core::Result<T>) -> Result<()> {
    match parameter.map_err(|error| (error.kind(), error)) {
        Ok(_) | Err((ErrorKind::BitsPerValue(_) | ErrorKind::ParameterRange(Key::ShuffleElementSize), _)) => Ok(()),
        Err((_, error)) => Err(error.into()),
    }
}

/// Whether a payload without stages has the wrong number of bytes.
fn is_wrong_size(object: &DataObject<'_>) -> bool {
    object.descriptor().decoded_len().ok() != Some(object.payload().len() as u64)
}
