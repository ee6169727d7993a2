//! The `sandbox` executor: bubblewrap gives each build its own namespaces, a read-only system, and a private home and
//! temporary folder.

use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::shell::{arguments, find_shell};
use super::{BuildFacts, DEFAULT_PATH, Folders, Step, StepOwner, find_program, text};
use crate::config::Runner;
use crate::error::Error;
use crate::script::Shell;
use crate::supervisor::Spec;
use crate::user::{self, User};

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
    /// The user of the builds, if it is not that of the runner.
    user: Option<User>,
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
        let user = runner.build_user()?;
        if let Some(user) = &user {
            user.make_owner_of(&home)?;
        }
        // A file that the build user cannot reach is not hidden.
        let find = || fs::canonicalize(build.config).map_err(Error::at(build.config));
        let config = user::run_as(user.as_ref(), find).ok();
        let hidden = config.filter(|file| is_in_system(file));
        Ok(Self {
            bwrap,
            program,
            shell,
            network: runner.network,
            folders: folders.clone(),
            hidden: hidden.into_iter().collect(),
            user,
            memory: runner.limits().memory,
            processes: runner.processes,
        })
    }

    pub(super) fn shell(&self) -> Shell {
        self.shell
    }

    pub(super) fn user(&self) -> Option<&User> {
        self.user.as_ref()
    }

    pub(super) fn describe(&self) -> String {
        let network = if self.network { "on" } else { "off" };
        match &self.user {
            Some(user) => format!("Using the sandbox executor as {}, network {network}", user.name),
            None => format!("Using the sandbox executor, network {network}"),
        }
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
            user: self.user.as_ref().map(|user| (user.id, user.group)),
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
            // With capabilities a job could mount the system again, writable.
            "--cap-drop",
            "ALL",
        ]
        .map(str::to_owned)
        .into();
        // The steps of the runner itself fetch sources from the server.
        if !self.network && step.owner == StepOwner::Job {
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
        // Hides the working copies of other projects and the records of other builds.
        if let Some(builds) = self.folders.builds().filter(|folder| is_in_system(folder)) {
            add(&["--tmpfs", &text(builds)]);
        }
        add(&[
            "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp",
            "--tmpfs", "/run",
        ]);
        // The resolver of many systems is a link into this folder.
        add(&["--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve"]);
        add(&["--bind", &text(&self.folders.private.join("home")), HOME]);
        let project = mounted(&self.folders.project, step.owner);
        add(&["--bind", &project, &project]);
        if step.owner == StepOwner::Job {
            // The history, which later builds use too.
            let mirror = text(&self.folders.mirror());
            add(&["--ro-bind-try", &mirror, &mirror]);
        }
        let (script, folder) = (text(step.script), text(step.folder));
        add(&["--ro-bind", &script, &script, "--chdir", &folder]);
        for (key, value) in environment().iter().chain(step.variables) {
            add(&["--setenv", key, value]);
        }
        options
    }
}

/// The environment of builds.
pub(super) fn environment() -> Vec<(String, String)> {
    [("PATH", DEFAULT_PATH), ("HOME", HOME), ("USER", "build"), ("TMPDIR", "/tmp")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into()
}

/// Whether builds could read a file or folder, because it is in one of the folders of the system.
fn is_in_system(path: &Path) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}

/// The folder that is writable in the sandbox: the working copy, or the folder above it for the steps of the runner
/// itself, because they remove and create the working copy.
fn mounted(project: &Path, owner: StepOwner) -> String {
    let above = project.parent().filter(|_| owner == StepOwner::Runner);
    text(above.unwrap_or(project))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_builds_are_hidden_in_folders_of_the_system() {
        for (builds, expected) in [("/opt/ci/builds", true), ("/srv/builds", false)] {
            let builds = Path::new(builds);
            let folders = Folders {
                project: builds.join("runner-1/0/3/group/app"),
                private: builds.join("tmp/build-7-x"),
            };
            let sandbox = SandboxExecutor {
                bwrap: "bwrap".into(),
                program: "bash".into(),
                shell: Shell::Bash,
                network: true,
                folders: folders.clone(),
                hidden: vec![],
                user: None,
                memory: None,
                processes: None,
            };
            let step = Step {
                script: &folders.private.join("scripts/script"),
                folder: &folders.project,
                variables: &[],
                owner: StepOwner::Job,
            };
            let options = sandbox.options(&step).join(" ");
            let hides = format!("--tmpfs {}", builds.display());
            let binds = format!("--bind {}", folders.project.display());
            let (hides, binds) = (options.find(&hides), options.find(&binds));
            assert_eq!(hides.is_some(), expected, "{options}");
            assert!(binds.is_some() && hides < binds, "{options}");
        }
    }
}
