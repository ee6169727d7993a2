//! Loads the real program over HTTP and prints what the main calls cost, beside the same calls on a
//! database a thousand times as large. Ratios within one run are what counts.
#![allow(clippy::print_stdout, reason = "the table is what the program is for")]

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use hexforge_persistence_diesel::Options;
use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::bench::hooks;
use hexforge_tests::bench::lists::{self, Line, Plan};
use hexforge_tests::bench::load::{Call, Cost, measure};
use hexforge_tests::bench::long_history::History;
use hexforge_tests::bench::{backend, clones, repository, seed, streams, transport};
use hexforge_tests::bench::{issues, pipelines};
use hexforge_tests::program::{Program, ROOT};

/// Measures hexforge.
#[derive(Parser)]
struct Arguments {
    /// What to measure; by default everything.
    #[arg(long)]
    what: Option<What>,
    /// The program to measure.
    #[arg(long, default_value = "target/release/hexforge")]
    program: PathBuf,
    /// Numbers of users to compare.
    #[arg(long, value_delimiter = ',', default_value = "100,100000")]
    sizes: Vec<usize>,
    /// Connections that are busy at the same time.
    #[arg(long, default_value_t = 8)]
    connections: usize,
    /// Seconds for each figure.
    #[arg(long, default_value_t = 4.0)]
    seconds: f64,
    /// Numbers of projects to compare.
    #[arg(long, value_delimiter = ',', default_value = "1000,100000")]
    projects: Vec<usize>,
    /// Numbers of issues to compare.
    #[arg(long, value_delimiter = ',', default_value = "1000,1000000")]
    issues: Vec<usize>,
    /// Numbers of pipelines, of builds that wait, and of runners that ask in vain.
    #[arg(long, value_delimiter = ',', default_value = "100000,10000,200")]
    pipelines: Vec<usize>,
    /// Seconds for each figure of the lists of projects and groups.
    #[arg(long, default_value_t = 0.4)]
    list_seconds: f64,
    /// Megabytes of the file that is large.
    #[arg(long, default_value_t = 2048)]
    megabytes: u64,
    /// Only those of these lists, or calls about repositories, whose lines contain this.
    #[arg(long, default_value = "")]
    only: String,
    /// Commits of the history that is cloned, fetched and pushed.
    #[arg(long, default_value_t = 40_000)]
    commits: usize,
    /// How often each operation of git is done on each side.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Numbers of hooks, of those that hang, and of events that each is told.
    #[arg(long, value_delimiter = ',', default_value = "100,5,100")]
    hooks: Vec<usize>,
    /// Only this database.
    #[arg(long)]
    database: Option<Database>,
    /// Serves the repositories in a folder by `git http-backend`, for the comparison with it.
    #[arg(long, hide = true)]
    serve_backend: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Calls about users, under load.
    Users,
    /// The lists of projects and groups, one request after the other.
    Lists,
    /// Issues, labels, boards and feeds, one request after the other.
    Issues,
    /// Pipelines, builds, and runners that ask for them.
    Pipelines,
    /// What is in repositories, beside git.
    Repository,
    /// Large answers, and who waits meanwhile.
    Streams,
    /// Clones, fetches and pushes, beside `git http-backend`.
    Transport,
    /// Many clones of one repository at once, and a push of much.
    Clones,
    /// Deliveries to hooks, some of which hang.
    Hooks,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Database {
    Sqlite,
    Postgresql,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let Some(root) = &arguments.serve_backend {
        return backend::serve(root);
    }
    let wants = |what| arguments.what.is_none_or(|only| only == what);
    if wants(What::Users) {
        compare_users(&arguments)?;
    }
    if wants(What::Lists) {
        compare_lists(&arguments)?;
    }
    if wants(What::Issues) {
        compare_issues(&arguments)?;
    }
    if wants(What::Pipelines) {
        arguments.on_each_database(measure_pipelines)?;
    }
    if wants(What::Repository) {
        arguments.on_each_database(compare_repository)?;
    }
    if wants(What::Streams) {
        arguments.on_each_database(measure_streams)?;
    }
    if wants(What::Transport) {
        arguments.on_each_database(compare_transport)?;
    }
    if wants(What::Clones) {
        arguments.on_each_database(measure_clones)?;
    }
    if wants(What::Hooks) {
        measure_hooks(&arguments)?;
    }
    Ok(())
}

impl Arguments {
    fn history(&self) -> History {
        History { commits: self.commits, branches: 1000, tags: 123 }
    }

