//! Tests of the archive cache: hits, eviction and failures.

use std::io;
use std::path::Path;
use std::sync::mpsc;

use hexforge_domain::commit::ObjectId;
use hexforge_domain::limiter::PermitLimits;
use hexforge_domain::repository::ArchiveFormat;
use tempfile::NamedTempFile;

use super::*;
use crate::block::wait_for;
use crate::content::archive::sandbox::Leaving;

const PROJECT: ProjectId = ProjectId(7);

fn archive(folder: &str) -> Archive {
    Archive {
        commit: ObjectId::from_bytes([1; 20]),
        format: ArchiveFormat::TarGz,
        folder: folder.to_owned(),
    }
}

fn files(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Requests an archive with these bytes. Returns whether it had to be made.
fn ask(cache: &ArchiveCache, archive: &Archive, bytes: &[u8]) -> bool {
    let mut made = false;
    let mut got = Vec::new();
    let make = |to: &mut dyn Write| {
        made = true;
        to.write_all(bytes).map_err(reader_gone)?;
        Ok(Cacheable::Yes)
    };
    cache.write((PROJECT, Caller::BACKGROUND), archive, &mut got, make).expect("an archive");
    assert_eq!(got, bytes);
    made
}

#[test]
fn archives_are_made_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("deep/archives");
    let cache = ArchiveCache::new(place.clone(), BUDGET);
    assert!(ask(&cache, &archive("a"), b"one"));
    assert!(!ask(&cache, &archive("a"), b"one"));
    // Another process shares the folder.
    let other = ArchiveCache::new(place.clone(), BUDGET);
    assert!(!ask(&other, &archive("a"), b"one"));
    assert_eq!(files(&place).len(), 1);
}

#[test]
fn each_archive_is_kept_for_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = ArchiveCache::new(folder.path().to_owned(), BUDGET);
    let first = archive("../../a");
    let others = [
        Archive { commit: ObjectId::from_bytes([2; 20]), ..first.clone() },
        Archive { format: ArchiveFormat::Zip, ..first.clone() },
        Archive { format: ArchiveFormat::Tar, ..first.clone() },
        archive("b"),
    ];
    assert!(ask(&cache, &first, b"first"));
    for (number, other) in others.iter().enumerate() {
        assert!(ask(&cache, other, format!("{number}").as_bytes()), "{other:?}");
    }
    assert!(!ask(&cache, &first, b"first"));
    for name in files(folder.path()) {
        let hash = name.strip_prefix("7-").expect("the project");
        assert!(hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
    }
    let mut made = false;
    cache
        .write((ProjectId(8), Caller::BACKGROUND), &first, &mut Vec::new(), |_| {
            made = true;
            Ok(Cacheable::Yes)
        })
        .expect("an archive");
    assert!(made, "of another project");
    cache.forget(PROJECT);
    let left = files(folder.path());
    assert!(left.len() == 1 && left[0].starts_with("8-"), "{left:?}");
}

#[test]
fn what_was_not_asked_for_goes_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = ArchiveCache::new(folder.path().to_owned(), 250);
    let bytes = [b'x'; 100];
    let pause = || std::thread::sleep(Duration::from_millis(20));
    ask(&cache, &archive("a"), &bytes);
    pause();
    ask(&cache, &archive("b"), &bytes);
    pause();
    assert!(!ask(&cache, &archive("a"), &bytes));
    pause();
    ask(&cache, &archive("c"), &bytes);
    pause();
    assert!(!ask(&cache, &archive("a"), &bytes), "it was asked for after b");
    assert!(!ask(&cache, &archive("c"), &bytes));
    assert!(ask(&cache, &archive("b"), &bytes));
}

#[test]
fn what_is_too_large_is_not_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = ArchiveCache::new(folder.path().to_owned(), 250);
    ask(&cache, &archive("a"), &[b'x'; 100]);
    assert!(ask(&cache, &archive("b"), &[b'x'; 251]));
    assert!(ask(&cache, &archive("b"), &[b'x'; 251]));
    assert!(!ask(&cache, &archive("a"), &[b'x'; 100]), "it need not go for that");
}

#[test]
fn what_does_not_last_is_not_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = ArchiveCache::new(folder.path().to_owned(), BUDGET);
    cache
        .write((PROJECT, Caller::BACKGROUND), &archive("a"), &mut Vec::new(), |_| Ok(Cacheable::No))
        .expect("made");
    assert_eq!(files(folder.path()), Vec::<String>::new());
}

