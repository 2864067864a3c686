//! Fields as cubes: axes, places, holes, and what is left out.

use tgm_dataset::{
    Duplicates, Indices, Join, OpenOptions, Selector, Statistic, Times, Values, on_all_cores, open, open_all,
};
use tgm_std::deps::ciborium::Value;

use crate::{Archive, field};

fn number(number: i64) -> Value {
    number.into()
}

/// A field on a level of pressure.
pub(crate) fn upper(param: &str, level: i64, step: i64, value: f64) -> Vec<u8> {
    let mars = [("param", param.into()), ("levtype", "pl".into()), ("levelist", number(level)), ("step", number(step))];
    field(value, &mars, &[])
}

/// A sum over an interval.
fn sum(start: i64, end: i64, value: f64) -> Vec<u8> {
    let mars = [("param", "tp".into()), ("step", number(end)), ("timespan", format!("{}h", end - start).into())];
    let grib = [("stepRange", format!("{start}-{end}").into()), ("typeOfStatisticalProcessing", number(1))];
    field(value, &mars, &grib)
}

/// At 2 m, at 10 m and on levels of pressure, with a hole.
pub(crate) fn many() -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    for step in [0, 6, 12, 24] {
        for level in [500, 850] {
            if (level, step) != (500, 24) {
                messages.push(upper("t", level, step, f64::from(u16::try_from(level + step).unwrap())));
            }
        }
        for (param, level) in [("2t", 2), ("10u", 10)] {
            let mars = [("param", param.into()), ("step", number(step))];
            let grib = [("typeOfLevel", "heightAboveGround".into()), ("level", number(level))];
            messages.push(field(1.0, &mars, &grib));
        }
    }
    messages.extend([sum(0, 6, 1.0), sum(6, 12, 2.0), sum(0, 12, 3.0)]);
    messages.push(field(5.0, &[("param", "sp".into()), ("levtype", "sfc".into()), ("step", number(0))], &[]));
    messages
}

#[test]
fn variables_share_their_steps_and_lack_some() {
    let archive = Archive::new(&many());
    let dataset = archive.open().unwrap();
    let names: Vec<_> =
        dataset.variables.iter().map(|it| (it.name.as_str(), it.dims.join(" "), it.hole_count())).collect();
    let fields = "step y x".to_string();
    assert_eq!(
        names,
        [
            ("sp", fields.clone(), 3),
            ("t", "step isobaricInhPa y x".into(), 1),
            ("t2m", fields.clone(), 0),
            ("tp", fields.clone(), 2),
            ("u10", fields, 0)
        ]
    );
    let hours = [0, 6, 12, 24].map(|hours| hours * 3600).to_vec();
    assert_eq!(dataset.coordinate("step").unwrap().values, Values::Durations(hours));
    assert_eq!(dataset.coordinate("isobaricInhPa").unwrap().values, Values::Floats(vec![850.0, 500.0]));
    let attributes = &dataset.variable("u10").unwrap().attributes;
    assert!(attributes.contains(&("heightAboveGround".into(), tgm_dataset::Attribute::Float(10.0))), "{attributes:?}");
    // Both sums that end at 12 are there: one of 6 hours and one of 12.
    let left_out: Vec<_> = dataset.left_out.iter().map(ToString::to_string).collect();
    assert_eq!(left_out.len(), 1, "{left_out:?}");
    assert!(left_out[0].starts_with("tp (interval=12"), "{left_out:?}");
    assert!(dataset.holes(99).contains(&"t step=24 isobaricInhPa=500".to_string()), "{:?}", dataset.holes(99));
    let at =
        |step| dataset.read::<f64>("tp", &[Indices::Index(step), Indices::Index(0), Indices::Index(0)]).unwrap()[0];
    assert!(at(0).is_nan() && (at(1), at(2)) == (1.0, 2.0) && at(3).is_nan());
    let all = open_all(&[archive.path()], &OpenOptions::default()).unwrap();
    assert_eq!((all.len(), all[1].variables[0].name.as_str(), all[1].left_out.len()), (2, "tp", 0));
    let exact = OpenOptions { join: Join::Exact, ..OpenOptions::default() };
    assert_eq!(open(&[archive.path()], &exact).unwrap().variables.len(), 3);
}

