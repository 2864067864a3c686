//! Descriptors read in the quick way and in the plain way are the same.

use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

use minicbor::Encoder;
use proptest::prelude::*;

use super::{Descriptor, Dtype, Key};
use crate::descriptor::{MaskKind, ZfpMode};
use crate::error::ErrorKind;

/// The entries of an ordinary descriptor: key and encoded value.
fn entries(shape: &[u64], dtype: &str) -> Vec<(String, Vec<u8>)> {
    let name = |text: &str| minicbor::to_vec(text).unwrap();
    let mut strides = vec![1_u64; shape.len()];
    strides.iter_mut().rev().skip(1).zip(shape.iter().rev()).for_each(|(stride, &dim)| *stride = dim);
    let entries = [
        (Key::Ndim, minicbor::to_vec(shape.len()).unwrap()),
        (Key::Type, name("ntensor")),
        (Key::Dtype, name(dtype)),
        (Key::Shape, minicbor::to_vec(shape).unwrap()),
        (Key::Filter, name("none")),
        (Key::Strides, minicbor::to_vec(&strides).unwrap()),
        (Key::Encoding, name("simple_packing")),
        (Key::ByteOrder, name("little")),
        (Key::Compression, name("szip")),
        (Key::SzipRsi, vec![0x18, 128]),
        (Key::SzipFlags, vec![8]),
        (Key::ZstdLevel, vec![3]),
        (Key::SpBitsPerValue, vec![16]),
    ];
    entries.into_iter().map(|(key, value)| (key.name().into(), value)).collect()
}

/// The map, with its entries in canonical order if `in_order`, and with a definite length if `counted`.
fn encode(entries: &[(String, Vec<u8>)], counted: bool, in_order: bool) -> Vec<u8> {
    let mut entries = entries.to_vec();
    if in_order {
        entries.sort_by_key(|(key, _)| (key.len(), key.clone()));
    }
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out);
    if counted {
        encoder.map(entries.len() as u64).unwrap();
    } else {
        encoder.begin_map().unwrap();
    }
    for (key, value) in &entries {
        encoder.str(key).unwrap().writer_mut().extend(value);
    }
    if !counted {
        encoder.end().unwrap();
    }
    out
}

/// Everything that a descriptor contains, as text.
fn said(bytes: &[u8]) -> Result<String, String> {
    let read = Descriptor::parse(bytes, 7).map_err(|error| format!("{error:?}"))?;
    let parameters: Vec<_> = Key::ALL.iter().map(|key| read.parameter(key.name())).collect();
    Ok(format!(
        "{read:?} {:?} {:?} {:?} {:?} {:?} {} {:?}",
        read.object_type(),
        read.strides(),
        read.declared_byte_order(),
        read.element_count(),
        read.masks().is_empty(),
        read.as_encoded().len(),
        parameters
    ))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// A map of indefinite length is never read in the quick way. Its head takes one byte too, and a break ends it.
    #[test]
    fn the_order_of_keys_makes_no_difference(
        shape in proptest::collection::vec(prop_oneof![0..30_u64, any::<u64>()], 0..30),
        dtype in proptest::sample::select(&Dtype::ALL[..]),
        leave_out in proptest::collection::vec(any::<bool>(), 13),
        replace in proptest::option::of((0..13_usize, proptest::sample::select(vec![
            vec![0x19, 0x12, 0x34], vec![0x63, b'b', b'i', b'g'], vec![0x64, b'n', b'o', b'n', b'e'], vec![0x81, 0x05],
            vec![0x80], vec![0xf6], vec![0x20], vec![0x18, 0x02], vec![0x78, 0x03, b'b', b'i', b'g'], vec![0x61, 0xff],
            vec![0x7f, 0x63, b'b', b'i', b'g', 0xff], vec![0x1c], vec![0xc1, 0x01], vec![0x62, 0xc3, 0xa9],
        ]))),
        rarely_left_out in any::<bool>(),
        other in proptest::option::of("[a-z]{1,12}"),
        twice in proptest::option::of(0..13_usize),
    ) {
        let mut entries = entries(&shape, dtype.name());
        if let Some((at, value)) = replace {
            entries[at].1 = value;
        }
        if let Some(at) = twice {
            entries.push(entries[at].clone());
        }
        if rarely_left_out {
            let mut left_out = leave_out.into_iter();
            entries.retain(|_| !left_out.next().unwrap_or(false));
        }
        if let Some(key) = other {
            entries.push((key, vec![0x01]));
        }
        let general = encode(&entries, false, true);
        // The break makes it one byte longer, so lengths are removed before the comparison.
        let counted = encode(&entries, true, true);
        let len = |said: Result<String, String>| said.map(|said| said.replace(&format!(" {} [", general.len()), " [")
            .replace(&format!(" {} [", counted.len()), " ["));
        prop_assert_eq!(len(said(&counted)), len(said(&general)));
    }
}

