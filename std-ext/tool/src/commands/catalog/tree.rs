//! Trees: many files with their catalogues.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tgm_catalog::tree::{ALWAYS, Child, Choice, Files as _, Folder, Tree};
use tgm_catalog::{Catalog, Freshness, VaryingKeys};
use tgm_std::TensogramError;
use tgm_std::file::SourceName;
use tgm_std::internal::read_file;

use super::{CatalogOf, beside};
use crate::args::files::usage;
use crate::read::distant::is_distant;
use crate::read::opening::open_of_tree_or_report;
use crate::read::pipes::check_regular;
use crate::show::advice::in_our_words;
use crate::show::output::Out;
use crate::write::destination::{Destination, OutputKind, Reads};
use crate::write::same_file::is_stdio;

/// Changed children that are named by `--check`.
const NAMED: usize = 10;

impl CatalogOf {
    /// Writes a tree of all files, and the catalogues that they lack.
    pub(super) fn build_tree(&self, tree: &Path, out: &mut Out) {
        let Some(keys) = self.keys_of_all(out) else { return };
        let Some(children) = self.children(tree, &keys, out) else { return };
        write(tree, &[], &children, out);
    }

    /// Adds files to a tree, and takes in what changed in those that it has.
    pub(super) fn update_tree(&self, path: &Path, out: &mut Out) -> io::Result<()> {
        if out.output_flags().no_clobber {
            out.problem(&format!("{} exists: --no-clobber leaves it as it is", SourceName::of(path)));
            return Ok(());
        }
        let Some(tree) = open(path, out) else { return Ok(()) };
        let known = match tree.whole_children() {
            Ok(known) => known,
            Err(error) => {
                out.report(&SourceName::of(path).to_string(), &error);
                return Ok(());
            }
        };
        let keys: Vec<String> = tree.keys().map(str::to_string).collect();
        let Some(mut children) = self.children(path, &keys, out) else { return Ok(()) };
        children.retain(|child| !known.contains(child));
        let new = children.iter().filter(|child| !known.iter().any(|known| known.name == child.name)).count();
        let changed = children.len() - new;
        let all = known.len() + new;
        if !children.is_empty() && !write(path, &known, &children, out) {
            return Ok(());
        }
        writeln!(out, "{}: {new} new files, {changed} changed, {all} in all", SourceName::of(path))
    }

    /// Says whether the catalogues of all files of a tree are as they were, and cover the files.
    pub(super) fn check_tree(&self, path: &Path, out: &mut Out) -> io::Result<()> {
        let Some(tree) = open(path, out) else { return Ok(()) };
        let choice = match Choice::of(path, &[], &self.options()) {
            Ok(choice) => choice,
            Err(error) => {
                out.report(&SourceName::of(path).to_string(), &error);
                return Ok(());
            }
        };
        let mut wrong: Vec<String> = choice.notes;
        for file in &choice.files {
            let checked = match &file.catalog {
                Ok(catalog) => tgm_std::TensogramFile::open_source(file.path.to_string_lossy(), None)
                    .and_then(|data| catalog.check_all(&data))
                    .map(|found| if found == Freshness::Fresh { None } else { Some(found.to_string()) }),
                Err(error) => Ok(Some(in_our_words(error))),
            };
            let why = checked.unwrap_or_else(|error| Some(in_our_words(error)));
            wrong.extend(why.map(|why| format!("{}: {why}", SourceName::of(&file.path))));
        }
        let is_fresh = if wrong.is_empty() { "fresh" } else { "stale" };
        let keys = tree.keys().collect::<Vec<_>>().join(", ");
        let messages = tree.message_count().unwrap_or(0);
        let files = choice.files.len();
        writeln!(out, "{}: {is_fresh}; {files} files, {messages} messages; keys: {keys}", SourceName::of(path))?;
        for why in wrong.iter().take(NAMED) {
            writeln!(out, "  {why}")?;
        }
        if wrong.len() > NAMED {
            writeln!(out, "  and {} more", wrong.len() - NAMED)?;
        }
        if !wrong.is_empty() {
            out.fail();
        }
        Ok(())
    }

    /// The keys that catalogues get which are made now. `None` if a file cannot be read, which is reported.
    fn keys_of_all(&self, out: &mut Out) -> Option<Vec<String>> {
        let mut keys = self.keys.clone();
        if self.auto {
            let (mut found, options) = (VaryingKeys::default(), self.options());
            for path in self.paths.iter().filter(|path| !Choice::is_tree(path)) {
                let input = open_of_tree_or_report(path, out)?;
                found.add(input.data(), &options).inspect_err(|error| out.report(input.name(), error)).ok()?;
            }
            keys.extend(found.finish(|key| key.starts_with(ALWAYS)));
        }
        Some(keys)
    }

