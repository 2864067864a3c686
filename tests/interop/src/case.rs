//! A message to be written, described in the format's terms and in types of neither library.

use std::collections::BTreeMap;

use ciborium::Value;

use crate::values::{Dtype, Kind, NonFinite, Order, Pattern, Values};

/// Named values.
pub type Entries = BTreeMap<String, Value>;

/// A message to be written.
#[derive(Clone, Debug)]
pub struct Case {
    /// Metadata of the objects; there may be fewer or more entries than objects.
    pub base: Vec<Entries>,
    /// Annotations of the message.
    pub extra: Entries,
    /// The objects.
    pub objects: Vec<Object>,
    /// How to write.
    pub options: Options,
}

/// One object.
#[derive(Clone, Debug)]
pub struct Object {
    /// The descriptor's `type`.
    pub obj_type: String,
    /// Element type.
    pub dtype: Dtype,
    /// Order of the bytes of `data`.
    pub order: Order,
    /// Dimensions.
    pub shape: Vec<u64>,
    /// An opaque number for each dimension.
    pub strides: Vec<u64>,
    /// First stage.
    pub encoding: Encoding,
    /// Second stage: the element size of a shuffle.
    pub shuffle: Option<u64>,
    /// Third stage.
    pub compression: Compression,
    /// Parameters that no stage reads.
    pub unknown_params: Entries,
    /// The elements.
    pub values: Values,
    /// Which elements are not finite.
    pub non_finite: NonFinite,
    /// The preceder that a streaming encoder writes before the object.
    pub preceder: Option<Entries>,
    /// A deliberate fault in the descriptor or the data.
    pub flaw: Option<Flaw>,
}

/// A deliberate fault.
#[derive(Clone, Debug, PartialEq)]
pub enum Flaw {
    /// One dimension more than the shape has.
    Ndim,
    /// This many bytes of data more or less.
    Length(isize),
    /// The parameter at this place has another value, or is missing.
    Param(usize, Option<Value>),
    /// An extra parameter.
    Extra(String, Value),
    /// Another name of a stage.
    Name(Stage, String),
}

/// A stage of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the format's words")]
pub enum Stage {
    Encoding,
    Filter,
    Compression,
}

/// First stage.
#[derive(Clone, Debug, PartialEq)]
pub enum Encoding {
    /// Bytes as they are.
    None,
    /// Scaled integers of some bits.
    SimplePacking {
        /// Bits per value.
        bits: u64,
        /// Decimal scale, if given.
        decimal: Option<i64>,
        /// Reference value and binary scale, if given.
        given: Option<(f64, i64)>,
    },
}

/// Third stage.
#[derive(Clone, Debug, PartialEq)]
pub enum Compression {
    /// Bytes as they are.
    None,
    /// CCSDS 121.0-B.
    Szip {
        /// Blocks per reference interval.
        rsi: u64,
        /// Samples per block.
        block_size: u64,
        /// Option bits.
        flags: u64,
    },
    /// Zstandard.
    Zstd {
        /// Level, if given.
        level: Option<i64>,
    },
    /// LZ4.
    Lz4,
    /// A blosc2 frame.
    Blosc2 {
        /// Codec inside, if given.
        codec: Option<&'static str>,
        /// Level, if given.
        level: Option<i64>,
    },
    /// zfp.
    Zfp(Zfp),
    /// SZ3: mode and bound.
    Sz3(&'static str, f64),
    /// Runs of bits.
    Rle,
    /// A roaring bitmap.
    Roaring,
}

/// Modes of zfp.
#[derive(Clone, Debug, PartialEq)]
pub enum Zfp {
    /// Bits per value.
    Rate(f64),
    /// Bit planes.
    Precision(u64),
    /// Absolute error.
    Tolerance(f64),
}

impl Compression {
    /// The wire name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Szip { .. } => "szip",
            Self::Zstd { .. } => "zstd",
            Self::Lz4 => "lz4",
            Self::Blosc2 { .. } => "blosc2",
            Self::Zfp(_) => "zfp",
            Self::Sz3(..) => "sz3",
            Self::Rle => "rle",
            Self::Roaring => "roaring",
        }
    }

    /// Whether values are restored to the bit.
    pub const fn is_lossless(&self) -> bool {
        !matches!(self, Self::Zfp(_) | Self::Sz3(..))
    }

    fn params(&self) -> Vec<(&'static str, Value)> {
        let given = |name, value: &Option<i64>| value.map(|value| (name, Value::from(value)));
        match self {
            Self::None | Self::Lz4 | Self::Rle | Self::Roaring => Vec::new(),
            Self::Szip { rsi, block_size, flags } => vec![
                ("szip_rsi", Value::from(*rsi)),
                ("szip_block_size", Value::from(*block_size)),
                ("szip_flags", Value::from(*flags)),
            ],
            Self::Zstd { level } => given("zstd_level", level).into_iter().collect(),
            Self::Blosc2 { codec, level } => {
                let codec = codec.map(|codec| ("blosc2_codec", Value::from(codec)));
                codec.into_iter().chain(given("blosc2_clevel", level)).collect()
            }
            Self::Zfp(mode) => {
                let (mode, name, value) = match *mode {
                    Zfp::Rate(rate) => ("fixed_rate", "zfp_rate", Value::from(rate)),
                    Zfp::Precision(planes) => ("fixed_precision", "zfp_precision", Value::from(planes)),
                    Zfp::Tolerance(error) => ("fixed_accuracy", "zfp_tolerance", Value::from(error)),
                };
                vec![("zfp_mode", Value::from(mode)), (name, value)]
            }
            Self::Sz3(mode, bound) => {
                vec![("sz3_error_bound_mode", Value::from(*mode)), ("sz3_error_bound", Value::from(*bound))]
            }
        }
    }
}

