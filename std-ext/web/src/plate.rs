//! The values that are shown: read once, then looked at in any projection.

use std::fmt::Write as _;
use std::rc::Rc;

use ciborium::Value;
use tgm_dataset::{Dataset, Indices, Variable};
use tgm_plot::axis::Axis;
use tgm_plot::caption::details;
use tgm_plot::coast;
use tgm_plot::described::Picked;
use tgm_plot::drawing::{Look, Texts, histogram};
use tgm_plot::lines::Lines;
use tgm_plot::map::Map;
use tgm_plot::palette::Palette;
use tgm_plot::picture::{Cell, Drawn, Picture, Sheet};
use tgm_plot::pixels::{Part, pixels};
use tgm_std::TensogramError;

use crate::answer::{Answer, buffer};
use crate::args::{Args, integer};
use crate::compared::{Compared, Placed};
use crate::failure::{Failure, map, wrong};
use crate::places;
use crate::room::{decoding, zeros};
use crate::scene::Scene;

/// Parts of histograms.
const PARTS: usize = 64;

/// Values, and the picture that they make.
#[derive(Debug)]
pub(crate) struct Plate {
    /// The number of its dataset.
    pub(crate) dataset: usize,
    variable: String,
    picks: Vec<Indices>,
    /// The lengths of the dimensions that are not a single index.
    shape: Vec<u64>,
    values: Vec<f64>,
    picture: Picture,
    /// If the values are differences, of what; or why they are not, though that was asked for.
    compared: Option<Result<Compared, String>>,
    /// The colours that suit the values.
    own: (Palette, (f64, f64)),
    /// What was looked at last: the map, and the part of the picture.
    seen: (Option<Map>, Part),
}

impl Plate {
    /// `variable`, `picks`: for each dimension an index, or null for all. If values were kept, these are subtracted.
    ///
    /// # Errors
    /// The errors of reading; values that are neither a field nor a line.
    pub(crate) fn load(
        dataset: &Dataset,
        number: usize,
        kept: Option<Rc<Placed>>,
        args: &mut Args,
    ) -> Result<Self, Failure> {
        let name = args.text("variable")?.unwrap_or_default();
        let variable = dataset.variable(&name).ok_or_else(|| wrong(format!("there is no variable {name}")))?;
        let picks = picks(variable, &args.list("picks")?)?;
        let picked = Picked { dataset, variable, picks: &picks };
        let shape: Vec<u64> = sides(&picks).map(|(_, side)| side.count()).collect();
        let mut values = read(&picked)?;
        if let Some(why) = dataset.no_places(&name)?.filter(|_| shape.len() > 1) {
            return Err(TensogramError::Object(why.into()).into());
        }
        let is_field = shape.len() == 2 || picked.is_of_grid()?;
        let of = |name: &str| picked.text(name).unwrap_or_default().to_string();
        let texts = Texts {
            name: name.clone(),
            long_name: of("long_name"),
            standard_name: of("standard_name"),
            details: details(&picked)?,
            units: of("units"),
        };
        let axis = picked.line_axis()?;
        let (mut look, mut compared) = (Look::default(), None);
        if let Some(kept) = kept {
            let own = Placed::new(&picked, texts.units.clone(), values.clone())?;
            compared = Some(Compared::of(own, kept).map(|(less, compared)| {
                values = less;
                look.palette = Some(Palette::Coolwarm);
                look.range = Some((-compared.greatest, compared.greatest));
                compared
            }));
        }
        let sheet = |values: &[f64]| if is_field { picked.sheet(values).map(Some) } else { Ok(None) };
        let picture = look.picture(values.clone(), &shape, texts, sheet, None, || axis)?;
        let own = (picture.palette, picture.range);
        Ok(Self {
            dataset: number,
            variable: name,
            picks,
            shape,
            values,
            picture,
            compared,
            own,
            seen: (None, Part::WHOLE),
        })
    }

