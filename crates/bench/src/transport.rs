//! Measures clones, fetches and pushes beside `git http-backend`, on copies of one repository.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use hexforge_domain::id::ProjectId;
use hexforge_git_gix::Layout;
use hexforge_persistence_diesel::testing::TestDatabase;
use serde_json::json;

use super::backend::Backend;
use super::load::processor_time;
use super::long_history::{History, git};
use hexforge_tests::program::{Program, ROOT};
use hexforge_tests::ref_rows::adopt_repository;

/// How long to wait before the processor time of a server is read, so that it can clean up.
const CLEANING_UP: Duration = Duration::from_millis(20);

/// How long to wait for the background work after a push at most.
const LONGEST_BACKGROUND_WORK: Duration = Duration::from_secs(120);

/// The refspecs of a push of all branches and tags.
const ALL_REFS: [&str; 2] = ["refs/heads/*:refs/heads/*", "refs/tags/*:refs/tags/*"];

/// The plan of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    pub program: &'a Path,
    pub history: History,
    /// A repository that replaces the generated history.
    pub repository: Option<&'a Path>,
    pub rounds: usize,
    /// Runs only operations whose names contain this.
    pub only: &'a str,
}

/// The cost of one operation.
#[derive(Clone, Copy, Debug, Default)]
pub struct OperationCost {
    pub wall: Duration,
    /// The processor time of the server.
    pub cpu: Duration,
    /// The size of the pack that the client received.
    pub bytes: u64,
}

/// The cost of an operation on both sides.
#[derive(Debug)]
pub struct Line {
    pub name: &'static str,
    pub hexforge: OperationCost,
    pub backend: OperationCost,
    pub goals: Goals,
}

/// The largest accepted ratios to `git http-backend`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Goals {
    pub wall: Option<f64>,
    pub cpu: Option<f64>,
    pub bytes: Option<f64>,
}

impl Line {
    /// The ratios of wall time, processor time and bytes.
    pub fn ratios(&self) -> [f64; 3] {
        let part = |ours: f64, theirs: f64| ours / theirs.max(1e-9);
        let (ours, theirs) = (&self.hexforge, &self.backend);
        [
            part(ours.wall.as_secs_f64(), theirs.wall.as_secs_f64()),
            part(ours.cpu.as_secs_f64(), theirs.cpu.as_secs_f64()),
            part(ours.bytes as f64, theirs.bytes as f64),
        ]
    }

    /// Whether every goal is met.
    pub fn holds(&self) -> bool {
        let [wall, cpu, bytes] = self.ratios();
        let within = |ratio: f64, goal: Option<f64>| goal.is_none_or(|goal| ratio <= goal);
        within(wall, self.goals.wall)
            && within(cpu, self.goals.cpu)
            && within(bytes, self.goals.bytes)
    }
}

/// Returns the path of the repository with this name, and creates its project if the server needs one.
type Folder = dyn Fn(&str) -> Result<PathBuf>;

/// One server, whose repositories are addressed by name.
struct Side<'a> {
    pid: u32,
    /// The URL before the name of a repository.
    base: String,
    folder: Box<Folder>,
    /// Tells the server about refs that git wrote into its repository.
    adopt: Box<dyn Fn(&Path) + 'a>,
}

impl Side<'_> {
    fn url(&self, name: &str) -> String {
        format!("{}/{name}.git", self.base)
    }
}

/// Runs every operation on both sides in turn, and reports each row as soon as it is known.
pub fn compare(
    database: &TestDatabase,
    plan: &Plan<'_>,
    report: &mut dyn FnMut(&Line),
) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let source = folder.path().join("source.git");
    match plan.repository {
        Some(repository) => import_repository(repository, &source)?,
        None => plan.history.make(&source)?,
    }
    let data = folder.path().join("data");
    let program = Program::start(plan.program, &data, &database.url)?;
    let roots = folder.path().join("backend");
    std::fs::create_dir(&roots)?;
    let backend = Backend::start(&roots)?;
    let pid = program.pid();
    let base = format!("http://root:{ROOT}@{}/root", program.address);
    let layout = Layout::new(&data);
    let projects = Rc::new(RefCell::new(HashMap::<PathBuf, i64>::new()));
    let made_here = Rc::clone(&projects);
    let hexforge = Side {
        pid,
        base,
        folder: Box::new(move |name| {
            let made = program
                .request("POST", "/projects")
                .token(ROOT)
                .json(&json!({ "name": name, "visibility_level": 20 }));
            let made = made.send();
            ensure!(made.status == 201, "the project cannot be created: status {}", made.status);
            let id = made.json()["id"].as_i64().context("the created project has no id")?;
            let folder = layout.repository(ProjectId(id));
            made_here.borrow_mut().insert(folder.clone(), id);
            Ok(folder)
        }),
        adopt: Box::new(move |folder| {
            if let Some(project) = projects.borrow().get(folder) {
                adopt_repository(database, *project, folder);
            }
        }),
    };
    let backend = Side {
        pid: backend.pid(),
        base: format!("http://{}", backend.address),
        folder: Box::new(move |name| {
            let _alive = &backend;
            Ok(roots.join(format!("{name}.git")))
        }),
        adopt: Box::new(|_| ()),
    };
    let mut bench = Bench {
        plan,
        sides: [hexforge, backend],
        source: &source,
        scratch: folder.path().join("scratch"),
        report,
    };
    bench.reads()?;
    bench.pushes()
}