#[test]
fn what_is_usual_is_read_in_order() {
    let usual = encode(&entries(&[3, 5], "float32"), true, true);
    let mut unread = Descriptor::unread(&usual, 0);
    let is_in_order = super::reading::Reading::new(&mut unread).read_in_order().is_some();
    assert_eq!(is_in_order, !crate::target::IS_SMALL);
    let reversed: Vec<_> = entries(&[3, 5], "float32").into_iter().rev().collect();
    let unusual = encode(&reversed, true, false);
    let mut unread = Descriptor::unread(&unusual, 0);
    assert!(super::reading::Reading::new(&mut unread).read_in_order().is_none());
}

#[test]
fn numbers_of_any_width_and_types_in_ascii_are_read_in_order() {
    let is_in_order = |values: &[(Key, &[u8])]| {
        let bytes = described(values);
        let mut unread = Descriptor::unread(&bytes, 0);
        super::reading::Reading::new(&mut unread).read_in_order().is_some() != crate::target::IS_SMALL
    };
    for number in [23_u64, 24, 0x100, 0x0001_0000, 1 << 32] {
        let dims = minicbor::to_vec([number]).unwrap();
        assert!(is_in_order(&[(Key::Shape, &dims), (Key::Strides, &dims)]), "{number}");
    }
    assert!(is_in_order(&[(Key::Type, b"\x65other")]));
    if !crate::target::IS_SMALL {
        assert!(!is_in_order(&[(Key::Type, b"\x62\xc3\xa9")]));
        assert!(!is_in_order(&[(Key::Shape, b"\x81\x20")]));
    }
}

#[test]
fn an_array_with_a_longer_head_than_it_needs_has_the_same_items() {
    let dims = [&[0x98, 23][..], &[1; 23]].concat();
    let bytes = described(&[(Key::Ndim, &[23]), (Key::Shape, &dims), (Key::Strides, &dims)]);
    let descriptor = Descriptor::parse(&bytes, 0).unwrap();
    assert_eq!((descriptor.shape().len(), descriptor.element_count()), (23, 1));
}

#[test]
fn each_mode_of_zfp_has_its_own_parameter() {
    let one = [0xf9, 0x3c, 0];
    let zfp = |mode: &str| {
        let numbers: [(Key, &[u8]); 3] = [(Key::ZfpRate, &[2]), (Key::ZfpPrecision, &[3]), (Key::ZfpTolerance, &one)];
        let mode = minicbor::to_vec(mode).unwrap();
        let bytes = described(&[&numbers[..], &[(Key::ZfpMode, &mode)]].concat());
        Descriptor::parse(&bytes, 0).unwrap().zfp().map_err(|error| error.kind())
    };
    assert_eq!(zfp("fixed_rate"), Ok(ZfpMode::FixedRate(2.0)));
    assert_eq!(zfp("fixed_precision"), Ok(ZfpMode::FixedPrecision(3)));
    assert_eq!(zfp("fixed_accuracy"), Ok(ZfpMode::FixedAccuracy(1.0)));
    assert_eq!(zfp("reversible"), Err(ErrorKind::ParameterRange(Key::ZfpMode)));
}

#[test]
fn a_mask_without_all_of_its_keys_is_found_when_the_descriptor_is_read() {
    let mask = b"\xa1\x63nan\xa1\x66method\x64none";
    assert_eq!(
        Descriptor::parse(&described(&[(Key::Masks, mask)]), 0).unwrap_err().kind(),
        ErrorKind::MissingKey(Key::Offset)
    );
}

/// The descriptor of 16 values, with other `values` at some keys.
fn described(values: &[(Key, &[u8])]) -> Vec<u8> {
    let mut entries = entries(&[16], "float64");
    for (key, value) in values {
        entries.retain(|(name, _)| name != key.name());
        entries.push((key.name().into(), value.to_vec()));
    }
    encode(&entries, true, true)
}

/// FORMAT §3.5: null stands for an absent entry.
#[test]
fn null_is_not_a_mask() {
    for null in [0xf6, 0xf7] {
        let bytes = described(&[(Key::Masks, &[null])]);
        assert!(Descriptor::parse(&bytes, 0).unwrap().masks().is_empty());
    }
    let mut mask = Encoder::new(Vec::new());
    mask.map(2).unwrap().str("nan").unwrap().null().unwrap().str("inf+").unwrap();
    mask.map(3).unwrap().str("method").unwrap().str("none").unwrap();
    mask.str("offset").unwrap().u8(1).unwrap().str("length").unwrap().u8(2).unwrap();
    let bytes = described(&[(Key::Masks, &mask.into_writer())]);
    let descriptor = Descriptor::parse(&bytes, 0).unwrap();
    let kinds: Vec<_> = descriptor.masks().iter().map(|(kind, mask)| (kind, mask.offset(), mask.length())).collect();
    assert_eq!(kinds, [(MaskKind::PosInf, 1, 2)]);
}

