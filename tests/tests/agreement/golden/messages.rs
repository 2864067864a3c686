//! Messages and frames: found where they are recorded, with the digests and the version recorded.

use std::fs::File;

use serde_json::{Value as Json, json};
use tgm_core::Message;
use tgm_core::hash::{HashPresence, Verdict};
use tgm_core::scan::Segment;
use tgm_std::{DecodeOptions, TensogramError};
use tgm_tests::corpus;

use super::{Files, Findings, Result, expected_scan, extents, list, messages_of, missing_codec, readable};

#[test]
fn messages_are_found_where_recorded_by_every_scan() {
    let mut findings = Findings::default();
    for sample in readable() {
        let name = &sample.name;
        let expected = expected_scan(&sample);
        let of_core = tgm_core::scan::scan(&sample.bytes).filter(Segment::is_message);
        let to_pair = |offset: u64, length: u64| (usize::try_from(offset).unwrap(), usize::try_from(length).unwrap());
        let of_core: Vec<_> = of_core.map(|segment| to_pair(segment.offset(), segment.length())).collect();
        findings.equal(&of_core, &expected, &format!("{name} by tgm_core"));
        findings.equal(&tgm_std::scan(&sample.bytes), &expected, &format!("{name} by scan"));
        for bidirectional in [false, true] {
            let options = tgm_std::ScanOptions { bidirectional, ..Default::default() };
            let found = tgm_std::scan_with_options(&sample.bytes, &options);
            findings.equal(&found, &expected, &format!("{name} {options:?}"));
            let mut file = File::open(&sample.path).unwrap();
            let found = tgm_std::scan_file_with_options(&mut file, &options).unwrap();
            findings.equal(&found, &expected, &format!("{name} by scan_file {options:?}"));
        }
        let files = Files::open(&sample);
        for (route, layouts) in [
            ("TensogramFile", files.positioned.message_layouts().unwrap()),
            ("mapped TensogramFile", files.mapped.message_layouts().unwrap()),
            ("MappedFile", files.map.message_layouts().to_vec()),
        ] {
            let found: Vec<_> = layouts.iter().map(|layout| to_pair(layout.offset, layout.length)).collect();
            findings.equal(&found, &expected, &format!("{name} by {route}"));
        }
        let iterated: Vec<Vec<u8>> = files.positioned.iter().unwrap().collect::<Result<_>>().unwrap();
        let slices: Vec<&[u8]> = tgm_std::messages(&sample.bytes).collect();
        let expected: Vec<&[u8]> = expected.iter().map(|&(at, length)| &sample.bytes[at..at + length]).collect();
        findings.equal(&iterated.iter().map(Vec::as_slice).collect(), &expected, &format!("{name} by iter"));
        findings.equal(&slices, &expected, &format!("{name} by messages"));
        findings.count("files checked");
    }
    findings.finish("scan");
    assert!(findings.of("files checked") >= 500);
}

#[test]
fn frames_are_those_recorded() {
    let mut findings = Findings::default();
    for sample in readable() {
        for message in messages_of(&sample).iter().filter(|message| !message.is_delimited_otherwise) {
            let Some(wire) = message.json.get("wire") else { continue };
            let view = Message::parse(message.bytes).unwrap();
            let name = &message.name;
            findings.equal(&json!(view.flags().bits()), &wire["flags"], &format!("{name}: flags"));
            let postamble = view.postamble().unwrap().first_footer_offset.get();
            findings.equal(&json!(postamble), &wire["first_footer_offset"], &format!("{name}: first_footer_offset"));
            let recorded = list(&wire["frames"]);
            let mut frames = view.frames();
            for (index, expected) in recorded.iter().enumerate() {
                if expected.get("elided").is_some() {
                    findings.count("frame lists cut short in the sidecar");
                    assert!(frames.by_ref().all(|frame| frame.is_ok()), "{name}");
                    break;
                }
                let frame = match frames.next() {
                    Some(Ok(frame)) => frame,
                    other => {
                        findings.check(false, || format!("{name} frame {index}: {other:?}"));
                        break;
                    }
                };
                let found = json!({
                    "type": frame.frame_type().as_u16(),
                    "offset": frame.offset(),
                    "length": frame.total_length(),
                    "flags": frame.flags().bits(),
                    "hash_slot": format!("{:016x}", frame.hash_slot()),
                });
                for key in ["type", "offset", "length", "flags", "hash_slot"] {
                    findings.equal(&found[key], &expected[key], &format!("{name} frame {index}: {key}"));
                }
                let matches = expected.get("hash_matches_body") != Some(&json!(false));
                findings.equal(&frame.verify_slot().is_ok(), &matches, &format!("{name} frame {index}: digest"));
                findings.count("frames checked");
            }
            findings.check(frames.next().is_none(), || format!("{name}: more frames than recorded"));
        }
    }
    findings.finish("frames");
    assert!(findings.of("frames checked") >= 2500, "only {}", findings.of("frames checked"));
}

