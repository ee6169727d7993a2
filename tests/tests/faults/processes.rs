//! Two processes on one PostgreSQL and one data folder, with requests in turn.
//!
//! `HEXFORGE_TEST_FAULT_STEPS` sets the number of acknowledged steps before one process is killed; the default is 30.

use std::process::Stdio;
use std::time::Duration;

use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::program::{self, Program, ROOT};
use hexforge_tests::random::number_from_env;
use hexforge_tests::{Receiver, WorkTree};

use super::kills::{World, serve};
use super::worker::{SHIP, Servers, id_of};

#[test]
fn two_processes_serve_as_one_and_the_end_of_one_loses_nothing() {
    let Some(database) = TestDatabase::postgres() else { return };
    let steps = number_from_env("HEXFORGE_TEST_FAULT_STEPS").unwrap_or(30);
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let receiver = Receiver::new();
    let (mut one, two) = (serve(folder.path(), &database.url), serve(folder.path(), &database.url));
    let both = [one.address, two.address];
    let servers = Servers::new(&both, folder.path());
    let mut world = World::prepare(&servers, &receiver);
    world.work(&servers, steps, Duration::ZERO, || ());
    world.check(&servers);
    // One process is killed under load. The other one goes on.
    world.work(&servers, steps, Duration::from_millis(20), || program::kill_now(one.pid()));
    let survivor = [two.address];
    let servers = Servers::new(&survivor, folder.path());
    world.check(&servers);
    world.work(&servers, steps / 2, Duration::ZERO, || ());
    one.kill().expect("a process that ended can be waited for");
    let one = serve(folder.path(), &database.url);
    let both = [one.address, two.address];
    let servers = Servers::new(&both, folder.path());
    world.work(&servers, steps / 2, Duration::ZERO, || ());
    world.check(&servers);
    world.check_all(&servers);
    world.assert_delivered(&servers, &receiver);
}

/// Two processes, and a project with a repository.
struct Pair {
    one: Program,
    two: Program,
    _folder: tempfile::TempDir,
    tree: WorkTree,
}

impl Pair {
    fn start(database: &TestDatabase) -> Self {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let (one, two) = (serve(folder.path(), &database.url), serve(folder.path(), &database.url));
        let form = [("name", "ship"), ("public", "true")];
        one.request("POST", "/projects").token(ROOT).form(&form).send().expect(201);
        let tree = WorkTree::new(&folder.path().join("unused.git"));
        tree.write("README", "hello\n").commit("Begin\n");
        let pair = Self { one, two, _folder: folder, tree };
        assert!(pair.push(&pair.one, "HEAD:refs/heads/master"));
        pair
    }

    fn url(server: &Program) -> String {
        format!("http://root:{ROOT}@{}/root/ship.git", server.address)
    }

    fn push(&self, server: &Program, change: &str) -> bool {
        let mut push = self.tree.command(&["push", "-q", &Self::url(server), change]);
        push.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    }

    /// Creates different commits on top of the first one.
    fn commits(&self, count: usize) -> Vec<String> {
        let make = |number: usize| {
            let message = format!("Number {number}");
            self.tree.git(&["commit-tree", "-p", "HEAD", "-m", &message, "HEAD^{tree}"])
        };
        (0..count).map(make).collect()
    }

    /// Pushes concurrently, half to each process. Returns which pushes succeeded.
    fn push_at_once(&self, changes: &[String]) -> Vec<bool> {
        let servers = [&self.one, &self.two];
        let pushes = changes.iter().enumerate().map(|(number, change)| {
            let url = Self::url(servers[number % 2]);
            let mut push = self.tree.command(&["push", "-q", &url, change]);
            push.stderr(Stdio::null()).spawn().expect("git can be started")
        });
        let pushes: Vec<_> = pushes.collect();
        let ended = pushes.into_iter().map(|mut push| push.wait());
        ended.map(|status| status.is_ok_and(|status| status.success())).collect()
    }
}

#[test]
fn of_pushes_to_two_processes_at_once_each_branch_gets_one() {
    let Some(database) = TestDatabase::postgres() else { return };
    let pair = Pair::start(&database);
    let commits = pair.commits(8);
    let to = |name: fn(usize) -> String| -> Vec<String> {
        let named = commits.iter().enumerate();
        named.map(|(number, commit)| format!("{commit}:refs/heads/{}", name(number))).collect()
    };
    let all = pair.push_at_once(&to(|number| format!("own-{number}")));
    assert!(all.iter().all(|taken| *taken), "{all:?}");
    let one = pair.push_at_once(&to(|_| "shared".to_owned()));
    let taken: Vec<usize> = (0..8).filter(|number| one[*number]).collect();
    assert_eq!(taken.len(), 1, "{one:?}");
    let found = pair.tree.refs_at(&Pair::url(&pair.one));
    assert_eq!(found.get("refs/heads/shared"), Some(&commits[taken[0]]));
    for (number, commit) in commits.iter().enumerate() {
        assert_eq!(found.get(&format!("refs/heads/own-{number}")), Some(commit));
    }
    pair.tree.assert_sound_at(&Pair::url(&pair.two));
    for server in [&pair.one, &pair.two] {
        let path = format!("/projects/{SHIP}/repository/branches");
        let branches = server.request("GET", &path).token(ROOT).send().expect(200);
        assert_eq!(branches.as_array().map(Vec::len), Some(10), "{branches}");
    }
}

