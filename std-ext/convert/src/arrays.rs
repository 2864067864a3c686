//! Arrays in memory: what all array formats become, and what messages become for them.

mod joined;
mod whole;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Write;

use ciborium::Value;
use tgm_core::descriptor::{ByteOrder, Dtype, Key, MaskKind};
use tgm_core::mask::pattern;
use tgm_dataset::reading::{Fate, Reading};
use tgm_std::encode::{Part, encode_parts};
use tgm_std::internal::Trust;
use tgm_std::{
    DataObjectDescriptor, DecodeOptions, EncodeOptions, GlobalMetadata, RESERVED_KEY, Result, StreamingEncoder,
    TensogramError, check_message, decode_descriptors, read,
};

use crate::called;
use crate::texts::{self, TEXT_SHAPE, TEXTS, Texts};

pub use self::joined::Joined;

/// The key of an object's metadata that holds its name.
pub const NAME: &str = "name";
/// The key of an object's metadata that tells of integers which are times: kind, unit, multiple, and the integer that is not a
/// time. It is a map.
pub const TIME: &str = "numpy";
/// The key of an object's metadata that holds the texts of an array of texts. The object has no elements.
pub const TEXT: &str = texts::TEXT;
/// Bytes of text that metadata takes.
pub(super) const MAX_TEXT: usize = 1 << 20;
/// Texts that metadata takes.
const MAX_TEXTS: usize = 1 << 16;
/// The type of objects that other formats have too.
const USUAL_TYPE: &str = "ntensor";

/// An array: what it holds, its values and its metadata.
#[derive(Clone, Debug, PartialEq)]
pub struct Array<'a> {
    /// Element type, byte order and shape. There are no stages. The parameters are the user's own.
    pub descriptor: DataObjectDescriptor,
    /// The elements in row-major order and in the descriptor's byte order. Borrowed where the source holds them so.
    pub values: Cow<'a, [u8]>,
    /// The metadata of the object. [`NAME`] is its name.
    pub metadata: BTreeMap<String, Value>,
}

impl<'a> Array<'a> {
    /// An array without metadata.
    ///
    /// # Errors
    /// [`TensogramError::Object`] if the number of bytes does not fit the type and the shape.
    pub fn new(dtype: Dtype, order: ByteOrder, shape: &[u64], values: impl Into<Cow<'a, [u8]>>) -> Result<Self> {
        let values = values.into();
        check_values(dtype, shape, values.len() as u64)?;
        let descriptor = DataObjectDescriptor::new(dtype, order, shape);
        Ok(Self { descriptor, values, metadata: BTreeMap::new() })
    }

    /// The array with a name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.metadata.insert(NAME.to_string(), Value::Text(name.into()));
        self
    }

    /// Texts as metadata of an array without elements. `shape` is the shape that they have.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for more than 1 MiB of text, or 65,536 texts.
    pub fn of_texts(texts: Vec<String>, shape: &[u64]) -> Result<Self> {
        let len: usize = texts.iter().map(String::len).sum();
        Self::check_texts(texts.len(), len)?;
        let mut array = Self::new(Dtype::Uint8, ByteOrder::NATIVE, &[0], Vec::new())?;
        array.metadata.insert(TEXT.into(), Value::Array(texts.into_iter().map(Value::Text).collect()));
        if shape.len() != 1 {
            let shape = shape.iter().map(|dim| (*dim).into()).collect();
            array.metadata.insert(TEXT_SHAPE.into(), Value::Array(shape));
        }
        Ok(array)
    }

    /// Checks that metadata takes `count` texts of `len` bytes together.
    pub(super) fn check_texts(count: usize, len: usize) -> Result<()> {
        if len <= MAX_TEXT && count <= MAX_TEXTS {
            return Ok(());
        }
        let what = format!("{count} texts of {len} bytes, and metadata takes {MAX_TEXTS} of {MAX_TEXT} bytes");
        Err(TensogramError::Metadata(what.into()))
    }

    /// The texts of an array that [`Self::of_texts`] made.
    pub fn texts(&self) -> Option<Vec<&str>> {
        let texts = self.metadata.get(TEXT).filter(|_| self.descriptor.shape == [0])?;
        texts.as_array()?.iter().map(Value::as_text).collect()
    }

    /// The shape of these texts.
    pub fn text_shape(&self) -> Option<Vec<u64>> {
        Texts::of_object(&self.metadata, &self.descriptor.shape).map(|texts| texts.shape)
    }

    /// The name, if the metadata has one: [`NAME`], or else a key of archives, such as `mars.param`.
    pub fn name(&self) -> Option<&str> {
        called::in_metadata(&self.metadata)
    }

    /// The values, in `order`.
    pub fn values_in(&self, order: ByteOrder) -> Cow<'_, [u8]> {
        let unit = self.descriptor.dtype.swap_unit_size();
        if unit <= 1 || order == self.descriptor.byte_order {
            return Cow::Borrowed(&self.values);
        }
        let mut swapped = self.values.to_vec();
        swapped.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
        Cow::Owned(swapped)
    }
}

