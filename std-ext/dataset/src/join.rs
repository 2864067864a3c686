//! Files that go on where others end, as one dataset: as `xarray.open_mfdataset(combine="by_coords")` joins them.
//!
//! Files with the same variables are joined along each dimension whose labels differ. Files with other variables are merged with
//! them, if what they share is equal. Files that have some of the variables of another are joined too, and a variable is missing where
//! a file lacks it. Other files are datasets of their own. What was appended to a file follows it in its order.

mod absent;
mod arrays;
mod concat;
mod equal;
mod moments;
mod times;

use std::collections::BTreeSet;

use tgm_catalog::tree::side_by_side;
use tgm_std::Result;

use self::concat::{How, concat};
use self::equal::fits;
use self::times::{Key, Labels};
use crate::archive::bad;
use crate::dataset::Dataset;
use crate::model::{LeftOut, Variable};
use crate::source::DISTANT_AT_ONCE;

/// A dataset of one file, or of several that were joined.
#[derive(Clone, Debug)]
pub(crate) struct File {
    /// What errors call it.
    pub(crate) name: String,
    pub(crate) dataset: Dataset,
}

/// The datasets that files are, the one with the most variables first. It lists the others as left out.
///
/// # Errors
/// [`tgm_std::TensogramError::Metadata`] for files with the same variables of which nothing says how they follow each other, with
/// their names; the errors of reading their coordinates.
pub(crate) fn by_coordinates(files: Vec<File>) -> Result<Vec<Dataset>> {
    if files.len() < 2 {
        return Ok(files.into_iter().map(|file| file.dataset).collect());
    }
    let mut groups: Vec<(BTreeSet<String>, Vec<File>)> = Vec::new();
    for file in files {
        let names = own_variables(&file.dataset);
        match groups.iter_mut().find(|(known, _)| *known == names) {
            Some((_, group)) => group.push(file),
            None => groups.push((names, vec![file])),
        }
    }
    let apart = if groups.len() > 1 { groups.clone() } else { Vec::new() };
    let joined = groups.into_iter().map(|(names, group)| Ok((names, of_group(group, How::Alike)?)));
    let found = completed(merged(joined.collect::<Result<_>>()?)?, &apart);
    let mut found = found.into_iter();
    let Some(((_, mut first), _)) = found.next() else { return Ok(Vec::new()) };
    let mut others = Vec::new();
    for ((names, File { name, dataset }), why) in found {
        first.dataset.left_out.push(LeftOut {
            name,
            what: Vec::from_iter(names).join(", "),
            why,
            objects: dataset.variables.iter().map(Variable::object_count).sum(),
        });
        others.push(dataset);
    }
    Ok(std::iter::once(first.dataset).chain(others).collect())
}

/// Files of different variables, each with the names of these, merged where what they share is equal.
fn merged(files: Vec<Named>) -> Result<Vec<Named>> {
    let mut files = files;
    files.sort_by_key(|(names, _)| std::cmp::Reverse(names.len()));
    let mut found: Vec<Named> = Vec::new();
    for (names, file) in files {
        let mut fitting = None;
        for (number, (_, other)) in found.iter().enumerate() {
            if fits(other, &file)? {
                fitting = Some(number);
                break;
            }
        }
        match fitting.and_then(|number| found.get_mut(number)) {
            Some((known, other)) => {
                known.extend(names);
                merge(&mut other.dataset, file.dataset);
            }
            None => found.push((names, file)),
        }
    }
    Ok(found)
}

/// A file with the names of its variables that are not coordinates.
type Named = (BTreeSet<String>, File);

/// Files that have some of the variables of another, joined where their labels say how they follow each other. Each comes
/// with the reason why it is a dataset of its own. `apart` are the files before any was joined, by their variables: those that lack a
/// variable may lie between others.
fn completed(files: Vec<Named>, apart: &[(BTreeSet<String>, Vec<File>)]) -> Vec<(Named, String)> {
    const APART: &str = "it has other coordinates";
    let mut clusters: Vec<(BTreeSet<String>, Vec<Named>)> = Vec::new();
    // Those with the most variables come first.
    for (names, file) in files {
        match clusters.iter_mut().find(|(known, _)| names.is_subset(known) && !names.is_empty()) {
            Some((_, files)) => files.push((names, file)),
            None => clusters.push((names.clone(), vec![(names, file)])),
        }
    }
    let mut found = Vec::new();
    for (names, files) in clusters {
        if files.len() < 2 {
            found.extend(files.into_iter().map(|file| (file, APART.to_string())));
            continue;
        }
        let joined: Vec<File> = files.iter().map(|(_, file)| file.clone()).collect();
        let own = apart.iter().filter(|(known, _)| known.is_subset(&names));
        let own: Vec<File> = own.flat_map(|(_, files)| files.iter().cloned()).collect();
        // Where nothing says how they follow each other, they are datasets of their own.
        match of_group(joined, How::Lacking).or_else(|_| of_group(own, How::Lacking)) {
            Ok(file) => found.push(((names, file), APART.to_string())),
            Err(error) => found.extend(files.into_iter().map(|file| (file, format!("{APART}: {error}")))),
        }
    }
    found.sort_by_key(|((names, _), _)| std::cmp::Reverse(names.len()));
    found
}

