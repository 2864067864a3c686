//! The machine's steps, one after the other, and its end.

use zerocopy::FromBytes;

use super::machine::{Machine, State};
use super::step::{Progress, Step};
use crate::error::{Error, ErrorKind, Result};
use crate::frame::{Landmark, check_header, find_landmark};
use crate::wire::{FrameHeader, MIN_MESSAGE_SIZE, Preamble};

impl Machine {
    /// Takes steps until there is something to tell, or no input is left.
    #[inline]
    pub(super) fn step<'i>(&mut self, memory: &mut [u8], input: &mut &'i [u8]) -> Result<Option<Step<'i>>> {
        loop {
            if self.carry.rest().is_empty() {
                match self.advance(memory, input)? {
                    Progress::Tell(step) => return Ok(Some(step)),
                    Progress::Moved => {}
                    Progress::Hungry => return Ok(None),
                }
                continue;
            }
            // A copy, because the step changes the machine that holds it.
            let carry = self.carry;
            let mut ahead = carry.rest();
            let available = ahead.len();
            self.replaying = true;
            let progress = self.advance(memory, &mut ahead);
            self.replaying = false;
            // The step cannot have set another carry: only gaps set one, and a frame is longer than the carry that begins it.
            self.carry.advance(available.saturating_sub(ahead.len()));
            // Hungry here means that the carry is used up: the rest comes from the input.
            if let Progress::Tell(step) = progress? {
                return Ok(Some(step.carried(carry.at())));
            }
        }
    }

    /// Takes one step.
    fn advance<'i>(&mut self, memory: &mut [u8], input: &mut &'i [u8]) -> Result<Progress<'i>> {
        match self.state {
            State::Preamble => self.read_preamble(input),
            State::Search => Ok(self.search(input)),
            State::Begin => Ok(self.begin()),
            State::Gap if self.total_length().is_some() => self.bounded_gap(input),
            State::Gap => self.open_gap(input),
            State::Header => self.header(input),
            State::Body => self.body(memory, input),
            State::Postamble => self.read_postamble(input),
        }
    }

    /// Reports what is wrong if the stream ends here.
    pub(super) fn finish(&self) -> Result<()> {
        let received = self.position.saturating_sub(self.message);
        match self.state {
            State::Preamble if received == 0 => Ok(()),
            State::Preamble => Err(ErrorKind::Truncated.at(received)),
            State::Search => Ok(()),
            _ if self.total_length().is_some() => {
                Err(ErrorKind::MessageExceedsBuffer.at_index(Preamble::TOTAL_LENGTH_OFFSET))
            }
            _ if received < MIN_MESSAGE_SIZE as u64 => Err(ErrorKind::Truncated.at(received)),
            State::Begin | State::Gap | State::Postamble => Err(self.unfinished_gap()),
            State::Header => Err(ErrorKind::Truncated.at(received)),
            State::Body => Err(ErrorKind::FrameExceedsMessage
                .at_index(FrameHeader::TOTAL_LENGTH_OFFSET)
                .shift(self.frame.begin.offset)),
        }
    }

    /// The error of a message of unknown length if the stream ends after one of its frames.
    fn unfinished_gap(&self) -> Error {
        let small = self.small.as_slice();
        if let Some((at, Landmark::Frame)) = find_landmark(small, true) {
            let mut walk = self.walk;
            walk.skip(self.gap.saturating_add(at as u64));
            let offset = walk.position();
            let frame = small.get(at..).unwrap_or_default();
            // The errors are the same as of a walk over a slice: it checks the header first, then the order, then the rest. Here
            // the rest is that the frame ends too late, because the smallest one is longer than the bytes at hand.
            let found = match FrameHeader::ref_from_prefix(frame) {
                Ok((header, _)) => check_header(header, walk.room())
                    .map_err(|error| error.shift(offset))
                    .and_then(|(frame_type, length)| walk.enter(frame_type, length))
                    .and_then(|()| check_header(header, frame.len() as u64).map_err(|error| error.shift(offset)))
                    .map(|_| ()),
                Err(_) => Err(ErrorKind::Truncated.at_index(frame.len()).shift(offset)),
            };
            if let Err(error) = found {
                return error;
            }
        }
        ErrorKind::EndMagic.at(self.walk.position())
    }
}
