//! Datasets over archives of every source: files, memory, something that seeks, a program's own source, and bytes that the program
//! gives step by step.

#![allow(clippy::cast_precision_loss, reason = "the numbers are small")]

use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tgm_catalog::Catalog;
use tgm_dataset::{Dataset, Indices, Member, OpenOptions, open, open_archives};
use tgm_std::read::{FetchError, FetchTraits, Fetched, Given, RangeFetch, ReadOptions, Tag, Want};
use tgm_std::{Archive, MessageBuilder, ObjectBuilder, Result};

/// A program's own source, which counts its requests.
#[derive(Clone)]
struct Own {
    bytes: Arc<Vec<u8>>,
    requests: Arc<AtomicUsize>,
}

impl Own {
    fn new(bytes: &[u8]) -> Self {
        Self { bytes: Arc::new(bytes.to_vec()), requests: Arc::default() }
    }
}

impl RangeFetch for Own {
    fn fetch(&self, want: &Want, unchanged: Option<&Tag>) -> std::result::Result<Fetched, FetchError> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        (&self.bytes[..]).fetch(want, unchanged)
    }

    fn traits(&self) -> FetchTraits {
        FetchTraits::default()
    }

    fn name(&self) -> String {
        "own".into()
    }
}

/// Fields of steps, each message with two objects. `points` says how long they are.
fn steps(first: u16, count: u16, points: u64) -> Vec<u8> {
    let message = |step: u16| {
        let t: Vec<f32> = (0..points).map(|at| f32::from(step) + at as f32).collect();
        let q: Vec<f32> = t.iter().map(|value| value + 0.5).collect();
        let field = |param, values| {
            ObjectBuilder::new(&[points], values).unwrap().metadata("param", param).metadata("step", step)
        };
        MessageBuilder::new().object(field("t", &t)).object(field("q", &q)).encode().unwrap()
    };
    (first..first + count).flat_map(message).collect()
}

/// A kind of source, and how an archive of it is made.
type Route = (&'static str, fn(&[u8]) -> Archive<'static>);

/// Makes a call until no source misses bytes. Returns its answer, and how many rounds it took.
fn by_steps<T>(sources: &[(Given, Vec<u8>)], call: impl Fn() -> Result<T>) -> (Result<T>, usize) {
    for round in 0..1000 {
        let answer = call();
        let mut is_done = true;
        for (given, bytes) in sources {
            for want in given.wants() {
                is_done = false;
                given.give(&want, (&bytes[..]).fetch(&want, None).unwrap()).unwrap();
            }
        }
        if is_done {
            for (given, _) in sources {
                given.forget();
            }
            return (answer, round);
        }
    }
    unreachable!("the call goes no further")
}

/// What a dataset says of itself, and some of its values.
fn looked_at(dataset: &Dataset) -> Result<(String, Vec<f32>, Vec<f32>)> {
    let shape = dataset.variable("t").unwrap().shape.clone();
    let all: Vec<_> = shape.iter().map(|len| Indices::all(*len)).collect();
    let point: Vec<_> = [Indices::all(shape[0]), Indices::Index(shape[1] - 1)].into();
    let about = format!(
        "{:?} {:?} {:?}",
        dataset.coordinates,
        dataset.variables.iter().map(|it| &it.dims).collect::<Vec<_>>(),
        dataset.notes
    );
    Ok((about, dataset.read("t", &all)?, dataset.read("q", &point)?))
}

fn first(members: &[Member]) -> Result<Dataset> {
    Ok(open_archives(members, &OpenOptions::default())?.swap_remove(0))
}

/// Short and long objects, of one archive and of two.
#[test]
fn a_dataset_is_the_same_whatever_its_sources_are() {
    for points in [10, 40_000] {
        let parts = [steps(0, 3, points), steps(3, 2, points)];
        let folder = tempfile::tempdir().unwrap();
        let paths = [folder.path().join("a.tgm"), folder.path().join("b.tgm")];
        paths.iter().zip(&parts).for_each(|(path, bytes)| std::fs::write(path, bytes).unwrap());
        let expected = looked_at(&open(&paths, &OpenOptions::default()).unwrap()).unwrap();
        assert_eq!(expected.1.len() as u64, 5 * points);

        let routes: [Route; 4] = [
            ("memory", |bytes| Archive::from_bytes(bytes.to_vec())),
            ("something that seeks", |bytes| Archive::from_reader(Cursor::new(bytes.to_vec()))),
            ("own source, near", |bytes| Archive::from_fetch(Own::new(bytes), ReadOptions::local())),
            ("own source, far", |bytes| Archive::from_fetch(Own::new(bytes), ReadOptions::remote())),
        ];
        for (route, archive) in routes {
            let members: Vec<_> = parts.iter().map(|bytes| Member::from(archive(bytes))).collect();
            assert_eq!(looked_at(&first(&members).unwrap()).unwrap(), expected, "{route}, {points} points");
        }
        let members: Vec<_> = paths.iter().map(|path| Member::from(Archive::open(path).unwrap())).collect();
        assert_eq!(looked_at(&first(&members).unwrap()).unwrap(), expected, "files that are open");

        let sources: Vec<_> = parts.iter().map(|bytes| (Given::new("given"), bytes.clone())).collect();
        let members: Vec<_> = sources.iter().map(|(given, _)| given_member(given)).collect();
        let (dataset, _) = by_steps(&sources, || first(&members));
        let dataset = dataset.unwrap();
        assert_eq!(by_steps(&sources, || looked_at(&dataset)).0.unwrap(), expected, "by steps, {points} points");
    }
}