#[test]
fn failures_leave_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = ArchiveCache::new(folder.path().to_owned(), BUDGET);
    let gone = cache.write((PROJECT, Caller::BACKGROUND), &archive("a"), &mut Leaving(10), |to| {
        to.write_all(&[b'x'; 10]).map_err(reader_gone)?;
        to.write_all(&[b'x'; 10]).map_err(reader_gone)?;
        Ok(Cacheable::Yes)
    });
    assert!(matches!(gone, Err(GitError::ReaderGone(_))));
    let failed = cache.write((PROJECT, Caller::BACKGROUND), &archive("a"), &mut Vec::new(), |to| {
        to.write_all(b"half").map_err(reader_gone)?;
        Err(GitError::Corrupt("x".to_owned()))
    });
    assert!(matches!(failed, Err(GitError::Corrupt(_))));
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        cache.write((PROJECT, Caller::BACKGROUND), &archive("a"), &mut Vec::new(), |_| {
            panic!("on purpose")
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(files(folder.path()), Vec::<String>::new());
    assert!(ask(&cache, &archive("a"), b"whole"), "the only place is free again");
}

#[test]
fn archives_are_made_where_none_can_be_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let blocked = folder.path().join("a file");
    std::fs::write(&blocked, "").expect("written");
    let cache = ArchiveCache::new(blocked.join("archives"), BUDGET);
    assert!(ask(&cache, &archive("a"), b"bytes"));
    assert!(ask(&cache, &archive("a"), b"bytes"));
}

#[test]
fn a_full_disk_ends_the_copy_only() {
    // A device on which every write fails because the disk is full.
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (_, path) = tempfile::NamedTempFile::new_in(folder.path()).expect("a file").into_parts();
    let full = NamedTempFile::from_parts(full, path);
    let mut got = Vec::new();
    let pool = block::processor_permits();
    let processors = Processors { pool: &pool, caller: Caller::BACKGROUND };
    let mut copying =
        CopyingWriter::new(&mut got, Some(full), BUDGET, processors).expect("one is free");
    copying.write_all(b"first, ").expect("handed on");
    copying.write_all(b"second").expect("handed on");
    assert!(copying.finish().is_none(), "there is no whole copy");
    assert_eq!(got, b"first, second");
    assert_eq!(files(folder.path()), Vec::<String>::new());
}

#[test]
fn bytes_are_handed_on_while_they_are_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = ArchiveCache::new(folder.path().to_owned(), BUDGET);
    let (sender, receiver) = mpsc::channel();
    struct Sending(mpsc::Sender<Vec<u8>>);
    impl Write for Sending {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.send(bytes.to_vec()).map_err(|_| io::ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    cache
        .write((PROJECT, Caller::BACKGROUND), &archive("a"), &mut Sending(sender), |to| {
            to.write_all(b"first").map_err(reader_gone)?;
            assert_eq!(receiver.try_recv().expect("already there"), b"first");
            Ok(Cacheable::Yes)
        })
        .expect("an archive");
}

#[test]
fn a_reader_that_is_waited_for_holds_up_no_other() {
    /// Returns whether another caller gets the only permit.
    fn is_free(pool: &PermitPool) -> bool {
        wait_for(&mut pool.wait_for_permit(Caller::BACKGROUND), Duration::from_millis(20)).is_some()
    }
    /// A client during whose reads other callers try to get the permit.
    struct Slow<'a>(&'a PermitPool, usize);
    impl Write for Slow<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1 += usize::from(is_free(self.0));
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let pool = PermitPool::new(PermitLimits { total: 1, per_holder: 1, per_network: 1 });
    let mut slow = Slow(&pool, 0);
    let processors = Processors { pool: &pool, caller: Caller::BACKGROUND };
    let mut copying = CopyingWriter::new(&mut slow, None, BUDGET, processors).expect("one is free");
    assert!(!is_free(&pool), "it is at work");
    copying.write_all(b"first").expect("handed on");
    copying.write_all(b"second").expect("handed on");
    assert!(!is_free(&pool), "it is at work again");
    drop(copying);
    assert_eq!(slow.1, 2);
    assert!(is_free(&pool), "it is done");
}

#[test]
fn what_a_dead_process_left_behind_is_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let day = Duration::from_secs(24 * 60 * 60);
    for (name, age) in [("unfinished-old", day * 2), ("unfinished-new", day / 2)] {
        let file = File::create(folder.path().join(name)).expect("a file");
        file.set_modified(SystemTime::now() - age).expect("set");
    }
    let cache = ArchiveCache::new(folder.path().to_owned(), BUDGET);
    ask(&cache, &archive("a"), b"bytes");
    let left = files(folder.path());
    assert!(left.contains(&"unfinished-new".to_owned()), "{left:?}");
    assert_eq!(left.len(), 2, "{left:?}");
}
