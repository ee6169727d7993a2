//! Tests with the real git, which writes packs of every kind and indexes them for comparison.

mod made_up;

use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hexforge_domain::limiter::Caller;
use hexforge_domain::ports::git_transport::DisconnectSignal;

use super::*;
use crate::protocol::limits::{MemoryBudget, StopSignal};
use crate::support::{Random, Scratch, git_command};

/// Creates a history in which files grow, shrink, move and come back.
fn history(seed: u64) -> Scratch {
    let scratch = Scratch::new();
    let mut random = Random::new(seed);
    let mut lines: Vec<String> = (0..400).map(|line| format!("line {line}\n")).collect();
    for commit in 0..12 {
        for _ in 0..=random.below(6) {
            let at = random.below(lines.len());
            lines[at] = format!("{} of commit {commit}\n", random.below(1000));
        }
        scratch.write("a/long", lines.concat());
        scratch.write(format!("a/copy-{}", random.below(3)), lines[50..].concat());
        let noise: Vec<u8> = (0..random.below(3000)).map(|_| random.below(256) as u8).collect();
        scratch.write("noise", noise);
        scratch.commit(&format!("commit {commit}"));
        if commit % 5 == 0 {
            scratch.git(&["tag", "-m", "a tag", &format!("v{commit}")]);
        }
    }
    scratch
}

/// Packs these revisions, or all refs if none are given.
fn packed(scratch: &Scratch, options: &[&str], revisions: &str) -> Vec<u8> {
    let which = if revisions.is_empty() { "--all" } else { "--revs" };
    let mut arguments = vec!["pack-objects", "--stdout", "-q", which];
    arguments.extend(options);
    scratch.git_bytes(&arguments, revisions.as_bytes())
}

/// Creates an empty bare repository.
fn bare(folder: &Path) -> gix::Repository {
    crate::storage::store::init(folder).expect("a repository can be made");
    crate::storage::open::open_folder(folder).expect("it can be opened").to_thread_local()
}

fn take(pack: &[u8], into: &gix::Repository) -> Result<Option<ReceivedPack>, IntakeError> {
    let folder = into.git_dir().join("objects/pack");
    // Small reads, like those from a network.
    let mut from = Cursor::new(pack);
    let mut from = SmallReads(&mut from);
    index_pack(&mut from, &folder, Some(into), &bounds())
}

/// Limits that no ordinary pack reaches.
fn bounds() -> Bounds {
    limited(u64::MAX)
}

/// Limits for packs of at most this number of bytes.
fn limited(bytes: u64) -> Bounds {
    let stop = StopSignal::after(Duration::from_secs(600), DisconnectSignal::default());
    let pack = SizeLimit { bytes, refusal: "too large".to_owned() };
    let memory = Arc::new(MemoryBudget::new(512 << 20)).share(Caller::BACKGROUND);
    Bounds::new(stop, pack, 2 << 30, memory)
}

struct SmallReads<'a>(&'a mut dyn Read);

impl Read for SmallReads<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(997);
        self.0.read(&mut buffer[..length])
    }
}

fn assert_sound(repository: &Path) {
    let checked =
        git_command().arg("-C").arg(repository).args(["fsck", "--full", "--strict"]).output();
    let checked = checked.expect("git can be started");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}

#[test]
fn packs_get_the_index_that_git_gives_them() {
    for seed in 0..4 {
        let scratch = history(seed);
        for options in [
            &["--no-reuse-delta", "--window=0"][..],
            &["--delta-base-offset", "--no-reuse-delta", "--depth=40"],
            &["--no-reuse-delta", "--depth=3"],
        ] {
            let pack = packed(&scratch, options, "");
            let folder = tempfile::tempdir().expect("a folder");
            let repo = bare(folder.path());
            let taken = take(&pack, &repo).expect("a good pack").expect("objects");
            assert!(fs::read(&taken.data).expect("a file") == pack, "it is as it was sent");
            let by_git = folder.path().join("by-git.idx");
            let indexed = git_command()
                .args(["index-pack", "-o"])
                .arg(&by_git)
                .arg(&taken.data)
                .output()
                .expect("git can be started");
            assert!(indexed.status.success());
            let same = fs::read(&taken.index).ok() == fs::read(&by_git).ok();
            assert!(same, "the index is git's: {seed} {options:?}");
            fs::remove_file(by_git).expect("it is there");
            assert_sound(folder.path());
        }
    }
}

