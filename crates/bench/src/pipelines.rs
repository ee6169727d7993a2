//! Measures pages of pipelines and builds among very many, and the polling of runners.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use hexforge_persistence_diesel::testing::TestDatabase;

use super::bulk::Bulk;
use super::load::{
    Call, connect, measure_alone, measure_each, post_request, quantile, time_on_cpu,
};
use hexforge_tests::program::{Program, ROOT, RUNNERS};
use hexforge_tests::runner::{AGENT, Runner};

/// The number of projects that share the pipelines, and of builds per pipeline.
const PROJECTS: usize = 50;
const BUILDS: usize = 10;
/// The number of builds that runners take per figure.
const TAKEN: usize = 200;
/// The polling interval of an idle runner.
const POLL_INTERVAL: Duration = Duration::from_secs(3);
/// How long idle runners are measured.
const POLL_TIME: Duration = Duration::from_secs(15);
/// The tags of pending builds: four sets while runners take builds, and a tag that no runner has.
const TAGS: [&str; 4] = ["[]", r#"["linux"]"#, r#"["docker","linux"]"#, r#"["windows"]"#];
const UNKNOWN_TAG: &str = r#"["mainframe"]"#;

/// The plan of a measurement.
pub struct Plan<'a> {
    /// The path of the server program.
    pub program: &'a Path,
    /// The number of pipelines; there are ten times as many builds.
    pub pipelines: usize,
    /// The number of pending builds.
    pub pending: usize,
    /// The number of runners that poll without getting a build.
    pub runners: usize,
    /// The measuring time per page.
    pub time: Duration,
}

/// Measures everything on one database, and reports each figure with its goal.
pub fn measure(
    database: &TestDatabase,
    plan: &Plan<'_>,
    report: &mut dyn FnMut(&str, &str, String),
) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let program = Program::start(plan.program, folder.path(), &database.url)?;
    let address = program.address;
    let processes = || {
        let mut pids = database.processes();
        pids.push(program.pid());
        pids
    };
    let mut projects = Vec::new();
    for number in 0..PROJECTS {
        let form = [("name", format!("project-{number}")), ("public", "true".to_owned())];
        let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
        let made = program.request("POST", "/projects").token(ROOT).form(&form).send().expect(201);
        projects.push(made["id"].as_i64().context("the created project has no id")?);
    }
    let first = projects[0];
    let bulk = Bulk(database);
    insert_pipelines(&bulk, first, plan.pipelines);
    bulk.finish();
    for path in [
        "pipelines",
        "pipelines?page=50",
        "pipelines?scope=running",
        "pipelines/1",
        "builds",
        "builds?page=50",
        "builds?scope=failed",
        "builds?scope[]=pending&scope[]=running",
        "builds/1",
    ] {
        let call = Call {
            name: format!("GET /projects/:id/{path}"),
            target: format!("/api/v3/projects/{first}/{path}"),
            token: ROOT.to_owned(),
        };
        measure_alone(address, &[], &call, Duration::ZERO);
        let cost = measure_alone(address, &processes(), &call, plan.time);
        let figure = format!("cpu {} us, p50 {} us", cost.cpu.as_micros(), cost.p50.as_micros());
        report(&call.name, "", figure);
    }
    let runner = |tags: &str| Runner::register(address, RUNNERS, &[("tag_list", tags)]);
    let idle: Vec<Runner> = (0..plan.runners).map(|_| runner("linux")).collect();
    let share = poll(&program, database, &idle);
    report(&format!("{} runners ask every 3 s, nothing waits", idle.len()), "< 10 %", share);
    insert_pending_builds(&bulk, first, plan, |_| UNKNOWN_TAG);
    bulk.finish();
    let share = poll(&program, database, &idle);
    report(&format!("the same, {} wait for others", plan.pending), "< 10 %", share);
    bulk.execute("UPDATE builds SET status = 'canceled' WHERE status = 'pending';");
    insert_pending_builds(&bulk, first, plan, |n| TAGS[n]);
    bulk.finish();
    let bound = program.request("GET", &format!("/projects/{first}")).token(ROOT).send();
    let bound = bound.expect(200)["runners_token"]
        .as_str()
        .context("the project has no runners token")?
        .to_owned();
    let bound = Runner::register(address, &bound, &[("tag_list", "linux,docker")]);
    for (who, runner) in [("a shared runner", runner("linux,docker")), ("a bound runner", bound)] {
        let request = build_request(&program, &runner);
        let requests = vec![request; TAKEN];
        let (opening, rest) = requests.split_at(TAKEN / 10);
        measure_each(address, &[], opening);
        let cost = measure_each(address, &processes(), rest);
        let figure = format!("cpu {} us, p50 {} us", cost.cpu.as_micros(), cost.p50.as_micros());
        report(&format!("{who} takes a build of {} waiting", plan.pending), "< 5 ms", figure);
    }
    Ok(())
}

