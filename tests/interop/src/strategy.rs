//! Random cases; a failing one shrinks towards simple ones.
//!
//! Most objects are adjusted so that their stages fit together; some are left as they were drawn, to be refused.

use ciborium::Value;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::HAS_BLOSC2;
use crate::case::{Aggregate, Case, Compression, Encoding, Entries, Flaw, Method, Object, Options, Stage, Zfp};
use crate::known;
use crate::metadata;
use crate::values::{Dtype, Kind, NonFinite, Order, Values};

/// Whole messages with the codecs of this build.
pub fn cases() -> BoxedStrategy<Case> {
    cases_of(HAS_BLOSC2)
}

/// Whole messages with blosc2, or with all other codecs.
pub fn cases_of(blosc2: bool) -> BoxedStrategy<Case> {
    let objects = prop_oneof![8 => vec(objects(blosc2), 1), 3 => vec(objects(blosc2), 0..4)];
    let base = prop_oneof![3 => Just(Vec::new()), 2 => vec(metadata::entries(), 0..4)];
    (objects, base, metadata::entries(), options(blosc2), 0_u8..16)
        .prop_map(|(objects, mut base, extra, options, fit)| {
            if fit > 0 {
                base.truncate(objects.len());
            }
            Case { base, extra, objects, options }
        })
        .boxed()
}

/// One object.
fn objects(blosc2: bool) -> BoxedStrategy<Object> {
    let what = (select(&Dtype::ALL[..]), prop_oneof![Just(Order::Little), Just(Order::Big)], shapes());
    let stages = (encodings(), option::weighted(0.25, shuffle_sizes()), compressions(blosc2));
    let content = (select(&Kind::ALL[..]), any::<u64>(), non_finite());
    let rest = (
        option::weighted(0.2, vec(any::<u64>(), 4)),
        prop_oneof![6 => Just("ntensor".to_owned()), 1 => Just("ndarray".to_owned()), 1 => "\\PC{1,9}"],
        prop_oneof![4 => Just(Entries::new()), 1 => metadata::unknown_params()],
        option::weighted(0.3, metadata::entries()),
    );
    (what, stages, content, rest, 0_u8..8)
        .prop_map(|((dtype, order, shape), (encoding, shuffle, compression), (kind, seed, non_finite), rest, fit)| {
            let (strides, obj_type, unknown_params, preceder) = rest;
            let strides = strides.map_or_else(|| row_major(&shape), |strides| strides[..shape.len()].to_vec());
            let values = Values { kind, seed };
            let mut object = Object {
                obj_type,
                dtype,
                order,
                shape,
                strides,
                encoding,
                shuffle,
                compression,
                unknown_params,
                values,
                non_finite,
                preceder,
                flaw: None,
            };
            if fit > 0 {
                make_fit(&mut object);
            }
            if known::ends_the_process(&object)
                && let Encoding::SimplePacking { bits, .. } = &mut object.encoding
            {
                *bits = bits.next_multiple_of(8);
            }
            object
        })
        .boxed()
}

/// Messages of one object, most of them with a deliberate fault.
pub fn flawed_cases() -> BoxedStrategy<Case> {
    let reserved = || Entries::from([("_reserved_".to_owned(), Value::Map(Vec::new()))]);
    (cases(), objects(HAS_BLOSC2), flaws(), 0_u8..12)
        .prop_map(move |(mut case, mut object, flaw, which)| {
            make_fit(&mut object);
            object.non_finite = NonFinite::None;
            if let Encoding::SimplePacking { bits, .. } = &mut object.encoding {
                *bits = (*bits).min(64);
            }
            object.flaw = Some(flaw).filter(|flaw| !ends_the_process(&object, flaw));
            match which {
                0 => object.strides.push(1),
                1 => object.obj_type.clear(),
                2 => case.base = vec![reserved()],
                3 => case.base = vec![Entries::new(); 2],
                4 => object.preceder = Some(reserved()),
                5 => object.shape = vec![1 << 40, 1 << 40],
                _ => {}
            }
            if which < 6 {
                object.flaw = None;
            }
            if which == 5 {
                object.strides = vec![1, 1];
            }
            case.objects = vec![object];
            case
        })
        .boxed()
}

/// Whether the fault may end the process: with a rate below 0 the reference asks for more memory than there is.
fn ends_the_process(object: &Object, flaw: &Flaw) -> bool {
    let is_integer = matches!(flaw, Flaw::Param(_, Some(Value::Integer(_) | Value::Float(_))));
    matches!(object.compression, Compression::Zfp(_)) && is_integer
}

