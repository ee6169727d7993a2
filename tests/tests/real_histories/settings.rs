//! Settings from the environment: repositories, seed and database.

use std::path::{Path, PathBuf};
use std::process::Command;

use hexforge_tests::random::number_from_env;

/// The number of tested clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// One or two clients of each kind, for every run of the tests.
    Short,
    /// All clients, for repositories named in the environment.
    Full,
}

/// The database, and the storage of packs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    Sqlite,
    Postgres,
    /// PostgreSQL, and three machines with an object store.
    ObjectStore,
}

/// The settings of one run.
pub struct Settings {
    pub repositories: Vec<PathBuf>,
    pub extent: Extent,
    pub seed: u64,
    pub backend: Backend,
    /// Only clients whose names contain this text are run.
    pub clients: Option<String>,
}

/// The default seed.
const SEED: usize = 20_161_122;

impl Settings {
    /// Reads the environment. Returns `None` if no repository is named and this checkout has no complete history.
    pub fn read() -> Option<Self> {
        let named = std::env::var_os("HEXFORGE_TEST_REPOSITORIES").unwrap_or_default();
        let named: Vec<PathBuf> =
            std::env::split_paths(&named).filter(|path| !path.as_os_str().is_empty()).collect();
        let (repositories, extent) =
            if named.is_empty() { (vec![own()?], Extent::Short) } else { (named, Extent::Full) };
        let seed = number_from_env("HEXFORGE_TEST_REPOSITORY_SEED").unwrap_or(SEED) as u64;
        let backend = match std::env::var("HEXFORGE_TEST_REPOSITORIES_BACKEND").as_deref() {
            Err(_) | Ok("" | "sqlite") => Backend::Sqlite,
            Ok("postgres") => Backend::Postgres,
            Ok("object-store") => Backend::ObjectStore,
            Ok(other) => panic!("`{other}` is none of `sqlite`, `postgres` and `object-store`"),
        };
        let clients = std::env::var("HEXFORGE_TEST_REPOSITORY_CLIENTS").ok();
        Some(Self { repositories, extent, seed, backend, clients })
    }
}

/// The repository that contains this file, if it is a checkout with the complete history.
fn own() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests are in a workspace");
    let mut git = Command::new("git");
    // The folder may belong to another user; it is only read.
    git.args(["-c", "safe.directory=*", "rev-parse", "--is-shallow-repository"]);
    let shallow = git.current_dir(folder).output().expect("git can be started");
    match String::from_utf8_lossy(&shallow.stdout).trim() {
        "false" => Some(folder.to_owned()),
        "true" => {
            print_progress(
                "SKIPPED: hexforge's own repository is a shallow clone, so it is no real history",
            );
            None
        }
        _ => {
            print_progress(
                "SKIPPED: hexforge's own folder is no git repository, so there is no real history",
            );
            None
        }
    }
}

/// Prints progress and skipped tests.
#[expect(clippy::print_stderr, reason = "what is skipped, and what takes long, is to be seen")]
pub fn print_progress(text: &str) {
    eprintln!("real_histories: {text}");
}
