//! Which files of a tree a query needs, with their catalogues.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tgm_std::codec::interrupt::{Watch, is_stopped};
use tgm_std::file::SourceName;
use tgm_std::hash::digest;
use tgm_std::metadata::query::Query;
use tgm_std::{DecodeOptions, Result, TensogramError, interrupt};

use super::child::{Child, ChildKind};
use super::files::{Files, Folder, State, read};
use super::{ENDING, Tree, TreeLimits};
use crate::{Catalog, CatalogLimits, bad};

/// Trees below each other, at most.
const DEEPEST: usize = 8;

/// A file that a query needs.
#[derive(Debug)]
#[non_exhaustive]
pub struct Chosen {
    /// Its path or address.
    pub path: PathBuf,
    /// The path or the address of its catalogue.
    pub catalog_path: PathBuf,
    /// Its catalogue, or why that cannot be opened. Whether it fits the file is not checked.
    pub catalog: Result<Catalog>,
}

/// The files that a query needs.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Choice {
    /// In the order of the tree.
    pub files: Vec<Chosen>,
    /// What the tree cannot tell, and what has changed.
    pub notes: Vec<String>,
    /// Messages of the files that were left out, as the trees have them.
    pub left_out: u64,
}

/// How files are chosen.
struct Chooser<'q> {
    queries: &'q [Query],
    options: &'q DecodeOptions,
    choice: Choice,
    changed: Counted,
    updated: Counted,
    missing: Counted,
    not_asked: u64,
    /// Children of the trees that were opened.
    children: usize,
}

/// How many there are, and the first one.
#[derive(Default)]
struct Counted {
    count: u64,
    first: Option<String>,
}

impl Counted {
    fn add(&mut self, path: &Path) {
        self.count += 1;
        self.first.get_or_insert_with(|| SourceName::of(path).to_string());
    }

    fn note(self, notes: &mut Vec<String>, what: &str) {
        match (self.first, self.count) {
            (Some(first), 1) => notes.push(format!("{first} {what}")),
            (Some(first), count) => notes.push(format!("{first} and {} others: each {what}", count - 1)),
            (None, _) => {}
        }
    }
}

/// A child that is to be read.
struct Wanted {
    child: Child,
    /// Whether something in it may be selected. Otherwise it is a tree whose files may have changed.
    may_hold: bool,
}

impl Choice {
    /// Whether a source is a tree, by its name: it ends with [`ENDING`].
    pub fn is_tree(source: &Path) -> bool {
        let text = source.to_string_lossy();
        if !tgm_std::file::is_remote_url(&text) {
            return text.ends_with(ENDING);
        }
        text.split(['?', '#']).next().is_some_and(|path| path.ends_with(ENDING))
    }

    /// The files of the tree at a path or an address that the queries need. All of them without queries.
    ///
    /// # Errors
    /// The errors of reading the tree; [`TensogramError::Metadata`] if it is damaged, or has no key of the queries.
    pub fn of(tree: &Path, queries: &[Query], options: &DecodeOptions) -> Result<Self> {
        let named = |error: TensogramError| error.within(SourceName::of(tree));
        let limits = TreeLimits::default();
        let bytes = read(tree, limits.max_bytes).map_err(named)?;
        let opened = Tree::from_bytes_with(&bytes, &limits).map_err(named)?;
        drop(bytes);
        Self::of_files(&opened, &Folder::of_tree(tree), queries, options).map_err(named)
    }

    /// The files of an open tree that the queries need.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn of_files(tree: &Tree, files: &dyn Files, queries: &[Query], options: &DecodeOptions) -> Result<Self> {
        let [changed, updated, missing] = std::array::from_fn(|_| Counted::default());
        let choice = Self::default();
        let mut chooser = Chooser { queries, options, choice, changed, updated, missing, not_asked: 0, children: 0 };
        chooser.choose(tree, files, true, 0)?;
        let Chooser { choice: mut found, changed, updated, missing, not_asked, .. } = chooser;
        changed.note(&mut found.notes, "was changed since the tree was written, and is read: update the tree");
        updated.note(
            &mut found.notes,
            "was changed since the tree was written, and has other catalogued values: update the tree",
        );
        missing.note(&mut found.notes, "is in the tree, and is not there");
        if not_asked > 0 {
            found.notes.push(format!(
                "{not_asked} files at addresses do not match and were not asked whether they changed since the tree was written"
            ));
        }
        Ok(found)
    }
}

