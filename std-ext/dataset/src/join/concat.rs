//! Datasets one after the other along a dimension.

use std::collections::BTreeSet;

use tgm_std::Result;

use super::File;
use super::absent::absent;
use super::arrays::{content, flat, repeated};
use super::equal::same;
use super::moments::{Becomes, counted_anew};
use crate::amounts::{as_values, common};
use crate::archive::bad;
use crate::cf::NUMPY_DTYPE;
use crate::dataset::Dataset;
use crate::labels::scale_of;
use crate::model::{Content, LeftOut, UNCOUNTED, Variable, product, text_attribute};
use crate::times::TimeScale;

/// What is known of files that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// All have the same variables.
    Alike,
    /// They were appended to the first one, which alone has what lacks the dimension.
    Appended,
    /// Some lack variables that others have.
    Lacking,
}

/// Datasets one after the other along a dimension that all of them have. What lacks it is taken once if it is equal in all of them,
/// and is the same at each index of a file otherwise. What was appended has it with the first part alone.
///
/// # Errors
/// [`tgm_std::TensogramError::Metadata`] for a variable that a file lacks, or has with other dimensions or another type; the errors
/// of reading.
pub(super) fn concat(files: Vec<File>, dim: &str, how: How) -> Result<Dataset> {
    let row = Row { lens: files.iter().map(|file| len_of(&file.dataset, dim)).collect(), files: &files, dim, how };
    let coordinates: BTreeSet<&str> = files.iter().flat_map(|file| file.dataset.coordinate_names()).collect();
    let (mut variables, mut left_out) = (Vec::new(), Vec::new());
    for name in row.names() {
        match row.variable(name, coordinates.contains(name))? {
            Becomes::Variable(variable) => variables.push(variable),
            Becomes::Nothing(why) => {
                let objects = if row.lacking(name).is_some() { 1 } else { files.len() };
                left_out.push(LeftOut { name: name.into(), what: String::new(), why, objects });
            }
        }
    }
    let mut files = files.into_iter();
    let Some(File { dataset: mut first, .. }) = files.next() else { return Err(bad("there are no files")) };
    for File { dataset, .. } in files {
        first.left_out.extend(dataset.left_out);
        first.notes.extend(dataset.notes);
    }
    first.left_out.extend(left_out);
    Ok(Dataset { variables, ..first })
}

/// Files that follow each other along a dimension.
struct Row<'f> {
    files: &'f [File],
    dim: &'f str,
    /// The length of the dimension in each of them.
    lens: Vec<u64>,
    how: How,
}

