//! Answers with fewer bytes than were asked for: the others are asked for, one answer after the other.

use crate::read::{FetchErrorKind, Fetched, Want};
use crate::remote::answer::Refusal;
use crate::remote::exchange::Ask;

/// Answers that one range takes, at most. A server with less in each of them is of no use.
const MOST: u32 = 1000;

/// What is asked for, and what came of it so far.
pub(super) struct Pieces {
    ask: Ask,
    found: Option<Fetched>,
    answers: u32,
}

impl Pieces {
    pub(super) fn new(ask: &Ask) -> Self {
        Self { ask: ask.clone(), found: None, answers: 0 }
    }

    /// What is to be asked next. `None` if everything is there, up to the end of the source.
    pub(super) fn next(&self) -> Option<Ask> {
        let Some(found) = &self.found else { return Some(self.ask.clone()) };
        let Want::At(asked) = &self.ask.want else { return None };
        let end = found.offset.checked_add(found.bytes.len() as u64)?;
        // An answer without bytes begins after the end, and one from the start of the source can be all of it.
        let is_short =
            found.offset == asked.start && (asked.start..asked.end).contains(&end) && !found.bytes.is_empty();
        let is_more = found.size.is_some_and(|size| end < size);
        let unchanged = self.ask.unchanged.clone().or_else(|| found.tag.clone());
        let whole_body = self.ask.whole_body;
        (is_short && is_more).then_some(Ask { want: Want::At(end..asked.end), unchanged, whole_body })
    }

    /// Takes the answer to [`Self::next`].
    ///
    /// # Errors
    /// The answer does not go on where the one before ends, or there were too many.
    pub(super) fn take(&mut self, answer: Fetched) -> Result<(), Refusal> {
        let Some(found) = &mut self.found else {
            self.found = Some(answer);
            return Ok(());
        };
        self.answers += 1;
        let end = found.offset.checked_add(found.bytes.len() as u64);
        let protocol = |text: &str| Err(Refusal::new(FetchErrorKind::Protocol, text));
        if Some(answer.offset) != end || answer.bytes.is_empty() {
            return protocol("the server answers with fewer bytes than were asked for, and has no others");
        }
        if answer.size != found.size {
            return Err(Refusal::new(
                FetchErrorKind::Changed,
                "the content has another length than in the answer before",
            ));
        }
        if self.answers > MOST {
            return protocol("the server answers with a few bytes at a time");
        }
        if found.bytes.try_reserve(answer.bytes.len()).is_err() {
            return Err(Refusal::new(FetchErrorKind::TooLarge, "there is no memory for all parts of the answer"));
        }
        found.bytes.extend_from_slice(&answer.bytes);
        Ok(())
    }

    /// All that came.
    ///
    /// # Errors
    /// Nothing was asked.
    pub(super) fn finish(self) -> Result<Fetched, Refusal> {
        self.found.ok_or_else(|| Refusal::new(FetchErrorKind::Protocol, "there was no answer"))
    }
}
