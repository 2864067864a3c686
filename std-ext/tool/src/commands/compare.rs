//! `tgm compare`: the differences between two files.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{self, Write};
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use serde_json::{Value as Json, json};
use tgm_core::Message;
use tgm_core::metadata::MessageMetadata;
use tgm_core::object::DataObject;
use tgm_std::internal::query::Number;
use tgm_std::{RESERVED_KEY, Spending, TensogramError};

use crate::args::decoding::Decoding;
use crate::args::limits::SumLimits;
use crate::args::listing::{Listed, TextFlags};
use crate::args::object_numbers::ObjectNumbers;
use crate::commands::Run;
use crate::read::choice::MessageChoice;
use crate::read::differ::{Differences, Tolerance, differences, indices, leaves};
use crate::read::digests::Digests;
use crate::read::elements::{Elements, json_of, text_of};
use crate::read::entry::{Entry, Place};
use crate::read::input::{Input, MessagePart};
use crate::read::messages::Reader;
use crate::read::opening::open_or_report;
use crate::read::select::{Scope, Selection, annotations, text};
use crate::read::structure::Structure;
use crate::show::json::{self, Document};
use crate::show::output::Out;
use crate::show::summary::shape_text;
use crate::show::text::{escape, shorten};

/// Compare the metadata and values of two files
///
/// Objects are matched by their place, or by the values of keys (--by). Metadata, types, shapes and values are compared;
/// how values are stored is not, unless --storage asks for it. NaN equals NaN. What the library writes itself
/// (`_reserved_`: time, identifier, version) is not compared. Exit codes: 0 no difference, 1 some, 2 an error.
#[derive(Args, Debug)]
pub(crate) struct Compare {
    /// The two files or addresses; "-" is standard input
    #[arg(value_name = "FILE", num_args = 2, required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    choice: MessageChoice,
    #[command(flatten)]
    selection: Selection,
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
    #[arg(long)]
    nan_differs: bool,
    #[command(flatten)]
    text: TextFlags,
    #[command(flatten)]
    digests: Digests,
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
        let place = self.input.places(index..index + 1).next();
        let place = place.unwrap_or(Place { index, offset: 0, length: 0 });
        self.reader.entry(place, wanted)
    }

    /// The message with this number, read whole. `None` if it cannot be read, which is reported.
    fn compared(&mut self, index: usize, compare: &Compare, out: &mut Out) -> Option<(Entry<'_>, ComparedMessage<'_>)> {
        let unread = format!("{}: message {index}", self.input.name());
        let entry = match self.entry(index, MessagePart::Whole) {
            Ok(entry) => entry,
            Err(error) => {
                out.report(&unread, &error);
                return None;
            }
        };
        match ComparedMessage::read(compare, &entry) {
            Ok(message) => Some((entry, message)),
            Err(error) => {
                out.report(&entry.place(), &error);
                None
            }
        }
    }
}

/// A comparison in progress.
struct Work<'c, 'o> {
    compare: &'c Compare,
    out: &'o mut Out,
    document: Option<Document>,
    spending: Spending,
    /// Pairs of messages whose annotations were compared.
    annotated: HashSet<(Option<usize>, Option<usize>)>,
}

