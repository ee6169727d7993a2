//! Git LFS with the real client, over HTTP and SSH, against the program.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::Command;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hexforge_domain::id::UserId;
use hexforge_domain::limiter::Caller;
use hexforge_http_actix::Dialect;
use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_ssh_russh::Limits;
use hexforge_tests::program::{self, Program, ROOT, url_with_password};
use hexforge_tests::ssh_client::Identity;
use hexforge_tests::{Backend, Forge, ForgeOptions, WorkTree};

use super::access::basic;
use super::lfs::oid_of;
use super::support::Scene;

#[test]
fn the_client_transfers_over_http_on_sqlite() {
    transfer(&TestDatabase::sqlite(), Way::Http);
}

#[test]
fn the_client_transfers_over_ssh_on_sqlite() {
    transfer(&TestDatabase::sqlite(), Way::Ssh);
}

#[test]
fn the_client_transfers_over_http_on_postgres() {
    if let Some(database) = TestDatabase::postgres() {
        transfer(&database, Way::Http);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Http,
    Ssh,
}

/// A server with a user of the client.
struct World {
    server: Program,
    ssh: SocketAddr,
    key: Identity,
    folder: tempfile::TempDir,
    tree: WorkTree,
}

impl World {
    fn new(database: &TestDatabase) -> Self {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let data = folder.path().join("data");
        let server = Program::start_with_ssh(&program::executable(), &data, &database.url)
            .expect("the program serves");
        let ssh = server.ssh.expect("it serves SSH");
        let key = Identity::new();
        let fields = [("title", "laptop"), ("key", &key.public())];
        server.request("POST", "/user/keys").token(ROOT).form(&fields).send().expect(201);
        let tree = WorkTree::new(&folder.path().join("unused.git"));
        Self { server, ssh, key, folder, tree }
    }

    fn project(&self, name: &str) -> i64 {
        let fields = [("name", name), ("visibility_level", "0")];
        let made = self.server.request("POST", "/projects").token(ROOT).form(&fields).send();
        made.expect(201)["id"].as_i64().expect("projects have ids")
    }

    fn address(&self, way: Way, path: &str) -> String {
        match way {
            Way::Http => format!("http://root:{ROOT}@{}/{path}.git", self.server.address),
            Way::Ssh => format!("ssh://git@{}/{path}.git", self.ssh),
        }
    }

    /// A command of git with the filters of LFS.
    fn git(&self, key: &Identity, arguments: &[&str]) -> Command {
        let mut command = self.tree.command(arguments);
        let settings = [
            ("gc.auto", "0"),
            ("filter.lfs.clean", "git-lfs clean -- %f"),
            ("filter.lfs.smudge", "git-lfs smudge -- %f"),
            ("filter.lfs.process", "git-lfs filter-process"),
            ("filter.lfs.required", "true"),
        ];
        command.env("GIT_CONFIG_COUNT", settings.len().to_string());
        for (at, (name, value)) in settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{at}"), name);
            command.env(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        command.env("GIT_SSH_COMMAND", key.git_ssh_command(self.ssh));
        command.env("GIT_TERMINAL_PROMPT", "0");
        command
    }

    #[track_caller]
    fn ok(&self, arguments: &[&str]) {
        let output = self.git(&self.key, arguments).output().expect("git can be started");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {said}");
    }

    /// Clones a project, and returns the folder.
    #[track_caller]
    fn clone(&self, address: &str, name: &str) -> PathBuf {
        let to = self.folder.path().join(name);
        self.ok(&["clone", "-q", address, &to.to_string_lossy()]);
        to
    }

    fn objects(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        collect(&self.folder.path().join("data/lfs"), &mut found);
        found.sort();
        found
    }
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => collect(&path, found),
            path => found.push(path),
        }
    }
}

fn contents() -> [Vec<u8>; 3] {
    let bytes = |length: u32, step: u32| (0..length).map(|at| (at * step % 251) as u8).collect();
    [bytes(3_000_000, 7), bytes(10, 3), bytes(200_000, 11)]
}

