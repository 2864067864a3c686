//! Coordinates as arrays of numbers, by the conventions of CF.

use tgm_core::descriptor::Dtype;
use tgm_dataset::{Coordinate, Written};

use super::Entries;

/// A coordinate to write.
pub(crate) struct Labels {
    pub(crate) name: String,
    pub(crate) dims: Vec<String>,
    pub(crate) content: Content,
    pub(crate) attributes: Entries,
}

/// The values of a coordinate.
pub(crate) enum Content {
    /// Elements of this type, in the byte order of the machine.
    Numbers(Dtype, Vec<u8>),
    Texts(Vec<String>),
}

impl Labels {
    /// A coordinate under the names that are written.
    pub(super) fn of(coordinate: &Coordinate, name: String, dims: Vec<String>) -> Self {
        let (written, attributes) = coordinate.written();
        let content = match written {
            Written::Integers(numbers) => integers(&numbers),
            Written::Floats(numbers) => floats(numbers.iter().copied()),
            Written::Texts(texts) => Content::Texts(texts),
        };
        let attributes = attributes.iter().map(|(key, value)| (key.as_str().into(), value.into())).collect();
        Self { name, dims, content, attributes }
    }

    /// The values again and again, so many times, along the first dimension.
    pub(super) fn repeat(&mut self, times: u64) {
        match &mut self.content {
            Content::Numbers(_, bytes) => {
                let once = bytes.clone();
                (1..times).for_each(|_| bytes.extend_from_slice(&once));
            }
            Content::Texts(texts) => {
                let once = texts.clone();
                (1..times).for_each(|_| texts.extend_from_slice(&once));
            }
        }
    }
}

fn integers(numbers: &[i64]) -> Content {
    Content::Numbers(Dtype::Int64, numbers.iter().flat_map(|number| number.to_ne_bytes()).collect())
}

fn floats(numbers: impl Iterator<Item = f64>) -> Content {
    Content::Numbers(Dtype::Float64, numbers.flat_map(f64::to_ne_bytes).collect())
}
