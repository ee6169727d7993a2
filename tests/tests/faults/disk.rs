//! A full disk: callers get an error, nothing is damaged, and everything works again once there is space.
//!
//! `HEXFORGE_TEST_FAULTS=full` also fills the disk of a PostgreSQL server.

use std::path::Path;
use std::process::{Output, Stdio};

use hexforge_persistence_diesel::DatabaseUrl;
use hexforge_persistence_diesel::testing::{DedicatedPostgres, TestDatabase, assert_sound};
use hexforge_tests::program::{self, Program, ROOT, RUNNERS};
use hexforge_tests::{RandomNumbers, Response, Runner, SmallDisk, WorkTree};
use serde_json::Value;

use super::git::CONFIGURATION;
use super::worker::{SHIP, Servers};

/// A megabyte of incompressible bytes.
fn noise(seed: u64) -> Vec<u8> {
    let mut numbers = RandomNumbers(seed);
    (0..1 << 20).map(|_| numbers.next_number().to_le_bytes()[0]).collect()
}

/// A long text that compresses badly.
fn long_text(seed: u64) -> String {
    noise(seed).iter().take(200_000).map(|byte| char::from(b'0' + byte % 64)).collect()
}

#[test]
fn a_full_disk_is_told_and_nothing_is_broken_on_sqlite() {
    let Some(disk) = SmallDisk::mount(40) else { return };
    let database = DatabaseUrl::Sqlite(disk.path().join("data/hexforge.db"));
    let scene = Scene::new(disk.path(), &database);
    let before = scene.issue("before").expect(201)["id"].clone();

    disk.fill_except(200_000);
    scene.assert_no_room_for_files();
    disk.fill_except(0);
    scene.assert_no_room_for_rows();
    scene.assert_no_room_for_files();
    // Reads still work.
    let found = scene.server.request("GET", &format!("/projects/{SHIP}/issues")).token(ROOT).send();
    assert!(found.expect(200).as_array().is_some_and(|all| all.iter().any(|i| i["id"] == before)));

    disk.remove_filling();
    scene.assert_works("again");
    drop(scene);
    assert_sound(&database);
}

#[test]
fn a_full_disk_of_repositories_is_told_and_nothing_is_broken_on_postgres() {
    let Some(disk) = SmallDisk::mount(24) else { return };
    let Some(database) = TestDatabase::postgres() else { return };
    let scene = Scene::new(disk.path(), &database.url);
    disk.fill_except(200_000);
    scene.assert_no_room_for_files();
    disk.fill_except(0);
    scene.assert_no_room_for_files();
    // The disk of the database has space.
    scene.issue("meanwhile").expect(201);
    disk.remove_filling();
    scene.assert_works("again");
}

#[test]
fn a_full_disk_of_postgres_is_told_and_nothing_is_broken() {
    if std::env::var("HEXFORGE_TEST_FAULTS").as_deref() != Ok("full") {
        return;
    }
    let Some(disk) = SmallDisk::mount(160) else { return };
    let servers = disk.path().join("postgres");
    std::fs::create_dir(&servers).expect("there is room");
    let Some(mut postgres) = DedicatedPostgres::start_in(&servers) else { return };
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let scene = Scene::new(folder.path(), &postgres.url());
    disk.fill_except(0);
    scene.assert_no_room_for_rows();
    disk.remove_filling();
    // A PostgreSQL server that cannot write its log has stopped itself.
    postgres.stop("INT");
    postgres.start();
    scene.assert_works("again");
}

/// A server with a project, a repository and a running build.
struct Scene {
    server: Program,
    data: std::path::PathBuf,
    tree: WorkTree,
    runner: Runner,
    build: Value,
}

