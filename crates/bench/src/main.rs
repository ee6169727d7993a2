//! Runs the real program under load over HTTP, and prints the cost of calls in databases of several sizes. Only ratios
//! within one run are comparable.
#![allow(clippy::print_stdout, reason = "the program prints its results")]

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::{Parser, ValueEnum};
use hexforge_bench::lists::{self, Plan};
use hexforge_bench::long_history::History;
use hexforge_bench::report::Report;
use hexforge_bench::{backend, clones, merges, pages, repository, streams, transport};
use hexforge_bench::{
    hooks, hostile, issues, merge_requests, pipelines, sizes, storage, todos, users,
};
use hexforge_persistence_diesel::testing::TestDatabase;

/// Measures the performance of hexforge.
#[derive(Parser)]
struct Arguments {
    /// The benchmark to run; by default all but `hostile`.
    #[arg(long)]
    what: Option<What>,
    /// Path of the program to measure.
    #[arg(long, default_value = "target/release/hexforge")]
    program: PathBuf,
    /// Numbers of projects at which the main calls are measured, for `sizes`.
    #[arg(long, value_delimiter = ',', default_value = "100,10000,100000")]
    sizes: Vec<usize>,
    /// File for the results of `sizes` as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
    /// File for the results of `sizes` as an SVG chart.
    #[arg(long)]
    svg: Option<PathBuf>,
    /// Numbers of users at which calls are measured, for `users`.
    #[arg(long, value_delimiter = ',', default_value = "100,100000")]
    users: Vec<usize>,
    /// Number of concurrent connections.
    #[arg(long, default_value_t = 8)]
    connections: usize,
    /// Measuring time per figure in seconds, 4 by default; for `hostile` the duration of the attack, 300 by default.
    #[arg(long)]
    seconds: Option<f64>,
    /// Small and large number of projects, for `lists`.
    #[arg(long, value_delimiter = ',', default_value = "1000,100000")]
    projects: Vec<usize>,
    /// Small and large number of issues, for `issues`.
    #[arg(long, value_delimiter = ',', default_value = "1000,1000000")]
    issues: Vec<usize>,
    /// Small and large number of merge requests, for `merge-requests`.
    #[arg(long, value_delimiter = ',', default_value = "100,100000")]
    merge_requests: Vec<usize>,
    /// Small and large number of todos, and of awards, for `todos`.
    #[arg(long, value_delimiter = ',', default_value = "1000,1000000")]
    todos: Vec<usize>,
    /// Numbers of pipelines, of pending builds, and of runners that poll without getting a build, for `pipelines`.
    #[arg(long, value_delimiter = ',', default_value = "100000,10000,200")]
    pipelines: Vec<usize>,
    /// Measuring time per figure in seconds, for `lists`, `issues`, `merge-requests`, `todos` and `pipelines`.
    #[arg(long, default_value_t = 0.4)]
    list_seconds: f64,
    /// Size of the large file for `streams`, and of the large push for `clones`, in megabytes.
    #[arg(long, default_value_t = 2048)]
    megabytes: u64,
    /// Runs only calls, operations or attacks whose names contain this text.
    #[arg(long, default_value = "")]
    only: String,
    /// Number of commits of the generated history, for `transport` and `clones`.
    #[arg(long, default_value_t = 40_000)]
    commits: usize,
    /// Repository to use instead of a generated history, for `transport`. Its HEAD must be a branch.
    #[arg(long, value_name = "FOLDER")]
    repository: Option<PathBuf>,
    /// Number of runs of each git operation on each side, for `sizes` and `transport`.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Numbers of hooks, of hooks whose receivers hang, and of events per hook, for `hooks`.
    #[arg(long, value_delimiter = ',', default_value = "100,5,100")]
    hooks: Vec<usize>,
    /// Limit of requests per minute for each token and each address, for `hostile`; 0 for no limit.
    #[arg(long, default_value_t = 0)]
    rate_limit: u32,
    /// Uses only this database; by default both.
    #[arg(long)]
    database: Option<Database>,
    /// Serves the repositories of a folder by `git http-backend`, for comparison.
    #[arg(long, hide = true)]
    serve_backend: Option<PathBuf>,
    /// Attacks the server that this file describes, until standard input ends.
    #[arg(long, hide = true)]
    attack: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// The main reads and writes, and git operations, in databases of several sizes.
    Sizes,
    /// Calls about users under load, in databases of several sizes.
    Users,
    /// The lists of projects and groups, in a small and a large database.
    Lists,
    /// Issues, labels, boards and feeds, in a small and a large database.
    Issues,
    /// Lists of merge requests, in a small and a large database; merges, commits and pushes in a large tree.
    MergeRequests,
    /// Todos and award emoji, in a small and a large database.
    Todos,
    /// Pages of pipelines and builds, and runners that poll for builds.
    Pipelines,
    /// The web pages: processor time and bytes.
    Pages,
    /// Calls about the content of repositories, compared with git.
    Repository,
    /// Large responses, and how long other requests wait meanwhile.
    Streams,
    /// Clones, fetches and pushes, compared with `git http-backend`.
    Transport,
    /// 64 concurrent clones of one repository, and a large push.
    Clones,
    /// Pushes, forks and clones, with packs in a folder and in an object store.
    Storage,
    /// Hook deliveries while some receivers hang.
    Hooks,
    /// Ordinary users while a hostile user and a hostile address attack.
    Hostile,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Database {
    Sqlite,
    Postgresql,
}

impl Database {
    /// Creates an empty database. Returns `None` if PostgreSQL is not installed.
    fn empty(self) -> Option<TestDatabase> {
        match self {
            Self::Sqlite => Some(TestDatabase::sqlite()),
            Self::Postgresql => TestDatabase::postgres(),
        }
    }
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let Some(root) = &arguments.serve_backend {
        return backend::serve(root);
    }
    if let Some(file) = &arguments.attack {
        return hostile::attack(file, &arguments.only);
    }
    let wants = |what| arguments.what.is_none_or(|only| only == what);
    if wants(What::Sizes) {
        compare_sizes(&arguments)?;
    }
    if wants(What::Users) {
        compare_users(&arguments)?;
    }
    if wants(What::Lists) {
        compare_lists(&arguments)?;
    }
    if wants(What::Issues) {
        compare_issues(&arguments)?;
    }
    if wants(What::MergeRequests) {
        compare_merge_requests(&arguments)?;
        arguments.on_each_database(measure_merges)?;
    }
    if wants(What::Todos) {
        compare_todos(&arguments)?;
    }
    if wants(What::Pipelines) {
        arguments.on_each_database(measure_pipelines)?;
    }
    if wants(What::Pages) {
        arguments.on_each_database(measure_pages)?;
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
    if wants(What::Storage) {
        measure_storage(&arguments)?;
    }
    if wants(What::Hooks) {
        measure_hooks(&arguments)?;
    }
    // The hostile benchmark takes five minutes per database, so it only runs on request.
    if arguments.what == Some(What::Hostile) {
        measure_hostile(&arguments)?;
    }
    Ok(())
}

impl Arguments {
    /// The measuring time per figure.
    fn time(&self) -> Duration {
        Duration::from_secs_f64(self.seconds.unwrap_or(4.0))
    }

