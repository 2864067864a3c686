//! Random archives of fields, beside the rules of which field is in which dataset at which labels.
//!
//! `TGM_TEST_SCALE` multiplies the number of archives.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "numbers of a small archive"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tgm_dataset::{Attribute, Dataset, Indices, Join, Label, OpenOptions, Variable, open_all};
use tgm_std::deps::ciborium::Value;
use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder};

use crate::map;
use crate::rng::Rng;
use crate::scale::cases;

/// Labels by their dimensions.
type Labels = BTreeMap<String, String>;

/// What a field says of itself. Its values are its number in the archive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Field {
    name: &'static str,
    level_type: &'static str,
    class: &'static str,
    points: u64,
    date: i64,
    hour: Option<i64>,
    step: i64,
    number: Option<i64>,
    level: Option<i64>,
}

impl Field {
    fn message(&self, value: f64) -> Vec<u8> {
        let optional = [("time", self.hour.map(|it| it * 100)), ("number", self.number), ("levelist", self.level)];
        let mut keys: Vec<(&str, Value)> = vec![("param", self.name.into()), ("levtype", self.level_type.into())];
        keys.extend([("class", self.class.into()), ("date", self.date.into()), ("step", self.step.into())]);
        keys.extend(optional.into_iter().filter_map(|(key, number)| Some((key, number?.into()))));
        let values = vec![value; usize::try_from(self.points).unwrap()];
        let object = ObjectBuilder::new(&[self.points], &values).unwrap().metadata("mars", map(&keys));
        MessageBuilder::new().object(object).encode().unwrap()
    }

    /// The labels that the field must have.
    fn labels(&self) -> Labels {
        let (year, month, day) = (self.date / 10_000, self.date / 100 % 100, self.date % 100);
        let time = format!("{year}-{month:02}-{day:02}T{:02}:00:00", self.hour.unwrap_or(0));
        let level = match self.level_type {
            "pl" => "isobaricInhPa",
            "ml" => "hybrid",
            _ => "surface",
        };
        let numbers = [("step", Some(self.step)), ("number", self.number), (level, self.level)];
        let numbers = numbers.into_iter().filter_map(|(key, number)| Some((key.to_string(), number?.to_string())));
        numbers.chain([("time".to_string(), time)]).collect()
    }
}

/// Some of these, at least one: a run of them, one in so many, or any.
fn some(rng: &mut Rng, all: &[i64]) -> Vec<i64> {
    let len = all.len() as u64;
    let (start, count, stride) = (rng.below(len), 1 + rng.below(len), 1 + rng.below(3));
    let picked: Vec<i64> = match rng.below(3) {
        0 => all.iter().copied().filter(|_| rng.below(2) == 0).collect(),
        _ => all.iter().copied().skip(start as usize).step_by(stride as usize).take(count as usize).collect(),
    };
    if picked.is_empty() { vec![all[start as usize]] } else { picked }
}

/// The fields of an archive: a few variables, each at a box of labels, some of which lack fields.
fn archive(rng: &mut Rng) -> Vec<Field> {
    let mut found = BTreeSet::new();
    let (has_members, has_classes, has_grids) = (rng.below(2) == 0, rng.below(6) == 0, rng.below(6) == 0);
    for _ in 0..=rng.below(5) {
        let name = ["t2m", "tp", "t", "msl", "q", "u"][rng.below(6) as usize];
        let level_type = ["sfc", "sfc", "pl", "ml"][rng.below(4) as usize];
        let class = if has_classes && rng.below(2) == 0 { "od" } else { "ea" };
        let points = if has_grids && rng.below(2) == 0 { 2 } else { 1 };
        let dates = some(rng, &[20_240_101, 20_240_102]);
        let hours = some(rng, &[0, 3, 6, 12, 18]);
        let steps = if rng.below(2) == 0 { vec![0] } else { some(rng, &[0, 1, 2, 3, 6, 12]) };
        let numbers = if has_members && rng.below(2) == 0 { some(rng, &[0, 1, 2]) } else { Vec::new() };
        let levels = if level_type == "sfc" { Vec::new() } else { some(rng, &[1, 5, 50, 100]) };
        let lacking = rng.below(4);
        let optional = |all: &[i64]| if all.is_empty() { vec![None] } else { all.iter().copied().map(Some).collect() };
        for date in &dates {
            for hour in &hours {
                for step in &steps {
                    for number in optional(&numbers) {
                        for level in optional(&levels) {
                            let (date, hour, step) = (*date, Some(*hour), *step);
                            if lacking > 0 || rng.below(3) > 0 {
                                found.insert(Field {
                                    name,
                                    level_type,
                                    class,
                                    points,
                                    date,
                                    hour,
                                    step,
                                    number,
                                    level,
                                });
                            }
                        }
                    }
                }
            }
        }
    }
    found.into_iter().collect()
}

