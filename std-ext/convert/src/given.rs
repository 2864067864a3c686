//! A message that is written to a format of arrays with names.

use std::collections::BTreeMap;

use ciborium::Value;
use half::{bf16, f16};
use tgm_core::Message;
use tgm_core::descriptor::Dtype;
use tgm_core::object::DataObject;
use tgm_dataset::reading::gather;
use tgm_std::codec::memory;
use tgm_std::internal::reserve_more;
use tgm_std::{DecodeOptions, GlobalMetadata, Result, check_message, decode_descriptors, read};

use crate::arrays::unpack_bools;
use crate::maps::get;
use crate::names::of_object;
use crate::pieces::{Piece, of_message};
use crate::texts::Texts;

/// The key of a message for the number of its record, and of an object below `netcdf` for the dimension of records.
pub(crate) const RECORD: &str = "record";

/// A message, with the places of its objects in arrays.
pub(crate) struct Given<'m> {
    pub(crate) number: usize,
    pub(crate) message: &'m Message<'m>,
    /// The complete metadata: a streamed message has them in its footer.
    pub(crate) global: &'m GlobalMetadata,
    pub(crate) objects: &'m [DataObject<'m>],
    pieces: &'m [Option<(usize, Piece)>],
    /// What is to be said of arrays of which pieces are missing.
    pub(crate) incomplete: &'m [String],
    /// The key that names objects.
    name_key: Option<&'m str>,
    pub(crate) decode: &'m DecodeOptions,
}

impl<'m> Given<'m> {
    /// What `with` makes of a message. Shapes and names come from metadata, so all digests count if they are checked.
    pub(crate) fn with(
        bytes: &[u8],
        (number, name_key, decode): (usize, Option<&str>, &DecodeOptions),
        with: impl FnOnce(&Given<'_>) -> Result<()>,
    ) -> Result<()> {
        if decode.verify_hash {
            check_message(bytes)?;
        }
        let (global, _) = decode_descriptors(bytes)?;
        let message = Message::parse(bytes)?;
        let objects = message.objects().map(|object| Ok(object?)).collect::<Result<Vec<_>>>()?;
        let described = objects.iter().enumerate().map(|(index, object)| {
            let descriptor = object.descriptor();
            (global.base.get(index), descriptor.shape().iter().collect(), descriptor.dtype())
        });
        let (pieces, incomplete) = of_message(&global.extra, described);
        with(&Given {
            number,
            message: &message,
            global: &global,
            objects: &objects,
            pieces: &pieces,
            incomplete: &incomplete,
            name_key,
            decode,
        })
    }

    /// The place of an object as text.
    pub(crate) fn place(&self, index: usize) -> String {
        format!("message {}, object {index}", self.number)
    }

    /// The metadata of an object.
    pub(crate) fn entry(&self, index: usize) -> Option<&'m BTreeMap<String, Value>> {
        self.global.base.get(index)
    }

    /// What an object recorded when it was made of a variable of NetCDF.
    pub(crate) fn netcdf(&self, index: usize) -> Option<&'m [(Value, Value)]> {
        self.entry(index)?.get("netcdf")?.as_map().map(Vec::as_slice)
    }

    /// The place of an object in an array of several.
    pub(crate) fn piece(&self, index: usize) -> Option<&'m Piece> {
        self.pieces.get(index)?.as_ref().map(|(_, piece)| piece)
    }

    /// The number of the first object of an object's array.
    pub(crate) fn first(&self, index: usize) -> usize {
        self.pieces.get(index).and_then(Option::as_ref).map_or(index, |(first, _)| *first)
    }

    /// The objects of an array, by the number of the first.
    pub(crate) fn objects_of(&self, first: usize) -> impl Iterator<Item = &'m DataObject<'m>> + use<'m, '_> {
        let count = if self.piece(first).is_some() { self.objects.len() } else { 1 };
        let own = move |(index, _): &(usize, _)| self.first(*index) == first;
        self.objects.iter().enumerate().skip(first).take(count).filter(own).map(|(_, object)| object)
    }

    /// What metadata calls an object.
    pub(crate) fn called(&self, index: usize) -> Option<String> {
        of_object(self.global, index, self.name_key)
    }

    /// What an object is called.
    pub(crate) fn name(&self, index: usize) -> String {
        self.called(index).unwrap_or_else(|| format!("object_{}_{index}", self.number))
    }

    /// The shape of an object.
    pub(crate) fn shape(&self, index: usize) -> Vec<u64> {
        self.objects.get(index).map(|object| object.descriptor().shape().iter().collect()).unwrap_or_default()
    }

    /// The texts that an object holds, if it holds texts.
    pub(crate) fn texts(&self, index: usize) -> Option<Texts<'m>> {
        Texts::of_object(self.entry(index)?, &self.shape(index))
    }

    /// The number of the record that the message is.
    pub(crate) fn record(&self) -> Option<u64> {
        u64::try_from(self.global.extra.get(RECORD)?.as_integer()?).ok()
    }

    /// The record that an object is: its number, and the name that its message has for the dimension of records.
    pub(crate) fn record_of(&self, index: usize) -> Option<(u64, &'m str)> {
        Some((self.record()?, get(self.netcdf(index)?, RECORD)?.as_text()?))
    }

    /// Whether a dimension of this path is unlimited.
    pub(crate) fn is_unlimited(&self, path: &str) -> bool {
        let unlimited = self.global.extra.get("unlimited").and_then(Value::as_array);
        unlimited.into_iter().flatten().any(|it| it.as_text() == Some(path))
    }
}

/// The elements of an object in the byte order of the machine, a truth value in a byte.
pub(crate) fn elements(object: &DataObject<'_>, decode: &DecodeOptions) -> Result<Vec<u8>> {
    let options = DecodeOptions { native_byte_order: true, ..decode.clone() };
    let bytes = memory::owned(read(object).options(&options).bytes()?)?;
    let (dtype, count) = (object.descriptor().dtype(), object.descriptor().element_count());
    if dtype != Dtype::Bitmask {
        return Ok(bytes);
    }
    let mut bools = Vec::new();
    reserve_more(&mut bools, options.limits.check_bytes(bytes.len() as u64, count)?)?;
    unpack_bools(&bytes, count, |part| {
        bools.extend_from_slice(part);
        Result::<()>::Ok(())
    })?;
    Ok(bools)
}

/// Floats of 16 bits as `float32`, in the byte order of the machine. Elements of other types stay.
pub(crate) fn widened(dtype: Dtype, bytes: Vec<u8>) -> Result<Vec<u8>> {
    let each = bytes.as_chunks().0.iter();
    match dtype {
        Dtype::Float16 => gather(each.map(|value| Ok(f16::from_ne_bytes(*value).to_f32().to_ne_bytes()))),
        Dtype::Bfloat16 => gather(each.map(|value| Ok(bf16::from_ne_bytes(*value).to_f32().to_ne_bytes()))),
        _ => Ok(bytes),
    }
}
