//! Tables, read back.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::io::Cursor;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array as _, RecordBatch};
use arrow_ipc::reader::FileReader;
use ciborium::Value;
use proptest::prelude::*;
use tgm_std::{MessageBuilder, ObjectBuilder};

use super::*;

fn described(messages: &[Vec<u8>]) -> Vec<Described> {
    let mut offset = 0;
    let mut described = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        described.push(Described::new("a.tgm", number as u64, offset, message).unwrap());
        offset += message.len() as u64;
    }
    described
}

fn table(messages: &[Vec<u8>], options: TableOptions, format: TableFormat) -> Vec<u8> {
    let (mut columns, described) = (Columns::new(options), described(messages));
    for described in &described {
        columns.observe(described).unwrap();
    }
    let mut writer = TableWriter::new(columns, format, Vec::new()).unwrap();
    for described in &described {
        writer.write(described).unwrap();
    }
    writer.finish().unwrap()
}

fn batches(messages: &[Vec<u8>], options: TableOptions) -> Vec<RecordBatch> {
    let bytes = table(messages, options, TableFormat::Arrow);
    FileReader::try_new(Cursor::new(bytes), None).unwrap().map(Result::unwrap).collect()
}

fn object(values: &[f64]) -> ObjectBuilder<'_> {
    ObjectBuilder::new(&[values.len() as u64], values).unwrap()
}

#[test]
fn a_row_is_an_object_with_its_metadata_in_typed_columns() {
    let messages = vec![
        MessageBuilder::new()
            .extra("run", 7)
            .object(object(&[1.0, 2.0]).metadata("mars.param", "2t").metadata("mars.step", 6).metadata("dtype", true))
            .object(
                object(&[1.0])
                    .metadata("mars.step", 1.5)
                    .metadata("mix", -1)
                    .metadata("list", vec![Value::from(1), "a".into()]),
            )
            .encode()
            .unwrap(),
        MessageBuilder::new().extra("big", u64::MAX).extra("mix", "text").encode().unwrap(),
        MessageBuilder::new()
            .object(object(&[]).metadata("mix", vec![0xab_u8, 1]).metadata("raw", Value::Bytes(vec![1])))
            .encode()
            .unwrap(),
    ];
    let [batch] = &batches(&messages, TableOptions::default())[..] else { panic!("one batch") };
    let column = |name: &str| batch.column_by_name(name).unwrap_or_else(|| panic!("{name}"));
    let text =
        |name: &str| column(name).as_string::<i32>().iter().map(|cell| cell.map(str::to_string)).collect::<Vec<_>>();
    let uint = |name: &str| column(name).as_primitive::<UInt64Type>().iter().collect::<Vec<_>>();
    assert_eq!(uint("message"), [Some(0), Some(0), Some(1), Some(2)]);
    assert_eq!(uint("object"), [Some(0), Some(1), None, Some(0)]);
    assert_eq!(uint("offset")[2], Some(messages[0].len() as u64));
    assert_eq!(uint("length")[3], Some(messages[2].len() as u64));
    assert_eq!(uint("bytes"), [Some(16), Some(8), None, Some(0)]);
    assert_eq!(column("shape").as_list::<i32>().value(0).as_primitive::<UInt64Type>().values(), &[2]);
    assert!(column("shape").is_null(2));
    assert_eq!(text("codec")[0].as_deref(), Some("none"));
    assert_eq!(text("mars.param"), [Some("2t".to_string()), None, None, None]);
    let steps: Vec<_> = column("mars.step").as_primitive::<Float64Type>().iter().collect();
    assert_eq!(steps, [Some(6.0), Some(1.5), None, None]);
    assert!(column("metadata.dtype").as_boolean().value(0));
    assert_eq!(
        column("extra.run").as_primitive::<Int64Type>().iter().collect::<Vec<_>>(),
        [Some(7), Some(7), None, None]
    );
    assert_eq!(uint("extra.big"), [None, None, Some(u64::MAX), None]);
    assert_eq!(text("list")[1].as_deref(), Some("[1,\"a\"]"));
    assert_eq!(text("mix").iter().flatten().collect::<Vec<_>>(), ["-1", "ab01"]);
    assert_eq!(column("raw").as_binary::<i32>().value(3), [1]);
    assert_eq!(text("_reserved_.uuid").iter().flatten().count(), 4);

    let options = TableOptions { rows: Rows::Messages, ..TableOptions::default() };
    let [batch] = &batches(&messages, options)[..] else { panic!("one batch") };
    let objects: Vec<_> = batch.column_by_name("objects").unwrap().as_primitive::<UInt64Type>().iter().collect();
    assert_eq!(objects, [Some(2), Some(0), Some(1)]);
    let steps = batch.column_by_name("mars.step").unwrap();
    assert_eq!(steps.as_primitive::<Int64Type>().iter().collect::<Vec<_>>(), [Some(6), None, None]);
}

