//! Measures the main reads and writes, and git clients, in worlds of several sizes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use hexforge_domain::id::ProjectId;
use hexforge_git_gix::Layout;
use hexforge_persistence_diesel::testing::TestDatabase;

use super::bulk::Bulk;
use super::load::{
    Call, Cost, measure, measure_at_once, measure_each, post_request, processor_time,
};
use super::world::{self, People, Size};
use super::{contents, git_sizes, history, tracker_world, transport};
use hexforge_tests::program::{Program, ROOT};
use hexforge_tests::ref_rows::adopt_repository;

/// The plan of a measurement.
pub struct Plan<'a> {
    /// The path of the server program.
    pub program: &'a Path,
    /// The number of concurrent connections.
    pub connections: usize,
    /// The measuring time per figure.
    pub time: Duration,
    /// How often each git operation runs on each side.
    pub rounds: usize,
    /// Measures only calls whose names contain this.
    pub only: &'a str,
}

/// The figures of one call in one world.
pub struct Row {
    /// The name of the call.
    pub call: &'static str,
    /// The cost. Processor time is that of the server and of the database together.
    pub cost: Cost,
    /// The memory of the server afterwards, in megabytes.
    pub memory: f64,
    /// The goal.
    pub goal: Goal,
    /// The median times of `git http-backend` and of git without a server.
    pub beside: Option<[Duration; 2]>,
}

/// The least responses per second, the most milliseconds of processor time per response, and the
/// most milliseconds of response time without other load.
#[derive(Clone, Copy, Debug, Default)]
pub struct Goal {
    pub per_second: Option<f64>,
    pub cpu: Option<f64>,
    pub alone: Option<f64>,
}

const NONE: Goal = Goal { per_second: None, cpu: None, alone: None };

/// The number of writes for the figure without other load, and for the one under load.
const WRITES: [usize; 2] = [100, 400];

/// Measures all calls in a world with `projects` projects. `source` is a repository created by [`repository`].
pub fn measure_in(
    database: &TestDatabase,
    projects: usize,
    source: &Path,
    plan: &Plan<'_>,
    report: &mut dyn FnMut(Row),
) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("data");
    std::fs::create_dir(&data)?;
    let program = Program::start(plan.program, &data, &database.url)?;
    let (some, token) = tracker_world::sign_up(&program, "some")?;
    let (everywhere, _) = tracker_world::sign_up(&program, "everywhere")?;
    world::fill(database, Size { projects }, People { root: 1, some, everywhere });
    // The user creates more projects than the default limit allows.
    Bulk(database).execute(&format!("UPDATE users SET projects_limit = 100000 WHERE id = {some};"));
    Bulk(database).finish();
    let form = [("name", "looked-at"), ("public", "true")];
    let project = tracker_world::post(&program, "/projects", &form)?;
    let member = [("user_id", some.to_string()), ("access_level", "40".to_owned())];
    let member = member.each_ref().map(|(name, value)| (*name, value.as_str()));
    tracker_world::post(&program, &format!("/projects/{project}/members"), &member)?;
    let issue = contents::fill(database, projects, project);
    let bare = Layout::new(&data).repository(ProjectId(project));
    std::fs::create_dir_all(bare.parent().context("the repository path has no parent")?)?;
    if bare.exists() {
        std::fs::remove_dir_all(&bare)?;
    }
    transport::copy(source, &bare)?;
    adopt_repository(database, project, &bare);
    let stage = Stage { database, program, token, plan };
    stage.reads(project, issue, projects, report);
    stage.git(&folder.path().join("git"), source, report)?;
    stage.writes(project, report);
    Ok(())
}

/// Creates a repository of 3,830 commits, 1,000 branches and 123 tags.
pub fn repository(folder: &Path) -> Result<PathBuf> {
    let source = folder.join("source.git");
    history::make(&source)?;
    history::git(&source, &["config", "http.receivepack", "true"])?;
    // Without syncs, git would promise less than hexforge does.
    history::git(&source, &["config", "core.fsync", "committed,reference"])?;
    Ok(source)
}

struct Stage<'a> {
    database: &'a TestDatabase,
    program: Program,
    token: String,
    plan: &'a Plan<'a>,
}

