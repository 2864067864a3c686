//! Boxes by labels, boxes as messages, and statistics over dimensions.

use tgm_core::frame::Frame;
use tgm_core::object::DataObject;
use tgm_dataset::{
    Computed, Dataset, Indices, OpenOptions, Reduction, Selector, Statistic, Values, on_all_cores, open,
};
use tgm_std::deps::ciborium::Value;
use tgm_std::{ByteOrder, DataObjectDescriptor, DecodeOptions, Dtype, EncodeOptions, MessageBuilder, ObjectBuilder};

use crate::{Archive, field, map};

/// Fields of 2 × 3 points for members, steps and levels, whose values tell these. Each is `100 * number + step + point / 10`.
fn ensemble() -> Archive {
    let mut messages = Vec::new();
    for number in 0..3_i64 {
        for step in [0, 6, 12_i64] {
            if (number, step) == (2, 12) {
                continue;
            }
            let area = Value::Array([60.0, 0.0, 40.0, 20.0].map(Value::from).to_vec());
            let mars = [
                ("param", "2t".into()),
                ("date", Value::from(20_240_229)),
                ("number", Value::from(number)),
                ("step", Value::from(step)),
                ("area", area),
            ];
            let value = f64::from(i32::try_from(100 * number + step).unwrap());
            messages.push(field(value, &mars, &[]));
        }
    }
    Archive::new(&messages)
}

/// An object as files have it.
fn on<'v, T: tgm_std::encode::Number>(
    name: &str,
    shape: &[u64],
    values: &'v [T],
    dims: &[&str],
    units: &str,
) -> ObjectBuilder<'v> {
    let dims = Value::Array(dims.iter().map(|dim| Value::from(*dim)).collect());
    let object = ObjectBuilder::new(shape, values).unwrap().metadata("name", name).metadata("dimensions", dims);
    object.metadata("attributes", map(&[("units", units.into())]))
}

fn selectors(texts: &[&str]) -> Vec<Selector> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn read(dataset: &Dataset, texts: &[&str]) -> Vec<f64> {
    dataset.read("t2m", &dataset.select("t2m", &selectors(texts)).unwrap()).unwrap()
}

#[test]
fn labels_pick_a_box() {
    let dataset = ensemble().open().unwrap();
    assert_eq!(
        read(&dataset, &["number=1", "step=6..", "latitude=60", "longitude=0/20"]),
        [106.0, 108.0, 112.0, 114.0]
    );
    assert_eq!(read(&dataset, &["step=12", "number=0..1", "latitude=40:41", "longitude~-3"]), [15.0, 115.0]);
    // A coordinate without dimension must be what it is.
    assert!(dataset.select("t2m", &selectors(&["time=2024-02-29"])).is_ok());
    for (text, why) in [
        ("time=2024-02-28", "no such label"),
        ("step=7", "it has 0, 6, 12"),
        ("level=5", "it has number, step, latitude, longitude"),
        ("longitude=90..100", "no label lies in this range"),
    ] {
        let error = dataset.select("t2m", &selectors(&[text])).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("t2m"), "{error}");
    }
    assert!(dataset.select("t", &[]).unwrap_err().to_string().contains("it has t2m"));
    // Dimensions without labels are picked by index.
    let plain = Archive::new(&[field(0.0, &[("param", "2t".into())], &[])]).open().unwrap();
    assert_eq!(read(&plain, &["y=1", "x=0..1"]), [3.0, 4.0]);
}

/// Labels that files have as `float32` are meant by the number that becomes them, as xarray has it; others by their value.
#[test]
fn labels_are_the_ones_that_are_asked_for() {
    let days: Vec<f64> = [0.0, 2.0, 3.0, 4.0, 5.0].map(|day| 2_459_998.0 + day).to_vec();
    let tenths: Vec<f32> = (0..5_u8).map(|at| f32::from(at) / 10.0).collect();
    let northings: Vec<f32> = (0..5_u8).map(|at| 5_000_000.0 + f32::from(at)).collect();
    let values: Vec<f64> = (0..5_u8).map(f64::from).collect();
    let variable = |name: &'static str, dim: &'static str| on(name, &[5], &values, &[dim], "K");
    let message = MessageBuilder::new()
        .object(variable("a", "jd"))
        .object(variable("b", "lat"))
        .object(variable("c", "north"))
        .object(variable("d", "id"))
        .object(on("jd", &[5], &days, &["jd"], "days"))
        .object(on("lat", &[5], &tenths, &["lat"], "degrees_north"))
        .object(on("north", &[5], &northings, &["north"], "m"))
        .object(on("id", &[5], &[7_000_000_i64, 7_000_001, 7_000_003, 7_000_004, 850], &["id"], "1"));
    let dataset = Archive::new(&[message.encode().unwrap()]).open().unwrap();
    let found = |name: &str, text: &str| -> Option<Vec<u64>> {
        let found = dataset.select(name, &selectors(&[text])).ok()?;
        Some((0..found[0].count()).filter_map(|at| found[0].at(at)).collect())
    };
    for (name, text, expected) in [
        ("a", "jd=2459999", None),
        ("a", "jd=2460000", Some(vec![1])),
        ("a", "jd=2460002..2460003", Some(vec![3, 4])),
        ("a", "jd=2460000/2459999", None),
        ("a", "jd=2459998.5..2459999.5", None),
        ("b", "lat=0.1", Some(vec![1])),
        ("b", "lat=0.1/0.3", Some(vec![1, 3])),
        ("b", "lat=0.1..0.3", Some(vec![1, 2, 3])),
        ("b", "lat=0.3..0.1", Some(vec![1, 2, 3])),
        ("b", "lat=0.1000001", None),
        ("c", "north=5000003", Some(vec![3])),
        ("c", "north=5000003.5", None),
        ("d", "id=7000002", None),
        ("d", "id=850.0", Some(vec![4])),
        ("d", "id=7000000..7000002", Some(vec![0, 1])),
    ] {
        assert_eq!(found(name, text), expected, "{text}");
    }
}