fn flaws() -> BoxedStrategy<Flaw> {
    let values = vec![
        Value::from(-1),
        Value::from(0),
        Value::from(1 << 20),
        Value::from(1_u64 << 40),
        Value::from(3.0),
        Value::from(f64::NAN),
        Value::from(f64::INFINITY),
        Value::from("text"),
        Value::Null,
        Value::Array(Vec::new()),
        Value::Bool(true),
    ];
    let keys = vec!["ndim", "shape", "dtype", "masks", "type", "szip_block_offsets", "sp_reference_value"];
    let stages = select(vec![Stage::Encoding, Stage::Filter, Stage::Compression]);
    let names = select(vec!["", "NONE", "nothing", "zstd", "shuffle", "simple_packing"]).prop_map(str::to_owned);
    prop_oneof![
        2 => Just(Flaw::Ndim),
        3 => (-9_isize..9).prop_map(Flaw::Length),
        9 => (any::<usize>(), option::weighted(0.8, select(values.clone()))).prop_map(|(at, value)| Flaw::Param(at, value)),
        3 => (select(keys), select(values)).prop_map(|(key, value)| Flaw::Extra(key.to_owned(), value)),
        3 => (stages, names).prop_map(|(stage, name)| Flaw::Name(stage, name)),
    ]
    .boxed()
}

/// Makes the stages fit the dtype and each other.
fn make_fit(object: &mut Object) {
    match &mut object.compression {
        Compression::Rle | Compression::Roaring => {
            object.dtype = Dtype::Bitmask;
            object.encoding = Encoding::None;
            object.shuffle = None;
        }
        Compression::Zfp(_) | Compression::Sz3(..) => {
            object.dtype = Dtype::Float64;
            object.order = Order::NATIVE;
            object.encoding = Encoding::None;
            object.shuffle = None;
        }
        Compression::Szip { flags, .. } => {
            if let Encoding::SimplePacking { bits, .. } = &mut object.encoding {
                *bits = [8, 16, 24, 32][*bits as usize % 4];
                *flags &= !128;
            }
        }
        _ => {}
    }
    if object.encoding != Encoding::None {
        object.dtype = Dtype::Float64;
        if object.values.kind == Kind::Noise || object.values.kind == Kind::Extremes {
            object.values.kind = Kind::Smooth;
        }
        if matches!(object.encoding, Encoding::SimplePacking { given: None, .. }) {
            object.non_finite = NonFinite::None;
        }
    }
    let width = match object.encoding {
        Encoding::None => object.dtype.width(),
        Encoding::SimplePacking { bits, .. } => bits.div_ceil(8) as usize,
    };
    let raw_szip = matches!(object.compression, Compression::Szip { .. }) && object.encoding == Encoding::None;
    if raw_szip && object.dtype == Dtype::Bitmask {
        object.dtype = Dtype::Uint16;
    }
    if raw_szip && object.dtype.width() >= 8 {
        object.shuffle = Some(8);
    }
    if let Some(size) = &mut object.shuffle {
        let len = match object.encoding {
            Encoding::None => object.dtype.byte_len(object.shape.iter().product::<u64>() as usize),
            Encoding::SimplePacking { bits, .. } => (object.shape.iter().product::<u64>() * bits).div_ceil(8) as usize,
        };
        if *size == 0 || !(len as u64).is_multiple_of(*size) {
            *size = if width > 0 && len % width == 0 { width as u64 } else { 1 };
        }
    }
}

fn row_major(shape: &[u64]) -> Vec<u64> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

fn shapes() -> BoxedStrategy<Vec<u64>> {
    let dims = select(vec![2_u64, 1, 3, 4, 5, 7, 8, 0]);
    prop_oneof![
        4 => vec(dims, 0..=4),
        4 => vec(1_u64..=200, 1),
        2 => select(vec![255_u64, 256, 257, 1000, 1024, 1025, 2049, 4096, 5000]).prop_map(|n| vec![n]),
        1 => (1_u64..40, 1_u64..60).prop_map(|(a, b)| vec![a, b, 3]),
        1 => select(vec![16_384_u64, 20_000, 30_011]).prop_map(|n| vec![n]),
    ]
    .boxed()
}

fn encodings() -> BoxedStrategy<Encoding> {
    let bits = prop_oneof![6 => 1_u64..=32, 2 => 33_u64..=64, 1 => Just(0), 1 => Just(65)];
    let given = (-1e4..1e4, prop_oneof![6 => -20_i64..20, 1 => -300_i64..300]);
    let packing = (bits, option::weighted(0.3, -3_i64..4), option::weighted(0.4, given))
        .prop_map(|(bits, decimal, given)| Encoding::SimplePacking { bits, decimal, given });
    prop_oneof![3 => Just(Encoding::None), 1 => packing].boxed()
}

fn shuffle_sizes() -> BoxedStrategy<u64> {
    prop_oneof![8 => select(vec![4_u64, 8, 2, 1, 16, 3, 32]), 1 => Just(0)].boxed()
}

