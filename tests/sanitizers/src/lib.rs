//! Empty: this package only builds a test.
