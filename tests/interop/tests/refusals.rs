//! Both libraries refuse to write the same cases for the same reasons, except for known differences.

use std::cell::RefCell;
use std::collections::BTreeMap;

use ciborium::Value;
use proptest::strategy::BoxedStrategy;
use proptest::test_runner::TestCaseError;
use tgm_interop::case::{Case, Compression, Encoding, Flaw};
use tgm_interop::plain::Answer;
use tgm_interop::values::{Dtype, Kind};
use tgm_interop::{known, ours, reference, strategy, try_cases};

type Write = fn(&Case, &[Vec<u8>]) -> Answer<Vec<u8>>;

/// Parts of error texts that callers match on.
const WORDS: [&str; 24] = [
    "obj_type must not be empty",
    "does not match shape.len()",
    "strides.len()",
    "shape product overflow",
    "does not match expected",
    "strict-NaN check: NaN at element",
    "strict-Inf check: +Inf",
    "strict-Inf check: -Inf",
    "(real component)",
    "(imaginary component)",
    "simple_packing only supports float64",
    "simple_packing requires sp_bits_per_value",
    "unknown encoding:",
    "unknown filter:",
    "unknown compression:",
    "unknown blosc2 codec",
    "unknown zfp_mode",
    "unknown sz3_error_bound_mode",
    "only supports dtype=bitmask",
    "missing required parameter:",
    "out of i32 range",
    "out of u32 range",
    "client code must not write",
    "entries but only",
];

fn refused_alike(cases: &BoxedStrategy<Case>, reference: Write, ours: Write) {
    let counts = RefCell::new(BTreeMap::<String, u32>::new());
    let count = |what: &str| *counts.borrow_mut().entry(what.to_owned()).or_default() += 1;
    try_cases(cases, |case| {
        // Impossible shapes get no data.
        let data = match case.objects.iter().any(|object| object.shape.iter().any(|dim| *dim > 1 << 30)) {
            true => vec![Vec::new(); case.objects.len()],
            false => case.data(),
        };
        let (theirs, mine) = (reference(&case, &data), ours(&case, &data));
        match (&theirs, &mine) {
            (Ok(_), Ok(_)) => count("written by both"),
            (Err(theirs), Err(mine)) => {
                count("refused by both");
                let known = known::other_refusal(&case, theirs, mine);
                if theirs.kind != mine.kind && known.is_none() {
                    return Err(TestCaseError::fail(format!("other kinds:\n   ours {mine:?}\n theirs {theirs:?}")));
                }
                let missing = WORDS.iter().find(|words| theirs.text.contains(**words) && !mine.text.contains(**words));
                if let (Some(words), None) = (missing, known) {
                    return Err(TestCaseError::fail(format!("no {words:?}:\n   ours {mine:?}\n theirs {theirs:?}")));
                }
            }
            (Ok(theirs), Err(mine)) => match known::refused_by_us(&case, theirs) {
                Some(reason) => count(reason),
                None => return Err(TestCaseError::fail(format!("refused by us alone: {mine:?}"))),
            },
            (Err(theirs), Ok(_)) => {
                return Err(TestCaseError::fail(format!("refused by the reference alone: {theirs:?}")));
            }
        }
        Ok(())
    });
    println!("{:#?}", counts.borrow());
}

#[test]
fn buffered_messages_are_refused_alike() {
    refused_alike(&strategy::cases(), reference::encode, ours::encode);
}

#[test]
fn streamed_messages_are_refused_alike() {
    refused_alike(&strategy::cases(), reference::stream, ours::stream);
}

#[test]
fn flawed_buffered_messages_are_refused_alike() {
    refused_alike(&strategy::flawed_cases(), reference::encode, ours::encode);
}

#[test]
fn flawed_streamed_messages_are_refused_alike() {
    refused_alike(&strategy::flawed_cases(), reference::stream, ours::stream);
}

/// To get the default, a caller leaves the parameter out.
#[test]
fn null_is_refused_as_a_parameter() {
    let mut case = Case::of_numbers(3, Kind::Ramp, Compression::Zstd { level: Some(3) });
    case.objects[0].flaw = Some(Flaw::Param(0, Some(Value::Null)));
    for refusal in [reference::encode(&case, &case.data()), ours::encode(&case, &case.data())] {
        let refusal = refusal.expect_err("null");
        assert_eq!(refusal.kind, "metadata error");
        assert!(refusal.text.contains("expected integer for zstd_level, got null"), "{refusal:?}");
    }
}

#[test]
fn packing_of_other_types_is_refused_as_such_whatever_their_length() {
    let mut case = Case::of_numbers(3, Kind::Ramp, Compression::None);
    case.objects[0].dtype = Dtype::Float32;
    case.objects[0].encoding = Encoding::SimplePacking { bits: 8, decimal: None, given: None };
    for refusal in [reference::encode(&case, &case.data()), ours::encode(&case, &case.data())] {
        let refusal = refusal.expect_err("float32");
        assert_eq!(refusal.kind, "encoding error");
        assert!(refusal.text.contains("simple_packing only supports float64"), "{refusal:?}");
    }
}
