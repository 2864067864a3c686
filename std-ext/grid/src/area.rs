//! Bounds of a grid, as metadata have them: north, west, south, east, in degrees.

use std::str::FromStr;

use tgm_core::cbor::Value;

use crate::error::GridError;

/// Bounds of a grid in degrees. Its outer rows and columns lie on them.
///
/// ```
/// use tgm_grid::Area;
///
/// let area: Area = "60/-10/40/10".parse()?;
/// assert_eq!(area, Area::new(&[60.0, -10.0, 40.0, 10.0])?);
/// assert_eq!((area.north(), area.west(), area.south(), area.east()), (60.0, -10.0, 40.0, 10.0));
/// # Ok::<(), tgm_grid::GridError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    north: f64,
    west: f64,
    south: f64,
    east: f64,
}

impl Area {
    /// The keys of metadata under which bounds stand, the best first. The value is a list of four numbers, or text with
    /// slashes or commas between them.
    pub const KEYS: [&str; 2] = ["mars.area", "area"];
    /// From pole to pole.
    pub const GLOBE: Self = Self { north: 90.0, west: 0.0, south: -90.0, east: 360.0 };

    /// The bounds that a value of metadata says: a list of four numbers, or a text.
    ///
    /// # Errors
    /// [`GridError::Area`] for others.
    pub fn of_value(value: &Value<'_>) -> Result<Self, GridError> {
        if let Ok(text) = value.as_str() {
            return text.parse();
        }
        let numbers = value.as_array().map_err(|_| GridError::Area)?.iter();
        let numbers = numbers.map(|number| number.ok()?.as_f64().ok()).collect::<Option<Vec<f64>>>();
        Self::new(&numbers.ok_or(GridError::Area)?)
    }

    /// The bounds north, west, south and east.
    ///
    /// # Errors
    /// [`GridError::Area`] if these are not four finite numbers.
    pub fn new(numbers: &[f64]) -> Result<Self, GridError> {
        match *numbers {
            [north, west, south, east] if numbers.iter().all(|number| number.is_finite()) => {
                Ok(Self { north, west, south, east })
            }
            _ => Err(GridError::Area),
        }
    }

    /// The latitude of the first row.
    pub const fn north(&self) -> f64 {
        self.north
    }

    /// The longitude of the first column.
    pub const fn west(&self) -> f64 {
        self.west
    }

    /// The latitude of the last row.
    pub const fn south(&self) -> f64 {
        self.south
    }

    /// The longitude of the last column, or of the first one again a whole circle further.
    pub const fn east(&self) -> f64 {
        self.east
    }
}

impl FromStr for Area {
    type Err = GridError;

    fn from_str(text: &str) -> Result<Self, GridError> {
        let numbers = text.split(['/', ',']).map(|number| number.trim().parse().ok());
        Self::new(&numbers.collect::<Option<Vec<f64>>>().ok_or(GridError::Area)?)
    }
}
