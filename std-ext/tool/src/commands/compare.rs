//! `tgm compare`: the differences between two files.

mod findings;
mod matching;

use std::collections::HashSet;
use std::io::{self, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use serde_json::Value as Json;
use tgm_std::file::SourceName;
use tgm_std::{Archive, TensogramError};

use self::findings::{ComparedMessage, Findings, Told};
use crate::args::RARE;
use crate::args::decoding::Decoding;
use crate::args::limits::SumLimits;
use crate::args::listing::{Listed, TextFlags};
use crate::args::object_numbers::ObjectNumbers;
use crate::commands::{Run, examples};
use crate::read::candidates::Level;
use crate::read::choice::no_number;
use crate::read::chosen::Chosen;
use crate::read::differ::Tolerance;
use crate::read::distant::is_distant;
use crate::read::entry::Entry;
use crate::read::in_order::in_order;
use crate::read::input::{Input, MessagePart};
use crate::read::lost;
use crate::read::messages::Reader;
use crate::read::pipes;
use crate::read::select::text;
use crate::read::threads::bounded;
use crate::show::json::{self, Document};
use crate::show::output::Out;
use crate::show::progress::meter::Share;
use crate::show::text::{escape, shorten};

/// Compare the metadata and values of two files
///
/// Objects are matched by their place, or by the values of keys (--by). Metadata, types, shapes and values are compared;
/// how values are stored is not, unless --storage asks for it. NaN equals NaN. What the library writes itself
/// (`_reserved_`: time, identifier, version) is not compared. Exit codes: 0 no difference, 1 some, 2 an error.
#[derive(Args, Debug)]
#[command(after_help = examples(&[
    ("tgm compare --tolerance 0.01 field.tgm copy.tgm", "values may differ a little"),
    ("tgm compare --by mars.param --ignore mars.date field.tgm copy.tgm", "objects in any order"),
]))]
pub(crate) struct Compare {
    /// The two files or addresses; "-" is standard input
    #[arg(value_name = "FILE", num_args = 2, required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    only: ObjectNumbers,
    /// Match objects whose values of these keys are equal, wherever they are
    #[arg(long, value_name = "KEY,...", value_delimiter = ',')]
    by: Vec<String>,
    /// Numbers may differ by NUMBER: values, or those under KEY of the metadata; may be repeated
    #[arg(long = "tolerance", value_name = "[KEY=]NUMBER")]
    tolerances: Vec<Allowed>,
    /// Numbers may differ by NUMBER times the number in the second file, in addition to --tolerance; may be repeated
    #[arg(long = "relative", value_name = "[KEY=]NUMBER")]
    relatives: Vec<Allowed>,
    /// Keys of the metadata that are not compared, and all below them
    #[arg(long, value_name = "KEY,...", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Also compare byte order, encoding, filter and compression
    #[arg(long)]
    storage: bool,
    /// Compare metadata, types and shapes only
    #[arg(long)]
    no_values: bool,
    /// NaN differs from NaN
    #[arg(long, help_heading = RARE)]
    nan_differs: bool,
    #[command(flatten)]
    text: TextFlags,
    #[command(flatten)]
    decoding: Decoding,
    #[command(flatten)]
    limits: SumLimits,
}

/// A tolerance of the command line.
#[derive(Clone, Debug)]
struct Allowed {
    key: Option<String>,
    number: f64,
}

impl FromStr for Allowed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, number) = text.rsplit_once('=').map_or((None, text), |(key, number)| (Some(key.into()), number));
        let number = number.parse().ok().filter(|number: &f64| *number >= 0.0);
        number.map(|number| Self { key, number }).ok_or_else(|| "expected a number that is not negative".to_string())
    }
}

/// Objects of a file: message and object.
type Id = (usize, usize);

/// One file, and its last message.
struct Side<'i> {
    input: &'i Input,
    reader: Reader<'i>,
}

impl<'i> Side<'i> {
    fn new(input: &'i Input) -> Self {
        Self { input, reader: input.reader() }
    }

