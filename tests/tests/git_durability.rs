//! Pushes that git reported as `ok` survive a kill of the program, with their events.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::WorkTree;
use hexforge_tests::program::{self, Program, ROOT};
use serde_json::Value;

const PUSHES: usize = 60;
/// The program is killed after this number of acknowledged pushes, while more are running.
const BEFORE_THE_END: usize = 12;

#[test]
fn pushes_acknowledged_before_a_kill_are_there_with_their_events_on_sqlite() {
    acknowledged_pushes_survive_a_kill(&TestDatabase::sqlite());
}

#[test]
fn pushes_acknowledged_before_a_kill_are_there_with_their_events_on_postgres() {
    if let Some(database) = TestDatabase::postgres() {
        acknowledged_pushes_survive_a_kill(&database);
    }
}

fn acknowledged_pushes_survive_a_kill(database: &TestDatabase) {
    let program = program::executable();
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let mut server = Program::start(&program, folder.path(), &database.url).expect("it serves");
    let fields = [("name", "ship")];
    server.request("POST", "/projects").token(ROOT).form(&fields).send().expect(201);
    let tree = WorkTree::new(&folder.path().join("unused.git"));
    tree.write("README", "hello\n").commit("Begin\n");
    assert!(push(&server, &tree, "master").status().expect("git can be started").success());
    tree.write("README", "hello again\n").commit("More\n");

    let acknowledged = push_until_killed(&mut server, &tree);
    assert!(acknowledged.len() >= BEFORE_THE_END, "{}", acknowledged.len());
    assert!(acknowledged.len() < PUSHES, "the end came in the middle");

    let server = Program::start(&program, folder.path(), &database.url).expect("it serves again");
    let branches =
        sorted_texts(&server, "/projects/1/repository/branches", |branch| &branch["name"]);
    for name in &acknowledged {
        assert!(branches.contains(name), "{name}");
    }
    // A branch exists exactly if there is one event of its creation.
    let told = sorted_texts(&server, "/projects/1/events", |event| &event["data"]["ref"]);
    let name = |full: &String| full.strip_prefix("refs/heads/").map(str::to_owned);
    assert_eq!(told.iter().filter_map(name).collect::<Vec<_>>(), branches);
}

/// A text of each item on all pages of a list, sorted.
fn sorted_texts(server: &Program, path: &str, of: fn(&Value) -> &Value) -> Vec<String> {
    let all = all_pages(server, path);
    let mut names: Vec<String> =
        all.iter().filter_map(|one| of(one).as_str()).map(str::to_owned).collect();
    names.sort_unstable();
    names
}

/// The items on all pages of a list.
fn all_pages(server: &Program, path: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for page in 1.. {
        let path = format!("{path}?per_page=100&page={page}");
        let list = server.request("GET", &path).token(ROOT).send().expect(200);
        let list = list.as_array().expect("a list").clone();
        if list.is_empty() {
            break;
        }
        all.extend(list);
    }
    all
}

fn push_until_killed(server: &mut Program, tree: &WorkTree) -> Vec<String> {
    let done = AtomicUsize::new(0);
    let name = |number: usize| format!("branch-{number}");
    std::thread::scope(|scope| {
        let pushes: Vec<_> = (0..4)
            .map(|lane| {
                let all = (lane..PUSHES).step_by(4);
                let all: Vec<_> = all.map(|n| (name(n), push(server, tree, &name(n)))).collect();
                let done = &done;
                scope.spawn(move || {
                    let mut acknowledged = Vec::new();
                    for (name, mut push) in all {
                        if push.status().is_ok_and(|status| status.success()) {
                            acknowledged.push(name);
                            done.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                    acknowledged
                })
            })
            .collect();
        while done.load(Ordering::Relaxed) < BEFORE_THE_END {
            std::thread::sleep(Duration::from_millis(2));
        }
        server.kill().expect("a running process can be killed");
        pushes.into_iter().flat_map(|push| push.join().expect("no thread panics")).collect()
    })
}

fn push(server: &Program, tree: &WorkTree, branch: &str) -> std::process::Command {
    let address = format!("http://root:{ROOT}@{}/root/ship.git", server.address);
    let mut push = tree.command(&["push", "-q", &address, &format!("HEAD:refs/heads/{branch}")]);
    push.env("GIT_TERMINAL_PROMPT", "0").stderr(std::process::Stdio::null());
    push
}
