//! Messages of variables, which are read and encoded side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::io::Write;
use std::path::Path;

use ciborium::Value;
use tgm_dataset::are_codes;
use tgm_std::codec::threads::Threads;
use tgm_std::{DecodeLimits, GlobalMetadata, Result, StreamingEncoder};

use super::{NetcdfOptions, Object, Part, Share, cut, object};
use crate::error::encoding;
use crate::names::leaf;
use crate::netcdf::guarded;
use crate::netcdf::tree::{Tree, Variable};
use crate::note::Note;
use crate::pieces::boxes;
use crate::streamed::{Subject, TOGETHER, side_by_side};

/// What messages are made of.
pub(super) struct Source<'a> {
    pub(super) path: &'a Path,
    /// Bytes of the file.
    pub(super) len: u64,
    pub(super) tree: &'a Tree<'a>,
    pub(super) extra: BTreeMap<String, Value>,
    pub(super) options: &'a NetcdfOptions,
    /// The names of variables that are coordinates.
    pub(super) coordinates: BTreeSet<&'a str>,
}

/// A step of writing.
enum Step<'a> {
    Begin(Part),
    Object(&'a Variable<'a>, Share),
    End,
}

impl Part {
    /// The steps of writing it.
    fn steps<'a>(self, Source { tree, len, options, .. }: &'a Source<'a>) -> impl Iterator<Item = Step<'a>> {
        let objects = move |variable: &'a Variable<'a>| {
            let first = variable.dimensions.first();
            let has_records = first.is_some_and(|first| first.is_unlimited);
            let shape: Vec<usize> = variable.dimensions.iter().map(|dimension| dimension.len).collect();
            let (one, piece) = match self {
                // What has no record yet is in no message of records.
                Self::Fixed if has_records && first.is_some_and(|first| first.len > 0) => (None, None),
                Self::All | Self::Fixed => match cut(variable, *len, options) {
                    Some(piece) => (None, Some(piece)),
                    None => (Some(Share::Whole), None),
                },
                Self::Record(record) if has_records && record < first.map_or(0, |first| first.len) => {
                    (Some(Share::Record(record)), None)
                }
                Self::Record(_) => (None, None),
            };
            let pieces = piece
                .into_iter()
                .flat_map(move |piece| boxes(&shape, &piece).map(move |ranges| Share::Piece(ranges, piece.clone())));
            one.into_iter().chain(pieces).map(move |share| Step::Object(variable, share))
        };
        [Step::Begin(self)].into_iter().chain(tree.variables.iter().flat_map(objects)).chain([Step::End])
    }
}

impl Step<'_> {
    /// Bytes of the values that it reads, at most.
    fn len(&self) -> u64 {
        let Self::Object(variable, share) = self else { return 0 };
        let count = share.shape(variable).iter().fold(1, |count: u64, len| count.saturating_mul(*len));
        bytes_of(variable, count)
    }

    /// Whether it has the first piece of a variable.
    fn is_first_piece(&self) -> bool {
        matches!(self, Self::Object(_, Share::Piece(ranges, _)) if ranges.iter().all(|range| range.start == 0))
    }

    /// The same for the limits, which allow all pieces of a variable or none: the first one counts for all.
    fn counted(&self) -> u64 {
        match self {
            Self::Object(variable, Share::Piece(..)) if self.is_first_piece() => {
                let whole = variable.dimensions.iter();
                bytes_of(variable, whole.fold(1, |count: u64, dimension| count.saturating_mul(dimension.len as u64)))
            }
            Self::Object(_, Share::Piece(..)) => 0,
            _ => self.len(),
        }
    }
}

/// Bytes of so many values of a variable, at most: scaled integers become floating-point numbers of up to 8 bytes.
fn bytes_of(variable: &Variable<'_>, count: u64) -> u64 {
    count.saturating_mul(size_of::<f64>().max(variable.kind.dtype().byte_width()) as u64)
}

/// What is said of a variable once, while its parts are written.
#[derive(Default)]
struct Told<'a> {
    path: &'a str,
    /// Whether what is written is the first part of its variable.
    is_first: bool,
    /// Cells of the variable so far that hold the number which NetCDF puts where nothing was written.
    default_fills: usize,
    /// Whether the number of cells is said of what is written.
    is_counted: bool,
    /// Whether the limits have ended the variable.
    is_over: bool,
}

/// What a step makes.
#[derive(Default)]
struct Made {
    object: Option<Object>,
    notes: Vec<Note>,
    /// The error, if the values so far are more than the limits allow.
    over: Option<Note>,
}

impl<'a> Told<'a> {
    /// Comes to the next step, and says what there is to tell of the variable before.
    fn come_to(&mut self, step: &Step<'a>, part: Part, report: &mut dyn FnMut(Note)) {
        let is_same = matches!(step, Step::Object(variable, Share::Piece(..)) if variable.path == self.path);
        if is_same {
            self.is_first = false;
            return;
        }
        if self.default_fills > 0 && self.is_counted {
            let count = self.default_fills;
            let what = format!("{count} cells hold the number that NetCDF puts where nothing was written");
            report(Note::remark(self.path, what));
        }
        let is_first = !matches!(part, Part::Record(1..));
        let path = if let Step::Object(variable, _) = step { variable.path.as_str() } else { "" };
        *self = Self { path, is_first, default_fills: 0, is_counted: is_first, is_over: false };
    }
}

