//! Selections as text.

use std::num::NonZeroU64;

use tgm_core::selection::Pick;
use tgm_std::Picks;

fn resolved(text: &str, shape: &[u64]) -> Result<Vec<Pick>, String> {
    Picks::parse(text).and_then(|picks| picks.resolve(shape.iter().copied())).map_err(|error| error.to_string())
}

fn range(start: u64, end: u64, step: u64) -> Pick {
    Pick::Range { start, end, step: NonZeroU64::new(step).unwrap() }
}

#[test]
fn picks_mean_what_they_mean_in_python() {
    use Pick::{All, Index};
    let cases: [(&str, &[u64], &[Pick]); 16] = [
        ("0, 10:20, ::4", &[3, 30, 9], &[Index(0), range(10, 20, 1), range(0, 9, 4)]),
        ("-1", &[3, 4], &[Index(2), All]),
        ("-3", &[3], &[Index(0)]),
        ("..", &[], &[]),
        ("..", &[2, 3], &[All, All]),
        ("...,1", &[2, 3, 4], &[All, All, Index(1)]),
        ("1,..", &[2], &[Index(1)]),
        ("1, .. ,2", &[2, 3], &[Index(1), Index(2)]),
        (":", &[0], &[All]),
        (" : : ", &[5], &[All]),
        ("::1", &[5], &[All]),
        ("-3:-1", &[5], &[range(2, 4, 1)]),
        ("-100:100:2", &[5], &[range(0, 5, 2)]),
        ("4:2", &[5], &[range(2, 2, 1)]),
        ("7:9", &[5], &[range(5, 5, 1)]),
        ("9223372036854775807:", &[u64::MAX], &[range(i64::MAX.cast_unsigned(), u64::MAX, 1)]),
    ];
    for (text, shape, picks) in cases {
        assert_eq!(resolved(text, shape).as_deref(), Ok(picks), "{text} of {shape:?}");
    }
}

#[test]
fn errors_name_the_dimension_and_what_is_wrong() {
    for (text, shape, part) in [
        ("", &[1_u64][..], "part 0 (counted from 0): it is empty; `:` picks all"),
        ("1,,2", &[3, 3, 3], "part 1 (counted from 0): it is empty"),
        ("0,x", &[1, 1], "part 1 (counted from 0): `x` is not a number"),
        ("0:1:2:3", &[1], "part 0 (counted from 0): `0:1:2:3` has more than two colons"),
        ("::0", &[1], "part 0 (counted from 0): the step of `::0` is less than 1"),
        ("..,::-1", &[1], "part 1 (counted from 0): the step of `::-1` is less than 1"),
        ("..,0,..", &[1], "`..` can stand only once"),
        ("0,0", &[1], "selection of 2 dimensions, the tensor has 1: [1]"),
        ("0,..,0", &[1], "selection of 2 dimensions, the tensor has 1: [1]"),
        ("0,5", &[1, 5], "dimension 1 (counted from 0): there is no index 5, the length is 5"),
        ("..,-6", &[1, 5], "dimension 1 (counted from 0): there is no index -6, the length is 5"),
        ("99999999999999999999", &[1], "is not a number of 64 bits"),
    ] {
        let error = resolved(text, shape).unwrap_err();
        assert!(error.starts_with("selection") && error.contains(part), "{text}: {error}");
    }
}

#[test]
fn picks_are_written_as_they_are_read() {
    for text in ["0", "-1,..,2:,:3,::4", "1:2:3", ":"] {
        assert_eq!(Picks::parse(text).unwrap().to_string(), text);
    }
}
