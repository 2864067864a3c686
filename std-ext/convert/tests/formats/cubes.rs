//! Fields of many messages as variables of NetCDF and Zarr, and back.

use std::fs;
use std::path::{Path, PathBuf};

use ciborium::Value;
use tempfile::TempDir;
use tgm_convert::ArrayWriter as _;
use tgm_convert::netcdf::{NetcdfOptions, NetcdfWriter, ToNetcdfOptions};
use tgm_convert::zarr::{ToZarrOptions, ZarrOptions, ZarrWriter};
use tgm_convert::{Note, is_of_fields, netcdf, zarr};
use tgm_core::descriptor::Dtype;
use tgm_dataset::{Attribute, Dataset, Indices, OpenOptions, Profile, open, open_all};
use tgm_std::{MessageBuilder, ObjectBuilder};

const FORMATS: [&str; 2] = ["nc", "zarr"];

/// A field of 2 × 3 points.
fn field(param: &str, level: i64, step: i64, values: &[f64], bits: u32) -> Vec<u8> {
    let keys = [
        ("param", Value::from(param)),
        ("levtype", "pl".into()),
        ("levelist", level.into()),
        ("step", step.into()),
        ("date", 20_240_229.into()),
        ("time", "1200".into()),
    ];
    let mars = keys.into_iter().map(|(key, value)| (Value::from(key), value)).collect();
    let area = [60.0, 10.0, 50.0, 30.0].map(Value::from).to_vec();
    let object = ObjectBuilder::new(&[2, 3], values).unwrap().metadata("mars", Value::Map(mars));
    let object = object.metadata("area", Value::Array(area));
    let object = if bits > 0 { object.simple_packing(bits) } else { object };
    MessageBuilder::new().object(object).encode().unwrap()
}

fn values(start: f64) -> [f64; 6] {
    [0.0, 0.25, 0.5, 0.75, 1.0, 1.25].map(|value| start + value)
}

struct Work(TempDir);

impl Work {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Datasets of messages.
    fn datasets(&self, messages: &[Vec<u8>]) -> Vec<Dataset> {
        fs::write(self.path("fields.tgm"), messages.concat()).unwrap();
        let options = OpenOptions { list_unused: true, called: Some("the input".into()), ..OpenOptions::default() };
        open_all(&[self.path("fields.tgm")], &options).unwrap()
    }

    /// Writes datasets in this format, and reads the file as messages. Also what was reported.
    fn there_and_back(&self, format: &str, datasets: &[Dataset], float64: bool) -> (Dataset, Vec<Note>) {
        let (there, back) = (self.path(&format!("there.{format}")), self.path(&format!("back.{format}.tgm")));
        let mut notes = Vec::new();
        let mut report = |note| notes.push(note);
        let mut messages = Vec::new();
        if format == "nc" {
            let mut writer = NetcdfWriter::create(&there, ToNetcdfOptions { float64, ..Default::default() }).unwrap();
            writer.write_datasets(datasets, &mut report).unwrap();
            writer.finish().unwrap();
            netcdf::to_tensogram(&there, &NetcdfOptions::default(), &mut messages, &mut report).unwrap();
        } else {
            _ = fs::remove_dir_all(&there);
            let mut writer = ZarrWriter::create(&there, ToZarrOptions { float64, ..Default::default() }).unwrap();
            writer.write_datasets(datasets, &mut report).unwrap();
            writer.finish().unwrap();
            zarr::to_tensogram(&there, &ZarrOptions::default(), &mut messages, &mut report).unwrap();
        }
        fs::write(&back, messages).unwrap();
        (open(&[back], &OpenOptions { profile: Profile::Cf, ..OpenOptions::default() }).unwrap(), notes)
    }
}

/// All numbers of a variable.
fn numbers(dataset: &Dataset, name: &str) -> Vec<f64> {
    let variable = dataset.variable(name).unwrap();
    let all: Vec<Indices> = variable.shape.iter().map(|len| Indices::List((0..*len).collect())).collect();
    match variable.dtype().unwrap() {
        Dtype::Float32 => dataset.read::<f32>(name, &all).unwrap().into_iter().map(f64::from).collect(),
        Dtype::Int64 => dataset
            .read::<i64>(name, &all)
            .unwrap()
            .into_iter()
            .map(|number| number.to_string().parse().unwrap())
            .collect(),
        _ => dataset.read::<f64>(name, &all).unwrap(),
    }
}

