//! Catalogues of sources: which one is of a source, and whether it can be used.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tgm_catalog::tree::Choice;
use tgm_catalog::{Beside, Catalog, CatalogLimits, FactsOfLeaf, Freshness};
use tgm_std::file::{Data, SourceName, TensogramFile, is_remote_url};
use tgm_std::{Archive, Result, TensogramError};

use crate::archive::bad;
use crate::options::{Catalogs, OpenOptions};
use crate::source::Source;

/// Named catalogues must be there, one for each source. Those at addresses are asked for when they are opened.
///
/// # Errors
/// [`TensogramError::Metadata`] if there are not as many as sources; [`TensogramError::Io`] if one of this machine is not there.
pub(crate) fn check(sources: usize, options: &OpenOptions) -> Result<()> {
    match &options.catalogs {
        Catalogs::Named(named) if named.len() != sources => {
            Err(bad(format!("there are {} catalogues for {sources} sources", named.len())))
        }
        Catalogs::Named(named) => named
            .iter()
            .filter(|path| address_of(path).is_none())
            .try_for_each(|path| fs::metadata(path).map(drop).map_err(|error| TensogramError::io(path, &error))),
        _ => Ok(()),
    }
}

/// An archive of a dataset, of any source, and its catalogue if it has one.
#[derive(Clone, Debug)]
pub struct Member {
    /// The archive. The dataset keeps it.
    pub archive: Arc<Archive<'static>>,
    /// What its messages are, so that these need not be read. A catalogue that does not fit is not used, and
    /// [`crate::Dataset::notes`] says so.
    pub catalog: Option<Arc<Catalog>>,
}

impl From<Arc<Archive<'static>>> for Member {
    fn from(archive: Arc<Archive<'static>>) -> Self {
        Self { archive, catalog: None }
    }
}

impl From<Archive<'static>> for Member {
    fn from(archive: Archive<'static>) -> Self {
        Arc::new(archive).into()
    }
}

/// A source of a dataset, before its metadata are read.
#[derive(Debug)]
pub(crate) struct Origin {
    place: Place,
    catalog: Cataloged,
}

/// Where the messages are.
#[derive(Debug)]
enum Place {
    /// At a path or an address.
    Path(PathBuf),
    Archive(Arc<Archive<'static>>),
}

/// The catalogue of a source.
#[derive(Debug)]
enum Cataloged {
    Unused,
    /// Lies at a path.
    At(PathBuf),
    /// Lies beside a source, if it is there.
    Beside(PathBuf),
    /// Is open, or cannot be opened, and what it is called.
    Open(String, Result<Arc<Catalog>>),
}

/// The sources, trees replaced by their files that may have what is wanted. What the trees note is added to `notes`.
///
/// # Errors
/// The errors of reading a tree; [`TensogramError::Metadata`] for a damaged tree, and one that lacks a key of the queries.
pub(crate) fn origins<S: AsRef<Path>>(
    sources: &[S],
    options: &OpenOptions,
    notes: &mut Vec<String>,
) -> Result<Vec<Origin>> {
    let mut found = Vec::with_capacity(sources.len());
    for (number, source) in sources.iter().enumerate() {
        let path = source.as_ref();
        if !Choice::is_tree(path) {
            let catalog = cataloged(number, path, options);
            found.push(Origin { place: Place::Path(path.to_path_buf()), catalog });
            continue;
        }
        let choice = Choice::of(path, &options.only, &options.decode)?;
        notes.extend(choice.notes);
        found.extend(choice.files.into_iter().map(|file| {
            let name = SourceName::of(&file.catalog_path).to_string();
            let open = || Cataloged::Open(name, file.catalog.map(Arc::new));
            let catalog = if options.list_unused { Cataloged::Unused } else { open() };
            Origin { place: Place::Path(file.path), catalog }
        }));
    }
    Ok(found)
}

/// An open source, and what its catalogue says.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) source: Source,
    /// `None` without a catalogue. An error says why it is not used.
    pub(crate) told: Option<std::result::Result<Told, String>>,
}

/// What a catalogue says of its source.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) facts: Vec<FactsOfLeaf>,
    /// The objects that are wanted, in order. `None` stands for all.
    pub(crate) wanted: Option<Vec<(usize, usize)>>,
    /// Where reading goes on: the first byte that is not covered, and the number of the message there.
    pub(crate) rest: Option<(u64, usize)>,
    /// Bytes after what is covered, if nothing is read there.
    pub(crate) behind: Range<u64>,
}

