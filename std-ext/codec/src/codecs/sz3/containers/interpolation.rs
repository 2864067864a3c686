//! Algorithm 2: each level predicts every second value from the values around it, at half the distance of the level
//! before.
//!
//! ```text
//! anchors    every 4096th value, if there are more than that; otherwise the first one
//! level ℓ    the values between known ones, at distance s = 2^(ℓ−1) from them; the last level is ℓ = 1 with s = 1
//! segment    32 · s values: its points lie s apart, the even ones are known, and no point outside is used
//! ```

use super::container::Container;
use super::defect::Defect;
use super::quantizer::Values;
use super::reader::Reader;
use super::slot::Slot;
use crate::interrupt::Pace;

/// The distance between anchors, if there are more values than that.
const ANCHOR_STRIDE: usize = 4096;
/// Points of a segment, without the one that it shares with the next segment.
const SEGMENT: usize = 32;
/// Segments that are decoded between two questions whether to go on.
const SEGMENTS: u32 = 1 << 12;
/// The fewest points of a segment that cubics need.
const MIN_CUBIC: usize = 5;
/// The bound is halved from this level on, if the header has no other rule.
const HALVED_LEVEL: u32 = 3;

/// Decodes into all of `out`, which is as long as the container says and not empty.
pub(super) fn decode<S: Slot>(reader: &mut Reader<'_>, container: &Container<'_>, out: &mut [S]) -> Result<(), Defect> {
    let header = Header::parse(reader, container)?;
    let mut values = Values::parse(reader, container)?;
    let top = if header.is_anchored && out.len() > ANCHOR_STRIDE {
        for slot in out.iter_mut().step_by(ANCHOR_STRIDE) {
            *slot = S::new(values.next_stored()?);
        }
        ANCHOR_STRIDE.ilog2()
    } else {
        if let Some(slot) = out.first_mut() {
            *slot = S::new(values.next(0.0, container.bound)?);
        }
        // ⌈log2 len⌉
        usize::BITS - out.len().saturating_sub(1).leading_zeros()
    };
    for level in (1..=top).rev() {
        decode_level(&header, level, header.bound(level, container.bound), &mut values, out)?;
    }
    values.finish()
}

/// Decodes the values of one level.
fn decode_level<S: Slot>(
    header: &Header,
    level: u32,
    bound: f64,
    values: &mut Values<'_>,
    out: &mut [S],
) -> Result<(), Defect> {
    let stride = 1_usize << (level - 1);
    let segment = stride.saturating_mul(SEGMENT);
    let last = out.len().saturating_sub(1);
    let mut pace = Pace::of(SEGMENTS);
    for start in (0..last).step_by(segment) {
        pace.step().map_err(|_| Defect::Interrupted)?;
        let slots = out.get_mut(start..).unwrap_or_default();
        let count = (last - start).min(segment) / stride + 1;
        let mut points = Points { slots, stride, count, bound, values };
        if header.is_cubic && count >= MIN_CUBIC { points.cubic()? } else { points.linear()? }
    }
    Ok(())
}

/// The header of the body.
struct Header {
    is_cubic: bool,
    is_anchored: bool,
    bounds: Bounds,
}

/// How the bound falls with the distance: values of early levels predict more other values.
enum Bounds {
    Halved,
    /// Divided by `alpha` from one level to the next, and in all by no more than `beta`.
    Geometric {
        alpha: f64,
        beta: f64,
    },
}

impl Header {
    fn parse(reader: &mut Reader<'_>, container: &Container<'_>) -> Result<Self, Defect> {
        const PART: &str = "interpolation header";
        let count = reader.u64(PART)?;
        if count != container.count {
            return Err(Defect::Field("number of interpolated values", count));
        }
        let segment = reader.u32(PART)?;
        if segment as usize != SEGMENT {
            return Err(Defect::Unsupported("interpolation by blocks of", segment.into()));
        }
        let is_cubic = match reader.u32(PART)? {
            0 => false,
            1 => true,
            other => return Err(Defect::Unsupported("interpolation", other.into())),
        };
        let direction = reader.u32(PART)?;
        if direction != 0 {
            return Err(Defect::Field("direction in one dimension", direction.into()));
        }
        let anchor_stride = reader.u64(PART)?;
        if anchor_stride != 0 && anchor_stride != ANCHOR_STRIDE as u64 {
            return Err(Defect::Unsupported("anchor stride", anchor_stride));
        }
        let bounds = Bounds::new(reader.f64(PART)?, reader.f64(PART)?)?;
        Ok(Self { is_cubic, is_anchored: anchor_stride != 0, bounds })
    }

