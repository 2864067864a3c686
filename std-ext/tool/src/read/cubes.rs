//! Archives as datasets, for commands that look at many messages as one array.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_dataset::{Coordinate, Dataset, Indices, OpenOptions, Variable, open_all};
use tgm_std::file::SourceName;
use tgm_std::{DecodeOptions, Result, TensogramError};

use crate::read::digests::Digests;
use crate::read::distant::is_distant;
use crate::read::lost::SALVAGE;
use crate::read::pipes::is_once;
use crate::show::foreign;
use crate::show::output::Out;

/// The first bytes of a file by which its kind is known.
const START: u64 = 4096;

/// Opens files as datasets, the one with the most objects first. `None` if they cannot be opened, which is reported.
pub(crate) fn open_or_report(
    paths: &[PathBuf],
    options: Result<OpenOptions>,
    digests: Digests,
    out: &mut Out,
) -> Option<Vec<Dataset>> {
    let mut options = match options {
        Ok(options) => options,
        Err(error) => {
            out.report("--grid", &error);
            return None;
        }
    };
    options.decode.verify_metadata = !digests.are_ignored();
    if paths.iter().any(|path| is_once(path)) {
        out.problem("a dataset is read in parts, and a pipe can be read once: name a file");
        return None;
    }
    let mut found = match open_all(paths, &options) {
        Ok(found) => found,
        Err(error) => {
            let about = paths.iter().map(|path| foreign::of_folder(path)).find(|about| !about.is_empty());
            let about = about.map_or_else(String::new, |about| format!("; {about}"));
            out.report(&(names(paths) + &about), &error);
            return None;
        }
    };
    report_unused_catalogs(&mut found, out);
    // All datasets are of the same sources.
    for lost in found.first().map_or(&[][..], Dataset::lost) {
        out.problem(&format!("{lost}; {SALVAGE}"));
    }
    let is_empty = found.iter().all(|dataset| dataset.variables.is_empty() && dataset.left_out.is_empty());
    if is_empty {
        let about = paths.first().map_or_else(String::new, |path| foreign::advice(&start(path)));
        out.problem(&format!("{}: there are no objects{about}", names(paths)));
        return None;
    }
    Some(found)
}

/// Reports catalogues that were not used. The notes of datasets do not repeat that.
fn report_unused_catalogs(datasets: &mut [Dataset], out: &mut Out) {
    let is_of_catalog = |note: &String| note.starts_with("the catalogue ");
    // All datasets are of the same sources.
    for note in datasets.first().iter().flat_map(|dataset| &dataset.notes).filter(|note| is_of_catalog(note)) {
        out.remark(&format!("warning: {note}"));
    }
    for dataset in datasets {
        dataset.notes.retain(|note| !is_of_catalog(note));
    }
}

/// What files are called together.
pub(crate) fn names(paths: &[PathBuf]) -> String {
    match paths {
        [one] => SourceName::of(one).to_string(),
        several => format!("{} files", several.len()),
    }
}

fn start(path: &Path) -> Vec<u8> {
    let mut start = Vec::new();
    if !is_distant(path)
        && let Ok(file) = File::open(path)
        && file.take(START).read_to_end(&mut start).is_err()
    {
        start.clear();
    }
    start
}

/// The dataset that has a variable: the first one.
///
/// # Errors
/// [`TensogramError::Metadata`] if there is none, with the names that there are.
pub(crate) fn with_variable<'d>(datasets: &'d [Dataset], name: &str) -> Result<(&'d Dataset, &'d Variable)> {
    let found = datasets.iter().find_map(|dataset| Some((dataset, dataset.variable(name)?)));
    found.ok_or_else(|| {
        let mut names: Vec<&str> = datasets.iter().flat_map(|it| &it.variables).map(|it| it.name.as_str()).collect();
        names.dedup();
        TensogramError::Metadata(format!("there is no variable {name}; there are {}", names.join(", ")).into())
    })
}

/// Latitude and longitude of the point that is nearest to a place. `None` where several indices are picked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NearestPoint {
    pub(crate) latitude: Option<f64>,
    pub(crate) longitude: Option<f64>,
}