impl Stage<'_> {
    /// The processes that work on a request.
    fn processes(&self) -> Vec<u32> {
        let mut pids = self.database.processes();
        pids.push(self.program.pid());
        pids
    }

    fn reads(&self, project: i64, issue: usize, projects: usize, report: &mut dyn FnMut(Row)) {
        let (plan, address) = (self.plan, self.program.address);
        let mut connected = false;
        for (name, path, goal) in reads(project, issue, projects) {
            if !name.contains(plan.only) {
                continue;
            }
            // Users request their own data; only administrators may list all projects.
            let token = if path.starts_with("/projects/all") { ROOT } else { &self.token };
            let target = format!("/api/v3{path}");
            let call = Call { name: name.to_owned(), target, token: token.to_owned() };
            if !connected {
                // The database starts its processes with the first requests.
                measure(address, &[], &call, plan.connections, Duration::from_millis(300));
                connected = true;
            }
            let cost = measure(address, &self.processes(), &call, plan.connections, plan.time);
            report(Row { call: name, cost, memory: self.program.memory(), goal, beside: None });
        }
    }

    fn writes(&self, project: i64, report: &mut dyn FnMut(Row)) {
        let (plan, address) = (self.plan, self.program.address);
        for (name, path, form, goal) in writes(project) {
            if !name.contains(plan.only) {
                continue;
            }
            let headers = format!("PRIVATE-TOKEN: {}\r\n", self.token);
            let one = |number: usize| {
                let form = form.replace("NUMBER", &number.to_string());
                post_request(address, &format!("/api/v3{path}"), &headers, &form)
            };
            let requests: Vec<String> = (0..WRITES.iter().sum()).map(one).collect();
            let (alone, busy) = requests.split_at(WRITES[0]);
            let p50 = measure_each(address, &[], alone).p50;
            let pids = self.processes();
            let before = processor_time(&pids);
            let (per_second, p99) = measure_at_once(address, busy, plan.connections);
            let cpu = processor_time(&pids).saturating_sub(before) / WRITES[1] as u32;
            let cost = Cost { per_second, p50, p99, cpu };
            report(Row { call: name, cost, memory: self.program.memory(), goal, beside: None });
        }
    }

    fn git(&self, folder: &Path, source: &Path, report: &mut dyn FnMut(Row)) -> Result<()> {
        let url = format!("http://root:{ROOT}@{}/root/looked-at.git", self.program.address);
        let pids = self.processes();
        git_sizes::measure(folder, source, &url, &pids, self.plan, &mut |call, cost, beside| {
            let memory = self.program.memory();
            report(Row { call, cost, memory, goal: NONE, beside: Some(beside) });
        })
    }
}

fn reads(project: i64, issue: usize, projects: usize) -> Vec<(&'static str, String, Goal)> {
    let at_least = |per_second, cpu| Goal { per_second: Some(per_second), cpu, alone: None };
    let last = projects.div_ceil(20);
    let of = format!("/projects/{project}");
    let repository = format!("{of}/repository");
    let list = at_least(1500.0, Some(0.8));
    vec![
        ("the version", "/version".to_owned(), at_least(17_700.0, None)),
        ("who asks", "/user".to_owned(), NONE),
        ("a project", of.clone(), at_least(5000.0, Some(0.2))),
        ("projects of a user", "/projects".to_owned(), list),
        ("projects a user sees", "/projects/visible".to_owned(), list),
        ("all projects, last page", format!("/projects/all?page={last}"), list),
        (
            "projects by a word",
            "/projects/visible?search=badger".to_owned(),
            at_least(1000.0, None),
        ),
        ("groups", "/groups".to_owned(), NONE),
        ("a user by name", "/users?username=user-7".to_owned(), NONE),
        ("issues", format!("{of}/issues"), NONE),
        ("an issue", format!("{of}/issues/{issue}"), NONE),
        ("labels", format!("{of}/labels"), NONE),
        ("events", format!("{of}/events"), NONE),
        ("20 of 1,000 branches", format!("{repository}/branches"), at_least(1500.0, Some(1.0))),
        ("a tree", format!("{repository}/tree"), at_least(4000.0, Some(0.3))),
        (
            "a file",
            format!("{repository}/blobs/master?filepath={}", history::README),
            at_least(5000.0, Some(0.2)),
        ),
    ]
}

/// The write requests: name, path, form and goal.
fn writes(project: i64) -> [(&'static str, String, &'static str, Goal); 4] {
    let of = format!("/projects/{project}");
    let goal =
        |per_second, alone| Goal { per_second: Some(per_second), cpu: None, alone: Some(alone) };
    [
        (
            "make a label",
            format!("{of}/labels"),
            "name=made-NUMBER&color=%23ff0000",
            goal(1000.0, 3.0),
        ),
        ("make an issue", format!("{of}/issues"), "title=It+breaks+NUMBER&labels=label-0", NONE),
        (
            "make a branch",
            format!("{of}/repository/branches"),
            "branch_name=made-NUMBER&ref=master",
            goal(250.0, 6.0),
        ),
        ("make a project", "/projects".to_owned(), "name=made-NUMBER", goal(250.0, 8.0)),
    ]
}
