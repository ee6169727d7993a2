//! Reads packs as a client does, and refuses packs that a client cannot use.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::bufread::ZlibDecoder;
use gix::ObjectId;
use gix::object::Kind;

use crate::objects::{Ids, hash};

/// The kinds of deltas that a client accepts, and its objects that may serve as bases.
pub struct Limits<'a> {
    /// Whether offset deltas are allowed.
    pub offset_deltas: bool,
    /// Returns the content of a base outside the pack.
    pub base: &'a dyn Fn(ObjectId) -> Option<(Kind, &'a [u8])>,
}

/// The content of an entry.
enum Content {
    Whole(Kind, Vec<u8>),
    OnOffset(usize, Vec<u8>),
    OnObject(ObjectId, Vec<u8>),
}

/// Returns the ids of all objects in a pack.
pub fn read(pack: &[u8], limits: &Limits<'_>) -> Result<Ids, String> {
    let entries = entries(pack, limits)?;
    let mut resolved: BTreeMap<usize, (Kind, Vec<u8>)> = BTreeMap::new();
    let mut by_id: BTreeMap<ObjectId, usize> = BTreeMap::new();
    let mut waiting: Vec<(usize, Content)> = entries.into_iter().collect();
    // First the deltas on objects in the pack are resolved, then those on objects of the client.
    let mut is_thin_allowed = false;
    while !waiting.is_empty() {
        let before = waiting.len();
        let mut left = Vec::new();
        for (offset, content) in waiting {
            let object = match &content {
                Content::Whole(kind, data) => Some((*kind, data.clone())),
                Content::OnOffset(base, delta) => match resolved.get(base) {
                    Some((kind, data)) => Some((*kind, apply_delta(data, delta)?)),
                    None => None,
                },
                Content::OnObject(base, delta) => {
                    let inside = by_id.get(base).map(|at| &resolved[at]);
                    let inside = inside.map(|(kind, data)| (*kind, data.as_slice()));
                    let outside = || (limits.base)(*base).filter(|_| is_thin_allowed);
                    match inside.or_else(outside) {
                        Some((kind, data)) => Some((kind, apply_delta(data, delta)?)),
                        None => None,
                    }
                }
            };
            let Some((kind, data)) = object else {
                left.push((offset, content));
                continue;
            };
            let id = hash(kind, &data);
            if by_id.insert(id, offset).is_some() {
                return Err(format!("the pack has {kind} {id} twice"));
            }
            resolved.insert(offset, (kind, data));
        }
        waiting = left;
        if waiting.len() == before {
            if is_thin_allowed {
                return Err(missing_bases(&waiting));
            }
            is_thin_allowed = true;
        }
    }
    Ok(by_id.into_keys().collect())
}

fn missing_bases(waiting: &[(usize, Content)]) -> String {
    let bases: Ids = waiting
        .iter()
        .filter_map(|(_, content)| match content {
            Content::OnObject(base, _) => Some(*base),
            Content::Whole(..) | Content::OnOffset(..) => None,
        })
        .collect();
    format!("deltas are based on objects that the client does not have: {bases:?}")
}

fn entries(pack: &[u8], limits: &Limits<'_>) -> Result<BTreeMap<usize, Content>, String> {
    if pack.len() < 32 || &pack[..8] != b"PACK\0\0\0\x02" {
        return Err("the pack has no header".into());
    }
    let count = u32::from_be_bytes([pack[8], pack[9], pack[10], pack[11]]);
    let end = pack.len() - 20;
    let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
    hasher.update(&pack[..end]);
    let sum = hasher.try_finalize().expect("no colliding packs");
    if sum.as_slice() != &pack[end..] {
        return Err("the checksum of the pack is wrong".into());
    }
    let mut entries = BTreeMap::new();
    let mut at = 12;
    for _ in 0..count {
        let offset = at;
        let (entry, next) = entry(&pack[..end], offset, limits)?;
        entries.insert(offset, entry);
        at = next;
    }
    if at != end {
        return Err(format!("{} bytes follow the last of {count} entries", end - at));
    }
    Ok(entries)
}

