//! A work tree of the real git, from which tests fill repositories.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};

use tempfile::TempDir;

use crate::damage::{Damage, damage};
use crate::ref_rows::RefRows;

/// A work tree, and the bare repository that it is pushed to.
pub struct WorkTree {
    folder: TempDir,
    bare: PathBuf,
    rows: Option<RefRows>,
    made: AtomicI64,
}

/// The absolute path of git. For a bare name, `Command` forks this process, which is slow when the process uses much
/// memory.
fn git() -> &'static Path {
    static GIT: OnceLock<PathBuf> = OnceLock::new();
    GIT.get_or_init(|| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&path).map(|folder| folder.join("git"));
        found.into_iter().find(|file| file.is_file()).unwrap_or_else(|| PathBuf::from("git"))
    })
}

/// The time of the first commit in seconds. Each further commit is a minute later.
const FIRST: i64 = 1_474_540_200;

impl WorkTree {
    /// Creates an empty work tree, and the bare repository at this path.
    pub fn new(bare: &Path) -> Self {
        let folder = TempDir::new().expect("a temporary folder can be made");
        let tree = Self { folder, bare: bare.to_owned(), rows: None, made: AtomicI64::new(0) };
        std::fs::create_dir_all(bare).expect("the folder of the repository can be made");
        tree.git(&["init", "-q", "-b", "master"]);
        if !bare.join("HEAD").exists() {
            tree.git(&["init", "-q", "--bare", "-b", "master", &bare.to_string_lossy()]);
        }
        tree
    }

    /// The same; changes of the bare repository are also made to these rows.
    pub fn with_rows(self, rows: RefRows) -> Self {
        Self { rows: Some(rows), ..self }
    }

    /// The folder of the work tree.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The bare repository.
    pub fn bare(&self) -> &Path {
        &self.bare
    }

    /// Runs git in the work tree, and returns its output. Panics if git fails.
    pub fn git(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().expect("git can be started");
        assert!(
            output.status.success(),
            "git {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned()
    }

    /// Runs git in the bare repository.
    pub fn git_bare(&self, arguments: &[&str]) -> String {
        let bare = self.bare.to_string_lossy().into_owned();
        self.change_bare(|| self.git(&[&["--git-dir", &bare], arguments].concat()))
    }

    /// A git command in the work tree, without user or system configuration and with a fixed time.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let moment = format!("{} +0200", FIRST + 60 * self.made.load(Ordering::Relaxed));
        let mut command = Command::new(git());
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            // Automatic garbage collection would change packs during a test.
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "gc.auto")
            .env("GIT_CONFIG_VALUE_0", "0")
            .env("GIT_AUTHOR_NAME", "Ada")
            .env("GIT_AUTHOR_EMAIL", "ada@example.com")
            .env("GIT_COMMITTER_NAME", "Bob")
            .env("GIT_COMMITTER_EMAIL", "bob@example.com")
            .env("GIT_AUTHOR_DATE", &moment)
            .env("GIT_COMMITTER_DATE", &moment)
            .env("TZ", "UTC")
            .stdin(Stdio::null());
        command
    }

    /// Writes a file into the work tree.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let file = self.folder.path().join(path);
        std::fs::create_dir_all(file.parent().expect("a file has a folder"))
            .expect("the folder can be made");
        std::fs::write(file, content).expect("the file can be written");
        self
    }

    /// Commits all changes, and returns the id of the commit.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "--allow-empty-message", "-m", message]);
        self.made.fetch_add(1, Ordering::Relaxed);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Pushes all branches and tags into the bare repository.
    pub fn push(&self) {
        let bare = self.bare.to_string_lossy().into_owned();
        let all = ["refs/heads/*:refs/heads/*", "refs/tags/*:refs/tags/*"];
        self.change_bare(|| self.git(&[&["push", "-q", "--force", &bare], &all[..]].concat()));
    }

    /// Changes the bare repository: copies the refs of the database into it, runs `work`, and copies the result back.
    pub fn change_bare<T>(&self, work: impl FnOnce() -> T) -> T {
        if let Some(rows) = &self.rows {
            rows.write_to(&self.bare);
        }
        let done = work();
        if let Some(rows) = &self.rows {
            rows.read_from(&self.bare);
        }
        done
    }

    /// Damages an object of the bare repository in its packs.
    pub fn damage(&self, revision: &str, how: Damage) {
        damage(&self.bare, &self.git(&["rev-parse", revision]), how);
    }

    /// The refs of a repository, by `git ls-remote`.
    pub fn refs_at(&self, address: &str) -> BTreeMap<String, String> {
        let listed = self.git(&["ls-remote", "--refs", address]);
        let pairs = listed.lines().filter_map(|line| line.split_once('\t'));
        pairs.map(|(id, name)| (name.to_owned(), id.to_owned())).collect()
    }

    /// Clones a repository with all refs, and checks the clone with `git fsck`.
    pub fn assert_sound_at(&self, address: &str) {
        let copy = TempDir::new().expect("a temporary folder can be made");
        let folder = copy.path().to_string_lossy().into_owned();
        self.git(&["clone", "-q", "--mirror", address, &folder]);
        self.git(&["--git-dir", &folder, "fsck", "--strict", "--full"]);
    }

    /// Checks the bare repository with `git fsck`.
    pub fn assert_sound(&self) {
        self.git_bare(&["fsck", "--strict", "--full"]);
    }
}