    fn history(&self) -> History {
        History { commits: self.commits, branches: 1000, tags: 123 }
    }

    fn on_each_database(
        &self,
        work: impl Fn(&'static str, &TestDatabase, &Self) -> Result<()>,
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
    let plan = users::Plan {
        program: &arguments.program,
        sizes: &arguments.users,
        connections: arguments.connections,
        time: arguments.time(),
    };
    println!("{}", users::heading());
    let print_line = &mut |line| println!("{line}");
    if arguments.wants(Database::Sqlite) {
        users::compare("sqlite", || Some(TestDatabase::sqlite()), &plan, print_line)?;
    }
    if arguments.wants(Database::Postgresql) {
        users::compare("postgresql", TestDatabase::postgres, &plan, print_line)?;
    }
    Ok(())
}

/// Prints the cost of the main calls at each size, and writes the files that were requested.
fn compare_sizes(arguments: &Arguments) -> Result<()> {
    let plan = sizes::Plan {
        program: &arguments.program,
        connections: arguments.connections,
        time: arguments.time(),
        rounds: arguments.rounds,
        only: &arguments.only,
    };
    let folder = tempfile::tempdir()?;
    let source = sizes::repository(folder.path())?;
    let mut report = Report::default();
    println!("{}", Report::heading());
    for (name, which) in [("sqlite", Database::Sqlite), ("postgresql", Database::Postgresql)] {
        for &size in arguments.sizes.iter().filter(|_| arguments.wants(which)) {
            let Some(database) = which.empty() else { continue };
            sizes::measure_in(&database, size, &source, &plan, &mut |row| {
                println!("{}", report.add(name, size, row));
            })?;
        }
    }
    if let Some(file) = &arguments.json {
        std::fs::write(file, format!("{:#}\n", report.json()))?;
    }
    if let Some(file) = &arguments.svg {
        std::fs::write(file, report.svg())?;
    }
    Ok(())
}

/// Prints the cost of each list at both sizes. Processor time on PostgreSQL includes that of the database.
fn compare_lists(arguments: &Arguments) -> Result<()> {
    let plan = Plan {
        program: &arguments.program,
        sizes: to_array(&arguments.projects)?,
        time: Duration::from_secs_f64(arguments.list_seconds),
        only: &arguments.only,
    };
    println!("{}", lists::heading("projects", plan.sizes));
    if arguments.wants(Database::Sqlite) {
        println!(
            "{}",
            lists::table("sqlite", lists::compare(|| Some(TestDatabase::sqlite()), &plan)?)
        );
    }
    if arguments.wants(Database::Postgresql) {
        println!("{}", lists::table("postgresql", lists::compare(TestDatabase::postgres, &plan)?));
    }
    Ok(())
}

/// Prints the cost of calls about issues, labels, boards and feeds at both sizes.
fn compare_issues(arguments: &Arguments) -> Result<()> {
    let plan = issues::Plan {
        program: &arguments.program,
        sizes: to_array(&arguments.issues)?,
        time: Duration::from_secs_f64(arguments.list_seconds),
        only: &arguments.only,
    };
    println!("{}", lists::heading("issues", plan.sizes));
    if arguments.wants(Database::Sqlite) {
        println!(
            "{}",
            lists::table("sqlite", issues::compare(|| Some(TestDatabase::sqlite()), &plan)?)
        );
    }
    if arguments.wants(Database::Postgresql) {
        println!("{}", lists::table("postgresql", issues::compare(TestDatabase::postgres, &plan)?));
    }
    Ok(())
}

/// Prints the cost of lists of merge requests at both sizes.
fn compare_merge_requests(arguments: &Arguments) -> Result<()> {
    let plan = Plan {
        program: &arguments.program,
        sizes: to_array(&arguments.merge_requests)?,
        time: Duration::from_secs_f64(arguments.list_seconds),
        only: &arguments.only,
    };
    println!("{}", lists::heading("requests", plan.sizes));
    for (name, which) in [("sqlite", Database::Sqlite), ("postgresql", Database::Postgresql)] {
        if arguments.wants(which) {
            let lines = merge_requests::compare(|| which.empty(), &plan)?;
            println!("{}", lists::table(name, lines));
        }
    }
    Ok(())
}

/// Prints the cost of calls about todos and award emoji at both sizes.
fn compare_todos(arguments: &Arguments) -> Result<()> {
    let plan = Plan {
        program: &arguments.program,
        sizes: to_array(&arguments.todos)?,
        time: Duration::from_secs_f64(arguments.list_seconds),
        only: &arguments.only,
    };
    println!("{}", lists::heading("todos", plan.sizes));
    for (name, which) in [("sqlite", Database::Sqlite), ("postgresql", Database::Postgresql)] {
        if arguments.wants(which) {
            let lines = todos::compare(|| which.empty(), &plan)?;
            println!("{}", lists::table_with_goal(name, lines, todos::GOAL));
        }
    }
    Ok(())
}

/// Prints the cost of merges, commits, changes and pushes in a tree of 50,000 files.
fn measure_merges(name: &str, database: &TestDatabase, arguments: &Arguments) -> Result<()> {
    merges::measure(database, &arguments.program, &mut |figure| println!("{name:<10} {figure}"))
}

/// Prints processor time and bytes of the web pages.
fn measure_pages(name: &str, database: &TestDatabase, arguments: &Arguments) -> Result<()> {
    pages::measure(database, &arguments.program, &mut |figure| println!("{name:<10} {figure}"))
}

fn measure_pipelines(name: &str, database: &TestDatabase, arguments: &Arguments) -> Result<()> {
    let [pipelines, pending, runners] = to_array(&arguments.pipelines)?;
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

/// Converts a list to an array. Fails unless it has exactly `N` numbers.
fn to_array<const N: usize>(numbers: &[usize]) -> Result<[usize; N]> {
    numbers.try_into().with_context(|| format!("expected {N} numbers, separated by commas"))
}

/// Prints the cost of repository calls, compared with git. The two figures of a line are both processor time or both
/// wall time.
fn compare_repository(name: &str, database: &TestDatabase, arguments: &Arguments) -> Result<()> {
    let plan = repository::Plan {
        program: &arguments.program,
        time: arguments.time(),
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

/// Shortens the name of a call to the width of its column.
fn short(call: &str) -> String {
    call.chars().take(44).collect()
}

fn measure_streams(name: &str, database: &TestDatabase, arguments: &Arguments) -> Result<()> {
    let plan = streams::Plan {
        program: &arguments.program,
        megabytes: arguments.megabytes,
        time: arguments.time() * 2,
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

/// Prints the cost of each operation of a git client with hexforge and with `git http-backend`.
fn compare_transport(name: &str, database: &TestDatabase, arguments: &Arguments) -> Result<()> {
    let plan = transport::Plan {
        program: &arguments.program,
        history: arguments.history(),
        repository: arguments.repository.as_deref(),
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

/// Prints how fast queued events are delivered to hooks.
fn measure_hooks(arguments: &Arguments) -> Result<()> {
    let [hooks, hanging, events] = to_array(&arguments.hooks)?;
    let plan = hooks::Plan { program: &arguments.program, hooks, hanging, events };
    println!("{}", hooks::heading());
    arguments.on_each_database(|name, database, _| {
        println!("{}", hooks::measure(database, &plan)?.line(name, &plan));
        Ok(())
    })
}

/// Prints the figures for packs in a folder and in an object store.
fn measure_storage(arguments: &Arguments) -> Result<()> {
    for (name, database) in [("SQLite", Database::Sqlite), ("PostgreSQL", Database::Postgresql)] {
        if arguments.database.is_none_or(|only| only == database) {
            storage::measure(
                &|| database.empty(),
                &arguments.program,
                &mut |storage, what, line| {
                    println!("{name:<10} {storage:<12} {what:<26} {line}");
                },
            )?;
        }
    }
    Ok(())
}

/// Prints how much attackers slow down ordinary users. Fails if a goal is missed.
fn measure_hostile(arguments: &Arguments) -> Result<()> {
    let plan = hostile::Plan {
        program: &arguments.program,
        time: Duration::from_secs_f64(arguments.seconds.unwrap_or(300.0)),
        only: &arguments.only,
        rate_limit: arguments.rate_limit,
    };
    let missed = std::cell::RefCell::new(Vec::new());
    arguments.on_each_database(|name, database, _| {
        let goals = hostile::measure(database, &plan, &mut |line| println!("{name:<10} {line}"))?;
        missed.borrow_mut().extend(goals.iter().map(|goal| format!("{name}: {goal}")));
        Ok(())
    })?;
    let missed = missed.into_inner();
    ensure!(missed.is_empty(), "goals missed:\n  {}", missed.join("\n  "));
    Ok(())
}
