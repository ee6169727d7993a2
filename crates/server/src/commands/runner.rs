//! `hexforge runner`.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use hexforge_runner::api::{Api, Registration};
use hexforge_runner::config::{Config, ExecutorKind, Runner};
use hexforge_runner::error::Error;
use hexforge_runner::work::{self, Settings};

use super::print;
use crate::cli::{RegisterRunner, RunRunner, RunnerCommand};

/// The file with the registered runners, unless another is chosen.
const DEFAULT_FILE: &str = "runner.toml";

/// Runs a command. `given` is the file of the flag `--config`.
pub(super) fn run(command: RunnerCommand, given: Option<PathBuf>) -> Result<ExitCode> {
    let start = match &given {
        Some(file) => format!("hexforge runner run --config {}", file.display()),
        None => "hexforge runner run".to_owned(),
    };
    let path = config_path(given);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        match command {
            RunnerCommand::Register(new) => register(&path, new, &start).await,
            RunnerCommand::Run(chosen) => take_builds(&path, chosen).await,
            RunnerCommand::Verify => verify(&path).await,
            RunnerCommand::Unregister { name, local: false } => unregister(&path, &name).await,
            RunnerCommand::Unregister { name, local: true } => unregister_locally(&path, &name),
            RunnerCommand::Status => status(&path).await,
        }
    })
}

/// The flag, then `HEXFORGE_RUNNER_CONFIG`, then the default.
fn config_path(given: Option<PathBuf>) -> PathBuf {
    let variable = || {
        std::env::var_os("HEXFORGE_RUNNER_CONFIG")
            .filter(|file| !file.is_empty())
            .map(PathBuf::from)
    };
    given.or_else(variable).unwrap_or_else(|| PathBuf::from(DEFAULT_FILE))
}

/// Waits until no other process changes the file, and keeps others from changing it until the lock is dropped. The file
/// itself cannot be locked, because it is replaced.
fn lock(path: &Path) -> Result<File> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let name = PathBuf::from(name);
    let locked = || {
        if let Some(folder) = name.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut open = File::options();
        let file = open.write(true).create(true).truncate(false).mode(0o600).open(&name)?;
        file.lock().map(|()| file)
    };
    locked().with_context(|| format!("{} cannot be locked", name.display()))
}

/// Reads a file that has to exist.
fn load(path: &Path) -> Result<Config> {
    if !path.try_exists().unwrap_or(true) {
        bail!(
            "the file {} does not exist: `hexforge runner register` creates it, --config names another",
            path.display()
        );
    }
    Ok(Config::load(path)?)
}

/// Locks a file that has to exist, and reads it.
fn load_locked(path: &Path) -> Result<(File, Config)> {
    // Without the file, nothing is made beside it.
    load(path)?;
    let lock = lock(path)?;
    Ok((lock, load(path)?))
}

