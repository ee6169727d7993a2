//! The commands of a build: scripts with their variables and limits.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::Job;
use crate::config::ExecutorKind;
use crate::error::Error;
use crate::executor::{Executor, Step, StepOwner};
use crate::process::{self, Ended, Output};
use crate::script::{self, Hosts};
use crate::supervisor::Spec;
use crate::user;

/// The time limit of commands such as the removal of a container.
const QUIET_TIMEOUT: Duration = Duration::from_secs(60);

impl Job<'_> {
    /// A step of the job itself.
    pub(super) fn job_step(
        &self,
        executor: &Executor,
        name: &str,
        text: &str,
    ) -> Result<Spec, Error> {
        let variables = self.variables(script::git_environment(&self.plan.sources.origin));
        let script = self.write_script(executor, name, text)?;
        let folder = &self.folders.project;
        let step = Step { script: &script, folder, variables: &variables, owner: StepOwner::Job };
        Ok(self.confined(executor, executor.command(&step)?))
    }

    /// A step of the runner, such as fetching the sources. It gets no variable of the build but the token and the
    /// switches of git.
    pub(super) fn runner_step(
        &self,
        executor: &Executor,
        name: &str,
        text: &str,
        folder: &Path,
    ) -> Result<Spec, Error> {
        let runner = &self.context.runner;
        let hosts = match runner.executor {
            ExecutorKind::Sandbox | ExecutorKind::Container if !runner.network => Hosts::Server,
            ExecutorKind::Shell | ExecutorKind::Sandbox | ExecutorKind::Container => Hosts::All,
        };
        let mut variables = script::runner_git_environment(&self.plan.sources.origin, hosts);
        variables.push(("CI_BUILD_TOKEN".to_owned(), self.assignment.token.clone()));
        variables.extend(self.plan.sources.switches.iter().cloned());
        let script = self.write_script(executor, name, text)?;
        let step =
            Step { script: &script, folder, variables: &variables, owner: StepOwner::Runner };
        let spec = self.confined(executor, executor.command(&step)?);
        // This limit counts all processes of the user, also those of other builds.
        Ok(Spec { processes: None, ..spec })
    }

    /// Adds the limits of all processes of a build together.
    pub(super) fn confined(&self, executor: &Executor, spec: Spec) -> Spec {
        let spec = Spec { busy: Some(self.slot.busy.clone()), ..spec };
        match executor {
            // The engine has limits of its own.
            Executor::Container(_) => spec,
            Executor::Shell(_) | Executor::Sandbox(_) => {
                let group = self.group.map(|group| group.paths.clone());
                let spec = Spec { group, ..spec };
                if self.is_limited { Spec { memory: None, processes: None, ..spec } } else { spec }
            }
        }
    }

    fn variables(&self, git: Vec<(String, String)>) -> Vec<(String, String)> {
        let given =
            self.plan.variables.iter().map(|(key, value)| (key.to_owned(), value.to_owned()));
        git.into_iter().chain(given).collect()
    }

    fn write_script(&self, executor: &Executor, name: &str, text: &str) -> Result<PathBuf, Error> {
        let folder = self.folders.private.join("scripts");
        fs::create_dir_all(&folder).map_err(Error::at(&folder))?;
        let file = folder.join(name);
        fs::write(&file, text).map_err(Error::at(&file))?;
        if let Some(user) = executor.user() {
            user::open_folder(&folder)?;
            user.make_owner_of(&file)?;
        }
        Ok(file)
    }

    /// Runs a command with its output in the log.
    pub(super) async fn execute(&mut self, spec: &Spec, deadline: Instant) -> Result<Ended, Error> {
        let log = Arc::clone(&self.log);
        let output: Output = Arc::new(move |bytes| log.write(bytes));
        process::run(spec, output, deadline, &mut self.halted).await
    }

    /// Runs a command of the runner, whatever its result, also after the build was canceled.
    pub(super) async fn run_quietly(&self, spec: &Spec) {
        let quiet: Output = Arc::new(|_| ());
        let (_open, mut never) = watch::channel(false);
        let deadline = Instant::now() + QUIET_TIMEOUT;
        let _ = process::run(spec, quiet, deadline, &mut never).await;
    }
}

/// Turns the end of a command into a result.
pub(super) fn check(ended: Ended) -> Result<(), Error> {
    match ended {
        Ended::Exited(0) => Ok(()),
        Ended::Exited(code) => Err(Error::step(format!("exit status {code}"))),
        Ended::TimedOut => Err(Error::step("the time limit of the build was reached")),
        Ended::Stopped => Err(Error::step("the build was canceled or the runner was stopped")),
        Ended::Lost => {
            Err(Error::step("the supervisor of the build was killed, with all its processes"))
        }
    }
}