fn entry(pack: &[u8], offset: usize, limits: &Limits<'_>) -> Result<(Content, usize), String> {
    let early = || format!("the pack ends in the entry at {offset}");
    let mut at = offset;
    let mut next = || {
        let byte = pack.get(at).copied().ok_or_else(early);
        at += 1;
        byte
    };
    let first = next()?;
    let mut size = usize::from(first & 0x0f);
    let (mut byte, mut shift) = (first, 4);
    while byte & 0x80 != 0 {
        byte = next()?;
        size |= usize::from(byte & 0x7f) << shift;
        shift += 7;
    }
    let kind = (first >> 4) & 7;
    let mut distance = 0;
    if kind == 6 {
        if !limits.offset_deltas {
            return Err("an offset delta for a client that cannot read it".into());
        }
        byte = next()?;
        distance = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = next()?;
            distance = ((distance + 1) << 7) | usize::from(byte & 0x7f);
        }
    }
    let mut base = None;
    if kind == 7 {
        let bytes = pack.get(at..at + 20).ok_or_else(early)?;
        base = Some(ObjectId::from_bytes_or_panic(bytes));
        at += 20;
    }
    let mut decoder = ZlibDecoder::new(&pack[at..]);
    let mut data = Vec::new();
    decoder.read_to_end(&mut data).map_err(|error| format!("entry at {offset}: {error}"))?;
    if data.len() != size {
        return Err(format!("the entry at {offset} has {} and not {size} bytes", data.len()));
    }
    let next = at + usize::try_from(decoder.total_in()).expect("packs of tests are small");
    let content = match (kind, base) {
        (1, _) => Content::Whole(Kind::Commit, data),
        (2, _) => Content::Whole(Kind::Tree, data),
        (3, _) => Content::Whole(Kind::Blob, data),
        (4, _) => Content::Whole(Kind::Tag, data),
        (6, _) => {
            let base = offset.checked_sub(distance).filter(|_| distance > 0);
            Content::OnOffset(base.ok_or("a base before the pack")?, data)
        }
        (7, Some(base)) => Content::OnObject(base, data),
        _ => return Err(format!("the entry at {offset} has the unknown type {kind}")),
    };
    Ok((content, next))
}

/// Applies a delta to its base.
fn apply_delta(base: &[u8], delta: &[u8]) -> Result<Vec<u8>, String> {
    let mut bytes = delta.iter().copied();
    let early = || "a delta that ends early".to_owned();
    let mut number = || {
        let (mut value, mut shift) = (0_usize, 0);
        loop {
            let byte = bytes.next().ok_or_else(early)?;
            value |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return Ok::<usize, String>(value);
            }
        }
    };
    let (from, to) = (number()?, number()?);
    if from != base.len() {
        return Err("a delta for a base of another length".into());
    }
    let mut result = Vec::with_capacity(to);
    while let Some(code) = bytes.next() {
        if code & 0x80 == 0 {
            for _ in 0..code {
                result.push(bytes.next().ok_or_else(early)?);
            }
            continue;
        }
        let mut field = |first: u8, count: u8| {
            let mut value = 0_usize;
            for bit in 0..count {
                if code & (1 << (first + bit)) != 0 {
                    value |= usize::from(bytes.next().ok_or_else(early)?) << (8 * bit);
                }
            }
            Ok::<usize, String>(value)
        };
        let (start, length) = (field(0, 4)?, field(4, 3)?);
        let length = if length == 0 { 0x10000 } else { length };
        let copied = base.get(start..start + length).ok_or("a delta beyond its base")?;
        result.extend_from_slice(copied);
    }
    if result.len() != to {
        return Err("a delta that makes an object of another length".into());
    }
    Ok(result)
}
