//! Tables as text: each column is kept, by the type that its fields need, or listed.

use tgm_convert::arrays::{Array, Arrays};
use tgm_convert::csv::{self, Layout};
use tgm_std::{ByteOrder, Dtype};

use super::arrays::written;

#[test]
fn tables_say_what_is_wrong_and_where() {
    let error = |text: &[u8]| csv::read(text, Layout::Columns).unwrap_err().to_string();
    assert!(error(b"a,b\n1,2\n3\n").contains("line 3 has 1 fields, and the first line has 2"));
    let of_matrix = csv::read(b"a,b\n1,2\n\n3,x\n", Layout::Matrix).unwrap_err().to_string();
    assert!(of_matrix.contains("line 4, column 2: \"x\" is not a number"), "{of_matrix}");
    assert!(error(b"a\nx\ny\n").contains("no array can be read"));
    let wide = vec!["1"; 200_000].join(",");
    assert!(error(wide.as_bytes()).contains("read it as a matrix"));
    assert_eq!(csv::read(wide.as_bytes(), Layout::Matrix).unwrap().arrays[0].descriptor.shape, [1, 200_000]);
    assert!(error(b"1,\"2\n").contains("line 1: a field begins with a quote that does not end"));
    assert!(error(b"1\xff\n").contains("byte 1 is not UTF-8"));
    assert!(error(b"").contains("it is empty"));
}

/// Years are names of columns too. In quotes, above numbers without quotes, they differ from the first row.
#[test]
fn names_of_columns_may_look_like_numbers() {
    let read = |text: &[u8]| csv::read(text, Layout::Columns).unwrap();
    let column = |name: &str, values: [i64; 2]| {
        Array::new(Dtype::Int64, ByteOrder::NATIVE, &[2], values.map(i64::to_ne_bytes).concat()).unwrap().named(name)
    };
    for names in [["2020", "2021"], ["nan", "2021"], ["null", "1e3"], ["a", "2020"]] {
        let arrays = [column(names[0], [1, 2]), column(names[1], [3, 4])];
        let arrays = Arrays { arrays: arrays.to_vec(), ..Arrays::default() };
        let text = written(|file| _ = csv::write(&arrays, Layout::Columns, file).unwrap());
        let found: Vec<_> =
            read(&text).arrays.iter().map(|array| array.name().unwrap_or_default().to_string()).collect();
        assert_eq!(found, names, "{}", String::from_utf8_lossy(&text));
        assert!(read(&text).arrays.iter().all(|array| array.descriptor.shape == [2]));
    }
    // Without quotes, or with quotes everywhere, a line of numbers is a row.
    for text in [&b"2020,2021\n1,3\n"[..], b"\"2020\",\"2021\"\n\"1\",\"3\"\n"] {
        assert!(read(text).arrays.iter().all(|array| array.name().is_none() && array.descriptor.shape == [2]));
    }
}

/// A first row of texts is not a line of names.
#[test]
fn texts_without_a_name_keep_their_first_row() {
    for texts in [["x", "y"], ["-2.5", "x"]] {
        let column = Array::of_texts(texts.map(str::to_string).to_vec(), &[2]).unwrap();
        let numbers = Array::new(Dtype::Uint8, ByteOrder::NATIVE, &[2], vec![7, 8]).unwrap();
        let arrays = Arrays { arrays: vec![column, numbers], ..Arrays::default() };
        let text = written(|file| _ = csv::write(&arrays, Layout::Columns, file).unwrap());
        let read = csv::read(&text, Layout::Columns).unwrap();
        assert_eq!(read.arrays[0].texts().unwrap(), texts, "{}", String::from_utf8_lossy(&text));
    }
}

#[test]
fn columns_have_the_type_that_their_numbers_need() {
    let table = csv::read(b"1,18446744073709551615,1.5,,-0\n2,0,NaN,NULL,1\n", Layout::Columns).unwrap();
    let dtypes: Vec<_> = table.arrays.iter().map(|array| array.descriptor.dtype).collect();
    assert_eq!(dtypes, [Dtype::Int64, Dtype::Uint64, Dtype::Float64, Dtype::Float64, Dtype::Float64]);
    assert!(table.arrays.iter().all(|array| array.name().is_none()));
    assert_eq!(table.arrays[3].values, [f64::NAN.to_ne_bytes(); 2].concat());

    let table = csv::read(b"x,y\n1,2\n3,4.5\n5,6\n", Layout::Matrix).unwrap();
    let [array] = table.arrays.as_slice() else { panic!("{table:?}") };
    assert_eq!((array.descriptor.dtype, &array.descriptor.shape[..]), (Dtype::Float64, &[3, 2][..]));
    assert_eq!(array.values, [1.0, 2.0, 3.0, 4.5, 5.0, 6.0_f64].map(f64::to_ne_bytes).concat());
    let text = written(|file| assert_eq!(csv::write(&table, Layout::Columns, file).unwrap(), []));
    assert_eq!(text, b"x,y\n1.0,2.0\n3.0,4.5\n5.0,6.0\n");
    let text = written(|file| _ = csv::write(&table, Layout::Indices, file).unwrap());
    assert!(text.starts_with(b"dim0,dim1,value\n0,0,1\n0,1,2\n1,0,3\n1,1,4.5\n"));
}

