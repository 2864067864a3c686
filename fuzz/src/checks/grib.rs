//! GRIB messages: the parts of a source lie end to end, and a message that is converted returns to the byte.

use tgm_convert::grib2::{Found, GribOptions, Message, MessageReader, from_tensogram, to_tensogram};
use tgm_std::{DecodeLimits, DecodeOptions};

/// Memory that damaged lengths may take.
const LIMITS: DecodeLimits =
    DecodeLimits { max_decoded_bytes: 1 << 24, free_bytes: 1 << 20, max_expansion: 1 << 10, ..DecodeLimits::UNLIMITED };

/// Checks the messages in `bytes`, `bytes` themselves with a start and an end, and `bytes` as a Tensogram message.
pub fn check(bytes: &[u8]) {
    let (mut reader, mut end) = (MessageReader::new(bytes), 0);
    while let Some(found) = reader.read_next().expect("reading from memory") {
        let (offset, length) = match found {
            Found::Message { offset, bytes } => {
                one(bytes);
                (offset, bytes.len() as u64)
            }
            Found::Other { offset, length, .. } => (offset, length),
            _ => continue,
        };
        assert!(offset == end && length > 0);
        end += length;
    }
    assert_eq!(end, bytes.len() as u64);
    for whole in [framed(bytes), framed_first(bytes)].into_iter().flatten() {
        one(&whole);
    }
    let _ = from_tensogram(bytes, &options());
}

fn options() -> DecodeOptions {
    DecodeOptions { limits: LIMITS, ..DecodeOptions::default() }
}

/// The bytes as a message of edition 2: with its magic, edition, length and end.
fn framed(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut whole = bytes.to_vec();
    let length = (whole.len() as u64).to_be_bytes();
    whole.get_mut(..4)?.copy_from_slice(b"GRIB");
    *whole.get_mut(7)? = 2;
    whole.get_mut(8..16)?.copy_from_slice(&length);
    *whole.last_chunk_mut()? = *b"7777";
    Some(whole)
}

/// The same of edition 1. Lengths in units of 120 octets come from the bytes.
fn framed_first(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut whole = bytes.to_vec();
    let [0, length @ ..] = u32::try_from(whole.len()).ok()?.to_be_bytes() else { return None };
    whole.get_mut(..4)?.copy_from_slice(b"GRIB");
    whole.get_mut(4..7)?.copy_from_slice(&length);
    *whole.get_mut(7)? = 1;
    *whole.last_chunk_mut()? = *b"7777";
    Some(whole)
}

fn one(message: &[u8]) {
    places(message);
    let grib = GribOptions { limits: LIMITS, ..GribOptions::default() };
    let Ok(made) = to_tensogram(message, &grib) else { return };
    let restored = from_tensogram(&made.message, &options()).expect("just made from GRIB");
    assert!(restored.message == message && restored.not_kept.is_empty());
    // Without pictures, the way back gives the same values.
    let dropped = to_tensogram(message, &GribOptions { keep_original: false, ..grib.clone() }).expect("as before");
    if dropped.notes.len() > made.notes.len() {
        let simple = from_tensogram(&dropped.message, &options()).expect("just made from GRIB").message;
        let again = to_tensogram(&simple, &grib).expect("just made");
        assert!(values(&again.message) == values(&made.message));
    }
}

/// The coordinates of each field are as many as its points.
fn places(message: &[u8]) {
    let Ok((message, _)) = Message::parse(message) else { return };
    for field in message.fields().map_while(Result::ok) {
        if let Ok(Some(found)) = field.coordinates(&LIMITS) {
            let points = field.point_count().expect("read before") as usize;
            assert!(found.latitudes.len() == points && found.longitudes.len() == points);
        }
    }
}

/// The values of each object, to the bit. The stages may differ: a picture's values are compressed, packed ones stay as they are.
fn values(message: &[u8]) -> Vec<Vec<u8>> {
    let (_, objects) = tgm_std::decode(message, &options()).expect("just made");
    objects.into_iter().map(|(_, values)| values).collect()
}
