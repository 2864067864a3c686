//! Encoded objects decode to their input, buffered or streamed, and pass validation. Lossless pipelines keep every bit;
//! others stay within their bound.

use tgm_core::descriptor::ZfpMode;
use tgm_std::codec::ErrorBound;
use tgm_std::{
    AggregateHashPolicy, ByteOrder, DataObjectDescriptor, DecodeOptions, Dtype, EncodeOptions, MaskMethod,
    MessageBuilder, ObjectBuilder, ValidateOptions, ValidationLevel, ValueOrder, decode, decode_descriptors, scan,
    validate_message,
};

use crate::given::Given;
use crate::{limits, options, provenance};

/// zfp's tolerance.
const TOLERANCE: f64 = 0.125;

/// Encodes `bytes` as objects. The last bytes say as which.
pub fn check(bytes: &[u8]) {
    let mut given = Given(bytes);
    let encoding = encoding(&mut given);
    let streamed = given.byte() & 1 == 1;
    let objects: Vec<Input> = (0..given.up_to(2)).map(|_| Input::new(&mut given)).collect();
    let mut message = MessageBuilder::new().options(encoding.clone()).extra("n", objects.len() as u64);
    for input in &objects {
        message = message.object(input.builder());
    }
    let written = if streamed { message.stream_to(Vec::new()) } else { message.encode() };
    let Ok(written) = written else {
        assert!(!objects.iter().all(Input::must_be_written), "{objects:?}: {:?}", written.err());
        return;
    };
    assert_eq!(scan(&written), [(0, written.len())]);
    let as_stored = DecodeOptions { native_byte_order: false, verify_hash: encoding.hashing, ..options() };
    let (_, decoded) = decode(&written, &as_stored).expect("just written");
    let (_, descriptors) = decode_descriptors(&written).expect("just written");
    assert_eq!(decoded.len(), objects.len());
    for ((input, (descriptor, values)), again) in objects.iter().zip(&decoded).zip(&descriptors) {
        assert_eq!(descriptor.shape, again.shape);
        input.assert_kept(descriptor, values);
    }
    let asked =
        ValidateOptions { max_level: ValidationLevel::Fidelity, limits: limits(), ..ValidateOptions::default() };
    let report = validate_message(&written, &asked);
    // Packing and zfp may make infinities of finite values.
    assert!(report.is_ok() || !objects.iter().all(Input::is_lossless), "{report:?}");
}

fn encoding(given: &mut Given<'_>) -> EncodeOptions {
    let methods =
        [MaskMethod::Rle, MaskMethod::Roaring, MaskMethod::Zstd { level: None }, MaskMethod::Lz4, MaskMethod::None];
    let mut method = || methods[usize::from(given.byte()) % methods.len()].clone();
    let (nan_mask_method, pos_inf_mask_method, neg_inf_mask_method) = (method(), method(), method());
    EncodeOptions {
        hashing: given.byte() & 1 == 0,
        allow_nan: true,
        allow_inf: true,
        nan_mask_method,
        pos_inf_mask_method,
        neg_inf_mask_method,
        small_mask_threshold_bytes: given.choice(&[0, 128]),
        aggregate_hash: given.choice(&[
            AggregateHashPolicy::Auto,
            AggregateHashPolicy::None,
            AggregateHashPolicy::Footer,
        ]),
        // The values are any bytes: their byte order must not be judged by them.
        value_order: ValueOrder::Declared,
        provenance: Some(provenance()),
        ..EncodeOptions::default()
    }
}

/// How values are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pipeline {
    Plain,
    Zstd,
    Lz4,
    Szip,
    ShuffledZstd,
    ShuffledSzip,
    Packed(u32),
    PackedLz4(u32),
    PackedSzip(u32),
    Zfp,
    Sz3,
    Rle,
    Roaring,
}

/// An object to be encoded.
#[derive(Debug)]
struct Input {
    descriptor: DataObjectDescriptor,
    data: Vec<u8>,
    pipeline: Pipeline,
}

impl Input {
    fn new(given: &mut Given<'_>) -> Self {
        use Pipeline as P;
        let order = given.choice(&[ByteOrder::Little, ByteOrder::Big]);
        let bits = 1 + u32::from(given.byte()) % 32;
        let pipeline = given.choice(&[
            P::Plain,
            P::Zstd,
            P::Lz4,
            P::Szip,
            P::ShuffledZstd,
            P::ShuffledSzip,
            P::Packed(bits),
            P::PackedLz4(bits),
            P::PackedSzip(bits),
            P::Zfp,
            P::Sz3,
            P::Rle,
            P::Roaring,
        ]);
        let dtype = match pipeline {
            P::Packed(_) | P::PackedLz4(_) | P::PackedSzip(_) | P::Zfp | P::Sz3 => Dtype::Float64,
            P::Rle | P::Roaring => Dtype::Bitmask,
            P::Szip => given.choice(&[Dtype::Uint8, Dtype::Int16, Dtype::Float32]),
            _ => given.choice(&Dtype::ALL),
        };
        // Half of the rest, so that a second object has values too.
        let (taken, rest) = given.0.split_at(given.0.len() / 2);
        *given = Given(rest);
        let rows = u64::from(given.byte() % 4);
        let count = match dtype.byte_width() {
            0 => 8 * taken.len() as u64,
            width => (taken.len() / width) as u64,
        };
        let shape = if rows > 0 && count.is_multiple_of(rows) { vec![rows, count / rows] } else { vec![count] };
        let len = usize::try_from(dtype.byte_len(count).expect("small")).expect("small");
        Self { descriptor: DataObjectDescriptor::new(dtype, order, &shape), data: taken[..len].to_vec(), pipeline }
    }