/// Copies the branches and tags of a repository and repacks them, with its HEAD as `master`.
fn import_repository(repository: &Path, source: &Path) -> Result<()> {
    let from = repository.canonicalize()?;
    git(None, &["init", "-q", "--bare", "-b", "master", &source.to_string_lossy()])?;
    let all = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*", "+HEAD:refs/heads/master"];
    let from = from.to_string_lossy();
    let fetch = ["-c", "safe.directory=*", "fetch", "-q", "--no-tags", &from];
    git(Some(source), &[&fetch[..], &all[..2]].concat())?;
    git(Some(source), &[&fetch[..], &all[2..]].concat())?;
    git(Some(source), &["repack", "-adq", "--no-write-bitmap-index"])?;
    git(Some(source), &["pack-refs", "--all"])
}

struct Bench<'a> {
    plan: &'a Plan<'a>,
    sides: [Side<'a>; 2],
    source: &'a Path,
    /// A directory that is emptied before each operation.
    scratch: PathBuf,
    report: &'a mut dyn FnMut(&Line),
}

impl Bench<'_> {
    fn reads(&mut self) -> Result<()> {
        let plain = self.copy_to_sides("plain")?;
        self.arrive_at_sides("bitmap")?;
        let clone = ["clone", "-q", "--bare"];
        let goals = Goals { wall: Some(1.0), cpu: Some(0.2), bytes: None };
        self.measure_fetch("clone with a bitmap", "bitmap", &clone, None, goals)?;
        let goals = Goals { cpu: Some(1.3), ..Goals::default() };
        // The server caches the plan of a clone, so each clone needs a new commit.
        let mut number = 0;
        self.alternate("clone without a bitmap, first", 1, goals, |bench, side| {
            number += 1;
            let commit = new_commit(&plain[side], "master")?;
            let name = format!("refs/heads/one-more-{number}");
            git(Some(&plain[side]), &["update-ref", &name, &commit])?;
            (bench.sides[side].adopt)(&plain[side]);
            let into = bench.scratch.join("clone.git").to_string_lossy().into_owned();
            let url = bench.sides[side].url("plain");
            bench.run(side, &bench.scratch, &[&clone[..], &[&url, &into]].concat())
        })?;
        self.measure_fetch("clone without a bitmap, again", "plain", &clone, None, goals)?;
        let wall = Goals { wall: Some(1.0), ..Goals::default() };
        let shallow = ["clone", "-q", "--bare", "--depth", "1"];
        let goals = Goals { wall: Some(1.2), cpu: Some(1.5), bytes: None };
        self.alternate("shallow clone, first", 1, goals, |bench, side| {
            number += 1;
            let commit = new_commit(&plain[side], "master")?;
            git(Some(&plain[side]), &["update-ref", "refs/heads/shallow", &commit])?;
            (bench.sides[side].adopt)(&plain[side]);
            let into = bench.scratch.join("clone.git").to_string_lossy().into_owned();
            let url = bench.sides[side].url("plain");
            let branch = ["--branch", "shallow", &url, &into];
            bench.run(side, &bench.scratch, &[&shallow[..], &branch].concat())
        })?;
        self.measure_fetch("shallow clone, again", "plain", &shallow, None, goals)?;
        self.measure_fetch("shallow clone with a bitmap", "bitmap", &shallow, None, goals)?;
        self.measure_concurrent("8 shallow clones at once", "plain", &shallow, 8, goals)?;
        self.measure_fetch("ls-remote", "bitmap", &["ls-remote", "-q"], None, wall)?;
        let old = self.client_without(200)?;
        let fetch = ["fetch", "-q"];
        let goals = Goals { wall: None, cpu: Some(1.0), bytes: Some(1.5) };
        self.measure_fetch("fetch of 200 commits", "bitmap", &fetch, Some(&old), goals)?;
        self.measure_fetch("fetch of 200 commits, no bitmap", "plain", &fetch, Some(&old), goals)?;
        let new = self.client_without(0)?;
        self.measure_fetch("fetch with nothing new", "bitmap", &fetch, Some(&new), wall)
    }

    fn pushes(&mut self) -> Result<()> {
        self.copy_to_sides("pushed")?;
        let client = self.client_without(0)?;
        let wall = Goals { wall: Some(1.0), ..Goals::default() };
        let mut number = 0;
        self.alternate("push of one commit", 4, wall, |bench, side| {
            number += 1;
            let refspec = format!("{}:refs/heads/pushed-{number}", new_commit(&client, "HEAD")?);
            bench.run(side, &client, &["push", "-q", &bench.sides[side].url("pushed"), &refspec])
        })?;
        let goals = Goals { wall: Some(1.3), ..Goals::default() };
        self.alternate("first push of all refs", 1, goals, |bench, side| {
            number += 1;
            let name = format!("first-{number}");
            let folder = (bench.sides[side].folder)(&name)?;
            if side == 1 {
                git(None, &["init", "-q", "--bare", &folder.to_string_lossy()])?;
                git(Some(&folder), &["config", "http.receivepack", "true"])?;
                // Without syncs, git would promise less than hexforge does.
                git(Some(&folder), &["config", "core.fsync", "committed,reference"])?;
            }
            let url = bench.sides[side].url(&name);
            bench.run(side, bench.source, &[&["push", "-q", &url], &ALL_REFS[..]].concat())
        })
    }

    /// Pushes the repository to hexforge, and copies it to the backend, where git makes a bitmap.
    fn arrive_at_sides(&self, name: &str) -> Result<()> {
        let [hexforge, backend] = &self.sides;
        (hexforge.folder)(name)?;
        let push = ["push", "-q", &hexforge.url(name)];
        git(Some(self.source), &[&push[..], &ALL_REFS].concat())?;
        let folder = self.copy_to(backend, name)?;
        git(Some(&folder), &["repack", "-adqb"])?;
        wait_until_idle(hexforge);
        Ok(())
    }

    /// Copies the repository to both sides, without a bitmap.
    fn copy_to_sides(&self, name: &str) -> Result<Vec<PathBuf>> {
        let mut folders = vec![];
        for side in &self.sides {
            let folder = self.copy_to(side, name)?;
            (side.adopt)(&folder);
            folders.push(folder);
        }
        Ok(folders)
    }

    fn copy_to(&self, side: &Side<'_>, name: &str) -> Result<PathBuf> {
        let folder = (side.folder)(name)?;
        std::fs::create_dir_all(folder.parent().context("the repository path has no parent")?)?;
        copy(self.source, &folder)?;
        git(Some(&folder), &["config", "http.receivepack", "true"])?;
        git(Some(&folder), &["config", "core.fsync", "committed,reference"])?;
        Ok(folder)
    }

    /// Creates a client repository that has all but the newest commits.
    fn client_without(&self, commits: usize) -> Result<PathBuf> {
        let folder = self.source.with_file_name(format!("client-{commits}.git"));
        if folder.exists() {
            return Ok(folder);
        }
        let tip = output(self.source, &["rev-parse", &format!("master~{commits}")])?;
        git(None, &["init", "-q", "--bare", "-b", "master", &folder.to_string_lossy()])?;
        let refspec = format!("{}:refs/heads/master", tip.trim());
        git(Some(self.source), &["push", "-q", &folder.to_string_lossy(), &refspec])?;
        Ok(folder)
    }

    /// Measures a fetch or clone, with a fresh copy of the client repository if one is given.
    fn measure_fetch(
        &mut self,
        name: &'static str,
        repository: &str,
        arguments: &[&str],
        client: Option<&Path>,
        goals: Goals,
    ) -> Result<()> {
        self.alternate(name, 1, goals, |bench, side| {
            let url = bench.sides[side].url(repository);
            let client_folder = bench.scratch.join("client.git");
            let mut all = arguments.to_vec();
            all.push(&url);
            let into = bench.scratch.join("clone.git").to_string_lossy().into_owned();
            if let Some(client) = client {
                copy(client, &client_folder)?;
                all.push("master:refs/remotes/origin/master");
                return bench.run(side, &client_folder, &all);
            }
            if arguments[0] == "clone" {
                all.push(&into);
            }
            bench.run(side, &bench.scratch, &all)
        })
    }

    /// Measures several concurrent clients. The processor time is that per client.
    fn measure_concurrent(
        &mut self,
        name: &'static str,
        repository: &str,
        arguments: &[&str],
        clients: u32,
        goals: Goals,
    ) -> Result<()> {
        self.alternate(name, 1, goals, |bench, side| {
            let url = bench.sides[side].url(repository);
            let before = processor_time(&[bench.sides[side].pid]);
            let started = Instant::now();
            let mut running = Vec::new();
            for client in 0..clients {
                let into = bench.scratch.join(format!("{client}.git"));
                let into = into.to_string_lossy().into_owned();
                let mut command = client_command(&bench.scratch);
                running.push(command.args(arguments).args([&url, &into]).spawn()?);
            }
            for mut client in running {
                ensure!(client.wait()?.success(), "git {arguments:?} failed");
            }
            let wall = started.elapsed();
            std::thread::sleep(CLEANING_UP);
            let cpu = processor_time(&[bench.sides[side].pid]).saturating_sub(before) / clients;
            Ok(OperationCost { wall, cpu, bytes: 0 })
        })
    }

    /// Runs an operation on both sides in turn, and keeps the median of each.
    fn alternate(
        &mut self,
        name: &'static str,
        factor: usize,
        goals: Goals,
        mut operation: impl FnMut(&Self, usize) -> Result<OperationCost>,
    ) -> Result<()> {
        if !name.contains(self.plan.only) {
            return Ok(());
        }
        let mut taken = [vec![], vec![]];
        for round in 0..self.plan.rounds * factor {
            // The side that goes first alternates.
            for side in if round % 2 == 0 { [0, 1] } else { [1, 0] } {
                let _ = std::fs::remove_dir_all(&self.scratch);
                std::fs::create_dir(&self.scratch)?;
                taken[side].push(operation(self, side)?);
            }
        }
        let [hexforge, backend] = taken.map(median);
        (self.report)(&Line { name, hexforge, backend, goals });
        Ok(())
    }

    /// Runs a git client and measures it.
    fn run(&self, side: usize, folder: &Path, arguments: &[&str]) -> Result<OperationCost> {
        let pack = self.scratch.join("received");
        let before = processor_time(&[self.sides[side].pid]);
        let started = Instant::now();
        let status =
            client_command(folder).args(arguments).env("GIT_TRACE_PACKFILE", &pack).status()?;
        let wall = started.elapsed();
        ensure!(status.success(), "git {arguments:?} failed");
        std::thread::sleep(CLEANING_UP);
        let cpu = processor_time(&[self.sides[side].pid]).saturating_sub(before);
        let bytes = std::fs::metadata(pack).map_or(0, |metadata| metadata.len());
        Ok(OperationCost { wall, cpu, bytes })
    }
}

