//! The git program, for clients, for the oracle and for pushes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The configuration of every git process, including those that serve `file://` URLs: no garbage collection, received
/// packs are kept, and all kinds of fetches are allowed.
const CONFIGURATION: &str = "\
[safe]
\tdirectory = *
[gc]
\tauto = 0
[maintenance]
\tauto = false
[receive]
\tautogc = false
\tunpackLimit = 1
[uploadpack]
\tallowFilter = true
\tallowAnySHA1InWant = true
[init]
\tdefaultBranch = main
[advice]
\tdetachedHead = false
[user]
\tname = Ada
\temail = ada@example.com
";

/// git with its own configuration, and a folder for all files that it creates.
pub struct Git {
    folder: TempDir,
}

/// The outcome of a git command.
pub struct Run {
    /// The command line.
    pub line: String,
    pub success: bool,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Git {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        std::fs::write(folder.path().join("config"), CONFIGURATION)
            .expect("a file can be written there");
        Self { folder }
    }

    /// An empty folder with this name.
    pub fn new_folder(&self, name: &str) -> PathBuf {
        let folder = self.folder.path().join(name);
        std::fs::create_dir_all(&folder).expect("a folder can be made there");
        folder
    }

    /// A git command in a folder, independent of the user's configuration.
    pub fn command(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command
            .args(arguments)
            .current_dir(folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", self.folder.path().join("config"))
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .stdin(Stdio::null());
        command
    }

    /// Runs a git command that may fail.
    pub fn run(&self, folder: &Path, arguments: &[&str]) -> Run {
        Run::of(&mut self.command(folder, arguments))
    }

    /// Runs a git command that must succeed, and returns its output as bytes.
    #[track_caller]
    pub fn bytes(&self, folder: &Path, arguments: &[&str]) -> Vec<u8> {
        let run = self.run(folder, arguments);
        assert!(run.success, "{}\n{}", run.line, run.stderr);
        run.stdout
    }

    /// The same as text, without the last line end.
    #[track_caller]
    pub fn text(&self, folder: &Path, arguments: &[&str]) -> String {
        let bytes = self.bytes(folder, arguments);
        String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_owned()
    }

    /// The same as lines.
    #[track_caller]
    pub fn lines(&self, folder: &Path, arguments: &[&str]) -> Vec<String> {
        self.text(folder, arguments).lines().map(str::to_owned).collect()
    }
}

impl Run {
    /// Runs a command and waits for its end.
    pub fn of(command: &mut Command) -> Self {
        let folder = command.get_current_dir().map(Path::to_owned).unwrap_or_default();
        let arguments: Vec<_> = command.get_args().map(|one| one.to_string_lossy()).collect();
        let line = format!("(in {}) git {}", folder.display(), arguments.join(" "));
        let output = command.output().expect("git can be started");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Self { line, success: output.status.success(), stdout: output.stdout, stderr }
    }

    /// The output as lines, or the error.
    pub fn into_lines(self) -> Result<Vec<String>, String> {
        if !self.success {
            return Err(format!("{}\n{}", self.line, self.stderr.trim_end()));
        }
        Ok(String::from_utf8_lossy(&self.stdout).lines().map(str::to_owned).collect())
    }
}
