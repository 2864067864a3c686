//! Data that grows, changes or is other data.

use std::fs;

use tgm_catalog::{Catalog, Freshness};
use tgm_std::{AppendOptions, DecodeOptions, TensogramFile};

use crate::{check_places, field, query, stored};

fn data(steps: std::ops::Range<i64>) -> Vec<u8> {
    steps.flat_map(|step| field(if step % 2 == 0 { "2t" } else { "tp" }, step)).collect()
}

#[test]
fn a_catalogue_knows_data_that_has_grown_and_data_that_is_another() {
    let ten = data(0..10);
    let catalog = stored(&ten, &["mars.step"]);
    let grown = [ten.clone(), data(10..11)].concat();
    let (covered, size) = (ten.len() as u64, grown.len() as u64);
    assert_eq!(catalog.check(&grown).unwrap(), Freshness::Grown { covered, size });
    let stale = |data: &[u8], why: &str| match catalog.check(data).unwrap() {
        Freshness::Stale(text) => assert!(text.contains(why), "{text}"),
        other => panic!("{other}"),
    };
    stale(&ten[..ten.len() - 1], "bytes");
    stale(&[], "bytes");
    stale(&data(1..12), "first bytes");
    let mut changed = ten.clone();
    let end = changed.len();
    // The hash slot of the last object, its last frame byte before the tail of the message aside.
    let object = usize::try_from(catalog.object_range(9, 0).unwrap().end).unwrap();
    changed[object - 5] ^= 1;
    stale(&changed, "digest");
    changed[object - 5] ^= 1;
    changed[end - 1] ^= 1;
    stale(&changed, "last covered bytes");
    let error = stored(&ten, &["mars.step"]).extend(&data(1..12)).unwrap_err().to_string();
    assert!(error.contains("stale"), "{error}");
}

#[test]
fn new_messages_become_a_leaf_in_the_file_and_a_torn_one_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (path, beside) = (folder.path().join("d.tgm"), folder.path().join("d.tgm.catalog"));
    fs::write(&path, data(0..10)).unwrap();
    let options = DecodeOptions::default();
    let built = Catalog::build(&TensogramFile::open(&path).unwrap(), &["mars.step", "mars.param"]).unwrap();
    fs::write(&beside, built.to_bytes()).unwrap();
    let before = fs::read(&beside).unwrap();

    let mut file = TensogramFile::open(&path).unwrap();
    for step in 10..13 {
        file.append_message(&field("10u", step), &AppendOptions::default()).unwrap();
    }
    // A writer that was interrupted.
    fs::write(&beside, [&before[..], &before[..before.len() / 2]].concat()).unwrap();
    let torn = Catalog::open(&beside).unwrap();
    assert_eq!((torn.message_count(), torn.leaf_count()), (10, 1));

    let (catalog, new) = Catalog::update(&beside, &file, &options).unwrap();
    assert_eq!((new, catalog.leaf_count(), catalog.message_count()), (3, 2, 13));
    assert!(fs::read(&beside).unwrap().starts_with(&before), "leaves before stay as they are");
    let catalog = Catalog::open(&beside).unwrap();
    let whole = fs::read(&path).unwrap();
    assert_eq!(catalog.check(&whole).unwrap(), Freshness::Fresh);
    check_places(&catalog, &whole);
    assert_eq!(catalog.select(&query("mars.param=10u and mars.step!=11")).unwrap(), [(10, 0), (12, 0)]);
    assert_eq!(Catalog::update(&beside, &file, &options).unwrap().1, 0);

    let compact = catalog.compact().unwrap();
    assert_eq!((compact.leaf_count(), compact.check(&whole).unwrap()), (1, Freshness::Fresh));
    check_places(&compact, &whole);
}

