//! Where the files of a tree lie, and how they are read.

use std::path::{Path, PathBuf};

use tgm_std::Result;
use tgm_std::file::is_remote_url;
use tgm_std::internal::identity_at;

use crate::{bad, bytes};

/// Files that are read side by side from a server.
const SIDE_BY_SIDE: usize = 32;

/// What is known of a file without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// It is there. The bytes say which file it is, and in which state.
    Is(Vec<u8>),
    /// It is not there.
    Missing,
    /// That takes a request.
    NotAsked,
}

/// The files of a tree: in a folder, at an address, or made up by a test. Names are as the tree has them.
pub trait Files: Sync {
    /// All bytes of a file.
    ///
    /// # Errors
    /// The errors of reading; [`tgm_std::TensogramError::Metadata`] for a file of more than `most` bytes.
    fn read(&self, name: &str, most: u64) -> Result<Vec<u8>>;

    /// What is known of a file without a request.
    fn state(&self, name: &str) -> State;

    /// The path or the address of a file.
    fn path(&self, name: &str) -> PathBuf;

    /// The same, where another tree has the names.
    fn beside(&self, tree: &str) -> Box<dyn Files + '_>;

    /// How many files are best read at the same time.
    fn side_by_side(&self) -> usize;
}

/// The folder that a tree lies in, on this machine or at an address.
#[derive(Clone, Debug)]
pub struct Folder {
    /// What stands before names.
    start: PathBuf,
    /// What stands after names of an address.
    query: String,
    is_distant: bool,
}

impl Folder {
    /// The folder of the tree at a path or an address. What follows `?` in an address is used for all files of the folder.
    pub fn of_tree(tree: &Path) -> Self {
        let address = tree.to_str().filter(|text| is_remote_url(text));
        let Some(address) = address else {
            let start = tree.parent().map(Path::to_path_buf).unwrap_or_default();
            return Self { start, query: String::new(), is_distant: false };
        };
        let address = address.split_once('#').map_or(address, |(address, _)| address);
        let (path, query) =
            address.split_once('?').map_or((address, String::new()), |(path, query)| (path, format!("?{query}")));
        let folder = path.rsplit_once('/').map_or(path, |(folder, _)| folder);
        Self { start: folder.into(), query, is_distant: true }
    }
}

impl Files for Folder {
    fn read(&self, name: &str, most: u64) -> Result<Vec<u8>> {
        read(&self.path(name), most)
    }

    fn state(&self, name: &str) -> State {
        if self.is_distant {
            return State::NotAsked;
        }
        identity_at(&self.path(name)).map_or(State::Missing, State::Is)
    }

    fn path(&self, name: &str) -> PathBuf {
        if !self.is_distant {
            return self.start.join(name);
        }
        format!("{}/{}{}", self.start.display(), in_address(name), self.query).into()
    }

    fn beside(&self, tree: &str) -> Box<dyn Files + '_> {
        Box::new(Self::of_tree(&self.path(tree)))
    }

    fn side_by_side(&self) -> usize {
        if self.is_distant { SIDE_BY_SIDE } else { std::thread::available_parallelism().map_or(1, usize::from) }
    }
}

/// A name as a part of an address. What a parser of addresses could take for something else is encoded, so that the name stands
/// below what stands before it, whatever is in it.
fn in_address(name: &str) -> String {
    let is_kept = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=@".contains(&byte);
    let written = |byte: u8| if is_kept(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.bytes().map(written).collect()
}

/// All bytes of a file at a path or an address.
///
/// # Errors
/// As [`Files::read`].
pub(super) fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    bytes::read(path, |len| if len > most { Err(bad(format!("it has more than {most} bytes"))) } else { Ok(()) })
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::super::child::check_name;
    use super::*;

    /// The folder of a tree at an address, with a signature.
    fn folder() -> Folder {
        Folder::of_tree(Path::new("https://host/secret/data/all.tree?sig=s3cret"))
    }

    fn decoded(text: &str) -> Vec<u8> {
        let mut parts = text.split('%');
        let mut bytes = parts.next().unwrap().as_bytes().to_vec();
        for part in parts {
            bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
            bytes.extend(part[2..].bytes());
        }
        bytes
    }

    /// Every name that passes the check is asked for below the folder, and as it is.
    #[test]
    fn a_name_stays_below_the_folder_when_its_address_is_parsed() {
        let pieces = [
            "a", ".", "..", "%2e", "%2E.", "%2f", "%5c", "%09", "%00", "\\", "/", ":", "?", "#", "@", " ", "é", ";",
            "%",
        ];
        let controls = (0..=0x9f_u32).filter_map(char::from_u32).filter(|it| it.is_control()).map(String::from);
        let pieces: Vec<String> = pieces.map(String::from).into_iter().chain(controls).collect();
        let (mut passed, mut refused) = (0, 0);
        for a in &pieces {
            for b in &pieces {
                for c in ["", ".", "..", "/..", "/x"] {
                    let name = format!("{a}{b}{c}");
                    if check_name(&name).is_err() {
                        refused += 1;
                        continue;
                    }
                    passed += 1;
                    let path = folder().path(&name);
                    let url = Url::parse(path.to_str().unwrap()).unwrap();
                    let below = url.path().strip_prefix("/secret/data/").expect(&name);
                    assert_eq!(decoded(below), name.as_bytes());
                    assert_eq!((url.host_str(), url.query(), url.fragment()), (Some("host"), Some("sig=s3cret"), None));
                }
            }
        }
        assert!(passed > 500 && refused > 5000, "{passed} {refused}");
    }

    /// What is encoded needs no check of names.
    #[test]
    fn an_address_hides_no_part_of_a_name() {
        for control in (0..=0x9f_u32).filter_map(char::from_u32).filter(|it| it.is_control()) {
            let name = format!("a/.{control}./.{control}./b");
            let path = folder().path(&name);
            assert!(Url::parse(path.to_str().unwrap()).unwrap().path().starts_with("/secret/data/a/"), "{name:?}");
        }
    }
}
