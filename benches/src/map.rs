//! Files that are mapped or read at positions: opened, and read in any order.

use std::hint::black_box;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::{fs, thread};

use heed::types::{Bytes, U32};
use heed::{Database, EnvOpenOptions, WithoutTls};
use memmap2::Mmap;
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype as SafeDtype, TensorView, serialize_to_file};
use zerocopy::IntoBytes;

use crate::Bench;
use crate::data::{self, Rng};
use crate::harness::{Bound, Case};
use crate::libraries::{Dtype, Spec, open_map, ours, reference};

mod cold;

/// Elements of an object of 1 KiB.
const ELEMENTS: usize = 256;
/// Reads in a call.
const READS: usize = 10_000;
/// Bytes of a page.
const PAGE: usize = 4096;

pub fn run(bench: &mut Bench) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    many(bench, folder.path());
    large(bench, folder.path());
    cold::run(bench, folder.path());
}

/// Many messages of one object each.
fn many(bench: &mut Bench, folder: &Path) {
    let count = bench.size(100_000, 5_000);
    let path = folder.join("many.tgm");
    let field = data::field_f32(ELEMENTS + count);
    let values = |i: usize| field[i..i + ELEMENTS].as_bytes();
    let spec = Spec::new(Dtype::Float32, ELEMENTS);
    let options = ours::EncodeOptions { provenance: Some(ours::Provenance::now()), ..Default::default() };
    let mut file = BufWriter::new(fs::File::create(&path).expect("creates"));
    for i in 0..count {
        file.write_all(&ours::encode_with(&spec, values(i), &options)).expect("writes");
    }
    drop(file.into_inner().expect("writes"));
    open(bench, &path, count);

    let mapped = open_map(&path);
    let positioned = ours::TensogramFile::open(&path).expect("opens");
    let of_reference = reference::TensogramFile::open_mmap(&path).expect("maps");
    let options = reference::DecodeOptions::default();

    let names: Vec<String> = (0..count).map(|i| format!("tensor {i}")).collect();
    let views = names
        .iter()
        .enumerate()
        .map(|(i, name)| (name.as_str(), TensorView::new(SafeDtype::F32, vec![ELEMENTS], values(i)).expect("a view")));
    let safe = folder.join("many.safetensors");
    serialize_to_file(views, None, &safe).expect("writes");
    let safe = map(&safe);
    let tensors = SafeTensors::deserialize(&safe).expect("what was written");

    let (environment, database) = lmdb(folder, count, values);
    let transaction = environment.read_txn().expect("reads");

    let bytes = mapped.as_bytes();
    let payload = |i: usize| mapped.object(i, 0).expect("an object").payload();
    let slices: Vec<(usize, usize)> =
        (0..count).map(|i| (payload(i).as_ptr() as usize - bytes.as_ptr() as usize, 4 * ELEMENTS)).collect();
    let slice = |i: usize| bytes.get(slices[i].0..slices[i].0 + slices[i].1).expect("inside");
    for i in (0..count).step_by(count / 97) {
        assert_eq!(payload(i), values(i));
        assert_eq!(slice(i), values(i));
        assert_eq!(of_reference.decode_object(i, 0, &options).expect("decodes").2, values(i));
        assert_eq!(tensors.tensor(&names[i]).expect("it is there").data(), values(i));
        assert_eq!(database.get(&transaction, &(i as u32)).expect("reads"), Some(values(i)));
    }

    let case = Case::new(format!("{count} messages of 1 KiB, a byte of a random object"))
        .rows_of("us, located", READS as u64, random(count, |i| mapped.message_bytes(i).expect("a message")[40]))
        .rows_of("us, with descriptor", READS as u64, random(count, |i| payload(i)[0]))
        .rows_of(
            "safetensors",
            READS as u64,
            random(count, |i| tensors.tensor(&names[i]).expect("it is there").data()[0]),
        )
        .rows_of(
            "LMDB",
            READS as u64,
            random(count, |i| database.get(&transaction, &(i as u32)).expect("reads").expect("it is there")[0]),
        )
        .rows_of(
            "reference, open_mmap",
            READS as u64,
            random(count, |i| of_reference.decode_object(i, 0, &options).expect("decodes").2[0]),
        )
        .rows_of("limit: a slice from a table", READS as u64, random(count, |i| slice(i)[0]))
        .goal("P4", "us, located", Bound::Within("limit: a slice from a table", 2.2))
        .goal("P4", "us, with descriptor", Bound::Within("safetensors", 1.0))
        .goal("P4", "us, with descriptor", Bound::Within("LMDB", 1.0))
        .goal("P4", "us, with descriptor", Bound::Allocations(0));
    bench.run(case);

    let of_reference = reference::TensogramFile::open(&path).expect("opens");
    let of_us = ours::DecodeOptions::default();
    let case = Case::new(format!("{count} messages of 1 KiB, a random object by positioned reads"))
        .rows_of("us", READS as u64, random(count, |i| positioned.decode_object(i, 0, &of_us).expect("decodes").2[0]))
        .rows_of(
            "us, borrowed from the message",
            READS as u64,
            random(count, |i| {
                let message = positioned.read_message(i).expect("reads");
                tgm_core::Message::parse(&message).and_then(|message| message.object(0)).expect("an object").payload()
                    [0]
            }),
        )
        .rows_of("us, message only", READS as u64, random(count, |i| positioned.read_message(i).expect("reads")[40]))
        .rows_of(
            "reference",
            READS as u64,
            random(count, |i| of_reference.decode_object(i, 0, &options).expect("decodes").2[0]),
        )
        .rows_of(
            "reference, message only",
            READS as u64,
            random(count, |i| of_reference.read_message(i).expect("reads")[40]),
        )
        .goal("P5", "us", Bound::Within("reference", 0.4))
        .goal("P5", "us, borrowed from the message", Bound::Within("reference", 0.25));
    bench.run(case);

    on_threads(bench, count, |i| payload(i)[0]);
}

