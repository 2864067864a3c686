//! The codecs of bytes whose result is longer than their input: gzip, zlib, zstd, lz4 and blosc; and the shuffle of numcodecs.
//!
//! The codecs of `zarrs` allocate the length that the input states, or grow until its end. The codecs here know how long a
//! chunk is, and decode into a buffer of that length: an input that states more is an error before it costs memory. Also,
//! the blosc of `zarrs` and the feature `blosc2` bring two C libraries with equal function names, and the linker would take
//! either.

use std::borrow::Cow;
use std::io::{Read as _, Write as _};
use std::sync::Arc;

use flate2::Compression;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use flate2::write::GzEncoder;
use tgm_codec::kernels::shuffle::unshuffle_into;
use tgm_codec::{blosc2, lz4, zstd};
use tgm_std::TensogramError;
use tgm_std::internal::reserve;
use zarrs::array::{
    ArrayBytesRaw, BytesRepresentation, BytesToBytesCodecTraits, CodecError, CodecOptions, RecommendedConcurrency,
};
use zarrs::plugin::{ExtensionName, ZarrVersion};

use super::Result;
use super::codec_errors::{fixed_len, to_codec, whole_chunks};
use crate::error::{encoding, encoding_from};

/// The level of zstd where blosc was.
pub(super) const ZSTD_LEVEL: i32 = 3;

/// A codec, and its level for encoding.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bounded {
    Gzip(u32),
    Zstd(i32),
    /// Read only: zstd is written.
    Blosc,
    /// The one of numcodecs, read only.
    Zlib,
    /// The one of numcodecs, read only: a length and a block.
    Lz4,
    /// The one of numcodecs, read only: the bytes of elements of this size, the first ones first.
    Shuffle(u64),
}

impl Bounded {
    fn decompress(self, bytes: &[u8], len: usize) -> Result<Vec<u8>> {
        let mut out = reserve(len)?;
        match self {
            Self::Gzip(_) => gunzip(bytes, &mut out).map_err(|error| encoding_from("gzip", error))?,
            Self::Zstd(_) => zstd::decompress(bytes, &mut out).map_err(of_ours("zstd"))?,
            Self::Blosc => blosc2::decompress_blosc1(bytes, &mut out).map_err(of_ours("blosc"))?,
            Self::Zlib => {
                whole(ZlibDecoder::new(bytes), &mut out).map_err(|error| encoding_from("zlib", error))?;
            }
            Self::Lz4 => lz4::decompress(bytes, &mut out).map_err(of_ours("lz4"))?,
            Self::Shuffle(size) => unshuffle_into(bytes, size, &mut out).map_err(of_ours("shuffle"))?,
        }
        Ok(out)
    }

    /// The decompressed bytes of an input whose result has `most` bytes at most.
    ///
    /// # Errors
    /// The errors of the codec, a longer result, and a frame of zstd that does not state its length.
    pub(super) fn decompress_up_to(self, bytes: &[u8], most: usize) -> Result<Vec<u8>> {
        let read = |decoder: &mut dyn std::io::Read, codec| {
            let (mut out, limit) = (Vec::new(), most as u64 + 1);
            decoder.take(limit).read_to_end(&mut out).map_err(|error| encoding_from(codec, error))?;
            Ok(out)
        };
        let number = |at: usize| {
            let bytes = bytes.get(at..)?.first_chunk()?;
            usize::try_from(u32::from_le_bytes(*bytes)).ok()
        };
        let len = match self {
            Self::Gzip(_) => return read(&mut MultiGzDecoder::new(bytes), "gzip").and_then(|out| short(out, most)),
            Self::Zlib => return read(&mut ZlibDecoder::new(bytes), "zlib").and_then(|out| short(out, most)),
            Self::Zstd(_) => content_len(bytes),
            Self::Blosc => number(4),
            Self::Lz4 => number(0),
            Self::Shuffle(_) => Some(bytes.len()),
        };
        let len = len.ok_or_else(|| encoding("the compressed bytes do not state the length of their content"))?;
        if len > most {
            return Err(encoding(format!("the content has {len} bytes, more than {most}")));
        }
        self.decompress(bytes, len)
    }

    pub(super) fn compress(self, bytes: &[u8]) -> Result<Vec<u8>> {
        let zstd = |level| zstd::compress_with_len(bytes, level).map_err(of_ours("zstd"));
        match self {
            Self::Gzip(level) => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::new(level));
                let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
                written.map_err(|error| encoding_from("gzip", error))
            }
            Self::Zstd(level) => zstd(level),
            Self::Blosc | Self::Zlib | Self::Lz4 | Self::Shuffle(_) => zstd(ZSTD_LEVEL),
        }
    }
}

fn short(out: Vec<u8>, most: usize) -> Result<Vec<u8>> {
    if out.len() > most { Err(encoding(format!("the content has more than {most} bytes"))) } else { Ok(out) }
}

