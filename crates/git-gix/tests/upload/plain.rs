//! Clients with fewer capabilities than the current git.

use std::collections::BTreeSet;

use hexforge_domain::ports::git_transport::{ProtocolVersion, Service};

use crate::clients::{Clones, check, history, objects, transports};
use crate::hostile::packets;
use crate::server::Server;
use crate::support::{Random, Scratch};

/// Indexes a pack in a repository that is empty or has the bases of the pack. Returns all objects of the repository.
fn index(repository: &Scratch, pack: &[u8]) -> BTreeSet<String> {
    repository.git_bytes(&["index-pack", "--stdin", "--fix-thin"], pack);
    let list = ["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"];
    repository.git(&list).lines().map(str::to_owned).collect()
}

/// Returns the data band of an answer.
fn bands(mut answer: &[u8], longest: usize) -> Vec<u8> {
    let mut pack = Vec::new();
    loop {
        let (length, rest) = answer.split_at(4);
        let length = std::str::from_utf8(length).expect("digits");
        let length = usize::from_str_radix(length, 16).expect("a length");
        if length == 0 {
            assert!(rest.is_empty());
            return pack;
        }
        assert!(length <= longest);
        let (data, rest) = rest.split_at(length - 4);
        if data[0] == 1 {
            pack.extend_from_slice(&data[1..]);
        }
        answer = rest;
    }
}

#[test]
fn a_client_that_can_do_nothing_is_served() {
    let server = Server::of(&history());
    server.run(&["gc", "-q", "--prune=now"]);
    let tip = server.run(&["rev-parse", "master"]);
    let want = format!("want {tip}");
    let all = objects(&server.repository(), &["master"]);
    let (result, answer) = server.ask(ProtocolVersion::V0, &packets(&[&want, "0000", "done"]));
    assert!(result.is_ok(), "{result:?}");
    let pack = answer.strip_prefix(b"0008NAK\n").expect("nothing in common");
    assert_eq!(index(&Scratch::new(), pack), all);

    let want = format!("want {tip} side-band ofs-delta");
    let (result, answer) = server.ask(ProtocolVersion::V0, &packets(&[&want, "0000", "done"]));
    assert!(result.is_ok(), "{result:?}");
    let answer = answer.strip_prefix(b"0008NAK\n").expect("nothing in common");
    assert_eq!(index(&Scratch::new(), &bands(answer, 1000)), all);
}

/// A client may name any commit as shallow. That must not reveal the parents of an unreachable commit.
#[test]
fn what_is_behind_a_commit_that_no_ref_leads_to_stays_here() {
    let scratch = history();
    let server = Server::of(&scratch);
    scratch.git(&["checkout", "-q", "--detach"]);
    scratch.write("secret", "secret");
    let secret = scratch.commit("secret");
    scratch.remove("secret");
    let gone = scratch.commit("gone");
    scratch.git(&["update-ref", "refs/heads/gone", &gone]);
    server.push(&scratch);
    server.run(&["update-ref", "-d", "refs/heads/gone"]);
    let tip = server.run(&["rev-parse", "master"]);
    let all = objects(&server.repository(), &["master"]);
    let shallow = format!("shallow {gone}");
    for deepen in [&["deepen 2147483647"][..], &["deepen 3", "deepen-relative"]] {
        let want = format!("want {tip}");
        let lines =
            [&["command=fetch", "0001", &want, &shallow], deepen, &["done", "0000"]].concat();
        let (result, answer) = server.ask(ProtocolVersion::V2, &packets(&lines));
        assert!(result.is_ok(), "{result:?}");
        let text = String::from_utf8_lossy(&answer);
        assert!(!text.contains(&format!("unshallow {gone}")), "{deepen:?}");
        let at = answer.windows(9).position(|part| part == b"packfile\n").expect("a pack");
        let sent = index(&Scratch::new(), &bands(&answer[at + 9..], 65_520));
        assert!(!sent.contains(&secret) && sent.is_subset(&all), "{deepen:?}");
    }
}

/// Returns incompressible bytes.
fn noise(length: usize) -> Vec<u8> {
    let mut random = Random::new(12);
    (0..length).map(|_| u8::try_from(random.below(256)).expect("a byte")).collect()
}

