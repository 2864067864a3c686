//! The size of a picture, as people write it.

use std::str::FromStr;

/// Pixels of a side.
const SIDES: std::ops::RangeInclusive<usize> = 200..=5000;

/// Width and height in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PixelSize(pub(crate) usize, pub(crate) usize);

impl FromStr for PixelSize {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let side = |text: &str| text.trim().parse().ok().filter(|side| SIDES.contains(side));
        let sides =
            text.split_once(['x', 'X', '×']).and_then(|(width, height)| Some(Self(side(width)?, side(height)?)));
        sides.ok_or("expected WxH: pixels from 200 to 5000, as 1920x1080")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_two_numbers_of_pixels() {
        assert_eq!("1920x1080".parse(), Ok(PixelSize(1920, 1080)));
        for wrong in ["", "x", "1920", "199x300", "300x5001", "-300x300", "99999999999999999999x300", "300x300x300"] {
            assert!(wrong.parse::<PixelSize>().is_err(), "{wrong}");
        }
    }
}
