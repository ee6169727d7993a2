//! Three processes of the program with the clock of a test. They share a database and an object store, and each has its
//! own data folder.

use std::fs::File;
use std::net::SocketAddr;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use hexforge_domain::Timestamp;
use hexforge_http_actix::Dialect;
use hexforge_persistence_diesel::testing::TestDatabase;
use tempfile::TempDir;

use super::{EXTERNAL_URL, MAX_ARTIFACTS, MAX_BODY, MAX_UPLOAD, RUNNERS, SESSION_DAYS, SSH_PORT};
use crate::installation::SECRET_KEY;
use crate::program::{self, Program};
use crate::s3::S3Server;

/// The number of processes.
const NUMBER: usize = 3;

/// The processes. Requests go to them in turn.
pub(super) struct Programs {
    programs: Vec<Program>,
    turn: AtomicUsize,
    clock: SharedClock,
    _folder: TempDir,
}

impl Programs {
    /// Starts all processes, with the settings of the server in this process.
    pub(super) fn start(
        database: &TestDatabase,
        store: &S3Server,
        dialect: Dialect,
        now: Timestamp,
    ) -> Self {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let clock = SharedClock::new(&folder.path().join("clock"), now);
        let mebibytes = |bytes: usize| (bytes >> 20).to_string();
        let mut settings: Vec<(&str, String)> = store.variables();
        settings.extend([
            ("HEXFORGE_OBJECT_STORE_URL", store.url()),
            ("HEXFORGE_SECRET_KEY", SECRET_KEY.to_owned()),
            ("HEXFORGE_EXTERNAL_URL", EXTERNAL_URL.to_owned()),
            ("HEXFORGE_DIALECT", dialect.as_str().to_owned()),
            ("HEXFORGE_DEFAULT_PROJECTS_LIMIT", "100".to_owned()),
            ("HEXFORGE_ALLOW_LOCAL_REQUESTS", "true".to_owned()),
            ("HEXFORGE_HOOK_TIMEOUT", "2".to_owned()),
            ("HEXFORGE_RUNNERS_TOKEN", RUNNERS.to_owned()),
            ("HEXFORGE_MAX_BODY_MB", mebibytes(MAX_BODY)),
            ("HEXFORGE_MAX_UPLOAD_MB", mebibytes(MAX_UPLOAD)),
            ("HEXFORGE_MAX_ARTIFACTS_MB", mebibytes(MAX_ARTIFACTS)),
            ("HEXFORGE_SESSION_DAYS", SESSION_DAYS.to_string()),
            ("HEXFORGE_LOG", "error".to_owned()),
            // Tests run background work themselves, so that they can see what is queued.
            ("HEXFORGE_BACKGROUND_WORK", "false".to_owned()),
            ("HEXFORGE_TEST_CLOCK", clock.path.display().to_string()),
            ("LD_PRELOAD", shim().display().to_string()),
        ]);
        let settings: Vec<(&str, &str)> =
            settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let start = |machine| {
            let data = folder.path().join(format!("machine-{machine}"));
            let (program, log) = (program::executable(), Stdio::inherit());
            let ssh = own_address(SSH_PORT).to_string();
            let settings = [&settings[..], &[("HEXFORGE_SSH_LISTEN", &*ssh)]].concat();
            Program::start_with(&program, &data, &database.url, log, &settings)
                .expect("the program serves")
        };
        let programs = (0..NUMBER).map(start).collect();
        Self { programs, turn: AtomicUsize::new(0), clock, _folder: folder }
    }

    /// Sets the time of all processes, and returns the address of the one that gets the next request.
    pub(super) fn next(&self, now: Timestamp) -> SocketAddr {
        self.clock.show(now);
        self.programs[self.turn.fetch_add(1, Ordering::Relaxed) % NUMBER].address
    }
}

/// A loopback address that no other process of these tests uses. All processes need the same SSH port, because it is
/// part of clone URLs.
fn own_address(port: u16) -> SocketAddr {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = std::process::id() % 250 * 60_000 + NEXT.fetch_add(1, Ordering::Relaxed);
    let [_, a, b, c] = (number + 256).to_be_bytes();
    SocketAddr::from(([127, a, b, c], port))
}

/// The file from which the processes read the time.
struct SharedClock {
    path: PathBuf,
    file: File,
}

impl SharedClock {
    fn new(path: &Path, now: Timestamp) -> Self {
        let file = File::create(path).expect("the folder is ours");
        let clock = Self { path: path.to_owned(), file };
        clock.show(now);
        clock
    }

    /// Writes the time as `struct timespec`.
    fn show(&self, now: Timestamp) {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&now.timestamp().to_ne_bytes());
        bytes[8..].copy_from_slice(&i64::from(now.timestamp_subsec_nanos()).to_ne_bytes());
        self.file.write_all_at(&bytes, 0).expect("the file is ours");
    }
}

/// The library that replaces the clock of a process by the file. It is compiled once per process.
fn shim() -> &'static Path {
    static BUILT: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, library) = BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let library = folder.path().join("clock.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/forge/clock.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O2", "-o"]).arg(&library).arg(source);
        let status = compiler.status().expect("a C compiler can be started");
        assert!(status.success(), "the clock for programs does not compile");
        (folder, library)
    });
    library
}
