//! Formats that hold arrays: what is written reads back to the bit, and what is damaged is an error.

use ciborium::Value;
use proptest::collection::vec;
use proptest::prelude::*;
use tgm_convert::arrays::{Array, Arrays, Bools};
use tgm_convert::csv::{self, Layout};
use tgm_convert::npz::{self, Method};
use tgm_convert::{npy, raw, safetensors};
use tgm_std::{ByteOrder, DecodeLimits, DecodeOptions, Dtype, EncodeOptions};

/// Arrays of any type, shape, order and bits.
fn arrays() -> impl Strategy<Value = Arrays<'static>> {
    let dtype = (0..Dtype::ALL.len()).prop_map(|index| Dtype::ALL[index]);
    let order = prop_oneof![Just(ByteOrder::Little), Just(ByteOrder::Big)];
    let one = (dtype, order, vec(0_u64..5, 0..4), any::<u64>()).prop_map(|(dtype, order, shape, seed)| {
        let count: u64 = shape.iter().product();
        let len = usize::try_from(dtype.byte_len(count).unwrap()).unwrap();
        let mut state = seed;
        let mut values: Vec<u8> = (0..len)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state.to_be_bytes()[0]
            })
            .collect();
        // Bits after the last element are zero.
        if dtype == Dtype::Bitmask
            && let Some(last) = values.last_mut()
            && !count.is_multiple_of(8)
        {
            *last &= 0xff << (8 - count % 8);
        }
        let order = if dtype.swap_unit_size() <= 1 { ByteOrder::NATIVE } else { order };
        Array::new(dtype, order, &shape, values).unwrap()
    });
    vec(one, 1..5).prop_map(|arrays| {
        let name = |(index, array): (usize, Array<'static>)| array.named(format!("a/{index} é"));
        Arrays { arrays: arrays.into_iter().enumerate().map(name).collect(), ..Arrays::default() }
    })
}

/// The same arrays in one byte order.
fn little(arrays: &Arrays<'_>) -> Vec<Array<'static>> {
    let one = |array: &Array<'_>| {
        let (descriptor, values) = (&array.descriptor, array.values_in(ByteOrder::Little).into_owned());
        let same = Array::new(descriptor.dtype, ByteOrder::Little, &descriptor.shape, values).unwrap();
        same.named(array.name().unwrap())
    };
    arrays.arrays.iter().map(one).collect()
}

pub(super) fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut file = Vec::new();
    write(&mut file);
    file
}

fn npz_file(arrays: &Arrays<'_>, method: Method) -> Vec<u8> {
    written(|file| assert_eq!(npz::write(arrays, method, file).unwrap(), []))
}

