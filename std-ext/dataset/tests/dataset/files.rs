//! Variables of files: dimensions, records, groups and texts, and files that change.

use tgm_dataset::{Attribute, Dataset, Indices, OpenOptions, groups, on_all_cores, open, open_all};
use tgm_std::deps::ciborium::Value;
use tgm_std::{EncodeOptions, MessageBuilder, ObjectBuilder};

use crate::{Archive, all, map, named, names, seconds};

const UNCOUNTED: &str = "it would have more than 2^64 elements";

#[test]
fn variables_keep_their_dimensions_and_groups() {
    let v = ObjectBuilder::new(&[2, 3], &[1_i16, 2, 3, 4, 5, 6]).unwrap();
    let v = v.metadata("name", "v").metadata("dimensions", names(&["y", "x"]));
    let v = v
        .metadata("attributes", map(&[("units", "m".into()), ("valid_range", Value::Array(vec![0.into(), 9.into()]))]));
    let w = ObjectBuilder::new(&[3], &[1.5_f32, 2.5, 3.5]).unwrap();
    let w = w.metadata("name", "g/w").metadata("dimensions", names(&["x"]));
    let text = map(&[
        ("dimensions", names(&["x"])),
        ("shape", Value::Array(vec![3.into()])),
        ("values", names(&["a", "", "ü"])),
    ]);
    let message = MessageBuilder::new().extra("texts", map(&[("station", text)]));
    let message = message.extra("attributes", map(&[("title", "all".into())])).object(v).object(w);
    let message = message.extra("unlimited", names(&["y", "g/x"]));
    let archive = Archive::new(&[message.encode().unwrap()]);
    let dataset = archive.open().unwrap();
    assert_eq!(dataset.attributes, [("title".into(), Attribute::Text("all".into()))]);
    assert_eq!(dataset.unlimited, ["y"]);
    let v = dataset.variable("v").unwrap();
    assert_eq!((v.dims.join(" "), &v.shape[..]), ("y x".into(), &[2, 3][..]));
    assert_eq!(v.attributes[1], ("valid_range".into(), Attribute::Integers(vec![0, 9])));
    assert_eq!(dataset.variable("station").unwrap().texts().unwrap(), ["a", "", "ü"]);
    assert_eq!(dataset.read::<i16>("v", &[Indices::Index(1), Indices::List(vec![2, 0])]).unwrap(), [6, 4]);
    assert_eq!(groups(&[archive.path()], &OpenOptions::default()).unwrap(), ["g"]);
    let options = OpenOptions { group: Some("/g".into()), ..OpenOptions::default() };
    let group = open(&[archive.path()], &options).unwrap();
    assert_eq!(group.variables.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["w"]);
    assert_eq!(group.unlimited, ["x"]);
    assert_eq!(group.read::<f32>("w", &[Indices::Index(2)]).unwrap(), [3.5]);
    let of_group = |group: &str| {
        let options = OpenOptions { group: Some(group.into()), ..OpenOptions::default() };
        open(&[archive.path()], &options).map(|dataset| dataset.variables.len()).map_err(|error| error.to_string())
    };
    assert_eq!(of_group("/"), of_group(""));
    assert!(of_group("h").unwrap_err().ends_with(r#"group "h" is not there: the archive has "g""#));
}

/// Each chunk of such an array would have the same place.
#[test]
fn an_array_of_more_places_than_64_bits_count_is_left_out() {
    let numbers = |numbers: &[u64]| Value::Array(numbers.iter().map(|number| Value::from(*number)).collect());
    let opened = |shape: &[u64]| {
        let chunk = numbers(&vec![1; shape.len()]);
        let grid = map(&[("name", "regular".into()), ("configuration", map(&[("chunk_shape", chunk)]))]);
        let array = map(&[("shape", numbers(shape)), ("chunk_grid", grid)]);
        let mut message = MessageBuilder::new().extra("zarr", map(&[("path", "t".into()), ("array", array)]));
        for at in [1, 2] {
            let origin: Vec<u64> = shape.iter().map(|len| len - at).collect();
            let object = ObjectBuilder::new(&vec![1; shape.len()], &[1.5_f32]).unwrap().metadata("name", "t");
            message = message.object(object.metadata("zarr", map(&[("origin", numbers(&origin))])));
        }
        Archive::new(&[message.encode().unwrap()]).open().unwrap()
    };
    let most = opened(&[1 << 32, (1 << 32) - 1]);
    assert_eq!(most.variables[0].object_count(), 2, "{:?}", most.left_out);
    let last = [Indices::Index((1 << 32) - 1), Indices::Index((1 << 32) - 2)];
    assert_eq!(most.read::<f32>("t", &last).unwrap(), [1.5]);
    for shape in [[1 << 32, 1 << 32], [u64::MAX, u64::MAX]] {
        let beyond = opened(&shape);
        assert_eq!((beyond.variables.len(), beyond.left_out[0].why.as_str()), (0, UNCOUNTED));
    }
}

#[test]
fn records_are_one_variable() {
    let record = |number: u64| {
        let values = [number.wrapping_mul(2), number.wrapping_mul(2) | 1];
        let v = ObjectBuilder::new(&[2], &values).unwrap();
        let v = v.metadata("name", "v").metadata("dimensions", names(&["x"]));
        let v = v.metadata("netcdf", map(&[("record", "time".into())]));
        MessageBuilder::new().extra("record", number).object(v).encode().unwrap()
    };
    let archive = Archive::new(&[record(2), record(0), record(1)]);
    let dataset = archive.open().unwrap();
    let v = dataset.variable("v").unwrap();
    assert_eq!((v.dims.join(" "), &v.shape[..]), ("time x".into(), &[3, 2][..]));
    let all = [Indices::List(vec![0, 1, 2]), Indices::Index(1)];
    assert_eq!(dataset.read::<u64>("v", &all).unwrap(), [1, 3, 5]);
    // Without labels nothing says how files follow each other.
    let both = open(&[archive.path(), archive.path()], &OpenOptions::default()).unwrap_err().to_string();
    assert!(both.contains("nothing says how they go on"), "{both}");
    // Numbers of places beyond 64 bits: two records would be at one place.
    for (number, why) in [(u64::MAX, "the number of its last record is too large"), (1 << 63, UNCOUNTED)] {
        let beyond = Archive::new(&[record(0), record(number)]).open().unwrap();
        assert_eq!((beyond.variables.len(), beyond.left_out[0].why.as_str()), (0, why));
    }
    // A record that is there twice is reported, and not taken.
    let twice = Archive::new(&[record(0), record(0)]).open().unwrap();
    assert_eq!((twice.variables.len(), twice.left_out[0].why.as_str()), (0, "two messages have one record"));
}

#[test]
fn a_file_of_another_format_is_an_error_and_not_left_out() {
    let archive =
        Archive::new(&[MessageBuilder::new().object(ObjectBuilder::new(&[1], &[1_u8]).unwrap()).encode().unwrap()]);
    let other = archive.folder.path().join("b.nc");
    let opened = |sources: &[String]| open_all(sources, &OpenOptions::default()).map(|found| found.len());
    for (bytes, words) in [
        (&b"\x89HDF\r\n\x1a\n and more"[..], "looks like HDF5 or NetCDF"),
        (b"<html>gone</html>", "looks like an HTML page"),
        (b"nothing of that kind", "no message was found"),
    ] {
        std::fs::write(&other, bytes).unwrap();
        let other = other.display().to_string();
        for sources in [vec![other.clone()], vec![archive.path(), other.clone()]] {
            let error = opened(&sources).unwrap_err().to_string();
            assert!(error.contains("b.nc") && error.contains(words), "{error}");
        }
    }
    // An empty file is an archive without messages.
    std::fs::write(&other, b"").unwrap();
    assert_eq!(opened(&[archive.path(), other.display().to_string()]).unwrap(), 1);
}

#[test]
fn a_file_that_was_cut_since_it_was_opened_is_an_error() {
    let values: Vec<f32> = (0_u16..1000).cycle().take(400_000).map(f32::from).collect();
    let v = named(ObjectBuilder::new(&[2, 200_000], &values).unwrap(), "v", &["y", "x"]);
    let w = named(ObjectBuilder::new(&[6], &values[..6]).unwrap(), "w", &["z"]);
    let archive = Archive::new(&[w, v].map(|object| MessageBuilder::new().object(object).encode().unwrap()));
    let dataset = archive.open().unwrap();
    let point = |y: u64, x: u64| dataset.read::<f32>("v", &[Indices::Index(y), Indices::Index(x)]);
    assert_eq!(point(1, 199_999).unwrap(), [999.0]);
    let file = std::fs::OpenOptions::new().write(true).open(archive.path()).unwrap();
    file.set_len(1_000_000).unwrap();
    // An object before the cut is still read. Nothing is read of one that was cut: its digest is gone.
    assert_eq!(dataset.read::<f32>("w", &[Indices::Index(5)]).unwrap(), [5.0]);
    assert!(point(0, 1_234).is_err() && point(1, 150_000).is_err());
    file.set_len(1_000).unwrap();
    assert!(point(0, 150_000).is_err());
}

/// A file of this machine has no version that answers tell, as on a server: digests say what was there before.
#[test]
fn a_file_that_was_written_over_since_it_was_opened_is_an_error() {
    let step = |step: u8| {
        // One that is read whole, and one of which parts are read.
        let values = vec![f32::from(step); 200_000];
        let keys = |param: &str| map(&[("param", param.into()), ("step", step.into())]);
        let long = ObjectBuilder::new(&[200_000], &values).unwrap().metadata("mars", keys("t"));
        let short = ObjectBuilder::new(&[6], &values[..6]).unwrap().metadata("mars", keys("u"));
        MessageBuilder::new().object(long).object(short).encode().unwrap()
    };
    let archive = Archive::new(&[step(0), step(6)]);
    let later = std::cell::Cell::new(std::time::SystemTime::now());
    let write = |messages: &[Vec<u8>]| {
        std::fs::write(archive.path(), messages.concat()).unwrap();
        later.set(later.get() + std::time::Duration::from_secs(1));
        let file = std::fs::File::options().write(true).open(archive.path()).unwrap();
        file.set_modified(later.get()).unwrap();
    };
    let all = OpenOptions::default();
    let values = |found: &[Dataset], name: &str| {
        let dataset = found.iter().find(|it| it.variable(name).is_some()).unwrap();
        let steps = Indices::Range { start: 0, count: 2, step: std::num::NonZeroU64::MIN };
        dataset.read::<f32>(name, &[steps, Indices::Index(3)]).map_err(|error| error.to_string())
    };
    let found = open_all(&[archive.path()], &all).unwrap();
    // What was appended changes nothing, and neither does writing the same.
    write(&[step(0), step(6), step(12)]);
    for name in ["t", "u"] {
        assert_eq!(values(&found, name).unwrap(), [0.0, 6.0]);
    }
    write(&[step(6), step(0), step(12)]);
    for name in ["t", "u"] {
        let error = values(&found, name).unwrap_err();
        assert!(error.contains("a.tgm: the file was changed since the dataset was opened"), "{error}");
        let dataset = found.iter().find(|it| it.variable(name).is_some()).unwrap();
        let frame = dataset.piece_frame(name, 0).map_err(|error| error.to_string());
        let place = dataset.piece_payload(name, 0).map_err(|error| error.to_string());
        assert!(frame.unwrap_err().contains("was changed") && place.unwrap_err().contains("was changed"));
    }
    // Without digests, the end that was there says what was appended.
    let bare = |steps: &[u8]| -> Vec<Vec<u8>> {
        let options = EncodeOptions { hashing: false, ..EncodeOptions::default() };
        let message = |step: &u8| {
            let keys = map(&[("param", "t".into()), ("step", (*step).into())]);
            let values = [f32::from(*step); 4];
            let object = ObjectBuilder::new(&[4], &values).unwrap().metadata("mars", keys);
            MessageBuilder::new().options(options.clone()).object(object).encode().unwrap()
        };
        steps.iter().map(message).collect()
    };
    write(&bare(&[0, 6]));
    let found = open_all(&[archive.path()], &all).unwrap();
    write(&bare(&[0, 6, 12]));
    assert_eq!(values(&found, "t").unwrap(), [0.0, 6.0]);
    for other in [&[6, 0][..], &[6, 0, 12]] {
        write(&bare(other));
        assert!(values(&found, "t").unwrap_err().contains("was changed"), "{other:?}");
    }
    write(&[step(6), step(0), step(12)]);
    // Another file in its place.
    let found = open_all(&[archive.path()], &all).unwrap();
    let version = |found: &[Dataset]| found[0].sources();
    let before = version(&found);
    assert_eq!(before, version(&open_all(&[archive.path()], &all).unwrap()));
    std::fs::write(archive.folder.path().join("new"), [step(0), step(6), step(12)].concat()).unwrap();
    std::fs::rename(archive.folder.path().join("new"), archive.path()).unwrap();
    let again = open_all(&[archive.path()], &all).unwrap();
    for name in ["t", "u"] {
        assert_eq!(values(&found, name).unwrap(), values(&again, name).unwrap());
    }
    assert_eq!(before, version(&found));
    let now = version(&again);
    assert!(before != now && before[0].0 == now[0].0 && now[0].1.is_some());
}

/// Attributes of Zarr are any JSON: all are kept, also in boxes as messages.
#[test]
fn attributes_of_any_form_are_kept() {
    let list = |numbers: &[i64]| Value::Array(numbers.iter().map(|number| (*number).into()).collect());
    let nested = [
        ("name_to_index", map(&[("2t", 0.into()), ("tp", 1.into())])),
        ("levels", Value::Array(vec![list(&[1, 2]), list(&[3])])),
        ("mixed", Value::Array(vec![1.into(), "a".into()])),
        ("nothing", Value::Null),
        ("large", u64::MAX.into()),
    ];
    let v = named(ObjectBuilder::new(&[2], &[1_i16, 2]).unwrap(), "v", &["x"]).metadata("attributes", map(&nested));
    let archive = Archive::new(&[MessageBuilder::new().extra("attributes", map(&nested)).object(v).encode().unwrap()]);
    let dataset = archive.open().unwrap();
    let cut = Archive::new(&[dataset.cut(&["v"], &[], &on_all_cores()).unwrap().encode().unwrap()]);
    for dataset in [&dataset, &cut.open().unwrap()] {
        for attributes in [&dataset.attributes, &dataset.variable("v").unwrap().attributes] {
            for (name, value) in &nested {
                let found = attributes.iter().find(|(known, _)| known == name);
                assert_eq!(found.map(|(_, found)| found), Some(&Attribute::Nested(value.clone())), "{name}");
            }
        }
    }
    #[cfg(feature = "json")]
    {
        let (described, _) = dataset.to_json(usize::MAX);
        assert_eq!(described["attributes"]["name_to_index"]["tp"], 1);
        let mut references = Vec::new();
        dataset.references(&on_all_cores()).unwrap().write_json(&mut references).unwrap();
        assert!(String::from_utf8(references).unwrap().contains(r#"\"levels\":[[1,2],[3]]"#));
    }
}

/// Integers that are times of numpy have units where others have them.
#[test]
fn times_of_numpy_are_times() {
    let file = |days: [i64; 2], unit: &str| {
        let numpy = map(&[("dtype", "datetime64".into()), ("unit", unit.into()), ("multiple", 1.into())]);
        let v = named(ObjectBuilder::new(&[2], &[1_i16, 2]).unwrap(), "v", &["dates"]);
        let dates = named(ObjectBuilder::new(&[2], &days).unwrap(), "dates", &["dates"]).metadata("numpy", numpy);
        let dates = dates.metadata("attributes", map(&[("long_name", "day".into())]));
        Archive::new(&[MessageBuilder::new().object(v).object(dates).encode().unwrap()])
    };
    let (one, other) = (file([0, 1], "D"), file([48, 72], "h"));
    let day = 86_400;
    let dataset = one.open().unwrap();
    assert_eq!(seconds(&dataset.labels("dates").unwrap().unwrap()), [0, day]);
    assert!(dataset.select("v", &["dates=1970-01-02".parse().unwrap()]).is_ok());
    let joined = open(&[other.path(), one.path()], &OpenOptions::default()).unwrap();
    assert_eq!(seconds(&joined.labels("dates").unwrap().unwrap()), [0, day, 2 * day, 3 * day]);
    let cut = Archive::new(&[dataset.cut(&["v"], &[], &on_all_cores()).unwrap().encode().unwrap()]);
    let dates = cut.open().unwrap();
    let attributes = &dates.variable("dates").unwrap().attributes;
    assert!(attributes.contains(&("units".into(), "days since 1970-01-01".into())), "{attributes:?}");
}

/// Floats of 64 bits become floats of 32 as they are decoded: whole objects, parts of long ones, several files, and places without an
/// object.
#[test]
fn long_floats_are_read_as_short_ones() {
    let file = |first: f64| {
        let values: Vec<f64> = (0..80_000_u32).map(|at| first + f64::from(at) / 3.0).collect();
        let v = named(ObjectBuilder::new(&[400, 200], &values).unwrap(), "v", &["time", "x"]);
        let days: Vec<f64> = (0..400_u32).map(|day| first + f64::from(day)).collect();
        let time = named(ObjectBuilder::new(&[400], &days).unwrap(), "time", &["time"]);
        let time = time.metadata("attributes", map(&[("units", "days since 2024-01-01".into())]));
        let (w, u) = (ObjectBuilder::new(&[400], &days).unwrap(), ObjectBuilder::new(&[400], &days).unwrap());
        let message = MessageBuilder::new().object(v).object(time).object(named(w, "w", &["time"]));
        let message = if first == 0.0 { message.object(named(u, "u", &["time"])) } else { message };
        Archive::new(&[message.encode().unwrap()])
    };
    let (one, other) = (file(0.0), file(400.0));
    let dataset = open(&[one.path(), other.path()], &OpenOptions::default()).unwrap();
    let step = std::num::NonZeroU64::new(7).unwrap();
    let some = Indices::Range { start: 390, count: 5, step };
    for (name, indices) in [
        ("v", all(&dataset, "v")),
        ("v", vec![some.clone(), Indices::Index(3)]),
        ("v", vec![Indices::List(vec![799, 2, 400]), Indices::Range { start: 1, count: 20, step }]),
        ("w", vec![some.clone()]),
        ("u", vec![some]),
    ] {
        let long = dataset.read::<f64>(name, &indices).unwrap();
        #[expect(clippy::cast_possible_truncation, reason = "the nearest float is asked for")]
        let expected: Vec<u32> = long.iter().map(|value| (*value as f32).to_bits()).collect();
        let mut found = vec![0.0_f32; long.len()];
        dataset.read_floats_into(name, &indices, &on_all_cores(), &mut found).unwrap();
        assert_eq!(found.into_iter().map(f32::to_bits).collect::<Vec<_>>(), expected, "{name}: {indices:?}");
    }
}
