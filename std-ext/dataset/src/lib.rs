//! An archive is a dataset: n-dimensional variables over many messages.
//!
//! [`open`] reads the metadata of all objects, and no payload. Objects of one kind become a **cube**: its dimensions are the
//! keys of metadata whose values differ, such as steps and levels, and after them the dimensions of the grid. Keys that do not
//! differ become attributes. Cubes that share their grid and their labels make a [`Dataset`]. What does not fit is listed in
//! [`Dataset::left_out`], and [`open_all`] makes datasets of it too. [`Dataset::read_into`] reads a box of a variable.
//!
//! ```
//! use tgm_dataset::{Indices, OpenOptions, open};
//! use tgm_std::{MessageBuilder, ObjectBuilder};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("t.tgm");
//! let mut bytes = Vec::new();
//! for step in [0_u8, 6, 12] {
//!     let values = [f32::from(step); 6];
//!     let field = ObjectBuilder::new(&[2, 3], &values)?.metadata("param", "t").metadata("step", step);
//!     bytes.extend(MessageBuilder::new().object(field).encode()?);
//! }
//! std::fs::write(&path, bytes)?;
//!
//! let dataset = open(&[&path], &OpenOptions::default())?;
//! let t = dataset.variable("t").unwrap();
//! assert_eq!((&t.dims[0], &t.shape[..]), (&"step".to_string(), &[3, 2, 3][..]));
//! // All steps of one point.
//! let series = [Indices::List(vec![0, 1, 2]), Indices::Index(1), Indices::Index(2)];
//! assert_eq!(dataset.read::<f32>("t", &series)?, [0.0, 6.0, 12.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Layers
//! A module imports only from rows below its own.
//!
//! | layer | what it knows |
//! |---|---|
//! | `zarr` | a dataset as a store of Zarr whose chunks are decoded |
//! | `cut`, `references` | boxes as messages; objects as chunks of Zarr where they lie |
//! | `weigh` | statistics over dimensions, in which values count by area |
//! | `pieces`, `quantiles`, `reduce` | objects as they lie; quantiles and statistics over dimensions |
//! | `select` | indices by labels |
//! | `join` | files that go on where others end |
//! | `labels` | coordinates of fields and of files |
//! | `projected` | latitudes and longitudes of x and y of files |
//! | `assemble`, `cf` | datasets out of cubes, and out of variables of files |
//! | `fields` | coordinates of cubes |
//! | `attributes` | attributes |
//! | `cube` | axes, places and holes |
//! | `columns`, `grid` | what the keys of fields mean; coordinates of grids |
//! | `catalogs` | catalogues of sources |
//! | `gather` | metadata of all objects |
//! | `describe`, `floats` | what a dataset is, for people and programs; boxes as floats |
//! | `amounts` | what the numbers of a variable mean |
//! | `dataset` | a dataset, and how it is read |
//! | `read` | boxes of variables |
//! | `elements`, `indices`, `options`, `times`, `written` | elements as floats; indices of a dimension; options of opening; times and coordinates as files hold them |
//! | `archive`, `cells`, `intern`, `model`, `parameters` | sources; numbers for bytes; variables and coordinates; names of parameters |
//! | `label`, `reading`, `source` | labels of axes; how stored numbers become values; one source of messages |
//! | `moment`, `zarr_form` | times; how Zarr spells types, numbers and texts |
//! | `calendar` | days and their dates |

mod amounts;
mod archive;
mod assemble;
mod attributes;
mod calendar;
mod catalogs;
mod cells;
mod cf;
mod columns;
mod cube;
mod cut;
mod dataset;
mod describe;
mod elements;
mod fields;
mod floats;
mod gather;
mod grid;
mod indices;
mod intern;
mod join;
mod label;
mod labels;
mod model;
mod moment;
mod options;
mod parameters;
mod pieces;
mod projected;
mod quantiles;
mod read;
pub mod reading;
mod reduce;
#[cfg(feature = "json")]
mod references;
mod select;
mod source;
mod times;
mod weigh;
mod written;
#[cfg(feature = "json")]
mod zarr;
#[cfg(feature = "json")]
pub mod zarr_form;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use tgm_catalog::tree::side_by_side;
use tgm_core::descriptor::Descriptor;
use tgm_core::metadata::MessageMetadata;
use tgm_grid::KnownPoints;
use tgm_std::{Result, TensogramError, interrupt};