#[test]
fn the_order_of_messages_does_not_matter() {
    let mut messages = many();
    let first = Archive::new(&messages).open().unwrap();
    for round in 0..5 {
        let len = messages.len();
        // Another order each time.
        (0..len).for_each(|at| messages.swap(at, (at * 7 + round * 3 + 1) % len));
        let archive = Archive::new(&messages);
        let dataset = archive.open().unwrap();
        assert_eq!((&dataset.coordinates, &dataset.left_out), (&first.coordinates, &first.left_out));
        for (one, other) in first.variables.iter().zip(&dataset.variables) {
            assert_eq!((&one.name, &one.dims, &one.attributes), (&other.name, &other.dims, &other.attributes));
        }
        let last = [Indices::Index(2), Indices::Index(1), Indices::Index(1), Indices::Index(2)];
        assert_eq!(dataset.read::<f64>("t", &last).unwrap(), [517.0]);
    }
}

#[test]
fn fields_for_one_place_are_an_error_unless_they_are_equal() {
    let messages = [upper("t", 500, 0, 1.0), upper("t", 500, 6, 2.0), upper("t", 500, 0, 3.0)];
    let archive = Archive::new(&messages);
    let error = archive.open().unwrap_err().to_string();
    for part in ["t at step=0", "message 0 object 0", "message 2 object 0"] {
        assert!(error.contains(part), "{error}");
    }
    for (duplicates, expected) in [(Duplicates::First, 1.0), (Duplicates::Last, 3.0)] {
        let dataset = open(&[archive.path()], &OpenOptions { duplicates, ..OpenOptions::default() }).unwrap();
        let first = [Indices::Index(0), Indices::Index(0), Indices::Index(0)];
        assert_eq!(dataset.read::<f64>("t", &first).unwrap(), [expected]);
    }
    let twice = Archive::new(&[upper("t", 500, 0, 1.0), upper("t", 500, 0, 1.0)]).open().unwrap();
    assert_eq!(twice.notes.len(), 1);
}

/// A field of GRIB at the ground, with some keys.
fn grib(value: f64, keys: &[(&str, Value)]) -> Vec<u8> {
    let grib = [&[("typeOfLevel", "surface".into()), ("stepRange", "0".into())], keys].concat();
    field(value, &[("param", "t".into())], &grib)
}

#[test]
fn each_key_of_grib_that_tells_fields_apart_is_a_dimension() {
    for (key, values) in [
        ("centre", [7, 98]),
        ("subCentre", [0, 1]),
        ("generatingProcessIdentifier", [81, 96]),
        ("typeOfEnsembleForecast", [2, 3]),
        ("constituentType", [62_001, 62_008]),
        ("clusterIdentifier", [1, 2]),
        ("typeOfGeneratingProcess", [0, 2]),
        ("forecastTime", [1, 2]),
    ] {
        // Equal values are two fields all the same.
        for second in [1.0, 2.0] {
            let messages = [(1.0, values[0]), (second, values[1])].map(|(value, of)| grib(value, &[(key, number(of))]));
            let dataset = Archive::new(&messages).open().unwrap();
            assert_eq!(dataset.variable("t").unwrap().dims, [key, "y", "x"], "{second}");
            assert_eq!(dataset.coordinate(key).unwrap().values, Values::Integers(values.to_vec()));
            assert_eq!((dataset.left_out.len(), dataset.notes.len()), (0, 0));
            let last = [Indices::Index(1), Indices::Index(0), Indices::Index(0)];
            assert_eq!(dataset.read::<f64>("t", &last).unwrap(), [second]);
        }
    }
    // Where steps tell fields apart, nothing else has to. The one of several keys counts that tells the most apart.
    let of = |step: &str, centre: i64, sub_centre: i64| {
        let keys = [("stepRange", step.into()), ("centre", number(centre)), ("subCentre", number(sub_centre))];
        grib(1.0, &keys)
    };
    let dims = |messages: &[Vec<u8>]| Archive::new(messages).open().unwrap().variable("t").unwrap().dims.clone();
    assert_eq!(dims(&[of("0", 98, 0), of("6", 7, 1)]), ["step", "y", "x"]);
    assert_eq!(dims(&[of("0", 98, 0), of("0", 98, 1), of("0", 7, 2)]), ["subCentre", "y", "x"]);
}

#[test]
fn fields_whose_metadata_differ_are_not_one_twice() {
    // No column is made of a factor without its value.
    let messages = [1, 2].map(|factor| grib(1.0, &[("scaleFactorOfUpperLimit", number(factor))]));
    let archive = Archive::new(&messages);
    let error = archive.open().unwrap_err().to_string();
    assert!(error.contains("which differ by grib.scaleFactorOfUpperLimit"), "{error}");
    let last = OpenOptions { duplicates: Duplicates::Last, ..OpenOptions::default() };
    assert_eq!(open(&[archive.path()], &last).unwrap().notes.len(), 1);
}

