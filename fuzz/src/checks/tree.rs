//! A hostile tree gives errors, or names of files below its folder; a tree that was built chooses every file in which a query
//! holds.

use std::path::PathBuf;

use tgm_catalog::Catalog;
use tgm_catalog::tree::{Child, Choice, Files, State, Tree, TreeLimits};
use tgm_std::metadata::query::Query;
use tgm_std::{DecodeOptions, Result};

use super::catalog::present;

/// Opens `bytes` as a tree, and makes a tree of them as data.
pub fn check(bytes: &[u8]) {
    opened(bytes);
    built(bytes);
}

fn opened(bytes: &[u8]) {
    let limits = TreeLimits { max_children: 1 << 12, ..TreeLimits::default() };
    let Ok(tree) = Tree::from_bytes_with(bytes, &limits) else { return };
    assert_eq!(tree.to_bytes(), bytes);
    let _ = (tree.message_count(), tree.object_count());
    let keys: Vec<String> = tree.keys().map(str::to_string).collect();
    let queries: Vec<Query> = keys.iter().take(8).filter_map(|key| present(key)).collect();
    for key in &keys {
        let _ = tree.seen(key);
    }
    let Ok(children) = tree.children() else { return };
    assert_eq!(children.len(), tree.child_count());
    for child in &children {
        for name in [&child.name, &child.catalog_name()] {
            assert!(name.split('/').all(|part| !["", ".", ".."].contains(&part)), "{name:?} leads out of the folder");
        }
    }
    for query in &queries {
        if let Ok(may_hold) = tree.may_hold(std::slice::from_ref(query)) {
            assert_eq!(may_hold.len(), children.len());
        }
    }
    // Each file of the folder is the tree itself.
    let _ = Choice::of_files(&tree, &Folder(bytes), &queries, &DecodeOptions::default());
    let Ok(whole) = tree.whole_children() else { return };
    if let Ok(again) = Tree::build(&whole) {
        assert_eq!(again.whole_children().expect("it was just built"), whole);
    }
}

fn built(bytes: &[u8]) {
    let Ok(mut keys) = Catalog::varying_keys(bytes, &DecodeOptions::default()) else { return };
    keys.push("dtype".to_string());
    let Ok(catalog) = Catalog::build(bytes, &keys) else { return };
    let stored = catalog.to_bytes();
    let child = Child::of_catalog("data.tgm", &catalog, &stored).expect("the catalogue was just built");
    let tree = Tree::build(std::slice::from_ref(&child)).expect("it has a child");
    let tree = Tree::from_bytes(&tree.to_bytes()).expect("it was just written");
    assert_eq!(tree.whole_children().expect("it was just read"), [child]);
    for query in keys.iter().filter_map(|key| present(key)) {
        let holds = !catalog.select(&query).expect("the keys are there").is_empty();
        let may_hold = tree.may_hold(&[query]).expect("the keys are there");
        assert!(may_hold == [true] || !holds, "a file that holds what is asked for is not chosen");
    }
}

/// A folder in which each file has the same bytes.
struct Folder<'b>(&'b [u8]);

impl Files for Folder<'_> {
    fn read(&self, _: &str, most: u64) -> Result<Vec<u8>> {
        assert!(self.0.len() as u64 <= most);
        Ok(self.0.to_vec())
    }

    fn state(&self, _: &str) -> State {
        State::NotAsked
    }

    fn path(&self, name: &str) -> PathBuf {
        name.into()
    }

    fn beside(&self, _: &str) -> Box<dyn Files + '_> {
        Box::new(Folder(self.0))
    }

    fn side_by_side(&self) -> usize {
        1
    }
}
