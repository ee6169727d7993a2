//! Measures the lists of projects and groups in a small and in a large world.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use hexforge_persistence_diesel::testing::TestDatabase;

use super::load::{Call, IdleCost, measure_alone};
use super::world::{self, People, Size};
use hexforge_tests::program::{Program, ROOT};

/// Search terms that match every sixth project, one in a hundred, a handful and none; then the same
/// with fewer letters than a trigram index needs.
const SEARCHES: [&str; 8] = ["otter", "badger", "quokka", "xyzzy", "o", "ot", "qu", "zz"];
/// The sort orders of projects and groups.
const PROJECT_ORDERS: [&str; 6] =
    ["id", "name", "path", "created_at", "updated_at", "last_activity_at"];
const GROUP_ORDERS: [&str; 2] = ["name", "path"];

const PASSWORD: &str = "correct horse battery";

/// The plan of a measurement.
pub struct Plan<'a> {
    /// The path of the server program.
    pub program: &'a Path,
    /// The number of projects in the small and in the large world.
    pub sizes: [usize; 2],
    /// The measuring time per figure.
    pub time: Duration,
    /// Measures only calls whose names contain this.
    pub only: &'a str,
}

/// One row of the table.
pub struct Line {
    /// The user and the call.
    pub call: String,
    /// The cost in the small world.
    pub small: IdleCost,
    /// The cost in the large world.
    pub large: IdleCost,
}

impl Line {
    /// The processor time in the large world, divided by that in the small one.
    pub fn ratio(&self) -> f64 {
        self.large.cpu.as_secs_f64() / self.small.cpu.as_secs_f64().max(1e-9)
    }

    fn text(&self, name: &str, goal: f64) -> String {
        format!(
            "{name:<10} {:>9} {:>9} {:>6.2}{} {:>9} {:>9} {:>9}  {}",
            self.small.cpu.as_micros(),
            self.large.cpu.as_micros(),
            self.ratio(),
            if self.ratio() > goal { '*' } else { ' ' },
            self.small.p50.as_micros(),
            self.large.p50.as_micros(),
            self.large.first.as_micros(),
            self.call,
        )
    }
}

/// The header of the table.
pub fn heading(of: &str, [small, large]: [usize; 2]) -> String {
    format!(
        "{:<10} {:>9} {:>9} {:>7} {:>9} {:>9} {:>9}  call\n\
         {of:<10} {small:>9} {large:>9} {:>7} {small:>9} {large:>9} {large:>9}",
        "database", "cpu us", "cpu us", "x cpu", "p50 us", "p50 us", "first us", "",
    )
}

/// The rows of one database. Those above twice the cost in the small world are marked.
pub fn table(name: &str, lines: Option<Vec<Line>>) -> String {
    table_with_goal(name, lines, 2.0)
}

/// Like [`table`], with another limit.
pub fn table_with_goal(name: &str, lines: Option<Vec<Line>>, goal: f64) -> String {
    let lines = lines.unwrap_or_default();
    let mut table: Vec<String> = lines.iter().map(|line| line.text(name, goal)).collect();
    let above = lines.iter().filter(|line| line.ratio() > goal).count();
    table.push(format!("{name:<10} {above} of {} lines above {goal}", lines.len()));
    table.join("\n")
}

/// Measures all lists on one kind of database. Returns `None` if that database is not available.
pub fn compare(
    database: impl Fn() -> Option<TestDatabase>,
    plan: &Plan<'_>,
) -> Result<Option<Vec<Line>>> {
    at_both_sizes(plan.sizes, |projects| costs(&database, plan, projects))
}

/// The names of calls with their costs in one world.
pub type Costs = Vec<(String, IdleCost)>;

/// Measures the same calls in a small and in a large world. Returns `None` if the database is not available.
pub fn at_both_sizes(
    [small, large]: [usize; 2],
    costs: impl Fn(usize) -> Result<Option<Costs>>,
) -> Result<Option<Vec<Line>>> {
    let Some(small) = costs(small)? else { return Ok(None) };
    let Some(large) = costs(large)? else { return Ok(None) };
    let line = |((call, small), (_, large))| Line { call, small, large };
    Ok(Some(small.into_iter().zip(large).map(line).collect()))
}