proptest! {
    #[test]
    fn npy_and_raw_keep_type_shape_order_and_bits(arrays in arrays()) {
        for array in &arrays.arrays {
            let file = written(|file| npy::write(array, file).unwrap());
            let read = npy::read(&file, Bools::Bitmask).unwrap();
            prop_assert_eq!((&read.descriptor, &read.values), (&array.descriptor, &array.values));
            prop_assert!(npy::check_len(&file, file.len() as u64).is_ok());

            let file = written(|file| raw::write(array, ByteOrder::Big, file).unwrap());
            let element = raw::Element::Dtype(array.descriptor.dtype);
            let form = raw::Form { element, shape: array.descriptor.shape.clone(), order: ByteOrder::Big };
            let read = raw::read(&file, &form, Bools::Bitmask).unwrap();
            prop_assert_eq!(read.values_in(ByteOrder::Little), array.values_in(ByteOrder::Little));
        }
    }

    #[test]
    fn npz_keeps_names_too(arrays in arrays()) {
        for method in [Method::Stored, Method::Deflated] {
            let file = npz_file(&arrays, method);
            prop_assert_eq!(&npz::read(&file, Bools::Bitmask, &DecodeOptions::default()).unwrap(), &arrays);
        }
    }

    #[test]
    fn safetensors_keeps_names_texts_and_the_order_of_objects(mut arrays in arrays(), text in ".{0,20}") {
        arrays.arrays.retain(|array| array.descriptor.dtype != Dtype::Complex128);
        arrays.metadata.insert("format".into(), text.into());
        let file = written(|file| assert_eq!(safetensors::write(&arrays, file).unwrap(), []));
        prop_assert!(safetensors::is_start(&file));
        let read = safetensors::read(&file, Bools::Bitmask).unwrap();
        prop_assert_eq!(little(&read), little(&arrays));
        prop_assert_eq!(read.metadata, arrays.metadata);
    }

    #[test]
    fn columns_of_text_keep_every_number(floats in vec(any::<f64>(), 1..20), seed in any::<i64>()) {
        let shape = [floats.len() as u64];
        let integers: Vec<i64> = (0..).zip(&floats).map(|(step, _)| seed.wrapping_add(step)).collect();
        let bytes = |bytes: Vec<[u8; 8]>| bytes.concat();
        let column = |dtype, values| Array::new(dtype, ByteOrder::NATIVE, &shape, values).unwrap();
        let arrays = vec![
            column(Dtype::Float64, bytes(floats.iter().map(|value| value.to_ne_bytes()).collect())).named("a,\"b\"\n"),
            column(Dtype::Int64, bytes(integers.iter().map(|value| value.to_ne_bytes()).collect())).named("é"),
        ];
        let arrays = Arrays { arrays, ..Arrays::default() };
        let file = written(|file| assert_eq!(csv::write(&arrays, Layout::Columns, file).unwrap(), []));
        prop_assert_eq!(csv::read(&file, Layout::Columns).unwrap(), arrays);
    }

    #[test]
    fn messages_keep_arrays(arrays in arrays()) {
        let options = DecodeOptions { native_byte_order: false, ..DecodeOptions::default() };
        let encode = EncodeOptions { allow_nan: true, allow_inf: true, ..EncodeOptions::default() };
        let changed = arrays.not_kept_by_masks();
        for message in [arrays.encode(&encode).unwrap(), arrays.write_to(Vec::new(), &encode).unwrap()] {
            let decoded = Arrays::decode(&message, &options).unwrap();
            for (index, (found, array)) in decoded.arrays.iter().zip(&arrays.arrays).enumerate() {
                let is_changed = changed.iter().any(|note| note.object == Some(index));
                prop_assert_eq!(found == array, !is_changed, "{} of {:?}", index, changed);
            }
        }
    }

    #[test]
    fn damaged_files_are_errors_or_arrays(arrays in arrays(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let stored = npz_file(&arrays, Method::Stored);
        let deflated = npz_file(&arrays, Method::Deflated);
        let array = &arrays.arrays[0];
        let numpy = written(|file| npy::write(array, file).unwrap());
        let mut some = arrays.clone();
        some.arrays.retain(|array| array.descriptor.dtype != Dtype::Complex128);
        let tensors = written(|file| drop(safetensors::write(&some, file).unwrap()));
        let options = DecodeOptions::default();
        for mut file in [stored, deflated, numpy, tensors] {
            let place = at.index(file.len());
            let cut = &file[..place];
            drop(npy::read(cut, Bools::Bitmask));
            prop_assert!(npz::read(cut, Bools::Bitmask, &options).is_err());
            drop(safetensors::read(cut, Bools::Bitmask));
            file[place] = byte;
            drop(npy::read(&file, Bools::Uint8));
            drop(npz::read(&file, Bools::Uint8, &options));
            drop(safetensors::read(&file, Bools::Uint8));
            drop(csv::read(&file, Layout::Columns));
        }
    }
}

#[test]
fn values_are_borrowed_where_the_file_has_them_in_order() {
    let array = Array::new(Dtype::Float32, ByteOrder::Little, &[2], vec![0; 8]).unwrap().named("a");
    let arrays = Arrays { arrays: vec![array], ..Arrays::default() };
    let is_borrowed = |arrays: Arrays<'_>| matches!(arrays.arrays[0].values, std::borrow::Cow::Borrowed(_));
    let tensors = written(|file| drop(safetensors::write(&arrays, file).unwrap()));
    assert!(is_borrowed(safetensors::read(&tensors, Bools::Bitmask).unwrap()));
    let archive = npz_file(&arrays, Method::Stored);
    assert!(is_borrowed(npz::read(&archive, Bools::Bitmask, &DecodeOptions::default()).unwrap()));
}

#[test]
fn lying_lengths_are_refused_before_memory_is_taken() {
    let huge = "{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }\n";
    let len = u8::try_from(huge.len()).unwrap();
    let numpy = [&b"\x93NUMPY\x01\x00"[..], &[len, 0], huge.as_bytes(), &[0; 8]].concat();
    let error = npy::read(&numpy, Bools::Bitmask).unwrap_err().to_string();
    assert!(error.contains("8 bytes of values, and float64 of shape [1099511627776] has 8796093022208"), "{error}");
    assert!(npy::check_len(&numpy, numpy.len() as u64).is_err());

    for header in [
        r#"{"a":{"dtype":"F64","shape":[1099511627776],"data_offsets":[0,8796093022208]}}"#,
        r#"{"a":{"dtype":"F64","shape":[1],"data_offsets":[8,16]}}"#,
        r#"{"a":{"dtype":"F64","shape":[2],"data_offsets":[0,8]}}"#,
        r#"{"a":{"dtype":"F64","shape":[18446744073709551615,2],"data_offsets":[0,8]}}"#,
        r#"{"a":{"dtype":"F65","shape":[1],"data_offsets":[0,8]}}"#,
        r#"{"a":1}"#,
        "[[[[",
    ] {
        let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0; 8]].concat();
        let error = safetensors::read(&file, Bools::Bitmask).unwrap_err().to_string();
        assert!(error.contains("the header of the safetensors file"), "{error}");
    }
    let error = safetensors::read(&[0xff; 16], Bools::Bitmask).unwrap_err().to_string();
    assert!(error.contains("the header has 18446744073709551615 bytes"), "{error}");

    let zeros = Array::new(Dtype::Uint8, ByteOrder::NATIVE, &[1 << 20], vec![0; 1 << 20]).unwrap().named("zeros");
    let file = npz_file(&Arrays { arrays: vec![zeros], ..Arrays::default() }, Method::Deflated);
    assert!(file.len() < 8 << 10);
    let limits = DecodeLimits { max_decoded_bytes: 1 << 20, ..DecodeLimits::default() };
    let error = npz::read(&file, Bools::Bitmask, &DecodeOptions { limits, ..DecodeOptions::default() }).unwrap_err();
    assert!(
        error.to_string().contains("entry \"zeros.npy\": encoding error: object decodes to 1048704 bytes"),
        "{error}"
    );
}