/// The file with what was appended to it, one part after the other, each with the dimension along which it goes on.
///
/// # Errors
/// [`tgm_std::TensogramError::Metadata`] for a part that does not fit; the errors of reading coordinates.
pub(crate) fn appended(first: File, parts: Vec<(String, Dataset)>) -> Result<File> {
    let mut found = first;
    let mut run: Vec<File> = Vec::new();
    let mut along = String::new();
    let mut left_out = Vec::new();
    let count = parts.len();
    for (number, (dim, dataset)) in (1..).zip(parts) {
        let lacks = |name: &&str| dataset.variable(name).is_none();
        let growing = found.dataset.variables.iter().filter(|it| it.dims.contains(&dim)).map(|it| it.name.as_str());
        let lacking: Vec<&str> = growing.filter(lacks).collect();
        // Writing it was interrupted.
        if !lacking.is_empty() {
            left_out.push(LeftOut {
                name: format!("part {number} of {}", found.name),
                what: String::new(),
                why: format!(
                    "it is not complete, and lacks {}: it is being appended, or that was interrupted",
                    lacking.join(", ")
                ),
                objects: dataset.variables.iter().map(Variable::object_count).sum(),
            });
            continue;
        }
        if dim != along && !run.is_empty() {
            found = followed(found, std::mem::take(&mut run), &along)?;
        }
        along = dim;
        run.push(File { name: format!("{}, part {number}", found.name), dataset });
    }
    if !run.is_empty() {
        found = followed(found, run, &along)?;
    }
    found.dataset.left_out.extend(left_out);
    found.dataset.appended = count;
    Ok(found)
}

fn followed(first: File, parts: Vec<File>, along: &str) -> Result<File> {
    let name = first.name.clone();
    let files: Vec<File> = std::iter::once(first).chain(parts).collect();
    let mut found = File { name, dataset: concat(files, along, How::Appended)? };
    if let Some(Labels { labels, .. }) = Labels::of(&found, along)? {
        note_repeated(&mut found.dataset, along, &labels)?;
    }
    Ok(found)
}

/// Notes the labels of a dimension that are there more than once, as what was appended twice has them.
///
/// # Errors
/// The errors of reading labels.
fn note_repeated(dataset: &mut Dataset, dim: &str, labels: &[Key]) -> Result<()> {
    let mut known = BTreeSet::new();
    let repeated: Vec<usize> = (0..).zip(labels).filter(|(_, label)| !known.insert(*label)).map(|(at, _)| at).collect();
    let (Some(first), count) = (repeated.first(), repeated.len()) else { return Ok(()) };
    let text = dataset.labels(dim)?.map_or_else(String::new, |it| it.label_text(*first));
    dataset.notes.push(format!("{dim}: {count} labels are there more than once, such as {text}"));
    Ok(())
}

/// The names of the variables that are not coordinates.
pub(crate) fn own_variables(dataset: &Dataset) -> BTreeSet<String> {
    let coordinates = dataset.coordinate_names();
    let variables = dataset.variables.iter().filter(|it| !coordinates.contains(it.name.as_str()));
    variables.map(|it| it.name.clone()).collect()
}

/// Adds what another dataset has beside.
fn merge(dataset: &mut Dataset, other: Dataset) {
    let Dataset { variables, left_out, notes, .. } = other;
    for variable in variables {
        if dataset.variable(&variable.name).is_none() {
            dataset.variables.push(variable);
        }
    }
    dataset.left_out.extend(left_out);
    dataset.notes.extend(notes);
}

/// A file with the labels of the dimensions of its group.
struct Labeled {
    file: File,
    labels: Vec<Option<Labels>>,
}

impl Labeled {
    fn label(&self, dim: usize) -> Option<&Key> {
        self.labels.get(dim)?.as_ref()?.labels.first()
    }
}

