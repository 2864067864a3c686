//! Every level agrees with core: on streams of the encoder, on damaged ones, and on noise.

use proptest::prelude::*;
use tgm_core::szip::{self, RsiOffsets};

use super::*;
use crate::codecs::szip::compress;
use crate::kernels::packing::store::{Doubles, Singles};

const FORMULA: Formula = Formula { reference: 271.828, scale: 0.0123 };

/// Checks that every level returns and writes what core does.
fn check(stream: &[u8], params: &Params, start: Start, samples: usize) {
    let size = params.container_size();
    let mut expected = vec![0xaa; samples * size];
    let result = szip::decode_from(stream, params, start, &mut expected);
    let mut values = vec![0.5; samples];
    let value_result = szip::decode_packed_with(stream, params, start, FORMULA, &mut values, |value| value);
    for simd in Simd::all() {
        let mut out = vec![0xaa; samples * size];
        assert_eq!(decode_by(simd, stream, params, start, &mut out), result, "{simd:?} {params:?} {start:?}");
        // If samples are left out and an error comes then, the output may hold anything.
        assert!(out == expected || start.skip > 0 && result.is_err(), "{simd:?} {params:?} {start:?} {samples}");

        let mut doubles = vec![0.5; samples];
        let of = decode_packed_by::<Doubles>(simd, stream, params, start, FORMULA, &mut doubles);
        assert_eq!(of, value_result, "{simd:?} {params:?}");
        let mut singles = vec![0.5_f32; samples];
        assert_eq!(decode_packed_by::<Singles>(simd, stream, params, start, FORMULA, &mut singles), value_result);
        if result.is_ok() {
            assert_eq!(doubles, values, "{simd:?} {params:?} {start:?}");
            #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
            let rounded: Vec<f32> = values.iter().map(|value| *value as f32).collect();
            assert_eq!(singles, rounded);
        }
        let mut slots = vec![0.5_f64.to_ne_bytes(); samples];
        assert_eq!(decode_packed_by::<BigEndian>(simd, stream, params, start, FORMULA, &mut slots), value_result);
        assert!(value_result.is_err() || slots.iter().copied().eq(values.iter().map(|value| value.to_be_bytes())));
        assert_eq!(decode_packed_by::<LittleEndian>(simd, stream, params, start, FORMULA, &mut slots), value_result);
        assert!(value_result.is_err() || slots.iter().copied().eq(values.iter().map(|value| value.to_le_bytes())));
    }
}

/// Flags of streams with a predictor.
const USUAL_FLAGS: [u32; 4] = [
    flags::PREPROCESS,
    flags::PREPROCESS | flags::SIGNED,
    flags::PREPROCESS | flags::MSB,
    flags::PREPROCESS | flags::MSB | flags::SIGNED,
];

/// Parameters that are decoded here, and some that are not.
fn any_params() -> impl Strategy<Value = Params> {
    let bits = prop_oneof![4 => prop::sample::select(vec![8_u32, 16, 24, 32]), 1 => 1_u32..=32];
    let rsi = prop_oneof![1_u32..6, Just(16), Just(64), Just(65), Just(128)];
    let block_size = prop::sample::select(vec![8_u32, 16, 32, 64]);
    let flags = prop_oneof![3 => prop::sample::select(USUAL_FLAGS.to_vec()), 1 => 0_u32..64];
    (bits, block_size, rsi, flags).prop_map(|(bits, block_size, rsi, flags)| {
        let flags = if bits > 4 { flags & !flags::RESTRICTED } else { flags };
        Params::new(bits, block_size, rsi, flags).unwrap()
    })
}

/// Samples in stretches: equal ones, small steps, near an end of the range, anything.
fn any_samples() -> impl Strategy<Value = Vec<u32>> {
    let start = prop_oneof![any::<u32>(), 0_u32..9, Just(u32::MAX), Just(1 << 31)];
    let stretch = (1_usize..900, start, 0_u32..33, any::<u64>()).prop_map(|(count, start, scale, seed)| {
        let mut state = seed | 1;
        let step = move |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            start.wrapping_add(u32::try_from(state >> 32).unwrap_or(0).checked_shr(32 - scale).unwrap_or(0))
        };
        (0..count).map(step).collect::<Vec<u32>>()
    });
    prop::collection::vec(stretch, 1..9).prop_map(|stretches| stretches.concat())
}

fn containers(samples: &[u32], params: &Params) -> Vec<u8> {
    let size = params.container_size();
    let container = |sample: &u32| match params.byte_order() {
        ByteOrder::Little => (sample & params.max()).to_le_bytes()[..size].to_vec(),
        ByteOrder::Big => (sample & params.max()).to_be_bytes()[4 - size..].to_vec(),
    };
    samples.iter().flat_map(container).collect()
}

proptest! {
    #[test]
    fn what_the_encoder_writes(
        params in any_params(),
        samples in any_samples(),
        interval in any::<prop::sample::Index>(),
        skip in 0_u32..300,
        tail in 0_usize..80,
    ) {
        let (mut stream, offsets) = compress(&containers(&samples, &params), &params).unwrap();
        prop_assert!(RsiOffsets::new(&stream, &params, samples.len() as u64).map(Result::unwrap).eq(offsets.clone()));
        stream.resize(stream.len() + tail, 0x5a);
        check(&stream, &params, Start::default(), samples.len());
        let index = interval.index(offsets.len());
        let from = index * params.samples_per_rsi().get() as usize;
        let start = Start { bit_offset: offsets[index], skip: skip.into() };
        check(&stream, &params, start, (samples.len() - from).saturating_sub(skip as usize));
    }

    #[test]
    fn what_damage_leaves(
        params in any_params(),
        samples in any_samples(),
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let (mut stream, _) = compress(&containers(&samples, &params), &params).unwrap();
        for (at, with) in hits {
            let at = at.index(stream.len());
            stream[at] ^= with;
        }
        check(&stream, &params, Start::default(), samples.len());
        check(&stream[..cut.index(stream.len())], &params, Start::default(), samples.len());
    }

    #[test]
    fn noise(
        params in any_params(),
        stream in prop::collection::vec(any::<u8>(), 0..900),
        samples in 0_usize..2000,
        skip in 0_u64..99,
    ) {
        check(&stream, &params, Start { bit_offset: 0, skip }, samples);
        // Few ones make long codes, many ones short codes.
        let sparse: Vec<u8> = stream.windows(2).map(|pair| pair[0] & pair[1]).collect();
        check(&sparse, &params, Start { bit_offset: 3, skip }, samples);
        let dense: Vec<u8> = stream.windows(2).map(|pair| pair[0] | pair[1]).collect();
        check(&dense, &params, Start::default(), samples);
    }
}
