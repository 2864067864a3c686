//! Variables of files: dimensions, records, groups and texts.

use tgm_dataset::{
    Attribute, Coordinate, Dataset, Indices, OpenOptions, Statistic, Values, groups, on_all_cores, open, open_all,
};
use tgm_std::deps::ciborium::Value;
use tgm_std::{EncodeOptions, MessageBuilder, ObjectBuilder};

use crate::{Archive, map};

fn names(names: &[&str]) -> Value {
    Value::Array(names.iter().map(|name| Value::from(*name)).collect())
}

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

fn named<'v>(object: ObjectBuilder<'v>, name: &str, dims: &[&str]) -> ObjectBuilder<'v> {
    object.metadata("name", name).metadata("dimensions", names(dims))
}

/// A file of a variable along time, with the times in days since a date, and a mask that does not depend on time.
fn of_days(since: &str, days: &[f64], first: f32, mask: &[i16]) -> Vec<u8> {
    of_place(since, days, first, mask, &[10.0, 20.0])
}

/// The same with other labels of x.
fn of_place(since: &str, days: &[f64], first: f32, mask: &[i16], x: &[f64]) -> Vec<u8> {
    let values: Vec<f32> = (0_u8..).take(days.len() * 2).map(|at| first + f32::from(at)).collect();
    let v = named(ObjectBuilder::new(&[days.len() as u64, 2], &values).unwrap(), "v", &["time", "x"]);
    let time = named(ObjectBuilder::new(&[days.len() as u64], days).unwrap(), "time", &["time"]);
    let time =
        time.metadata("attributes", map(&[("units", format!("days since {since}").into()), ("bounds", "ends".into())]));
    let ends: Vec<f64> = days.iter().flat_map(|day| [*day, day + 1.0]).collect();
    let ends = named(ObjectBuilder::new(&[days.len() as u64, 2], &ends).unwrap(), "ends", &["time", "nv"]);
    let x = named(ObjectBuilder::new(&[2], x).unwrap(), "x", &["x"]);
    let mask = named(ObjectBuilder::new(&[2], mask).unwrap(), "mask", &["x"]);
    MessageBuilder::new().object(v).object(time).object(ends).object(x).object(mask).encode().unwrap()
}

fn all(dataset: &Dataset, name: &str) -> Vec<Indices> {
    dataset.variable(name).unwrap().shape.iter().map(|len| Indices::all(*len)).collect()
}

/// The seconds since 1970 of the labels of a coordinate.
fn seconds(coordinate: &Coordinate) -> Vec<i64> {
    match &coordinate.values {
        Values::Times(times) => times.seconds(),
        other => panic!("{other:?} are not times"),
    }
}

#[test]
fn files_are_joined_along_the_dimension_whose_labels_differ() {
    let file = |since: &str, days: &[f64], first: f32| Archive::new(&[of_days(since, days, first, &[7, 8])]);
    // In the order of their labels, not of their names, and each with units of its own.
    let (late, early) = (file("2024-02-01", &[0.0, 1.0, 2.0], 10.0), file("2024-01-30", &[0.0, 1.0], 0.0));
    let dataset = open(&[late.path(), early.path()], &OpenOptions::default()).unwrap();
    assert_eq!(dataset.variable("v").unwrap().shape, [5, 2]);
    assert_eq!(
        dataset.read::<f32>("v", &all(&dataset, "v")).unwrap(),
        [0.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]
    );
    let day = |day: i64| (19_752 + day) * 86_400;
    let time = dataset.labels("time").unwrap().unwrap();
    assert_eq!(seconds(&time), (0..5).map(day).collect::<Vec<_>>());
    let units = ("units".to_string(), Attribute::from("days since 2024-01-30"));
    assert!(time.attributes.contains(&units), "{:?}", time.attributes);
    let ends = dataset.labels("ends").unwrap().unwrap();
    assert_eq!(seconds(&ends), (0..5).flat_map(|at| [day(at), day(at + 1)]).collect::<Vec<_>>());
    assert_eq!(ends.dims, ["time", "nv"]);
    // What does not depend on time is there once.
    assert_eq!(dataset.variable("mask").unwrap().dims, ["x"]);
    assert_eq!(dataset.read::<f64>("x", &[Indices::all(2)]).unwrap(), [10.0, 20.0]);
    let selected =
        dataset.select("v", &["time=2024-01-31..2024-02-02".parse().unwrap(), "x=20".parse().unwrap()]).unwrap();
    assert_eq!(dataset.read::<f32>("v", &selected).unwrap(), [3.0, 11.0, 13.0]);
    let backwards = [Indices::List(vec![4, 1, 2]), Indices::List(vec![1, 0])];
    assert_eq!(dataset.read::<f32>("v", &backwards).unwrap(), [15.0, 14.0, 3.0, 2.0, 11.0, 10.0]);
    assert_eq!(dataset.read::<f32>("v", &[Indices::Index(3), Indices::Index(0)]).unwrap(), [12.0]);
    assert!(dataset.read::<f32>("v", &[Indices::Index(5), Indices::Index(0)]).is_err());
    let mean = dataset.reduce("v", &all(&dataset, "v"), &["time"], &[Statistic::Mean], &on_all_cores()).unwrap();
    assert_eq!(mean.values(Statistic::Mean), [7.6, 8.6]);
}

