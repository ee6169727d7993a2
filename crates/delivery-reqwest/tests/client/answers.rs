//! Requests as the server receives them, and responses as the client reads them.

use std::io::Read;
use std::time::{Duration, Instant};

use hexforge_delivery_reqwest::{Guard, GuardedClient};
use hexforge_domain::ports::outgoing::{
    Certificates, Outgoing, OutgoingBody, OutgoingError, OutgoingMethod, OutgoingRequest,
    OutgoingResponse, Redirects, TimeOuts,
};

use crate::server::Server;

fn client() -> GuardedClient {
    GuardedClient::new(Guard::allow_local()).expect("a client")
}

fn get(url: &str) -> OutgoingRequest {
    OutgoingRequest::new(OutgoingMethod::Get, url)
}

fn text(mut response: OutgoingResponse) -> String {
    let mut text = String::new();
    response.body.read_to_string(&mut text).expect("a body");
    text
}

#[test]
fn a_get_is_sent_and_answered() {
    let server = Server::answering("127.0.0.1", "404 Not Found\r\nX-Kind: none", "nothing here");
    let request = get(&server.url("/a?b=c")).header("git-protocol", "version=2");
    let response = client().send(request).expect("an answer");
    assert_eq!((response.status, response.header("x-kind")), (404, Some("none")));
    assert_eq!(response.url, server.url("/a?b=c"));
    assert_eq!(text(response), "nothing here");
    let seen = &server.seen()[0];
    assert_eq!(seen.line, "GET /a?b=c HTTP/1.1");
    assert!(seen.has("git-protocol: version=2"));
    // The client does not decompress responses, so it must not accept compressed ones.
    assert!(!seen.has_any("accept-encoding") && !seen.has_any("referer"), "{seen:?}");
}

#[test]
fn bodies_are_sent_whole_or_as_they_are_read() {
    let long: Vec<u8> = (0..1_000_000_u32).map(|number| number as u8).collect();
    for (body, counted) in [
        (OutgoingBody::Bytes(long.clone()), true),
        (OutgoingBody::Reader(Box::new(std::io::Cursor::new(long.clone()))), false),
    ] {
        let server = Server::answering("127.0.0.1", "200 OK", "thanks");
        let request =
            OutgoingRequest { body, ..OutgoingRequest::new(OutgoingMethod::Post, server.url("/")) };
        assert_eq!(text(client().send(request).expect("an answer")), "thanks");
        let seen = &server.seen()[0];
        assert!(seen.body == long, "{} bytes", seen.body.len());
        assert_eq!(seen.has_any("content-length"), counted);
    }
}

#[test]
fn a_body_that_cannot_be_read_is_not_sent() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("gone"))
        }
    }
    let server = Server::answering("127.0.0.1", "200 OK", "");
    let request = OutgoingRequest {
        body: OutgoingBody::Reader(Box::new(Broken)),
        ..OutgoingRequest::new(OutgoingMethod::Post, server.url("/"))
    };
    let error = client().send(request).err();
    assert!(matches!(error, Some(OutgoingError::Unreachable(_))), "{error:?}");
    assert!(server.seen().is_empty());
}

#[test]
fn credentials_in_a_url_are_sent_as_basic_authentication() {
    let server = Server::answering("127.0.0.1", "200 OK", "");
    let url = format!("http://ada:s%40cret@{}/a", server.address);
    let response = client().send(get(&url)).expect("an answer");
    assert_eq!(response.url, server.url("/a"));
    // `ada:s@cret`
    assert!(server.seen()[0].has("authorization: Basic YWRhOnNAY3JldA=="), "{:?}", server.seen());
}

#[test]
fn answers_are_read_as_they_come() {
    let server = Server::new("127.0.0.1", |_, to| {
        let _ = to.write_all(b"HTTP/1.1 200 OK\r\n\r\nfirst");
        let _ = to.flush();
        std::thread::sleep(Duration::from_millis(300));
        let _ = to.write_all(b"second");
    });
    let mut response = client().send(get(&server.url("/"))).expect("an answer");
    let mut first = [0; 5];
    response.body.read_exact(&mut first).expect("a part");
    assert_eq!(&first, b"first");
    assert_eq!(text(response), "second");
}

