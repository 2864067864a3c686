//! From GRIB to Tensogram: one object for each field.

use std::borrow::Cow;
use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::descriptor::{ByteOrder, Compression, Dtype, Encoding, Key, MaskKind};
use tgm_core::packing::Packing;
use tgm_core::szip::RsiOffsets;
use tgm_std::encode::{Part, encode_parts};
use tgm_std::internal::{reserve, reserve_more, store_masks};
use tgm_std::{
    DataObjectDescriptor, DecodeLimits, EncodeOptions, GlobalMetadata, MaskMethod, MasksMetadata, Result,
    TensogramError,
};

use super::bitmap::{BITMAP_HEAD_LEN, inverted};
use super::codes::{NONE, Writer, at_points, containers_len, each, from_containers, packed_len, placed};
use super::complex::{has_negative, with_bits};
use super::error::GribErrorKind;
use super::fields::{Field, Present};
use super::keys::GribKeys;
use super::note::Note;
use super::packings::{Curved, Places};
use super::recipe::{GRIB, Kept, MARS, Recipe};
use super::representation::{Ccsds, Representation};
use super::sections::{HEAD_LEN, INDICATOR_LEN, Message, Section};
use super::{edition1, keys, payload, picture, stream};

/// Options of the conversion from GRIB.
#[derive(Clone, Debug)]
pub struct GribOptions {
    /// Options for encoding the Tensogram message. Bitmaps are stored by the method for masks of NaN.
    pub encode: EncodeOptions,
    /// Limits on decompressing data. CCSDS data are decompressed only if they have a width that the format does not have,
    /// or a bitmap. Groups and pictures always are.
    pub limits: DecodeLimits,
    /// Whether PNG and JPEG 2000 data are kept beside the values that they give, so that the way back gives the same
    /// bytes. Without them the message is smaller, by the length of these data, and its way back has simple packing of the
    /// same values. True unless told otherwise.
    pub keep_original: bool,
    /// Whether data in simple packing without a bitmap stay as they are. False unless told otherwise: their integers become a stream of szip
    /// where that is shorter. The way back gives the same bytes either way.
    pub keep_stages: bool,
    /// Whether CCSDS data that keep their bytes are decompressed all the same, so that a damaged stream is an error. False
    /// unless told otherwise: they are copied, and read only as far as to find where their intervals start.
    pub check_streams: bool,
    /// Which keys the map `grib` of an object has. All, unless told otherwise. The way back does not hang on it.
    pub keys: GribKeys,
}

impl Default for GribOptions {
    fn default() -> Self {
        Self {
            encode: EncodeOptions { nan_mask_method: MaskMethod::of_build(), ..EncodeOptions::default() },
            limits: DecodeLimits::default(),
            keep_original: true,
            keep_stages: false,
            check_streams: false,
            keys: GribKeys::All,
        }
    }
}

/// A message that was made from GRIB.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The Tensogram message.
    pub message: Vec<u8>,
    /// What differs from the GRIB message.
    pub notes: Vec<Note>,
}

/// A field as an object.
struct Object<'a> {
    entry: BTreeMap<String, Value>,
    descriptor: DataObjectDescriptor,
    region: Cow<'a, [u8]>,
    notes: Vec<Note>,
    /// How many sections it keeps, with section 7 and without section 0.
    sections: u64,
}

/// Converts a GRIB message to a Tensogram message. Bytes after the message are ignored.
///
/// Data without a bitmap are copied once, into the message, if the format has their packing. Otherwise their integers
/// are: each field then takes memory for its packed values. Groups and pictures take 8 bytes for each value beside.
///
/// # Errors
/// [`TensogramError::Framing`] for bytes that are not a GRIB message or contradict themselves, with the place;
/// [`TensogramError::Encoding`] for what is not supported, by name, and for data that cannot be decompressed.
pub fn to_tensogram(message: &[u8], options: &GribOptions) -> Result<Converted> {
    let (message, _) = Message::parse(message)?;
    if options.keep_original {
        return converted(message, options, vec![]);
    }
    let (simple, notes) = picture::to_simple(message, &options.limits)?;
    converted(simple.as_deref().map_or(Ok((message, &[][..])), Message::parse)?.0, options, notes)
}

