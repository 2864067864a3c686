//! Trees: catalogues of very many files, and which of the files a query needs.
//!
//! A catalogue of 10⁹ messages has some gigabytes: too much to read for one selection. A **tree** is a file, by
//! convention `NAME.tree`, that holds for each child where it lies, a proof of its catalogue, and what values each key has in
//! it. A query opens the tree, then the catalogues of those children in which it may hold, and nothing else. A child is a file
//! with its catalogue, or another tree.
//!
//! # 10⁹ messages in 10⁵ files of an object store
//! ```text
//! step 1   the tree                              1 request      3.3 MB for 100,000 files
//! step 2   the catalogues of 100 of the files    100 requests   3 to 80 KB each, side by side
//! step 3   the values of 10,000 messages         as many ranges as the objects make, side by side
//! ```
//! A source at an address tells its length with its first 64 KiB, so a longer file takes two requests, one after the other: no
//! more than 4 steps until all messages are known. The simulation in `tests/catalog/tree_scale.rs` counts requests and bytes:
//! its figures are in `std-ext/catalog/README.md`. A process holds the tree (its bytes, and columns of the keys that were asked
//! for), and the catalogues that it chose.
//!
//! Beyond some 10⁶ files the tree itself is too long for one selection. Then it is cut: a tree for each year, and a tree of
//! those. Each level is one more step.
//!
//! # The file
//! A file of ordinary messages. Each message, a **leaf**, has a row for each of at most 65,536 children; children that come
//! are appended as a leaf ([`Tree::add`]). The later of two children with one name counts. Objects of a leaf are columns, as in a
//! [catalogue](crate):
//!
//! | column | for each | number |
//! |---|---|---|
//! | `child.kind` | child | 0: a file with a catalogue, 1: a tree |
//! | `child.messages`, `child.objects` | child | how many |
//! | `child.length`, `child.digest` | child | bytes of its catalogue or tree, and XXH3-64 of them |
//! | `child.identity` | child | XXH3-64 of the `identity` of its data as the catalogue has it; 0 if there is none |
//! | `child.name`, `child.catalog` | child | bytes of its name, and of its catalogue's name if that is not `NAME.catalog` |
//! | `child.name_bytes`, `child.catalog_bytes` | byte | the names, one after the other |
//! | `key.PATH` | child | which summary says what values the child has under the key |
//! | `form.PATH` | summary | 2 × (0: the listed values, 1: from the least to the greatest, 2: anything) + 1 if the key is missing somewhere |
//! | `count.PATH` | summary | how many members it has |
//! | `member.PATH` | member | which value it is |
//! | `value.PATH`, `bytes.PATH` | value, byte | its bytes, and the values as CBOR, one after the other |
//!
//! The annotation `tree` of a leaf:
//!
//! ```text
//! { format: 1, children, name_bytes, catalog_bytes: how many,
//!   keys: [ { path, summaries, members, values, bytes: how many }, … ] }
//! ```
//!
//! # Trust
//! Names are paths below the folder of the tree, so a tree holds no address and no secret, moves with its folder, and leads to
//! no other file of the machine that opens it. Counts are bounded before there is memory for them, and digests of columns are
//! checked when these are read. At most eight trees lie below each other, and all that are opened have at most 2²² children.
//!
//! A tree is right or says that it is not, as far as that can be known:
//!
//! | what changed | on this machine | at an address |
//! |---|---|---|
//! | the data of a chosen child | its catalogue tells ([`Catalog::check`](crate::Catalog::check)) | the same, by `ETag` or time of change |
//! | the data of a child that was not chosen | size, time and inode tell; the child is then chosen | not asked, and [`Choice::notes`] says so |
//! | the catalogue of a child | the digest tells, a note says so, and the catalogue is judged by its own proof | the same |
//! | the tree | a damaged one is an error; another one is not noticed | the same |
//! | a file that came | not seen until it is added | the same |

mod child;
mod choose;
mod files;
mod leaf;
mod seen;

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use tgm_std::Result;
use tgm_std::metadata::query::Query;
use tgm_std::metadata::query::alias::names;

pub use self::child::{Child, ChildKind};
pub use self::choose::{Choice, Chosen, side_by_side};
pub use self::files::{Files, Folder, State};
use self::leaf::TreeLeaf;
pub use self::seen::Seen;
use crate::{bad, bytes, each_leaf};

