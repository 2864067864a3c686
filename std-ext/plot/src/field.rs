//! Fields of two dimensions, made smaller or larger by the mean over areas.

/// A field: rows of values. What is not finite is missing.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Field {
    /// A field of these dimensions. `None` if it is empty, or has another number of values.
    pub fn new(rows: usize, columns: usize, values: Vec<f64>) -> Option<Self> {
        (rows.checked_mul(columns)? == values.len() && !values.is_empty()).then_some(Self { rows, columns, values })
    }

    /// The number of rows.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// The value of a row and column. `None` if it is missing.
    pub fn get(&self, row: usize, column: usize) -> Option<f64> {
        self.values.get(row * self.columns + column).copied().filter(|value| value.is_finite())
    }

    /// All values, row by row. `None` is a missing value.
    pub fn cells(&self) -> impl Iterator<Item = Option<f64>> {
        self.values.iter().copied().map(|value| value.is_finite().then_some(value))
    }

    /// The field with other numbers of rows and columns. Each new value is the mean over the area that it covers; parts of
    /// old values count by their share. Missing values do not count.
    #[must_use]
    pub fn resized(&self, rows: usize, columns: usize) -> Self {
        let (of_rows, of_columns) = (shares(self.rows, rows), shares(self.columns, columns));
        let mut values = Vec::with_capacity(rows * columns);
        for rows in &of_rows {
            for columns in &of_columns {
                let (mut sum, mut weight) = (0.0, 0.0);
                for &(row, of_row) in rows {
                    for &(column, of_column) in columns {
                        if let Some(value) = self.get(row, column) {
                            sum += value * of_row * of_column;
                            weight += of_row * of_column;
                        }
                    }
                }
                values.push(if weight > 0.0 { sum / weight } else { f64::NAN });
            }
        }
        Self { rows, columns, values }
    }
}

/// For each of `new` equal parts of a line of `old` units: the units that it covers, each with the length that it covers.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few units")]
fn shares(old: usize, new: usize) -> Vec<Vec<(usize, f64)>> {
    let step = old as f64 / new as f64;
    let part = |index: usize| {
        let (start, end) = (index as f64 * step, (index + 1) as f64 * step);
        let units = start.floor() as usize..(end.ceil() as usize).min(old);
        let length = |unit: usize| (unit as f64 + 1.0).min(end) - (unit as f64).max(start);
        units.map(|unit| (unit, length(unit))).filter(|(_, length)| *length > 1e-9).collect()
    };
    (0..new).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_fields_have_means_of_areas() {
        let field = Field::new(2, 3, vec![1.0, 2.0, 3.0, 4.0, f64::NAN, 6.0]).unwrap();
        assert_eq!(field.resized(1, 1).get(0, 0), Some(16.0 / 5.0));
        // A column and a half each: (1 + 4 + 2 / 2) of 2.5 values, and (2 / 2 + 3 + 6) of 2.5.
        let halves = field.resized(1, 2);
        assert_eq!((halves.get(0, 0), halves.get(0, 1)), (Some(6.0 / 2.5), Some(10.0 / 2.5)));
        assert_eq!(field.resized(4, 6).get(3, 2), None);
        assert_eq!(field.resized(4, 6).get(0, 0), Some(1.0));
        assert_eq!(field.resized(2, 3).get(1, 2), Some(6.0));
        assert!(Field::new(0, 3, vec![]).is_none() && Field::new(2, 2, vec![0.0]).is_none());
    }
}