fn given_member(given: &Given) -> Member {
    Archive::from_fetch(given.clone(), ReadOptions::remote()).into()
}

/// What messages and sources need is asked for together, so that the rounds do not grow with their number.
#[test]
fn what_many_sources_and_messages_need_is_wanted_in_few_rounds() {
    let sources: Vec<_> =
        (0..20).map(|number| (Given::new(format!("{number}")), steps(number * 3, 3, 40_000))).collect();
    let members: Vec<_> = sources.iter().map(|(given, _)| given_member(given)).collect();
    let (dataset, opening) = by_steps(&sources, || first(&members));
    let dataset = dataset.unwrap();
    assert_eq!(dataset.variable("t").unwrap().shape, [60, 40_000]);
    assert!(opening <= 8, "{opening} rounds to open");
    let series = [Indices::all(60), Indices::Index(7)];
    let (values, reading) = by_steps(&sources, || dataset.read::<f32>("t", &series));
    assert_eq!(values.unwrap(), (0..60).map(|step| step as f32 + 7.0).collect::<Vec<_>>());
    assert!(reading <= 6, "{reading} rounds to read");
}

/// More bytes than an archive keeps by itself.
#[test]
fn a_read_by_steps_of_more_than_is_kept_comes_to_its_end() {
    let source = (Given::new("long"), steps(0, 4, 2 << 20));
    let members = [given_member(&source.0)];
    let sources = [source];
    let dataset = by_steps(&sources, || first(&members)).0.unwrap();
    let all = [Indices::all(4), Indices::all(2 << 20)];
    let values = by_steps(&sources, || dataset.read::<f32>("t", &all)).0.unwrap();
    assert_eq!((values.len(), values[(2 << 20) + 5]), (8 << 20, 6.0));
}

/// A catalogue that is at hand says what the messages are: none is read for it. One of another archive is not used.
#[test]
fn a_catalogue_at_hand_opens_any_source() {
    let bytes = steps(0, 50, 20_000);
    let catalog = Arc::new(Catalog::build(&bytes, &["param"]).unwrap());
    let own = Own::new(&bytes);
    let archive = Arc::new(Archive::from_fetch(own.clone(), ReadOptions::remote()));
    let plain = first(&[Member::from(Archive::from_bytes(bytes.clone()))]).unwrap();
    let member = Member { archive, catalog: Some(Arc::clone(&catalog)) };
    let dataset = first(&[member]).unwrap();
    assert_eq!(looked_at(&dataset).unwrap(), looked_at(&plain).unwrap());

    let other = Member { archive: Arc::new(Archive::from_bytes(steps(7, 2, 10))), catalog: Some(catalog) };
    let dataset = first(&[other]).unwrap();
    assert_eq!(dataset.variable("t").unwrap().shape, [2, 10]);
    assert!(dataset.notes[0].starts_with("the catalogue of bytes is not used"), "{:?}", dataset.notes);
}

/// A distant object whose place is known takes a request for its descriptor and one for its values, however many objects the
/// message has.
#[test]
fn a_part_of_a_distant_object_takes_two_requests() {
    let bytes = steps(0, 3, 400_000);
    let own = Own::new(&bytes);
    let dataset = first(&[Archive::from_fetch(own.clone(), ReadOptions::remote()).into()]).unwrap();
    let before = own.requests.load(Ordering::Relaxed);
    assert_eq!(dataset.read::<f32>("q", &[Indices::Index(1), Indices::Index(200_000)]).unwrap(), [200_001.5]);
    let requests = own.requests.load(Ordering::Relaxed) - before;
    assert!(requests <= 2, "{requests}");
}

#[test]
fn bytes_of_another_format_are_an_error() {
    let error = first(&[Archive::from_bytes(b"GRIB, it seems".to_vec()).into()]).unwrap_err();
    assert!(error.to_string().contains("bytes"), "{error}");
}

/// The variable of each object, and the indices at which its values begin.
#[test]
fn an_object_has_its_place_in_a_variable() {
    let dataset = first(&[Archive::from_bytes(steps(0, 3, 10)).into()]).unwrap();
    for (message, object) in (0..3).flat_map(|message| [(message, 0), (message, 1)]) {
        let (variable, indices) = dataset.place_of((0, message, object)).unwrap();
        assert_eq!((variable.name.as_str(), indices), (["t", "q"][object], vec![message as u64, 0]));
    }
    for beyond in [(1, 0, 0), (0, 3, 0), (0, 0, 2)] {
        assert!(dataset.place_of(beyond).is_none(), "{beyond:?}");
    }
}