/// PIPELINE §5.4: what a sample is depends on the stages before szip.
#[test]
fn samples_of_szip_are_packed_values_elements_or_bytes() {
    use crate::szip::{Params, flags};

    let text = |text: &str| minicbor::to_vec(text).unwrap();
    let (none, shuffle, int16) = (text("none"), text("shuffle"), text("int16"));
    let said = |values: &[(Key, &[u8])]| {
        let mut values = values.to_vec();
        let numbers: [(Key, &[u8]); 4] = [
            (Key::SzipBlockSize, &[16]),
            (Key::SpReferenceValue, &[0xf9, 0, 0]),
            (Key::SpBinaryScaleFactor, &[0]),
            (Key::SpDecimalScaleFactor, &[0]),
        ];
        values.extend(numbers);
        let bytes = described(&values);
        let params = Params::of(&Descriptor::parse(&bytes, 0).unwrap());
        params.map(|params| (params.bits_per_sample(), params.flags())).map_err(|error| error.kind())
    };
    assert_eq!(said(&[(Key::SpBitsPerValue, &[0x18, 24])]), Ok((24, 8 | flags::MSB)));
    // Writers may store the flag that the format implies.
    assert_eq!(said(&[(Key::SpBitsPerValue, &[16]), (Key::SzipFlags, &[12])]), Ok((16, 8 | flags::MSB)));
    assert_eq!(said(&[(Key::SpBitsPerValue, &[12])]), Err(ErrorKind::SzipBitsPerSample(12)));
    assert_eq!(said(&[(Key::Encoding, &none), (Key::Dtype, &int16)]), Ok((16, 8)));
    assert_eq!(said(&[(Key::Encoding, &none), (Key::Dtype, &int16), (Key::Filter, &shuffle)]), Ok((8, 8)));
}

/// Parameters of szip and of simple_packing: values of eight bits, one block in an interval.
const NUMBERS: [(Key, &[u8]); 7] = [
    (Key::SzipBlockSize, &[8]),
    (Key::SzipRsi, &[1]),
    (Key::SzipFlags, &[0]),
    (Key::SpBitsPerValue, &[8]),
    (Key::SpReferenceValue, &[0xf9, 0, 0]),
    (Key::SpBinaryScaleFactor, &[0]),
    (Key::SpDecimalScaleFactor, &[0]),
];

/// The bytes of a stream of szip that has these blocks, without compression.
fn szip_blocks(blocks: &[[u8; 8]]) -> Vec<u8> {
    let block = |block: &[u8; 8]| block.iter().fold(String::from("111"), |bits, sample| format!("{bits}{sample:08b}"));
    let mut bits: String = blocks.iter().map(block).collect();
    bits.push_str(&"0".repeat(bits.len().next_multiple_of(8) - bits.len()));
    (0..bits.len()).step_by(8).map(|at| u8::from_str_radix(&bits[at..at + 8], 2).unwrap()).collect()
}

#[test]
fn an_unpacker_of_szip_knows_what_is_left() {
    use crate::push::SzipUnpacker;

    let blocks = [[1, 2, 3, 4, 5, 6, 7, 8], [250, 0, 255, 9, 9, 9, 9, 9]];
    let stream = szip_blocks(&blocks);
    let (first, second) = stream.split_at(9);
    let text = |text: &str| minicbor::to_vec(text).unwrap();
    let (none, uint8) = (text("none"), text("uint8"));
    let plain = described(&[&NUMBERS[..], &[(Key::Encoding, &none), (Key::Dtype, &uint8)]].concat());
    let packed = described(&NUMBERS);
    let mut plain = SzipUnpacker::<8>::new(&Descriptor::parse(&plain, 0).unwrap()).unwrap();
    let mut packed = SzipUnpacker::<8>::new(&Descriptor::parse(&packed, 0).unwrap()).unwrap();
    let (mut bytes, mut floats) = ([0_u8; 16], [0_f64; 16]);
    assert_eq!((plain.remaining(), packed.remaining()), (16, 16));
    for (mut piece, block, left) in [(first, &blocks[0], 8), (second, &blocks[1], 0)] {
        assert_eq!(plain.finish().map_err(|error| error.kind()), Err(ErrorKind::Truncated));
        assert_eq!(plain.elements_into(&mut { piece }, &mut bytes), Ok(8));
        assert_eq!(packed.unpack_into(&mut piece, &mut floats), Ok(8));
        assert_eq!((&bytes[..8], &floats[..8]), (&block[..], &block.map(f64::from)[..]));
        assert_eq!((plain.remaining(), packed.remaining()), (left, left));
    }
    assert_eq!((plain.finish(), packed.finish()), (Ok(()), Ok(())));
    // A run of more zero blocks than the interval has.
    let mut broken = SzipUnpacker::<8>::new(&Descriptor::parse(&described(&NUMBERS), 0).unwrap()).unwrap();
    let error = broken.unpack_into(&mut &[0b0000_0000, 0b0100_0000, 0, 0][..], &mut floats).unwrap_err();
    assert_eq!((error.kind(), broken.finish()), (ErrorKind::SzipStream, Err(error)));
}