impl Chooser<'_> {
    fn choose(&mut self, tree: &Tree, files: &dyn Files, may_hold: bool, depth: usize) -> Result<()> {
        if depth > DEEPEST {
            return Err(bad(format!("more than {DEEPEST} trees lie below each other")));
        }
        // Trees that share trees below them would be opened over and over.
        let most = TreeLimits::default().max_children;
        self.children = self.children.saturating_add(tree.child_count());
        if self.children > most {
            return Err(bad(format!("the trees below each other have more than {most} children")));
        }
        let chosen = tree.may_hold(self.queries)?;
        let mut wanted = Vec::new();
        for (child, chosen) in tree.children()?.into_iter().zip(chosen) {
            let chosen = chosen && may_hold;
            if chosen || self.may_have_changed(&child, files) {
                wanted.push(Wanted { child, may_hold: chosen });
            } else {
                self.choice.left_out = self.choice.left_out.saturating_add(child.messages);
            }
        }
        for some in wanted.chunks(files.side_by_side().max(1) * 4) {
            interrupt::check()?;
            let most = |child: &Child| match child.kind {
                ChildKind::File => CatalogLimits::default().max_bytes,
                ChildKind::Tree => TreeLimits::default().max_bytes,
            };
            let read = |wanted: &Wanted| files.read(&wanted.child.catalog_name(), most(&wanted.child));
            let read = side_by_side(some, files.side_by_side(), read);
            for (Wanted { child, may_hold }, bytes) in some.iter().zip(read) {
                if bytes.as_ref().is_ok_and(|bytes| bytes.len() as u64 != child.length || digest(bytes) != child.digest)
                {
                    self.updated.add(&files.path(&child.catalog_name()));
                }
                match child.kind {
                    ChildKind::File => self.add(child, files, bytes),
                    ChildKind::Tree => {
                        let below = files.beside(&child.name);
                        let tree = bytes.and_then(|bytes| Tree::from_bytes(&bytes));
                        let chosen = tree.and_then(|tree| self.choose(&tree, &*below, *may_hold, depth + 1));
                        chosen.map_err(|error| error.within(SourceName::of(&files.path(&child.name))))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a child that cannot be selected is not as it was, so that it has to be read.
    fn may_have_changed(&mut self, child: &Child, files: &dyn Files) -> bool {
        match (child.kind, files.state(&child.name)) {
            (_, State::NotAsked) => {
                self.not_asked += 1;
                false
            }
            (_, State::Missing) => {
                self.missing.add(&files.path(&child.name));
                false
            }
            // Files below it can have changed.
            (ChildKind::Tree, State::Is(_)) => true,
            (ChildKind::File, State::Is(identity)) => {
                let is_changed = child.identity != Some(digest(&identity));
                if is_changed {
                    self.changed.add(&files.path(&child.name));
                }
                is_changed
            }
        }
    }

    fn add(&mut self, child: &Child, files: &dyn Files, bytes: Result<Vec<u8>>) {
        let limits = CatalogLimits::default();
        let catalog = bytes.and_then(|bytes| Catalog::from_bytes_with(&bytes, &limits, self.options));
        let (path, catalog_path) = (files.path(&child.name), files.path(&child.catalog_name()));
        self.choice.files.push(Chosen { path, catalog_path, catalog });
    }
}

/// How long a call waits for its helpers before it asks again whether to stop.
const PAUSE: Duration = Duration::from_millis(1);

/// The results of `f` for all items, in their order, by as many threads, which may wait for files and servers. Where the system
/// has no threads left, there are fewer. All of them are stopped when the work of this thread is.
pub fn side_by_side<T: Sync, R: Send>(items: &[T], threads: usize, f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = threads.min(items.len());
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
    let work = || {
        while let Some((number, item)) = {
            let number = next.fetch_add(1, Ordering::Relaxed);
            items.get(number).map(|item| (number, item))
        } {
            let result = f(item);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((number, result));
        }
    };
    let watch = Watch::of_this_thread();
    std::thread::scope(|scope| {
        let mut helpers = Vec::new();
        for _ in 1..threads {
            let watch = watch.clone();
            let help = move || watch.map_or_else(work, |watch| watch.run(work));
            let Ok(helper) = std::thread::Builder::new().spawn_scoped(scope, help) else { break };
            helpers.push(helper);
        }
        work();
        // Only this thread can ask whether to stop, so it does not just wait for the others.
        while watch.is_some() && helpers.iter().any(|helper| !helper.is_finished()) {
            is_stopped();
            std::thread::sleep(PAUSE);
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_stop_with_the_work() {
        let all = std::sync::Barrier::new(4);
        let stopped = interrupt::with(
            || true,
            || {
                side_by_side(&[0; 4], 4, |_| {
                    // One for each thread.
                    all.wait();
                    let end = std::time::Instant::now() + Duration::from_secs(5);
                    while !is_stopped() && std::time::Instant::now() < end {
                        std::thread::sleep(PAUSE);
                    }
                    is_stopped()
                })
            },
        );
        assert_eq!(stopped, [true; 4]);
    }
}
