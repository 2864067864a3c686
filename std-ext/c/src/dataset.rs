//! Datasets: variables over the messages of many sources.

use std::ffi::{CString, c_char, c_void};
use std::sync::OnceLock;

use tgm_dataset::{Catalogs, Dataset, Duplicates, Indices, OpenOptions, Profile, Selector, Variable, on_all_cores};
use tgm_std::core::selection::{Pick, Selection};
use tgm_std::{DecodeOptions, Picks};

use crate::args;
use crate::call::{call, run};
use crate::error::{Code, ENCODING, METADATA, Report, Result, c_string, invalid};
use crate::object_list;
use crate::options::{decoding_struct, sized};
use crate::request::ReadRequest;

/// Places without an object that the description lists.
const HOLES: usize = 10;

/// A `tgm_dataset_t` of C.
#[derive(Debug)]
pub struct DatasetHandle {
    dataset: Dataset,
    /// The dataset as JSON, once it was asked for.
    json: OnceLock<CString>,
}

/// A `tgm_dataset_options_t` of C.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DatasetOptionsStruct {
    struct_size: usize,
    profile: *const c_char,
    duplicates: *const c_char,
    group: *const c_char,
    keep_single: i32,
    ignore_catalogs: i32,
    index: usize,
    only: *const c_char,
}

/// The choice that a text names; the default for NULL.
fn choice<T: Copy + Default>(what: &str, name: Option<&str>, known: &[(&str, T)]) -> Result<T> {
    let Some(name) = name else { return Ok(T::default()) };
    let found = known.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        invalid(format!("unknown {what} {name:?}: there are {}", names.join(", ")))
    })
}

/// Options of opening, and which of the datasets is meant.
///
/// # Safety
/// The header's contract.
unsafe fn opening(options: *const DatasetOptionsStruct) -> Result<(OpenOptions, usize)> {
    // SAFETY: the caller makes the same promise.
    let given = unsafe { sized(options, size_of::<DatasetOptionsStruct>())? };
    let Some(given) = given else { return Ok((OpenOptions::default(), 0)) };
    // SAFETY: the caller makes the same promise.
    let (profile, duplicates, group, only) = unsafe {
        (
            args::optional_text(given.profile, "profile")?,
            args::optional_text(given.duplicates, "duplicates")?,
            args::optional_text(given.group, "group")?,
            args::optional_text(given.only, "only")?,
        )
    };
    let parsed = |text: &str| text.parse::<Profile>().map_err(|error| invalid(format!("profile: {error}")));
    let whichs = [("error", Duplicates::Error), ("first", Duplicates::First), ("last", Duplicates::Last)];
    let options = OpenOptions {
        profile: profile.map(parsed).transpose()?.unwrap_or_default(),
        duplicates: choice("duplicates", duplicates, &whichs)?,
        group: group.map(Into::into),
        only: only.map(object_list::parse).transpose()?.into_iter().collect(),
        squeeze: given.keep_single == 0,
        catalogs: if given.ignore_catalogs == 0 { Catalogs::Beside } else { Catalogs::Unused },
        ..OpenOptions::default()
    };
    Ok((options, given.index))
}

/// What a call asks of a variable.
struct Request<'a> {
    handle: &'a DatasetHandle,
    name: &'a str,
    indices: Vec<Indices>,
    options: DecodeOptions,
}