/// Picks the point of a variable's grid that is nearest to a place. A row or a column of latitudes or longitudes that is among the
/// dimensions `over` stays as it is: what is shown runs along it, at the nearest of the others.
///
/// # Errors
/// The errors of [`Dataset::nearest`]; [`TensogramError::Metadata`] if `over` or a selector has taken all dimensions of the grid, or one
/// of them that has both latitudes and longitudes.
pub(crate) fn pick_nearest(
    dataset: &Dataset,
    variable: &Variable,
    (latitude, longitude): (f64, f64),
    over: &[String],
    picks: &mut [Indices],
) -> Result<NearestPoint> {
    let (name, refused) = (&variable.name, |text: String| TensogramError::Metadata(text.into()));
    let found = dataset.nearest(name, latitude, longitude)?;
    let (north, east) = dataset.nearest_place(name, latitude, longitude)?;
    let positions = dataset.positions(name)?;
    let is_whole = |coordinate: &Coordinate| coordinate.dims.iter().any(|dim| over.contains(dim));
    let (rows, columns) = positions.map_or((false, false), |(rows, columns)| (is_whole(&rows), is_whole(&columns)));
    if rows && columns {
        let dims = over.join(" and ");
        return Err(refused(format!(
            "{name}: --nearest picks latitude and longitude, and --over {dims} goes along them"
        )));
    }
    for (at, index) in found {
        let (Some(dim), Some(len), Some(pick)) = (variable.dims.get(at), variable.shape.get(at), picks.get_mut(at))
        else {
            return Err(refused(format!("{name} has no dimension number {at}")));
        };
        if over.contains(dim) {
            continue;
        }
        if *pick != Indices::all(*len) {
            return Err(refused(format!("{name}: --sel and --nearest both pick of {dim}")));
        }
        *pick = Indices::Index(index);
    }
    Ok(NearestPoint { latitude: (!rows).then_some(north), longitude: (!columns).then_some(east) })
}

/// Decoded values of a box, in the byte order of the machine. Truth values take a byte.
#[derive(Debug)]
pub(crate) struct Cells {
    pub(crate) dtype: Dtype,
    pub(crate) count: u64,
    pub(crate) bytes: Vec<u8>,
}

impl Cells {
    /// Reads what `indices` pick of a variable.
    ///
    /// # Errors
    /// The errors of [`Dataset::read_into`] and [`Dataset::check_places`], and of memory.
    pub(crate) fn read(dataset: &Dataset, name: &str, indices: &[Indices], options: &DecodeOptions) -> Result<Self> {
        let refused = |text: String| TensogramError::Metadata(text.into());
        let dtype = dataset.variable(name).and_then(Variable::dtype);
        let dtype = dtype.ok_or_else(|| refused(format!("{name}: it is not a variable of numbers")))?;
        let count = indices.iter().try_fold(1_u64, |all, indices| all.checked_mul(indices.count()));
        let width = dtype.byte_width().max(1);
        let len = count.and_then(|count| usize::try_from(count).ok()?.checked_mul(width));
        let (Some(count), Some(len)) = (count, len) else {
            return Err(refused(format!("{name}: these are more values than this machine can address")));
        };
        dataset.check_places(name, indices)?;
        let mut bytes = tgm_std::internal::reserve(len)?;
        dataset.read_into(name, indices, options, &mut bytes)?;
        // Types with a byte for each truth are numbers for all that follows.
        let dtype = if dtype == Dtype::Bitmask { Dtype::Uint8 } else { dtype };
        Ok(Self { dtype, count, bytes })
    }

    /// The same as amounts: what stands for a missing cell is NaN, where there is one.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub(crate) fn amounts(dataset: &Dataset, name: &str, indices: &[Indices], options: &DecodeOptions) -> Result<Self> {
        let found = Self::read(dataset, name, indices, options)?;
        let reading = dataset.variable(name).and_then(Variable::amounts);
        let masked = reading.and_then(|reading| Some((reading.dtype(), reading.masked(&found.bytes)?)));
        Ok(match masked {
            Some((dtype, bytes)) => Self { dtype, count: found.count, bytes },
            None => found,
        })
    }

    /// The numbers as text, each with the digits in which it differs from its neighbours.
    pub(crate) fn numbers(&self) -> tgm_convert::csv::Numbers<'_> {
        tgm_convert::csv::Numbers { dtype: self.dtype, order: ByteOrder::NATIVE, count: self.count, bytes: &self.bytes }
    }
}
