//! How a picture is looked at: projection, part, size, colours.

use tgm_plot::map::Map;
use tgm_plot::palette::Palette;
use tgm_plot::pixels::Part;
use tgm_plot::projection::MapKind;
use tgm_std::TensogramError;

use crate::args::{Args, number};
use crate::failure::{Failure, wrong};

/// The longest side of a picture, in pixels.
const LONGEST: usize = 8192;

/// How a picture is looked at.
#[derive(Debug)]
pub(crate) struct Scene {
    kind: MapKind,
    /// The part of the whole picture.
    pub(crate) part: Part,
    /// The colours, if they are chosen.
    pub(crate) palette: Option<Palette>,
    /// The range of the colours, if it is chosen.
    pub(crate) range: Option<(f64, f64)>,
    /// How many ticks a colour bar has.
    pub(crate) bar_ticks: usize,
    room: (usize, usize),
}

impl Scene {
    /// `projection`, as `tgm plot` has it; `part` (left, top, right, bottom, as shares), `palette`, `low`, `high`, `width`, `height`,
    /// `barTicks`.
    ///
    /// # Errors
    /// Arguments that are not these.
    pub(crate) fn of(args: &mut Args) -> Result<Self, Failure> {
        let kind = args.text("projection")?.unwrap_or_else(|| "plate-carree".into());
        let part: Vec<f64> = args.list("part")?.iter().filter_map(number).collect();
        let part = match *part.as_slice() {
            [left, top, right, bottom] if left < right && top < bottom => Part { left, top, right, bottom },
            _ => Part::WHOLE,
        };
        let bounds = (args.value("low").as_ref().and_then(number), args.value("high").as_ref().and_then(number));
        let room: (usize, usize) = (args.integer("width")?, args.integer("height")?);
        Ok(Self {
            kind: kind.parse().map_err(wrong)?,
            part,
            palette: args.text("palette")?.and_then(|name| Palette::named(&name)),
            range: if let (Some(low), Some(high)) = bounds { Some((low, high)).filter(|_| low < high) } else { None },
            bar_ticks: args.optional("barTicks")?.unwrap_or(6),
            room: (room.0.clamp(1, LONGEST), room.1.clamp(1, LONGEST)),
        })
    }

    /// The map of a field whose plain map is known.
    ///
    /// # Errors
    /// A projection that shows nothing of it.
    pub(crate) fn map(&self, plain: &Map) -> Result<Map, Failure> {
        let Part { left, top, right, bottom } = self.part;
        let found = Map::new(plain.bounds, self.kind).map(|map| map.part([left, top, right, bottom]));
        Ok(found.ok_or_else(|| TensogramError::Object("this projection shows nothing of the field".into()))?)
    }

    /// The largest width and height within the room that have a ratio.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "lengths of a picture"
    )]
    pub(crate) fn fitted(&self, ratio: f64) -> (usize, usize) {
        let (width, height) = (self.room.0 as f64, self.room.1 as f64);
        let wide = width.min(height * ratio);
        ((wide.round() as usize).max(1), ((wide / ratio).round() as usize).clamp(1, self.room.1))
    }
}
