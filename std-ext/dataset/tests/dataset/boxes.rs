//! Boxes of variables, against the values that were written.

use std::num::NonZeroU64;

use tgm_dataset::{Indices, OpenOptions, open};
use tgm_std::deps::ciborium::Value;
use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder};

use crate::{Archive, map};

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn indices(&mut self, len: u64) -> Indices {
        match self.below(4) {
            0 => Indices::Index(self.below(len)),
            1 => Indices::Range { start: 0, count: len, step: NonZeroU64::MIN },
            2 => {
                let (start, step) = (self.below(len), NonZeroU64::new(1 + self.below(3)).unwrap());
                Indices::Range { start, count: self.below((len - start).div_ceil(step.get()) + 1), step }
            }
            _ => Indices::List((0..self.below(5)).map(|_| self.below(len)).collect()),
        }
    }
}

fn list(indices: &Indices) -> Vec<u64> {
    match indices {
        Indices::Index(index) => vec![*index],
        Indices::Range { start, count, step } => (0..*count).map(|number| start + number * step.get()).collect(),
        Indices::List(list) => list.clone(),
    }
}

/// Steps and members, each a field, and one of them missing.
fn fields() -> Archive {
    let mut messages = Vec::new();
    for step in 0..3_u16 {
        for member in 0..4_u16 {
            if (step, member) == (1, 2) {
                continue;
            }
            let values: Vec<f32> = (0..30).map(|number| f32::from((member * 3 + step) * 30 + number)).collect();
            let mars = [("param", "t".into()), ("step", step.into()), ("number", member.into())];
            let object = ObjectBuilder::new(&[5, 6], &values).unwrap().metadata("mars", map(&mars)).shuffle().lz4();
            messages.push(MessageBuilder::new().object(object).encode().unwrap());
        }
    }
    Archive::new(&messages)
}

