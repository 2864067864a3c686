//! Decoded messages.

use std::sync::Arc;

use tgm_std::{DecodeOptions, DecodedObject, GlobalMetadata};

use crate::args;
use crate::call::{call, get, run};
use crate::error::{Code, Result};
use crate::metadata::Metadata;
use crate::object::Object;

/// A `tgm_message_t` of C. Threads may share it: nothing changes after it is made, except texts, which are made once
/// when they are asked for.
pub struct Message {
    metadata: Arc<GlobalMetadata>,
    objects: Vec<Object>,
}

impl Message {
    /// A message of these objects. `digests` are those that are written in their frames.
    pub(crate) fn new(
        metadata: Arc<GlobalMetadata>,
        objects: Vec<DecodedObject>,
        digests: &[Option<u64>],
        options: &DecodeOptions,
    ) -> Result<Self> {
        let digests = digests.iter().copied().chain(std::iter::repeat(None));
        let objects = objects.into_iter().zip(digests);
        let objects = objects.map(|(object, digest)| Object::new(object, digest, options)).collect::<Result<_>>()?;
        Ok(Self { metadata, objects })
    }

    pub(crate) fn object(&self, index: usize) -> Option<&Object> {
        self.objects.get(index)
    }
}

impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Message").field("objects", &self.objects.len()).finish_non_exhaustive()
    }
}

/// The version of the format: 3.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_message_version(msg: *const Message) -> u64 {
    // SAFETY: the header's contract.
    get(0, || unsafe { args::optional(msg) }.map(|_| u64::from(tgm_std::WIRE_VERSION)))
}

/// The number of objects.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_message_num_objects(msg: *const Message) -> usize {
    // SAFETY: the header's contract.
    get(0, || unsafe { args::optional(msg) }.map(|message| message.objects.len()))
}

/// The number of objects, under an older name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_message_num_decoded(msg: *const Message) -> usize {
    // SAFETY: the header's contract.
    unsafe { tgm_message_num_objects(msg) }
}

/// The metadata of the message. It outlives the message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_message_metadata(msg: *const Message, out: *mut *mut Metadata) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (message, out) = unsafe { (args::required(msg)?, args::place(out)?) };
        out.put_handle(Metadata::new(Arc::clone(&message.metadata)));
        Ok(())
    })
}

/// Frees a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_message_free(msg: *mut Message) {
    // SAFETY: the header's contract.
    run(|| unsafe { args::free(msg) });
}