/// A file of a variable along time, and of times of each record, counted by some units.
fn of_times(name: &str, units: &str, times: &[f64]) -> Archive {
    let values = vec![1_i16; times.len()];
    let v = named(ObjectBuilder::new(&[times.len() as u64], &values).unwrap(), name, &["time"]);
    let counted = |name: &'static str| {
        let time = named(ObjectBuilder::new(&[times.len() as u64], times).unwrap(), name, &["time"]);
        time.metadata("attributes", map(&[("units", units.into())]))
    };
    Archive::new(&[MessageBuilder::new().object(v).object(counted("time")).object(counted("made")).encode().unwrap()])
}

#[test]
fn times_that_are_no_coordinate_stay_variables() {
    let (early, late) =
        (of_times("v", "days since 2024-01-30", &[0.0, 1.0]), of_times("v", "days since 2024-02-01", &[0.0]));
    let dataset = open(&[late.path(), early.path()], &OpenOptions::default()).unwrap();
    assert!(dataset.coordinates.is_empty(), "{:?}", dataset.coordinates);
    let parts = dataset.parts();
    assert_eq!(parts.variables.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["v", "made"]);
    assert_eq!(dataset.read::<i64>("made", &[Indices::List(vec![2, 0])]).unwrap(), [2, 0]);
    assert!(dataset.read::<i64>("made", &[Indices::Index(3)]).is_err());
    let selected = dataset.select("made", &["time=2024-01-31..".parse().unwrap()]).unwrap();
    assert_eq!(dataset.read::<i64>("made", &selected).unwrap(), [1, 2]);
}

#[test]
fn times_of_any_units_are_joined_exactly_and_are_equal_where_they_are() {
    let seconds = of_times("v", "seconds since 2000-01-01", &[0.0, 1.0]);
    let later = of_times("v", "milliseconds since 2000-01-01 00:00:01.5", &[1.0, 500.0]);
    // A tenth of a day has no exact float, and is 8640 seconds.
    let days = of_times("v", "days since 2000-01-01", &[7000.1]);
    let dataset = open(&[later.path(), days.path(), seconds.path()], &OpenOptions::default()).unwrap();
    let day = 86_400_000_i64;
    let expected = [0, 1000, 1501, 2000, 7000 * day + day / 10];
    assert_eq!(dataset.read::<i64>("time", &all(&dataset, "time")).unwrap(), expected);
    assert_eq!(dataset.read::<i64>("made", &all(&dataset, "made")).unwrap(), expected);
    let units = ("units".to_string(), Attribute::from("milliseconds since 2000-01-01"));
    assert!(dataset.variable("time").unwrap().attributes.contains(&units));

    let merged = |units: &str, times: &[f64]| {
        let other = of_times("u", units, times);
        open_all(&[days.path(), other.path()], &OpenOptions::default()).unwrap().len()
    };
    let of_year = 6634.1 * 86_400e3;
    assert_eq!(merged("milliseconds since 2001-01-01", &[of_year]), 1);
    assert_eq!(merged("milliseconds since 2001-01-01", &[of_year + 1.0]), 2);
    assert_eq!(merged("microseconds since 2001-01-01", &[of_year * 1000.0 + 1.0]), 2);
}

