//! Any bytes as values: encoded objects decode to their input, buffered or streamed, and pass validation. Lossless
//! pipelines keep every bit; others stay within their bound.

use tgm_arbitrary::arbitrary::{Arbitrary, Result, Unstructured};
use tgm_arbitrary::{Any, Object, Pipeline, any};
use tgm_core::descriptor::Encoding;
use tgm_std::{
    AggregateHashPolicy, ByteOrder, DataObjectDescriptor, DecodeOptions, Dtype, EncodeOptions, MessageBuilder,
    ObjectBuilder, ValidateOptions, ValidationLevel, decode, decode_descriptors, scan, validate_message,
};

use crate::{limits, options};

/// Encodes `bytes` as objects. Some of them say as which.
pub fn check(bytes: &[u8]) {
    let input = Input::arbitrary(&mut Unstructured::new(bytes)).expect("no bytes are refused");
    let Input { encoding, streamed, objects } = &input;
    let mut message = MessageBuilder::new().options(encoding.clone()).extra("n", objects.len() as u64);
    for object in objects {
        let builder = ObjectBuilder::from_parts(object.descriptor.clone(), &object.data[..]);
        message = message.object(builder.metadata("k", 1));
    }
    let written = if *streamed { message.stream_to(Vec::new()) } else { message.encode() };
    let Ok(written) = written else {
        assert!(!objects.iter().all(|object| object.pipeline.takes_any_values()), "{objects:?}: {:?}", written.err());
        return;
    };
    assert_eq!(scan(&written), [(0, written.len())]);
    let as_stored = DecodeOptions { native_byte_order: false, verify_hash: encoding.hashing, ..options() };
    let (_, decoded) = decode(&written, &as_stored).expect("just written");
    let (_, descriptors) = decode_descriptors(&written).expect("just written");
    assert_eq!(decoded.len(), objects.len());
    for ((object, (descriptor, values)), again) in objects.iter().zip(&decoded).zip(&descriptors) {
        assert_eq!(descriptor.shape, again.shape);
        let is_kept = !has_bound(object) || object.is_kept(descriptor, values);
        assert!(is_kept, "{object:?}: {descriptor:?}, {values:?}");
    }
    let asked =
        ValidateOptions { max_level: ValidationLevel::Fidelity, limits: limits(), ..ValidateOptions::default() };
    let report = validate_message(&written, &asked);
    // Packing and zfp may make infinities of finite values.
    assert!(report.is_ok() || !objects.iter().all(|object| object.pipeline.is_lossless()), "{report:?}");
}

/// What is encoded, and how.
struct Input {
    encoding: EncodeOptions,
    streamed: bool,
    objects: Vec<Object>,
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let (Any(mut encoding), streamed): (Any<EncodeOptions>, bool) = u.arbitrary()?;
        if streamed && matches!(encoding.aggregate_hash, AggregateHashPolicy::Header | AggregateHashPolicy::Both) {
            encoding.aggregate_hash = AggregateHashPolicy::Footer;
        }
        let objects = (0..u.int_in_range(0..=2_u8)?).map(|_| object(u)).collect::<Result<_>>()?;
        Ok(Self { encoding, streamed, objects })
    }
}

/// An object of half of the bytes that are left, so that a second one has values too.
fn object(u: &mut Unstructured<'_>) -> Result<Object> {
    let dtype = if u.ratio(2_u8, 5)? { Dtype::Float64 } else { any(u)? };
    let (order, pipeline): (ByteOrder, _) = (any(u)?, Pipeline::for_dtype(dtype, u)?);
    let rows = u.int_in_range(0..=3_u64)?;
    let taken = u.bytes(u.len() / 2)?;
    let count = match dtype.byte_width() {
        0 => 8 * taken.len() as u64,
        width => (taken.len() / width) as u64,
    };
    let shape = if rows > 0 && count.is_multiple_of(rows) { vec![rows, count / rows] } else { vec![count] };
    let len = usize::try_from(dtype.byte_len(count).expect("small")).expect("small");
    let plain = DataObjectDescriptor::new(dtype, order, &shape);
    Ok(Object::new(plain, taken[..len].to_vec(), pipeline).expect("widths of packed values are in range"))
}

/// Whether the pipeline states how much these values may change.
fn has_bound(object: &Object) -> bool {
    // zfp has 64 bits for the four values of a block: values that differ too much exceed the tolerance.
    let is_moderate = |value: f64| match object.descriptor.encoding == Encoding::SimplePacking.name() {
        true => value.abs() < 1e100,
        false => value == 0.0 || (1e-6..1e12).contains(&value.abs()),
    };
    object.pipeline.is_lossless() || doubles(object).all(|value| !value.is_finite() || is_moderate(value))
}

fn doubles(object: &Object) -> impl Iterator<Item = f64> {
    let order = object.descriptor.byte_order;
    object.data.as_chunks().0.iter().map(move |bytes| match order {
        ByteOrder::Big => f64::from_be_bytes(*bytes),
        ByteOrder::Little => f64::from_le_bytes(*bytes),
    })
}
