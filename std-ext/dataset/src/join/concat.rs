//! Datasets one behind the other along a dimension.

use tgm_std::Result;

use super::File;
use super::arrays::{common, content, flat, repeated};
use super::equal::same;
use super::moments::{Becomes, counted_anew};
use crate::archive::bad;
use crate::cf::NUMPY_DTYPE;
use crate::dataset::Dataset;
use crate::labels::scale_of;
use crate::model::{Content, LeftOut, UNCOUNTED, Variable, product, text_attribute};
use crate::times::TimeScale;

/// Datasets one behind the other along a dimension that all of them have. What lacks it is taken once if it is equal in all of them,
/// and is the same at each index of a file otherwise. Of what was appended it is stored with the first part alone.
///
/// # Errors
/// [`tgm_std::TensogramError::Metadata`] for a variable that a file lacks, or has with other dimensions or another type; the errors
/// of reading.
pub(super) fn concat(files: Vec<File>, dim: &str, is_appended: bool) -> Result<Dataset> {
    let lens: Vec<u64> = files.iter().map(|file| len_of(&file.dataset, dim)).collect();
    let Some(first) = files.first() else { return Err(bad("there are no files")) };
    let coordinates = first.dataset.coordinate_names();
    let (mut variables, mut left_out) = (Vec::new(), Vec::new());
    for variable in &first.dataset.variables {
        let name = variable.name.as_str();
        if is_appended && !variable.dims.iter().any(|known| known == dim) {
            variables.push(variable.clone());
            continue;
        }
        let lacking = files.iter().find(|file| file.dataset.variable(name).is_none());
        let became = match lacking {
            Some(file) if is_appended || !coordinates.contains(name) => {
                return Err(bad(format!("{}: it has no variable '{name}', which {} has", file.name, first.name)));
            }
            Some(file) => Becomes::Nothing(format!("{} does not have it", file.name)),
            None => joined(&files, name, dim, &lens)?,
        };
        match became {
            Becomes::Variable(variable) => variables.push(variable),
            Becomes::Nothing(why) => {
                left_out.push(LeftOut { name: name.into(), what: String::new(), why, objects: files.len() });
            }
        }
    }
    // What others have beside.
    for file in files.iter().filter(|_| !is_appended).skip(1) {
        for name in file.dataset.variables.iter().map(|it| &it.name) {
            let is_known = first.dataset.variable(name).is_some();
            if !is_known && !left_out.iter().any(|it: &LeftOut| it.name == *name) {
                let why = format!("{} has it, and {} does not", file.name, first.name);
                left_out.push(LeftOut { name: name.clone(), what: String::new(), why, objects: 1 });
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

/// The length of a dimension.
fn len_of(dataset: &Dataset, dim: &str) -> u64 {
    dataset.dims().into_iter().find(|(name, _)| *name == dim).map_or(0, |(_, len)| len)
}

fn joined(files: &[File], name: &str, dim: &str, lens: &[u64]) -> Result<Becomes> {
    let parts: Vec<&Variable> = files.iter().filter_map(|file| file.dataset.variable(name)).collect();
    let [first, ..] = parts.as_slice() else { return Err(bad("there are no files")) };
    check(files, &parts, dim)?;
    let scales: Vec<Option<TimeScale>> =
        files.iter().zip(&parts).map(|(file, part)| scale_of(&file.dataset, part)).collect();
    if let Some(scales) = scales.iter().copied().collect::<Option<Vec<TimeScale>>>()
        && scales.windows(2).any(|pair| pair.first() != pair.last())
    {
        return counted_anew(files, &parts, dim, lens);
    }
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

/// Variables one behind the other.
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
/// [`tgm_std::TensogramError::Metadata`] for variables of one name that cannot be one behind the other, with their files.
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
            let times = text_attribute(&it.attributes, NUMPY_DTYPE).map(str::to_string);
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