#[test]
fn the_nearest_point_is_found_on_grids_of_every_shape() {
    let dataset = ensemble().open().unwrap();
    assert_eq!(dataset.nearest("t2m", 44.0, 359.0).unwrap(), [(2, 1), (3, 0)]);
    assert!(dataset.nearest("t2m", 44.0, 90.0).unwrap_err().to_string().contains("outside of the grid"));
    // Variables of files have them too: on axes, on two dimensions, and one for each value.
    let of_file = |dims: &[&str], shape: &[u64], latitudes: &[f32], longitudes: &[f32], own: &[&[&str]; 2]| {
        let len = |dims: &[&str]| -> Vec<u64> { dims.iter().map(|dim| if *dim == "x" { 3 } else { 2 }).collect() };
        let count = usize::try_from(shape.iter().product::<u64>()).unwrap();
        let values: Vec<f32> = (0..u16::try_from(count).unwrap()).map(f32::from).collect();
        let message = MessageBuilder::new()
            .object(on("v", shape, &values, dims, "K"))
            .object(on("rows", &len(own[0]), latitudes, own[0], "degrees_north"))
            .object(on("columns", &len(own[1]), longitudes, own[1], "degrees_east"));
        Archive::new(&[message.encode().unwrap()]).open().unwrap()
    };
    let axes = of_file(&["y", "x"], &[2, 3], &[50.0, 40.0], &[-10.0, 0.0, 10.0], &[&["y"], &["x"]]);
    assert_eq!(axes.nearest("v", 43.0, 352.0).unwrap(), [(0, 1), (1, 0)]);
    let (latitudes, longitudes) = ([50.0, 50.0, 50.0, 40.0, 40.0, 40.0], [-10.0, 0.0, 10.0, -10.0, 0.0, 10.0]);
    let turned = of_file(&["y", "x"], &[2, 3], &latitudes, &longitudes, &[&["y", "x"], &["y", "x"]]);
    assert_eq!(turned.nearest("v", 43.0, 352.0).unwrap(), [(0, 1), (1, 0)]);
    let points = of_file(&["x"], &[3], &[50.0, 45.0, 40.0], &[0.0, 5.0, 10.0], &[&["x"], &["x"]]);
    assert_eq!(points.nearest("v", 41.0, 9.0).unwrap(), [(0, 2)]);
    let none = Archive::new(&[field(0.0, &[("param", "2t".into())], &[])]).open().unwrap();
    assert!(none.nearest("t2m", 0.0, 0.0).unwrap_err().to_string().contains("no coordinates"));
}

