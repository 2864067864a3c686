//! The header of the forms CDF-1, CDF-2 and CDF-5, checked before a library reads it.
//!
//! ```text
//! 'C' 'D' 'F' version, the number of records, then three lists, each with a tag and a count:
//! dimensions   name, length
//! attributes   name, type, count, values up to a multiple of four bytes
//! variables    name, dimensions, attributes, type, size, offset of the values
//! ```
//!
//! netCDF-C 4.9 writes beyond its memory where a name has more than 256 bytes.

use std::io::Read;

use tgm_std::Result;

use crate::error::encoding;

/// The longest name in bytes.
const MAX_NAME: u64 = 256;
/// The most dimensions of a variable that netCDF-C has.
const MAX_DIMENSIONS: u64 = 1024;
/// The most bytes that a header may have.
const MAX_HEADER: u64 = 256 << 20;
/// Bytes of an element by the number of its type.
const WIDTHS: [u64; 12] = [0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8];

/// What the header says.
#[derive(Debug, Default)]
pub(crate) struct Header {
    counted: usize,
    /// Names of variables whose values lie beyond the end of the file.
    cut: Vec<String>,
}

impl Header {
    /// How many variables and attributes there are.
    pub(super) const fn counted(&self) -> usize {
        self.counted
    }

    /// Whether the values of a variable lie beyond the end of the file.
    pub(super) fn is_cut(&self, name: &str) -> bool {
        self.cut.iter().any(|cut| cut == name)
    }
}

/// Checks the header of a file of `len` bytes.
///
/// # Errors
/// `TensogramError::Encoding` with the offset of the first thing that is wrong.
pub(crate) fn check(source: impl Read, len: u64) -> Result<Header> {
    let mut reader = Reader { source: source.take(MAX_HEADER), at: 0, len, version: 0 };
    let [c, d, f, version] = reader.bytes()?;
    if [c, d, f] != *b"CDF" || ![1, 2, 5].contains(&version) {
        return Err(reader.wrong("it does not begin like NetCDF"));
    }
    reader.version = version;
    let records = reader.number()?;
    let is_streamed = records == if version == 5 { u64::MAX } else { u32::MAX.into() };
    let mut lengths = Vec::new();
    for _ in 0..reader.list(10)? {
        reader.name()?;
        lengths.push(reader.number()?);
    }
    if lengths.iter().filter(|len| **len == 0).count() > 1 {
        return Err(reader.wrong("it has more than one unlimited dimension"));
    }
    let mut header = Header { counted: attributes(&mut reader)?, cut: Vec::new() };
    let mut variables = Vec::new();
    for _ in 0..reader.list(11)? {
        let name = reader.name()?;
        let count = reader.number()?;
        if count > MAX_DIMENSIONS {
            return Err(reader.wrong(format!("a variable has {count} dimensions")));
        }
        let (mut size, mut has_records) = (1_u64, false);
        for place in 0..count {
            let number = reader.number()?;
            let dim = usize::try_from(number).ok().and_then(|number| lengths.get(number)).copied();
            match dim {
                None => return Err(reader.wrong(format!("dimension {number} is not there"))),
                Some(0) if place > 0 => {
                    return Err(reader.wrong("the unlimited dimension is not the first of a variable"));
                }
                Some(0) => has_records = true,
                Some(dim) => {
                    size =
                        size.checked_mul(dim).ok_or_else(|| reader.wrong("a variable is larger than 64 bits count"))?;
                }
            }
        }
        header.counted += 1 + attributes(&mut reader)?;
        let width = reader.kind()?;
        reader.number()?;
        let begin = reader.offset()?;
        let size = size.checked_mul(width).ok_or_else(|| reader.wrong("a variable is larger than 64 bits count"))?;
        variables.push((name, size, has_records, begin));
    }
    // One variable of records alone is not padded.
    let recorded: Vec<u64> = variables.iter().filter(|(_, _, has_records, _)| *has_records).map(|it| it.1).collect();
    let stride = match recorded.as_slice() {
        [alone] => *alone,
        // An end beyond all numbers lies after the end of every file, so its variable is said to be cut.
        all => all.iter().map(|size| size.div_ceil(4).saturating_mul(4)).fold(0, u64::saturating_add),
    };
    for (name, size, has_records, begin) in variables {
        let end = match (has_records, records) {
            (true, _) if is_streamed => continue,
            (true, 0) => continue,
            (true, records) => begin.saturating_add(stride.saturating_mul(records - 1)).saturating_add(size),
            (false, _) => begin.saturating_add(size),
        };
        if end > len && size > 0 {
            header.cut.push(name);
        }
    }
    Ok(header)
}

