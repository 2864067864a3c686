//! Which messages a command asks for, and where it gets them from: every command that has a filter opens its files here, and
//! messages that a catalogue rules out are not read.

use std::path::{Path, PathBuf};

use clap::Args;
use tgm_catalog::Catalog;
use tgm_catalog::tree::{Choice, Chosen};
use tgm_std::DecodeOptions;
use tgm_std::file::SourceName;
use tgm_std::metadata::query::Query;

use crate::read::candidates::{Filter, Given, Level, Opened, is_held};
use crate::read::choice::MessageChoice;
use crate::read::input::Input;
use crate::read::opening::{open_of_tree_or_report, open_or_report};
use crate::read::select::Selection;
use crate::read::streamed::is_stream;
use crate::read::threads::thread_count;
use crate::show::output::Out;

/// The flag that names a catalogue.
#[derive(Args, Debug)]
pub(crate) struct Cataloged {
    /// Read only messages that -w selects in this catalogue of FILE (`tgm catalog`), a file or an address; one that does not
    /// fit FILE is not used, with a warning [default: FILE.catalog, if it is there]
    #[arg(long, value_name = "FILE", requires = "queries")]
    pub(crate) catalog: Option<PathBuf>,
}

impl Cataloged {
    /// Whether the command line makes sense: one catalogue is of one file.
    pub(crate) fn fits(&self, paths: &[PathBuf]) -> bool {
        self.catalog.is_none() || matches!(paths, [one] if !Choice::is_tree(one))
    }
}

/// Which messages of its files a command asks for.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) choice: MessageChoice,
    filter: Filter<'a>,
    /// The catalogue that is named.
    catalog: Option<&'a Path>,
    /// Whether a tree stands for its files.
    has_trees: bool,
}

impl<'a> Asked<'a> {
    /// The messages that a filter can select, which is asked of them or of their objects.
    pub(crate) fn new(choice: MessageChoice, selection: &'a Selection, level: Level) -> Self {
        Self { choice, filter: Filter { queries: selection.queries(), level }, catalog: None, has_trees: false }
    }

    /// All messages that these flags name.
    pub(crate) const fn all(choice: MessageChoice) -> Self {
        Self { choice, filter: Filter { queries: &[], level: Level::Messages }, catalog: None, has_trees: false }
    }

    /// The same by the catalogue that is named, if one is.
    pub(crate) const fn by(self, catalog: Option<&'a Path>) -> Self {
        Self { catalog, ..self }
    }

    /// The same, where a tree stands for its files.
    pub(crate) const fn with_trees(self) -> Self {
        Self { has_trees: true, ..self }
    }

    /// Opens a file, and reports its lost bytes. `None` if it cannot be opened, which is reported.
    pub(crate) fn open_or_report(self, path: &Path, out: &mut Out) -> Option<Input> {
        self.source(path).open(self, out)
    }

    /// A path, with its catalogue.
    pub(crate) fn source(self, path: &Path) -> Source {
        let given = match self.catalog {
            _ if self.filter.queries.is_empty() || Choice::is_tree(path) => None,
            Some(catalog) => Some(Given::named(catalog.to_path_buf(), Catalog::open(catalog))),
            None if is_stream(path) => None,
            None => Given::beside(path),
        };
        Source { path: path.to_path_buf(), given, opened: open_or_report }
    }

    /// What a path stands for: itself, or the files of a tree that can have what is asked for. What cannot be read is reported.
    pub(crate) fn sources(self, path: &Path, out: &mut Out) -> Vec<Source> {
        if !(self.has_trees && Choice::is_tree(path)) {
            return vec![self.source(path)];
        }
        // What a catalogue does not hold is asked of the messages.
        let queries: Vec<Query> = self.filter.queries.iter().filter(|query| is_held(query)).cloned().collect();
        let threads = u32::try_from(thread_count(0)).unwrap_or(1);
        match Choice::of(path, &queries, &DecodeOptions { threads, ..DecodeOptions::default() }) {
            Ok(choice) => {
                choice.notes.iter().for_each(|note| out.remark(&format!("warning: {}: {note}", SourceName::of(path))));
                let of_file = |Chosen { path, catalog_path, catalog, .. }| Source {
                    path,
                    given: Some(Given::named(catalog_path, catalog)),
                    opened: open_of_tree_or_report,
                };
                choice.files.into_iter().map(of_file).collect()
            }
            Err(error) => {
                out.report(&SourceName::of(path).to_string(), &error);
                Vec::new()
            }
        }
    }
}

/// A source of messages, and its catalogue.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    given: Option<Given>,
    opened: Opened,
}

impl Source {
    /// Whether a catalogue says where the messages are, so that the source is not read from start to end.
    pub(crate) const fn is_cataloged(&self) -> bool {
        self.given.is_some()
    }

    /// Opens it, and reports its lost bytes. `None` if it cannot be opened, which is reported.
    pub(crate) fn open(&self, asked: Asked<'_>, out: &mut Out) -> Option<Input> {
        match &self.given {
            Some(given) => given.open(&self.path, self.opened, asked.filter, out),
            None => (self.opened)(&self.path, out),
        }
    }
}
