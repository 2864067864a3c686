//! Trees choose every file that has what is asked for, say what has changed, and refuse damaged bytes.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use tgm_catalog::Catalog;
use tgm_catalog::tree::{Child, Choice, Files, Seen, State, Tree};
use tgm_std::deps::ciborium::Value;
use tgm_std::metadata::query::Query;
use tgm_std::{DecodeOptions, TensogramFile, file};

use crate::{field, message, query};

const KEYS: [&str; 4] = ["mars.param", "mars.step", "dtype", "note"];

/// A folder of files with their catalogues.
pub(crate) struct Forest(tempfile::TempDir);

impl Forest {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and its catalogue. Returns the child that it is.
    pub(crate) fn file(&self, name: &str, messages: &[Vec<u8>], keys: &[&str]) -> Child {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, messages.concat()).unwrap();
        let catalog = Catalog::build(&TensogramFile::open(&path).unwrap(), keys).unwrap();
        let bytes = catalog.to_bytes();
        fs::write(self.path(&format!("{name}.catalog")), &bytes).unwrap();
        Child::of_catalog(name, &catalog, &bytes).unwrap()
    }

    /// Writes a tree.
    pub(crate) fn tree(&self, name: &str, children: &[Child]) -> Tree {
        let tree = Tree::build(children).unwrap();
        fs::write(self.path(name), tree.to_bytes()).unwrap();
        Tree::open(self.path(name)).unwrap()
    }

    /// The names of the files that a tree chooses, and its notes.
    pub(crate) fn chosen(&self, tree: &str, texts: &[&str]) -> (Vec<String>, Vec<String>) {
        let queries: Vec<Query> = texts.iter().map(|text| query(text)).collect();
        let choice = Choice::of(&self.path(tree), &queries, &DecodeOptions::default()).unwrap();
        let name = |path: &PathBuf| path.strip_prefix(self.0.path()).unwrap().display().to_string();
        (choice.files.iter().map(|file| name(&file.path)).collect(), choice.notes)
    }
}

/// Values of all kinds that metadata have, some of them more than are listed.
fn messages(seed: u64, count: usize) -> Vec<Vec<u8>> {
    let mut random = seed;
    let mut next = move |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let one = |next: &mut dyn FnMut(u64) -> u64| {
        let step = match next(8) {
            0 => Value::from(f64::from(u32::try_from(next(50)).unwrap()) / 4.0),
            1 => Value::from(next(20).to_string()),
            2 => Value::Array(vec![1.into(), 2.into()]),
            3 => Value::from(f64::NAN),
            _ => Value::from(next(40)),
        };
        let param = Value::from(["2t", "tp", "10u", "z"][usize::try_from(next(4)).unwrap()]);
        let mut entries = vec![("mars.param", param)];
        if next(5) > 0 {
            entries.push(("mars.step", step));
        }
        let note = (next(3) == 0).then(|| ("note", Value::from(next(9))));
        let objects: Vec<_> = (0..=next(2)).map(|_| entries.clone()).collect();
        message(&objects, &note.into_iter().collect::<Vec<_>>())
    };
    (0..count).map(|_| one(&mut next)).collect()
}

const CONDITIONS: [&str; 18] = [
    "mars.step=3",
    "mars.step!=3/4/5",
    "mars.step<10",
    "mars.step>=30",
    "mars.step in 5..8",
    "mars.step in 12..=12.25",
    "mars.step=1*",
    "mars.step=\"7\"",
    "mars.step?",
    "mars.param=2t/z",
    "mars.param!=tp",
    "mars.param<\"2\"",
    "dtype=uint16",
    "note=4",
    "note?",
    "note!=4",
    "version=3",
    "mars.step>\"3\"",
];

