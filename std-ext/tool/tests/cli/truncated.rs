//! Files that are truncated while the tool reads them.

use std::fs::{self, File};
use std::io::Read;
use std::process::Stdio;

use crate::corpus::data;
use crate::tool::command;

/// Number of messages in the file. The tool's output for them is much larger than a pipe and its buffers, and the file
/// is much larger than what the tool reads at once.
const MESSAGES: usize = 8000;

/// The tool prints into a pipe that is not read. So it waits, with most of the file unread, until the file is
/// truncated.
#[test]
fn a_file_that_is_truncated_while_it_is_read_is_an_error() {
    let message = fs::read(data("dtypes/float32-big.tgm")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for line in ["ls --json", "dump --json", "get --json -p version", "digest --json", "verify --json", "frames --json"]
    {
        fs::write(&path, message.repeat(MESSAGES)).unwrap();
        let words = line.split(' ').map(Into::into).chain([path.clone().into_os_string()]);
        let mut child = command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        // By now the tool knows the positions of the messages.
        let mut first = [0; 100];
        stdout.read_exact(&mut first).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(message.len() as u64).unwrap();
        let mut text = first.to_vec();
        stdout.read_to_end(&mut text).unwrap();
        drop(stdout);
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}: {stderr}");
        assert!(stderr.contains("the file was truncated while it was read"), "{line}: {stderr}");
        assert!(stderr.contains("messages after it were not read"), "{line}: {stderr}");
        serde_json::from_slice::<serde_json::Value>(&text).unwrap();
    }
}
