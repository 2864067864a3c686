//! Catalogues of sources: which one is of a source, and whether it can be used.

use std::fs;
use std::path::{Path, PathBuf};

use tgm_catalog::{Catalog, CatalogLimits, Freshness};
use tgm_std::file::{Data, SourceName, TensogramFile, is_remote_url};
use tgm_std::{Result, TensogramError};

use crate::archive::bad;
use crate::gather::Gathered;
use crate::options::{Catalogs, OpenOptions};

/// Named catalogues must be there, one for each source.
///
/// # Errors
/// [`TensogramError::Metadata`] if there are not as many as sources; [`TensogramError::Io`] if one is not there.
pub(crate) fn check(sources: usize, options: &OpenOptions) -> Result<()> {
    match &options.catalogs {
        Catalogs::Named(named) if named.len() != sources => {
            Err(bad(format!("there are {} catalogues for {sources} sources", named.len())))
        }
        Catalogs::Named(named) => named
            .iter()
            .try_for_each(|path| fs::metadata(path).map(drop).map_err(|error| TensogramError::io(path, &error))),
        _ => Ok(()),
    }
}

/// The catalogue of a source. `None` if there is none to be used.
pub(crate) fn path_of(number: usize, source: &Path, options: &OpenOptions) -> Option<PathBuf> {
    match &options.catalogs {
        _ if options.list_unused => None,
        Catalogs::Unused => None,
        Catalogs::Named(named) => named.get(number).cloned(),
        Catalogs::Beside if source.to_str().is_some_and(is_remote_url) => None,
        Catalogs::Beside => {
            let mut name = source.as_os_str().to_os_string();
            name.push(".catalog");
            Some(PathBuf::from(name)).filter(|path| path.is_file())
        }
    }
}

/// Takes what a catalogue says of a source. Returns where reading goes on: the first byte that is not covered, and the number of
/// the message there. `None` if all is covered.
///
/// # Errors
/// Why the catalogue is not used, in words.
pub(crate) fn take(
    path: &Path,
    file: &TensogramFile,
    source: u32,
    gathered: &mut Gathered,
    options: &OpenOptions,
) -> std::result::Result<Option<(u64, usize)>, String> {
    let unused = |why: String| format!("the catalogue {} is not used: {why}", SourceName::of(path));
    let mut taken = || -> Result<_> {
        let catalog = Catalog::open_with(path, &CatalogLimits::default(), &options.decode)?;
        let rest = match catalog.check(file)? {
            Freshness::Fresh => None,
            Freshness::Grown { covered, .. } => Some((covered, catalog.message_count())),
            other => return Err(bad(format!("it is {other}"))),
        };
        if !catalog.has_facts() && !catalog.lacks_facts() {
            // It cannot help, and nothing is wrong with it.
            return Ok(Some((0, 0)));
        }
        gathered.add_cataloged(&catalog, file, source)?;
        if rest.is_none() {
            gathered.lose(file, catalog.covered()..Data::from(file).length()?);
        }
        Ok(rest)
    };
    taken().map_err(|error| match error {
        TensogramError::Metadata(why) => unused(why.to_string()),
        other => unused(other.to_string()),
    })
}
