//! Boxes of variables that go on in other files.

use std::sync::{Mutex, PoisonError};

use tgm_catalog::tree::side_by_side;
use tgm_core::descriptor::Dtype;
use tgm_std::codec::threads::Threads;
use tgm_std::{DecodeOptions, Result};

use super::{BESIDE, Plan, width};
use crate::archive::{Archive, bad};
use crate::elements::floats;
use crate::indices::Indices;
use crate::model::{Joined, Variable, product};
use crate::source::DISTANT_AT_ONCE;

/// Indices along the dimension that follow each other in the result, and lie in one file.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    /// The number of the file.
    part: usize,
    /// The indices there.
    indices: Indices,
    count: u64,
}

/// Cuts the indices of the dimension at the ends of files. `starts` are where they begin, `len` is the end of the last one.
fn runs(indices: &Indices, starts: &[u64], len: u64) -> Result<Vec<Run>> {
    let mut found: Vec<Run> = Vec::new();
    let (count, mut number) = (indices.count(), 0);
    while number < count {
        let index = indices.at(number).filter(|index| *index < len);
        let index = index.ok_or_else(|| bad(format!("an index is beyond its dimension, which has {len}")))?;
        // Files that begin at one index are all empty but the last one.
        let part = starts.partition_point(|start| *start <= index).checked_sub(1);
        let part = part.ok_or_else(|| bad("an index lies before the first file"))?;
        let start = starts.get(part).copied().unwrap_or(0);
        let end = starts.get(part + 1).copied().unwrap_or(len);
        let (here, taken) = match indices {
            Indices::Index(_) => (Indices::Index(index - start), 1),
            Indices::Range { step, .. } => {
                let taken = (count - number).min((end - index - 1) / step.get() + 1);
                (Indices::Range { start: index - start, count: taken, step: *step }, taken)
            }
            Indices::List(_) => {
                let rest = (number..count).map_while(|at| indices.at(at).filter(|at| (start..end).contains(at)));
                let list: Vec<u64> = rest.map(|at| at - start).collect();
                let taken = list.len() as u64;
                (Indices::List(list), taken)
            }
        };
        found.push(Run { part, indices: here, count: taken });
        number += taken;
    }
    Ok(found)
}

/// A variable that goes on in other files, and the type of its values.
#[derive(Clone, Copy)]
pub(super) struct JoinedVariable<'v> {
    pub(super) variable: &'v Variable,
    pub(super) joined: &'v Joined,
    pub(super) dtype: Dtype,
}

/// Writes what `indices` pick of a variable that goes on in other files. Files are read side by side where each has a part of the
/// result for itself, and one after another otherwise.
pub(super) fn read_into(
    archive: &Archive,
    of: JoinedVariable<'_>,
    indices: &[Indices],
    options: &DecodeOptions,
    out: &mut [u8],
) -> Result<()> {
    let JoinedVariable { variable, joined: Joined { axis, parts, .. }, dtype } = of;
    let of_axis = indices.get(*axis).zip(variable.shape.get(*axis)).filter(|_| indices.len() == variable.shape.len());
    let Some((along, len)) = of_axis else {
        let (given, has) = (indices.len(), variable.shape.len());
        return Err(bad(format!("{}: {given} picks for {has} dimensions", variable.name)));
    };
    let before = product(&counts(indices.get(..*axis).unwrap_or(&[])));
    let before = before.and_then(|before| usize::try_from(before).ok());
    let before = before.ok_or_else(|| bad(format!("{}: the selection is too large", variable.name)))?;
    if out.is_empty() || before == 0 {
        return Ok(());
    }
    // What lies beside the result stays small: one index of the first dimension at a time.
    if let [first, rest @ ..] = indices
        && before > 1
        && out.len() as u64 > BESIDE
    {
        return one_by_one(archive, of, (first, rest), options, out);
    }
    let starts: Vec<u64> = parts.iter().map(|(start, _)| *start).collect();
    let runs = runs(along, &starts, *len).map_err(|error| error.within(&variable.name))?;
    // Bytes of one index of the dimension.
    let row = out.len() / before / usize::try_from(along.count()).unwrap_or(usize::MAX).max(1);
    let read = |run: &Run, out: &mut [u8], options: &DecodeOptions| -> Result<()> {
        let (_, part) = parts.get(run.part).ok_or_else(|| bad("a file of the dataset is not there"))?;
        let mut own = indices.to_vec();
        if let Some(place) = own.get_mut(*axis) {
            *place = run.indices.clone();
        }
        if part.dims.len() < variable.dims.len() {
            own.remove(*axis);
            return repeated(archive, part, (&own, before), (dtype, options), out);
        }
        values(archive, part, &own, (dtype, options), out)
    };
    let bytes = |run: &Run| usize::try_from(run.count).unwrap_or(usize::MAX).saturating_mul(row);
    if before > 1 {
        return each_beside(&runs, before, &bytes, &|run, out| read(run, out, options), out);
    }
    let mut jobs = Vec::with_capacity(runs.len());
    let mut rest = out;
    for run in &runs {
        let (place, behind) =
            std::mem::take(&mut rest).split_at_mut_checked(bytes(run)).ok_or_else(|| bad("the result is too short"))?;
        rest = behind;
        jobs.push((run, Mutex::new(place)));
    }
    let job = |options: &DecodeOptions, (run, place): &(&Run, Mutex<&mut [u8]>)| {
        read(run, &mut place.lock().unwrap_or_else(PoisonError::into_inner), options)
    };
    if archive.is_distant() {
        // Each of them waits for several answers at a time, if it has several objects.
        let cells = |run: &Run| parts.get(run.part).map_or(1, |(_, part)| cells(part, indices, (*axis, run)));
        let most = runs.iter().map(cells).max().unwrap_or(1);
        let at_once = usize::try_from(DISTANT_AT_ONCE as u64 / most.max(1)).unwrap_or(1).max(1);
        return side_by_side(&jobs, at_once, |each| job(options, each)).into_iter().collect();
    }
    let threads = Threads::resolve(options.threads, 1, Some(0))?;
    if jobs.len() > 1 && !threads.is_one() {
        let share = u32::try_from(jobs.len()).map_or(1, |jobs| options.threads.div_ceil(jobs));
        let of_each = DecodeOptions { threads: share.max(1), ..options.clone() };
        threads.map(&jobs, |each| job(&of_each, each))?;
        return Ok(());
    }
    jobs.iter().try_for_each(|each| job(options, each))
}

