//! Arrays of texts, of one width or each of its own length, as arrays of numbers with the same chunks.
//!
//! | Zarr | numbers |
//! |---|---|
//! | `fixed_length_utf32`, `<U8` of version 2 | characters, with one more dimension |
//! | `null_terminated_bytes`, `\|S8` of version 2 | bytes, with one more dimension |
//! | `string`, `\|O` of version 2 with the filter `vlen-utf8` | numbers of texts, of which each chunk is a list |

use serde_json::{Value as Json, json};
use tgm_dataset::zarr_form::TEXTS as VLEN;
use zarrs::metadata::v3::MetadataV3;

use super::Result;
use super::codecs::{bounded, without_checksum};
use crate::arrays::MAX_TEXT;
use crate::error::{encoding, metadata, reason_in};

/// The data type of texts of any length.
pub(super) const STRING: &str = "string";
/// The codecs that stand before one that makes bytes.
const TRANSPOSE: &str = "transpose";

/// How an array stores texts.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    /// So many characters of four bytes each.
    Characters(usize),
    /// So many bytes each.
    Bytes(usize),
    /// Each with its length, and what is done with the bytes of a chunk then.
    Lengths(Vec<MetadataV3>),
}

/// An array of texts as its description tells of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Described {
    pub(super) form: Form,
    /// The shape of the texts.
    pub(super) shape: Vec<u64>,
    /// The text where nothing is stored.
    pub(super) fill: String,
}

impl Described {
    /// Takes the description of an array of texts, and leaves that of the numbers in its place. `None` for other arrays.
    ///
    /// # Errors
    /// What of it is not supported.
    pub(super) fn take(json: &mut Json) -> Result<Option<Self>> {
        let data_type = json.get("data_type").unwrap_or(&Json::Null);
        let name = data_type.get("name").unwrap_or(data_type).as_str().unwrap_or_default().to_string();
        let unit = match name.as_str() {
            "fixed_length_utf32" => 4,
            "null_terminated_bytes" => 1,
            STRING => 0,
            _ => return Ok(None),
        };
        let len = data_type.pointer("/configuration/length_bytes").and_then(Json::as_u64);
        let shape = super::describe::numbers(json.get("shape").unwrap_or(&Json::Null), "shape")?;
        let fill = json.get("fill_value").and_then(Json::as_str).unwrap_or_default();
        // For bytes it is base64, which has one letter if all are zero.
        let fill = if unit == 1 { fill.trim_matches(['A', '=']) } else { fill }.to_string();
        let map = json.as_object_mut().ok_or_else(|| metadata("the description is not a map"))?;
        map.remove("dimension_names");
        map.insert("fill_value".into(), 0.into());
        map.insert("data_type".into(), if unit == 1 { "uint8" } else { "uint32" }.into());
        let form = if unit == 0 {
            let codecs = map.get_mut("codecs").and_then(Json::as_array_mut);
            let codecs = codecs.ok_or_else(|| metadata("codecs are not a list"))?;
            Form::Lengths(take_lengths(codecs)?)
        } else {
            let len =
                len.filter(|len| *len > 0 && len.is_multiple_of(unit)).and_then(|len| usize::try_from(len / unit).ok());
            let len = len.ok_or_else(|| metadata(format!("data type {name} without a length is not supported")))?;
            widen(json, shape.len(), len)?;
            if unit == 4 { Form::Characters(len) } else { Form::Bytes(len) }
        };
        Ok(Some(Self { form, shape, fill }))
    }

    /// The texts of numbers in the byte order of the machine, for forms of one width.
    ///
    /// # Errors
    /// Texts that are not Unicode.
    pub(super) fn of_numbers(&self, numbers: &[u8]) -> Result<Vec<String>> {
        let text = |(number, text): (usize, Option<String>)| {
            let text = text.ok_or_else(|| encoding(format!("text {number} is not Unicode")))?;
            Ok(text.trim_end_matches('\0').to_string())
        };
        match &self.form {
            Form::Characters(len) => {
                let character = |bytes: &[u8; 4]| char::from_u32(u32::from_ne_bytes(*bytes));
                let texts = numbers.as_chunks().0.chunks(*len).map(|text| text.iter().map(character).collect());
                texts.enumerate().map(text).collect()
            }
            Form::Bytes(len) => {
                let texts = numbers.chunks(*len).map(|text| String::from_utf8(text.to_vec()).ok());
                texts.enumerate().map(text).collect()
            }
            Form::Lengths(_) => Err(encoding("texts of any length have no width")),
        }
    }
}

