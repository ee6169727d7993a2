//! Compares archives with those that git makes of the same commit.

mod attributes;
mod formats;
mod substitution;

use std::io::Read;

use hexforge_domain::commit::ObjectId;
use hexforge_domain::ports::git::GitError;

use super::sandbox::{Leaving, Sandbox, noise};
use super::*;

/// Asserts that our archive equals git's.
fn same_as_git(sandbox: &Sandbox, commit: ObjectId) {
    let ours = sandbox.archive(commit, ArchiveFormat::Tar);
    let theirs = sandbox.git_archive(commit, "tar");
    if ours != theirs {
        assert_eq!(listing(&ours), listing(&theirs));
        let at = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
        panic!("{} bytes and {}, differing at {at:?}", ours.len(), theirs.len());
    }
}

/// The entries of a tar archive, one line each.
fn listing(bytes: &[u8]) -> Vec<String> {
    let mut archive = ::tar::Archive::new(bytes);
    let entries = archive.entries().expect("a tar archive");
    let line = |entry: std::io::Result<::tar::Entry<'_, &[u8]>>| {
        let mut entry = entry.expect("an entry");
        let mut content = Vec::new();
        entry.read_to_end(&mut content).expect("read");
        let header = entry.header();
        format!(
            "{:?} {:o} {} {} {} {:?}",
            header.entry_type(),
            header.mode().expect("a mode"),
            header.mtime().expect("a time"),
            header.size().expect("a size"),
            String::from_utf8_lossy(&entry.path_bytes()),
            String::from_utf8_lossy(&content[..content.len().min(4000)]),
        )
    };
    entries.map(line).collect()
}

/// A commit with all kinds of entries.
fn everything() -> (Sandbox, ObjectId) {
    let sandbox = Sandbox::new();
    sandbox.file("readme.md", "Hello\n");
    sandbox.file("empty", "");
    sandbox.file("src/deep/er/main.rs", "fn main() {}\n");
    sandbox.file("src.txt", "between src and src/\n");
    sandbox.file("schön/größe.txt", "ü\n");
    sandbox.file("with space", "x\n");
    sandbox.file("binary", noise(100_000));
    sandbox.file("record", [b'r'; 512]);
    sandbox.file("script.sh", "#!/bin/sh\n");
    for (target, link) in [("readme.md", "link"), (&"t/".repeat(120), "long-link")] {
        std::os::unix::fs::symlink(target, sandbox.path().join(link)).expect("a link");
    }
    for length in [60, 90, 99, 100, 101, 150, 200] {
        let name = "n".repeat(length);
        sandbox.file(&format!("long/{name}"), &name);
        sandbox.file(&format!("{name}/{name}/file"), &name);
    }
    sandbox.file(&format!("{}end", "ten-bytes/".repeat(40)), "deep");
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["update-index", "--chmod=+x", "script.sh"]);
    let submodule = format!("160000,{},modules/one", "1".repeat(40));
    sandbox.git(&["update-index", "--add", "--cacheinfo", &submodule]);
    // `Sandbox::commit` would remove the submodule from the index.
    sandbox.git(&["commit", "--quiet", "-m", "Add everything"]);
    let commit = ObjectId::parse(&sandbox.line(&["rev-parse", "HEAD"])).expect("a name");
    (sandbox, commit)
}

#[test]
fn tar_is_byte_by_byte_as_git_makes_it() {
    let (sandbox, commit) = everything();
    same_as_git(&sandbox, commit);
    sandbox.git(&["gc", "--quiet", "--aggressive"]);
    same_as_git(&sandbox, commit);
}

#[test]
fn archives_end_at_the_end_of_a_block_as_in_git() {
    // Each entry takes one 512-byte record, so each archive ends at another record of its last block.
    let sandbox = Sandbox::new();
    for count in 0..24 {
        sandbox.file(&format!("file-{count}"), "");
        let commit = sandbox.commit("One more");
        same_as_git(&sandbox, commit);
    }
}

