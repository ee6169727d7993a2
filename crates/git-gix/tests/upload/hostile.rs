//! Invalid requests.

use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::git_transport::ProtocolVersion;

use crate::clients::history;
use crate::server::Server;

const UNKNOWN: &str = "1234567890123456789012345678901234567890";

/// Encodes lines as packets; `0000` and `0001` are written as they are.
pub fn packets(lines: &[&str]) -> Vec<u8> {
    let packet = |line: &&str| match *line {
        "0000" | "0001" => (*line).to_owned(),
        line => format!("{:04x}{line}\n", line.len() + 5),
    };
    lines.iter().map(packet).collect::<String>().into_bytes()
}

fn text(answer: &[u8]) -> String {
    String::from_utf8_lossy(answer).into_owned()
}

#[test]
fn what_is_wrong_is_told() {
    let server = Server::of(&history());
    let tip = server.run(&["rev-parse", "master"]);
    let want = format!("want {tip}");
    let unknown = format!("want {UNKNOWN}");
    let not_ours = format!("ERR upload-pack: not our ref {UNKNOWN}");
    let (v0, v2) = (ProtocolVersion::V0, ProtocolVersion::V2);
    for (version, lines, answer) in [
        (v2, &["command=fetch", "0001", &unknown, "done", "0000"][..], not_ours.as_str()),
        (v0, &[&unknown, "0000", "done"], &not_ours),
        (
            v2,
            &["command=fetch", "0001", "want x", "0000"],
            "ERR upload-pack: 'x' is not a valid object id",
        ),
        (v2, &["command=push", "0001", "0000"], "ERR upload-pack: unknown command 'push'"),
        (v2, &["command=fetch", "command=fetch", "0000"], "ERR upload-pack: more than one command"),
        (v2, &["command=fetch", "0001", "nonsense", "0000"], "ERR upload-pack: unexpected line"),
        (v2, &["command=fetch", "0001", &want], "ERR upload-pack: the arguments end early"),
        (
            v2,
            &["command=fetch", "object-format=sha256", "0001", "0000"],
            "ERR upload-pack: only the object format sha1 is supported",
        ),
        (v2, &["command=ls-refs", "0001", "nonsense", "0000"], "ERR upload-pack: unexpected line"),
        (v2, &["nonsense", "0000"], "ERR upload-pack: unexpected line"),
        (
            v2,
            &["command=fetch", "0001", &want, "deepen 0", "0000"],
            "ERR upload-pack: invalid line",
        ),
        (
            v2,
            &["command=fetch", "0001", &want, "deepen -1", "0000"],
            "ERR upload-pack: invalid line",
        ),
        (
            v2,
            &["command=fetch", "0001", &want, "deepen-since x", "0000"],
            "ERR upload-pack: invalid",
        ),
        (
            v2,
            &["command=fetch", "0001", &want, "deepen-not x", "0000"],
            "ERR upload-pack: deepen-not",
        ),
        (
            v2,
            &["command=fetch", "0001", &want, "filter x", "0000"],
            "ERR upload-pack: filter 'x' not",
        ),
        (
            v2,
            &["command=fetch", "0001", "want-ref refs/heads/x", "0000"],
            "ERR upload-pack: unknown ref",
        ),
        (v0, &["have x", "0000"], "ERR upload-pack: unexpected line"),
        (v0, &[&want, "0000", "nonsense"], "ERR upload-pack: unexpected line"),
    ] {
        let (result, answered) = server.ask(version, &packets(lines));
        assert!(matches!(result, Err(GitError::Protocol(_))), "{lines:?} {result:?}");
        assert!(text(&answered[4..]).starts_with(answer), "{lines:?} {}", text(&answered));
    }
}

#[test]
fn what_is_no_packet_is_refused() {
    let server = Server::of(&history());
    for version in [ProtocolVersion::V0, ProtocolVersion::V1, ProtocolVersion::V2] {
        for wire in [&b"zzzz"[..], b"0003", b"ffff", b"00", b"0032want ", b"GET / HTTP/1.1\r\n\r\n"]
        {
            let (result, answered) = server.ask(version, wire);
            assert!(matches!(result, Err(GitError::Protocol(_))), "{wire:?} {result:?}");
            assert!(text(&answered).contains("ERR upload-pack: "), "{wire:?}");
        }
        let (result, answered) = server.ask(version, b"");
        assert!(result.is_ok() && answered.is_empty());
        let (result, answered) = server.ask(version, b"0000");
        assert!(result.is_ok() && answered.is_empty());
    }
}