/// Registers a runner and says how to `start` it.
async fn register(path: &Path, new: RegisterRunner, start: &str) -> Result<ExitCode> {
    let _lock = lock(path)?;
    let mut config = Config::load(path)?;
    let name = new.name.unwrap_or_else(host_name);
    if name.trim().is_empty() {
        bail!("the name of a runner must not be empty: choose another --name");
    }
    if config.find(&name).is_some() {
        bail!("{} has a runner `{name}` already: choose another --name", path.display());
    }
    let executor = ExecutorKind::parse(&new.executor).context("unknown executor")?;
    let tags: Vec<String> = new
        .tag_list
        .iter()
        .map(|tag| tag.trim().to_owned())
        .filter(|tag| !tag.is_empty())
        .collect();
    if new.user.is_some() && executor == ExecutorKind::Container {
        bail!("--user is for the executors shell and sandbox: images have users of their own");
    }
    if !new.run_untagged && tags.is_empty() {
        bail!("a runner that takes no builds without tags needs --tag-list");
    }
    let entry = Runner {
        name: name.clone(),
        url: new.url.trim_end_matches('/').to_owned(),
        id: 0,
        token: String::new(),
        executor,
        network: new.network == "on",
        user: new.user,
        image: new.image,
        ..Runner::default()
    };
    if entry.user.is_some() {
        entry.build_user()?;
    }
    let api = Api::new(&entry.url)?;
    let (token, run_untagged, locked) = (&*new.token, new.run_untagged, new.locked);
    let wanted = Registration { token, description: &name, tags: &tags, run_untagged, locked };
    let entry = match work::register(&api, &wanted, entry).await {
        Err(Error::Refused { status: 403, .. }) => {
            bail!("the server refuses the registration token")
        }
        outcome => outcome?,
    };
    let (id, token) = (entry.id, entry.token.clone());
    config.runners.push(entry);
    if let Err(error) = config.save(path) {
        // Nobody would know its token.
        let _ = api.unregister(&token).await;
        return Err(error.into());
    }
    print(&format!(
        "registered runner `{name}` ({id}) in {}\nstart it: {start}\n",
        path.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "runner".to_owned() } else { name.to_owned() }
}

async fn take_builds(path: &Path, chosen: RunRunner) -> Result<ExitCode> {
    let config = load(path)?;
    let builds_dir = chosen.builds_dir.unwrap_or_else(|| config.builds_dir(path));
    let concurrent = chosen.concurrent.map(usize::from).or(config.concurrent).unwrap_or(1).max(1);
    let metrics = chosen.metrics.or(config.metrics);
    let settings =
        Settings { path: path.to_owned(), concurrent, builds_dir, once: chosen.once, metrics };
    work::run(config, settings).await?;
    Ok(ExitCode::SUCCESS)
}

async fn verify(path: &Path) -> Result<ExitCode> {
    let config = load(path)?;
    let mut code = ExitCode::SUCCESS;
    for runner in &config.runners {
        let Runner { name, url, .. } = runner;
        let known = match Api::new(url) {
            Ok(api) => api.verify(&runner.token).await,
            Err(error) => Err(error),
        };
        if !matches!(known, Ok(true)) {
            code = ExitCode::FAILURE;
        }
        print(&match known {
            Ok(true) => format!("runner `{name}` is known to {url}\n"),
            Ok(false) => format!("runner `{name}` is refused by {url}: it was removed there\n"),
            Err(error) => format!("runner `{name}` could not be verified: {error}\n"),
        })?;
    }
    Ok(code)
}

async fn unregister(path: &Path, name: &str) -> Result<ExitCode> {
    let (_lock, config) = load_locked(path)?;
    let runner = config.find(name).with_context(|| unknown(path, name))?;
    match Api::new(&runner.url)?.unregister(&runner.token).await {
        Err(error) if error.status() == Some(403) => {
            print(&format!("the server did not know runner `{name}` any more\n"))?;
        }
        outcome => outcome.with_context(|| {
            format!(
                "runner `{name}` is not removed (with --local it is removed from the file only)"
            )
        })?,
    }
    remove_entry(config, path, name)
}

/// Removes a runner from the file, and not from its server.
fn unregister_locally(path: &Path, name: &str) -> Result<ExitCode> {
    let (_lock, config) = load_locked(path)?;
    remove_entry(config, path, name)
}

fn remove_entry(mut config: Config, path: &Path, name: &str) -> Result<ExitCode> {
    if config.find(name).is_none() {
        bail!(unknown(path, name));
    }
    config.runners.retain(|other| other.name != name);
    config.save(path)?;
    print(&format!("runner `{name}` is removed\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn unknown(path: &Path, name: &str) -> String {
    format!("{} has no runner `{name}`", path.display())
}

/// Name, id, executor, server and state of each runner, separated by tabs.
async fn status(path: &Path) -> Result<ExitCode> {
    let config = load(path)?;
    for runner in &config.runners {
        let state = match Api::new(&runner.url)?.verify(&runner.token).await {
            Ok(true) => "ready".to_owned(),
            Ok(false) => "refused: it was removed on the server".to_owned(),
            Err(error) => error.to_string(),
        };
        let Runner { name, id, executor, url, .. } = runner;
        print(&format!("{name}\t{id}\t{}\t{url}\t{state}\n", executor.as_str()))?;
    }
    Ok(ExitCode::SUCCESS)
}
