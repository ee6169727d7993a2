//! Against the real git, which has to find everything in its place afterwards.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::ports::git::GitStore;
use tempfile::TempDir;

use super::*;
use crate::store::GixStore;
use crate::support::refs::refs_of;
use crate::support::{Scratch, git_command};

const PROJECT: ProjectId = ProjectId(1);

/// A data folder whose one repository has many packs.
struct Forge {
    _folder: TempDir,
    store: GixStore,
    repository: PathBuf,
}

impl Forge {
    fn new(commits: usize) -> Self {
        let source = Scratch::new();
        // Only we tidy here.
        source.git(&["config", "gc.auto", "0"]);
        source.git(&["config", "maintenance.auto", "false"]);
        let folder = tempfile::tempdir().expect("a folder");
        let store = GixStore::new(folder.path(), |_| Ok(()));
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
        // With everything once more, and a tag.
        source.git(&["tag", "-a", "-m", "a tag", "v1"]);
        let ids = source.git(&["rev-list", "--objects", "--all", "--max-count=5"]);
        let ids: String = ids.lines().map(|line| format!("{}\n", &line[..40])).collect();
        let name = source.git_dir().join("objects/pack/pack");
        let name = name.to_str().expect("a path");
        source.git_bytes(&["pack-objects", "-q", name], ids.as_bytes());
        std::fs::create_dir_all(repository.parent().expect("a parent")).expect("folders");
        let copied = git_command()
            .args(["clone", "--quiet", "--mirror", "--local"])
            .args([source.path(), &repository])
            .status();
        assert!(copied.expect("git runs").success());
        Self { _folder: folder, store, repository }
    }

    fn git(&self, args: &[&str]) -> String {
        let output = git_command().arg("-C").arg(&self.repository).args(args).output();
        let output = output.expect("git runs");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{args:?}: {errors}");
        String::from_utf8(output.stdout).expect("text") + &errors
    }

    fn tidy(&self) -> bool {
        tidy(self.store.shared(), &self.repository).expect("it is tidied")
    }

    fn packs(&self) -> Vec<PathBuf> {
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
    let forge = Forge::new(30);
    let before = forge.objects();
    assert!(forge.packs().len() > 25);
    assert!(forge.tidy());
    assert_eq!(forge.packs().len(), 1);
    assert_eq!(forge.objects(), before);
    assert_eq!(forge.git(&["fsck", "--strict", "--full"]), "");
    let pack = forge.packs().remove(0);
    let pack = pack.to_str().expect("a path");
    forge.git(&["verify-pack", pack]);
    forge.git(&["index-pack", "--strict", "-o", "again.idx", pack]);
    assert!(!forge.tidy(), "nothing is left to do");
}

#[test]
fn packs_that_others_keep_stay() {
    let forge = Forge::new(5);
    let kept = forge.packs().remove(0);
    std::fs::write(kept.with_extension("keep"), "").expect("a file");
    assert!(forge.tidy());
    assert_eq!(forge.packs().len(), 2);
    assert!(kept.exists());
    assert_eq!(forge.git(&["fsck", "--strict", "--full"]), "");
}

#[test]
fn damaged_packs_stay_as_they_are() {
    let forge = Forge::new(5);
    let packs = forge.packs();
    for pack in &packs {
        let mut bytes = std::fs::read(pack).expect("a pack");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0xff;
        std::fs::remove_file(pack).expect("a file");
        std::fs::write(pack, bytes).expect("a file");
    }
    tidy(forge.store.shared(), &forge.repository).expect_err("it is damaged");
    assert_eq!(forge.packs().len(), packs.len());
}

#[test]
fn whoever_reads_meanwhile_notices_nothing() {
    let forge = Forge::new(60);
    let refs = refs_of(&forge.repository);
    let open = || {
        let opened = forge.store.open(PROJECT, Arc::clone(&refs), Caller::BACKGROUND);
        opened.expect("it opens")
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
        assert!(forge.tidy());
        std::thread::sleep(Duration::from_millis(50));
        stop.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().expect("the reader found everything");
        }
    });
}

#[test]
fn it_is_done_in_the_background() {
    let forge = Forge::new(30);
    let shared = Arc::clone(forge.store.shared());
    let open = shared.open(PROJECT).expect("it opens").expect("it is there");
    shared.make_room(PROJECT, &open);
    let begun = Instant::now();
    while forge.packs().len() > 1 {
        assert!(begun.elapsed() < Duration::from_secs(30), "it is not tidied");
        std::thread::sleep(Duration::from_millis(10));
    }
}