/// The same reads by one thread and by two.
fn on_threads(bench: &mut Bench, count: usize, read: impl Fn(usize) -> u8 + Sync) {
    let reads = 10 * READS as u64;
    let work = |seed| {
        let mut rng = Rng::new(seed);
        (0..5 * READS).map(|_| u64::from(read(rng.below(count)))).sum::<u64>()
    };
    let case = Case::new(format!("{count} messages of 1 KiB, a byte of a random object, threads"))
        .wall()
        .rows_of("us, 1 thread", reads, || work(1) + work(2))
        .rows_of("us, 2 threads", reads, || {
            thread::scope(|scope| {
                let other = scope.spawn(|| work(1));
                work(2) + other.join().expect("no panic")
            })
        })
        .goal("P4", "us, 2 threads", Bound::Faster("us, 1 thread", 1.8));
    bench.run(case);
}

/// [`READS`] reads at random places, which differ from call to call.
fn random(count: usize, read: impl Fn(usize) -> u8) -> impl FnMut() -> u64 {
    let mut rng = Rng::new(3);
    move || (0..READS).map(|_| u64::from(read(rng.below(count)))).sum()
}

fn map(path: &Path) -> Mmap {
    let file = fs::File::open(path).expect("opens");
    // SAFETY: the file lies in our own folder, and is not written to any more.
    unsafe { Mmap::map(&file) }.expect("maps")
}

type Numbered = Database<U32<heed::byteorder::BigEndian>, Bytes>;

fn lmdb<'a>(folder: &Path, count: usize, values: impl Fn(usize) -> &'a [u8]) -> (heed::Env<WithoutTls>, Numbered) {
    let folder = folder.join("lmdb");
    fs::create_dir(&folder).expect("creates");
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options.map_size(1 << 30);
    // SAFETY: the folder is ours, and no other process opens it.
    let environment = unsafe { options.open(&folder) }.expect("opens");
    let mut transaction = environment.write_txn().expect("writes");
    let database: Numbered = environment.create_database(&mut transaction, None).expect("creates");
    for i in 0..count {
        database.put(&mut transaction, &(i as u32), values(i)).expect("writes");
    }
    transaction.commit().expect("writes");
    (environment, database)
}

/// Opening a file: from the path to a table of all messages.
fn open(bench: &mut Bench, path: &Path, count: usize) {
    assert_eq!(open_map(path).message_count(), count);
    assert_eq!(reference::TensogramFile::open_mmap(path).and_then(|file| file.message_count()).expect("maps"), count);
    let case = Case::new(format!("{count} messages of 1 KiB, opened"))
        .row("us, mapped", || open_map(path).message_count())
        .row("us, positioned reads", || ours::TensogramFile::open(path).and_then(|file| file.message_count()))
        .row("reference, open_mmap", || reference::TensogramFile::open_mmap(path).and_then(|file| file.message_count()))
        .row("reference, open", || reference::TensogramFile::open(path).and_then(|file| file.message_count()))
        .row("limit: map, a byte of each page", || map(path).iter().step_by(PAGE).fold(0_u8, |x, y| x ^ y))
        .goal("P5", "us, mapped", Bound::Within("limit: map, a byte of each page", 1.2))
        .goal("P5", "us, mapped", Bound::Peak(24 * count as u64 + 4096))
        .goal("P5", "us, positioned reads", Bound::Within("reference, open", 0.4));
    bench.run(case);
}

