//! Parts of variables and of coordinates: values that are picked by index and by label.

use std::num::NonZeroU64;

use ciborium::Value;
use tgm_core::descriptor::Dtype;
use tgm_dataset::{Dataset, Indices, Selector, Variable, Written};
use tgm_std::TensogramError;
use tgm_std::decode::Float;

use crate::answer::{Answer, buffer};
use crate::args::{Args, integer};
use crate::contents::attributes;
use crate::failure::{Failure, map, wrong};
use crate::room::{count_of, decoding, too_many, zeros};

/// `variable`, `selectors` (texts of [`Selector`]), `picks` (for each dimension null, an index, `[start, count, step]` or
/// `{list}`; they count before selectors), `type` ("float32" or "float64"): the values in a buffer, or texts; with their type, dimensions
/// and shape.
///
/// # Errors
/// The errors of [`Dataset::select`] and of reading.
pub(crate) fn read(dataset: &Dataset, args: &mut Args) -> Answer {
    let name = args.text("variable")?.unwrap_or_default();
    let (variable, picks) = picked(dataset, &name, args)?;
    let sides = || variable.dims.iter().zip(&picks).filter(|(_, pick)| !matches!(pick, Indices::Index(_)));
    let dims = sides().map(|(dim, _)| dim.as_str().into()).collect();
    let shape: Vec<u64> = sides().map(|(_, pick)| pick.count()).collect();
    let (dtype, values) = match (variable.dtype(), args.text("type")?.as_deref()) {
        (None, _) => {
            let texts = variable.texts().unwrap_or_default();
            ("text", texts_of(&gathered(texts, &variable.shape, &picks)?))
        }
        (Some(_), Some("float32")) => ("float32", floats(dataset, (variable, &picks), f32::to_le_bytes)?),
        (Some(_), Some("float64")) => ("float64", floats(dataset, (variable, &picks), f64::to_le_bytes)?),
        (Some(dtype), _) => (own_type(dtype), elements(dataset, variable, &picks, dtype)?),
    };
    Ok(map([("dtype", dtype.into()), ("values", values), ("dims", Value::Array(dims)), ("shape", numbers(&shape))]))
}

/// `name`, and if a variable is picked the arguments of [`read`]: the part of the coordinate that belongs to what is picked, as
/// [`read`] gives it, with `attributes`. Null if there is no such coordinate.
///
/// # Errors
/// As [`read`]; a dimension that the variable lacks.
pub(crate) fn coordinate(dataset: &Dataset, args: &mut Args) -> Answer {
    let name = args.text("name")?.unwrap_or_default();
    let variable = args.text("variable")?;
    let of = variable.map(|variable| picked(dataset, &variable, args)).transpose()?;
    let Some(found) = dataset.labels(&name)? else { return Ok(Value::Null) };
    let lens = dataset.shape_of(&found)?;
    let pick = |(dim, len): (&String, &u64)| {
        let Some((variable, picks)) = &of else { return Ok(Indices::all(*len)) };
        let at = variable.dims.iter().position(|known| known == dim);
        let pick = at.and_then(|at| picks.get(at)).cloned();
        pick.ok_or_else(|| wrong(format!("{} has no dimension {dim} of the coordinate {name}", variable.name)))
    };
    let picks: Vec<Indices> = found.dims.iter().zip(&lens).map(pick).collect::<Result<_, _>>()?;
    let (written, own) = found.written();
    let bytes = |values: Vec<[u8; 8]>| buffer(values.concat());
    let (dtype, values) = match written {
        Written::Integers(all) => {
            let all: Vec<_> = all.into_iter().map(i64::to_le_bytes).collect();
            ("int64", bytes(gathered(&all, &lens, &picks)?))
        }
        Written::Floats(all) => {
            let all: Vec<_> = all.into_iter().map(f64::to_le_bytes).collect();
            ("float64", bytes(gathered(&all, &lens, &picks)?))
        }
        Written::Texts(all) => ("text", texts_of(&gathered(&all, &lens, &picks)?)),
    };
    let sides = || found.dims.iter().zip(&picks).filter(|(_, pick)| !matches!(pick, Indices::Index(_)));
    let dims = sides().map(|(dim, _)| dim.as_str().into()).collect();
    let shape: Vec<u64> = sides().map(|(_, pick)| pick.count()).collect();
    Ok(map([
        ("dtype", dtype.into()),
        ("values", values),
        ("dims", Value::Array(dims)),
        ("shape", numbers(&shape)),
        ("attributes", attributes(&own)),
    ]))
}