#[test]
fn scaled_values_are_numbers() {
    let limits = [(2, 25), (1, 5), (0, 1), (0, 10), (-2, 3), (0, 5)];
    let messages = limits.map(|(factor, value)| {
        let keys = [("scaleFactorOfUpperLimit", number(factor)), ("scaledValueOfUpperLimit", number(value))];
        grib(1.0, &[&keys[..], &[("probabilityType", number(1))]].concat())
    });
    let dataset = Archive::new(&messages).open().unwrap();
    assert_eq!(dataset.variable("t").unwrap().dims, ["upperLimit", "y", "x"]);
    let expected = vec![0.25, 0.5, 1.0, 5.0, 10.0, 300.0];
    assert_eq!(dataset.coordinate("upperLimit").unwrap().values, Values::Floats(expected));
}

#[test]
fn levels_of_other_kinds_have_other_dimensions() {
    let on = |param: &str, surfaces: [Option<i64>; 2], level: i64| {
        let types = ["typeOfFirstFixedSurface", "typeOfSecondFixedSurface"].into_iter().zip(surfaces);
        let mut grib: Vec<(&str, Value)> = types.filter_map(|(key, code)| Some((key, number(code?)))).collect();
        grib.push(("level", number(level)));
        field(1.0, &[("param", param.into()), ("levtype", "sfc".into())], &grib)
    };
    let messages = [
        on("t", [Some(201), None], 1),
        on("t", [Some(201), None], 2),
        on("u", [Some(202), None], 1),
        on("u", [Some(202), None], 3),
        on("v", [Some(201), Some(201)], 1),
        on("v", [Some(201), Some(201)], 2),
    ];
    let dataset = Archive::new(&messages).open().unwrap();
    let dims = |name: &str| dataset.variable(name).unwrap().dims[0].clone();
    assert_eq!(["t", "u", "v"].map(dims), ["level201", "level202", "level201_201"]);
}

#[test]
fn a_control_forecast_is_member_0() {
    let member = |kind: &str, number: Option<i64>, value| {
        let mut mars = vec![("param", "t".into()), ("type", kind.into()), ("step", Value::from(6))];
        mars.extend(number.map(|number| ("number", Value::from(number))));
        field(value, &mars, &[])
    };
    let messages = [member("pf", Some(1), 1.0), member("cf", None, 0.0), member("pf", Some(2), 2.0)];
    let dataset = Archive::new(&messages).open().unwrap();
    assert_eq!(dataset.coordinate("number").unwrap().values, Values::Integers(vec![0, 1, 2]));
    let all = [Indices::List(vec![2, 0]), Indices::Index(0), Indices::Index(0)];
    assert_eq!(dataset.read::<f64>("t", &all).unwrap(), [2.0, 0.0]);
    // A kind of the fields follows from the member, and is given along it.
    let kinds = &dataset.coordinate("type").unwrap().values;
    assert_eq!(*kinds, Values::Texts(["cf", "pf", "pf"].map(str::to_string).to_vec()));
}

#[test]
fn other_grids_and_other_classes_are_other_datasets() {
    let on = |north: f64, level| {
        let area = Value::Array([north, 0.0, 40.0, 10.0].map(Value::from).to_vec());
        field(1.0, &[("param", "t".into()), ("levtype", "pl".into()), ("levelist", number(level)), ("area", area)], &[])
    };
    let dataset = Archive::new(&[on(60.0, 500), on(60.0, 850), on(50.0, 700)]).open().unwrap();
    assert_eq!(dataset.variables[0].dims, ["isobaricInhPa", "latitude", "longitude"]);
    assert_eq!(dataset.coordinate("latitude").unwrap().values, Values::Floats(vec![60.0, 40.0]));
    assert_eq!(dataset.left_out[0].why, "it has another grid");
    let of = |class: &str, value| field(value, &[("param", "t".into()), ("class", class.into())], &[]);
    let dataset = Archive::new(&[of("od", 1.0), of("ea", 2.0)]).open().unwrap();
    assert_eq!((dataset.left_out.len(), dataset.left_out[0].why.as_str()), (1, "another cube has the name"));
}

