//! Gathering the bytes that an answer needs: of a message, one object, or parts of one.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use tgm_core::descriptor::Descriptor;
use tgm_core::frame::Frame;
use tgm_core::hash::HashPresence;
use tgm_core::index::IndexEntry;
use tgm_core::selection::Pick;

use super::described::{DescribedObject, DescriptorBytes, described, range_of};
use super::known_bytes::KnownBytes;
use super::locate::{Locate, Located, SearchGoal};
use super::missing_ranges::MissingRanges;
use super::options::ReadOptions;
use super::outline::{MetOutline, OutlinePiece, outline};
use super::read_task::{Progress, ReadTask};
use super::structure::{Halt, Parts, Structure};
use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::base::span::{span_before, span_len};
use crate::decode::fetched::{Division, spans};
use crate::scan::{MessageLayout, ScanOptions, Table};

/// What is wanted of a message.
#[derive(Clone, Debug)]
pub(crate) enum Needs {
    /// All its bytes.
    Message,
    /// What its frames say, other than the objects'.
    Structure,
    /// The descriptor of each object.
    Descriptors,
    /// The descriptor of one object.
    Descriptor(usize),
    /// All bytes except payloads and masks; with a number, also the payload and the masks of that object.
    Outline(Option<usize>),
    /// The frame of an object.
    Object(usize),
    /// Some values of an object.
    Values(usize, Elements),
}

impl Needs {
    /// Whether payloads are wanted too.
    pub(crate) const fn has_payload(&self) -> bool {
        match self {
            Self::Message | Self::Object(_) | Self::Values(..) | Self::Outline(Some(_)) => true,
            Self::Structure | Self::Descriptors | Self::Descriptor(_) | Self::Outline(None) => false,
        }
    }
}

/// Ranges of elements, each a first element and a count.
type RangeList<'r> = Cow<'r, [(u64, u64)]>;

/// Some elements of an object.
#[derive(Clone, Debug)]
pub(crate) enum Elements {
    /// Ranges, each a first element and a count.
    Ranges(Vec<(u64, u64)>),
    /// A box: what is picked of each dimension.
    Box(Vec<Pick>),
}

impl Elements {
    /// The elements as ranges. `None` if reading all of the frame costs less than these ranges.
    ///
    /// # Errors
    /// The errors of [`selection`](crate::decode::select::selection).
    pub(crate) fn ranges(&self, descriptor: &Descriptor<'_>) -> Result<Option<RangeList<'_>>> {
        match self {
            Self::Ranges(ranges) => Ok(Some(Cow::Borrowed(ranges))),
            Self::Box(picks) => Ok(spans(descriptor, picks)?.map(Cow::Owned)),
        }
    }
}

/// The bytes that were gathered.
#[derive(Debug)]
pub(crate) enum Gathered {
    /// All bytes of the message, because it is short, or odd, or because they are wanted.
    Message(Vec<u8>),
    /// The structure alone.
    Structure(Arc<Structure>),
    /// The structure, and the descriptor of each object.
    Descriptors(Arc<Structure>, Vec<DescriptorBytes>),
    /// The descriptor of one object, and where its payload and masks lie in the message.
    Descriptor(DescriptorBytes, Range<u64>),
    /// The length of the message, and the bytes of its outline.
    Outline(u64, Vec<OutlinePiece>),
    /// The frame of one object.
    Frame(FrameBytes),
    /// Parts of the payload of one object.
    Parts(Box<PayloadBytes>),
}

impl Gathered {
    /// Bytes that are to be decoded.
    #[cfg(feature = "async")]
    pub(crate) fn byte_len(&self) -> usize {
        match self {
            Self::Message(bytes) | Self::Frame(FrameBytes { bytes, .. }) => bytes.len(),
            Self::Structure(_) => 0,
            Self::Descriptors(_, all) => all.iter().map(|descriptor| descriptor.bytes.len()).sum(),
            Self::Descriptor(descriptor, _) => descriptor.bytes.len(),
            Self::Outline(_, pieces) => pieces.iter().map(|piece| piece.bytes.len()).sum(),
            Self::Parts(parts) => parts.fetched.iter().map(Vec::len).sum(),
        }
    }
}

/// The frame of an object.
#[derive(Debug)]
pub(crate) struct FrameBytes {
    /// The structure of its message. `None` if the frame was read apart from it.
    pub(crate) structure: Option<Arc<Structure>>,
    /// The number of the object in its message.
    pub(crate) index: usize,
    /// Where the frame begins in the message, or 0.
    pub(crate) offset: u64,
    pub(crate) bytes: Vec<u8>,
}

impl FrameBytes {
    /// How to know whether the frame has a digest.
    pub(crate) fn presence(&self) -> HashPresence {
        self.structure.as_ref().map_or(HashPresence::Flagged, |structure| structure.presence())
    }
}

/// The bytes of a payload that ranges need.
#[derive(Debug)]
pub(crate) struct PayloadBytes {
    pub(crate) descriptor: DescriptorBytes,
    /// The ranges, and the parts of the payload that hold them.
    pub(crate) ranges: Vec<(u64, u64)>,
    pub(crate) division: Division,
    /// The bytes at the places of [`Division::bytes`], in that order.
    pub(crate) fetched: Vec<Vec<u8>>,
    /// The bytes after the payload, if masks are restored, and their place in the message.
    pub(crate) blobs: Vec<u8>,
    pub(crate) blobs_offset: u64,
}

/// A gathering: which message, what of it, and what is known so far.
#[derive(Debug)]
pub(crate) struct Gather {
    /// The place of the message, once it is found; or of the frame.
    layout: Option<MessageLayout>,
    /// Whether `layout` is the frame of the object that is asked about, and not its message.
    is_frame: bool,
    /// The search for the message, which may go on to others later.
    search: Option<Box<Locate>>,
    /// The number of the message.
    number: usize,
    wanted: Needs,
    decode: DecodeOptions,
    options: ReadOptions,
    structure: Option<Arc<Structure>>,
    /// The descriptor of the object that is asked about, if it is known.
    described: Option<DescribedObject>,
    /// The outline of the message, if a search has met it.
    outline: Option<Arc<MetOutline>>,
    /// The table of all messages, if the search came to the end.
    table: Option<Table>,
    /// Whether parts of the message are of no use.
    is_odd: bool,
    /// Whether parts of the frame are of no use.
    whole_frame: bool,
}

impl Gather {
    fn new(wanted: Needs, decode: Option<&DecodeOptions>, options: &ReadOptions) -> Self {
        Self {
            layout: None,
            is_frame: false,
            search: None,
            number: 0,
            wanted,
            decode: decode.cloned().unwrap_or_default(),
            options: *options,
            structure: None,
            described: None,
            outline: None,
            table: None,
            is_odd: false,
            whole_frame: false,
        }
    }

