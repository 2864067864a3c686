//! Words and numbers by semihosting, without the formatting of `core`, which costs more than a parser.

use crate::machine;

/// FNV-1a. For images that do not need the library's digest, which would weigh more than a kilobyte.
pub fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// One line, ended when dropped.
pub struct Line(());

impl Line {
    /// Begins a line with a word.
    pub fn new(word: &str) -> Self {
        word.bytes().for_each(machine::write);
        Self(())
    }

    /// Adds a word.
    #[must_use]
    pub fn word(self, word: &str) -> Self {
        machine::write(b' ');
        word.bytes().for_each(machine::write);
        self
    }

    /// Adds a decimal number.
    #[must_use]
    pub fn number(self, number: u32) -> Self {
        machine::write(b' ');
        let mut digit = 1;
        while digit <= number / 10 {
            digit *= 10;
        }
        while digit > 0 {
            machine::write(b'0' + (number / digit % 10) as u8);
            digit /= 10;
        }
        self
    }

    /// Adds sixteen hexadecimal digits.
    #[must_use]
    pub fn hex(self, number: u64) -> Self {
        machine::write(b' ');
        for shift in (0..64).step_by(4).rev() {
            let digit = (number >> shift & 0xf) as u8;
            machine::write(if digit < 10 { b'0' + digit } else { b'a' + digit - 10 });
        }
        self
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        machine::write(b'\n');
    }
}
