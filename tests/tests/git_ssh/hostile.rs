//! Clients that send nothing or too much, or disconnect.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hexforge_domain::limiter::TransferLimits;
use hexforge_ssh_russh::Limits;
use hexforge_tests::ssh_client::{Identity, output_of};
use hexforge_tests::{Backend, Forge, Restrictions, on_every_store};

use super::support::Scene;

on_every_store!(clients_that_go_away_leave_nothing, protocol_errors_are_reported);

/// The numbers of permits for fetches and for pushes.
const ALL_PERMITS: (usize, usize) = (96, 32);

fn forge() -> Forge {
    let dialect = hexforge_http_actix::Dialect::Specification;
    let options = hexforge_tests::ForgeOptions { backend: Backend::Sqlite, dialect };
    Forge::start(options).expect("SQLite is there")
}

/// A server that disconnects clients that hold a permit and are idle for four seconds. On a busy machine one second
/// would not be enough.
fn forge_with_short_timeouts() -> Forge {
    let dialect = hexforge_http_actix::Dialect::Specification;
    let options = hexforge_tests::ForgeOptions { backend: Backend::Sqlite, dialect };
    let transfer = TransferLimits { idle: Duration::from_secs(4), ..TransferLimits::default() };
    let restrictions = Restrictions { transfer, ..Restrictions::default() };
    Forge::start_restricted(options, restrictions).expect("SQLite is there")
}

fn short_limits() -> Limits {
    let second = Duration::from_secs(1);
    Limits { sign_in: second, idle: second, piece: second, ..Limits::default() }
}

/// Reads until the server closes the connection. Returns the number of bytes and the time.
fn read_until_closed(mut stream: TcpStream) -> (usize, Duration) {
    let begin = Instant::now();
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket has a time-out");
    let mut all = Vec::new();
    match stream.read_to_end(&mut all) {
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {}
        Err(error) => panic!("it is not closed: {error}"),
    }
    (all.len(), begin.elapsed())
}

fn connect(server: SocketAddr) -> TcpStream {
    TcpStream::connect(server).expect("the server listens")
}

/// Security lessons: exhaustion by handshakes.
#[test]
fn handshakes_have_a_deadline() {
    let forge = forge();
    let server = forge.ssh_within(short_limits());
    for opening in [&b""[..], b"SSH-2.0-x\r\n", b"SSH-2.0-", b"SSH-2.0-x\r\n\0\0\0\x0c"] {
        let mut stream = connect(server);
        stream.write_all(opening).expect("it reads");
        let (_, took) = read_until_closed(stream);
        assert!(took < Duration::from_secs(20), "{opening:?} took {took:?}");
    }
}

#[test]
fn invalid_handshakes_end_at_once() {
    let forge = forge();
    // None of these connections has to wait for the deadline.
    let server = forge.ssh();
    let oversized = [b"SSH-2.0-x\r\n\xff\xff\xff\xff\x04".to_vec(), vec![b'x'; 100_000]].concat();
    let http = b"GET / HTTP/1.1\r\n\r\n".repeat(5_000);
    for opening in [oversized, http, vec![b'x'; 1_000_000]] {
        let mut stream = connect(server);
        // The server may close the connection before everything is sent.
        let _ = stream.write_all(&opening);
        let (_, took) = read_until_closed(stream);
        assert!(took < Duration::from_secs(10), "{took:?}");
    }
}

#[test]
fn connections_of_one_address_are_counted() {
    let forge = forge();
    let server = forge.ssh_within(Limits { per_address: 3, ..Limits::default() });
    let greeted = || {
        let mut stream = connect(server);
        let mut first = [0; 4];
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket has a time-out");
        stream.read_exact(&mut first).is_ok().then_some(stream)
    };
    let mut open: Vec<_> = (0..3).map(|_| greeted().expect("there is room")).collect();
    assert!(greeted().is_none(), "three are there");
    open.pop();
    let again = (0..100).find_map(|_| {
        std::thread::sleep(Duration::from_millis(20));
        greeted()
    });
    assert!(again.is_some(), "there is room again");
}

#[test]
fn keys_cannot_be_tried_for_ever() {
    let forge = forge();
    let server = forge.ssh();
    let keys: Vec<Identity> = (0..12).map(|_| Identity::new()).collect();
    let files: Vec<String> =
        keys.iter().map(|key| key.path().join("key").display().to_string()).collect();
    let more: Vec<&str> = files.iter().flat_map(|file| ["-i", file.as_str()]).collect();
    let (status, _, err) = output_of(keys[0].ssh(server, &more, &[]));
    assert_eq!(status, Some(255));
    assert!(err.contains("Too many authentication"), "{err}");
}

#[test]
fn idle_connections_are_closed() {
    let forge = forge();
    let scene = Scene::on(&forge, forge.ssh_within(short_limits()));
    let begin = Instant::now();
    let (status, _, _) = output_of(scene.key.ssh(scene.ssh, &["-N"], &[]));
    assert_eq!(status, Some(255));
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
}

