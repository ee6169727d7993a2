//! The program with one project, reached over HTTP and over SSH.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hexforge_blobs_object_store::CachedPacks;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::pack_store::PackStore;
use hexforge_git_gix::Layout;
use hexforge_pack_store::FolderPacks;
use hexforge_persistence_diesel::Options;
use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::installation::Installation;
use hexforge_tests::program::{Program, ROOT};
use hexforge_tests::ref_rows::RefRows;
use hexforge_tests::ssh_client::Identity;
use hexforge_tests::{Request, Response};
use tempfile::TempDir;

use super::git::Git;
use super::settings::Backend;

/// The maximum size of packs that are copied from an object store for checks.
const COPIED_PACKS: u64 = 1 << 30;

/// The path of the project.
pub const PROJECT: &str = "root/ship";

/// The transport between client and hexforge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Http,
    Ssh,
}

/// An installation with one project.
pub struct Server<'a> {
    pub git: &'a Git,
    pub project: i64,
    /// The programs of all machines. Requests over HTTP go to them in turn, SSH connections to the first.
    machines: Vec<Program>,
    turn: AtomicUsize,
    installation: Installation,
    database: TestDatabase,
    key: Identity,
    folder: TempDir,
}

impl<'a> Server<'a> {
    /// Starts an installation with an empty project. Returns `None` if PostgreSQL is required and not available.
    pub fn start(git: &'a Git, backend: Backend) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let data = folder.path().join("data");
        let database = match backend {
            Backend::Sqlite => TestDatabase::sqlite(),
            Backend::Postgres | Backend::ObjectStore => TestDatabase::postgres()?,
        };
        let installation = match backend {
            Backend::Sqlite | Backend::Postgres => Installation::single(&database, &data),
            Backend::ObjectStore => Installation::machines(&database, &data, 3),
        };
        let start = |machine| installation.start(machine);
        let machines: Vec<Program> = (0..installation.machine_count()).map(start).collect();
        let fields = [("name", "ship"), ("visibility_level", "10")];
        let made = machines[0].request("POST", "/projects").token(ROOT).form(&fields).send();
        let project = made.expect(201)["id"].as_i64().expect("projects have ids");
        let key = Identity::new();
        let fields = [("title", "laptop"), ("key", &key.public())];
        machines[0].request("POST", "/user/keys").token(ROOT).form(&fields).send().expect(201);
        let turn = AtomicUsize::new(0);
        Some(Self { git, project, machines, turn, installation, database, key, folder })
    }

    /// The machine that gets the next HTTP request.
    fn next(&self) -> &Program {
        &self.machines[self.turn.fetch_add(1, Ordering::Relaxed) % self.machines.len()]
    }

    /// The machine that serves SSH.
    fn ssh(&self) -> std::net::SocketAddr {
        self.machines[0].ssh.expect("the program serves SSH")
    }

    /// The URL of a project with the credentials of its owner.
    pub fn address(&self, by: Transport, path: &str) -> String {
        match by {
            Transport::Http => format!("http://root:{ROOT}@{}/{path}.git", self.next().address),
            Transport::Ssh => format!("ssh://git@{}/{path}.git", self.ssh()),
        }
    }

    /// A git command as the owner of the project.
    pub fn git_as_owner(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = self.git.command(folder, arguments);
        command.env("GIT_SSH_COMMAND", self.key.git_ssh_command(self.ssh()));
        command
    }

    /// A request with the token of the owner.
    pub fn request(&self, method: &str, path: &str) -> Request {
        self.next().request(method, path).token(ROOT)
    }

    /// Sends a GET request below `repository/`, which must be answered with 200.
    pub fn get(&self, call: &str, query: &[(&str, &str)]) -> Result<Response, String> {
        let path = format!("/projects/{}/repository/{call}", self.project);
        let request = self.request("GET", &path);
        let request = if query.is_empty() { request } else { request.query(query) };
        let answer = request.send();
        if answer.status == 200 {
            return Ok(answer);
        }
        let body = String::from_utf8_lossy(&answer.body);
        Err(format!("GET {call} {query:?}: {} {body}", answer.status))
    }

    /// A bare repository with the stored packs and refs of the project, for git.
    pub fn stored(&self) -> PathBuf {
        let folder = self.folder.path().join("stored");
        let packs: Arc<dyn PackStore> = if self.installation.is_single() {
            Arc::new(FolderPacks::with_size_check_only(self.installation.folder(0).join("packs")))
        } else {
            let bucket = self.installation.object_store().bucket();
            let packs = CachedPacks::open(bucket, folder.join("cache"), COPIED_PACKS);
            Arc::new(packs.expect("a cache can be made"))
        };
        let project = ProjectId(self.project);
        let bare = Layout::new(&folder).repository(project);
        let store = Arc::new(self.database.open(Options::default()));
        RefRows::new(store, project).with_packs(packs).write_to(&bare);
        bare
    }
}
