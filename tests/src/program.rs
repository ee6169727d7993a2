//! Runs the real program as a separate process.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};
use hexforge_persistence_diesel::DatabaseUrl;

use crate::client::Request;

/// The path of the program, built with the same profile as the tests. `HEXFORGE_PROGRAM` names another one.
pub fn executable() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let given = || std::env::var_os("HEXFORGE_PROGRAM").map(PathBuf::from);
    BUILT.get_or_init(|| given().unwrap_or_else(build)).clone()
}

fn build() -> PathBuf {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", "hexforge-server", "--bin", "hexforge"]);
    build.current_dir(env!("CARGO_MANIFEST_DIR"));
    let tests = std::env::current_exe().expect("a test knows its own file");
    let profile = tests.ancestors().nth(2).expect("tests are in target/<profile>/deps");
    if profile.ends_with("release") {
        build.arg("--release");
    }
    let status = build.status().expect("cargo can be run");
    assert!(status.success(), "the program does not build");
    profile.join("hexforge")
}

/// A running `hexforge serve`. Killed when dropped.
pub struct Program {
    child: Child,
    /// The address of its HTTP server.
    pub address: SocketAddr,
    /// The address of its SSH server, if it has one.
    pub ssh: Option<SocketAddr>,
}

/// The private token of `root` in databases that a [`Program`] creates.
pub const ROOT: &str = "root-token-for-programs";

/// The password of `root` in these databases.
pub const PASSWORD: &str = "correct horse";

/// The registration token of shared runners.
pub const RUNNERS: &str = "runners-token-for-programs";

impl Program {
    /// Starts the program on a database, and waits until it serves.
    pub fn start(program: &Path, data_dir: &Path, database: &DatabaseUrl) -> Result<Self> {
        Self::start_logging(program, data_dir, database, Stdio::inherit())
    }

    /// The same, with an SSH server.
    pub fn start_with_ssh(program: &Path, data_dir: &Path, database: &DatabaseUrl) -> Result<Self> {
        let ssh = [("HEXFORGE_SSH_LISTEN", "127.0.0.1:0")];
        Self::start_with(program, data_dir, database, Stdio::inherit(), &ssh)
    }

    /// The same. The log goes to `log`.
    pub fn start_logging(
        program: &Path,
        data_dir: &Path,
        database: &DatabaseUrl,
        log: Stdio,
    ) -> Result<Self> {
        Self::start_with(program, data_dir, database, log, &[])
    }

    /// The same. Hooks may call addresses of this machine, and receivers have one second to accept and one to respond.
    pub fn start_with_hooks(
        program: &Path,
        data_dir: &Path,
        database: &DatabaseUrl,
    ) -> Result<Self> {
        let more = [("HEXFORGE_ALLOW_LOCAL_REQUESTS", "true"), ("HEXFORGE_HOOK_TIMEOUT", "1")];
        Self::start_with(program, data_dir, database, Stdio::inherit(), &more)
    }

    /// The same, with more settings.
    pub fn start_with(
        program: &Path,
        data_dir: &Path,
        database: &DatabaseUrl,
        log: Stdio,
        more: &[(&str, &str)],
    ) -> Result<Self> {
        let mut child = Command::new(program)
            // The program must not start other programs, such as git.
            .env("PATH", "/nonexistent")
            .env("HEXFORGE_LISTEN", "127.0.0.1:0")
            // The default port may be in use by another test.
            .env("HEXFORGE_SSH_LISTEN", "off")
            .env("HEXFORGE_DATA_DIR", data_dir)
            .env("HEXFORGE_DATABASE_URL", url_with_password(database))
            .env("HEXFORGE_ROOT_TOKEN", ROOT)
            .env("HEXFORGE_ROOT_PASSWORD", PASSWORD)
            .env("HEXFORGE_RUNNERS_TOKEN", RUNNERS)
            .env("HEXFORGE_LOG", "warn")
            .envs(more.iter().copied())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .with_context(|| format!("{} cannot be started", program.display()))?;
        let output = child.stdout.take().context("the program has no output pipe")?;
        let mut ssh = None;
        for line in BufReader::new(output).lines() {
            let line = line?;
            if let Some((_, rest)) = line.split_once("Git over SSH is served on ") {
                let (address, _) =
                    rest.split_once(". ").context("the line about SSH has no end")?;
                ssh = Some(address.parse()?);
            }
            if let Some((_, rest)) = line.split_once("listening on ") {
                let address = rest.trim_end_matches([')', '.']).parse()?;
                return Ok(Self { child, address, ssh });
            }
        }
        bail!("{} ended before it served", program.display())
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills the process at once with SIGKILL, as a power failure would.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Sends SIGTERM, without waiting for the end.
    pub fn send_stop_signal(&self) -> Result<()> {
        self.send_signal("-TERM")
    }

    /// Sends SIGKILL while other threads use the program. [`kill`](Self::kill) waits for the end.
    pub fn send_kill_signal(&self) -> Result<()> {
        self.send_signal("-KILL")
    }

    fn send_signal(&self, signal: &str) -> Result<()> {
        Command::new("kill").args([signal, &self.pid().to_string()]).status()?;
        Ok(())
    }

    /// Sends SIGTERM and waits. Returns the exit status.
    pub fn stop(&mut self) -> Result<ExitStatus> {
        Command::new("kill").args(["-TERM", &self.pid().to_string()]).status()?;
        Ok(self.child.wait()?)
    }

    /// Whether the process has ended.
    pub fn has_ended(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Waits until the process ends.
    pub fn wait(&mut self) -> Result<ExitStatus> {
        Ok(self.child.wait()?)
    }

    /// A request to the API of the program.
    pub fn request(&self, method: &str, path: &str) -> Request {
        Request::new(self.address, method, &format!("/api/v3{path}"))
    }

    /// A request for a page of the program.
    pub fn page(&self, method: &str, target: &str) -> Request {
        Request::new(self.address, method, target)
    }

    /// The resident memory of the process in megabytes.
    pub fn memory(&self) -> f64 {
        self.megabytes("VmRSS:")
    }

    /// The resident memory without mapped files, in megabytes. The system can reclaim mapped files.
    pub fn own_memory(&self) -> f64 {
        self.megabytes("RssAnon:")
    }

    /// The peak memory in megabytes since [`Program::reset_peak_memory`].
    pub fn peak_memory(&self) -> f64 {
        self.megabytes("VmHWM:")
    }

    /// Resets the peak memory.
    pub fn reset_peak_memory(&self) {
        let forgotten = std::fs::write(format!("/proc/{}/clear_refs", self.pid()), "5");
        forgotten.expect("Linux lets the owner of a process do so");
    }

    fn megabytes(&self, what: &str) -> f64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(what));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        kilobytes.unwrap_or_default() / 1024.0
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Kills any process at once with SIGKILL.
pub fn kill_now(pid: u32) {
    let killed = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
    assert!(killed.is_ok_and(|status| status.success()), "{pid} cannot be killed");
}

/// The database URL with its password, which the type itself does not show.
pub fn url_with_password(database: &DatabaseUrl) -> String {
    match database {
        DatabaseUrl::Sqlite(path) => format!("sqlite:{}", path.display()),
        DatabaseUrl::Postgres(url) => url.clone(),
    }
}