/// The arrays of one message, and its metadata.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arrays<'a> {
    /// The writer's annotations of the message.
    pub metadata: BTreeMap<String, Value>,
    /// The objects.
    pub arrays: Vec<Array<'a>>,
    /// What the source has and these arrays lack.
    pub not_kept: Vec<NotKept>,
}

/// What truth values of a byte each become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bools {
    /// Bits, which become truth values again on the way back.
    #[default]
    Bitmask,
    /// Numbers of one byte, which take stages for numbers.
    Uint8,
}

/// Something that cannot be carried over to another format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotKept {
    /// The number of the object. `None` for what belongs to the whole message.
    pub object: Option<usize>,
    /// What is not kept.
    pub what: String,
    /// Whether values are lost: an array, or a part of one. Otherwise it is metadata, or how values were stored.
    pub is_values: bool,
}

impl NotKept {
    /// Something of an object that is not kept.
    pub fn of(object: usize, what: impl Into<String>) -> Self {
        Self { object: Some(object), what: what.into(), is_values: false }
    }

    /// Something of the message that is not kept.
    pub fn of_message(what: impl Into<String>) -> Self {
        Self { object: None, what: what.into(), is_values: false }
    }

    /// An array of the source that is lost, and why.
    pub fn array(what: impl Into<String>) -> Self {
        Self { object: None, what: what.into(), is_values: true }
    }
}

impl fmt::Display for NotKept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.object {
            Some(object) => write!(f, "object {object}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

impl<'a> Arrays<'a> {
    /// Checks that nothing of the source is lost in silence: `counted` arrays are in it, counted apart from their reading, and
    /// each is here or listed.
    ///
    /// # Errors
    /// [`TensogramError::Object`] if the numbers differ, or if no array is here.
    #[cfg(any(feature = "csv", feature = "npy", feature = "safetensors"))]
    pub(super) fn check_count(self, counted: usize, what: &str) -> Result<Self> {
        let listed = self.not_kept.iter().filter(|lost| lost.is_values).count();
        if self.arrays.len() + listed != counted {
            let kept = self.arrays.len();
            return Err(refused(format!("{counted} {what}, of which {kept} are read and {listed} are listed as lost")));
        }
        if self.arrays.iter().any(|array| array.texts().is_none()) || counted == 0 {
            return Ok(self);
        }
        let reasons: Vec<String> = self.not_kept.iter().map(ToString::to_string).collect();
        let reasons = if reasons.is_empty() { "texts alone".to_string() } else { reasons.join("; ") };
        Err(refused(format!("no array can be read: {reasons:.2000}")))
    }

    /// Decodes all objects of a message. Values without a stage are borrowed from it.
    ///
    /// Variables of texts, which the metadata of the message has, are arrays after the others. Those that cannot be are listed.
    ///
    /// Stages are not part of arrays: they are how values are stored, and leave no note. What the library wrote about the
    /// message (`_reserved_`: its time and uuid) is left out too, because a new message gets its own. With `verify_hash` the digests
    /// of all frames are checked first, because metadata is carried over too.
    ///
    /// # Errors
    /// The errors of [`check_message`] with `verify_hash`, of [`decode_descriptors`] and of [`read()`](tgm_std::read()).
    pub fn decode(message: &'a [u8], options: &DecodeOptions) -> Result<Self> {
        let view = tgm_core::Message::parse(message)?;
        if options.verify_hash {
            // An object without a digest is reported first, if that is an error.
            Trust::of_message(&view, options)?.check_message(&view, None)?;
            check_message(message)?;
        }
        let (mut global, descriptors) = decode_descriptors(message)?;
        let mut arrays = Vec::new();
        for (index, (object, stored)) in view.objects().zip(descriptors).enumerate() {
            let decoded = read(&object?).options(options).bytes()?;
            let order = if options.native_byte_order { ByteOrder::NATIVE } else { stored.byte_order };
            let mut descriptor = DataObjectDescriptor::new(stored.dtype, order, &stored.shape);
            descriptor.obj_type = stored.obj_type;
            descriptor.params = stored.params;
            descriptor.params.retain(|key, _| Key::from_name(key).is_none());
            // Metadata may have fewer entries than there are objects.
            let mut metadata = global.base.get_mut(index).map(std::mem::take).unwrap_or_default();
            metadata.remove(RESERVED_KEY);
            arrays.push(Array { descriptor, values: decoded, metadata });
        }
        let not_kept = take_texts(&mut global, &mut arrays);
        Ok(Self { metadata: global.extra, arrays, not_kept })
    }

    /// The arrays with values of their own. Values that are borrowed are copied.
    pub fn into_owned(self) -> Arrays<'static> {
        let owned = |Array { descriptor, values, metadata }: Array<'_>| Array {
            descriptor,
            values: Cow::Owned(values.into_owned()),
            metadata,
        };
        let arrays = self.arrays.into_iter().map(owned).collect();
        Arrays { metadata: self.metadata, arrays, not_kept: self.not_kept }
    }

