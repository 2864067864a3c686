//! What keys mean.

use tgm_dataset::{Coordinate, Dataset, OpenOptions, Profile, Times, Values, open};
use tgm_std::deps::ciborium::Value;
use tgm_std::{MessageBuilder, ObjectBuilder};

use crate::{Archive, map};

fn opened(archive: &Archive, profile: &str) -> Dataset {
    let options = OpenOptions { profile: profile.parse().unwrap(), ..OpenOptions::default() };
    open(&[archive.path()], &options).unwrap()
}

/// Two variables of a model, whose keys have names of its own.
fn model() -> Archive {
    let mut messages = Vec::new();
    for (variable, first) in [("wind", 0.0), ("2t", 100.0)] {
        for lead in [6_i64, 0, 12] {
            for depth in [10_i64, 0] {
                let run = map(&[("lead", lead.into()), ("start", "2024-01-31".into())]);
                let step = i16::try_from(lead + depth).unwrap();
                let values = [first + f64::from(step), 0.5];
                let object = ObjectBuilder::new(&[2], &values).unwrap();
                let object = object.metadata("variable", variable).metadata("z", depth).metadata("run", run);
                messages.push(MessageBuilder::new().object(object).encode().unwrap());
            }
        }
    }
    Archive::new(&messages)
}

fn coordinate<'d>(dataset: &'d Dataset, name: &str) -> &'d Coordinate {
    dataset.coordinate(name).unwrap_or_else(|| panic!("no {name} in {:?}", dataset.coordinates))
}

#[test]
fn keys_of_ones_own_tell_names_times_steps_and_levels() {
    let archive = model();
    let dataset = opened(&archive, "name=variable,step=lead_time/run.lead,date=run.start,level=z");
    let names: Vec<&str> = dataset.variables.iter().map(|it| it.name.as_str()).collect();
    // A name that the table has is found there.
    assert_eq!(names, ["t2m", "wind"]);
    let wind = dataset.variable("wind").unwrap();
    assert_eq!((wind.dims.join(" "), &wind.shape[..]), ("step level values".into(), &[3, 2, 2][..]));
    assert_eq!(coordinate(&dataset, "step").values, Values::Durations(vec![0, 6 * 3600, 12 * 3600]));
    assert_eq!(coordinate(&dataset, "time").values, Values::Times(Times::of_seconds([1_706_659_200])));
    assert_eq!(coordinate(&dataset, "level").values, Values::Floats(vec![0.0, 10.0]));
    assert!(dataset.coordinate("valid_time").is_some() && dataset.left_out.is_empty());
    let all = dataset.select("wind", &["step=6".parse().unwrap(), "level=10".parse().unwrap()]).unwrap();
    assert_eq!(dataset.read::<f64>("wind", &all).unwrap(), [16.0, 0.5]);
    // Keys of the profile `mars` count where one's own are not there.
    let field = crate::field(1.0, &[("param", "t".into()), ("step", 6_i64.into())], &[]);
    let dataset = opened(&Archive::new(&[field]), "name=variable,step=lead");
    assert_eq!((dataset.variables[0].name.as_str(), dataset.coordinate("step").is_some()), ("t", true));
}

#[test]
fn the_plain_profile_knows_names_alone() {
    let archive = model();
    let dataset = opened(&archive, "plain");
    let [only] = dataset.variables.as_slice() else { panic!("{:?}", dataset.variables) };
    assert_eq!((only.name.as_str(), only.dims.join(" ")), ("object_0", "lead variable z dim_0".into()));
    assert_eq!(only.shape, [3, 2, 2, 2]);
    assert_eq!(coordinate(&dataset, "lead").values, Values::Integers(vec![0, 6, 12]));
    assert_eq!(coordinate(&dataset, "variable").values, Values::Texts(vec!["2t".into(), "wind".into()]));
    assert!(dataset.coordinate("time").is_none() && dataset.coordinate("latitude").is_none());
    // Fields of GRIB have neither levels nor places, and names count.
    let area = Value::Array([60.0, 0.0, 40.0, 20.0].map(Value::from).to_vec());
    let mars =
        [("param", Value::from("t")), ("levelist", 500_i64.into()), ("date", 20_240_131_i64.into()), ("area", area)];
    let steps = [0_i64, 6].map(|step| {
        let mars = [&mars[..], &[("step", step.into())]].concat();
        let values = [0.0; 6];
        let object = ObjectBuilder::new(&[2, 3], &values).unwrap().metadata("name", "temperature");
        let object = object.metadata("mars", map(&mars)).metadata("grib", map(&[("typeOfLevel", "surface".into())]));
        MessageBuilder::new().object(object).encode().unwrap()
    });
    let dataset = opened(&Archive::new(&steps), "plain");
    let temperature = dataset.variable("temperature").unwrap();
    assert_eq!(temperature.dims, ["step", "dim_0", "dim_1"]);
    assert_eq!(dataset.coordinates.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["step"]);
    assert_eq!(coordinate(&dataset, "step").values, Values::Integers(vec![0, 6]));
    assert_eq!(
        temperature.attributes.iter().find(|(name, _)| name == "levelist").map(|it| it.1.clone()),
        Some((&tgm_dataset::Label::Integer(500)).into())
    );
}

#[test]
fn what_is_not_a_profile_is_an_error() {
    for (text, error) in [
        ("grib", "\"grib\" is none of auto, mars, cf, plain, or meanings"),
        ("", "is none of auto"),
        ("height=z", "\"height\" is none of name, number, date, time, step, level, level_type"),
        ("step=", "step has an empty key"),
        ("step=a//b", "step has an empty key"),
    ] {
        let found = text.parse::<Profile>().unwrap_err();
        assert!(found.contains(error), "{text}: {found}");
    }
    assert_eq!("auto".parse(), Ok(Profile::Auto));
}
