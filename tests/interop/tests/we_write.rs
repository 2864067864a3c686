//! Both libraries read alike what we write, the reference's validation finds no fault in it, and the reference writes
//! the same bytes.

use std::cell::Cell;
use std::collections::BTreeMap;

use proptest::test_runner::TestCaseError;
use tgm_interop::case::Case;
use tgm_interop::plain::Answer;
use tgm_interop::{agree, known, ours, reference, strategy, try_cases};
use tgm_std::core::Message;

type Write = fn(&Case, &[Vec<u8>]) -> Answer<Vec<u8>>;
type WriteWith = fn(&Case, &[Vec<u8>], &tgm_std::EncodeOptions) -> Answer<Vec<u8>>;

/// Descriptor and payload region of an object.
fn object_bytes(message: &[u8], index: usize) -> (&[u8], &[u8]) {
    let object = Message::parse(message).and_then(|message| message.object(index)).expect("both could read it");
    (object.descriptor().as_encoded(), object.region())
}

/// Writes cases both ways and compares.
fn written_and_read(reference: Write, ours: WriteWith) {
    let (tried, written, equal) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let other = std::cell::RefCell::new(BTreeMap::<&str, u32>::new());
    try_cases(&strategy::cases(), |case| {
        let case = case.streamable();
        tried.set(tried.get() + 1);
        let data = case.data();
        let theirs = reference(&case, &data);
        let options = match &theirs {
            Ok(theirs) => ours::options_as(&case, ours::provenance(theirs)),
            Err(_) => ours::options(&case.options),
        };
        let Ok(mine) = ours(&case, &data, &options) else { return Ok(()) };
        written.set(written.get() + 1);
        agree::on_message(&case, &mine)?;
        let mut objects = case.objects.iter().enumerate();
        if let Some((index, _)) = objects.find(|(index, object)| !known::keeps_bound(object, &mine, *index)) {
            return Err(TestCaseError::fail(format!("object {index} is beyond its error bound")));
        }
        let complaints = reference::complaints(&mine, case.options.hashing);
        if !complaints.is_empty() {
            return Err(TestCaseError::fail(format!("the reference finds: {complaints:?}")));
        }
        let Ok(theirs) = theirs else { return Ok(()) };
        if mine == theirs {
            equal.set(equal.get() + 1);
            return Ok(());
        }
        let at = mine.iter().zip(&theirs).position(|(a, b)| a != b);
        let lens = (mine.len(), theirs.len());
        let mut reason = None;
        for (index, object) in case.objects.iter().enumerate() {
            let (mine, theirs_object) = (object_bytes(&mine, index), object_bytes(&theirs, index));
            match known::bytes(object, &theirs, index) {
                _ if mine == theirs_object => {}
                // This reason explains another list of offsets, and no other payload.
                Some(known::OFFSETS) if mine.1 != theirs_object.1 => reason = None,
                Some(known) => reason = Some(known),
                None => return Err(TestCaseError::fail(format!("object {index} has other bytes"))),
            }
        }
        match reason {
            Some(reason) => *other.borrow_mut().entry(reason).or_default() += 1,
            None => return Err(TestCaseError::fail(format!("other bytes from {at:?} on, of {lens:?}"))),
        }
        Ok(())
    });
    let (tried, written, equal) = (tried.get(), written.get(), equal.get());
    println!("{written} of {tried} cases written, {equal} in the reference's bytes, others: {:?}", other.borrow());
    assert!(written * 5 > tried, "too few cases could be written");
}

#[test]
fn buffered_messages_are_those_of_the_reference() {
    written_and_read(reference::encode, ours::encode_with);
}

#[test]
fn streamed_messages_are_those_of_the_reference() {
    written_and_read(reference::stream, ours::stream_with);
}

#[test]
fn pre_encoded_messages_are_those_of_the_reference() {
    written_and_read(
        |case, data| {
            let encoded = reference::encode(case, data)?;
            reference::rewrite(case, &encoded, &reference::options(&case.options))
        },
        |case, data, options| {
            // Both get the regions of the reference: only the message around them is compared.
            let encoded = reference::encode(case, data)?;
            ours::rewrite(case, &encoded, options)
        },
    );
}

/// The reference never writes descriptors first, so only the answers are compared.
#[test]
fn messages_with_descriptors_first_are_read_alike() {
    let written = Cell::new(0);
    try_cases(&strategy::cases(), |case| {
        let case = case.streamable();
        let options = tgm_std::EncodeOptions { descriptor_first: true, ..ours::options(&case.options) };
        for write in [ours::encode_with, ours::stream_with] {
            let Ok(mine) = write(&case, &case.data(), &options) else { continue };
            written.set(written.get() + 1);
            agree::on_message(&case, &mine)?;
            let complaints = reference::complaints(&mine, case.options.hashing);
            if !complaints.is_empty() {
                return Err(TestCaseError::fail(format!("the reference finds: {complaints:?}")));
            }
        }
        Ok(())
    });
    assert!(written.get() > 0, "no case could be written");
}