pub use self::archive::Raw;
use self::archive::{Archive, bad};
pub use self::catalogs::Member;
use self::catalogs::{Origin, Ready, Told};
pub use self::columns::short_level;
use self::columns::{Columns, LastColumns};
pub use self::cut::{Computed, Reduction};
pub use self::dataset::Dataset;
pub use self::describe::Parts;
use self::gather::Gathered;
pub use self::indices::Indices;
pub use self::label::{Label, Real};
pub use self::labels::{are_codes, coordinates_by};
pub use self::model::{Attribute, Attributes, Coordinate, Hole, LeftOut, Values, Variable, text_attribute};
pub use self::moment::{Time, Times};
pub use self::options::{Catalogs, Duplicates, Join, KeyTable, OpenOptions, Profile, on_all_cores};
pub use self::pieces::Stored;
pub use self::quantiles::Quantiles;
pub use self::reduce::{Reduced, Statistic};
#[cfg(feature = "json")]
pub use self::references::{Chunk, Referenced, References};
pub use self::select::{GRID, Selector};
use self::source::{DISTANT_AT_ONCE, Source};
pub use self::weigh::{Weighted, area_weights};
pub use self::written::Written;
#[cfg(feature = "json")]
pub use self::zarr::ZarrStore;

/// An archive whose metadata were read.
#[derive(Debug)]
struct Opened {
    gathered: Gathered,
    archive: Arc<Archive>,
    /// Catalogues that were not used, and why.
    notes: Vec<String>,
}

/// Sources that are opened before what they have is put together. Each of them may hold its catalogue.
const AT_ONCE: usize = 256;

/// Reads the metadata of sources at paths and addresses.
fn gather<S: AsRef<Path>>(sources: &[S], options: &OpenOptions) -> Result<Opened> {
    let mut notes = Vec::new();
    catalogs::check(sources.len(), options)?;
    let origins = catalogs::origins(sources, options, &mut notes)?;
    gather_origins(&origins, options, notes)
}

fn gather_origins(origins: &[Origin], options: &OpenOptions, mut notes: Vec<String>) -> Result<Opened> {
    let mut gathered = Gathered::default();
    let mut opened = Vec::with_capacity(origins.len());
    for origins in origins.chunks(AT_ONCE) {
        interrupt::check()?;
        let is_distant = origins.iter().any(Origin::is_distant);
        let threads = if is_distant { DISTANT_AT_ONCE } else { options.decode.threads as usize };
        let mut missing = None;
        for ready in side_by_side(origins, threads, |origin| origin.open(options)) {
            let number = u32::try_from(opened.len()).map_err(|_| bad("there are more than 2^32 sources"))?;
            match ready.and_then(|ready| add(&mut gathered, ready, number, (options, &mut notes))) {
                Ok(source) => opened.push(source),
                // What the next sources need is asked for at the same time.
                Err(error) if error.is_not_given() => missing = Some(error),
                Err(error) => return Err(error),
            }
        }
        if let Some(error) = missing {
            return Err(error);
        }
    }
    let entries = gathered.rows.iter().map(|row| row.entry).collect();
    let called = options.called.clone();
    let lost = std::mem::take(&mut gathered.lost);
    Ok(Opened {
        gathered,
        archive: Arc::new(Archive { sources: opened, entries, called, lost, raw: options.raw.clone() }),
        notes,
    })
}

