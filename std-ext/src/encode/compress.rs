//! The third stage: the payload through a codec. If the codec is not compiled in, the error names the feature.

pub(crate) use tgm_codec::about::CodecResources;
use tgm_codec::threads::Threads;
use tgm_codec::{CodecError, Compress};
use tgm_core::descriptor::ByteOrder;

use crate::base::error::Result;
#[cfg(doc)]
use crate::base::error::TensogramError;
use crate::base::options::EncodeOptions;
use crate::encode::packing::Values;
use crate::encode::payload::Payload;
use crate::encode::plan::Plan;
use crate::model::types::DataObjectDescriptor;

/// Compresses bytes that went through all other stages of an object with this descriptor.
///
/// # Errors
/// The errors of the descriptor; [`TensogramError::Encoding`] naming the codec.
pub(crate) fn compress_alone(
    descriptor: &DataObjectDescriptor,
    bytes: &[u8],
    options: &EncodeOptions,
) -> Result<Vec<u8>> {
    let threads = Threads::resolve(options.threads, bytes.len() as u64, options.parallel_threshold_bytes)?;
    let resources = CodecResources { backend: options.compression_backend, threads };
    let Some(compressor) = Plan::new(descriptor)?.compressor else { return Ok(bytes.to_vec()) };
    let mut out = Vec::new();
    let last_stage = LastStage { compressor, order: descriptor.byte_order, resources };
    last_stage.append(&descriptor.compression, Payload::Bytes(bytes.into()), &mut out)?;
    Ok(out)
}

/// The third stage of an object, with everything that it needs beside the payload.
#[derive(Debug)]
pub(crate) struct LastStage {
    pub(crate) compressor: Box<dyn Compress>,
    /// The byte order of the values in the payload, for codecs of numbers.
    pub(crate) order: ByteOrder,
    pub(crate) resources: CodecResources,
}

impl LastStage {
    /// Computes the payload, compresses it and appends the result to `out`. For szip, returns the bit offsets of its
    /// intervals. `name` is the codec's.
    ///
    /// Where the codec takes its input piece by piece, values are packed piece by piece, so that there is never a buffer with
    /// all packed values. On several threads, each packs the values that it codes.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] naming the codec.
    pub(crate) fn append(&self, name: &str, payload: Payload<'_>, out: &mut Vec<u8>) -> Result<Option<Vec<u64>>> {
        let Self { compressor, order, resources } = self;
        let named = |error: CodecError| error.in_codec(name);
        if let Payload::Packed { bytes, order, packer, len, .. } = &payload
            && let Some(width) = compressor.piecewise(*resources).map_err(named)?
        {
            let values = Values::new(bytes, *order);
            let pack =
                |start: usize, out: &mut [u8]| packer.pack_into(values.part(start / width, out.len() / width), out);
            return Ok(compressor.append_made(*len, &pack, *resources, out).map_err(named)?);
        }
        Ok(compressor.append(&payload.into_bytes()?, *order, *resources, out).map_err(named)?)
    }
}

#[cfg(all(test, feature = "libaec"))]
mod tests {
    use tgm_core::szip;

    use super::*;
    use crate::ObjectBuilder;
    use crate::base::options::CompressionBackend;
    use crate::encode::encode;

    /// Both write the same bytes. But libaec refuses what it could not read back.
    #[test]
    fn szip_is_compressed_by_the_backend_that_is_asked_for() {
        let is_libaec = |object: ObjectBuilder<'_>, compression_backend| {
            let flags = szip::flags::PREPROCESS | szip::flags::NOT_ENFORCE;
            let object = object.szip().parameter("szip_block_size", 128).parameter("szip_flags", flags);
            let options = EncodeOptions { compression_backend, ..EncodeOptions::default() };
            let data = vec![0; 64 * 8];
            match encode(&crate::GlobalMetadata::default(), &[(object.descriptor(), &data)], &options) {
                Ok(_) => false,
                Err(error) if error.to_string().contains("libaec") => true,
                Err(error) => panic!("{error}"),
            }
        };
        for object in [
            || ObjectBuilder::new(&[128], &[0.0_f32; 128]).unwrap(),
            || ObjectBuilder::new(&[64], &[0.0_f64; 64]).unwrap().simple_packing(16),
        ] {
            assert!(is_libaec(object(), CompressionBackend::Ffi));
            assert!(!is_libaec(object(), CompressionBackend::Pure));
        }
    }
}
