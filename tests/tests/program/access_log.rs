//! The access log: requests that the parser refuses, and forwarded headers from untrusted addresses.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::Response;
use hexforge_tests::client::exchange;
use hexforge_tests::program::{self, Program, ROOT};
use serde_json::json;

use crate::TestInstallation;

/// A program that logs every request to a file.
struct Logged {
    server: Program,
    installation: TestInstallation,
}

impl Logged {
    fn start() -> Self {
        let installation = TestInstallation::on(TestDatabase::sqlite());
        let log =
            std::fs::File::create(installation.folder.path().join("log")).expect("the log is made");
        let (program, database) = (program::executable(), &installation.database.url);
        let more = [("HEXFORGE_LOG", "info")];
        let server =
            Program::start_with(&program, &installation.data_dir(), database, log.into(), &more);
        Self { server: server.expect("it serves"), installation }
    }

    fn log(&self) -> String {
        let log = std::fs::read_to_string(self.installation.folder.path().join("log"));
        log.expect("the log can be read")
    }

    /// The log line of a request.
    fn line(&self, id: &str) -> String {
        let log = self.log();
        let about = |line: &&str| line.contains(id) && line.contains("answered");
        let lines: Vec<&str> = log.lines().filter(about).collect();
        let [line] = lines[..] else { panic!("{id} has one line: {log}") };
        line.to_owned()
    }

