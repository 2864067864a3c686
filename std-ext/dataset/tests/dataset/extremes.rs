//! Extremes of whole numbers of 64 bits are exact, whatever is reduced and however it is weighed.

use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_dataset::{Computed, Indices, Reduction, Statistic, on_all_cores};
use tgm_std::deps::ciborium::Value;
use tgm_std::{DataObjectDescriptor, MessageBuilder, ObjectBuilder};

use crate::rng::Rng;
use crate::{Archive, map};

/// Two rows of latitude, three columns, and a dimension in front of them.
const SHAPE: [u64; 3] = [4, 2, 3];

fn texts(all: &[&str]) -> Value {
    Value::Array(all.iter().map(|text| (*text).into()).collect())
}

/// Numbers `v` on a grid. One of them is missing if it equals the fill value.
fn on_grid(numbers: &[i128], dtype: Dtype, fill: Option<i64>) -> Archive {
    // Both types have the same bits.
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes().into_iter().take(8)).collect();
    let v = ObjectBuilder::from_parts(DataObjectDescriptor::new(dtype, ByteOrder::Little, &SHAPE), bytes);
    let mut v = v.metadata("name", "v").metadata("dimensions", texts(&["n", "lat", "lon"]));
    if let Some(fill) = fill {
        v = v.metadata("attributes", map(&[("_FillValue", fill.into())]));
    }
    let axis = |name: &str, values: &[f64], units: &str| {
        let object = ObjectBuilder::new(&[values.len() as u64], values).unwrap().metadata("name", name);
        object
            .metadata("dimensions", texts(&[name]))
            .metadata("attributes", map(&[("units", units.into())]))
            .into_owned()
            .unwrap()
    };
    let lat = axis("lat", &[30.0, -30.0], "degrees_north");
    let lon = axis("lon", &[0.0, 120.0, 240.0], "degrees_east");
    Archive::new(&[MessageBuilder::new().object(v).object(lat).object(lon).encode().unwrap()])
}

/// The least and the greatest of each place that the dimensions in `mask` leave.
fn plain(numbers: &[i128], fill: Option<i64>, mask: usize) -> (Vec<Option<i128>>, Vec<Option<i128>>) {
    let mut places: std::collections::BTreeMap<Vec<usize>, Vec<i128>> = std::collections::BTreeMap::new();
    for (at, number) in numbers.iter().enumerate() {
        let index = [at / 6, at / 3 % 2, at % 3];
        let place = (0..3).filter(|dim| mask >> dim & 1 == 0).map(|dim| index[dim]).collect();
        let place = places.entry(place).or_default();
        if fill.map(i128::from) != Some(*number) {
            place.push(*number);
        }
    }
    let extreme = |of: fn(std::vec::IntoIter<i128>) -> Option<i128>| {
        places.values().map(|place| of(place.clone().into_iter())).collect()
    };
    (extreme(Iterator::min), extreme(Iterator::max))
}

#[test]
fn extremes_of_whole_numbers_of_64_bits_are_exact_by_every_route() {
    let (mut rng, all) = (Rng(61), SHAPE.map(Indices::all));
    for round in 0..60 {
        let dtype = if round % 2 == 0 { Dtype::Int64 } else { Dtype::Uint64 };
        let fill = (dtype == Dtype::Int64 && round % 3 != 0).then_some(-7);
        // Beside the ends of the types, where float64 rounds all of them to few numbers.
        let number = |rng: &mut Rng| match (dtype, rng.below(4)) {
            (Dtype::Int64, 0) => i128::from(i64::MIN) + i128::from(rng.below(9)),
            (Dtype::Int64, 1) if fill.is_some() => -7,
            (Dtype::Int64, _) => i128::from(i64::MAX) - i128::from(rng.below(9)),
            _ => i128::from(u64::MAX) - i128::from(rng.below(9)),
        };
        let numbers: Vec<i128> = (0..SHAPE.iter().product()).map(|_: u64| number(&mut rng)).collect();
        let dataset = on_grid(&numbers, dtype, fill).open().unwrap();
        for mask in 0..8 {
            let over = |dim: &usize| mask >> dim & 1 == 1;
            let over: Vec<&str> = (0..3).filter(over).map(|dim| ["n", "lat", "lon"][dim]).collect();
            let expected = plain(&numbers, fill, mask);
            let found = dataset.reduce("v", &all, &over, &Statistic::ALL, &on_all_cores()).unwrap();
            let extremes = (found.integers(Statistic::Min).unwrap(), found.integers(Statistic::Max).unwrap());
            assert_eq!(extremes, expected, "{round} {over:?}");
            assert_eq!(found.integers(Statistic::Mean), None);
            if over.contains(&"lat") {
                let found = dataset.reduce_weighted("v", &all, &over, &on_all_cores()).unwrap();
                let extremes = (found.integers(Statistic::Min).unwrap(), found.integers(Statistic::Max).unwrap());
                assert_eq!(extremes, expected, "weighed: {round} {over:?}");
            }
        }
    }
}

#[test]
fn extremes_are_written_as_numbers_of_their_type() {
    let numbers: Vec<i128> = (0..24).map(|at| i128::from(i64::MAX) - at).collect();
    let dataset = on_grid(&numbers, Dtype::Int64, None).open().unwrap();
    let computed = |integers: Vec<Option<i128>>| {
        let values = vec![0.0; integers.len()];
        let integers = Some(integers);
        let result = Computed { name: "v".into(), values, integers, method: "minimum".into(), units: None };
        let all = Reduction { variable: "v", selectors: &[], over: &["lat", "lon"], results: &[result] };
        dataset.computed(&[all]).map(|message| Archive::new(&[message.encode().unwrap()]).open().unwrap())
    };
    let written = computed((0..4).map(|at| Some(i128::from(i64::MAX) - at)).collect()).unwrap();
    let expected: Vec<i64> = (0..4).map(|at| i64::MAX - at).collect();
    assert_eq!(written.read::<i64>("v", &[Indices::all(4)]).unwrap(), expected);
    // Only floats have a place without a value.
    let floats = computed(vec![Some(1), None, Some(2), Some(3)]).unwrap();
    assert_eq!(floats.variable("v").unwrap().dtype(), Some(Dtype::Float64));
    let error = computed(vec![Some(i128::from(i64::MAX)), None, Some(2), Some(3)]).unwrap_err().to_string();
    assert!(error.contains("float64"), "{error}");
}
