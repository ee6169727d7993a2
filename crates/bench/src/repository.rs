//! Measures repository calls beside the git command that reads the same data.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use hexforge_domain::id::ProjectId;
use hexforge_git_gix::Layout;
use hexforge_persistence_diesel::testing::TestDatabase;

use super::baseline::{self, GitCost};
use super::history::{self, APART, FOLDER, README};
use super::load::{Call, Cost, OnceCost, measure, measure_at_once, measure_once};
use hexforge_tests::program::{Program, ROOT};
use hexforge_tests::ref_rows::adopt_repository;

/// The plan of a measurement.
pub struct Plan<'a> {
    /// The path of the server program.
    pub program: &'a Path,
    /// The measuring time per figure.
    pub time: Duration,
    /// The number of concurrent connections.
    pub connections: usize,
    /// Measures only calls whose names contain this.
    pub only: &'a str,
}

/// One row of the table.
#[derive(Default)]
pub struct Line {
    /// The call.
    pub call: String,
    /// The kind of figure that the goal is about.
    pub what: &'static str,
    /// The measured figure.
    pub figure: Duration,
    /// The goal: the largest accepted figure.
    pub goal: Duration,
    /// The median response time of consecutive requests.
    pub p50: Option<Duration>,
    /// The 99th percentile with all connections busy.
    pub p99: Option<Duration>,
    /// Responses per second with all connections busy.
    pub per_second: Option<f64>,
    /// The figure of git, if there is a comparable command.
    pub git: Option<Duration>,
}

impl Line {
    /// Whether the goal is met.
    pub fn holds(&self) -> bool {
        self.figure <= self.goal
    }
}

const CPU: &str = "cpu";

/// A server with a repository, and copies of the repository that no request has used yet.
struct Stage<'a> {
    plan: &'a Plan<'a>,
    program: Program,
    bare: std::path::PathBuf,
    commits: Vec<String>,
    show: &'a mut dyn FnMut(&Line),
}

/// How often the first response is measured for calls whose results are cached.
const FIRST_RESPONSES: usize = 30;
/// The number of branches created one after the other, and concurrently.
const NEW_BRANCHES: usize = 200;

/// Measures all calls. Each row is shown as soon as it is known.
#[allow(clippy::print_stderr, reason = "the preparation takes minutes, so it is announced")]
pub fn compare(
    database: &TestDatabase,
    plan: &Plan<'_>,
    show: &mut dyn FnMut(&Line),
) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let program = Program::start(plan.program, folder.path(), &database.url)?;
    let layout = Layout::new(folder.path());
    let bare = layout.repository(ProjectId(1));
    for name in ["one", "two"] {
        let form = [("name", name)];
        program.request("POST", "/projects").token(ROOT).form(&form).send().expect(201);
    }
    eprintln!("creating a repository");
    let commits = history::make(&bare)?;
    let copy = layout.repository(ProjectId(2));
    std::fs::create_dir_all(copy.parent().context("the repository path has no parent")?)?;
    ensure!(
        Command::new("cp").arg("-r").args([&bare, &copy]).status()?.success(),
        "the repository cannot be copied"
    );
    for (project, bare) in [(1, &bare), (2, &copy)] {
        adopt_repository(database, project, bare);
    }
    let mut stage = Stage { plan, program, bare, commits, show };
    stage.measure_steady()?;
    stage.compare()?;
    stage.archive()?;
    stage.contributors()?;
    stage.create_branches();
    Ok(())
}