    /// Gathers from a message whose place is known, and its structure if that is known.
    pub(crate) fn at(
        layout: MessageLayout,
        structure: Option<Arc<Structure>>,
        wanted: Needs,
        decode: Option<&DecodeOptions>,
        options: &ReadOptions,
    ) -> Self {
        Self { structure, layout: Some(layout), ..Self::new(wanted, decode, options) }
    }

    /// Gathers from the frame of one object. Its message is not read.
    pub(crate) fn of_frame(
        frame: Range<u64>,
        wanted: Needs,
        decode: Option<&DecodeOptions>,
        options: &ReadOptions,
    ) -> Self {
        let layout = MessageLayout { offset: frame.start, length: span_len(&frame) };
        Self { layout: Some(layout), is_frame: true, ..Self::new(wanted, decode, options) }
    }

    /// The same gathering, with the descriptor of the object if it is known.
    pub(crate) fn with_described(self, described: Option<&DescribedObject>) -> Self {
        Self { described: described.cloned(), ..self }
    }

    /// The same gathering, with the outline of the message if it is known.
    pub(crate) fn with_outline(self, outline: Option<Arc<MetOutline>>) -> Self {
        Self { outline, ..self }
    }

    /// Gathers from message `number`, which is searched for at the same time.
    pub(crate) fn search(
        locate: Locate,
        number: usize,
        wanted: Needs,
        decode: Option<&DecodeOptions>,
        options: &ReadOptions,
    ) -> Self {
        Self { search: Some(Box::new(locate)), number, ..Self::new(wanted, decode, options) }
    }

    /// Reads all of the frame from now on: its parts did not prove to be right.
    pub(crate) const fn read_whole_frame(&mut self) {
        self.whole_frame = true;
    }

    /// Reads all of the message from now on.
    pub(crate) fn read_whole_message(&mut self) {
        self.is_odd = true;
        self.structure = None;
    }

    /// The place of the message, once it is found.
    pub(crate) const fn layout(&self) -> Option<MessageLayout> {
        self.layout
    }

    /// All messages, if the search came to the end of the source.
    pub(crate) const fn take_table(&mut self) -> Option<Table> {
        self.table.take()
    }

    /// The search as far as it has come, to be taken up later.
    pub(crate) fn take_search(&mut self) -> Option<Locate> {
        self.search.take().map(|search| *search)
    }

    /// The structure of the message, if it was read.
    pub(crate) const fn structure(&self) -> Option<&Arc<Structure>> {
        self.structure.as_ref()
    }

