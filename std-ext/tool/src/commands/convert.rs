//! `tgm convert`: files of other formats become Tensogram files, and those become files of other formats.
//!
//! | module | what it has |
//! |---|---|
//! | [`format`](mod@format) | what a row of a format has: names, suffixes, first bytes, what one file holds, and how it is read and written |
//! | [`formats`] | the table of formats |
//! | [`source`] | the bytes of an input of any kind |
//! | [`item`] | what readers hand on: a message, or arrays |
//! | [`effects`] | options that some formats have |
//! | [`losses`] | what is not kept |
//! | [`output`] | one file, or several, and what is written to them |
//! | `child` | the command in a process of its own, which a library of C may crash |
//! | `cubes` | fields of many messages as variables of NetCDF and Zarr |
//! | [`kerchunk`] | references to objects where they lie |
//! | `grib2`, [`arrays`], [`tgm`], `netcdf`, `tables`, `zarr` | a family of formats each |
//!
//! A new format takes a row in the file of its family, and a line in [`formats`].

mod arrays;
#[cfg(feature = "netcdf")]
mod child;
#[cfg(any(feature = "netcdf", feature = "zarr"))]
mod cubes;
mod effects;
mod format;
mod formats;
#[cfg(feature = "grib")]
mod grib2;
mod item;
mod kerchunk;
mod losses;
#[cfg(feature = "netcdf")]
mod netcdf;
mod output;
mod source;
#[cfg(any(feature = "netcdf", feature = "zarr"))]
mod store;
#[cfg(any(feature = "netcdf", feature = "zarr"))]
mod streamed;
#[cfg(feature = "arrow")]
mod tables;
mod tgm;
#[cfg(feature = "zarr")]
mod zarr;

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use tgm_std::{TensogramError, interrupt};

use crate::args::encode_flags::EncodeFlags;
use crate::args::files::usage;
use crate::args::pipeline_flags::PipelineFlags;
use crate::commands::convert::arrays::{ArrayFlags, NPY, RAW};
use crate::commands::convert::format::{Format, Holds, Reads, Writes};
pub(crate) use crate::commands::convert::formats::format_abilities;
use crate::commands::convert::item::{Item, Sink, Taken};
use crate::commands::convert::losses::Losses;
use crate::commands::convert::tgm::TGM;
use crate::commands::{Run, examples};
use crate::read::digests::Digests;
use crate::read::entry::Entry;
use crate::read::messages::expect_all;
use crate::read::select::Selection;
use crate::read::threads::thread_count;
use crate::show::output::Out;
use crate::write::destination::{Destination, Failure};
use tgm_std::file::SourceName;

/// The end of a file's name, if it is that of a format other than bare values and `.npy`.
pub(crate) fn other_format(path: &Path) -> Option<String> {
    let is_other = match Format::of_output(path) {
        Ok(format) => format.is_some_and(|format| format != RAW && format != NPY),
        Err(_) => formats::feature_of_name(path).is_some(),
    };
    path.extension().filter(|_| is_other).map(|ending| ending.to_string_lossy().into_owned())
}

