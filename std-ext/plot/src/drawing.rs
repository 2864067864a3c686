//! Values become a field, a line or a histogram.

use tgm_std::TensogramError;

use crate::axis::Axis;
use crate::contour::{self, Spacing};
use crate::field::Field;
use crate::lines::Lines;
use crate::palette::Palette;
use crate::picture::{Counts, Drawn, Over, Picture, Sheet};
use crate::projection::MapKind;
use crate::signed::Quantity;
use crate::ticks::number;
use crate::units::conversion;
use crate::wind::Wind;

type Result<T> = std::result::Result<T, TensogramError>;

/// How values are drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look<'a> {
    /// The parts of a histogram, which is drawn instead of the values.
    pub histogram: Option<u16>,
    /// The range of the colours, if it is not to be found.
    pub range: Option<(f64, f64)>,
    /// The colours. By default, the quantity decides.
    pub palette: Option<Palette>,
    /// The units that the values shall have.
    pub units: Option<&'a str>,
    /// The projection of maps.
    pub projection: Option<MapKind>,
    /// Lines of equal value.
    pub contours: Option<Spacing>,
}

/// What is known of values, in words.
#[derive(Debug, Default)]
pub struct Texts {
    /// The short name.
    pub name: String,
    /// The name for people.
    pub long_name: String,
    /// Which of the values are drawn.
    pub details: Vec<String>,
    /// The units of the values.
    pub units: String,
    /// The name of CF.
    pub standard_name: String,
}

/// The values of the first and the last colour, and the colours.
struct Scale {
    range: (f64, f64),
    palette: Palette,
}

impl Look<'_> {
    /// The picture of values of this shape: a field if `sheet` makes one of them, or else a line along `axis`.
    ///
    /// # Errors
    /// The errors of `sheet`; [`TensogramError::Object`] for values that are neither, for no values, and for units that these cannot
    /// have.
    pub fn picture(
        &self,
        mut values: Vec<f64>,
        shape: &[u64],
        texts: Texts,
        sheet: impl FnOnce(&[f64]) -> Result<Option<Sheet>>,
        wind: Option<&Wind>,
        axis: impl FnOnce() -> Option<Axis>,
    ) -> Result<Picture> {
        let wrong = |text: String| TensogramError::Object(text.into());
        let mut texts = texts;
        if let Some(units) = self.units {
            let (factor, offset, units) = conversion(&texts.units, units).map_err(wrong)?;
            for value in &mut values {
                *value = *value * factor + offset;
            }
            texts.units = units;
        }
        if values.is_empty() {
            return Err(wrong("there are no values".into()));
        }
        let found = self.range(&values).ok_or_else(|| wrong("all values are missing".into()))?;
        let count = values.len();
        let mut scale = Scale { range: found, palette: self.palette.unwrap_or_default() };
        let mut over = Over::default();
        let drawn = match self.histogram {
            Some(parts) => Drawn::Histogram(counts(&values, found, parts.into())),
            None => match (sheet(&values)?, shape.len()) {
                (Some(sheet), _) => {
                    scale = self.scale(found, texts.quantity().is_signed());
                    let (sheet, lines) = self.mapped(sheet, scale.range, &mut texts).map_err(wrong)?;
                    over.contours = lines;
                    if let Some(wind) = wind {
                        let map = sheet.map.ok_or_else(|| wrong("--arrows need values on the globe".into()))?;
                        over.arrows = wind.arrows(&map);
                    }
                    Drawn::Field(sheet)
                }
                (None, 0 | 1) => {
                    let line = Field::new(1, count, values).ok_or_else(|| wrong("there are no values".into()))?;
                    Drawn::Line(line, axis().unwrap_or(Axis::Cells(count)))
                }
                (None, _) => {
                    let shape: Vec<String> = shape.iter().map(u64::to_string).collect();
                    let shape = shape.join("x");
                    return Err(wrong(format!("{shape} is not a field or line: --slice picks one or two dimensions")));
                }
            },
        };
        if !matches!(drawn, Drawn::Field(_)) && (self.projection.is_some() || self.contours.is_some() || wind.is_some())
        {
            return Err(wrong("--projection, --contours and --arrows are of fields".into()));
        }
        if let Drawn::Field(Sheet { axes: [rows, columns], .. }) = &drawn
            && !(rows.name().is_empty() && columns.name().is_empty())
        {
            texts.details.push(format!("{} by {}", rows.name(), columns.name()));
        }
        let Scale { range, palette } = scale;
        let (title, caption) = texts.title_and_caption();
        Ok(Picture { drawn, range, palette, title, caption, units: texts.units, over })
    }

    /// The field in its projection, and its lines of equal value there. `texts` say which values have lines.
    fn mapped(
        &self,
        sheet: Sheet,
        range: (f64, f64),
        texts: &mut Texts,
    ) -> std::result::Result<(Sheet, Lines), String> {
        let mut lines = Lines::new();
        if let Some(spacing) = self.contours {
            let levels = contour::levels(range, spacing)
                .ok_or_else(|| format!("--contours: the range has more than {} lines of that step", contour::MOST))?;
            if let [first, second, ..] = levels.as_slice() {
                let step = format!("contours every {} {}", number(second - first, 5), texts.units);
                texts.details.push(step.trim_end().to_string());
            }
            lines = contour::lines(&sheet.field, sheet.map.is_some_and(|map| map.is_circle()), &levels);
        }
        let bounds = sheet.map.map(|map| map.bounds);
        let sheet = match self.projection {
            Some(kind) => sheet.projected(kind)?,
            None => sheet,
        };
        let (Some(map), Some(bounds)) = (&sheet.map, bounds) else { return Ok((sheet, lines)) };
        let mut found = Lines::new();
        let (width, height) = bounds.size();
        for line in lines {
            let place = |(x, y): (f64, f64)| (bounds.west + x * width, bounds.north - y * height);
            let line: Vec<_> = line.into_iter().map(place).collect();
            map.add(&mut found, &line, 0.0);
        }
        Ok((sheet, found))
    }

    /// The colours of a field whose values have a range. 0 is the middle of a diverging palette.
    fn scale(&self, (low, high): (f64, f64), is_signed: bool) -> Scale {
        let most = low.abs().max(high.abs());
        let around = (-most, most);
        let is_around = (low + high).abs() <= 1e-9 * most && low < high;
        let (palette, is_wide) = match (self.palette, self.range) {
            // A range that is asked for is taken as it is.
            (Some(palette), Some(_)) => (palette, false),
            (None, Some(_)) if is_signed && is_around => (Palette::Coolwarm, false),
            (Some(palette), None) => (palette, palette.is_diverging() && (is_signed || (low < 0.0 && high > 0.0))),
            (None, None) if is_signed && most > 0.0 => (Palette::Coolwarm, true),
            (None, _) => (Palette::default(), false),
        };
        Scale { range: if is_wide { around } else { (low, high) }, palette }
    }

    /// The range of the colours. `None` if all values are missing.
    pub fn range(&self, values: &[f64]) -> Option<(f64, f64)> {
        let finite = values.iter().copied().filter(|value| value.is_finite());
        let found = finite.fold(None, |range, value| {
            Some(range.map_or((value, value), |(low, high): (f64, f64)| (low.min(value), high.max(value))))
        })?;
        Some(match (self.range, self.histogram, found) {
            (Some(range), _, _) => range,
            // Equal values stand in the middle.
            (None, Some(_), (low, high)) if low >= high => {
                let around = if low == 0.0 { 0.5 } else { low.abs() / 2.0 };
                (low - around, high + around)
            }
            (None, _, found) => found,
        })
    }
}