impl<'f> Row<'f> {
    /// The names of the variables of all files. What was appended has the variables of the first one.
    fn names(&self) -> Vec<&'f str> {
        let count = if self.how == How::Appended { 1 } else { self.files.len() };
        let mut names: Vec<&str> = Vec::new();
        let mut known = BTreeSet::new();
        for variable in self.files.iter().take(count).flat_map(|file| &file.dataset.variables) {
            if known.insert(variable.name.as_str()) {
                names.push(&variable.name);
            }
        }
        names
    }

    /// The first file that lacks a variable.
    fn lacking(&self, name: &str) -> Option<&'f File> {
        self.files.iter().find(|file| file.dataset.variable(name).is_none())
    }

    /// What the variable of a name becomes.
    fn variable(&self, name: &str, is_coordinate: bool) -> Result<Becomes> {
        let having: Vec<(&File, &Variable)> =
            self.files.iter().filter_map(|file| Some((file, file.dataset.variable(name)?))).collect();
        let Some((owner, first)) = having.first().copied() else { return Err(bad("there are no files")) };
        let is_along = first.dims.iter().any(|known| known == self.dim);
        if self.how == How::Appended && !is_along {
            return Ok(Becomes::Variable(first.clone()));
        }
        let Some(lacking) = self.lacking(name) else {
            let parts = having.iter().map(|(_, part)| *part).collect();
            return self.joined(name, parts, false);
        };
        let has_it = || format!("{} has it, and {} does not", owner.name, lacking.name);
        if self.how == How::Lacking && !is_along {
            let is_same = having.iter().map(|(file, part)| same(&file.dataset, part, first));
            let is_same = is_same.collect::<Result<Vec<bool>>>()?.into_iter().all(|is_same| is_same);
            return Ok(if is_same { Becomes::Variable(first.clone()) } else { Becomes::Nothing(has_it()) });
        }
        if self.how != How::Lacking && (self.how == How::Appended || !is_coordinate) {
            return Err(bad(format!("{}: it has no variable '{name}', which {} has", lacking.name, owner.name)));
        }
        let absent = |len: &u64| absent(first, self.dim, *len).filter(|_| self.how == How::Lacking && !is_coordinate);
        let Some(missing) = self.lens.iter().map(absent).collect::<Option<Vec<Variable>>>() else {
            return Ok(Becomes::Nothing(has_it()));
        };
        let parts =
            self.files.iter().zip(&missing).map(|(file, missing)| file.dataset.variable(name).unwrap_or(missing));
        self.joined(name, parts.collect(), true)
    }

    /// The variables of all files, one after the other. With `has_absent` some of them stand for what a file lacks.
    fn joined(&self, name: &str, parts: Vec<&Variable>, has_absent: bool) -> Result<Becomes> {
        let (files, dim, lens) = (self.files, self.dim, &self.lens);
        check(files, &parts, dim)?;
        // A number may be a missing cell in one file, and a value in another.
        let is_raw = files.first().is_some_and(|file| file.dataset.archive.raw.has(name));
        let values = if is_raw { None } else { as_values(&parts) };
        let scales: Vec<Option<TimeScale>> =
            files.iter().zip(&parts).map(|(file, part)| scale_of(&file.dataset, part)).collect();
        if let Some(scales) = scales.iter().copied().collect::<Option<Vec<TimeScale>>>()
            && (has_absent || values.is_some() || scales.array_windows().any(|[one, other]| one != other))
        {
            return counted_anew(files, &parts, dim, lens);
        }
        let parts: Vec<&Variable> = values.as_ref().map_or(parts, |values| values.iter().collect());
        let [first, ..] = parts.as_slice() else { return Err(bad("there are no files")) };
        let units = |part: &Variable| text_attribute(&part.attributes, "units").map(str::to_string);
        if let Some((file, other)) = files.iter().zip(&parts).find(|(_, part)| units(part) != units(first)) {
            let words = |units: Option<String>| units.map_or("no units".into(), |units| format!("units {units:?}"));
            let (own, others) = (words(units(first)), words(units(other)));
            let one = files.first().map_or("", |file| file.name.as_str());
            return Ok(Becomes::Nothing(format!("it has {own} in {one}, and {others} in {}", file.name)));
        }
        if parts.iter().all(|part| !part.dims.iter().any(|known| known == dim)) {
            let Some(one) = files.first() else { return Err(bad("there are no files")) };
            let mut differing = None;
            for (file, part) in files.iter().zip(&parts).skip(1) {
                if !same(&one.dataset, first, part)? {
                    differing = Some(&file.name);
                    break;
                }
            }
            match differing {
                None => return Ok(Becomes::Variable((*first).clone())),
                Some(file) if first.dims == [name] => {
                    return Err(bad(format!("{file}: it has other labels of {name} than {}", one.name)));
                }
                Some(_) => {}
            }
        }
        stacked(files, &parts, dim, lens).map(Becomes::Variable)
    }
}

/// The length of a dimension.
fn len_of(dataset: &Dataset, dim: &str) -> u64 {
    dataset.dims().into_iter().find(|(name, _)| *name == dim).map_or(0, |(_, len)| len)
}

