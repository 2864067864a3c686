//! Local files as sources.

#[cfg(feature = "async")]
use tgm_std::read::{AsyncLocalFile, AsyncRangeFetch as _};
use tgm_std::read::{FetchErrorKind, Fetched, LocalFile, RangeFetch, Want};

fn bytes() -> Vec<u8> {
    (0..=99).collect()
}

fn check(source: &dyn RangeFetch) {
    let fetch = |want: Want| {
        let Fetched { offset, bytes, size, .. } = source.fetch(&want, None).unwrap();
        (offset, bytes, size)
    };
    assert_eq!(fetch(Want::At(3..6)), (3, vec![3, 4, 5], Some(100)));
    assert_eq!(fetch(Want::At(98..1 << 40)), (98, vec![98, 99], Some(100)));
    assert!(fetch(Want::At(200..300)).1.is_empty());
    #[allow(clippy::reversed_empty_ranges, reason = "what a defect may ask for")]
    let reversed = Want::At(7..3);
    assert!(fetch(reversed).1.is_empty());
    assert_eq!(fetch(Want::Suffix(2)), (98, vec![98, 99], Some(100)));
    assert_eq!(fetch(Want::Suffix(1000)), (0, bytes(), Some(100)));
    assert_eq!(fetch(Want::Suffix(0)), (100, Vec::new(), Some(100)));
    assert_eq!(source.traits().size, Some(100));
}

#[test]
fn a_file_answers_with_what_it_has() {
    let path = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(path.path(), bytes()).unwrap();
    check(&LocalFile::open(path.path()).unwrap());
}

#[test]
fn errors_name_the_path() {
    let error = LocalFile::open("/no/such/file").unwrap_err();
    assert_eq!(error.kind(), FetchErrorKind::NotFound);
    assert!(error.to_string().starts_with("/no/such/file: "), "{error}");
}

#[cfg(feature = "async")]
#[test]
fn a_file_is_read_on_any_runtime_and_on_none() {
    let path = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(path.path(), bytes()).unwrap();
    let file = AsyncLocalFile::new(LocalFile::open(path.path()).unwrap());
    let want = Want::At(3..6);
    let expected = Ok(Fetched { offset: 3, bytes: vec![3, 4, 5], size: Some(100), tag: None });
    let run = |mut builder: tokio::runtime::Builder| builder.build().unwrap().block_on(file.fetch(&want, None));
    assert_eq!(run(tokio::runtime::Builder::new_current_thread()), expected);
    #[cfg(feature = "remote")]
    assert_eq!(run(tokio::runtime::Builder::new_multi_thread()), expected);
    let mut read = file.fetch(&want, None);
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert_eq!(read.as_mut().poll(&mut cx), std::task::Poll::Ready(expected));
}
