//! The tensors that a message's label describes.

use serde_json::Value as Json;
use tgm_core::zio::Message;

use super::error::{TensError, TensErrorKind as K};
use super::label::{self, METADATA, Members, TENS, TENSORS};
use super::tensor::Tensor;

/// The TENS content of a message: its tensors, and the other entries of the label.
///
/// Opening a message does not parse TENS, so that the message's parts stay readable with any label.
#[derive(Clone, Debug)]
pub struct Tens<'a> {
    tensors: Vec<Tensor<'a>>,
    payloads: Vec<&'a [u8]>,
    tens: Members,
    label: Members,
}

impl<'a> Tens<'a> {
    /// Reads the label of `message` and finds the tensors in its payload. No payload byte is read.
    ///
    /// # Errors
    /// The first error, as a [`TensError`] with the byte of the label, or the tensor and its key.
    pub fn parse<P: AsRef<[u8]>>(message: &Message<'a, P>) -> Result<Self, TensError> {
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
        Ok(Self { tensors: tensors.collect::<Result<_, _>>()?, payloads, tens, label })
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
