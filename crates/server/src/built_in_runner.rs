//! `hexforge serve --with-runner`: a runner beside the server, for trying out. It is a process of its own, as a user
//! who cannot read the data of the server, or with builds in a sandbox.

use std::ffi::OsString;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hexforge_application::app::App;
use hexforge_application::runner;
use hexforge_runner::config::{Config, ExecutorKind, Runner};
use hexforge_runner::executor::DEFAULT_PATH;
use hexforge_runner::user::User;
use hexforge_runner::work::LIFELINE;
use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

/// The name of the runner, and its description on the server.
const NAME: &str = "built-in";

/// The file in the data folder that keeps the token, so that a restart registers no second runner.
const FILE: &str = "built-in-runner.toml";

/// The builds that it runs at once.
const CONCURRENT: usize = 2;

/// How long the end of the server waits for the runner.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// How often the server looks whether the runner still runs.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);

/// A running runner. It ends with the server, also if the server is killed.
pub struct BuiltInRunner {
    process: Arc<Mutex<RunnerProcess>>,
    _folder: TempDir,
}

/// The process of the runner, which is started again if it ends before the server.
struct RunnerProcess {
    command: Command,
    child: Child,
    is_stopping: bool,
}

impl RunnerProcess {
    /// Starts the runner again if it has ended.
    fn revive(&mut self) {
        if self.is_stopping || matches!(self.child.try_wait(), Ok(None)) {
            return;
        }
        tracing::warn!("the runner of --with-runner ended, and is started again");
        match self.command.spawn() {
            Ok(child) => self.child = child,
            Err(error) => tracing::error!(%error, "the runner of --with-runner cannot be started"),
        }
    }
}

/// Revives a runner until the server stops it.
fn watch(process: &Weak<Mutex<RunnerProcess>>) {
    loop {
        thread::sleep(LOOK_INTERVAL);
        let Some(process) = process.upgrade() else { return };
        lock(&process).revive();
    }
}

fn lock(process: &Mutex<RunnerProcess>) -> MutexGuard<'_, RunnerProcess> {
    process.lock().unwrap_or_else(PoisonError::into_inner)
}