#[test]
fn only_float64_is_unpacked_piece_by_piece() {
    use crate::push::{SzipUnpacker, Unpacker};

    let text = |text: &str| minicbor::to_vec(text).unwrap();
    for (dtype, found) in [("float64", None), ("float32", Some(Dtype::Float32))] {
        let expected = found.map(|found| ErrorKind::DtypeMismatch { expected: Dtype::Float64, found });
        for compression in ["none", "szip"] {
            let (dtype, compression_name) = (text(dtype), text(compression));
            let values = [&NUMBERS[..], &[(Key::Dtype, &dtype), (Key::Compression, &compression_name)]].concat();
            let bytes = described(&values);
            let descriptor = Descriptor::parse(&bytes, 0).unwrap();
            assert_eq!(crate::stored::stored_len(&descriptor).err().map(|error| error.kind()), expected);
            assert_eq!(SzipUnpacker::<16>::new(&descriptor).err().map(|error| error.kind()), expected);
            if compression == "none" {
                let unpacker = Unpacker::new(&descriptor).map_err(|error| error.kind());
                assert_eq!(unpacker.map(|unpacker| unpacker.remaining()), expected.map_or(Ok(16), Err));
            }
        }
    }
}

#[test]
fn fields_have_their_types_and_are_not_parameters() {
    let error = Descriptor::parse(&described(&[(Key::Type, &[5])]), 0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::WrongType { .. }), "{error:?}");
    // Fields, then parameters, then the keys of a mask.
    let kinds: Vec<_> = Key::ALL.iter().map(|key| (key.is_field(), key.is_parameter())).collect();
    let count = |kind| kinds.iter().filter(|found| **found == kind).count();
    let (fields, parameters) = (count((true, false)), count((false, true)));
    assert_eq!((count((false, false)), count((true, true))), (4, 0));
    assert_eq!((Key::ALL[fields - 1], Key::ALL[fields + parameters]), (Key::Compression, Key::Length));
    let bytes = described(&[]);
    let descriptor = Descriptor::parse(&bytes, 0).unwrap();
    for key in Key::ALL {
        let is_there = !key.is_field() && entries(&[16], "float64").iter().any(|(name, _)| name == key.name());
        assert_eq!(descriptor.parameter(key.name()).unwrap().is_some(), is_there, "{}", key.name());
    }
}

#[test]
fn a_mask_is_found_by_its_kind() {
    let mut mask = Encoder::new(Vec::new());
    mask.map(2).unwrap();
    for (kind, offset) in [("nan", 1), ("inf+", 4)] {
        mask.str(kind).unwrap().map(3).unwrap().str("method").unwrap().str("none").unwrap();
        mask.str("offset").unwrap().u8(offset).unwrap().str("length").unwrap().u8(3).unwrap();
    }
    let bytes = described(&[(Key::Masks, &mask.into_writer())]);
    let descriptor = Descriptor::parse(&bytes, 0).unwrap();
    let offset = |kind| descriptor.masks().get(kind).map(|mask| mask.offset());
    assert_eq!(MaskKind::ALL.map(offset), [Some(1), Some(4), None]);
}

/// CBOR allows a text in pieces, in which no name is compared as a whole.
#[test]
fn names_may_come_in_pieces() {
    let pieces = |text: &str| {
        let (first, second) = text.split_at(2);
        [&[0x7f][..], &minicbor::to_vec(first).unwrap(), &minicbor::to_vec(second).unwrap(), &[0xff]].concat()
    };
    for dtype in Dtype::ALL {
        for order in ["big", "little"] {
            let bytes = described(&[(Key::Dtype, &pieces(dtype.name())), (Key::ByteOrder, &pieces(order))]);
            let descriptor = Descriptor::parse(&bytes, 0).unwrap();
            assert_eq!((descriptor.dtype(), descriptor.byte_order().name()), (dtype, order));
        }
    }
    let error = Descriptor::parse(&described(&[(Key::Dtype, &pieces("float6"))]), 0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownDtype);
}