fn text<'d>(dataset: &'d Dataset, variable: &str, key: &str) -> Option<&'d str> {
    let attributes = &dataset.variable(variable).unwrap().attributes;
    attributes.iter().find(|(name, _)| name == key).and_then(|(_, value)| match value {
        Attribute::Text(text) => Some(text.as_str()),
        _ => None,
    })
}

#[test]
fn fields_are_variables_over_their_keys_and_holes_are_nan() {
    let work = Work::new();
    let mut messages = Vec::new();
    for (param, start) in [("t", 270.0), ("q", 0.0)] {
        for (level, step) in [(500, 6), (500, 0), (850, 0), (850, 6), (850, 12)] {
            let at = f64::from(i32::try_from(level + step).unwrap());
            messages.push(field(param, level, step, &values(start + at), 0));
        }
    }
    assert!(messages.iter().all(|message| is_of_fields(message).unwrap()));
    for format in FORMATS {
        let (found, notes) = work.there_and_back(format, &work.datasets(&messages), false);
        assert!(!notes.iter().any(Note::is_failure), "{format}: {notes:?}");
        let t = found.variable("t").unwrap();
        assert_eq!(t.dims, ["step", "isobaricInhPa", "latitude", "longitude"], "{format}");
        assert_eq!((&t.shape[..], t.dtype()), (&[3, 2, 2, 3][..], Some(Dtype::Float64)));
        let of_t = numbers(&found, "t");
        assert_eq!((&of_t[..6], &of_t[24..30]), (&values(270.0 + 850.0)[..], &values(270.0 + 862.0)[..]), "{format}");
        assert!(of_t[30..].iter().all(|value| value.is_nan()), "{format}: a hole");
        assert_eq!(numbers(&found, "q")[6..12], values(500.0), "{format}");
        assert_eq!(numbers(&found, "step"), [0.0, 6.0, 12.0]);
        assert_eq!(numbers(&found, "isobaricInhPa"), [850.0, 500.0]);
        assert_eq!(
            (numbers(&found, "latitude"), numbers(&found, "longitude")),
            (vec![60.0, 50.0], vec![10.0, 20.0, 30.0])
        );
        assert_eq!(numbers(&found, "time"), [1_709_208_000.0], "2024-02-29 12:00");
        assert_eq!(numbers(&found, "valid_time"), [0.0, 6.0, 12.0].map(|step| 1_709_208_000.0 + step * 3600.0));
        assert_eq!(text(&found, "step", "units"), Some("hours"));
        assert_eq!(text(&found, "time", "units"), Some("seconds since 1970-01-01T00:00:00"));
        assert_eq!(text(&found, "t", "coordinates"), Some("valid_time time"));
        assert_eq!(
            (text(&found, "t", "units"), text(&found, "t", "standard_name")),
            (Some("K"), Some("air_temperature"))
        );
    }
}

#[test]
fn packed_numbers_are_float32_where_it_tells_them_apart() {
    let work = Work::new();
    // 16 bits over a range of 1.25 at 280 are 2e-5 apart, and float32 knows 3e-5. Over 1250 they are 0.02 apart.
    let wide: Vec<f64> = values(0.0).iter().map(|value| 280.0 + value * 1000.0).collect();
    let cases =
        [(16, wide.clone(), Dtype::Float32), (16, values(280.0).to_vec(), Dtype::Float64), (28, wide, Dtype::Float64)];
    for (bits, values, expected) in cases {
        let messages = [0, 6].map(|step| field("t", 500, step, &values, bits));
        for (format, float64) in FORMATS.into_iter().flat_map(|format| [(format, false), (format, true)]) {
            let datasets = work.datasets(&messages);
            let (found, notes) = work.there_and_back(format, &datasets, float64);
            let expected = if float64 { Dtype::Float64 } else { expected };
            assert_eq!(found.variable("t").unwrap().dtype(), Some(expected), "{format}, {bits} bits");
            let is_told = notes.iter().any(|note| note.to_string().contains("float32"));
            assert_eq!(is_told, expected == Dtype::Float32, "{notes:?}");
            let exact = numbers(&datasets[0], "t");
            let is_near = |(found, exact): (&f64, &f64)| (found - exact).abs() <= exact.abs() * 1e-7;
            assert!(numbers(&found, "t").iter().zip(&exact).all(is_near));
        }
    }
}