    /// The children that the files are. Catalogues that are missing, or lack keys, are made; catalogues of files that have grown are
    /// extended. `None` if one cannot be, which is reported.
    fn children(&self, tree: &Path, keys: &[String], out: &mut Out) -> Option<Vec<Child>> {
        let mut children = Vec::with_capacity(self.paths.len());
        let mut is_good = true;
        for path in &self.paths {
            if is_stdio(path) || is_distant(path) {
                usage("a tree is of files that lie in its folder or below");
            }
            let child = match name_below(tree, path) {
                Some(name) if Choice::is_tree(path) => child_of_tree(&name, path).map(Some),
                Some(name) => self.child(&name, path, keys, out),
                None => {
                    let folder = Folder::of_tree(tree).path("").display().to_string();
                    let folder = if folder.is_empty() { ".".into() } else { folder };
                    Err(TensogramError::Metadata(
                        format!("it does not lie in the folder of the tree, {folder}, or below").into(),
                    ))
                }
            };
            match child {
                Ok(Some(child)) => children.push(child),
                Ok(None) => is_good = false,
                Err(error) => {
                    out.report(&SourceName::of(path).to_string(), &error);
                    is_good = false;
                }
            }
        }
        is_good.then_some(children)
    }

    /// The child that a file is. `None` if its catalogue cannot be written, which is reported.
    fn child(&self, name: &str, path: &Path, keys: &[String], out: &mut Out) -> Result<Option<Child>, TensogramError> {
        let Some(input) = open_of_tree_or_report(path, out) else { return Ok(None) };
        let (at, options) = (beside(path), self.options());
        check_regular(&at).map_err(|error| TensogramError::io(&at, &error))?;
        let known = Catalog::open(&at).ok();
        let has_keys = |catalog: &Catalog| keys.iter().all(|key| catalog.keys().any(|known| known == key));
        let kept = match known.filter(has_keys) {
            None => None,
            Some(catalog) => match catalog.check(input.data())? {
                Freshness::Fresh => Some(catalog),
                Freshness::Grown { .. } => Some(Catalog::update(&at, input.data(), &options)?.0),
                _ => None,
            },
        };
        if kept.is_none() {
            // A file in which nothing differs has no keys that do.
            if keys.is_empty() && !self.auto {
                let why = "it has no catalogue that covers it: -k or --auto say which keys it gets";
                return Err(TensogramError::Metadata(why.into()));
            }
            let bytes = Catalog::build_with(input.data(), keys, &options)?.to_bytes();
            let reads = [path.to_path_buf()];
            let destination = Destination::from(at.clone());
            if !destination.write(out, OutputKind::Messages, Reads::Only(&reads), |_, sink| Ok(sink.write_all(&bytes)?))
            {
                return Ok(None);
            }
        }
        // What others will read.
        let bytes = read_file(&at, |_| Ok(()))?;
        Child::of_catalog(name, &Catalog::from_bytes(&bytes)?, &bytes).map(Some)
    }
}

/// Writes a tree with the children that it had, and those that are new or changed. Returns whether it could be written.
fn write(path: &Path, known: &[Child], children: &[Child], out: &mut Out) -> bool {
    let is_kept = |known: &&Child| !children.iter().any(|child| child.name == known.name);
    let all: Vec<Child> = known.iter().filter(is_kept).cloned().chain(children.iter().cloned()).collect();
    let bytes = match Tree::build(&all) {
        Ok(tree) => tree.to_bytes(),
        Err(error) => {
            out.report(&SourceName::of(path).to_string(), &error);
            return false;
        }
    };
    let reads = [path.to_path_buf()];
    let destination = Destination::from(path.to_path_buf());
    destination.write(out, OutputKind::Messages, Reads::AndReplaces(&reads), |_, sink| Ok(sink.write_all(&bytes)?))
}

fn child_of_tree(name: &str, path: &Path) -> Result<Child, TensogramError> {
    let bytes = read_file(path, |_| Ok(()))?;
    Child::of_tree(name, &Tree::from_bytes(&bytes)?, &bytes)
}

/// The path of a file from the folder of a tree, with slashes. `None` if it does not lie there or below.
fn name_below(tree: &Path, path: &Path) -> Option<String> {
    let folder = tree.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let real = |path: &Path| fs::canonicalize(path).or_else(|_| std::path::absolute(path)).ok();
    // The file itself can be a link to elsewhere: its name counts.
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let full: PathBuf = real(parent)?.join(path.file_name()?);
    let below = full.strip_prefix(real(folder)?).ok()?;
    let parts: Option<Vec<&str>> = below.iter().map(|part| part.to_str()).collect();
    Some(parts?.join("/")).filter(|name| !name.is_empty())
}

/// Opens a tree, or reports why it cannot be opened.
fn open(path: &Path, out: &mut Out) -> Option<Tree> {
    Tree::open(path).inspect_err(|error| out.report(&SourceName::of(path).to_string(), error)).ok()
}
