//! Builds packs from fuzzer input. A fuzzer does not find valid compressed data and checksums by itself.

use std::io::Write;
use std::process::Stdio;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha1::{Digest, Sha1};

use crate::work_tree::WorkTree;

const KINDS: [u8; 6] = [1, 2, 3, 4, 6, 7];

/// In the content of an object: this byte and an object number are replaced by the binary id of that object, as in
/// trees.
const ID: u8 = 0xfe;
/// The same for the hexadecimal id, as in commits.
const HEX_ID: u8 = 0xfd;

/// Builds a pack. If the first byte is 0, the rest is the pack without its checksum. Otherwise the rest describes the
/// objects; see `PackBuilder`.
pub(super) fn build(data: &[u8]) -> Vec<u8> {
    match data.split_first() {
        None => Vec::new(),
        Some((0, raw)) => with_checksum(raw.to_vec()),
        Some((_, plan)) => PackBuilder::default().build(plan),
    }
}

/// Appends the checksum of a pack.
pub fn with_checksum(mut pack: Vec<u8>) -> Vec<u8> {
    let checksum = Sha1::digest(&pack);
    pack.extend_from_slice(&checksum);
    pack
}

/// Builds a pack from a plan. Each object of the plan is a byte for its kind, for deltas a byte for the number of the
/// base, a byte for its size, and its content.
#[derive(Default)]
struct PackBuilder {
    entries: Vec<u8>,
    /// The offset of each object, and its id; only right for objects that are not deltas.
    objects: Vec<(usize, [u8; 20])>,
}

impl PackBuilder {
    fn build(mut self, mut plan: &[u8]) -> Vec<u8> {
        while self.add_next(&mut plan).is_some() {}
        let mut pack = b"PACK\0\0\0\x02".to_vec();
        pack.extend_from_slice(&(self.objects.len() as u32).to_be_bytes());
        pack.extend(self.entries);
        with_checksum(pack)
    }

    fn add_next(&mut self, plan: &mut &[u8]) -> Option<()> {
        let kind = KINDS[usize::from(*plan.split_off_first()?) % KINDS.len()];
        let offset = self.entries.len();
        let base = if kind < 6 { None } else { Some(self.object(*plan.split_off_first()?)) };
        let size = usize::from(*plan.split_off_first()?).min(plan.len());
        let data = self.replace_ids(plan.split_off(..size)?);
        self.entries.extend(entry_header(kind, data.len()));
        match (kind, base) {
            (6, Some((base, _))) => self.entries.extend(base_distance(offset - base)),
            (7, Some((_, id))) => self.entries.extend_from_slice(&id),
            _ => (),
        }
        let mut encoder = ZlibEncoder::new(&mut self.entries, Compression::fast());
        encoder.write_all(&data).and_then(|()| encoder.finish()).ok()?;
        let name = ["commit", "tree", "blob", "tag"].get(usize::from(kind) - 1);
        let header = name.map(|name| format!("{name} {}\0", data.len())).unwrap_or_default();
        let id = Sha1::new().chain_update(header).chain_update(&data).finalize().into();
        self.objects.push((offset, id));
        Some(())
    }

    /// The offset and id of an earlier object, or made-up ones if there is none.
    fn object(&self, number: u8) -> (usize, [u8; 20]) {
        let at = usize::from(number).checked_rem(self.objects.len());
        at.map_or((0, [number; 20]), |at| self.objects[at])
    }

    fn replace_ids(&self, mut plan: &[u8]) -> Vec<u8> {
        let mut data = Vec::new();
        while let Some(&byte) = plan.split_off_first() {
            match (byte, plan.first()) {
                (ID | HEX_ID, Some(&number)) => {
                    plan = &plan[1..];
                    let (_, id) = self.object(number);
                    if byte == ID {
                        data.extend_from_slice(&id);
                    } else {
                        data.extend(id.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()));
                    }
                }
                _ => data.push(byte),
            }
        }
        data
    }
}

/// The first bytes of a pack entry: its kind and the size of its data.
pub fn entry_header(kind: u8, mut size: usize) -> Vec<u8> {
    let (mut bytes, mut byte) = (Vec::new(), kind << 4 | (size & 15) as u8);
    size >>= 4;
    while size > 0 {
        bytes.push(byte | 0x80);
        byte = (size & 0x7f) as u8;
        size >>= 7;
    }
    bytes.push(byte);
    bytes
}

/// Encodes the distance between a delta and its base, as in an `OFS_DELTA` entry.
pub fn base_distance(mut distance: usize) -> Vec<u8> {
    let mut bytes = vec![(distance & 0x7f) as u8];
    while distance > 0x7f {
        distance = (distance >> 7) - 1;
        bytes.push((distance & 0x7f) as u8 | 0x80);
    }
    bytes.reverse();
    bytes
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut plan = vec![1];
    let mut add = |kind: u8, data: &[u8]| {
        plan.push(kind);
        plan.extend((kind > 3).then_some(0));
        plan.push(data.len() as u8);
        plan.extend_from_slice(data);
    };
    let people = "author a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nhi\n";
    add(2, b"0123456789");
    add(1, b"100644 a\0\xfe\x00");
    add(0, &[b"tree \xfd\x01\n", people.as_bytes()].concat());
    add(3, b"object \xfd\x02\ntype commit\ntag v1\ntagger a <a@b> 1 +0000\n\nhi\n");
    add(4, &[10, 4, 0x90, 3, 1, b'x']);
    add(5, &[10, 5, 0x91, 4, 3, 2, b'y', b'z']);
    let whole = git_pack();
    let raw = [&[0], &whole[..whole.len().saturating_sub(20)]].concat();
    vec![plan, raw]
}

/// A pack with three objects and a delta, written by git.
fn git_pack() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let tree = WorkTree::new(&folder.path().join("bare.git"));
    let long = "the same line\n".repeat(100);
    tree.write("a", &long).commit("One\n");
    tree.write("a", format!("{long}and one more\n")).commit("Two\n");
    let mut command = tree.command(&["pack-objects", "--stdout", "-q", "--revs", "--thin"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("git can be started");
    child.stdin.take().expect("a pipe").write_all(b"HEAD\n").expect("git reads");
    child.wait_with_output().expect("git ends").stdout
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_packed_is_a_pack_again() {
        let [plan, raw] = seeds().try_into().expect("two");
        assert_eq!(build(&raw), git_pack());
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        for (seed, objects) in [(plan, 6), (raw, 6)] {
            let file = folder.path().join("made.pack");
            std::fs::write(&file, build(&seed)).expect("it can be written");
            let tree = WorkTree::new(&folder.path().join(format!("{}.git", seed.len())));
            let path = file.to_str().expect("a name in UTF-8");
            tree.git(&["index-pack", "--strict", path]);
            let listed = tree.git(&["verify-pack", "-v", path]);
            let is_object = |line: &&str| line.as_bytes().get(40) == Some(&b' ');
            assert_eq!(listed.lines().filter(is_object).count(), objects, "{listed}");
        }
    }
}