/// Make files of other formats Tensogram files, and the other way round
///
/// A file of arrays becomes one message, and each array one object. Each GRIB message becomes one message,
/// and each field one object; encoded values stay as they are, where the format has their packing, and back, each message
/// gets its original bytes, if it was not edited. What cannot be carried over is listed. What cannot be read is reported
/// and left out.
///
/// Where OUT holds one array, several need several files: OUT is a folder then, or a name with `[index]`, which becomes a number of
/// four digits or more, or with `[name]`. Such names of formats that hold many arrays have a file for each message.
#[derive(Args, Debug)]
#[command(after_help = examples(&[
    ("tgm convert in.grib2 -o out.tgm", "GRIB fields become objects; their bits stay"),
    ("tgm convert in.grib2 --to tgm -o copy.tgm", "the same, with the format said"),
    ("tgm convert table.csv -o table.tgm --compression zstd", "a column becomes an object"),
    ("tgm convert field.tgm -o 'field_[index].npy'", "a file of numpy for each object"),
    ("tgm convert field.tgm -o field.npz --deflate", "all of them in one, with their names"),
    ("tgm convert table.csv --strict -o table.safetensors", "from one format to another, or nothing"),
]))]
pub(crate) struct Convert {
    /// Files or addresses to read; "-" is standard input
    #[arg(value_name = "IN", required = true)]
    paths: Vec<PathBuf>,
    /// The file to write; appears when it is complete; "-" is standard output
    #[arg(short, visible_short_alias = 'O', long, value_name = "OUT")]
    output: Destination,
    /// The format of all files; found by content if it is not given, and then by the end of the name
    #[arg(long, value_name = "FORMAT")]
    from: Option<Format>,
    /// The format to write; if it is not given, that of OUT's name; else tgm for other formats, and grib2 for tgm
    #[arg(long, value_name = "FORMAT")]
    to: Option<Format>,
    /// Whatever cannot be carried over is an error
    #[arg(long)]
    strict: bool,
    /// The key that names the variables or arrays that are written, of NetCDF and Zarr [default: name, mars.param and others]
    #[cfg(any(feature = "netcdf", feature = "zarr"))]
    #[arg(long, help_heading = crate::args::RARE, value_name = "KEY")]
    name_key: Option<String>,
    /// Integers of NetCDF and Zarr with a scale stay integers, with their attributes: smaller, and values for this tool, its datasets
    /// and converters alone
    #[cfg(any(feature = "netcdf", feature = "zarr"))]
    #[arg(long, help_heading = crate::args::RARE)]
    keep_packed: bool,
    #[cfg(any(feature = "netcdf", feature = "zarr"))]
    #[command(flatten)]
    store: store::StoreFlags,
    #[command(flatten)]
    arrays: ArrayFlags,
    #[cfg(feature = "grib")]
    #[command(flatten)]
    grib: grib2::GribFlags,
    #[cfg(feature = "netcdf")]
    #[command(flatten)]
    netcdf: netcdf::NetcdfFlags,
    #[cfg(any(feature = "netcdf", feature = "zarr"))]
    #[command(flatten)]
    cubes: cubes::CubeFlags,
    #[cfg(feature = "arrow")]
    #[command(flatten)]
    tables: tables::TableFlags,
    #[cfg(feature = "zarr")]
    #[command(flatten)]
    zarr: zarr::ZarrFlags,
    #[command(flatten)]
    pipeline: PipelineFlags,
    #[command(flatten)]
    encode: EncodeFlags,
    #[command(flatten)]
    digests: Digests,
    /// Which messages of GRIB and tgm; a message of GRIB is judged as the message that it becomes
    #[command(flatten)]
    selection: Selection,
    /// Add messages to OUT, a file of tgm, instead of replacing it; what was added before an error stays
    #[arg(long)]
    append: bool,
}

impl Run for Convert {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        if let Err(text) = self.pipeline.check(true) {
            usage(&text);
        }
        let named = match (self.to, self.output.path().map(Format::of_output)) {
            (Some(to), _) => Some(to),
            (None, Some(Err(text))) => usage(&text),
            (None, Some(Ok(named))) => named,
            (None, None) => None,
        };
        let mut refused = Vec::new();
        let known = |found: Result<_, _>| found.map_err(|text| refused.push(text)).ok();
        let mut found = self.paths.iter().map(|path| self.format_of(path, named)).filter_map(known);
        let Some(from) =
            found.find_map(|format| format.or_else(|| usage("the format of the input is not known: say --from")))
        else {
            for text in &refused {
                out.problem(text);
            }
            return Ok(());
        };
        if from == RAW && !self.arrays.has_form() {
            usage(arrays::UNDESCRIBED);
        }
        let to = named.unwrap_or_else(|| from.usual_target());
        if let Some(text) = from.refusal_of(to) {
            usage(text);
        }
        if let Some(text) = self.refusal_of_parts(from, to) {
            usage(text);
        }
        if let Some(text) = self.refusal_of_options(to) {
            usage(&text);
        }
        if to != TGM && !self.pipeline.is_empty() {
            usage("stages are for output in the format tgm");
        }
        #[cfg(any(feature = "netcdf", feature = "zarr"))]
        if self.keep_packed && self.pipeline.makes_floats() {
            usage("--keep-packed keeps integers, and stages that pack values or convert them do not go with it");
        }
        #[cfg(feature = "netcdf")]
        {
            let is_netcdf = |path: &PathBuf| netcdf::NETCDF.may_be_guessed(path);
            if (from == netcdf::NETCDF || self.paths.iter().any(is_netcdf)) && child::did_all(&self.paths, out) {
                return Ok(());
            }
        }
        expect_all(&self.paths);
        let mut losses = Losses::new(self.strict);
        match (from.0.reads, to.0.writes) {
            #[cfg(any(feature = "netcdf", feature = "zarr"))]
            (Reads::Pieces(read), _) if to == TGM => self.stream(read, out, &mut losses),
            (_, Writes::Whole(write)) => write(self, out, &mut losses),
            _ => self.write(out, to, &mut losses),
        }
        losses.print(out);
        self.pipeline.tell_rounding(out);
        Ok(())
    }
}

