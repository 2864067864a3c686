//! Warnings about messages that other readers cannot read.

use std::fmt;

use serde_json::Value as Json;

use crate::dtype;
use crate::tens::Tens;
use crate::wire::Message;

/// A property of a message that other readers cannot read.
///
/// ```
/// use tgm_zio::{TensBuilder, TensorBuilder, Warning};
///
/// let tensor = TensorBuilder::new(&[2, 2], &[1_u8, 2, 3, 4]).order(&[0, 1]);
/// let built = TensBuilder::new().tensor(tensor).build()?;
/// assert_eq!(built.warnings, [Warning::StorageOrder { tensor: 0 }]);
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// The last payload part is empty: ZIO's Python cannot read such a message from a single buffer.
    EmptyLastPart,
    /// The tensor is not in the payload part of its own number, where Wire-Cell looks for it.
    TensorElsewhere {
        /// Which tensor.
        tensor: usize,
        /// The payload part it is in.
        part: usize,
    },
    /// numpy has no type of that kind and width, or gives it another width.
    NotForNumpy {
        /// Which tensor.
        tensor: usize,
    },
    /// The tensor has an order or descends, which no known reader supports.
    StorageOrder {
        /// Which tensor.
        tensor: usize,
    },
    /// The tensor's metadata is not one level of scalars, as ZIO's documentation asks for.
    NestedMetadata {
        /// Which tensor.
        tensor: usize,
    },
    /// The form is not printable ASCII.
    FormNotAscii,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyLastPart => f.write_str("the last part is empty: ZIO's Python cannot read that from one buffer"),
            Self::TensorElsewhere { tensor, part } => {
                write!(f, "tensor {tensor} is in payload part {part}: Wire-Cell looks for it in part {tensor}")
            }
            Self::NotForNumpy { tensor } => write!(f, "tensor {tensor}: numpy has no type of that dtype and word"),
            Self::StorageOrder { tensor } => {
                write!(f, "tensor {tensor} is not stored in rows, which no other reader looks at")
            }
            Self::NestedMetadata { tensor } => write!(f, "tensor {tensor}: metadata is not one level of scalars"),
            Self::FormNotAscii => f.write_str("the form is not printable ASCII"),
        }
    }
}

/// The warnings for a message.
pub(super) fn warnings(message: &Message<'_, &[u8]>, tens: &Tens<'_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (index, tensor) in tens.tensors().iter().enumerate() {
        let is_nested = |json: &Json| json.is_object() || json.is_array();
        let is_flat = |metadata: &Json| metadata.as_object().is_some_and(|members| !members.values().any(is_nested));
        let found = [
            (tensor.part() != index, Warning::TensorElsewhere { tensor: index, part: tensor.part() }),
            (!dtype::is_known_to_numpy(tensor.kind(), tensor.word()), Warning::NotForNumpy { tensor: index }),
            (!tensor.layout().is_row_major(), Warning::StorageOrder { tensor: index }),
            (tensor.metadata().is_some_and(|json| !is_flat(json)), Warning::NestedMetadata { tensor: index }),
        ];
        warnings.extend(found.into_iter().filter(|(is, _)| *is).map(|(_, warning)| warning));
    }
    if message.payloads().last().is_some_and(<[u8]>::is_empty) {
        warnings.push(Warning::EmptyLastPart);
    }
    if message.form().as_str().is_none() {
        warnings.push(Warning::FormNotAscii);
    }
    warnings
}
