//! Sources at addresses, of which a command reads no more than it asks for: messages are found as they are needed.
//!
//! A message that is named by its offset takes one request to find. One that is named by its number takes a hop for each
//! message before it. All messages, one after the other, come with what is read to find them.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use tgm_std::file::{Data, SourceName, is_remote_url};
use tgm_std::{Archive, MessageLayout, TensogramError};

use crate::read::choice::{MessageChoice, no_number, none_at};
use crate::read::entry::{Entry, MessageNumber};
use crate::read::input::{Input, MessagePart};
use crate::read::lost;
use crate::show::output::Out;
use crate::show::progress::meter::Share;

/// A walk over so many messages gets a remark, with the way around it.
const LONG_WALK: usize = 16;

/// Whether this path is an address.
pub(crate) fn is_distant(path: &Path) -> bool {
    path.to_str().is_some_and(is_remote_url)
}

/// A source at an address.
#[derive(Debug)]
pub(crate) struct Distant {
    name: String,
    archive: Archive<'static>,
    progress: Share,
}

/// A message that was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) number: MessageNumber,
    pub(crate) layout: MessageLayout,
}

impl Found {
    /// Message `index`.
    pub(crate) fn new(index: usize, layout: MessageLayout) -> Self {
        Self { number: index.into(), layout }
    }

    /// The byte after the message.
    const fn end(&self) -> u64 {
        self.layout.end()
    }
}

impl Distant {
    /// Opens a source. Nothing is read yet. `None` if it cannot be opened, which is reported.
    pub(crate) fn open_or_report(path: &Path, out: &mut Out) -> Option<Self> {
        let name = SourceName::of(path).to_string();
        match Archive::open_unread(path) {
            Ok(archive) => Some(Self { name, archive, progress: Share::new(None) }),
            Err(error) => {
                out.problem(&format!("cannot read {name}\n{error}"));
                None
            }
        }
    }

    /// The source's name as people see it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The part of a message. Its bytes are put into `buffer`.
    ///
    /// # Errors
    /// The errors of reading.
    pub(crate) fn entry<'b>(
        &'b self,
        found: Found,
        part: MessagePart,
        buffer: &'b mut Vec<u8>,
    ) -> Result<Entry<'b>, TensogramError> {
        let Found { number, layout } = found;
        // Nobody knows how many messages come before one without a number.
        self.progress.take_up(layout.offset, layout.length, number.0.unwrap_or(0));
        *buffer = part.of(&self.archive, layout)?.into_owned();
        self.progress.come_to(found.end(), number.0.map_or(0, |index| index + 1));
        Ok(Entry { file: &self.name, index: number, offset: layout.offset, bytes: buffer })
    }

    /// Calls `with` for each chosen message until it breaks. A message that is not there is reported, and so are lost bytes
    /// before the last message that was looked at.
    ///
    /// # Errors
    /// The errors of `with`.
    pub(crate) fn for_each(
        self,
        choice: MessageChoice,
        out: &mut Out,
        mut with: impl FnMut(&mut Out, &Self, Found) -> io::Result<ControlFlow<()>>,
    ) -> io::Result<()> {
        match (choice.at, choice.message) {
            (Some(offset), _) => match self.archive.layout_at(offset) {
                Ok(Some(layout)) => with(out, &self, Found { number: MessageNumber(None), layout }).map(drop),
                Ok(None) => {
                    let has_messages = self.report_none_at(offset, out);
                    self.report_lost(has_messages, out);
                    Ok(())
                }
                Err(error) => {
                    self.report_unread(out, &error);
                    Ok(())
                }
            },
            (None, Some(index)) => {
                // No source has as many messages as numbers: the largest is not there.
                let layouts = match self.archive.layouts_in(0..index.saturating_add(1)) {
                    Ok(layouts) => layouts,
                    Err(error) => {
                        self.report_unread(out, &error);
                        return Ok(());
                    }
                };
                match layouts.get(index) {
                    Some(layout) if index >= LONG_WALK => {
                        out.detail(&format!(
                            "{}: message {index} was found by a walk over the messages before it; --at {} names it at once",
                            self.name, layout.offset
                        ));
                        _ = with(out, &self, Found::new(index, *layout))?;
                    }
                    Some(layout) => _ = with(out, &self, Found::new(index, *layout))?,
                    None => out.problem(&format!("{}: {}", self.name, no_number(index, layouts.len()))),
                }
                self.report_lost(!layouts.is_empty() && follow_each_other(0, &layouts), out);
                Ok(())
            }
            (None, None) => {
                let (mut index, mut end, mut is_tidy) = (0, 0, true);
                while !out.is_full() {
                    let layout = match self.archive.layouts_in(index..index + 1) {
                        Ok(layouts) => layouts.first().copied(),
                        Err(error) => {
                            self.report_unread(out, &error);
                            return Ok(());
                        }
                    };
                    let Some(layout) = layout else {
                        is_tidy &= index > 0 && Data::from(&self.archive).length().is_ok_and(|length| length == end);
                        break;
                    };
                    is_tidy &= layout.offset == end;
                    let found = Found::new(index, layout);
                    if with(out, &self, found)?.is_break() {
                        break;
                    }
                    (index, end) = (index + 1, found.end());
                }
                self.report_lost(is_tidy, out);
                Ok(())
            }
        }
    }

    /// Reports lost bytes, for which all of the source is searched, if there are any.
    fn report_lost(self, is_tidy: bool, out: &mut Out) {
        if is_tidy {
            return;
        }
        let Self { name, archive, progress } = self;
        match Input::of_archive(name.clone(), archive, |_| progress) {
            Ok(input) => lost::report(&input, out),
            Err(error) => out.problem(&format!("cannot read {name}\n{error}")),
        }
    }

    /// Reports that no message begins at `offset`. Returns whether there are messages, or else an error that was reported.
    fn report_none_at(&self, offset: u64, out: &mut Out) -> bool {
        match self.archive.layouts() {
            Ok(layouts) => {
                let index = layouts.partition_point(|message| message.offset < offset);
                let around = layouts.iter().map(|message| message.offset).enumerate();
                let around = around.skip(index.saturating_sub(1)).take_while(|(number, _)| *number <= index);
                out.problem(&format!("{}: {}", self.name, none_at(offset, around)));
                !layouts.is_empty()
            }
            Err(error) => {
                self.report_unread(out, &error);
                true
            }
        }
    }

    /// Reports that a message cannot be read. Breaks if the error concerns the whole source.
    pub(crate) fn report_unread_message(&self, out: &mut Out, found: Found, error: &TensogramError) -> ControlFlow<()> {
        let Found { number, layout } = found;
        let place = Entry { file: &self.name, index: number, offset: layout.offset, bytes: &[] }.place();
        out.report(&place, error);
        match error {
            TensogramError::Io(_) | TensogramError::Remote(_) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    fn report_unread(&self, out: &mut Out, error: &TensogramError) {
        out.problem(&format!("cannot read {}\n{error}", self.name));
    }
}

/// Whether the messages begin at `start` and lie side by side.
fn follow_each_other(start: u64, layouts: &[MessageLayout]) -> bool {
    let mut end = start;
    layouts.iter().all(|layout| {
        let follows = layout.offset == end;
        end = layout.end();
        follows
    })
}
