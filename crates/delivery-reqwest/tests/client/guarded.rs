//! Targets that the guard refuses.

use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use hexforge_delivery_reqwest::{Guard, GuardedClient, Lookup};
use hexforge_domain::ports::outgoing::{
    Outgoing, OutgoingError, OutgoingMethod, OutgoingRequest, Redirects,
};

use crate::server::Server;

/// The only local address that these tests allow.
const FRIEND: &str = "127.0.0.2";

fn guard() -> Guard {
    Guard::public_only([]).allowing([address(FRIEND)])
}

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

/// A resolver with one answer per lookup. The last answer is repeated.
#[derive(Default)]
struct Names {
    answers: Mutex<Vec<Vec<IpAddr>>>,
    lookups: AtomicUsize,
}

impl Names {
    fn new(answers: &[&[&str]]) -> Arc<Self> {
        let answers = answers.iter().rev();
        let answers = answers.map(|all| all.iter().map(|text| address(text)).collect()).collect();
        Arc::new(Self { answers: Mutex::new(answers), lookups: AtomicUsize::new(0) })
    }

    fn lookups(&self) -> usize {
        self.lookups.load(Ordering::SeqCst)
    }
}

impl Lookup for Names {
    fn lookup(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        self.lookups.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.answers.lock().expect("no panic");
        match answers.len() {
            0 => Err(io::Error::other("no such name")),
            1 => Ok(answers[0].clone()),
            _ => Ok(answers.pop().expect("more than one")),
        }
    }
}

fn send(client: &GuardedClient, url: &str) -> Result<u16, OutgoingError> {
    let request = OutgoingRequest {
        redirects: Redirects::Checked,
        ..OutgoingRequest::new(OutgoingMethod::Get, url)
    };
    client.send(request).map(|response| response.status)
}

fn refused(result: Result<u16, OutgoingError>) -> bool {
    matches!(result, Err(OutgoingError::Refused(_)))
}

#[test]
fn no_notation_of_a_local_address_is_allowed() {
    let server = Server::answering("127.0.0.1", "200 OK", "secret");
    let client = GuardedClient::new(guard()).expect("a client");
    let port = server.address.port();
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0177.0.0.1",
        "0x7f.1",
        "0",
        "0.0.0.0",
        "127.0.0.1.",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[2002:7f00:1::]",
        "localhost",
        "localhost.",
        "LOCALHOST",
        "a.localhost",
        "①②⑦.0.0.1",
    ] {
        let sent = send(&client, &format!("http://{host}:{port}/"));
        assert!(refused(sent.clone()), "{host}: {sent:?}");
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_host_is_refused_for_any_of_its_addresses() {
    let server = Server::answering(FRIEND, "200 OK", "");
    let port = server.address.port();
    let why = |what: &str| {
        Err(OutgoingError::Refused(format!("`git.example` leads to {what}, which is not allowed")))
    };
    for (addresses, expected) in [
        (&[FRIEND][..], Ok(200)),
        (&["127.0.0.1"], why("this machine")),
        (&["10.0.0.1"], why("a private network")),
        (&["169.254.169.254"], why("a link-local address")),
        (&["::ffff:192.168.1.1"], why("a private network")),
        (&["fd00:ec2::254"], why("a private network")),
        // One refused address refuses the host, at any position.
        (&[FRIEND, "127.0.0.1"], why("this machine")),
        (&["127.0.0.1", FRIEND], why("this machine")),
    ] {
        let client =
            GuardedClient::with_lookup(guard(), Names::new(&[addresses])).expect("a client");
        let sent = send(&client, &format!("http://git.example:{port}/"));
        assert_eq!(sent, expected, "{addresses:?}");
    }
    assert_eq!(server.connections(), 1);
}

#[test]
fn a_host_is_resolved_once_for_each_connection() {
    let allowed = Server::answering(FRIEND, "200 OK", "");
    let names = Names::new(&[&[FRIEND], &["127.0.0.1"]]);
    let client = GuardedClient::with_lookup(guard(), names.clone()).expect("a client");
    let url = format!("http://rebind.example:{}/", allowed.address.port());
    // The client connects to the checked address, although another lookup would give a different one.
    assert_eq!(send(&client, &url), Ok(200));
    assert_eq!(names.lookups(), 1);
    // The next connection resolves and checks the host again.
    assert!(refused(send(&client, &url)));
    assert_eq!(names.lookups(), 2);
    assert_eq!(allowed.connections(), 1);
}

#[test]
fn every_hop_of_a_redirect_is_checked() {
    let inner = Server::answering("127.0.0.1", "200 OK", "secret");
    let port = inner.address.port();
    for location in [
        format!("http://127.0.0.1:{port}/"),
        format!("//127.0.0.1:{port}/"),
        format!("http://0x7f.1:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://inner.example:{port}/"),
        "file:///etc/passwd".to_owned(),
        "gopher://127.0.0.1/".to_owned(),
        "http://".to_owned(),
    ] {
        let outer = Server::new(FRIEND, move |_, to| {
            let _ = write!(
                to,
                "HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            );
        });
        let names = Names::new(&[&["127.0.0.1"]]);
        let client = GuardedClient::with_lookup(guard(), names).expect("a client");
        let sent = send(&client, &outer.url("/"));
        assert!(refused(sent.clone()), "{sent:?}");
        assert_eq!(outer.connections(), 1);
    }
    assert_eq!(inner.connections(), 0);
}

#[test]
fn a_post_is_checked_too() {
    let server = Server::answering("127.0.0.1", "200 OK", "");
    let client = GuardedClient::new(guard()).expect("a client");
    let sent = client.send(OutgoingRequest::new(OutgoingMethod::Post, server.url("/")));
    assert!(matches!(sent, Err(OutgoingError::Refused(_))));
    assert_eq!(server.connections(), 0);
}

#[test]
fn no_proxy_of_the_environment_is_used() {
    const CHILD: &str = "HEXFORGE_TEST_URL";
    let Ok(url) = std::env::var(CHILD) else {
        // The proxy is set by an environment variable, so the test runs in another process.
        let server = Server::answering(FRIEND, "200 OK", "");
        let proxy = Server::answering("127.0.0.1", "502 Bad Gateway", "");
        let test = std::process::Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "guarded::no_proxy_of_the_environment_is_used"])
            .env(CHILD, server.url("/"))
            .envs(
                ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]
                    .map(|name| (name, proxy.url(""))),
            )
            .output()
            .expect("it runs");
        assert!(test.status.success(), "{}", String::from_utf8_lossy(&test.stdout));
        assert_eq!((server.connections(), proxy.connections()), (1, 0));
        return;
    };
    let client = GuardedClient::new(guard()).expect("a client");
    assert_eq!(send(&client, &url), Ok(200));
}
