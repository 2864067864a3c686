//! Environment variables for decoding (FORMAT §4.1).

use crate::corpus::data;
use crate::tool::command;

fn digest(file: &str, variable: &str, value: &str) -> (bool, String) {
    let output = command(["digest".to_string(), data(file)]).env(variable, value).output().unwrap();
    (output.status.success(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_backend_that_there_is_not_is_an_error_where_it_is_asked() {
    for name in ["pure", "rust"] {
        assert!(digest("codecs/szip-high-ratio.tgm", "TENSOGRAM_COMPRESSION_BACKEND", name).0);
    }
    let (good, error) = digest("codecs/szip-high-ratio.tgm", "TENSOGRAM_COMPRESSION_BACKEND", "fortran");
    assert!(!good && error.contains("invalid TENSOGRAM_COMPRESSION_BACKEND value: fortran"), "{error}");
    assert!(digest("dtypes/float32-little.tgm", "TENSOGRAM_COMPRESSION_BACKEND", "fortran").0, "nothing to choose");
}

#[test]
fn a_number_of_threads_that_is_none_is_an_error() {
    for number in ["0", "1", "7"] {
        assert!(digest("multi/three.tgm", "TENSOGRAM_THREADS", number).0);
    }
    let (good, error) = digest("multi/three.tgm", "TENSOGRAM_THREADS", "many");
    assert!(!good && error.contains("invalid TENSOGRAM_THREADS value: many"), "{error}");
}
