//! Runs the real program under load over HTTP and prints the cost of the main calls, beside the
//! same calls on a database a thousand times as large. Only ratios within one run are comparable.
#![allow(clippy::print_stdout, reason = "the table is what the program is for")]

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::{Parser, ValueEnum};
use hexforge_bench::lists::{self, Plan};
use hexforge_bench::long_history::History;
use hexforge_bench::report::Report;
use hexforge_bench::{backend, clones, repository, streams, transport};
use hexforge_bench::{hooks, hostile, issues, pipelines, sizes, storage, users};
use hexforge_persistence_diesel::testing::TestDatabase;

/// Measures hexforge.
#[derive(Parser)]
struct Arguments {
    /// What to measure; by default everything but `hostile`.
    #[arg(long)]
    what: Option<What>,
    /// The program to measure.
    #[arg(long, default_value = "target/release/hexforge")]
    program: PathBuf,
    /// Numbers of projects at which the main calls are compared.
    #[arg(long, value_delimiter = ',', default_value = "100,10000,100000")]
    sizes: Vec<usize>,
    /// Where to keep the figures of these sizes, for programs.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Where to keep a picture of them.
    #[arg(long)]
    svg: Option<PathBuf>,
    /// Numbers of users to compare.
    #[arg(long, value_delimiter = ',', default_value = "100,100000")]
    users: Vec<usize>,
    /// Connections that are busy at the same time.
    #[arg(long, default_value_t = 8)]
    connections: usize,
    /// Seconds for each figure, 4 by default; for `hostile` of the attack, 300 by default.
    #[arg(long)]
    seconds: Option<f64>,
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
    /// Only those of these lists, calls about repositories, or attacks whose lines contain this.
    #[arg(long, default_value = "")]
    only: String,
    /// Commits of the history that is cloned, fetched and pushed.
    #[arg(long, default_value_t = 40_000)]
    commits: usize,
    /// A repository to be cloned, fetched and pushed instead of a made-up history. Its HEAD has to be a branch.
    #[arg(long, value_name = "FOLDER")]
    repository: Option<PathBuf>,
    /// How often each operation of git is done on each side.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Numbers of hooks, of those that hang, and of events that each is told.
    #[arg(long, value_delimiter = ',', default_value = "100,5,100")]
    hooks: Vec<usize>,
    /// Requests a minute for each token and each address while `hostile` runs; 0 for no limit.
    #[arg(long, default_value_t = 0)]
    rate_limit: u32,
    /// Only this database.
    #[arg(long)]
    database: Option<Database>,
    /// Serves the repositories in a folder by `git http-backend`, for the comparison with it.
    #[arg(long, hide = true)]
    serve_backend: Option<PathBuf>,
    /// Attacks the server that this file describes, until standard input ends.
    #[arg(long, hide = true)]
    attack: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// The main reads and writes, and git, in databases of several sizes.
    Sizes,
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
    /// Pushes, forks and clones with packs in a folder and in an object store.
    Storage,
    /// Deliveries to hooks, some of which hang.
    Hooks,
    /// A hostile user and a hostile address beside ordinary users.
    Hostile,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Database {
    Sqlite,
    Postgresql,
}

impl Database {
    /// Creates an empty database. Returns `None` if there is no PostgreSQL.
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
    /// The measuring time of each figure.
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
    let tell = &mut |line| println!("{line}");
    if arguments.wants(Database::Sqlite) {
        users::compare("sqlite", || Some(TestDatabase::sqlite()), &plan, tell)?;
    }
    if arguments.wants(Database::Postgresql) {
        users::compare("postgresql", TestDatabase::postgres, &plan, tell)?;
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
        sizes: exactly(&arguments.projects)?,
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
        sizes: exactly(&arguments.issues)?,
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

/// Converts a list to an array. Fails unless it has exactly `N` numbers.
fn exactly<const N: usize>(numbers: &[usize]) -> Result<[usize; N]> {
    numbers.try_into().with_context(|| format!("{N} numbers are needed, with commas between"))
}

/// Prints the cost of repository calls beside git. Both figures of a line are of the same kind:
/// processor time or wall time.
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
    let [hooks, hanging, events] = exactly(&arguments.hooks)?;
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
