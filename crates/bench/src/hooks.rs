//! Measures the rate of hook deliveries while some receivers hang, and the cost of hooks for the
//! requests that trigger them.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::outbox::SystemEvent;
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain_testing::builders::a_push;
use hexforge_persistence_diesel::Options;
use hexforge_persistence_diesel::testing::TestDatabase;

use hexforge_tests::program::{Program, ROOT};
use hexforge_tests::receiver::Receiver;
use hexforge_tests::work_tree::WorkTree;

/// The number of timed requests.
const CALLS: usize = 30;

/// The number of timed pushes, and the number of hooks of the project with hooks.
const PUSHES: usize = 15;
const PUSH_HOOKS: usize = 50;

/// The timeout for the arrival of deliveries.
const PATIENCE: Duration = Duration::from_secs(180);

/// The number of hooks, of hanging receivers, and of events per hook.
pub struct Plan<'a> {
    pub program: &'a Path,
    pub hooks: usize,
    pub hanging: usize,
    pub events: usize,
}

/// The measured figures.
pub struct Outcome {
    /// The number of deliveries to receivers that answer.
    pub sent: usize,
    /// The time from the first of them to the last.
    pub time: Duration,
    /// The time of a request that creates an event: without hooks, and with all of them.
    pub call: [Duration; 2],
    /// The time of a git push: to a project without hooks, and to one with 50.
    pub push: [Duration; 2],
    /// The memory of the process in megabytes: idle, and at most.
    pub memory: [f64; 2],
}

/// The header of the table.
pub fn heading() -> String {
    format!(
        "{:<11} {:>6} {:>8} {:>7} {:>8} {:>8} {:>9} {:>12} {:>12} {:>9}",
        "database",
        "hooks",
        "hanging",
        "events",
        "sent",
        "seconds",
        "per s",
        "call ms",
        "push ms",
        "MB"
    )
}

impl Outcome {
    /// The row of the table.
    pub fn line(&self, name: &str, plan: &Plan<'_>) -> String {
        let [alone, busy] = self.call.map(|time| time.as_secs_f64() * 1000.0);
        let [quiet, hooked] = self.push.map(|time| time.as_secs_f64() * 1000.0);
        let [idle, most] = self.memory;
        format!(
            "{name:<11} {:>6} {:>8} {:>7} {:>8} {:>8.2} {:>9.0} {:>12} {:>12} {:>9}",
            plan.hooks,
            plan.hanging,
            plan.events,
            self.sent,
            self.time.as_secs_f64(),
            self.sent as f64 / self.time.as_secs_f64(),
            format!("{alone:.1} {busy:.1}"),
            format!("{quiet:.1} {hooked:.1}"),
            format!("{idle:.0} {most:.0}"),
        )
    }
}

/// Queues events while no server runs, then measures how long a server takes to deliver them.
pub fn measure(database: &TestDatabase, plan: &Plan<'_>) -> Result<Outcome> {
    let folder = tempfile::tempdir()?;
    let start = || Program::start_with_hooks(plan.program, folder.path(), &database.url);
    let mut server = start()?;
    post(&server, "/projects", &[("name", "ship")]);
    let alone = time_of_calls(&server);
    let hanging = (0..plan.hanging).map(|_| Receiver::hanging(Duration::from_secs(60)));
    let hanging: Vec<Receiver> = hanging.collect();
    let healthy: Vec<Receiver> = (plan.hanging..plan.hooks).map(|_| Receiver::new()).collect();
    for receiver in hanging.iter().chain(&healthy) {
        let url = receiver.url("/");
        post(&server, "/projects/1/hooks", &[("url", &url), ("issues_events", "true")]);
    }
    let hooked = time_of_calls(&server);
    wait_until_all_have(&healthy, CALLS, || ())?;
    let push = time_of_pushes(&server)?;
    server.stop()?;
    healthy.iter().for_each(|receiver| drop(receiver.take()));
    queue_events(database, plan.events)?;
    let server = start()?;
    let idle = server.memory();
    let mut most = idle;
    let first = wait_until_any_has(&healthy)?;
    wait_until_all_have(&healthy, plan.events, || most = most.max(server.memory()))?;
    Ok(Outcome {
        sent: healthy.len() * plan.events,
        time: first.elapsed(),
        call: [alone, hooked],
        push,
        memory: [idle, most],
    })
}

/// Inserts push events of the project into the outbox.
fn queue_events(database: &TestDatabase, events: usize) -> Result<(), StoreError> {
    let store: Box<dyn Store> = Box::new(database.open(Options::default()));
    let now = chrono::DateTime::from_timestamp(4_000_000_000, 0).expect("a moment to come");
    store.write(|tx| {
        for _ in 0..events {
            let push = a_push(ProjectId(1), UserId(1));
            tx.outbox().record(&SystemEvent::Pushed(Box::new(push)), now)?;
        }
        Ok(())
    })
}

fn post(server: &Program, path: &str, form: &[(&str, &str)]) {
    server.request("POST", path).token(ROOT).form(form).send().expect(201);
}

/// The median time of a request that creates an issue.
fn time_of_calls(server: &Program) -> Duration {
    let mut times: Vec<Duration> = (0..CALLS)
        .map(|_| {
            let started = Instant::now();
            post(server, "/projects/1/issues", &[("title", "An issue")]);
            started.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[CALLS / 2]
}

/// The median time of a push, to a project without hooks and to one with many. Pushes alternate between the two, and
/// the deliveries of each are awaited, so that only the time of the answer is compared.
fn time_of_pushes(server: &Program) -> Result<[Duration; 2]> {
    let receiver = Receiver::new();
    let folder = tempfile::tempdir()?;
    let tree = WorkTree::new(&folder.path().join("unused.git"));
    let address = |name: &str| format!("http://root:{ROOT}@{}/root/{name}.git", server.address);
    let projects = ["quiet", "hooked"];
    for name in projects {
        post(server, "/projects", &[("name", name)]);
    }
    for hook in 0..PUSH_HOOKS {
        let url = receiver.url(&format!("/{hook}"));
        post(server, "/projects/root%2Ftold/hooks", &[("url", &url), ("push_events", "true")]);
    }
    let mut times = [Vec::new(), Vec::new()];
    for push in 0..PUSHES {
        tree.write("file", push.to_string()).commit("Change a file");
        for (name, times) in projects.iter().zip(&mut times) {
            let started = Instant::now();
            tree.git(&["push", "-q", &address(name), "master"]);
            times.push(started.elapsed());
        }
        let arrived = receiver.wait_for((push + 1) * PUSH_HOOKS, PATIENCE);
        ensure!(arrived, "only {} deliveries arrived in time", receiver.count());
    }
    Ok(times.map(|mut times| {
        times.sort_unstable();
        times[PUSHES / 2]
    }))
}

fn wait_until_any_has(receivers: &[Receiver]) -> Result<Instant> {
    let end = Instant::now() + PATIENCE;
    while receivers.iter().all(|receiver| receiver.count() == 0) {
        ensure!(Instant::now() < end, "no delivery arrived in time");
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(Instant::now())
}

fn wait_until_all_have(
    receivers: &[Receiver],
    count: usize,
    mut on_poll: impl FnMut(),
) -> Result<()> {
    let end = Instant::now() + PATIENCE;
    while receivers.iter().any(|receiver| receiver.count() < count) {
        let arrived: usize = receivers.iter().map(Receiver::count).sum();
        ensure!(Instant::now() < end, "only {arrived} deliveries arrived in time");
        on_poll();
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
