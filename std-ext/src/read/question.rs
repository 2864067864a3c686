//! Questions to a message, and their answers, decoded from gathered bytes. This is the work that takes time; it reads
//! nothing.
//!
//! | module | what is asked for |
//! |---|---|
//! | `whole` | all of a message |
//! | `about` | metadata and descriptors |
//! | `object` | an object, or some of its values, with its descriptor |
//! | `values` | values of an object alone |
//! | `methods` | the methods of readers and files that ask |

pub(crate) mod about;
mod methods;
pub(crate) mod object;
pub(crate) mod values;
pub(crate) mod whole;

use std::ops::Range;

pub(crate) use self::methods::{object_method, question_methods};
use super::described::DescribedObject;
use super::gather::Gathered;
pub(crate) use super::gather::Needs;
use crate::base::error::Result;
use crate::base::options::DecodeOptions;
use crate::scan::MessageLayout;

/// How an answer comes out of gathered bytes.
#[derive(Debug)]
pub(crate) enum Answer<T> {
    /// The answer.
    Is(T),
    /// All of the frame has to be read.
    NeedsFrame,
    /// All of the message has to be read.
    NeedsMessage,
}

impl<T> From<Option<T>> for Answer<T> {
    fn from(found: Option<T>) -> Self {
        found.map_or(Self::NeedsMessage, Self::Is)
    }
}

/// What a question is put to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The message of this number.
    Number(usize),
    /// The message at this place.
    Message(MessageLayout),
    /// The object whose frame lies here. Its message is not read.
    Frame(Range<u64>),
}

impl From<usize> for Subject {
    fn from(number: usize) -> Self {
        Self::Number(number)
    }
}

impl From<MessageLayout> for Subject {
    fn from(layout: MessageLayout) -> Self {
        Self::Message(layout)
    }
}

/// A question to a message.
pub(crate) trait Question: Send + Sync {
    type Answer: Send;

    /// The bytes that the answer needs.
    fn wanted(&self) -> Needs;

    /// The options of decoding, if they are not the default ones.
    fn options(&self) -> Option<&DecodeOptions> {
        None
    }

    /// The descriptor of the object that is asked about, if it is known.
    fn described(&self) -> Option<&DescribedObject> {
        None
    }

    /// The answer out of a message that is at hand. Its bytes are not copied.
    ///
    /// # Errors
    /// As [`Self::answer`].
    fn in_memory(&self, message: &[u8]) -> Result<Self::Answer>;

    /// [`Self::in_memory`] of a message that was read for this question.
    ///
    /// # Errors
    /// As [`Self::answer`].
    fn in_own_memory(&self, message: Vec<u8>) -> Result<Self::Answer> {
        self.in_memory(&message)
    }

    /// The answer.
    ///
    /// # Errors
    /// The errors of the function that answers the same question from a message in memory.
    fn answer(&self, gathered: Gathered) -> Result<Answer<Self::Answer>>;
}

impl<Q: Question> Question for &Q {
    type Answer = Q::Answer;

    fn wanted(&self) -> Needs {
        (**self).wanted()
    }

    fn options(&self) -> Option<&DecodeOptions> {
        (**self).options()
    }

    fn described(&self) -> Option<&DescribedObject> {
        (**self).described()
    }

    fn in_memory(&self, message: &[u8]) -> Result<Self::Answer> {
        (**self).in_memory(message)
    }

    fn in_own_memory(&self, message: Vec<u8>) -> Result<Self::Answer> {
        (**self).in_own_memory(message)
    }

    fn answer(&self, gathered: Gathered) -> Result<Answer<Self::Answer>> {
        (**self).answer(gathered)
    }
}