impl Texts {
    fn quantity(&self) -> Quantity<'_> {
        Quantity { name: &self.name, long_name: &self.long_name, standard_name: &self.standard_name }
    }

    /// What the values are, and which of them are drawn.
    fn title_and_caption(&self) -> (String, String) {
        let mut title = self.name.clone();
        if !self.long_name.is_empty() && !self.long_name.eq_ignore_ascii_case(&self.name) {
            title = if title.is_empty() { self.long_name.clone() } else { format!("{title}: {}", self.long_name) };
        }
        let caption = self.details.join(", ");
        if title.is_empty() {
            return (caption, String::new());
        }
        if !self.units.is_empty() && self.units != "1" {
            title = format!("{title} [{}]", self.units);
        }
        (title, caption)
    }
}

/// The counts of a histogram of all values.
fn counts(values: &[f64], range: (f64, f64), parts: usize) -> Counts {
    let finite: Vec<_> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let inside: Vec<_> = finite.iter().copied().filter(|value| (range.0..=range.1).contains(value)).collect();
    let count = |from: usize, of: usize| (from - of) as u64;
    let (missing, outside) = (count(values.len(), finite.len()), count(finite.len(), inside.len()));
    Counts { counts: histogram(&inside, range, parts), missing, outside }
}

/// How many of the values lie in each of equal parts of the range, which all of them lie in.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few parts")]
pub fn histogram(values: &[f64], (low, high): (f64, f64), parts: usize) -> Vec<u64> {
    let mut counts = vec![0; parts];
    // Halves, so that a range over all floats does not overflow.
    let width = high / 2.0 - low / 2.0;
    let by = if width > 0.0 { parts as f64 / width } else { 0.0 };
    for value in values {
        let part = ((value / 2.0 - low / 2.0) * by) as usize;
        if let Some(count) = counts.get_mut(part.min(parts.saturating_sub(1))) {
            *count += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms_count_every_value() {
        assert_eq!(histogram(&[0.0, 1.0, 2.0, 4.0], (0.0, 4.0), 4), [1, 1, 1, 1]);
        assert_eq!(histogram(&[7.0, 7.0], (7.0, 7.0), 2), [2, 0]);
        assert_eq!(histogram(&[f64::MIN, f64::MAX], (f64::MIN, f64::MAX), 2), [1, 1]);
        assert!(histogram(&[1.0], (0.0, 1.0), 0).is_empty());
    }
}