/// A field at the ground or on a level: its name, type of level, level, time of day and step.
fn at((param, levtype): (&str, &str), level: Option<i64>, hour: i64, step: i64) -> Vec<u8> {
    let mut mars = vec![("param", param.into()), ("levtype", levtype.into()), ("date", number(20_240_101))];
    mars.extend([("time", number(hour * 100)), ("step", number(step))]);
    mars.extend(level.map(|level| ("levelist", number(level))));
    field(1.0, &mars, &[])
}

/// For each dataset: the dimensions of each variable with their lengths, and the number of holes.
fn described(messages: &[Vec<u8>]) -> Vec<String> {
    let all = open_all(&[Archive::new(messages).path()], &OpenOptions::default()).unwrap();
    let variable = |it: &tgm_dataset::Variable| {
        let lens: Vec<String> = it.dims.iter().zip(&it.shape).map(|(dim, len)| format!("{dim}{len}")).collect();
        format!("{} {} {}", it.name, lens[..lens.len() - 2].join(" "), it.hole_count())
    };
    all.iter().map(|it| it.variables.iter().map(variable).collect::<Vec<_>>().join(", ")).collect()
}

#[test]
fn analyses_and_sums_are_two_datasets() {
    let analyses = |hours: std::ops::Range<i64>| {
        hours.flat_map(|hour| ["2t", "msl"].map(|name| at((name, "sfc"), None, hour, 0))).collect::<Vec<_>>()
    };
    let sums = |hours: &[i64], first: i64| -> Vec<Vec<u8>> {
        hours.iter().flat_map(|hour| (first..=12).map(|step| at(("tp", "sfc"), None, *hour, step))).collect()
    };
    let of = |parts: [Vec<Vec<u8>>; 2]| described(&parts.concat());
    assert_eq!(of([analyses(0..24), sums(&[6, 18], 1)]), ["msl time24 0, t2m time24 0", "tp time2 step12 0"]);
    // Fewer times and more steps: both would be mostly holes.
    assert_eq!(of([analyses(0..24), sums(&[6, 18], 0)]), ["msl time24 0, t2m time24 0", "tp time2 step13 0"]);
    // Labels that do not vary are labels too.
    assert_eq!(of([analyses(0..2), sums(&[6], 6)]), ["tp step7 0", "msl time2 0, t2m time2 0"]);
    assert_eq!(of([analyses(6..7), sums(&[6], 0)]), ["msl step13 12, t2m step13 12, tp step13 0"]);
    assert_eq!(of([analyses(0..24), sums(&[6], 0)]), ["msl time24 0, t2m time24 0", "tp step13 0"]);
    // Two datasets have as many objects: the first in the file comes first.
    assert_eq!(of([analyses(0..1), sums(&[6], 11)]), ["msl  0, t2m  0", "tp step2 0"]);
    assert_eq!(of([sums(&[6], 11), analyses(0..1)]), ["tp step2 0", "msl  0, t2m  0"]);
}

#[test]
fn a_name_on_several_types_of_level_makes_a_dataset_of_each() {
    let mut messages = Vec::new();
    for hour in [0, 6] {
        for (name, levtype, levels) in
            [("t", "pl", &[500, 850][..]), ("t", "ml", &[1, 2, 3]), ("q", "ml", &[1, 2]), ("u", "pl", &[500])]
        {
            messages.extend(levels.iter().map(|level| at((name, levtype), Some(*level), hour, 0)));
        }
        messages.push(at(("sp", "sfc"), None, hour, 0));
    }
    let expected =
        ["q time2 hybrid3 2, sp time2 0, t time2 hybrid3 0", "t time2 isobaricInhPa2 0, u time2 isobaricInhPa2 2"];
    assert_eq!(described(&messages), expected);
    messages.reverse();
    assert_eq!(described(&messages), expected);
    // A variable that has only times of the other type of level goes with neither.
    messages.push(at(("v", "pl"), Some(500), 12, 0));
    messages.extend([1, 2, 3].map(|level| at(("t", "ml"), Some(level), 12, 0)));
    assert_eq!(described(&messages)[2], "v  0");
}

#[test]
fn a_variable_without_members_can_have_the_longer_steps() {
    let member =
        |number: i64| field(1.0, &[("param", "2t".into()), ("step", 0.into()), ("number", number.into())], &[]);
    let messages: Vec<Vec<u8>> = (0..3).map(member).chain([0, 6].map(|step| upper("t", 500, step, 1.0))).collect();
    assert_eq!(described(&messages), ["t step2 0, t2m number3 step2 3"]);
}