/// Adds what an open source has. Returns it.
fn add(
    gathered: &mut Gathered,
    Ready { source, told }: Ready,
    number: u32,
    (options, notes): (&OpenOptions, &mut Vec<String>),
) -> Result<Source> {
    let archive = source.archive();
    let rest = match told {
        Some(Ok(Told { facts, wanted, rest, behind })) => {
            gathered.add_cataloged(facts, wanted.as_deref(), archive, number)?;
            if rest.is_none() {
                gathered.lose(archive, behind);
            }
            rest
        }
        Some(Err(note)) => {
            notes.push(note);
            Some((0, 0))
        }
        None => Some((0, 0)),
    };
    if let Some(from) = rest {
        gathered.add(archive, number, from, options)?;
        // A file of another format is an error, and is not left out.
        if from == (0, 0) && archive.len()? == 0 {
            archive.check_format()?;
        }
    }
    Ok(source)
}

fn is_of_files(opened: &Opened, options: &OpenOptions) -> bool {
    match options.profile {
        Profile::Auto => cf::is_of_files(&opened.gathered),
        Profile::Mars | Profile::Plain | Profile::Own(_) => false,
        Profile::Cf => true,
    }
}

/// Opens files, or sources at addresses, as one dataset: of several datasets, the one with the most objects. Reads the metadata
/// of all messages, and no payload. Those files of a tree ([`tgm_catalog::tree`], `NAME.tree`) are opened by their catalogues
/// that may have what [`OpenOptions::only`] asks for.
///
/// # Errors
/// The errors of reading, with the source and the message; [`tgm_std::TensogramError::Framing`] for a source of another format;
/// [`tgm_std::TensogramError::Metadata`] for two objects at one place, and for a group that is not there.
pub fn open<S: AsRef<Path>>(sources: &[S], options: &OpenOptions) -> Result<Dataset> {
    let all = open_all(sources, options)?;
    let is_filtered = !options.only.is_empty();
    let why = if is_filtered { "no object of the archive is selected" } else { "the archive has no objects" };
    all.into_iter().next().ok_or_else(|| bad(why))
}

/// Opens files, or sources at addresses, as datasets that hold everything: the one with the most objects first.
///
/// Archives of files, as NetCDF and Zarr are, are joined by their coordinates, as `xarray.open_mfdataset` does: ones with the same
/// variables along each dimension whose labels differ, ones with other variables if what they share is equal. What was appended to
/// a file follows it. For this the coordinates are read.
///
/// # Errors
/// As [`open`]; [`tgm_std::TensogramError::Metadata`] for files of which nothing says how they follow each other, with their names.
pub fn open_all<S: AsRef<Path>>(sources: &[S], options: &OpenOptions) -> Result<Vec<Dataset>> {
    datasets(&gather(sources, options)?, options)
}

/// Opens archives as datasets, as [`open_all`] does: archives in memory, of file objects, or of a program's own
/// [`RangeFetch`](tgm_std::read::RangeFetch). Nothing else is read: [`OpenOptions::catalogs`] does not count.
///
/// ```
/// use tgm_dataset::{Member, OpenOptions, open_archives};
/// use tgm_std::Archive;
///
/// let bytes = std::fs::read("../../tests/data/realistic/surface-181x360.tgm")?;
/// let archive = Archive::from_bytes(bytes);
/// let datasets = open_archives(&[Member::from(archive)], &OpenOptions::default())?;
/// assert_eq!(datasets[0].variables[0].shape, [181, 360]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`open_all`].
pub fn open_archives(members: &[Member], options: &OpenOptions) -> Result<Vec<Dataset>> {
    datasets(&gather_members(members, options)?, options)
}

fn gather_members(members: &[Member], options: &OpenOptions) -> Result<Opened> {
    let origins: Vec<_> = members.iter().map(Origin::from).collect();
    gather_origins(&origins, options, Vec::new())
}

/// What one object of a message is as a dataset, by the metadata of the message alone: a variable with its coordinates and its
/// attributes. Reading its values is an error, and so is reading coordinates that are other objects, as files have them. `grid` has the points
/// of an unstructured grid.
///
/// # Errors
/// The errors of reading metadata; [`tgm_std::TensogramError::Metadata`] for an object that cannot be a variable.
pub fn of_object(
    metadata: &MessageMetadata<'_>,
    index: usize,
    descriptor: &Descriptor<'_>,
    grid: Option<Arc<KnownPoints>>,
) -> Result<Dataset> {
    let gathered = Gathered::of_object(metadata, index, descriptor)?;
    let entries = gathered.rows.iter().map(|row| row.entry).collect();
    let archive = Arc::new(Archive { sources: Vec::new(), entries, called: None, lost: Vec::new(), raw: Raw::Nothing });
    let found =
        datasets(&Opened { gathered, archive, notes: Vec::new() }, &OpenOptions { grid, ..OpenOptions::default() })?;
    found.into_iter().next().ok_or_else(|| bad("the object cannot be a variable"))
}

