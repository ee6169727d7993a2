//! Builds packs that git never writes, entry by entry.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use gix::ObjectId;
use gix::object::Kind;

/// Builds a pack.
#[derive(Default)]
pub struct PackBuilder {
    bytes: Vec<u8>,
    count: u32,
}

impl PackBuilder {
    /// Adds an object without delta, and returns its offset.
    pub fn whole(&mut self, kind: Kind, data: &[u8]) -> u64 {
        let number = match kind {
            Kind::Commit => 1,
            Kind::Tree => 2,
            Kind::Blob => 3,
            Kind::Tag => 4,
        };
        self.entry(number, &[], data)
    }

    /// Adds a delta on the entry at an offset, and returns its own offset.
    pub fn delta(&mut self, base: u64, delta: &[u8]) -> u64 {
        let distance = self.end() - base;
        let mut bytes = vec![(distance & 0x7f) as u8];
        let mut left = distance >> 7;
        while left > 0 {
            left -= 1;
            bytes.insert(0, 0x80 | (left & 0x7f) as u8);
            left >>= 7;
        }
        self.entry(6, &bytes, delta)
    }

    fn end(&self) -> u64 {
        12 + self.bytes.len() as u64
    }

    fn entry(&mut self, kind: u8, base: &[u8], data: &[u8]) -> u64 {
        let offset = self.end();
        let (mut size, mut byte) = (data.len() >> 4, kind << 4 | (data.len() & 15) as u8);
        while size > 0 {
            self.bytes.push(byte | 0x80);
            (byte, size) = ((size & 0x7f) as u8, size >> 7);
        }
        self.bytes.push(byte);
        self.bytes.extend_from_slice(base);
        let mut encoder = ZlibEncoder::new(&mut self.bytes, Compression::default());
        encoder.write_all(data).expect("memory takes all");
        encoder.finish().expect("memory takes all");
        self.count += 1;
        offset
    }

    pub fn finish(self) -> Vec<u8> {
        let mut pack = b"PACK\0\0\0\x02".to_vec();
        pack.extend_from_slice(&self.count.to_be_bytes());
        pack.extend(self.bytes);
        let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
        hasher.update(&pack);
        pack.extend_from_slice(hasher.try_finalize().expect("no collision").as_slice());
        pack
    }
}

pub fn id_of(kind: Kind, data: &[u8]) -> ObjectId {
    gix::objs::compute_hash(gix::hash::Kind::Sha1, kind, data).expect("no collision")
}

/// Encodes the two sizes at the start of a delta.
pub fn delta_sizes(base: usize, result: usize) -> Vec<u8> {
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

/// Builds a commit of this tree, with a number in its message.
pub fn commit(tree: ObjectId, number: usize) -> Vec<u8> {
    let who = "Ada <ada@example.com> 1474540200 +0000";
    format!("tree {tree}\nauthor {who}\ncommitter {who}\n\n{number:08}").into_bytes()
}

/// Builds a pack of commits in `chains` delta chains of `length` deltas each. Also returns the last commit.
pub fn chains(chains: usize, length: usize) -> (Vec<u8>, ObjectId) {
    let mut pack = PackBuilder::default();
    let tree = id_of(Kind::Tree, b"");
    pack.whole(Kind::Tree, b"");
    let mut number = 0;
    for _ in 0..chains {
        let base = commit(tree, number);
        let mut at = pack.whole(Kind::Commit, &base);
        for _ in 0..length {
            number += 1;
            let kept = base.len() - 8;
            let mut delta = delta_sizes(base.len(), base.len());
            delta.extend([0x90, kept as u8, 8]);
            delta.extend(format!("{number:08}").into_bytes());
            at = pack.delta(at, &delta);
        }
        number += 1;
    }
    (pack.finish(), id_of(Kind::Commit, &commit(tree, number - 1)))
}

/// A pack with a commit whose files are deltas: each repeats 64 KiB many times and adds one byte of its own.
pub struct Bomb {
    pub pack: Vec<u8>,
    pub commit: ObjectId,
    pub files: Vec<ObjectId>,
}

impl Bomb {
    /// Builds a pack of `files` files of `times` × 64 KiB.
    pub fn new(files: u8, times: usize) -> Self {
        const BLOCK: usize = 64 << 10;
        let block: Vec<u8> = (0..BLOCK).map(|at| ((at * 7) >> 3) as u8).collect();
        let mut pack = PackBuilder::default();
        let base = pack.whole(Kind::Blob, &block);
        let (mut tree, mut ids) = (Vec::new(), Vec::new());
        for file in 0..files {
            let size = BLOCK * times + 1;
            let mut delta = delta_sizes(BLOCK, size);
            delta.extend(vec![0x80; times]);
            delta.extend([1, file]);
            pack.delta(base, &delta);
            let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
            hasher.update(format!("blob {size}\0").as_bytes());
            (0..times).for_each(|_| hasher.update(&block));
            hasher.update(&[file]);
            let id = hasher.try_finalize().expect("no collision");
            tree.extend_from_slice(format!("100644 file-{file:03}\0").as_bytes());
            tree.extend_from_slice(id.as_slice());
            ids.push(id);
        }
        pack.whole(Kind::Tree, &tree);
        let text = commit(id_of(Kind::Tree, &tree), 0);
        pack.whole(Kind::Commit, &text);
        Self { pack: pack.finish(), commit: id_of(Kind::Commit, &text), files: ids }
    }
}
