//! Fields as variables of many dimensions: what is gathered for NetCDF and Zarr.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use tgm_dataset::{Dataset, OpenOptions, Profile, open_all};
use tgm_grid::KnownPoints;
use tgm_std::file::SourceName;
use tgm_std::{DecodeOptions, TensogramError};

use super::Convert;
use super::effects::Effect;
use super::format::Format;
use super::item::{Item, Sink, Taken};
use super::losses::Losses;
use crate::args::RARE;
use crate::args::cube::read_grid;
use crate::read::threads::thread_count;
use crate::show::output::Out;
use crate::write::destination::Failure;
use tgm_std::file::replace::Temporary;

/// Flags for formats of variables with many dimensions.
#[derive(Args, Debug)]
#[command(next_help_heading = "NetCDF and Zarr")]
pub(super) struct CubeFlags {
    /// What becomes a variable: all fields of one kind, over time, step, level and the like, or each object
    #[arg(long, value_name = "WHAT", default_value = "cube")]
    variables: Variables,
    /// Write packed fields as float64; without it they are float32, where that tells all packed numbers apart
    #[arg(long, help_heading = RARE)]
    float64: bool,
    /// A file with the coordinates of an unstructured grid, as fields of ICON and ORCA name: NetCDF, .npz or messages
    #[arg(long, value_name = "FILE")]
    grid: Option<PathBuf>,
}

/// What becomes a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Variables {
    Cube,
    Object,
}

impl CubeFlags {
    /// What the flags have an effect on.
    pub(super) fn effects(&self) -> [Effect; 3] {
        let of = |option, is_given| Effect::of_writing(option, is_given, Format::is_streamed);
        [
            of("--variables", self.variables == Variables::Object),
            of("--float64", self.float64),
            of("--grid", self.grid.is_some()),
        ]
    }

    /// Whether packed values keep 64 bits.
    pub(super) const fn float64(&self) -> bool {
        self.float64
    }
}

/// A message for a file of variables.
pub(super) struct Gathered {
    pub(super) bytes: Vec<u8>,
    /// Whether it holds fields, which may become variables together.
    has_fields: bool,
}

impl Gathered {
    /// The message of an item.
    pub(super) fn new(item: Item<'_>) -> Self {
        // What cannot be read is reported by who writes it.
        let has_fields = tgm_convert::is_of_fields(&item.message).unwrap_or(false);
        Self { bytes: item.message.into_owned(), has_fields }
    }
}

/// Messages of fields, gathered in a file: a variable can be defined when all of its fields are known.
pub(super) struct Fields {
    /// The folder of the file. `None` if each object becomes a variable.
    beside: Option<PathBuf>,
    held: Option<(Temporary, BufWriter<File>)>,
}

impl Fields {
    /// Takes a message, if it holds fields that become variables together. Returns whether it did.
    ///
    /// # Errors
    /// The errors of writing the file.
    pub(super) fn take(&mut self, message: &Gathered) -> Result<bool, Failure> {
        let Some(beside) = self.beside.as_ref().filter(|_| message.has_fields) else { return Ok(false) };
        let (temporary, mut sink) = if let Some(held) = self.held.take() {
            held
        } else {
            let temporary = Temporary::with_name(beside)?;
            let file = temporary.file().try_clone()?;
            (temporary, BufWriter::new(file))
        };
        sink.write_all(&message.bytes)?;
        self.held = Some((temporary, sink));
        Ok(true)
    }

    /// The datasets of what was taken.
    ///
    /// # Errors
    /// The errors of writing and reading the file; two fields for one place.
    fn open(
        &mut self,
        called: &str,
        (decode, grid): (DecodeOptions, Option<Arc<KnownPoints>>),
    ) -> Result<Vec<Dataset>, Failure> {
        let Some((temporary, sink)) = &mut self.held else { return Ok(Vec::new()) };
        sink.flush()?;
        let Some(path) = temporary.name() else { return Err(std::io::Error::other("a file has no name").into()) };
        let options = OpenOptions {
            profile: Profile::Mars,
            list_unused: true,
            called: Some(called.to_string()),
            decode,
            grid,
            ..OpenOptions::default()
        };
        open_all(&[path], &options).map_err(|error| match error {
            TensogramError::Metadata(reason) => {
                Failure::said(called, format!("{reason}\n`--variables object` makes a variable of each field"))
            }
            other => Failure::At(called.to_string(), other),
        })
    }
}

/// What is done with a message of a place.
type WithMessage<'w> = dyn FnMut(&mut Out, &mut Losses, &str, &[u8]) -> Result<(), Failure> + 'w;

impl Convert {
    /// Reads all files, and calls `with` for each message that is not taken by `fields`. Returns how many there are in all.
    ///
    /// # Errors
    /// The errors of reading and writing; what `with` reports.
    pub(super) fn read_gathered(
        &self,
        to: Format,
        (fields, out, losses): (&mut Fields, &mut Out, &mut Losses),
        with: &mut WithMessage<'_>,
    ) -> Result<usize, Failure> {
        let mut count = 0;
        let mut take = |out: &mut Out, losses: &mut Losses, place: &str, taken: Taken<'_, Gathered>| {
            count += 1;
            match taken {
                Taken::Made(message) if fields.take(&message)? => Ok(()),
                Taken::Made(message) => with(out, losses, place, &message.bytes),
                Taken::Arrays(arrays) => {
                    let message = arrays.encode(&self.encode.options_with_masks()).map_err(Failure::at(place))?;
                    with(out, losses, place, &message)
                }
            }
        };
        self.read(to, out, losses, Sink { make: &Gathered::new, take: &mut take })?;
        Ok(count)
    }

    /// Where fields are gathered, if they become variables together: beside the output.
    pub(super) fn fields(&self) -> Fields {
        // Other keys name objects, which are then variables of their own.
        let is_wanted = self.cubes.variables == Variables::Cube && self.name_key.is_none();
        Fields { beside: is_wanted.then(|| self.output.folder()), held: None }
    }

    /// What the inputs are called, where they are not told apart.
    pub(super) fn called(&self) -> String {
        let first = self.paths.first().map(|path| SourceName::of(path).to_string()).unwrap_or_default();
        match self.paths.len() {
            0 | 1 => first,
            count => format!("{first} and {} more", count - 1),
        }
    }

    /// The datasets of the fields that were gathered.
    ///
    /// # Errors
    /// The errors of writing and reading; two fields for one place.
    pub(super) fn datasets(&self, fields: &mut Fields) -> Result<Vec<Dataset>, Failure> {
        let called = self.called();
        // Digests were checked, or are ignored, when the messages were taken.
        let grid = self.cubes.grid.as_deref().map(read_grid).transpose().map_err(Failure::at("--grid"))?;
        if grid.is_some() && fields.held.is_none() {
            return Err(Failure::said(
                "--grid",
                "there are no fields that become variables together, which it gives places",
            ));
        }
        fields.open(&called, (DecodeOptions { verify_metadata: false, ..self.decode_options() }, grid))
    }

    /// Options for decoding, on all threads that the flags allow.
    pub(super) fn decode_options(&self) -> DecodeOptions {
        DecodeOptions { threads: self.threads(), ..DecodeOptions::default() }
    }

    /// All threads that the flags allow, for options of the library.
    pub(super) fn threads(&self) -> u32 {
        u32::try_from(thread_count(self.encode.threads())).unwrap_or(1)
    }
}