    /// What the values are: title, statistics, histogram, and whether they are a map.
    pub(crate) fn about(&self) -> Value {
        let finite = || self.values.iter().copied().filter(|value| value.is_finite());
        let count = finite().count();
        #[expect(clippy::cast_precision_loss, reason = "a count of values")]
        let mean = finite().sum::<f64>() / count as f64;
        #[expect(clippy::cast_precision_loss, reason = "a count of values")]
        let deviation = (finite().map(|value| (value - mean).powi(2)).sum::<f64>() / count as f64).sqrt();
        let (low, high) = finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let all: Vec<f64> = finite().collect();
        let counts = histogram(&all, (low, high), PARTS);
        let (is_field, is_map) = match &self.picture.drawn {
            Drawn::Field(sheet) => (true, sheet.map.is_some()),
            _ => (false, false),
        };
        map([
            ("title", self.picture.title.as_str().into()),
            ("caption", self.picture.caption.as_str().into()),
            ("units", self.picture.units.as_str().into()),
            ("palette", self.own.0.name().into()),
            ("isField", is_field.into()),
            ("isMap", is_map.into()),
            ("shape", Value::Array(self.shape.iter().map(|len| (*len).into()).collect())),
            ("count", (count as u64).into()),
            ("missing", ((self.values.len() - count) as u64).into()),
            ("min", low.into()),
            ("max", high.into()),
            ("mean", mean.into()),
            ("deviation", deviation.into()),
            ("histogram", Value::Array(counts.into_iter().map(Into::into).collect())),
            (
                "compared",
                self.compared.as_ref().map_or(Value::Null, |found| match found {
                    Ok(compared) => compared.about(),
                    Err(why) => why.as_str().into(),
                }),
            ),
        ])
    }

    /// The values, to compare others with them.
    ///
    /// # Errors
    /// The errors of reading coordinates.
    pub(crate) fn placed(&self, dataset: &Dataset) -> Result<Placed, Failure> {
        let variable = dataset.variable(&self.variable).ok_or_else(|| wrong("the variable is gone"))?;
        let picked = Picked { dataset, variable, picks: &self.picks };
        Placed::new(&picked, self.picture.units.clone(), self.values.clone())
    }

    /// The picture in a scene: for a field pixels, coasts and ticks; for a line its points.
    ///
    /// # Errors
    /// A projection that shows nothing of the field.
    pub(crate) fn view(&mut self, args: &mut Args) -> Answer {
        let scene = Scene::of(args)?;
        let (palette, own) = (scene.palette.unwrap_or(self.own.0), self.own.1);
        let around = own.0.abs().max(own.1.abs());
        let is_around = palette.is_diverging() && own.0 < 0.0 && own.1 > 0.0;
        self.picture.palette = palette;
        self.picture.range = scene.range.unwrap_or(if is_around { (-around, around) } else { own });
        let mut answer = match &self.picture.drawn {
            Drawn::Field(sheet) => {
                let globe = match sheet.map {
                    Some(plain) => Some(scene.map(&plain)?),
                    None => None,
                };
                self.seen = (globe, scene.part);
                field(&self.picture, sheet, globe.as_ref(), &scene)
            }
            Drawn::Line(line, axis) => {
                let values: Vec<f64> = line.cells().map(|value| value.unwrap_or(f64::NAN)).collect();
                line_of(&values, axis)
            }
            Drawn::Histogram(_) => Vec::new(),
        };
        let (low, high) = self.picture.range;
        let bar = (0_u8..=255).flat_map(|step| palette.colour(f64::from(step) / 255.0)).collect();
        answer.extend([
            ("low", low.into()),
            ("high", high.into()),
            ("bar", buffer(bar)),
            ("barTicks", ticks(&self.picture.ticks(scene.bar_ticks))),
            ("palette", palette.name().into()),
        ]);
        Ok(Value::Map(answer.into_iter().map(|(key, value)| (key.into(), value)).collect()))
    }

    /// `x`, `y`: shares of the picture that was looked at last. The value there, with its place; null where there is none.
    ///
    /// # Errors
    /// The errors of reading coordinates.
    pub(crate) fn point(&self, dataset: &Dataset, args: &mut Args) -> Answer {
        let share = (args.number("x")?, args.number("y")?);
        let Drawn::Field(sheet) = &self.picture.drawn else { return Ok(Value::Null) };
        let (globe, part) = &self.seen;
        let Some(globe) = globe else { return Ok(cell(sheet, part.of(share))) };
        let Some((longitude, latitude)) = globe.place(share).filter(|_| globe.in_field(share).is_some()) else {
            return Ok(Value::Null);
        };
        let Ok(found) = dataset.nearest(&self.variable, latitude, longitude) else { return Ok(Value::Null) };
        let (north, east) = dataset.nearest_place(&self.variable, latitude, longitude)?;
        let at = self.offset(&found).unwrap_or(usize::MAX);
        let value = self.values.get(at).copied().unwrap_or(f64::NAN);
        let pair = if let Some(Ok(compared)) = &self.compared { compared.pair(at) } else { Value::Null };
        Ok(map([
            ("latitude", north.into()),
            ("longitude", east.into()),
            ("value", value.into()),
            ("pair", pair),
            ("indices", Value::Array(found.iter().map(|(_, index)| (*index).into()).collect())),
        ]))
    }