#[test]
fn each_column_of_a_table_is_kept_or_listed() {
    let text = "id,big,t,day,gap,ok,text,far,zoned\n\
        1,9007199254740993,2024-01-01 00:00,2024-01-01,,true,x,1e400,2024-01-01T01:00+01:00\n\
        2,9007199254740992,2024-01-01 01:00:00.5,1970-01-02,2.5,False,\"y,z\",1,2024-01-01T00:00+00:00\n";
    let read = csv::read(text.as_bytes(), Layout::Columns).unwrap();
    let found: Vec<_> = read.arrays.iter().map(|array| (array.name().unwrap(), array.descriptor.dtype)).collect();
    let expected = [
        ("id", Dtype::Int64),
        ("big", Dtype::Int64),
        ("t", Dtype::Int64),
        ("day", Dtype::Int64),
        ("gap", Dtype::Float64),
        ("ok", Dtype::Bitmask),
        ("text", Dtype::Uint8),
        ("zoned", Dtype::Int64),
    ];
    assert_eq!(found, expected);
    let values = |index: usize| read.arrays[index].values.as_chunks().0.iter().map(|bytes| i64::from_ne_bytes(*bytes));
    assert_eq!(values(2).collect::<Vec<_>>(), [1_704_067_200_000, 1_704_070_800_500]);
    assert_eq!(values(3).collect::<Vec<_>>(), [19_723, 1]);
    assert_eq!(values(7).collect::<Vec<_>>(), [1_704_067_200, 1_704_067_200]);
    let units = |index: usize| format!("{:?}", read.arrays[index].metadata["attributes"]);
    assert!(
        units(2).contains("milliseconds since 1970-01-01\"") && units(7).contains("seconds since 1970-01-01T00:00:00Z")
    );
    assert_eq!((&*read.arrays[5].values, read.arrays[6].texts().unwrap()), (&[0x80][..], vec!["x", "y,z"]));
    let lost: Vec<_> = read.not_kept.iter().map(|note| (note.is_values, note.what.as_str())).collect();
    assert!(matches!(lost[..], [(true, far)] if far.contains("line 2: 1e400")), "{lost:?}");
    // And texts are columns again.
    let some = Arrays { arrays: vec![read.arrays[0].clone(), read.arrays[6].clone()], ..Arrays::default() };
    let written = written(|file| assert_eq!(csv::write(&some, Layout::Columns, file).unwrap(), []));
    assert_eq!(String::from_utf8(written).unwrap(), "id,text\n1,x\n2,\"y,z\"\n");
}

/// An integer that a float would change is never a float.
#[test]
fn integers_beyond_2_53_are_exact_or_lost() {
    for (text, dtype) in [
        ("a,b\n9007199254740993,1\n5,2\n", Some(Dtype::Int64)),
        ("a,b\n18446744073709551615,1\n5,2\n", Some(Dtype::Uint64)),
        ("a,b\n9007199254740992,1\n,2\n", Some(Dtype::Float64)),
        ("a,b\n9007199254740993,1\n,2\n", None),
        ("a,b\n-9007199254740993,1\nNA,2\n", None),
        ("a,b\n18446744073709551615,1\n-1,2\n", None),
        ("a,b\n18446744073709551616,1\n1,2\n", None),
        ("a,b\n9007199254740993,1\n1.5,2\n", None),
        ("a,b\ninf,1\n1.5,2\n", Some(Dtype::Float64)),
    ] {
        let read = csv::read(text.as_bytes(), Layout::Columns).unwrap();
        let found = read.arrays.iter().find(|array| array.name() == Some("a")).map(|array| array.descriptor.dtype);
        assert_eq!(found, dtype, "{text:?}");
        assert_eq!(
            read.not_kept.iter().filter(|note| note.is_values).count(),
            usize::from(dtype.is_none()),
            "{text:?}"
        );
        assert_eq!(read.arrays.last().unwrap().descriptor.dtype, Dtype::Int64);
    }
}

#[test]
fn tables_have_other_line_ends_and_separators() {
    for text in ["a,b\r1,2\r3,4\r", "a;b\n1;2\n3;4\n", "a\tb\r\n1\t2\r\n3\t4", "\u{feff}a,b\n1,2\n3,4\n"] {
        let read = csv::read(text.as_bytes(), Layout::Columns).unwrap();
        assert_eq!(read.arrays.iter().map(|array| array.name().unwrap()).collect::<Vec<_>>(), ["a", "b"], "{text:?}");
        assert_eq!(read.arrays[1].values, [2_i64, 4].map(i64::to_ne_bytes).concat(), "{text:?}");
    }
}
