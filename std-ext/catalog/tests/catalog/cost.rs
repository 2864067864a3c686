//! What queries and catalogues cost. Too slow for every run:
//! `cargo test -p tgm-std --release --test catalog -- --ignored --nocapture --test-threads 1`.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use tgm_catalog::{Catalog, Freshness};
use tgm_std::deps::ciborium::Value;
use tgm_std::{AppendOptions, DecodeOptions, MessageBuilder, ObjectBuilder, TensogramFile, file};

use crate::query;

const THREADS: u32 = 2;

fn options() -> DecodeOptions {
    DecodeOptions { threads: THREADS, ..DecodeOptions::default() }
}

/// A field with metadata as archives have it. The payload makes up the rest of `len` bytes.
fn archived(number: usize, len: usize) -> Vec<u8> {
    let params = ["2t", "10u", "10v", "msl", "tp", "z", "t", "q"];
    let mars = [
        ("class", Value::from("od")),
        ("stream", "oper".into()),
        ("expver", "0001".into()),
        ("type", "fc".into()),
        ("date", (20_260_101 + (number / 9600) as i64 % 28).into()),
        ("time", ((number / 4800 % 2) as i64 * 1200).into()),
        ("step", ((number / 80 % 60) as i64 * 6).into()),
        ("levtype", "pl".into()),
        ("levelist", ([1000, 925, 850, 700, 500, 400, 300, 250, 200, 100][number / 8 % 10]).into()),
        ("param", params[number % 8].into()),
    ];
    let build = |values: &[u8]| {
        let object = ObjectBuilder::new(&[values.len() as u64], values).unwrap();
        let object =
            mars.iter().fold(object, |object, (key, value)| object.metadata(format!("mars.{key}"), value.clone()));
        MessageBuilder::new().object(object.metadata("name", params[number % 8])).encode().unwrap()
    };
    let without = build(&[]).len();
    build(&vec![7; len.saturating_sub(without)])
}

/// Writes `count` messages of about `len` bytes, which differ in five keys: in the order of these keys, or without any
/// order and with various lengths, which no compression foresees.
fn write_archive(path: &Path, count: usize, len: usize, is_ordered: bool) {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path).unwrap());
    let length = |number: usize| if is_ordered { len } else { len - 64 + number * 7919 % 128 };
    let different: Vec<_> = (0..9600 * 4).map(|number| archived(number, length(number))).collect();
    let mut random = 1_u64;
    for number in 0..count {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = if is_ordered { number } else { usize::try_from(random >> 33).unwrap() };
        out.write_all(&different[number % different.len()]).unwrap();
    }
    out.flush().unwrap();
}

/// Processor time of this process.
pub(crate) fn processor() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<_> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks: u64 = [11, 12].iter().filter_map(|&field| fields.get(field)?.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// Prints the median of several runs by the clock, and the processor time of one.
fn time<R>(what: &str, runs: usize, mut run: impl FnMut() -> R) -> R {
    let (mut times, before) = (Vec::new(), processor());
    let mut last = None;
    for _ in 0..runs {
        let start = Instant::now();
        last = Some(run());
        times.push(start.elapsed());
    }
    times.sort();
    let used = processor().saturating_sub(before) / u32::try_from(runs).unwrap();
    println!("{what}: {:.2?} (least {:.2?}, processor {used:.2?})", times[times.len() / 2], times[0]);
    last.unwrap()
}

#[test]
#[ignore = "slow"]
fn a_query_over_100_000_messages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.tgm");
    write_archive(&path, 100_000, 1700, true);
    println!("{} bytes", fs::metadata(&path).unwrap().len());
    let mapped = TensogramFile::open_mmap(&path).unwrap();
    let plain = TensogramFile::open(&path).unwrap();
    let wanted = query("mars.param = 2t/10u and mars.step in 0..=24 and mars.levelist >= 500");
    let one = DecodeOptions { threads: 1, ..options() };
    let found = time("mapped, two threads", 15, || mapped.query(&wanted, &options()).unwrap());
    time("mapped, one thread", 9, || mapped.query(&wanted, &one).unwrap());
    time("positioned, two threads", 9, || plain.query(&wanted, &options()).unwrap());
    for text in ["mars.param=2t", "mars.nothing=1", "dtype=uint8 and mars.step=6"] {
        let wanted = query(text);
        time(&format!("mapped, two threads: {text}"), 9, || mapped.query(&wanted, &options()).unwrap());
    }
    println!("{} found", found.len());
}

#[test]
#[ignore = "slow"]
fn a_catalogue_of_a_million_messages() {
    for is_ordered in [true, false] {
        println!("{}", if is_ordered { "in order" } else { "without order, of various lengths" });
        measure_catalogue(is_ordered);
    }
}

fn measure_catalogue(is_ordered: bool) {
    let folder = tempfile::tempdir().unwrap();
    let (path, beside) = (folder.path().join("data.tgm"), folder.path().join("data.tgm.catalog"));
    let count = 1_000_000;
    write_archive(&path, count, 1024, is_ordered);
    let keys = ["mars.param", "mars.step", "mars.levelist", "mars.date"];
    let catalog = time("build with the scan", 3, || {
        Catalog::build_with(&TensogramFile::open(&path).unwrap(), &keys, &options()).unwrap()
    });
    time("scan alone", 3, || TensogramFile::open(&path).unwrap().message_count().unwrap());
    let file = TensogramFile::open(&path).unwrap();
    println!("{:?}", time("keys that vary", 1, || Catalog::varying_keys(&file, &options()).unwrap()));
    fs::write(&beside, catalog.to_bytes()).unwrap();
    let size = fs::metadata(&beside).unwrap().len();
    println!("{size} bytes in {} leaves, {:.3} a message", catalog.leaf_count(), size as f64 / count as f64);

    let limits = tgm_catalog::CatalogLimits::default();
    let open = || Catalog::open_with(&beside, &limits, &options()).unwrap();
    let wanted = query("mars.param = 2t/10u and mars.step in 0..=24");
    time("open", 9, open);
    time("open and first query of two keys", 9, || open().select(&wanted).unwrap());
    let mut opened: Vec<_> = (0..9).map(|_| open()).collect();
    time("first query of two keys", 9, || opened.pop().unwrap().select(&wanted).unwrap());
    let catalog = open();
    catalog.select(&wanted).unwrap();
    let found = time("next query of two keys", 21, || catalog.select(&wanted).unwrap());
    let many = query("mars.param = 2t/10u/10v/msl/tp/q and mars.step in 0..=180 and not mars.levelist=500/700");
    catalog.select(&many).unwrap();
    time("next query of three keys with many hits", 9, || catalog.select(&many).unwrap().len());
    let walked = time("the same by a walk", 1, || file::query(&file, &wanted, &options()).unwrap());
    assert_eq!(found, walked);
    println!("{} found", found.len());
    let mut opened: Vec<_> = (0..9).map(|_| open()).collect();
    time("place of the first object, cold", 9, || opened.pop().unwrap().object_range(999_999, 0).unwrap());

    let mut file = TensogramFile::open(&path).unwrap();
    for number in 0..1000 {
        file.append_message(&archived(number, 1024), &AppendOptions::default()).unwrap();
    }
    time("append 1,000 messages to the catalogue", 1, || Catalog::update(&beside, &file, &options()).unwrap().1);
    assert_eq!(open().check(&file).unwrap(), Freshness::Fresh);
    let size_now = fs::metadata(&beside).unwrap().len();
    println!("{} bytes more", size_now - size);
}