    fn builder(&self) -> ObjectBuilder<'_> {
        use Pipeline as P;
        let object = ObjectBuilder::from_parts(self.descriptor.clone(), &self.data[..]).metadata("k", 1);
        match self.pipeline {
            P::Plain => object,
            P::Zstd => object.zstd(1),
            P::Lz4 => object.lz4(),
            P::Szip => object.szip(),
            P::ShuffledZstd => object.shuffle().zstd(1),
            P::ShuffledSzip => object.shuffle().szip(),
            P::Packed(bits) => object.simple_packing(bits),
            P::PackedLz4(bits) => object.simple_packing(bits).lz4(),
            P::PackedSzip(bits) => object.simple_packing(bits).szip(),
            P::Zfp => object.zfp(ZfpMode::FixedAccuracy(TOLERANCE)),
            P::Sz3 => object.sz3(ErrorBound::Absolute(0.0)),
            P::Rle => object.rle(),
            P::Roaring => object.roaring(),
        }
    }

    const fn is_lossless(&self) -> bool {
        use Pipeline as P;
        !matches!(self.pipeline, P::Packed(_) | P::PackedLz4(_) | P::PackedSzip(_) | P::Zfp)
    }

    /// Whether encoding must succeed. Other pipelines may refuse values that they cannot hold, or would change too
    /// much.
    fn must_be_written(&self) -> bool {
        matches!(self.pipeline, Pipeline::Plain | Pipeline::Zstd | Pipeline::Lz4)
    }

    /// Asserts that the values equal the input.
    fn assert_kept(&self, descriptor: &DataObjectDescriptor, values: &[u8]) {
        assert_eq!((descriptor.dtype, &descriptor.shape), (self.descriptor.dtype, &self.descriptor.shape));
        assert_eq!(values.len(), self.data.len());
        if self.is_lossless() {
            // A mask keeps that a value is NaN, but not its bits.
            let is_masked = descriptor.masks.is_some();
            assert!(is_masked || values == self.data, "{:?}", self.pipeline);
            if is_masked && descriptor.dtype == Dtype::Float64 {
                let mut pairs = self.doubles(values).zip(self.doubles(&self.data));
                assert!(pairs.all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()));
            }
            return;
        }
        let bound = self.bound(descriptor);
        // zfp has 64 bits for the four values of a block: values that differ too much exceed the tolerance.
        let is_moderate = |value: f64| value == 0.0 || (1e-6..1e12).contains(&value.abs());
        if self.pipeline == Pipeline::Zfp && !self.doubles(&self.data).all(is_moderate) {
            return;
        }
        for (kept, put_in) in self.doubles(values).zip(self.doubles(&self.data)) {
            if put_in.is_finite() && put_in.abs() < 1e100 {
                let error = (kept - put_in).abs();
                assert!(error <= bound + put_in.abs() * 1e-14, "{kept} of {put_in}, {bound}, {:?}", self.pipeline);
            } else {
                assert!(put_in.is_finite() || kept.is_nan() == put_in.is_nan() && (kept == put_in || kept.is_nan()));
            }
        }
    }

    /// The largest change of a value.
    fn bound(&self, descriptor: &DataObjectDescriptor) -> f64 {
        if self.pipeline == Pipeline::Zfp {
            return TOLERANCE;
        }
        let number = |name: &str| descriptor.params[name].as_integer().and_then(|n| i32::try_from(n).ok());
        let exponent = |name| number(name).expect("what the encoder derived");
        2_f64.powi(exponent("sp_binary_scale_factor")) * 10_f64.powi(-exponent("sp_decimal_scale_factor"))
    }

    fn doubles<'v>(&self, values: &'v [u8]) -> impl Iterator<Item = f64> + 'v {
        let order = self.descriptor.byte_order;
        values.as_chunks().0.iter().map(move |bytes| match order {
            ByteOrder::Big => f64::from_be_bytes(*bytes),
            ByteOrder::Little => f64::from_le_bytes(*bytes),
        })
    }
}
