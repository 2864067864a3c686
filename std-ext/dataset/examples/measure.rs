//! Measures how archives of many messages are opened and reduced. It writes them to a temporary folder:
//! `cargo run --release -p tgm-dataset --example measure -- FILES MESSAGES POINTS` (1000 1000 2, or 4 64 1038240)
//!
//! `VmHWM` is the greatest memory of the process, in kB.
#![allow(clippy::print_stdout, clippy::cast_precision_loss, reason = "a program that prints what it measured")]

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::Instant;

use tgm_catalog::Catalog;
use tgm_dataset::{Indices, OpenOptions, Statistic, on_all_cores, open};
use tgm_std::{MessageBuilder, ObjectBuilder, TensogramFile};

/// Prints how much memory the process had at most.
fn memory(what: &str) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: not known");
    println!("{what}: {peak}");
}

/// Processor time of this process, in seconds.
fn processor() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    [11, 12].iter().filter_map(|at| fields.get(*at)?.parse::<u64>().ok()).sum::<u64>() as f64 / 100.0
}

/// Writes a file of the members of one date, step by step, and its catalogue.
fn write(path: &Path, file: usize, messages: usize, points: usize) -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::new(File::create(path)?);
    let day = file % 28 + 1 + (file / 28 % 12 + 1) * 100 + (file / 336 + 2000) * 10_000;
    let mut values = vec![0.0; points];
    for message in 0..messages {
        for (at, value) in values.iter_mut().enumerate() {
            *value = 280.0 + ((at * 31 + message * 7) % 1013) as f64 / 40.0;
        }
        let object = ObjectBuilder::new(&[points as u64], &values)?;
        let object = if points > 16 { object.simple_packing(16).szip() } else { object };
        let object = object
            .metadata("mars.param", "t")
            .metadata("mars.levtype", "pl")
            .metadata("mars.class", "od")
            .metadata("mars.stream", "enfo")
            .metadata("mars.levelist", 500)
            .metadata("mars.date", day as u64)
            .metadata("mars.step", (message / 50 * 6) as u64)
            .metadata("mars.number", (message % 50) as u64);
        out.write_all(&MessageBuilder::new().object(object).encode()?)?;
    }
    out.into_inner()?;
    let catalog = Catalog::build(&TensogramFile::open(path)?, &["mars.date", "mars.step", "mars.number"])?;
    fs::write(format!("{}.catalog", path.display()), catalog.to_bytes())?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<usize> = std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let [files, messages, points] = given[..] else { return Err("FILES MESSAGES POINTS are expected".into()) };
    let folder = tempfile::tempdir()?;
    let paths: Vec<PathBuf> = (0..files).map(|file| folder.path().join(format!("{file:06}.tgm"))).collect();
    for (file, path) in paths.iter().enumerate() {
        write(path, file, messages, points)?;
    }
    memory("written");
    for _ in 0..3 {
        let (start, before) = (Instant::now(), processor());
        let dataset = open(&paths, &OpenOptions::default())?;
        println!("opened {} messages of {files} files in {:.3?}", files * messages, start.elapsed());
        println!("  processor time {:.2} s", processor() - before);
        let variable = &dataset.variables[0];
        println!(
            "  {:?} {:?}, {} objects, notes {:?}",
            variable.dims,
            variable.shape,
            variable.object_count(),
            dataset.notes
        );
        memory("  open");
        if points <= 16 {
            continue;
        }
        let whole = |len: &u64| Indices::Range { start: 0, count: *len, step: NonZeroU64::MIN };
        let all: Vec<Indices> = variable.shape.iter().map(whole).collect();
        let count = variable.shape.iter().product::<u64>();
        // By the clock, and by processor time: other programs may run.
        let now = || (Instant::now(), processor());
        let rate = |(start, before): (Instant, f64)| {
            let all = count as f64 / 1e6;
            (all / start.elapsed().as_secs_f64(), all / (processor() - before))
        };
        // Decoding by itself, into a box of the first file's.
        let mut one = all.clone();
        one[0] = Indices::Index(0);
        let mut out = vec![0_u8; usize::try_from(count / variable.shape[0])? * 8];
        dataset.read_into(&variable.name, &one, &on_all_cores(), &mut out)?;
        let start = now();
        for file in 0..variable.shape[0] {
            one[0] = Indices::Index(file);
            dataset.read_into(&variable.name, &one, &on_all_cores(), &mut out)?;
        }
        let decoding = rate(start);
        drop(out);
        for (what, statistics) in [("mean", &[Statistic::Mean][..]), ("all", &Statistic::ALL)] {
            let start = now();
            let reduced = dataset.reduce(&variable.name, &all, &["number", "time"], statistics, &on_all_cores())?;
            let reducing = rate(start);
            println!(
                "  {what} of {:?}: {:.0} million a second, decoding {:.0}: {:.2}; by processor time {:.2}",
                reduced.shape,
                reducing.0,
                decoding.0,
                reducing.0 / decoding.0,
                reducing.1 / decoding.1
            );
        }
        memory("  reduced");
    }
    Ok(())
}
