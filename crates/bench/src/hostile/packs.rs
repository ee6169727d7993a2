//! Builds packs that cost the receiver more than the sender.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha1::{Digest, Sha1};

use hexforge_tests::hostile::pack::{base_distance, entry_header, with_checksum};

const COMMIT: u8 = 1;
const TREE: u8 = 2;
const BLOB: u8 = 3;
const OFS_DELTA: u8 = 6;

const BLOCK: usize = 64 << 10;

#[derive(Default)]
struct PackBuilder {
    entries: Vec<u8>,
    count: u32,
}

impl PackBuilder {
    /// Adds an entry, and returns its offset.
    fn add(&mut self, kind: u8, base: Option<usize>, data: &[u8]) -> usize {
        let at = self.entries.len();
        self.entries.extend(entry_header(kind, data.len()));
        self.entries.extend(base.map(|base| base_distance(at - base)).unwrap_or_default());
        let mut encoder = ZlibEncoder::new(&mut self.entries, Compression::default());
        encoder.write_all(data).and_then(|()| encoder.finish().map(drop)).expect("memory");
        self.count += 1;
        at
    }

    fn finish(self) -> Vec<u8> {
        let mut pack = b"PACK\0\0\0\x02".to_vec();
        pack.extend_from_slice(&self.count.to_be_bytes());
        pack.extend(self.entries);
        with_checksum(pack)
    }
}

/// The sizes at the beginning of a delta.
fn delta_sizes(base: usize, result: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for mut size in [base, result] {
        while size >= 0x80 {
            bytes.push(size as u8 | 0x80);
            size >>= 7;
        }
        bytes.push(size as u8);
    }
    bytes
}

fn hex(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn id_of(kind: &str, data: &[u8]) -> String {
    let header = format!("{kind} {}\0", data.len());
    hex(&Sha1::new().chain_update(header).chain_update(data).finalize())
}

/// Builds a delta chain of this length. Every delta produces a commit object. Also returns the id of the last commit.
pub(super) fn delta_chain(length: usize) -> (Vec<u8>, String) {
    let mut pack = PackBuilder::default();
    pack.add(TREE, None, b"");
    let tree = id_of("tree", b"");
    let commit = |number: usize| {
        let who = "Eve <eve@example.com> 1474540200 +0000";
        format!("tree {tree}\nauthor {who}\ncommitter {who}\n\n{number:08}").into_bytes()
    };
    let base = commit(0);
    let kept = base.len() - 8;
    let mut at = pack.add(COMMIT, None, &base);
    for number in 1..=length {
        let mut delta = delta_sizes(base.len(), base.len());
        delta.extend([0x90, u8::try_from(kept).expect("a short commit"), 8]);
        delta.extend(format!("{number:08}").into_bytes());
        at = pack.add(OFS_DELTA, Some(at), &delta);
    }
    (pack.finish(), id_of("commit", &commit(length)))
}

/// Builds two blobs of this number of mebibytes, each a delta that copies 64 KiB repeatedly.
pub(super) fn large_deltas(megabytes: usize) -> Vec<u8> {
    let block: Vec<u8> = (0..BLOCK).map(|at| ((at * 7) >> 3) as u8).collect();
    let mut pack = PackBuilder::default();
    let base = pack.add(BLOB, None, &block);
    for file in 0..2 {
        let copies = (megabytes << 20) / BLOCK;
        let mut delta = delta_sizes(BLOCK, BLOCK * copies + 1);
        delta.extend(vec![0x80; copies]);
        delta.extend([1, file]);
        pack.add(OFS_DELTA, Some(base), &delta);
    }
    pack.finish()
}

/// Builds a blob of zeros of this number of mebibytes.
pub(super) fn zeros(megabytes: usize) -> Vec<u8> {
    let mut pack = PackBuilder::default();
    pack.add(BLOB, None, &vec![0; megabytes << 20]);
    pack.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hexforge_tests::work_tree::WorkTree;

    #[test]
    fn git_takes_these_packs() {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let tree = WorkTree::new(&folder.path().join("bare.git"));
        let file = folder.path().join("made.pack");
        let path = file.to_str().expect("a name in UTF-8");
        let (chain, tip) = delta_chain(300);
        for pack in [large_deltas(1), zeros(1), chain] {
            std::fs::write(&file, pack).expect("it can be written");
            tree.git(&["index-pack", path]);
        }
        assert!(tree.git(&["verify-pack", "-v", path]).contains(&tip));
    }
}
