//! Invalid answers of other servers: each import fails with a clear error and leaves no file behind.

use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use hexforge_domain::commit::ObjectId;
use hexforge_domain::ports::imports::{ImportError, Imported};
use hexforge_domain::ports::outgoing::OutgoingMethod;
use hexforge_domain::refs::Ref;
use hexforge_git_gix::ImportLimits;

use crate::backend::{Answer, Network};
use crate::fixture::{Source, Store, git};
use crate::support::refs::write_refs;

const ADVERTISEMENT: &str = "application/x-git-upload-pack-advertisement";
const RESULT: &str = "application/x-git-upload-pack-result";

/// A server with one answer to the request for refs and one to the request for objects.
fn server(advertisement: Vec<u8>, sent: Vec<u8>) -> Arc<Network> {
    Arc::new(Network::new(move |request| {
        Ok(match request.method {
            OutgoingMethod::Get => Answer::new(200, ADVERTISEMENT, advertisement.clone()),
            OutgoingMethod::Post => Answer::new(200, RESULT, sent.clone()),
        })
    }))
}

fn packet(line: &[u8]) -> Vec<u8> {
    [format!("{:04x}", line.len() + 4).as_bytes(), line].concat()
}

/// A ref advertisement of protocol version 0.
fn advertisement(refs: &[(&str, &str)], capabilities: &str) -> Vec<u8> {
    let mut bytes = packet(b"# service=git-upload-pack\n");
    bytes.extend_from_slice(b"0000");
    for (index, (id, name)) in refs.iter().enumerate() {
        let words = if index == 0 { format!("\0{capabilities}") } else { String::new() };
        bytes.extend(packet(format!("{id} {name}{words}\n").as_bytes()));
    }
    bytes.extend_from_slice(b"0000");
    bytes
}

/// Answers to a request for objects, without and with side bands.
fn plain(pack: &[u8]) -> Vec<u8> {
    [&packet(b"NAK\n"), pack].concat()
}

fn banded(pack: &[u8]) -> Vec<u8> {
    let mut bytes = packet(b"NAK\n");
    for part in pack.chunks(1000) {
        bytes.extend(packet(&[b"\x02so far\n".as_slice()].concat()));
        bytes.extend(packet(&[b"\x01", part].concat()));
    }
    bytes.extend_from_slice(b"0000");
    bytes
}

/// Returns the tip of a branch of a source, and all its objects as a pack.
fn packed(source: &Source) -> (String, Vec<u8>) {
    let head = git(&source.repository(), &["rev-parse", "HEAD"]);
    let output = Command::new("git")
        .args(["pack-objects", "--all", "--stdout", "-q"])
        .current_dir(source.repository())
        .stdin(Stdio::null())
        .output()
        .expect("git is installed");
    assert!(output.status.success());
    (head, output.stdout)
}

/// Imports, and asserts that the failure leaves no file behind.
fn import(network: &Arc<Network>) -> ImportError {
    let store = Store::new();
    let error = store.import(network, "http://h/a.git").expect_err("a hostile server");
    assert_eq!(store.files(), Vec::<PathBuf>::new(), "{error}");
    error
}

fn invalid(what: &str) -> ImportError {
    ImportError::Refused(format!("the server's answer is not valid: {what}"))
}

#[test]
fn an_old_server_without_any_capability_is_understood() {
    let source = Source::filled();
    let (head, pack) = packed(&source);
    for (capabilities, sent) in [("", plain(&pack)), ("side-band", banded(&pack))] {
        let advertised = advertisement(&[(&head, "HEAD"), (&head, "refs/heads/x")], capabilities);
        let store = Store::new();
        let imported = store.import(&server(advertised, sent), "http://h/a.git");
        let target = ObjectId::parse(&head).expect("an id");
        let one = Ref { name: "refs/heads/x".to_owned(), target, peeled: None };
        let imported = imported.expect("it comes");
        let packs = imported.packs.clone();
        let expected = Imported { head: Some(one.name.clone()), refs: vec![one], packs };
        assert_eq!(imported, expected);
        write_refs(&store.repository(), expected.head.as_deref(), &expected.refs);
        git(&store.repository(), &["fsck", "--strict", "--full"]);
    }
}