    /// The arrays with values in place of integers that are packed by the convention CF: `scale_factor` and `add_offset` beside them
    /// are obeyed, missing cells become NaN, and attributes of the packing are left out. For formats whose readers do not do that.
    ///
    /// # Errors
    /// The errors of [`Reading::cells`](tgm_dataset::reading::Reading::cells), with the name of the array.
    pub fn unpacked(mut self) -> Result<Self> {
        for (index, array) in self.arrays.iter_mut().enumerate() {
            let Some(reading) = Reading::of_entry(array.descriptor.dtype, &array.metadata) else { continue };
            let stored = array.values_in(ByteOrder::NATIVE).into_owned();
            let name = array.name().map_or_else(|| format!("object {index}"), str::to_string);
            array.values = Cow::Owned(reading.cells(stored).map_err(|error| error.within(name))?.bytes);
            (array.descriptor.dtype, array.descriptor.byte_order) = (reading.dtype(), ByteOrder::NATIVE);
            if let Some(Value::Map(attributes)) = array.metadata.get_mut("attributes") {
                attributes.retain(|(name, _)| !name.as_text().is_some_and(|name| *reading.fate(name) != Fate::Stays));
            }
        }
        Ok(self)
    }

    /// A message that holds the arrays.
    ///
    /// Descriptors may name stages. Values are copied once, into the message.
    ///
    /// # Errors
    /// The errors of [`encode_parts`], with the number of the object.
    pub fn encode(&self, options: &EncodeOptions) -> Result<Vec<u8>> {
        let base = self.arrays.iter().map(|array| array.metadata.clone()).collect();
        let metadata = GlobalMetadata { base, extra: self.metadata.clone(), ..GlobalMetadata::default() };
        let parts: Vec<_> =
            self.arrays.iter().map(|array| Part::Values(&array.descriptor, &array.values, options)).collect();
        Ok(encode_parts(&metadata, &parts, options)?)
    }

    /// Writes a streamed message that holds the arrays. Values without a stage go to the sink without a copy.
    ///
    /// A streamed message does not state its length, and has its index at its end. [`Self::encode`] makes a message that
    /// states both, and takes memory for all of it.
    ///
    /// # Errors
    /// The errors of [`StreamingEncoder`].
    pub fn write_to<W: Write>(&self, sink: W, options: &EncodeOptions) -> Result<W> {
        let metadata = GlobalMetadata { extra: self.metadata.clone(), ..GlobalMetadata::default() };
        let mut encoder = StreamingEncoder::new(sink, &metadata, options)?;
        for array in &self.arrays {
            if !array.metadata.is_empty() {
                encoder.write_preceder(array.metadata.clone())?;
            }
            encoder.write_object(&array.descriptor, &array.values)?;
        }
        encoder.finish()
    }

