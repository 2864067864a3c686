//! A summary of one object: its type and how it is stored.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};

use serde_json::{Value as Json, json};
use tgm_core::descriptor::{Compression, Descriptor, Encoding, Filter, Named};
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
    pub(crate) encoding: Cow<'static, str>,
    /// Second stage.
    pub(crate) filter: Cow<'static, str>,
    /// Third stage.
    pub(crate) compression: Cow<'static, str>,
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
            encoding: name(&descriptor.encoding(), Encoding::name),
            filter: name(&descriptor.filter(), Filter::name),
            compression: name(&descriptor.compression(), Compression::name),
            bytes: descriptor.decoded_len().ok(),
            stored: object.region().len() as u64,
            masks: descriptor.masks().iter().map(|(kind, _)| kind.name()).collect(),
        }
    }

    /// The stages that are not "none", with "+" between them, as the key `codec` has them.
    pub(crate) fn codec(&self) -> String {
        let stages = [&self.encoding, &self.filter, &self.compression];
        let stages: Vec<&str> = stages.into_iter().map(|stage| &**stage).filter(|stage| *stage != "none").collect();
        if stages.is_empty() { "none".into() } else { stages.join("+") }
    }

    /// Decoded bytes divided by stored bytes, with two digits after the point.
    ///
    /// By integers: to format a quotient of floating-point numbers takes longer than all other cells of a row.
    pub(crate) fn ratio(&self) -> Option<String> {
        let (bytes, stored) = (u128::from(self.bytes?), u128::from(self.stored));
        let hundredths = (100 * bytes + stored / 2).checked_div(stored)?;
        // Numbers of 128 bits take far longer to print.
        Some(match u64::try_from(hundredths) {
            Ok(hundredths) => format!("{}.{:02}", hundredths / 100, hundredths % 100),
            Err(_) => format!("{}.{:02}", hundredths / 100, hundredths % 100),
        })
    }

    /// The summary as entries of a JSON object.
    pub(crate) fn entries(&self) -> [(&'static str, Option<Json>); 9] {
        [
            ("dtype", Some(self.dtype.into())),
            ("shape", Some(json!(self.shape))),
            ("byte_order", self.byte_order.map(Json::from)),
            ("encoding", Some((&*self.encoding).into())),
            ("filter", Some((&*self.filter).into())),
            ("compression", Some((&*self.compression).into())),
            ("masks", Some(json!(self.masks))),
            ("bytes", self.bytes.map(Json::from)),
            ("stored", Some(self.stored.into())),
        ]
    }
}

/// The name of a stage. Names of the format are not copied.
fn name<K: Copy + Display>(named: &Named<'_, K>, name: fn(K) -> &'static str) -> Cow<'static, str> {
    named.known().map_or_else(|| named.to_string().into(), |known| name(known).into())
}

/// A shape as people write it: `181x360`, `scalar`.
pub(crate) fn shape_text(shape: &[u64]) -> String {
    let mut text = String::new();
    for len in shape {
        let between = if text.is_empty() { "" } else { "x" };
        // Writing to a string cannot fail.
        let _ = write!(text, "{between}{len}");
    }
    if text.is_empty() { "scalar".to_string() } else { text }
}

/// The shape of a descriptor as JSON.
pub(crate) fn shape_json(descriptor: &Descriptor<'_>) -> Json {
    descriptor.shape().iter().collect::<Vec<_>>().into()
}