/// Files with the same variables as one, or files of which some lack variables.
fn of_group(group: Vec<File>, how: How) -> Result<File> {
    let mut group = group;
    if group.len() == 1
        && let Some(only) = group.pop()
    {
        return Ok(only);
    }
    let mut dims: Vec<String> = group
        .first()
        .map_or_else(Vec::new, |first| first.dataset.dims().into_iter().map(|(name, _)| name.to_string()).collect());
    if how == How::Lacking {
        // A variable that others lack may have a dimension that they lack.
        let has = |file: &File, dim: &str| file.dataset.dims().iter().any(|(name, _)| *name == dim);
        dims.retain(|dim| group.iter().all(|file| has(file, dim)));
    }
    let read = |file: &File| dims.iter().map(|dim| Labels::of(file, dim)).collect::<Result<Vec<_>>>();
    let labels = side_by_side(&group, DISTANT_AT_ONCE, read);
    let files = group.into_iter().zip(labels).map(|(file, labels)| Ok(Labeled { file, labels: labels? }));
    let mut files = files.collect::<Result<Vec<_>>>()?;
    let differs = |dim: usize| {
        let mut of_dim = files.iter().map(|file| file.labels.get(dim));
        let first = of_dim.next();
        of_dim.any(|other| Some(other) != first)
    };
    let mut varying: Vec<usize> = (0..dims.len()).filter(|dim| differs(*dim)).collect();
    if varying.is_empty() {
        return Err(bad(format!(
            "{}: they have the same variables and coordinates, so nothing says how they go on",
            some_names(&files)
        )));
    }
    for dim in &varying {
        Labels::check_kinds(
            &files.iter().map(|file| (file.file.name.as_str(), file.labels.get(*dim))).collect::<Vec<_>>(),
            dims.get(*dim),
        )?;
    }
    // The last dimension first, until one is left.
    while let Some(dim) = varying.pop() {
        let mut rows: Vec<(Vec<Option<Key>>, Vec<Labeled>)> = Vec::new();
        for file in files {
            let place: Vec<Option<Key>> = varying.iter().map(|other| file.label(*other).cloned()).collect();
            match rows.iter_mut().find(|(known, _)| *known == place) {
                Some((_, row)) => row.push(file),
                None => rows.push((place, vec![file])),
            }
        }
        let name = dims.get(dim).map_or("", String::as_str);
        files = rows.into_iter().map(|(_, row)| along(row, (name, dim), how)).collect::<Result<_>>()?;
    }
    let names = some_names(&files);
    let mut files = files.into_iter();
    match (files.next(), files.next()) {
        (Some(only), None) => Ok(only.file),
        _ => Err(bad(format!("{names}: they do not form a box along their dimensions"))),
    }
}

fn some_names(files: &[Labeled]) -> String {
    let names: Vec<&str> = files.iter().take(3).map(|it| it.file.name.as_str()).collect();
    let more = if files.len() > names.len() { " …" } else { "" };
    format!("{}{more}", names.join(", "))
}

/// Files in the order of their labels as one.
fn along(row: Vec<Labeled>, (dim, number): (&str, usize), how: How) -> Result<Labeled> {
    let mut row = row;
    if row.len() == 1
        && let Some(only) = row.pop()
    {
        return Ok(only);
    }
    let of = |it: &Labeled| it.labels.get(number).cloned().flatten();
    if let Some(lacking) = row.iter().find(|it| of(it).is_none()) {
        return Err(bad(format!("{}: it has no coordinate {dim}, along which others go on", lacking.file.name)));
    }
    // Without labels there is nothing to put anywhere.
    if row.iter().any(|it| it.label(number).is_some()) {
        row.retain(|it| it.label(number).is_some());
    } else {
        row.truncate(1);
    }
    let is_falling = row.iter().filter_map(of).any(|it| it.labels.len() > 1 && it.labels.array_windows().all(falls));
    row.sort_by(|a, b| {
        let order = a.label(number).cmp(&b.label(number));
        if is_falling { order.reverse() } else { order }
    });
    let all: Vec<Key> = row.iter().filter_map(of).flat_map(|it| it.labels).collect();
    if !(all.array_windows().all(|[a, b]| a <= b) || all.array_windows().all(falls)) {
        return Err(bad(format!("{}: their {dim} overlaps, or is not in order", overlapping(&row, number))));
    }
    let (Some(first), true) = (row.first(), row.len() > 1) else {
        return row.pop().ok_or_else(|| bad("there are no files"));
    };
    let name = first.file.name.clone();
    let mut labels = first.labels.clone();
    if let Some(Some(own)) = labels.get_mut(number) {
        own.labels = all;
    }
    let all = labels.get(number).cloned().flatten().map_or_else(Vec::new, |own| own.labels);
    let mut dataset = concat(row.into_iter().map(|it| it.file).collect(), dim, how)?;
    note_repeated(&mut dataset, dim, &all)?;
    Ok(Labeled { file: File { name, dataset }, labels })
}

fn falls([a, b]: &[Key; 2]) -> bool {
    a >= b
}

/// The first two files whose labels are out of order.
fn overlapping(row: &[Labeled], dim: usize) -> String {
    let ends = |it: &Labeled| {
        let labels = &it.labels.get(dim)?.as_ref()?.labels;
        Some((labels.iter().min()?.clone(), labels.iter().max()?.clone()))
    };
    for [one, other] in row.array_windows() {
        if let (Some((low, high)), Some((next_low, next_high))) = (ends(one), ends(other))
            && next_low <= high
            && low <= next_high
        {
            return format!("{}, {}", one.file.name, other.file.name);
        }
    }
    some_names(row)
}