    /// The arrays of texts, which a format without texts loses.
    #[cfg(any(feature = "csv", feature = "safetensors"))]
    pub(super) fn lost_texts(&self) -> Vec<NotKept> {
        let texts = self.arrays.iter().enumerate().filter(|(_, array)| array.texts().is_some());
        let lost =
            |(index, _)| NotKept { object: Some(index), what: "the array: it has texts".into(), is_values: true };
        texts.map(lost).collect()
    }

    /// A name for each array, all of them different: its own name, or `object_` and its number.
    ///
    /// The second list says which names had to change because an earlier array has the same, or because they are empty.
    pub fn names(&self) -> (Vec<String>, Vec<NotKept>) {
        let own: BTreeSet<&str> = self.arrays.iter().filter_map(Array::name).collect();
        let (mut taken, mut changed) = (BTreeSet::new(), Vec::new());
        // The last number after each name, so that many arrays of one name take no search each.
        let mut numbers: BTreeMap<String, u64> = BTreeMap::new();
        let mut next = |index: usize, array: &Array<'_>| {
            let wanted = array.name().filter(|name| !name.is_empty());
            let wanted = wanted.map_or_else(|| format!("object_{index}"), str::to_string);
            let is_own = array.name() == Some(&wanted);
            let is_empty = array.name() == Some("");
            let mut name = wanted.clone();
            while taken.contains(&name) || (own.contains(name.as_str()) && !(is_own && name == wanted)) {
                let number = numbers.entry(wanted.clone()).or_default();
                *number += 1;
                name = format!("{wanted}_{number}");
            }
            if is_empty {
                changed.push(NotKept::of(index, format!("the name \"\", which is empty: it is {name:?} now")));
            } else if name != wanted {
                changed.push(NotKept::of(index, format!("the name {wanted:?}, which another has: it is {name:?} now")));
            }
            taken.insert(name.clone());
            name
        };
        let names = self.arrays.iter().enumerate().map(|(index, array)| next(index, array)).collect();
        (names, changed)
    }

    /// The values whose bits a message cannot keep, where it stores NaN and infinities as masks: NaN of other bits than the
    /// usual ones, and complex numbers of which one part alone is not finite. Reads all floats.
    pub fn not_kept_by_masks(&self) -> Vec<NotKept> {
        let counts = self.arrays.iter().map(changed_by_masks).enumerate().filter(|(_, count)| *count > 0);
        let what =
            |count| format!("the bits of {count} values that are not finite: each becomes the usual NaN or infinity");
        counts.map(|(index, count)| NotKept::of(index, what(count))).collect()
    }

    /// The metadata that a format without room for it leaves out: all keys of the message and of its objects but those
    /// in `kept`, which are keys of objects.
    pub fn metadata_not_kept(&self, kept: &[&str]) -> Vec<NotKept> {
        let of_message = self.metadata.keys().map(|key| NotKept::of_message(format!("extra.{key}")));
        let of_objects = self.arrays.iter().enumerate().flat_map(|(index, array)| {
            let keys = array.metadata.keys().filter(|key| !kept.contains(&key.as_str()));
            let parameters = array.descriptor.params.keys().filter(|key| Key::from_name(key).is_none());
            let kind = Some(&array.descriptor.obj_type).filter(|kind| *kind != USUAL_TYPE);
            let kind = kind.map(|kind| NotKept::of(index, format!("the object's type {kind:?}")));
            keys.chain(parameters).map(move |key| NotKept::of(index, key.as_str())).chain(kind)
        });
        of_message.chain(of_objects).collect()
    }
}

