//! Executors: how the scripts of a build become processes.

pub mod container;
pub mod sandbox;
pub mod shell;

use std::path::{Path, PathBuf};

use crate::config::{ExecutorKind, Runner};
use crate::error::Error;
use crate::script::Shell;
use crate::supervisor::Spec;
use crate::user::User;

/// The folders of one build.
#[derive(Clone, Debug)]
pub struct Folders {
    /// The working copy.
    pub project: PathBuf,
    /// Scripts, log and temporary files of the build, removed at its end.
    pub private: PathBuf,
}

impl Folders {
    /// The folder of the working copies, caches and private folders of all builds.
    pub fn builds(&self) -> Option<&Path> {
        self.private.parent()?.parent()
    }

    /// The repository that sources are fetched into, beside the working copy. No path of a project contains `~`.
    pub fn mirror(&self) -> PathBuf {
        let mut name = self.project.as_os_str().to_owned();
        name.push("~mirror");
        name.into()
    }
}

/// One script of a build.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The file of the script.
    pub script: &'a Path,
    /// Where it starts.
    pub folder: &'a Path,
    /// The variables.
    pub variables: &'a [(String, String)],
    /// Whose script it is.
    pub owner: StepOwner,
}

/// The origin of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOwner {
    /// The runner itself, such as the script that fetches the sources. It may use the network to reach the server.
    Runner,
    /// The job.
    Job,
}

/// The executor of one build.
#[derive(Debug)]
pub enum Executor {
    /// Processes of the user of the runner.
    Shell(shell::ShellExecutor),
    /// Namespaces by bubblewrap.
    Sandbox(sandbox::SandboxExecutor),
    /// Containers by podman or docker.
    Container(Box<container::ContainerExecutor>),
}

impl Executor {
    /// Prepares an executor for a build.
    /// # Errors
    /// A program that it needs is not installed.
    pub fn new(runner: &Runner, folders: &Folders, build: &BuildFacts<'_>) -> Result<Self, Error> {
        Ok(match runner.executor {
            ExecutorKind::Shell => Executor::Shell(shell::ShellExecutor::new(runner, folders)?),
            ExecutorKind::Sandbox => {
                Executor::Sandbox(sandbox::SandboxExecutor::new(runner, folders, build)?)
            }
            ExecutorKind::Container => Executor::Container(Box::new(
                container::ContainerExecutor::new(runner, folders, build)?,
            )),
        })
    }

    /// The commands that prepare the build and its services, to be run one after the other.
    pub fn preparation(&self) -> Vec<Spec> {
        match self {
            Executor::Shell(_) | Executor::Sandbox(_) => vec![],
            Executor::Container(container) => container.preparation(),
        }
    }

    /// The commands that start services and run as long as these, with the images of the services.
    pub fn services(&self) -> Vec<(String, Spec)> {
        match self {
            Executor::Shell(_) | Executor::Sandbox(_) => vec![],
            Executor::Container(container) => container.services(),
        }
    }

    /// The command of a step.
    pub fn command(&self, step: &Step<'_>) -> Result<Spec, Error> {
        match self {
            Executor::Shell(shell) => Ok(shell.command(step)),
            Executor::Sandbox(sandbox) => sandbox.command(step),
            Executor::Container(container) => container.command(step),
        }
    }

    /// The command that runs after each step of the job, whatever the exit code of the step.
    pub fn end_of_step(&self) -> Option<Spec> {
        match self {
            Executor::Shell(_) | Executor::Sandbox(_) => None,
            Executor::Container(container) => Some(container.end_of_step()),
        }
    }

    /// The commands that run after the build, whatever its result.
    pub fn cleanup(&self) -> Vec<Spec> {
        match self {
            Executor::Shell(_) | Executor::Sandbox(_) => vec![],
            Executor::Container(container) => container.cleanup(),
        }
    }