/// A grid mapping of CF says where x and y are.
#[test]
fn x_and_y_of_a_projection_have_places() {
    fn object<'v>(
        (name, dims): (&str, &[&str]),
        shape: &[u64],
        values: &'v [f64],
        attributes: &[(&str, Value)],
    ) -> ObjectBuilder<'v> {
        let dims = Value::Array(dims.iter().map(|dim| Value::from(*dim)).collect());
        let object = ObjectBuilder::new(shape, values).unwrap();
        object.metadata("name", name).metadata("dimensions", dims).metadata("attributes", map(attributes))
    }
    let of = |mapping: &str| {
        let numbers = ["earth_radius", "latitude_of_projection_origin", "longitude_of_projection_origin"];
        let numbers = numbers.into_iter().zip([6_371_229.0, 52.0, 10.0].map(Value::from));
        let words: Vec<_> = numbers.chain([("grid_mapping_name", Value::from(mapping))]).collect();
        let axis = |name: &str, unit: &str| {
            [("standard_name", format!("projection_{name}_coordinate").into()), ("units", unit.into())]
        };
        let message = MessageBuilder::new()
            .object(object(("v", &["x", "y"]), &[3, 2], &[0.0; 6], &[("grid_mapping", "crs: x y".into())]))
            .object(object(("x", &["x"]), &[3], &[0.0, 100.0, 200.0], &axis("x", "km")))
            .object(object(("y", &["y"]), &[2], &[0.0, -1e5], &axis("y", "m")))
            .object(object(("crs", &[]), &[], &[0.0], &words));
        Archive::new(&[message.encode().unwrap()]).open().unwrap()
    };
    let dataset = of("lambert_azimuthal_equal_area");
    assert_eq!(dataset.nearest("v", 52.1, 10.1).unwrap(), [(0, 0), (1, 0)]);
    assert_eq!(dataset.nearest("v", 51.1, 12.8).unwrap(), [(0, 2), (1, 1)]);
    let place = dataset.nearest_place("v", 52.1, 10.1).unwrap();
    assert!((place.0 - 52.0).abs() < 1e-9 && (place.1 - 10.0).abs() < 1e-9, "{place:?}");
    assert_eq!(dataset.grid_dims("v").unwrap(), Some(vec![0, 1]));
    assert!(of("sinusoidal").nearest("v", 52.0, 10.0).unwrap_err().to_string().contains("no coordinates"));
}

/// Angles of a satellite's view, as GOES has them, and x and y without a word about them, by a string of PROJ.
#[test]
fn radians_and_strings_of_proj_have_places() {
    let of = |attributes: &[(&str, Value)], crs: &[(&str, Value)], units: &str| {
        let dims = |names: &[&str]| Value::Array(names.iter().map(|name| Value::from(*name)).collect());
        let axis = |name: &str, values: &'static [f64]| {
            let words = if units.is_empty() {
                map(&[])
            } else {
                map(&[("units", units.into()), ("standard_name", format!("projection_{name}_coordinate").into())])
            };
            let object = ObjectBuilder::new(&[values.len() as u64], values).unwrap();
            object.metadata("name", name).metadata("dimensions", dims(&[name])).metadata("attributes", words)
        };
        let values = [0.0; 6];
        let object = ObjectBuilder::new(&[2, 3], &values).unwrap().metadata("name", "v");
        let mapping =
            ObjectBuilder::new(&[], &[0.0]).unwrap().metadata("name", "crs").metadata("dimensions", dims(&[]));
        let message = MessageBuilder::new()
            .object(object.metadata("dimensions", dims(&["y", "x"])).metadata("attributes", map(attributes)))
            .object(axis("x", &[0.0, 0.02, 0.04]))
            .object(axis("y", &[0.05, 0.0]))
            .object(mapping.metadata("attributes", map(crs)));
        Archive::new(&[message.encode().unwrap()]).open().unwrap()
    };
    let view = [
        ("grid_mapping_name", Value::from("geostationary")),
        ("perspective_point_height", 35_786_023.0.into()),
        ("semi_major_axis", 6_378_137.0.into()),
        ("semi_minor_axis", 6_356_752.314_14.into()),
        ("longitude_of_projection_origin", (-75.0).into()),
        ("sweep_angle_axis", "x".into()),
    ];
    let goes = of(&[("grid_mapping", "crs".into())], &view, "rad");
    let place = goes.nearest_place("v", 16.6, -61.3).unwrap();
    assert!((place.0 - GOES.0).abs() < 1e-8 && (place.1 - GOES.1).abs() < 1e-8, "{place:?}");
    let flat = of(&[("grid", "+proj=laea +lat_0=52 +lon_0=10 +R=6371229 +to_meter=1e7".into())], &[], "");
    assert_eq!(flat.nearest("v", 52.1, 10.1).unwrap(), [(0, 1), (1, 0)]);
    assert!(of(&[("grid", "+proj=robin".into())], &[], "").nearest("v", 52.0, 10.0).is_err());
}

/// x 0.04 and y 0.05 radians of GOES East, by pyproj 3.7.
const GOES: (f64, f64) = (16.622_074_844_7, 298.736_248_117_3);