/// [`to_tensogram`] of a message whose pictures are kept.
pub(super) fn converted(message: Message<'_>, options: &GribOptions, mut notes: Vec<Note>) -> Result<Converted> {
    let objects = objects(message, options)?;
    let (counted, kept) = (message.count_sections(), objects.iter().map(|object| object.sections).sum());
    if counted != kept {
        return Err(GribErrorKind::Sections { counted, kept }.at(message.indicator_len()).into());
    }
    let base = objects.iter().map(|object| object.entry.clone()).collect();
    let global = GlobalMetadata { base, ..GlobalMetadata::default() };
    let parts: Vec<_> = objects.iter().map(|object| Part::Region(&object.descriptor, &object.region)).collect();
    notes.extend(objects.iter().flat_map(|object| &object.notes).copied());
    Ok(Converted { message: encode_parts(&global, &parts, &options.encode)?, notes })
}

/// The objects of a message's fields.
///
/// # Errors
/// The errors of [`to_tensogram`].
fn objects<'a>(message: Message<'a>, options: &GribOptions) -> Result<Vec<Object<'a>>> {
    let fields = message.fields().collect::<std::result::Result<Vec<_>, _>>()?;
    fields.iter().enumerate().map(|(index, field)| object(message, field, (index, fields.len()), options)).collect()
}

fn object<'a>(
    message: Message<'a>,
    field: &Field<'a>,
    (index, fields): (usize, usize),
    options: &GribOptions,
) -> Result<Object<'a>> {
    let representation = field.stored()?;
    let present = field.present()?;
    let shape = field.shape()?;
    let payload = match &representation {
        Representation::Unread(_) | Representation::Absent(_) => nothing(field, &present, &shape, options)?,
        Representation::Curved(curved) => floats(field, curved, &present, &shape, options)?,
        _ => {
            let decoded = integers(field, &representation, &present, &shape, options)?;
            decoded.map_or_else(|| bits(field, &representation, &present, &shape, options), Ok)?
        }
    };
    let Payload { mut descriptor, mut region, gaps, source, packing } = payload;
    if matches!(source, Source::Data) {
        // The way back reads the values, and compares them with the values of the data.
        let values = containers_len(present.points, descriptor.dtype.byte_width())?;
        options.limits.check_bytes(region.len() as u64, values as u64)?;
    }
    if let Some(gaps) = gaps {
        place_mask(gaps, present.points, &mut descriptor, region.to_mut(), options)?;
    }
    let mut outline = Outline::new(message, field, index, fields)?;
    match source {
        Source::Payload => {}
        Source::Groups(groups) => outline.recipe.groups = Some(groups),
        Source::Data => outline.recipe.data = Some(field.data()),
    }
    let decimal = packing.and_then(|packing| decimal_note(index, &packing));
    let predefined = present.predefined.map(|code| Note::PredefinedBitmap { field: index, code });
    let unread = if let Representation::Unread(reason) = representation { Some(reason) } else { None };
    outline.recipe.unread = unread.map(|reason| reason.to_string());
    let unread = unread.map(|reason| Note::Unread { field: index, reason });
    let notes = decimal.into_iter().chain(predefined).chain(unread).collect();
    // Section 7 is the payload, or kept whole. Section 4 of edition 1 is kept in part, and the rest likewise. The first object has
    // section 0 too, which no length leads to.
    let data = u64::from(!message.is_first_edition());
    let sections = outline.recipe.sections.len() as u64 + data - u64::from(index == 0);
    Ok(Object { entry: outline.entry(options.keys)?, descriptor, region, notes, sections })
}