#[test]
fn refs_that_make_no_sense_are_refused() {
    let one = "1".repeat(40);
    let broke = ImportError::Failed("the server's answer broke off".into());
    for (bytes, expected) in [
        (b"".to_vec(), broke.clone()),
        (b"<html>".to_vec(), invalid("a packet has no valid length")),
        (b"zzzz".to_vec(), invalid("a packet has no valid length")),
        (b"ffff".to_vec(), invalid("a packet has an impossible length")),
        (b"0009ab".to_vec(), broke.clone()),
        (packet(b"# service=git-upload-pack\n"), broke),
        (packet(b"\xff\xfe\xfd"), invalid("a ref has no object id")),
        (
            packet(b"ERR not for you\n"),
            ImportError::Refused("the server refused: not for you".into()),
        ),
        (advertisement(&[("1234", "refs/heads/x")], ""), invalid("a ref has no object id")),
        (
            advertisement(&[(&one, "refs/heads/../../../x")], ""),
            invalid("`refs/heads/../../../x` is not a valid ref name"),
        ),
        (
            advertisement(&[(&one, "refs/heads/x y")], ""),
            invalid("`refs/heads/x y` is not a valid ref name"),
        ),
        (
            advertisement(&[(&one, "refs/heads/x"), (&one, "refs/heads/x")], ""),
            invalid("`refs/heads/x` is listed twice"),
        ),
    ] {
        assert_eq!(import(&server(bytes, Vec::new())), expected);
    }
}

#[test]
fn refs_of_version_2_are_checked_too() {
    let capable =
        [packet(b"version 2\n"), packet(b"ls-refs\n"), packet(b"fetch\n"), b"0000".to_vec()]
            .concat();
    let one = "1".repeat(40);
    for (line, expected) in [
        (format!("{one} refs/heads/x~1\n"), invalid("`refs/heads/x~1` is not a valid ref name")),
        ("nonsense\n".into(), invalid("a ref has no object id")),
        // As the answer to the request for objects, the same bytes are invalid.
        (format!("{one} refs/heads/x\n"), invalid("it contains no objects")),
    ] {
        let sent = [packet(line.as_bytes()), b"0000".to_vec()].concat();
        assert_eq!(import(&server(capable.clone(), sent)), expected);
    }
}

#[test]
fn objects_that_make_no_sense_are_refused() {
    let source = Source::filled();
    let (head, pack) = packed(&source);
    let mut damaged = pack.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0x55;
    let mut counted_wrong = pack.clone();
    counted_wrong[11] = counted_wrong[11].wrapping_add(1);
    let longer = [&pack[..], b"and more"].concat();
    let unreadable = invalid("its objects cannot be read");
    let empty_pack = git_empty_pack();
    for (sent, expected) in [
        (Vec::new(), ImportError::Failed("the server's answer broke off".into())),
        (packet(b"ACK\n"), invalid("it contains no objects")),
        (banded(b""), unreadable.clone()),
        (banded(b"PACK"), unreadable.clone()),
        (banded(b"this is no pack at all, but long enough to be one"), unreadable.clone()),
        (banded(&pack[..pack.len() / 2]), unreadable.clone()),
        (banded(&longer), unreadable.clone()),
        (banded(&empty_pack), invalid("it contains no objects")),
        (
            [
                banded(&pack[..100]).strip_suffix(b"0000").expect("an end"),
                &packet(b"\x03disk full"),
            ]
            .concat(),
            ImportError::Refused("the server refused: disk full".into()),
        ),
        (
            banded(&pack).strip_suffix(b"0000").expect("an end")[..3000].to_vec(),
            ImportError::Failed("the server's answer broke off".into()),
        ),
    ] {
        let advertised = advertisement(&[(&head, "refs/heads/x")], "side-band-64k ofs-delta");
        assert_eq!(import(&server(advertised, sent)), expected);
    }
    // The error depends on the position of the damage: bytes of the checksum may be parsed as an entry, such as the
    // size of an object.
    for sent in [damaged, counted_wrong] {
        let advertised = advertisement(&[(&head, "refs/heads/x")], "side-band-64k ofs-delta");
        let refused = import(&server(advertised, banded(&sent)));
        assert!(matches!(refused, ImportError::Refused(_)), "{refused:?}");
    }
}

/// A pack without objects.
fn git_empty_pack() -> Vec<u8> {
    let output = Command::new("git")
        .args(["pack-objects", "--stdout", "-q"])
        .current_dir(Source::empty().repository())
        .stdin(Stdio::null())
        .output()
        .expect("git is installed");
    output.stdout
}