/// Points of an unstructured grid come from elsewhere, and a plane has bounds in its units.
#[test]
fn points_that_are_named_and_bounds_of_planes_have_places() {
    let known = |count: u8| {
        let degrees: Vec<f64> = (0..count).map(f64::from).collect();
        let set = tgm_grid::Coordinates { latitudes: degrees.clone(), longitudes: degrees };
        Some(std::sync::Arc::new(tgm_grid::KnownPoints::new(vec![set], None)))
    };
    let values = [0.0_f32; 6];
    let cells = ObjectBuilder::new(&[6], &values).unwrap().metadata("param", "2t");
    let archive = Archive::new(&[MessageBuilder::new().object(cells).encode().unwrap()]);
    let opened =
        |count: u8| open(&[archive.path()], &OpenOptions { grid: known(count), ..OpenOptions::default() }).unwrap();
    assert_eq!(opened(6).nearest("t2m", 4.1, 4.2).unwrap(), [(0, 4)]);
    assert!(opened(5).nearest("t2m", 4.1, 4.2).is_err());
    // Several fields in one object.
    for (shape, dims, places) in [
        (&[2, 3][..], &["dim_0", "values"][..], [(1, 2)]),
        (&[2, 1, 3], &["dim_0", "y", "x"], [(2, 2)]),
        (&[1, 2, 3], &["dim_0", "dim_1", "values"], [(2, 2)]),
    ] {
        let fields = ObjectBuilder::new(shape, &values).unwrap().metadata("param", "2t");
        let archive = Archive::new(&[MessageBuilder::new().object(fields).encode().unwrap()]);
        let opened = open(&[archive.path()], &OpenOptions { grid: known(3), ..OpenOptions::default() }).unwrap();
        assert_eq!(opened.variable("t2m").unwrap().dims, dims);
        let found = opened.nearest("t2m", 2.1, 2.2).unwrap();
        assert_eq!(found.last(), Some(&places[0]), "{shape:?}");
    }
    let grid = "+proj=laea +lat_0=52 +lon_0=10 +R=6371229";
    let area = Value::Array([0.0, 0.0, -1e6, 2e6].map(Value::from).to_vec());
    let plane = ObjectBuilder::new(&[2, 3], &values).unwrap().metadata("param", "2t");
    let plane = plane.metadata("grid", grid).metadata("area", area);
    let plane = Archive::new(&[MessageBuilder::new().object(plane).encode().unwrap()]).open().unwrap();
    assert_eq!(plane.nearest("t2m", 43.1, 10.2).unwrap(), [(0, 1), (1, 0)]);
}

/// Pixels in two orders are two grids.
#[test]
fn a_named_grid_has_places_and_an_order() {
    let values = [0.0_f32; 48];
    let message = |order: &str| {
        let object = ObjectBuilder::new(&[48], &values).unwrap().metadata("param", "2t").metadata("grid", "H2");
        MessageBuilder::new().object(object.metadata("order", order)).encode().unwrap()
    };
    let nearest = |archive: &Archive| archive.open().unwrap().nearest("t2m", 19.4, 45.0).unwrap();
    assert_eq!(nearest(&Archive::new(&[message("nested")])), [(0, 0)]);
    assert_eq!(nearest(&Archive::new(&[message("ring")])), [(0, 13)]);
    let both = Archive::new(&[message("ring"), message("nested")]).open().unwrap();
    assert_eq!((both.variable("t2m").unwrap().object_count(), both.left_out.len()), (1, 1));
    assert_eq!(both.left_out[0].why, "it has another grid");
}

#[test]
fn a_box_as_a_message_is_the_same_dataset() {
    let archive = ensemble();
    let dataset = archive.open().unwrap();
    for texts in [&[][..], &["number=0/2", "step=6..12", "longitude=0:10"], &["number=1", "latitude=60"]] {
        let message = dataset.cut(&["t2m"], &selectors(texts), &on_all_cores()).unwrap().encode().unwrap();
        let found = Archive::new(&[message]).open().unwrap();
        let t2m = found.variable("t2m").unwrap();
        let picked = dataset.select("t2m", &selectors(texts)).unwrap();
        let all: Vec<Indices> = t2m.shape.iter().map(|len| Indices::all(*len)).collect();
        let (own, expected) = (found.read::<f64>("t2m", &all).unwrap(), read(&dataset, texts));
        assert_eq!(own.len(), expected.len());
        assert!(own.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits()), "{own:?} {expected:?}");
        // Each coordinate is there, with what is picked of it.
        for coordinate in &dataset.coordinates {
            let again = found.labels(&coordinate.name).unwrap().unwrap();
            let is_whole = |dim: &String| {
                let at = dataset.variable("t2m").unwrap().dims.iter().position(|of| of == dim);
                at.is_none_or(|at| picked[at].count() == dataset.variable("t2m").unwrap().shape[at])
            };
            if coordinate.dims.iter().all(is_whole) && !matches!(coordinate.values, Values::Durations(_)) {
                assert_eq!((&again.values, &again.dims), (&coordinate.values, &coordinate.dims), "{}", coordinate.name);
            }
        }
        let steps = &found.labels("step").unwrap().unwrap().values;
        assert!(texts.is_empty() == (*steps == Values::Integers(vec![0, 6, 12])) || texts.len() == 2, "{steps:?}");
        assert!(t2m.attributes.iter().any(|(name, _)| name == "units"));
        // And again.
        let names: Vec<&str> = found.variables.iter().map(|it| it.name.as_str()).collect();
        let again = found.cut(&["t2m"], &[], &on_all_cores()).unwrap().encode().unwrap();
        let again = Archive::new(&[again]).open().unwrap();
        for name in names {
            // NaN is NaN in text.
            let text = |of: &Dataset| format!("{:?}", of.labels(name).unwrap().unwrap());
            assert_eq!(text(&again), text(&found), "{name}");
        }
    }
    assert!(dataset.cut(&["t2m"], &selectors(&["level=1"]), &on_all_cores()).is_err());
}

