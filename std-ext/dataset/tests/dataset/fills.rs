//! Which numbers of each file are missing cells, and what stands where a file lacks a variable.

use tgm_dataset::{Dataset, Indices, OpenOptions, Statistic, on_all_cores, open, open_all};
use tgm_std::deps::ciborium::Value;
use tgm_std::{MessageBuilder, ObjectBuilder};

use crate::{Archive, all, map, named, seconds};

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
