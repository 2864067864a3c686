//! `tgm catalog`: a catalogue of a file, beside it; and trees of many files.

mod tree;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use tgm_catalog::tree::Choice;
use tgm_catalog::{Catalog, Freshness};
use tgm_std::{DecodeOptions, TensogramError};

use crate::args::files::usage;
use crate::args::threads::Threads;
use crate::commands::{Run, examples};
use crate::read::digests::Digests;
use crate::read::input::Input;
use crate::read::opening::open_or_report;
use crate::show::output::Out;
use crate::write::destination::{Destination, Failure, OutputKind, Reads};
use crate::write::same_file::is_stdio;
use tgm_std::file::SourceName;

/// Write a catalogue of a file: places of all messages and objects, and values of keys
///
/// A catalogue answers -w without reading the messages (`tgm ls -w FILTER --catalog FILE.catalog FILE`). It is a file
/// of Tensogram messages. No command writes or reads one unless it is asked to.
///
/// `-o NAME.tree` writes a tree of many files: where each lies, and what values its keys have. `tgm ls -w FILTER NAME.tree` then
/// opens only the files that may match. Catalogues that the files lack are written beside them.
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = examples(&[
    ("tgm catalog --auto three.tgm", "three.tgm.catalog, for queries that read little"),
    ("tgm catalog --check three.tgm", "whether it is up to date"),
]))]
pub(crate) struct CatalogOf {
    /// File to catalogue; "-" is standard input; for a tree files, and trees below it
    #[arg(value_name = "FILE", required = true)]
    paths: Vec<PathBuf>,
    /// Keys to take in, as dotted paths; also dtype, shape, ndim, encoding, filter, compression, objects
    #[arg(short, long = "keys", value_name = "KEY,...", value_delimiter = ',')]
    keys: Vec<String>,
    /// Take in all keys that vary and have at most 65,535 values
    #[arg(long)]
    auto: bool,
    /// Where to write; appears when it is complete; "-" is standard output; NAME.tree is a tree [default: FILE.catalog]
    #[arg(short, visible_short_alias = 'O', long, value_name = "OUT")]
    output: Option<Destination>,
    /// Do not write: say whether the catalogue or the tree covers FILE as it is; the exit code is 1 if not
    #[arg(long, conflicts_with_all = ["keys", "auto", "output", "update", "compact"])]
    check: bool,
    /// Append the messages that are new in FILE to the catalogue; add FILE to the tree of --catalog
    #[arg(long, conflicts_with_all = ["keys", "auto", "output", "compact"])]
    update: bool,
    /// Write the catalogue anew in as few messages as possible
    #[arg(long, conflicts_with_all = ["keys", "auto"])]
    compact: bool,
    /// The catalogue for --check, --update and --compact [default: FILE.catalog]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["keys", "auto"])]
    catalog: Option<PathBuf>,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    digests: Digests,
}

impl Run for CatalogOf {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        if self.catalog.is_some() && !(self.check || self.update || self.compact) {
            usage("--catalog goes with --check, --update or --compact");
        }
        if let Some(path) = self.tree() {
            if self.update {
                return self.update_tree(path, out);
            }
            self.build_tree(path, out);
            return Ok(());
        }
        let [path] = self.paths.as_slice() else {
            usage("a catalogue is of one file; -o NAME.tree writes a tree of several");
        };
        if Choice::is_tree(path) {
            if self.check && self.catalog.is_none() {
                return self.check_tree(path, out);
            }
            usage("a tree is checked with --check, and extended with --update --catalog NAME.tree FILE...");
        }
        let is_named = if self.check || self.update || self.compact { &self.catalog } else { &None };
        if is_stdio(path) && is_named.is_none() && self.output.is_none() {
            usage("standard input has no name to derive the catalogue's from: name it with -o or --catalog");
        }
        if SourceName::of(path).is_address() && is_named.is_none() && self.output.is_none() {
            usage("a catalogue cannot be written beside an address: name it with -o or --catalog");
        }
        if self.compact {
            self.compact(out);
            return Ok(());
        }
        let Some(input) = open_or_report(path, out) else { return Ok(()) };
        if self.check {
            return self.check(out, &input);
        }
        if self.update {
            return self.update(out, &input);
        }
        self.build(out, &input);
        Ok(())
    }
}