#[test]
fn truths_and_texts_are_cut_too() {
    let names = |names: &[&str]| Value::Array(names.iter().map(|name| Value::from(*name)).collect());
    let truths = ObjectBuilder::bitmask(&[10], &[0b1010_1010, 0b1100_0000]);
    let truths = truths.metadata("name", "wet").metadata("dimensions", names(&["station"]));
    let texts: Vec<Value> = (0..10).map(|number| Value::from(format!("s{number}"))).collect();
    let text = map(&[
        ("dimensions", names(&["station"])),
        ("shape", Value::Array(vec![10.into()])),
        ("values", Value::Array(texts)),
    ]);
    let message = MessageBuilder::new().extra("texts", map(&[("station", text)])).object(truths);
    let dataset = Archive::new(&[message.encode().unwrap()]).open().unwrap();
    let cut = dataset.cut(&["wet"], &selectors(&["station=s8/s1/s2"]), &on_all_cores()).unwrap();
    let found = Archive::new(&[cut.encode().unwrap()]).open().unwrap();
    assert_eq!(found.variable("station").unwrap().texts().unwrap(), ["s8", "s1", "s2"]);
    assert_eq!(found.read::<u8>("wet", &[Indices::all(3)]).unwrap(), [1, 0, 1]);
}

/// The plain way: all values of each place, one after the other.
fn plain(values: &[f64], statistic: Statistic) -> f64 {
    let known: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    let count = f64::from(u32::try_from(known.len()).unwrap());
    let mean = known.iter().sum::<f64>() / count;
    match statistic {
        Statistic::Count => count,
        Statistic::Sum => known.iter().sum(),
        Statistic::Mean => mean,
        Statistic::Min => known.iter().copied().reduce(f64::min).unwrap_or(f64::NAN),
        Statistic::Max => known.iter().copied().reduce(f64::max).unwrap_or(f64::NAN),
        Statistic::Std => (known.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt(),
    }
}

fn near(a: f64, b: f64) -> bool {
    (a.is_nan() && b.is_nan()) || a == b || (a - b).abs() <= 1e-9 * b.abs().max(1.0)
}

#[test]
fn statistics_over_any_dimensions_are_those_of_the_values() {
    let archive = ensemble();
    let dataset = archive.open().unwrap();
    let dims = ["number", "step", "latitude", "longitude"];
    let lens = [3_usize, 3, 2, 3];
    let all = read(&dataset, &[]);
    for mask in 0..16_usize {
        let over: Vec<&str> = (0..4).filter(|at| mask >> at & 1 == 1).map(|at| dims[at]).collect();
        let mut groups: std::collections::BTreeMap<Vec<usize>, Vec<f64>> = std::collections::BTreeMap::new();
        for (number, value) in all.iter().enumerate() {
            let index = [number / 18, number / 6 % 3, number / 3 % 2, number % 3];
            let key = (0..4).filter(|at| mask >> at & 1 == 0).map(|at| index[at]).collect();
            groups.entry(key).or_default().push(*value);
        }
        let whole: Vec<Indices> = lens.iter().map(|len| Indices::all(*len as u64)).collect();
        let found = dataset.reduce("t2m", &whole, &over, &Statistic::ALL, &on_all_cores()).unwrap();
        assert_eq!(found.dims.len() + over.len(), 4);
        for statistic in Statistic::ALL {
            let values = found.values(statistic);
            assert_eq!(values.len(), groups.len());
            for (value, group) in values.iter().zip(groups.values()) {
                let expected = plain(group, statistic);
                assert!(near(*value, expected), "{over:?} {}: {value} {expected}", statistic.name());
            }
        }
    }
    let picks = dataset.select("t2m", &selectors(&["step=12", "number=2"])).unwrap();
    let hole = dataset.reduce("t2m", &picks, &["latitude", "longitude"], &[Statistic::Max], &on_all_cores()).unwrap();
    assert!(hole.dims.is_empty() && hole.values(Statistic::Max)[0].is_nan() && hole.values(Statistic::Min).is_empty());
    assert!(hole.values(Statistic::Count) == [0.0] && hole.values(Statistic::Mean)[0].is_nan());
    assert!(dataset.reduce("t2m", &picks, &["level"], &[], &on_all_cores()).is_err());
}

#[test]
fn statistics_of_every_type_and_of_infinite_values() {
    let of = |object: ObjectBuilder<'_>| {
        let object = object.metadata("name", "v").metadata("dimensions", Value::Array(vec!["x".into()]));
        let bytes = MessageBuilder::new().allow_nan().allow_inf().object(object).encode().unwrap();
        let dataset = Archive::new(&[bytes]).open().unwrap();
        let shape = dataset.variable("v").unwrap().shape.clone();
        let found = dataset.reduce("v", &[Indices::all(shape[0])], &["x"], &Statistic::ALL, &on_all_cores());
        found.map(|found| Statistic::ALL.map(|statistic| found.values(statistic)[0]))
    };
    let std = (2.0_f64 / 3.0).sqrt();
    let expected = [3.0, 6.0, 2.0, 1.0, 3.0, std];
    macro_rules! check {
        ($($type:ty),*) => {$(
            let values: [$type; 3] = [1, 2, 3].map(|number: u8| <$type>::try_from(number).unwrap());
            let found = of(ObjectBuilder::new(&[3], &values).unwrap()).unwrap();
            assert!(found.iter().zip(expected).all(|(a, b)| near(*a, b)), "{} {found:?}", stringify!($type));
        )*};
    }
    check!(u8, i8, u16, i16, u32, i32, u64, i64);
    for found in [
        of(ObjectBuilder::new(&[3], &[1.0_f32, 2.0, 3.0]).unwrap()),
        of(ObjectBuilder::new(&[3], &[1.0, 2.0, 3.0]).unwrap()),
    ] {
        assert!(found.unwrap().iter().zip(expected).all(|(a, b)| near(*a, b)));
    }
    let truths = of(ObjectBuilder::bitmask(&[4], &[0b1010_0000])).unwrap();
    assert_eq!(truths, [4.0, 2.0, 0.5, 0.0, 1.0, 0.5]);
    let infinite = of(ObjectBuilder::new(&[3], &[f64::INFINITY, 1.0, f64::NAN]).unwrap()).unwrap();
    assert_eq!(infinite[..5], [2.0, f64::INFINITY, f64::INFINITY, 1.0, f64::INFINITY]);
    assert!(infinite[5].is_nan());
    // The deviation of numbers that are large beside it.
    let large = of(ObjectBuilder::new(&[3], &[1e15 + 1.0, 1e15 + 2.0, 1e15 + 3.0]).unwrap()).unwrap();
    assert!(near(large[5], std), "{large:?}");
    let complex = DataObjectDescriptor::new(Dtype::Complex64, ByteOrder::NATIVE, &[1]);
    let error = of(ObjectBuilder::from_parts(complex, vec![0; 8])).unwrap_err();
    assert!(error.to_string().contains("not real numbers"), "{error}");
}

