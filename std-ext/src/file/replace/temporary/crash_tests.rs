//! Crashes of the system while a file is replaced: its name leads to the old content or to the new one, whole.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use tgm_disk::{Crash, Step};

use super::*;

/// Bytes that a disk writes at once.
const SECTOR: usize = 512;

/// Carries the steps out and keeps them. Files are known by their numbers.
#[derive(Default)]
struct Recorder {
    events: RefCell<Vec<Event>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Event {
    /// What was done to a file.
    File(u64, Step),
    /// A name leads to a file.
    Name(PathBuf, u64),
    /// The wait for the names.
    SyncNames,
}

impl Recorder {
    /// Keeps the content that the file has now. It was written before, and nothing waited for it.
    fn see(&self, file: &File) -> u64 {
        let metadata = file.metadata().unwrap();
        let mut bytes = vec![0; usize::try_from(metadata.len()).unwrap()];
        file.read_exact_at(&mut bytes, 0).unwrap();
        let event = Event::File(metadata.ino(), Step::Write { offset: 0, bytes });
        let is_known = self.events.borrow().contains(&event);
        if !is_known {
            self.add(event);
        }
        metadata.ino()
    }

    fn add(&self, event: Event) {
        self.events.borrow_mut().push(event);
    }
}

impl Steps for Recorder {
    fn sync(&self, file: &File) -> io::Result<()> {
        let number = self.see(file);
        OnDisk.sync(file)?;
        self.add(Event::File(number, Step::Sync));
        Ok(())
    }

    fn link(&self, file: &File, name: &Path) -> io::Result<()> {
        let number = self.see(file);
        OnDisk.link(file, name)?;
        self.add(Event::Name(name.to_path_buf(), number));
        Ok(())
    }

    fn rename(&self, file: &File, from: &Path, to: &Path) -> io::Result<()> {
        let number = self.see(file);
        OnDisk.rename(file, from, to)?;
        self.add(Event::Name(to.to_path_buf(), number));
        Ok(())
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        OnDisk.sync_directory(directory)?;
        self.add(Event::SyncNames);
        Ok(())
    }
}

/// All that may be at `path` after a crash after `events`. `old` is what was there before.
fn left(events: &[Event], path: &Path, old: Option<&[u8]>) -> Vec<Option<Vec<u8>>> {
    // The name may lead to each file that it led to since the last wait for names. `None` is the old file.
    let (mut files, mut steps): (Vec<Option<u64>>, BTreeMap<u64, Vec<Step>>) = (vec![None], BTreeMap::new());
    for event in events {
        match event {
            Event::File(number, step) => steps.entry(*number).or_default().push(step.clone()),
            Event::Name(name, number) if name == path => files.push(Some(*number)),
            Event::Name(..) => {}
            Event::SyncNames => drop(files.drain(..files.len() - 1)),
        }
    }
    let contents = |file: Option<u64>| match file {
        None => vec![old.map(<[u8]>::to_vec)],
        Some(number) => Crash::after(&[], &steps[&number], SECTOR).states().map(Some).collect(),
    };
    files.into_iter().flat_map(contents).collect()
}

#[test]
fn a_crash_leaves_the_old_file_or_the_new_one_whole() {
    let place = std::env::temp_dir().join(random_name().unwrap());
    fs::create_dir(&place).unwrap();
    let path = place.join("file");
    let new: Vec<u8> = (0..2500_u32).map(|at| (at / 7).to_le_bytes()[0]).collect();
    for old in [None, Some(&b"what was there before"[..])] {
        for (is_named, is_copied) in [(false, false), (true, false), (false, true)] {
            let _ = fs::remove_file(&path);
            if let Some(old) = old {
                fs::write(&path, old).unwrap();
            }
            let made = if is_named { Temporary::named(&place, None) } else { Temporary::new(&place, None) }.unwrap();
            io::Write::write_all(&mut made.file(), &new).unwrap();
            let recorder = Recorder::default();
            let made = if is_copied { made.copy(&recorder).unwrap() } else { made };
            made.put_at_by(&recorder, &path).unwrap();
            let events = recorder.events.into_inner();
            for at in 0..=events.len() {
                for found in left(&events[..at], &path, old) {
                    assert!(
                        found.as_deref() == old || found.as_deref() == Some(&*new),
                        "torn after {:?}",
                        &events[at - 1]
                    );
                }
            }
            assert_eq!(left(&events, &path, old), [Some(new.clone())], "it is there when the call returns");
        }
    }
    fs::remove_dir_all(place).unwrap();
}