#[test]
fn bases_that_the_client_has_are_sent_only_if_it_needs_them() {
    // git stores the smaller object as a delta on the larger one.
    let old_state = || {
        let scratch = Scratch::new();
        scratch.write("file", noise(40_000));
        scratch.commit("old");
        scratch
    };
    let scratch = old_state();
    let old = scratch.git(&["rev-parse", "master"]);
    scratch.write("file", noise(39_000));
    scratch.commit("new");
    let server = Server::of(&scratch);
    server.run(&["repack", "-q", "-a", "-d", "-f", "--window=50"]);
    let tip = server.run(&["rev-parse", "master"]);
    let (want, have) = (format!("want {tip}"), format!("have {old}"));
    let mut sizes = Vec::new();
    for arguments in [&["ofs-delta"][..], &["thin-pack"], &["thin-pack", "ofs-delta"]] {
        let begin = ["command=fetch", "0001", &want, &have, "no-progress"];
        let lines = [&begin[..], arguments, &["done", "0000"]].concat();
        let (result, answer) = server.ask(ProtocolVersion::V2, &packets(&lines));
        assert!(result.is_ok(), "{result:?}");
        let answer = answer.strip_prefix(b"000dpackfile\n").expect("a pack");
        let pack = bands(answer, 65_520);
        sizes.push(pack.len());
        if arguments[0] == "ofs-delta" {
            let new: BTreeSet<_> = objects(&server.repository(), &["master", &format!("^{old}")]);
            assert_eq!(index(&Scratch::new(), &pack), new, "it is whole by itself");
        } else {
            let client = old_state();
            index(&client, &pack);
            client.git(&["update-ref", "refs/heads/new", &tip]);
            client.git(&["fsck", "--strict"]);
        }
    }
    assert!(sizes[0] > 20_000 && sizes[1] < 1000 && sizes[2] < 1000, "{sizes:?}");
}

#[test]
fn refs_may_lead_to_files_and_folders() {
    let scratch = history();
    scratch.git(&["update-ref", "refs/tags/file", "master:other"]);
    scratch.git(&["update-ref", "refs/tags/folder", "topic:folder1"]);
    let alone = scratch.git_bytes(&["hash-object", "-w", "--stdin"], b"of nothing");
    let alone = String::from_utf8(alone).expect("a name");
    scratch.git(&["tag", "-a", "-m", "note", "noted-file", alone.trim()]);
    let server = Server::of(&scratch);
    let clones = Clones::new();
    for (name, version, url) in transports(&server) {
        let folder = clones.make(&name, version, &url, &["--mirror"]);
        check(&server, &folder);
    }
}

#[test]
fn pushing_clients_are_told_what_there_is() {
    let server = Server::of(&history());
    let advertise = |server: &Server, version| {
        let mut to = Vec::new();
        let advertised = server.transport().advertise(Service::ReceivePack, version, &mut to);
        advertised.expect("a repository that can be read");
        String::from_utf8(to).expect("plain text")
    };
    let advertised = advertise(&server, ProtocolVersion::V2);
    let refs = server.run(&["for-each-ref", "--format=%(objectname) %(refname)"]);
    let names: Vec<&str> = advertised
        .lines()
        .filter(|line| *line != "0000")
        .map(|line| line[4..].split('\0').next().expect("a ref"))
        .collect();
    assert_eq!(names, refs.lines().collect::<Vec<_>>(), "no HEAD, and nothing that tags lead to");
    assert!(
        advertised.lines().next().is_some_and(|first| first.contains("\0report-status ")),
        "{advertised}"
    );
    assert!(advertise(&server, ProtocolVersion::V1).starts_with("000eversion 1\n"));
    let none = format!("{} capabilities^{{}}\0report-status ", "0".repeat(40));
    assert!(advertise(&Server::empty(), ProtocolVersion::V0)[4..].starts_with(&none));
}

#[test]
fn a_tip_that_moved_since_it_was_shown_can_be_had() {
    let server = Server::of(&history());
    let shown = server.run(&["rev-parse", "master~3"]);
    let lines = packets(&[&format!("want {shown}"), "0000", "done"]);
    let (result, answer) = server.ask(ProtocolVersion::V0, &lines);
    assert!(result.is_ok(), "{result:?}");
    let pack = answer.strip_prefix(b"0008NAK\n").expect("nothing in common");
    assert_eq!(index(&Scratch::new(), pack), objects(&server.repository(), &[&shown]));
}

#[test]
fn refs_can_be_asked_for_by_name() {
    let server = Server::of(&history());
    let tip = server.run(&["rev-parse", "topic"]);
    let lines = packets(&[
        "command=fetch",
        "0001",
        "want-ref refs/heads/topic",
        "no-progress",
        "done",
        "0000",
    ]);
    let (result, answer) = server.ask(ProtocolVersion::V2, &lines);
    assert!(result.is_ok(), "{result:?}");
    let section = packets(&["wanted-refs", &format!("{tip} refs/heads/topic"), "0001", "packfile"]);
    let pack = answer.strip_prefix(&section[..]).expect("the refs, then the pack");
    let pack = bands(pack, 65_520);
    assert_eq!(index(&Scratch::new(), &pack), objects(&server.repository(), &["topic"]));
}