    /// Goes on with the search. Returns the message, or where it lies if its preamble is right.
    fn find(&mut self, known: &KnownBytes, wants: &mut MissingRanges) -> Result<Option<MessageLayout>> {
        if self.layout.is_some() {
            return Ok(self.layout);
        }
        let search = self.search.get_or_insert_with(|| {
            Box::new(Locate::new(SearchGoal::Index(self.number), &ScanOptions::default(), &self.options))
        });
        self.layout = match search.step(known, wants)? {
            // The search has asked for the proof. What the message holds is asked for in the same round trip.
            Progress::Wait => return Ok(search.candidate(known)),
            Progress::Done(Located::Message(layout)) => Some(layout),
            Progress::Done(Located::Table(table)) => {
                let layout = table.get(self.number);
                (self.table, self.search) = (Some(table), None);
                Some(layout?)
            }
        };
        Ok(self.layout)
    }

    fn gather(&mut self, parts: &mut Parts<'_, '_>) -> Result<Gathered, Stop> {
        let length = parts.layout.length;
        if self.is_frame {
            return self.gather_from_frame(parts);
        }
        let is_whole = self.is_odd || length <= self.options.whole_message || matches!(self.wanted, Needs::Message);
        if let (Some(met), Needs::Outline(None), false) = (&self.outline, &self.wanted, self.is_odd) {
            return Ok(Gathered::Outline(met.length, met.pieces.clone()));
        }
        if is_whole {
            return Ok(Gathered::Message(parts.need(&(0..length))?.into_owned()));
        }
        if self.structure.is_none() {
            self.structure = Some(Arc::new(Structure::read(parts)?));
        }
        let structure = Arc::clone(self.structure.as_ref().ok_or(Halt::Odd)?);
        match &self.wanted {
            Needs::Message | Needs::Structure => Ok(Gathered::Structure(structure)),
            Needs::Descriptors => {
                let mut halt = Ok(());
                let mut all = Vec::with_capacity(structure.len());
                // All of them are asked for before the first is looked at.
                for index in 0..structure.len() {
                    let entry = structure.object(index).ok_or(Halt::Odd)?;
                    match described(parts, entry) {
                        Ok((descriptor, _)) => all.push(descriptor),
                        Err(Halt::Odd) => return Err(Halt::Odd.into()),
                        wait => halt = wait.map(|_| ()),
                    }
                }
                halt?;
                Ok(Gathered::Descriptors(structure, all))
            }
            Needs::Descriptor(index) => {
                let (descriptor, region) = described(parts, entry_of(&structure, *index)?)?;
                Ok(Gathered::Descriptor(descriptor, region))
            }
            Needs::Outline(whole) => Ok(Gathered::Outline(length, outline(parts, &structure, *whole)?)),
            Needs::Object(index) | Needs::Values(index, _) => {
                let entry = entry_of(&structure, *index)?;
                self.values(parts, Some(structure), entry)
            }
        }
    }

    /// What is wanted of an object whose frame is all that is read.
    fn gather_from_frame(&mut self, parts: &mut Parts<'_, '_>) -> Result<Gathered, Stop> {
        let entry = IndexEntry { offset: 0, length: parts.layout.length };
        match &self.wanted {
            _ if self.is_odd => Err(Halt::Odd.into()),
            Needs::Descriptor(_) => {
                let (descriptor, region) = described(parts, entry)?;
                Ok(Gathered::Descriptor(descriptor, region))
            }
            Needs::Object(_) | Needs::Values(..) => self.values(parts, None, entry),
            Needs::Message | Needs::Structure | Needs::Descriptors | Needs::Outline(_) => Err(Halt::Odd.into()),
        }
    }

    /// The values that are wanted of the object whose frame is at `entry`: parts of it, or all of it.
    fn values(
        &mut self,
        parts: &mut Parts<'_, '_>,
        structure: Option<Arc<Structure>>,
        entry: IndexEntry,
    ) -> Result<Gathered, Stop> {
        let (Needs::Object(index) | Needs::Values(index, _)) = self.wanted else { return Err(Halt::Odd.into()) };
        // A digest covers all of a frame, so parts of the frame cannot be verified.
        if let Needs::Values(_, elements) = &self.wanted
            && !self.whole_frame
            && entry.length > self.options.whole_frame
            && !self.decode.verify_hash
        {
            match payload_parts(parts, (entry, self.described.as_ref()), elements, &self.decode)? {
                Some(found) => return Ok(Gathered::Parts(Box::new(found))),
                None => self.whole_frame = true,
            }
        }
        let bytes = parts.need(&range_of(entry))?.into_owned();
        // The frame must be what the index says; otherwise the walk over the whole message decides.
        match Frame::parse_at(&bytes, entry.offset) {
            Ok((frame, [])) if frame.frame_type().is_data_object() => {}
            _ => return Err(Halt::Odd.into()),
        }
        Ok(Gathered::Frame(FrameBytes { structure, index, offset: entry.offset, bytes }))
    }
}

/// Why bytes were not gathered.
enum Stop {
    Halt(Halt),
    Failed(TensogramError),
}

impl From<Halt> for Stop {
    fn from(halt: Halt) -> Self {
        Self::Halt(halt)
    }
}

impl From<TensogramError> for Stop {
    fn from(error: TensogramError) -> Self {
        Self::Failed(error)
    }
}

impl ReadTask for Gather {
    type Output = Gathered;