/// The encoded values of a field.
struct Payload<'a> {
    /// The descriptor, without masks.
    descriptor: DataObjectDescriptor,
    region: Cow<'a, [u8]>,
    /// Bits of the points without a value, if there are such points.
    gaps: Option<Vec<u8>>,
    source: Source<'a>,
    packing: Option<Packing>,
}

/// What gives section 7 back.
enum Source<'a> {
    /// The payload alone.
    Payload,
    /// The payload and groups.
    Groups(Kept<'a>),
    /// Only section 7 itself.
    Data,
}

/// What a field gives an object beside its values.
pub(super) struct Outline<'a> {
    field: Field<'a>,
    pub(super) shape: Vec<u64>,
    recipe: Recipe<'a>,
}

impl<'a> Outline<'a> {
    /// The outline of field `index` of `fields`, whose payload gives section 7 back.
    ///
    /// # Errors
    /// The errors of its sections in front of the data.
    pub(super) fn new(message: Message<'a>, field: &Field<'a>, index: usize, fields: usize) -> Result<Self> {
        field.present()?;
        let sections = sections(message, field)?;
        let recipe =
            Recipe { field: index as u64, fields: fields as u64, sections, groups: None, data: None, unread: None };
        Ok(Self { field: *field, shape: field.shape()?, recipe })
    }

    /// The metadata of the object.
    pub(super) fn entry(&self, keys: GribKeys) -> Result<BTreeMap<String, Value>> {
        let (mut grib, mars) = keys::entries(&self.field, keys)?;
        grib.extend(self.recipe.to_entries());
        Ok([(GRIB.to_string(), Value::Map(grib)), (MARS.to_string(), Value::Map(mars))].into())
    }
}

/// The descriptor before compression and masks.
fn descriptor(representation: &Representation, shape: &[u64]) -> DataObjectDescriptor {
    let Some(packing) = representation.packing() else {
        let dtype = if representation.bits() == 32 { Dtype::Float32 } else { Dtype::Float64 };
        return DataObjectDescriptor::new(dtype, ByteOrder::Big, shape);
    };
    let mut descriptor = DataObjectDescriptor::new(Dtype::Float64, ByteOrder::Little, shape);
    descriptor.encoding = Encoding::SimplePacking.name().to_string();
    descriptor.set_param(Key::SpReferenceValue, packing.reference_value);
    descriptor.set_param(Key::SpBinaryScaleFactor, packing.binary_scale_factor);
    descriptor.set_param(Key::SpDecimalScaleFactor, packing.decimal_scale_factor);
    descriptor.set_param(Key::SpBitsPerValue, packing.bits_per_value);
    descriptor
}

/// The payload of data that keep their bits, or their integers.
fn bits<'a>(
    field: &Field<'a>,
    representation: &Representation,
    present: &Present<'a>,
    shape: &[u64],
    options: &GribOptions,
) -> Result<Payload<'a>> {
    let mut descriptor = descriptor(representation, shape);
    let (region, is_given) = payload(field, representation, present, &mut descriptor, options)?;
    let gaps = present.gaps();
    let source = if is_given { Source::Payload } else { Source::Data };
    Ok(Payload { descriptor, region, gaps, source, packing: representation.packing().copied() })
}

/// Whether `made` are the data of a field. Section 4 of edition 1 states a length of its own, up to which the way back writes zeros.
fn gives(field: &Field<'_>, made: &[u8]) -> bool {
    let rest = field.data().strip_prefix(made);
    rest.is_some_and(|rest| if field.second.is_none() { rest.iter().all(|byte| *byte == 0) } else { rest.is_empty() })
}

/// The payload of values that do not rise in equal steps with their integers: floats.
fn floats<'a>(
    field: &Field<'a>,
    curved: &Curved,
    present: &Present<'a>,
    shape: &[u64],
    options: &GribOptions,
) -> Result<Payload<'a>> {
    let values = curved.decode(field.data(), present.count, &options.limits)?;
    let is_given = curved.encode(&values, &options.limits)?.is_some_and(|made| gives(field, &made));
    let mut descriptor = DataObjectDescriptor::new(Dtype::Float64, ByteOrder::Big, shape);
    let each = at_points(values.iter().map(|value| Some(value.to_bits())), present.bitmap, present.points);
    let region = payload::floats(each, present.points, u64::BITS, &mut descriptor)?;
    let gaps = present.gaps();
    let source = if is_given { Source::Payload } else { Source::Data };
    Ok(Payload { descriptor, region: region.into(), gaps, source, packing: None })
}

