//! The entry `zio` of a message's metadata, and the form in which both directions hand objects on.

use std::borrow::Cow;
use std::collections::BTreeMap;

use ciborium::Value;
use tgm_std::DataObjectDescriptor;
use tgm_std::metadata::json::to_cbor;

use super::{Header, MAPPING, ZIO};
use crate::label::Members;

/// A map with text keys.
pub(super) type Entries = BTreeMap<String, Value>;
/// An object's descriptor, and the bytes of its elements or of its region.
pub(super) type Object<'a> = (DataObjectDescriptor, Cow<'a, [u8]>);

/// The entries of `_extra_.zio` that every converted message has.
pub(super) fn header_entry(header: &Header, parts: usize) -> Vec<(Value, Value)> {
    // All four bytes of an ASCII form fit a text; NUL and other control characters are ASCII too. Other readers look for
    // `form` only in this case.
    let form = match str::from_utf8(&header.form.0) {
        Ok(text) if text.is_ascii() => ("form".into(), text.into()),
        _ => ("form_hex".into(), format!("{:08x}", u32::from_be_bytes(header.form.0)).into()),
    };
    vec![
        ("v".into(), MAPPING.into()),
        ("level".into(), header.level.number().into()),
        form,
        ("origin".into(), header.coords.origin.into()),
        ("granule".into(), header.coords.granule.into()),
        ("seqno".into(), header.coords.seqno.into()),
        ("parts".into(), (parts as u64).into()),
    ]
}

/// A map with these entries under the key `zio`.
pub(super) fn under_zio(entries: Vec<(Value, Value)>) -> Entries {
    Entries::from([(ZIO.to_string(), Value::Map(entries))])
}

/// Whether this is an entry `_extra_.zio` that this mapping wrote.
pub(super) fn is_ours(zio: &Value) -> bool {
    let version = zio.as_map().and_then(|map| map.iter().find(|(key, _)| key.as_text() == Some("v")));
    version.and_then(|(_, version)| version.as_integer()) == Some(MAPPING.into())
}

/// JSON members as CBOR.
pub(super) fn cbor_members(members: &Members) -> Entries {
    members.iter().map(|(key, value)| (key.clone(), to_cbor(value))).collect()
}