fn datasets(opened: &Opened, options: &OpenOptions) -> Result<Vec<Dataset>> {
    let Opened { gathered, archive, notes } = opened;
    let is_of_files = is_of_files(opened, options);
    if let Some(group) = options.group.as_deref() {
        let groups = if is_of_files { cf::groups(gathered) } else { Vec::new() };
        check_group(group, &groups)?;
    }
    let mut found = if is_of_files {
        of_files(opened, options)?
    } else {
        let columns = Columns::of(gathered, options);
        let last = LastColumns::new(gathered, options);
        let cubes = cube::cubes(archive, (&columns, &last), options.duplicates)?;
        assemble::datasets(gathered, archive, cubes, options)?
    };
    for dataset in &mut found {
        dataset.notes.extend_from_slice(notes);
    }
    Ok(found)
}

/// Files that are alike follow each other in one source, so they have few different lists of variables. More are not compared.
const MOST_KINDS: usize = 64;

/// The datasets of files. Where several follow each other in a source, they are joined as files of their own, if they can be joined.
fn of_files(opened: &Opened, options: &OpenOptions) -> Result<Vec<Dataset>> {
    let Opened { gathered, archive, .. } = opened;
    let files = |starts: &cf::Starts| -> Result<Vec<join::File>> {
        let of_file = |cf::OfFile { source, first, parts }| {
            let name = archive.source_name(source);
            join::appended(join::File { name, dataset: first }, parts)
        };
        cf::datasets(gathered, archive, options, starts).into_iter().map(of_file).collect()
    };
    let starts = cf::Starts::of(gathered);
    if !starts.is_empty() {
        let apart = files(&starts)?;
        let kinds: BTreeSet<_> = apart.iter().map(|file| join::own_variables(&file.dataset)).collect();
        if kinds.len() <= MOST_KINDS {
            match join::by_coordinates(apart) {
                // Objects of one name that do not follow each other are left out below, and the others stay.
                Err(TensogramError::Metadata(_)) => {}
                joined => return joined,
            }
        }
    }
    join::by_coordinates(files(&cf::Starts::default())?)
}

/// Says which groups there are, if this one is not: names with quotes, and the first few. The root is always there.
fn check_group(group: &str, groups: &[String]) -> Result<()> {
    const LISTED: usize = 10;
    let group = group.trim_matches('/');
    if group.is_empty() || groups.iter().any(|found| found == group) {
        return Ok(());
    }
    if groups.is_empty() {
        return Err(bad(format!("group {group:?} is not there: the archive has the root alone")));
    }
    let listed: Vec<_> = groups.iter().take(LISTED).map(|found| format!("{found:?}")).collect();
    let more = if groups.len() > LISTED { " …" } else { "" };
    Err(bad(format!("group {group:?} is not there: the archive has {}{more}", listed.join(", "))))
}

/// The groups of an archive that was made from files, without the root. None for archives of fields.
///
/// # Errors
/// As [`open`].
pub fn groups<S: AsRef<Path>>(sources: &[S], options: &OpenOptions) -> Result<Vec<String>> {
    Ok(groups_of(&gather(sources, options)?, options))
}

/// [`groups`] of archives of any source.
///
/// # Errors
/// As [`open_archives`].
pub fn groups_of_archives(members: &[Member], options: &OpenOptions) -> Result<Vec<String>> {
    Ok(groups_of(&gather_members(members, options)?, options))
}

fn groups_of(opened: &Opened, options: &OpenOptions) -> Vec<String> {
    if is_of_files(opened, options) { cf::groups(&opened.gathered) } else { Vec::new() }
}

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