#[test]
fn archives_with_other_files_and_other_forms_say_so() {
    let array = Array::new(Dtype::Uint8, ByteOrder::NATIVE, &[3], vec![1, 2, 3]).unwrap().named("abc");
    let file = npz_file(&Arrays { arrays: vec![array], ..Arrays::default() }, Method::Stored);
    let replaced = |from: &[u8], to: &[u8]| {
        let mut file = file.clone();
        let places: Vec<_> = (0..=file.len() - from.len()).filter(|&at| file[at..].starts_with(from)).collect();
        assert!(!places.is_empty());
        for at in places {
            file[at..at + to.len()].copy_from_slice(to);
        }
        file
    };
    let options = DecodeOptions::default();
    // The content says what is an array, as numpy does it.
    let named = replaced(b"abc.npy", b"abc.txt");
    let other = npz::read(&named, Bools::Bitmask, &options).unwrap();
    assert_eq!(other.arrays[0].name(), Some("abc.txt"));
    let wrong = replaced(&[1, 2, 3], &[1, 2, 4]);
    let error = npz::read(&wrong, Bools::Bitmask, &options).unwrap_err().to_string();
    assert!(error.contains("entry \"abc.npy\": ") && error.contains("its checksum is wrong"), "{error}");
    let error = npz::read(b"PK\x03\x04", Bools::Bitmask, &options).unwrap_err().to_string();
    assert!(error.contains("not a .npz file"), "{error}");
    let empty = npz_file(&Arrays::default(), Method::Stored);
    assert!(npz::MAGICS.iter().any(|magic| empty.starts_with(magic)));
    let error = npz::read(&empty, Bools::Bitmask, &options).unwrap_err().to_string();
    assert!(error.contains("the archive holds no arrays"), "{error}");
}

