//! The metadata that is written: the caller's entries, and what the library adds (FORMAT §3.3, §3.4).

use std::borrow::Cow;
use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::metadata::{BASE_KEY, EXTRA_KEY};

use crate::base::error::Result;
use crate::base::options::EncodeOptions;
use crate::base::provenance;
use crate::model::cbor::Writer;
use crate::model::metadata::RESERVED_KEY;
use crate::model::types::{DataObjectDescriptor, Dtype, GlobalMetadata};

/// The fields of a descriptor that the metadata repeats.
#[derive(Clone, Debug)]
pub(crate) struct Tensor<'a> {
    ndim: u64,
    dtype: Dtype,
    shape: Cow<'a, [u64]>,
    strides: Cow<'a, [u64]>,
}

impl<'a> Tensor<'a> {
    pub(crate) fn of(descriptor: &'a DataObjectDescriptor) -> Self {
        let DataObjectDescriptor { ndim, dtype, shape, strides, .. } = descriptor;
        Self { ndim: *ndim, dtype: *dtype, shape: shape.into(), strides: strides.into() }
    }

    pub(crate) fn into_owned(self) -> Tensor<'static> {
        let Self { ndim, dtype, shape, strides } = self;
        Tensor { ndim, dtype, shape: shape.into_owned().into(), strides: strides.into_owned().into() }
    }

    fn write_to(&self, writer: &mut Writer<'_>) -> Result<()> {
        writer.map(4, |writer| {
            writer.uint_entry("ndim", self.ndim);
            writer.text_entry("dtype", self.dtype.name());
            writer.entry("shape", |writer| writer.uints(self.shape.iter().copied()))?;
            writer.entry("strides", |writer| writer.uints(self.strides.iter().copied()))
        })
    }
}

/// Writes the caller's metadata with what the library adds: an entry for each object with fields of its descriptor, and
/// the provenance of the message.
///
/// Each of `objects` has these fields, and the entries of its preceder. Entries of the preceder replace entries of the
/// caller.
///
/// # Errors
/// The errors of the clock and the random bytes, if the options have no provenance; the errors of
/// [`global_metadata_to_cbor`].
///
/// [`global_metadata_to_cbor`]: crate::model::metadata::global_metadata_to_cbor
pub(crate) fn write_completed<'a>(
    global: &GlobalMetadata,
    objects: impl ExactSizeIterator<Item = (Tensor<'a>, Option<&'a BTreeMap<String, Value>>)>,
    options: &EncodeOptions,
    writer: &mut Writer<'_>,
) -> Result<()> {
    let (has_base, has_extra) = (objects.len() > 0, !global.extra.is_empty());
    writer.map(1 + usize::from(has_base) + usize::from(has_extra), |writer| {
        if has_base {
            writer.entry(BASE_KEY, |writer| write_base(writer, global, objects))?;
        }
        if has_extra {
            writer.entry(EXTRA_KEY, |writer| writer.entries_of(&global.extra))?;
        }
        writer.entry(RESERVED_KEY, |writer| write_provenance(writer, &global.reserved, options))
    })
}

fn write_base<'a>(
    writer: &mut Writer<'_>,
    global: &GlobalMetadata,
    objects: impl ExactSizeIterator<Item = (Tensor<'a>, Option<&'a BTreeMap<String, Value>>)>,
) -> Result<()> {
    let none = BTreeMap::new();
    let mut entries = global.base.iter();
    writer.array(objects.len(), |writer| {
        for (tensor, preceder) in objects {
            let (entry, preceder) = (entries.next().unwrap_or(&none), preceder.unwrap_or(&none));
            let kept = || entry.iter().filter(|(key, _)| *key != RESERVED_KEY && !preceder.contains_key(*key));
            let others = kept().count() + preceder.len();
            // A single entry needs no sorting.
            writer.map_of(others + 1, others > 0, |writer| {
                let mut both = kept().chain(preceder);
                both.try_for_each(|(key, value)| writer.entry(key, |writer| writer.value(value)))?;
                writer.entry(RESERVED_KEY, |writer| {
                    writer.map(1, |writer| writer.entry("tensor", |writer| tensor.write_to(writer)))
                })
            })?;
        }
        Ok(())
    })
}

/// Writes the provenance, after the entries of `reserved` that it does not replace.
fn write_provenance(
    writer: &mut Writer<'_>,
    reserved: &BTreeMap<String, Value>,
    options: &EncodeOptions,
) -> Result<()> {
    let (version, name) = (env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_NAME"));
    match &options.provenance {
        Some(given) => {
            write_reserved(writer, reserved, [&given.time, &given.uuid, &given.encoder_name, &given.encoder_version])
        }
        None => provenance::with_new(|time, uuid| write_reserved(writer, reserved, [time, uuid, name, version]))?,
    }
}

fn write_reserved(
    writer: &mut Writer<'_>,
    reserved: &BTreeMap<String, Value>,
    [time, uuid, name, version]: [&str; 4],
) -> Result<()> {
    let kept = || reserved.iter().filter(|(key, _)| !["time", "uuid", "encoder"].contains(&key.as_str()));
    let others = kept().count();
    writer.map_of(others + 3, others > 0, |writer| {
        kept().try_for_each(|(key, value)| writer.entry(key, |writer| writer.value(value)))?;
        writer.text_entry("time", time);
        writer.text_entry("uuid", uuid);
        writer.entry("encoder", |writer| {
            writer.map(2, |writer| {
                writer.text_entry("name", name);
                writer.text_entry("version", version);
                Ok(())
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::options::Provenance;
    use crate::model::cbor;
    use crate::model::metadata::global_metadata_to_cbor;

    #[test]
    fn other_reserved_entries_are_kept_in_canonical_order_and_those_of_the_library_replaced() {
        let [time, uuid, encoder_name, encoder_version] = ["t", "u", "n", "v"].map(str::to_owned);
        let provenance = Some(Provenance { time, uuid, encoder_name, encoder_version });
        let options = EncodeOptions { provenance, ..EncodeOptions::default() };
        let keys = ["a", "time", "zzzz", "uuid", "encoder", "longer than these"];
        let reserved = keys.map(|key| (key.to_owned(), Value::from(1))).into();
        let global = GlobalMetadata { reserved, ..GlobalMetadata::default() };
        let written = cbor::written(|writer| write_completed(&global, [].into_iter(), &options, writer)).unwrap();

        let mut expected = global;
        expected.reserved.insert("time".into(), "t".into());
        expected.reserved.insert("uuid".into(), "u".into());
        let encoder = [("name", "n"), ("version", "v")].map(|(key, value)| (key.into(), value.into()));
        expected.reserved.insert("encoder".into(), Value::Map(encoder.into()));
        assert_eq!(written, global_metadata_to_cbor(&expected).unwrap());
    }
}
