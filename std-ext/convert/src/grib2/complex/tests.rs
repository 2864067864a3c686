use super::*;

/// Section 5 with some octets set, counted from 1.
fn parsed(octets: &[(usize, u8)]) -> std::result::Result<Complex, GribError> {
    let mut bytes = vec![0; 49];
    (bytes[3], bytes[4]) = (49, 5);
    // Two groups of 8-bit references, 4-bit widths and lengths in steps of 1.
    for (octet, byte) in [(20, 8), (35, 2), (37, 4), (42, 1), (47, 4)].iter().chain(octets) {
        bytes[octet - 1] = *byte;
    }
    Complex::parse(Section::parse(&bytes, 0)?, octets.iter().any(|(octet, _)| *octet == 48))
}

/// Lengths 3 and 2: references 5 and 9, widths 2 and 0, lengths 3 and 2.
const HEAD: [u8; 4] = [5, 9, 0x20, 0x30];
/// 0, 1 and 3 in two bits each.
const DATA: u8 = 0b0001_1100;

fn decode(complex: Complex, data: &[u8]) -> Result<Vec<i64>> {
    let decoded = complex.decode(data, 5, &DecodeLimits::default())?;
    let encoded = complex.encode(&decoded.integers, decoded.groups)?;
    assert_eq!(encoded.as_deref(), Some(data));
    if let Some(lengths) = complex.lengths(&decoded.integers, decoded.groups)? {
        assert_eq!(complex.derive(&decoded.integers, &lengths)?.as_deref(), Some(decoded.groups.head));
    }
    Ok(decoded.integers)
}

#[test]
fn references_are_added_and_all_ones_can_be_missing() {
    let data = [&HEAD[..], &[DATA]].concat();
    assert_eq!(decode(parsed(&[(46, 2)]).unwrap(), &data).unwrap(), [5, 6, 8, 9, 9]);
    assert_eq!(decode(parsed(&[(46, 2), (23, 1)]).unwrap(), &data).unwrap(), [5, 6, NONE, 9, 9]);
    // A group without width is missing if its reference is.
    let data = [5, 0xff, 0x20, 0x30, DATA];
    assert_eq!(decode(parsed(&[(46, 2), (23, 1)]).unwrap(), &data).unwrap(), [5, 6, NONE, NONE, NONE]);
    let data = [5, 0xfe, 0x20, 0x30, DATA];
    assert_eq!(decode(parsed(&[(46, 2), (23, 1)]).unwrap(), &data).unwrap(), [5, 6, NONE, 0xfe, 0xfe]);
    assert_eq!(decode(parsed(&[(46, 2), (23, 2)]).unwrap(), &data).unwrap(), [5, 6, NONE, NONE, NONE]);
}

#[test]
fn differences_are_added_up() {
    // First value 100, and least difference -7.
    let data = [&[100, 0x87][..], &HEAD, &[DATA]].concat();
    let order = |order| parsed(&[(46, 2), (48, order), (49, 1)]).unwrap();
    assert_eq!(decode(order(1), &data).unwrap(), [100, 99, 100, 102, 104]);
    let data = [&[100, 99, 0x87][..], &HEAD, &[DATA]].concat();
    assert_eq!(decode(order(2), &data).unwrap(), [100, 99, 99, 101, 105]);
    let missing = parsed(&[(46, 2), (48, 2), (49, 1), (23, 1)]).unwrap();
    assert_eq!(decode(missing, &data).unwrap(), [100, 99, NONE, 100, 103]);
}

#[test]
fn heads_follow_from_the_integers_where_references_are_the_least_and_widths_the_narrowest() {
    let lengths = |complex: Complex, data: &[u8]| {
        let decoded = complex.decode(data, 5, &DecodeLimits::default()).unwrap();
        let lengths = complex.lengths(&decoded.integers, decoded.groups).unwrap();
        lengths.map(|lengths| (lengths.bytes, lengths.is_roomy))
    };
    let data = |references: [u8; 2], widths: u8| [&references[..], &[widths, 0x30, DATA]].concat();
    let plain = parsed(&[(46, 2)]).unwrap();
    assert_eq!(lengths(plain, &data([5, 9], 0x20)), Some((vec![0x30], false)));
    // The least of the group is 5 + 0, and 3 takes 2 bits.
    assert_eq!(lengths(plain, &[5, 9, 0x30, 0x30, 0b0010_1000, 0b1000_0000]), None);
    // The last group has room for a missing value, and the first one has a missing value.
    let missing = parsed(&[(46, 2), (23, 1)]).unwrap();
    assert_eq!(lengths(missing, &data([5, 9], 0x20)), Some((vec![0x30], false)));
    assert_eq!(lengths(missing, &data([5, 9], 0x21)), Some((vec![0x30], true)));
    assert_eq!(lengths(missing, &data([5, 0xff], 0x20)), Some((vec![0x30], false)));
    let order = parsed(&[(46, 2), (48, 1), (49, 1)]).unwrap();
    assert_eq!(lengths(order, &[&[100, 0x87][..], &data([5, 9], 0x20)].concat()), Some((vec![100, 0x87, 0x30], false)));
}

