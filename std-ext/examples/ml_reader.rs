//! A reader for machine learning: samples from a file into one array that was allocated before, on several threads.
//!
//! Whatever type a field has in the file, the array gets `f32`. Each thread keeps one `Scratch`, so that no memory is
//! allocated per field once it is large enough.
#![allow(clippy::cast_precision_loss, reason = "small numbers")]

use std::num::NonZero;
use std::thread;

use tgm_std::{AppendOptions, DecodeOptions, MessageBuilder, ObjectBuilder, Result, Scratch, TensogramFile, read};

const SAMPLES: usize = 12;
const SHAPE: [u64; 2] = [32, 64];
const VALUES: usize = 32 * 64;

/// Reads all samples of a file into one array.
pub fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("samples.tgm");
    write_samples(&path)?;

    // Any number of threads read through one file, without a lock.
    let file = TensogramFile::open(&path)?;
    assert_eq!(file.message_count()?, SAMPLES);
    let mut batch = vec![0.0_f32; SAMPLES * VALUES];
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(SAMPLES);
    let share = SAMPLES.div_ceil(threads);
    thread::scope(|scope| {
        let readers = batch.chunks_mut(share * VALUES).enumerate().map(|(reader, part)| {
            let file = &file;
            scope.spawn(move || fill(file, reader * share, part))
        });
        // All of them run before the first is waited for.
        readers.collect::<Vec<_>>().into_iter().try_for_each(|reader| reader.join().expect("no reader panics"))
    })?;

    for (number, sample) in batch.chunks(VALUES).enumerate() {
        let expected = number as f32 + 7.0 / 8.0;
        assert!((sample[7] - expected).abs() < 0.001, "sample {number}: {} is not {expected}", sample[7]);
    }
    println!("{SAMPLES} samples of {VALUES} values on {threads} threads");
    Ok(())
}

/// Reads messages from `first` on, one sample each, until `part` is full.
fn fill(file: &TensogramFile, first: usize, part: &mut [f32]) -> Result<()> {
    let options = DecodeOptions { verify_hash: true, ..DecodeOptions::default() };
    let mut scratch = Scratch::default();
    for (number, sample) in (first..).zip(part.chunks_mut(VALUES)) {
        let bytes = file.read_message(number)?;
        let object = tgm_std::core::Message::parse(&bytes)?.object(0)?;
        read(&object).options(&options).scratch(&mut scratch).values_into(sample)?;
    }
    Ok(())
}

/// Samples of two kinds: packed ones, and `f32` as they are.
fn write_samples(path: &std::path::Path) -> Result<()> {
    let mut file = TensogramFile::create(path)?;
    for number in 0..SAMPLES {
        let values: Vec<f32> = (0..VALUES).map(|i| number as f32 + (i % 8) as f32 / 8.0).collect();
        let sample = ObjectBuilder::new(&SHAPE, &values)?;
        let sample = if number % 2 == 0 { sample.simple_packing(16).szip() } else { sample };
        file.append_message(&MessageBuilder::new().object(sample).encode()?, &AppendOptions::default())?;
    }
    Ok(())
}