#[test]
fn columns_are_limited_and_new_ones_are_an_error() {
    let messages: Vec<_> =
        ["a", "b"].iter().map(|key| MessageBuilder::new().extra(*key, 1).encode().unwrap()).collect();
    let described = described(&messages);
    let mut columns = Columns::new(TableOptions { max_columns: 1, ..TableOptions::default() });
    let error = described.iter().try_for_each(|described| columns.observe(described)).unwrap_err();
    assert!(error.to_string().contains("more keys than a table has columns, 1"), "{error}");
    let mut columns = Columns::new(TableOptions::default());
    columns.observe(&described[0]).unwrap();
    let mut writer = TableWriter::new(columns, TableFormat::Arrow, Vec::new()).unwrap();
    assert!(writer.write(&described[1]).unwrap_err().to_string().contains("the input changed"));
    assert!(Described::new("", 0, 0, &messages[0][..30]).is_err());
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_has_the_rows_of_arrow() {
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    let values = [0.0; 3];
    let messages: Vec<_> = (0..50)
        .map(|step| {
            let first = object(&values).metadata("step", step).zstd(1);
            MessageBuilder::new()
                .object(first)
                .object(object(&[1.0]).metadata("name", format!("n{step}")))
                .encode()
                .unwrap()
        })
        .collect();
    let options = TableOptions { batch_rows: 7, ..TableOptions::default() };
    let expected = batches(&messages, options);
    assert_eq!(expected.iter().map(RecordBatch::num_rows).max(), Some(7));
    let bytes = table(&messages, options, TableFormat::Parquet);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    std::fs::write(&path, &bytes).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(path).unwrap()).unwrap();
    let found: Vec<_> = reader.with_batch_size(7).build().unwrap().map(Result::unwrap).collect();
    assert_eq!(found.iter().map(RecordBatch::num_rows).sum::<usize>(), 100);
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found.columns(), expected.columns());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn integers_and_floats_return(steps in proptest::collection::vec(any::<i64>(), 1..20), floats in proptest::collection::vec(any::<f64>(), 20), rows in 1_usize..5) {
        let messages: Vec<_> = steps.iter().zip(&floats)
            .map(|(step, float)| MessageBuilder::new().object(object(&[1.0]).metadata("a.step", *step).metadata("f", *float)).encode().unwrap())
            .collect();
        let batches = batches(&messages, TableOptions { batch_rows: rows, ..TableOptions::default() });
        let found: Vec<i64> = batches.iter().flat_map(|batch| batch.column_by_name("a.step").unwrap().as_primitive::<Int64Type>().values().to_vec()).collect();
        prop_assert_eq!(&found, &steps);
        let found: Vec<u64> = batches.iter().flat_map(|batch| batch.column_by_name("f").unwrap().as_primitive::<Float64Type>().values().to_vec()).map(f64::to_bits).collect();
        prop_assert_eq!(found, floats.iter().take(steps.len()).map(|float| float.to_bits()).collect::<Vec<_>>());
    }
}
