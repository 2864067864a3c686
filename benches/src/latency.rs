//! What a reader of a distant source costs, by a clock that is computed: links of several delays and rates, and each option
//! of [`ReadOptions`] varied by itself.
//!
//! Nothing waits here, so the figures are the same in every run. A round of requests takes the delay of the link once for
//! each time that all lanes are used, or the time in which its bytes come, whichever is longer.

use std::sync::Mutex;

use tgm_std::core::selection::Pick;
use tgm_std::read::options::ReadKnob;
use tgm_std::read::{FetchError, Fetched, RangeFetch, ReadOptions, Reader, Tag, Want};
use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder};

use crate::Bench;

/// Seconds from a request to its first byte, and bytes a second.
const LINKS: [(f64, f64); 7] = [(0.0, 1e9), (0.02, 1e7), (0.02, 1e8), (0.02, 1e9), (0.1, 1e7), (0.1, 1e8), (0.1, 1e9)];
/// What a request costs without any delay: its headers, and work of the server.
const PER_REQUEST: f64 = 2e-4;

/// A source behind a link.
struct Link<'a> {
    bytes: &'a [u8],
    delay: f64,
    rate: f64,
    lanes: usize,
    spent: Mutex<f64>,
}

impl RangeFetch for &Link<'_> {
    fn fetch(&self, want: &Want, tag: Option<&Tag>) -> Result<Fetched, FetchError> {
        self.bytes.fetch(want, tag)
    }

    fn fetch_many(&self, wants: &[Want], tag: Option<&Tag>) -> Vec<Result<Fetched, FetchError>> {
        let answers: Vec<_> = wants.iter().map(|want| self.fetch(want, tag)).collect();
        let bytes: usize = answers.iter().flatten().map(|answer| answer.bytes.len()).sum();
        let turns = wants.len().div_ceil(self.lanes) as f64;
        let waiting = turns * (self.delay + PER_REQUEST);
        *self.spent.lock().expect("one thread") += waiting.max(self.delay + bytes as f64 / self.rate);
        answers
    }

    fn name(&self) -> String {
        "a link".into()
    }
}

type Work = fn(&Reader<&Link<'_>>) -> tgm_std::Result<()>;

struct Task {
    name: &'static str,
    bytes: Vec<u8>,
    work: Work,
}

fn object(values: &[f64]) -> ObjectBuilder<'_> {
    ObjectBuilder::new(&[values.len() as u64], values).expect("a shape").metadata("n", 1)
}

/// Whole numbers that szip does not make much smaller.
fn noise(count: usize) -> Vec<f64> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from((state >> 48) as u16)
    };
    (0..count).map(|_| next()).collect()
}

fn tasks() -> Vec<Task> {
    let values = noise(4 << 20);
    let row = |objects: usize, of: usize, times: usize| {
        let mut builder = MessageBuilder::new();
        for _ in 0..objects {
            builder = builder.object(object(&values[..of]));
        }
        builder.encode().expect("a message").repeat(times)
    };
    let packed = object(&values[..1 << 20]).simple_packing_within(0.1).expect("finite").szip();
    let szip = MessageBuilder::new().object(packed).encode().expect("a message");
    let field = ObjectBuilder::new(&[2048, 2048], &values).expect("a shape");
    let field = MessageBuilder::new().object(field).encode().expect("a message");
    let short = row(4, 512, 100);
    vec![
        Task {
            name: "the last of 100 messages of 17 KB",
            bytes: short.clone(),
            work: |r| r.decode_object(99, 0, &DecodeOptions::default()).map(drop),
        },
        Task { name: "count of 100 messages of 17 KB", bytes: short.clone(), work: |r| r.message_count().map(drop) },
        Task {
            name: "an object of each of 100 messages of 17 KB",
            bytes: short,
            work: |r| (0..100).try_for_each(|n| r.decode_object(n, 1, &DecodeOptions::default()).map(drop)),
        },
        Task {
            name: "count of 100 messages of 400 KB",
            bytes: row(1, 50_000, 100),
            work: |r| r.message_count().map(drop),
        },
        Task {
            name: "metadata of 200 messages of 1 MB",
            bytes: row(1, 125_000, 200),
            work: |r| {
                let count = r.message_count()?;
                (0..count).try_for_each(|number| r.read_message_outline(number).map(drop))
            },
        },
        Task {
            name: "an object of a message of 10 of 3 MB",
            bytes: row(10, 400_000, 1),
            work: |r| r.decode_object(0, 7, &DecodeOptions::default()).map(drop),
        },
        Task {
            name: "metadata of a message of 30 MB",
            bytes: row(10, 400_000, 1),
            work: |r| r.decode_metadata(0).map(drop),
        },
        Task {
            name: "10 of 1 Mi values, szip",
            bytes: szip,
            work: |r| r.decode_range(0, 0, &[(500_000, 10)], &DecodeOptions::default()).map(drop),
        },
        Task {
            name: "a box of 200 × 200 of 2048 × 2048",
            bytes: field.clone(),
            work: |r| {
                let picks = [Pick::from(900..1100), Pick::from(900..1100)];
                r.select(0, 0, &picks, &DecodeOptions::default()).map(drop)
            },
        },
        Task {
            name: "a field of 32 MiB",
            bytes: field,
            work: |r| r.decode_object(0, 0, &DecodeOptions::default()).map(drop),
        },
    ]
}