impl BuiltInRunner {
    /// Registers a runner, unless an earlier start did so, and starts it.
    pub fn start(
        app: &App,
        data_dir: &Path,
        address: SocketAddr,
        terminal: &mut dyn Write,
    ) -> Result<Self> {
        let user = user()?;
        let executor = match has_sandbox(user.as_ref()) {
            true => ExecutorKind::Sandbox,
            false => ExecutorKind::Shell,
        };
        if user.is_none() && executor == ExecutorKind::Shell {
            bail!(
                "--with-runner needs the program `bwrap` (package bubblewrap), or a server that is started by root: \
                 otherwise builds could read the data of the server"
            );
        }
        let entry = entry(app, data_dir, address, executor)?;
        let folder = tempfile::Builder::new()
            .prefix("hexforge-runner-")
            .tempdir()
            .context("a folder for the runner cannot be created")?;
        let file = folder.path().join("runner.toml");
        let config =
            Config { concurrent: Some(CONCURRENT), runners: vec![entry], ..Config::default() };
        config.save(&file)?;
        let mut command = Command::new("/proc/self/exe");
        command.arg0("hexforge").args(["runner", "run", "--config"]).arg(&file);
        command.current_dir(folder.path());
        command.env_clear().env("PATH", search_path()).env("HOME", folder.path());
        command.env(LIFELINE, "1");
        for name in ["HEXFORGE_LOG", "HEXFORGE_LOG_FORMAT", "LANG", "LC_ALL", "TZ"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        if let Some(user) = &user {
            user.make_owner_of(folder.path())?;
            user.make_owner_of(&file)?;
            command.uid(user.id).gid(user.group);
        }
        // Signals of the terminal are for the server, which stops the runner.
        command.process_group(0).stdin(Stdio::piped());
        let child = command.spawn().context("the runner of --with-runner cannot be started")?;
        let user = user
            .map_or_else(|| "the user of the server".to_owned(), |user| format!("`{}`", user.name));
        let place = match executor {
            ExecutorKind::Sandbox => "in a sandbox",
            ExecutorKind::Shell | ExecutorKind::Container => "WITHOUT a sandbox",
        };
        writeln!(
            terminal,
            "WARNING: --with-runner is for trying out. Whoever can push runs programs on this machine, as {user} \
             {place}. Use `hexforge runner` on another machine for more."
        )?;
        tracing::warn!(user, place, "builds run on the machine of the server");
        let process = Arc::new(Mutex::new(RunnerProcess { command, child, is_stopping: false }));
        let watched = Arc::downgrade(&process);
        let watching = thread::Builder::new().name("with-runner".to_owned());
        watching.spawn(move || watch(&watched)).context("a thread cannot be started")?;
        Ok(Self { process, _folder: folder })
    }

    /// Stops the builds, waits until they are reported as failed, and ends the runner.
    pub fn stop(&self) {
        let mut process = lock(&self.process);
        process.is_stopping = true;
        let child = &mut process.child;
        let (pid, since) = (Pid::from_child(child), Instant::now());
        // The first signal lets builds finish, the second stops them.
        let mut signals = 2;
        while since.elapsed() < STOP_TIMEOUT {
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            if signals > 0 {
                let _ = kill_process(pid, Signal::TERM);
                signals -= 1;
            }
            thread::sleep(Duration::from_millis(100));
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Drop for BuiltInRunner {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The user as whom the runner runs, if the server can choose one.
fn user() -> Result<Option<User>> {
    if !geteuid().is_root() {
        return Ok(None);
    }
    User::find_unprivileged()
        .map(Some)
        .context("--with-runner needs a user `hexforge-runner` or `nobody` on this machine")
}

/// The programs of the system are found also by a server without a search path.
fn search_path() -> OsString {
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    if !path.is_empty() {
        path.push(":");
    }
    path.push(DEFAULT_PATH);
    path
}

/// Whether bubblewrap works for this user.
fn has_sandbox(user: Option<&User>) -> bool {
    let path = search_path();
    let found =
        std::env::split_paths(&path).map(|folder| folder.join("bwrap")).find(|file| file.is_file());
    let Some(program) = found else { return false };
    let mut command = Command::new(program);
    command.args(["--ro-bind", "/", "/", "--unshare-user-try", "--unshare-pid", "/bin/true"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
    if let Some(user) = user {
        command.uid(user.id).gid(user.group);
    }
    command.status().is_ok_and(|status| status.success())
}

/// The entry of the runner: the one that an earlier start stored, or a new one.
fn entry(
    app: &App,
    data_dir: &Path,
    address: SocketAddr,
    executor: ExecutorKind,
) -> Result<Runner> {
    let file = data_dir.join(FILE);
    let stored = Config::load(&file)?.find(NAME).cloned();
    let known = match stored {
        Some(stored) if runner::is_registered(app, &stored.token)? => Some(stored),
        Some(_) | None => None,
    };
    let url = format!("http://{}", reachable(address));
    if let Some(known) = known {
        return Ok(Runner { url, executor, ..known });
    }
    let made = runner::register_built_in(app, NAME)?;
    let (name, token) = (NAME.to_owned(), made.token.reveal().to_owned());
    let entry =
        Runner { name, url, id: made.id.0, token, executor, network: true, ..Runner::default() };
    Config { runners: vec![entry.clone()], ..Config::default() }.save(&file)?;
    Ok(entry)
}

/// The address at which this machine reaches a socket that listens on all addresses.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_on_all_addresses_is_reached_on_loopback() {
        for (listens, reached) in [
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:80", "[::1]:80"),
            ("192.0.2.1:80", "192.0.2.1:80"),
        ] {
            let address = reachable(listens.parse().expect("an address"));
            assert_eq!(address.to_string(), reached);
        }
    }
}
