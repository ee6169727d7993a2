//! Changes that the program acknowledged survive a kill.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::program::{self, Program, ROOT};

const REQUESTS: usize = 1000;
/// The program is killed after this number of acknowledged requests, while more are running.
const BEFORE_THE_END: usize = 150;

#[test]
fn users_acknowledged_before_a_kill_are_there_after_the_restart_on_sqlite() {
    acknowledged_users_survive_a_kill(&TestDatabase::sqlite());
}

#[test]
fn users_acknowledged_before_a_kill_are_there_after_the_restart_on_postgres() {
    if let Some(database) = TestDatabase::postgres() {
        acknowledged_users_survive_a_kill(&database);
    }
}

fn acknowledged_users_survive_a_kill(database: &TestDatabase) {
    let program = program::executable();
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let mut server = Program::start(&program, folder.path(), &database.url).expect("it serves");
    let acknowledged = create_users_until_killed(&mut server);
    assert!(acknowledged.len() >= BEFORE_THE_END, "{}", acknowledged.len());
    assert!(acknowledged.len() < REQUESTS, "the end came in the middle");

    let server = Program::start(&program, folder.path(), &database.url).expect("it serves again");
    for name in &acknowledged {
        let found = server.request("GET", &format!("/users?username={name}")).token(ROOT).send();
        let found = found.expect(200);
        assert_eq!(found.as_array().map(Vec::len), Some(1), "{name}: {found}");
        // A user who can sign in by name is complete: with namespace, address and password.
        assert_eq!(found[0]["email"], format!("{name}@example.com"));
    }
    let name = acknowledged.last().expect("some were acknowledged");
    let form = [("login", name.as_str()), ("password", "correct horse")];
    server.request("POST", "/session").form(&form).send().expect(201);
    // A user that was not acknowledged exists completely or not at all: creating it succeeds or conflicts.
    for number in 0..REQUESTS {
        let again = create(&server, number).try_send().expect("the server lives").status;
        let known = acknowledged.contains(&name_of(number));
        assert!(again == 409 || (again == 201 && !known), "user {number}: {again}");
        if number % 50 == 49 {
            break;
        }
    }
}

fn create_users_until_killed(server: &mut Program) -> Vec<String> {
    let acknowledged = Mutex::new(Vec::new());
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for number in 0..REQUESTS {
            let request = create(server, number);
            let (acknowledged, done) = (&acknowledged, &done);
            scope.spawn(move || {
                if request.try_send().is_some_and(|response| response.status == 201) {
                    acknowledged.lock().expect("no thread panics").push(name_of(number));
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        while done.load(Ordering::Relaxed) < BEFORE_THE_END {
            std::thread::sleep(Duration::from_millis(5));
        }
        server.kill().expect("a running process can be killed");
    });
    acknowledged.into_inner().expect("no thread panics")
}

fn create(server: &Program, number: usize) -> hexforge_tests::Request {
    let name = name_of(number);
    server.request("POST", "/users").token(ROOT).form(&[
        ("username", &name),
        ("name", &name),
        ("email", &format!("{name}@example.com")),
        ("password", "correct horse"),
    ])
}

fn name_of(number: usize) -> String {
    format!("user-{number}")
}
