//! From Tensogram back to GRIB: sections as they were, data from the payload.

use std::collections::{BTreeMap, BTreeSet};

use ciborium::Value;
use tgm_core::Message as Tensogram;
use tgm_core::object::DataObject;
use tgm_std::internal::{Trusted, reserve_more};
use tgm_std::read;
use tgm_std::{DecodeOptions, GlobalMetadata, RESERVED_KEY, Result, TensogramError, check_message, decode_metadata};

use super::edition1;
use super::keys::GribKeys;
use super::recipe::{self, GRIB, MARS, Recipe, refused};
use super::sections::{END, Indicator, Message, Stated};
use super::to_tgm::{GribOptions, Outline, converted};
use super::way_back::{Earlier, WayBack};

/// A GRIB message that was made from a Tensogram message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The GRIB message.
    pub message: Vec<u8>,
    /// Edits of metadata that GRIB has no place for: the paths of entries that were added after the conversion from GRIB, and of
    /// those that were deleted, which the sections say all the same.
    pub not_kept: Vec<String>,
}

/// Converts a Tensogram message that was made from GRIB back to its GRIB message.
///
/// An unchanged message gives the original bytes. Objects that were compressed by another codec in between give the same
/// values, and the same bytes if the original stream was one that libaec or this library writes.
///
/// With `verify_hash` the digests of all frames are checked first, because sections come from metadata.
///
/// # Errors
/// The errors of [`check_message`] with `verify_hash`;
/// [`TensogramError::Metadata`] for objects that were not made from GRIB; [`TensogramError::Encoding`] for messages that
/// were edited, naming what: values that are packed in another way, metadata, shape, order or number of objects; the errors
/// of decoding.
pub fn from_tensogram(message: &[u8], options: &DecodeOptions) -> Result<Restored> {
    let mut made = Vec::new();
    let not_kept = from_tensogram_into(message, options, &mut made)?;
    Ok(Restored { message: made, not_kept })
}

/// [`from_tensogram`] into a buffer that the caller keeps. The GRIB message replaces what the buffer held. Returns
/// [`Restored::not_kept`].
///
/// A buffer that has held a message of this size needs no new memory. After an error its content is useless.
///
/// # Errors
/// The errors of [`from_tensogram`].
pub fn from_tensogram_into(message: &[u8], options: &DecodeOptions, made: &mut Vec<u8>) -> Result<Vec<String>> {
    if options.verify_hash {
        check_message(message)?;
    }
    let global = decode_metadata(message)?;
    let view = Tensogram::parse(message)?;
    let originals = view.objects().collect::<std::result::Result<Vec<_>, _>>()?;
    made.clear();
    // Unless it was compressed better, the message has room for its payloads and their sections.
    reserve_more(made, message.len())?;
    let (mut earlier, mut is_literal) = (Earlier::default(), false);
    for (index, object) in originals.iter().enumerate() {
        let recipe = Recipe::of(global.base.get(index).and_then(|entry| entry.get(GRIB)), index)?;
        if (recipe.field, recipe.fields) != (index as u64, originals.len() as u64) {
            let Recipe { field, fields, .. } = recipe;
            let found = originals.len();
            return Err(refused(
                index,
                format_args!("it is field {field} of a GRIB message of {fields}, and this message has {found} objects"),
            ));
        }
        is_literal |= recipe.data.is_some();
        let trusted = Trusted::new(object, options)?;
        let way_back = WayBack { index, trusted, recipe: &recipe, options };
        if let Some(parts) = edition1::Parts::of(&recipe) {
            if originals.len() > 1 {
                return Err(refused(index, "GRIB edition 1 has one field in a message"));
            }
            way_back.append_first_edition(&parts, made)?;
        } else {
            way_back.append(&mut earlier, made)?;
        }
    }
    if originals.is_empty() {
        return Err(TensogramError::Metadata("the message has no object: it was not made from GRIB".into()));
    }
    made.extend_from_slice(END);
    // Section 0 is as it was: other data would be of another length.
    let stated = Indicator::parse(made)?.length;
    if stated != Stated::Length(made.len() as u64) {
        return Err(refused(0, "the message would have another length: values or GRIB sections were edited"));
    }
    let mut all = not_kept(&global);
    all.extend(check(made, &global, &originals, is_literal.then_some(options))?);
    Ok(all)
}