impl Stage<'_> {
    fn wants(&self, call: &str) -> bool {
        call.contains(self.plan.only)
    }

    fn call(&self, call: &str) -> Call {
        Call {
            name: call.to_owned(),
            target: format!("/api/v3/projects/1/repository/{call}"),
            token: ROOT.to_owned(),
        }
    }

    fn measure(&self, call: &Call) -> Cost {
        let (plan, program) = (self.plan, &self.program);
        measure(program.address, &[program.pid()], call, plan.connections, plan.time)
    }

    /// Sends each call once.
    fn measure_first(&self, calls: &[Call]) -> OnceCost {
        let requests: Vec<String> =
            calls.iter().map(|call| call.bytes(self.program.address)).collect();
        measure_once(self.program.address, &[self.program.pid()], &requests)
    }

    /// Measures calls whose cost does not change with repetition.
    fn measure_steady(&mut self) -> Result<()> {
        let fields = "%(refname) %(objectname) %(parent) %(authorname) %(authoremail) \
                      %(authordate:iso) %(committername) %(committeremail) %(committerdate:iso) \
                      %(contents)";
        let format = format!("--format={fields} %(*objectname) %(*authorname) %(*contents)");
        let id = history::git(&self.bare, &["rev-parse", &format!("master:{README}")])?;
        let path = format!("blobs/master?filepath={README}");
        let (raw, folder) = (format!("raw_blobs/{id}"), format!("tree?path={FOLDER}"));
        let inside = format!("master:{FOLDER}");
        let file = format!("master:{README}");
        let refs = |count: &'static str, sort: &'static str, under: &'static str| {
            vec!["for-each-ref", sort, count, &format, under]
        };
        for (call, milliseconds, git) in [
            ("branches?per_page=20", 1.0, refs("--count=20", "--sort=refname", "refs/heads")),
            (
                "branches?per_page=20&page=50",
                1.0,
                refs("--count=1000", "--sort=refname", "refs/heads"),
            ),
            ("branches?per_page=100", 4.0, refs("--count=100", "--sort=refname", "refs/heads")),
            (
                "branches/topic-0500",
                0.3,
                refs("--count=1", "--sort=refname", "refs/heads/topic-0500"),
            ),
            ("tags?per_page=20", 1.0, refs("--count=20", "--sort=-refname", "refs/tags")),
            ("tree", 0.3, vec!["ls-tree", "master"]),
            (&folder, 0.3, vec!["ls-tree", &inside]),
            ("tree?recursive=true", 2.0, vec!["ls-tree", "-r", "-t", "master"]),
            (&path, 0.3, vec!["cat-file", "blob", &file]),
            (&raw, 0.3, vec!["cat-file", "blob", &id]),
        ] {
            if !self.wants(call) {
                continue;
            }
            let cost = self.measure(&self.call(call));
            let git: Vec<String> = git.into_iter().map(str::to_owned).collect();
            let git = baseline::git(&self.bare, &[git])?;
            self.report(call, milliseconds, cost, Some(git.cpu));
        }
        Ok(())
    }

    fn report(&mut self, call: &str, milliseconds: f64, cost: Cost, git: Option<Duration>) {
        (self.show)(&Line {
            call: call.to_owned(),
            what: CPU,
            figure: cost.cpu,
            goal: Duration::from_secs_f64(milliseconds / 1000.0),
            p50: Some(cost.p50),
            p99: Some(cost.p99),
            per_second: Some(cost.per_second),
            git,
        });
    }

    /// Measures the comparison of commits between which 57 files differ.
    fn compare(&mut self) -> Result<()> {
        if !self.wants("compare") {
            return Ok(());
        }
        let pairs =
            self.commits.windows(APART + 1).step_by(self.commits.len() / (FIRST_RESPONSES + 1));
        let pairs: Vec<(String, String)> = pairs
            .take(FIRST_RESPONSES)
            .map(|pair| (pair[0].clone(), pair[APART].clone()))
            .collect();
        let command = |(from, to): &(String, String)| {
            ["diff", "-M", &format!("{from}...{to}")].map(str::to_owned).to_vec()
        };
        let commands: Vec<Vec<String>> = pairs.iter().map(command).collect();
        let git = baseline::git(&self.bare, &commands)?;
        let calls: Vec<Call> = pairs
            .iter()
            .map(|(from, to)| self.call(&format!("compare?from={from}&to={to}")))
            .collect();
        let first = self.measure_first(&calls);
        (self.show)(&Line {
            call: "compare, 57 files, first".to_owned(),
            what: CPU,
            figure: first.cpu,
            goal: Duration::from_millis(40),
            p50: Some(first.p50),
            git: Some(git.cpu),
            ..Line::default()
        });
        let again = self.measure(&calls[0]);
        self.report("compare, 57 files, again", 1.0, again, Some(git.cpu));
        Ok(())
    }

    fn archive(&mut self) -> Result<()> {
        if !self.wants("archive") {
            return Ok(());
        }
        let commits = self
            .commits
            .iter()
            .step_by(self.commits.len() / (FIRST_RESPONSES + 1))
            .take(FIRST_RESPONSES);
        let commits: Vec<String> = commits.cloned().collect();
        let command = |commit: &String| {
            ["archive", "--format=tar.gz", "--prefix=one/", commit].map(str::to_owned).to_vec()
        };
        let git = baseline::git(&self.bare, &commits.iter().map(command).collect::<Vec<_>>())?;
        let calls: Vec<Call> = commits
            .iter()
            .map(|commit| self.call(&format!("archive.tar.gz?sha={commit}")))
            .collect();
        let first = self.measure_first(&calls);
        let GitCost { cpu, whole } = git;
        for (what, figure, goal, git) in [
            (CPU, first.cpu, cpu * 5 / 4, Some(cpu)),
            ("whole", first.p50, whole * 5 / 4, Some(whole)),
            ("first byte", first.first_byte, Duration::from_millis(10), None),
        ] {
            (self.show)(&Line {
                call: "archive.tar.gz, first".to_owned(),
                what,
                figure,
                goal,
                p50: Some(first.p50),
                git,
                ..Line::default()
            });
        }
        let again = self.measure(&calls[0]);
        self.report("archive.tar.gz, again", 2.0, again, Some(cpu));
        Ok(())
    }

    fn contributors(&mut self) -> Result<()> {
        if !self.wants("contributors") {
            return Ok(());
        }
        let log = ["log", "--no-merges", "--no-renames", "--numstat", "--format=%aE %aN", "master"];
        let git = baseline::git(&self.bare, &[log.map(str::to_owned).to_vec()])?;
        let mut call = self.call("contributors");
        // No request has used the copy yet, so nothing is cached.
        call.target = call.target.replace("projects/1/", "projects/2/");
        let first = self.measure_first(std::slice::from_ref(&call));
        (self.show)(&Line {
            call: "contributors, first".to_owned(),
            what: CPU,
            figure: first.cpu,
            goal: git.cpu * 3,
            p50: Some(first.p50),
            git: Some(git.cpu),
            ..Line::default()
        });
        let again = self.measure(&call);
        self.report("contributors, again", 10.0, again, Some(git.cpu));
        Ok(())
    }

    /// Creates branches one after the other, then over all connections.
    fn create_branches(&mut self) {
        if !self.wants("create branch") {
            return;
        }
        let address = self.program.address;
        let request = |number: usize| {
            let body = format!("branch_name=made-{number}&ref=master");
            format!(
                "POST /api/v3/projects/1/repository/branches HTTP/1.1\r\nHost: {address}\r\n\
                 PRIVATE-TOKEN: {ROOT}\r\nContent-Type: application/x-www-form-urlencoded\r\n\
                 Content-Length: {}\r\n\r\n{body}",
                body.len()
            )
        };
        let alone: Vec<String> = (0..NEW_BRANCHES).map(request).collect();
        let busy: Vec<String> = (NEW_BRANCHES..NEW_BRANCHES * 4).map(request).collect();
        let once = measure_once(address, &[self.program.pid()], &alone);
        let (per_second, p99) = measure_at_once(address, &busy, self.plan.connections);
        // A synced write dominates this figure, so it is shown beside it.
        let synced = baseline::synced_write(&self.bare);
        (self.show)(&Line {
            call: "create branch".to_owned(),
            what: "alone",
            figure: once.p50,
            goal: Duration::from_millis(6),
            p50: Some(once.p50),
            git: Some(synced),
            ..Line::default()
        });
        (self.show)(&Line {
            call: "create branch".to_owned(),
            what: "time each",
            figure: Duration::from_secs_f64(1.0 / per_second.max(0.001)),
            goal: Duration::from_millis(4),
            p99: Some(p99),
            per_second: Some(per_second),
            ..Line::default()
        });
        (self.show)(&Line {
            call: "create branch".to_owned(),
            what: CPU,
            figure: once.cpu,
            goal: Duration::from_millis(4),
            ..Line::default()
        });
    }
}