/// Without a calendar it is the standard one, which is Julian before 1582: these hours are 2016-01-28 and the day behind it.
#[test]
fn times_since_a_date_before_1582_are_joined_in_the_units_of_the_first_file() {
    let since_1 = of_times("v", "hours since 1-1-1 00:00:00", &[17_663_808.0, 17_663_832.0]);
    let since_1800 = of_times("v", "hours since 1800-01-01", &[1_893_384.0]);
    let dataset = open(&[since_1.path(), since_1800.path()], &OpenOptions::default()).unwrap();
    let expected = [1_893_384, 1_894_056, 1_894_080];
    assert_eq!(dataset.read::<i64>("time", &all(&dataset, "time")).unwrap(), expected);
    let selected = dataset.select("made", &["time=2016-01-29".parse().unwrap()]).unwrap();
    assert_eq!(dataset.read::<i64>("made", &selected).unwrap(), expected[2..]);
}

/// The same days, which have other dates in one of the calendars before 1582.
#[test]
fn the_standard_and_the_gregorian_calendar_are_joined() {
    let file = |name: &str, calendar: &str, days: &[i32]| {
        let v = named(ObjectBuilder::new(&[days.len() as u64], days).unwrap(), name, &["time"]);
        let time = named(ObjectBuilder::new(&[days.len() as u64], days).unwrap(), "time", &["time"]);
        let units = [("units", "days since 1500-01-01".into()), ("calendar", calendar.into())];
        let time = time.metadata("attributes", map(&units));
        Archive::new(&[MessageBuilder::new().object(v).object(time).encode().unwrap()])
    };
    // 1500-01-01 of the standard calendar is nine days later.
    let (standard, gregorian) = (file("v", "standard", &[200_000]), file("v", "proleptic_gregorian", &[200_000]));
    let dataset = open(&[standard.path(), gregorian.path()], &OpenOptions::default()).unwrap();
    assert_eq!(dataset.read::<i64>("time", &all(&dataset, "time")).unwrap(), [200_000, 200_009]);
    let merged = |days| {
        let other = file("u", "proleptic_gregorian", &[days]);
        open_all(&[standard.path(), other.path()], &OpenOptions::default()).unwrap().len()
    };
    assert_eq!((merged(200_009), merged(200_000)), (1, 2));
}

/// A year of this calendar has no 29th of February.
#[test]
fn times_of_other_calendars_are_counted_from_the_first_day() {
    let file = |since: &str, value: f32| {
        let values = [value];
        let v = named(ObjectBuilder::new(&[1], &values).unwrap(), "v", &["time"]);
        let time = named(ObjectBuilder::new(&[1], &[0.0]).unwrap(), "time", &["time"]);
        let units = [("units", since.into()), ("calendar", "noleap".into())];
        Archive::new(&[MessageBuilder::new()
            .object(v)
            .object(time.metadata("attributes", map(&units)))
            .encode()
            .unwrap()])
    };
    let (later, first) = (file("days since 2024-03-01", 2.0), file("hours since 2024-02-28", 1.0));
    let dataset = open(&[later.path(), first.path()], &OpenOptions::default()).unwrap();
    assert_eq!(dataset.read::<f32>("v", &all(&dataset, "v")).unwrap(), [1.0, 2.0]);
    assert_eq!(dataset.read::<i64>("time", &all(&dataset, "time")).unwrap(), [0, 24]);
    let time = dataset.variable("time").unwrap();
    let units = ("units".to_string(), Attribute::Text("hours since 2024-02-28".into()));
    assert!(time.attributes.contains(&units), "{:?}", time.attributes);
}

