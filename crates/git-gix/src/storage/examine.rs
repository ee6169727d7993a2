//! Checks whether a repository is complete.

use std::sync::atomic::AtomicBool;

use gix::progress::Discard;
use hexforge_domain::pack::Pack as StoredPack;
use hexforge_domain::refs::{Ref, Snapshot};

use crate::content::commit::to_gix;
use crate::protocol::upload::packs::Pack;
use crate::storage::pack_summary::{self, PackSummary, Unusable};
use crate::storage::store::GixStore;

/// The maximum number of faults reported per repository.
const MOST_FAULTS: usize = 10;

impl GixStore {
    /// Returns the faults of a repository, as text. Checks that its packs and indexes exist and contain the targets of
    /// all refs, and with `deep` also the checksums of indexes and the summaries of packs. The pack store checks the
    /// bytes of packs.
    pub fn find_faults(&self, refs: &Snapshot, deep: bool) -> Vec<String> {
        let (mut faults, mut packs) = (Vec::new(), Vec::new());
        for pack in refs.packs() {
            match self.examine_pack(pack, deep) {
                Ok(opened) => {
                    if deep && let Err(fault) = self.examine_summary(pack, &opened) {
                        faults.push(fault);
                    }
                    packs.push(opened);
                }
                Err(fault) => faults.push(fault),
            }
        }
        let is_missing = |one: &&Ref| {
            let target = to_gix(one.target);
            packs.iter().all(|pack| pack.index.lookup(target).is_none())
        };
        let message =
            |one: &Ref| format!("{} points to {}, which does not exist", one.name, one.target);
        faults.extend(refs.iter().filter(is_missing).take(MOST_FAULTS).map(message));
        faults.truncate(MOST_FAULTS);
        faults
    }

    fn examine_pack(&self, pack: &StoredPack, deep: bool) -> Result<Pack, String> {
        let file = self.shared().packs.local_path(pack).map_err(|error| error.to_string())?;
        let index = file.with_extension("idx");
        let broken = |why: &str| format!("the index of the pack {} {why}", pack.name);
        let opened = Pack::open(&index).ok_or_else(|| broken("cannot be read"))?;
        if u64::from(opened.index.num_objects()) != pack.objects {
            return Err(broken("lists another number of objects"));
        }
        if deep {
            let checked = opened.index.verify_checksum(&mut Discard, &AtomicBool::new(false));
            checked.map_err(|error| broken(&error.to_string()))?;
        }
        Ok(opened)
    }

