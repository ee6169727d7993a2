//! Test repositories, created and read by the real git.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use gix::prelude::ObjectIdExt;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::refs::Snapshot;
use hexforge_domain::repository::{Archive, ArchiveFormat};

use crate::support::refs::refs_of;

/// A repository in a temporary folder.
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let sandbox = Self { folder: tempfile::tempdir().expect("a folder") };
        sandbox.git(&["init", "--quiet", "--initial-branch=master"]);
        sandbox
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs git and returns its output.
    pub(crate) fn git(&self, arguments: &[&str]) -> Vec<u8> {
        self.git_with(arguments, &[])
    }

    /// Runs git with this input and returns its output.
    pub(crate) fn git_with(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let stdin = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(stdin.path(), input).expect("written");
        let output = Command::new("git")
            .args(["-c", "user.name=Ada Lovelace", "-c", "user.email=ada@example.com"])
            .args(arguments)
            .current_dir(self.path())
            .envs([
                ("GIT_CONFIG_GLOBAL", "/dev/null"),
                ("GIT_CONFIG_NOSYSTEM", "1"),
                ("GIT_AUTHOR_DATE", "1700000000 +0200"),
                ("GIT_COMMITTER_DATE", "1700003601 -0330"),
                ("TZ", "UTC"),
            ])
            .stdin(Stdio::from(stdin.reopen().expect("the file")))
            .stderr(Stdio::inherit())
            .output()
            .expect("git runs");
        assert!(output.status.success(), "git {arguments:?}");
        output.stdout
    }

    /// Runs git and returns its output without the final line break.
    pub(crate) fn line(&self, arguments: &[&str]) -> String {
        String::from_utf8(self.git(arguments)).expect("text").trim_end().to_owned()
    }

    pub(crate) fn file(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(&path, content).expect("written");
        path
    }

    pub(crate) fn commit(&self, message: &str) -> ObjectId {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "-m", message]);
        ObjectId::parse(&self.line(&["rev-parse", "HEAD"])).expect("a name")
    }

    pub(crate) fn blob(&self, content: &[u8]) -> gix::ObjectId {
        let name = self.git_with(&["hash-object", "-w", "--stdin"], content);
        gix::ObjectId::from_hex(name.trim_ascii()).expect("a name")
    }

    /// Opens the repository as the adapter does.
    pub(crate) fn open(&self) -> gix::Repository {
        let options = gix::open::Options::isolated();
        gix::open_opts(self.path().join(".git"), options).expect("a repository")
    }

    /// The refs, read from the files of git.
    pub(crate) fn refs(&self) -> Arc<Snapshot> {
        refs_of(&self.path().join(".git"))
    }

    /// The path of a loose object.
    pub(crate) fn loose(&self, id: gix::ObjectId) -> PathBuf {
        let name = id.attach(&self.open()).to_string();
        self.path().join(".git/objects").join(&name[..2]).join(&name[2..])
    }

    pub(crate) fn archive(&self, commit: ObjectId, format: ArchiveFormat) -> Vec<u8> {
        let archive = Archive { commit, format, folder: "shop-master".to_owned() };
        let mut bytes = Vec::new();
        super::write(&self.open(), &self.refs(), &archive, &mut bytes).expect("an archive");
        bytes
    }

    /// The archive that git writes.
    pub(crate) fn git_archive(&self, commit: ObjectId, format: &str) -> Vec<u8> {
        let format = format!("--format={format}");
        self.git(&["archive", "--prefix=shop-master/", &format, &commit.to_string()])
    }
}

/// Incompressible bytes, the same in every run.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// A writer that fails with a broken pipe after this number of bytes.
pub(crate) struct Leaving(pub(crate) usize);

impl std::io::Write for Leaving {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self.0.checked_sub(bytes.len()) {
            Some(left) => self.0 = left,
            None => return Err(std::io::ErrorKind::BrokenPipe.into()),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