impl Request<'_> {
    /// Reads a request. NULL asks for all values, decoded on all processors.
    ///
    /// # Safety
    /// The header's contract.
    unsafe fn new(dataset: *const DatasetHandle, variable: *const c_char, request: *const ReadRequest) -> Result<Self> {
        // SAFETY: the header's contract.
        let (handle, name, given) = unsafe {
            (args::required(dataset)?, args::text(variable, "variable")?, sized(request, size_of::<ReadRequest>())?)
        };
        let Some(given) = given else {
            return Ok(Self { handle, name, indices: handle.all(name)?, options: on_all_cores() });
        };
        if given.has_ranges() {
            return Err(invalid("a variable of a dataset is read by a selection, not by ranges"));
        }
        // SAFETY: the header's contract.
        let text = unsafe { args::optional_text(given.selection, "selection")? };
        let options = if given.options.is_null() {
            on_all_cores()
        } else {
            // SAFETY: the header's contract.
            unsafe { decoding_struct(given.options)? }
        };
        let indices = match text {
            None => handle.all(name)?,
            Some(text) if text.contains(['=', '~']) => handle.labelled(name, text)?,
            Some(text) => handle.numbered(name, text)?,
        };
        Ok(Self { handle, name, indices, options })
    }
}

impl DatasetHandle {
    fn variable(&self, name: &str) -> Result<&Variable> {
        let found = self.dataset.variable(name);
        Ok(found.ok_or_else(|| Report::new(METADATA, format!("the dataset has no variable {name}")))?)
    }

    fn all(&self, name: &str) -> Result<Vec<Indices>> {
        Ok(self.variable(name)?.shape.iter().map(|len| Indices::all(*len)).collect())
    }

    /// The indices of `DIM=LABELS, DIM~LABEL`.
    fn labelled(&self, name: &str, text: &str) -> Result<Vec<Indices>> {
        let selectors = text.split(',').map(|one| {
            one.parse::<Selector>().map_err(|expected| invalid(format!("selection {:?}: {expected}", one.trim())))
        });
        Ok(self.dataset.select(name, &selectors.collect::<std::result::Result<Vec<_>, _>>()?)?)
    }

    /// The indices of picks as Python writes them.
    fn numbered(&self, name: &str, text: &str) -> Result<Vec<Indices>> {
        let shape = &self.variable(name)?.shape;
        let refused = |why: String| Report::new(ENCODING, format!("{name}: {why}"));
        let picks = Picks::parse(text).and_then(|picks| picks.resolve(shape.iter().copied()));
        let picks = picks.map_err(|error| refused(error.to_string()))?;
        // The bounds of all picks are checked here.
        Selection::new(shape.as_slice().into(), &picks).map_err(|error| refused(error.to_string()))?;
        let lens = picks.iter().zip(shape).map(|(pick, len)| match pick {
            Pick::All => Indices::all(*len),
            Pick::Index(index) => Indices::Index(*index),
            Pick::Range { start, end, step } => {
                Indices::Range { start: *start, count: end.saturating_sub(*start).div_ceil(step.get()), step: *step }
            }
        });
        Ok(lens.collect())
    }
}

/// Opens sources as one dataset.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_dataset_open(
    sources: *const *const c_char,
    num_sources: usize,
    options: *const DatasetOptionsStruct,
    out: *mut *mut DatasetHandle,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (sources, (options, index), out) =
            unsafe { (args::slice_or_empty(sources, num_sources)?, opening(options)?, args::place(out)?) };
        // SAFETY: the header's contract.
        let sources =
            sources.iter().map(|source| unsafe { args::text(*source, "source") }).collect::<Result<Vec<_>>>()?;
        if sources.is_empty() {
            return Err(invalid("a dataset needs a source"));
        }
        let mut found = tgm_dataset::open_all(&sources, &options)?;
        if index >= found.len() {
            let text = format!("dataset {index} of {}", found.len());
            return Err(Report::new(METADATA, text).into());
        }
        out.put_handle(DatasetHandle { dataset: found.swap_remove(index), json: OnceLock::new() });
        Ok(())
    })
}

/// The dataset as JSON. The text belongs to the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_dataset_json(dataset: *const DatasetHandle, out: *mut *const c_char) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (handle, out) = unsafe { (args::required(dataset)?, args::place(out)?) };
        if handle.json.get().is_none() {
            let (json, parts) = handle.dataset.to_json(HOLES);
            if let Some((_, error)) = parts.unread.into_iter().next() {
                return Err(error.into());
            }
            handle.json.get_or_init(|| c_string(json.to_string()));
        }
        out.put(handle.json.get().map_or(std::ptr::null(), |json| json.as_ptr()));
        Ok(())
    })
}