/// One array of 12 × 5 × 6 in chunks of 5 × 2 × 6, with one of them missing: another way for the same values.
fn chunks() -> Archive {
    let entry = |numbers: &[u64]| Value::Array(numbers.iter().map(|number| Value::from(*number)).collect());
    let shape = [12, 5, 6];
    let grid = map(&[("name", "regular".into()), ("configuration", map(&[("chunk_shape", entry(&[5, 2, 6]))]))]);
    let array = map(&[("shape", entry(&shape)), ("chunk_grid", grid), ("fill_value", "NaN".into())]);
    let origins = (0..3_u64).flat_map(|a| (0..3_u64).map(move |b| (a * 5, b * 2)));
    let chunks: Vec<_> = origins
        .filter(|origin| *origin != (5, 2))
        .map(|(a, b)| {
            let (rows, columns) = ((12 - a).min(5), (5 - b).min(2));
            let places =
                (0..rows * columns * 6).map(|place| (a + place / (columns * 6), b + place / 6 % columns, place % 6));
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let values: Vec<f32> = places.map(|(row, column, last)| ((row * 5 + column) * 6 + last) as f32).collect();
            ((a, b), (rows, columns), values)
        })
        .collect();
    let mut message = MessageBuilder::new().extra("zarr", map(&[("path", "t".into()), ("array", array)]));
    for ((a, b), (rows, columns), values) in &chunks {
        let object = ObjectBuilder::new(&[*rows, *columns, 6], values).unwrap();
        message =
            message.object(object.metadata("name", "t").metadata("zarr", map(&[("origin", entry(&[*a, *b, 0]))])));
    }
    Archive::new(&[message.encode().unwrap()])
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn any_box_has_the_values_that_were_written() {
    let archive = fields();
    let dataset = archive.open().unwrap();
    let t = dataset.variable("t").unwrap();
    // Members come before steps.
    assert_eq!(t.shape, [4, 3, 5, 6]);
    let mut random = Random(1);
    for _ in 0..300 {
        let indices: Vec<Indices> = t.shape.iter().map(|len| random.indices(*len)).collect();
        let found = dataset.read::<f32>("t", &indices).unwrap();
        let lists: Vec<Vec<u64>> = indices.iter().map(list).collect();
        let mut values = Vec::new();
        for (member, step) in lists[0].iter().flat_map(|a| lists[1].iter().map(move |b| (a, b))) {
            for (row, column) in lists[2].iter().flat_map(|c| lists[3].iter().map(move |d| (c, d))) {
                #[expect(clippy::cast_precision_loss, reason = "small numbers")]
                let value = ((member * 3 + step) * 30 + row * 6 + column) as f32;
                values.push(if (*member, *step) == (2, 1) { f32::NAN } else { value });
            }
        }
        assert_eq!(bits(&found), bits(&values), "{indices:?}");
    }
}

#[test]
fn any_box_of_chunks_has_the_values_that_were_written() {
    let archive = chunks();
    let dataset = archive.open().unwrap();
    let mut random = Random(2);
    let shape = dataset.variable("t").unwrap().shape.clone();
    assert_eq!(shape, [12, 5, 6]);
    for threads in [1, 3] {
        let options = DecodeOptions { threads, parallel_threshold_bytes: Some(0), ..DecodeOptions::default() };
        for _ in 0..200 {
            let indices: Vec<Indices> = shape.iter().map(|len| random.indices(*len)).collect();
            let count: u64 = indices.iter().map(Indices::count).product();
            let mut out = vec![0_u8; usize::try_from(count).unwrap() * 4];
            dataset.read_into("t", &indices, &options, &mut out).unwrap();
            let found: Vec<u32> = out.as_chunks::<4>().0.iter().map(|bytes| u32::from_ne_bytes(*bytes)).collect();
            let lists: Vec<Vec<u64>> = indices.iter().map(list).collect();
            let mut values = Vec::new();
            for (a, b) in lists[0].iter().flat_map(|a| lists[1].iter().map(move |b| (*a, *b))) {
                let is_hole = (5..10).contains(&a) && (2..4).contains(&b);
                #[expect(clippy::cast_precision_loss, reason = "small numbers")]
                let value = |c: &u64| if is_hole { f32::NAN } else { ((a * 5 + b) * 6 + c) as f32 };
                values.extend(lists[2].iter().map(value));
            }
            assert_eq!(found, bits(&values), "{indices:?}");
        }
    }
}

/// Objects that are read in part: 320 KB each, and several in a message.
#[test]
fn parts_of_long_objects_have_the_values_that_were_written() {
    let long = |step: u32| (0..40_000).map(|place| f64::from(step * 40_000 + place)).collect::<Vec<f64>>();
    let values = [0, 1, 2].map(long);
    let mut messages = Vec::new();
    for steps in [&[0_usize, 2][..], &[1]] {
        let mut message = MessageBuilder::new();
        for step in steps {
            let object = ObjectBuilder::new(&[200, 200], &values[*step]).unwrap();
            let step = u8::try_from(*step).unwrap();
            message = message.object(object.metadata("param", "t").metadata("step", step));
        }
        messages.push(message.encode().unwrap());
    }
    let archive = Archive::new(&messages);
    let dataset = archive.open().unwrap();
    let mut random = Random(3);
    for _ in 0..50 {
        let indices: Vec<Indices> = [3, 200, 200].map(|len| random.indices(len)).to_vec();
        let found = dataset.read::<f64>("t", &indices).unwrap();
        let lists: Vec<Vec<u64>> = indices.iter().map(list).collect();
        let rows = lists[0].iter().flat_map(|step| lists[1].iter().map(move |row| step * 40_000 + row * 200));
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let values = rows.flat_map(|row| lists[2].iter().map(move |column| (row + column) as f64));
        assert!(found.into_iter().eq(values), "{indices:?}");
    }
}

#[test]
fn holes_of_integers_are_floats_a_fill_value_or_an_error() {
    let message = |param: &str, step: u8, wide: bool| {
        let mars = map(&[("param", param.into()), ("step", step.into())]);
        let object = if wide { ObjectBuilder::new(&[2], &[7_i64, 8]) } else { ObjectBuilder::new(&[2], &[7_i16, 8]) };
        MessageBuilder::new().object(object.unwrap().metadata("mars", mars)).encode().unwrap()
    };
    let archive =
        Archive::new(&[message("a", 0, true), message("a", 1, true), message("b", 1, true), message("c", 0, false)]);
    let dataset = archive.open().unwrap();
    let all = [Indices::List(vec![0, 1]), Indices::Index(1)];
    assert_eq!(dataset.read::<i64>("a", &all).unwrap(), [8, 8]);
    let widened = dataset.read::<f64>("c", &all).unwrap();
    assert!((widened[0] - 8.0).abs() < 1e-9 && widened[1].is_nan());
    let error = dataset.read::<i64>("b", &all).unwrap_err().to_string();
    assert!(error.contains("b: a place has no object") && error.contains("fill value"), "{error}");
    let options = OpenOptions { fill: vec![("b".into(), -1.0), ("c".into(), -1.0)], ..OpenOptions::default() };
    let filled = open(&[archive.path()], &options).unwrap();
    assert_eq!(filled.read::<i64>("b", &all).unwrap(), [-1, 8]);
    assert_eq!(filled.read::<i16>("c", &all).unwrap(), [8, -1]);
}

#[test]
fn what_does_not_fit_is_an_error() {
    let archive = fields();
    let dataset = archive.open().unwrap();
    let indices = |last| [Indices::Index(0), Indices::Index(0), Indices::Index(0), Indices::Index(last)];
    assert!(dataset.read::<f32>("t", &indices(5)).is_ok());
    for (error, part) in [
        (dataset.read::<f32>("t", &indices(6)).unwrap_err(), "beyond its dimension"),
        (dataset.read::<f32>("t", &indices(0)[..3]).unwrap_err(), "3 picks for 4"),
        (dataset.read::<f64>("t", &indices(0)).unwrap_err(), "8 bytes"),
        (dataset.read::<f32>("q", &indices(0)).unwrap_err(), "q"),
        (dataset.read_into("t", &indices(0), &DecodeOptions::default(), &mut [0; 3]).unwrap_err(), "3 bytes"),
    ] {
        assert!(error.to_string().contains(part), "{error}");
    }
    // A file that is cut while it is open.
    std::fs::write(archive.path(), [0; 100]).unwrap();
    let error = dataset.read::<f32>("t", &indices(0)).unwrap_err().to_string();
    assert!(error.contains("a.tgm"), "{error}");
}