#[test]
fn what_is_based_on_objects_of_the_repository_is_completed() {
    for seed in 10..14 {
        let scratch = history(seed);
        let folder = tempfile::tempdir().expect("a folder");
        let first = packed(&scratch, &[], "HEAD~6\n");
        take(&first, &bare(folder.path())).expect("a good pack").expect("objects");
        for options in [&["--thin"][..], &["--thin", "--delta-base-offset"]] {
            let rest = packed(&scratch, options, "HEAD\n^HEAD~6\n");
            let incoming = tempfile::tempdir().expect("a folder");
            let repo = bare(incoming.path());
            let alternates = format!("{}\n", folder.path().join("objects").display());
            fs::write(incoming.path().join("objects/info/alternates"), alternates).expect("a file");
            let sees_both =
                crate::storage::open::open_folder(incoming.path()).expect("a repository");
            drop(repo);
            let repo = sees_both.to_thread_local();
            let taken = take(&rest, &repo).expect("a good pack").expect("objects");
            let length = fs::metadata(&taken.data).expect("a file").len();
            assert!(length > rest.len() as u64, "something was added");
            let verified = git_command().arg("verify-pack").arg(&taken.index).output();
            let verified = verified.expect("git can be started");
            assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
            // Without the base objects, the pack is refused.
            let alone = tempfile::tempdir().expect("a folder");
            let refused = take(&rest, &bare(alone.path()));
            assert!(matches!(refused, Err(IntakeError::Invalid(_))), "{refused:?}");
        }
    }
}

#[test]
fn what_is_moved_to_disk_is_read_again() {
    let scratch = history(20);
    let pack = packed(&scratch, &["--no-reuse-delta", "--depth=50", "--window=50"], "");
    let folder = tempfile::tempdir().expect("a folder");
    let file = File::create_new(folder.path().join("pack")).expect("a file");
    drop(file);
    let open = File::options().read(true).write(true).open(folder.path().join("pack"));
    let (file, bounds) = (open.expect("a file"), bounds());
    let mut from = Cursor::new(&pack);
    let (entries, _) = PackReader::new(&mut from, &file, &bounds).read_pack().expect("a good pack");
    let end = pack.len() as u64 - CHECKSUM;
    let mut found = Vec::new();
    for held in [u64::MAX, 5000, 1] {
        let mut deltas = Deltas::new(&file, &entries, end, &bounds, folder.path());
        deltas.held = held;
        found.push(deltas.resolve_in_pack().expect("all fit").objects);
    }
    assert!(found[0].iter().any(Option::is_some));
    assert!(found[0] == found[1] && found[0] == found[2]);
}

#[test]
fn what_is_wrong_with_a_pack_is_said_and_no_byte_too_much_is_kept() {
    let scratch = history(30);
    let good = packed(&scratch, &[], "");
    let folder = tempfile::tempdir().expect("a folder");
    let changed = |at: usize, byte: u8| {
        let mut pack = good.clone();
        pack[at] = byte;
        pack
    };
    for (pack, expected) in [
        (vec![], "ends too early"),
        (b"PACK\0\0\0\x04\0\0\0\0".to_vec(), "has no valid pack header"),
        (changed(0, b'p'), "has no valid pack header"),
        (changed(8, 0xff), "has too many objects"),
        (changed(12, 0x50), "has an object of an unknown kind"),
        (
            [&good[..12], &[0x60, 0x7f], &good[14..]].concat(),
            "has a delta whose base is outside the pack",
        ),
        (changed(good.len() - 1, good[good.len() - 1] ^ 1), "does not match its checksum"),
        (good[..good.len() - 25].to_vec(), "ends too early"),
        ([&good[..], b"more"].concat(), "has data after its checksum"),
    ] {
        let incoming = tempfile::tempdir_in(folder.path()).expect("a folder");
        match take(&pack, &bare(incoming.path())) {
            Err(IntakeError::Invalid(what)) => assert_eq!(what, expected),
            other => panic!("{expected}: {other:?}"),
        }
    }
    // A pack with any changed byte is refused, at the latest because of the checksum.
    let mut random = Random::new(31);
    for _ in 0..200 {
        let at = random.below(good.len());
        let incoming = tempfile::tempdir_in(folder.path()).expect("a folder");
        let refused = take(&changed(at, !good[at]), &bare(incoming.path()));
        assert!(matches!(refused, Err(IntakeError::Invalid(_))), "{at}: {refused:?}");
    }
}

#[test]
fn a_pack_of_nothing_leaves_nothing() {
    let scratch = Scratch::new();
    let pack = scratch.git_bytes(&["pack-objects", "--stdout", "-q"], b"");
    let folder = tempfile::tempdir().expect("a folder");
    let repo = bare(folder.path());
    assert!(take(&pack, &repo).expect("a good pack").is_none());
    let packs = fs::read_dir(folder.path().join("objects/pack")).expect("a folder");
    assert_eq!(packs.count(), 0);
}
