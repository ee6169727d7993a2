//! The configuration file of the runner: TOML, readable by its owner only, because it contains tokens.

use std::fs;
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::cgroup::Limits;
use crate::error::Error;
use crate::user::User;

/// The content of `runner.toml`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// How many builds run at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrent: Option<usize>,
    /// The folder of working copies and caches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub builds_dir: Option<PathBuf>,
    /// The address at which metrics are served.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<SocketAddr>,
    /// The runners.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runners: Vec<Runner>,
}

/// One registered runner.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Runner {
    /// Its name in this file.
    pub name: String,
    /// The address of the server.
    pub url: String,
    /// Its id on the server.
    pub id: i64,
    /// Its token.
    pub token: String,
    /// How builds are run.
    #[serde(default)]
    pub executor: ExecutorKind,
    /// Whether builds reach the network (`sandbox` and `container`).
    #[serde(default = "on")]
    pub network: bool,
    /// The user as whom builds run (`shell` and `sandbox`, if the runner is root).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The image of jobs that name none (`container`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// When images are pulled (`container`).
    #[serde(default, skip_serializing_if = "Pull::is_default")]
    pub pull: Pull,
    /// Folders inside of containers that stay from build to build (`container`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volumes: Vec<String>,
    /// Memory limit of a build in MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_mb: Option<u64>,
    /// The maximum number of processes of a build.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
    /// The number of processors that a build may use, such as 1.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
    /// The maximum length of a log in MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_limit_mb: Option<u64>,
}

fn on() -> bool {
    true
}

impl Runner {
    /// Names the server in paths and names on this machine. Servers give the same ids to their projects and builds.
    pub fn server_key(&self) -> String {
        let hash = Sha256::digest(self.url.trim_end_matches('/').as_bytes());
        hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Names the runner in paths and names on this machine.
    pub fn key(&self) -> String {
        format!("{}-{}", self.id, self.server_key())
    }

    /// The user as whom builds run, if it is not that of the runner. In a sandbox, root without capabilities could
    /// still read the secrets of the machine and change settings of the kernel, so it runs no builds there.
    /// # Errors
    /// The user does not exist, or must not be root.
    pub fn build_user(&self) -> Result<Option<User>, Error> {
        let configured = self.user.as_deref().map(User::find).transpose()?;
        match self.executor {
            ExecutorKind::Container => Ok(None),
            ExecutorKind::Shell => Ok(configured),
            ExecutorKind::Sandbox if configured.is_none() && !geteuid().is_root() => Ok(None),
            ExecutorKind::Sandbox => {
                let user = configured.or_else(User::find_unprivileged).filter(|user| user.id != 0);
                let refused = || {
                    Error::step(
                        "root cannot run builds in a sandbox: set `user` in the configuration of the runner to a user \
                         without rights",
                    )
                };
                user.map(Some).ok_or_else(refused)
            }
        }
    }

    /// The limits of a build.
    pub fn limits(&self) -> Limits {
        let memory = self.memory_mb.map(|limit| limit << 20);
        Limits { memory, processes: self.processes, cpus: self.cpus }
    }
}

/// When images are pulled.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Pull {
    /// When the machine does not have them.
    #[default]
    Missing,
    /// For each build, so that a newer image of the same name is used.
    Always,
    /// Never.
    Never,
}

impl Pull {
    /// The name in the file and on the command line of podman and docker.
    pub fn as_str(self) -> &'static str {
        match self {
            Pull::Missing => "missing",
            Pull::Always => "always",
            Pull::Never => "never",
        }
    }

    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// How builds are run.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ExecutorKind {
    /// As processes of the user of the runner.
    #[default]
    Shell,
    /// In namespaces of their own, by bubblewrap.
    Sandbox,
    /// In containers, by podman or docker.
    Container,
}