#[test]
fn texts_that_fields_differ_in_are_coordinates() {
    let work = Work::new();
    let messages = ["wave", "ocean"].map(|model| {
        let mars = [("param", "t"), ("model", model)].map(|(key, text)| (key.into(), text.into())).to_vec();
        let object = ObjectBuilder::new(&[2], &[1.0, 2.0]).unwrap().metadata("mars", Value::Map(mars));
        MessageBuilder::new().object(object).encode().unwrap()
    });
    for format in FORMATS {
        let (found, notes) = work.there_and_back(format, &work.datasets(&messages), false);
        assert!(!notes.iter().any(Note::is_failure), "{format}: {notes:?}");
        assert_eq!(found.variable("t").unwrap().dims, ["model", "values"], "{format}: {notes:?}");
        let model = found.variable("model").unwrap();
        assert_eq!(
            (&model.dims[..], model.texts().unwrap()),
            (&["model".into()][..], &["ocean".into(), "wave".into()][..])
        );
    }
}

#[test]
fn what_does_not_fit_together_has_names_of_its_own() {
    let work = Work::new();
    let mut messages: Vec<Vec<u8>> = [0, 6, 12].map(|step| field("t", 500, step, &values(1.0), 0)).into();
    let own = |key: &str, shape: &[u64], values: &[f32], step: i64| {
        let mars = vec![("param".into(), key.into()), ("step".into(), step.into())];
        let object = ObjectBuilder::new(shape, values).unwrap().metadata("mars", Value::Map(mars));
        MessageBuilder::new().object(object).encode().unwrap()
    };
    messages.push(own("t", &[4], &[1.0, 2.0, 3.0, 4.0], 0));
    messages.push(own("t", &[4], &[5.0, 6.0, 7.0, 8.0], 18));
    for format in FORMATS {
        let datasets = work.datasets(&messages);
        assert_eq!(datasets.len(), 2);
        let (found, notes) = work.there_and_back(format, &datasets, false);
        assert!(notes.iter().any(|note| note.to_string().contains("t_1")), "{notes:?}");
        assert_eq!(found.variable("t_1").unwrap().dims, ["step_1", "values"], "{format}");
        assert_eq!(numbers(&found, "t_1"), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        assert_eq!((numbers(&found, "step_1"), numbers(&found, "step")), (vec![0.0, 18.0], vec![0.0, 6.0, 12.0]));
    }
}

#[test]
fn xarray_sees_no_coordinate_of_another_dataset() {
    let work = Work::new();
    let field = |param: &str, (date, step): (i64, i64), start: f64| {
        let mars: Vec<(Value, Value)> = vec![
            ("param".into(), param.into()),
            ("levtype".into(), "sfc".into()),
            ("step".into(), step.into()),
            ("date".into(), date.into()),
            ("time".into(), 0.into()),
        ];
        let values = values(start);
        let object = ObjectBuilder::new(&[2, 3], &values).unwrap().metadata("mars", Value::Map(mars));
        MessageBuilder::new().object(object).encode().unwrap()
    };
    // Days and steps of 2t, and of tp.
    let cases = [
        (vec![(20_240_101, 0)], vec![(20_240_102, 6)]),
        (vec![(20_240_101, 0)], vec![(20_240_101, 6)]),
        (vec![(20_240_101, 0), (20_240_102, 0)], vec![(20_240_101, 6), (20_240_102, 6)]),
        (vec![(20_240_101, 0), (20_240_102, 0)], vec![(20_240_101, 3), (20_240_101, 6)]),
        (vec![(20_240_101, 0), (20_240_102, 0)], vec![(20_240_105, 6)]),
    ];
    for (format, (first, second)) in FORMATS.iter().flat_map(|format| cases.iter().map(move |case| (format, case))) {
        let fields = |param: &'static str, all: &[(i64, i64)]| {
            all.iter().zip([0.0, 1.0]).map(|(when, start)| field(param, *when, start)).collect::<Vec<_>>()
        };
        let datasets = work.datasets(&[fields("2t", first), fields("tp", second)].concat());
        assert_eq!(datasets.len(), 2, "{first:?} {second:?}");
        let (found, _) = work.there_and_back(format, &datasets, false);
        // xarray makes coordinates of all that are named so, and gives each to all variables that have its dimensions.
        let named = found.variables.iter().filter_map(|it| text(&found, &it.name, "coordinates"));
        let coordinates: Vec<&str> = named.flat_map(str::split_whitespace).collect();
        assert!(!coordinates.is_empty());
        for (name, days) in [("t2m", first), ("tp", second)] {
            let variable = found.variable(name).unwrap();
            let own: Vec<&str> = text(&found, name, "coordinates").unwrap_or_default().split_whitespace().collect();
            for coordinate in
                coordinates.iter().filter(|it| !own.contains(it) && variable.dims.iter().all(|dim| dim != *it))
            {
                let dims =
                    found.coordinate(coordinate).map(|it| &it.dims).or(found.variable(coordinate).map(|it| &it.dims));
                let is_apart = dims.unwrap().iter().any(|dim| !variable.dims.contains(dim));
                assert!(is_apart, "{format} {first:?} {second:?}: {coordinate} is seen at {name}");
            }
            let wanted: Vec<f64> = days.iter().zip([0.0, 1.0]).flat_map(|(_, start)| values(start)).collect();
            assert_eq!(numbers(&found, name), wanted, "{format} {first:?} {second:?}");
        }
    }
}