impl Object {
    /// The product of the dimensions.
    pub fn element_count(&self) -> usize {
        usize::try_from(self.shape.iter().product::<u64>()).expect("small shapes")
    }

    /// The data for the encoder.
    pub fn data(&self) -> Vec<u8> {
        let mut data = self.values.bytes(self.dtype, self.order, self.element_count(), &self.non_finite);
        if let Some(Flaw::Length(more)) = self.flaw {
            data.resize(data.len().saturating_add_signed(more), 0);
        }
        data
    }

    /// The values that a decoder must give in `order`, if the pipeline is lossless: the input, except for the bits of
    /// NaN.
    pub fn truth(&self, order: Order, restored: bool) -> Option<Vec<u8>> {
        let lossless = self.encoding == Encoding::None && self.compression.is_lossless();
        let pattern = if restored { Pattern::Canonical } else { Pattern::Zero };
        lossless.then(|| self.bytes_with(order, pattern))
    }

    /// The elements as compressors see them: zeros in place of non-finite values.
    pub fn zeroed(&self, order: Order) -> Vec<u8> {
        self.bytes_with(order, Pattern::Zero)
    }

    fn bytes_with(&self, order: Order, pattern: Pattern) -> Vec<u8> {
        self.values.bytes_with(self.dtype, order, self.element_count(), &self.non_finite, pattern)
    }

    /// The parameters that descriptors carry.
    pub fn params(&self) -> Entries {
        let mut params = self.unknown_params.clone();
        let mut put = |name: &str, value: Value| params.insert(name.into(), value);
        if let Encoding::SimplePacking { bits, decimal, given } = &self.encoding {
            put("sp_bits_per_value", Value::from(*bits));
            if let Some(decimal) = decimal {
                put("sp_decimal_scale_factor", Value::from(*decimal));
            }
            if let Some((reference, binary)) = given {
                put("sp_reference_value", Value::from(*reference));
                put("sp_binary_scale_factor", Value::from(*binary));
            }
        }
        if let Some(size) = self.shuffle {
            put("shuffle_element_size", Value::from(size));
        }
        for (name, value) in self.compression.params() {
            put(name, value);
        }
        match &self.flaw {
            Some(Flaw::Extra(name, value)) => put(name, value.clone()),
            Some(Flaw::Param(at, value)) if !params.is_empty() => {
                let name = params.keys().nth(at % params.len()).cloned().unwrap_or_default();
                match value {
                    Some(value) => params.insert(name, value.clone()),
                    None => params.remove(&name),
                }
            }
            _ => None,
        };
        params
    }

    /// Bits per packed value; 0 if nothing is packed.
    pub const fn packed_bits(&self) -> u64 {
        match self.encoding {
            Encoding::None => 0,
            Encoding::SimplePacking { bits, .. } => bits,
        }
    }

    /// The wire name of the first stage.
    pub const fn encoding_name(&self) -> &'static str {
        match self.encoding {
            Encoding::None => "none",
            Encoding::SimplePacking { .. } => "simple_packing",
        }
    }

    /// The wire name of the second stage.
    pub const fn filter_name(&self) -> &'static str {
        if self.shuffle.is_some() { "shuffle" } else { "none" }
    }
}

impl Case {
    /// One object of little-endian numbers and nothing else.
    pub fn of_numbers(count: u64, kind: Kind, compression: Compression) -> Self {
        let object = Object {
            obj_type: "ntensor".into(),
            dtype: Dtype::Float64,
            order: Order::Little,
            shape: vec![count],
            strides: vec![1],
            encoding: Encoding::None,
            shuffle: None,
            compression,
            unknown_params: Entries::new(),
            values: Values { kind, seed: 1 },
            non_finite: NonFinite::None,
            preceder: None,
            flaw: None,
        };
        let options = Options {
            hashing: true,
            aggregate: Aggregate::Auto,
            allow_nan: false,
            allow_inf: false,
            methods: [Method::Roaring; 3],
            small_mask_threshold: 128,
        };
        Self { base: Vec::new(), extra: Entries::new(), objects: vec![object], options }
    }

    /// The bytes of the objects.
    pub fn data(&self) -> Vec<Vec<u8>> {
        self.objects.iter().map(Object::data).collect()
    }

    /// The same case without a list of digests in the header: a streaming encoder writes the header before it knows
    /// digests.
    #[must_use]
    pub fn streamable(mut self) -> Self {
        self.options.aggregate = match self.options.aggregate {
            Aggregate::Header => Aggregate::Auto,
            Aggregate::Both => Aggregate::Footer,
            other => other,
        };
        self
    }
}

/// How to write.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether digests are written.
    pub hashing: bool,
    /// Where the list of digests goes.
    pub aggregate: Aggregate,
    /// Whether NaN is masked.
    pub allow_nan: bool,
    /// Whether infinities are masked.
    pub allow_inf: bool,
    /// How masks of NaN, +∞ and −∞ are stored.
    pub methods: [Method; 3],
    /// Masks of at most this many bytes are stored as they are.
    pub small_mask_threshold: usize,
}

/// Where the list of digests goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the format's words")]
pub enum Aggregate {
    Auto,
    None,
    Header,
    Footer,
    Both,
}

/// How a mask is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the format's words")]
pub enum Method {
    None,
    Rle,
    Roaring,
    Lz4,
    Zstd(Option<i32>),
    Blosc2(&'static str, i32),
}