impl Run for Compare {
    fn listed(&self) -> Listed<'_> {
        self.text.listed(&self.paths)
    }

    fn run(&self, out: &mut Out) -> io::Result<()> {
        out.exit_with_2_for_problems();
        let [a, b] = self.paths.as_slice() else { return Ok(()) };
        let (Some(a), Some(b)) = (open_or_report(a, out), open_or_report(b, out)) else { return Ok(()) };
        let document =
            if self.text.json() { Some(Document::begin(out, "tgm.compare/1", "differences")?) } else { None };
        let spending = self.limits.budget().of_file(u64::MAX);
        let mut work = Work { compare: self, out, document, spending, annotated: HashSet::new() };
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
    /// Compares messages and objects with the same numbers.
    fn by_place(&mut self, a: &Input, b: &Input) -> io::Result<()> {
        let (mut left, mut right) = (Side::new(a), Side::new(b));
        let (selected_a, selected_b) = (self.selected(&mut left), self.selected(&mut right));
        for (&at_a, &at_b) in selected_a.iter().zip(&selected_b) {
            self.messages(&mut left, &mut right, (at_a, at_b))?;
        }
        let both = selected_a.len().min(selected_b.len());
        for (side, name, rest) in [(a, "first", selected_a.get(both..)), (b, "second", selected_b.get(both..))] {
            for index in rest.unwrap_or_default() {
                self.only_in(name, side, (*index, None))?;
            }
        }
        Ok(())
    }

    /// Compares objects whose values of the keys are equal.
    fn by_keys(&mut self, a: &Input, b: &Input) -> io::Result<()> {
        let (mut left, mut right) = (Side::new(a), Side::new(b));
        let (of_a, of_b) = (self.keyed(&mut left), self.keyed(&mut right));
        let mut unmatched: HashMap<&str, VecDeque<Id>> = HashMap::new();
        for (key, id) in &of_b {
            unmatched.entry(key).or_default().push_back(*id);
        }
        let mut pairs = Vec::new();
        for (key, id) in &of_a {
            match unmatched.get_mut(key.as_str()).and_then(VecDeque::pop_front) {
                Some(other) => pairs.push((*id, other)),
                None => self.only_in("first", a, (id.0, Some((id.1, key))))?,
            }
        }
        self.pairs(&mut left, &mut right, pairs)?;
        let mut rest: Vec<_> =
            unmatched.into_iter().flat_map(|(key, ids)| ids.into_iter().map(move |id| (id, key))).collect();
        rest.sort_unstable();
        for ((message, object), key) in rest {
            self.only_in("second", b, (message, Some((object, key))))?;
        }
        Ok(())
    }

    /// Compares pairs of objects. A message is read once for all pairs that follow each other, of the file with fewer messages
    /// once for all of its pairs: two files of equal objects take the time of reading them, however they are divided.
    fn pairs<'i>(&mut self, left: &mut Side<'i>, right: &mut Side<'i>, mut pairs: Vec<(Id, Id)>) -> io::Result<()> {
        let count = |message: fn(&(Id, Id)) -> usize| pairs.iter().map(message).collect::<HashSet<_>>().len();
        let of_a: fn(&(Id, Id)) -> usize = |pair| pair.0.0;
        let of_b: fn(&(Id, Id)) -> usize = |pair| pair.1.0;
        let is_by_a = count(of_a) <= count(of_b);
        let (outer, inner) = if is_by_a { (of_a, of_b) } else { (of_b, of_a) };
        pairs.sort_by_key(outer);
        let (outer_side, inner_side) = if is_by_a { (left, right) } else { (right, left) };
        for of_outer in pairs.chunk_by(|one, next| outer(one) == outer(next)) {
            let Some(at) = of_outer.first().map(outer) else { continue };
            let Some((outer_entry, outer_message)) = outer_side.compared(at, self.compare, self.out) else { continue };
            for of_inner in of_outer.chunk_by(|one, next| inner(one) == inner(next)) {
                let Some(at) = of_inner.first().map(inner) else { continue };
                let Some((entry, message)) = inner_side.compared(at, self.compare, self.out) else { continue };
                let objects = of_inner.iter().map(|(a, b)| (a.1, b.1)).collect();
                let (first, second) = ((&outer_entry, &outer_message), (&entry, &message));
                let (first, second) = if is_by_a { (first, second) } else { (second, first) };
                self.both(first, second, Some(objects))?;
            }
        }
        Ok(())
    }

    /// The numbers of the messages that are selected.
    fn selected(&mut self, side: &mut Side<'_>) -> Vec<usize> {
        let mut found = Vec::new();
        for index in self.compare.choice.of(side.input, self.out).unwrap_or_default() {
            let Compare { selection, digests, .. } = self.compare;
            if selection.is_empty() {
                found.push(index);
                continue;
            }
            let selected = side.entry(index, MessagePart::Outline).and_then(|entry| {
                let message = Message::parse(entry.bytes)?;
                Ok(selection.has(&digests.metadata(&message)?, Structure::new(&message, &entry))?)
            });
            match selected {
                Ok(true) => found.push(index),
                Ok(false) => {}
                Err(error) => self.out.report(&format!("{}: message {index}", side.input.name()), &error),
            }
        }
        found
    }

    /// The objects that are selected, each with the values of the keys.
    fn keyed(&mut self, side: &mut Side<'_>) -> Vec<(String, Id)> {
        let mut found = Vec::new();
        for index in self.compare.choice.of(side.input, self.out).unwrap_or_default() {
            let keys = side.entry(index, MessagePart::Outline).and_then(|entry| self.keys_of(&entry));
            match keys {
                Ok(keys) => found.extend(keys.into_iter().map(|(object, key)| (key, (index, object)))),
                Err(error) => self.out.report(&format!("{}: message {index}", side.input.name()), &error),
            }
        }
        found
    }

    fn keys_of(&self, entry: &Entry<'_>) -> Result<Vec<(usize, String)>, TensogramError> {
        let Compare { by, selection, only, digests, .. } = self.compare;
        let message = Message::parse(entry.bytes)?;
        let metadata = digests.metadata(&message)?;
        let asked = annotations(&metadata, by.iter().map(String::as_str))?;
        let among = selection.of_objects(&metadata)?;
        let mut found = Vec::new();
        for (index, (about, object)) in metadata.objects().zip(message.objects()).enumerate() {
            let (about, object) = (about?, object.ok());
            let structure = Structure::new(&message, entry).of_object(index, object.as_ref());
            if !only.has(index) || !among.has(&about, structure)? {
                continue;
            }
            let scope = Scope::Object(&about, &asked, structure);
            let value = |key: &String| scope.get(key).map(|value| format!("{key}={}", shown(value.as_ref())));
            let values = by.iter().map(value).collect::<Result<Vec<_>, _>>()?;
            found.push((index, values.join(", ")));
        }
        Ok(found)
    }

    /// Compares two messages with all of their objects.
    fn messages(&mut self, left: &mut Side<'_>, right: &mut Side<'_>, (at_a, at_b): Id) -> io::Result<()> {
        let Some((a, first)) = left.compared(at_a, self.compare, self.out) else { return Ok(()) };
        let Some((b, second)) = right.compared(at_b, self.compare, self.out) else { return Ok(()) };
        self.both((&a, &first), (&b, &second), None)
    }

    /// Compares two messages that were read: all of their objects, or the pairs that are named.
    fn both(
        &mut self,
        (a, first): (&Entry<'_>, &ComparedMessage<'_>),
        (b, second): (&Entry<'_>, &ComparedMessage<'_>),
        pairs: Option<Vec<Id>>,
    ) -> io::Result<()> {
        let (at_a, at_b) = (a.index, b.index);
        let place = if at_a == at_b { format!("message {at_a}") } else { format!("message {at_a} and {at_b}") };
        if self.annotated.insert((at_a.0, at_b.0)) {
            self.spending.begin_message(a.length().max(b.length()));
            self.trees(&place, &first.annotations, &second.annotations)?;
        }
        let pairs: Vec<Id> = if let Some(pairs) = pairs {
            pairs
        } else {
            let counts = (first.objects.len(), second.objects.len());
            if counts.0 != counts.1 {
                let what = format!("{} objects, {} objects", counts.0, counts.1);
                self.tell(&place, &what, &json!({"kind": "objects", "a": counts.0, "b": counts.1}))?;
            }
            let numbers = 0..counts.0.min(counts.1);
            numbers.filter(|object| self.compare.only.has(*object)).map(|object| (object, object)).collect()
        };
        for (one, other) in pairs {
            let numbers = if one == other { format!("{one}") } else { format!("{one} and {other}") };
            let place = format!("{place}, object {numbers}");
            let (Some(one), Some(other)) = (first.objects.get(one), second.objects.get(other)) else { continue };
            if let Err(error) = self.objects(&place, one, other)? {
                self.out.report(&place, &error);
            }
        }
        Ok(())
    }

    fn objects(
        &mut self,
        place: &str,
        a: &ComparedObject<'_>,
        b: &ComparedObject<'_>,
    ) -> io::Result<Result<(), TensogramError>> {
        self.trees(place, &a.metadata, &b.metadata)?;
        let (of_a, of_b) = (a.object.descriptor(), b.object.descriptor());
        let mut structure = vec![("dtype", of_a.dtype().name().to_string(), of_b.dtype().name().to_string())];
        if self.compare.storage {
            structure.extend([
                ("byte_order", of_a.byte_order().name().to_string(), of_b.byte_order().name().to_string()),
                ("encoding", of_a.encoding().to_string(), of_b.encoding().to_string()),
                ("filter", of_a.filter().to_string(), of_b.filter().to_string()),
                ("compression", of_a.compression().to_string(), of_b.compression().to_string()),
            ]);
        }
        let shapes: [Vec<u64>; 2] = [of_a, of_b].map(|descriptor| descriptor.shape().iter().collect());
        structure.push(("shape", shape_text(&shapes[0]), shape_text(&shapes[1])));
        for (key, a, b) in structure.iter().filter(|(_, a, b)| a != b) {
            let json = json!({"kind": "structure", "key": key, "a": a, "b": b});
            self.tell(place, &format!("{key}: {a}, {b}"), &json)?;
        }
        if self.compare.no_values || shapes[0] != shapes[1] {
            return Ok(Ok(()));
        }
        let found = match self.values(a, b) {
            Ok(found) => found,
            Err(error) => return Ok(Err(error)),
        };
        if let Some(greatest) = found.greatest {
            let at = indices(greatest.element, &shapes[0]);
            let count = a.object.descriptor().element_count();
            let what = format!(
                "values: {} of {count} differ, most at {at:?}: {} and {}, by {:.6e}",
                found.count,
                text_of(greatest.a),
                text_of(greatest.b),
                greatest.difference
            );
            let number = |value: Number| json_of(value).unwrap_or_else(|| text_of(value).into());
            let json = json!({
                "kind": "values", "count": found.count, "of": count, "at": at, "a": number(greatest.a),
                "b": number(greatest.b), "difference": number(Number::Float(greatest.difference)),
            });
            self.tell(place, &what, &json)?;
        }
        Ok(Ok(()))
    }

    fn values(&mut self, a: &ComparedObject<'_>, b: &ComparedObject<'_>) -> Result<Differences, TensogramError> {
        let options = self.compare.decoding.options();
        for object in [&a.object, &b.object] {
            self.spending.spend(object, &options.limits)?;
        }
        let (of_a, of_b) =
            (tgm_std::read(&a.object).options(&options).bytes()?, tgm_std::read(&b.object).options(&options).bytes()?);
        let one = Elements::of(a.object.descriptor(), &of_a);
        let other = Elements::of(b.object.descriptor(), &of_b);
        Ok(differences(&one, &other, self.compare.tolerance(None), self.compare.nan_differs))
    }

    /// Compares two trees of metadata.
    fn trees(&mut self, place: &str, a: &Json, b: &Json) -> io::Result<()> {
        let (of_a, of_b) = (leaves(a), leaves(b));
        let there: HashMap<&str, &Json> = of_b.iter().map(|(path, value)| (path.as_str(), *value)).collect();
        let here: HashSet<&str> = of_a.iter().map(|(path, _)| path.as_str()).collect();
        let of_first = of_a.iter().map(|(path, value)| (path, Some(*value), there.get(path.as_str()).copied()));
        let rest = of_b.iter().filter(|(path, _)| !here.contains(path.as_str()));
        for (path, a, b) in of_first.chain(rest.map(|(path, value)| (path, None, Some(*value)))) {
            let is_equal = matches!((a, b), (Some(a), Some(b)) if self.compare.is_equal(path, a, b));
            if is_equal || self.compare.is_ignored(path) {
                continue;
            }
            let what = format!("{path}: {}, {}", shown(a), shown(b));
            let entry = json::object([
                ("kind", Some("metadata".into())),
                ("key", Some(path.as_str().into())),
                ("a", a.cloned()),
                ("b", b.cloned()),
            ]);
            self.tell(place, &what, &entry)?;
        }
        Ok(())
    }

    /// Tells of a message or an object that one file alone has.
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

    /// Tells of a difference: where, what, and as an entry of the document.
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