#[test]
fn what_has_no_place_is_listed() {
    let mut array = Array::new(Dtype::Float32, ByteOrder::Little, &[1], vec![0; 4]).unwrap().named("t");
    array.metadata.insert("units".into(), "K".into());
    let mut arrays = Arrays { arrays: vec![array], ..Arrays::default() };
    arrays.metadata.insert("run".into(), 7.into());
    let texts = |notes: Vec<_>| notes.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(texts(npz::write(&arrays, Method::Stored, Vec::new()).unwrap()), ["extra.run", "object 0: units"]);
    let notes = texts(safetensors::write(&arrays, Vec::new()).unwrap());
    assert_eq!(notes, ["extra.run, which is not text", "object 0: units"]);
    let notes = texts(csv::write(&arrays, Layout::Columns, Vec::new()).unwrap());
    assert_eq!(notes, ["object 0: the type float32", "extra.run", "object 0: units"]);
}

#[test]
fn types_of_one_byte_that_the_format_lacks_keep_their_names() {
    let header = r#"{"a":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"BOOL","shape":[3],"data_offsets":[2,5]},"c":{"dtype":"F8_E5M2","shape":[1],"data_offsets":[5,6]}}   "#;
    let header = format!("{header:width$}", width = header.len().next_multiple_of(8));
    let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[1, 2, 1, 0, 1, 3]].concat();
    let read = safetensors::read(&file, Bools::Bitmask).unwrap();
    let dtypes: Vec<_> = read.arrays.iter().map(|array| array.descriptor.dtype).collect();
    assert_eq!(dtypes, [Dtype::Uint8, Dtype::Bitmask, Dtype::Uint8]);
    let message = read.encode(&EncodeOptions::default()).unwrap();
    let decoded = Arrays::decode(&message, &DecodeOptions::default()).unwrap();
    assert_eq!(written(|back| assert_eq!(safetensors::write(&decoded, back).unwrap(), [])).len(), file.len());
    let back = written(|back| _ = safetensors::write(&decoded, back).unwrap());
    assert!(String::from_utf8_lossy(&back).contains(r#""a":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}"#));
    assert!(back.ends_with(&[1, 2, 1, 0, 1, 3]));

    let header =
        r#"{"a":{"dtype":"F4","shape":[2],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}"#;
    let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[1, 7]].concat();
    let read = safetensors::read(&file, Bools::Bitmask).unwrap();
    assert_eq!((read.arrays.len(), &*read.arrays[0].values), (1, &[7][..]));
    let lost = &read.not_kept[0];
    assert!(
        lost.is_values && lost.what.contains("tensor \"a\"") && lost.what.contains("its type F4 has no counterpart")
    );
    let header = r#"{"a":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}}"#;
    let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[1]].concat();
    let error = safetensors::read(&file, Bools::Bitmask).unwrap_err().to_string();
    assert!(error.contains("no array can be read") && error.contains("F4"), "{error}");
}

/// A `.npy` file of this type.
fn numpy(descr: &str, shape: &str, values: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n");
    [&b"\x93NUMPY\x01\x00"[..], &u16::try_from(header.len()).unwrap().to_le_bytes(), header.as_bytes(), values].concat()
}

