//! A complete hexforge server in the test process.

mod programs;

use std::any::Any;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use chrono::TimeDelta;
use hexforge_application::app::{App, Settings, SignUp};
use hexforge_application::application_settings::SettingsCache;
use hexforge_application::delivery;
use hexforge_application::limiter::Limiter;
use hexforge_application::repository::turns::BranchTurns;
use hexforge_application::{repository, setup};
use hexforge_blobs_object_store::{BucketBuildFiles, BucketLfsFiles, BucketUploads, CachedPacks};
use hexforge_delivery_reqwest::{Guard, GuardedClient};
use hexforge_domain::application_settings::ApplicationSettings;
use hexforge_domain::branch::BranchName;
use hexforge_domain::delivery::lane::ClaimLimits;
use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::TransferLimits;
use hexforge_domain::network::Network;
use hexforge_domain::policy::strict::StrictRules;
use hexforge_domain::ports::build_files::BuildFiles;
use hexforge_domain::ports::clock::Clock;
use hexforge_domain::ports::lfs_files::LfsFiles;
use hexforge_domain::ports::maintenance::NoMaintenance;
use hexforge_domain::ports::pack_store::PackStore;
use hexforge_domain::ports::secrets::Secrets;
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain::ports::uploads::Uploads;
use hexforge_domain::ports::work::WorkThreads;
use hexforge_domain::text::Secret;
use hexforge_domain_testing::fakes::{
    FakeBuildFiles, FakeClock, FakeImports, FakeLfsFiles, FakeStore, FakeUploads,
};
use hexforge_git_gix::{GixStore, Layout};
use hexforge_http_actix::connection::HEAD_TIMEOUT;
use hexforge_http_actix::{Dialect, HttpSettings, JsonPayloads, RateLimits, Shared};
use hexforge_pack_store::FolderPacks;
use hexforge_persistence_diesel::Options;
use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_server::http;
use hexforge_server::system::{
    Argon2Passwords, FsBuildFiles, FsLfsFiles, FsUploads, InstallationKey, KeyVault,
    MemoryRefCache, OpensshKeys, SystemSecrets, Trash,
};
use hexforge_ssh_russh::{HostKeys, Limits, Server};
use hexforge_yaml_saphyr::SaphyrReader;
use serde_json::Value;
use tempfile::TempDir;

use programs::Programs;

use crate::client::Request;
use crate::installation::SECRET_KEY;
use crate::ref_rows::RefRows;
use crate::s3::S3Server;
use crate::work_tree::WorkTree;

/// The store that a test server uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// The in-memory fake.
    Fake,
    /// A new SQLite database.
    Sqlite,
    /// A new database on the PostgreSQL server for tests.
    Postgres,
}

/// The options of a test server.
#[derive(Clone, Copy, Debug)]
pub struct ForgeOptions {
    /// The store.
    pub backend: Backend,
    /// The dialect of the API.
    pub dialect: Dialect,
}

/// Limits of a test server. The defaults are those of the program.
#[derive(Clone, Debug, Default)]
pub struct Restrictions {
    /// Requests per minute and token or address.
    pub rate_limits: RateLimits,
    /// Timeouts for slow clients that hold a permit.
    pub transfer: TransferLimits,
    /// The proxies whose forwarded headers are trusted.
    pub trusted_proxies: Vec<Network>,
    /// The timeout for the first request head on a connection; `None` for the default.
    pub head_timeout: Option<Duration>,
    /// The thread pool for blocking work; `None` for plain threads.
    pub threads: Option<Arc<dyn WorkThreads>>,
    /// The maximum size of a repository; `None` for no limit.
    pub repository_bytes: Option<u64>,
    /// The maximum size of the LFS objects of a fork network; `None` for no limit.
    pub lfs_bytes: Option<u64>,
    /// Whether Git LFS is off.
    pub is_lfs_off: bool,
    /// Whether costly pages are closed to visitors who are not signed in.
    pub are_costly_pages_closed: bool,
    /// Whether strangers may register.
    pub signup: SignUp,
    /// Whether pages load pictures of other hosts.
    pub remote_images: bool,
}

