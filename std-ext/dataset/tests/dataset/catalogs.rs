//! With a catalogue an archive is the same dataset as without.

use std::fmt::Write as _;
use std::fs;

use tgm_catalog::Catalog;
use tgm_dataset::{Catalogs, Dataset, Duplicates, Indices, OpenOptions, open_all};
use tgm_std::deps::ciborium::Value;
use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder, Result, TensogramFile};

use crate::cubes::{many, upper};
use crate::{Archive, map};

impl Archive {
    fn catalog(&self) -> String {
        format!("{}.catalog", self.path())
    }

    /// Writes the catalogue of the archive as it is.
    fn catalogue(&self) -> Catalog {
        let catalog = Catalog::build(&TensogramFile::open(self.path()).unwrap(), &["mars.step", "dtype"]).unwrap();
        fs::write(self.catalog(), catalog.to_bytes()).unwrap();
        catalog
    }

    fn append(&self, messages: &[Vec<u8>]) {
        let bytes = [fs::read(self.path()).unwrap(), messages.concat()].concat();
        fs::write(self.path(), bytes).unwrap();
    }

    fn opened(&self, options: &OpenOptions) -> Result<Vec<Dataset>> {
        open_all(&[self.path()], options)
    }

    /// Opens with the catalogue and without, and compares.
    fn check(&self, options: &OpenOptions) -> Vec<String> {
        let without = OpenOptions { catalogs: Catalogs::Unused, ..options.clone() };
        let (with, without) = (self.opened(options), self.opened(&without));
        let told = |found: &Result<Vec<Dataset>>| match found {
            Ok(found) => found.iter().map(described).collect(),
            Err(error) => vec![error.to_string()],
        };
        assert_eq!(told(&with), told(&without));
        let notes = with.ok().and_then(|found| found.into_iter().next()).map_or_else(Vec::new, |found| found.notes);
        notes.into_iter().filter(|note| note.starts_with("the catalogue ")).collect()
    }
}

/// All that a dataset says, and its values.
pub(crate) fn described(dataset: &Dataset) -> String {
    let mut text =
        format!("{:?} {:?} {:?} {:?}\n", dataset.attributes, dataset.coordinates, dataset.left_out, dataset.holes(100));
    writeln!(text, "{:?}", dataset.lost()).unwrap();
    for it in &dataset.variables {
        let all: Vec<Indices> = it.shape.iter().map(|len| Indices::List((0..*len).collect())).collect();
        let values = match it.texts() {
            Some(texts) => format!("{texts:?}"),
            None => format!("{:?}", dataset.read::<f64>(&it.name, &all).map_err(|error| error.to_string())),
        };
        let float32 = dataset.fits_float32(&it.name);
        writeln!(text, "{} {:?} {:?} {:?} {float32} {values}", it.name, it.dims, it.shape, it.attributes).unwrap();
    }
    text
}

/// Two objects, the second of which says less than all objects do.
fn two_of_a_message(step: i64) -> Vec<u8> {
    let values = [1.0, 2.0];
    let object = |name: &str| ObjectBuilder::new(&[2], &values).unwrap().metadata("name", name);
    let section = Value::Bytes(vec![0, 0, 0, 6, 3, 0]);
    let grib = |sections: Vec<Value>| map(&[("sections", Value::Array(sections)), ("level", 2.into())]);
    MessageBuilder::new()
        .extra("step", step)
        .extra("level", 100)
        .object(object("a").metadata("level", 200).metadata("grib", grib(vec![section])))
        .object(object("b").metadata("grib", grib(vec![])))
        .object(object("c").simple_packing(8))
        .encode()
        .unwrap()
}

/// Variables of files say something of their messages.
fn of_a_file() -> Vec<u8> {
    let x = Value::Array(vec!["x".into()]);
    let v = ObjectBuilder::new(&[2], &[1.0, 2.0]).unwrap().metadata("name", "v").metadata("dimensions", x);
    MessageBuilder::new().extra("attributes", map(&[("title", "all".into())])).object(v).encode().unwrap()
}