/// Takes the variables of texts out of the metadata of a message, to the arrays. Returns those that are lost.
fn take_texts(global: &mut GlobalMetadata, arrays: &mut Vec<Array<'_>>) -> Vec<NotKept> {
    let mut lost = Vec::new();
    for (name, texts) in Texts::of_message(global) {
        let array = match (name, texts) {
            (Some(name), Some(texts)) => {
                let values = texts.values.iter().map(ToString::to_string).collect();
                Array::of_texts(values, &texts.shape).map(|array| array.named(name)).map_err(|error| error.to_string())
            }
            (_, None) => Err("their number is not that of their shape".into()),
            (None, _) => Err("they have no name".into()),
        };
        match array {
            Ok(array) => arrays.push(array),
            Err(why) => lost.push(NotKept::array(format!("texts {}: {why}", name.unwrap_or_default()))),
        }
    }
    global.extra.remove(TEXTS);
    lost
}

/// How many values of an array a mask restores to other bits.
fn changed_by_masks(array: &Array<'_>) -> usize {
    let dtype = array.descriptor.dtype;
    let usual = [MaskKind::Nan, MaskKind::PosInf, MaskKind::NegInf].map(|kind| pattern(kind, dtype));
    let [Some(_), Some(infinity), Some(_)] = usual else { return 0 };
    let is_big = array.descriptor.byte_order == ByteOrder::Big;
    let bits = |part: &[u8]| {
        let next = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
        if is_big { part.iter().fold(0, next) } else { part.iter().rev().fold(0, next) }
    };
    let is_changed = |element: &&[u8]| {
        let mut parts = element.chunks_exact(dtype.swap_unit_size().max(1)).map(bits);
        // The bits of infinity are the bits of the exponent, which NaN has too.
        let has_other = parts.clone().any(|part| part & infinity == infinity);
        has_other && {
            let first = parts.next();
            !usual.contains(&first) || parts.any(|part| Some(part) != first)
        }
    };
    array.values.chunks_exact(dtype.byte_width().max(1)).filter(is_changed).count()
}

/// The bytes of the values of an array.
///
/// # Errors
/// [`TensogramError::Object`] if there are more than 2⁶⁴.
pub(super) fn byte_len(dtype: Dtype, shape: &[u64]) -> Result<u64> {
    let count = shape.iter().try_fold(1_u64, |product, dim| product.checked_mul(*dim));
    count.and_then(|count| dtype.byte_len(count)).ok_or_else(|| refused("shape product overflow"))
}

/// Checks that `found` bytes are the values of an array.
///
/// # Errors
/// [`TensogramError::Object`] if they are not.
pub(super) fn check_values(dtype: Dtype, shape: &[u64], found: u64) -> Result<()> {
    let expected = byte_len(dtype, shape)?;
    if expected == found {
        return Ok(());
    }
    Err(refused(format!("{found} bytes of values, and {dtype} of shape {shape:?} has {expected}")))
}

/// What [`TIME`] says of times as numpy has them: `kind` is `datetime64` or `timedelta64`, and a value counts `multiple` times
/// `unit`.
#[cfg(any(feature = "npy", feature = "zarr"))]
pub(super) fn time(kind: &str, unit: &str, multiple: u64) -> Value {
    let entries =
        [("dtype", kind.into()), ("unit", unit.into()), ("multiple", multiple.into()), ("nat", i64::MIN.into())];
    Value::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
}

/// Truth values as bits; the first value is the highest bit.
pub fn pack_bools(bools: &[u8]) -> Vec<u8> {
    let byte = |bools: &[u8]| {
        let bits = bools.iter().zip([0x80_u8, 0x40, 0x20, 0x10, 0x08, 0x04, 0x02, 0x01]);
        bits.fold(0, |byte, (value, bit)| if *value == 0 { byte } else { byte | bit })
    };
    bools.chunks(8).map(byte).collect()
}

/// Hands the first `count` bits of `bits` to `sink` as bytes 0 and 1, highest bit first. Uses a small buffer.
///
/// # Errors
/// The errors of `sink`.
pub fn unpack_bools<E>(bits: &[u8], count: u64, mut sink: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    const CHUNK: usize = 8 << 10;
    // More values than addresses are more than the bits in memory, which end first.
    let mut left = usize::try_from(count).unwrap_or(usize::MAX);
    let mut bytes = Vec::with_capacity(8 * CHUNK.min(bits.len()));
    for chunk in bits.chunks(CHUNK) {
        bytes.clear();
        bytes.extend(chunk.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)));
        bytes.truncate(left);
        left -= bytes.len();
        sink(&bytes)?;
    }
    Ok(())
}