/// Whether a step that reads `len` bytes goes with steps before that read `bytes` bytes.
const fn go_together(bytes: u64, len: u64) -> bool {
    bytes == 0 || len == 0 || bytes.saturating_add(len) <= TOGETHER
}

impl Source<'_> {
    /// Writes a message for each part.
    ///
    /// # Errors
    /// The errors of the sink.
    pub(super) fn write(
        &self,
        parts: impl Iterator<Item = Part>,
        sink: &mut dyn Write,
        report: &mut dyn FnMut(Note),
    ) -> Result<()> {
        let threads = Threads::resolve(self.options.threads.max(1), u64::MAX, None)?;
        let most = side_by_side(threads);
        let mut steps = parts.flat_map(|part| part.steps(self)).peekable();
        let (mut sink, mut message, mut sum) = (Some(sink), None, 0_u64);
        // What was said of the variable whose pieces are written, and how many of its cells hold the number of NetCDF.
        let mut told = Told::default();
        while steps.peek().is_some() {
            let (mut together, mut bytes) = (Vec::new(), 0_u64);
            // The stages of the first piece serve the others.
            let is_alone =
                |together: &[(Step<'_>, u64)]| together.last().is_some_and(|(step, _)| step.is_first_piece());
            while together.len() < most
                && !is_alone(&together)
                && let Some(step) = steps.next_if(|step| go_together(bytes, step.len()))
            {
                bytes = bytes.saturating_add(step.len());
                sum = sum.saturating_add(step.counted());
                together.push((step, sum));
            }
            let Ok(made) = threads.map(&together, |(step, sum)| Ok::<_, Infallible>(self.made(step, *sum)));
            for ((step, _), Made { object, notes, over }) in together.iter().zip(made) {
                if let (Step::Begin(part), Some(sink)) = (step, sink.take()) {
                    message = Some((self.begin(*part, sink)?, *part));
                    continue;
                }
                let (mut encoder, part) = message.take().ok_or_else(|| encoding("a piece comes before its message"))?;
                told.come_to(step, part, report);
                // What is the variable's is said once, not for each record or piece.
                notes.into_iter().filter(|note| told.is_first || note.is_failure()).for_each(&mut *report);
                // Each piece that follows is beyond them too.
                if let Some(over) = over.filter(|_| !told.is_over) {
                    told.is_over = true;
                    report(over);
                }
                if let Some(Object { entry, descriptor, region, default_fills }) = object {
                    told.default_fills = told.default_fills.saturating_add(default_fills);
                    encoder.write_preceder(entry)?;
                    encoder.write_region(&descriptor, &region)?;
                }
                match step {
                    Step::End => sink = Some(encoder.finish()?),
                    _ => message = Some((encoder, part)),
                }
            }
        }
        Ok(())
    }

    fn begin<W: Write>(&self, part: Part, sink: W) -> Result<StreamingEncoder<W>> {
        let mut extra = self.extra.clone();
        if let Part::Record(record) = part {
            extra.insert("record".to_string(), (record as u64).into());
        }
        let global = GlobalMetadata { extra, ..GlobalMetadata::default() };
        StreamingEncoder::new(sink, &global, &self.options.encode)
    }

    /// Holds the bytes of all values so far against the limits: as one object may have them, but for its greatest size. Without
    /// that, a short file with many variables that were never written would become any number of bytes.
    fn check_sum(&self, sum: u64) -> Result<()> {
        let limits = DecodeLimits { max_decoded_bytes: u64::MAX, ..self.options.limits };
        limits.check_bytes(self.len, sum).map(drop).map_err(|error| error.within("the variables so far"))
    }

    /// The object of a step, if it has one, and what is said of it. All steps so far count for `sum` bytes of values.
    fn made(&self, step: &Step<'_>, sum: u64) -> Made {
        let Step::Object(variable, share) = step else { return Made::default() };
        if let Err(error) = self.check_sum(sum) {
            return Made { over: Some(Note::failed(variable.path.as_str(), error)), ..Made::default() };
        }
        let mut notes = Vec::new();
        let attribute = |key: &str| variable.attributes.iter().find(|it| it.name == key).map(|it| it.value.as_text());
        let is_exact = self.coordinates.contains(leaf(&variable.path)) || are_codes(variable.kind.dtype(), attribute);
        let subject = if is_exact { Subject::Exact } else { Subject::Data };
        // Each thread sets what libraries may print.
        let made = guarded(self.path, || object(variable, share, subject, self.options, &mut |note| notes.push(note)));
        let place = || match share {
            Share::Piece(ranges, _) => {
                let origin: Vec<usize> = ranges.iter().map(|range| range.start).collect();
                format!("{}, from {origin:?} on", variable.path)
            }
            Share::Whole | Share::Record(_) => variable.path.clone(),
        };
        let object = made.map_err(|error| notes.push(Note::failed(place(), error))).ok();
        Made { object, notes, over: None }
    }
}