fn attributes(reader: &mut Reader<impl Read>) -> Result<usize> {
    let count = reader.list(12)?;
    for _ in 0..count {
        reader.name()?;
        let width = reader.kind()?;
        let bytes = reader.number()?.checked_mul(width).and_then(|bytes| bytes.checked_next_multiple_of(4));
        // No file has as many bytes: that is its error.
        reader.skip(bytes.unwrap_or(u64::MAX))?;
    }
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

struct Reader<R> {
    source: std::io::Take<R>,
    at: u64,
    /// Bytes of the file.
    len: u64,
    version: u8,
}

impl<R: Read> Reader<R> {
    fn wrong(&self, what: impl std::fmt::Display) -> tgm_std::TensogramError {
        encoding(format!("the header is damaged before offset {}: {what}", self.at))
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        let read = self.source.read_exact(&mut bytes);
        self.at += N as u64;
        read.map_err(|error| self.wrong(error))?;
        Ok(bytes)
    }

    fn skip(&mut self, count: u64) -> Result<()> {
        if count > self.len {
            return Err(self.wrong(format!("{count} bytes are more than the file has")));
        }
        let skipped = std::io::copy(&mut self.source.by_ref().take(count), &mut std::io::sink());
        self.at += count;
        if skipped.map_err(|error| self.wrong(error))? < count {
            return Err(self.wrong("it ends"));
        }
        Ok(())
    }

    fn word(&mut self) -> Result<u64> {
        Ok(u32::from_be_bytes(self.bytes()?).into())
    }

    /// A count or a length.
    fn number(&mut self) -> Result<u64> {
        if self.version == 5 { Ok(u64::from_be_bytes(self.bytes()?)) } else { self.word() }
    }

    fn offset(&mut self) -> Result<u64> {
        if self.version == 1 { self.word() } else { Ok(u64::from_be_bytes(self.bytes()?)) }
    }

    /// The number of entries of a list. A list without entries may have no tag.
    fn list(&mut self, tag: u64) -> Result<u64> {
        let (found, count) = (self.word()?, self.number()?);
        // An entry has at least eight bytes.
        if found != tag && (found, count) != (0, 0) || count > self.len / 8 {
            return Err(self.wrong(format!("a list has the tag {found} and {count} entries")));
        }
        Ok(count)
    }

    fn name(&mut self) -> Result<String> {
        let len = self.number()?;
        if len > MAX_NAME {
            return Err(self.wrong(format!("a name has {len} bytes, and the most is {MAX_NAME}")));
        }
        let len = usize::try_from(len).map_err(|_| self.wrong(format!("a name has {len} bytes")))?;
        let mut name = vec![0; len.next_multiple_of(4)];
        let read = self.source.read_exact(&mut name);
        self.at += name.len() as u64;
        read.map_err(|error| self.wrong(error))?;
        name.truncate(len);
        String::from_utf8(name).map_err(|_| self.wrong("a name is not UTF-8"))
    }

    /// The width of a type.
    fn kind(&mut self) -> Result<u64> {
        let number = self.word()?;
        let last = if self.version == 5 { 11 } else { 6 };
        let width = usize::try_from(number).ok().and_then(|number| WIDTHS.get(number)).copied();
        match width {
            Some(width) if width > 0 && number <= last => Ok(width),
            _ => Err(self.wrong(format!("type {number} is not known"))),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    /// A file with a dimension, an attribute and a variable, whose names have these lengths.
    fn file(version: u8, names: [usize; 3]) -> Vec<u8> {
        let mut bytes = b"CDF".to_vec();
        bytes.push(version);
        let number = |bytes: &mut Vec<u8>, number: u32| {
            if version == 5 {
                bytes.extend([0; 4]);
            }
            bytes.extend(number.to_be_bytes());
        };
        let name = |bytes: &mut Vec<u8>, len: usize| {
            number(bytes, u32::try_from(len).unwrap());
            bytes.extend(std::iter::repeat_n(b'x', len));
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        };
        number(&mut bytes, 0);
        bytes.extend(10_u32.to_be_bytes());
        number(&mut bytes, 1);
        name(&mut bytes, names[0]);
        number(&mut bytes, 3);
        bytes.extend(12_u32.to_be_bytes());
        number(&mut bytes, 1);
        name(&mut bytes, names[1]);
        bytes.extend(2_u32.to_be_bytes());
        number(&mut bytes, 1);
        bytes.extend(b"a\0\0\0");
        bytes.extend(11_u32.to_be_bytes());
        number(&mut bytes, 1);
        name(&mut bytes, names[2]);
        number(&mut bytes, 1);
        number(&mut bytes, 0);
        bytes.extend([0; 4]);
        number(&mut bytes, 0);
        bytes.extend(3_u32.to_be_bytes());
        number(&mut bytes, 8);
        let begin = bytes.len() as u64 + if version == 1 { 4 } else { 8 };
        if version == 1 {
            bytes.extend(u32::try_from(begin).unwrap().to_be_bytes());
        } else {
            bytes.extend(begin.to_be_bytes());
        }
        bytes.extend([0, 1, 0, 2, 0, 3, 0, 0]);
        bytes
    }

    #[test]
    fn headers_are_read_as_they_are_written() {
        for version in [1, 2, 5] {
            let bytes = file(version, [1, 256, 3]);
            let header = check(&bytes[..], bytes.len() as u64).unwrap();
            assert_eq!((header.counted(), header.is_cut("xxx")), (2, false));
            let cut = &bytes[..bytes.len() - 3];
            assert!(check(cut, cut.len() as u64).unwrap().is_cut("xxx"));
        }
    }

    #[test]
    fn damage_is_found_wherever_it_is() {
        for version in [1, 2, 5] {
            for place in 0..3 {
                let mut names = [1, 2, 3];
                names[place] = 257;
                let bytes = file(version, names);
                let error = check(&bytes[..], bytes.len() as u64).unwrap_err().to_string();
                assert!(error.contains("a name has 257 bytes"), "{error}");
            }
            let bytes = file(version, [1, 2, 3]);
            let end = bytes.len() - 8;
            for len in 0..end {
                assert!(check(&bytes[..len], len as u64).is_err(), "{len}");
            }
            for place in 0..end {
                // Neither a panic nor much memory, whatever it says.
                let mut bytes = bytes.clone();
                bytes[place] ^= 0xff;
                let _ = check(&bytes[..], bytes.len() as u64);
            }
        }
    }
}
