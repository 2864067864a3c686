//! A tree is the same dataset as its files, and a filter takes the same objects by scan, catalogue and tree.

use std::fs;
use std::path::PathBuf;

use tgm_catalog::Catalog;
use tgm_catalog::tree::{Child, Tree};
use tgm_dataset::{Catalogs, Dataset, Duplicates, OpenOptions, open, open_all};
use tgm_std::TensogramFile;

use crate::catalogs::described;
use crate::cubes::upper;

const KEYS: [&str; 4] = ["mars.param", "mars.step", "mars.levelist", "dtype"];

/// A folder of files, one a step, with a tree.
struct Forest {
    folder: tempfile::TempDir,
    files: Vec<PathBuf>,
}

impl Forest {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let forest = Self { files: (0..4).map(|step| folder.path().join(format!("{step}.tgm"))).collect(), folder };
        let children: Vec<Child> = (0..4).map(|step| forest.write(step, &Self::fields(step))).collect();
        fs::write(forest.tree(), Tree::build(&children).unwrap().to_bytes()).unwrap();
        forest
    }

    fn fields(step: usize) -> Vec<Vec<u8>> {
        let step = i64::try_from(step).unwrap() * 6;
        let value = f64::from(i32::try_from(step).unwrap());
        [("t", 500), ("t", 850), ("q", 850)].map(|(param, level)| upper(param, level, step, value)).to_vec()
    }

    fn write(&self, number: usize, messages: &[Vec<u8>]) -> Child {
        let path = &self.files[number];
        fs::write(path, messages.concat()).unwrap();
        let catalog = Catalog::build(&TensogramFile::open(path).unwrap(), &KEYS).unwrap();
        let bytes = catalog.to_bytes();
        fs::write(format!("{}.catalog", path.display()), &bytes).unwrap();
        Child::of_catalog(&format!("{number}.tgm"), &catalog, &bytes).unwrap()
    }

    fn tree(&self) -> PathBuf {
        self.folder.path().join("all.tree")
    }
}

fn options(only: &[&str]) -> OpenOptions {
    OpenOptions { only: only.iter().map(|text| text.parse().unwrap()).collect(), ..OpenOptions::default() }
}

fn told(found: &[Dataset]) -> Vec<String> {
    found.iter().map(described).collect()
}

#[test]
fn a_tree_is_the_dataset_of_its_files() {
    let forest = Forest::new();
    for only in [
        &[][..],
        &["mars.param=t"],
        &["mars.step>=12", "mars.levelist=850"],
        &["mars.step=6 or mars.param=q"],
        &["not mars.step in 6..18"],
        &["dtype=float64"],
    ] {
        let by_tree = open_all(&[forest.tree()], &options(only)).unwrap();
        assert_eq!(by_tree[0].notes, [""; 0], "{only:?}");
        let by_catalogues = open_all(&forest.files, &options(only)).unwrap();
        let unused = OpenOptions { catalogs: Catalogs::Unused, ..options(only) };
        let by_scan = open_all(&forest.files, &unused).unwrap();
        assert_eq!(told(&by_tree), told(&by_scan), "{only:?}");
        assert_eq!(told(&by_catalogues), told(&by_scan), "{only:?}");
    }
    let t = open(&[forest.tree()], &options(&["mars.step=6/12"])).unwrap();
    assert_eq!(t.variable("t").unwrap().shape, [2, 2, 2, 3]);
    let none = open(&[forest.tree()], &options(&["mars.step=7"])).unwrap_err();
    assert!(none.to_string().contains("no object of the archive is selected"), "{none}");
    let unknown = open(&[forest.tree()], &options(&["mars.none=7"])).unwrap_err();
    assert!(unknown.to_string().contains("the tree has no key mars.none"), "{unknown}");
    assert!(unknown.to_string().contains("all.tree"), "{unknown}");
}

#[test]
fn a_tree_is_right_or_tells_what_changed() {
    let forest = Forest::new();
    let compare = |only: &[&str]| {
        let last = OpenOptions { duplicates: Duplicates::Last, ..options(only) };
        let by_tree = open_all(&[forest.tree()], &last).unwrap();
        let unused = OpenOptions { catalogs: Catalogs::Unused, ..last };
        assert_eq!(told(&by_tree), told(&open_all(&forest.files, &unused).unwrap()), "{only:?}");
        by_tree[0].notes.clone()
    };
    let only = ["mars.step<=6"];
    assert_eq!(compare(&only), [""; 0]);
    // A file that is left out grows by a field that is wanted.
    fs::write(&forest.files[3], [Forest::fields(3), vec![upper("z", 500, 0, 9.0)]].concat().concat()).unwrap();
    assert!(compare(&only)[0].contains("3.tgm was changed since the tree was written"));
    // It is edited in place, so that its catalogue is stale.
    fs::write(&forest.files[3], Forest::fields(0).concat()).unwrap();
    let notes = compare(&only);
    assert!(notes.iter().any(|note| note.contains("is not used")), "{notes:?}");
    // A chosen file loses its catalogue.
    fs::write(&forest.files[3], Forest::fields(3).concat()).unwrap();
    fs::remove_file(format!("{}.catalog", forest.files[0].display())).unwrap();
    let notes = compare(&only);
    assert!(notes.iter().any(|note| note.contains("0.tgm.catalog is not used")), "{notes:?}");
    // A chosen file is gone.
    fs::remove_file(&forest.files[0]).unwrap();
    assert!(open(&[forest.tree()], &options(&only)).is_err());
}