impl Scene {
    fn new(folder: &Path, database: &DatabaseUrl) -> Self {
        let data = folder.join("data");
        let log = Stdio::null();
        let server = Program::start_logging(&program::executable(), &data, database, log);
        let server = server.expect("the program serves");
        let form = [("name", "ship"), ("public", "true")];
        server.request("POST", "/projects").token(ROOT).form(&form).send().expect(201);
        let elsewhere = tempfile::tempdir().expect("a folder for temporary files exists");
        let tree = WorkTree::new(&elsewhere.path().join("unused.git"));
        tree.write(".gitlab-ci.yml", CONFIGURATION).commit("Begin");
        let runner = Runner::register(server.address, RUNNERS, &[]);
        let mut scene = Self { server, data, tree, runner, build: Value::Null };
        assert!(scene.push("master").status.success());
        scene.build = scene.runner.take().expect("a build waits");
        scene
    }

    fn url(&self) -> String {
        format!("http://root:{ROOT}@{}/root/ship.git", self.server.address)
    }

    fn push(&self, branch: &str) -> Output {
        let url = self.url();
        let change = format!("HEAD:refs/heads/{branch}");
        let mut push = self.tree.command(&["push", "-q", &url, &change]);
        push.env("GIT_TERMINAL_PROMPT", "0").output().expect("git can be started")
    }

    fn issue(&self, title: &str) -> Response {
        let text = long_text(title.len() as u64);
        let form = [("title", title), ("description", text.as_str())];
        let path = format!("/projects/{SHIP}/issues");
        self.server.request("POST", &path).token(ROOT).form(&form).send()
    }

    fn upload(&self) -> Response {
        let path = format!("/projects/{SHIP}/uploads");
        self.server.request("POST", &path).token(ROOT).file("noise", &noise(1)).send()
    }

    fn artifacts(&self) -> Response {
        self.runner.artifacts("POST", &self.build).file("a.zip", &noise(2)).send()
    }

    /// Asserts that uploads, artifacts and pushes fail with the right error, and leave no files.
    fn assert_no_room_for_files(&self) {
        let full = serde_json::json!({"message": "507 Insufficient Storage"});
        assert_eq!(self.upload().expect(507), full);
        assert_eq!(self.artifacts().expect(507), full);
        self.tree.write("noise", noise(3)).commit("Make noise");
        let refused = self.push("noise");
        let text = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && text.contains("507"), "{text}");
        self.assert_nothing_lies_around();
        let branches = format!("/projects/{SHIP}/repository/branches");
        let branches = self.server.request("GET", &branches).token(ROOT).send().expect(200);
        assert_eq!(branches.as_array().map(Vec::len), Some(1), "{branches}");
    }

    /// Asserts that files of unfinished operations are soon removed.
    fn assert_nothing_lies_around(&self) {
        let count = |folder: &str| {
            let entries = std::fs::read_dir(self.data.join(folder)).into_iter().flatten();
            entries.count()
        };
        let folders = ["uploads/receiving", "builds/receiving", "scratch", "trash"];
        for _ in 0..50 {
            if folders.iter().all(|folder| count(folder) == 0) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("{:?}", folders.map(|folder| (folder, count(folder))));
    }

    /// Asserts that inserts fail once there is no space for rows, and go on failing.
    fn assert_no_room_for_rows(&self) {
        for number in 0..2000 {
            let answer = self.issue(&format!("issue {number}"));
            if answer.status != 201 {
                assert!(matches!(answer.status, 503 | 507), "{}", answer.text());
                let again = self.issue("one more").status;
                assert!(matches!(again, 503 | 507), "{again}");
                return;
            }
        }
        panic!("the disk is never full");
    }

    /// Asserts that everything can be written again, and that stored data is complete.
    fn assert_works(&self, branch: &str) {
        let since = std::time::Instant::now();
        while self.issue("after").status != 201 {
            assert!(since.elapsed().as_secs() < 15, "{}", self.issue("after").text());
        }
        self.upload().expect(201);
        self.artifacts().expect(201);
        let pushed = self.push(branch);
        assert!(pushed.status.success(), "{}", String::from_utf8_lossy(&pushed.stderr));
        self.runner.end(&self.build, "success");
        Servers::new(&[self.server.address], &self.data).auditor().assert_counts(SHIP);
        self.tree.assert_sound_at(&self.url());
    }
}