    /// Compares the stored summary of a pack, if there is one, with the objects of the pack.
    fn examine_summary(&self, stored: &StoredPack, pack: &Pack) -> Result<(), String> {
        let wrong =
            |why: &str| format!("the summary of the pack {} {why}; remove the file", stored.name);
        let bytes = self.shared().packs.summary(stored.name);
        let Some(bytes) = bytes.map_err(|error| wrong(&format!("cannot be read: {error}")))? else {
            return Ok(());
        };
        let summary = match PackSummary::decode(&bytes, stored.name, stored.objects) {
            Ok(summary) => summary,
            // It is not used, and replaced by a clone.
            Err(Unusable::OtherVersion) => return Ok(()),
            Err(Unusable::Wrong) => return Err(wrong("is damaged or belongs to another pack")),
        };
        let found = pack_summary::read(pack).map_err(|error| error.to_string())?;
        let expected = found.map(|found| (found.roots, found.outside));
        let is_right = expected == Some((summary.roots, summary.outside))
            && (!summary.is_in_order || pack_summary::is_in_order(pack) == Some(true));
        is_right.then_some(()).ok_or_else(|| wrong("does not describe the objects of the pack"))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use hexforge_domain::commit::ObjectId;
    use hexforge_domain::refs::RepositoryState;

    use super::*;
    use crate::support::{Scratch, refs};

    #[test]
    fn what_is_wrong_is_told_and_what_is_right_is_not() {
        let data = tempfile::tempdir().expect("a folder for temporary files exists");
        let store = refs::store(data.path());
        assert_eq!(store.find_faults(&Snapshot::empty(), true), Vec::<String>::new());
        let scratch = Scratch::new();
        scratch.write("file", "content");
        let tip = ObjectId::parse(&scratch.commit("one")).expect("an id");
        let packs = store.take_over(&scratch.git_dir()).expect("the objects can be stored");
        let with = |target| {
            let one = Ref { name: "refs/heads/a".to_owned(), target, peeled: None };
            Snapshot::new(&RepositoryState::default(), &[one], &packs)
        };
        assert_eq!(store.find_faults(&with(tip), true), Vec::<String>::new());
        let gone = with(ObjectId::parse(&"1".repeat(40)).expect("an id"));
        let faults = store.find_faults(&gone, false).join("; ");
        assert!(faults.contains("refs/heads/a points to 1111"), "{faults}");
        let name = packs[0].name.to_string();
        let file = data.path().join("packs").join(&name[..2]).join(format!("{name}.idx"));
        let mut index = fs::read(&file).expect("each pack has an index");
        *index.last_mut().expect("it has bytes") ^= 1;
        let replace = |file: &std::path::Path, bytes: &[u8]| {
            fs::remove_file(file).expect("it is there");
            fs::write(file, bytes).expect("it can be written");
        };
        replace(&file, &index);
        assert_eq!(store.find_faults(&with(tip), false), Vec::<String>::new());
        let faults = store.find_faults(&with(tip), true).join("; ");
        assert!(faults.contains(&format!("the index of the pack {name}")), "{faults}");
        replace(&file.with_extension("pack"), b"PACK");
        let faults = store.find_faults(&with(tip), false).join("; ");
        assert!(
            faults.contains(&format!("the pack {name} is damaged: it has 4 bytes")),
            "{faults}"
        );
        fs::remove_file(file.with_extension("pack")).expect("it is there");
        let faults = store.find_faults(&with(tip), false).join("; ");
        assert!(faults.contains(&format!("the pack {name} is missing")), "{faults}");
    }
    #[test]
    fn wrong_summaries_are_told() {
        let data = tempfile::tempdir().expect("a folder for temporary files exists");
        let store = refs::store(data.path());
        let pack_of = |content: &str| {
            let scratch = Scratch::new();
            scratch.write("file", content);
            scratch.commit(content);
            store.take_over(&scratch.git_dir()).expect("the objects can be stored")[0]
        };
        let (pack, other) = (pack_of("one"), pack_of("two"));
        assert_eq!(pack.objects, other.objects);
        let shared = store.shared();
        let opened = |pack: &StoredPack| {
            let path = shared.packs.local_path(pack).expect("it is stored");
            Pack::open(&path.with_extension("idx")).expect("it is whole")
        };
        let read = |pack: &StoredPack| {
            pack_summary::read(&opened(pack)).expect("it is whole").expect("it has few roots")
        };
        let refs = Snapshot::new(&RepositoryState::default(), &[], &[pack]);
        let faults = || store.find_faults(&refs, true).join("; ");
        let right = read(&pack);
        assert_eq!((right.roots.len(), right.outside.len()), (1, 0));
        assert_eq!(faults(), "", "a pack needs no summary");
        shared.put_summary(&pack, Some(&right));
        assert_eq!(faults(), "");
        assert_eq!(shared.summary(pack.name, pack.objects).as_ref(), Some(&right));
        // The summary of another pack with the same number of objects.
        let swapped = read(&other).encode(other.name, other.objects).expect("few ids");
        shared.packs.put_summary(pack.name, &swapped).expect("it can be stored");
        assert!(faults().contains("is damaged or belongs to another pack"), "{}", faults());
        assert_eq!(shared.summary(pack.name, pack.objects), None);
        assert_eq!(store.find_faults(&refs, false), Vec::<String>::new());
        // A right checksum for the wrong content.
        shared.put_summary(&pack, Some(&read(&other)));
        assert!(faults().contains("does not describe the objects of the pack"), "{}", faults());
    }
}
