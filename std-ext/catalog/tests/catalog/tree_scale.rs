//! What selections in a tree of very many files cost: steps that wait for each other, requests, bytes, time.
//!
//! The files are made up. Their catalogues are made when they are asked for, by a source that counts.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tgm_catalog::Catalog;
use tgm_catalog::tree::{Child, Choice, Files, Seen, State, Tree};
use tgm_std::deps::ciborium::Value;
use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder, Result, TensogramError};

use crate::cost::processor;
use crate::query;

/// Files, each with the fields of one time.
struct Archive {
    files: usize,
    /// Steps, levels and parameters of a file.
    fields: [usize; 3],
}

const PARAMS: [&str; 10] = ["t", "u", "v", "q", "z", "w", "r", "d", "vo", "o3"];
const KEYS: [&str; 5] = ["mars.date", "mars.time", "mars.step", "mars.levelist", "mars.param"];

impl Archive {
    fn messages(&self) -> usize {
        self.fields.iter().product()
    }

    fn name(file: usize) -> String {
        format!("{:04}/field-{file:06}.tgm", file / 1000)
    }

    /// Date and time of a file. There are four a day, of months of 28 days.
    fn date(file: usize) -> (i64, i64) {
        let (day, time) = (file / 4, file % 4);
        let (month, year) = (day / 28, day / 336);
        let date = (1950 + year) * 10_000 + (month % 12 + 1) * 100 + day % 28 + 1;
        (i64::try_from(date).unwrap(), i64::try_from(time * 600).unwrap())
    }

    /// The catalogue of a file, which is made for that.
    fn catalog(&self, file: usize) -> Catalog {
        let [steps, levels, kinds] = self.fields;
        let ((date, time), mut messages, zeros) = (Self::date(file), Vec::new(), [0_u8; 50]);
        for step in 0..steps {
            for level in 0..levels {
                for (number, name) in PARAMS.iter().take(kinds).enumerate() {
                    // Lengths differ, as compressed fields do.
                    let len = 1 + (file * 7 + step * 31 + level * 17 + number * 3) % 50;
                    let mars = [
                        ("date", Value::from(date)),
                        ("time", time.into()),
                        ("step", i64::try_from(step * 3).unwrap().into()),
                        ("levelist", i64::try_from(1000 - level * 7).unwrap().into()),
                        ("param", (*name).into()),
                    ];
                    let object = ObjectBuilder::new(&[len as u64], &zeros[..len]).unwrap();
                    let object =
                        mars.into_iter().fold(object, |it, (key, value)| it.metadata(format!("mars.{key}"), value));
                    messages.extend(MessageBuilder::new().object(object).encode().unwrap());
                }
            }
        }
        Catalog::build(&messages[..], &KEYS).unwrap()
    }

    /// What the tree has of a file: what its catalogue would tell.
    fn child(file: usize, like: &Child) -> Child {
        let encoded = |value: i64| {
            let mut bytes = Vec::new();
            ciborium::into_writer(&Value::from(value), &mut bytes).unwrap();
            bytes
        };
        let (date, time) = Self::date(file);
        let mut child = Child { name: Self::name(file), ..like.clone() };
        child.digest = child.digest.wrapping_mul(file as u64 | 1);
        child.identity = Some(child.digest ^ 1);
        for (key, value) in [("mars.date", date), ("mars.time", time)] {
            let found = child.keys.iter_mut().find(|(known, _)| known == key).unwrap();
            found.1 = Seen::of([encoded(value)], false);
        }
        child
    }

    fn tree(&self) -> Tree {
        let first = self.catalog(0);
        let like = Child::of_catalog("0", &first, &first.to_bytes()).unwrap();
        let children: Vec<Child> = (0..self.files).map(|file| Self::child(file, &like)).collect();
        Tree::build(&children).unwrap()
    }
}

/// A source that makes catalogues up, and counts.
struct Counting<'a> {
    archive: &'a Archive,
    made: Mutex<HashMap<String, Vec<u8>>>,
    requests: AtomicU64,
    bytes: AtomicU64,
}

