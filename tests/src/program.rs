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

    /// The same, with a place for its log.
    pub fn start_logging(
        program: &Path,
        data_dir: &Path,
        database: &DatabaseUrl,
        log: Stdio,
    ) -> Result<Self> {
        let mut child = Command::new(program)
            .env("HEXFORGE_LISTEN", "127.0.0.1:0")
            .env("HEXFORGE_DATA_DIR", data_dir)
            .env("HEXFORGE_DATABASE_URL", address_of(database))
            .env("HEXFORGE_ROOT_TOKEN", ROOT)
            .env("HEXFORGE_ROOT_PASSWORD", "correct horse")
            .env("HEXFORGE_RUNNERS_TOKEN", RUNNERS)
            .env("HEXFORGE_LOG", "warn")
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .with_context(|| format!("{} cannot be started", program.display()))?;
        let output = child.stdout.take().context("the output is ours")?;
        for line in BufReader::new(output).lines() {
            let line = line?;
            if let Some((_, rest)) = line.split_once("listening on ") {
                let address = rest.trim_end_matches([')', '.']).parse()?;
                return Ok(Self { child, address });
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

    /// Tells the process to stop, and how it ended.
    pub fn stop(&mut self) -> Result<ExitStatus> {
        Command::new("kill").args(["-TERM", &self.pid().to_string()]).status()?;
        Ok(self.child.wait()?)
    }

    /// A request to the interface of the program.
    pub fn request(&self, method: &str, path: &str) -> Request {
        Request::new(self.address, method, &format!("/api/v3{path}"))
    }

    /// Megabytes of memory that the process holds.
    pub fn memory(&self) -> f64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
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

/// The whole address of a database, which the type itself shows without secrets only.
pub fn address_of(database: &DatabaseUrl) -> String {
    match database {
        DatabaseUrl::Sqlite(path) => format!("sqlite:{}", path.display()),
        DatabaseUrl::Postgres(url) => url.clone(),
    }
}