/// Waits until a server has finished its background work, such as counting the contributors of a push.
fn wait_until_idle(side: &Side<'_>) {
    let until = Instant::now() + LONGEST_BACKGROUND_WORK;
    let used = || processor_time(&[side.pid]);
    while Instant::now() < until {
        let before = used();
        std::thread::sleep(Duration::from_millis(500));
        if used().saturating_sub(before) < Duration::from_millis(20) {
            return;
        }
    }
}

/// A git client without user or system configuration.
fn client_command(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .args(["-c", "fetch.unpackLimit=1", "-c", "gc.auto=0", "-c", "maintenance.auto=false"])
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdout(std::process::Stdio::null());
    command
}

fn median(mut taken: Vec<OperationCost>) -> OperationCost {
    let middle = taken.len() / 2;
    let cpu = taken.iter().map(|one| one.cpu).sum::<Duration>() / taken.len().max(1) as u32;
    taken.sort_by_key(|one| one.wall);
    let OperationCost { wall, bytes, .. } = taken.get(middle).copied().unwrap_or_default();
    // Processor time has steps of 10 ms, so for short operations only the mean is meaningful.
    OperationCost { wall, cpu, bytes }
}

/// Creates a commit that differs from all others.
pub(super) fn new_commit(folder: &Path, parent: &str) -> Result<String> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let message = format!("One more: {}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let tree = format!("{parent}^{{tree}}");
    let commit = output(folder, &["commit-tree", &tree, "-p", parent, "-m", &message])?;
    Ok(commit.trim().to_owned())
}

pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    let status = Command::new("cp").arg("-r").args([from, to]).status()?;
    ensure!(status.success(), "{} cannot be copied", from.display());
    Ok(())
}

fn output(folder: &Path, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new("git");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Ada");
        command.env(format!("GIT_{role}_EMAIL"), "ada@example.com");
    }
    let output = command.args(arguments).current_dir(folder).output()?;
    ensure!(output.status.success(), "git {arguments:?} failed");
    Ok(String::from_utf8(output.stdout)?)
}