    fn step(&mut self, known: &KnownBytes, wants: &mut MissingRanges) -> Result<Progress<Gathered>> {
        let Some(layout) = self.find(known, wants)? else { return Ok(Progress::Wait) };
        let options = self.options;
        loop {
            let mut parts = Parts { known, wants: &mut *wants, layout, options: &options };
            match self.gather(&mut parts) {
                // A message that is only assumed is not answered from: the search goes on first. An error, or a form that was not
                // expected, may come from the wrong assumption. If it does not, it comes again once the place is proven, and is
                // returned then.
                Ok(_) | Err(Stop::Failed(_) | Stop::Halt(Halt::Odd)) if self.layout.is_none() => {
                    self.structure = None;
                    return Ok(Progress::Wait);
                }
                Ok(gathered) => return Ok(Progress::Done(gathered)),
                Err(Stop::Halt(Halt::Wait)) => return Ok(Progress::Wait),
                Err(Stop::Failed(error)) => return Err(error),
                Err(Stop::Halt(Halt::Odd)) if self.is_frame => {
                    let MessageLayout { offset, length } = layout;
                    let text = format!("no object has its frame at offset {offset} with {length} bytes");
                    return Err(TensogramError::Framing(text.into()));
                }
                Err(Stop::Halt(Halt::Odd)) if self.is_odd => {
                    return Err(TensogramError::Framing("the message ends before its length says".into()));
                }
                Err(Stop::Halt(Halt::Odd)) => self.read_whole_message(),
            }
        }
    }
}

/// Where an object is, or the error of a message in memory that has no such object.
fn entry_of(structure: &Structure, index: usize) -> Result<IndexEntry> {
    let count = structure.len();
    structure.object(index).ok_or_else(|| {
        TensogramError::Object(format!("object index {index} out of range (num_objects={count})").into())
    })
}

/// The parts of an object's payload that ranges need. `None` if all of the frame is needed. The descriptor is read if it is not
/// known.
fn payload_parts(
    parts: &mut Parts<'_, '_>,
    (entry, known): (IndexEntry, Option<&DescribedObject>),
    elements: &Elements,
    options: &DecodeOptions,
) -> Result<Option<PayloadBytes>, Stop> {
    let (bytes, region) = match known {
        Some(known) => known.parts(),
        None => described(parts, entry)?,
    };
    // A wrong descriptor is reported by the decoder of the whole frame, in the words of a message in memory.
    let Ok(descriptor) = Descriptor::parse(&bytes.bytes, bytes.offset) else { return Ok(None) };
    let region_len = span_len(&region);
    let Ok(payload_len) = descriptor.masks().payload_len(region_len) else { return Ok(None) };
    let Some(ranges) = elements.ranges(&descriptor)? else { return Ok(None) };
    let Some(division) = Division::new(&descriptor, payload_len, &ranges, options)? else { return Ok(None) };
    // What would end after the region is not a part of this payload.
    let in_message = |part: Range<u64>| {
        let end = region.start.checked_add(part.end).filter(|end| *end <= region.end).ok_or(Halt::Odd)?;
        Ok::<_, Halt>(span_before(end, span_len(&part)))
    };
    let mut halt = Ok(());
    let mut fetched = Vec::new();
    // All parts are asked for before the first missing one ends the step, so that one round trip brings them.
    for range in division.bytes() {
        match parts.need(&in_message(range)?) {
            Ok(found) => fetched.push(found.into_owned()),
            Err(error) => halt = Err(error),
        }
    }
    let blobs_place = in_message(payload_len..region_len)?;
    let must_restore = options.restore_non_finite && !descriptor.masks().is_empty();
    let blobs = if must_restore { parts.need(&blobs_place) } else { Ok(Vec::new().into()) };
    halt?;
    let blobs = blobs?.into_owned();
    let ranges = ranges.into_owned();
    Ok(Some(PayloadBytes { descriptor: bytes, ranges, division, fetched, blobs, blobs_offset: blobs_place.start }))
}
