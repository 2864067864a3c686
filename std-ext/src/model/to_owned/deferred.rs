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
        if let Some(made) = self.made.get() {
            return Ok(made);
        }
        let frame = Metadata::parse(&self.cbor, 0)?;
        let mut base = Vec::with_capacity(self.object_count);
        for entry in frame.base_entries() {
            base.push(of_map(&entry?)?);
        }
        base.resize_with(self.object_count, Entries::new);
        let made = with_base(&frame, base)?;
        Ok(self.made.get_or_init(|| Arc::new(made)))
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