/// The version of the content of leaves.
const FORMAT: u64 = 1;
/// Children of a leaf, at most.
const MOST_CHILDREN: usize = 1 << 16;
/// How keys begin that the files of a tree get columns for though all of them agree: files that come may differ.
pub const ALWAYS: &str = "mars.";
/// How the names of trees end.
pub const ENDING: &str = ".tree";

/// Limits on what a tree may claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeLimits {
    /// Bytes of the file: 256 MiB.
    pub max_bytes: u64,
    /// Children of all leaves: 2²².
    pub max_children: usize,
}

impl Default for TreeLimits {
    fn default() -> Self {
        Self { max_bytes: 256 << 20, max_children: 1 << 22 }
    }
}

/// A tree: files with their catalogues, and what values their keys have. The [module](self) says more.
#[derive(Debug)]
pub struct Tree {
    leaves: Vec<TreeLeaf>,
    keys: Vec<String>,
    limits: TreeLimits,
    /// Whether each child counts. A later one of the same name replaces it.
    counts: Vec<bool>,
}

impl Tree {
    /// The tree of these children.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] without children, and for what no tree can hold.
    pub fn build(children: &[Child]) -> Result<Self> {
        let mut tree = Self { leaves: Vec::new(), keys: Vec::new(), limits: TreeLimits::default(), counts: Vec::new() };
        tree.add(children)?;
        if tree.leaves.is_empty() { Err(bad("there is no child")) } else { Ok(tree) }
    }

    /// Adds children. One whose name is known replaces the one before.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for what no tree can hold.
    pub fn add(&mut self, children: &[Child]) -> Result<()> {
        for children in children.chunks(MOST_CHILDREN) {
            self.push(TreeLeaf::open(TreeLeaf::write(children)?)?)?;
        }
        self.count()
    }