#[test]
fn refs_to_what_was_not_sent_are_refused() {
    let source = Source::filled();
    let (head, pack) = packed(&source);
    let tree = git(&source.repository(), &["rev-parse", "HEAD^{tree}"]);
    let one = "1".repeat(40);
    for (name, id) in [
        ("refs/heads/gone", &one),
        ("refs/tags/gone", &one),
        // It exists, but is not a commit.
        ("refs/heads/tree", &tree),
    ] {
        let advertised = advertisement(&[(&head, "refs/heads/x"), (id, name)], "side-band-64k");
        let expected = invalid(&format!("the target of `{name}` is missing or is not a commit"));
        assert_eq!(import(&server(advertised, banded(&pack))), expected);
    }
}

/// A reader that repeats the same bytes without end.
struct Endless {
    part: Vec<u8>,
    at: usize,
    pause: Duration,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        std::thread::sleep(self.pause);
        let read = (&self.part[self.at..]).read(buffer)?;
        self.at = (self.at + read) % self.part.len();
        Ok(read)
    }
}

#[test]
fn nobody_listens_for_ever() {
    let head = "1".repeat(40);
    let advertised = advertisement(&[(&head, "refs/heads/x")], "side-band-64k");
    let limits =
        ImportLimits { bytes: 1 << 20, time: Duration::from_secs(1), ..ImportLimits::default() };
    let large = ImportError::Refused("the repository is too large".into());
    let late = ImportError::Failed("the import took too long".into());
    for (part, pause, expected) in [
        (packet(b"\x02working on it\n"), Duration::ZERO, large.clone()),
        (packet(b"\x02working on it\n"), Duration::from_millis(20), late),
        (
            packet(&[b"\x01".as_slice(), &[0; 1000]].concat()),
            Duration::ZERO,
            invalid("its objects cannot be read"),
        ),
    ] {
        let advertised = advertised.clone();
        let network = Arc::new(Network::new(move |request| {
            if request.method == OutgoingMethod::Get {
                return Ok(Answer::new(200, ADVERTISEMENT, advertised.clone()));
            }
            let endless = Endless { part: part.clone(), at: 0, pause };
            let body = io::Cursor::new(packet(b"NAK\n")).chain(endless);
            Ok(Answer { body: Box::new(body), ..Answer::new(200, RESULT, "") })
        }));
        let store = Store::new();
        let error = store.import_within(&network, "http://h/a.git", limits).expect_err("endless");
        assert_eq!(error, expected);
        assert_eq!(store.files(), Vec::<PathBuf>::new());
    }
    // An endless list of refs.
    let line = packet(format!("{head} refs/pull/1/head\n").as_bytes());
    let network = Arc::new(Network::new(move |_| {
        let endless = Endless { part: line.clone(), at: 0, pause: Duration::ZERO };
        Ok(Answer { body: Box::new(endless), ..Answer::new(200, ADVERTISEMENT, "") })
    }));
    assert_eq!(Store::new().import_within(&network, "http://h/a.git", limits), Err(large));
}

#[test]
fn too_many_refs_are_refused() {
    let one = "1".repeat(40);
    let names: Vec<String> = (0..11).map(|number| format!("refs/heads/{number}")).collect();
    let all: Vec<_> = names.iter().map(|name| (one.as_str(), name.as_str())).collect();
    let limits = ImportLimits { refs: 10, ..ImportLimits::default() };
    for (refs, expected) in [
        (&all[..], ImportError::Refused("the repository has too many branches and tags".into())),
        (&all[1..], invalid("it contains no objects")),
    ] {
        let network = server(advertisement(refs, ""), packet(b"ACK\n"));
        let imported = Store::new().import_within(&network, "http://h/a.git", limits);
        assert_eq!(imported, Err(expected));
    }
}

#[test]
fn what_no_push_may_bring_no_import_brings() {
    let source = Source::filled();
    let repository = source.repository();
    let blob = git(&repository, &["rev-parse", "HEAD:text"]);
    let list = source.0.path().join("list");
    std::fs::write(&list, format!("100644 blob {blob}\t.git\n")).expect("a file");
    let make = format!("git mktree < '{}'", list.display());
    let tree = Command::new("sh").args(["-c", &make]).current_dir(&repository).output();
    let tree = String::from_utf8(tree.expect("a shell").stdout).expect("text");
    let commit = git(&repository, &["commit-tree", tree.trim(), "-m", "strange"]);
    git(&repository, &["update-ref", "refs/heads/strange", &commit]);
    let error = import(&Arc::new(source.network()));
    assert!(matches!(&error, ImportError::Refused(why) if why.contains(".git")), "{error}");
}