    /// The error bound of a level, if `bound` is the bound of the last level.
    fn bound(&self, level: u32, bound: f64) -> f64 {
        match self.bounds {
            Bounds::Halved if level >= HALVED_LEVEL => bound / 2.0,
            Bounds::Halved => bound,
            Bounds::Geometric { alpha, beta } => bound / alpha.powf(f64::from(level - 1)).min(beta),
        }
    }
}

impl Bounds {
    fn new(alpha: f64, beta: f64) -> Result<Self, Defect> {
        if alpha < 0.0 {
            Ok(Self::Halved)
        } else if alpha >= 1.0 && beta >= 1.0 {
            Ok(Self::Geometric { alpha, beta })
        } else {
            Err(Defect::Number("reduction of the error bound", if alpha >= 1.0 { beta } else { alpha }))
        }
    }
}

/// The points of one segment. Every second one is known.
struct Points<'a, 'v, S> {
    /// The values from the first point on.
    slots: &'a mut [S],
    stride: usize,
    count: usize,
    bound: f64,
    values: &'a mut Values<'v>,
}

impl<S: Slot> Points<'_, '_, S> {
    /// Predicts odd points from the two points beside them; the last one, at the end, from the one or two known before
    /// it.
    #[allow(
        clippy::manual_midpoint,
        reason = "f64::midpoint rounds tiny values and bounds huge ones otherwise than SZ3"
    )]
    fn linear(&mut self) -> Result<(), Defect> {
        let mut left = self.get(0)?;
        for index in (1..self.count - 1).step_by(2) {
            let right = self.get(index + 1)?;
            self.set(index, (left + right) / 2.0)?;
            left = right;
        }
        if self.count.is_multiple_of(2) {
            let last = self.count - 1;
            let before = self.get(last - 1)?;
            let prediction = if self.count < 4 { before } else { -0.5 * self.get(last - 3)? + 1.5 * before };
            self.set(last, prediction)?;
        }
        Ok(())
    }

    /// Predicts odd points from the four around them; at the ends from three. The inner points come first, then those
    /// at the ends. It needs five points.
    fn cubic(&mut self) -> Result<(), Defect> {
        let (mut a, mut b, mut c) = (self.get(0)?, self.get(2)?, self.get(4)?);
        let mut index = 3;
        while index + 3 < self.count {
            let d = self.get(index + 3)?;
            self.set(index, (-a + 9.0 * b + 9.0 * c - d) / 16.0)?;
            (a, b, c) = (b, c, d);
            index += 2;
        }
        let first = (3.0 * self.get(0)? + 6.0 * self.get(2)? - self.get(4)?) / 8.0;
        self.set(1, first)?;
        self.set(index, (-a + 6.0 * b + 3.0 * c) / 8.0)?;
        if self.count.is_multiple_of(2) {
            self.set(index + 2, (3.0 * a - 10.0 * b + 15.0 * c) / 8.0)?;
        }
        Ok(())
    }

    #[inline]
    fn get(&self, index: usize) -> Result<f64, Defect> {
        self.slots.get(index * self.stride).map(|slot| slot.get()).ok_or(Defect::Truncated("segment"))
    }

    /// Decodes the value at a point from its prediction.
    #[inline]
    fn set(&mut self, index: usize, prediction: f64) -> Result<(), Defect> {
        let slot = self.slots.get_mut(index * self.stride).ok_or(Defect::Truncated("segment"))?;
        *slot = S::new(self.values.next(prediction, self.bound)?);
        Ok(())
    }
}