/// The variable, and what is picked of each of its dimensions.
fn picked<'d>(dataset: &'d Dataset, name: &str, args: &mut Args) -> Result<(&'d Variable, Vec<Indices>), Failure> {
    let texts = args.list("selectors")?;
    let selector = |text: &Value| text.as_text().unwrap_or_default().parse::<Selector>().map_err(wrong);
    let selectors: Vec<Selector> = texts.iter().map(selector).collect::<Result<_, _>>()?;
    let mut picks = dataset.select(name, &selectors)?;
    let variable = dataset.variable(name).ok_or_else(|| wrong(format!("there is no variable {name}")))?;
    for (pick, (given, len)) in picks.iter_mut().zip(args.list("picks")?.iter().zip(&variable.shape)) {
        if let Some(given) = indices(given, *len)? {
            *pick = given;
        }
    }
    Ok((variable, picks))
}

/// One of the `picks` of [`read`]. `None` for null.
fn indices(given: &Value, len: u64) -> Result<Option<Indices>, Failure> {
    let number = |value: &Value| integer::<u64>(value, "picks");
    let found = match given {
        Value::Null => return Ok(None),
        Value::Array(range) => match range.as_slice() {
            [start, count, step] => {
                let step = NonZeroU64::new(number(step)?).ok_or_else(|| wrong("a step is 1 or more"))?;
                Indices::Range { start: number(start)?, count: number(count)?, step }
            }
            _ => return Err(wrong("a range is a start, a count and a step")),
        },
        Value::Map(list) => match list.as_slice() {
            [(_, Value::Array(list))] => Indices::List(list.iter().map(number).collect::<Result<_, _>>()?),
            _ => return Err(wrong("a list of indices is missing")),
        },
        index => Indices::Index(number(index)?),
    };
    let last = match &found {
        Indices::List(list) => list.iter().max().copied(),
        other => other.count().checked_sub(1).and_then(|last| other.at(last)),
    };
    if last.is_some_and(|last| last >= len) {
        return Err(TensogramError::Metadata(format!("an index is beyond a dimension of length {len}").into()).into());
    }
    Ok(Some(found))
}

/// The values of an array in memory at some indices, row-major.
///
/// # Errors
/// Indices beyond it.
fn gathered<T: Clone>(all: &[T], lens: &[u64], picks: &[Indices]) -> Result<Vec<T>, Failure> {
    let mut offsets = vec![0_u64];
    for (len, pick) in lens.iter().zip(picks) {
        let along =
            |offset: u64| (0..pick.count()).filter_map(move |at| offset.checked_mul(*len)?.checked_add(pick.at(at)?));
        offsets = offsets.into_iter().flat_map(along).collect();
    }
    let value = |offset: u64| usize::try_from(offset).ok().and_then(|offset| all.get(offset)).cloned();
    let found: Option<Vec<T>> = offsets.into_iter().map(value).collect();
    found.ok_or_else(|| wrong("an index is beyond the values"))
}

/// Values as floats, in a buffer.
fn floats<F: Float + Default, const N: usize>(
    dataset: &Dataset,
    (variable, picks): (&Variable, &[Indices]),
    bytes_of: fn(F) -> [u8; N],
) -> Answer {
    let mut values: Vec<F> = zeros(picks)?;
    dataset.read_floats_into(&variable.name, picks, &decoding(), &mut values)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(values.len().checked_mul(N).ok_or_else(too_many)?).map_err(|_| too_many())?;
    for value in values {
        bytes.extend_from_slice(&bytes_of(value));
    }
    Ok(buffer(bytes))
}

/// Values in their own type, in a buffer.
fn elements(dataset: &Dataset, variable: &Variable, picks: &[Indices], dtype: Dtype) -> Answer {
    // A truth value takes a byte.
    let width = dtype.byte_width().max(1);
    let mut bytes: Vec<u8> = Vec::new();
    let len = count_of(picks)?.checked_mul(width).ok_or_else(too_many)?;
    bytes.try_reserve_exact(len).map_err(|_| too_many())?;
    bytes.resize(len, 0);
    dataset.read_into(&variable.name, picks, &decoding(), &mut bytes)?;
    Ok(buffer(bytes))
}

/// The type of elements as they are handed out: a truth value is a byte.
fn own_type(dtype: Dtype) -> &'static str {
    if dtype == Dtype::Bitmask { Dtype::Uint8.name() } else { dtype.name() }
}

fn numbers(numbers: &[u64]) -> Value {
    Value::Array(numbers.iter().map(|number| (*number).into()).collect())
}

fn texts_of(texts: &[String]) -> Value {
    Value::Array(texts.iter().map(|text| text.as_str().into()).collect())
}