impl CatalogOf {
    /// The tree that is written.
    fn tree(&self) -> Option<&Path> {
        let named =
            if self.update { self.catalog.as_deref() } else { self.output.as_ref().and_then(Destination::path) };
        named.filter(|path| !self.compact && Choice::is_tree(path))
    }

    /// The file, of a command that has one.
    fn path(&self) -> &Path {
        self.paths.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// The path of the catalogue.
    fn beside(&self) -> PathBuf {
        self.catalog.clone().unwrap_or_else(|| beside(self.path()))
    }

    fn options(&self) -> DecodeOptions {
        DecodeOptions {
            threads: self.threads.of_library(),
            verify_metadata: !self.digests.are_ignored(),
            ..DecodeOptions::default()
        }
    }

    fn build(&self, out: &mut Out, input: &Input) {
        let built = self.keys(input).and_then(|keys| Catalog::build_with(input.data(), &keys, &self.options()));
        input.progress.take_up(input.len(), input.len(), input.message_count());
        let destination = self.output.clone().unwrap_or_else(|| self.beside().into());
        let reads = [self.path().to_path_buf()];
        destination.write(out, OutputKind::Messages, Reads::Only(&reads), |_, sink| {
            let catalog = built.map_err(Failure::at(input.name()))?;
            Ok(catalog.write_to(sink)?)
        });
    }

    /// The keys that were named, and those that vary if they are asked for.
    fn keys(&self, input: &Input) -> Result<Vec<String>, TensogramError> {
        let mut keys = self.keys.clone();
        if self.auto {
            keys.extend(Catalog::varying_keys(input.data(), &self.options())?);
        }
        Ok(keys)
    }

    fn check(&self, out: &mut Out, input: &Input) -> io::Result<()> {
        let path = self.beside();
        let Some(catalog) = open(&path, out) else { return Ok(()) };
        match catalog.check_all(input.data()) {
            Ok(freshness) => {
                if freshness != Freshness::Fresh {
                    out.fail();
                }
                let (messages, objects) = (catalog.message_count(), catalog.object_count());
                let keys = catalog.keys().collect::<Vec<_>>().join(", ");
                writeln!(
                    out,
                    "{}: {freshness}; {messages} messages, {objects} objects; keys: {keys}",
                    SourceName::of(&path)
                )
            }
            Err(error) => {
                out.report(input.name(), &error);
                Ok(())
            }
        }
    }

    fn update(&self, out: &mut Out, input: &Input) -> io::Result<()> {
        let path = self.beside();
        if out.output_flags().no_clobber && path.exists() {
            out.problem(&format!("{} exists: --no-clobber leaves it as it is", SourceName::of(&path)));
            return Ok(());
        }
        match Catalog::update(&path, input.data(), &self.options()) {
            Ok((catalog, new)) => {
                writeln!(out, "{}: {new} new messages, {} in all", SourceName::of(&path), catalog.message_count())
            }
            Err(error) => {
                out.report(&SourceName::of(&path).to_string(), &error);
                Ok(())
            }
        }
    }

    fn compact(&self, out: &mut Out) {
        let path = self.beside();
        let Some(catalog) = open(&path, out) else { return };
        let destination = self.output.clone().unwrap_or_else(|| path.clone().into());
        let reads = [path.clone()];
        destination.write(out, OutputKind::Messages, Reads::AndReplaces(&reads), |_, sink| {
            let catalog = catalog.compact().map_err(Failure::at(SourceName::of(&path).to_string()))?;
            Ok(catalog.write_to(sink)?)
        });
    }
}

/// The path of a catalogue beside its file.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(".catalog");
    name.into()
}

/// Opens a catalogue, or reports why it cannot be opened.
fn open(path: &Path, out: &mut Out) -> Option<Catalog> {
    Catalog::open(path).inspect_err(|error| out.report(&SourceName::of(&path).to_string(), error)).ok()
}