#[test]
fn times_of_files_are_labels() {
    let message = MessageBuilder::new().object(on("v", &[3], &[1, 2, 3], &["time"], "m")).object(on(
        "time",
        &[3],
        &[0, 12, 24],
        &["time"],
        "hours since 2024-02-28 12:00",
    ));
    let path = Archive::new(&[message.encode().unwrap()]);
    let dataset = open(&[path.path()], &OpenOptions::default()).unwrap();
    let picked = |text: &str| dataset.read::<i32>("v", &dataset.select("v", &selectors(&[text])).unwrap()).unwrap();
    assert_eq!((picked("time=2024-02-29"), picked("time=2024-02-28T12..2024-02-29T00")), (vec![2, 3], vec![1, 2]));
    let cut = dataset.cut(&["v"], &selectors(&["time=2024-02-29T12"]), &on_all_cores()).unwrap().encode().unwrap();
    let found = Archive::new(&[cut]).open().unwrap();
    let texts = |dataset: &Dataset, at: usize| dataset.labels("time").unwrap().unwrap().label_text(at);
    assert_eq!((texts(&found, 0), texts(&dataset, 2)), ("2024-02-29T12:00:00".into(), "2024-02-29T12:00:00".into()));
}

#[test]
fn pieces_are_the_objects_as_they_lie() {
    let archive = ensemble();
    let dataset = archive.open().unwrap();
    assert_eq!(dataset.piece_counts("t2m").unwrap(), [3, 3, 1, 1]);
    // The last member lacks the last step.
    assert_eq!(dataset.piece_numbers("t2m").unwrap(), (0..8).collect::<Vec<u64>>());
    let frame = dataset.piece_frame("t2m", 4).unwrap().unwrap();
    let file = std::fs::read(archive.path()).unwrap();
    assert!(file.windows(frame.len()).any(|bytes| bytes == frame) && dataset.piece_frame("t2m", 8).unwrap().is_none());
    let (source, place) = dataset.piece_payload("t2m", 4).unwrap().unwrap();
    let payload = file.get(usize::try_from(place.start).unwrap()..usize::try_from(place.end).unwrap()).unwrap();
    let own = DataObject::parse(Frame::parse(&frame).unwrap().0).unwrap();
    assert_eq!((source, payload), (0, own.payload()));
    assert_eq!(dataset.piece_payload("t2m", 8).unwrap(), None);
    let object = DataObject::parse(Frame::parse(&frame).unwrap().0).unwrap();
    assert_eq!(tgm_std::read(&object).values::<f64>().unwrap()[..2], [106.0, 107.0]);
    let stored = dataset.stored("t2m", &on_all_cores()).unwrap().unwrap();
    assert_eq!(
        (stored.encoding.as_str(), stored.filter.as_str(), stored.compression.as_str()),
        ("none", "none", "none")
    );
    assert!(stored.dtype == Dtype::Float64 && !stored.has_masks && stored.shuffle_element_size.is_none());
    // Objects that are stored in two ways.
    let one = |step: i64, is_shuffled: bool| {
        let object = ObjectBuilder::new(&[2], &[1.0_f32, 2.0]).unwrap();
        let object = if is_shuffled { object.shuffle() } else { object };
        MessageBuilder::new().object(object.metadata("param", "t").metadata("step", step)).encode().unwrap()
    };
    let mixed = Archive::new(&[one(0, false), one(6, true)]).open().unwrap();
    assert_eq!(mixed.stored("t", &on_all_cores()).unwrap(), None);
    let shuffled = Archive::new(&[one(0, true), one(6, true)]).open().unwrap();
    assert_eq!(shuffled.stored("t", &on_all_cores()).unwrap().unwrap().shuffle_element_size, Some(4));
    assert!(shuffled.stored("q", &on_all_cores()).is_err() && shuffled.piece_frame("q", 0).is_err());
}

