//! Rows and columns of values with their labels, which can be turned.

use crate::axis::Axis;
use crate::vertical::Way;

/// Levels along a side.
pub(crate) struct Levels {
    pub(crate) way: Way,
    pub(crate) units: String,
    pub(crate) numbers: Vec<f64>,
}

/// Values in rows and columns, with what these are. There are as many values as cells.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) values: Vec<f64>,
    /// The axis of the rows, and that of the columns.
    pub(crate) axes: [Axis; 2],
}

impl Table {
    /// Rows as columns.
    pub(crate) fn turned(self) -> Self {
        let Self { rows, columns, values, axes: [of_rows, of_columns] } = self;
        let column = |column: usize| values.iter().skip(column).step_by(columns.max(1)).copied();
        let values = (0..columns).flat_map(column).collect();
        Self { rows: columns, columns: rows, values, axes: [of_columns, of_rows] }
    }

    /// The highest of the levels of its rows on top.
    pub(crate) fn upright(self, levels: &Levels) -> Self {
        if levels.way.is_first_on_top(&levels.numbers) {
            return self;
        }
        let Self { rows, columns, values, axes: [of_rows, of_columns] } = self;
        let values = values.chunks(columns.max(1)).rev().flatten().copied().collect();
        let of_rows = match of_rows {
            Axis::Labels(name, mut labels) => {
                labels.reverse();
                Axis::Labels(name, labels).evenly()
            }
            other => other,
        };
        Self { rows, columns, values, axes: [of_rows, of_columns] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns_and_turn_upright() {
        let labels = |name: &str, all: &[&str]| Axis::of_labels(name, all.iter().map(ToString::to_string).collect());
        let values = (1..=6).map(f64::from).collect();
        let axes = [labels("step", &["0", "6"]), labels("level", &["1000", "500", "100"])];
        let table = Table { rows: 2, columns: 3, values, axes }.turned();
        assert_eq!((table.rows, table.columns, table.values.as_slice()), (3, 2, &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0][..]));
        let levels = Levels { way: Way::Down, units: "hPa".into(), numbers: vec![1000.0, 500.0, 100.0] };
        let upright = table.clone().upright(&levels);
        assert_eq!(upright.values, [3.0, 6.0, 2.0, 5.0, 1.0, 4.0]);
        assert_eq!(upright.axes, [labels("level", &["100", "500", "1000"]), labels("step", &["0", "6"])]);
        let levels = Levels { numbers: vec![100.0, 500.0, 1000.0], ..levels };
        assert_eq!(table.clone().upright(&levels), table);
    }
}