impl Convert {
    /// The format of a file. Without any sign, what `to` suggests.
    ///
    /// # Errors
    /// A sentence on a file that cannot be read, with its name.
    fn format_of(&self, path: &Path, to: Option<Format>) -> Result<Option<Format>, String> {
        let said = self.from.or_else(|| self.arrays.has_form().then_some(RAW));
        if let Some(format) = said.or_else(|| Format::of_folder(path)) {
            return Ok(Some(format));
        }
        let name = SourceName::of(path);
        let start = source::start(path).map_err(|error| format!("cannot read {name}\n{error}"))?;
        let found = Format::of_file(path, &start).map_err(|text| format!("{name}: {text}"))?;
        if let Some(format) = found.filter(|format| !format.may_be_guessed(path)) {
            let suffix = format.suffix();
            return Err(format!(
                "{name} begins like a file .{suffix}, which it is not called: --from says that it is one"
            ));
        }
        if found.is_none() && path.is_dir() {
            return Err(format!("{name} is a directory, and not one of a format that is read"));
        }
        Ok(found.or_else(|| to.and_then(Format::usual_source)))
    }

    /// Why `--where` or `--append` do not go with these formats.
    fn refusal_of_parts(&self, from: Format, to: Format) -> Option<&'static str> {
        if self.append && (to != TGM || from.is_streamed()) {
            return Some(
                "--append adds messages to a file of tgm, and inputs of NetCDF and Zarr need a file of their own",
            );
        }
        (!self.selection.is_empty() && (from.holds() != Holds::Messages || to.is_of_files())).then_some(
            "--where chooses messages of GRIB and tgm, for all formats but tables and references of kerchunk",
        )
    }

    /// Reads all files, one after the other, and hands the messages that the selection chooses to `sink`, as [`Self::read_all`] does.
    ///
    /// # Errors
    /// As there.
    fn read<M: Send>(
        &self,
        to: Format,
        out: &mut Out,
        losses: &mut Losses,
        sink: Sink<'_, '_, '_, M>,
    ) -> Result<(), Failure> {
        if self.selection.is_empty() {
            return self.read_all(to, out, losses, sink);
        }
        let Sink { make, take } = sink;
        let make = |item: Item<'_>| {
            let entry = Entry { file: item.place, index: item.number, offset: item.offset, bytes: &item.message };
            let is_chosen = self.selection.chooses(&entry, self.digests)?;
            Ok::<_, TensogramError>(is_chosen.then(|| make(item)))
        };
        let mut take = |out: &mut Out, losses: &mut Losses, place: &str, taken: Taken<'_, _>| match taken {
            Taken::Made(Ok(None)) => Ok(()),
            Taken::Made(Ok(Some(chosen))) => take(out, losses, place, Taken::Made(chosen)),
            Taken::Made(Err(error)) => {
                out.report(place, &error);
                Ok(())
            }
            Taken::Arrays(arrays) => take(out, losses, place, Taken::Arrays(arrays)),
        };
        self.read_all(to, out, losses, Sink { make: &make, take: &mut take })
    }

    /// Reads all files, one after the other, and hands what is in them to `sink`: messages are worked on by several threads. What
    /// cannot be read is reported.
    ///
    /// # Errors
    /// The errors of `sink`.
    fn read_all<M: Send>(
        &self,
        to: Format,
        out: &mut Out,
        losses: &mut Losses,
        sink: Sink<'_, '_, '_, M>,
    ) -> Result<(), Failure> {
        let Sink { make, take } = sink;
        // A program that calls the library may end the command between messages.
        let mut take = |out: &mut Out, losses: &mut Losses, place: &str, taken: Taken<'_, _>| {
            interrupt::check().map_err(Failure::at(place))?;
            take(out, losses, place, taken)
        };
        let (sink, threads) = (&mut Sink { make, take: &mut take }, thread_count(self.encode.threads()));
        let problems = out.problem_count();
        for path in &self.paths {
            let name = SourceName::of(path);
            match self.format_of(path, Some(to)) {
                Err(text) => out.problem(&text),
                Ok(None) => out.problem(&format!("{name}: the format of the input is not known: say --from")),
                Ok(Some(from)) if let Some(text) = from.refusal_of(to).or_else(|| self.refusal_of_parts(from, to)) => {
                    out.problem(&format!("{name}: {text}"));
                }
                Ok(Some(from)) => match from.0.reads {
                    Reads::Messages => tgm::read(path, (&self.selection, self.digests, threads), out, losses, sink)?,
                    #[cfg(feature = "grib")]
                    Reads::Grib => {
                        let options = self.grib.options(self.strict);
                        grib2::read(path, (&options, threads), out, losses, sink)?;
                    }
                    #[cfg(any(feature = "netcdf", feature = "zarr"))]
                    Reads::Pieces(read) => self.read_streamed(read, path, out, losses, sink)?,
                    Reads::Arrays(read) => arrays::read((from, read), path, self, out, losses, sink)?,
                    // It was refused.
                    Reads::Not(_) => {}
                },
            }
        }
        losses.check(&self.output, out.problem_count() - problems)
    }
}
