//! Values from chunks of payloads that are compressed with szip, compared with the values of the whole payload.

use tgm_core::descriptor::{Compression, Dtype, Encoding, Filter, Stage};
use tgm_core::error::{ErrorKind, Result};
use tgm_core::message::Message;
use tgm_core::object::DataObject;
use tgm_core::push::SzipUnpacker;
use tgm_core::stored::Stored;
use tgm_core::szip::{Params, Start, decode_from, decode_packed_with, decode_with, flags};
use tgm_core::tensor::Element;

use super::{Numbers, byte_by_byte, corpus};

/// Values from pieces, and the error after them.
fn values<T: Copy + Default>(
    object: &DataObject<'_>,
    pieces: &[&[u8]],
    longest: usize,
    next: impl Fn(&mut SzipUnpacker<64>, &mut &[u8], &mut [T]) -> Result<usize>,
) -> (Vec<T>, Result<()>) {
    let mut unpacker = SzipUnpacker::<64>::new(object.descriptor()).unwrap();
    let (mut numbers, mut values) = (Numbers(3), Vec::new());
    for piece in pieces {
        let mut chunk = *piece;
        loop {
            let mut out = vec![T::default(); 1 + numbers.below(longest)];
            match next(&mut unpacker, &mut chunk, &mut out) {
                Ok(0) => break,
                Ok(count) => values.extend_from_slice(&out[..count]),
                Err(error) => {
                    assert_eq!(unpacker.finish(), Err(error));
                    return (values, Err(error));
                }
            }
        }
        assert!(chunk.is_empty() || unpacker.remaining() == 0);
    }
    assert_eq!(unpacker.remaining() + values.len() as u64, object.descriptor().element_count());
    (values, unpacker.finish())
}

/// The sample width and flags that the format implies.
fn params_of(object: &DataObject<'_>) -> Params {
    let (descriptor, stored) = (object.descriptor(), object.descriptor().szip().unwrap());
    let is_packed = descriptor.encoding().known() == Some(Encoding::SimplePacking);
    let (bits, implied) = if is_packed {
        (descriptor.packing().unwrap().bits_per_value, flags::MSB)
    } else {
        (8 * u32::try_from(descriptor.dtype().byte_width()).unwrap(), 0)
    };
    Params::new(bits, stored.block_size, stored.rsi, stored.flags | implied).unwrap()
}

/// Packed values of the whole `payload`, and its error. Before an error, only the values before it are compared.
fn packed(object: &DataObject<'_>, payload: &[u8]) -> (Vec<u64>, Result<()>) {
    let packing = object.descriptor().packing().unwrap();
    let formula = tgm_core::szip::Formula { reference: packing.reference_value, scale: packing.scale() };
    let mut out = vec![None; usize::try_from(object.descriptor().element_count()).unwrap()];
    let store = |value: f64| Some(value.to_bits());
    let result = decode_packed_with(payload, &params_of(object), Start::default(), formula, &mut out, store);
    (out.into_iter().map_while(|value| value).collect(), result.map(|_| ()))
}

/// Plain elements of the whole `payload`, by their bits, and its error.
fn plain<T: Element>(object: &DataObject<'_>, payload: &[u8], key: impl Fn(T) -> u64) -> (Vec<u64>, Result<()>) {
    let (params, count) = (params_of(object), usize::try_from(object.descriptor().element_count()).unwrap());
    let mut samples = vec![None; count];
    let result = decode_with(payload, &params, Start::default(), &mut samples, Some);
    let known = samples.into_iter().map_while(|sample| sample).count();
    let mut bytes = vec![0; known * params.container_size()];
    decode_from(payload, &params, Start::default(), &mut bytes).unwrap();
    bytes.resize(count * params.container_size(), 0);
    let stored = Stored::new(object.descriptor(), &bytes).unwrap();
    let mut swapped = vec![0; bytes.len()];
    stored.decode_into(0..count as u64, tgm_core::descriptor::ByteOrder::Big, &mut swapped).unwrap();
    let elements = swapped.chunks(params.container_size()).take(known).map(|bytes| {
        let bytes = zerocopy::FromBytes::read_from_bytes(bytes).ok().unwrap();
        key(T::from_bytes(bytes, tgm_core::descriptor::ByteOrder::Big))
    });
    (elements.collect(), result.map(|_| ()))
}