/// Reads runs one after another where the parts of each lie apart in the result: beside it first, and then to their places in each of
/// `before` rows. `bytes` says how long the part of a run is in a row.
fn each_beside(
    runs: &[Run],
    before: usize,
    bytes: &dyn Fn(&Run) -> usize,
    read: &dyn Fn(&Run, &mut [u8]) -> Result<()>,
    out: &mut [u8],
) -> Result<()> {
    let (mut start, row_len) = (0, (out.len() / before.max(1)).max(1));
    for run in runs {
        let mut beside = tgm_std::internal::reserve(bytes(run).saturating_mul(before))?;
        read(run, &mut beside)?;
        for (row, values) in out.chunks_exact_mut(row_len).zip(beside.chunks_exact(bytes(run).max(1))) {
            let place = row.get_mut(start..).and_then(|row| row.get_mut(..values.len()));
            place.ok_or_else(|| bad("the result is too short"))?.copy_from_slice(values);
        }
        start += bytes(run);
    }
    Ok(())
}

/// Reads the box of each index of the first dimension by itself.
fn one_by_one(
    archive: &Archive,
    of: JoinedVariable<'_>,
    (first, rest): (&Indices, &[Indices]),
    options: &DecodeOptions,
    out: &mut [u8],
) -> Result<()> {
    let count = usize::try_from(first.count()).map_err(|_| bad("the selection is too large"))?;
    let len = out.len() / count.max(1);
    for (number, place) in (0_u64..).zip(out.chunks_exact_mut(len.max(1))) {
        let index = first.at(number).ok_or_else(|| bad("an index is missing"))?;
        let one: Vec<Indices> = std::iter::once(Indices::Index(index)).chain(rest.iter().cloned()).collect();
        read_into(archive, of, &one, options, place)?;
    }
    Ok(())
}

/// The number of objects that a run touches.
fn cells(part: &Variable, indices: &[Indices], (axis, run): (usize, &Run)) -> u64 {
    let mut own = indices.to_vec();
    if let Some(place) = own.get_mut(axis) {
        *place = run.indices.clone();
    }
    Plan::new(part, &own, false).map_or(1, |plan| plan.cells())
}

fn counts(indices: &[Indices]) -> Vec<u64> {
    indices.iter().map(Indices::count).collect()
}

