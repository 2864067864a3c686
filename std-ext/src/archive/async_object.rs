//! One object of an archive whose source answers later, and requests for its values.

use std::sync::Arc;

use tgm_core::descriptor::Descriptor;

use super::facts::{Facts, fact_methods};
use super::object::only;
use crate::base::error::{Result, TensogramError};
use crate::decode::asked::{Asked, request_methods};
use crate::model::metadata_budget::MetadataBudget;
use crate::model::number::Number;
use crate::model::to_owned;
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};
use crate::read::described::DescribedObject;
use crate::read::question::about::{AllMetadata, Described};
use crate::read::question::values::Decoded;
use crate::read::{AsyncRangeFetch, AsyncReader};

/// A reader of any source that answers later.
pub(super) type AnyReader = AsyncReader<Box<dyn AsyncRangeFetch>>;

/// One tensor of an [`AsyncArchive`](super::AsyncArchive), not yet read: [`Object`](super::Object). What reads is followed
/// by `.await`.
#[derive(Clone, Debug)]
pub struct AsyncObject {
    reader: Arc<AnyReader>,
    message: usize,
    index: usize,
    found: DescribedObject,
    facts: Facts,
}

impl AsyncObject {
    pub(super) async fn open(reader: &Arc<AnyReader>, message: usize, index: usize) -> Result<Self> {
        let found = reader.ask(message, Described(index)).await?;
        let facts = Facts::of(&Descriptor::parse(&found.cbor, found.offset)?, found.region_len)?;
        Ok(Self { reader: Arc::clone(reader), message, index, found, facts })
    }

    fact_methods!();

    /// The descriptor: [`Object::descriptor`](super::Object::descriptor).
    ///
    /// # Errors
    /// The errors of [`Object::descriptor`](super::Object::descriptor).
    pub fn descriptor(&self) -> Result<DataObjectDescriptor> {
        let view = Descriptor::parse(&self.found.cbor, self.found.offset)?;
        to_owned::descriptor(&view, &MetadataBudget::by_default())
    }

    /// The metadata of the message as this object sees it: [`Object::metadata`](super::Object::metadata).
    ///
    /// # Errors
    /// The errors of [`Object::metadata`](super::Object::metadata).
    pub async fn metadata(&self) -> Result<GlobalMetadata> {
        let metadata = self.reader.ask(self.message, AllMetadata { verify: true }).await?;
        Ok(only(metadata, self.index))
    }

    /// A request for its values.
    pub const fn read(&self) -> AsyncRead<'_> {
        AsyncRead { object: self, asked: Asked::ALL }
    }
}

/// A request for the values of an [`AsyncObject`]: [`Read`](crate::Read), whose last four methods are followed by `.await`.
/// Decoding takes memory of its own, because it may run on another thread.
#[derive(Clone, Debug)]
#[must_use = "a request reads nothing before it knows where values go"]
pub struct AsyncRead<'r> {
    object: &'r AsyncObject,
    asked: Asked<'r>,
}

impl<'r> AsyncRead<'r> {
    request_methods!();

    /// The values as bytes: [`Read::bytes`](crate::Read::bytes).
    ///
    /// # Errors
    /// The errors of [`Read::bytes`](crate::Read::bytes).
    pub async fn bytes(self) -> Result<Vec<u8>> {
        self.object.reader.ask(self.object.message, Decoded::bytes(self.object.index, self.asked)).await
    }

    /// The values as bytes into all of `out`: [`Read::bytes_into`](crate::Read::bytes_into).
    ///
    /// # Errors
    /// The errors of [`Read::bytes_into`](crate::Read::bytes_into).
    pub async fn bytes_into(self, out: &mut [u8]) -> Result<()> {
        copy_to(&self.bytes().await?, out, "bytes")
    }

    /// The values as a vector of type `T`: [`Read::values`](crate::Read::values).
    ///
    /// # Errors
    /// The errors of [`Read::values`](crate::Read::values).
    pub async fn values<T: Number>(self) -> Result<Vec<T>> {
        self.object.reader.ask(self.object.message, Decoded::values(self.object.index, self.asked)).await
    }

    /// The values of type `T` into all of `out`: [`Read::values_into`](crate::Read::values_into).
    ///
    /// # Errors
    /// The errors of [`Read::values_into`](crate::Read::values_into).
    pub async fn values_into<T: Number>(self, out: &mut [T]) -> Result<()> {
        copy_to(&self.values::<T>().await?, out, "values")
    }
}

fn copy_to<T: Copy>(values: &[T], out: &mut [T], what: &str) -> Result<()> {
    let (given, expected) = (out.len(), values.len());
    if given != expected {
        return Err(TensogramError::encoding(format!("output has {given} {what}, the request has {expected}")));
    }
    out.copy_from_slice(values);
    Ok(())
}
