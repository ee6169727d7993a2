//! Merges packs and checks with the real git that the repository is complete.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hexforge_domain::limiter::Caller;
use hexforge_domain::ports::git::GitStore;
use hexforge_domain::refs::Snapshot;
use tempfile::TempDir;

use super::*;
use crate::storage::store::GixStore;
use crate::support::refs::{self, refs_of};
use crate::support::{Scratch, git_command};

const PROJECT: ProjectId = ProjectId(1);

/// A data folder whose one repository has many packs.
struct Forge {
    folder: TempDir,
    store: GixStore,
    repository: PathBuf,
    packs: Vec<Pack>,
}

impl Forge {
    fn new(commits: usize) -> Self {
        let source = Scratch::new();
        // git itself must not repack the source repository.
        source.git(&["config", "gc.auto", "0"]);
        source.git(&["config", "maintenance.auto", "false"]);
        let folder = tempfile::tempdir().expect("a folder");
        let store = refs::store(folder.path());
        let repository = store.layout().repository(PROJECT);
        let mut lines: Vec<String> = (0..300).map(|line| format!("line {line}\n")).collect();
        for commit in 0..commits {
            lines[commit * 7 % 300] = format!("changed by {commit}\n");
            source.write("a/file", lines.concat());
            source.write(format!("b/{commit}"), format!("{commit}"));
            source.commit(&format!("commit {commit}"));
            let kind = if commit % 2 == 0 { "true" } else { "false" };
            let by_offset = format!("repack.useDeltaBaseOffset={kind}");
            source.git(&["-c", &by_offset, "repack", "-d", "-q", "--window=20"]);
        }
        // Adds a pack with objects that other packs also contain, and an annotated tag.
        source.git(&["tag", "-a", "-m", "a tag", "v1"]);
        let ids = source.git(&["rev-list", "--objects", "--all", "--max-count=5"]);
        let ids: String = ids.lines().map(|line| format!("{}\n", &line[..40])).collect();
        let name = source.git_dir().join("objects/pack/pack");
        let name = name.to_str().expect("a path");
        source.git_bytes(&["pack-objects", "-q", name], ids.as_bytes());
        let packs = store.take_over(&source.git_dir()).expect("the packs are whole");
        refs::add_packs(&store, PROJECT, &packs);
        let all = refs_of(&source.git_dir());
        let all: Vec<_> = all.iter().cloned().collect();
        refs::write_refs(&repository, None, &all);
        Self { folder, store, repository, packs }
    }

    fn git(&self, args: &[&str]) -> String {
        let output = git_command().arg("-C").arg(&self.repository).args(args).output();
        let output = output.expect("git runs");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{args:?}: {errors}");
        String::from_utf8(output.stdout).expect("text") + &errors
    }

    /// Merges packs, and replaces the merged packs by the new pack in the list of packs.
    fn merge(&mut self) -> bool {
        let merged = self.store.merge_packs(PROJECT, &self.packs).expect("they can be merged");
        let Some(MergedPacks { pack, replaced }) = merged else { return false };
        self.packs.retain(|one| !replaced.contains(&one.name));
        self.packs.push(pack);
        refs::replace_packs(&self.store, PROJECT, &self.packs);
        true
    }

    fn linked(&self) -> Vec<PathBuf> {
        files(&self.repository.join("objects/pack"), "pack")
    }

    /// Every object with its kind and size.
    fn objects(&self) -> String {
        self.git(&["cat-file", "--batch-check", "--batch-all-objects"])
    }
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = folder.read_dir().expect("a folder").map(|entry| entry.expect("a file").path());
    entries.filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
}

#[test]
fn many_packs_become_one_with_all_that_they_had() {
    let mut forge = Forge::new(30);
    let before = forge.objects();
    assert!(forge.linked().len() > 25);
    assert!(forge.merge());
    assert_eq!(forge.linked().len(), 1);
    assert_eq!(forge.objects(), before);
    assert_eq!(forge.git(&["fsck", "--strict", "--full"]), "");
    let pack = forge.linked().remove(0);
    let pack = pack.to_str().expect("a path");
    forge.git(&["verify-pack", pack]);
    forge.git(&["index-pack", "--strict", "-o", "again.idx", pack]);
    assert!(!forge.merge(), "nothing is left to do");
}

#[test]
fn damaged_packs_stay_as_they_are() {
    let forge = Forge::new(5);
    let stored: Vec<PathBuf> = forge.packs.iter().map(|pack| stored_at(&forge, pack)).collect();
    for file in &stored {
        let mut bytes = std::fs::read(file).expect("a pack");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0xff;
        std::fs::remove_file(file).expect("a file");
        std::fs::write(file, bytes).expect("a file");
    }
    // A new store, which has not opened the packs yet.
    let store = refs::store(forge.folder.path());
    let error = store.merge_packs(PROJECT, &forge.packs).expect_err("they are damaged");
    let names = forge.packs.iter().map(|pack| pack.name.to_string());
    assert!(names.into_iter().any(|name| error.to_string().contains(&name)), "{error}");
    assert!(stored.iter().all(|file| file.exists()));
}

fn stored_at(forge: &Forge, pack: &Pack) -> PathBuf {
    let name = pack.name.to_string();
    forge.folder.path().join("packs").join(&name[..2]).join(format!("{name}.pack"))
}

#[test]
fn whoever_reads_meanwhile_notices_nothing() {
    let mut forge = Forge::new(60);
    let store = forge.store.clone();
    let refs: Mutex<Arc<Snapshot>> = Mutex::new(refs_of(&forge.repository));
    let open = || {
        let refs = Arc::clone(&refs.lock().expect("no panic"));
        store.open(PROJECT, refs, Caller::BACKGROUND).expect("it opens")
    };
    let tip = open().resolve("master");
    let tip = tip.expect("it reads").expect("a commit").commit;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let mut rounds = 0;
                    while !stop.load(Ordering::Relaxed) || rounds == 0 {
                        let repository = open();
                        let between = repository.commits_between(&[], tip, 100);
                        assert_eq!(between.expect("it reads").0, 60);
                        repository.changed_paths(tip).expect("it reads");
                        rounds += 1;
                    }
                })
            })
            .collect();
        assert!(forge.merge());
        *refs.lock().expect("no panic") = refs_of(&forge.repository);
        std::thread::sleep(Duration::from_millis(50));
        stop.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().expect("the reader found everything");
        }
    });
}