    /// The wanted parts of the message with this number.
    fn entry(&mut self, index: usize, wanted: MessagePart) -> Result<Entry<'_>, TensogramError> {
        let missing = || TensogramError::Framing(no_number(index, self.input.message_count()).into());
        self.reader.entry(self.input.places(index..index + 1).next().ok_or_else(missing)?, wanted)
    }

    /// The message with this number, read whole. `None` if it cannot be read, which is reported.
    fn compared(&mut self, index: usize, findings: &mut Findings<'_>) -> Option<(Entry<'_>, ComparedMessage<'_>)> {
        let place = format!("{}: message {index}", self.input.name());
        let read = self.entry(index, MessagePart::Whole).and_then(|entry| {
            let message = ComparedMessage::read(findings.compare, &entry)?;
            Ok((entry, message))
        });
        read.map_err(|error| findings.told.push(Told::Problem { place, error })).ok()
    }
}

/// A run over two files.
struct Work<'c, 'o> {
    compare: &'c Compare,
    out: &'o mut Out,
    document: Option<Document>,
}

/// A comparison of pairs of messages, on one thread.
struct Comparison<'c, 'i> {
    left: Side<'i>,
    right: Side<'i>,
    findings: Findings<'c>,
}

impl Run for Compare {
    fn listed(&self) -> Listed<'_> {
        self.text.listed(&self.paths)
    }

    fn run(&self, out: &mut Out) -> io::Result<()> {
        out.exit_with_2_for_problems();
        let [a, b] = self.paths.as_slice() else { return Ok(()) };
        let (Some(a), Some(b)) = (self.open(a, out), self.open(b, out)) else { return Ok(()) };
        let document = self.text.json().then(|| Document::begin(out, "tgm.compare/1", "differences")).transpose()?;
        let mut work = Work { compare: self, out, document };
        if self.by.is_empty() {
            work.by_place(&a, &b)?;
        } else {
            work.by_keys(&a, &b)?;
        }
        let Work { out, document, .. } = work;
        document.map_or(Ok(()), |document| document.end(out))
    }
}

impl Compare {
    /// Opens a file. A source at an address of which all bytes are compared is copied first, in requests as long as they may
    /// be: each message would take one of its own.
    fn open(&self, path: &Path, out: &mut Out) -> Option<Input> {
        let reads_all = !self.no_values && !self.chosen.choice.is_one() && self.chosen.selection.is_empty();
        if !(is_distant(path) && reads_all) {
            let level = if self.by.is_empty() { Level::Messages } else { Level::Objects };
            return self.chosen.asked_of(level).open_or_report(path, out);
        }
        let copied = pipes::held(path).map_err(TensogramError::from).and_then(|copy| {
            let Some(name) = copy.name() else { return Input::open(path) };
            // The file stays open when its name goes.
            Input::of_archive(SourceName::of(path).to_string(), Archive::open_unread(name)?, |length| {
                Share::new(Some(length))
            })
        });
        match copied {
            Ok(input) => {
                lost::report(&input, out);
                Some(input)
            }
            Err(error) => {
                out.problem(&format!("cannot read {}\n{error}", SourceName::of(path)));
                None
            }
        }
    }

    /// The tolerance for values (`None`), or for a key of the metadata.
    fn tolerance(&self, key: Option<&str>) -> Tolerance {
        let number = |all: &[Allowed]| {
            let last = all.iter().rev().find(|allowed| allowed.key.as_deref() == key);
            last.map_or(0.0, |allowed| allowed.number)
        };
        Tolerance { absolute: number(&self.tolerances), relative: number(&self.relatives) }
    }

