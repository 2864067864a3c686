//! Points on a sphere in a tree of boxes: which one is nearest to a place.
//!
//! Each node halves its points along the longest side of their box, down to leaves of a few points. A search visits the nearer half
//! first, and skips a box that is as far as the best point, or farther. So it takes O(log points), also where many points lie in
//! one place or close together.

/// Points of a leaf, at most.
const LEAF: usize = 12;

/// A place on a sphere of radius 1.
pub(crate) type Place = [f32; 3];

/// A point and its number.
#[derive(Clone, Copy, Debug)]
struct Spot {
    at: Place,
    point: usize,
}

/// The least and the greatest of each coordinate.
#[derive(Clone, Copy, Debug)]
struct Box3 {
    low: Place,
    high: Place,
}

/// Points in a tree.
#[derive(Debug)]
pub(crate) struct Tree {
    /// A node has a run of these, and its two children have the halves of it.
    spots: Vec<Spot>,
    /// The box of each node. The children of node `i` are `2 * i + 1` and `2 * i + 2`.
    boxes: Vec<Box3>,
}

/// A run of points, and the number of its node.
#[derive(Clone, Copy, Debug)]
struct Node {
    number: usize,
    start: usize,
    end: usize,
}

impl Node {
    /// Its halves. `None` for a leaf.
    fn children(self) -> Option<[Self; 2]> {
        let Self { number, start, end } = self;
        let middle = usize::midpoint(start, end);
        let children = [(2 * number + 1, start, middle), (2 * number + 2, middle, end)];
        (end - start > LEAF).then(|| children.map(|(number, start, end)| Self { number, start, end }))
    }
}

impl Box3 {
    fn of(spots: &[Spot]) -> Self {
        let none = Self { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3] };
        spots.iter().fold(none, |found, spot| Self {
            low: std::array::from_fn(|axis| found.low[axis].min(spot.at[axis])),
            high: std::array::from_fn(|axis| found.high[axis].max(spot.at[axis])),
        })
    }

    fn longest(&self) -> usize {
        let side = |axis: &usize| self.high[*axis] - self.low[*axis];
        (0..3).max_by(|a, b| side(a).total_cmp(&side(b))).unwrap_or(0)
    }

    /// The square of the distance from a place to the nearest place in the box. Not more than that to any point in it, as numbers of
    /// 32 bits are rounded alike.
    fn distance(&self, place: &Place) -> f32 {
        let nearest: Place = std::array::from_fn(|axis| place[axis].clamp(self.low[axis], self.high[axis]));
        square(&nearest, place)
    }
}

/// The square of the distance of two places.
fn square(a: &Place, b: &Place) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

impl Tree {
    /// The tree of these points, whose coordinates are finite. O(points · log points).
    pub(crate) fn new(points: impl Iterator<Item = (usize, Place)>) -> Self {
        let spots: Vec<Spot> = points.map(|(point, at)| Spot { at, point }).collect();
        let none = Box3 { low: [0.0; 3], high: [0.0; 3] };
        let mut tree = Self { boxes: Vec::new(), spots };
        tree.build(tree.root(), none);
        tree
    }

    fn root(&self) -> Node {
        Node { number: 0, start: 0, end: self.spots.len() }
    }

    fn build(&mut self, node: Node, empty: Box3) {
        let Some(spots) = self.spots.get_mut(node.start..node.end) else { return };
        let found = Box3::of(spots);
        if self.boxes.len() <= node.number {
            self.boxes.resize(node.number + 1, empty);
        }
        if let Some(place) = self.boxes.get_mut(node.number) {
            *place = found;
        }
        if let Some(children) = node.children() {
            let axis = found.longest();
            spots.select_nth_unstable_by(spots.len() / 2, |a, b| a.at[axis].total_cmp(&b.at[axis]));
            for child in children {
                self.build(child, empty);
            }
        }
    }

    /// The point that is nearest to a place, another than `but`, and its distance, which is at most `most`.
    pub(crate) fn nearest(&self, place: &Place, most: f32, but: Option<usize>) -> Option<(usize, f32)> {
        let best = self.best(place, most, but);
        best.point.map(|point| (point, best.square.sqrt()))
    }

