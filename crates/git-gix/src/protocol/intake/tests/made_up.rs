//! Packs that git never writes.

use std::iter::repeat_n;

use super::*;

/// Builds a pack of these entries.
fn pack(entries: &[Vec<u8>]) -> Vec<u8> {
    let mut pack = b"PACK\0\0\0\x02".to_vec();
    pack.extend_from_slice(&(entries.len() as u32).to_be_bytes());
    pack.extend(entries.concat());
    let mut hasher = pack_reader::new_hasher();
    hasher.update(&pack);
    pack.extend_from_slice(hasher.try_finalize().expect("no collision").as_slice());
    pack
}

fn blob(data: &[u8]) -> Vec<u8> {
    entry(3, &[], data)
}

/// A delta from an object of one byte to another object of one byte.
fn differing(from: ObjectId, byte: u8) -> Vec<u8> {
    entry(7, from.as_slice(), &[1, 1, 1, byte])
}

fn entry(kind: u8, base: &[u8], data: &[u8]) -> Vec<u8> {
    let start = [&[kind << 4 | data.len() as u8], base].concat();
    let mut encoder = flate2::write::ZlibEncoder::new(start, flate2::Compression::default());
    encoder.write_all(data).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

fn id(data: &[u8]) -> ObjectId {
    gix::objs::compute_hash(gix::hash::Kind::Sha1, Kind::Blob, data).expect("no collision")
}

fn refusal(entries: &[Vec<u8>], repo: &gix::Repository) -> String {
    match take(&pack(entries), repo) {
        Err(IntakeError::Invalid(what)) => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_difference_from_itself_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let round = [differing(id(b"a"), b'b'), differing(id(b"b"), b'a')];
    let what = refusal(&round, &bare(folder.path()));
    assert_eq!(what, "has a delta whose base is missing");
}

#[test]
fn the_same_object_twice_is_refused() {
    // A lookup of `a` may find the second one, whose delta chain leads back to `a`.
    let round = [blob(b"a"), differing(id(b"a"), b'b'), differing(id(b"b"), b'a')];
    let again = [blob(b"a"), blob(b"a")];
    for entries in [&round[..], &again] {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(refusal(entries, &bare(folder.path())), "has the same object twice");
    }
}

#[test]
fn what_is_in_the_repository_and_comes_as_a_difference_is_not_added() {
    let folder = tempfile::tempdir().expect("a folder");
    let repo = bare(folder.path());
    for data in [b"a", b"b"] {
        repo.write_blob(data).expect("it can be written");
    }
    // It is not known before the delta is resolved that the second object is `b`.
    let entries = [differing(id(b"b"), b'c'), differing(id(b"a"), b'b')];
    let taken = take(&pack(&entries), &repo).expect("a good pack").expect("objects");
    let verified = git_command().args(["verify-pack", "-v"]).arg(&taken.index).output();
    let verified = verified.expect("git can be started");
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    let lines = String::from_utf8_lossy(&verified.stdout);
    assert_eq!(lines.lines().filter(|line| line.contains(" blob ")).count(), 3, "{lines}");

    // `a` is not added from the repository because it is in the pack as well, so the two deltas
    // are based on each other.
    let folder = tempfile::tempdir_in(folder.path()).expect("a folder");
    let repo = bare(folder.path());
    repo.write_blob(b"a").expect("it can be written");
    let round = [differing(id(b"a"), b'b'), differing(id(b"b"), b'a')];
    assert_eq!(refusal(&round, &repo), "has a delta whose base is missing");
}

#[test]
fn many_of_the_same_are_looked_at_once() {
    const MANY: usize = 50_000;
    let folder = tempfile::tempdir().expect("a folder");
    let twins = repeat_n(blob(b"a"), MANY).chain(repeat_n(differing(id(b"a"), b'b'), MANY));
    let twins: Vec<Vec<u8>> = twins.collect();
    let repo = bare(&folder.path().join("twins"));
    assert_eq!(refusal(&twins, &repo), "has the same object twice");
    let orphans: Vec<Vec<u8>> = repeat_n(differing(id(b"x"), b'b'), MANY).collect();
    let repo = bare(&folder.path().join("orphans"));
    assert_eq!(refusal(&orphans, &repo), "has a delta whose base is missing");
}