    /// Where the value at some indices is among the values.
    fn offset(&self, found: &[(usize, u64)]) -> Option<usize> {
        let mut offset = 0;
        for (dim, side) in sides(&self.picks) {
            let (_, index) = found.iter().find(|(at, _)| *at == dim)?;
            offset = offset * side.count() + index;
        }
        usize::try_from(offset).ok()
    }

    /// `dim`, `x`, `y`: the values along a dimension at the point that [`Self::point`] finds.
    ///
    /// # Errors
    /// The errors of reading.
    pub(crate) fn series(&self, dataset: &Dataset, args: &mut Args) -> Answer {
        let (dim, share) = (args.text("dim")?.unwrap_or_default(), (args.number("x")?, args.number("y")?));
        let variable = dataset.variable(&self.variable).ok_or_else(|| wrong("the variable is gone"))?;
        let place = self.seen.0.and_then(|globe| globe.place(share));
        let Some((longitude, latitude)) = place else { return Ok(Value::Null) };
        let mut picks = self.picks.clone();
        for (at, index) in dataset.nearest(&self.variable, latitude, longitude)? {
            if let Some(pick) = picks.get_mut(at) {
                *pick = Indices::Index(index);
            }
        }
        let along = variable.dims.iter().position(|name| *name == dim);
        let along = along.and_then(|at| Some((picks.get_mut(at)?, *variable.shape.get(at)?)));
        let (pick, len) = along.ok_or_else(|| wrong("there is no such dimension"))?;
        *pick = Indices::all(len);
        let picked = Picked { dataset, variable, picks: &picks };
        let (values, axis) = (read(&picked)?, picked.line_axis()?);
        let axis = axis.unwrap_or(Axis::Cells(values.len()));
        Ok(Value::Map(line_of(&values, &axis).into_iter().map(|(key, value)| (key.into(), value)).collect()))
    }

    /// `text`: the values as a table, with their places.
    ///
    /// # Errors
    /// The errors of reading coordinates.
    pub(crate) fn csv(&self, dataset: &Dataset) -> Answer {
        let variable = dataset.variable(&self.variable).ok_or_else(|| wrong("the variable is gone"))?;
        let dims: Vec<String> = sides(&self.picks).filter_map(|(at, _)| variable.dims.get(at)).cloned().collect();
        let places = dataset.positions(&self.variable)?;
        let places = places.filter(|(north, east)| north.dims.iter().chain(&east.dims).all(|dim| dims.contains(dim)));
        let mut text = String::new();
        let mut names: Vec<&str> = dims.iter().map(String::as_str).collect();
        if places.is_some() {
            names = vec!["latitude", "longitude"];
        }
        // Writing to a text cannot fail.
        let _ =
            writeln!(text, "{},{}", names.join(","), if self.is_difference() { "difference" } else { &self.variable });
        for (at, value) in self.values.iter().enumerate() {
            let indices = places::indices(&self.shape, at as u64);
            let degrees =
                |it| places::label(it, &dims, &self.shape, &indices).map_or_else(String::new, |it| it.to_string());
            if let Some((north, east)) = &places {
                let _ = write!(text, "{},{},", degrees(north), degrees(east));
            } else {
                for index in &indices {
                    let _ = write!(text, "{index},");
                }
            }
            let _ = if value.is_nan() { writeln!(text) } else { writeln!(text, "{value}") };
        }
        Ok(map([("text", buffer(text.into_bytes()))]))
    }

    fn is_difference(&self) -> bool {
        matches!(self.compared, Some(Ok(_)))
    }
}

/// A pick for each dimension: an index, or null for all.
fn picks(variable: &Variable, listed: &[Value]) -> Result<Vec<Indices>, Failure> {
    if listed.len() != variable.shape.len() {
        return Err(wrong(format!("{} picks of {} dimensions", listed.len(), variable.shape.len())));
    }
    let pick = |(value, len): (&Value, &u64)| {
        if value.is_null() { Ok(Indices::all(*len)) } else { Ok(Indices::Index(integer(value, "picks")?)) }
    };
    listed.iter().zip(&variable.shape).map(pick).collect()
}

/// The dimensions that are not a single index.
fn sides(picks: &[Indices]) -> impl Iterator<Item = (usize, &Indices)> {
    picks.iter().enumerate().filter(|(_, pick)| !matches!(pick, Indices::Index(_)))
}

/// The values of a box.
fn read(picked: &Picked<'_>) -> Result<Vec<f64>, Failure> {
    let mut values: Vec<f64> = zeros(picked.picks)?;
    picked.dataset.read_floats_into(&picked.variable.name, picked.picks, &decoding(), &mut values)?;
    Ok(values)
}

