//! A descriptor that is copied when it changes.

use std::ops::Deref;

use crate::model::types::DataObjectDescriptor;

/// A descriptor: the caller's, or an own copy. It is as small as a reference: with a `Cow`, each object of a message would take
/// the nearly 400 bytes of a descriptor, also where it borrows the caller's.
#[derive(Clone, Debug)]
pub(crate) enum Described<'a> {
    Borrowed(&'a DataObjectDescriptor),
    Owned(Box<DataObjectDescriptor>),
}

impl Described<'_> {
    /// The descriptor.
    pub(crate) const fn get(&self) -> &DataObjectDescriptor {
        match self {
            Self::Borrowed(descriptor) => descriptor,
            Self::Owned(descriptor) => descriptor,
        }
    }

    /// Access for changes. The first call copies a borrowed descriptor.
    pub(super) fn to_mut(&mut self) -> &mut DataObjectDescriptor {
        match self {
            Self::Owned(descriptor) => descriptor,
            Self::Borrowed(descriptor) => {
                let owned = Box::new(descriptor.clone());
                *self = Self::Owned(owned);
                self.to_mut()
            }
        }
    }

    pub(super) fn into_owned(self) -> DataObjectDescriptor {
        match self {
            Self::Borrowed(descriptor) => descriptor.clone(),
            Self::Owned(descriptor) => *descriptor,
        }
    }
}

impl Deref for Described<'_> {
    type Target = DataObjectDescriptor;

    fn deref(&self) -> &DataObjectDescriptor {
        self.get()
    }
}

impl From<DataObjectDescriptor> for Described<'_> {
    fn from(descriptor: DataObjectDescriptor) -> Self {
        Self::Owned(Box::new(descriptor))
    }
}
