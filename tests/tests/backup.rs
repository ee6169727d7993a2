//! Backups of a server under load, and their restoration: `hexforge backup`, `verify` and `restore`.
//!
//! `HEXFORGE_TEST_BACKUP=full` uses more callers, projects and backups.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use hexforge_domain::id::ProjectId;
use hexforge_git_gix::Layout;
use hexforge_persistence_diesel::DatabaseUrl;
use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::program::{self, Program, ROOT, url_with_password};
use hexforge_tests::{Request, WorkTree};
use serde_json::Value;
use tempfile::TempDir;

/// The size of a test.
struct Extent {
    projects: usize,
    pushers: usize,
    writers: usize,
    backups: usize,
    /// The number of acknowledged changes between two backups.
    between: usize,
}

fn extent() -> Extent {
    match std::env::var("HEXFORGE_TEST_BACKUP").as_deref() {
        Ok("full") => Extent { projects: 40, pushers: 6, writers: 4, backups: 8, between: 60 },
        _ => Extent { projects: 4, pushers: 2, writers: 1, backups: 1, between: 6 },
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder for temporary files exists")
}

fn hexforge(data: &Path, database: &DatabaseUrl, arguments: &[&str]) -> Output {
    Command::new(program::executable())
        .args(arguments)
        .env("HEXFORGE_DATA_DIR", data)
        .env("HEXFORGE_DATABASE_URL", url_with_password(database))
        .output()
        .expect("the program can be started")
}

#[track_caller]
fn run_successfully(data: &Path, database: &DatabaseUrl, arguments: &[&str]) -> String {
    let output = hexforge(data, database, arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{arguments:?}: {said}{errors}");
    said
}

#[track_caller]
fn refusal(data: &Path, database: &DatabaseUrl, arguments: &[&str]) -> String {
    let output = hexforge(data, database, arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("temporary folders have plain names")
}

#[test]
fn what_was_acknowledged_before_a_backup_comes_back_on_sqlite() {
    acknowledged_changes_are_restored(TestDatabase::sqlite);
}

#[test]
fn what_was_acknowledged_before_a_backup_comes_back_on_postgres() {
    if TestDatabase::postgres().is_some() {
        acknowledged_changes_are_restored(|| {
            TestDatabase::postgres().expect("it was there just now")
        });
    }
}

fn acknowledged_changes_are_restored(database: impl Fn() -> TestDatabase) {
    let extent = extent();
    let (first, data, backups) = (database(), folder(), folder());
    let server = Program::start_with_ssh(&program::executable(), data.path(), &first.url)
        .expect("it serves");
    let world = World::begin(&server, data.path(), &extent);
    std::thread::scope(|scope| {
        for pusher in 0..extent.pushers {
            scope.spawn({
                let world = &world;
                move || world.push_repeatedly(pusher)
            });
        }
        for writer in 0..extent.writers {
            scope.spawn({
                let world = &world;
                move || world.write_repeatedly(writer)
            });
        }
        scope.spawn(|| world.create_and_remove_repeatedly());
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for number in 0..extent.backups {
                world.wait_for(extent.between);
                let file = backups.path().join(format!("{number}.backup"));
                let known = world.acknowledged();
                run_successfully(data.path(), &first.url, &["backup", text(&file)]);
                let mode = std::fs::metadata(&file).expect("it is there").permissions().mode();
                assert_eq!(mode & 0o777, 0o600);
                assert!(
                    run_successfully(data.path(), &first.url, &["verify", text(&file)])
                        .contains("is whole")
                );
                restore_and_compare(&file, &database(), &known, &world);
            }
        }));
        world.stop();
        if let Err(panic) = ended {
            std::panic::resume_unwind(panic);
        }
    });
    let left: Vec<_> = std::fs::read_dir(backups.path()).expect("a folder").flatten().collect();
    assert_eq!(left.len(), extent.backups, "nothing else stays: {left:?}");
    assert!(!data.path().join("backup.lock").exists());
}