impl ExecutorKind {
    /// The name in the file and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            ExecutorKind::Shell => "shell",
            ExecutorKind::Sandbox => "sandbox",
            ExecutorKind::Container => "container",
        }
    }

    /// Parses the name.
    pub fn parse(name: &str) -> Option<Self> {
        let all = [ExecutorKind::Shell, ExecutorKind::Sandbox, ExecutorKind::Container];
        all.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl Config {
    /// Reads the file. A file that does not exist is an empty configuration.
    /// # Errors
    /// The file cannot be read, or is invalid.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(Error::at(path)(error)),
        };
        let mode =
            fs::metadata(path).map(|metadata| metadata.permissions().mode()).unwrap_or_default();
        if mode & 0o077 != 0 {
            tracing::warn!(path = %path.display(), "other users can read the tokens in this file: chmod 600 it");
        }
        let invalid = |problem: String| Error::Config { path: path.to_owned(), problem };
        // The text of the error would show the line, which may contain a token.
        let config: Self =
            toml::from_str(&text).map_err(|error| invalid(error.message().to_owned()))?;
        for (at, runner) in config.runners.iter().enumerate() {
            if config.runners[..at].iter().any(|other| other.name == runner.name) {
                return Err(invalid(format!("two runners have the name `{}`", runner.name)));
            }
        }
        Ok(config)
    }

    /// Replaces the file at once, with mode 0600.
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let invalid = |problem: String| Error::Config { path: path.to_owned(), problem };
        let text = toml::to_string_pretty(self).map_err(|error| invalid(error.to_string()))?;
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        fs::create_dir_all(folder).map_err(Error::at(folder))?;
        // Such files have mode 0600.
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(Error::at(folder))?;
        file.write_all(text.as_bytes()).map_err(Error::at(path))?;
        file.as_file().sync_all().map_err(Error::at(path))?;
        file.persist(path).map_err(|error| Error::at(path)(error.error))?;
        Ok(())
    }

    /// The runner of this name.
    pub fn find(&self, name: &str) -> Option<&Runner> {
        self.runners.iter().find(|runner| runner.name == name)
    }

    /// The folder of working copies: the configured one, or `builds` beside the file.
    pub fn builds_dir(&self, path: &Path) -> PathBuf {
        let folder = self.builds_dir.clone().unwrap_or_else(|| PathBuf::from("builds"));
        path.parent().unwrap_or(Path::new("")).join(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_runs_no_builds_in_a_sandbox() {
        let runner = |executor, user: Option<&str>| {
            let user = user.map(str::to_owned);
            Runner { executor, user, ..Runner::default() }.build_user()
        };
        assert!(runner(ExecutorKind::Sandbox, Some("root")).is_err());
        assert!(runner(ExecutorKind::Sandbox, Some("no such user")).is_err());
        let found = runner(ExecutorKind::Sandbox, None).expect("a machine has nobody");
        assert_eq!(found.is_some(), geteuid().is_root());
        assert!(found.is_none_or(|user| user.id != 0));
        assert_eq!(runner(ExecutorKind::Shell, None).ok(), Some(None));
        assert_eq!(runner(ExecutorKind::Container, None).ok(), Some(None));
    }

    fn runner(name: &str) -> Runner {
        Runner {
            name: name.into(),
            url: "http://forge".into(),
            id: 1,
            token: "secret".into(),
            executor: ExecutorKind::Sandbox,
            memory_mb: Some(512),
            cpus: Some(1.5),
            pull: Pull::Always,
            ..Runner::default()
        }
    }

    #[test]
    fn a_file_is_private_and_read_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("runner.toml");
        assert_eq!(Config::load(&path).expect("absent"), Config::default());
        let config = Config {
            concurrent: Some(4),
            metrics: Some(([127, 0, 0, 1], 9252).into()),
            builds_dir: None,
            runners: vec![runner("a"), runner("b")],
        };
        config.save(&path).expect("written");
        assert_eq!(Config::load(&path).expect("valid"), config);
        let mode = fs::metadata(&path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn errors_do_not_show_tokens() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("runner.toml");
        fs::write(&path, "[[runners]]\ntoken = \"very-secret\nname = 1").expect("written");
        let error = Config::load(&path).expect_err("invalid").to_string();
        assert!(!error.contains("very-secret"), "{error}");
        let twice = Config { runners: vec![runner("a"), runner("a")], ..Config::default() };
        twice.save(&path).expect("written");
        assert!(Config::load(&path).expect_err("invalid").to_string().contains("`a`"));
    }
}