fn transfer(database: &TestDatabase, way: Way) {
    let world = World::new(database);
    let id = world.project("ship");
    let address = world.address(way, "root/ship");
    world.ok(&["lfs", "install", "--local"]);
    world.ok(&["lfs", "track", "*.bin"]);
    for (number, content) in contents().iter().enumerate() {
        world.tree.write(&format!("file-{number}.bin"), content);
    }
    world.tree.write("text", "no object\n");
    world.ok(&["add", "-A"]);
    world.ok(&["commit", "-q", "-m", "Begin"]);
    world.ok(&["push", "-q", &address, "master"]);
    let names: Vec<String> = world
        .objects()
        .iter()
        .map(|path| path.file_name().expect("a name").to_string_lossy().into_owned())
        .collect();
    let mut expected: Vec<String> = contents().iter().map(|content| oid_of(content)).collect();
    expected.sort();
    let mut sorted = names.clone();
    sorted.sort();
    assert_eq!(sorted, expected);

    let copy = world.clone(&address, "copy");
    for (number, content) in contents().iter().enumerate() {
        let found = std::fs::read(copy.join(format!("file-{number}.bin"))).expect("it is there");
        assert!(found == *content, "{number}");
    }
    // The API has the pointer, and so do archives.
    let raw = format!("/projects/{id}/repository/blobs/master?filepath=file-1.bin");
    let raw = world.server.request("GET", &raw).token(ROOT).send();
    assert!(raw.text().starts_with("version https://git-lfs.github.com/spec/v1\noid sha256:"));

    // A fork has the objects of its source.
    let group = [("name", "crew"), ("path", "crew")];
    world.server.request("POST", "/groups").token(ROOT).form(&group).send().expect(201);
    let fork = world.server.request("POST", &format!("/projects/fork/{id}")).token(ROOT);
    fork.form(&[("namespace", "crew")]).send().expect(201);
    let fork = world.clone(&world.address(way, "crew/ship"), "fork");
    assert!(std::fs::read(fork.join("file-0.bin")).expect("it is there") == contents()[0]);
    assert_eq!(world.objects().len(), 3);

    // A second push sends nothing again, and another project needs its own objects.
    world.ok(&["push", "-q", &address, "master:refs/heads/other"]);
    assert_eq!(world.objects().len(), 3);
    world.project("other");
    world.ok(&["push", "-q", &world.address(way, "root/other"), "master"]);
    assert_eq!(world.objects().len(), 6);
}

/// A deploy key downloads objects and never uploads them.
#[test]
fn a_deploy_key_downloads_objects() {
    let world = World::new(&TestDatabase::sqlite());
    let id = world.project("ship");
    let address = world.address(Way::Ssh, "root/ship");
    world.ok(&["lfs", "install", "--local"]);
    world.ok(&["lfs", "track", "*.bin"]);
    world.tree.write("file.bin", &contents()[2]);
    world.ok(&["add", "-A"]);
    world.ok(&["commit", "-q", "-m", "Begin"]);
    world.ok(&["push", "-q", &address, "master"]);
    let key = Identity::new();
    let fields = [("title", "build server"), ("key", &key.public())];
    let path = format!("/projects/{id}/deploy_keys");
    let made = world.server.request("POST", &path).token(ROOT).form(&fields).send().expect(201);
    let to = world.folder.path().join("deployed");
    let mut clone = world.git(&key, &["clone", "-q", &address, &to.to_string_lossy()]);
    assert!(clone.status().expect("git can be started").success());
    assert!(std::fs::read(to.join("file.bin")).expect("it is there") == contents()[2]);
    let (status, out, err) = key.run(world.ssh, "git-lfs-authenticate root/ship.git upload");
    assert_eq!((status, out.as_str()), (Some(1), ""));
    assert_eq!(err, "Deploy keys are not allowed to push code.\n");
    // A token of a key that was disabled stops working.
    let (status, out, _) = key.run(world.ssh, "git-lfs-authenticate root/ship.git download");
    assert_eq!(status, Some(0));
    let login: serde_json::Value = serde_json::from_str(&out).expect("one JSON object");
    assert_eq!(login["expires_in"], 1800);
    let href = format!("http://{}/root/ship.git/info/lfs", world.server.address);
    assert_eq!(login["href"], href);
    let header = login["header"]["Authorization"].as_str().expect("credentials").to_owned();
    let batch = || {
        let request = world.server.page("POST", "/root/ship.git/info/lfs/objects/batch");
        let body = super::lfs::batch_of("download", &[&contents()[2]]);
        request.header("Authorization", &header).body(body.to_string()).send().status
    };
    assert_eq!(batch(), 200);
    let path = format!("/projects/{id}/deploy_keys/{}", made["id"]);
    world.server.request("DELETE", &path).token(ROOT).send().expect(200);
    assert_eq!(batch(), 401);
    let (status, ..) = key.run(world.ssh, "git-lfs-authenticate root/ship.git download");
    assert_eq!(status, Some(255), "the key is not known any more");
}

