//! Errors that name an object of the message.

use std::fmt;

use crate::base::error::TensogramError;

/// An error, and the number of the object that it concerns.
#[derive(Debug)]
pub struct PartError {
    /// The number of the object in the message. `None` for an error of the whole message.
    pub object_index: Option<usize>,
    /// The error itself.
    pub error: TensogramError,
}

impl PartError {
    /// An error of the whole message.
    pub(crate) const fn of_all(error: TensogramError) -> Self {
        Self { object_index: None, error }
    }

    /// The error of an object.
    pub(crate) fn of(index: usize) -> impl Fn(TensogramError) -> Self {
        move |error| Self { object_index: Some(index), error }
    }

    /// This error in a message that has `count` objects before those that the number counts.
    pub(crate) fn behind(self, count: usize) -> Self {
        Self { object_index: self.object_index.map(|index| index + count), ..self }
    }
}

impl fmt::Display for PartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.object_index {
            Some(index) => write!(f, "object {index}: {}", self.error),
            None => self.error.fmt(f),
        }
    }
}

impl std::error::Error for PartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// The number of the object stands in front of the text.
impl From<PartError> for TensogramError {
    fn from(PartError { object_index, error }: PartError) -> Self {
        match object_index {
            Some(index) => error.within(format_args!("object {index}")),
            None => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn an_error_of_a_part_leads_to_the_error_of_the_object() {
        let error = PartError { object_index: Some(3), error: TensogramError::encoding("odd") }.behind(4);
        assert_eq!(error.to_string(), "object 7: encoding error: odd");
        assert_eq!(error.source().unwrap().to_string(), "encoding error: odd");
        assert_eq!(TensogramError::from(error).to_string(), "encoding error: object 7: odd");
    }
}
