//! The `shell` executor: builds are processes of the user of the runner. It isolates nothing.

use std::path::PathBuf;

use super::{Folders, Step, find_program, host_environment, text};
use crate::cgroup::Limits;
use crate::config::Runner;
use crate::error::Error;
use crate::script::Shell;
use crate::supervisor::Spec;
use crate::user::User;

/// Runs scripts with bash, or with sh where there is no bash.
#[derive(Debug)]
pub struct ShellExecutor {
    program: PathBuf,
    pub(super) shell: Shell,
    environment: Vec<(String, String)>,
    user: Option<User>,
    memory: Option<u64>,
    processes: Option<u64>,
}

impl ShellExecutor {
    /// Finds a shell.
    /// # Errors
    /// There is none.
    pub fn new(runner: &Runner, folders: &Folders) -> Result<Self, Error> {
        let (program, shell) = find_shell()?;
        let temporary = temporary(folders);
        std::fs::create_dir_all(&temporary).map_err(Error::at(&temporary))?;
        let user = runner.build_user()?;
        if let Some(user) = &user {
            user.make_owner_of(&temporary)?;
        }
        let Limits { memory, processes, .. } = runner.limits();
        let environment = environment(user.as_ref(), folders);
        Ok(Self { program, shell, environment, user, memory, processes })
    }

    pub(super) fn user(&self) -> Option<&User> {
        self.user.as_ref()
    }

    pub(super) fn command(&self, step: &Step<'_>) -> Spec {
        let mut environment = self.environment.clone();
        environment.extend(step.variables.iter().cloned());
        Spec {
            program: self.program.clone(),
            arguments: arguments(self.shell, text(step.script)),
            environment,
            folder: step.folder.to_owned(),
            memory: self.memory,
            processes: self.processes,
            user: self.user.as_ref().map(|user| (user.id, user.group)),
            ..Spec::default()
        }
    }
}

/// The folder for temporary files of a build.
fn temporary(folders: &Folders) -> PathBuf {
    folders.private.join("tmp")
}

/// The environment of builds that run as `user`, or as the user of the runner.
pub(super) fn environment(user: Option<&User>, folders: &Folders) -> Vec<(String, String)> {
    let mut environment = host_environment();
    environment.push(("TMPDIR".to_owned(), text(&temporary(folders))));
    if let Some(user) = user {
        for (key, value) in [("HOME", &user.home), ("USER", &user.name), ("LOGNAME", &user.name)] {
            environment.push((key.to_owned(), value.clone()));
        }
    }
    environment
}

/// The arguments with which a shell runs a script and reads no files of the user.
pub(super) fn arguments(shell: Shell, script: String) -> Vec<String> {
    match shell {
        Shell::Bash => vec!["--noprofile".into(), "--norc".into(), script],
        Shell::Posix => vec![script],
    }
}

/// Finds bash, or else sh.
pub(super) fn find_shell() -> Result<(PathBuf, Shell), Error> {
    let bash = find_program("bash").map(|program| (program, Shell::Bash));
    let found = bash.or_else(|| Some((find_program("sh")?, Shell::Posix)));
    found.ok_or_else(|| Error::step("neither bash nor sh is installed on this runner"))
}