/// 16.4: a refusal is text on standard error and a failing exit status.
#[test]
fn authentication_over_ssh_is_refused_with_a_text() {
    let world = World::new(&TestDatabase::sqlite());
    world.project("ship");
    let eve = Identity::new();
    let fields = [
        ("username", "eve"),
        ("name", "Eve"),
        ("email", "eve@example.com"),
        ("password", "correct horse"),
    ];
    let made = world.server.request("POST", "/users").token(ROOT).form(&fields).send().expect(201);
    let path = format!("/users/{}/keys", made["id"]);
    let fields = [("title", "laptop"), ("key", &eve.public())];
    world.server.request("POST", &path).token(ROOT).form(&fields).send().expect(201);
    let hidden = "The project you were looking for could not be found.\n";
    for path in ["root/ship.git", "/root/missing.git"] {
        for operation in ["download", "upload"] {
            let command = format!("git-lfs-authenticate {path} {operation}");
            let (status, out, err) = eve.run(world.ssh, &command);
            assert_eq!((status, out.as_str(), err.as_str()), (Some(1), "", hidden), "{command}");
        }
    }
    let (status, _, err) = world.key.run(world.ssh, "git-lfs-authenticate root/ship.git verify");
    assert_eq!(status, Some(1));
    assert!(err.starts_with("Only git-upload-pack"), "{err}");
}

/// `git-lfs-authenticate` needs a permit for commands over SSH, as git commands do.
#[test]
fn authentication_over_ssh_needs_a_permit() {
    let options = ForgeOptions { backend: Backend::Sqlite, dialect: Dialect::Specification };
    let forge = Forge::start(options).expect("SQLite is always there");
    let scene = Scene::new(&forge);
    let key = Identity::new();
    let fields = [("title", "laptop"), ("key", &key.public())];
    forge.post("/user/keys").token(&scene.ada).form(&fields).send().expect(201);
    let limits = Limits { permit_timeout: Duration::from_millis(300), ..Limits::default() };
    let ssh = forge.ssh_within(limits);
    let authenticate = || key.run(ssh, "git-lfs-authenticate ada/ship.git upload");
    assert_eq!(authenticate().0, Some(0));
    let ada = forge.get("/user").token(&scene.ada).send().expect(200);
    let ada = UserId(ada["id"].as_i64().expect("users have ids"));
    let caller = Caller::of_user(Some(ada), Some(Ipv4Addr::LOCALHOST.into()));
    let pool = &forge.limiter().ssh_commands;
    let mut held = Vec::new();
    let mut context = Context::from_waker(Waker::noop());
    while let Poll::Ready(permit) = pin!(pool.wait_for_permit(caller)).as_mut().poll(&mut context) {
        held.push(permit.expect("the queue is empty"));
    }
    assert_eq!(held.len(), 64, "the share of a user");
    let (status, out, err) = authenticate();
    assert_eq!((status, out.as_str()), (Some(1), ""));
    assert_eq!(err, "Too many clients are served at this moment. Please try again later.\n");
    drop(held);
    assert_eq!(authenticate().0, Some(0));
}