/// Compares the values from pieces of `payload` with those from the whole.
fn check(object: &DataObject<'_>, payload: &[u8], cuts: &[Vec<&[u8]>]) -> Result<()> {
    let packed_bits =
        |(values, result): (Vec<f64>, Result<()>)| (values.into_iter().map(f64::to_bits).collect::<Vec<_>>(), result);
    macro_rules! plain_elements {
        ($type:ty, $zero:expr, $key:expr) => {{
            let expected = plain::<$type>(object, payload, $key);
            for pieces in cuts {
                let (values, result) = values(object, pieces, 90, |unpacker, chunk, out: &mut [Slot<$type>]| {
                    let mut plain = vec![$zero; out.len()];
                    let count = unpacker.elements_into(chunk, &mut plain)?;
                    out.iter_mut().zip(plain).for_each(|(slot, value)| slot.0 = Some(value));
                    Ok(count)
                });
                let values = values.into_iter().map(|value| $key(value.0.unwrap())).collect();
                assert_eq!((values, result), expected);
            }
            expected.1
        }};
    }
    if object.descriptor().encoding().known() == Some(Encoding::SimplePacking) {
        let expected = packed(object, payload);
        for pieces in cuts {
            let found = packed_bits(values(object, pieces, 90, SzipUnpacker::unpack_into::<f64>));
            assert_eq!(found, expected);
            #[allow(clippy::cast_possible_truncation, reason = "rounding is the purpose")]
            let singles = expected.0.iter().map(|&bits| (f64::from_bits(bits) as f32).to_bits());
            let (floats, _) = values(object, pieces, 7, SzipUnpacker::unpack_into::<f32>);
            assert!(floats.into_iter().map(f32::to_bits).eq(singles));
        }
        return expected.1;
    }
    match object.descriptor().dtype() {
        Dtype::Uint8 => plain_elements!(u8, 0, u64::from),
        Dtype::Int16 => plain_elements!(i16, 0, |value: i16| u64::from(value.cast_unsigned())),
        Dtype::Uint16 => plain_elements!(u16, 0, u64::from),
        Dtype::Int32 => plain_elements!(i32, 0, |value: i32| u64::from(value.cast_unsigned())),
        Dtype::Uint32 => plain_elements!(u32, 0, u64::from),
        Dtype::Float32 => plain_elements!(f32, 0.0, |value: f32| u64::from(value.to_bits())),
        Dtype::Bfloat16 => {
            plain_elements!(half::bf16, half::bf16::ZERO, |value: half::bf16| u64::from(value.to_bits()))
        }
        dtype => panic!("{dtype} has no line here"),
    }
}

/// A value that may be missing, for types that have no default.
#[derive(Clone, Copy, Default)]
struct Slot<T>(Option<T>);

