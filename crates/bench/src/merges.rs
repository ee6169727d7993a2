//! Measures merges, commits and pushes in a repository with a tree of 50,000 files.

use std::fmt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use hexforge_persistence_diesel::testing::TestDatabase;
use serde_json::{Value, json};

use super::history;
use super::load::{Call, OnceCost, measure_once, quantile, time_on_cpu};
use super::tracker_world::post;
use hexforge_tests::program::{Program, ROOT};

/// The tree: folders of the root, folders in each, files in each.
const SHAPE: [usize; 3] = [50, 20, 50];
/// The number of runs of each operation, and of files that a merge and a comparison change.
const RUNS: usize = 20;
const MERGED: usize = 20;
const CHANGED: usize = 50;
/// The number of open merge requests into the branch that is pushed to.
const WAITING: usize = 1000;

/// The median costs of one operation.
pub struct Figure {
    what: String,
    wall: Duration,
    /// Processor time of the server and of the database, with the work that a request leaves behind.
    cpu: Duration,
    goal: Goal,
}

/// What has to be at most this long.
enum Goal {
    Wall(Duration),
    Cpu(Duration),
    None,
}

impl fmt::Display for Figure {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let (what, wall, cpu) = (&self.what, milliseconds(self.wall), milliseconds(self.cpu));
        write!(to, "{what:<58} wall {wall:>8.2} ms  cpu {cpu:>8.2} ms")?;
        let (name, figure, goal) = match self.goal {
            Goal::Wall(goal) => ("wall", self.wall, goal),
            Goal::Cpu(goal) => ("cpu", self.cpu, goal),
            Goal::None => return Ok(()),
        };
        let holds = if figure <= goal { "held" } else { "MISSED" };
        write!(to, "  goal: {name} {} ms, {holds}", milliseconds(goal))
    }
}

/// Measures all operations, and reports each figure as soon as it is known.
pub fn measure(
    database: &TestDatabase,
    program: &Path,
    report: &mut dyn FnMut(Figure),
) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let bare = folder.path().join("source.git");
    make_repository(&bare)?;
    let data = folder.path().join("data");
    std::fs::create_dir(&data)?;
    let server = Program::start(program, &data, &database.url)?;
    let project = post(&server, "/projects", &[("name", "big")])?;
    let url = format!("http://root:{ROOT}@{}/root/big.git", server.address);
    git(&bare, &["push", "-q", "--mirror", &url])?;
    let stage = Stage { database, server, project, bare: &bare, url };
    report(stage.commits()?);
    stage.changes()?.into_iter().for_each(&mut *report);
    report(stage.merges()?);
    report(stage.pushes("push of a commit, no merge requests")?);
    for number in 0..WAITING {
        stage.open(&format!("topic-{number}"), "master")?;
    }
    report(stage.pushes(&format!("push of a commit, {WAITING} open merge requests"))?);
    Ok(())
}

/// Creates branches that change files of one tree: `master`, and for each run the two sides of a merge and a
/// comparison; then one branch for each waiting request.
fn make_repository(bare: &Path) -> Result<()> {
    history::init(bare)?;
    history::import(bare, &[], |to| {
        let files = SHAPE.iter().product();
        history::begin_commit(to, "master", 0)?;
        for number in 0..files {
            history::write_file(to, &path(number), &content(number, ""))?;
        }
        let mut commit = 0;
        let mut branch = |name: String, first: usize, count: usize| -> Result<()> {
            commit += 1;
            history::begin_commit(to, &name, commit)?;
            writeln!(to, "from :1")?;
            // Changed files are spread over many folders.
            for number in (0..count).map(|number| (first + number * 997) % files) {
                history::write_file(to, &path(number), &content(number, &name))?;
            }
            Ok(())
        };
        for run in 0..RUNS {
            branch(format!("ours-{run}"), run, MERGED)?;
            branch(format!("theirs-{run}"), run + 25, MERGED)?;
            branch(format!("changes-{run}"), run, CHANGED)?;
        }
        (0..WAITING).try_for_each(|number| branch(format!("topic-{number}"), number, 1))
    })
}

fn path(number: usize) -> String {
    let [_, folders, files] = SHAPE;
    let (folder, file) = (number / files, number % files);
    format!("part-{:02}/of-{:02}/file-{file:02}.txt", folder / folders, folder % folders)
}

/// Returns a file content of forty lines. One line differs between branches.
fn content(number: usize, branch: &str) -> String {
    let line = |line: usize| {
        let change = if line == 20 { branch } else { "" };
        format!("line {line} of file {number} {change}\n")
    };
    (0..40).map(line).collect()
}

struct Stage<'a> {
    database: &'a TestDatabase,
    server: Program,
    project: i64,
    bare: &'a Path,
    url: String,
}