impl From<&Member> for Origin {
    fn from(Member { archive, catalog }: &Member) -> Self {
        let named = |catalog| Cataloged::Open(format!("of {}", archive.name()), Ok(catalog));
        let catalog = catalog.clone().map_or(Cataloged::Unused, named);
        Self { place: Place::Archive(Arc::clone(archive)), catalog }
    }
}

impl Origin {
    /// Whether opening it waits for a server.
    pub(crate) fn is_distant(&self) -> bool {
        match &self.place {
            Place::Path(path) => address_of(path).is_some(),
            Place::Archive(archive) => archive.is_distant(),
        }
    }

    /// The archive. Nothing is read of a file of this machine yet.
    ///
    /// # Errors
    /// The errors of opening it.
    fn archive(&self) -> Result<Arc<Archive<'static>>> {
        let path = match &self.place {
            Place::Archive(archive) => return Ok(Arc::clone(archive)),
            Place::Path(path) => path,
        };
        let file = match address_of(path) {
            Some(address) => TensogramFile::open_source(address, None)?,
            None => TensogramFile::open(path)?,
        };
        Ok(Arc::new(file.into()))
    }

    /// Opens the source, and takes what its catalogue says. The catalogue is used if it fits.
    ///
    /// # Errors
    /// The errors of opening the source, and of asking for a catalogue at an address.
    pub(crate) fn open(&self, options: &OpenOptions) -> Result<Ready> {
        let source = Source::new(self.archive()?);
        let opened = match &self.catalog {
            Cataloged::Unused => None,
            Cataloged::At(path) => {
                let catalog = Catalog::open_with(path, &CatalogLimits::default(), &options.decode).map(Arc::new);
                match catalog {
                    Err(error @ (TensogramError::Io(_) | TensogramError::Remote(_))) if address_of(path).is_some() => {
                        return Err(error);
                    }
                    other => Some((SourceName::of(path).to_string(), other)),
                }
            }
            Cataloged::Beside(source) => {
                let found = Beside::open(source, &CatalogLimits::default(), &options.decode);
                found.map(|it| (SourceName::of(&it.path).to_string(), it.catalog.map(Arc::new)))
            }
            Cataloged::Open(name, Ok(catalog)) => Some((name.clone(), Ok(Arc::clone(catalog)))),
            Cataloged::Open(name, Err(error)) => Some((name.clone(), Err(bad(error.to_string())))),
        };
        let told = opened.map(|(name, catalog)| {
            catalog.and_then(|catalog| told(&catalog, source.archive(), options)).map_err(|error| {
                let why = match error {
                    TensogramError::Metadata(why) => why.to_string(),
                    other => other.to_string(),
                };
                format!("the catalogue {name} is not used: {why}")
            })
        });
        Ok(Ready { source, told })
    }
}

/// The address that a path is. A path need not be text; an address is.
fn address_of(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| is_remote_url(text))
}

/// Which catalogue is of source `number`.
fn cataloged(number: usize, source: &Path, options: &OpenOptions) -> Cataloged {
    match &options.catalogs {
        _ if options.list_unused => Cataloged::Unused,
        Catalogs::Unused => Cataloged::Unused,
        Catalogs::Named(named) => named.get(number).cloned().map_or(Cataloged::Unused, Cataloged::At),
        Catalogs::Beside => Cataloged::Beside(source.to_path_buf()),
    }
}

/// What a catalogue says of a source.
///
/// # Errors
/// Why it is not used.
fn told(catalog: &Catalog, archive: &Archive<'_>, options: &OpenOptions) -> Result<Told> {
    let rest = match catalog.check(archive)? {
        Freshness::Fresh => None,
        Freshness::Grown { covered, .. } => Some((covered, catalog.message_count())),
        other => return Err(bad(format!("it is {other}"))),
    };
    if !catalog.has_facts() && !catalog.lacks_facts() {
        // It cannot help, and nothing is wrong with it.
        return Ok(Told { facts: Vec::new(), wanted: None, rest: Some((0, 0)), behind: 0..0 });
    }
    let mut wanted: Option<Vec<(usize, usize)>> = None;
    for query in &options.only {
        let found = catalog.select(query)?;
        // Both are in order.
        wanted = Some(match wanted {
            None => found,
            Some(before) => before.into_iter().filter(|place| found.binary_search(place).is_ok()).collect(),
        });
    }
    let size = if rest.is_none() { Data::from(archive).length()? } else { catalog.covered() };
    Ok(Told { facts: catalog.facts()?, wanted, rest, behind: catalog.covered()..size })
}
