//! Repositories to import, and stores to import them into.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::imports::{ImportError, Imported, Imports};
use hexforge_git_gix::{GixStore, HttpImports, ImportLimits};
use tempfile::TempDir;

use crate::backend::{Backend, Network};
use crate::support::refs;

pub const PROJECT: ProjectId = ProjectId(7);

/// Runs git and returns its output.
pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "Ada")))
        .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "ada@example.com")))
        .output()
        .expect("git is installed");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {said}");
    String::from_utf8(output.stdout).expect("text").trim_end().to_owned()
}

/// A folder of repositories.
pub struct Source(pub TempDir);

impl Source {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// Creates a repository with two branches, several commits, deltas, two kinds of tags, and refs that imports skip.
    pub fn filled() -> Self {
        let source = Self::new();
        let work = source.0.path().join("work");
        git(source.0.path(), &["init", "-q", "-b", "trunk", "work"]);
        let mut text: String = (0..2000).map(|line| format!("line {line}\n")).collect();
        for round in 0..5 {
            text.push_str(&format!("round {round}\n"));
            std::fs::write(work.join("text"), &text).expect("a file");
            git(&work, &["add", "."]);
            git(&work, &["commit", "-q", "-m", &format!("round {round}")]);
        }
        git(&work, &["branch", "topic/ä", "HEAD~2"]);
        git(&work, &["tag", "light", "HEAD~1"]);
        git(&work, &["tag", "-a", "-m", "first", "v1", "HEAD~3"]);
        git(&work, &["update-ref", "refs/pull/1/head", "HEAD"]);
        git(source.0.path(), &["clone", "-q", "--mirror", "work", "a.git"]);
        source
    }

    pub fn empty() -> Self {
        let source = Self::new();
        git(source.0.path(), &["init", "-q", "--bare", "a.git"]);
        source
    }

    pub fn repository(&self) -> PathBuf {
        self.0.path().join("a.git")
    }

    pub fn backend(&self) -> Backend {
        Backend::new(self.0.path())
    }

    /// A network with git's own server for it.
    pub fn network(&self) -> Network {
        let backend = self.backend();
        Network::new(move |request| Ok(backend.answer(&request)))
    }
}

/// A store in a temporary folder.
pub struct Store {
    data: TempDir,
    pub store: GixStore,
}

impl Store {
    pub fn new() -> Self {
        let data = tempfile::tempdir().expect("a folder");
        Self { store: refs::store(data.path()), data }
    }

    pub fn repository(&self) -> PathBuf {
        self.store.layout().repository(PROJECT)
    }

    pub fn import(&self, network: &Arc<Network>, url: &str) -> Result<Imported, ImportError> {
        self.import_within(network, url, ImportLimits::default())
    }

    pub fn import_within(
        &self,
        network: &Arc<Network>,
        url: &str,
        limits: ImportLimits,
    ) -> Result<Imported, ImportError> {
        let network: Arc<Network> = Arc::clone(network);
        let imported = HttpImports::new(&self.store, network, limits).fetch(url)?;
        refs::add_packs(&self.store, PROJECT, &imported.packs);
        Ok(imported)
    }

    /// Returns every file below the data folder.
    pub fn files(&self) -> Vec<PathBuf> {
        fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                match path.is_dir() {
                    true => collect(&path, files),
                    false => files.push(path),
                }
            }
        }
        let mut files = Vec::new();
        collect(self.data.path(), &mut files);
        files
    }

    /// Whether the scratch folder is empty.
    pub fn is_tidy(&self) -> bool {
        match std::fs::read_dir(self.data.path().join("repositories").join("scratch")) {
            Ok(mut entries) => entries.next().is_none(),
            Err(_) => true,
        }
    }
}

/// Lists branches and tags with their targets.
pub fn refs(repository: &Path) -> String {
    git(
        repository,
        &["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/", "refs/tags/"],
    )
}
