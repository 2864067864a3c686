//! The frames of a message as rows, up to the first unreadable one.

use std::io;

use serde_json::{Value as Json, json};
use tgm_core::frame::{Frame, Frames};
use tgm_core::wire::{FrameFlags, FrameType, POSTAMBLE_SIZE, PREAMBLE_SIZE};
use tgm_core::{Error, Message};
use tgm_std::TensogramError;

use crate::show::json;
use crate::show::output::Out;
use crate::show::table::{Cell, Column, Table};
use crate::show::wire_flags::frame_flags;

/// One frame.
pub(crate) struct FrameInfo {
    frame_type: FrameType,
    object: Option<usize>,
    offset: u64,
    length: u64,
    version: u16,
    flags: FrameFlags,
    hash_slot: u64,
    padding: Option<Padding>,
}

/// The bytes between a frame and the next one.
struct Padding {
    length: u64,
    is_zero: bool,
}

/// The frames of a message, and the error that ended the walk early.
pub(crate) struct FrameList {
    /// The frames that could be read.
    pub(crate) frames: Vec<FrameInfo>,
    /// The error that ended the walk.
    pub(crate) error: Option<TensogramError>,
    objects: usize,
}

impl FrameList {
    /// The frames of a message.
    pub(crate) fn of(message: &Message<'_>) -> Self {
        let mut list = Self { frames: Vec::new(), error: None, objects: 0 };
        let mut frames = message.frames();
        for frame in frames.by_ref() {
            list.push(message.as_bytes(), frame);
        }
        if list.error.is_none() {
            let stated = message.total_length().map(|length| length.saturating_sub(POSTAMBLE_SIZE as u64));
            list.end_last(message.as_bytes(), stated.unwrap_or(frames.position()));
        }
        list
    }

    /// The frames after the preamble at the start of `bytes`. For bytes that are not a whole message.
    pub(crate) fn of_damaged(bytes: &[u8]) -> Self {
        let mut list = Self { frames: Vec::new(), error: None, objects: 0 };
        let behind_preamble = bytes.get(PREAMBLE_SIZE..).unwrap_or_default();
        for frame in Frames::open_ended(behind_preamble, PREAMBLE_SIZE as u64) {
            list.push(bytes, frame);
        }
        list
    }

    fn push(&mut self, bytes: &[u8], frame: Result<Frame<'_>, Error>) {
        match frame {
            Ok(frame) => {
                self.end_last(bytes, frame.offset());
                let object = frame.frame_type().is_data_object().then_some(self.objects);
                self.objects += usize::from(object.is_some());
                self.frames.push(FrameInfo::of(&frame, object));
            }
            Err(error) => self.error = Some(error.into()),
        }
    }

    /// Sets the end of the last frame's padding to `next`.
    fn end_last(&mut self, bytes: &[u8], next: u64) {
        if let Some(last) = self.frames.last_mut() {
            let end = last.offset + last.length;
            last.padding = slice(bytes, end, next)
                .map(|gap| Padding { length: gap.len() as u64, is_zero: gap.iter().all(|&byte| byte == 0) });
        }
    }

    /// The frames as an aligned table.
    pub(crate) fn print(&self, out: &mut Out, indent: &'static str) -> io::Result<()> {
        let mut table = Table::new([
            Column::right("frame"),
            Column::left("type"),
            Column::right("object"),
            Column::right("offset"),
            Column::right("length"),
            Column::right("padding"),
            Column::left("digest").whole(),
            Column::left("flags"),
        ])
        .indented(indent);
        for (index, frame) in self.frames.iter().enumerate() {
            table.row(out, frame.cells(index))?;
        }
        table.finish(out)
    }

    /// The frames as rows of text, with the columns of [`Self::print`].
    #[cfg(feature = "browse")]
    pub(crate) fn rows(&self) -> Vec<[String; 8]> {
        self.frames.iter().enumerate().map(|(index, frame)| frame.texts(index)).collect()
    }

    /// The frames as a JSON array.
    pub(crate) fn to_json(&self) -> Json {
        self.frames.iter().enumerate().map(|(index, frame)| frame.to_json(index)).collect()
    }
}

impl FrameInfo {
    fn of(frame: &Frame<'_>, object: Option<usize>) -> Self {
        Self {
            frame_type: frame.frame_type(),
            object,
            offset: frame.offset(),
            length: frame.total_length(),
            version: frame.header().version.get(),
            flags: frame.flags(),
            hash_slot: frame.hash_slot(),
            padding: None,
        }
    }

    /// The digest in hexadecimal. `None` if nothing says that the frame has one.
    fn digest(&self) -> Option<String> {
        let is_written = self.flags.has(FrameFlags::HASH_PRESENT) || self.hash_slot != 0;
        is_written.then(|| format!("{:016x}", self.hash_slot))
    }

    /// The columns of a row.
    fn texts(&self, index: usize) -> [String; 8] {
        let padding = self.padding.as_ref().map_or("?".into(), |padding| {
            if padding.is_zero { padding.length.to_string() } else { format!("{} not zero", padding.length) }
        });
        [
            index.to_string(),
            format!("{} {}", self.frame_type.as_u16(), self.frame_type),
            self.object.map_or(String::new(), |object| object.to_string()),
            self.offset.to_string(),
            self.length.to_string(),
            padding,
            self.digest().unwrap_or("-".into()),
            frame_flags(self.flags).join(" "),
        ]
    }

    fn cells(&self, index: usize) -> Vec<Cell> {
        self.texts(index).into_iter().map(Cell::from).collect()
    }

    fn to_json(&self, index: usize) -> Json {
        json::object([
            ("frame", Some(index.into())),
            ("type", Some(self.frame_type.as_u16().into())),
            ("name", Some(self.frame_type.name().into())),
            ("object", self.object.map(Json::from)),
            ("offset", Some(self.offset.into())),
            ("length", Some(self.length.into())),
            ("version", Some(self.version.into())),
            ("flags", Some(self.flags.bits().into())),
            ("flag_names", Some(json!(frame_flags(self.flags)))),
            ("hash_slot", Some(format!("{:016x}", self.hash_slot).into())),
            ("padding", self.padding.as_ref().map(|padding| padding.length.into())),
            ("padding_is_zero", self.padding.as_ref().map(|padding| padding.is_zero.into())),
        ])
    }
}

/// The bytes from `start` to `end`, or to the end of `bytes`.
fn slice(bytes: &[u8], start: u64, end: u64) -> Option<&[u8]> {
    let end = usize::try_from(end).unwrap_or(usize::MAX).min(bytes.len());
    bytes.get(usize::try_from(start).ok()?..end)
}