#[test]
fn archives_are_the_same_datasets_by_their_catalogues() {
    let twice = || vec![upper("t", 500, 0, 1.0), upper("t", 500, 0, 1.0), upper("t", 500, 6, 1.0)];
    let other = || vec![upper("t", 500, 0, 1.0), upper("t", 500, 0, 2.0)];
    let junk = || b"junk".to_vec();
    let lossy = || vec![junk(), upper("t", 500, 0, 1.0), junk(), upper("t", 500, 6, 1.0), junk()];
    let cases: [(&str, Vec<Vec<u8>>, bool); 7] = [
        ("fields with holes", many(), true),
        ("equal objects at one place", twice(), true),
        ("different objects at one place", other(), true),
        ("several objects of a message", [0, 6, 12].map(two_of_a_message).to_vec(), true),
        ("no objects", vec![MessageBuilder::new().encode().unwrap()], true),
        ("bytes that belong to no message", lossy(), true),
        ("variables of a file", vec![of_a_file()], false),
    ];
    for (what, messages, has_facts) in cases {
        let archive = Archive::new(&messages);
        assert_eq!(archive.catalogue().has_facts(), has_facts, "{what}");
        assert_eq!(archive.check(&OpenOptions::default()), [""; 0], "{what}");
        archive.check(&OpenOptions { duplicates: Duplicates::Last, ..OpenOptions::default() });
        // It has grown, then the catalogue has, then its leaves are joined.
        archive.append(&[upper("q", 850, 0, 5.0), two_of_a_message(18)]);
        archive.check(&OpenOptions::default());
        let file = TensogramFile::open(archive.path()).unwrap();
        let (catalog, new) = Catalog::update(archive.catalog(), &file, &DecodeOptions::default()).unwrap();
        assert_eq!((new, catalog.leaf_count(), catalog.has_facts()), (2, 2, has_facts), "{what}");
        archive.check(&OpenOptions::default());
        fs::write(archive.catalog(), catalog.compact().unwrap().to_bytes()).unwrap();
        assert_eq!(Catalog::open(archive.catalog()).unwrap().leaf_count(), 1);
        archive.check(&OpenOptions::default());
    }
}

#[test]
fn a_catalogue_that_fits_is_used_and_another_is_told() {
    let archive = Archive::new(&many());
    archive.catalogue();
    assert_eq!(archive.opened(&OpenOptions::default()).unwrap()[0].notes, [""; 0]);
    let named = |path: &str| OpenOptions { catalogs: Catalogs::Named(vec![path.into()]), ..OpenOptions::default() };
    let elsewhere = archive.folder.path().join("own").display().to_string();
    fs::rename(archive.catalog(), &elsewhere).unwrap();
    assert_eq!(archive.opened(&named(&elsewhere)).unwrap()[0].notes, [""; 0]);
    assert!(archive.opened(&named("/missing/catalogue")).is_err());
    let none = OpenOptions { catalogs: Catalogs::Named(Vec::new()), ..OpenOptions::default() };
    assert_eq!(archive.opened(&none).unwrap_err().to_string(), "metadata error: there are 0 catalogues for 1 sources");

    // The data are other ones, or the catalogue is damaged.
    let damaged = {
        let mut bytes = fs::read(&elsewhere).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..middle + 40].fill(0xff);
        bytes
    };
    fs::write(archive.path(), [many(), many()].concat().into_iter().rev().flatten().collect::<Vec<u8>>()).unwrap();
    let last = OpenOptions { duplicates: Duplicates::Last, ..named(&elsewhere) };
    let stale = archive.check(&last);
    assert!(stale[0].contains(" is not used: it is stale: "), "{stale:?}");
    fs::write(archive.path(), many().concat()).unwrap();
    fs::write(&elsewhere, damaged).unwrap();
    let damaged = archive.check(&last);
    assert!(damaged[0].contains(" is not used: "), "{damaged:?}");
}