pub(super) fn refused(text: impl Into<String>) -> TensogramError {
    TensogramError::Object(text.into().into())
}

/// [`refused`] for what another library found, whose error comes along as the source.
#[cfg(any(feature = "npz", feature = "safetensors"))]
pub(super) fn refused_by(
    place: impl fmt::Display,
    error: impl std::error::Error + Send + Sync + 'static,
) -> TensogramError {
    TensogramError::Object(tgm_std::Reason::with_source(format!("{place}: {error}"), None, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(name: Option<&str>) -> Array<'static> {
        let array = Array::new(Dtype::Uint8, ByteOrder::Little, &[1], vec![7]).unwrap();
        name.map_or_else(|| array.clone(), |name| array.clone().named(name))
    }

    #[test]
    fn names_are_unique_and_changes_are_told() {
        let arrays = [Some("a"), None, Some("a"), Some("a_1"), Some("object_1"), Some("")].map(array).to_vec();
        let (names, changed) = Arrays { arrays, ..Arrays::default() }.names();
        assert_eq!(names, ["a", "object_1_1", "a_2", "a_1", "object_1", "object_5"]);
        assert_eq!(changed.iter().map(|note| note.object).collect::<Vec<_>>(), [Some(1), Some(2), Some(5)]);
    }

    #[test]
    fn values_that_masks_change_are_counted() {
        let count = |order, values: &[u64]| {
            let bytes: Vec<u8> = values
                .iter()
                .flat_map(|bits| if order == ByteOrder::Big { bits.to_be_bytes() } else { bits.to_le_bytes() })
                .collect();
            let array = |dtype, len| Array::new(dtype, order, &[len], bytes.clone()).unwrap();
            let len = values.len() as u64;
            [array(Dtype::Float64, len), array(Dtype::Complex128, len / 2), array(Dtype::Uint64, len)]
                .map(|array| changed_by_masks(&array))
        };
        let (nan, infinity, one) = (0x7ff8 << 48, 0x7ff0 << 48, 0x3ff0 << 48);
        for order in [ByteOrder::Big, ByteOrder::Little] {
            assert_eq!(count(order, &[nan, nan, infinity, infinity, one, 0]), [0, 0, 0]);
            assert_eq!(count(order, &[nan | 1, nan, 0xfff8 << 48, one]), [2, 2, 0]);
            assert_eq!(count(order, &[infinity, one, nan, infinity]), [0, 2, 0]);
        }
    }

    #[test]
    fn bytes_have_to_fit_the_shape() {
        let error = |shape: &[u64], len| Array::new(Dtype::Float32, ByteOrder::Big, shape, vec![0; len]).unwrap_err();
        assert!(error(&[2, 2], 15).to_string().contains("15 bytes of values, and float32 of shape [2, 2] has 16"));
        assert!(error(&[u64::MAX, 8], 0).to_string().contains("shape product overflow"));
        assert!(Array::new(Dtype::Float32, ByteOrder::Big, &[0, u64::MAX], vec![]).unwrap().values.is_empty());
    }

    #[test]
    fn bits_become_bytes_and_padding_does_not() {
        let unpack = |bits: &[u8], count| {
            let mut bytes = Vec::new();
            unpack_bools(bits, count, |chunk| {
                bytes.extend_from_slice(chunk);
                Ok::<_, ()>(())
            })
            .unwrap();
            bytes
        };
        assert_eq!(unpack(&[0xb0, 0xff], 10), [1, 0, 1, 1, 0, 0, 0, 0, 1, 1]);
        assert_eq!(unpack(&[0x80; 10_000], 80_000), [1, 0, 0, 0, 0, 0, 0, 0].repeat(10_000));
        assert_eq!(unpack(&[], 0), [0; 0]);
    }

    #[test]
    fn truth_values_are_packed_highest_bit_first() {
        assert_eq!(pack_bools(&[1, 0, 1, 1, 0, 0, 0, 0, 1, 1]), [0xb0, 0xc0]);
        assert_eq!(pack_bools(&[]), [0; 0]);
    }
}
