//! Messages that a catalogue selects, so that others are not read.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use tgm_catalog::tree::{Choice, Chosen};
use tgm_catalog::{Catalog, CatalogLimits, Freshness};
use tgm_std::metadata::query::Query;
use tgm_std::{DecodeOptions, MessageLayout, Result, TensogramError, TensogramFile};

use crate::read::asked;
use crate::read::choice::MessageChoice;
use crate::read::distant::{Distant, Found, is_distant};
use crate::read::entry::Entry;
use crate::read::in_order::thread_count;
use crate::read::input::{Input, MessagePart};
use crate::read::messages::for_each_message;
use crate::read::opening::{open_of_tree_or_report, open_or_report};
use crate::read::select::Selection;
use crate::read::structure::{COMPUTED, Structure};
use crate::show::output::Out;
use tgm_std::file::{Data, SourceName};

/// The flag that names a catalogue.
#[derive(Args, Debug)]
pub(crate) struct Cataloged {
    /// Read only messages that -w selects in this catalogue of FILE (`tgm catalog`); one that does not fit FILE is not
    /// used, with a warning
    #[arg(long, value_name = "FILE", requires = "queries")]
    catalog: Option<PathBuf>,
}

impl Cataloged {
    /// Whether the command line makes sense: one catalogue is of one file.
    pub(crate) fn fits(&self, paths: &[PathBuf]) -> bool {
        self.catalog.is_none() || matches!(paths, [one] if !Choice::is_tree(one))
    }

    /// Whether messages are found by a catalogue: the command line names one, or a tree.
    pub(crate) fn is_used(&self, paths: &[PathBuf]) -> bool {
        self.catalog.is_some() || paths.iter().any(|path| Choice::is_tree(path))
    }

