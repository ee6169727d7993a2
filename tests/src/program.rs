//! The real program as a process of its own.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};
use hexforge_persistence_diesel::DatabaseUrl;

use crate::client::Request;

/// The program, built as the tests are.
pub fn built() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(build).clone()
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
    /// Where it listens.
    pub address: SocketAddr,
    /// Where it serves git over SSH, if it does.
    pub ssh: Option<SocketAddr>,
}

/// The private token of `root` in databases that a [`Program`] made.
pub const ROOT: &str = "root-token-for-programs";

/// By which runners register with a [`Program`].
pub const RUNNERS: &str = "runners-token-for-programs";

impl Program {
    /// Starts the program on a database and waits until it serves.
    pub fn start(program: &Path, data_dir: &Path, database: &DatabaseUrl) -> Result<Self> {
        Self::start_logging(program, data_dir, database, Stdio::inherit())
    }

    /// The same, serving git over SSH too.
    pub fn start_with_ssh(program: &Path, data_dir: &Path, database: &DatabaseUrl) -> Result<Self> {
        let ssh = [("HEXFORGE_SSH_LISTEN", "127.0.0.1:0")];
        Self::start_with(program, data_dir, database, Stdio::inherit(), &ssh)
    }

    /// The same, with a place for its log.
    pub fn start_logging(
        program: &Path,
        data_dir: &Path,
        database: &DatabaseUrl,
        log: Stdio,
    ) -> Result<Self> {
        Self::start_with(program, data_dir, database, log, &[])
    }

    /// The same; its hooks may go to this machine, and receivers have a second each to be reached and to answer.
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
            // There is no program that it could use, git least of all.
            .env("PATH", "/nonexistent")
            .env("HEXFORGE_LISTEN", "127.0.0.1:0")
            // Its port may be taken by another test.
            .env("HEXFORGE_SSH_LISTEN", "off")
            .env("HEXFORGE_DATA_DIR", data_dir)
            .env("HEXFORGE_DATABASE_URL", address_of(database))
            .env("HEXFORGE_ROOT_TOKEN", ROOT)
            .env("HEXFORGE_ROOT_PASSWORD", "correct horse")
            .env("HEXFORGE_RUNNERS_TOKEN", RUNNERS)
            .env("HEXFORGE_LOG", "warn")
            .envs(more.iter().copied())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .with_context(|| format!("{} cannot be started", program.display()))?;
        let output = child.stdout.take().context("the output is ours")?;
        let mut ssh = None;
        for line in BufReader::new(output).lines() {
            let line = line?;
            if let Some((_, rest)) = line.split_once("Git over SSH is served on ") {
                let (address, _) = rest.split_once(". ").context("a sentence ends")?;
                ssh = Some(address.parse()?);
            }
            if let Some((_, rest)) = line.split_once("listening on ") {
                let address = rest.trim_end_matches([')', '.']).parse()?;
                return Ok(Self { child, address, ssh });
            }
        }
        bail!("{} ended before it served", program.display())
    }

    /// The number of the process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends the process at once, as a power cut would.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Tells the process to stop, without waiting for it.
    pub fn tell_to_stop(&self) -> Result<()> {
        Command::new("kill").args(["-TERM", &self.pid().to_string()]).status()?;
        Ok(())
    }

    /// Tells the process to stop, and how it ended.
    pub fn stop(&mut self) -> Result<ExitStatus> {
        Command::new("kill").args(["-TERM", &self.pid().to_string()]).status()?;
        Ok(self.child.wait()?)
    }

    /// Whether the process has ended.
    pub fn has_ended(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Waits until the process ends by itself.
    pub fn wait(&mut self) -> Result<ExitStatus> {
        Ok(self.child.wait()?)
    }

    /// A request to the interface of the program.
    pub fn request(&self, method: &str, path: &str) -> Request {
        Request::new(self.address, method, &format!("/api/v3{path}"))
    }

    /// Megabytes of memory that the process holds.
    pub fn memory(&self) -> f64 {
        self.megabytes("VmRSS:")
    }

    /// Megabytes of memory that the process holds beside the files that it reads, which the system may take back.
    pub fn own_memory(&self) -> f64 {
        self.megabytes("RssAnon:")
    }

    /// Megabytes of memory that the process held at most, since [`Program::forget_peak`].
    pub fn peak_memory(&self) -> f64 {
        self.megabytes("VmHWM:")
    }

    /// Forgets how much memory the process held before.
    pub fn forget_peak(&self) {
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

/// Ends a process at once, whoever else knows of it.
pub fn kill_now(pid: u32) {
    let killed = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
    assert!(killed.is_ok_and(|status| status.success()), "{pid} cannot be killed");
}

/// The whole address of a database, which the type itself shows without secrets only.
pub fn address_of(database: &DatabaseUrl) -> String {
    match database {
        DatabaseUrl::Sqlite(path) => format!("sqlite:{}", path.display()),
        DatabaseUrl::Postgres(url) => url.clone(),
    }
}