#[test]
fn nothing_is_fetched_where_nothing_is() {
    let server = Server::empty();
    for version in [ProtocolVersion::V0, ProtocolVersion::V2] {
        let want = format!("want {UNKNOWN}");
        let lines = match version {
            ProtocolVersion::V2 => packets(&["command=fetch", "0001", &want, "done", "0000"]),
            _ => packets(&[&want, "0000", "done"]),
        };
        let (result, answered) = server.ask(version, &lines);
        assert!(matches!(result, Err(GitError::Protocol(_))), "{result:?}");
        assert!(text(&answered).contains(&format!("not our ref {UNKNOWN}")), "{}", text(&answered));
    }
}

#[test]
fn a_hundred_thousand_haves_are_read() {
    let server = Server::of(&history());
    let tip = server.run(&["rev-parse", "master"]);
    for (version, begin) in [
        (ProtocolVersion::V2, packets(&["command=fetch", "0001", &format!("want {tip}")])),
        (ProtocolVersion::V0, packets(&[&format!("want {tip}"), "0000"])),
    ] {
        let mut lines = begin;
        for number in 0..100_000 {
            lines.extend(packets(&[&format!("have {number:040x}")]));
        }
        lines.extend(packets(&[&format!("have {tip}"), "done", "0000"]));
        let started = std::time::Instant::now();
        let (result, answered) = server.ask(version, &lines);
        assert!(result.is_ok(), "{result:?}");
        assert!(text(&answered).contains("PACK"));
        assert!(started.elapsed().as_secs() < 30);
    }
}

/// The ids begin alike, so that a hash of their first bytes would make them collide.
#[test]
fn a_hundred_thousand_wants_that_do_not_exist_cost_little() {
    let server = Server::of(&history());
    let wants = || (1..=100_000).map(|number| format!("want {number:040x}"));
    for (version, begin, end) in [
        (ProtocolVersion::V2, &["command=fetch", "0001"][..], &["done", "0000"][..]),
        (ProtocolVersion::V0, &[], &["0000", "done"]),
    ] {
        let mut lines = packets(begin);
        wants().for_each(|want| lines.extend(packets(&[&want])));
        lines.extend(packets(end));
        let started = std::time::Instant::now();
        let (result, answered) = server.ask(version, &lines);
        assert!(matches!(result, Err(GitError::Protocol(_))), "{result:?}");
        let first = format!("not our ref {:040x}", 1);
        assert!(text(&answered).contains(&first), "{}", text(&answered));
        assert!(started.elapsed().as_secs() < 15);
    }
}

/// Such requests would be small when compressed.
#[test]
fn no_request_is_longer_than_the_command_needs() {
    let server = Server::of(&history());
    let tip = server.run(&["rev-parse", "master"]);
    let want = format!("want {tip}");
    let have = format!("have {UNKNOWN}");
    let prefix = format!("ref-prefix refs/heads/{}", "x".repeat(400));
    let (v0, v2) = (ProtocolVersion::V0, ProtocolVersion::V2);
    let cases: [(ProtocolVersion, &[&str], &str); 5] = [
        (v2, &["command=ls-refs", "0001"], &prefix),
        (v2, &["command=ls-refs"], "agent=x"),
        (v2, &["command=fetch", "0001"], &want),
        (v2, &["command=fetch", "0001", &want], &have),
        (v0, &[&want, "0000"], &have),
    ];
    for (version, start, line) in cases {
        let mut request = packets(start);
        let once = packets(&[line]);
        // 16 MiB, and somewhat more for the refs.
        request.extend(once.repeat((17 << 20) / once.len()));
        let (result, answer) = server.ask(version, &request);
        assert!(matches!(result, Err(GitError::Protocol(_))), "{line}: {result:?}");
        assert!(text(&answer).contains("the request is too large"), "{line}: {}", text(&answer));
    }
}

#[test]
fn a_damaged_repository_is_told_in_the_pack() {
    let server = Server::of(&history());
    let tree = server.run(&["rev-parse", "master~2^{tree}"]);
    let file = server.repository().join("objects").join(&tree[..2]).join(&tree[2..]);
    std::fs::remove_file(file).expect("a loose object");
    let want = format!("want {}", server.run(&["rev-parse", "master"]));
    let lines = packets(&["command=fetch", "0001", &want, "done", "0000"]);
    let (result, answered) = server.ask(ProtocolVersion::V2, &lines);
    assert!(matches!(result, Err(GitError::Corrupt(_))), "{result:?}");
    assert!(text(&answered).ends_with("\u{3}upload-pack: the server failed\n0000"));
    assert!(!text(&answered).contains("ERR"));
}
