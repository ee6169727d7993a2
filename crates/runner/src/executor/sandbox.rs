//! The `sandbox` executor: bubblewrap gives each build its own namespaces, a read-only system, and a private home and
//! temporary folder.

use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::shell::{arguments, find_shell};
use super::{BuildFacts, DEFAULT_PATH, Folders, Step, find_program, text};
use crate::config::Runner;
use crate::error::Error;
use crate::script::Shell;
use crate::supervisor::Spec;

/// The folders of the system that builds see, read-only.
const SYSTEM: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt"];

/// The home of builds, inside of the sandbox.
const HOME: &str = "/home/build";

/// Runs scripts in bubblewrap.
#[derive(Debug)]
pub struct SandboxExecutor {
    bwrap: PathBuf,
    program: PathBuf,
    shell: Shell,
    network: bool,
    folders: Folders,
    /// Files in the folders of the system that builds must not read.
    hidden: Vec<PathBuf>,
    memory: Option<u64>,
    processes: Option<u64>,
}

impl SandboxExecutor {
    /// Finds bubblewrap and a shell.
    /// # Errors
    /// One of them is not installed.
    pub fn new(runner: &Runner, folders: &Folders, build: &BuildFacts<'_>) -> Result<Self, Error> {
        let bwrap = find_program("bwrap").ok_or_else(|| {
            Error::step(
                "the sandbox executor needs the program `bwrap`: install the package bubblewrap on this runner",
            )
        })?;
        let (program, shell) = find_shell()?;
        let home = folders.private.join("home");
        fs::create_dir_all(&home).map_err(Error::at(&home))?;
        let config = fs::canonicalize(build.config).ok();
        let hidden = config.filter(|file| SYSTEM.iter().any(|folder| file.starts_with(folder)));
        Ok(Self {
            bwrap,
            program,
            shell,
            network: runner.network,
            folders: folders.clone(),
            hidden: hidden.into_iter().collect(),
            memory: runner.limits().memory,
            processes: runner.processes,
        })
    }

    pub(super) fn shell(&self) -> Shell {
        self.shell
    }

    pub(super) fn describe(&self) -> String {
        format!("Using the sandbox executor, network {}", if self.network { "on" } else { "off" })
    }

    /// All options are passed in a file on standard input, because everybody can read command lines and the variables
    /// contain secrets.
    pub(super) fn command(&self, step: &Step<'_>) -> Result<Spec, Error> {
        let file = step.script.with_extension("args");
        let mut options = self.options(step).join("\0");
        options.push('\0');
        let mut open = fs::OpenOptions::new();
        let open = open.write(true).create(true).truncate(true).mode(0o600).open(&file);
        open.and_then(|mut open| std::io::Write::write_all(&mut open, options.as_bytes()))
            .map_err(Error::at(&file))?;
        let mut all =
            vec!["--args".to_owned(), "0".to_owned(), "--".to_owned(), text(&self.program)];
        all.extend(arguments(self.shell, text(step.script)));
        Ok(Spec {
            program: self.bwrap.clone(),
            arguments: all,
            environment: vec![],
            folder: self.folders.private.clone(),
            input: Some(file),
            memory: self.memory,
            processes: self.processes,
            ..Spec::default()
        })
    }

    fn options(&self, step: &Step<'_>) -> Vec<String> {
        let mut options: Vec<String> = [
            "--die-with-parent",
            "--new-session",
            "--unshare-user-try",
            "--unshare-pid",
            "--unshare-ipc",
            "--unshare-uts",
            "--unshare-cgroup-try",
            "--hostname",
            "build",
            "--clearenv",
        ]
        .map(str::to_owned)
        .into();
        // The steps of the runner itself fetch sources from the server.
        if !self.network && !step.is_own {
            options.push("--unshare-net".to_owned());
        }
        let mut add =
            |option: &[&str]| options.extend(option.iter().map(|part| (*part).to_owned()));
        for folder in SYSTEM {
            match fs::read_link(folder) {
                Ok(target) => add(&["--symlink", &text(&target), folder]),
                Err(_) => add(&["--ro-bind-try", folder, folder]),
            }
        }
        for file in &self.hidden {
            add(&["--ro-bind", "/dev/null", &text(file)]);
        }
        add(&[
            "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp",
            "--tmpfs", "/run",
        ]);
        // The resolver of many systems is a link into this folder.
        add(&["--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve"]);
        add(&["--bind", &text(&self.folders.private.join("home")), HOME]);
        let project = mounted(&self.folders.project, step.is_own);
        add(&["--bind", &project, &project]);
        if !step.is_own {
            // The history, which later builds use too.
            let mirror = text(&self.folders.mirror());
            add(&["--ro-bind-try", &mirror, &mirror]);
        }
        let (script, folder) = (text(step.script), text(step.folder));
        add(&["--ro-bind", &script, &script, "--chdir", &folder]);
        for (key, value) in
            [("PATH", DEFAULT_PATH), ("HOME", HOME), ("USER", "build"), ("TMPDIR", "/tmp")]
        {
            add(&["--setenv", key, value]);
        }
        for (key, value) in step.variables {
            add(&["--setenv", key, value]);
        }
        options
    }
}

/// The folder that is writable in the sandbox: the working copy, or the folder above it for the steps of the runner
/// itself, because they remove and create the working copy.
fn mounted(project: &Path, is_own: bool) -> String {
    let above = project.parent().filter(|_| is_own);
    text(above.unwrap_or(project))
}