/// One of each kind that numpy knows.
fn kinds() -> Vec<(&'static str, Vec<u8>, Option<Dtype>)> {
    vec![
        ("b1", numpy("'|b1'", "(2,)", &[1, 0]), Some(Dtype::Bitmask)),
        ("i4", numpy("'>i4'", "(1,)", &[0, 0, 0, 7]), Some(Dtype::Int32)),
        ("c8", numpy("'<c8'", "()", &[0; 8]), Some(Dtype::Complex64)),
        ("bf16", numpy("'<V2'", "(1,)", &[0, 0]), Some(Dtype::Bfloat16)),
        ("V2", numpy("'|V2'", "(2,)", &[1, 2, 3, 4]), Some(Dtype::Uint8)),
        ("V3", numpy("'|V3'", "(1,)", &[1, 2, 3]), Some(Dtype::Uint8)),
        ("M8", numpy("'<M8[25s]'", "(1,)", &7_i64.to_le_bytes()), Some(Dtype::Int64)),
        ("m8", numpy("'<m8[ns]'", "(1,)", &i64::MIN.to_le_bytes()), Some(Dtype::Int64)),
        ("U", numpy("'<U2'", "(2,)", &[b'a', 0, 0, 0, 0xe9, 0, 0, 0, b'b', 0, 0, 0, 0, 0, 0, 0]), Some(Dtype::Uint8)),
        ("S", numpy("'|S3'", "()", b"csr"), Some(Dtype::Uint8)),
        ("O", numpy("'|O'", "(1,)", b"\x80\x04N."), None),
        ("f16", numpy("'<f16'", "(1,)", &[0; 16]), None),
        ("c32", numpy("'<c32'", "(1,)", &[0; 32]), None),
        ("fields", numpy("[('a', '<f8'), ('b', '<i4')]", "(1,)", &[0; 12]), None),
    ]
}

/// An archive of stored entries.
fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, data) in entries {
        let crc = {
            let bit = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
            !data.iter().fold(!0_u32, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), bit))
        };
        let len = u32::try_from(data.len()).unwrap().to_le_bytes();
        let name_len = u16::try_from(name.len()).unwrap().to_le_bytes();
        let common =
            [&[20, 0, 0, 8, 0, 0, 0, 0, 0, 0][..], &crc.to_le_bytes(), &len, &len, &name_len, &[0, 0]].concat();
        let place = u32::try_from(file.len()).unwrap().to_le_bytes();
        directory.extend([b"PK\x01\x02\x14\x00", &common[..], &[0; 10], &place, name.as_bytes()].concat());
        file.extend([b"PK\x03\x04", &common[..], name.as_bytes(), data].concat());
    }
    let count = u16::try_from(entries.len()).unwrap().to_le_bytes();
    let place = u32::try_from(file.len()).unwrap().to_le_bytes();
    let len = u32::try_from(directory.len()).unwrap().to_le_bytes();
    file.extend(directory);
    file.extend([b"PK\x05\x06\0\0\0\0", &count[..], &count, &len, &place, &[0, 0]].concat());
    file
}

#[test]
fn each_entry_of_an_archive_is_kept_or_listed() {
    let kinds = kinds();
    let files: Vec<(String, &Vec<u8>)> = kinds.iter().map(|(name, file, _)| (format!("{name}.npy"), file)).collect();
    let mut entries: Vec<(&str, &[u8])> = files.iter().map(|(name, file)| (name.as_str(), &file[..])).collect();
    entries.extend([
        ("folder/", &b""[..]),
        ("notes.txt", b"x"),
        ("wrong.npy", b"x"),
        ("plain", &kinds[1].1),
        ("i4.npy", &kinds[1].1),
    ]);
    let file = archive(&entries);
    let read = npz::read(&file, Bools::Bitmask, &DecodeOptions::default()).unwrap();
    let names: Vec<_> = read.arrays.iter().map(|array| (array.name().unwrap(), array.descriptor.dtype)).collect();
    let kept = kinds.iter().filter_map(|(name, _, dtype)| Some((*name, (*dtype)?)));
    assert_eq!(names, kept.chain([("plain", Dtype::Int32), ("i4", Dtype::Int32)]).collect::<Vec<_>>());
    let lost: Vec<_> = read.not_kept.iter().filter(|note| note.is_values).map(|note| note.what.as_str()).collect();
    for (what, lost) in ["O.npy", "f16.npy", "c32.npy", "fields.npy", "wrong.npy"].iter().zip(&lost) {
        assert!(lost.contains(what), "{lost}");
    }
    assert_eq!((lost.len(), read.not_kept.len()), (5, 7), "{:?}", read.not_kept);
    assert!(lost[0].contains("Python objects") && lost[1].contains("long double"), "{lost:?}");
    assert_eq!(read.arrays[4].descriptor.shape, [2, 2]);
    assert_eq!(read.arrays[8].texts().unwrap(), ["aé", "b"]);
    // Times are times again.
    let mut back = Vec::new();
    npz::write(&read, Method::Stored, &mut back).unwrap();
    for descr in ["'<M8[25s]'", "'<m8[ns]'", "'<U2'"] {
        assert!(back.windows(descr.len()).any(|window| window == descr.as_bytes()), "{descr}");
    }
}