/// Variables one after the other.
fn stacked(files: &[File], parts: &[&Variable], dim: &str, lens: &[u64]) -> Result<Variable> {
    let [first, ..] = parts else { return Err(bad("there are no files")) };
    let all: u64 = lens.iter().fold(0, |all: u64, len| all.saturating_add(*len));
    let (mut dims, mut shape) = (first.dims.clone(), first.shape.clone());
    let axis = first.dims.iter().position(|known| known == dim);
    if let Some(place) = axis.and_then(|axis| shape.get_mut(axis)) {
        *place = all;
    } else {
        dims.insert(0, dim.into());
        shape.insert(0, all);
    }
    let name = &first.name;
    product(&shape).ok_or_else(|| bad(format!("{name}: {UNCOUNTED}")))?;
    let content = if first.texts().is_some() {
        let texts = |part: &Variable, len: &u64| {
            let texts = part.texts().unwrap_or(&[]);
            if axis.is_some() { texts.to_vec() } else { repeated(texts, *len) }
        };
        let all: Vec<Vec<String>> = parts.iter().zip(lens).map(|(part, len)| texts(part, len)).collect();
        let shapes: Vec<&[u64]> = parts.iter().map(|part| part.shape.as_slice()).collect();
        let pairs: Vec<(&[String], &[u64])> = all.iter().map(Vec::as_slice).zip(shapes).collect();
        Content::Texts(flat(&pairs, axis.unwrap_or(0)))
    } else {
        let dtypes: Vec<_> = parts.iter().filter_map(|part| part.dtype()).collect();
        let Some(dtype) = common(&dtypes) else {
            let other = files.iter().zip(&dtypes).find(|(_, dtype)| Some(*dtype) != dtypes.first());
            let (file, dtype) = other.map_or(("", ""), |(file, dtype)| (file.name.as_str(), dtype.name()));
            let (own, of_first) =
                (dtypes.first().map_or("", |dtype| dtype.name()), files.first().map_or("", |it| &it.name));
            return Err(bad(format!("{file}: '{name}' is of type {dtype}, and {own} in {of_first}")));
        };
        content(parts.iter().map(|part| (*part).clone()).collect(), axis, lens, dtype)
    };
    Ok(Variable { name: name.clone(), dims, shape, attributes: first.attributes.clone(), content })
}

/// # Errors
/// [`tgm_std::TensogramError::Metadata`] for variables of one name that cannot be one after the other, with their files.
fn check(files: &[File], parts: &[&Variable], dim: &str) -> Result<()> {
    let (Some(one), [first, ..]) = (files.first(), parts) else { return Ok(()) };
    let others = |it: &Variable| -> Vec<(String, u64)> {
        it.dims.iter().cloned().zip(it.shape.iter().copied()).filter(|(name, _)| name != dim).collect()
    };
    let words = |it: &Variable| {
        let words: Vec<String> = it.dims.iter().zip(&it.shape).map(|(name, len)| format!("{name} {len}")).collect();
        if words.is_empty() { "none".into() } else { words.join(", ") }
    };
    let name = &first.name;
    for (file, part) in files.iter().zip(parts) {
        if part.dims != first.dims || others(part) != others(first) {
            let (own, of_first) = (words(part), words(first));
            return Err(bad(format!("{}: '{name}' has dimensions {own}, and {of_first} in {}", file.name, one.name)));
        }
        let kind = |it: &Variable| {
            // Times of numpy may be of other units, which are counted anew.
            let is_time = TimeScale::of(&it.attributes).is_some();
            let times = text_attribute(&it.attributes, NUMPY_DTYPE).filter(|_| !is_time).map(str::to_string);
            (it.texts().is_some(), times)
        };
        if kind(part) != kind(first) {
            let kind = |it: &Variable| it.dtype().map_or("text", |dtype| dtype.name());
            let (own, of_first) = (kind(part), kind(first));
            return Err(bad(format!("{}: '{name}' is of type {own}, and {of_first} in {}", file.name, one.name)));
        }
    }
    Ok(())
}
