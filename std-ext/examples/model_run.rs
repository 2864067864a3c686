//! A model run that appends one message a step, with NaN where it has no value, while a reader follows it.
//!
//! Readers see whole messages or none. `sync` makes sure that a message is on disk before the next step begins.

use tgm_std::{AppendOptions, MessageBuilder, ObjectBuilder, Result, TensogramFile, read};

const SHAPE: [u64; 2] = [18, 36];
const STEPS: u8 = 4;

/// Sea surface temperature in kelvin: NaN over land.
fn sea_surface(step: u8) -> Vec<f64> {
    let is_land = |i: u32| i.is_multiple_of(7);
    (0..18 * 36).map(|i| if is_land(i) { f64::NAN } else { 280.0 + f64::from(i) / 50.0 + f64::from(step) }).collect()
}

/// Writes four steps and reads them again.
pub fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("run.tgm");

    let mut run = TensogramFile::create(&path)?;
    let durable = AppendOptions { sync: true, ..AppendOptions::default() };
    for step in 0..STEPS {
        let sst = sea_surface(step);
        let field = ObjectBuilder::new(&SHAPE, &sst)?
            .metadata("mars.param", "sst")
            .metadata("mars.step", step)
            .simple_packing_of_finite_within(0.01)? // NaN does not count
            .szip();
        MessageBuilder::new().extra("run", "2026-01-01T00").object(field).allow_nan().append_to(&mut run, &durable)?;

        // Another process may read at any time.
        let reader = TensogramFile::open(&path)?;
        assert_eq!(reader.message_count()?, usize::from(step) + 1);
    }

    let reader = TensogramFile::open(&path)?;
    for step in 0..STEPS {
        let bytes = reader.read_message(step.into())?;
        tgm_std::check_message(&bytes)?;
        let message = tgm_std::core::Message::parse(&bytes)?;
        assert_eq!(message.metadata()?.get_u64("mars.step")?, Some(step.into()));
        let found = read(&message.object(0)?).values::<f64>()?;
        for (found, written) in found.iter().zip(sea_surface(step)) {
            assert!((found - written).abs() <= 0.01 || (found.is_nan() && written.is_nan()));
        }
        println!("step {step}: {} bytes, {} values", bytes.len(), found.len());
    }
    Ok(())
}
