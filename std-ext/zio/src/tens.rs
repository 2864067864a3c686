//! The tensors that a message's label describes.

use serde_json::Value as Json;
use tgm_core::descriptor::ByteOrder;

use super::label::{self, METADATA, Members, TENS, TENSORS};
use super::tensor::Tensor;
use crate::wire::{Coords, Error, ErrorKind as K, Form, Level, Message};

/// The TENS content of a message: its tensors, and the other entries of the label.
///
/// Opening a message does not parse TENS, so that the message's parts stay readable with any label.
///
/// ```
/// use tgm_std::ByteOrder;
/// use tgm_zio::{Message, Tens};
///
/// let label = br#"ZIO4TENS{"TENS":{"tensors":[{"shape":[2],"word":4,"dtype":"f"}],"metadata":{"run":7}}}"#;
/// let parts = [&label[..], &[0; 24], &[0, 0, 128, 63, 0, 0, 0, 64]];
/// let message = Message::from_parts(&parts, ByteOrder::Little)?;
/// let tens = Tens::parse(&message)?;
/// assert_eq!(tens.metadata().unwrap()["run"], 7);
/// assert!(tens.tensors()[0].view::<f32>()?.iter().eq([1.0, 2.0]));
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tens<'a> {
    pub(super) level: Level,
    pub(super) form: Form,
    pub(super) coords: Coords,
    pub(super) order: ByteOrder,
    tensors: Vec<Tensor<'a>>,
    payloads: Vec<&'a [u8]>,
    tens: Members,
    label: Members,
}

impl<'a> Tens<'a> {
    /// Reads the label of `message` and finds the tensors in its payload. No payload byte is read.
    ///
    /// # Errors
    /// The first error, as a [`Error`] with the byte of the label, or the tensor and its key.
    pub fn parse<P: AsRef<[u8]>>(message: &Message<'a, P>) -> Result<Self, Error> {
        let mut label = label::parse(message.label())?;
        let Json::Object(mut tens) = label.shift_remove(TENS).ok_or(K::NoTens.in_label())? else {
            return Err(K::TensNotObject.under(TENS));
        };
        let payloads: Vec<&'a [u8]> = message.payloads().collect();
        let entries = match tens.shift_remove(TENSORS) {
            None | Some(Json::Null) => Vec::new(),
            Some(Json::Array(entries)) => entries,
            Some(_) => return Err(K::TensorsNotArray.under(TENSORS)),
        };
        let order = message.byte_order();
        let tensors = entries.iter().enumerate().map(|(index, entry)| Tensor::parse(index, entry, &payloads, order));
        let tensors = tensors.collect::<Result<_, _>>()?;
        let (level, form, coords) = (message.level(), message.form(), message.coords());
        Ok(Self { level, form, coords, order, tensors, payloads, tens, label })
    }

    /// The tensors of a message, or `None` for a message of another kind: one whose form is not TENS, and whose label
    /// is not a JSON object with the key TENS. Such a message may be TEXT, a word of FLOW, or anything of the
    /// application.
    ///
    /// # Errors
    /// The errors of [`Self::parse`] for a message that is to have tensors.
    ///
    /// ```
    /// use tgm_std::ByteOrder;
    /// use tgm_zio::{Message, Tens};
    ///
    /// let parts = [&b"ZIO4TEXThello"[..], &[0; 24]];
    /// assert!(Tens::find(&Message::from_parts(&parts, ByteOrder::Little)?)?.is_none());
    /// # Ok::<(), tgm_zio::Error>(())
    /// ```
    pub fn find<P: AsRef<[u8]>>(message: &Message<'a, P>) -> Result<Option<Self>, Error> {
        match Self::parse(message) {
            Ok(tens) => Ok(Some(tens)),
            Err(error) => match error.kind() {
                K::LabelNotUtf8 | K::LabelNotJson | K::LabelNotObject | K::NoTens if message.form() != Form::TENS => {
                    Ok(None)
                }
                _ => Err(error),
            },
        }
    }

    /// The tensors, in the order of the label.
    pub fn tensors(&self) -> &[Tensor<'a>] {
        &self.tensors
    }

    /// All payload parts of the message.
    pub fn payloads(&self) -> &[&'a [u8]] {
        &self.payloads
    }

    /// The payload parts that no tensor names, in order.
    pub fn extra_parts(&self) -> impl Iterator<Item = usize> + use<> {
        let mut is_named = vec![false; self.payloads.len()];
        for tensor in &self.tensors {
            if let Some(named) = is_named.get_mut(tensor.part()) {
                *named = true;
            }
        }
        is_named.into_iter().enumerate().filter(|(_, named)| !named).map(|(part, _)| part)
    }

    /// The application's metadata of the message. Some writers write null.
    pub fn metadata(&self) -> Option<&Json> {
        self.tens.get(METADATA)
    }

    /// The application's keys of TENS, including `metadata`.
    pub const fn tens_keys(&self) -> &Members {
        &self.tens
    }

    /// The keys of the label beside TENS, of the application or of another protocol.
    pub const fn label_keys(&self) -> &Members {
        &self.label
    }

    /// The label in canonical form: sorted, compact, `part` always present.
    pub fn to_label(&self) -> String {
        rebuild(self.tensors.iter().map(Tensor::to_json).collect(), self.tens.clone(), self.label.clone())
    }
}

/// A label from its parts. Without tensors it has no list of tensors.
pub(super) fn rebuild(tensors: Vec<Json>, mut tens: Members, mut label: Members) -> String {
    if !tensors.is_empty() {
        tens.insert(TENSORS.into(), tensors.into());
    }
    label.insert(TENS.into(), tens.into());
    label::write(label)
}