    fn best<'p>(&self, place: &'p Place, most: f32, but: Option<usize>) -> Best<'p> {
        let square = most * most;
        let mut best = Best { place, but, point: None, square, visited: 0 };
        self.search(self.root(), &mut best);
        best
    }

    fn search(&self, node: Node, best: &mut Best<'_>) {
        let Some([mut near, mut far]) = node.children() else {
            let spots = self.spots.get(node.start..node.end).unwrap_or_default();
            for spot in spots {
                best.take(spot);
            }
            return;
        };
        let distance = |node: Node| self.boxes.get(node.number).map_or(0.0, |it| it.distance(best.place));
        let (mut to_near, mut to_far) = (distance(near), distance(far));
        if to_far < to_near {
            (near, far, to_near, to_far) = (far, near, to_far, to_near);
        }
        for (node, distance) in [(near, to_near), (far, to_far)] {
            if distance < best.square || (best.point.is_none() && distance <= best.square) {
                self.search(node, best);
            }
        }
    }
}

/// The best point so far.
struct Best<'p> {
    place: &'p Place,
    but: Option<usize>,
    point: Option<usize>,
    /// The square of its distance; before there is one, of the greatest distance that is asked for.
    square: f32,
    /// How many points were looked at.
    visited: usize,
}

impl Best<'_> {
    fn take(&mut self, spot: &Spot) {
        self.visited += 1;
        let square = square(&spot.at, self.place);
        let is_better = square < self.square || (self.point.is_none() && square <= self.square);
        if is_better && self.but != Some(spot.point) {
            (self.point, self.square) = (Some(spot.point), square);
        }
    }
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "numbers are small")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn place() -> impl Strategy<Value = Place> {
        // Many equal coordinates, and places close together.
        let coordinate = || prop_oneof![-1.0_f32..1.0, Just(0.0), Just(1.0), 0.5_f32..0.500_01];
        (coordinate(), coordinate(), coordinate()).prop_map(|(x, y, z)| [x, y, z])
    }

    proptest! {
        #[test]
        fn the_nearest_point_is_the_nearest_of_all(
            places in proptest::collection::vec(place(), 1..200), wanted in place(), but in 0_usize..200, most in 0.0_f32..4.0,
        ) {
            let tree = Tree::new(places.iter().copied().enumerate());
            let others = places.iter().enumerate().filter(|(at, _)| *at != but);
            let least = others.map(|(_, at)| square(at, &wanted)).fold(f32::INFINITY, f32::min);
            match tree.nearest(&wanted, most, Some(but)) {
                Some((point, far)) => {
                    prop_assert!(point != but && least <= most * most);
                    prop_assert_eq!((square(&places[point], &wanted), far), (least, least.sqrt()));
                }
                None => prop_assert!(least > most * most),
            }
        }
    }

    /// Points in one place, and points as close as numbers can tell, take no longer to search than others.
    #[test]
    fn crowded_points_are_not_all_visited() {
        let count = 200_000_usize;
        let crowds: [fn(usize) -> Place; 3] = [
            |_| [1.0, 0.0, 0.0],
            |at| [1.0, (at % 447) as f32 * 1e-7, (at / 447) as f32 * 1e-7],
            |at| [1.0, if at % 2 == 0 { 0.0 } else { 1e-3 }, 0.0],
        ];
        for crowd in crowds {
            let tree = Tree::new((0..count).map(|at| (at, crowd(at))));
            let asked = 3_000_usize;
            let visits = (0..asked).map(|at| {
                let place = [-0.5, (at % 60) as f32 / 60.0, (at / 60) as f32 / 50.0];
                let best = tree.best(&place, 4.0, Some(7));
                assert!(best.point.is_some());
                best.visited
            });
            let visits: usize = visits.sum();
            // A leaf has some points, and few leaves lie as near.
            assert!(visits / asked < count / 100, "{visits} points for {asked} places");
        }
    }
}
