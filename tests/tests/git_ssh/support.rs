//! Helpers of the tests of git over SSH: a user with a key, a project and a work tree.

use std::net::SocketAddr;
use std::process::Command;

use hexforge_tests::ssh_client::Identity;
use hexforge_tests::{Forge, WorkTree};
use serde_json::Value;

/// The outcome of a process.
#[derive(Debug)]
pub struct CommandOutput {
    pub success: bool,
    pub stdout: String,
    pub stderr: String,
}

impl CommandOutput {
    #[track_caller]
    pub fn ok(self) -> String {
        assert!(self.success, "{}", self.stderr);
        self.stdout.trim_end().to_owned()
    }

    /// Asserts that the process failed, and that its error output has all of these texts.
    #[track_caller]
    pub fn refused(self, texts: &[&str]) {
        assert!(!self.success, "it was not refused: {}", self.stderr);
        for text in texts {
            assert!(self.stderr.contains(text), "{text:?} is not in: {}", self.stderr);
        }
    }
}

/// Runs a command.
pub fn run(command: &mut Command) -> CommandOutput {
    let output = command.output().expect("it can be started");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    CommandOutput {
        success: output.status.success(),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

/// A git command in a work tree that uses SSH with this key.
pub fn git(tree: &WorkTree, key: &Identity, server: SocketAddr, arguments: &[&str]) -> Command {
    let mut command = tree.command(arguments);
    command.env("GIT_SSH_COMMAND", key.git_ssh_command(server));
    command.env("GIT_TERMINAL_PROMPT", "0");
    command
}

/// The private project `ada/ship`, and the key of its owner ada.
pub struct Scene {
    pub ssh: SocketAddr,
    pub ada: String,
    pub project: i64,
    pub key: Identity,
    pub key_id: i64,
    pub tree: WorkTree,
    _elsewhere: tempfile::TempDir,
}

impl Scene {
    pub fn new(forge: &Forge) -> Self {
        Self::on(forge, forge.ssh())
    }

    pub fn on(forge: &Forge, ssh: SocketAddr) -> Self {
        let (_, ada) = forge.user("ada");
        let fields = [("name", "ship"), ("visibility_level", "0")];
        let project = forge.post("/projects").token(&ada).form(&fields).send().expect(201);
        let key = Identity::new();
        let key_id = register(forge, &ada, &key);
        let elsewhere = tempfile::tempdir().expect("a temporary folder can be made");
        let tree = WorkTree::new(&elsewhere.path().join("unused.git"));
        let project = project["id"].as_i64().expect("projects have ids");
        Self { ssh, ada, project, key, key_id, tree, _elsewhere: elsewhere }
    }

    /// The same with one commit on `master`.
    pub fn filled(forge: &Forge) -> Self {
        let scene = Self::new(forge);
        scene.fill();
        scene
    }

    pub fn fill(&self) {
        self.tree.write("README", "hello\n").commit("Begin\n");
        self.git(&["push", "-q", &self.address(), "master"]).ok();
    }

    pub fn address(&self) -> String {
        address(self.ssh, "ada/ship.git")
    }

    /// Runs git as ada.
    pub fn git(&self, arguments: &[&str]) -> CommandOutput {
        run(&mut git(&self.tree, &self.key, self.ssh, arguments))
    }
}

/// The SSH URL of a repository.
pub fn address(server: SocketAddr, path: &str) -> String {
    format!("ssh://git@{server}/{path}")
}

/// Registers a key, and returns its id.
pub fn register(forge: &Forge, token: &str, key: &Identity) -> i64 {
    let fields = [("title", "laptop"), ("key", &key.public())];
    let made: Value = forge.post("/user/keys").token(token).form(&fields).send().expect(201);
    made["id"].as_i64().expect("keys have ids")
}
