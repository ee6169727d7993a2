//! A private PostgreSQL for the tests of one process, started from the installed server programs.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use diesel::{Connection, PgConnection};

use crate::DatabaseUrl;

/// A server on which tests can create databases.
pub(super) enum Server {
    /// A private server, reached by a socket in its folder.
    Private { socket: PathBuf },
    /// An existing server: its URL before the database name, and after it.
    External { base: String, options: String },
}

impl Server {
    /// Returns the URL of a database on the server.
    pub fn database(&self, name: &str) -> String {
        match self {
            Server::Private { socket } => {
                format!("postgres://hexforge@/{name}?host={}", socket.display())
            }
            Server::External { base, options } => format!("{base}/{name}{options}"),
        }
    }
}

/// Returns the server for tests: the one of `HEXFORGE_TEST_DATABASE_URL`, else a private one.
pub(super) fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Result<Server, String>> = OnceLock::new();
    match SERVER.get_or_init(find_or_start) {
        Ok(server) => Some(server),
        Err(reason) if std::env::var_os("HEXFORGE_REQUIRE_POSTGRES").is_some() => {
            panic!("no PostgreSQL for tests: {reason}")
        }
        Err(reason) => {
            // Written directly to stderr, past the capture of test output, so that a skipped test is not taken for
            // a passed one.
            let _ = writeln!(
                std::io::stderr(),
                "\n!!! SKIPPED, NOT TESTED ON POSTGRESQL: {reason}.\n!!! Install PostgreSQL's \
                 server or set HEXFORGE_TEST_DATABASE_URL.\n"
            );
            None
        }
    }
}

fn find_or_start() -> Result<Server, String> {
    match std::env::var("HEXFORGE_TEST_DATABASE_URL") {
        Ok(url) => Ok(server_from_url(&url)),
        Err(_) => start(&find_programs().ok_or("the programs of its server were not found")?),
    }
}

/// Splits the URL of a database into the parts before and after the database name.
fn server_from_url(url: &str) -> Server {
    let (address, options) = match url.split_once('?') {
        Some((address, options)) => (address, format!("?{options}")),
        None => (url, String::new()),
    };
    let authority = address.find("://").map_or(0, |at| at + 3);
    let base = match address[authority..].rfind('/') {
        Some(slash) => &address[..authority + slash],
        None => address,
    };
    Server::External { base: base.to_owned(), options }
}

/// Returns the folder with `initdb` and `postgres`, of the newest version.
fn find_programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    folders.sort();
    folders.reverse();
    folders.extend(["/usr/bin", "/usr/local/bin", "/usr/local/pgsql/bin"].map(PathBuf::from));
    folders
        .into_iter()
        .find(|folder| folder.join("initdb").exists() && folder.join("postgres").exists())
}

fn start(programs: &Path) -> Result<Server, String> {
    let folder = tempfile::Builder::new()
        .prefix("hexforge-pg-")
        .tempdir()
        .map_err(|error| error.to_string())?
        .keep();
    let user = make_cluster(programs, &folder)?;
    // The shell stops the server and removes the folder when its standard input is closed. That happens however
    // this process ends.
    let script = r#"
        "$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c max_connections=400 \
            -c fsync=off -c full_page_writes=off -c synchronous_commit=off \
            -c shared_buffers=64MB -c autovacuum=off >"$2/log" 2>&1 &
        server=$!
        read -r _
        kill -QUIT $server
        wait $server
        rm -rf "$2"
    "#;
    let mut keeper = Command::new("sh");
    keeper.args(["-c", script, "sh"]).arg(programs).arg(&folder).current_dir(&folder);
    // In a separate process group, so that ^C at the terminal does not kill it before the cleanup.
    keeper.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    run_as(&mut keeper, user);
    let keeper = keeper.spawn().map_err(|error| error.to_string())?;
    // Its standard input has to stay open until this process ends.
    std::mem::forget(keeper);
    let server = Server::Private { socket: folder.clone() };
    wait_until_ready(&server, &folder)?;
    Ok(server)
}

/// Initializes a database cluster in a folder. Returns the user and group that the server has to run as.
fn make_cluster(programs: &Path, folder: &Path) -> Result<Option<(u32, u32)>, String> {
    // The server refuses to run as root, so root runs it as another user.
    let user = unprivileged_user();
    if let Some((uid, gid)) = user {
        std::os::unix::fs::chown(folder, Some(uid), Some(gid))
            .map_err(|error| error.to_string())?;
    }
    let data = folder.join("data");
    let mut initdb = Command::new(programs.join("initdb"));
    initdb.args([
        "-U",
        "hexforge",
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--locale=C.UTF-8",
        "--no-sync",
        "-D",
    ]);
    initdb.arg(&data).current_dir(folder).stdin(Stdio::null());
    run_as(&mut initdb, user);
    let made = initdb.output().map_err(|error| error.to_string())?;
    if !made.status.success() {
        return Err(format!("initdb failed: {}", String::from_utf8_lossy(&made.stderr)));
    }
    Ok(user)
}

