//! Both libraries read alike the messages that we wrote with blosc2, and the reference writes the same objects.

use std::path::PathBuf;

use tgm_interop::{agree, reference, some_cases, strategy};
use tgm_std::core::Message;

/// Descriptor and region of each object. The message around them names its writer, and so differs.
fn objects(message: &[u8]) -> Vec<(&[u8], &[u8])> {
    let objects = Message::parse(message).expect("a message").objects();
    objects.map(|object| object.expect("an object")).map(|o| (o.descriptor().as_encoded(), o.region())).collect()
}

#[test]
#[ignore = "reads the folder TGM_INTEROP_BLOSC2, which the example write_blosc2 of the package above has filled"]
fn messages() {
    let folder = PathBuf::from(std::env::var_os("TGM_INTEROP_BLOSC2").expect("TGM_INTEROP_BLOSC2"));
    let (mut written, mut refused, mut equal) = (0, 0, 0);
    for (index, case) in some_cases(&strategy::cases_of(true)).enumerate() {
        let mine = std::fs::read(folder.join(format!("{index}.tgm"))).expect("a file for each case");
        let theirs = reference::encode(&case, &case.data());
        if mine.is_empty() {
            assert!(theirs.is_err(), "refused by us alone: {case:#?}");
            refused += 1;
            continue;
        }
        written += 1;
        agree::on_message(&case, &mine).unwrap_or_else(|error| panic!("{error}: {case:#?}"));
        let complaints = reference::complaints(&mine, case.options.hashing);
        assert!(complaints.is_empty(), "{complaints:?}: {case:#?}");
        let theirs = theirs.unwrap_or_else(|error| panic!("refused by the reference alone: {error:?}: {case:#?}"));
        if objects(&mine) == objects(&theirs) {
            equal += 1;
        } else {
            // blosclz is c-blosc2's own compressor, and changes from version to version.
            assert!(format!("{case:?}").contains("blosclz"), "other objects: {case:#?}");
        }
    }
    println!(
        "{written} messages, {equal} with the reference's objects, the rest compressed by blosclz; {refused} refused by both"
    );
    assert!(written > refused);
}