    /// Asserts that a refusal has a status, a JSON body, an id and a log line.
    #[track_caller]
    fn assert_refused(&self, answer: &[u8], status: &str, what: &str) {
        let text = String::from_utf8_lossy(answer);
        assert!(text.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{what}: {text}");
        let response = Response::parse(answer);
        assert_eq!(response.json(), json!({ "message": status }), "{what}");
        assert_eq!(response.header("content-type"), Some("application/json"), "{what}");
        assert_eq!(response.header("connection"), Some("close"), "{what}");
        let id = response.header("x-request-id").expect("every answer has an id");
        let line = self.line(id);
        let code = &status[..3];
        let shown = format!(
            "answered method=- path=\"-\" status={code} micros=0 client=127.0.0.1 scheme=\"http\""
        );
        assert!(line.contains(&shown), "{what}: {line}");
    }
}

const BAD: &str = "400 Bad Request";
const TOO_LARGE: &str = "431 Request Header Fields Too Large";

#[test]
fn requests_that_cannot_be_parsed_are_answered_and_logged_like_others() {
    let logged = Logged::start();
    let form = [("name", "shop"), ("visibility_level", "20")];
    logged.server.request("POST", "/projects").token(ROOT).form(&form).send().expect(201);
    let large = format!("X-Large: {}\r\n", "x".repeat(300_000));
    let many: String = (0..1000).map(|n| format!("X-Header-{n}: x\r\n")).collect();
    for path in ["/api/v3/user", "/root/shop.git/git-upload-pack"] {
        let get = |rest: &str| format!("GET {path} HTTP/1.1\r\n{rest}\r\n").into_bytes();
        let post = |rest: &str| format!("POST {path} HTTP/1.1\r\n{rest}").into_bytes();
        for (status, bytes) in [
            (BAD, b"nonsense\r\n\r\n".to_vec()),
            (BAD, format!("GET {path}\r\n\r\n").into_bytes()),
            (BAD, format!("GET {path} HTTP/9.9\r\n\r\n").into_bytes()),
            (BAD, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec()),
            (BAD, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".repeat(40)),
            (BAD, vec![0; 1000]),
            (BAD, get("Host x\r\n")),
            (BAD, get("Ho st: x\r\n")),
            (BAD, get("PRIVATE-TOKEN: a\0b\r\n")),
            (BAD, format!("GET {path}\0 HTTP/1.1\r\n\r\n").into_bytes()),
            (BAD, post("Content-Length: -1\r\n\r\n")),
            (BAD, post("Content-Length: 1\r\nContent-Length: 2\r\n\r\nx")),
            (BAD, post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")),
            (TOO_LARGE, get(&large)),
            (TOO_LARGE, get(&many)),
        ] {
            let what = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
            logged.assert_refused(&exchange(logged.server.address, &bytes), status, &what);
        }
    }
    // The parser reads the body in chunks while the request is running.
    for path in ["/root/shop.git/git-upload-pack", "/root/shop.git/git-receive-pack"] {
        let kind = path.rsplit('/').next().unwrap_or_default();
        let bytes = format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-{kind}-request\r\n\
             PRIVATE-TOKEN: {ROOT}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
        );
        let answer = exchange(logged.server.address, bytes.as_bytes());
        logged.assert_refused(&answer, BAD, path);
    }
    assert!(!logged.log().contains("ERROR"), "mistakes of clients are no errors: {}", logged.log());
}

const VERSION: &str = "GET /api/v3/version HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: ";

/// Behind a proxy nearly all requests arrive on reused connections.
#[test]
fn a_request_is_refused_on_a_connection_that_was_used_before() {
    let logged = Logged::start();
    let mut stream = TcpStream::connect(logged.server.address).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out can be set");
    let version = format!("{VERSION}{ROOT}\r\n\r\n");
    for _ in 0..2 {
        stream.write_all(version.as_bytes()).expect("the server reads");
        let mut answer = Vec::new();
        while !answer.ends_with(b"}") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("the server answers");
            answer.extend(byte);
        }
        assert_eq!(Response::parse(&answer).status, 200);
    }
    stream.write_all(b"nonsense\r\n\r\n").expect("the server reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("the server closes the connection");
    logged.assert_refused(&answer, BAD, "the third request");
}

/// Old versions of the `requests` library of Python send `0` and two empty lines behind a `PUT` without a body.
#[test]
fn nonsense_behind_a_request_is_refused() {
    let logged = Logged::start();
    let put = VERSION.replace("GET /api/v3/version", "PUT /api/v3/users/1/unblock");
    for request in [VERSION, &put] {
        for nonsense in ["nonsense\r\n\r\n", "0\r\n\r\n"] {
            let bytes = format!("{request}{ROOT}\r\n\r\n{nonsense}");
            let answers = exchange(logged.server.address, bytes.as_bytes());
            let text = String::from_utf8_lossy(&answers);
            let last = text.rfind("HTTP/1.1 ").expect("there is an answer");
            logged.assert_refused(&answers[last..], BAD, &text);
            assert!(text.starts_with("HTTP/1.1 200"), "{text}");
        }
    }
}

/// Refusals are recognized by their bytes when responses are written. The content of a stored file must not be mistaken
/// for one.
#[test]
fn a_file_that_looks_like_a_refusal_is_served_as_it_is() {
    let logged = Logged::start();
    let form = [("name", "shop")];
    logged.server.request("POST", "/projects").token(ROOT).form(&form).send().expect(201);
    let refusal = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\
                   date: Mon, 16 Nov 2026 09:00:00 GMT\r\n\r\n";
    for length in [refusal.len(), 300_000] {
        let content = format!("{}{refusal}", "x".repeat(length - refusal.len()));
        let upload = logged.server.request("POST", "/projects/1/uploads").token(ROOT);
        let upload = upload.file("plan.txt", content.as_bytes()).send().expect(201);
        let url = upload["url"].as_str().expect("an upload has an address");
        let get = format!("GET /root/shop{url} HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: {ROOT}\r\n");
        // On a connection that closes, and on one that stays open, with the file as first and as second response.
        let version = format!("{VERSION}{ROOT}\r\n\r\n");
        for (first, second) in [
            (format!("{get}Connection: close\r\n\r\n"), String::new()),
            (format!("{get}\r\n"), format!("{get}Connection: close\r\n\r\n")),
            (version, format!("{get}Connection: close\r\n\r\n")),
        ] {
            let mut stream = TcpStream::connect(logged.server.address).expect("it listens");
            stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out can be set");
            stream.write_all(format!("{first}{second}").as_bytes()).expect("the server reads");
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).expect("the server closes the connection");
            let files = format!("{first}{second}").matches("/uploads/").count();
            let text = String::from_utf8_lossy(&answer);
            assert_eq!(text.matches(&content).count(), files, "{first}{second}");
            assert!(text.ends_with(&content));
        }
    }
}

/// An operator who forgot to configure a proxy finds a warning in the log, which callers cannot flood.
#[test]
fn forwarded_headers_of_a_stranger_are_reported_once_a_minute() {
    let logged = Logged::start();
    for header in ["X-Forwarded-For", "Forwarded", "X-Forwarded-For"] {
        let request = logged.server.request("GET", "/version").token(ROOT);
        request.header(header, "for=198.51.100.7").send().expect(200);
    }
    let log = logged.log();
    let warnings: Vec<&str> = log.lines().filter(|line| line.contains(" WARN ")).collect();
    let [warning] = warnings[..] else { panic!("there is one warning: {log}") };
    let sentence = "forwarded headers are ignored: trusted_proxies does not list the peer";
    assert!(warning.contains(sentence) && warning.contains("peer=127.0.0.1"), "{warning}");
    assert!(!log.contains("198.51.100.7"), "{log}");
}