/// Restores a backup into a new folder and database, and compares it with what was acknowledged before the backup.
fn restore_and_compare(file: &Path, database: &TestDatabase, known: &Known, world: &World) {
    let data = folder();
    let to = data.path().join("data");
    run_successfully(&to, &database.url, &["restore", text(file)]);
    let doctor = run_successfully(&to, &database.url, &["doctor"]);
    assert!(doctor.contains("ok     repositories: "), "{doctor}");
    for folder in repositories(&to) {
        let fsck =
            Command::new("git").args(["fsck", "--strict", "--full"]).current_dir(&folder).output();
        let fsck = fsck.expect("git can be started");
        assert!(fsck.status.success(), "{}", String::from_utf8_lossy(&fsck.stderr));
    }
    let server =
        Program::start_with_ssh(&program::executable(), &to, &database.url).expect("it serves");
    let tree = WorkTree::new(&data.path().join("unused.git"));
    for (project, pushed) in &known.pushed {
        let shown = server.request("GET", &format!("/projects/{project}")).token(ROOT).send();
        let shown = shown.expect(200);
        let path = shown["path_with_namespace"].as_str().expect("a path");
        tree.assert_sound_at(&url(server.address, path));
        let path = format!("/projects/{project}/repository/branches/master");
        let now = server.request("GET", &path).token(ROOT).send().expect(200);
        let tip = now["commit"]["id"].as_str().expect("a commit").to_owned();
        let layout = Layout::new(&to).repository(ProjectId(*project));
        // Later changes may be in the backup; earlier ones must be.
        let is_in = Command::new("git")
            .args(["merge-base", "--is-ancestor", pushed, &tip])
            .current_dir(layout)
            .status();
        assert!(is_in.is_ok_and(|status| status.success()), "{pushed} is in {tip}");
        // There is exactly one event per push in the backup.
        let events = format!("/projects/{project}/events?per_page=100");
        let events = server.request("GET", &events).token(ROOT).send().expect(200);
        let pushes = events.as_array().expect("a list").iter().filter_map(|one| one.get("data"));
        let newest = pushes.map(|data| &data["after"]).find(|after| after.is_string());
        assert_eq!(newest, Some(&Value::from(tip)), "refs and feed are of one moment");
    }
    for (project, titles) in &known.issues {
        let there = titles_in(&server, *project);
        for title in titles {
            assert!(there.contains(title), "{title}");
        }
    }
    for (path, content) in &known.uploads {
        let found = Request::new(server.address, "GET", path).token(ROOT).send();
        assert_eq!((found.status, found.text()), (200, content.as_str()), "{path}");
    }
    // The keys are part of the backup: encrypted values can be read, and the host key is the same.
    let variable = server.request("GET", "/projects/1/variables/SECRET").token(ROOT).send();
    assert_eq!(variable.expect(200)["value"], "sealed");
    let key = |data: &Path| std::fs::read(data.join("ssh/host_ed25519_key")).expect("it is there");
    assert_eq!(key(&to), world.host_key);
    // The restored server works: new ids, pushes and hooks.
    let form = [("name", "after")];
    let made = server.request("POST", "/projects").token(ROOT).form(&form).send().expect(201);
    let id = made["id"].as_i64().expect("an id");
    assert!(known.pushed.keys().all(|known| *known < id));
    assert!(!Layout::new(&to).repository(ProjectId(id)).exists(), "nothing of another project");
    tree.write("file", "after").commit("After");
    tree.git(&["push", "-q", &url(server.address, "root/after"), "master"]);
}

/// The titles of all issues of a project.
fn titles_in(server: &Program, project: i64) -> BTreeSet<String> {
    let pages = (1..).map(|page| {
        let path = format!("/projects/{project}/issues?per_page=100&page={page}");
        let issues = server.request("GET", &path).token(ROOT).send().expect(200);
        let title = |issue: &Value| issue["title"].as_str().expect("a title").to_owned();
        issues.as_array().expect("a list").iter().map(title).collect::<Vec<_>>()
    });
    pages.take_while(|page| !page.is_empty()).flatten().collect()
}

fn repositories(data: &Path) -> Vec<PathBuf> {
    let below = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
    below(data.join("repositories"))
        .flat_map(|shelf| below(shelf.path()))
        .flat_map(|shelf| below(shelf.path()))
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "git"))
        .collect()
}

fn url(address: SocketAddr, path: &str) -> String {
    format!("http://root:{ROOT}@{address}/{path}.git")
}

/// Everything that the server acknowledged.
#[derive(Clone, Default)]
struct Known {
    /// The last commit of `master` in each project.
    pushed: BTreeMap<i64, String>,
    issues: BTreeMap<i64, Vec<String>>,
    /// The contents of uploads by address.
    uploads: BTreeMap<String, String>,
}