/// A separate server for one test, in its own folder, which can be stopped and started. Every reported commit
/// survives a crash of the server process.
pub struct DedicatedPostgres {
    programs: PathBuf,
    folder: PathBuf,
    user: Option<(u32, u32)>,
    /// The language of its messages, as gettext's `LANGUAGE`.
    language: String,
    keeper: Option<Child>,
}

impl DedicatedPostgres {
    /// Like [`start_in`](Self::start_in), with messages in another language, such as `de`. Also returns `None` if
    /// PostgreSQL has no message catalogue for that language.
    pub fn start_translated(folder: &Path, language: &str) -> Option<Self> {
        let own = Self::start_with(folder, language)?;
        let DatabaseUrl::Postgres(url) = own.url() else { return None };
        let mut conn = PgConnection::establish(&url).expect("the server was started");
        let message = conn.batch_execute("SELECT 1/0").expect_err("nothing divides by 0");
        if message.to_string() == "division by zero" {
            let _ = writeln!(
                std::io::stderr(),
                "\n!!! SKIPPED: PostgreSQL has no messages in `{language}`.\n"
            );
            return None;
        }
        Some(own)
    }

    /// Creates a server in a folder and starts it. Without PostgreSQL it prints a warning and returns `None`.
    pub fn start_in(folder: &Path) -> Option<Self> {
        Self::start_with(folder, "")
    }

    fn start_with(folder: &Path, language: &str) -> Option<Self> {
        // Prints a warning, or panics if PostgreSQL is required.
        server()?;
        let programs = find_programs()?;
        let user = make_cluster(&programs, folder).expect("a server can be created");
        let mut own = Self {
            programs,
            folder: folder.to_owned(),
            user,
            language: language.to_owned(),
            keeper: None,
        };
        own.start();
        Some(own)
    }

    /// Returns the URL of a database that exists from the start.
    pub fn url(&self) -> DatabaseUrl {
        let socket = Server::Private { socket: self.folder.clone() };
        DatabaseUrl::Postgres(socket.database("postgres"))
    }

    /// Starts the server and waits until it answers.
    pub fn start(&mut self) {
        let script = r#"
            "$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c fsync=off \
                -c shared_buffers=16MB -c max_wal_size=64MB -c autovacuum=off >>"$2/log" 2>&1 &
            server=$!
            read -r how
            kill -"${how:-QUIT}" $server
            wait $server
        "#;
        let mut keeper = Command::new("sh");
        keeper.args(["-c", script, "sh"]).arg(&self.programs).arg(&self.folder);
        keeper.current_dir(&self.folder).stdin(Stdio::piped()).process_group(0);
        keeper.stdout(Stdio::null()).stderr(Stdio::null()).env("LANGUAGE", &self.language);
        run_as(&mut keeper, self.user);
        self.keeper = Some(keeper.spawn().expect("a shell can be started"));
        let server = Server::Private { socket: self.folder.clone() };
        wait_until_ready(&server, &self.folder).expect("the server starts");
    }

    /// Stops the server by a signal: `INT` closes connections and files properly, `QUIT` simulates a crash.
    pub fn stop(&mut self, signal: &str) {
        let Some(mut keeper) = self.keeper.take() else { return };
        if let Some(mut input) = keeper.stdin.take() {
            let _ = writeln!(input, "{signal}");
        }
        let _ = keeper.wait();
    }
}

impl Drop for DedicatedPostgres {
    fn drop(&mut self) {
        self.stop("QUIT");
    }
}

fn wait_until_ready(server: &Server, folder: &Path) -> Result<(), String> {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        match PgConnection::establish(&server.database("postgres")) {
            Ok(_) => return Ok(()),
            Err(_) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(50)),
            Err(error) => {
                let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
                return Err(format!("the server did not start: {error}\n{log}"));
            }
        }
    }
}

fn run_as(command: &mut Command, user: Option<(u32, u32)>) {
    if let Some((uid, gid)) = user {
        command.uid(uid).gid(gid);
    }
}

/// If the process runs as root: the user `postgres`, else `nobody`.
fn unprivileged_user() -> Option<(u32, u32)> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let effective =
        status.lines().find(|line| line.starts_with("Uid:"))?.split_whitespace().nth(2)?;
    if effective != "0" {
        return None;
    }
    let accounts = std::fs::read_to_string("/etc/passwd").ok()?;
    ["postgres", "nobody"].iter().find_map(|name| {
        let line = accounts.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    })
}
