//! Repositories in temporary folders, created by the real git.
//!
//! Unit tests and integration tests share this file; each uses only a part of it.
#![allow(dead_code)]

pub mod refs;

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The date of the first commit of a [`Scratch`]. Each further commit is a minute later.
pub const FIRST_COMMIT: i64 = 1_400_000_000;

/// A repository with a working tree, removed on drop.
pub struct Scratch {
    folder: TempDir,
    commits: Cell<i64>,
}

impl Scratch {
    /// Creates an empty repository whose HEAD is the branch `master`.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let scratch = Self { folder, commits: Cell::new(0) };
        scratch.git(&["init", "--quiet", "--initial-branch=master", "."]);
        scratch
    }

    /// The working tree.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The repository itself.
    pub fn git_dir(&self) -> PathBuf {
        self.path().join(".git")
    }

    /// Runs git and returns its output without the final line break.
    pub fn git(&self, args: &[&str]) -> String {
        let output = self.git_bytes(args, b"");
        let text = String::from_utf8(output).expect("git printed UTF-8");
        text.trim_end_matches('\n').to_owned()
    }

    /// Runs git with this input and returns its output.
    pub fn git_bytes<Arg: AsRef<OsStr>>(&self, args: &[Arg], input: &[u8]) -> Vec<u8> {
        let (ok, stdout, stderr) = self.try_git(args, input);
        let args: Vec<_> = args.iter().map(AsRef::as_ref).collect();
        assert!(ok, "git {args:?}: {}", String::from_utf8_lossy(&stderr));
        stdout
    }

    /// Runs git and returns whether it succeeded, its output and its error output.
    pub fn try_git<Arg: AsRef<OsStr>>(
        &self,
        args: &[Arg],
        input: &[u8],
    ) -> (bool, Vec<u8>, Vec<u8>) {
        let mut git = git_command();
        git.current_dir(self.path()).args(args).envs(self.dates());
        run_command(git, input)
    }

    fn dates(&self) -> [(&'static str, String); 2] {
        let date = format!("{} +0200", FIRST_COMMIT + 60 * self.commits.get());
        [("GIT_AUTHOR_DATE", date.clone()), ("GIT_COMMITTER_DATE", date)]
    }

    /// Writes a file, and creates its folders.
    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.folder_of(path.as_ref());
        fs::write(path, content).expect("the file can be written");
    }

    /// Removes a file.
    pub fn remove(&self, path: impl AsRef<Path>) {
        fs::remove_file(self.path().join(path)).expect("the file is there");
    }

    /// Renames a file.
    pub fn rename(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) {
        let to = self.folder_of(to.as_ref());
        fs::rename(self.path().join(from), to).expect("the file is there");
    }

    /// Creates a symbolic link.
    pub fn link(&self, path: impl AsRef<Path>, target: &str) {
        symlink(target, self.folder_of(path.as_ref())).expect("the link can be made");
    }

    /// Sets whether a file can be executed.
    pub fn set_executable(&self, path: impl AsRef<Path>, executable: bool) {
        let mode = if executable { 0o755 } else { 0o644 };
        fs::set_permissions(self.path().join(path), fs::Permissions::from_mode(mode))
            .expect("the file is there");
    }

    /// Adds a submodule at a commit to the index.
    pub fn submodule(&self, path: &str, commit: &str) {
        fs::create_dir_all(self.path().join(path)).expect("the folder can be made");
        self.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{commit},{path}")]);
    }

    /// Commits the whole working tree, a minute after the last commit. Returns the commit.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.commit_index(message)
    }

    /// Commits the index.
    pub fn commit_index(&self, message: &str) -> String {
        self.commits.set(self.commits.get() + 1);
        self.git(&["commit", "--quiet", "--allow-empty", "--no-verify", "--message", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Merges a revision into the current branch. Returns the commit.
    pub fn merge(&self, revision: &str) -> String {
        self.commits.set(self.commits.get() + 1);
        self.git(&["merge", "--quiet", "--no-ff", "--message", "Merge", revision]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn folder_of(&self, path: &Path) -> PathBuf {
        let path = self.path().join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).expect("the folder can be made");
        }
        path
    }
}

/// Creates a git command that ignores the configuration of the machine and of the user.
pub fn git_command() -> Command {
    let mut git = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            git.env_remove(name);
        }
    }
    git.env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        // Background maintenance would change packs during a test.
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "gc.auto")
        .env("GIT_CONFIG_VALUE_0", "0")
        .env("GIT_AUTHOR_NAME", "Ada")
        .env("GIT_AUTHOR_EMAIL", "ada@example.com")
        .env("GIT_COMMITTER_NAME", "Grace")
        .env("GIT_COMMITTER_EMAIL", "grace@example.com")
        .env("LC_ALL", "C");
    git
}

/// Runs a command with this input. Returns whether it succeeded, its output and its error output.
pub fn run_command(mut command: Command, input: &[u8]) -> (bool, Vec<u8>, Vec<u8>) {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("git is installed");
    let mut stdin = child.stdin.take().expect("it was asked for");
    let output = std::thread::scope(|scope| {
        // git may end without reading all input.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().expect("git ends")
    });
    (output.status.success(), output.stdout, output.stderr)
}

/// Pseudo-random numbers, the same for the same seed.
pub struct Random(u64);

impl Random {
    /// Creates a generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number less than `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % end
    }

    /// Returns true with the probability 1 in `times`.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// Picks one of these.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}