/// The payload of values that are not there, or cannot be read: no bits, and a mask that has all points.
fn nothing<'a>(field: &Field<'a>, present: &Present<'_>, shape: &[u64], options: &GribOptions) -> Result<Payload<'a>> {
    let len = options.limits.check_bytes(field.data().len() as u64, present.points.div_ceil(8))?;
    let packing = Packing { reference_value: 0.0, binary_scale_factor: 0, decimal_scale_factor: 0, bits_per_value: 0 };
    let descriptor = descriptor(&Representation::Simple(packing), shape);
    let gaps = inverted(&reserve(len)?, present.points);
    Ok(Payload { descriptor, region: Cow::Borrowed(&[]), gaps: Some(gaps), source: Source::Data, packing: None })
}

/// The payload of data that are decoded: simple packing of the same integers. `None` for other data.
fn integers<'a>(
    field: &Field<'a>,
    representation: &Representation,
    present: &Present<'a>,
    shape: &[u64],
    options: &GribOptions,
) -> Result<Option<Payload<'a>>> {
    let mut placed_by = present.bitmap;
    let (integers, packing, source) = match representation {
        Representation::Complex(packing, complex) => {
            let decoded = complex.decode(field.data(), present.count, &options.limits)?;
            let encoded = complex.encode(&decoded.integers, decoded.groups)?;
            let is_given = encoded.is_some_and(|encoded| encoded == field.data());
            let source = if is_given {
                let lengths = complex.lengths(&decoded.integers, decoded.groups)?;
                Source::Groups(lengths.map_or(Kept::Head(decoded.groups), Kept::Lengths))
            } else {
                Source::Data
            };
            (decoded.integers, packing, source)
        }
        Representation::Picture(packing, codec) => {
            (picture::integers(*codec, field, present.count, &options.limits)?, packing, Source::Data)
        }
        Representation::Runs(packing, runs) => {
            let integers = runs.decode(field.data(), present.count, &options.limits)?;
            let is_given = runs.encode(&integers)?.is_some_and(|made| gives(field, &made));
            (integers, packing, if is_given { Source::Payload } else { Source::Data })
        }
        Representation::SecondOrder(packing, order) => {
            let places = Places { bitmap: present.bitmap, points: present.points, count: present.count };
            let decoded = order.decode(field.data(), places, &options.limits)?;
            let encoded = order.encode(&decoded.integers, places, decoded.head)?;
            let source = if encoded.is_some_and(|made| gives(field, &made)) {
                let lengths = order.lengths(&decoded.integers, decoded.head)?;
                Source::Groups(lengths.map_or(Kept::head(decoded.head), Kept::lengths))
            } else {
                Source::Data
            };
            if order.is_to_and_fro() {
                placed_by = None;
                (order.turned(&decoded.integers, places, &options.limits)?, packing, source)
            } else {
                (decoded.integers, packing, source)
            }
        }
        _ => return Ok(None),
    };
    if has_negative(&integers) {
        return plain(&integers, packing, &Present { bitmap: placed_by, ..*present }, shape).map(Some);
    }
    let packing = with_bits(*packing, &integers);
    let mut descriptor = descriptor(&Representation::Simple(packing), shape);
    let each = placed(&integers, placed_by, present.points);
    let (region, gaps) = payload::pack(each, present.points, packing.bits_per_value, &mut descriptor)?;
    Ok(Some(Payload { descriptor, region: region.into(), gaps, source, packing: Some(packing) }))
}