fn compressions(blosc2: bool) -> BoxedStrategy<Compression> {
    let szip = (
        prop_oneof![3 => 1_u64..130, 1 => select(vec![0_u64, 4096, 5000])],
        prop_oneof![8 => select(vec![8_u64, 16, 32, 64]), 1 => select(vec![10_u64, 12, 7, 0])],
        prop_oneof![6 => Just(8_u64), 4 => select(vec![0_u64, 1, 4, 5, 9, 12, 13]), 1 => 0_u64..256],
    )
        .prop_map(|(rsi, block_size, flags)| {
            // Other block sizes need flag 64. Flag 32 is left out: libaec cannot decode what it encodes with it.
            let flags = flags & !32 | if [8, 16, 32, 64].contains(&block_size) { 0 } else { 64 };
            Compression::Szip { rsi, block_size, flags }
        });
    let zstd = option::of(prop_oneof![6 => -5_i64..=19, 1 => select(vec![22_i64, 30, -100])]);
    let zfp = prop_oneof![
        (1_u32..=68).prop_map(|rate| Zfp::Rate(f64::from(rate) - 0.5)),
        (0_u64..=66).prop_map(Zfp::Precision),
        (-60_i32..20).prop_map(|log| Zfp::Tolerance(2_f64.powi(log) * 1.25)),
    ];
    let bound = prop_oneof![4 => (-30_i32..3).prop_map(|log| 2_f64.powi(log)), 1 => Just(0.0)];
    let sz3 = prop_oneof![
        bound.clone().prop_map(|bound| Compression::Sz3("abs", bound)),
        bound.prop_map(|bound| Compression::Sz3("rel", bound)),
        (5_u32..150).prop_map(|psnr| Compression::Sz3("psnr", f64::from(psnr))),
    ];
    let frames = (
        option::weighted(0.8, select(vec!["lz4", "blosclz", "lz4hc", "zlib", "zstd"])),
        option::weighted(0.8, prop_oneof![10 => 0_i64..=9, 1 => select(vec![-1_i64, 10])]),
    )
        .prop_map(|(codec, level)| Compression::Blosc2 { codec, level });
    if blosc2 {
        return prop_oneof![1 => Just(Compression::None), 8 => frames].boxed();
    }
    prop_oneof![
        6 => Just(Compression::None),
        3 => zstd.prop_map(|level| Compression::Zstd { level }),
        3 => Just(Compression::Lz4),
        5 => szip,
        3 => zfp.prop_map(Compression::Zfp),
        3 => sz3,
        2 => Just(Compression::Rle),
        2 => Just(Compression::Roaring),
    ]
    .boxed()
}

fn non_finite() -> BoxedStrategy<NonFinite> {
    let strewn = (prop_oneof![1_u8..20, any::<u8>()], prop_oneof![Just(1_u8), any::<u8>()], 1_u8..8, any::<u64>())
        .prop_map(|(of_256, run, kinds, seed)| NonFinite::Strewn { of_256, run, kinds, seed });
    prop_oneof![4 => Just(NonFinite::None), 3 => strewn, 1 => (0_u8..3).prop_map(NonFinite::All)].boxed()
}

fn options(blosc2: bool) -> BoxedStrategy<Options> {
    let aggregate =
        select(vec![Aggregate::Auto, Aggregate::None, Aggregate::Header, Aggregate::Footer, Aggregate::Both]);
    (
        prop::bool::weighted(0.8),
        aggregate,
        prop::bool::weighted(0.9),
        prop::bool::weighted(0.9),
        [methods(blosc2), methods(blosc2), methods(blosc2)],
        select(vec![128_usize, 0, 1, 16, 100_000]),
    )
        .prop_map(|(hashing, aggregate, allow_nan, allow_inf, methods, small_mask_threshold)| Options {
            hashing,
            aggregate,
            allow_nan,
            allow_inf,
            methods,
            small_mask_threshold,
        })
        .boxed()
}

fn methods(blosc2: bool) -> BoxedStrategy<Method> {
    let frames = (select(vec!["lz4", "blosclz", "lz4hc", "zlib", "zstd"]), -1..12)
        .prop_map(|(codec, level)| Method::Blosc2(codec, level));
    if blosc2 {
        return prop_oneof![1 => Just(Method::Roaring), 6 => frames].boxed();
    }
    prop_oneof![
        2 => Just(Method::Roaring),
        2 => Just(Method::Rle),
        1 => Just(Method::None),
        2 => Just(Method::Lz4),
        1 => Just(Method::Zstd(None)),
        1 => (-3..22).prop_map(|level| Method::Zstd(Some(level))),
    ]
    .boxed()
}