fn texts() -> impl Strategy<Value = String> {
    let condition = (0..CONDITIONS.len()).prop_map(|at| CONDITIONS[at].to_string());
    condition.prop_recursive(3, 8, 3, |inner| {
        (proptest::collection::vec(inner, 1..3), 0..3).prop_map(|(all, how)| match how {
            0 => format!("not ({})", all[0]),
            1 => format!("({})", all.join(" and ")),
            _ => format!("({})", all.join(" or ")),
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A child that is not chosen has no message and no object that the query selects.
    #[test]
    fn nothing_that_is_selected_is_left_out(seed in any::<u64>(), texts in proptest::collection::vec(texts(), 12)) {
        let files: Vec<Vec<u8>> = (0..4).map(|number| messages(seed ^ number, 1 + number as usize * 4).concat()).collect();
        let child = |(number, data): (usize, &Vec<u8>)| {
            let catalog = Catalog::build(&data[..], &KEYS).unwrap();
            (Child::of_catalog(&number.to_string(), &catalog, &catalog.to_bytes()).unwrap(), catalog)
        };
        let children: Vec<(Child, Catalog)> = files.iter().enumerate().map(child).collect();
        let listed: Vec<Child> = children.iter().map(|(child, _)| child.clone()).collect();
        // The same by ranges, and in a tree below a tree.
        let ranges: Vec<Child> = listed.iter().map(|child| Child {
            keys: child.keys.iter().map(|(key, seen)| (key.clone(), seen.as_range())).collect(),
            ..child.clone()
        }).collect();
        let trees = [&listed, &ranges].map(|children| Tree::from_bytes(&Tree::build(children).unwrap().to_bytes()).unwrap());
        let above = Tree::build(&[Child::of_tree("0.tree", &trees[0], &trees[0].to_bytes()).unwrap()]).unwrap();
        for text in &texts {
            let query = query(text);
            let mut any = false;
            for (number, (data, (_, catalog))) in files.iter().zip(&children).enumerate() {
                let objects = file::query(&data[..], &query, &DecodeOptions::default()).unwrap();
                let is_selected = !objects.is_empty() || !catalog.select_messages(&query).unwrap().is_empty();
                any |= is_selected;
                for tree in &trees {
                    let may = tree.may_hold(std::slice::from_ref(&query)).unwrap()[number];
                    prop_assert!(may || !is_selected, "{} in file {}", text, number);
                }
            }
            prop_assert!(above.may_hold(std::slice::from_ref(&query)).unwrap()[0] || !any, "{}", text);
        }
    }
}

#[test]
fn only_files_that_may_match_are_chosen() {
    let forest = Forest::new();
    let file = |name: &str, param: &str, steps: std::ops::Range<i64>| {
        forest.file(name, &steps.map(|step| field(param, step)).collect::<Vec<_>>(), &["mars.param", "mars.step"])
    };
    // More steps than are listed are a range.
    let children = [file("a/1.tgm", "2t", 0..4), file("a/2.tgm", "tp", 0..300), file("b.tgm", "2t", 300..304)];
    let tree = forest.tree("all.tree", &children);
    assert_eq!((tree.child_count(), tree.message_count().unwrap(), tree.object_count().unwrap()), (3, 308, 308));
    assert_eq!(tree.keys().collect::<Vec<_>>(), ["mars.param", "mars.step"]);
    assert_eq!(tree.whole_children().unwrap(), children);
    let chosen = |texts: &[&str]| forest.chosen("all.tree", texts).0;
    assert_eq!(chosen(&[]), ["a/1.tgm", "a/2.tgm", "b.tgm"]);
    assert_eq!(chosen(&["mars.param=2t"]), ["a/1.tgm", "b.tgm"]);
    assert_eq!(chosen(&["mars.param=2t", "mars.step>=100"]), ["b.tgm"]);
    assert_eq!(chosen(&["mars.step=250"]), ["a/2.tgm"]);
    assert_eq!(chosen(&["mars.step=1000 or mars.param=z"]), [""; 0]);
    assert_eq!(chosen(&["not mars.step<299"]), ["a/2.tgm", "b.tgm"]);
    assert_eq!(chosen(&["mars.step in 290..301"]), ["a/2.tgm", "b.tgm"]);
    let unknown = Choice::of(&forest.path("all.tree"), &[query("mars.time=0")], &DecodeOptions::default()).unwrap_err();
    assert!(
        unknown.to_string().contains("the tree has no key mars.time; its keys: mars.param, mars.step"),
        "{unknown}"
    );

    // Trees lie below trees, in folders of their own.
    let below = forest.path("a").join("a.tree");
    let own =
        [Child { name: "1.tgm".into(), ..children[0].clone() }, Child { name: "2.tgm".into(), ..children[1].clone() }];
    let own = Tree::build(&own).unwrap();
    fs::write(&below, own.to_bytes()).unwrap();
    forest.tree("root.tree", &[Child::of_tree("a/a.tree", &own, &own.to_bytes()).unwrap(), children[2].clone()]);
    assert_eq!(forest.chosen("root.tree", &["mars.param=2t"]).0, ["a/1.tgm", "b.tgm"]);
    assert_eq!(forest.chosen("root.tree", &["mars.step=301"]), (vec!["b.tgm".to_string()], vec![]));
}

#[test]
fn what_changed_is_read_or_told() {
    let forest = Forest::new();
    let keys = ["mars.param", "mars.step"];
    let one = |param: &str| forest.file(&format!("{param}.tgm"), &[field(param, 0)], &keys);
    let mut tree = forest.tree("all.tree", &[one("2t"), one("tp"), one("z")]);
    assert_eq!(forest.chosen("all.tree", &["mars.param=2t"]), (vec!["2t.tgm".to_string()], vec![]));

    // A file that does not match gets a message that does.
    fs::write(forest.path("tp.tgm"), [field("tp", 0), field("2t", 6)].concat()).unwrap();
    let (files, notes) = forest.chosen("all.tree", &["mars.param=2t"]);
    assert_eq!(files, ["2t.tgm", "tp.tgm"]);
    assert!(notes.len() == 1 && notes[0].contains("tp.tgm was changed since the tree was written"), "{notes:?}");

    // Its catalogue is brought up to date, then the tree.
    let child = forest.file("tp.tgm", &[field("tp", 0), field("2t", 6)], &keys);
    let (files, notes) = forest.chosen("all.tree", &["mars.param=tp"]);
    assert_eq!(files, ["tp.tgm"]);
    assert!(notes.len() == 1 && notes[0].contains("tp.tgm.catalog was changed since"), "{notes:?}");
    tree.add(&[child]).unwrap();
    fs::write(forest.path("all.tree"), tree.to_bytes()).unwrap();
    let tree = Tree::open(forest.path("all.tree")).unwrap();
    assert_eq!((tree.child_count(), tree.message_count().unwrap()), (3, 4));
    assert_eq!(
        forest.chosen("all.tree", &["mars.param=2t"]),
        (vec!["2t.tgm".to_string(), "tp.tgm".to_string()], vec![])
    );

    // The same below another tree, which does not match itself.
    forest.tree("root.tree", &[Child::of_tree("all.tree", &tree, &tree.to_bytes()).unwrap()]);
    fs::write(forest.path("z.tgm"), [field("q", 0), field("q", 6)].concat()).unwrap();
    let (files, notes) = forest.chosen("root.tree", &["mars.param=q"]);
    assert_eq!(files, ["z.tgm"]);
    assert!(notes[0].contains("z.tgm was changed"), "{notes:?}");

    // A file is gone; a catalogue is gone.
    fs::remove_file(forest.path("z.tgm")).unwrap();
    fs::remove_file(forest.path("2t.tgm.catalog")).unwrap();
    let (files, notes) = forest.chosen("all.tree", &["mars.param=2t"]);
    assert_eq!(files, ["2t.tgm", "tp.tgm"]);
    assert!(notes.iter().any(|note| note.contains("z.tgm is in the tree, and is not there")), "{notes:?}");
    let choice = Choice::of(&forest.path("all.tree"), &[query("mars.param=2t")], &DecodeOptions::default()).unwrap();
    assert!(choice.files[0].catalog.is_err() && choice.files[1].catalog.is_ok());
}

#[test]
fn names_lead_to_nothing_outside_of_the_folder() {
    let catalog = Catalog::build(&field("2t", 0)[..], &["mars.param"]).unwrap();
    for name in ["/etc/passwd", "../a.tgm", "a/../../b", "https://host/a.tgm", "", "a//b", "./a", "C:\\a", "a\\b", "a/"]
    {
        assert!(Child::of_catalog(name, &catalog, &[]).is_err(), "{name}");
    }
    let child = Child::of_catalog("a/ä#1?.tgm", &catalog, &[]).unwrap();
    let hostile = Child { name: "../a.tgm".into(), ..child.clone() };
    let named = Child { catalog: Some("/etc/passwd".into()), ..child.clone() };
    assert!(Tree::build(&[hostile]).is_err() && Tree::build(&[named]).is_err() && Tree::build(&[]).is_err());
    assert!(Tree::build(&[child.clone(), child.clone()]).is_err());
    assert_eq!(Tree::build(std::slice::from_ref(&child)).unwrap().children().unwrap()[0].name, child.name);
}

#[test]
fn a_damaged_tree_is_an_error() {
    let forest = Forest::new();
    let child = |name: &str, count: i64| {
        let fields: Vec<_> = (0..count).map(|step| field("2t", step)).collect();
        forest.file(name, &fields, &["mars.param", "mars.step"])
    };
    let mut tree = forest.tree("all.tree", &[child("a", 3), child("b", 300)]);
    tree.add(&[child("c", 4)]).unwrap();
    let bytes = tree.to_bytes();
    let look = |bytes: &[u8]| {
        let tree = Tree::from_bytes(bytes)?;
        tree.whole_children()?;
        tree.may_hold(&[query("mars.step>1 and mars.param=2t")])
    };
    assert_eq!(look(&bytes).unwrap(), [true; 3]);
    let mut refused = 0;
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        // Bytes that mean nothing, such as padding, may differ.
        refused += usize::from(look(&flipped).is_err());
    }
    assert!(refused * 10 > bytes.len() * 8, "{refused} of {}", bytes.len());
    let ends = (0..bytes.len()).step_by(7).filter(|end| Tree::from_bytes(&bytes[..*end]).is_ok());
    // A tree without its last leaf is the tree that it was.
    let first = Tree::build(&tree.whole_children().unwrap()[..2]).unwrap().to_bytes().len();
    assert!(ends.into_iter().all(|end| end == first));
    assert!(Tree::from_bytes(&field("2t", 0)).is_err() && Tree::from_bytes(b"").is_err());
    // A catalogue is not a tree.
    let catalog = Catalog::build(&field("2t", 0)[..], &["mars.param"]).unwrap();
    assert!(Tree::from_bytes(&catalog.to_bytes()).is_err() && Catalog::from_bytes(&bytes).is_err());
}

/// A server on which each tree below another is the same one.
struct Same(Vec<u8>);

impl Files for Same {
    fn read(&self, _: &str, _: u64) -> tgm_std::Result<Vec<u8>> {
        Ok(self.0.clone())
    }

    fn state(&self, _: &str) -> State {
        State::NotAsked
    }

    fn path(&self, name: &str) -> PathBuf {
        name.into()
    }

    fn beside(&self, _: &str) -> Box<dyn Files + '_> {
        Box::new(Self(self.0.clone()))
    }

    fn side_by_side(&self) -> usize {
        4
    }
}

#[test]
fn trees_that_share_trees_end() {
    let catalog = Catalog::build(&field("tp", 0)[..], &["mars.param"]).unwrap();
    let file = Child::of_catalog("a", &catalog, &catalog.to_bytes()).unwrap();
    let many = |child: &Child, count: usize| {
        let named = |number| Child { name: format!("{number}"), ..child.clone() };
        Tree::build(&(0..count).map(named).collect::<Vec<_>>()).unwrap()
    };
    let below = many(&file, 50_000);
    let bytes = below.to_bytes();
    let keys = vec![("mars.param".to_string(), Seen::ANYTHING)];
    let child = Child { keys, ..Child::of_tree("b", &below, &bytes).unwrap() };
    let choose = |count: usize| {
        Choice::of_files(
            &many(&child, count),
            &Same(bytes.clone()),
            &[query("mars.param=2t")],
            &DecodeOptions::default(),
        )
    };
    assert!(choose(80).unwrap().files.is_empty());
    let refused = choose(90).unwrap_err().to_string();
    assert!(refused.contains("more than 4194304 children"), "{refused}");
}

#[test]
fn many_values_are_a_range_or_anything() {
    let encoded = |value: u64| {
        let mut bytes = Vec::new();
        ciborium::into_writer(&Value::from(value), &mut bytes).unwrap();
        bytes
    };
    let listed = Seen::of((0..256).map(encoded), false);
    let range = Seen::of((0..257).map(encoded), false);
    assert_ne!(listed, range);
    assert_eq!(listed.as_range(), Seen::of((0..=255).map(encoded), false).as_range());
    let texts = (0..257_u16).map(|number| {
        let [high, low] = number.to_be_bytes();
        [0x63, 0x61 + high, 0x61 + low / 16, 0x61 + low % 16]
    });
    assert_eq!(Seen::of(texts, false), Seen::ANYTHING);
}