/// One message with an object of 1 GiB and one of 4 KiB.
fn large(bench: &mut Bench, folder: &Path) {
    let path = folder.join("large.tgm");
    let len = bench.size(1 << 30, 16 << 20);
    let file = BufWriter::new(fs::File::create(&path).expect("creates"));
    let metadata = ours::GlobalMetadata::default();
    let mut encoder = ours::StreamingEncoder::new(file, &metadata, &ours::EncodeOptions::default()).expect("begins");
    for len in [len, 4096] {
        let object = ours::descriptor(&Spec::new(Dtype::Float32, len / 4));
        encoder.write_object(&object, &vec![0; len]).expect("writes");
    }
    drop(encoder.finish_with_backfill().expect("ends"));

    let mapped = open_map(&path);
    let of_reference = reference::TensogramFile::open_mmap(&path).expect("maps");
    let options = reference::DecodeOptions::default();
    let start =
        mapped.object(0, 1).expect("an object").payload().as_ptr() as usize - mapped.as_bytes().as_ptr() as usize;
    let case = Case::new(format!("4 KiB object of a message of {} MiB", len >> 20))
        .row("us", || mapped.object(0, black_box(1)).expect("an object").payload()[0])
        .row("reference, open_mmap", || of_reference.decode_object(0, black_box(1), &options).expect("decodes").2[0])
        .row("limit: a slice", || mapped.as_bytes()[black_box(start)]);
    bench.run(case);

    let of_us = ours::DecodeOptions::default();
    let positioned = ours::TensogramFile::open(&path).expect("opens");
    let of_reference = reference::TensogramFile::open(&path).expect("opens");
    let (ours, theirs) =
        (positioned.decode_object(0, 1, &of_us).expect("decodes"), of_reference.decode_object(0, 1, &options));
    assert_eq!(ours.2, theirs.expect("decodes").2);
    let case = Case::new(format!("4 KiB of a message of {} MiB by positioned reads", len >> 20))
        .row("us, an object", || positioned.decode_object(0, black_box(1), &of_us).expect("decodes").2[0])
        .row("us, a range", || positioned.decode_range(0, 0, &[(black_box(1000), 1024)], &of_us).expect("decodes").1)
        .row("reference, an object", || of_reference.decode_object(0, black_box(1), &options).expect("decodes").2[0])
        .goal("P5", "us, an object", Bound::Within("reference, an object", 0.4));
    bench.run(case);

    let program = std::env::current_exe().expect("a path");
    let case = Case::new(format!("first value of an object of {} MiB, from the process's start", len >> 20))
        .wall()
        .row("us", || start_process(&program, "us", &path))
        .row("reference, open_mmap", || start_process(&program, "reference", &path))
        .row("limit: empty process", || start_process(&program, "nothing", &path))
        .goal("P6", "us", Bound::Within("limit: empty process", 1.1));
    bench.run(case);
}

fn start_process(program: &PathBuf, who: &str, path: &Path) {
    let status = Command::new(program).args(["--first-value", who]).arg(path).stdout(Stdio::null()).status();
    assert!(status.expect("starts").success());
}

/// The work of the processes that [`large`] starts.
pub fn first_value(mut arguments: impl Iterator<Item = String>) -> ExitCode {
    let (who, path) = (arguments.next().unwrap_or_default(), arguments.next().unwrap_or_default());
    let value = match who.as_str() {
        "us" => {
            let file = open_map(&path);
            file.object(0, 0).and_then(|object| Ok(object.view::<f32>()?.get(0))).expect("a value")
        }
        "reference" => {
            let file = reference::TensogramFile::open_mmap(&path).expect("maps");
            let values = file.decode_object(0, 0, &reference::DecodeOptions::default()).expect("decodes").2;
            values.first_chunk().map(|bytes| f32::from_ne_bytes(*bytes))
        }
        _ => None,
    };
    println!("{value:?}");
    ExitCode::SUCCESS
}