/// The shape of what a request asks for, and the bytes that it takes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_dataset_read_size(
    dataset: *const DatasetHandle,
    variable: *const c_char,
    request: *const ReadRequest,
    out_shape: *mut u64,
    shape_capacity: usize,
    out_ndim: *mut usize,
    out_size: *mut usize,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (shape, ndim, size, request) = unsafe {
            (
                args::output_memory(out_shape, shape_capacity)?,
                args::place(out_ndim)?,
                args::place(out_size)?,
                Request::new(dataset, variable, request)?,
            )
        };
        let Some(dtype) = request.handle.variable(request.name)?.dtype() else {
            return Err(Report::new(METADATA, format!("{}: its values are texts", request.name)).into());
        };
        let is_kept = |indices: &&Indices| !matches!(indices, Indices::Index(_));
        let wanted: Vec<u64> = request.indices.iter().filter(is_kept).map(Indices::count).collect();
        let width = dtype.byte_width().max(1);
        let bytes = wanted.iter().try_fold(width, |all, len| all.checked_mul(usize::try_from(*len).ok()?));
        let bytes = bytes.ok_or_else(|| Report::new(ENCODING, "the values exceed the address space"))?;
        shape.apart_from(&[])?.iter_mut().zip(&wanted).for_each(|(slot, dim)| *slot = *dim);
        ndim.put(wanted.len());
        size.put(bytes);
        Ok(())
    })
}

/// Reads values into memory of the caller, by `read`.
///
/// # Safety
/// The header's contract.
unsafe fn read_into<T>(
    (dataset, variable, request): (*const DatasetHandle, *const c_char, *const ReadRequest),
    (out, len): (*mut T, usize),
    read: impl FnOnce(&Request<'_>, &mut [T]) -> tgm_std::Result<()>,
) -> Code {
    call(|| {
        // SAFETY: the caller makes the same promise.
        let (out, request) = unsafe { (args::output_memory(out, len)?, Request::new(dataset, variable, request)?) };
        Ok(read(&request, out.apart_from(&[])?)?)
    })
}

/// Reads values as they are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_dataset_read_into(
    dataset: *const DatasetHandle,
    variable: *const c_char,
    request: *const ReadRequest,
    out: *mut c_void,
    out_len: usize,
) -> Code {
    let read = |asked: &Request<'_>, out: &mut [u8]| {
        asked.handle.dataset.read_into(asked.name, &asked.indices, &asked.options, out)
    };
    // SAFETY: the header's contract.
    unsafe { read_into((dataset, variable, request), (out.cast::<u8>(), out_len), read) }
}

/// Reads values as `double`, whatever their type is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_dataset_read_f64(
    dataset: *const DatasetHandle,
    variable: *const c_char,
    request: *const ReadRequest,
    out: *mut f64,
    out_count: usize,
) -> Code {
    // SAFETY: the header's contract.
    unsafe { read_into((dataset, variable, request), (out, out_count), floats_into) }
}

/// Reads values as `float`, whatever their type is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_dataset_read_f32(
    dataset: *const DatasetHandle,
    variable: *const c_char,
    request: *const ReadRequest,
    out: *mut f32,
    out_count: usize,
) -> Code {
    // SAFETY: the header's contract.
    unsafe { read_into((dataset, variable, request), (out, out_count), floats_into) }
}

fn floats_into<F: tgm_std::decode::Float>(asked: &Request<'_>, out: &mut [F]) -> tgm_std::Result<()> {
    asked.handle.dataset.read_floats_into(asked.name, &asked.indices, &asked.options, out)
}

/// Closes a dataset.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_dataset_close(dataset: *mut DatasetHandle) {
    // SAFETY: the header's contract.
    run(|| unsafe { args::free(dataset) });
}