/// The outcome of checking digests: `Ok`, or what the reference calls it.
fn verified(bytes: &[u8], objects: usize, strict: bool) -> std::result::Result<(), String> {
    let options = DecodeOptions { verify_hash: true, strict_hash_presence: strict, ..Default::default() };
    let outcome = |error: TensogramError| match error {
        TensogramError::MissingHash { object_index } => Err(format!("MissingHash: object_index={object_index}")),
        TensogramError::HashMismatch { object_index, .. } => Err(format!("HashMismatch: {object_index:?}")),
        // Digests are checked before anything is decoded.
        error if missing_codec(&error).is_some() => Ok(()),
        error => Err(error.to_string()),
    };
    let whole = tgm_std::decode(bytes, &options).map(drop).or_else(outcome);
    let each: std::result::Result<(), String> =
        (0..objects).try_for_each(|index| tgm_std::decode_object(bytes, index, &options).map(drop).or_else(outcome));
    assert!(whole == each || objects == 0, "decode and decode_object differ about digests");
    // Objects that are borrowed know the same, but for their index.
    let kind = |text: String| text.split(':').next().map(str::to_owned);
    let view = Message::parse(bytes).unwrap();
    for index in 0..objects {
        let of_message = tgm_std::decode_object(bytes, index, &options).map(drop).or_else(outcome).map_err(kind);
        for object in [view.object(index), view.objects().nth(index).unwrap()] {
            let of_object =
                tgm_std::read(&object.unwrap()).options(&options).bytes().map(drop).or_else(outcome).map_err(kind);
            assert_eq!(of_object, of_message, "decode_object and values differ about digests");
        }
    }
    whole
}

#[test]
fn digests_are_verified_as_recorded_and_rule_h_reads_older_releases() {
    let mut findings = Findings::default();
    for sample in readable().into_iter().filter(|sample| sample.class != "quirk") {
        for message in messages_of(&sample).iter().filter(|message| !message.is_delimited_otherwise) {
            let name = &message.name;
            let expected = &message.json["hash_verify"];
            let Ok(view) = Message::parse(message.bytes) else { continue };
            let strict = verified(message.bytes, message.objects.len(), true);
            let by_rule_h = verified(message.bytes, message.objects.len(), false);
            let of_core = view.verify(HashPresence::Flagged).map(|frame| frame.unwrap());
            let of_core = of_core.filter(|frame| frame.object_index.is_some()).all(|f| f.verdict == Verdict::Good);
            if expected["expected"] == true {
                findings.count("verified, as recorded");
                findings.equal(&strict, &Ok(()), &format!("{name} strict"));
                findings.equal(&by_rule_h, &Ok(()), name);
                findings.check(of_core, || format!("{name}: tgm_core finds a wrong digest"));
            } else if let Some(missing) = recorded_missing(expected) {
                findings.count("strict: no digest, as recorded");
                findings.equal(&strict, &Err(missing.clone()), &format!("{name} strict"));
                let is_old =
                    view.frames().all(|frame| !frame.unwrap().has_hash_flag()) && view.flags().bits() & 0x80 != 0;
                findings.equal(&view.hash_presence().unwrap(), &presence(is_old, &view), &format!("{name} presence"));
                let by_rule = if is_old { Ok(()) } else { Err(missing) };
                findings.equal(&by_rule_h, &by_rule, &format!("{name} by Rule H"));
                if is_old {
                    findings.count("verified by Rule H, where the reference finds no digest");
                    let all = view.verify(HashPresence::All).all(|frame| frame.unwrap().verdict == Verdict::Good);
                    findings.check(all, || format!("{name}: tgm_core finds a wrong digest"));
                }
            }
        }
    }
    findings.finish("digests");
    assert!(findings.of("verified, as recorded") >= 300);
    assert!(findings.of("verified by Rule H, where the reference finds no digest") >= 100);
}

fn presence(is_old: bool, view: &Message<'_>) -> HashPresence {
    let any_flagged = view.frames().any(|frame| frame.unwrap().has_hash_flag());
    match (is_old, any_flagged) {
        (true, _) => HashPresence::All,
        (false, true) => HashPresence::Flagged,
        (false, false) => HashPresence::Absent,
    }
}

fn recorded_missing(expected: &Json) -> Option<String> {
    let text = expected["message"].as_str()?;
    text.starts_with("MissingHash").then(|| text.split(';').next().unwrap().to_owned())
}

#[test]
fn version_2_is_refused_by_its_number() {
    let mut checked = 0;
    for sample in corpus::samples_where(false).into_iter().filter(|sample| sample.class == "v2") {
        let default = DecodeOptions::default();
        let errors = [
            tgm_std::decode(&sample.bytes, &default).map(drop),
            tgm_std::decode_metadata(&sample.bytes).map(drop),
            tgm_std::decode_descriptors(&sample.bytes).map(drop),
            tgm_std::decode_object(&sample.bytes, 0, &default).map(drop),
            tgm_std::decode_range(&sample.bytes, 0, &[(0, 1)], &default).map(drop),
            tgm_std::decode_with_masks(&sample.bytes, &default).map(drop),
            Message::parse(&sample.bytes).map(drop).map_err(Into::into),
        ];
        for error in errors {
            let error = error.expect_err(&sample.name);
            assert!(error.to_string().contains("unsupported message version 2"), "{}: {error}", sample.name);
            assert!(matches!(error, TensogramError::Framing(_)), "{}: {error}", sample.name);
        }
        assert_eq!(tgm_std::scan(&sample.bytes), extents(&sample.json["scan"]), "{}", sample.name);
        checked += 1;
    }
    assert!(checked >= 12);
}
