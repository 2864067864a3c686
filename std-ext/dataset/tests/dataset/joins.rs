//! Files that go on where others end, and files with other variables.

use tgm_dataset::{Attribute, Dataset, Indices, OpenOptions, Statistic, on_all_cores, open, open_all};
use tgm_std::{MessageBuilder, ObjectBuilder};

use crate::{Archive, all, map, named, names, seconds};

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

/// Without a calendar it is the standard one, which is Julian before 1582: these hours are 2016-01-28 and the day after it.
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

fn variables(dataset: &Dataset) -> Vec<String> {
    dataset.variables.iter().map(|it| it.name.clone()).collect()
}

/// `cat a.tgm b.tgm` and a conversion of several files write such sources.
#[test]
fn files_that_follow_each_other_in_one_source_are_joined_as_files() {
    let late = of_days("2024-02-01", &[0.0, 1.0, 2.0], 10.0, &[7, 8]);
    let early = of_days("2024-01-30", &[0.0, 1.0], 0.0, &[7, 8]);
    let one = Archive::new(&[late.clone(), early.clone()]);
    let apart = [Archive::new(&[late]), Archive::new(std::slice::from_ref(&early))];
    let read = |paths: &[String]| {
        let dataset = open(paths, &OpenOptions::default()).unwrap();
        assert!(dataset.left_out.is_empty(), "{:?}", dataset.left_out);
        let values: Vec<f32> = dataset.read("v", &all(&dataset, "v")).unwrap();
        (variables(&dataset), values)
    };
    assert_eq!(read(&[one.path()]), read(&[apart[0].path(), apart[1].path()]));
    // A third file beside a source with two.
    let next = Archive::new(&[of_days("2024-03-01", &[0.0], 20.0, &[7, 8])]);
    let dataset = open(&[next.path(), one.path()], &OpenOptions::default()).unwrap();
    assert_eq!(dataset.variable("v").unwrap().shape, [6, 2]);
    // Other variables with the same coordinates are beside them.
    let other = named(ObjectBuilder::new(&[2], &[5.0_f32, 6.0]).unwrap(), "height", &["x"]);
    let x = named(ObjectBuilder::new(&[2], &[10.0, 20.0]).unwrap(), "x", &["x"]);
    let other = MessageBuilder::new().object(other).object(x).encode().unwrap();
    let both = Archive::new(&[early.clone(), other]);
    let dataset = open(&[both.path()], &OpenOptions::default()).unwrap();
    assert!(dataset.variable("height").is_some() && dataset.variable("v").is_some(), "{:?}", dataset.left_out);
    // Equal values are there once. Others at the same labels are a dataset of their own.
    let lone = named(ObjectBuilder::new(&[2], &[1_i32, 2]).unwrap(), "lone", &["y"]);
    let lone = MessageBuilder::new().object(lone).encode().unwrap();
    let twice = |second: &[u8]| Archive::new(&[early.clone(), second.to_vec(), lone.clone()]);
    let dataset = open(&[twice(&early).path()], &OpenOptions::default()).unwrap();
    assert_eq!(variables(&dataset), ["v", "time", "ends", "x", "mask", "lone"]);
    assert!(dataset.left_out.is_empty(), "{:?}", dataset.left_out);
    let others = of_days("2024-01-30", &[0.0, 1.0], 5.0, &[7, 8]);
    let found = open_all(&[twice(&others).path()], &OpenOptions::default()).unwrap();
    assert_eq!((found.len(), found[0].left_out[0].what.as_str()), (2, "mask, v"));
    // Nothing says how these follow each other: what has one name is left out.
    let dataset = open(&[Archive::new(&[early, others]).path()], &OpenOptions::default()).unwrap();
    assert_eq!((dataset.variables.len(), dataset.left_out.len()), (0, 5));
}