#[test]
fn texts_are_arrays_of_the_formats_that_have_texts() {
    let texts = |texts: &[&str], shape: &[u64]| {
        Array::of_texts(texts.iter().map(ToString::to_string).collect(), shape).unwrap()
    };
    let numbers = Array::new(Dtype::Uint8, ByteOrder::NATIVE, &[2], vec![1, 2]).unwrap().named("n");
    let arrays =
        Arrays { arrays: vec![texts(&["\u{e4}b", ""], &[2]).named("t"), numbers.clone()], ..Arrays::default() };
    let written = |arrays: &Arrays<'_>| {
        let mut file = Vec::new();
        (csv::write(arrays, Layout::Columns, &mut file).unwrap(), String::from_utf8(file).unwrap())
    };
    let mut file = Vec::new();
    assert!(npz::write(&arrays, Method::Stored, &mut file).unwrap().is_empty());
    let read = npz::read(&file, Bools::Bitmask, &DecodeOptions::default()).unwrap();
    assert_eq!(read.arrays, arrays.arrays);
    assert_eq!(written(&arrays).1, "t,n\n\u{e4}b,1\n\"\",2\n");
    // Formats without texts list them as values that are lost.
    let mut file = Vec::new();
    let lost = safetensors::write(&arrays, &mut file).unwrap();
    assert!(lost.iter().any(|lost| lost.object == Some(0) && lost.is_values), "{lost:?}");
    assert_eq!(safetensors::read(&file, Bools::Bitmask).unwrap().arrays.len(), 1);
    assert!(raw::write(&arrays.arrays[0], ByteOrder::Big, Vec::new()).is_err());
    // Where texts are not a column beside the others, the others are written.
    let square = Arrays { arrays: vec![texts(&["a", "b"], &[1, 2]), numbers], ..Arrays::default() };
    let (lost, text) = written(&square);
    assert_eq!(text, "n\n1\n2\n");
    assert!(lost.iter().any(|lost| lost.is_values), "{lost:?}");
    // numpy makes all as wide as the widest.
    let wide = [&["x".repeat(1 << 20)][..], &vec![String::new(); 1 << 10]].concat();
    let count = wide.len() as u64;
    assert!(Array::of_texts(wide, &[count]).is_ok_and(|array| npy::write(&array, Vec::new()).is_err()));
    // Variables of texts of a message are arrays.
    let of_file =
        Value::Map(vec![("values".into(), Value::Array(vec!["x".into()])), ("shape".into(), Value::Array(vec![]))]);
    let extra = [("texts".to_string(), Value::Map(vec![("g/name".into(), of_file)]))].into();
    let message = Arrays { metadata: extra, ..Arrays::default() }.encode(&EncodeOptions::default()).unwrap();
    let decoded = Arrays::decode(&message, &DecodeOptions::default()).unwrap();
    assert_eq!((decoded.arrays.len(), decoded.arrays[0].name(), decoded.metadata.len()), (1, Some("g/name"), 0));
    assert_eq!((decoded.arrays[0].texts(), decoded.arrays[0].text_shape()), (Some(vec!["x"]), Some(vec![])));
}