#[test]
fn an_object_that_cannot_be_read_is_nan_and_told_and_small_ones_share_a_chunk() {
    let work = Work::new();
    let messages: Vec<Vec<u8>> = (0..5).map(|step| field("t", 500, step, &values(1.0), 0)).collect();
    for format in FORMATS {
        let datasets = work.datasets(&messages);
        let mut bytes = messages.concat();
        // The payload and more of the last message are gone since the dataset was opened.
        let at = bytes.len() - 120;
        bytes[at..].fill(0);
        let third = messages[0].len() * 2;
        bytes[third + 24..third + messages[0].len()].fill(0);
        fs::write(work.path("fields.tgm"), bytes).unwrap();
        let (found, notes) = work.there_and_back(format, &datasets, false);
        let failures: Vec<String> = notes.iter().filter(|note| note.is_failure()).map(Note::to_string).collect();
        assert!(failures.len() == 2 && failures[0].contains("the input message 2"), "{format}: {failures:?}");
        let found = numbers(&found, "t");
        assert!(found[12..18].iter().all(|value| value.is_nan()), "{format}: {found:?}");
        assert_eq!((&found[6..12], &found[18..24]), (&values(1.0)[..], &values(1.0)[..]), "{format}");
    }
    let is_there = |chunk: &str| Path::exists(&work.path(&format!("there.zarr/t/c/{chunk}")));
    assert!(is_there("0/0/0") && !is_there("1"), "five fields in one chunk");
}

#[test]
fn keys_without_a_place_are_told_and_two_fields_for_one_place_are_an_error() {
    let work = Work::new();
    let with = |run: i64, list: Vec<Value>| {
        let mars = vec![("param".into(), "t".into())];
        let object = ObjectBuilder::new(&[2], &[1.0_f32, 2.0]).unwrap().metadata("mars", Value::Map(mars));
        let object = object.metadata("history", Value::Array(list)).metadata("run", run);
        MessageBuilder::new().object(object).encode().unwrap()
    };
    let (_, notes) = work.there_and_back("nc", &work.datasets(&[with(1, vec![1.into()]), with(2, Vec::new())]), false);
    let text = notes.iter().map(Note::to_string).collect::<Vec<_>>().join("\n");
    assert!(text.contains("keys of fields: history"), "{text}");
    let twice = [field("t", 500, 0, &values(1.0), 0), field("t", 500, 0, &values(2.0), 0)].concat();
    fs::write(work.path("twice.tgm"), twice).unwrap();
    let options = OpenOptions { called: Some("the input".into()), ..OpenOptions::default() };
    let text = open(&[work.path("twice.tgm")], &options).unwrap_err().to_string();
    assert!(text.contains("the input message 0 object 0 and the input message 1 object 0"), "{text}");
}

#[test]
fn messages_that_were_files_are_not_fields() {
    let object = || ObjectBuilder::new(&[2], &[1.0_f32, 2.0]).unwrap();
    let is_of =
        |object: ObjectBuilder<'_>| is_of_fields(&MessageBuilder::new().object(object).encode().unwrap()).unwrap();
    assert!(!is_of(object()) && !is_of(object().metadata("name", "t")));
    let mars = || Value::Map(vec![("param".into(), "t".into())]);
    assert!(is_of(object().metadata("mars", mars())));
    assert!(!is_of(object().metadata("mars", mars()).metadata("netcdf", Value::Map(Vec::new()))));
    assert!(!is_of(object().metadata("zarr", Value::Map(Vec::new()))) && is_of_fields(b"no message").is_err());
}