/// What `indices` pick of the variable of one file, as elements of the type that all files have together.
fn values(
    archive: &Archive,
    part: &Variable,
    indices: &[Indices],
    (dtype, options): (Dtype, &DecodeOptions),
    out: &mut [u8],
) -> Result<()> {
    let own = part.dtype().unwrap_or(dtype);
    if own == dtype {
        return super::read_into(archive, part, indices, options, out);
    }
    // No files have such types together: these are asked for.
    if (own, dtype) == (Dtype::Float64, Dtype::Float32) {
        return super::read_singles_into(archive, part, indices, options, out);
    }
    let len = product(&counts(indices)).and_then(|count| usize::try_from(count).ok());
    let len = len.and_then(|count| count.checked_mul(width(own)));
    let mut bytes = tgm_std::internal::reserve(len.ok_or_else(|| bad("the result is too long"))?)?;
    super::read_into(archive, part, indices, options, &mut bytes)?;
    let numbers = exact_floats(own, &bytes).map_err(|error| error.within(&part.name))?;
    #[expect(clippy::cast_possible_truncation, reason = "numbers of such types are exact in 32 bits")]
    match dtype {
        Dtype::Float64 => put(&numbers, f64::to_ne_bytes, out),
        Dtype::Float32 => put(&numbers, |number| (number as f32).to_ne_bytes(), out),
        _ => None,
    }
    .ok_or_else(|| bad(format!("{}: files have it in different types", part.name)))
}

/// Writes each number to its place. `None` if there are not as many places.
fn put<const N: usize>(numbers: &[f64], element: impl Fn(f64) -> [u8; N], out: &mut [u8]) -> Option<()> {
    let (places, rest) = out.as_chunks_mut::<N>();
    if !rest.is_empty() || places.len() != numbers.len() {
        return None;
    }
    places.iter_mut().zip(numbers).for_each(|(place, number)| *place = element(*number));
    Some(())
}

/// Elements as floats that are equal to them.
///
/// # Errors
/// [`tgm_std::TensogramError::Metadata`] for a whole number of 2^53 or more, and for complex numbers.
fn exact_floats(dtype: Dtype, bytes: &[u8]) -> Result<Vec<f64>> {
    let numbers = floats(dtype, bytes)?;
    let is_long = matches!(dtype, Dtype::Int64 | Dtype::Uint64);
    if is_long && numbers.iter().any(|number| number.abs() >= 2_f64.powi(53)) {
        return Err(bad("files have it in different types, and a number of 2^53 or more is not exact in float64"));
    }
    Ok(numbers)
}

/// The values of a file whose variable lacks the dimension, for each index along it.
fn repeated(
    archive: &Archive,
    part: &Variable,
    (indices, before): (&[Indices], usize),
    how: (Dtype, &DecodeOptions),
    out: &mut [u8],
) -> Result<()> {
    let len = product(&counts(indices)).and_then(|count| usize::try_from(count).ok());
    let len = len.and_then(|count| count.checked_mul(width(how.0)));
    let mut once = tgm_std::internal::reserve(len.ok_or_else(|| bad("the result is too long"))?)?;
    values(archive, part, indices, how, &mut once)?;
    let inner = once.len() / before.max(1);
    for (rows, values) in out.chunks_exact_mut((out.len() / before.max(1)).max(1)).zip(once.chunks_exact(inner.max(1)))
    {
        rows.chunks_exact_mut(inner.max(1)).for_each(|row| row.copy_from_slice(values));
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use std::num::NonZeroU64;

    use super::*;

    #[test]
    fn indices_are_cut_where_files_end() {
        let range = |start, count, step| Indices::Range { start, count, step: NonZeroU64::new(step).unwrap() };
        let found = |indices: &Indices| -> Vec<(usize, Indices, u64)> {
            // The second file has no index.
            let runs = runs(indices, &[0, 3, 3, 7], 9).unwrap();
            runs.into_iter().map(|run| (run.part, run.indices, run.count)).collect()
        };
        assert_eq!(found(&range(0, 9, 1)), [(0, range(0, 3, 1), 3), (2, range(0, 4, 1), 4), (3, range(0, 2, 1), 2)]);
        assert_eq!(found(&range(2, 3, 3)), [(0, range(2, 1, 3), 1), (2, range(2, 1, 3), 1), (3, range(1, 1, 3), 1)]);
        assert_eq!(found(&Indices::Index(6)), [(2, Indices::Index(3), 1)]);
        assert_eq!(
            found(&Indices::List(vec![8, 7, 0, 2, 3])),
            [(3, Indices::List(vec![1, 0]), 2), (0, Indices::List(vec![0, 2]), 2), (2, Indices::List(vec![0]), 1)]
        );
        assert!(found(&Indices::List(Vec::new())).is_empty());
        assert!(runs(&range(0, 10, 1), &[0, 3], 9).is_err() && runs(&Indices::List(vec![9]), &[0, 3], 9).is_err());
    }
}