/// Whether the server verifies its own responses to fetches. `HEXFORGE_VERIFY_FETCHES=0` turns this off for long
/// histories.
fn verifies_fetches() -> bool {
    std::env::var_os("HEXFORGE_VERIFY_FETCHES").is_none_or(|choice| choice != "0")
}

/// A running test server, with access to its ports, clock and files.
pub struct Forge {
    /// The address of its HTTP server.
    pub address: SocketAddr,
    /// More servers on the same database, if `HEXFORGE_TEST_SERVERS` is a number. Requests go to all servers in turn.
    /// Two servers share a data folder; three have a data folder each and share an object store.
    extra_servers: Vec<ExtraServer>,
    /// Three processes of the program, if `HEXFORGE_TEST_SERVERS` is `programs`. Requests then go to them instead of
    /// the server in this process.
    programs: Option<Programs>,
    turn: AtomicUsize,
    is_pinned: AtomicBool,
    /// Its ports, for checks that the API does not offer.
    pub app: App,
    /// Its clock. Only tests move it.
    pub clock: FakeClock,
    /// The number of queries sent to the database so far; always 0 on the fake.
    pub queries: Arc<AtomicU64>,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
    limiter: Arc<Limiter>,
    ssh: OnceLock<Server>,
    _database: Box<dyn Any + Send + Sync>,
    _object_store: Option<S3Server>,
    /// Its data folder.
    pub folder: TempDir,
}

/// An additional server in this process.
struct ExtraServer {
    address: SocketAddr,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
    /// Its data folder, unless it shares that of the first server.
    _folder: Option<TempDir>,
}

/// The servers that answer requests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Servers {
    /// This number of servers in this process.
    InProcess(usize),
    /// Three processes of the program.
    Programs,
}

impl Servers {
    /// Reads `HEXFORGE_TEST_SERVERS`, which only applies to PostgreSQL.
    fn read(backend: Backend) -> Self {
        let chosen = std::env::var("HEXFORGE_TEST_SERVERS").unwrap_or_default();
        match chosen.as_str() {
            _ if backend != Backend::Postgres => Self::InProcess(1),
            "" => Self::InProcess(1),
            "programs" => Self::Programs,
            number => match number.parse() {
                Ok(number @ 1..=3) => Self::InProcess(number),
                _ => panic!("HEXFORGE_TEST_SERVERS is none of 1, 2, 3 and `programs`: {number}"),
            },
        }
    }

    /// Replaces `Programs` by one server in this process, for limits or hook settings that programs do not get.
    fn without_programs(self) -> Self {
        if self == Self::Programs { Self::InProcess(1) } else { self }
    }

    fn have_object_store(self) -> bool {
        self == Self::Programs || matches!(self, Self::InProcess(3..))
    }
}

/// The packs and files of one server.
struct Storage {
    packs: Arc<dyn PackStore>,
    git: Arc<GixStore>,
    uploads: Arc<dyn Uploads>,
    build_files: Arc<dyn BuildFiles>,
    lfs_files: Arc<dyn LfsFiles>,
}

impl Storage {
    fn new(folder: &Path, object_store: Option<&S3Server>) -> Self {
        let trash = Arc::new(Trash::new(folder));
        let git = |packs: &Arc<dyn PackStore>| {
            let trash = Arc::clone(&trash);
            let discard = move |doomed: &Path| trash.take(doomed);
            let git = GixStore::new(folder, Arc::clone(packs), discard);
            Arc::new(git.verify_fetches(verifies_fetches()))
        };
        match object_store {
            None => {
                let packs: Arc<dyn PackStore> = Arc::new(FolderPacks::new(folder.join("packs")));
                Self {
                    git: git(&packs),
                    packs,
                    uploads: Arc::new(FsUploads::new(folder, Arc::clone(&trash))),
                    build_files: Arc::new(FsBuildFiles::new(folder, Arc::clone(&trash))),
                    lfs_files: Arc::new(FsLfsFiles::new(folder, Arc::clone(&trash))),
                }
            }
            Some(server) => {
                let (bucket, receiving) = (server.bucket(), folder.join("receiving"));
                let packs = CachedPacks::open(bucket.clone(), folder.join("cache"), 1 << 30);
                let packs: Arc<dyn PackStore> = Arc::new(packs.expect("a cache can be made"));
                Self {
                    git: git(&packs),
                    packs,
                    uploads: Arc::new(BucketUploads::new(bucket.clone(), &receiving)),
                    build_files: Arc::new(BucketBuildFiles::new(bucket.clone(), &receiving)),
                    lfs_files: Arc::new(BucketLfsFiles::new(bucket, &receiving)),
                }
            }
        }
    }
}