/// Objects of one shape are pieces of one array, also in several files. Others are not.
#[test]
fn pieces_of_several_files_are_one_array_where_they_are() {
    let file = |since: &str, len: u8| {
        let days: Vec<f64> = (0..len).map(f64::from).collect();
        Archive::new(&[of_days(since, &days, f32::from(len), &[7, 8])])
    };
    let (january, february, march) = (file("2024-01-01", 3), file("2024-02-01", 3), file("2024-03-01", 2));
    let opened = |files: &[&Archive]| {
        let paths: Vec<String> = files.iter().map(|file| file.path()).collect();
        open(&paths, &OpenOptions::default()).unwrap()
    };
    let even = opened(&[&january, &february, &march]);
    assert_eq!(even.variable("v").unwrap().seams(), None);
    assert_eq!((even.piece_counts("v").unwrap(), even.piece_numbers("v").unwrap()), (vec![3, 1], vec![0, 1, 2]));
    let values = even.read::<f32>("v", &all(&even, "v")).unwrap();
    assert_eq!((values.len(), values[0], values[6], values[12]), (16, 3.0, 3.0, 2.0));
    // The file in the middle ends within a piece.
    let uneven = opened(&[&march, &january, &file("2024-02-01", 2)]);
    assert_eq!(uneven.variable("v").unwrap().seams(), Some((0, vec![0, 3, 5])));
    assert_eq!((uneven.variable("v").unwrap().object_count(), uneven.piece_counts("v").is_err()), (3, true));
    let values = uneven.read::<f32>("v", &all(&uneven, "v")).unwrap();
    assert_eq!((values.len(), values[0], values[6], values[10]), (14, 3.0, 2.0, 2.0));
}

#[test]
fn what_differs_without_the_dimension_is_there_at_each_index() {
    let file = |since: &str, mask: [i16; 2]| Archive::new(&[of_days(since, &[0.0, 1.0, 2.0], 0.0, &mask)]);
    let (one, other) = (file("2024-01-01", [7, 8]), file("2024-02-01", [5, 6]));
    let dataset = open(&[one.path(), other.path()], &OpenOptions::default()).unwrap();
    let mask = dataset.variable("mask").unwrap();
    assert_eq!((mask.dims.join(" "), &mask.shape[..]), ("time x".into(), &[6, 2][..]));
    assert_eq!(dataset.read::<i16>("mask", &all(&dataset, "mask")).unwrap(), [7, 8, 7, 8, 7, 8, 5, 6, 5, 6, 5, 6]);
    let some = [Indices::List(vec![5, 0]), Indices::Index(1)];
    assert_eq!(dataset.read::<i16>("mask", &some).unwrap(), [6, 8]);
}

