//! Where the next frame is found: after padding, after other bytes, or not before a postamble.

use std::vec::Vec;

use super::*;

fn postamble() -> Vec<u8> {
    [&[0; POSTAMBLE_SIZE - END_MAGIC.len()][..], END_MAGIC].concat()
}

#[test]
fn what_comes_first_in_a_gap_is_found() {
    let postamble = postamble();
    assert_eq!(find_landmark(b"", true), None);
    assert_eq!(find_landmark(b"....FR", true), Some((4, Landmark::Frame)));
    assert_eq!(find_landmark(&postamble, true), Some((0, Landmark::Postamble)));
    assert_eq!(find_landmark(&postamble, false), None);
    let postamble_first = [&postamble[..], b"FR"].concat();
    assert_eq!(find_landmark(&postamble_first, true), Some((0, Landmark::Postamble)));
    assert_eq!(find_landmark(&postamble_first, false), Some((POSTAMBLE_SIZE, Landmark::Frame)));
    // The end magic may be within the frame.
    for before in [0, 1, POSTAMBLE_SIZE - 2] {
        let frame_first = [&postamble[..before], b"FR", &postamble].concat();
        assert_eq!(find_landmark(&frame_first, true), Some((before, Landmark::Frame)), "{before}");
    }
    // A postamble whose first two bytes are `FR` is a frame.
    let both = [&[0; 4][..], b"FR", &postamble[2..]].concat();
    assert_eq!(find_landmark(&both, true), Some((4, Landmark::Frame)));
}

/// Zeros, `FR`, and other bytes in every order, at every distance from a multiple of eight.
#[test]
fn padding_is_the_gap_that_a_search_finds() {
    const LETTERS: &[u8] = b"\0FR.";
    let mut found = 0;
    for number in 0..LETTERS.len().pow(9) {
        let mut digits = number;
        let bytes: [u8; 9] = core::array::from_fn(|_| {
            let letter = LETTERS[digits % LETTERS.len()];
            digits /= LETTERS.len();
            letter
        });
        for position in 8..16 {
            if let Some(padding) = Frames::new(&bytes, position, false).padding() {
                assert_eq!(find_landmark(&bytes, false), Some((padding, Landmark::Frame)), "{bytes:?} at {position}");
                assert!(
                    (position + padding as u64).is_multiple_of(8) && bytes[..padding].iter().all(|&byte| byte == 0)
                );
                found += 1;
            }
        }
    }
    assert_eq!(found > 0, !IS_SMALL);
    assert_eq!(Frames::new(b"FR......", 8, true).padding(), None, "a postamble may come first");
}