type Entries = Vec<(&'static str, Value)>;

/// A field in a scene.
fn field(picture: &Picture, sheet: &Sheet, globe: Option<&Map>, scene: &Scene) -> Entries {
    let ratio = globe.map_or_else(|| sheet.ratio() * scene.part.ratio(), |globe| globe.size().0 / globe.size().1);
    let (width, height) = scene.fitted(ratio);
    let drawn = pixels(picture, sheet, globe, &scene.part, (width, height));
    #[expect(clippy::cast_precision_loss, reason = "few pixels")]
    let coasts = globe.map_or_else(Lines::new, |globe| coast::within(globe, globe.degrees() / (2 * width) as f64));
    let net = globe.map_or_else(Lines::new, Map::net);
    let [rows, columns] = globe.map_or_else(|| sheet.axes.clone(), Map::axes);
    let within = |axis: &Axis, most: usize, from: f64, to: f64| {
        let shift = |(share, label): (f64, String)| ((share - from) / (to - from), label);
        let all = axis.ticks(most).into_iter().map(|tick| if globe.is_some() { tick } else { shift(tick) });
        ticks(&all.filter(|(share, _)| (-1e-9..=1.0 + 1e-9).contains(share)).collect::<Vec<_>>())
    };
    let part = scene.part;
    vec![
        ("width", (width as u64).into()),
        ("height", (height as u64).into()),
        ("pixels", buffer(drawn)),
        ("coasts", buffer(points(&coasts))),
        ("net", buffer(points(&net))),
        ("isRound", globe.is_some_and(|globe| globe.projection.is_round()).into()),
        ("rows", within(&rows, (height / 45).clamp(3, 12), part.top, part.bottom)),
        ("columns", within(&columns, (width / 70).clamp(3, 12), part.left, part.right)),
        ("rowName", rows.name().into()),
        ("columnName", columns.name().into()),
        ("hasMissing", sheet.has_missing().into()),
    ]
}

/// A line: its values, the shares where they are, and ticks.
fn line_of(values: &[f64], axis: &Axis) -> Entries {
    #[expect(clippy::cast_precision_loss, reason = "points of a line")]
    let even = |at: usize| (at as f64 + 0.5) / values.len() as f64;
    let (is_upright, labels) = match axis {
        Axis::Labels(_, all) => (false, Some(all)),
        Axis::Levels(_, all) => (true, Some(all)),
        _ => (false, None),
    };
    let labels = labels.filter(|all| all.len() == values.len());
    let shares = (0..values.len()).map(|at| labels.and_then(|all| all.get(at)).map_or_else(|| even(at), |tick| tick.0));
    let texts =
        labels.map_or(Value::Null, |all| Value::Array(all.iter().map(|(_, text)| text.as_str().into()).collect()));
    vec![
        ("values", buffer(values.iter().flat_map(|value| value.to_le_bytes()).collect())),
        ("shares", buffer(shares.flat_map(f64::to_le_bytes).collect())),
        ("labels", texts),
        ("isUpright", is_upright.into()),
        ("columns", ticks(&axis.ticks(8))),
        ("columnName", axis.name().into()),
    ]
}

/// What a cell of rows and columns is.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "few cells")]
fn cell(sheet: &Sheet, (x, y): (f64, f64)) -> Value {
    if !((0.0..1.0).contains(&x) && (0.0..1.0).contains(&y)) {
        return Value::Null;
    }
    let (row, column) = ((y * sheet.field.rows() as f64) as usize, (x * sheet.field.columns() as f64) as usize);
    let value = if let Cell::Value(value) = sheet.cell(row, column) { value } else { f64::NAN };
    let label = |axis: &Axis, at: usize| match axis {
        Axis::Labels(_, all) => all.get(at).map_or(Value::Null, |(_, text)| text.as_str().into()),
        _ => Value::Null,
    };
    let [rows, columns] = &sheet.axes;
    map([
        ("row", (row as u64).into()),
        ("column", (column as u64).into()),
        ("rowLabel", label(rows, row)),
        ("columnLabel", label(columns, column)),
        ("value", value.into()),
    ])
}

fn ticks(ticks: &[(f64, String)]) -> Value {
    Value::Array(ticks.iter().map(|(share, text)| Value::Array(vec![(*share).into(), text.as_str().into()])).collect())
}

/// Points of lines as pairs of shares. NaN ends a line.
#[expect(clippy::cast_possible_truncation, reason = "shares of a picture")]
fn points(lines: &Lines) -> Vec<u8> {
    let end = [f32::NAN; 2];
    let each =
        |line: &Vec<(f64, f64)>| line.iter().map(|(x, y)| [*x as f32, *y as f32]).chain([end]).collect::<Vec<_>>();
    lines.iter().flat_map(each).flatten().flat_map(f32::to_le_bytes).collect()
}