/// Whatever a process caches, it shows the changes of the other process.
#[test]
fn each_process_shows_changes_of_the_other_at_once() {
    let Some(database) = TestDatabase::postgres() else { return };
    let pair = Pair::start(&database);
    branches_and_commits(&pair);
    rights(&pair);
    totals(&pair);
}

fn branches_and_commits(pair: &Pair) {
    let repository = format!("/projects/{SHIP}/repository");
    // More pushes than it takes until packs are merged, by either process.
    let commits = pair.commits(28);
    for (number, commit) in commits.iter().enumerate() {
        let (to, other) =
            if number % 3 == 0 { (&pair.two, &pair.one) } else { (&pair.one, &pair.two) };
        assert!(pair.push(to, &format!("+{commit}:refs/heads/moving")));
        let seen =
            other.request("GET", &format!("{repository}/branches/moving")).token(ROOT).send();
        assert_eq!(seen.expect(200)["commit"]["id"], *commit, "push {number}");
    }
    for server in [&pair.one, &pair.two] {
        for commit in &commits {
            let path = format!("{repository}/blobs/{commit}?filepath=README");
            let blob = server.request("GET", &path).token(ROOT).send();
            assert_eq!((blob.status, blob.text()), (200, "hello\n"), "{commit}");
        }
        let contributors = server.request("GET", &format!("{repository}/contributors"));
        assert_eq!(contributors.token(ROOT).send().expect(200)[0]["commits"], 1);
    }
    for (here, there) in [(&pair.one, &pair.two), (&pair.two, &pair.one)] {
        let branch = format!("{repository}/branches/short-lived");
        let form = [("branch_name", "short-lived"), ("ref", "master")];
        let branches = format!("{repository}/branches");
        there.request("GET", &branch).token(ROOT).send().expect(404);
        here.request("POST", &branches).token(ROOT).form(&form).send().expect(200);
        there.request("GET", &branch).token(ROOT).send().expect(200);
        here.request("PUT", &format!("{branch}/protect")).token(ROOT).send().expect(200);
        assert_eq!(there.request("GET", &branch).token(ROOT).send().expect(200)["protected"], true);
        here.request("PUT", &format!("{branch}/unprotect")).token(ROOT).send().expect(200);
        there.request("DELETE", &branch).token(ROOT).send().expect(200);
        here.request("GET", &branch).token(ROOT).send().expect(404);
    }
    pair.tree.assert_sound_at(&Pair::url(&pair.one));
}

fn rights(pair: &Pair) {
    let (one, two) = (&pair.one, &pair.two);
    let form = [
        ("username", "ada"),
        ("name", "Ada"),
        ("email", "ada@example.com"),
        ("password", "correct horse"),
    ];
    let ada = id_of(&one.request("POST", "/users").token(ROOT).form(&form).send().expect(201));
    let form = [("login", "ada"), ("password", "correct horse")];
    let sign_in = |server: &Program| {
        let session = server.request("POST", "/session").form(&form).send().expect(201);
        session["private_token"].as_str().expect("a token").to_owned()
    };
    let token = sign_in(two);
    let form = [("name", "secret")];
    let secret = one.request("POST", "/projects").token(ROOT).form(&form).send().expect(201);
    let secret = format!("/projects/{}", id_of(&secret));
    let look = |server: &Program, status: u16| {
        server.request("GET", &secret).token(&token).send().expect(status);
    };
    look(two, 404);
    let form = [("user_id", ada.to_string()), ("access_level", "30".to_owned())];
    let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
    let members = format!("{secret}/members");
    one.request("POST", &members).token(ROOT).form(&form).send().expect(201);
    look(two, 200);
    let member = format!("{members}/{ada}");
    two.request("DELETE", &member).token(ROOT).send().expect(200);
    look(one, 404);
    one.request("PUT", &format!("/users/{ada}/block")).token(ROOT).send().expect(200);
    look(two, 401);
    two.request("PUT", &format!("/users/{ada}/unblock")).token(ROOT).send().expect(200);
    // The block has ended the session in both processes.
    look(one, 401);
    let token = sign_in(one);
    two.request("GET", &secret).token(&token).send().expect(404);
}

/// Lists that are long enough for their totals to be cached.
fn totals(pair: &Pair) {
    let total = |server: &Program, path: &str| -> usize {
        let list = server.request("GET", path).token(ROOT).send();
        list.header("x-total").and_then(|total| total.parse().ok()).expect("lists have totals")
    };
    let make = |server: &Program, name: &str| {
        server.request("POST", "/projects").token(ROOT).form(&[("name", name)]).send().expect(201);
    };
    for number in 0..105 {
        make(if number % 2 == 0 { &pair.one } else { &pair.two }, &format!("many-{number}"));
    }
    for path in ["/projects/all", "/projects/owned", "/projects?search=many"] {
        let before = total(&pair.two, path);
        assert!(before > 100, "{path}: {before}");
        assert_eq!(total(&pair.one, path), before, "{path}");
        let name = format!("many-more-{}", path.len());
        make(&pair.one, &name);
        assert_eq!(total(&pair.two, path), before + 1, "{path}");
        let project = format!("/projects/root%2F{name}");
        pair.two.request("DELETE", &project).token(ROOT).send().expect(200);
        assert_eq!(total(&pair.one, path), before, "{path}");
    }
}