    fn on_each_database(
        &self,
        work: fn(&'static str, &TestDatabase, &Self) -> Result<()>,
    ) -> Result<()> {
        if self.wants(Database::Sqlite) {
            work("sqlite", &TestDatabase::sqlite(), self)?;
        }
        if self.wants(Database::Postgresql)
            && let Some(database) = TestDatabase::postgres()
        {
            work("postgresql", &database, self)?;
        }
        Ok(())
    }

    fn wants(&self, database: Database) -> bool {
        self.database.is_none_or(|only| only == database)
    }
}

fn compare_users(arguments: &Arguments) -> Result<()> {
    println!(
        "{:<11} {:>8}  {:<44} {:>9} {:>9} {:>9} {:>9} {:>7}",
        "database", "users", "call", "per s", "p50 us", "p99 us", "cpu us", "x cpu"
    );
    if arguments.wants(Database::Sqlite) {
        compare("sqlite", || Some(TestDatabase::sqlite()), arguments)?;
    }
    if arguments.wants(Database::Postgresql) {
        compare("postgresql", TestDatabase::postgres, arguments)?;
    }
    Ok(())
}

/// Prints what each list costs at both sizes. Processor time on PostgreSQL includes the database's.
fn compare_lists(arguments: &Arguments) -> Result<()> {
    let plan = Plan {
        program: &arguments.program,
        sizes: exactly(&arguments.projects)?,
        time: Duration::from_secs_f64(arguments.list_seconds),
        only: &arguments.only,
    };
    show_sizes("projects", plan.sizes);
    if arguments.wants(Database::Sqlite) {
        show_lines("sqlite", lists::compare(|| Some(TestDatabase::sqlite()), &plan)?);
    }
    if arguments.wants(Database::Postgresql) {
        show_lines("postgresql", lists::compare(TestDatabase::postgres, &plan)?);
    }
    Ok(())
}

/// The same of issues and what belongs to them.
fn compare_issues(arguments: &Arguments) -> Result<()> {
    let plan = issues::Plan {
        program: &arguments.program,
        sizes: exactly(&arguments.issues)?,
        time: Duration::from_secs_f64(arguments.list_seconds),
        only: &arguments.only,
    };
    show_sizes("issues", plan.sizes);
    if arguments.wants(Database::Sqlite) {
        show_lines("sqlite", issues::compare(|| Some(TestDatabase::sqlite()), &plan)?);
    }
    if arguments.wants(Database::Postgresql) {
        show_lines("postgresql", issues::compare(TestDatabase::postgres, &plan)?);
    }
    Ok(())
}

fn measure_pipelines(name: &str, database: &TestDatabase, arguments: &Arguments) -> Result<()> {
    let [pipelines, pending, runners] = exactly(&arguments.pipelines)?;
    let plan = pipelines::Plan {
        program: &arguments.program,
        pipelines,
        pending,
        runners,
        time: Duration::from_secs_f64(arguments.list_seconds),
    };
    pipelines::measure(database, &plan, &mut |what, goal, figure| {
        println!("{name:<10} {what:<52} {goal:<7} {figure}");
    })
}

/// Numbers of which there have to be so many.
fn exactly<const N: usize>(numbers: &[usize]) -> Result<[usize; N]> {
    numbers.try_into().with_context(|| format!("{N} numbers are needed, with commas between"))
}

fn show_sizes(of: &str, [small, large]: [usize; 2]) {
    println!(
        "{:<10} {:>9} {:>9} {:>7} {:>9} {:>9} {:>9}  call",
        "database", "cpu us", "cpu us", "x cpu", "p50 us", "p50 us", "first us"
    );
    println!("{of:<10} {small:>9} {large:>9} {:>7} {small:>9} {large:>9} {large:>9}", "");
}

fn show_lines(name: &str, lines: Option<Vec<Line>>) {
    let lines = lines.unwrap_or_default();
    for line in &lines {
        println!(
            "{name:<10} {:>9} {:>9} {:>6.2}{} {:>9} {:>9} {:>9}  {}",
            line.small.cpu.as_micros(),
            line.large.cpu.as_micros(),
            line.ratio(),
            if line.ratio() > 2.0 { '*' } else { ' ' },
            line.small.p50.as_micros(),
            line.large.p50.as_micros(),
            line.large.first.as_micros(),
            line.call,
        );
    }
    let above = lines.iter().filter(|line| line.ratio() > 2.0).count();
    println!("{name:<10} {above} of {} lines above 2", lines.len());
}

/// Prints what calls about a repository cost beside git. The figure and git's are of the same kind: processor
/// time, or time.
fn compare_repository(name: &str, database: &TestDatabase, arguments: &Arguments) -> Result<()> {
    let plan = repository::Plan {
        program: &arguments.program,
        time: Duration::from_secs_f64(arguments.seconds),
        connections: arguments.connections,
        only: &arguments.only,
    };
    println!(
        "{:<10} {:<44} {:<10} {:>8} {:>8} {:>5} {:>8} {:>8} {:>7} {:>8} {:>6}",
        "database",
        "call",
        "what",
        "ms",
        "goal",
        "holds",
        "p50 ms",
        "p99 ms",
        "per s",
        "git ms",
        "x"
    );
    repository::compare(database, &plan, &mut |line| {
        let milliseconds = |time: Duration| format!("{:.2}", time.as_secs_f64() * 1000.0);
        let maybe = |time: Option<Duration>| time.map(milliseconds).unwrap_or_default();
        let times = line.git.map(|git| git.as_secs_f64() / line.figure.as_secs_f64().max(1e-9));
        println!(
            "{name:<10} {:<44} {:<10} {:>8} {:>8} {:>5} {:>8} {:>8} {:>7} {:>8} {:>6}",
            short(&line.call),
            line.what,
            milliseconds(line.figure),
            milliseconds(line.goal),
            if line.holds() { "yes" } else { "NO" },
            maybe(line.p50),
            maybe(line.p99),
            line.per_second.map(|number| format!("{number:.0}")).unwrap_or_default(),
            maybe(line.git),
            times.map(|times| format!("{times:.1}")).unwrap_or_default(),
        );
    })
}

/// A call without the rest of a long name.
fn short(call: &str) -> String {
    call.chars().take(44).collect()
}

fn measure_streams(name: &str, database: &TestDatabase, arguments: &Arguments) -> Result<()> {
    let plan = streams::Plan {
        program: &arguments.program,
        megabytes: arguments.megabytes,
        time: Duration::from_secs_f64(arguments.seconds * 2.0),
        only: &arguments.only,
    };
    streams::measure(database, &plan, &mut |what, figure| {
        println!("{name:<10} {:<44} {figure}", short(what));
    })
}

fn measure_clones(name: &str, database: &TestDatabase, arguments: &Arguments) -> Result<()> {
    let history = arguments.history();
    let (program, megabytes) = (&arguments.program, arguments.megabytes);
    clones::measure(database, program, history, megabytes, &mut |what, figure| {
        println!("{name:<10} {:<44} {figure}", short(what));
    })
}

/// Prints what each operation of a git client takes, and what the same takes with `git http-backend`.
fn compare_transport(name: &str, database: &TestDatabase, arguments: &Arguments) -> Result<()> {
    let plan = transport::Plan {
        program: &arguments.program,
        history: arguments.history(),
        rounds: arguments.rounds,
        only: &arguments.only,
    };
    println!(
        "{:<11} {:<32} {:>9} {:>9} {:>6} {:>9} {:>9} {:>6} {:>9} {:>6}  goals: wall, cpu, bytes",
        "database", "operation", "wall ms", "backend", "x", "cpu ms", "backend", "x", "KB", "x"
    );
    transport::compare(database, &plan, &mut |line| {
        let [wall, cpu, bytes] = line.ratios();
        let goal = |goal: Option<f64>| goal.map_or("-".to_owned(), |goal| goal.to_string());
        println!(
            "{name:<11} {:<32} {:>9.1} {:>9.1} {wall:>6.2} {:>9.1} {:>9.1} {cpu:>6.2} {:>9} {bytes:>6.2}  {}, {}, {} {}",
            line.name,
            line.hexforge.wall.as_secs_f64() * 1e3,
            line.backend.wall.as_secs_f64() * 1e3,
            line.hexforge.cpu.as_secs_f64() * 1e3,
            line.backend.cpu.as_secs_f64() * 1e3,
            line.hexforge.bytes / 1024,
            goal(line.goals.wall),
            goal(line.goals.cpu),
            goal(line.goals.bytes),
            if line.holds() { "held" } else { "MISSED" },
        );
    })
}

/// Prints how fast queued events are told to hooks.
fn measure_hooks(arguments: &Arguments) -> Result<()> {
    let [hooks, hanging, events] = exactly(&arguments.hooks)?;
    let plan = hooks::Plan { program: &arguments.program, hooks, hanging, events };
    println!(
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
    );
    let show = |name: &str, database: Option<TestDatabase>| -> Result<()> {
        let Some(database) = database else { return Ok(()) };
        let outcome = hooks::measure(&database, &plan)?;
        let [alone, hooked] = outcome.call.map(|time| time.as_secs_f64() * 1000.0);
        let [quiet, told] = outcome.push.map(|time| time.as_secs_f64() * 1000.0);
        let [idle, most] = outcome.memory;
        println!(
            "{name:<11} {:>6} {:>8} {:>7} {:>8} {:>8.2} {:>9.0} {:>12} {:>12} {:>9}",
            plan.hooks,
            plan.hanging,
            plan.events,
            outcome.sent,
            outcome.time.as_secs_f64(),
            outcome.sent as f64 / outcome.time.as_secs_f64(),
            format!("{alone:.1} {hooked:.1}"),
            format!("{quiet:.1} {told:.1}"),
            format!("{idle:.0} {most:.0}"),
        );
        Ok(())
    };
    if arguments.wants(Database::Sqlite) {
        show("sqlite", Some(TestDatabase::sqlite()))?;
    }
    if arguments.wants(Database::Postgresql) {
        show("postgresql", TestDatabase::postgres())?;
    }
    Ok(())
}

/// Measures every call at every size; the last column is the cost beside the smallest size's.
fn compare(
    name: &str,
    database: impl Fn() -> Option<TestDatabase>,
    arguments: &Arguments,
) -> Result<()> {
    let mut smallest: Vec<Cost> = Vec::new();
    for &size in &arguments.sizes {
        let Some(database) = database() else { return Ok(()) };
        let folder = tempfile::tempdir()?;
        let program = Program::start(&arguments.program, folder.path(), &database.url)?;
        seed::users(&database.open(Options::default()), size).context("seeding")?;
        database.gather_statistics();
        let idle = program.memory();
        let mut costs = Vec::new();
        for call in calls(size) {
            let time = Duration::from_secs_f64(arguments.seconds);
            let cost =
                measure(program.address, &[program.pid()], &call, arguments.connections, time);
            let base = smallest.get(costs.len()).unwrap_or(&cost);
            let ratio = cost.cpu.as_secs_f64() / base.cpu.as_secs_f64().max(1e-9);
            println!(
                "{name:<11} {size:>8}  {:<44} {:>9.0} {:>9} {:>9} {:>9} {ratio:>7.2}",
                call.name,
                cost.per_second,
                cost.p50.as_micros(),
                cost.p99.as_micros(),
                cost.cpu.as_micros(),
            );
            costs.push(cost);
        }
        println!(
            "{name:<11} {size:>8}  memory idle {idle:.0} MB, after {:.0} MB",
            program.memory()
        );
        if smallest.is_empty() {
            smallest = costs;
        }
    }
    Ok(())
}

fn calls(users: usize) -> Vec<Call> {
    let last = users.div_ceil(20);
    let one = format!("/users?search=user-{}", users - 1);
    [
        "/version".to_owned(),
        "/user".to_owned(),
        "/users/2".to_owned(),
        "/users?per_page=20".to_owned(),
        format!("/users?per_page=20&page={last}"),
        "/users?per_page=20&active=true".to_owned(),
        "/users?per_page=20&blocked=true".to_owned(),
        "/users?per_page=20&search=example.com".to_owned(),
        one,
        "/users?username=user-7".to_owned(),
        "/user/keys".to_owned(),
    ]
    .into_iter()
    .map(|path| Call {
        name: format!("GET {path}"),
        target: format!("/api/v3{path}"),
        token: ROOT.to_owned(),
    })
    .collect()
}