/// `hexforge doctor` compares the rows of LFS objects with their files.
#[test]
fn the_doctor_compares_objects_with_files() {
    for database in [Some(TestDatabase::sqlite()), TestDatabase::postgres()].into_iter().flatten() {
        let world = World::new(&database);
        let data = world.folder.path().join("data");
        let ids = ["ship", "boat"].map(|name| world.project(name));
        let put = |project: &str, content: &[u8]| {
            let (oid, size) = (oid_of(content), content.len());
            let target = format!("/root/{project}.git/gitlab-lfs/objects/{oid}/{size}");
            let request =
                world.server.page("PUT", &target).header("Authorization", &basic("root", ROOT));
            assert_eq!(request.body(content).send().status, 200);
        };
        for content in [&b"content"[..], b"other", b""] {
            put("ship", content);
        }
        put("boat", b"content");
        let look = |arguments: &[&str]| {
            let mut command = Command::new(program::executable());
            command.arg("doctor").args(arguments).env("HEXFORGE_DATA_DIR", &data);
            command.env("HEXFORGE_DATABASE_URL", url_with_password(&database.url));
            let output = command.output().expect("the program can be started");
            let lines = String::from_utf8_lossy(&output.stdout).into_owned();
            let about_lfs = lines.lines().filter(|line| line.contains("LFS objects: "));
            let about_lfs = about_lfs.map(|line| format!("{line}\n")).collect::<String>();
            (output.status.code(), about_lfs)
        };
        let whole = (Some(0), "ok     LFS objects: 4 objects, all whole\n".to_owned());
        assert_eq!((look(&[]), look(&["--deep"])), (whole.clone(), whole.clone()));
        let path = |project: i64, content: &[u8]| {
            let oid = oid_of(content);
            data.join(format!("lfs/{project}/{}/{oid}", &oid[..2]))
        };
        let fault = |project: i64, content: &[u8], what: &str| {
            let oid = oid_of(content);
            format!("wrong  LFS objects: {oid} of fork network {project}: its file {what}\n")
        };
        let write = |project, name: &[u8], content: &[u8]| {
            std::fs::write(path(project, name), content).expect("it can be written");
        };
        let [ship, boat] = ids;
        std::fs::remove_file(path(ship, b"other")).expect("it is there");
        write(boat, b"content", b"conten");
        let mut expected = [
            (ship, fault(ship, b"other", "is missing")),
            (boat, fault(boat, b"content", "has 6 bytes instead of 7")),
        ];
        expected.sort_by_key(|(network, _)| *network);
        let expected: String = expected.into_iter().map(|(_, line)| line).collect();
        assert_eq!(look(&[]), (Some(1), expected));
        put("ship", b"other");
        put("boat", b"content");
        assert_eq!(look(&[]), whole, "another upload repairs both");
        // Content of the same size is only compared with `--deep`.
        write(boat, b"content", b"CONTENT");
        assert_eq!(look(&[]), whole);
        let damaged = format!("is damaged: its SHA-256 is {}", oid_of(b"CONTENT"));
        assert_eq!(look(&["--deep"]), (Some(1), fault(boat, b"content", &damaged)));
        write(boat, b"content", b"content");
        // A file without a row is named, and is no fault.
        std::fs::create_dir_all(path(ship, b"stray").parent().expect("a folder")).expect("made");
        write(ship, b"stray", b"stray");
        std::fs::write(data.join("lfs/receiving/unfinished"), "x").expect("it can be written");
        let stray = format!(
            "ok     LFS objects: 4 objects, all whole; files that belong to no object: 1 \
             ({} of fork network {ship})\n",
            oid_of(b"stray")
        );
        assert_eq!(look(&["--deep"]), (Some(0), stray));
    }
}
