//! Commits with file changes, merges and cherry-picks, compared with the real git.

mod commits;
mod merges;
#[path = "../support/mod.rs"]
mod support;

use std::path::PathBuf;

use hexforge_domain::commit::{ObjectId, Signature};
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::git::Repository;
use hexforge_domain::repository::{CommitText, WrittenCommit};
use hexforge_git_gix::GixStore;
use support::{Scratch, git_command, refs, run_command};
use tempfile::TempDir;

const PROJECT: ProjectId = ProjectId(7);

/// A data folder with the repository of one project.
struct World {
    _data: TempDir,
    store: GixStore,
}

impl World {
    /// Creates a store without repositories.
    fn empty() -> Self {
        let data = tempfile::tempdir().expect("a temporary folder can be made");
        let store = refs::store(data.path());
        Self { _data: data, store }
    }

    /// Copies a repository.
    fn with(scratch: &Scratch) -> Self {
        let world = Self::empty();
        let bare = world.bare();
        std::fs::create_dir_all(bare.parent().expect("it has a folder")).expect("it can be made");
        scratch.git(&["clone", "-q", "--mirror", ".", &bare.to_string_lossy()]);
        world
    }

    fn bare(&self) -> PathBuf {
        self.store.layout().repository(PROJECT)
    }

    fn open(&self) -> Box<dyn Repository> {
        refs::open(&self.store, PROJECT)
    }

    /// Adds the pack of a new commit to the repository, and returns the commit as git names it.
    fn keep(&self, written: WrittenCommit) -> String {
        refs::add_packs(&self.store, PROJECT, &[written.pack]);
        written.id.to_string()
    }

    fn git(&self, arguments: &[&str]) -> String {
        let text = self.git_bytes(arguments, b"");
        String::from_utf8_lossy(&text).trim_end_matches('\n').to_owned()
    }

    fn git_bytes(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let mut git = git_command();
        git.current_dir(self.bare()).args(arguments);
        git.env("GIT_INDEX_FILE", self.bare().join("test-index"));
        let (ok, output, error) = run_command(git, input);
        assert!(ok, "{arguments:?} {}", String::from_utf8_lossy(&error));
        output
    }
}

fn id(hex: &str) -> ObjectId {
    ObjectId::parse(hex).expect("git prints ids")
}

fn person(name: &str, seconds: i64, offset: i32) -> Signature {
    let email = format!("{}@example.com", name.to_lowercase());
    Signature { name: name.into(), email, at: Signature::time(seconds, offset) }
}

fn text(message: &str) -> CommitText {
    CommitText {
        message: message.into(),
        author: person("Ada", 1_479_400_000, 7200),
        committer: person("Grace", 1_479_400_001, -19_800),
    }
}
