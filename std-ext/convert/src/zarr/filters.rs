//! The filters of numcodecs that change numbers or add checksums, as codecs of bytes. They are read, and not written.
//!
//! In version 2 they lie between the elements and the compressor, and in version 3 before the codec `bytes`. Their numbers have the
//! byte order that their types name.

use std::borrow::Cow;
use std::sync::Arc;

use flate2::Crc;
use tgm_std::internal::reserve;
use zarrs::array::{
    ArrayBytesRaw, BytesRepresentation, BytesToBytesCodecTraits, CodecError, CodecOptions, RecommendedConcurrency,
};
use zarrs::metadata::v3::MetadataV3;
use zarrs::plugin::{ExtensionName, ZarrVersion};

use super::Result;
use super::codec_errors::{fixed_len, to_codec, whole_chunks};
use super::numbers::{Number, Type};
use crate::error::{encoding, metadata};

/// Their names in version 3.
pub(super) const NAMES: [&str; 9] = [
    "numcodecs.adler32",
    "numcodecs.astype",
    "numcodecs.bitround",
    "numcodecs.crc32",
    "numcodecs.delta",
    "numcodecs.fixedscaleoffset",
    "numcodecs.fletcher32",
    "numcodecs.packbits",
    "numcodecs.quantize",
];

/// A filter.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Filter {
    /// Numbers of another type: the one in the array, and the stored one.
    Cast(Type, Type),
    /// The first number, and differences.
    Delta(Type, Type),
    /// Numbers that were multiplied after an offset was taken away: what is multiplied, and what is added.
    Scaled(Type, Type, f64, f64),
    /// Floats with fewer bits, which stay.
    Rounded,
    /// Truth values of a bit each, after a byte that counts the bits without a meaning.
    Bits,
    /// A checksum of four bytes, and whether it stands before the bytes.
    Checksum(Sum, bool),
}

/// How a checksum is calculated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sum {
    Crc32,
    Adler32,
    Fletcher32,
}

impl Filter {
    /// The filter of this description. `None` for other codecs.
    ///
    /// # Errors
    /// A configuration that lacks something.
    pub(super) fn of(codec: &MetadataV3) -> Result<Option<Self>> {
        let name = codec.name();
        let get = |key: &str| codec.configuration().and_then(|map| map.get(key));
        let wrong = |key: &str| metadata(format!("codec {name} has no {key} that is known"));
        let number = |key: &str| get(key).and_then(serde_json::Value::as_f64).ok_or_else(|| wrong(key));
        let named = |key: &str| get(key).and_then(|name| Type::parse(name.as_str()?));
        let dtype = |key: &str| named(key).ok_or_else(|| wrong(key));
        // Without a stored type it is that of the array.
        let stored = |of: Type| match get("astype") {
            None | Some(serde_json::Value::Null) => Ok(of),
            Some(_) => dtype("astype"),
        };
        let is_first = || match get("location").map(serde_json::Value::as_str) {
            None | Some(Some("start")) => Ok(true),
            Some(Some("end")) => Ok(false),
            _ => Err(wrong("location")),
        };
        Ok(Some(match name {
            "numcodecs.astype" => Self::Cast(dtype("decode_dtype")?, dtype("encode_dtype")?),
            "numcodecs.delta" => {
                let own = dtype("dtype")?;
                Self::Delta(own, stored(own)?)
            }
            "numcodecs.fixedscaleoffset" => {
                let own = dtype("dtype")?;
                Self::Scaled(own, stored(own)?, number("scale")?, number("offset")?)
            }
            "numcodecs.quantize" => {
                let own = dtype("dtype")?;
                Self::Cast(own, stored(own)?)
            }
            "numcodecs.bitround" => Self::Rounded,
            "numcodecs.packbits" => Self::Bits,
            "numcodecs.crc32" => Self::Checksum(Sum::Crc32, is_first()?),
            "numcodecs.adler32" => Self::Checksum(Sum::Adler32, is_first()?),
            "numcodecs.fletcher32" => Self::Checksum(Sum::Fletcher32, false),
            _ => return Ok(None),
        }))
    }