/// Takes the codec of texts, and those after it. Those before it stay, and numbers of texts become bytes.
fn take_lengths(codecs: &mut Vec<Json>) -> Result<Vec<MetadataV3>> {
    let name = |codec: &Json| codec.get("name").unwrap_or(codec).as_str().map(str::to_string).unwrap_or_default();
    let at = codecs.iter().position(|codec| name(codec) != TRANSPOSE).unwrap_or(codecs.len());
    let mut behind = codecs.split_off(at).into_iter();
    match behind.next().as_ref().map(name) {
        Some(codec) if codec == VLEN => {}
        Some(codec) => return Err(metadata(format!("codec {codec} of texts is not supported"))),
        None => return Err(metadata("no codec makes bytes of texts")),
    }
    codecs.push(json!({"name": "bytes", "configuration": {"endian": "little"}}));
    let codec = |json: Json| serde_json::from_value(json).map_err(|error| metadata(reason_in("a codec")(error)));
    behind.map(codec).collect()
}

/// Adds a dimension of `len` numbers to an array of `dims` dimensions, and to its chunks.
fn widen(json: &mut Json, dims: usize, len: usize) -> Result<()> {
    let wrong = || metadata("chunks, shards or their order do not fit the shape");
    let push = |list: Option<&mut Json>, value: usize| -> Result<()> {
        let list = list.and_then(Json::as_array_mut).filter(|list| list.len() == dims).ok_or_else(wrong)?;
        list.push(value.into());
        Ok(())
    };
    push(json.get_mut("shape"), len)?;
    push(json.pointer_mut("/chunk_grid/configuration/chunk_shape"), len)?;
    let mut waiting: Vec<&mut Json> = json.get_mut("codecs").into_iter().collect();
    while let Some(codecs) = waiting.pop() {
        for codec in codecs.as_array_mut().ok_or_else(wrong)? {
            match codec.get("name").and_then(Json::as_str) {
                Some(TRANSPOSE) => push(codec.pointer_mut("/configuration/order"), dims)?,
                Some("sharding_indexed") => {
                    push(codec.pointer_mut("/configuration/chunk_shape"), len)?;
                    waiting.extend(codec.pointer_mut("/configuration/codecs"));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Bytes of a chunk of so many texts of any length, at most.
pub(super) fn most_bytes(count: u64) -> u64 {
    count.saturating_add(1).saturating_mul(4).saturating_add(MAX_TEXT as u64)
}

/// The texts of a stored chunk of `count`, in the order in which they lie there.
///
/// # Errors
/// The errors of the codecs; more bytes than metadata take; a list of another number, or one that is cut short; texts that are
/// not Unicode.
pub(super) fn of_chunk(mut bytes: Vec<u8>, codecs: &[MetadataV3], count: u64) -> Result<Vec<String>> {
    let most = usize::try_from(most_bytes(count)).map_err(|_| encoding("a chunk has too many texts"))?;
    for codec in codecs.iter().rev() {
        bytes = match bounded(codec)? {
            Some(bounded) => bounded.decompress_up_to(&bytes, most)?,
            None => without_checksum(codec, bytes)?,
        };
    }
    let short = || encoding("the list of texts is cut short");
    let (found, mut rest) = split_number(&bytes).ok_or_else(short)?;
    if u64::from(found) != count {
        return Err(encoding(format!("a chunk has {found} texts, and {count} fit it")));
    }
    let mut texts = Vec::new();
    for number in 0..found {
        let (len, behind) = split_number(rest).ok_or_else(short)?;
        let len = usize::try_from(len).map_err(|_| short())?;
        let (text, behind) = behind.split_at_checked(len).ok_or_else(short)?;
        let text = std::str::from_utf8(text);
        texts.push(text.map_err(|_| encoding(format!("text {number} is not Unicode")))?.to_string());
        rest = behind;
    }
    Ok(texts)
}

fn split_number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*number), rest))
}