/// The private token of `root`, whose id is 1.
pub const ROOT: &str = "root-token-for-tests";
/// The password of `root`, and of every user that [`Forge::user`] creates.
pub const PASSWORD: &str = "correct horse";
/// The base URL in responses.
pub const EXTERNAL_URL: &str = "http://forge.test";

/// The port in SSH clone URLs.
const SSH_PORT: u16 = 2222;

/// The body limit of calls other than uploads, in bytes. It is larger than the longest valid text.
pub const MAX_BODY: usize = 2 << 20;

/// The limit of an uploaded file, in bytes. It is larger than any other body.
pub const MAX_UPLOAD: usize = 3 << 20;

/// The limit of the artifacts of a build, in bytes.
pub const MAX_ARTIFACTS: usize = 4 << 20;

/// The days after which an unused session ends. Tests that move the clock for other reasons stay below it.
pub const SESSION_DAYS: i64 = 3650;

/// The registration token of shared runners.
pub const RUNNERS: &str = "runners-token-for-tests";

/// Runs a case on a new server. Without PostgreSQL its cases are skipped, with a warning on standard error.
pub fn run(backend: Backend, case: fn(&Forge)) {
    if let Some(forge) = Forge::start(ForgeOptions { backend, dialect: Dialect::Specification }) {
        case(&forge);
    }
}

/// The vault: with a key in the data folder, or with the key that all programs share.
fn vault(folder: &Path, servers: Servers) -> Arc<KeyVault> {
    let key = match servers {
        Servers::InProcess(_) => {
            InstallationKey::load_or_create(folder).expect("a key can be made")
        }
        Servers::Programs => InstallationKey::parse(SECRET_KEY).expect("the key is right"),
    };
    Arc::new(KeyVault::new(&key).expect("the key is long enough"))
}

impl Forge {
    /// Starts a server on an empty store. Hooks may call addresses of this machine. Returns `None` without PostgreSQL.
    pub fn start(options: ForgeOptions) -> Option<Self> {
        let servers = Servers::read(options.backend);
        Self::start_within(options, Guard::allow_local(), Restrictions::default(), servers)
    }

    /// The same; `guard` decides which addresses hooks may call.
    pub fn start_guarded(options: ForgeOptions, guard: Guard) -> Option<Self> {
        let servers = Servers::read(options.backend).without_programs();
        Self::start_within(options, guard, Restrictions::default(), servers)
    }

    /// The same, with rate limits. Hooks may call addresses of this machine.
    pub fn start_limited(options: ForgeOptions, limits: RateLimits) -> Option<Self> {
        let restrictions = Restrictions { rate_limits: limits, ..Restrictions::default() };
        Self::start_restricted(options, restrictions)
    }

    /// The same, with other limits than the default ones. Hooks may call addresses of this machine.
    pub fn start_restricted(options: ForgeOptions, restrictions: Restrictions) -> Option<Self> {
        let servers = Servers::read(options.backend).without_programs();
        Self::start_within(options, Guard::allow_local(), restrictions, servers)
    }

