//! Start and stop of the SSH server.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::WorkTree;
use hexforge_tests::program::{self, Program, ROOT, url_with_password};
use hexforge_tests::ssh_client::Identity;

/// A running push is finished, and new commands are refused.
#[test]
fn a_push_that_runs_is_finished_before_the_program_ends() {
    let database = TestDatabase::sqlite();
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let mut server = Program::start_with_ssh(&program::executable(), folder.path(), &database.url)
        .expect("the program serves");
    let ssh = server.ssh.expect("it serves SSH");
    let key = Identity::new();
    let fields = [("title", "laptop"), ("key", &key.public())];
    server.request("POST", "/user/keys").token(ROOT).form(&fields).send().expect(201);
    let fields = [("name", "ship")];
    server.request("POST", "/projects").token(ROOT).form(&fields).send().expect(201);
    let tree = WorkTree::new(&folder.path().join("unused.git"));
    let tip = tree.write("README", "hello\n").commit("Begin\n");

    let mut push = key.ssh(ssh, &[], &["git-receive-pack 'root/ship.git'"]);
    let mut push = push.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut stdin = push.stdin.take().expect("it is ours");
    let mut stdout = push.stdout.take().expect("it is ours");
    let mut first = [0; 20];
    stdout.read_exact(&mut first).expect("the refs are advertised");
    let line = format!("{} {tip} refs/heads/master\0report-status", "0".repeat(40));
    write!(stdin, "{:04x}{line}0000", line.len() + 4).expect("it reads");
    stdin.flush().expect("it reads");
    std::thread::sleep(Duration::from_millis(500));

    let pid = server.pid().to_string();
    Command::new("kill").args(["-TERM", &pid]).status().expect("kill can be started");
    std::thread::sleep(Duration::from_millis(500));
    assert!(TcpStream::connect(ssh).is_err(), "new connections are refused");

    std::fs::write(tree.path().join(".git/list"), format!("{tip}\n")).expect("it can be written");
    let list = std::fs::File::open(tree.path().join(".git/list")).expect("it was written");
    let mut pack = tree.command(&["pack-objects", "--revs", "--stdout", "-q"]);
    let pack = pack.stdin(list).output().expect("git can be started").stdout;
    stdin.write_all(&pack).expect("it reads");
    stdin.flush().expect("it reads");
    let mut told = String::new();
    stdout.read_to_string(&mut told).expect("it is text");
    assert!(told.contains("unpack ok") && told.contains("ok refs/heads/master"), "{told}");
    drop(stdin);
    assert!(push.wait().expect("it ends").success());
    assert!(server.wait().expect("it ends").success());

    let server =
        Program::start(&program::executable(), folder.path(), &database.url).expect("again");
    let branch = server.request("GET", "/projects/1/repository/branches/master").token(ROOT);
    assert_eq!(branch.send().expect(200)["commit"]["id"], tip);
}

#[test]
fn a_port_that_is_taken_stops_the_start() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let taken = taken.local_addr().map(|address| (taken, address)).expect("it has an address");
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let database = TestDatabase::sqlite();
    let output = Command::new(program::executable())
        .env("HEXFORGE_DATA_DIR", folder.path().join("data"))
        .env("HEXFORGE_DATABASE_URL", url_with_password(&database.url))
        .env("HEXFORGE_LISTEN", "127.0.0.1:0")
        .env("HEXFORGE_SSH_LISTEN", taken.1.to_string())
        .output()
        .expect("the program can be started");
    assert_eq!(output.status.code(), Some(1));
    let sentence = format!("hexforge: the address {} (ssh_listen) cannot be served", taken.1);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.starts_with(&sentence), "{stderr}");
}