/// Checks that the message says what the metadata say, and that its fields are as large as the objects. With
/// `literal`, some data are not from the payloads: then the payloads must be what the message gives. Returns the paths of keys that
/// the message says in another way.
fn check(
    made: &[u8],
    global: &GlobalMetadata,
    originals: &[DataObject<'_>],
    literal: Option<&DecodeOptions>,
) -> Result<Vec<String>> {
    let (message, _) = Message::parse(made)?;
    let mut edits = Vec::new();
    let mut fields = message.fields();
    for (index, (original, entry)) in originals.iter().zip(&global.base).enumerate() {
        let field = fields.next().ok_or_else(|| refused(index, "its GRIB sections were edited"))??;
        let outline = Outline::new(message, &field, index, originals.len())?;
        if !original.descriptor().shape().iter().eq(outline.shape.iter().copied()) {
            return Err(refused(index, "its shape is not that of its GRIB grid"));
        }
        let said = outline.entry(GribKeys::All)?;
        if let Some(key) = first_difference(entry, &said) {
            return Err(refused(index, format_args!("{key} was edited, and GRIB sections cannot be")));
        }
        add_edits(&mut edits, index, entry, &said);
    }
    if fields.next().is_some() {
        return Err(refused(originals.len(), "the GRIB sections were edited"));
    }
    let Some(options) = literal else { return Ok(edits) };
    let options = DecodeOptions { native_byte_order: true, ..options.clone() };
    let again = converted(message, &GribOptions { limits: options.limits, ..GribOptions::default() }, vec![])?.message;
    for (index, (made, original)) in Tensogram::parse(&again)?.objects().zip(originals).enumerate() {
        // A later version may read what the one that made the object could not.
        let entry = global.base.get(index).and_then(|entry| entry.get(GRIB));
        if Recipe::of(entry, index)?.unread.is_some() {
            continue;
        }
        if read(&made?).options(&options).bytes()? != read(original).options(&options).bytes()? {
            return Err(refused(index, "its values were edited, and its GRIB data cannot be"));
        }
    }
    Ok(edits)
}

/// Adds the paths of keys of `grib` and `mars` that the sections do not say, and of those that they say although the metadata do not.
fn add_edits(edits: &mut Vec<String>, index: usize, entry: &BTreeMap<String, Value>, said: &BTreeMap<String, Value>) {
    for name in [GRIB, MARS] {
        let keys = |entry: &'_ BTreeMap<String, Value>| -> BTreeSet<String> {
            let map = entry.get(name).and_then(Value::as_map).into_iter().flatten();
            map.map(|(key, _)| key.as_text().map_or_else(|| format!("{key:?}"), str::to_string)).collect()
        };
        let (found, said) = (keys(entry), keys(said));
        let is_ours = |key: &str| name == GRIB && recipe::KEYS.contains(&key);
        let path = |key: &String| format!("base.{index}.{name}.{key}");
        edits.extend(found.difference(&said).filter(|key| !is_ours(key)).map(path));
        // Few keys are kept, if the conversion was asked for few.
        let is_always = |key: &str| name == MARS || GribKeys::Few.keeps(key);
        let gone = said.difference(&found).filter(|key| is_always(key) && !is_ours(key));
        edits.extend(gone.map(|key| format!("{} (deleted)", path(key))));
    }
}

/// The path of the first key that differs between the metadata and those that GRIB sections give.
fn first_difference(entry: &BTreeMap<String, Value>, made: &BTreeMap<String, Value>) -> Option<String> {
    [GRIB, MARS].into_iter().find_map(|name| {
        let map =
            |entry: &BTreeMap<String, Value>| entry.get(name).and_then(Value::as_map).cloned().unwrap_or_default();
        let (found, made) = (map(entry), map(made));
        // A key that is not there says nothing else than the sections: files of earlier versions have fewer keys.
        let differs = |(key, value): &&(Value, Value)| found.iter().any(|(name, old)| name == key && old != value);
        let changed = made.iter().find(differs).map(|(key, _)| key);
        let changed = changed.and_then(Value::as_text).map(|key| format!("{name}.{key}"));
        changed.or_else(|| (!made.is_empty() && !entry.contains_key(name)).then(|| name.to_string()))
    })
}

/// The paths of entries that GRIB has no place for. Who encoded the message, and when, is not among them.
fn not_kept(global: &GlobalMetadata) -> Vec<String> {
    let extra = global.extra.keys().map(|key| format!("extra.{key}"));
    let base = global.base.iter().enumerate().flat_map(|(index, entry)| {
        let known = [GRIB, MARS, RESERVED_KEY];
        let others = entry.keys().filter(move |key| !known.contains(&key.as_str()));
        others.map(move |key| format!("base.{index}.{key}"))
    });
    extra.chain(base).collect()
}
