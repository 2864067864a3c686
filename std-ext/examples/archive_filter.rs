//! A mapped archive: finds the fields that a filter on metadata selects, and reads those alone.
//!
//! Metadata is read where it lies in the map. No payload byte of the fields that are not selected is touched. The filter here
//! is Rust code. [`MappedFile::query`] takes a filter as text.
#![allow(clippy::cast_precision_loss, reason = "a mean need not be exact")]

use tgm_std::{DecodeOptions, MappedFile, metadata, read};

/// What the filter asks about. Other keys of the metadata are ignored.
#[derive(serde::Deserialize)]
struct About {
    mars: Option<Mars>,
}

#[derive(serde::Deserialize)]
struct Mars {
    param: String,
    levtype: String,
}

impl About {
    fn is_wanted(&self) -> bool {
        self.mars.as_ref().is_some_and(|mars| mars.levtype == "sfc" && ["2t", "u"].contains(&mars.param.as_str()))
    }
}

/// Finds two fields in two files and prints their means.
pub fn main() -> tgm_std::Result<()> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/realistic");
    let options = DecodeOptions::default();
    let mut found = Vec::new();
    for name in ["surface-181x360.tgm", "pl-levels.tgm"] {
        // SAFETY: no program truncates the archive or writes into it while it is mapped.
        #[allow(unsafe_code, reason = "a memory map is a promise of the caller")]
        let archive = unsafe { MappedFile::open(format!("{folder}/{name}")) }?;
        for number in 0..archive.message_count() {
            let message = archive.message(number)?;
            for (index, about) in message.metadata()?.objects().enumerate() {
                let about: About = metadata::deserialize(&about?)?;
                if !about.is_wanted() {
                    continue;
                }
                let values = read(&message.object(index)?).options(&options).values::<f64>()?;
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                let param = about.mars.map(|mars| mars.param).unwrap_or_default();
                println!("{name}: message {number}, object {index}: {param}, {} values, mean {mean:.2}", values.len());
                found.push((param, values.len()));
            }
        }
    }
    assert_eq!(found.len(), 2);
    assert_eq!(found[0], ("2t".to_string(), 181 * 360));
    assert_eq!(found[1].0, "u");
    Ok(())
}
