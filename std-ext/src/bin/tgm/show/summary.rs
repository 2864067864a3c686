//! A summary of one object: its type and how it is stored.

use serde_json::{Value as Json, json};
use tgm_core::descriptor::Descriptor;
use tgm_core::object::DataObject;

/// The fields that listings show of an object, from its descriptor.
pub(crate) struct Summary {
    /// Element type.
    pub(crate) dtype: &'static str,
    /// Dimensions, slowest first.
    pub(crate) shape: Vec<u64>,
    /// Byte order, as declared.
    pub(crate) byte_order: Option<&'static str>,
    /// First stage.
    pub(crate) encoding: String,
    /// Second stage.
    pub(crate) filter: String,
    /// Third stage.
    pub(crate) compression: String,
    /// Bytes of the decoded values; `None` beyond 64 bits.
    pub(crate) bytes: Option<u64>,
    /// Bytes of payload and masks.
    pub(crate) stored: u64,
    /// Kinds of masks.
    pub(crate) masks: Vec<&'static str>,
}

impl Summary {
    /// Reads the descriptor.
    pub(crate) fn of(object: &DataObject<'_>) -> Self {
        let descriptor = object.descriptor();
        Self {
            dtype: descriptor.dtype().name(),
            shape: descriptor.shape().iter().collect(),
            byte_order: descriptor.declared_byte_order().map(tgm_std::ByteOrder::name),
            encoding: descriptor.encoding().to_string(),
            filter: descriptor.filter().to_string(),
            compression: descriptor.compression().to_string(),
            bytes: descriptor.decoded_len().ok(),
            stored: object.region().len() as u64,
            masks: descriptor.masks().iter().map(|(kind, _)| kind.name()).collect(),
        }
    }

    /// Decoded bytes divided by stored bytes.
    pub(crate) fn ratio(&self) -> Option<String> {
        #[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
        let ratio = |bytes: u64| bytes as f64 / self.stored as f64;
        self.bytes.filter(|_| self.stored > 0).map(|bytes| format!("{:.2}", ratio(bytes)))
    }

    /// The summary as entries of a JSON object.
    pub(crate) fn entries(&self) -> [(&'static str, Option<Json>); 9] {
        [
            ("dtype", Some(self.dtype.into())),
            ("shape", Some(json!(self.shape))),
            ("byte_order", self.byte_order.map(Json::from)),
            ("encoding", Some(self.encoding.as_str().into())),
            ("filter", Some(self.filter.as_str().into())),
            ("compression", Some(self.compression.as_str().into())),
            ("masks", Some(json!(self.masks))),
            ("bytes", self.bytes.map(Json::from)),
            ("stored", Some(self.stored.into())),
        ]
    }
}

/// A shape as people write it: `181x360`, `scalar`.
pub(crate) fn shape_text(shape: &[u64]) -> String {
    if shape.is_empty() {
        return "scalar".to_string();
    }
    shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x")
}

/// The shape of a descriptor as JSON.
pub(crate) fn shape_json(descriptor: &Descriptor<'_>) -> Json {
    descriptor.shape().iter().collect::<Vec<_>>().into()
}