#[test]
fn a_silent_server_runs_into_the_timeout() {
    let time_outs = TimeOuts {
        connect: Duration::from_millis(300),
        idle: Duration::from_millis(300),
        whole: None,
    };
    let silent = Server::new("127.0.0.1", |_, _| std::thread::sleep(Duration::from_secs(20)));
    let started = Instant::now();
    let error = client().send(OutgoingRequest { time_outs, ..get(&silent.url("/")) }).err();
    assert_eq!(error, Some(OutgoingError::TimedOut));
    let stalled = Server::new("127.0.0.1", |_, to| {
        let _ = to.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nsome");
        std::thread::sleep(Duration::from_secs(20));
    });
    let request = OutgoingRequest { time_outs, ..get(&stalled.url("/")) };
    let mut response = client().send(request).expect("a head");
    let error = response.body.read_to_end(&mut Vec::new()).expect_err("no end");
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
    assert!(started.elapsed() < Duration::from_secs(19));
}

#[test]
fn a_slow_response_ends_at_the_deadline() {
    let dripping = Server::new("127.0.0.1", |_, to| {
        let _ = to.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n");
        for _ in 0..100 {
            let _ = to.write_all(b".").and_then(|()| to.flush());
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let time_outs = TimeOuts { whole: Some(Duration::from_millis(800)), ..TimeOuts::default() };
    let started = Instant::now();
    let request = OutgoingRequest { time_outs, ..get(&dripping.url("/")) };
    let mut response = client().send(request).expect("a head");
    let error = response.body.read_to_end(&mut Vec::new()).expect_err("no end");
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
    assert!(started.elapsed() < Duration::from_secs(9));
    let silent = Server::new("127.0.0.1", |_, _| std::thread::sleep(Duration::from_secs(20)));
    let error = client().send(OutgoingRequest { time_outs, ..get(&silent.url("/")) }).err();
    assert_eq!(error, Some(OutgoingError::TimedOut));
    assert!(started.elapsed() < Duration::from_secs(19));
}

#[test]
fn headers_are_sent_to_the_byte_and_never_with_a_line_break() {
    let server = Server::answering("127.0.0.1", "200 OK", "");
    let token = |value: &str| client().send(get(&server.url("/")).header("X-Token", value));
    assert!(token("s3cret \u{fc}&").is_ok());
    for value in ["a\r\nX-Other: b", "a\nb", "a\0b"] {
        let error = token(value).err();
        let refused = OutgoingError::Refused("the header `X-Token` is not valid".into());
        assert_eq!(error, Some(refused), "{value:?}");
    }
    assert_eq!(server.connections(), 1);
}

#[test]
fn an_answer_that_breaks_off_is_an_error() {
    let server = Server::new("127.0.0.1", |_, to| {
        let _ = to.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nsome");
    });
    let mut response = client().send(get(&server.url("/"))).expect("a head");
    assert!(response.body.read_to_end(&mut Vec::new()).is_err());
}

#[test]
fn error_messages_contain_no_secrets() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = nobody.local_addr().expect("an address");
    drop(nobody);
    let no_http = Server::new("127.0.0.1", |_, to| drop(to.write_all(b"220 mail here\r\n")));
    for address in [address, no_http.address] {
        let error = client().send(get(&format!("http://ada:s3cret@{address}/p4th"))).err();
        let Some(OutgoingError::Unreachable(text)) = error else { panic!("{error:?}") };
        assert!(text.contains("127.0.0.1"), "{text}");
        assert!(
            !text.contains("s3cret") && !text.contains("ada") && !text.contains("p4th"),
            "{text}"
        );
    }
    let unknown = client().send(get("http://nowhere.invalid/")).err();
    assert!(matches!(unknown, Some(OutgoingError::Unreachable(_))), "{unknown:?}");
    let broken = get("http://127.0.0.1/").header("x-token", "s3cret\r\nx-other: 1");
    let expected = OutgoingError::Refused("the header `x-token` is not valid".into());
    assert_eq!(client().send(broken).err(), Some(expected));
}

#[test]
fn a_self_signed_certificate_is_accepted_only_without_verification() {
    let server = Server::with_tls("safe");
    let url = format!("https://{}/", server.address);
    let error = client().send(get(&url)).err();
    let Some(OutgoingError::Unreachable(text)) = error else { panic!("{error:?}") };
    assert!(text.contains("certificate"), "{text}");
    let request = OutgoingRequest { certificates: Certificates::Ignored, ..get(&url) };
    assert_eq!(text_of(client().send(request)), "safe");
}

fn text_of(response: Result<OutgoingResponse, OutgoingError>) -> String {
    text(response.expect("an answer"))
}

#[test]
fn redirects_are_followed_only_where_asked_for_and_never_by_a_post() {
    let server = Server::new("127.0.0.1", |seen, to| {
        let head = match seen.line.split(' ').nth(1) {
            Some("/old") => "302 Found\r\nlocation: /new",
            Some("/nowhere") => "302 Found",
            Some("/new") => "200 OK",
            _ => "307 Temporary Redirect\r\nlocation: /loop",
        };
        let _ = write!(to, "HTTP/1.1 {head}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    });
    let send = |method, path: &str, redirects| {
        let request =
            OutgoingRequest { redirects, ..OutgoingRequest::new(method, server.url(path)) };
        client().send(request).map(|response| (response.status, response.url))
    };
    use {OutgoingMethod::*, Redirects::*};
    assert_eq!(send(Get, "/old", Refused), Ok((302, server.url("/old"))));
    assert_eq!(send(Get, "/old", Checked), Ok((200, server.url("/new"))));
    assert_eq!(send(Get, "/nowhere", Checked), Ok((302, server.url("/nowhere"))));
    assert_eq!(send(Post, "/old", Checked), Ok((302, server.url("/old"))));
    let often = OutgoingError::Refused("the address redirects too often".into());
    let before = server.seen().len();
    assert_eq!(send(Get, "/loop", Checked), Err(often));
    assert_eq!(server.seen().len() - before, 6, "the first and five more");
}

#[test]
fn another_server_gets_no_secrets() {
    let other = Server::answering("127.0.0.1", "200 OK", "");
    let to = other.url("/new");
    let location = to.replace("http://", "http://eve:word@");
    let first = Server::new("127.0.0.1", move |seen, to| {
        let location = if seen.line.contains("/old") { "/here" } else { &location };
        let _ = write!(
            to,
            "HTTP/1.1 301 Moved\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        );
    });
    let request = OutgoingRequest {
        redirects: Redirects::Checked,
        ..get(&format!("http://ada:s3cret@{}/old", first.address))
    };
    let request = request.header("x-token", "s3cret").header("git-protocol", "version=2");
    assert_eq!(client().send(request).expect("an answer").url, to);
    for seen in first.seen() {
        assert!(seen.has_any("authorization") && seen.has("x-token: s3cret"), "{seen:?}");
    }
    assert_eq!(first.seen().len(), 2);
    let seen = &other.seen()[0];
    assert!(seen.has("git-protocol: version=2"));
    assert!(!seen.has_any("authorization") && !seen.has_any("x-token"), "{seen:?}");
}

#[test]
fn a_blocking_thread_of_another_runtime_may_send() {
    let server = Server::answering("127.0.0.1", "200 OK", "fine");
    let url = server.url("/");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build();
    runtime.expect("a runtime").block_on(async {
        let client = std::sync::Arc::new(client());
        let sending = std::sync::Arc::clone(&client);
        let sent = tokio::task::spawn_blocking(move || text_of(sending.send(get(&url))));
        assert_eq!(sent.await.expect("no panic"), "fine");
        // The client may also be dropped in async code.
        drop(client);
    });
}
