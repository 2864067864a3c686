//! Metadata of many messages, filtered by two keys.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use ciborium::Value;
use tgm_std::metadata::Query;
use zerocopy::IntoBytes as _;

use crate::Bench;
use crate::data;
use crate::harness::{Bound, Case};
use crate::libraries::{Dtype, Spec, open_map, ours, reference};

/// The keys of MARS by which weather services describe a field. The empty ones vary from message to message.
const MARS: [(&str, &str); 12] = [
    ("class", "od"),
    ("date", "20260401"),
    ("domain", "g"),
    ("expver", "0001"),
    ("levelist", ""),
    ("levtype", "pl"),
    ("param", ""),
    ("step", ""),
    ("stream", "oper"),
    ("target", "fields.tgm"),
    ("time", "1200"),
    ("type", "fc"),
];
const PARAMS: [&str; 5] = ["130.128", "131.128", "132.128", "2t", "10u"];
const STEPS: [&str; 6] = ["0", "6", "12", "18", "24", "30"];
/// Elements of each object.
const ELEMENTS: usize = 256;

pub fn run(bench: &mut Bench) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (path, count) = (folder.path().join("fields.tgm"), bench.size(100_000, 2_000));
    write(&path, count);
    let mapped = open_map(&path);
    let names = ours::TensogramFile::open_mmap(&path).expect("maps");
    let theirs = reference::TensogramFile::open_mmap(&path).expect("maps");
    let (options, ops) = (ours::DecodeOptions { threads: 1, ..Default::default() }, count as u64);
    let query: Query = "mars.param=2t and mars.step=24".parse().expect("a query");
    let by_query = || ours::file::query(&mapped, &query, &options).expect("reads").len();
    let by_core = || {
        let is_wanted = |i: &usize| {
            let metadata = mapped.message(*i).and_then(|message| Ok(message.metadata()?)).expect("metadata");
            let has = |key, value| metadata.get_str(key).expect("text") == Some(value);
            has("mars.param", "2t") && has("mars.step", "24")
        };
        (0..count).filter(is_wanted).count()
    };
    let by_names = || (0..count).filter(|&i| has(&names.decode_metadata(i).expect("metadata").base)).count();
    let by_reference = || (0..count).filter(|&i| has(&theirs.decode_metadata(i).expect("metadata").base)).count();
    let expected = by_query();
    assert_eq!((by_core(), by_names(), by_reference()), (expected, expected, expected));
    assert!(expected > 0);
    let ends = || {
        (0..count).map(|i| mapped.message_bytes(i).expect("a message")).fold(0, |all, message| {
            let front = message.get(..512).unwrap_or(message).iter().fold(0_u8, |x, y| x ^ y);
            all ^ front ^ message.last().copied().unwrap_or_default()
        })
    };
    let case = Case::new(format!("{count} mapped messages, by two keys"))
        .rows_of("us, query", ops, by_query)
        .rows_of("us, views", ops, by_core)
        .rows_of("us, decode_metadata", ops, by_names)
        .rows_of("reference, decode_metadata", ops, by_reference)
        .rows_of("limit: read 512 bytes of each", ops, ends)
        .goal("P20", "us, query", Bound::Nanos(600.0))
        .goal("P20", "us, decode_metadata", Bound::Within("us, query", 3.0));
    bench.run(case);
}

/// Whether an object has the two values.
fn has(base: &[BTreeMap<String, Value>]) -> bool {
    base.iter().any(|entries| {
        let mars = entries.get("mars").and_then(Value::as_map).map(Vec::as_slice).unwrap_or_default();
        let is = |key, value| mars.iter().any(|(k, v)| k.as_text() == Some(key) && v.as_text() == Some(value));
        is("param", "2t") && is("step", "24")
    })
}

/// A file of messages of one field each.
pub(crate) fn write(path: &Path, count: usize) {
    let field = data::field_f32(ELEMENTS + count);
    let descriptor = ours::descriptor(&Spec::new(Dtype::Float32, ELEMENTS));
    let options = ours::EncodeOptions { provenance: Some(ours::Provenance::now()), ..Default::default() };
    let mut file = BufWriter::new(fs::File::create(path).expect("creates"));
    for i in 0..count {
        let pair = |(key, value): (&str, &str)| {
            let value = match key {
                "param" => PARAMS[i % PARAMS.len()].to_owned(),
                "step" => STEPS[i % STEPS.len()].to_owned(),
                "levelist" => (100 * (i % 10 + 1)).to_string(),
                _ => value.to_owned(),
            };
            (Value::from(key), Value::from(value))
        };
        let mars = Value::Map(MARS.into_iter().map(pair).collect());
        let entry = [("mars", mars), ("name", "air_temperature".into()), ("units", "K".into())];
        let base = vec![entry.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()];
        let metadata = ours::GlobalMetadata { base, ..Default::default() };
        let objects = [(&descriptor, field[i..i + ELEMENTS].as_bytes())];
        file.write_all(&ours::encode(&metadata, &objects, &options).expect("encodes")).expect("writes");
    }
    drop(file.into_inner().expect("writes"));
}
