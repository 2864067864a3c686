//! `tgm doctor --bench`: how fast the stages of reading and encoding are, on the user's own data.

mod stages;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::io;
use std::path::PathBuf;
use std::slice;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::Value as Json;
use tgm_core::Message;
use tgm_std::metadata::query::codec;
use tgm_std::{TensogramError, decode_descriptors};

use crate::args::decoding::Decoding;
use crate::args::listing::{ListFlags, Listed};
use crate::commands::bench::stages::Sample;
use crate::commands::{Run, examples};
use crate::read::candidates::Level;
use crate::read::cataloged::Asked;
use crate::read::choice::MessageChoice;
use crate::read::digests::Digests;
use crate::read::input::{Input, MessagePart};
use crate::read::select::Selection;
use crate::show::json::{self, Document};
use crate::show::output::{Out, Style};
use crate::show::table::{Cell, Column, Table};

/// Measure how fast messages are read, decoded and encoded, beside copying memory
///
/// Each stage is repeated, and its best time counts. The lines "decode" and "encode" of a codec are for all of its
/// stages. The lines below them are for one stage each. Their times can add up to more, because decoding and encoding
/// do some stages in one pass. All these lines count the bytes of decoded values; the other lines count the bytes of
/// messages. Messages are held in memory: the first ones of FILE, up to 256 MiB. Only "read" reads them from FILE each
/// time, mostly out of the system's cache.
#[derive(Args, Debug)]
#[command(after_help = examples(&[
    ("tgm doctor --bench --seconds 0.01 field.tgm", "how fast this file is read and decoded here"),
]))]
pub(crate) struct Bench {
    /// File to read; "-" is standard input
    #[arg(value_name = "FILE")]
    path: PathBuf,
    #[command(flatten)]
    choice: MessageChoice,
    #[command(flatten)]
    selection: Selection,
    /// Seconds for each stage
    #[arg(long, value_name = "SECONDS", default_value_t = 0.5, value_parser = seconds)]
    seconds: f64,
    #[command(flatten)]
    listing: ListFlags,
    #[command(flatten)]
    decoding: Decoding,
}

fn seconds(text: &str) -> Result<f64, &'static str> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=3600.0).contains(seconds));
    seconds.ok_or("expected a number of seconds from 0 to 3600")
}

/// Bytes of messages that are held in memory.
const HELD: u64 = 256 << 20;

/// A stage, and how fast it is.
struct Stage {
    name: String,
    /// Objects or messages that it takes at a time.
    count: usize,
    bytes: u64,
    /// The best time, or why there is none.
    time: Result<Duration, String>,
}

impl Stage {
    /// Decimal gigabytes in a second.
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    fn rate(&self) -> Option<f64> {
        let time = self.time.as_ref().ok()?;
        Some(self.bytes as f64 / time.as_secs_f64().max(1e-9) / 1e9)
    }
}

impl Run for Bench {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        let asked = Asked::new(self.choice, &self.selection, Level::Messages);
        let Some(input) = asked.open_or_report(&self.path, out) else { return Ok(()) };
        let Some(places) = self.choice.of(&input, out) else { return Ok(()) };
        let (mut held, mut bytes) = (Vec::new(), 0);
        input.for_each(out, places, MessagePart::Whole, |out, entry| {
            if (bytes == 0 || bytes + entry.length() <= HELD)
                && self.selection.picks(out, entry, Digests::ignored(true))
            {
                bytes += entry.length();
                held.push((entry.offset, entry.bytes.to_vec()));
            }
            Ok(())
        })?;
        if held.is_empty() {
            out.problem(&format!("{}: there is no message to measure", input.name()));
            return Ok(());
        }
        match self.stages(&input, &held) {
            Ok(stages) => self.print(out, &stages),
            Err(error) => {
                out.report(input.name(), &error);
                Ok(())
            }
        }
    }

    fn listed(&self) -> Listed<'_> {
        self.listing.listed(slice::from_ref(&self.path))
    }
}

