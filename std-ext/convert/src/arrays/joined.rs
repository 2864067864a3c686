//! The arrays of several messages, for a file that holds them all.

use super::{Arrays, NotKept};

/// The arrays of several messages as if they were of one, and where each is from. All values are in memory.
#[derive(Debug, Default)]
pub struct Joined {
    arrays: Arrays<'static>,
    /// The places of the messages, and the number of the first array of each.
    places: Vec<(String, usize)>,
}

impl Joined {
    /// Adds the arrays of a message at `place`. Returns what of the message has no room beside the others, numbered as in the
    /// message: an annotation of which an earlier message has another value.
    pub fn add(&mut self, place: impl Into<String>, arrays: Arrays<'_>) -> Vec<NotKept> {
        let Arrays { metadata, arrays, mut not_kept } = arrays.into_owned();
        self.places.push((place.into(), self.arrays.arrays.len()));
        self.arrays.arrays.extend(arrays);
        for (key, value) in metadata {
            let what = format!("extra.{key}, of which an earlier message has another value");
            let kept = self.arrays.metadata.entry(key).or_insert_with(|| value.clone());
            if *kept != value {
                not_kept.push(NotKept::of_message(what));
            }
        }
        not_kept
    }

    /// All arrays. Their names may be equal, as [`Arrays::names`] tells.
    pub const fn arrays(&self) -> &Arrays<'static> {
        &self.arrays
    }

    /// How many messages there are.
    pub const fn message_count(&self) -> usize {
        self.places.len()
    }

    /// The place of the message that array `index` is from, and the array's number in that message. `None` if there is no message.
    pub fn place_of(&self, index: usize) -> Option<(&str, usize)> {
        let behind = self.places.partition_point(|(_, first)| *first <= index);
        let (place, first) = self.places.get(behind.checked_sub(1)?)?;
        Some((place, index - first))
    }
}

#[cfg(test)]
mod tests {
    use tgm_core::descriptor::{ByteOrder, Dtype};

    use super::super::Array;
    use super::*;

    #[test]
    fn arrays_know_where_they_are_from() {
        let array = || Array::new(Dtype::Uint8, ByteOrder::Little, &[1], vec![7]).unwrap().named("t");
        let message = |count, run: &str| Arrays {
            metadata: [("run".into(), run.into()), ("same".into(), 1.into())].into(),
            arrays: vec![array(); count],
            not_kept: Vec::new(),
        };
        let mut joined = Joined::default();
        assert_eq!(joined.place_of(0), None);
        let lost = [(2, "a"), (0, "a"), (1, "b")].map(|(count, run)| joined.add(run, message(count, run)).len());
        assert_eq!((lost, joined.message_count()), ([0, 0, 1], 3));
        let places = [0, 1, 2].map(|index| joined.place_of(index));
        assert_eq!(places, [Some(("a", 0)), Some(("a", 1)), Some(("b", 0))]);
        assert_eq!(joined.arrays().names().0, ["t", "t_1", "t_2"]);
        assert_eq!(joined.arrays().metadata.len(), 2);
    }
}