/// Every object of the corpus whose only stages are szip and, possibly, simple_packing.
fn each_object(mut look: impl FnMut(&str, &DataObject<'_>)) {
    for (path, bytes) in corpus() {
        let Ok(objects) = Message::parse(&bytes).map(|message| message.objects()) else { continue };
        for object in objects.map_while(Result::ok) {
            let descriptor = object.descriptor();
            let is_szip = descriptor.compression().known() == Some(Compression::Szip);
            // A long run of zeros takes few bytes.
            let is_small = descriptor.element_count() <= 100_000;
            if is_szip && is_small && SzipUnpacker::<64>::new(descriptor).is_ok() {
                look(&path, &object);
            }
        }
    }
}

fn random_cuts(payload: &[u8]) -> Vec<Vec<&[u8]>> {
    let longest = [1, 3, 20, 300, 10_000];
    longest.iter().map(|&longest| Numbers(longest as u64).cut(payload, longest)).collect()
}

#[test]
fn values_come_out_of_any_pieces() {
    let (mut objects, mut packed, mut dtypes) = (0, 0, Vec::new());
    each_object(|path, object| {
        let mut cuts = random_cuts(object.payload());
        cuts.push(byte_by_byte(object.payload()));
        if object.payload().len() < 500 {
            cuts.extend((0..object.payload().len()).map(|at| {
                let (a, b) = object.payload().split_at(at);
                vec![a, b]
            }));
        }
        let result = check(object, object.payload(), &cuts);
        // libaec's encoder does not pad where its decoder expects padding.
        assert!(result.is_ok() || path.contains("szip-pad-rsi") || path.contains("/malformed/"), "{path}: {result:?}");
        objects += 1;
        packed += usize::from(object.descriptor().encoding().known() == Some(Encoding::SimplePacking));
        dtypes.push(object.descriptor().dtype());
    });
    dtypes.sort_by_key(|dtype| *dtype as u8);
    dtypes.dedup();
    assert!(objects > 30 && packed > 10 && dtypes.len() >= 5, "{objects} {packed} {dtypes:?}");
}

#[test]
fn payloads_cut_short_or_damaged_give_the_values_before_and_the_error_of_the_whole() {
    let (mut truncated, mut invalid) = (0, 0);
    each_object(|path, object| {
        let payload = object.payload();
        // The longer ones differ only in their length.
        if payload.len() > 2000 {
            return;
        }
        let step = if payload.len() < 100 { 1 } else { payload.len() / 12 };
        for len in (0..payload.len()).step_by(step) {
            let cut_short = &payload[..len];
            let cuts = [byte_by_byte(cut_short), Numbers(1).cut(cut_short, 40), vec![cut_short]];
            truncated += u32::from(check(object, cut_short, &cuts).is_err());

            let mut damaged = payload.to_vec();
            damaged[len] ^= 1 << (len % 8);
            let cuts = [byte_by_byte(&damaged), Numbers(2).cut(&damaged, 40), vec![damaged.as_slice()]];
            if !holds_a_block_too_long(object, &damaged) {
                let error = check(object, &damaged, &cuts).err();
                invalid += u32::from(error.is_some_and(|error| error.kind() == ErrorKind::SzipStream));
            }
        }
        assert!(truncated > 0, "{path}");
    });
    assert!(truncated > 400 && invalid > 20, "{truncated} {invalid}");
}

/// Whether the unpacker refuses a block for its length.
fn holds_a_block_too_long(object: &DataObject<'_>, payload: &[u8]) -> bool {
    let mut unpacker = SzipUnpacker::<64>::new(object.descriptor()).unwrap();
    let (mut chunk, mut out) = (payload, [0.0; 64]);
    while let Ok(1..) = unpacker.unpack_into(&mut chunk, &mut out) {}
    matches!(unpacker.finish(), Err(error) if error.kind() == ErrorKind::SzipBlockMemory)
}

#[test]
fn what_szip_cannot_give_on_the_fly_is_said() {
    let (mut filters, mut widths, mut others, mut without) = (0, 0, 0, 0);
    for (path, bytes) in corpus() {
        let Ok(object) = Message::parse(&bytes).and_then(|message| message.object(0)) else { continue };
        let descriptor = object.descriptor();
        let Err(error) = SzipUnpacker::<64>::new(descriptor) else {
            assert_eq!(descriptor.compression().known(), Some(Compression::Szip));
            assert_eq!(descriptor.filter().known(), Some(Filter::None));
            continue;
        };
        match (descriptor.compression().known(), error.kind()) {
            (Some(Compression::Szip), ErrorKind::NeedsDecoding(Stage::Filter(_))) => filters += 1,
            (Some(Compression::Szip), ErrorKind::SzipBitsPerSample(_)) => widths += 1,
            (Some(Compression::None), ErrorKind::MissingKey(_)) => without += 1,
            (compression, kind) => {
                let stage = Stage::Compression(compression);
                assert!(
                    kind == ErrorKind::NeedsDecoding(stage)
                        || compression == Some(Compression::None)
                        || path.contains("malformed"),
                    "{path}: {error:?}"
                );
                others += 1;
            }
        }
    }
    assert!(filters > 5 && others > 20 && without > 20, "{filters} {widths} {others} {without}");
}

#[test]
fn elements_and_packed_values_are_not_mixed_up() {
    let bytes = include_bytes!("../../../data/simple_packing/b16-none-szip.tgm");
    let object = Message::parse(bytes).unwrap().object(0).unwrap();
    let mut unpacker = SzipUnpacker::<64>::new(object.descriptor()).unwrap();
    let needs = ErrorKind::NeedsDecoding(Stage::Encoding(Some(Encoding::SimplePacking))).at(0);
    assert_eq!(unpacker.elements_into(&mut object.payload(), &mut [0.0_f64]), Err(needs));
    let mismatch = ErrorKind::DtypeMismatch { expected: Dtype::Float32, found: Dtype::Float64 }.at(0);
    assert_eq!(unpacker.elements_into(&mut object.payload(), &mut [0.0_f32]), Err(mismatch));
    let result = SzipUnpacker::<4>::new(object.descriptor()).map(|_| ());
    assert_eq!(result, Err(ErrorKind::SzipBlockMemory.at(object.descriptor().offset())));

    let bytes = include_bytes!("../../../data/codecs/none-szip-int16-big.tgm");
    let object = Message::parse(bytes).unwrap().object(0).unwrap();
    let mut unpacker = SzipUnpacker::<64>::new(object.descriptor()).unwrap();
    let not_packed = ErrorKind::NotPacked.at(0);
    assert_eq!(unpacker.unpack_into(&mut object.payload(), &mut [0.0_f64]), Err(not_packed));
}
