//! Files of HDF5, NetCDF 4 among them, read by the library HDF5 alone.
//!
//! netCDF-C does not show all that a file holds, and follows links wherever they lead: around in circles, and to other
//! files. So links are walked here, each object once, and only what lies in the file itself is read.
//!
//! | thing | becomes |
//! |---|---|
//! | a dataset of numbers, truth values, complex numbers, integers with names | a variable |
//! | a dataset of texts | texts, if they are short |
//! | a further link to something in the file | a link, unless it leads to a group above: that is an error |
//! | external links, external and virtual storage, filters that are not part of HDF5 or h5py | an error: another file would be read, or a plugin loaded |
//! | a dataset of fields | a variable for each field of numbers, `name.field` |
//! | other types, datasets without a shape | listed |
//!
//! Dimensions are the scales that NetCDF 4 and h5py attach. A [`Ledger`] counts links and attributes, as HDF5 counts them,
//! and compares the counts with what was kept or listed.

mod attributes;
mod compound;
mod scales;
mod values;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hdf5_metno::{File, Group, LinkType, Location, LocationInfo, LocationType};
use tgm_std::file::SourceName;
use tgm_std::{DecodeLimits, Result};

use super::complex;
use super::failed;
use super::tree::Tree;
use crate::dimensions::path_in;
use crate::error::{encoding, reason_in, reason_of};
use crate::note::Note;

/// How deep groups lie within groups.
const MAX_DEPTH: usize = 64;

/// How many links and attributes there are, and of how many it is known what became of them.
#[derive(Debug, Default)]
struct Ledger {
    counted: u64,
    accounted: u64,
}

/// What the walk finds.
#[derive(Debug, Default)]
struct Inventory {
    /// Paths of objects, by their places in the file.
    paths: BTreeMap<String, String>,
    /// Groups and datasets, groups before what they hold.
    objects: Vec<(String, LocationType)>,
    /// Soft links: paths.
    soft: Vec<String>,
    links: Vec<(String, String)>,
    has_external: bool,
    ledger: Ledger,
}

/// Reads what the file holds, but for values.
#[allow(clippy::match_wildcard_for_single_variants, reason = "other versions of HDF5 have more kinds")]
pub(super) fn read<'f>(
    path: &Path,
    file: &'f File,
    (len, limits): (u64, &'f DecodeLimits),
    report: &mut dyn FnMut(Note),
) -> Result<Tree<'f>> {
    let mut found = Inventory::default();
    let root = file.as_group().map_err(|error| failed(SourceName::of(path), error))?;
    let info = root.loc_info().map_err(|error| failed(SourceName::of(path), error))?;
    found.paths.insert(key(&info), String::new());
    walk(&root, "", &mut Vec::from([key(&info)]), &mut found, report);
    soft_links(file, &mut found, report);
    let mut ledger = std::mem::take(&mut found.ledger);
    let mut tree = Tree {
        attributes: attributes::read(&root, "the file", attributes::Of::Group, &mut ledger, report),
        groups: Vec::new(),
        variables: Vec::new(),
        texts: Vec::new(),
        dimensions: Vec::new(),
        links: std::mem::take(&mut found.links),
    };
    let scales = scales::Scales::read(file, &found, report);
    for (path, kind) in &found.objects {
        match kind {
            LocationType::Group => match file.group(path) {
                Ok(group) => {
                    let own = attributes::read(&group, path, attributes::Of::Group, &mut ledger, report);
                    tree.groups.push((path.clone(), own));
                }
                Err(error) => report(Note::failed(path.as_str(), encoding(reason_of(error)))),
            },
            LocationType::Dataset => match file.dataset(path) {
                Ok(dataset) => {
                    values::add(&mut tree, path, dataset, (&scales, len, limits), &mut ledger, report);
                }
                Err(error) => report(Note::failed(path.as_str(), encoding(reason_of(error)))),
            },
            // Other versions of HDF5 have more kinds than named types.
            _ => {
                if let Ok(kind) = file.committed_datatype(path) {
                    // Its attributes are about a type, not about values.
                    let attributes = kind.loc_info().map_or(0, |info| info.num_attrs as u64);
                    ledger.counted += attributes;
                    ledger.accounted += attributes;
                }
                // NetCDF has these beside complex numbers, and they are made again with those.
                if !complex::TYPES.contains(&path.as_str()) {
                    report(Note::not_kept(path.as_str(), "the committed type: types of variables are kept with them"));
                }
            }
        }
    }
    tree.join();
    let of_variables = tree.variables.iter().flat_map(|variable| &variable.dimensions);
    let of_texts = tree.texts.iter().flat_map(|text| &text.dimensions);
    let used: BTreeSet<String> = of_variables.chain(of_texts).filter_map(super::tree::Dimension::path).collect();
    tree.dimensions.retain(|(path, ..)| !used.contains(path));
    if ledger.counted != ledger.accounted {
        let Ledger { counted, accounted } = ledger;
        let what = format!("HDF5 counts {counted} links and attributes, of which {accounted} are kept or listed");
        report(Note::failed("the file", encoding(what)));
    }
    Ok(tree)
}