/// A server under load, and everything that it acknowledged.
struct World {
    address: SocketAddr,
    projects: usize,
    known: Mutex<Known>,
    done: AtomicUsize,
    is_over: AtomicBool,
    failed: AtomicBool,
    host_key: Vec<u8>,
}

impl World {
    fn begin(server: &Program, data: &Path, extent: &Extent) -> Self {
        for number in 0..extent.projects {
            let name = format!("p{number}");
            let form = [("name", name.as_str())];
            server.request("POST", "/projects").token(ROOT).form(&form).send().expect(201);
        }
        let form = [("key", "SECRET"), ("value", "sealed")];
        server.request("POST", "/projects/1/variables").token(ROOT).form(&form).send().expect(201);
        let key = data.join("ssh/host_ed25519_key");
        Self {
            address: server.address,
            projects: extent.projects,
            known: Mutex::default(),
            done: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            host_key: std::fs::read(key).expect("a server that serves SSH has keys"),
        }
    }

    fn is_running(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed) && !self.has_failed()
    }

    /// Repeats `work` until the test ends or a caller fails.
    fn repeat_until_over(&self, mut work: impl FnMut(usize)) {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for number in 0.. {
                if !self.is_running() {
                    return;
                }
                work(number);
            }
        }));
        if let Err(panic) = done {
            self.failed.store(true, Ordering::Relaxed);
            std::panic::resume_unwind(panic);
        }
    }

    fn stop(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    fn record(&self, note: impl FnOnce(&mut Known)) {
        note(&mut self.known.lock().expect("no panic"));
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    fn acknowledged(&self) -> Known {
        self.known.lock().expect("no panic").clone()
    }

    /// Waits until `more` further changes are acknowledged.
    fn wait_for(&self, more: usize) {
        let enough = self.done.load(Ordering::Relaxed) + more;
        while self.done.load(Ordering::Relaxed) < enough && !self.has_failed() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Whether a caller failed. The others stop then.
    fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    fn post(&self, path: &str, form: &[(&str, &str)]) -> Value {
        let path = format!("/api/v3{path}");
        Request::new(self.address, "POST", &path).token(ROOT).form(form).send().expect(201)
    }

    /// Pushes commits to projects in turn. Each pusher has its own projects.
    fn push_repeatedly(&self, pusher: usize) {
        let folder = folder();
        let tree = WorkTree::new(&folder.path().join("unused.git"));
        let step = extent().pushers;
        let own: Vec<usize> = (0..self.projects).filter(|one| one % step == pusher).collect();
        self.repeat_until_over(|number| {
            let project = own[number % own.len()];
            let id = tree.write("file", format!("{pusher} {number}")).commit("Change it");
            let address = url(self.address, &format!("root/p{project}"));
            tree.git(&["push", "-q", &address, "master"]);
            let key = project as i64 + 1;
            self.record(|known| drop(known.pushed.insert(key, id)));
        });
    }

    /// Creates issues and uploads.
    fn write_repeatedly(&self, writer: usize) {
        self.repeat_until_over(|number| {
            let project = (number % self.projects) as i64 + 1;
            let title = format!("{writer} {number}");
            self.post(&format!("/projects/{project}/issues"), &[("title", &title)]);
            self.record(|known| known.issues.entry(project).or_default().push(title));
            let content = format!("upload {writer} {number}");
            let path = format!("/api/v3/projects/{project}/uploads");
            let sent = Request::new(self.address, "POST", &path).token(ROOT);
            let sent = sent.file("a.txt", content.as_bytes()).send().expect(201);
            let url = sent["url"].as_str().expect("an address").to_owned();
            let url = format!("/root/p{}{url}", project - 1);
            self.record(|known| drop(known.uploads.insert(url, content)));
        });
    }

    /// Creates projects, pushes to them and removes them.
    fn create_and_remove_repeatedly(&self) {
        let folder = folder();
        let tree = WorkTree::new(&folder.path().join("unused.git"));
        tree.write("file", "x").commit("One");
        self.repeat_until_over(|number| {
            let name = format!("gone{number}");
            let made = self.post("/projects", &[("name", &name)]);
            tree.git(&["push", "-q", &url(self.address, &format!("root/{name}")), "master"]);
            let path = format!("/api/v3/projects/{}", made["id"]);
            Request::new(self.address, "DELETE", &path).token(ROOT).send().expect(200);
        });
    }
}

/// Starts a server, adds a few objects, and stops it.
fn create_small_installation(database: &TestDatabase, data: &Path) {
    let server = Program::start(&program::executable(), data, &database.url).expect("it serves");
    let form = [("name", "ship")];
    server.request("POST", "/projects").token(ROOT).form(&form).send().expect(201);
    let folder = folder();
    let tree = WorkTree::new(&folder.path().join("unused.git"));
    tree.write("file", "x").commit("One");
    tree.git(&["push", "-q", &url(server.address, "root/ship"), "master"]);
}

#[test]
fn damage_is_found_wherever_it_is_and_nothing_is_restored() {
    let (database, data, place) = (TestDatabase::sqlite(), folder(), folder());
    create_small_installation(&database, data.path());
    let file = place.path().join("whole");
    run_successfully(data.path(), &database.url, &["backup", text(&file)]);
    let whole = std::fs::read(&file).expect("it is there");
    let damaged = place.path().join("damaged");
    let fresh = TestDatabase::sqlite();
    let to = place.path().join("data");
    let check = |bytes: &[u8], what: &str| {
        std::fs::write(&damaged, bytes).expect("it can be written");
        let why = refusal(&to, &fresh.url, &["verify", text(&damaged)]);
        assert!(why.contains("damaged cannot be used: "), "{what}: {why}");
    };
    for place in [0, 40, whole.len() / 3, whole.len() / 2, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x10;
        check(&bytes, &format!("byte {place}"));
    }
    for length in [0, 10, whole.len() / 2, whole.len() - 1] {
        check(&whole[..length], &format!("{length} bytes"));
    }
    // The whole file is checked before anything is restored.
    let why = refusal(&to, &fresh.url, &["restore", text(&damaged)]);
    assert!(why.contains("cut off"), "{why}");
    assert!(!to.exists());
    let DatabaseUrl::Sqlite(path) = &fresh.url else { panic!("this is SQLite") };
    assert!(!path.exists());
    run_successfully(&to, &fresh.url, &["restore", text(&file)]);
}

#[test]
fn a_backup_goes_only_where_it_fits_and_nothing_is() {
    let databases = [Some(TestDatabase::sqlite()), TestDatabase::postgres()];
    for database in databases.into_iter().flatten() {
        let (data, place) = (folder(), folder());
        let file = place.path().join("backup");
        let to = place.path().join("data");
        let other = match &database.url {
            DatabaseUrl::Sqlite(_) => TestDatabase::postgres(),
            DatabaseUrl::Postgres(_) => Some(TestDatabase::sqlite()),
        };
        create_small_installation(&database, data.path());
        run_successfully(data.path(), &database.url, &["backup", text(&file)]);
        let again = refusal(data.path(), &database.url, &["backup", text(&file)]);
        assert!(again.contains("exists already"), "{again}");
        let full = refusal(data.path(), &database.url, &["restore", text(&file)]);
        assert!(full.contains("is not empty"), "{full}");
        // An empty folder is not enough: the database must be empty, too.
        let used = refusal(&to, &database.url, &["restore", text(&file)]);
        assert!(used.contains("is not empty") || used.contains("a database already"), "{used}");
        if let Some(other) = other {
            let wrong = refusal(&to, &other.url, &["restore", text(&file)]);
            assert!(wrong.contains("the backup is of a "), "{wrong}");
        }
        assert!(std::fs::read_dir(&to).map_or(true, |mut entries| entries.next().is_none()));
    }
}

#[test]
fn a_backup_of_a_newer_program_is_refused() {
    let databases = [
        Some((TestDatabase::sqlite(), TestDatabase::sqlite())),
        TestDatabase::postgres().zip(TestDatabase::postgres()),
    ];
    for (database, fresh) in databases.into_iter().flatten() {
        let (data, place) = (folder(), folder());
        create_small_installation(&database, data.path());
        database
            .execute("INSERT INTO __diesel_schema_migrations (version) VALUES ('99990101000000')");
        let file = place.path().join("backup");
        run_successfully(data.path(), &database.url, &["backup", text(&file)]);
        let to = place.path().join("data");
        let why = refusal(&to, &fresh.url, &["restore", text(&file)]);
        let expected = "the backup is of a newer hexforge: it has the migration 99990101000000";
        assert!(why.contains(expected), "{why}");
    }
}