/// Fields that are long enough to be shared among threads, with values that are missing here and there.
#[test]
fn statistics_do_not_depend_on_the_number_of_threads() {
    const POINTS: usize = 5003;
    let value = |step: usize, at: usize| {
        let is_missing = (at + step * 3).is_multiple_of(17) || at == 4000;
        if is_missing { f32::NAN } else { f32::from(u16::try_from(at * 7 % 1000 + step * 13).unwrap()) }
    };
    let mut messages = Vec::new();
    for step in 0..4 {
        let values: Vec<f32> = (0..POINTS).map(|at| value(step, at)).collect();
        let field = ObjectBuilder::new(&[POINTS as u64], &values).unwrap();
        let field = field.metadata("param", "v").metadata("step", step as u64);
        let options =
            EncodeOptions { allow_nan: true, small_mask_threshold_bytes: 1 << 20, ..EncodeOptions::default() };
        messages.push(MessageBuilder::new().options(options).object(field).encode().unwrap());
    }
    let archive = Archive::new(&messages);
    let dataset = archive.open().unwrap();
    let all = [Indices::all(4), Indices::all(POINTS as u64)];
    for over in [&["step"][..], &["values"], &["step", "values"]] {
        let reduced = [1, 3, 64].map(|threads| {
            let options = DecodeOptions { threads, parallel_threshold_bytes: Some(0), ..DecodeOptions::default() };
            let found = dataset.reduce("v", &all, over, &Statistic::ALL, &options).unwrap();
            Statistic::ALL.map(|statistic| found.values(statistic).into_iter().map(f64::to_bits).collect::<Vec<_>>())
        });
        assert_eq!(reduced[0], reduced[1], "{over:?}");
        assert_eq!(reduced[0], reduced[2], "{over:?}");
    }
    let means = dataset.reduce("v", &all, &["step"], &[Statistic::Mean, Statistic::Count], &on_all_cores()).unwrap();
    let (means, counts) = (means.values(Statistic::Mean), means.values(Statistic::Count));
    for at in 0..POINTS {
        let known: Vec<f64> = (0..4).map(|step| f64::from(value(step, at))).filter(|it| !it.is_nan()).collect();
        assert_eq!(counts[at], f64::from(u32::try_from(known.len()).unwrap()));
        let mean = known.iter().sum::<f64>() / counts[at];
        assert!(means[at] == mean || (mean.is_nan() && means[at].is_nan()), "{at}");
    }
}

