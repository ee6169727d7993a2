//! Measures pushes, forks and clones with packs in the data folder and in an object store.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use hexforge_persistence_diesel::testing::TestDatabase;

use super::history;
use super::load::{processor_time, quantile};
use hexforge_tests::program::{Program, ROOT};
use hexforge_tests::s3::S3Server;

/// The options that set the author of all commits.
const AUTHOR: [&str; 4] = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];

/// The number of runs of each operation.
const PUSHES: usize = 60;
const FORKS: usize = 20;
const CLONES: usize = 20;

/// Measures one storage after the other, and reports each figure as soon as it is known.
pub fn measure(
    databases: &dyn Fn() -> Option<TestDatabase>,
    program: &Path,
    report: &mut dyn FnMut(&str, &str, String),
) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let bare = folder.path().join("history.git");
    history::make(&bare)?;
    for storage in ["folder", "object store"] {
        let Some(database) = databases() else { return Ok(()) };
        let object_store = (storage == "object store").then(S3Server::start);
        let site = Site { program, database, folder: tempfile::tempdir()?, object_store };
        site.measure(&bare, &mut |name, line| report(storage, name, line))?;
    }
    Ok(())
}

/// A server with its database and storage.
struct Site<'a> {
    program: &'a Path,
    database: TestDatabase,
    folder: tempfile::TempDir,
    object_store: Option<S3Server>,
}

impl Site<'_> {
    fn start(&self) -> Result<Program> {
        let mut settings = Vec::new();
        if let Some(store) = &self.object_store {
            settings.extend(store.variables());
            settings.push(("HEXFORGE_OBJECT_STORE_URL", store.url()));
        }
        let settings: Vec<(&str, &str)> =
            settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let (data, log) = (self.folder.path(), Stdio::inherit());
        Program::start_with(self.program, data, &self.database.url, log, &settings)
    }

    fn measure(&self, bare: &Path, report: &mut dyn FnMut(&str, String)) -> Result<()> {
        let server = self.start()?;
        let form = [("name", "ship"), ("visibility_level", "20")];
        server.request("POST", "/projects").token(ROOT).form(&form).send().expect(201);
        let url = format!("http://root:{ROOT}@{}/root/ship.git", server.address);
        let (time, cpu) = timed(&server, || git(bare, &["push", "-q", "--mirror", &url]))?;
        report("first push, 1,000 branches", format!("{time:.1?}, cpu {cpu:.1?}"));
        let mut tip = history::git(bare, &["rev-parse", "master"])?;
        let mut pushes = Figures::default();
        for number in 0..PUSHES {
            let message = format!("{number}");
            let commit = ["commit-tree", "-p", &tip, "-m", &message, "master^{tree}"];
            tip = history::git(bare, &[&AUTHOR[..], &commit].concat())?;
            let what = format!("{tip}:refs/heads/master");
            pushes.add(timed(&server, || git(bare, &["push", "-q", &url, &what]))?);
        }
        report("push of one commit", pushes.line());
        let mut forks = Figures::default();
        for number in 0..FORKS {
            let name = format!("user{number}");
            let (_, token) = super::hostile::sign_up(&server, &name);
            forks.add(timed(&server, || {
                let fork = server.request("POST", "/projects/fork/1").token(&token);
                fork.form(&[("namespace", &name)]).send().expect(201);
                Ok(())
            })?);
        }
        report("fork", forks.line());
        let clone = |server: &Program| {
            let target = tempfile::tempdir()?;
            let url = format!("http://{}/root/ship.git", server.address);
            let path = target.path().to_string_lossy().into_owned();
            timed(server, || git(bare, &["clone", "-q", "--bare", &url, &path]))
        };
        clone(&server)?;
        let mut warm = Figures::default();
        for _ in 0..CLONES {
            warm.add(clone(&server)?);
        }
        report("clone", warm.line());
        drop(server);
        if self.object_store.is_some() {
            for folder in ["cache", "repositories"] {
                std::fs::remove_dir_all(self.folder.path().join(folder))?;
            }
            let server = self.start()?;
            let (time, cpu) = clone(&server)?;
            report("clone, empty cache", format!("{time:.1?}, cpu {cpu:.1?}"));
        }
        Ok(())
    }
}

#[derive(Default)]
struct Figures {
    times: Vec<Duration>,
    cpu: Duration,
}

impl Figures {
    fn add(&mut self, (time, cpu): (Duration, Duration)) {
        self.times.push(time);
        self.cpu += cpu;
    }

    fn line(mut self) -> String {
        self.times.sort_unstable();
        let (middle, late) = (quantile(&self.times, 0.5), quantile(&self.times, 0.95));
        let cpu = self.cpu / u32::try_from(self.times.len().max(1)).unwrap_or(1);
        format!("{middle:.1?} in the middle, p95 {late:.1?}, cpu {cpu:.1?} each")
    }
}

/// Runs `work`. Returns its duration and the processor time of the server meanwhile.
fn timed(server: &Program, work: impl FnOnce() -> Result<()>) -> Result<(Duration, Duration)> {
    let (cpu, begun) = (processor_time(&[server.pid()]), Instant::now());
    work()?;
    Ok((begun.elapsed(), processor_time(&[server.pid()]).saturating_sub(cpu)))
}

fn git(folder: &Path, arguments: &[&str]) -> Result<()> {
    let status = Command::new("git").args(arguments).current_dir(folder).status();
    ensure!(status.context("git cannot be started")?.success(), "git {arguments:?} failed");
    Ok(())
}
