//! Messages out of typed slices, without descriptors written by hand.

use std::io::Write;

use ciborium::Value;

use crate::base::error::Result;
use crate::base::options::EncodeOptions;
use crate::encode::buffered::encode;
use crate::encode::object_builder::{ObjectBuilder, note};
use crate::encode::streaming::StreamingEncoder;
use crate::model::metadata::{PathOwner, path_owner, set_path};
use crate::model::params::metadata;
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};

/// Builds a message: its objects, and metadata of the message.
///
/// ```
/// use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder, decode};
///
/// let temperature: Vec<f64> = (0..360).map(|i| 273.15 + f64::from(i) / 10.0).collect();
/// let message = MessageBuilder::new()
///     .extra("source", "a model")
///     .object(
///         ObjectBuilder::new(&[12, 30], &temperature)?
///             .metadata("param", "2t")
///             .simple_packing_within(0.01)?
///             .szip(),
///     )
///     .encode()?;
/// let (metadata, objects) = decode(&message, &DecodeOptions::default())?;
/// assert_eq!(metadata.base[0]["param"].as_text(), Some("2t"));
/// assert_eq!(objects[0].1.len(), 360 * 8);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MessageBuilder<'a> {
    metadata: GlobalMetadata,
    objects: Vec<ObjectBuilder<'a>>,
    options: EncodeOptions,
    allows_nan: bool,
    allows_inf: bool,
    mistake: Option<String>,
}

impl<'a> MessageBuilder<'a> {
    /// Begins a message without objects.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets metadata of the message: an entry of `_extra_` (FORMAT §3.3).
    ///
    /// Dots in `key` lead into maps, which are made as needed. [`GlobalMetadata::get`] finds the value under `extra.` and
    /// the key. [`Self::encode`] reports a key that cannot be set ([`set_path`]), and a key that begins with `extra.`
    /// itself. A key with a dot of its own can stand in double quotes. To take keys as they are, take [`encode`] with [`GlobalMetadata`].
    #[must_use]
    pub fn extra(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        let key = key.into();
        let set = match path_owner(&key) {
            PathOwner::Message(Some(path)) => {
                Err(metadata(format!("{key}: what `extra` sets is the message's already: write {path:?}")))
            }
            _ => set_path(&mut self.metadata.extra, &key, value),
        };
        note(&mut self.mistake, set);
        self
    }

    /// Adds an object.
    #[must_use]
    pub fn object(mut self, object: ObjectBuilder<'a>) -> Self {
        self.objects.push(object);
        self
    }

    /// Sets how to encode.
    #[must_use]
    pub fn options(mut self, options: EncodeOptions) -> Self {
        self.options = options;
        self
    }

    /// Allows NaN in all objects: [`EncodeOptions::allow_nan`], whatever [`Self::options`] says.
    ///
    /// A NaN is stored as zero and a mask remembers its place, so that decoding restores it. Without this call a NaN is
    /// an error. An object that is packed also needs [`ObjectBuilder::simple_packing_of_finite`].
    ///
    /// ```
    /// use tgm_std::{MessageBuilder, ObjectBuilder, read};
    ///
    /// let temperature = [273.15, f64::NAN, 274.0];
    /// let message = MessageBuilder::new().object(ObjectBuilder::new(&[3], &temperature)?);
    /// let error = message.clone().encode().unwrap_err();
    /// assert!(error.to_string().contains("MessageBuilder::allow_nan"));
    ///
    /// let bytes = message.allow_nan().encode()?;
    /// let object = tgm_std::core::Message::parse(&bytes)?.object(0)?;
    /// assert!(read(&object).values::<f64>()?[1].is_nan());
    /// # Ok::<(), tgm_std::TensogramError>(())
    /// ```
    #[must_use]
    pub const fn allow_nan(mut self) -> Self {
        self.allows_nan = true;
        self
    }

    /// Allows infinities in all objects, as [`Self::allow_nan`] does NaN: [`EncodeOptions::allow_inf`].
    #[must_use]
    pub const fn allow_inf(mut self) -> Self {
        self.allows_inf = true;
        self
    }

    /// The options, with what the builder allows beyond them.
    fn encode_options(&self) -> EncodeOptions {
        let mut options = self.options.clone();
        options.allow_nan |= self.allows_nan;
        options.allow_inf |= self.allows_inf;
        options
    }

    /// Encodes the message.
    ///
    /// # Errors
    /// The errors of [`encode`], and [`TensogramError::Metadata`](crate::TensogramError::Metadata) for the first key that could
    /// not be set.
    pub fn encode(self) -> Result<Vec<u8>> {
        self.with_parts(encode)
    }

    /// Calls `with` with what [`encode`] takes.
    ///
    /// # Errors
    /// The errors of `with`; as [`Self::encode`] for a key that could not be set.
    pub(crate) fn with_parts<T>(
        mut self,
        with: impl FnOnce(&GlobalMetadata, &[(&DataObjectDescriptor, &[u8])], &EncodeOptions) -> Result<T>,
    ) -> Result<T> {
        self.check()?;
        self.metadata.base = self.objects.iter_mut().map(|object| std::mem::take(&mut object.metadata)).collect();
        let objects: Vec<_> = self.objects.iter().map(|object| (&object.descriptor, &*object.data)).collect();
        with(&self.metadata, &objects, &self.encode_options())
    }

    /// Writes a streamed message. Objects are encoded one after the other, each after its metadata.
    ///
    /// # Errors
    /// The errors of [`StreamingEncoder`]. [`TensogramError::Metadata`](crate::TensogramError::Metadata) for the first key that
    /// could not be set; nothing is written then.
    pub fn stream_to<W: Write>(self, sink: W) -> Result<W> {
        self.check()?;
        let mut encoder = StreamingEncoder::new(sink, &self.metadata, &self.encode_options())?;
        self.objects.into_iter().try_for_each(|object| encoder.write(object))?;
        encoder.finish()
    }

    /// Reports the first key that could not be set: of the message first, then of its objects.
    fn check(&self) -> Result<()> {
        if let Some(text) = &self.mistake {
            return Err(metadata(text.as_str()));
        }
        self.objects.iter().enumerate().try_for_each(|(index, object)| object.check(index))
    }
}