/// A value of metadata, shortened.
fn shown(value: Option<&Json>) -> String {
    value.map_or("(missing)".to_string(), |value| shorten(&text(value), 60))
}

/// A message that is compared: its annotations and objects.
struct ComparedMessage<'f> {
    annotations: Json,
    objects: Vec<ComparedObject<'f>>,
}

/// An object that is compared.
struct ComparedObject<'f> {
    object: DataObject<'f>,
    metadata: Json,
}

impl<'f> ComparedMessage<'f> {
    fn read(Compare { digests, only, .. }: &Compare, entry: &Entry<'f>) -> Result<Self, TensogramError> {
        let message = Message::parse(entry.bytes)?;
        digests.check_all(&message)?;
        let metadata = message.metadata()?;
        only.check(metadata.object_count())?;
        let objects = message.objects().zip(metadata.objects()).map(|(object, about)| {
            let entries = about?.entries().filter(|entry| !is_reserved(entry));
            Ok(ComparedObject { object: object?, metadata: json::map_json(entries)? })
        });
        let objects = objects.collect::<Result<Vec<_>, tgm_core::Error>>()?;
        Ok(Self { annotations: annotations_of(&metadata)?, objects })
    }
}

type MapEntry<'a> = tgm_core::Result<(tgm_core::cbor::Value<'a>, tgm_core::cbor::Value<'a>)>;

fn is_reserved(entry: &MapEntry<'_>) -> bool {
    let Ok((key, _)) = entry else { return false };
    key.as_text().is_ok_and(|key| key == *RESERVED_KEY)
}

fn annotations_of(metadata: &MessageMetadata<'_>) -> tgm_core::Result<Json> {
    json::map_json(metadata.frame().extra_entries())
}