/// The length that a frame of zstd states for its content.
fn content_len(frame: &[u8]) -> Option<usize> {
    let (about, rest) = frame.strip_prefix(&[0x28, 0xb5, 0x2f, 0xfd])?.split_first()?;
    let is_single = about >> 5 & 1 == 1;
    let dictionary = [0, 1, 2, 4].get(usize::from(about & 3)).copied()?;
    let rest = rest.get(usize::from(!is_single) + dictionary..)?;
    let len = match about >> 6 {
        0 if is_single => u64::from(*rest.first()?),
        0 => return None,
        1 => u64::from(u16::from_le_bytes(*rest.first_chunk()?)) + 256,
        2 => u64::from(u32::from_le_bytes(*rest.first_chunk()?)),
        _ => u64::from_le_bytes(*rest.first_chunk()?),
    };
    usize::try_from(len).ok()
}

/// What a codec of this project reports, its kind and offset kept, with the codec's name before the text.
fn of_ours<E: Into<TensogramError>>(codec: &'static str) -> impl FnOnce(E) -> TensogramError {
    move |error| error.into().within(codec)
}

/// Decompresses one or more members into all of `out`.
fn gunzip(bytes: &[u8], out: &mut [u8]) -> std::io::Result<()> {
    whole(MultiGzDecoder::new(bytes), out)
}

/// Reads all of `out`, which is all there is.
fn whole(mut decoder: impl std::io::Read, out: &mut [u8]) -> std::io::Result<()> {
    decoder.read_exact(out)?;
    // Reading on finds the end, and compares the last checksum.
    match decoder.read(&mut [0])? {
        0 => Ok(()),
        _ => Err(std::io::Error::other("the data are too long")),
    }
}

impl ExtensionName for Bounded {
    fn name(&self, _: ZarrVersion) -> Option<Cow<'static, str>> {
        let name = match self {
            Self::Gzip(_) => "gzip",
            Self::Zstd(_) => "zstd",
            Self::Blosc => "blosc",
            Self::Zlib => "numcodecs.zlib",
            Self::Lz4 => "numcodecs.lz4",
            Self::Shuffle(_) => "numcodecs.shuffle",
        };
        Some(name.into())
    }
}

whole_chunks!(Bounded);

impl BytesToBytesCodecTraits for Bounded {
    fn into_dyn(self: Arc<Self>) -> Arc<dyn BytesToBytesCodecTraits> {
        self
    }

    fn recommended_concurrency(&self, _: &BytesRepresentation) -> Result<RecommendedConcurrency, CodecError> {
        Ok(RecommendedConcurrency::new_maximum(1))
    }

    fn encoded_representation(&self, decoded: &BytesRepresentation) -> BytesRepresentation {
        match self {
            Self::Shuffle(_) => *decoded,
            _ => BytesRepresentation::UnboundedSize,
        }
    }

    fn encode<'a>(&self, bytes: ArrayBytesRaw<'a>, _: &CodecOptions) -> Result<ArrayBytesRaw<'a>, CodecError> {
        self.compress(&bytes).map(Cow::Owned).map_err(to_codec)
    }

    fn decode<'a>(
        &self,
        bytes: ArrayBytesRaw<'a>,
        decoded: &BytesRepresentation,
        _: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        // The length follows from the shape of the chunk, which has been compared with the limits.
        let len = fixed_len(decoded, "a compressed shard or checksum of one is not supported")?;
        self.decompress(&bytes, len).map(Cow::Owned).map_err(to_codec)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn members_return_and_damage_is_an_error() {
        let bytes: Vec<u8> = (0..1000_u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        let mut members = Bounded::Gzip(6).compress(&bytes[..1000]).unwrap();
        members.extend(Bounded::Gzip(1).compress(&bytes[1000..]).unwrap());
        let gunzip = |bytes: &[u8], len| Bounded::Gzip(0).decompress(bytes, len);
        assert_eq!(gunzip(&members, bytes.len()).unwrap(), bytes);
        assert!(gunzip(&members, bytes.len() - 1).unwrap_err().to_string().contains("too long"));
        assert!(gunzip(&members, bytes.len() + 1).is_err());
        for cut in 0..members.len() {
            assert!(gunzip(&members[..cut], bytes.len()).is_err(), "{cut}");
        }
        let at = members.len() - 8;
        members[at] ^= 1;
        assert!(gunzip(&members, bytes.len()).unwrap_err().to_string().contains("checksum"));
    }

    #[test]
    fn lengths_that_inputs_state_cost_no_memory() {
        // 2^40 bytes of content in one segment; a Blosc buffer of 2^31 - 1 bytes.
        let frame = [0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0];
        let buffer = [2, 1, 0x21, 4, 0xff, 0xff, 0xff, 0x7f, 0, 0, 1, 0, 20, 0, 0, 0, 0, 0, 0, 0];
        let zstd = Bounded::Zstd(0).decompress(&frame, 8).unwrap_err().to_string();
        let blosc = Bounded::Blosc.decompress(&buffer, 8).unwrap_err().to_string();
        assert!(
            zstd.starts_with("encoding error: zstd") && blosc.starts_with("encoding error: blosc"),
            "{zstd}\n{blosc}"
        );
    }
}