/// Four writers, each of which appends a message to the data and then updates the catalogue.
#[test]
fn writers_that_update_at_once_cover_each_message_once() {
    let folder = tempfile::tempdir().unwrap();
    let (path, beside) = (folder.path().join("d.tgm"), folder.path().join("d.tgm.catalog"));
    fs::write(&path, data(0..10)).unwrap();
    let built = Catalog::build(&TensogramFile::open(&path).unwrap(), &["mars.step"]).unwrap();
    fs::write(&beside, built.to_bytes()).unwrap();
    let new: usize = std::thread::scope(|scope| {
        let writers = [0, 1, 2, 3].map(|writer| {
            let (path, beside) = (&path, &beside);
            scope.spawn(move || {
                let mut new = 0;
                for step in 0..10 {
                    let mut file = TensogramFile::open(path).unwrap();
                    file.append_message(&field("10u", 10 * writer + step), &AppendOptions::default()).unwrap();
                    new += Catalog::update(beside, &file, &DecodeOptions::default()).unwrap().1;
                }
                new
            })
        });
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    assert_eq!(new, 40);
    let (catalog, whole) = (Catalog::open(&beside).unwrap(), fs::read(&path).unwrap());
    assert_eq!((catalog.message_count(), catalog.check(&whole).unwrap()), (50, Freshness::Fresh));
    check_places(&catalog, &whole);
}

#[test]
fn bytes_that_are_no_messages_are_covered_too() {
    let data = [&b"junk"[..], &field("2t", 1), b"between", &field("tp", 2), b"torn"].concat();
    let catalog = Catalog::build(&data, &["mars.step"]).unwrap();
    check_places(&catalog, &data);
    let (covered, size) = (data.len() as u64 - 4, data.len() as u64);
    assert_eq!(catalog.check(&data).unwrap(), Freshness::Grown { covered, size });
    let more = [&data[..], &field("2t", 3)].concat();
    let mut catalog = catalog;
    assert_eq!(catalog.extend(&more).unwrap(), 1);
    check_places(&catalog, &more);
    check_places(&catalog.compact().unwrap(), &more);
}

#[test]
fn an_empty_file_has_an_empty_catalogue() {
    let empty: &[u8] = &[];
    let mut catalog = Catalog::build(empty, &["a"]).unwrap();
    assert_eq!((catalog.message_count(), catalog.check(empty).unwrap()), (0, Freshness::Fresh));
    let data = data(0..2);
    assert_eq!(catalog.extend(&data).unwrap(), 2);
    check_places(&catalog, &data);
}

#[test]
fn an_edit_of_the_middle_that_keeps_the_length_is_stale_and_a_copy_is_fresh() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("d.tgm"), folder.path().join("copy.tgm"));
    let mut messages: Vec<_> = (0..40).map(|step| field("2t", step)).collect();
    let all = messages.concat();
    messages[20] = field("3t", 20);
    let edited = messages.concat();
    assert_eq!(edited.len(), all.len());
    fs::write(&path, &all).unwrap();
    fs::write(&copy, &all).unwrap();
    let mut catalog = Catalog::build(&TensogramFile::open(&path).unwrap(), &["mars.param"]).unwrap();
    let freshness = |catalog: &Catalog, path: &std::path::Path| {
        let file = TensogramFile::open(path).unwrap();
        [catalog.check(&file).unwrap(), catalog.check_all(&file).unwrap()]
    };
    for catalog in [&catalog, &catalog.compact().unwrap(), &Catalog::from_bytes(&catalog.to_bytes()).unwrap()] {
        assert_eq!(freshness(catalog, &path), [Freshness::Fresh, Freshness::Fresh]);
        assert_eq!(freshness(catalog, &copy), [Freshness::Fresh, Freshness::Fresh]);
        assert_eq!(catalog.check(&all).unwrap(), Freshness::Fresh);
        let Freshness::Stale(why) = catalog.check(&edited).unwrap() else { panic!("an edit is noticed") };
        assert!(why.contains("the metadata"), "{why}");
    }
    fs::write(&path, [&edited[..], &field("2t", 40)].concat()).unwrap();
    assert!(freshness(&catalog, &path).iter().all(|found| matches!(found, Freshness::Stale(_))));
    assert!(catalog.extend(&TensogramFile::open(&path).unwrap()).unwrap_err().to_string().contains("stale"));
    // More messages after the ones that are covered, in leaves of their own.
    fs::write(&copy, [&all[..], &field("2t", 40)].concat()).unwrap();
    assert_eq!(catalog.extend(&TensogramFile::open(&copy).unwrap()).unwrap(), 1);
    assert_eq!(freshness(&catalog, &copy), [Freshness::Fresh, Freshness::Fresh]);
}
