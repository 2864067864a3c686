//! One plane that makes coefficients significant, by tables.
//!
//! The code of a plane has up to seven bits, so that tables of all codes and of all planes are small.

/// The longest code of a plane.
pub(super) const LONGEST: u32 = 7;

/// One plane as the tables have it.
#[derive(Clone, Copy)]
pub(super) struct Step {
    /// The plane in [`READ`], its code in [`WRITE`].
    pub(super) bits: u8,
    /// The code's length in bits.
    pub(super) len: u8,
    /// Coefficients that are significant afterwards.
    pub(super) significant: u8,
}

const NO_STEP: Step = Step { bits: 0, len: 0, significant: 0 };

/// Reads one plane of a block with `n` significant coefficients from the low bits of `code`, at most `limit` of them.
const fn read_step(mut n: u8, code: u8, limit: u8) -> Step {
    let mut len = if n < limit { n } else { limit };
    let mut bits = code & ((1 << len) - 1);
    while n < 4 && len < limit {
        len += 1;
        if code >> (len - 1) & 1 == 0 {
            break;
        }
        while n < 3 && len < limit {
            len += 1;
            if code >> (len - 1) & 1 == 1 {
                break;
            }
            n += 1;
        }
        bits |= 1 << n;
        n += 1;
    }
    Step { bits, len, significant: n }
}

/// The code of a plane of a block with `n` significant coefficients.
const fn write_step(mut n: u8, plane: u8) -> Step {
    let mut code = plane & ((1 << n) - 1);
    let mut len = n;
    while n < 4 {
        let any = plane >> n != 0;
        code |= (any as u8) << len;
        len += 1;
        if !any {
            break;
        }
        while n < 3 {
            let bit = plane >> n & 1;
            code |= bit << len;
            len += 1;
            if bit == 1 {
                break;
            }
            n += 1;
        }
        n += 1;
    }
    Step { bits: code, len, significant: n }
}

/// [`read_step`] by the number of significant coefficients (0 to 3), and by the bits that may be read with a 1 on top
/// of them: the 1 says how many bits these are.
pub(super) static READ: [[Step; 2 << LONGEST]; 4] = {
    let mut table = [[NO_STEP; 2 << LONGEST]; 4];
    let mut n = 0;
    while n < 4 {
        let mut limit = 0;
        while limit as u32 <= LONGEST {
            let mut code = 0;
            while code < 1 << limit {
                table[n as usize][1 << limit | code as usize] = read_step(n, code, limit);
                code += 1;
            }
            limit += 1;
        }
        n += 1;
    }
    table
};

/// [`write_step`] by the number of significant coefficients (0 to 3), and by plane.
pub(super) static WRITE: [[Step; 16]; 4] = {
    let mut table = [[NO_STEP; 16]; 4];
    let mut n = 0;
    while n < 4 {
        let mut plane = 0;
        while plane < 16 {
            table[n as usize][plane as usize] = write_step(n, plane);
            plane += 1;
        }
        n += 1;
    }
    table
};
