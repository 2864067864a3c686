//! Nothing: the test is what is built here.
