//! The part of an object that is drawn: two dimensions of it, at one index of each of the others.

/// The choice for an object of a shape. It stays for the next object of the same shape, as for the steps of a forecast.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Slice {
    shape: Vec<u64>,
    /// The index of each dimension. For dimensions that are drawn it has no effect.
    indices: Vec<u64>,
    /// The first and the second dimension that is drawn, if there are more than two.
    plane: (usize, usize),
    /// The dimension whose index the keys change.
    current: usize,
}

impl Slice {
    /// Takes over the shape of an object.
    pub(super) fn fit(&mut self, shape: &[u64]) {
        if self.shape == shape {
            return;
        }
        let plane = (shape.len().saturating_sub(2), shape.len().saturating_sub(1));
        *self = Self { shape: shape.to_vec(), indices: vec![0; shape.len()], plane, current: 0 };
    }

    /// Whether there is anything to choose.
    pub(super) const fn has_choice(&self) -> bool {
        self.shape.len() > 2
    }

    const fn is_drawn(&self, dimension: usize) -> bool {
        dimension == self.plane.0 || dimension == self.plane.1
    }

    /// Moves along the current dimension.
    pub(super) fn step(&mut self, by: i64) {
        let (Some(index), Some(len)) = (self.indices.get_mut(self.current), self.shape.get(self.current)) else {
            return;
        };
        *index = index.saturating_add_signed(by).min(len.saturating_sub(1));
    }

    /// Makes the next dimension that is not drawn the current one.
    pub(super) fn next_dimension(&mut self) {
        let count = self.shape.len();
        let mut next = (1..=count).map(|step| (self.current + step) % count.max(1));
        self.current = next.find(|dimension| !self.is_drawn(*dimension)).unwrap_or(self.current);
    }

    /// Draws the next pair of dimensions.
    pub(super) fn next_plane(&mut self) {
        if !self.has_choice() {
            return;
        }
        let (first, second) = self.plane;
        let count = self.shape.len();
        self.plane = match (first + 1 < second, second + 1 < count) {
            (true, _) => (first + 1, second),
            (false, true) => (0, second + 1),
            (false, false) => (0, 1),
        };
        if self.is_drawn(self.current) {
            self.next_dimension();
        }
    }

    /// The choice as picks: `3, :, :`. Empty if all is drawn.
    pub(super) fn picks(&self) -> String {
        if !self.has_choice() {
            return String::new();
        }
        let part = |(dimension, index): (usize, &u64)| {
            if self.is_drawn(dimension) { ":".to_string() } else { index.to_string() }
        };
        self.indices.iter().enumerate().map(part).collect::<Vec<_>>().join(", ")
    }

    /// The choice for people: the current dimension stands in brackets, and each index with the size of its dimension.
    pub(super) fn text(&self) -> String {
        if !self.has_choice() {
            return String::new();
        }
        let part = |(dimension, (index, len)): (usize, (&u64, &u64))| match dimension {
            _ if self.is_drawn(dimension) => ":".to_string(),
            _ if dimension == self.current => format!("[{index}/{len}]"),
            _ => format!("{index}/{len}"),
        };
        self.indices.iter().zip(&self.shape).enumerate().map(part).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plane_and_every_index_can_be_chosen() {
        let mut slice = Slice::default();
        slice.fit(&[3, 4, 5, 6]);
        assert_eq!((slice.picks(), slice.text()), ("0, 0, :, :".into(), "[0/3], 0/4, :, :".into()));
        slice.step(5);
        slice.next_dimension();
        slice.step(1);
        assert_eq!((slice.picks(), slice.text()), ("2, 1, :, :".into(), "2/3, [1/4], :, :".into()));
        slice.next_dimension();
        slice.step(-9);
        assert_eq!(slice.picks(), "0, 1, :, :");
        let mut planes = Vec::new();
        for _ in 0..6 {
            slice.next_plane();
            planes.push(slice.picks().match_indices(':').count());
            assert!(slice.text().contains('['), "{}", slice.text());
        }
        assert_eq!((planes, slice.plane), (vec![2; 6], (2, 3)));
        // The same shape keeps the choice, another one does not.
        slice.fit(&[3, 4, 5, 6]);
        assert_eq!(slice.picks(), "0, 1, :, :");
        slice.fit(&[2, 2]);
        slice.step(1);
        slice.next_plane();
        slice.next_dimension();
        assert_eq!((slice.picks(), slice.has_choice()), (String::new(), false));
        slice.fit(&[]);
        slice.next_dimension();
        slice.step(1);
        assert_eq!(slice.text(), "");
    }
}