    /// Whether version 3 has it before the codec that makes bytes.
    pub(super) const fn is_of_arrays(&self) -> bool {
        !matches!(self, Self::Checksum(..))
    }

    /// The length of what it makes of `len` bytes.
    fn encoded_len(&self, len: u64) -> Option<u64> {
        match self {
            Self::Cast(own, stored) | Self::Delta(own, stored) | Self::Scaled(own, stored, ..) => {
                let (own, stored) = (own.size() as u64, stored.size() as u64);
                len.is_multiple_of(own).then(|| (len / own).checked_mul(stored)).flatten()
            }
            Self::Rounded => Some(len),
            Self::Bits => Some(len.div_ceil(8) + 1),
            Self::Checksum(..) => len.checked_add(4),
        }
    }

    /// The `len` bytes that these were made of.
    fn restored(&self, bytes: &[u8], len: usize) -> Result<Vec<u8>> {
        if self.encoded_len(len as u64) != Some(bytes.len() as u64) {
            return Err(encoding(format!("{} bytes do not make {len}", bytes.len())));
        }
        let mut out = reserve(len)?;
        let mut each = |(own, stored): (Type, Type), restore: &mut dyn FnMut(Number) -> Number| -> Result<()> {
            let places = out.chunks_exact_mut(own.size());
            bytes.chunks_exact(stored.size()).zip(places).try_for_each(|(bytes, place)| {
                let number = stored.read(bytes).ok_or_else(|| encoding("a number is cut short"))?;
                own.write(restore(number), place);
                Ok(())
            })
        };
        match self {
            Self::Cast(own, stored) => each((*own, *stored), &mut |number| number)?,
            Self::Delta(own, stored) => {
                let mut sum = own.zero();
                each((*own, *stored), &mut |number| {
                    sum = own.rounded(sum.plus(number));
                    sum
                })?;
            }
            Self::Scaled(own, stored, scale, offset) => {
                // As numpy: in float32 if that is what is stored.
                each((*own, *stored), &mut |number| {
                    stored.in_floats(number, |float| float / scale, |float| float + offset)
                })?;
            }
            Self::Rounded => out.copy_from_slice(bytes),
            Self::Bits => {
                let bits = bytes.iter().skip(1).flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
                out.iter_mut().zip(bits).for_each(|(place, bit)| *place = bit);
            }
            Self::Checksum(sum, is_first) => {
                let split = if *is_first {
                    bytes.split_first_chunk::<4>()
                } else {
                    bytes.split_last_chunk::<4>().map(|(content, sum)| (sum, content))
                };
                let (told, content) = split.ok_or_else(|| encoding("the checksum is cut short"))?;
                if sum.of(content) != u32::from_le_bytes(*told) {
                    return Err(encoding("the checksum is wrong"));
                }
                out.copy_from_slice(content);
            }
        }
        Ok(out)
    }
}

impl Sum {
    fn of(self, bytes: &[u8]) -> u32 {
        match self {
            Self::Crc32 => {
                let mut crc = Crc::new();
                crc.update(bytes);
                crc.sum()
            }
            Self::Adler32 => {
                let add = |(a, b): (u32, u32), byte: &u8| {
                    let a = (a + u32::from(*byte)) % 65_521;
                    (a, (b + a) % 65_521)
                };
                let (a, b) = bytes.iter().fold((1, 0), add);
                b << 16 | a
            }
            // As HDF5 calculates it: of big-endian pairs, and a last byte that stands before a zero.
            Self::Fletcher32 => {
                let add = |(a, b): (u32, u32), pair: &[u8]| {
                    let high = pair.first().map_or(0, |byte| u32::from(*byte) << 8);
                    let low = pair.get(1).map_or(0, |byte| u32::from(*byte));
                    let a = once_around(a + (high | low));
                    (a, once_around(b + a))
                };
                let (a, b) = bytes.chunks(2).fold((0, 0), add);
                b << 16 | a
            }
        }
    }
}

