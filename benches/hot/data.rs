//! Data of the benches, the same in every run.

use tgm_std::{MessageBuilder, ObjectBuilder};

/// Elements of a large object: its values take 2 MiB as f64, which fits the second cache of one core.
pub(crate) const LARGE: usize = 1 << 18;

/// Says how an object is stored.
pub(crate) type Pipeline = fn(ObjectBuilder<'_>) -> ObjectBuilder<'_>;

/// A field like temperature: waves of several lengths, and noise of some hundredths of a kelvin.
pub(crate) fn field(count: usize) -> Vec<f64> {
    let mut state = 7_u32;
    let mut value = |index: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (x, noise) = (f64::from(index), f64::from(state >> 16) / 65_536.0);
        273.0 + 22.0 * (x / 230.0).sin() + 7.0 * (x / 46_000.0).cos() + 0.05 * noise
    };
    (0..).map(&mut value).take(count).collect()
}

/// An object of these values, `make` says how it is stored.
pub(crate) fn message(values: &[f64], make: impl FnOnce(ObjectBuilder<'_>) -> ObjectBuilder<'_>) -> Vec<u8> {
    let object = ObjectBuilder::new(&[values.len() as u64], values).unwrap();
    MessageBuilder::new().object(make(object)).encode().unwrap()
}

/// A message of `count` objects of 64 values. Each has the metadata of a weather field.
pub(crate) fn small_objects(count: u32) -> Vec<u8> {
    let values = field(64);
    let objects = (0..count).map(|index| {
        ObjectBuilder::new(&[64], &values)
            .unwrap()
            .metadata("mars.class", "od")
            .metadata("mars.date", "20260401")
            .metadata("mars.levtype", "pl")
            .metadata("mars.param", "2t")
            .metadata("mars.step", index)
    });
    objects.fold(MessageBuilder::new(), MessageBuilder::object).encode().unwrap()
}
