//! Arrows as lines of a picture.

use crate::lines::Lines;

/// Arrows along the longer side of a picture.
pub const ACROSS: f64 = 32.0;
/// The part of an arrow that its head takes, and half of the angle of the head.
const HEAD: f64 = 0.35;
const HEAD_ANGLE: f64 = 0.5;

/// An arrow: the share of the picture where its middle is, and its speed to the right and down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrow {
    /// Where it is, as shares of the picture from the top left.
    pub at: (f64, f64),
    /// Its speed to the right and downward.
    pub along: (f64, f64),
}

/// The arrows of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrows {
    /// The arrows.
    pub arrows: Vec<Arrow>,
    /// The greatest speed. Its arrow is as long as arrows are apart.
    pub most: f64,
    /// The units of speeds.
    pub units: String,
}

impl Arrows {
    /// The arrows as lines in an area of this width and height.
    pub fn lines(&self, sides: (f64, f64)) -> Lines {
        self.arrows.iter().flat_map(|arrow| self.of(*arrow, sides)).collect()
    }

    /// The length of the arrow of a speed, in units of the picture.
    pub fn length(&self, speed: f64, (width, height): (f64, f64)) -> f64 {
        width.max(height) / ACROSS * (speed / self.most)
    }

    /// The shaft and the head of an arrow.
    pub fn of(&self, Arrow { at, along: (x, y) }: Arrow, sides: (f64, f64)) -> Vec<Vec<(f64, f64)>> {
        let speed = x.hypot(y);
        let length = self.length(speed, sides);
        if length < 1.0 {
            return Vec::new();
        }
        let (width, height) = sides;
        let (right, down) = (x / speed * length, y / speed * length);
        let point = |along: f64, across: f64| {
            let to = (right * along - down * across, down * along + right * across);
            (at.0 + to.0 / width, at.1 + to.1 / height)
        };
        let (back, aside) = (0.5 - HEAD * HEAD_ANGLE.cos(), HEAD * HEAD_ANGLE.sin());
        let tip = point(0.5, 0.0);
        vec![vec![point(-0.5, 0.0), tip], vec![point(back, aside), tip, point(back, -aside)]]
    }
}
