//! The coordinates of a ZIO message: sender, time and position in a sequence. They are part 1 of the message.

use tgm_core::descriptor::ByteOrder;
use tgm_core::zerocopy;

use super::error::{ErrorKind, Result};

/// The size of part 1 in bytes: three `u64`.
pub const COORDS_SIZE: usize = 24;

/// The coordinates of a message. Each may have any value of 64 bits.
///
/// ```
/// use tgm_core::descriptor::ByteOrder;
/// use tgm_zio::Coords;
///
/// let part = Coords { origin: 1, granule: 2, seqno: 3 }.to_bytes(ByteOrder::Little);
/// assert_eq!(Coords::parse(&part, ByteOrder::Little)?.seqno, 3);
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Coords {
    /// The producer of the message.
    pub origin: u64,
    /// A counter or a time. The application chooses the meaning; some senders use microseconds since 1970.
    pub granule: u64,
    /// The position in a sequence.
    pub seqno: u64,
}

impl Coords {
    /// Reads part 1, in the byte order of the sender.
    ///
    /// # Errors
    /// [`ErrorKind::BadCoordSize`] if `part` does not have exactly 24 bytes.
    pub fn parse(part: &[u8], order: ByteOrder) -> Result<Self> {
        let bytes: [u8; COORDS_SIZE] = part.try_into().map_err(|_| ErrorKind::BadCoordSize(part.len()).at(1, 0))?;
        let [origin, granule, seqno]: [[u8; 8]; 3] = zerocopy::transmute!(bytes);
        let read = match order {
            ByteOrder::Big => u64::from_be_bytes,
            ByteOrder::Little => u64::from_le_bytes,
        };
        Ok(Self { origin: read(origin), granule: read(granule), seqno: read(seqno) })
    }

    /// The bytes of part 1, in this byte order.
    pub fn to_bytes(&self, order: ByteOrder) -> [u8; COORDS_SIZE] {
        let write = match order {
            ByteOrder::Big => u64::to_be_bytes,
            ByteOrder::Little => u64::to_le_bytes,
        };
        zerocopy::transmute!([write(self.origin), write(self.granule), write(self.seqno)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_keep_all_bits_in_either_order() {
        let coords = Coords { origin: u64::MAX, granule: 1, seqno: 0x0102_0304_0506_0708 };
        for order in [ByteOrder::Big, ByteOrder::Little] {
            assert_eq!(Coords::parse(&coords.to_bytes(order), order), Ok(coords));
        }
        assert_eq!(coords.to_bytes(ByteOrder::Little)[8..16], [1, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn sizes_other_than_24_bytes_are_refused() {
        for len in [0, 12, 16, 23, 25, 32] {
            let error = Coords::parse(&[0; 40][..len], ByteOrder::Little).unwrap_err();
            assert_eq!((error.kind(), error.part()), (ErrorKind::BadCoordSize(len), 1));
        }
    }
}
