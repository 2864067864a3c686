//! Section 7 of simple packing: values as they are, or as a CCSDS 121.0-B stream of any width, by the library's szip.

use std::borrow::Cow;

use tgm_codec::kernels::szip::decode_into;
use tgm_codec::szip;
use tgm_core::szip::Params;
#[cfg(doc)]
use tgm_std::TensogramError;
use tgm_std::internal::reserve;
use tgm_std::{DecodeLimits, Result};

use super::codes::{containers_len, to_containers};
use super::representation::Representation;
use crate::error::encoding_by;

/// The samples of a stream, which lies `offset` bytes into the message, each in a big-endian container.
///
/// # Errors
/// [`TensogramError::Encoding`] for a damaged stream, and beyond the limits.
pub(super) fn decompress(
    (stream, offset): (&[u8], usize),
    params: &Params,
    count: u64,
    limits: &DecodeLimits,
) -> Result<Vec<u8>> {
    let len = containers_len(count, params.container_size())?;
    let mut containers = reserve(limits.check_bytes(stream.len() as u64, len as u64)?)?;
    decode_into(stream, params, &mut containers)
        .map_err(|error| encoding_by("GRIB section 7, CCSDS data", error.shift(offset as u64)))?;
    Ok(containers)
}

/// The stream of big-endian containers.
///
/// # Errors
/// [`TensogramError::Encoding`] if memory runs out.
pub(super) fn compress(containers: &[u8], params: &Params) -> Result<Vec<u8>> {
    let (stream, _) = szip::compress(containers, params).map_err(|error| error.in_codec("szip"))?;
    Ok(stream)
}

/// `count` packed values as section 7 holds them from octet 6 on.
pub(super) fn data<'d>(representation: &Representation, dense: Cow<'d, [u8]>, count: u64) -> Result<Cow<'d, [u8]>> {
    let Representation::Ccsds(packing, ccsds) = representation else { return Ok(dense) };
    let bits = packing.bits_per_value;
    let params = ccsds.params(bits)?;
    let containers = to_containers(&dense, bits, count, params.container_size())?;
    compress(&containers, &params).map(Cow::Owned)
}
