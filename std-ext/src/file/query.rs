//! Queries over all messages of a file.

use tgm_codec::threads::Threads;
use tgm_core::Message;

use crate::base::error::Result;
use crate::base::interrupt;
use crate::base::options::DecodeOptions;
use crate::file::message_runs::Data;
#[cfg(feature = "mmap")]
use crate::file::mmap::MappedFile;
use crate::file::tensogram_file::TensogramFile;
use crate::model::hash;
use crate::model::query::Query;
use crate::scan::MessageLayout;

/// The objects for which a query holds, each as the numbers of its message and of the object in it, in order.
///
/// Reads the metadata of all messages, and no payload. The options say how many threads do that. A catalogue
/// (the crate `tgm-catalog`) answers the same question without reading the messages.
///
/// ```
/// use tgm_std::{DecodeOptions, file};
///
/// let bytes = std::fs::read("../tests/data/realistic/surface-181x360.tgm")?;
/// let query = "mars.param in a..z or mars.param=2t".parse()?;
/// assert_eq!(file::query(&bytes, &query, &DecodeOptions::default())?[0], (0, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The errors of reading, and of the metadata of the first message that has an error. The text names the message.
pub fn query<'d>(data: impl Into<Data<'d>>, query: &Query, options: &DecodeOptions) -> Result<Vec<(usize, usize)>> {
    let data = data.into();
    let layouts = data.layouts()?;
    let bytes = layouts.last().map_or(0, MessageLayout::end);
    let threads = Threads::resolve(options.threads, bytes, options.parallel_threshold_bytes)?;
    let found = data.map_runs(&layouts, threads, |first, run| {
        let mut found = Vec::new();
        run.for_each(|index, _, bytes| {
            interrupt::check()?;
            let message = first + index;
            let mut look = || -> Result<()> {
                let metadata = hash::metadata(&Message::parse(bytes)?, options)?;
                Ok(query.objects_of(&metadata, |object| found.push((message, object)))?)
            };
            look().map_err(|error| error.in_message(message))
        })?;
        Ok(found)
    })?;
    Ok(found.concat())
}

impl TensogramFile {
    /// The objects for which a query holds: [`query`].
    ///
    /// # Errors
    /// The errors of [`query`].
    pub fn query(&self, query: &Query, options: &DecodeOptions) -> Result<Vec<(usize, usize)>> {
        self::query(self, query, options)
    }
}

#[cfg(feature = "mmap")]
impl MappedFile {
    /// The objects for which a query holds: [`query`].
    ///
    /// # Errors
    /// The errors of [`query`].
    pub fn query(&self, query: &Query, options: &DecodeOptions) -> Result<Vec<(usize, usize)>> {
        self::query(self, query, options)
    }
}