/// Beside sums over the values themselves.
#[test]
fn areas_weigh_and_quantiles_lie_between_values() {
    let dataset = ensemble().open().unwrap();
    let picks = dataset.select("t2m", &selectors(&["step=0/6"])).unwrap();
    let values: Vec<f64> = dataset.read("t2m", &picks).unwrap();
    let weights = {
        // Rows at 60 and 40 degrees: their bands meet at 50 and end at 70 and 30.
        let sine = |degrees: f64| degrees.to_radians().sin();
        [sine(70.0) - sine(50.0), sine(50.0) - sine(30.0)]
    };
    // number, step, latitude, longitude.
    let at =
        |number: usize, step: usize, row: usize, column: usize| values[((number * 2 + step) * 2 + row) * 3 + column];
    let found = dataset.reduce_weighted("t2m", &picks, &["number", "latitude", "longitude"], &on_all_cores()).unwrap();
    assert_eq!((found.dims.as_slice(), found.shape.as_slice()), (&["step".to_string()][..], &[2][..]));
    let statistic = |statistic| found.values(statistic).unwrap();
    for step in 0..2 {
        let all = (0..3).flat_map(|number| (0..6).map(move |point| (number, point / 3, point % 3)));
        let all: Vec<(f64, f64)> =
            all.map(|(number, row, column)| (weights[row], at(number, step, row, column))).collect();
        let weight: f64 = all.iter().map(|it| it.0).sum();
        let mean = all.iter().map(|it| it.0 * it.1).sum::<f64>() / weight;
        let deviation = (all.iter().map(|it| it.0 * (it.1 - mean).powi(2)).sum::<f64>() / weight).sqrt();
        assert!(near(statistic(Statistic::Mean)[step], mean) && near(statistic(Statistic::Std)[step], deviation));
        assert_eq!(statistic(Statistic::Count)[step], 18.0);
        assert_eq!(statistic(Statistic::Max)[step], all.iter().map(|it| it.1).fold(f64::MIN, f64::max));
    }
    assert!(found.values(Statistic::Sum).is_none());
    let without = dataset.reduce_weighted("t2m", &picks, &["number"], &on_all_cores()).unwrap_err().to_string();
    assert!(without.contains("areas weigh along latitude"), "{without}");
    // One row has one weight.
    let row = dataset.select("t2m", &selectors(&["latitude=60"])).unwrap();
    let of_row = dataset.reduce_weighted("t2m", &row, &["latitude", "longitude", "number"], &on_all_cores()).unwrap();
    let plain = dataset.reduce("t2m", &row, &["longitude", "number"], &Statistic::ALL, &on_all_cores()).unwrap();
    assert!(
        of_row.values(Statistic::Mean).unwrap().iter().zip(plain.values(Statistic::Mean)).all(|(a, b)| near(*a, b))
    );

    let found = dataset.quantiles("t2m", &picks, &["number"], &[0.0, 0.25, 0.5, 1.0], &on_all_cores()).unwrap();
    assert_eq!(found.shape, [2, 2, 3]);
    for place in 0..12 {
        let members: Vec<f64> = (0..3).map(|number| values[number * 12 + place]).collect();
        let expected = [members[0], f64::midpoint(members[0], members[1]), members[1], members[2]];
        assert!((0..4).all(|share| near(found.values[share][place], expected[share])), "{place}");
    }
}

/// A mean over members is a dataset without members, which has all other coordinates.
#[test]
fn what_was_computed_is_a_dataset() {
    let dataset = ensemble().open().unwrap();
    let picks = dataset.select("t2m", &selectors(&["step=0/6"])).unwrap();
    let reduced = dataset.reduce("t2m", &picks, &["number"], &[Statistic::Mean], &on_all_cores()).unwrap();
    let values = reduced.values(Statistic::Mean);
    let result =
        Computed { name: "t2m".into(), values: values.clone(), integers: None, method: "mean".into(), units: None };
    let (selectors, results) = (selectors(&["step=0/6"]), [result]);
    let reduction = Reduction { variable: "t2m", selectors: &selectors, over: &["number"], results: &results };
    let message = dataset.computed(&[reduction]).unwrap().encode().unwrap();
    let again = Archive::new(&[message]).open().unwrap();
    let variable = again.variable("t2m").unwrap();
    assert_eq!((variable.dims.join(" "), &variable.shape[..]), ("step latitude longitude".into(), &[2, 2, 3][..]));
    let text = |name: &str| variable.attributes.iter().find(|(key, _)| key == name).map(|(_, it)| it.clone());
    assert_eq!(text("cell_methods"), Some("number: mean".into()));
    assert_eq!(text("units"), Some("K".into()));
    assert!(again.coordinate("number").is_none() && again.variable("number").is_none());
    assert_eq!(again.labels("latitude").unwrap().unwrap().values, Values::Floats(vec![60.0, 40.0]));
    let read: Vec<f64> = again.read("t2m", &again.select("t2m", &[]).unwrap()).unwrap();
    assert_eq!(read, values);
    let short = Computed { values: vec![1.0], ..results[0].clone() };
    let reduction = Reduction { variable: "t2m", selectors: &selectors, over: &["number"], results: &[short] };
    assert!(dataset.computed(&[reduction]).unwrap_err().to_string().contains("1 values are not [2, 2, 3]"));
}