    fn is_ignored(&self, path: &str) -> bool {
        self.ignore.iter().any(|key| {
            let rest = path.strip_prefix(key.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }

    fn is_equal(&self, path: &str, a: &Json, b: &Json) -> bool {
        let tolerance = self.tolerance(Some(path));
        a == b || ((tolerance.absolute > 0.0 || tolerance.relative > 0.0) && tolerance.holds_for(a, b))
    }
}

impl Work<'_, '_> {
    /// Does `work` on each item, on all threads, and prints what it tells, in the order of the items.
    fn in_order<T: Send>(
        &mut self,
        (a, b): (&Input, &Input),
        items: impl Iterator<Item = T> + Send,
        work: impl Fn(&mut Comparison<'_, '_>, T) + Sync,
    ) -> io::Result<()> {
        let compare = self.compare;
        let budget = compare.limits.budget();
        let state = || Comparison {
            left: Side::new(a),
            right: Side::new(b),
            findings: Findings { compare, spending: budget.of_file(a.len() + b.len()), told: Vec::new() },
        };
        let work = |comparison: &mut Comparison<'_, '_>, item: T| {
            work(comparison, item);
            mem::take(&mut comparison.findings.told)
        };
        let longest = a.longest_message() + b.longest_message();
        in_order(bounded(compare.decoding.threads(&budget), longest), items, state, work, |told| self.print(told))
    }

    /// Reports a message or an object that one file alone has.
    fn only_in(
        &mut self,
        name: &str,
        side: &Input,
        (message, object): (usize, Option<(usize, &str)>),
    ) -> io::Result<()> {
        let place = match object {
            Some((object, key)) => format!("message {message}, object {object} ({key})"),
            None => format!("message {message}"),
        };
        let json = json::object([
            ("kind", Some("missing".into())),
            ("only_in", Some(side.name().into())),
            ("object", object.map(|(object, _)| object.into())),
        ]);
        self.tell(&place, &format!("only in the {name} file"), &json)
    }

    /// Prints what was found.
    fn print(&mut self, told: Vec<Told>) -> io::Result<()> {
        told.into_iter().try_for_each(|told| match told {
            Told::Difference { place, what, json } => self.tell(&place, &what, &json),
            Told::Problem { place, error } => {
                self.out.report(&place, &error);
                Ok(())
            }
        })
    }

    /// Reports a difference: where, what, and as an entry of the document.
    fn tell(&mut self, place: &str, what: &str, json: &Json) -> io::Result<()> {
        self.out.fail();
        if let Some(document) = &mut self.document {
            let place = [("place", Some(place.into()))];
            let entries = json.as_object().into_iter().flatten();
            let entries = entries.map(|(key, value)| (key.as_str(), Some(value.clone())));
            return document.item(self.out, &json::object(place.into_iter().chain(entries)));
        }
        writeln!(self.out, "{}: {}", escape(place), escape(what))
    }
}

impl Comparison<'_, '_> {
    /// Compares two messages with all of their objects.
    fn messages(&mut self, (at_a, at_b): Id) {
        let Self { left, right, findings } = self;
        let Some((a, first)) = left.compared(at_a, findings) else { return };
        let Some((b, second)) = right.compared(at_b, findings) else { return };
        findings.annotations((&a, &first), (&b, &second));
        findings.all((&a, &first), (&b, &second));
    }

    /// Compares pairs of objects that one message of one of the files has.
    fn group(&mut self, of_outer: &[(Id, Id)], is_by_a: bool, inner: fn(&(Id, Id)) -> usize) {
        let Self { left, right, findings } = self;
        let (outer_side, inner_side) = if is_by_a { (left, right) } else { (right, left) };
        let Some((a, b)) = of_outer.first().map(|(a, b)| (a.0, b.0)) else { return };
        let Some((outer_entry, outer_message)) = outer_side.compared(if is_by_a { a } else { b }, findings) else {
            return;
        };
        let mut annotated = HashSet::new();
        for of_inner in of_outer.chunk_by(|one, next| inner(one) == inner(next)) {
            let Some(at) = of_inner.first().map(inner) else { continue };
            let Some((entry, message)) = inner_side.compared(at, findings) else { continue };
            let (first, second) = ((&outer_entry, &outer_message), (&entry, &message));
            let (first, second) = if is_by_a { (first, second) } else { (second, first) };
            if annotated.insert(at) {
                findings.annotations(first, second);
            }
            findings.pairs(first, second, of_inner.iter().map(|(a, b)| (a.1, b.1)));
        }
    }
}

/// A value of metadata, shortened.
fn shown(value: Option<&Json>) -> String {
    value.map_or("(missing)".to_string(), |value| shorten(&text(value), 60))
}