    /// The statements before the script that fetches the sources.
    pub fn before_sources(&self) -> &'static str {
        match self {
            Executor::Shell(_) | Executor::Sandbox(_) => "",
            Executor::Container(_) => container::OPEN_SOURCES,
        }
    }

    /// The command that empties the project folder, if jobs can leave files there that their user cannot remove.
    pub fn empty_project(&self) -> Option<Spec> {
        match self {
            Executor::Shell(_) | Executor::Sandbox(_) => None,
            Executor::Container(container) => Some(container.empty_project()),
        }
    }

    /// The shell of the scripts of the job.
    pub fn shell(&self) -> Shell {
        match self {
            Executor::Shell(shell) => shell.shell,
            Executor::Sandbox(sandbox) => sandbox.shell(),
            Executor::Container(_) => Shell::Posix,
        }
    }

    /// The history of earlier builds that the sources may come from.
    pub fn history(&self) -> History {
        match self {
            // Its jobs can reach a mirror as well.
            Executor::Shell(_) => History::WorkingCopy,
            Executor::Sandbox(_) => History::Mirror,
            // Git runs outside of the isolation of the job.
            Executor::Container(_) => History::Nothing,
        }
    }

    /// The user as whom jobs run, if it is not that of the runner.
    pub fn user(&self) -> Option<&User> {
        match self {
            Executor::Shell(shell) => shell.user(),
            Executor::Sandbox(sandbox) => sandbox.user(),
            Executor::Container(_) => None,
        }
    }

    /// One line for the log.
    pub fn describe(&self) -> String {
        match self {
            Executor::Shell(_) => "Using the shell executor".to_owned(),
            Executor::Sandbox(sandbox) => sandbox.describe(),
            Executor::Container(container) => container.describe(),
        }
    }
}

/// The history that is kept between builds, so that less is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// The repository in the working copy.
    WorkingCopy,
    /// A repository that jobs can read and not change.
    Mirror,
    /// Nothing.
    Nothing,
}

/// The facts about a build that executors need.
#[derive(Clone, Copy, Debug)]
pub struct BuildFacts<'a> {
    /// The id of the build.
    pub id: i64,
    /// The id of its project.
    pub project: i64,
    /// The image that the job names.
    pub image: Option<&'a str>,
    /// The services that the job names.
    pub services: &'a [String],
    /// The configuration file, which jobs must not read.
    pub config: &'a Path,
}

/// Finds a program in the folders of `PATH`.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The search path of builds if the runner has none.
pub const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The variables of the host that builds see.
const FROM_HOST: [&str; 9] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ"];

/// The environment in which the jobs of a runner start, before the variables of the build. Values of variables refer to
/// it, as in `PATH: $PATH:/more`.
/// # Errors
/// The configured user does not exist.
pub fn job_environment(runner: &Runner, folders: &Folders) -> Result<Vec<(String, String)>, Error> {
    Ok(match runner.executor {
        ExecutorKind::Shell => shell::environment(runner.build_user()?.as_ref(), folders),
        ExecutorKind::Sandbox => sandbox::environment(),
        ExecutorKind::Container => container::environment(),
    })
}

/// The environment of the host that builds see: nothing but where things are and which language is used.
pub fn host_environment() -> Vec<(String, String)> {
    let mut kept: Vec<(String, String)> = FROM_HOST
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
        .collect();
    if !kept.iter().any(|(name, _)| name == "PATH") {
        kept.push(("PATH".to_owned(), DEFAULT_PATH.to_owned()));
    }
    kept
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What variables refer to is the environment of the job, not that of the runner.
    #[test]
    fn the_environment_of_a_job_depends_on_the_executor() {
        let folders = Folders { project: "/p".into(), private: "/b/tmp/build-7".into() };
        let of = |executor| {
            let runner = Runner { executor, ..Runner::default() };
            let environment = job_environment(&runner, &folders).expect("there is no user to find");
            move |key: &str| {
                let found = environment.iter().rfind(|(name, _)| name == key);
                found.map(|(_, value)| value.clone())
            }
        };
        let sandbox = of(ExecutorKind::Sandbox);
        assert_eq!(sandbox("HOME").as_deref(), Some("/home/build"));
        assert_eq!(sandbox("PATH").as_deref(), Some(DEFAULT_PATH));
        let container = of(ExecutorKind::Container);
        assert_eq!((container("HOME"), container("USER")), (None, None));
        assert_eq!(container("PATH").as_deref(), Some(DEFAULT_PATH));
        assert_eq!(of(ExecutorKind::Shell)("TMPDIR").as_deref(), Some("/b/tmp/build-7/tmp"));
    }
}
