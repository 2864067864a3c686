//! Catalogues, which answer queries without the archive.

use std::ffi::c_char;
use std::fs::File as Sink;
use std::sync::RwLock;

use tgm_catalog::{Catalog, Freshness};

use crate::archive::ArchiveHandle;
use crate::args;
use crate::call::{call, get, run};
use crate::error::{Code, Result, io};
use crate::locks::{read, write};
use crate::object_list::{ObjectList, parse, with_threads};

/// A `tgm_catalog_t` of C.
#[derive(Debug)]
pub struct CatalogHandle {
    catalog: RwLock<Catalog>,
}

impl From<Catalog> for CatalogHandle {
    fn from(catalog: Catalog) -> Self {
        Self { catalog: RwLock::new(catalog) }
    }
}

/// Catalogues all messages of an archive, with a column for each key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_catalog_build(
    archive: *const ArchiveHandle,
    keys: *const *const c_char,
    num_keys: usize,
    threads: u32,
    out: *mut *mut CatalogHandle,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (archive, keys, out) =
            unsafe { (args::required(archive)?, args::slice_or_empty(keys, num_keys)?, args::place(out)?) };
        // SAFETY: the header's contract.
        let keys = keys.iter().map(|key| unsafe { args::text(*key, "key") }).collect::<Result<Vec<_>>>()?;
        out.put_handle(
            Catalog::build_with(archive.archive(), &keys, &with_threads(archive.archive(), threads))?.into(),
        );
        Ok(())
    })
}

/// Opens the catalogue in a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_catalog_open(path: *const c_char, out: *mut *mut CatalogHandle) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (path, out) = unsafe { (args::text(path, "path")?, args::place(out)?) };
        out.put_handle(Catalog::open(path)?.into());
        Ok(())
    })
}

/// Writes a catalogue to a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_catalog_save(catalog: *const CatalogHandle, path: *const c_char) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (handle, path) = unsafe { (args::required(catalog)?, args::text(path, "path")?) };
        let written = Sink::create(path).and_then(|mut sink| read(&handle.catalog).write_to(&mut sink));
        written.map_err(|error| io(&error))
    })
}

/// Adds the messages of an archive that were appended since it was catalogued. Writes their number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_catalog_extend(
    catalog: *mut CatalogHandle,
    archive: *const ArchiveHandle,
    out_added: *mut usize,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (handle, archive, out) =
            unsafe { (args::required(catalog)?, args::required(archive)?, args::place(out_added)?) };
        out.put(write(&handle.catalog).extend(archive.archive())?);
        Ok(())
    })
}

/// Whether the catalogue fits an archive: 0 if it covers it, 1 if the archive has grown, 2 if it is another one or was changed,
/// 3 if nothing tells: it is on a server that does not name its versions, or was catalogued elsewhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_catalog_check(
    catalog: *const CatalogHandle,
    archive: *const ArchiveHandle,
    out_state: *mut i32,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (handle, archive, out) =
            unsafe { (args::required(catalog)?, args::required(archive)?, args::place(out_state)?) };
        out.put(match read(&handle.catalog).check(archive.archive())? {
            Freshness::Fresh => 0,
            Freshness::Grown { .. } => 1,
            Freshness::NotChecked => 3,
            _ => 2,
        });
        Ok(())
    })
}

/// The number of messages that are covered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_catalog_num_messages(catalog: *const CatalogHandle) -> usize {
    // SAFETY: the header's contract.
    get(0, || unsafe { args::optional(catalog) }.map(|handle| read(&handle.catalog).message_count()))
}

/// The number of objects that are covered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_catalog_num_objects(catalog: *const CatalogHandle) -> usize {
    // SAFETY: the header's contract.
    get(0, || unsafe { args::optional(catalog) }.map(|handle| read(&handle.catalog).object_count()))
}

/// Finds the objects for which a query holds. The file is not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_catalog_query(
    catalog: *const CatalogHandle,
    query: *const c_char,
    out: *mut *mut ObjectList,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (handle, query, out) =
            unsafe { (args::required(catalog)?, args::text(query, "query")?, args::place(out)?) };
        out.put_handle(read(&handle.catalog).select(&parse(query)?)?.into());
        Ok(())
    })
}

/// Where the frame of an object is in the file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_catalog_object_range(
    catalog: *const CatalogHandle,
    message: usize,
    object: usize,
    out_offset: *mut u64,
    out_length: *mut u64,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (handle, offset, length) =
            unsafe { (args::required(catalog)?, args::place(out_offset)?, args::place(out_length)?) };
        let range = read(&handle.catalog).object_range(message, object)?;
        offset.put(range.start);
        length.put(range.end.saturating_sub(range.start));
        Ok(())
    })
}

/// Frees a catalogue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_catalog_free(catalog: *mut CatalogHandle) {
    // SAFETY: the header's contract.
    run(|| unsafe { args::free(catalog) });
}