fn build_request(program: &Program, runner: &Runner) -> String {
    let headers = format!("User-Agent: {AGENT}\r\n");
    let form = format!("token={}", runner.token);
    post_request(program.address, "/ci/api/v1/builds/register.json", &headers, &form)
}

/// Lets idle runners poll for a while. Returns their processor share and the median response time.
fn poll(program: &Program, database: &TestDatabase, runners: &[Runner]) -> String {
    use std::io::Write as _;
    // The runners poll one after the other. Each opens a new connection, which costs more than keeping one.
    let requests: Vec<String> =
        runners.iter().map(|runner| build_request(program, runner)).collect();
    let mut times = Vec::new();
    let ask = |number: usize| {
        let started = Instant::now();
        let mut reader = connect(program.address);
        reader.get_mut().write_all(requests[number].as_bytes()).expect("the server reads");
        let answer = super::load::Answer::read(&mut reader, &mut |_| ());
        assert_eq!(answer.status, 204, "there is nothing for it");
        started.elapsed()
    };
    for number in 0..runners.len() {
        ask(number);
    }
    let mut pids = database.processes();
    pids.push(program.pid());
    let (before, started) = (time_on_cpu(&pids), Instant::now());
    let step = POLL_INTERVAL / u32::try_from(runners.len().max(1)).unwrap_or(u32::MAX);
    let mut asked = 0;
    while started.elapsed() < POLL_TIME {
        times.push(ask(asked % runners.len()));
        asked += 1;
        let due = started + step * u32::try_from(asked).unwrap_or(u32::MAX);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    let cpu = time_on_cpu(&pids).saturating_sub(before);
    times.sort_unstable();
    let share = cpu.as_secs_f64() / started.elapsed().as_secs_f64() * 100.0;
    format!("{share:.1} % of a core, p50 {} us", quantile(&times, 0.5).as_micros())
}

const PIPELINE: &str = "id, project_id, sha, before_sha, reference, tag, status, duration, created_at, updated_at, \
     started_at, finished_at, commit_message, commit_author_name, commit_author_email, \
     commit_authored_at, commit_committed_at";
const DEFINITION: &str = "id, pipeline_id, commands, options, variables";
const BUILD: &str = "id, project_id, pipeline_id, definition_id, kind, name, stage, stage_index, status, run_when, \
     allow_failure, tags, superseded, created_at, updated_at, queued_at, started_at, finished_at";
const COMMIT: &str =
    "'Try it', 'Ada', 'ada@example.org', '2016-01-01T00:00:00+00:00', '2016-01-01T00:00:00+00:00'";
const SHA: &str = "'0123456789abcdef0123456789abcdef0123abcd'";

/// Inserts pipelines with their builds. Half of them belong to the first project.
fn insert_pipelines(bulk: &Bulk<'_>, first: i64, pipelines: usize) {
    let at = bulk.moment("i * 7");
    let of = |pipeline: &str| {
        format!(
            "(CASE WHEN {pipeline} % 2 = 0 THEN {first} ELSE {first} + {pipeline} / 2 % {PROJECTS} END)"
        )
    };
    bulk.rows(
        "pipelines",
        PIPELINE,
        pipelines,
        &format!(
            "i + 1, {}, {SHA}, {SHA}, 'branch-' || CAST(i % 100 AS TEXT), FALSE, \
             CASE WHEN i / 2 % 7 = 0 THEN 'failed' ELSE 'success' END, 60, {at}, {at}, {at}, {at}, {COMMIT}",
            of("i"),
        ),
    );
    let builds = pipelines * BUILDS;
    let in_pipeline = format!("(i / {BUILDS})");
    bulk.rows(
        "build_definitions",
        DEFINITION,
        builds,
        &format!("i + 1, {in_pipeline} + 1, 'make', '{{}}', '[]'"),
    );
    bulk.rows(
        "builds",
        BUILD,
        builds,
        &format!(
            "i + 1, {}, {in_pipeline} + 1, i + 1, 'build', 'job-' || CAST(i % {BUILDS} AS TEXT), 'test', 1, \
             CASE WHEN {in_pipeline} / 2 % 7 = 0 AND i % {BUILDS} = 3 THEN 'failed' ELSE 'success' END, \
             'on_success', FALSE, '[]', FALSE, {at}, {at}, {at}, {at}, {at}",
            of(&in_pipeline),
        ),
    );
}

/// Inserts pending pipelines of all projects in turn. `kind` returns the tags of a build.
fn insert_pending_builds(
    bulk: &Bulk<'_>,
    first: i64,
    plan: &Plan<'_>,
    kind: impl Fn(usize) -> &'static str,
) {
    // The ids follow those of existing pipelines and builds.
    let (base, builds) = id_offsets(plan, kind(0));
    let pipelines = plan.pending / BUILDS;
    // The builds are new, because pending builds time out.
    let at = match bulk.0.url {
        hexforge_persistence_diesel::DatabaseUrl::Sqlite(_) => "datetime('now')",
        hexforge_persistence_diesel::DatabaseUrl::Postgres(_) => "now() AT TIME ZONE 'UTC'",
    };
    bulk.rows(
        "pipelines",
        PIPELINE,
        pipelines,
        &format!(
            "{base} + i + 1, {first} + i % {PROJECTS}, {SHA}, {SHA}, 'master', FALSE, 'pending', NULL, {at}, {at}, \
             NULL, NULL, {COMMIT}"
        ),
    );
    let count = pipelines * BUILDS;
    bulk.rows(
        "build_definitions",
        DEFINITION,
        count,
        &format!("{builds} + i + 1, {base} + i / {BUILDS} + 1, 'make', '{{}}', '[]'"),
    );
    bulk.rows(
        "builds",
        BUILD,
        count,
        &format!(
            "{builds} + i + 1, {first} + i / {BUILDS} % {PROJECTS}, {base} + i / {BUILDS} + 1, {builds} + i + 1, \
             'build', 'job-' || CAST(i % {BUILDS} AS TEXT), 'test', 1, 'pending', 'on_success', FALSE, \
             CASE i % 4 WHEN 0 THEN '{}' WHEN 1 THEN '{}' WHEN 2 THEN '{}' ELSE '{}' END, \
             FALSE, {at}, {at}, {at}, NULL, NULL",
            kind(0),
            kind(1),
            kind(2),
            kind(3),
        ),
    );
}

/// Returns the largest ids of existing pipelines and builds, after which new ones begin.
fn id_offsets(plan: &Plan<'_>, kind: &str) -> (usize, usize) {
    let base = plan.pipelines + if kind == UNKNOWN_TAG { 0 } else { plan.pending };
    (base, base * BUILDS)
}
