//! Tests of blobs: loose, packed, as deltas and from alternates.

use std::io::Write;

use super::*;
use crate::content::archive::sandbox::{Leaving, Sandbox, noise};

const LARGE: usize = 6 << 20;

fn read(sandbox: &Sandbox, id: gix::ObjectId) -> Result<Vec<u8>, GitError> {
    let mut bytes = Vec::new();
    write(&sandbox.open(), id, &mut bytes).map(|()| bytes)
}

#[test]
fn loose_files_are_written() {
    let sandbox = Sandbox::new();
    for content in [b"".to_vec(), b"small\n".to_vec(), noise(LARGE), vec![b'x'; LARGE]] {
        let id = sandbox.blob(&content);
        assert!(read(&sandbox, id).expect("a file") == content, "{} bytes", content.len());
    }
}

#[test]
fn packed_files_are_written() {
    packed_file_is_written(LARGE);
}

#[test]
fn large_files_that_another_git_stored_as_deltas_are_written() {
    packed_file_is_written(LARGEST_DELTA as usize + 1);
}

fn packed_file_is_written(size: usize) {
    let sandbox = Sandbox::new();
    let whole = noise(size);
    // Almost the same content, so that git stores one of the two as a delta of the other.
    let mut other = whole.clone();
    other[100..105].copy_from_slice(b"other");
    sandbox.file("whole", &whole);
    sandbox.file("other", &other);
    sandbox.file("small", "small\n");
    sandbox.commit("Add files");
    sandbox.git(&["repack", "-adq", "--depth=1", "--window=10"]);
    let repo = sandbox.open();
    let mut deltas = 0;
    for (name, content) in [("whole", &whole), ("other", &other), ("small", &b"small\n".to_vec())] {
        let id = sandbox.line(&["rev-parse", &format!("HEAD:{name}")]);
        let id = gix::ObjectId::from_hex(id.as_bytes()).expect("a name");
        assert!(!sandbox.loose(id).exists(), "{name} is in the pack");
        assert!(read(&sandbox, id).expect("a file") == *content, "{name}");
        deltas += u32::from(StoredBlob::find(&repo, id).expect("found").delta);
    }
    assert_eq!(deltas, 1, "both ways were taken");
}

#[test]
fn borrowed_files_are_written() {
    let source = Sandbox::new();
    let content = noise(LARGE);
    let id = source.blob(&content);
    let sandbox = Sandbox::new();
    let objects = source.path().join(".git/objects");
    sandbox.file(".git/objects/info/alternates", format!("{}\n", objects.display()));
    assert!(read(&sandbox, id).expect("a file") == content);
}

#[test]
fn large_files_come_in_small_pieces() {
    struct Pieces(usize, usize);
    impl Write for Pieces {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.max(bytes.len());
            self.1 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let sandbox = Sandbox::new();
    sandbox.file("large", vec![b'x'; 40 << 20]);
    sandbox.commit("Add a file");
    let id = sandbox.line(&["rev-parse", "HEAD:large"]);
    let id = gix::ObjectId::from_hex(id.as_bytes()).expect("a name");
    for packed in [false, true] {
        if packed {
            sandbox.git(&["repack", "-adq"]);
        }
        let mut pieces = Pieces(0, 0);
        write(&sandbox.open(), id, &mut pieces).expect("a file");
        assert!(pieces.0 <= PIECE, "{} bytes at once", pieces.0);
        assert_eq!(pieces.1, 40 << 20);
    }
}

#[test]
fn what_is_no_file_is_missing() {
    let sandbox = Sandbox::new();
    sandbox.file("a", "a");
    sandbox.commit("Add a file");
    let unknown = "1".repeat(40);
    let tree = sandbox.line(&["rev-parse", "HEAD^{tree}"]);
    let commit = sandbox.line(&["rev-parse", "HEAD"]);
    for name in [unknown, tree, commit] {
        let id = gix::ObjectId::from_hex(name.as_bytes()).expect("a name");
        let error = read(&sandbox, id).expect_err("no file");
        assert!(matches!(error, GitError::Missing), "{name}: {error}");
    }
}

#[test]
fn damaged_files_are_reported() {
    for (size, packed) in [(100, false), (LARGE, false), (100, true), (LARGE, true)] {
        for cut in [false, true] {
            let sandbox = Sandbox::new();
            sandbox.file("a", noise(size));
            sandbox.commit("Add a file");
            let id = sandbox.line(&["rev-parse", "HEAD:a"]);
            let id = gix::ObjectId::from_hex(id.as_bytes()).expect("a name");
            let path = if packed {
                sandbox.git(&["repack", "-adq"]);
                let folder = sandbox.path().join(".git/objects/pack");
                let files = folder.read_dir().expect("packs").flatten().map(|file| file.path());
                files.into_iter().find(|path| path.extension().is_some_and(|e| e == "pack"))
            } else {
                Some(sandbox.loose(id))
            };
            let path = path.expect("a file");
            let mut bytes = std::fs::read(&path).expect("read");
            if cut && !packed {
                bytes.truncate(bytes.len() - 30);
            } else {
                // Overwrites two places after the headers, so that the entry of the blob is hit.
                let middle = bytes.len() / 2;
                bytes[middle..middle + 20].fill(0xff);
                let end = bytes.len() - 60;
                bytes[end..end + 20].fill(0xff);
            }
            std::fs::remove_file(&path).expect("removed");
            std::fs::write(&path, bytes).expect("written");
            let error = read(&sandbox, id).expect_err("damaged");
            assert!(matches!(error, GitError::Corrupt(_)), "{size} {packed} {cut}: {error:?}");
        }
    }
}

#[test]
fn readers_may_leave() {
    let sandbox = Sandbox::new();
    for size in [1000, LARGE] {
        let id = sandbox.blob(&noise(size));
        let error = write(&sandbox.open(), id, &mut Leaving(size / 2)).expect_err("gone");
        assert!(matches!(error, GitError::ReaderGone(_)), "{error:?}");
    }
}