/// The payload of integers of which some are negative, which no packing has: their values. Section 7 is kept whole.
fn plain<'a>(integers: &[i64], packing: &Packing, present: &Present<'_>, shape: &[u64]) -> Result<Payload<'a>> {
    let formula = packing.formula();
    let mut region = Vec::new();
    reserve_more(&mut region, containers_len(present.points, size_of::<f64>())?)?;
    let mut gaps = Writer::new(packed_len(present.points, 1)?)?;
    let mut has_gaps = false;
    for integer in at_points(integers.iter().map(|integer| Some(*integer)), present.bitmap, present.points) {
        let integer = integer.filter(|integer| *integer != NONE);
        has_gaps |= integer.is_none();
        gaps.put(integer.is_none().into(), 1);
        #[expect(clippy::cast_precision_loss, reason = "it is within 2^53")]
        let value = integer.map_or(0.0, |integer| formula.value_of(integer as f64));
        region.extend_from_slice(&value.to_be_bytes());
    }
    Ok(Payload {
        descriptor: DataObjectDescriptor::new(Dtype::Float64, ByteOrder::Big, shape),
        region: region.into(),
        gaps: has_gaps.then(|| gaps.finish()),
        source: Source::Data,
        packing: Some(*packing),
    })
}

/// Intervals of a stream that are always listed.
const FEW_INTERVALS: u64 = 4096;

/// The payload, and whether it gives section 7 back.
fn payload<'a>(
    field: &Field<'a>,
    representation: &Representation,
    present: &Present<'_>,
    descriptor: &mut DataObjectDescriptor,
    options: &GribOptions,
) -> Result<(Cow<'a, [u8]>, bool)> {
    let (data, bits) = (field.data(), representation.bits());
    let Present { points, bitmap, count, .. } = *present;
    let len = packed_len(count, bits)?;
    let (dense, is_given) = if let Representation::Ccsds(_, ccsds) = representation {
        if len > 0 && data.is_empty() {
            return Err(short(field, 1));
        }
        let is_verbatim = bitmap.is_none() && Ccsds::is_in_format(bits) && count > 0;
        let params = ccsds.params(bits)?;
        if is_verbatim && options.check_streams {
            stream::decompress((data, field.data.offset() + HEAD_LEN), &params, count, &options.limits)?;
        }
        if is_verbatim {
            descriptor.compression = Compression::Szip.name().to_string();
            descriptor.set_param(Key::SzipRsi, ccsds.rsi);
            descriptor.set_param(Key::SzipBlockSize, ccsds.block_size);
            descriptor.set_param(Key::SzipFlags, ccsds.flags);
            // Parts of the field are read by these. A damaged stream has none, and one of very short intervals, whose list would be
            // as long as itself.
            let is_short = params.rsi_count(count) <= FEW_INTERVALS + data.len() as u64 / 64;
            let offsets = || RsiOffsets::new(data, &params, count).collect::<Result<Vec<u64>, _>>().ok();
            if let Some(offsets) = is_short.then(offsets).flatten() {
                descriptor.set_param(Key::SzipBlockOffsets, offsets.into_iter().map(Value::from).collect::<Vec<_>>());
            }
            return Ok((data.into(), true));
        }
        let containers = stream::decompress((data, field.data.offset() + HEAD_LEN), &params, count, &options.limits)?;
        let is_given = stream::compress(&containers, &params)? == data;
        (Cow::Owned(from_containers(&containers, bits, params.container_size())?), is_given)
    } else {
        let dense = data.get(..len).ok_or_else(|| short(field, len))?;
        let rest = data.get(len..).unwrap_or_default();
        // Section 4 of edition 1 states a length of its own, up to which the way back writes zeros.
        let is_given = if field.second.is_none() { rest.iter().all(|byte| *byte == 0) } else { rest.is_empty() };
        (Cow::Borrowed(dense), is_given && has_no_spare_bits(dense, bits, count))
    };
    let region = match (representation, bitmap) {
        (Representation::Ieee(_), Some(_)) => {
            payload::floats(at_points(each(&dense, bits), bitmap, points), points, bits, descriptor)?.into()
        }
        (Representation::Ccsds(..), _) | (_, Some(_)) => {
            let each = at_points(each(&dense, bits), bitmap, points);
            payload::pack(each, points, bits, descriptor)?.0.into()
        }
        (Representation::Simple(_), None) if !options.keep_stages => match dense {
            Cow::Borrowed(dense) => payload::pack_dense(dense, points, bits, descriptor)?,
            owned @ Cow::Owned(_) => owned,
        },
        _ => dense,
    };
    Ok((region, is_given))
}

