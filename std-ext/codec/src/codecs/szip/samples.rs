//! Loads samples from containers.

use tgm_core::descriptor::ByteOrder;
use tgm_core::szip::Params;

/// Replaces `samples` by the samples of `data`, moved up by the bias so that they are 0 to [`Params::max`].
///
/// Bits of a container above the sample are left out: they do not belong to it, or are copies of its sign.
pub(super) fn load(data: &[u8], params: &Params, samples: &mut Vec<u32>) {
    let containers = Containers { data, params, samples };
    match (params.container_size(), params.byte_order()) {
        (1, _) => containers.load(|[a]| u32::from(a)),
        (2, ByteOrder::Big) => containers.load(|bytes| u16::from_be_bytes(bytes).into()),
        (2, ByteOrder::Little) => containers.load(|bytes| u16::from_le_bytes(bytes).into()),
        (3, ByteOrder::Big) => containers.load(|[a, b, c]| u32::from_be_bytes([0, a, b, c])),
        (3, ByteOrder::Little) => containers.load(|[a, b, c]| u32::from_le_bytes([a, b, c, 0])),
        (_, ByteOrder::Big) => containers.load(u32::from_be_bytes),
        (_, ByteOrder::Little) => containers.load(u32::from_le_bytes),
    }
}

/// The arguments of [`load`].
struct Containers<'a> {
    data: &'a [u8],
    params: &'a Params,
    samples: &'a mut Vec<u32>,
}

impl Containers<'_> {
    /// Loads containers of `SIZE` bytes.
    fn load<const SIZE: usize>(self, sample: impl Fn([u8; SIZE]) -> u32) {
        let (containers, _) = self.data.as_chunks();
        let (max, bias) = (self.params.max(), self.params.bias());
        self.samples.clear();
        self.samples.extend(containers.iter().map(|&bytes| (sample(bytes) & max) ^ bias));
    }
}

/// A copy of `data` in which the bits that [`load`] leaves out are 0.
#[cfg(feature = "libaec")]
pub(super) fn masked(data: &[u8], params: &Params) -> Vec<u8> {
    let size = params.container_size();
    // All excess bits are in one byte, because a container has no more bytes than a sample needs.
    let byte = if params.byte_order() == ByteOrder::Big { 0 } else { size - 1 };
    let upper = u8::MAX >> (8 * size - params.bits_per_sample() as usize);
    let mut data = data.to_vec();
    data.iter_mut().skip(byte).step_by(size).for_each(|byte| *byte &= upper);
    data
}