    fn start_within(
        options: ForgeOptions,
        guard: Guard,
        restrictions: Restrictions,
        servers: Servers,
    ) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let (queries, vault) = (Arc::new(AtomicU64::new(0)), vault(folder.path(), servers));
        let store_options = Options {
            queries: Some(Arc::clone(&queries)),
            // Without programs the store creates its own vault.
            vault: (servers == Servers::Programs).then(|| Arc::clone(&vault) as _),
            ..Options::default()
        };
        let (store, database): (Arc<dyn Store>, Box<dyn Any + Send + Sync>) = match options.backend
        {
            Backend::Fake => (Arc::new(FakeStore::default()), Box::new(())),
            Backend::Sqlite => {
                let database = TestDatabase::migrated_sqlite();
                (Arc::new(database.open(store_options)), Box::new(database))
            }
            Backend::Postgres => {
                let database = TestDatabase::migrated_postgres()?;
                (Arc::new(database.open(store_options)), Box::new(database))
            }
        };
        let object_store = servers.have_object_store().then(S3Server::start);
        // Every store uses real repositories, so that responses can be compared with the output of git.
        let Storage { packs, git, mut uploads, mut build_files, mut lfs_files } =
            Storage::new(folder.path(), object_store.as_ref());
        if options.backend == Backend::Fake {
            uploads = Arc::new(FakeUploads::default());
            build_files = Arc::new(FakeBuildFiles::default());
            lfs_files = Arc::new(FakeLfsFiles::default());
        }
        let clock = FakeClock::default();
        let app = App {
            store,
            git,
            refs: Arc::new(MemoryRefCache::default()),
            packs,
            maintenance: Arc::new(NoMaintenance),
            imports: Arc::new(FakeImports),
            outgoing: Arc::new(GuardedClient::new(guard).expect("a client can be made")),
            clock: Arc::new(clock.clone()),
            secrets: Arc::new(SystemSecrets),
            passwords: Arc::new(Argon2Passwords::weak()),
            public_keys: Arc::new(OpensshKeys),
            uploads,
            build_files,
            lfs_files,
            vault,
            yaml: Arc::new(SaphyrReader),
            turns: BranchTurns::default(),
            application_settings: Arc::new(SettingsCache::new(initial_settings())),
            broadcasts: Arc::default(),
            settings: Settings {
                external_url: EXTERNAL_URL.to_owned(),
                build_silence: TimeDelta::hours(24),
                runner_silence: TimeDelta::minutes(5),
                hook_timeout: Duration::from_secs(2),
                strict: StrictRules::default(),
                runners_token: Some(SystemSecrets.digest(RUNNERS)),
                repository_bytes: restrictions.repository_bytes.unwrap_or(u64::MAX),
                lfs: !restrictions.is_lfs_off,
                lfs_bytes: restrictions.lfs_bytes.unwrap_or(u64::MAX),
                sweep_after: TimeDelta::hours(24),
                session: TimeDelta::days(SESSION_DAYS),
                signup: restrictions.signup,
                remote_images: restrictions.remote_images,
            },
        };
        setup::first_administrator(&app, PASSWORD, &Secret::new(ROOT))
            .expect("the first administrator can be made");
        let (address, handle, thread, limiter) = listen(&app, options.dialect, &restrictions);
        let extra_count = match servers {
            Servers::InProcess(number) => number - 1,
            Servers::Programs => 0,
        };
        let extra_servers = (0..extra_count).map(|_| {
            let database = database.downcast_ref::<TestDatabase>().expect("it is one of these");
            let queries = Options { queries: Some(Arc::clone(&queries)), ..Options::default() };
            let own = object_store
                .as_ref()
                .map(|_| tempfile::tempdir().expect("a folder for temporary files exists"));
            let place = own.as_ref().map_or(folder.path(), TempDir::path);
            let Storage { packs, git, uploads, build_files, lfs_files } =
                Storage::new(place, object_store.as_ref());
            let (store, refs) = (Arc::new(database.open(queries)), Arc::default());
            let refs: Arc<MemoryRefCache> = refs;
            // Each server has its own cache of settings, like processes.
            let application_settings = Arc::new(SettingsCache::new(initial_settings()));
            let app = App {
                store,
                git,
                refs,
                packs,
                uploads,
                build_files,
                lfs_files,
                application_settings,
                ..app.clone()
            };
            let (address, handle, thread, _) = listen(&app, options.dialect, &restrictions);
            ExtraServer { address, handle, thread: Some(thread), _folder: own }
        });
        let extra_servers = extra_servers.collect();
        let programs = (servers == Servers::Programs).then(|| {
            let database = database.downcast_ref::<TestDatabase>().expect("it is one of these");
            let store = object_store.as_ref().expect("programs have one");
            Programs::start(database, store, options.dialect, clock.now())
        });
        Some(Self {
            address,
            extra_servers,
            programs,
            turn: AtomicUsize::new(0),
            is_pinned: AtomicBool::new(false),
            app,
            clock,
            queries,
            handle,
            thread: Some(thread),
            limiter,
            ssh: OnceLock::new(),
            _database: database,
            _object_store: object_store,
            folder,
        })
    }

    /// The number of pack files in the scratch folders of running pushes.
    pub fn scratch_packs(&self) -> usize {
        let scratch = std::fs::read_dir(self.folder.path().join("repositories").join("scratch"));
        let folders = scratch.into_iter().flatten().flatten();
        let packs =
            folders.flat_map(|folder| std::fs::read_dir(folder.path().join("objects/pack")));
        packs.flatten().count()
    }

    /// The address of the SSH server, which the first call starts.
    pub fn ssh(&self) -> SocketAddr {
        self.ssh_within(Limits::default())
    }

    /// The same. The limits only apply if this call starts the server.
    pub fn ssh_within(&self, limits: Limits) -> SocketAddr {
        let server = self.ssh.get_or_init(|| {
            let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
            let keys = HostKeys::temporary().expect("a key can be made");
            let (app, limiter) = (Arc::new(self.app.clone()), Arc::clone(&self.limiter));
            Server::start(listener, app, &keys, limiter, limits).expect("a bound socket is served")
        });
        server.address()
    }

    /// The numbers of free permits for fetches and for pushes.
    pub fn free_permits(&self) -> (usize, usize) {
        (self.limiter.fetches.free(), self.limiter.pushes.free())
    }

    /// The permits that HTTP and SSH share.
    pub fn limiter(&self) -> &Limiter {
        &self.limiter
    }

    /// A work tree that can be pushed into the repository of a project.
    pub fn work_tree(&self, project: i64) -> WorkTree {
        let bare = Layout::new(self.folder.path()).repository(ProjectId(project));
        WorkTree::new(&bare).with_rows(self.ref_rows(project))
    }

    /// The refs of a project in the database.
    pub fn ref_rows(&self, project: i64) -> RefRows {
        let packs = Arc::clone(&self.app.packs);
        RefRows::new(Arc::clone(&self.app.store), ProjectId(project)).with_packs(packs)
    }

    /// Pushes a work tree into its repository, and updates the default branch and avatar of the project.
    pub fn fill(&self, project: i64, tree: &WorkTree) {
        tree.push();
        let (store, project) = (&self.app.store, ProjectId(project));
        let refs = repository::refs(&self.app, project).expect("rows can be read");
        let default = refs.default_branch();
        let picture = |name: &&str| {
            let branch = default.as_ref().map_or_else(String::new, BranchName::full);
            let size = tree.command(&["cat-file", "-s", &format!("{branch}:{name}")]).output();
            let size = size.expect("git can be started").stdout;
            String::from_utf8_lossy(&size).trim().parse().is_ok_and(|size: u64| size <= 2 << 20)
        };
        let avatar = ["logo.png", "logo.jpg", "logo.gif"].into_iter().find(picture);
        let stored = store.write::<_, StoreError>(|tx| {
            tx.projects().set_default_branch(project, default.as_ref())?;
            tx.projects().set_avatar(project, avatar)
        });
        stored.expect("the project is stored");
    }

    /// Sends all hook deliveries that are due, one after the other. Returns the number of attempts.
    pub fn deliver(&self) -> usize {
        let settings = Arc::clone(&self.app.application_settings);
        let payloads = JsonPayloads::new(EXTERNAL_URL, SSH_PORT, settings);
        while delivery::fan_out(&self.app, &payloads).expect("events can be read") {}
        let limits = ClaimLimits { healthy: 8, failing: 8, each: 16 };
        let (mut done, mut attempts) = (Vec::new(), 0);
        loop {
            let claims = delivery::claim(&self.app, &done, limits).expect("lanes can be claimed");
            if claims.is_empty() {
                return attempts;
            }
            let send = |claim| delivery::send(&self.app, claim, &|| true);
            done = claims.into_iter().map(send).collect();
            attempts += done.iter().map(|settlement| settlement.sent.len()).sum::<usize>();
        }
    }

    /// A request to the API: the path `/users` is sent as `/api/v3/users`.
    pub fn request(&self, method: &str, path: &str) -> Request {
        Request::new(self.next_address(), method, &format!("/api/v3{path}"))
    }

    /// A request outside the API, for example to a web page or to git.
    pub fn page(&self, method: &str, target: &str) -> Request {
        Request::new(self.next_address(), method, target)
    }

    /// Sends all later requests to the first server, for tests that change its files directly.
    pub fn pin_to_first_server(&self) {
        self.is_pinned.store(true, Ordering::Relaxed);
    }

    fn next_address(&self) -> SocketAddr {
        if self.is_pinned.load(Ordering::Relaxed) {
            return self.address;
        }
        if let Some(programs) = &self.programs {
            return programs.next(self.clock.now());
        }
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % (self.extra_servers.len() + 1);
        self.extra_servers.get(turn).map_or(self.address, |server| server.address)
    }

    /// A GET request to the API.
    pub fn get(&self, path: &str) -> Request {
        self.request("GET", path)
    }

    /// A POST request to the API.
    pub fn post(&self, path: &str) -> Request {
        self.request("POST", path)
    }

    /// A PUT request to the API.
    pub fn put(&self, path: &str) -> Request {
        self.request("PUT", path)
    }

    /// A DELETE request to the API.
    pub fn delete(&self, path: &str) -> Request {
        self.request("DELETE", path)
    }

    /// Creates a user through the API, and returns the response.
    pub fn new_user(&self, username: &str, more: &[(&str, &str)]) -> Value {
        let email = format!("{username}@example.com");
        let mut fields = vec![
            ("username", username),
            ("name", username),
            ("email", email.as_str()),
            ("password", PASSWORD),
        ];
        fields.extend(more);
        self.post("/users").token(ROOT).form(&fields).send().expect(201)
    }

    /// Creates a user and signs in. Returns the user's id and private token.
    pub fn user(&self, username: &str) -> (i64, String) {
        let user = self.new_user(username, &[]);
        (user["id"].as_i64().expect("users have ids"), self.sign_in(username))
    }

    /// Signs in a user of [`Forge::new_user`], and returns the private token.
    pub fn sign_in(&self, login: &str) -> String {
        let form = [("login", login), ("password", PASSWORD)];
        let session = self.post("/session").form(&form).send().expect(201);
        session["private_token"].as_str().expect("a session has a token").to_owned()
    }
}