    /// [`for_each_message`] for messages that can be selected. With `by_objects`
    /// one of their objects can be.
    ///
    /// # Errors
    /// The errors of `with`.
    pub(crate) fn for_each_message(
        &self,
        (paths, choice): (&[PathBuf], MessageChoice),
        (selection, by_objects): (&Selection, bool),
        out: &mut Out,
        mut with: impl FnMut(&mut Out, &Entry<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        if !self.is_used(paths) {
            return for_each_message(paths, choice, MessagePart::Outline, out, with);
        }
        for path in paths {
            let is_tree = Choice::is_tree(path);
            for Sourced { path, given } in self.sources(path, selection, out) {
                if out.is_full() {
                    break;
                }
                let Some(given) = given else {
                    for_each_message(&[path], choice, MessagePart::Outline, out, &mut with)?;
                    continue;
                };
                let asked = (selection, by_objects);
                if is_distant(&path) && given.for_each_distant(&path, choice, asked, out, &mut with)? {
                    continue;
                }
                let opened = if is_tree { open_of_tree_or_report(&path, out) } else { open_or_report(&path, out) };
                let Some(input) = opened else { continue };
                let Some(numbers) = choice.of(&input, out) else { continue };
                let mut candidates = given.candidates(&input, asked, out);
                if let Some(candidates) = candidates.as_mut().filter(|candidates| !candidates.contains(&true)) {
                    asked::note_missing(candidates.len().saturating_sub(1) as u64, given.missing(selection));
                    // One message is asked, whose metadata show whether the filter is written so that it can hold.
                    if let Some(first) = candidates.first_mut() {
                        *first = true;
                    }
                }
                let can_be = |index: usize| candidates.as_ref().is_none_or(|can_be| can_be.get(index) != Some(&false));
                input.for_each_among(out, numbers, can_be, MessagePart::Outline, &mut with)?;
            }
        }
        Ok(())
    }

    /// The sources that a path stands for: itself, or files of a tree that can have what is selected. What cannot be read is
    /// reported.
    fn sources(&self, path: &Path, selection: &Selection, out: &mut Out) -> Vec<Sourced> {
        if !Choice::is_tree(path) {
            let given = self.catalog.as_ref().map(|catalog| Given { path: catalog.clone(), catalog: open(catalog) });
            return vec![Sourced { path: path.to_path_buf(), given }];
        }
        // What a catalogue does not hold is asked of the messages.
        let queries: Vec<Query> = selection.queries().iter().filter(|query| is_held(query)).cloned().collect();
        match Choice::of(
            path,
            &queries,
            &DecodeOptions { threads: u32::try_from(thread_count(0)).unwrap_or(1), ..DecodeOptions::default() },
        ) {
            Ok(choice) => {
                choice.notes.iter().for_each(|note| out.remark(&format!("warning: {}: {note}", SourceName::of(path))));
                let sourced = |file: Chosen| Sourced {
                    path: file.path,
                    given: Some(Given { path: file.catalog_path, catalog: file.catalog }),
                };
                choice.files.into_iter().map(sourced).collect()
            }
            Err(error) => {
                out.report(&SourceName::of(path).to_string(), &error);
                Vec::new()
            }
        }
    }
}

/// A source, and its catalogue.
struct Sourced {
    path: PathBuf,
    given: Option<Given>,
}

/// A catalogue that a command line or a tree names.
struct Given {
    path: PathBuf,
    catalog: Result<Catalog>,
}

impl Given {
    /// Calls `with` for messages of a source at an address: only messages that can be selected are read, at the places that
    /// the catalogue knows. Returns whether the catalogue could be used so.
    ///
    /// # Errors
    /// The errors of `with`.
    fn for_each_distant(
        &self,
        path: &Path,
        choice: MessageChoice,
        (selection, by_objects): (&Selection, bool),
        out: &mut Out,
        mut with: impl FnMut(&mut Out, &Entry<'_>) -> io::Result<()>,
    ) -> io::Result<bool> {
        let Ok(catalog) = &self.catalog else { return Ok(false) };
        let is_chosen = |found: &Found| {
            choice.message.is_none_or(|index| found.number == index.into())
                && choice.at.is_none_or(|at| found.layout.offset == at)
        };
        let found = selected(catalog, selection, by_objects).and_then(|candidates| {
            let numbers = (0..).zip(candidates).filter_map(|(index, can_be)| can_be.then_some(index));
            let places = numbers.map(|index| {
                let place = catalog.message_range(index)?;
                let layout = MessageLayout { offset: place.start, length: place.end - place.start };
                Ok(Found::new(index, layout))
            });
            places.filter(|found| found.as_ref().map_or(true, is_chosen)).collect::<Result<Vec<_>>>()
        });
        let (Ok(found), Some(source)) = (found, Distant::open_or_report(path, out)) else { return Ok(false) };
        let mut buffer = Vec::new();
        // An answer tells how long the source is. A message that is not as the catalogue says is an error.
        let first = found.first().map(|first| source.entry(*first, MessagePart::Outline, &mut buffer).map(drop));
        if first.is_some_and(|first| first.is_err())
            || !source.data().length().is_ok_and(|len| len == catalog.covered())
        {
            return Ok(false);
        }
        match catalog.is_of_same_file(source.data()) {
            Some(true) => {}
            // What is read then can tell.
            Some(false) => return Ok(false),
            None => out.remark(&format!("warning: {}: {}", SourceName::of(path), Freshness::NotChecked)),
        }
        if found.is_empty() {
            asked::note_missing(catalog.message_count() as u64, self.missing(selection));
        }
        for found in found {
            if out.is_full() {
                break;
            }
            match source.entry(found, MessagePart::Outline, &mut buffer) {
                Ok(entry) => with(out, &entry)?,
                Err(error) => {
                    if source.report_unread_message(out, found, &error).is_break() {
                        break;
                    }
                }
            }
        }
        Ok(true)
    }

    /// The keys of the filters that no message of the catalogue has.
    fn missing(&self, selection: &Selection) -> Vec<String> {
        let Ok(catalog) = &self.catalog else { return Vec::new() };
        let is_missing = |key: &&str| {
            let quoted = key.replace('\\', "\\\\").replace('"', "\\\"");
            let Ok(query) = format!("\"{quoted}\"?").parse::<Query>() else { return false };
            !Structure::has_key(key) && catalog.select_messages(&query).is_ok_and(|found| found.is_empty())
        };
        selection.queries().iter().flat_map(Query::keys).filter(is_missing).map(str::to_string).collect()
    }

    /// For each covered message, whether it can be selected. `None` if the catalogue cannot be used.
    fn candidates(&self, input: &Input, asked: (&Selection, bool), out: &mut Out) -> Option<Vec<bool>> {
        let not_used = |out: &mut Out, why: &dyn fmt::Display| {
            out.remark(&format!("warning: {} is not used: {why}", SourceName::of(&self.path)));
        };
        match &self.catalog {
            Ok(catalog) => candidates(catalog, input, asked, out).inspect_err(|why| not_used(out, why)).ok(),
            Err(why) => {
                not_used(out, why);
                None
            }
        }
    }
}

fn candidates(
    catalog: &Catalog,
    input: &Input,
    (selection, by_objects): (&Selection, bool),
    out: &mut Out,
) -> Result<Vec<bool>> {
    match catalog.check(input.data())? {
        Freshness::Stale(why) => return Err(TensogramError::Metadata(format!("it is stale: {why}").into())),
        Freshness::NotChecked => out.remark(&format!("warning: {}: {}", input.name(), Freshness::NotChecked)),
        _ => {}
    }
    selected(catalog, selection, by_objects)
}

/// The catalogue at a path or an address.
fn open(path: &Path) -> Result<Catalog> {
    if !is_distant(path) {
        return Catalog::open(path);
    }
    let source = TensogramFile::open_source(path.to_string_lossy(), None)?;
    let (length, most) = (Data::from(&source).length()?, CatalogLimits::default().max_bytes);
    if length > most {
        return Err(TensogramError::Metadata(format!("a catalogue of {length} bytes, of at most {most}").into()));
    }
    Catalog::from_bytes(&source.read_message_at(MessageLayout { offset: 0, length })?)
}

/// Whether a catalogue can have the keys of a query. Some are computed.
fn is_held(query: &Query) -> bool {
    !query.keys().any(|key| COMPUTED.contains(&key))
}

/// For each message of the catalogue, whether it can be selected.
fn selected(catalog: &Catalog, selection: &Selection, by_objects: bool) -> Result<Vec<bool>> {
    let count = catalog.message_count();
    let mut candidates = vec![true; count];
    // What a catalogue does not hold is asked of the messages.
    for query in selection.queries().iter().filter(|query| is_held(query)) {
        let mut found = vec![false; count];
        let mut add = |message: usize| found.get_mut(message).map(|found| *found = true);
        if by_objects {
            catalog.select(query)?.into_iter().for_each(|(message, _)| _ = add(message));
            for message in 0..count {
                if catalog.objects_of(message)? == 0 {
                    add(message);
                }
            }
        } else {
            catalog.select_messages(query)?.into_iter().for_each(|message| _ = add(message));
        }
        candidates.iter_mut().zip(found).for_each(|(all, found)| *all &= found);
    }
    Ok(candidates)
}