/// Whether the bits after `count` integers of `bits` bits are 0. Other codecs do not keep them.
fn has_no_spare_bits(dense: &[u8], bits: u32, count: u64) -> bool {
    let used = count.wrapping_mul(bits.into()) % 8;
    used == 0 || dense.last().is_none_or(|last| last << used == 0)
}

fn short(field: &Field<'_>, needed: usize) -> TensogramError {
    let kind = GribErrorKind::ShortData { needed: needed as u64, found: field.data().len() as u64 };
    kind.at(field.data.offset()).into()
}

/// Appends the mask of NaN to the payload.
fn place_mask(
    gaps: Vec<u8>,
    points: u64,
    descriptor: &mut DataObjectDescriptor,
    region: &mut Vec<u8>,
    options: &GribOptions,
) -> Result<()> {
    let (mut metadata, blobs): (MasksMetadata, _) = store_masks(&vec![(MaskKind::Nan, gaps)], points, &options.encode)?;
    metadata.nan.iter_mut().for_each(|mask| mask.offset += region.len() as u64);
    reserve_more(region, blobs.len())?;
    region.extend_from_slice(&blobs);
    descriptor.masks = Some(metadata);
    Ok(())
}

/// The sections in front of the data that the field does not share with the one before it.
fn sections<'a>(message: Message<'a>, field: &Field<'a>) -> Result<Vec<&'a [u8]>> {
    let points = field.point_count()?;
    // The mask has more gaps than the bitmap then.
    let has_missing = field.stored()?.has_missing();
    if message.is_first_edition() {
        return Ok(edition1::kept(field, points, !has_missing));
    }
    let head = message.as_bytes().get(..field.data.offset()).unwrap_or_default();
    let (mut at, mut sections) = (field.start, Vec::new());
    if at == 0 {
        sections.extend(head.get(..INDICATOR_LEN));
        at = INDICATOR_LEN;
    }
    while at < head.len() {
        let section = Section::parse(head.get(at..).unwrap_or_default(), at)?;
        at += section.as_bytes().len();
        sections.push(if section.number() == 6 && !has_missing {
            without_bits(section, points)
        } else {
            section.as_bytes()
        });
    }
    Ok(sections)
}

/// Section 6 without its bits, if the mask gives them back: nothing follows them, and spare bits are 0.
fn without_bits(section: Section<'_>, points: u64) -> &[u8] {
    let all = section.as_bytes();
    let Some((head, bits)) = all.split_at_checked(BITMAP_HEAD_LEN) else { return all };
    let is_whole = bits.len() as u64 == points.div_ceil(8);
    let is_given = head.last() == Some(&0) && is_whole && bits == inverted(&inverted(bits, points), points);
    if is_given { head } else { all }
}

/// The note on a decimal scale: how far the two formulas can be apart.
fn decimal_note(field: usize, packing: &Packing) -> Option<Note> {
    if packing.decimal_scale_factor == 0 || packing.bits_per_value == 0 {
        return None;
    }
    let greatest = 2_f64.powi(i32::try_from(packing.bits_per_value).unwrap_or(0)) - 1.0;
    // Each formula rounds a power, its product, and a sum: three times half a unit at most, on either side.
    let bound = (packing.reference_value.abs() + packing.scale() * greatest) * 4.0 * f64::EPSILON;
    Some(Note::DecimalScale { field, bound })
}