/// The settings of the service until a test changes them.
fn initial_settings() -> ApplicationSettings {
    ApplicationSettings {
        max_attachment_size: (MAX_UPLOAD >> 20) as i64,
        max_artifacts_size: (MAX_ARTIFACTS >> 20) as i64,
        ..ApplicationSettings::default()
    }
}

fn listen(
    app: &App,
    dialect: Dialect,
    restrictions: &Restrictions,
) -> (SocketAddr, ServerHandle, JoinHandle<()>, Arc<Limiter>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let address = listener.local_addr().expect("a bound socket has an address");
    let settings = HttpSettings {
        external_url: EXTERNAL_URL.to_owned(),
        ssh_port: SSH_PORT,
        dialect,
        max_body: MAX_BODY,
        rate_limits: restrictions.rate_limits,
        trusted_proxies: restrictions.trusted_proxies.clone(),
        head_timeout: restrictions.head_timeout.unwrap_or(HEAD_TIMEOUT),
        revision: "hexforge-0.1.0".to_owned(),
    };
    let limiter = Limiter::new(restrictions.transfer)
        .with_costly_pages_open(!restrictions.are_costly_pages_closed);
    let limiter = Arc::new(match &restrictions.threads {
        Some(threads) => limiter.with_threads(Arc::clone(threads)),
        None => limiter,
    });
    let shared = Shared::new(
        app.clone(),
        settings,
        Arc::clone(&limiter),
        Arc::new(String::new),
        Arc::new(|| Ok(())),
    );
    let (sender, receiver) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let server = http::server(listener, shared, Some(1)).expect("a bound socket is served");
            sender.send(server.handle()).expect("the test waits for the server");
            server.await.expect("the server runs until it is stopped");
        });
    });
    let handle = receiver.recv().expect("the server starts");
    (address, handle, thread, limiter)
}

impl Drop for Forge {
    fn drop(&mut self) {
        // The call itself sends the stop command; the future only waits for the answer.
        drop(self.handle.stop(false));
        for server in &mut self.extra_servers {
            drop(server.handle.stop(false));
            if let Some(thread) = server.thread.take() {
                let _ = thread.join();
            }
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