#[test]
fn what_safetensors_lacks_is_listed_and_the_rest_is_written() {
    let array = |dtype: Dtype, name: &str| {
        Array::new(dtype, ByteOrder::Little, &[1], vec![1; dtype.byte_width()]).unwrap().named(name)
    };
    let lacking = || vec![array(Dtype::Complex128, "c"), array(Dtype::Uint8, "__metadata__")];
    let all = [lacking(), vec![array(Dtype::Int16, "kept")]].concat();
    let mut file = Vec::new();
    let lost = safetensors::write(&Arrays { arrays: all, ..Arrays::default() }, &mut file).unwrap();
    assert_eq!(
        lost.iter().filter(|lost| lost.is_values).map(|lost| lost.object).collect::<Vec<_>>(),
        [Some(0), Some(1)]
    );
    let names = safetensors::read(&file, Bools::Bitmask).unwrap().arrays;
    assert_eq!(names.iter().map(Array::name).collect::<Vec<_>>(), [Some("kept")]);
    let error = safetensors::write(&Arrays { arrays: lacking(), ..Arrays::default() }, Vec::new()).unwrap_err();
    assert!(error.to_string().contains("no array can be written"), "{error}");
}

#[test]
fn archives_say_what_else_they_are() {
    let error = |entries: &[(&str, &[u8])]| {
        npz::read(&archive(entries), Bools::Bitmask, &DecodeOptions::default()).unwrap_err().to_string()
    };
    assert!(error(&[("a.txt", b"x")]).contains("the archive holds no arrays"));
    assert!(error(&[("v/zarr.json", b"{}"), ("v/c/0", b"x")]).contains("a Zarr store"));
    assert!(error(&[("a.npy", &numpy("'|S1'", "()", b"x"))]).contains("no array can be read"));
    // Two entries at one place, of which neither is read.
    let mut shared = archive(&[("a.npy", &kinds()[0].1), ("b.npy", &kinds()[0].1)]);
    let places: Vec<_> = (0..shared.len() - 4).filter(|&at| shared[at..].starts_with(b"PK\x01\x02")).collect();
    shared[places[1] + 42..places[1] + 46].copy_from_slice(&[0; 4]);
    let found = npz::read(&shared, Bools::Bitmask, &DecodeOptions::default()).unwrap_err().to_string();
    assert!(found.contains("share the bytes"), "{found}");
    let (ints, one) = (numpy("'<i4'", "(2,)", &[0; 8]), numpy("'<f4'", "(2,)", &[0; 8]));
    let file = archive(&[
        ("indices.npy", &ints),
        ("indptr.npy", &ints),
        ("format.npy", &numpy("'|S3'", "()", b"csr")),
        ("shape.npy", &ints),
        ("data.npy", &one),
    ]);
    let read = npz::read(&file, Bools::Bitmask, &DecodeOptions::default()).unwrap();
    assert!(
        read.not_kept.len() == 1 && read.not_kept[0].what.contains("sparse matrix of scipy (csr)"),
        "{:?}",
        read.not_kept
    );
}

#[test]
fn several_arrays_in_one_file_are_read() {
    let file = [numpy("'<i4'", "(1,)", &[1, 0, 0, 0]), numpy("'|u1'", "(2,)", &[2, 3])].concat();
    assert!(npy::check_len(&file, file.len() as u64).is_ok());
    let read = npy::read_all(&file, Bools::Bitmask).unwrap();
    assert_eq!(
        read.arrays.iter().map(|array| array.descriptor.dtype).collect::<Vec<_>>(),
        [Dtype::Int32, Dtype::Uint8]
    );
    let longer = [&file[..], b"rest"].concat();
    let read = npy::read_all(&longer, Bools::Bitmask).unwrap();
    assert_eq!(read.not_kept[0].what, "4 bytes after the last array");
    assert!(
        npy::read_all(&file[..file.len() - 1], Bools::Bitmask).unwrap_err().to_string().contains("the array at byte")
    );
}
