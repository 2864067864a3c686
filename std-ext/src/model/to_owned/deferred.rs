//! Metadata and descriptors that passed their checks, and become owned when they are first looked at.
//!
//! To make them owned takes longer than all else that decoding a small message does, and most callers look at few of them. What
//! is kept is a copy of their CBOR. The checks come first, so the later step finds no new error.

use std::sync::{Arc, OnceLock};

use tgm_core::descriptor::Descriptor;
use tgm_core::metadata::{MessageMetadata, Metadata};

use super::{Entries, descriptor, message_metadata, of_map, with_base};
use crate::base::error::Result;
use crate::base::limits::DecodeLimits;
use crate::model::metadata_budget::MetadataBudget;
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};

/// Metadata of a message. Threads may share it.
#[derive(Debug)]
pub struct DeferredMetadata {
    cbor: Box<[u8]>,
    object_count: usize,
    made: OnceLock<Arc<GlobalMetadata>>,
}

impl From<Arc<GlobalMetadata>> for DeferredMetadata {
    fn from(made: Arc<GlobalMetadata>) -> Self {
        Self { cbor: Box::default(), object_count: 0, made: OnceLock::from(made) }
    }
}

impl DeferredMetadata {
    /// The metadata that count in a message. Their memory is taken from the budget at once.
    ///
    /// # Errors
    /// As [`message_metadata`].
    pub fn new(metadata: &MessageMetadata<'_>, budget: &MetadataBudget) -> Result<Self> {
        let mut objects = metadata.objects();
        let has_preceder = objects.any(|object| object.is_ok_and(|object| object.preceder().is_some()));
        if has_preceder {
            return Ok(Arc::new(message_metadata(metadata, budget)?).into());
        }
        let cbor = metadata.frame().as_encoded();
        budget.take(cbor)?;
        Ok(Self { cbor: cbor.into(), object_count: metadata.object_count(), made: OnceLock::new() })
    }

    /// The metadata.
    ///
    /// # Errors
    /// None that [`Self::new`] has not reported.
    pub fn get(&self) -> Result<&Arc<GlobalMetadata>> {
        if self.made.get().is_none() {
            let frame = Metadata::parse(&self.cbor, 0)?;
            let mut base = Vec::with_capacity(self.object_count);
            for entry in frame.base_entries() {
                base.push(of_map(&entry?)?);
            }
            base.resize_with(self.object_count, Entries::new);
            let made = with_base(&frame, base)?;
            self.made.get_or_init(|| Arc::new(made));
        }
        // It was made just now, here or by another thread.
        Ok(self.made.get_or_init(Arc::default))
    }
}

/// The descriptor of a data object. Threads may share it.
#[derive(Debug)]
pub struct DeferredDescriptor {
    cbor: Box<[u8]>,
    made: OnceLock<Arc<DataObjectDescriptor>>,
}

impl From<Arc<DataObjectDescriptor>> for DeferredDescriptor {
    fn from(made: Arc<DataObjectDescriptor>) -> Self {
        Self { cbor: Box::default(), made: OnceLock::from(made) }
    }
}

impl DeferredDescriptor {
    /// A descriptor that was read. Its memory is taken from the budget at once.
    ///
    /// # Errors
    /// As [`descriptor`].
    pub fn new(view: &Descriptor<'_>, budget: &MetadataBudget) -> Result<Self> {
        // Parameters of masks are looked at by that function alone.
        if view.masks().iter().next().is_some() {
            return Ok(Arc::new(descriptor(view, budget)?).into());
        }
        budget.take(view.as_encoded())?;
        Ok(Self { cbor: view.as_encoded().into(), made: OnceLock::new() })
    }

    /// The descriptor.
    ///
    /// # Errors
    /// None that [`Self::new`] has not reported.
    pub fn get(&self) -> Result<&Arc<DataObjectDescriptor>> {
        if let Some(made) = self.made.get() {
            return Ok(made);
        }
        // Its memory was taken before.
        let budget = MetadataBudget::new(&DecodeLimits { max_metadata_bytes: u64::MAX, ..DecodeLimits::default() });
        let made = descriptor(&Descriptor::parse(&self.cbor, 0)?, &budget)?;
        Ok(self.made.get_or_init(|| Arc::new(made)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use tgm_core::Message;

    use super::*;

    /// Every message of the test data that has metadata: the same owned metadata and descriptors, at once and later.
    #[test]
    fn what_is_deferred_is_what_is_made_at_once() {
        let mut seen = (0, 0);
        for folder in ["metadata", "dtypes", "masks", "preceder", "multi", "streaming", "simple_packing"] {
            for entry in std::fs::read_dir(format!("../tests/data/{folder}")).into_iter().flatten() {
                let bytes = std::fs::read(entry.unwrap().path()).unwrap_or_default();
                let Ok(message) = Message::parse(&bytes) else { continue };
                let budget = MetadataBudget::by_default();
                let Ok(metadata) = message.metadata() else { continue };
                let (now, later) = (message_metadata(&metadata, &budget), DeferredMetadata::new(&metadata, &budget));
                assert_eq!(**later.unwrap().get().unwrap(), now.unwrap());
                seen.0 += 1;
                for object in message.objects().map_while(tgm_core::Result::ok) {
                    let view = object.descriptor();
                    let later = DeferredDescriptor::new(view, &budget).unwrap();
                    assert_eq!(**later.get().unwrap(), descriptor(view, &budget).unwrap());
                    seen.1 += 1;
                }
            }
        }
        assert!(seen.0 > 10 && seen.1 > 10, "{seen:?}");
    }

    #[test]
    fn the_memory_of_metadata_is_limited_before_they_are_looked_at() {
        let bytes = std::fs::read("../tests/data/metadata/mars.tgm").unwrap();
        let message = Message::parse(&bytes).unwrap();
        let budget = MetadataBudget::new(&DecodeLimits { max_metadata_bytes: 100, ..DecodeLimits::default() });
        assert!(DeferredMetadata::new(&message.metadata().unwrap(), &budget).is_err());
        assert!(DeferredDescriptor::new(message.object(0).unwrap().descriptor(), &budget).is_err());
    }
}