#[test]
fn other_integers_have_no_place_in_groups() {
    let complex = parsed(&[(46, 2), (23, 1)]).unwrap();
    let data = [&HEAD[..], &[DATA]].concat();
    let groups = complex.decode(&data, 5, &DecodeLimits::default()).unwrap().groups;
    for other in [[4, 6, NONE, 9, 9], [8, 6, NONE, 9, 9], [5, 6, NONE, 9, 8], [5, 6, NONE, NONE, 9]] {
        assert_eq!(complex.encode(&other, groups).unwrap(), None, "{other:?}");
    }
    assert_eq!(complex.encode(&[5, 6, NONE, 9], groups).unwrap(), None);
    assert_eq!(complex.encode(&[5, 6, NONE, 9, 9, 9], groups).unwrap(), None);
    let changed = complex.encode(&[7, NONE, 5, 9, 9], groups).unwrap().unwrap();
    assert_eq!(changed, [&HEAD[..], &[0b1011_0000]].concat());
}

#[test]
fn sums_of_differences_can_be_negative() {
    let order = parsed(&[(46, 2), (48, 1), (49, 1)]).unwrap();
    assert_eq!(decode(order, &[0, 0x90, 5, 9, 0x20, 0x30, DATA]).unwrap(), [0, -10, -18, -25, -32]);
}

/// Octets of section 5, data, and a part of the error.
type Case<'a> = (&'a [(usize, u8)], &'a [u8], &'a str);

#[test]
fn groups_that_lie_are_errors() {
    let data = [&HEAD[..], &[DATA]].concat();
    let kind = |octets: &[(usize, u8)], data: &[u8]| {
        let limits = DecodeLimits { free_bytes: 1 << 20, ..DecodeLimits::default() };
        let found = parsed(octets).map_err(TensogramError::from);
        found.and_then(|complex| complex.decode(data, 5, &limits)).unwrap_err().to_string()
    };
    let cases: [Case<'_>; 12] = [
        (&[(46, 3)], &data, "the GRIB groups have 6 values, and section 5 states 5"),
        (&[(46, 2), (38, 255)], &data, "values, and section 5 states 5"),
        (&[(46, 2), (32, 255)], &data, "section 5 states 4278190082 groups of 5 values"),
        (&[(46, 2), (36, 40)], &data, "integers of more than 32 bits"),
        (&[(46, 2), (36, 32)], &data, "integers of more than 32 bits"),
        (&[(46, 2)], &data[..4], "the GRIB data have 4 bytes, and their values need 5"),
        (&[(46, 2)], &data[..1], "the GRIB data have 1 bytes, and their values need 2"),
        (&[(20, 33)], &data, "integers of 33 bits"),
        (&[(47, 200)], &data, "integers of 200 bits"),
        (&[(23, 3)], &data, "missing value management 3"),
        (&[(48, 3)], &data, "differences of order 3"),
        (&[(48, 1), (49, 9)], &data, "integers of 72 bits"),
    ];
    for (octets, data, text) in cases {
        let found = kind(octets, data);
        assert!(found.contains(text), "{text}: {found}");
    }
    let great = [&[0x7f; 16][..], &HEAD, &[DATA]].concat();
    assert!(kind(&[(46, 2), (48, 1), (49, 8)], &great).contains("beyond 2^53"));
    // As many groups as values, and values of no bits, cost no more than the limits allow.
    let many = parsed(&[(35, 1), (37, 0), (20, 0), (47, 0), (43, 15), (44, 255), (45, 255), (46, 255)]).unwrap();
    let limits = DecodeLimits { free_bytes: 1 << 20, ..DecodeLimits::default() };
    let error = many.decode(&[], 0x0fff_ffff, &limits).unwrap_err().to_string();
    assert!(error.contains("max_expansion"), "{error}");
}