#[allow(clippy::print_stderr, reason = "who waits for minutes wants to know for what")]
fn costs(
    database: impl Fn() -> Option<TestDatabase>,
    plan: &Plan<'_>,
    projects: usize,
) -> Result<Option<Costs>> {
    let Some(database) = database() else { return Ok(None) };
    let folder = tempfile::tempdir()?;
    let program = Program::start(plan.program, folder.path(), &database.url)?;
    let (some, some_token) =
        sign_up(&program, "some").context("the user of the benchmark cannot be created")?;
    let (everywhere, everywhere_token) = sign_up(&program, "everywhere")?;
    eprintln!("filling a database with {projects} projects");
    world::fill(&database, Size { projects }, People { root: 1, some, everywhere });
    database.gather_statistics();
    let people =
        [("root", ROOT.to_owned()), ("some", some_token), ("everywhere", everywhere_token)];
    let calls = people.iter().flat_map(|(who, token)| calls(who, token));
    let calls: Vec<Call> = calls.filter(|call| call.name.contains(plan.only)).collect();
    eprintln!("measuring {} calls", calls.len());
    let mut costs = Vec::new();
    for call in calls {
        // The database starts its processes with the first request.
        if costs.is_empty() {
            measure_alone(program.address, &[], &call, Duration::ZERO);
        }
        let mut pids = database.processes();
        pids.push(program.pid());
        let cost = measure_alone(program.address, &pids, &call, plan.time);
        costs.push((call.name, cost));
    }
    Ok(Some(costs))
}

/// Creates a user and a session. Returns the user's id and token.
fn sign_up(program: &Program, name: &str) -> Result<(i64, String)> {
    let email = format!("{name}@example.org");
    let user = program
        .request("POST", "/users")
        .token(ROOT)
        .form(&[("username", name), ("name", name), ("email", &email), ("password", PASSWORD)])
        .send()
        .expect(201);
    let session = program
        .request("POST", "/session")
        .form(&[("login", name), ("password", PASSWORD)])
        .send()
        .expect(201);
    let id = user["id"].as_i64().context("the created user has no id")?;
    let token = session["private_token"].as_str().context("the session has no token")?;
    Ok((id, token.to_owned()))
}

/// The read requests of one user.
fn calls(who: &str, token: &str) -> Vec<Call> {
    let team = format!("/groups/{}/projects", world::TEAM);
    let department = format!("/groups/{}/projects", world::DEPARTMENT);
    let mut paths = Vec::new();
    for list in ["/projects", "/projects/visible", "/projects/starred", &team, &department] {
        paths.extend(variants(list, &PROJECT_ORDERS));
    }
    if who == "root" {
        paths.extend(variants("/projects/all", &PROJECT_ORDERS));
    }
    // The second list shows all groups visible to a user; for administrators both lists contain all groups.
    paths.extend(variants("/groups", &GROUP_ORDERS));
    if who != "root" {
        paths.extend(variants("/groups?all_available=true", &GROUP_ORDERS));
    }
    let call = |path: String| Call {
        name: format!("{who} {path}"),
        target: format!("/api/v3{path}"),
        token: token.to_owned(),
    };
    paths.into_iter().map(call).collect()
}

/// The variants of a list: plain, in each order, with each search, and with two of the searches in each order.
fn variants(list: &str, orders: &[&str]) -> Vec<String> {
    let mark = if list.contains('?') { '&' } else { '?' };
    let mut paths = vec![list.to_owned()];
    for order in orders {
        for sort in ["asc", "desc"] {
            paths.push(format!("{list}{mark}order_by={order}&sort={sort}"));
        }
    }
    paths.extend(SEARCHES.map(|text| format!("{list}{mark}search={text}")));
    for order in orders {
        for text in ["otter", "badger"] {
            paths.push(format!("{list}{mark}search={text}&order_by={order}&sort=asc"));
        }
    }
    paths
}
