//! planted: bytes, each inverted.

use std::ops::Range;

use tgm_core::descriptor::{ByteOrder, Compression, Descriptor};

use super::about::{About, Before, Expansion, Implementation, Input, CodecResources, Support, Trial, Uncompressed};
use super::{Codec, Compress, Compressing, PartReader, Workspace};
use crate::error::{CodecError, Result};

const ABOUT: About = About {
    compression: Compression::Planted,
    input: Input::Bytes,
    is_lossy: false,
    keys: &[],
    usual: Some(&[]),
    level: None,
    expansion: Expansion { bytes: Some(1), by: "lengths have to be equal" },
    is_in_version_2: false,
    decoding: Support::Whole,
    encoding: Support::Whole,
    implementation: Implementation::Own,
    trial: Trial { before: Before::Nothing, parameters: &[], loss: 0.0 },
};

#[derive(Debug)]
pub(super) struct Planted;

impl Codec for Planted {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn decompress_into(&self, payload: &[u8], _: &Descriptor<'_>, out: &mut [u8]) -> Result<()> {
        Part(payload).read_into(0, out)
    }

    fn open_parts<'a>(
        &self,
        payload: &'a [u8],
        _: &Descriptor<'a>,
        _total: u64,
        _end: u64,
        _work: &'a mut Workspace,
    ) -> Result<Option<Box<dyn PartReader + 'a>>> {
        Ok(Some(Box::new(Part(payload))))
    }
}

impl Compressing for Planted {
    fn compressor(&self, _: &Uncompressed<'_>) -> Result<Box<dyn Compress>> {
        Ok(Box::new(Self))
    }
}

impl Compress for Planted {
    fn append(&self, bytes: &[u8], _: ByteOrder, _: CodecResources, out: &mut Vec<u8>) -> Result<Option<Vec<u64>>> {
        out.extend(bytes.iter().map(|byte| !byte));
        Ok(None)
    }
}

struct Part<'a>(&'a [u8]);

impl PartReader for Part<'_> {
    fn end_of_block(&mut self, part: &Range<u64>) -> Result<u64> {
        Ok(part.end)
    }

    fn read_into(&mut self, start: u64, out: &mut [u8]) -> Result<()> {
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        let part = self.0.get(start..).and_then(|rest| rest.get(..out.len()));
        let part = part.ok_or_else(|| CodecError::new("the payload is too short"))?;
        out.iter_mut().zip(part).for_each(|(out, byte)| *out = !byte);
        Ok(())
    }
}
