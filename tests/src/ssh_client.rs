//! The real `ssh` client, with a key of its own.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A key pair, created by `ssh-keygen`.
pub struct Identity {
    folder: TempDir,
}

impl Identity {
    /// Creates an Ed25519 key.
    pub fn new() -> Self {
        Self::generate(&["-t", "ed25519"])
    }

    /// Creates a key with these arguments of `ssh-keygen`, for example its type.
    pub fn generate(kind: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let made = Command::new("ssh-keygen")
            .args(["-q", "-N", "", "-C", "me@home", "-f"])
            .arg(folder.path().join("key"))
            .args(kind)
            .status()
            .expect("ssh-keygen can be started");
        assert!(made.success(), "a key can be made");
        Self { folder }
    }

    /// The public key, as it is registered.
    pub fn public(&self) -> String {
        let file = self.folder.path().join("key.pub");
        std::fs::read_to_string(file).expect("ssh-keygen made it").trim().to_owned()
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("key")
    }

    /// A folder for other files of this client.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    fn options(&self, port: u16) -> Vec<String> {
        let options = [
            "IdentitiesOnly=yes",
            "IdentityAgent=none",
            "StrictHostKeyChecking=no",
            "UserKnownHostsFile=/dev/null",
            "BatchMode=yes",
            "LogLevel=ERROR",
        ];
        let mut all = vec!["-F".to_owned(), "/dev/null".to_owned()];
        all.extend(["-i".to_owned(), self.file().display().to_string()]);
        all.extend(["-p".to_owned(), port.to_string()]);
        all.extend(options.iter().flat_map(|option| ["-o".to_owned(), (*option).to_owned()]));
        all
    }

    /// The value of `GIT_SSH_COMMAND` for this key.
    pub fn git_ssh_command(&self, server: SocketAddr) -> String {
        format!("ssh {}", self.options(server.port()).join(" "))
    }

    /// `ssh` with arguments before and after the host name.
    pub fn ssh(&self, server: SocketAddr, before: &[&str], after: &[&str]) -> Command {
        let mut ssh = Command::new("ssh");
        ssh.args(self.options(server.port()))
            .args(before)
            .arg(format!("git@{}", server.ip()))
            .args(after)
            .stdin(Stdio::null());
        ssh
    }

    /// Runs a command on the server. Returns exit code, standard output and standard error.
    pub fn run(&self, server: SocketAddr, command: &str) -> (Option<i32>, String, String) {
        output_of(self.ssh(server, &[], &[command]))
    }
}

impl Default for Identity {
    fn default() -> Self {
        Self::new()
    }
}

/// Runs a command. Returns exit code, standard output and standard error.
pub fn output_of(mut command: Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().expect("it can be started");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code(), text(stdout), text(stderr))
}