impl Files for Counting<'_> {
    fn read(&self, name: &str, _: u64) -> Result<Vec<u8>> {
        let number = name.rsplit('-').next().and_then(|end| end.strip_suffix(".tgm.catalog")?.parse().ok());
        let number = number.ok_or_else(|| TensogramError::Metadata(format!("{name} is not there").into()))?;
        let made = self.made.lock().unwrap().get(name).cloned();
        let bytes = made.unwrap_or_else(|| self.archive.catalog(number).to_bytes());
        self.made.lock().unwrap().insert(name.into(), bytes.clone());
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(bytes)
    }

    fn state(&self, _: &str) -> State {
        State::NotAsked
    }

    fn path(&self, name: &str) -> PathBuf {
        name.into()
    }

    fn beside(&self, _: &str) -> Box<dyn Files + '_> {
        Box::new(Counting { archive: self.archive, made: Mutex::default(), requests: 0.into(), bytes: 0.into() })
    }

    fn side_by_side(&self) -> usize {
        32
    }
}

/// Opens the tree, chooses files and selects in their catalogues. Returns how many messages, files, requests and bytes that were.
fn select(archive: &Archive, tree: &[u8], text: &str) -> [u64; 4] {
    let queries = [query(text)];
    let source = Counting { archive, made: Mutex::default(), requests: 0.into(), bytes: 0.into() };
    let run = || {
        let tree = Tree::from_bytes(tree).unwrap();
        let choice = Choice::of_files(&tree, &source, &queries, &DecodeOptions::default()).unwrap();
        let selected = choice.files.iter().map(|file| {
            let catalog = file.catalog.as_ref().unwrap();
            let found = catalog.select(&queries[0]).unwrap();
            // Where the objects lie.
            for (message, object) in &found {
                assert!(catalog.object_range(*message, *object).unwrap().end > 0);
            }
            found.len() as u64
        });
        (selected.sum::<u64>(), choice.files.len() as u64)
    };
    // The catalogues are made now. That is the archive's work.
    run();
    let count = |counted: &AtomicU64| counted.swap(0, Ordering::Relaxed);
    count(&source.requests);
    count(&source.bytes);
    let (before, start) = (processor(), Instant::now());
    let (messages, files) = run();
    let (requests, bytes) = (1 + count(&source.requests), tree.len() as u64 + count(&source.bytes));
    let used = processor().saturating_sub(before);
    println!(
        "{text}: {messages} messages in {files} files; {requests} requests in 2 steps, {bytes} bytes (tree {}), \
         processor {used:.2?}, clock {:.2?}",
        tree.len(),
        start.elapsed()
    );
    [messages, files, requests, bytes]
}

/// 10,000 messages in 100 files.
const SELECTION: &str =
    "mars.date in 19510101..=19510125 and mars.step in 0..=27 and mars.levelist>=972 and mars.param=t/q";

#[test]
fn a_selection_in_many_files_opens_the_tree_and_what_matches() {
    let archive = Archive { files: 2000, fields: [4, 3, 2] };
    let tree = archive.tree().to_bytes();
    let [messages, files, requests, bytes] =
        select(&archive, &tree, "mars.date in 19510101..=19510105 and mars.step=0/3 and mars.param=t");
    assert_eq!((messages, files, requests), (5 * 4 * 2 * 3, 20, 21));
    assert!(tree.len() < 2000 * 60 && bytes < 400_000, "{} {bytes}", tree.len());
    assert_eq!(select(&archive, &tree, "mars.param=nothing"), [0, 0, 1, tree.len() as u64]);
    assert_eq!(select(&archive, &tree, "mars.levelist>1000 or mars.step<0")[1], 0);
}

#[test]
#[ignore = "slow"]
fn a_selection_in_a_thousand_million_messages() {
    let archive = Archive { files: 100_000, fields: [50, 20, 10] };
    let tree = archive.tree().to_bytes();
    println!("{} messages in {} files", archive.messages() * archive.files, archive.files);
    let [messages, files, requests, bytes] = select(&archive, &tree, SELECTION);
    assert_eq!((messages, files, requests), (10_000, 100, 101));
    assert!(bytes <= 64 << 20, "{bytes}");
}