/// A sum of two numbers of 16 bits, of which what is carried is added. It is 65,535 rather than 0, unless both are 0.
const fn once_around(sum: u32) -> u32 {
    (sum & 0xffff) + (sum >> 16)
}

impl ExtensionName for Filter {
    fn name(&self, _: ZarrVersion) -> Option<Cow<'static, str>> {
        Some("a filter of numcodecs".into())
    }
}

whole_chunks!(Filter);

impl BytesToBytesCodecTraits for Filter {
    fn into_dyn(self: Arc<Self>) -> Arc<dyn BytesToBytesCodecTraits> {
        self
    }

    fn recommended_concurrency(&self, _: &BytesRepresentation) -> Result<RecommendedConcurrency, CodecError> {
        Ok(RecommendedConcurrency::new_maximum(1))
    }

    fn encoded_representation(&self, decoded: &BytesRepresentation) -> BytesRepresentation {
        match decoded {
            BytesRepresentation::FixedSize(len) => {
                self.encoded_len(*len).map_or(BytesRepresentation::UnboundedSize, BytesRepresentation::FixedSize)
            }
            other => *other,
        }
    }

    fn encode<'a>(&self, _: ArrayBytesRaw<'a>, _: &CodecOptions) -> Result<ArrayBytesRaw<'a>, CodecError> {
        Err(CodecError::Other("filters of numcodecs are not written".into()))
    }

    fn decode<'a>(
        &self,
        bytes: ArrayBytesRaw<'a>,
        decoded: &BytesRepresentation,
        _: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        let len = fixed_len(decoded, "a filter after compressed bytes is not supported")?;
        self.restored(&bytes, len).map(Cow::Owned).map_err(to_codec)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_numcodecs_changed_return() {
        let codec = |name: &str, configuration: serde_json::Value| {
            let json = serde_json::json!({"name": format!("numcodecs.{name}"), "configuration": configuration});
            Filter::of(&serde_json::from_value(json).unwrap()).unwrap().unwrap()
        };
        let json = |text: &str| serde_json::from_str(text).unwrap();
        let ints = |numbers: &[i32]| numbers.iter().flat_map(|number| number.to_be_bytes()).collect::<Vec<_>>();
        let floats = |numbers: &[f64]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
        // What numcodecs 0.16.6 makes of the numbers on the right.
        for (filter, stored, expected) in [
            (
                codec("delta", json(r#"{"dtype":">i4","astype":"|i1"}"#)),
                vec![5, 254, 120, 120],
                ints(&[5, 3, 123, 243]),
            ),
            (codec("astype", json(r#"{"encode_dtype":"|u1","decode_dtype":">i4"}"#)), vec![7, 255], ints(&[7, 255])),
            (
                codec("fixedscaleoffset", json(r#"{"dtype":"<f8","astype":"|u1","scale":10,"offset":1000}"#)),
                vec![0, 1, 255],
                floats(&[1000.0, 1000.1, 1025.5]),
            ),
            (codec("packbits", json("{}")), vec![6, 0b1010_0101, 0b0100_0000], vec![1, 0, 1, 0, 0, 1, 0, 1, 0, 1]),
            (
                codec("crc32", json("{}")),
                [&[0x26, 0x39, 0xf4, 0xcb], &b"123456789"[..]].concat(),
                b"123456789".to_vec(),
            ),
            (
                codec("adler32", json(r#"{"location":"end"}"#)),
                [&b"123456789"[..], &[0xde, 0x01, 0x1e, 0x09]].concat(),
                b"123456789".to_vec(),
            ),
        ] {
            assert_eq!(filter.restored(&stored, expected.len()).unwrap(), expected, "{filter:?}");
            assert!(filter.restored(&stored, expected.len() + 8).is_err(), "{filter:?}");
        }
        let damaged = [&[0x26, 0x39, 0xf4, 0xcc], &b"123456789"[..]].concat();
        assert!(codec("crc32", json("{}")).restored(&damaged, 9).is_err());
        let unknown = serde_json::json!({"name": "numcodecs.delta", "configuration": {"dtype": "<U3"}});
        assert!(Filter::of(&serde_json::from_value(unknown).unwrap()).is_err());
    }
}