impl Stage<'_> {
    /// Runs an operation on each number. The first run is not counted: it opens connections.
    fn timed(&self, what: &str, goal: Goal, work: impl Fn(usize) -> Result<()>) -> Result<Figure> {
        let (mut walls, mut cpus) = (Vec::new(), Vec::new());
        self.settle();
        for run in 0..RUNS {
            let pids = self.processes();
            let (before, begun) = (time_on_cpu(&pids), Instant::now());
            work(run)?;
            walls.push(begun.elapsed());
            // Queued work is part of the cost.
            self.settle();
            cpus.push(time_on_cpu(&pids).saturating_sub(before));
        }
        for times in [&mut walls, &mut cpus] {
            times.remove(0);
            times.sort_unstable();
        }
        let [wall, cpu] = [quantile(&walls, 0.5), quantile(&cpus, 0.5)];
        Ok(Figure { what: what.to_owned(), wall, cpu, goal })
    }

    fn processes(&self) -> Vec<u32> {
        let mut pids = self.database.processes();
        pids.push(self.server.pid());
        pids
    }

    /// Waits until the server has finished the work that earlier requests left behind.
    fn settle(&self) {
        let pids = self.processes();
        let mut before = time_on_cpu(&pids);
        loop {
            std::thread::sleep(Duration::from_millis(300));
            let now = time_on_cpu(&pids);
            if now.saturating_sub(before) < Duration::from_millis(8) {
                return;
            }
            before = now;
        }
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let path = format!("/projects/{}{path}", self.project);
        let status = if method == "POST" { 201 } else { 200 };
        self.server.request(method, &path).token(ROOT).json(body).send().expect(status)
    }

    /// Opens a merge request, and returns its id.
    fn open(&self, from: &str, into: &str) -> Result<i64> {
        let body = json!({ "source_branch": from, "target_branch": into, "title": from });
        let made = self.send("POST", "/merge_requests", &body);
        made["id"].as_i64().context("the merge request has no id")
    }

    fn commits(&self) -> Result<Figure> {
        let goal = Goal::Cpu(Duration::from_millis(10));
        self.timed("commit of a file, tree of 50,000 files", goal, |run| {
            let body = json!({
                "file_path": path(run * 1999), "branch_name": "master", "content": format!("{run}\n"),
                "commit_message": "Change a file",
            });
            self.send("PUT", "/repository/files", &body);
            Ok(())
        })
    }

    fn changes(&self) -> Result<[Figure; 2]> {
        let open = |run| self.open(&format!("changes-{run}"), "master");
        let requests: Vec<i64> = (0..RUNS).map(open).collect::<Result<_>>()?;
        let show = |request: &i64| {
            let target =
                format!("/api/v3/projects/{}/merge_requests/{request}/changes", self.project);
            let call = Call { name: String::new(), target, token: ROOT.to_owned() };
            call.bytes(self.server.address)
        };
        let calls: Vec<String> = requests.iter().map(show).collect();
        self.settle();
        let figure = |when: &str, goal| {
            let OnceCost { p50, cpu, .. } =
                measure_once(self.server.address, &self.processes(), &calls);
            let goal = Goal::Wall(Duration::from_millis(goal));
            Figure { what: format!("changes of {CHANGED} files, {when}"), wall: p50, cpu, goal }
        };
        let [first, again] = [figure("first", 40), figure("again", 1)];
        for request in requests {
            let path = format!("/merge_requests/{request}");
            self.send("PUT", &path, &json!({ "state_event": "close" }));
        }
        Ok([first, again])
    }

    fn merges(&self) -> Result<Figure> {
        let open = |run| self.open(&format!("theirs-{run}"), &format!("ours-{run}"));
        let requests: Vec<i64> = (0..RUNS).map(open).collect::<Result<_>>()?;
        let goal = Goal::Cpu(Duration::from_millis(50));
        let what = format!("merge of {MERGED} files, tree of 50,000 files");
        self.timed(&what, goal, |run| {
            let merged =
                self.send("PUT", &format!("/merge_requests/{}/merge", requests[run]), &json!({}));
            ensure!(merged["state"] == "merged", "not merged: {merged}");
            Ok(())
        })
    }

    fn pushes(&self, what: &str) -> Result<Figure> {
        git(self.bare, &["fetch", "-q", &self.url, "+refs/heads/master:refs/heads/master"])?;
        self.timed(what, Goal::None, |_| {
            let commit = super::transport::new_commit(self.bare, "master")?;
            git(self.bare, &["update-ref", "refs/heads/master", &commit])?;
            git(self.bare, &["push", "-q", &self.url, &format!("{commit}:refs/heads/master")])
        })
    }
}

fn git(bare: &Path, arguments: &[&str]) -> Result<()> {
    let mut command = history::command(bare, arguments);
    ensure!(command.stdout(Stdio::null()).status()?.success(), "git {arguments:?} failed");
    Ok(())
}