#[test]
fn a_commit_without_files_has_its_folder() {
    let sandbox = Sandbox::new();
    let commit = sandbox.commit("Nothing");
    same_as_git(&sandbox, commit);
}

#[test]
fn the_commit_can_be_read_from_the_archive() {
    let (sandbox, commit) = everything();
    let archive = sandbox.archive(commit, ArchiveFormat::Tar);
    let named = sandbox.git_with(&["get-tar-commit-id"], &archive);
    assert_eq!(named.trim_ascii(), commit.to_string().as_bytes());
}

#[test]
fn times_that_tar_cannot_say_are_said_elsewhere() {
    let sandbox = Sandbox::new();
    let tree = sandbox.line(&["write-tree"]);
    for seconds in ["9000000000", "1"] {
        let text = format!(
            "tree {tree}\nauthor a <b> {seconds} +0000\ncommitter a <b> {seconds} +0000\n\nx\n"
        );
        let name = sandbox.git_with(&["hash-object", "-wt", "commit", "--stdin"], text.as_bytes());
        let name = String::from_utf8(name).expect("text");
        same_as_git(&sandbox, ObjectId::parse(name.trim_end()).expect("a name"));
    }
}

#[test]
fn what_is_no_commit_is_missing() {
    let sandbox = Sandbox::new();
    sandbox.file("a", "a");
    sandbox.commit("Add a file");
    for revision in ["HEAD^{tree}", "HEAD:a"] {
        let commit = ObjectId::parse(&sandbox.line(&["rev-parse", revision])).expect("a name");
        let error = try_archive(&sandbox, commit, &mut Vec::new()).expect_err("no commit");
        assert!(matches!(error, GitError::Missing), "{error:?}");
    }
    let error = try_archive(&sandbox, ObjectId::ZERO, &mut Vec::new()).expect_err("no commit");
    assert!(matches!(error, GitError::Missing), "{error:?}");
}

#[test]
fn missing_files_are_damage() {
    let sandbox = Sandbox::new();
    sandbox.file("a", "a");
    let commit = sandbox.commit("Add a file");
    let id = sandbox.blob(b"a");
    std::fs::remove_file(sandbox.loose(id)).expect("removed");
    let error = try_archive(&sandbox, commit, &mut Vec::new()).expect_err("damaged");
    assert!(matches!(error, GitError::Corrupt(_)), "{error:?}");
}

#[test]
fn readers_may_leave() {
    let sandbox = Sandbox::new();
    sandbox.file("large", noise(6 << 20));
    let commit = sandbox.commit("Add a file");
    for bytes in [0, 5, 100_000, 5 << 20] {
        let error = try_archive(&sandbox, commit, &mut Leaving(bytes)).expect_err("gone");
        assert!(matches!(error, GitError::ReaderGone(_)), "{bytes}: {error:?}");
    }
}

#[test]
fn nothing_is_written_outside_of_the_folder() {
    let sandbox = Sandbox::new();
    let blob = sandbox.blob(b"x");
    let mut tree = Vec::new();
    for name in ["..", ".", "a/b", "good"] {
        tree.extend_from_slice(format!("100644 {name}\0").as_bytes());
        tree.extend_from_slice(blob.as_bytes());
    }
    let literally = ["hash-object", "-wt", "tree", "--literally", "--stdin"];
    let tree = String::from_utf8(sandbox.git_with(&literally, &tree)).expect("text");
    let commit = sandbox.line(&["commit-tree", "-m", "x", tree.trim_end()]);
    let commit = ObjectId::parse(&commit).expect("a name");
    let listing = listing(&sandbox.archive(commit, ArchiveFormat::Tar));
    assert_eq!(listing.len(), 3, "{listing:?}");
    assert!(listing[2].contains(" shop-master/good "), "{listing:?}");
}

fn try_archive(
    sandbox: &Sandbox,
    commit: ObjectId,
    to: &mut dyn Write,
) -> Result<Cacheable, GitError> {
    let format = ArchiveFormat::TarGz;
    let archive = Archive { commit, format, folder: "f".to_owned() };
    write(&sandbox.open(), &sandbox.refs(), &archive, to)
}
