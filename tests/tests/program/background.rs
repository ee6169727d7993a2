//! Background work: which processes run it, and how it stops with its process.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::{Duration, Instant};

use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::program::{self, Program, ROOT};

use crate::TestInstallation;

/// Longer than the pauses of the workers for hooks and imports.
const PAUSES: Duration = Duration::from_secs(4);
/// The timeout for events that happen much sooner.
const LONG: Duration = Duration::from_secs(60);

fn start(installation: &TestInstallation, background_work: &str) -> Program {
    let settings =
        [("HEXFORGE_ALLOW_LOCAL_REQUESTS", "true"), ("HEXFORGE_BACKGROUND_WORK", background_work)];
    let (folder, log) = (installation.data_dir(), Stdio::inherit());
    Program::start_with(&program::executable(), &folder, &installation.database.url, log, &settings)
        .expect("it serves")
}

#[test]
fn a_process_can_leave_hooks_and_imports_to_others() {
    let installation = TestInstallation::on(TestDatabase::sqlite());
    let far = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = far.local_addr().expect("it has an address");
    let answering = start(&installation, "false");
    let ask = |path: &str, form: &[(&str, &str)]| {
        answering.request("POST", path).token(ROOT).form(form).send().expect(201);
    };
    ask("/projects", &[("name", "ship")]);
    let url = format!("http://{address}/hook");
    ask("/projects/1/hooks", &[("url", &url), ("issues_events", "true")]);
    ask("/projects/1/issues", &[("title", "Leak")]);
    ask("/projects", &[("name", "site"), ("import_url", &format!("http://{address}/a.git"))]);
    far.set_nonblocking(true).expect("the socket is ours");
    let end = Instant::now() + PAUSES;
    while Instant::now() < end {
        assert!(far.accept().is_err(), "this process must leave hooks and imports to others");
        std::thread::sleep(Duration::from_millis(20));
    }
    let _working = start(&installation, "true");
    let end = Instant::now() + LONG;
    let mut asked = BTreeSet::new();
    while asked.len() < 2 {
        assert!(Instant::now() < end, "only these came: {asked:?}");
        match far.accept() {
            Ok((stream, _)) => asked.insert(first_word_and_path(stream)),
            Err(_) => {
                std::thread::sleep(Duration::from_millis(20));
                continue;
            }
        };
    }
    let expected = ["GET /a.git/info/refs?service=git-upload-pack", "POST /hook"];
    assert!(asked.iter().eq(expected), "{asked:?}");
}

/// Reads the method and target of a request, which gets no response.
fn first_word_and_path(stream: TcpStream) -> String {
    stream.set_nonblocking(false).expect("the socket is ours");
    stream.set_read_timeout(Some(LONG)).expect("the socket is ours");
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("a client sends its request");
    line.rsplit_once(' ').expect("a line of a request has three parts").0.to_owned()
}

#[test]
fn a_stop_does_not_wait_for_imports_and_they_begin_again() {
    let installation = TestInstallation::on(TestDatabase::sqlite());
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = silent.local_addr().expect("it has an address");
    let mut server = start(&installation, "true");
    let url = format!("http://{address}/a.git");
    let form = [("name", "site"), ("import_url", &*url)];
    server.request("POST", "/projects").token(ROOT).form(&form).send().expect(201);
    // A server that never answers.
    let _first = silent.accept().expect("the import begins");
    let asked = Instant::now();
    assert_eq!(server.stop().expect("it can be told to stop").code(), Some(0));
    assert!(asked.elapsed() < Duration::from_secs(25), "{:?}", asked.elapsed());

    let mut server = start(&installation, "true");
    let _second = silent.accept().expect("the import begins again");
    // A second signal stops the process at once. Signals are repeated, because the system merges two that arrive before
    // the process runs.
    let asked = Instant::now();
    while !server.has_ended().expect("the process can be asked") {
        server.send_stop_signal().expect("it can be told to stop");
        std::thread::sleep(Duration::from_millis(500));
    }
    assert!(asked.elapsed() < Duration::from_secs(9), "{:?}", asked.elapsed());
}