/// Writes fields to a few files, in any order.
fn write(rng: &mut Rng, fields: &[Field], folder: &tempfile::TempDir) -> Vec<PathBuf> {
    let mut order: Vec<usize> = (0..fields.len()).collect();
    (1..order.len()).for_each(|at| order.swap(at, rng.below(at as u64 + 1) as usize));
    let files = 1 + rng.below(3);
    let mut parts = vec![Vec::new(); usize::try_from(files).unwrap()];
    for number in order {
        parts[rng.below(files) as usize].extend(fields[number].message(number as f64));
    }
    parts.retain(|part| !part.is_empty());
    let path = |(number, part): (usize, Vec<u8>)| {
        let path = folder.path().join(format!("{number}.tgm"));
        std::fs::write(&path, part).unwrap();
        path
    };
    parts.into_iter().enumerate().map(path).collect()
}

/// A field as a dataset has it: the number that is its value, and its labels.
fn found_of(dataset: &Dataset, variable: &Variable) -> Vec<(usize, Labels)> {
    let all: Vec<Indices> = variable.shape.iter().map(|len| Indices::all(*len)).collect();
    let values = dataset.read::<f64>(&variable.name, &all).unwrap();
    assert_eq!(values.len() as u64, variable.shape.iter().product::<u64>());
    let points = *variable.shape.last().unwrap() as usize;
    let scalars = dataset.coordinates.iter().filter(|it| it.dims.is_empty());
    let scalars: Labels = scalars.map(|it| (it.name.clone(), it.label_text(0))).collect();
    let levels = variable.attributes.iter().filter(|(key, _)| key == "isobaricInhPa" || key == "hybrid");
    let levels = levels.filter_map(|(key, it)| match it {
        Attribute::Float(level) => Some((key.clone(), Label::Float(tgm_dataset::Real(*level)).to_string())),
        _ => None,
    });
    let of_all: Labels = scalars.into_iter().chain(levels).collect();
    let mut found = Vec::new();
    for (place, value) in values.chunks(points).enumerate().filter(|(_, value)| !value[0].is_nan()) {
        let (mut labels, mut left) = (of_all.clone(), place);
        for (dim, len) in variable.dims.iter().zip(&variable.shape).rev().skip(1) {
            let at = left % *len as usize;
            labels.insert(dim.clone(), dataset.coordinate(dim).unwrap().label_text(at));
            left /= *len as usize;
        }
        found.push((value[0] as usize, labels));
    }
    found
}

