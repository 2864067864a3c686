//! Checksums and gzip (RFC 1952).

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

use super::Result;

/// The polynomial of gzip, its bits reversed.
const GZIP: u32 = 0xedb8_8320;
/// The polynomial of CRC-32C (RFC 3720), its bits reversed.
const CASTAGNOLI: u32 = 0x82f6_3b78;

/// The change of the checksum by each value of a byte.
const fn table(polynomial: u32) -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0_u32;
    while byte < 256 {
        let mut sum = byte;
        let mut bit = 0;
        while bit < 8 {
            sum = sum >> 1 ^ if sum & 1 == 1 { polynomial } else { 0 };
            bit += 1;
        }
        #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
        {
            table[byte as usize] = sum;
        }
        byte += 1;
    }
    table
}

fn checksum(table: &[u32; 256], bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        let change = table.get(usize::from(sum.to_le_bytes()[0] ^ byte)).copied().unwrap_or(0);
        sum >> 8 ^ change
    };
    !bytes.iter().fold(u32::MAX, step)
}

/// CRC-32C.
pub(super) fn crc32c(bytes: &[u8]) -> u32 {
    static TABLE: [u32; 256] = table(CASTAGNOLI);
    checksum(&TABLE, bytes)
}

fn crc32(bytes: &[u8]) -> u32 {
    static TABLE: [u32; 256] = table(GZIP);
    checksum(&TABLE, bytes)
}

/// Decompresses one or more members into all of `out`.
pub(super) fn gunzip(mut bytes: &[u8], mut out: &mut [u8]) -> Result<()> {
    let mut state = Box::<DecompressorOxide>::default();
    loop {
        let stream = behind_header(bytes)?;
        state.init();
        let flags = inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let (status, read, written) = decompress(&mut state, stream, out, 0, flags);
        if status != TINFLStatus::Done {
            return Err(format!("gzip data end with {status:?}"));
        }
        let tail = stream.get(read..).and_then(|tail| tail.split_first_chunk::<8>());
        let ([c0, c1, c2, c3, ..], rest) = tail.ok_or("gzip data end within their checksum")?;
        let (member, room) = std::mem::take(&mut out).split_at_mut_checked(written).ok_or("gzip data are too long")?;
        let (stated, computed) = (u32::from_le_bytes([*c0, *c1, *c2, *c3]), crc32(member));
        if stated != computed {
            return Err(format!("gzip states the checksum {stated:08x}, but its data have {computed:08x}"));
        }
        (bytes, out) = (rest, room);
        if bytes.is_empty() {
            break;
        }
    }
    if out.is_empty() { Ok(()) } else { Err(format!("gzip data are {} bytes too short", out.len())) }
}

/// The bytes after the header of a member.
fn behind_header(bytes: &[u8]) -> Result<&[u8]> {
    let (header, mut rest) = bytes.split_first_chunk::<10>().ok_or("gzip data end within their header")?;
    let [0x1f, 0x8b, 8, flags, ..] = *header else { return Err("no gzip data begin here".into()) };
    let cut_short = || "gzip data end within their header".to_string();
    if flags & 4 != 0 {
        let (len, behind) = rest.split_first_chunk().ok_or_else(cut_short)?;
        rest = behind.get(usize::from(u16::from_le_bytes(*len))..).ok_or_else(cut_short)?;
    }
    for text in [8, 16] {
        if flags & text != 0 {
            let end = rest.iter().position(|byte| *byte == 0).ok_or_else(cut_short)?;
            rest = rest.get(end + 1..).ok_or_else(cut_short)?;
        }
    }
    if flags & 2 != 0 { rest.get(2..).ok_or_else(cut_short) } else { Ok(rest) }
}

/// One member, at a level of 0 to 9.
#[expect(clippy::cast_possible_truncation, reason = "the length is stated modulo 2^32")]
pub(super) fn gzip(bytes: &[u8], level: u8) -> Vec<u8> {
    let mut member = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    member.extend(compress_to_vec(bytes, level));
    member.extend(crc32(bytes).to_le_bytes());
    member.extend((bytes.len() as u32).to_le_bytes());
    member
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_the_standards() {
        assert_eq!((crc32(b"123456789"), crc32c(b"123456789")), (0xcbf4_3926, 0xe306_9283));
    }

    #[test]
    fn members_return_and_damage_is_an_error() {
        let bytes: Vec<u8> = (0..1000_u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        let mut members = gzip(&bytes[..1000], 6);
        members.extend(gzip(&bytes[1000..], 1));
        let mut out = vec![0; bytes.len()];
        gunzip(&members, &mut out).unwrap();
        assert_eq!(out, bytes);
        assert!(gunzip(&members, &mut vec![0; bytes.len() - 1]).is_err());
        assert!(gunzip(&members, &mut vec![0; bytes.len() + 1]).unwrap_err().contains("1 bytes too short"));
        for cut in 0..members.len() {
            assert!(gunzip(&members[..cut], &mut out).is_err(), "{cut}");
        }
        let at = members.len() - 8;
        members[at] ^= 1;
        assert!(gunzip(&members, &mut out).unwrap_err().contains("checksum"));
    }
}