/// The seconds of a task.
fn seconds(task: &Task, (delay, rate): (f64, f64), options: ReadOptions) -> f64 {
    let link = Link { bytes: &task.bytes, delay, rate, lanes: lanes(options), spent: Mutex::new(0.0) };
    (task.work)(&Reader::new(&link, options)).expect("a sound file");
    link.spent.into_inner().expect("one thread")
}

/// How many requests the options have on their way at a time.
fn lanes(options: ReadOptions) -> usize {
    let is = |count: &usize| ReadKnob::Parallel.set(*count as u64, options) == options;
    (1..=1024).find(is).expect("requests are counted in tens")
}

fn variants() -> Vec<(String, ReadOptions)> {
    let all = ReadOptions::remote();
    let mut variants = vec![("the defaults".to_owned(), all)];
    let mut add = |knob: ReadKnob, value: u64| {
        let options = knob.set(value, all);
        if options != all {
            let number = if knob == ReadKnob::Parallel { value.to_string() } else { crate::harness::bytes(value as f64) };
            variants.push((format!("{knob:?} {number}"), options));
        }
    };
    for value in [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20] {
        for knob in [ReadKnob::Initial, ReadKnob::WholeMessage, ReadKnob::WholeFrame, ReadKnob::Gap] {
            add(knob, value);
        }
    }
    add(ReadKnob::Gap, 0);
    for value in [1 << 10, 4 << 10, 16 << 10, 64 << 10] {
        add(ReadKnob::Descriptor, value);
        add(ReadKnob::Header, value);
    }
    for value in [1 << 20, 8 << 20, 64 << 20] {
        add(ReadKnob::Request, value);
        add(ReadKnob::ReadAhead, value);
    }
    for value in [1, 4, 10, 32] {
        add(ReadKnob::Parallel, value);
    }
    variants
}

pub fn run(_: &mut Bench) {
    let tasks = tasks();
    println!("\nlatency: seconds by a computed clock, with the default options");
    print!("  {:<44}", "delay, rate");
    for (delay, rate) in LINKS {
        print!("{:>13}", format!("{:.0} ms {:.0e}", delay * 1e3, rate));
    }
    println!();
    let defaults = |task: &Task| LINKS.map(|link| seconds(task, link, ReadOptions::remote()));
    let known: Vec<_> = tasks.iter().map(defaults).collect();
    for (task, times) in tasks.iter().zip(&known) {
        print!("  {:<44}", task.name);
        for time in times {
            print!("{time:>13.4}");
        }
        println!();
    }
    println!("\n  time as a multiple of the defaults': geometric mean over tasks and links, best, worst");
    for (name, options) in variants() {
        let ratios: Vec<f64> = tasks
            .iter()
            .zip(&known)
            .flat_map(|(task, known)| LINKS.iter().zip(known).map(|(link, was)| seconds(task, *link, options) / was))
            .collect();
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let (least, most) = ratios.iter().fold((f64::MAX, 0.0_f64), |(least, most), r| (least.min(*r), most.max(*r)));
        println!("  {name:<28} {mean:>8.3} {least:>8.3} {most:>8.3}");
    }
}