    /// Opens the tree in a file.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Io`]; the errors of [`Self::from_bytes`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let limits = TreeLimits::default();
        let bytes = bytes::read(path.as_ref(), |len| check_bytes(len, &limits))?;
        Self::from_bytes_with(&bytes, &limits)
    }

    /// Opens the tree in these bytes.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for bytes that are not a tree, or a damaged one, or one beyond the limits.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::from_bytes_with(bytes, &TreeLimits::default())
    }

    /// [`Self::from_bytes`] with limits.
    ///
    /// # Errors
    /// As [`Self::from_bytes`].
    pub fn from_bytes_with(bytes: &[u8], limits: &TreeLimits) -> Result<Self> {
        check_bytes(bytes.len() as u64, limits)?;
        let mut tree = Self { leaves: Vec::new(), keys: Vec::new(), limits: *limits, counts: Vec::new() };
        let end = each_leaf(bytes, |leaf| TreeLeaf::open(leaf).and_then(|leaf| tree.push(leaf)))?;
        if tree.leaves.is_empty() {
            return Err(bad("this is not a tree: there is no leaf"));
        }
        if end != bytes.len() {
            return Err(bad(format!("the bytes from {end} on belong to no leaf: the tree is cut off")));
        }
        tree.count()?;
        Ok(tree)
    }

    fn push(&mut self, leaf: TreeLeaf) -> Result<()> {
        let children = self.leaves.iter().map(|leaf| leaf.children).sum::<usize>() + leaf.children;
        if children > self.limits.max_children {
            let most = self.limits.max_children;
            return Err(bad(format!("it has {children} children, more than the limit of {most}")));
        }
        for key in &leaf.keys {
            if !self.keys.contains(&key.path) {
                self.keys.push(key.path.clone());
            }
        }
        self.leaves.push(leaf);
        Ok(())
    }

    /// Notes which children count.
    fn count(&mut self) -> Result<()> {
        let all = self.leaves.iter().map(|leaf| leaf.children).sum();
        self.counts = vec![true; all];
        // Within a leaf that was written at once, names differ.
        if self.leaves.len() > 1 {
            let mut last: HashMap<String, usize> = HashMap::with_capacity(all);
            let mut number = 0;
            for leaf in &self.leaves {
                for name in leaf.names()? {
                    if let Some(counts) = last.insert(name, number).and_then(|before| self.counts.get_mut(before)) {
                        *counts = false;
                    }
                    number += 1;
                }
            }
        }
        Ok(())
    }

    /// Writes the tree.
    ///
    /// # Errors
    /// The errors of the sink.
    pub fn write_to(&self, sink: &mut (impl Write + ?Sized)) -> std::io::Result<()> {
        self.leaves.iter().try_for_each(|leaf| sink.write_all(leaf.bytes()))
    }

    /// The bytes of the tree.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.leaves.iter().flat_map(|leaf| leaf.bytes().iter().copied()).collect()
    }

    /// The keys that some child has.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.keys.iter().map(String::as_str)
    }

    /// The number of children that count.
    pub fn child_count(&self) -> usize {
        self.counts.iter().filter(|counts| **counts).count()
    }

    /// Messages in all children.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for a damaged tree.
    pub fn message_count(&self) -> Result<u64> {
        self.sum(|child| child.messages, TreeLeaf::messages)
    }

    /// Objects in all children.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for a damaged tree.
    pub fn object_count(&self) -> Result<u64> {
        self.sum(|child| child.objects, TreeLeaf::objects)
    }

    fn sum(&self, of: fn(&Child) -> u64, of_leaf: fn(&TreeLeaf) -> Result<u64>) -> Result<u64> {
        if self.counts.contains(&false) {
            return Ok(self.children()?.iter().fold(0, |all, child| of(child).saturating_add(all)));
        }
        self.leaves.iter().try_fold(0_u64, |all, leaf| Ok(all.saturating_add(of_leaf(leaf)?)))
    }

    /// The children, without what values their keys have.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for a damaged tree.
    pub fn children(&self) -> Result<Vec<Child>> {
        let mut all = Vec::with_capacity(self.counts.len());
        for leaf in &self.leaves {
            all.extend(leaf.children()?);
        }
        let mut counts = self.counts.iter();
        all.retain(|_| counts.next() == Some(&true));
        Ok(all)
    }

    /// The children that count, with what values their keys have: what [`Self::build`] takes.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for a damaged tree.
    pub fn whole_children(&self) -> Result<Vec<Child>> {
        let mut all = Vec::with_capacity(self.counts.len());
        for leaf in &self.leaves {
            for (number, mut child) in leaf.children()?.into_iter().enumerate() {
                let key = |path: &str| Ok((path.to_string(), leaf.seen_of(path, number)?));
                child.keys = leaf.keys.iter().map(|found| key(&found.path)).collect::<Result<_>>()?;
                all.push(child);
            }
        }
        let mut counts = self.counts.iter();
        all.retain(|_| counts.next() == Some(&true));
        Ok(all)
    }

    /// What values a key has in all children.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for a damaged tree.
    pub fn seen(&self, key: &str) -> Result<Seen> {
        let all = self.leaves.iter().map(|leaf| leaf.seen(key)).collect::<Result<Vec<_>>>()?;
        Ok(Seen::joined(all.iter().flatten()))
    }

    /// For each of [`Self::children`], whether all queries may hold for a message or an object in it. Where it says no, none
    /// holds.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] if no child has a key of the queries, and for a damaged tree.
    pub fn may_hold(&self, queries: &[Query]) -> Result<Vec<bool>> {
        let is_known = |key: &str| self.keys.iter().any(|known| known == key) || key == "version";
        if let Some(key) = queries.iter().flat_map(Query::keys).find(|key| !names(key).any(is_known)) {
            let keys = if self.keys.is_empty() { "none".to_string() } else { self.keys.join(", ") };
            return Err(bad(format!("the tree has no key {key}; its keys: {keys}")));
        }
        let mut found = Vec::with_capacity(self.counts.len());
        for leaf in &self.leaves {
            let mut all = vec![true; leaf.children];
            for query in queries {
                let may = leaf.may_hold(query.root())?;
                all.iter_mut().zip(may).for_each(|(all, (may, _))| *all &= may);
            }
            found.extend(all);
        }
        let mut counts = self.counts.iter();
        found.retain(|_| counts.next() == Some(&true));
        Ok(found)
    }
}

fn check_bytes(len: u64, limits: &TreeLimits) -> Result<()> {
    let max = limits.max_bytes;
    if len > max { Err(bad(format!("a tree of {len} bytes, more than the limit of {max}"))) } else { Ok(()) }
}
