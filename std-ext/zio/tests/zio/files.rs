//! `.zio` files.

use tgm_zio::{ErrorKind, Message, Parts, file};

use crate::vectors::{id, list, order, parts, unhex};

#[test]
fn rows_give_back_their_messages_and_bare_buffers_are_rows_of_one() {
    let vectors = list("valid.json", "vectors", 53);
    let mut row = Vec::new();
    for vector in &vectors {
        let parts = parts(vector);
        let message = Parts::of_message(&Message::from_parts(&parts, order(vector)).unwrap());
        file::write(&mut row, &message).unwrap();
        let bare = unhex(&vector["encoded"]);
        assert_eq!(file::messages(&bare).collect::<Vec<_>>(), [Ok((0, &bare[..]))], "{}", id(vector));
    }
    let found: Vec<_> = file::messages(&row).map(Result::unwrap).collect();
    assert_eq!(found.len(), vectors.len());
    for ((offset, message), vector) in found.iter().zip(&vectors) {
        assert_eq!(*message, unhex(&vector["encoded"]), "{}", id(vector));
        assert!(row[usize::try_from(*offset).unwrap()..].starts_with(message));
    }
    assert_eq!(file::messages(&[row.clone(), row.clone()].concat()).count(), 2 * vectors.len());
    let cut: Vec<_> = file::messages(&row[..row.len() - 1]).collect();
    assert_eq!(cut.len(), vectors.len());
    assert_eq!(cut.last().unwrap().unwrap_err().kind(), ErrorKind::TruncatedPart);
    assert_eq!(file::messages(&[]).count(), 0);
}
