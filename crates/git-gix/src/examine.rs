//! Looking whether a repository is whole, as far as that is seen without reading everything in it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use hexforge_domain::id::ProjectId;
use hexforge_domain::refs::{Ref, Snapshot};

use crate::commit::to_gix;
use crate::store::{GixStore, open_folder};

/// No more than these are told of one repository.
const TOLD: usize = 10;

impl GixStore {
    /// What is wrong with the repository of a project, for people: nothing if all is well. `None` if it has none.
    ///
    /// It opens, what its refs hold is there, and each pack has its index.
    pub fn examine(&self, project: ProjectId, refs: &Snapshot) -> Option<Vec<String>> {
        let folder = self.layout().repository(project);
        if !folder.exists() {
            return None;
        }
        let mut wrong = packs(&folder.join("objects").join("pack"));
        match open_folder(&folder) {
            Ok(repository) => wrong.extend(missing(&repository.to_thread_local(), refs)),
            Err(error) => wrong.push(format!("it cannot be opened: {error:?}")),
        }
        wrong.truncate(TOLD);
        Some(wrong)
    }
}

/// Packs without an index are seen by nobody, and an index without its pack promises what is not there.
fn packs(folder: &Path) -> Vec<String> {
    let (mut packs, mut indexes) = (BTreeSet::new(), BTreeSet::new());
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        // Without packs the folder is not missed.
        Err(error) if error.kind() == ErrorKind::NotFound => return vec![],
        Err(error) => return vec![format!("its packs cannot be listed: {error}")],
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        match (path.extension().and_then(OsStr::to_str), stem) {
            (Some("pack"), Some(stem)) => packs.insert(stem),
            (Some("idx"), Some(stem)) => indexes.insert(stem),
            _ => false,
        };
    }
    let of_packs = packs.difference(&indexes).map(|pack| format!("{pack}.pack has no index"));
    let of_indexes = indexes.difference(&packs).map(|pack| format!("{pack}.idx has no pack"));
    of_packs.chain(of_indexes).collect()
}

/// What refs hold has to be there.
fn missing(repository: &gix::Repository, refs: &Snapshot) -> Vec<String> {
    let missing = refs.iter().filter(|one| !repository.has_object(to_gix(one.target)));
    let told = |one: &Ref| format!("{} holds {}, which is not there", one.name, one.target);
    missing.take(TOLD).map(told).collect()
}

#[cfg(test)]
mod tests {
    use hexforge_domain::commit::ObjectId;
    use hexforge_domain::refs::RepositoryState;

    use super::*;
    use crate::store::init;

    #[test]
    fn what_is_wrong_is_told_and_what_is_right_is_not() {
        let data = tempfile::tempdir().expect("a folder for temporary files exists");
        let store = GixStore::new(data.path(), |_| Ok(()));
        let project = ProjectId(7);
        let no_refs = Snapshot::new(&RepositoryState::default(), &[]);
        assert_eq!(store.examine(project, &no_refs), None);
        let folder = store.layout().repository(project);
        init(&folder).expect("a repository can be made");
        assert_eq!(store.examine(project, &no_refs), Some(vec![]));
        let write = |file: &str, content: &str| {
            fs::write(folder.join(file), content).expect("the repository can be written");
        };
        write("objects/pack/pack-1.pack", "");
        write("objects/pack/pack-2.idx", "");
        let wrong = store.examine(project, &no_refs).expect("it is there");
        assert_eq!(wrong[..2], ["pack-1.pack has no index", "pack-2.idx has no pack"]);
        for file in ["objects/pack/pack-1.pack", "objects/pack/pack-2.idx"] {
            fs::remove_file(folder.join(file)).expect("it was written above");
        }
        let gone = ObjectId::parse(&"1".repeat(40)).expect("an id");
        let gone = Ref { name: "refs/heads/gone".to_owned(), target: gone, peeled: None };
        let refs = Snapshot::new(&RepositoryState::default(), &[gone]);
        let wrong = store.examine(project, &refs).expect("it is there").join("; ");
        assert!(wrong.contains("refs/heads/gone holds 1111"), "{wrong}");
        fs::remove_file(folder.join("HEAD")).expect("each repository has it");
        let wrong = store.examine(project, &no_refs).expect("it is there").join("; ");
        assert!(wrong.starts_with("it cannot be opened"), "{wrong}");
    }
}