/// Starts a command on the server. The test controls its input and output.
fn start_command(scene: &Scene, command: &str) -> Child {
    let mut ssh: Command = scene.key.ssh(scene.ssh, &[], &[command]);
    ssh.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    ssh.spawn().expect("ssh can be started")
}

fn packet(line: &str) -> String {
    format!("{:04x}{line}", line.len() + 4)
}

/// Waits until all permits are free.
#[track_caller]
fn assert_all_permits_free(forge: &Forge) {
    for _ in 0..400 {
        let (fetches, pushes) = forge.free_permits();
        if (fetches, pushes) == ALL_PERMITS {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("turns are still taken: {:?}", forge.free_permits());
}

/// The server disconnects a client that does not read, so that its permit becomes free.
#[test]
fn slow_readers_are_disconnected() {
    const SIZE: usize = 24 << 20;
    let forge = forge_with_short_timeouts();
    // The push uses a server with longer timeouts, because a busy machine may need more than a second for it.
    let mut scene = Scene::new(&forge);
    let mut state = 1_u64;
    let noise: Vec<u8> = (0..SIZE)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .collect();
    let tip = scene.tree.write("noise", noise).commit("Noise\n");
    scene.git(&["push", "-q", &scene.address(), "master"]).ok();
    scene.ssh = forge.ssh_within(short_limits());
    let mut child = start_command(&scene, "git-upload-pack 'ada/ship.git'");
    let mut stdin = child.stdin.take().expect("it is ours");
    let wish = format!("{}0000{}", packet(&format!("want {tip} ofs-delta\n")), packet("done\n"));
    stdin.write_all(wish.as_bytes()).expect("it reads");
    // A client that reads one byte at a time, and one that reads nothing.
    let mut stdout = child.stdout.take().expect("it is ours");
    let mut byte = [0];
    for _ in 0..4 {
        stdout.read_exact(&mut byte).expect("it says something");
        std::thread::sleep(Duration::from_millis(500));
    }
    assert_all_permits_free(&forge);
    drop(stdin);
    let mut rest = Vec::new();
    stdout.read_to_end(&mut rest).expect("a pipe can be read");
    assert!(rest.len() < SIZE / 2, "{} bytes were on their way", rest.len());
    assert!(!child.wait().expect("it ends").success());
}

fn clients_that_go_away_leave_nothing(forge: &Forge) {
    let scene = Scene::filled(forge);
    let tip = scene.tree.git(&["rev-parse", "HEAD"]);
    // The client disconnects during the negotiation, and during the pack.
    let zero = "0".repeat(40);
    let push = format!("{zero} {tip} refs/heads/x\0report-status");
    for (command, said) in [
        ("git-upload-pack 'ada/ship.git'", packet(&format!("want {tip}\n"))),
        (
            "git-receive-pack 'ada/ship.git'",
            format!("{}0000PACK\0\0\0\u{2}\0\0\0\u{9}", packet(&push)),
        ),
    ] {
        let mut child = start_command(&scene, command);
        let mut stdin = child.stdin.take().expect("it is ours");
        stdin.write_all(said.as_bytes()).expect("it reads");
        stdin.flush().expect("it reads");
        let mut first = [0; 100];
        child.stdout.as_mut().expect("it is ours").read_exact(&mut first).expect("it talks");
        std::thread::sleep(Duration::from_millis(300));
        assert_ne!(forge.free_permits(), ALL_PERMITS, "{command} is at work");
        child.kill().expect("a running process can be killed");
        child.wait().expect("a killed process ends");
        assert_all_permits_free(forge);
    }
    assert_eq!(forge.scratch_packs(), 0);
    assert!(!scene.git(&["ls-remote", &scene.address()]).ok().contains("refs/heads/x"));
}

fn protocol_errors_are_reported(forge: &Forge) {
    let scene = Scene::filled(forge);
    for (command, line, text) in [
        ("git-receive-pack 'ada/ship.git'", "zzzz", "a packet has no valid length"),
        ("git-receive-pack 'ada/ship.git'", "0009hello", "a command is malformed"),
        ("git-upload-pack 'ada/ship.git'", "0009hello", "unexpected line"),
    ] {
        let mut child = start_command(&scene, command);
        child.stdin.take().expect("it is ours").write_all(line.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(128), "{command} {line}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(text), "{stderr}");
    }
    // Objects that the server did not advertise.
    let mut child = start_command(&scene, "git-upload-pack 'ada/ship.git'");
    let wish = packet(&format!("want {}\n", "1".repeat(40)));
    let wish = format!("{wish}0000{}", packet("done\n"));
    child.stdin.take().expect("it is ours").write_all(wish.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(128));
    assert!(String::from_utf8_lossy(&output.stdout).contains("ERR upload-pack: not our ref"));
}