/// Where an object is, as a key.
fn key(info: &LocationInfo) -> String {
    format!("{:?}", (info.fileno, info.token))
}

/// Walks the hard links of a group. `above` has the places of the groups that lead to it.
fn walk(group: &Group, path: &str, above: &mut Vec<String>, found: &mut Inventory, report: &mut dyn FnMut(Note)) {
    let counted = group.len();
    found.ledger.counted += counted;
    let links = match group.links(hdf5_metno::IndexType::Name, hdf5_metno::IterationOrder::Increasing) {
        Ok(links) => links,
        Err(error) => {
            // A name that is not text ends the walk of its group.
            found.ledger.accounted += counted;
            report(Note::failed(
                place(path),
                encoding(reason_in(format_args!("{counted} links cannot be read"))(error)),
            ));
            return;
        }
    };
    let mut links = links;
    // As they were made, where the file knows that; otherwise by name.
    links.sort_by_key(|(_, link)| link.creation_order);
    let mut inner = Vec::new();
    for (name, link) in links {
        found.ledger.accounted += 1;
        let path = path_in(path, &name);
        match link.link_type {
            LinkType::Soft => found.soft.push(path),
            LinkType::External => {
                found.has_external = true;
                report(Note::failed(path, encoding("the link leads to another file, which is not read")));
            }
            LinkType::Hard => inner.extend(hard_link(group, (&name, path), above, found, report)),
        }
    }
    // Groups after all that lies beside them.
    for (name, path, place) in inner {
        found.objects.push((path.clone(), LocationType::Group));
        if above.len() > MAX_DEPTH {
            report(Note::failed(path, encoding(format!("groups lie deeper than {MAX_DEPTH}"))));
            continue;
        }
        match group.group(&name) {
            Ok(inner) => {
                above.push(place);
                walk(&inner, &path, above, found, report);
                above.pop();
            }
            Err(error) => report(Note::failed(path, encoding(reason_of(error)))),
        }
    }
}

/// Notes what a hard link leads to. Returns the name, the path and the place of a group that was not seen before.
fn hard_link(
    group: &Group,
    (name, path): (&str, String),
    above: &[String],
    found: &mut Inventory,
    report: &mut dyn FnMut(Note),
) -> Option<(String, String, String)> {
    let info = match group.loc_info_by_name(name) {
        Ok(info) => info,
        Err(error) => {
            report(Note::failed(path, encoding(reason_of(error))));
            return None;
        }
    };
    let place = key(&info);
    if let Some(known) = found.paths.get(&place) {
        let known = known.clone();
        if above.contains(&place) {
            let target = if known.is_empty() { "the root" } else { known.as_str() };
            report(Note::failed(path, encoding(format!("the link leads back to {target}, which it is in"))));
        } else {
            found.links.push((path, known));
        }
        return None;
    }
    found.paths.insert(place.clone(), path.clone());
    if info.loc_type == LocationType::Group {
        return Some((name.to_string(), path, place));
    }
    found.objects.push((path, info.loc_type));
    None
}

/// Looks where soft links lead. Where the file has external links too, a soft link may lead through one of them.
fn soft_links(file: &File, found: &mut Inventory, report: &mut dyn FnMut(Note)) {
    for path in std::mem::take(&mut found.soft) {
        if found.has_external {
            report(Note::failed(path, encoding("the soft link is not followed: the file has links to other files")));
            continue;
        }
        let target = Location::loc_info_by_name(file, &path).ok().and_then(|info| found.paths.get(&key(&info)));
        match target {
            None => report(Note::not_kept(path, "the soft link: it leads nowhere")),
            Some(target) if target.is_empty() || path.starts_with(&format!("{target}/")) => {
                report(Note::failed(path, encoding(format!("the link leads back to {target:?}, which it is in"))));
            }
            Some(target) => found.links.push((path, target.clone())),
        }
    }
}

fn place(path: &str) -> &str {
    if path.is_empty() { "the file" } else { path }
}