impl Bench {
    fn stages(&self, input: &Input, held: &[(u64, Vec<u8>)]) -> Result<Vec<Stage>, TensogramError> {
        let messages = held.iter().map(|(_, bytes)| Ok(Message::parse(bytes)?));
        let messages = messages.collect::<Result<Vec<_>, TensogramError>>()?;
        let total = held.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        let of_all = |name: &str, work: &mut dyn FnMut() -> Result<(), TensogramError>| {
            Ok::<_, TensogramError>(Stage {
                name: name.into(),
                count: held.len(),
                bytes: total,
                time: Ok(self.best(work)?),
            })
        };
        let mut buffer = Vec::new();
        let mut stages = vec![of_all("memcpy", &mut || {
            for (_, bytes) in held {
                buffer.clear();
                buffer.extend_from_slice(bytes);
                black_box(&mut buffer);
            }
            Ok(())
        })?];
        stages.push(of_all("read", &mut || {
            held.iter().try_for_each(|(offset, bytes)| input.read_into(*offset, bytes.len() as u64, &mut buffer))
        })?);
        stages.push(of_all("metadata", &mut || {
            held.iter().try_for_each(|(_, bytes)| decode_descriptors(bytes).map(|found| drop(black_box(found))))
        })?);
        let digests = Digests::default();
        stages.push(of_all("digests", &mut || messages.iter().try_for_each(|message| digests.check_all(message)))?);
        let mut by_codec: BTreeMap<String, Vec<Sample<'_>>> = BTreeMap::new();
        for (message, (_, bytes)) in messages.iter().zip(held) {
            let (_, descriptors) = decode_descriptors(bytes)?;
            for (object, descriptor) in message.objects().zip(descriptors) {
                let object = object?;
                by_codec.entry(codec(object.descriptor())).or_default().push(Sample::new(&object, descriptor));
            }
        }
        for (codec, samples) in by_codec {
            stages.extend(self.of_codec(&codec, &samples)?);
        }
        Ok(stages)
    }

    /// The best time of some runs, after one that does not count.
    fn best(&self, work: &mut dyn FnMut() -> Result<(), TensogramError>) -> Result<Duration, TensogramError> {
        work()?;
        let (start, mut best) = (Instant::now(), Duration::MAX);
        while best == Duration::MAX || start.elapsed().as_secs_f64() < self.seconds {
            let begin = Instant::now();
            work()?;
            best = best.min(begin.elapsed());
        }
        Ok(best)
    }

    fn print(&self, out: &mut Out, stages: &[Stage]) -> io::Result<()> {
        let memcpy = stages.first().and_then(Stage::rate).filter(|rate| *rate > 0.0);
        let share = |stage: &Stage| Some(stage.rate()? / memcpy?);
        if self.listing.json() {
            let mut document = Document::begin(out, "tgm.bench/1", "stages")?;
            for stage in stages {
                let item = json::object([
                    ("stage", Some(stage.name.as_str().into())),
                    ("count", Some(stage.count.into())),
                    ("bytes", Some(stage.bytes.into())),
                    ("seconds", stage.time.as_ref().ok().map(|time| time.as_secs_f64().into())),
                    ("gb_per_s", stage.rate().map(Json::from)),
                    ("of_memcpy", share(stage).map(Json::from)),
                    ("error", stage.time.as_ref().err().map(|why| why.as_str().into())),
                ]);
                document.item(out, &item)?;
            }
            return document.end(out);
        }
        let mut table = Table::new([
            Column::left("stage"),
            Column::right("count"),
            Column::right("bytes"),
            Column::right("ms"),
            Column::right("GB/s"),
            Column::right("of memcpy"),
        ]);
        for stage in stages {
            let mut cells = vec![Cell::from(stage.name.as_str()), stage.count.into(), stage.bytes.into()];
            match &stage.time {
                Ok(time) => {
                    let numbers = [Some(time.as_secs_f64() * 1e3), stage.rate(), share(stage)];
                    cells
                        .extend(numbers.map(|number| number.map_or("".into(), |number| format!("{number:.3}").into())));
                }
                Err(why) => cells.push(Cell::spread(Style::Plain, &format!("not measured: {why}"))),
            }
            table.row(out, cells)?;
        }
        table.finish(out)
    }
}