/// The rules: each field stands once, at its labels, with its name and on its grid; all labels of a dimension are had by the fields of one
/// variable; with `exact`, of each.
fn check(datasets: &[Dataset], fields: &[Field], wanted: impl Fn(&Field) -> bool, join: Join) {
    let mut numbers = Vec::new();
    for dataset in datasets {
        let mut had: BTreeMap<&str, Vec<BTreeSet<String>>> = BTreeMap::new();
        let names: BTreeSet<&str> = dataset.variables.iter().map(|it| it.name.as_str()).collect();
        assert!(names.len() == dataset.variables.len() && !names.is_empty());
        for variable in &dataset.variables {
            let found = found_of(dataset, variable);
            for (number, labels) in &found {
                let field = &fields[*number];
                for (dim, label) in field.labels() {
                    assert_eq!(labels.get(&dim), Some(&label), "{dim} of {field:?}");
                }
                assert_eq!((variable.name.as_str(), variable.shape.last()), (field.name, Some(&field.points)));
                numbers.push(*number);
            }
            for dim in variable.dims.iter().rev().skip(1) {
                had.entry(dim).or_default().push(found.iter().map(|(_, labels)| labels[dim].clone()).collect());
            }
        }
        for (dim, sets) in had {
            let all = dataset.coordinate(dim).unwrap();
            let all: BTreeSet<String> = (0..all.values.len()).map(|at| all.label_text(at)).collect();
            assert!(sets.contains(&all), "{dim} has {all:?}, variables have {sets:?}");
            let is_same = |set: &BTreeSet<String>| *set == all || (set.len() == 1 && dim != "time" && dim != "step");
            assert!(join == Join::Widen || sets.iter().all(is_same), "{dim} has {all:?}, variables have {sets:?}");
        }
    }
    numbers.sort_unstable();
    let expected: Vec<usize> = (0..fields.len()).filter(|number| wanted(&fields[*number])).collect();
    assert_eq!(numbers, expected, "each field stands once");
    let objects = |dataset: &Dataset| dataset.variables.iter().map(Variable::object_count).sum::<usize>();
    assert!(datasets.windows(2).all(|pair| objects(&pair[0]) >= objects(&pair[1])), "the largest is the first");
    let left_out: usize = datasets[0].left_out.iter().map(|it| it.objects).sum();
    assert_eq!(left_out, expected.len() - objects(&datasets[0]));
}

/// What does not depend on the order of messages.
fn described(datasets: &[Dataset]) -> BTreeSet<String> {
    let variable = |it: &Variable| format!("{} {:?} {:?} {:?}", it.name, it.dims, it.shape, it.attributes);
    let one = |it: &Dataset| {
        let variables: Vec<String> = it.variables.iter().map(variable).collect();
        format!("{:?} {variables:?}", it.coordinates)
    };
    datasets.iter().map(one).collect()
}

#[test]
fn each_field_stands_once_at_its_labels_in_any_order() {
    let next = AtomicU64::new(0);
    let work = || {
        while let Some(seed) = Some(next.fetch_add(1, Relaxed)).filter(|seed| *seed < cases(300).into()) {
            let run = std::panic::catch_unwind(|| check_archive(seed));
            assert!(run.is_ok(), "seed {seed}");
        }
    };
    std::thread::scope(|scope| drop([(); 2].map(|()| scope.spawn(work))));
}

fn check_archive(seed: u64) {
    let rng = &mut Rng(seed);
    let fields = archive(rng);
    if fields.is_empty() {
        return;
    }
    let open = |rng: &mut Rng, options: &OpenOptions| {
        let folder = tempfile::tempdir().unwrap();
        let paths = write(rng, &fields, &folder);
        open_all(&paths, options).unwrap()
    };
    let options = OpenOptions { decode: DecodeOptions::default(), ..OpenOptions::default() };
    let datasets = open(rng, &options);
    check(&datasets, &fields, |_| true, Join::Widen);
    assert_eq!(described(&datasets), described(&open(rng, &options)), "another order of messages");
    let name = fields[rng.below(fields.len() as u64) as usize].name;
    let only = OpenOptions { only: vec![format!("mars.param={name}").parse().unwrap()], ..options.clone() };
    check(&open(rng, &only), &fields, |field| field.name == name, Join::Widen);
    let exact = OpenOptions { join: Join::Exact, ..options };
    check(&open(rng, &exact), &fields, |_| true, Join::Exact);
}