/// xarray gives a coordinate without a dimension to every variable.
#[test]
fn a_field_of_no_member_has_no_number_of_another_field() {
    let member = field(1.0, &[("param", "2t".into()), ("step", 0.into()), ("number", 2.into())], &[]);
    let archive = Archive::new(&[member.clone(), upper("t", 500, 0, 1.0)]);
    let dataset = archive.open().unwrap();
    let dims = |name: &str| dataset.variable(name).unwrap().dims.join(" ");
    assert_eq!((dims("t2m"), dims("t")), ("number y x".into(), "y x".into()));
    let dims = |name: &str| dataset.coordinate(name).unwrap().dims.clone();
    assert_eq!((dims("number"), dims("step")), (vec!["number".to_string()], vec![]));
    assert_eq!(dataset.read::<f64>("t2m", &[0; 3].map(Indices::Index)).unwrap(), [1.0]);
    assert!(Archive::new(&[member]).open().unwrap().coordinate("number").unwrap().dims.is_empty());
}

#[test]
fn experiments_are_joined_along_time_and_reported() {
    let of = |expver: &str, day: i64, value: f64| {
        field(value, &[("param", "2t".into()), ("date", number(20_240_100 + day)), ("expver", expver.into())], &[])
    };
    let days = |expver: &'static str, days: std::ops::Range<i64>| days.map(move |day| of(expver, day, 1.0));
    let messages: Vec<Vec<u8>> = days("0001", 1..4).chain(days("0005", 4..6)).collect();
    let dataset = Archive::new(&messages).open().unwrap();
    assert_eq!((dataset.variables[0].shape[0], dataset.left_out.len()), (5, 0));
    assert_eq!(dataset.notes, ["t2m: objects of the experiments 0001, 0005 (expver) are joined"]);
    // No time is there twice.
    let messages: Vec<Vec<u8>> = days("0001", 1..4).chain(days("0005", 3..6)).collect();
    let dataset = Archive::new(&messages).open().unwrap();
    assert_eq!((dataset.variables[0].shape[0], dataset.left_out.len(), dataset.notes.len()), (3, 1, 0));
}

#[test]
fn analyses_and_short_forecasts_are_one_variable_along_valid_time() {
    let sfc = |hour, step| at(("2t", "sfc"), None, hour, step);
    let archive = Archive::new(&[sfc(0, 0), sfc(6, 0), sfc(6, 3), sfc(0, 3), sfc(12, 1)]);
    let options = OpenOptions { valid_time: true, ..OpenOptions::default() };
    let dataset = open(&[archive.path()], &options).unwrap();
    let coordinates: Vec<&str> = dataset.coordinates.iter().map(|it| it.name.as_str()).collect();
    assert_eq!((dataset.variables[0].dims[0].as_str(), dataset.variables[0].hole_count()), ("valid_time", 0));
    assert_eq!((dataset.variables[0].shape[0], coordinates), (5, vec!["valid_time"]));
    let attributes = &dataset.coordinates[0].attributes;
    assert!(attributes.contains(&("standard_name".into(), "time".into())), "{attributes:?}");
    let picked = dataset.select("t2m", &["valid_time=2024-01-01T09".parse().unwrap()]).unwrap();
    assert_eq!(picked[0], Indices::Index(3));
    // Two for one valid time, and what tells them apart.
    let twice = Archive::new(&[sfc(0, 6), sfc(6, 0)]);
    let error = open(&[twice.path()], &options).unwrap_err().to_string();
    for part in ["t2m: two objects for one place", "message 0", "message 1", "differ by mars.step, mars.time"] {
        assert!(error.contains(part), "{error}");
    }
    let last = OpenOptions { duplicates: Duplicates::Last, ..options };
    assert_eq!(open(&[twice.path()], &last).unwrap().variables[0].dims, ["y", "x"]);
}