#[test]
fn files_that_cannot_be_joined_are_named() {
    let file = |name: &str, message: Vec<u8>| {
        let archive = Archive::new(&[message]);
        let path = archive.folder.path().join(name);
        std::fs::rename(archive.path(), &path).unwrap();
        (archive, path.display().to_string())
    };
    let plain = |since: &str, days: &[f64]| of_days(since, days, 0.0, &[7, 8]);
    let early = file("early.tgm", plain("2024-01-01", &[0.0, 1.0, 2.0]));
    let late = file("late.tgm", plain("2024-01-02", &[0.0, 1.0, 2.0]));
    let other = {
        let v =
            ObjectBuilder::new(&[1], &[1_i16]).unwrap().metadata("name", "v").metadata("dimensions", names(&["time"]));
        let time =
            ObjectBuilder::new(&[1], &[9.0]).unwrap().metadata("name", "time").metadata("dimensions", names(&["time"]));
        let time = time.metadata("attributes", map(&[("units", "days since 2024-01-01".into())]));
        file("other.tgm", MessageBuilder::new().object(v).object(time).encode().unwrap())
    };
    let shifted = file("shifted.tgm", of_place("2024-01-04", &[0.0, 1.0, 2.0], 0.0, &[7, 8], &[10.0, 30.0]));
    for (paths, why) in [
        ([&early.1, &shifted.1], "shifted.tgm: it has other labels of x than "),
        ([&late.1, &early.1], "early.tgm, .*late.tgm: their time overlaps, or is not in order"),
        ([&early.1, &early.1], "they have the same variables and coordinates, so nothing says how they go on"),
        ([&early.1, &other.1], ""),
    ] {
        let found = open(&paths, &OpenOptions::default());
        let error = found.map_or_else(|error| error.to_string(), |found| format!("{:?}", found.left_out));
        let parts: Vec<&str> = why.split(".*").collect();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
    // Other variables are a dataset of their own, if their coordinates are others.
    let all = open_all(&[&early.1, &other.1], &OpenOptions::default()).unwrap();
    assert_eq!(all.len(), 2);
    assert!(all[0].left_out.iter().any(|it| it.to_string().contains("other coordinates")), "{:?}", all[0].left_out);
}

/// Two variables, each in its file: equal numbers of times that count from different days are other times, and other numbers may
/// be the same times.
#[test]
fn files_are_merged_where_their_times_are_equal_and_not_where_their_numbers_are() {
    let file = |name: &str, since: &str, days: [f64; 2]| {
        let v = named(ObjectBuilder::new(&[2], &[1_i16, 2]).unwrap(), name, &["time"]);
        let time = named(ObjectBuilder::new(&[2], &days).unwrap(), "time", &["time"]);
        let time = time.metadata("attributes", map(&[("units", since.into())]));
        Archive::new(&[MessageBuilder::new().object(v).object(time).encode().unwrap()])
    };
    let one = file("u", "days since 2024-01-01", [30.0, 31.0]);
    let later = file("v", "days since 2024-02-01", [30.0, 31.0]);
    let equal = file("v", "days since 2024-01-31", [0.0, 1.0]);
    let opened = |other: &Archive| open_all(&[one.path(), other.path()], &OpenOptions::default()).unwrap();
    let apart = opened(&later);
    assert_eq!(apart.len(), 2, "{apart:?}");
    assert!(apart[0].left_out[0].why.contains("other coordinates"), "{:?}", apart[0].left_out);
    let together = opened(&equal);
    assert_eq!(together.len(), 1, "{together:?}");
    assert!(together[0].variable("u").is_some() && together[0].variable("v").is_some());
}

/// What lies along the first dimension is not in the parts along the second one, also where its times were counted anew.
#[test]
fn parts_are_appended_along_several_dimensions() {
    let part = |number: u64, dim: &str, shape: [u8; 2], since: &str| {
        let values: Vec<i16> = (0..i16::from(shape[0] * shape[1])).collect();
        let (rows, shape) = (f64::from(shape[0]), shape.map(u64::from));
        let v = named(ObjectBuilder::new(&shape, &values).unwrap(), "v", &["time", "x"]);
        let times: Vec<f64> = (0_u8..3).map(f64::from).filter(|time| *time < rows).collect();
        let time = named(ObjectBuilder::new(&[shape[0]], &times).unwrap(), "time", &["time"]);
        let time = time.metadata("attributes", map(&[("units", since.into())]));
        let message = MessageBuilder::new().object(v);
        let message = if dim == "x" { message } else { message.object(time) };
        let place = map(&[("number", number.into()), ("dimension", dim.into())]);
        if number == 0 { message } else { message.extra("part", place) }.encode().unwrap()
    };
    let archive = Archive::new(&[
        part(0, "", [2, 1], "days since 2024-01-01"),
        part(1, "time", [1, 1], "hours since 2024-01-03"),
        part(2, "x", [3, 2], ""),
    ]);
    let dataset = open(&[archive.path()], &OpenOptions::default()).unwrap();
    assert_eq!(dataset.variable("v").unwrap().shape, [3, 3]);
    assert_eq!(dataset.read::<i16>("v", &all(&dataset, "v")).unwrap(), [0, 0, 1, 1, 2, 3, 0, 4, 5]);
    assert_eq!(seconds(&dataset.labels("time").unwrap().unwrap()), [0, 1, 2].map(|day| (19_723 + day) * 86_400));
}

#[test]
fn what_was_appended_follows_the_file() {
    let part = |number: u64, values: &[i16]| {
        let object = ObjectBuilder::new(&[values.len() as u64], values).unwrap();
        let message =
            MessageBuilder::new().object(object.metadata("name", "v").metadata("dimensions", names(&["time"])));
        let place = map(&[("number", number.into()), ("dimension", "time".into())]);
        if number == 0 { message } else { message.extra("part", place) }.encode().unwrap()
    };
    let archive = Archive::new(&[part(0, &[1, 2]), part(2, &[5]), part(1, &[3, 4])]);
    let found = open_all(&[archive.path()], &OpenOptions::default()).unwrap();
    let [dataset] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(dataset.read::<i16>("v", &all(dataset, "v")).unwrap(), [1, 2, 3, 4, 5]);
    assert!(dataset.left_out.is_empty(), "{:?}", dataset.left_out);
}

#[test]
fn what_was_appended_twice_is_reported() {
    let part = |number: u64, day: f64| {
        let (values, days) = ([1_i16], [day]);
        let v = named(ObjectBuilder::new(&[1], &values).unwrap(), "v", &["time"]);
        let time = named(ObjectBuilder::new(&[1], &days).unwrap(), "time", &["time"]);
        let time = time.metadata("attributes", map(&[("units", "days since 2024-01-01".into())]));
        let message = MessageBuilder::new().object(v).object(time);
        let place = map(&[("number", number.into()), ("dimension", "time".into())]);
        if number == 0 { message } else { message.extra("part", place) }.encode().unwrap()
    };
    let notes = |days: &[f64]| {
        let parts: Vec<Vec<u8>> = (0..).zip(days).map(|(number, day)| part(number, *day)).collect();
        Archive::new(&parts).open().unwrap().notes
    };
    assert_eq!(notes(&[0.0, 1.0, 2.0]), Vec::<String>::new());
    let expected = "time: 2 labels are there more than once, such as 2024-01-02T00:00:00";
    assert_eq!(notes(&[0.0, 1.0, 2.0, 1.0, 2.0]), [expected]);
    // Files that share a day.
    let (early, late) =
        (of_days("2024-01-01", &[0.0, 1.0], 0.0, &[7, 8]), of_days("2024-01-01", &[1.0, 2.0], 2.0, &[7, 8]));
    let (early, late) = (Archive::new(&[early]), Archive::new(&[late]));
    let dataset = open(&[early.path(), late.path()], &OpenOptions::default()).unwrap();
    assert_eq!(dataset.notes, ["time: 1 labels are there more than once, such as 2024-01-02T00:00:00"]);
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
    // A record that is there twice is told, and not taken.
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
    // An object before the cut is still read. Of one that was cut nothing is: its digest is gone.
    assert_eq!(dataset.read::<f32>("w", &[Indices::Index(5)]).unwrap(), [5.0]);
    assert!(point(0, 1_234).is_err() && point(1, 150_000).is_err());
    file.set_len(1_000).unwrap();
    assert!(point(0, 150_000).is_err());
}

/// A file of this machine has no version that answers tell, as on a server: what was there before is told by digests.
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
    // Without digests, the end that was there tells what was appended.
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

/// A file of integers along time, one label a file, with attributes that say what some of them are.
fn of_integers(hour: f64, dtype: &str, numbers: [i64; 3], attributes: &[(&str, Value)]) -> Archive {
    #[expect(clippy::cast_possible_truncation, reason = "the numbers are small")]
    let (bytes, shorts, ints) = (numbers.map(|it| it as i8), numbers.map(|it| it as i16), numbers.map(|it| it as i32));
    let v = match dtype {
        "int8" => ObjectBuilder::new(&[1, 3], &bytes),
        "int16" => ObjectBuilder::new(&[1, 3], &shorts),
        "int32" => ObjectBuilder::new(&[1, 3], &ints),
        _ => ObjectBuilder::new(&[1, 3], &numbers),
    };
    let v = v.unwrap();
    let v = named(v, "v", &["time", "x"]).metadata("attributes", map(attributes));
    let hours = [hour];
    let time = named(ObjectBuilder::new(&[1], &hours).unwrap(), "time", &["time"]);
    let time = time.metadata("attributes", map(&[("units", "hours since 2024-01-01".into())]));
    Archive::new(&[MessageBuilder::new().object(v).object(time).encode().unwrap()])
}

/// The values of a variable by each way to read one, as floats. NaN is `None`.
fn by_all_routes(dataset: &Dataset, name: &str) -> Vec<Vec<Option<f64>>> {
    let variable = dataset.variable(name).unwrap();
    let everything = all(dataset, name);
    let count = variable.shape.iter().product::<u64>();
    let known = |values: Vec<f64>| values.into_iter().map(|it| (!it.is_nan()).then_some(it)).collect::<Vec<_>>();
    let mut floats = vec![0.0; usize::try_from(count).unwrap()];
    dataset.read_floats_into(name, &everything, &on_all_cores(), &mut floats).unwrap();
    let mut singles = vec![0.0_f32; floats.len()];
    dataset.read_floats_into(name, &everything, &on_all_cores(), &mut singles).unwrap();
    let reduced = dataset.reduce(name, &everything, &[], &[Statistic::Mean], &on_all_cores()).unwrap();
    let cut = dataset.cut(&[name], &[], &on_all_cores()).unwrap().encode().unwrap();
    let again = Archive::new(&[cut]).open().unwrap();
    let mut of_cut = vec![0.0; floats.len()];
    again.read_floats_into(name, &everything, &on_all_cores(), &mut of_cut).unwrap();
    vec![
        known(floats),
        known(singles.into_iter().map(f64::from).collect()),
        known(reduced.values(Statistic::Mean)),
        known(of_cut),
    ]
}

/// In one file a number is a missing cell, and in the next it is a value.
#[test]
fn each_file_says_which_of_its_integers_are_missing() {
    let fill = |number: i64| vec![("_FillValue", Value::from(number)), ("units", "m".into())];
    let missing = |number: i64| vec![("missing_value", Value::from(number)), ("units", "m".into())];
    let several = vec![("missing_value", Value::Array(vec![3.into(), 4.into()])), ("units", "m".into())];
    let none = || vec![("units", Value::from("m"))];
    // The type of the values is that of xarray.
    for (types, first, other, dtype) in [
        (["int16", "int16"], fill(-1), fill(4), "float32"),
        (["int16", "int8"], fill(-1), missing(4), "float32"),
        (["int32", "int16"], missing(-1), fill(4), "float64"),
        (["int64", "int64"], fill(-1), none(), "float64"),
        (["int16", "int16"], none(), several, "float32"),
        (["int16", "int16"], fill(-1), fill(-1), "int16"),
    ] {
        let numbers = [[-1, 3, 4], [4, -1, 3]];
        let is_missing = |attributes: &[(&str, Value)], number: i64| {
            let has = |value: &Value| match value {
                Value::Array(items) => items.contains(&number.into()),
                one => *one == number.into(),
            };
            attributes.iter().any(|(_, value)| has(value))
        };
        let float = |number: i64| f64::from(i32::try_from(number).unwrap());
        let expected: Vec<Option<f64>> = [(numbers[0], &first), (numbers[1], &other)]
            .into_iter()
            .flat_map(|(numbers, own)| numbers.map(|number| (!is_missing(own, number)).then(|| float(number))))
            .collect();
        let one = of_integers(0.0, types[0], numbers[0], &first);
        let next = of_integers(1.0, types[1], numbers[1], &other);
        let dataset = open(&[one.path(), next.path()], &OpenOptions::default()).unwrap();
        let v = dataset.variable("v").unwrap();
        assert_eq!(v.dtype().unwrap().name(), dtype, "{types:?}");
        let stays = v.attributes.iter().filter(|(name, _)| name != "units").count();
        assert_eq!(stays, usize::from(dtype == "int16"), "{:?}", v.attributes);
        for (route, found) in by_all_routes(&dataset, "v").into_iter().enumerate() {
            assert_eq!(found, expected, "route {route}, {types:?}: {first:?}, {other:?}");
        }
        let one =
            [Indices::Index(1), Indices::Range { start: 0, count: 2, step: std::num::NonZeroU64::new(2).unwrap() }];
        let mut floats = [0.0_f64; 2];
        dataset.read_floats_into("v", &one, &on_all_cores(), &mut floats).unwrap();
        assert_eq!(floats.map(|it| (!it.is_nan()).then_some(it)), [expected[3], expected[5]]);
    }
    // float64 does not hold each integer beside a missing one.
    let long = of_integers(0.0, "int64", [-1, 1 << 60, 4], &fill(-1));
    let other = of_integers(1.0, "int64", [-1, 3, 4], &fill(4));
    let dataset = open(&[long.path(), other.path()], &OpenOptions::default()).unwrap();
    let error = dataset.read::<f64>("v", &all(&dataset, "v")).unwrap_err().to_string();
    assert!(error.contains("beyond 2^53"), "{error}");
}

/// Files of which some lack a variable, in any order, and between the others.
#[test]
fn a_variable_is_missing_where_a_file_lacks_it() {
    let file = |day: f64, names: &[&str]| {
        #[expect(clippy::cast_possible_truncation, reason = "the numbers are small")]
        let (numbers, days, mut message) = ([day as i16, 7], [day], MessageBuilder::new());
        for name in names {
            let v = named(ObjectBuilder::new(&[1, 2], &numbers).unwrap(), name, &["time", "x"]);
            message = message.object(v);
        }
        let time = named(ObjectBuilder::new(&[1], &days).unwrap(), "time", &["time"]);
        let time = time.metadata("attributes", map(&[("units", "days since 2024-01-01".into())]));
        let launched = named(ObjectBuilder::new(&[1], &days).unwrap(), "launched", &["time"]);
        let launched = launched.metadata("attributes", map(&[("units", "days since 2024-01-01".into())]));
        let x = named(ObjectBuilder::new(&[2], &[1.0, 2.0]).unwrap(), "x", &["x"]);
        message = message.object(time).object(x);
        message = if names.contains(&"w") { message.object(launched) } else { message };
        Archive::new(&[message.encode().unwrap()])
    };
    let files = [file(2.0, &["v", "w"]), file(1.0, &["v"]), file(0.0, &["w"]), file(3.0, &["v"])];
    let paths: Vec<_> = files.iter().map(Archive::path).collect();
    let dataset = open(&paths, &OpenOptions::default()).unwrap();
    assert!(dataset.left_out.is_empty(), "{:?}", dataset.left_out);
    let nan = None;
    let values = |days: [Option<f64>; 4]| days.into_iter().flat_map(|day| [day, day.map(|_| 7.0)]).collect::<Vec<_>>();
    for (name, expected) in
        [("v", values([nan, Some(1.0), Some(2.0), Some(3.0)])), ("w", values([Some(0.0), nan, Some(2.0), nan]))]
    {
        let v = dataset.variable(name).unwrap();
        assert_eq!((&v.shape[..], v.dtype().unwrap().name()), (&[4, 2][..], "float32"));
        for (route, found) in by_all_routes(&dataset, name).into_iter().enumerate() {
            assert_eq!(found, expected, "{name}, route {route}");
        }
    }
    let launched = dataset.labels("launched").unwrap().unwrap();
    let day = |day: i64| (19_723 + day) * 86_400;
    assert_eq!(seconds(&launched), [day(0), i64::MIN, day(2), i64::MIN]);
    // Files that share no variable stay apart.
    let (one, other) = (file(0.0, &["v"]), file(1.0, &["u"]));
    let apart = open_all(&[one.path(), other.path()], &OpenOptions::default()).unwrap();
    assert_eq!(apart.len(), 2);
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