#[test]
fn what_is_nearly_all_holes_is_not_taken_whole() {
    let of = |at: i64| {
        let mars =
            [("param", "t".into()), ("levtype", "pl".into()), ("levelist", number(at + 1)), ("step", number(at))];
        field(1.0, &[&mars[..], &[("number", number(at)), ("date", number(20_240_101))]].concat(), &[])
    };
    let dataset = Archive::new(&(0..200).map(of).collect::<Vec<_>>()).open().unwrap();
    assert_eq!(dataset.variables[0].shape, [200, 200, 200, 2, 3]);
    let refused =
        "t: 8000000 places along number, step, isobaricInhPa for 200 objects, so nearly all are empty: select labels";
    let all = dataset.select("t", &[]).unwrap();
    let over = dataset.reduce("t", &all, &["step"], &[Statistic::Mean], &on_all_cores()).unwrap_err().to_string();
    let whole = dataset.cut(&["t"], &[], &on_all_cores()).unwrap_err().to_string();
    let middle = dataset.quantiles("t", &all, &["step"], &[0.5], &on_all_cores()).unwrap_err().to_string();
    for error in [&over, &whole, &middle] {
        assert!(error.contains(refused), "{error}");
    }
    let one: Vec<Selector> = vec!["number=3".parse().unwrap()];
    let picked = dataset.select("t", &one).unwrap();
    let mean = dataset.reduce("t", &picked, &["step", "isobaricInhPa"], &[Statistic::Count], &on_all_cores()).unwrap();
    assert_eq!(mean.values(Statistic::Count), [1.0; 6]);
    dataset.cut(&["t"], &one, &on_all_cores()).unwrap();
}

#[test]
fn valid_times_of_far_more_places_than_objects_are_left_out() {
    let of = |day: i64| {
        let date = 20_240_101 + day / 20 * 100 + day % 20;
        field(1.0, &[("param", "2t".into()), ("date", number(date)), ("step", number(day))], &[])
    };
    let open = |count| Archive::new(&(0..count).map(of).collect::<Vec<_>>()).open().unwrap();
    let (few, many) = (open(20), open(240));
    assert!(few.coordinate("valid_time").is_some() && few.notes.is_empty());
    assert!(many.coordinate("valid_time").is_some());
    let dates = |at: i64| 20_000_101 + at / 240 * 10_000 + at / 20 % 12 * 100 + at % 20;
    let of = |at: i64| field(1.0, &[("param", "2t".into()), ("date", number(dates(at))), ("step", number(at))], &[]);
    let sparse = Archive::new(&(0..400).map(of).collect::<Vec<_>>()).open().unwrap();
    assert_eq!((sparse.variables[0].shape[0], sparse.coordinate("valid_time")), (400, None));
    assert!(
        sparse.notes[0].starts_with("valid_time is left out: 400 times × 400 steps are many"),
        "{:?}",
        sparse.notes
    );
}

/// Each has labels of its own, or a grid of its own, so that nothing is joined.
#[test]
fn thousands_of_datasets_are_opened() {
    let many = |count: i64, of: &dyn Fn(i64) -> Vec<u8>| {
        let archive = Archive::new(&(0..count).map(of).collect::<Vec<_>>());
        open_all(&[archive.path()], &OpenOptions::default()).unwrap().len()
    };
    let of = |name: i64, step: i64, north: i64| {
        let area = [f64::from(i16::try_from(north).unwrap()) / 100.0, 0.0, -40.0, 10.0].map(Value::from);
        let mars =
            [("param", format!("p{name}").into()), ("step", number(step)), ("area", Value::Array(area.to_vec()))];
        field(1.0, &mars, &[])
    };
    assert_eq!(many(4000, &|at| of(at, at, 0)), 4000);
    assert_eq!(many(4000, &|at| of(0, 0, at)), 4000);
    assert_eq!(many(4000, &|at| of(at, 0, 0)), 1);
    let named = |at: i64| {
        field(1.0, &[("param", "t".into()), ("step", number(at % 2)), ("class", format!("c{at}").into())], &[])
    };
    assert_eq!(many(2000, &named), 2000);
}

#[test]
fn times_and_low_pressures_have_their_units() {
    let at = |date: i64, time: i64, level: f64| {
        let mars = [
            ("date", number(date)),
            ("time", number(time)),
            ("param", "t".into()),
            ("levtype", "pl".into()),
            ("step", number(6)),
        ];
        field(0.0, &mars, &[("level", level.into())])
    };
    let messages =
        [at(20_240_101, 0, 0.5), at(20_240_101, 1200, 0.5), at(20_240_101, 0, 2.0), at(20_240_101, 1200, 2.0)];
    let dataset = Archive::new(&messages).open().unwrap();
    assert_eq!(dataset.coordinate("isobaricInPa").unwrap().values, Values::Floats(vec![200.0, 50.0]));
    let midnight = 1_704_067_200;
    assert_eq!(
        dataset.coordinate("time").unwrap().values,
        Values::Times(Times::of_seconds([midnight, midnight + 43_200]))
    );
    let valid = vec![midnight + 21_600, midnight + 64_800];
    assert_eq!(dataset.coordinate("valid_time").unwrap().values, Values::Times(Times::of_seconds(valid)));
}
