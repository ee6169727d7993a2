//! Invalid packs are refused, and leave nothing on disk.

use std::io::Write;
use std::net::TcpStream;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};

use hexforge_tests::forge::PASSWORD;
use hexforge_tests::{Forge, on_every_store};
use sha1::{Digest, Sha1};

use super::support::Scene;
use super::wire::{Push, ZERO};

on_every_store!(
    broken_packs_are_refused,
    histories_with_holes_are_refused,
    trees_that_could_do_harm_are_refused,
    objects_with_errors_of_git_fsck_are_refused,
    refs_to_nothing_are_refused,
    pushes_that_lead_to_unreachable_objects_are_refused,
    entries_of_unknown_modes_lead_to_no_object,
    deltas_on_unreachable_objects_are_refused,
    commits_and_tags_that_nobody_reads_are_refused,
    a_push_ends_when_its_client_hangs_up,
    a_gzip_body_that_becomes_huge_is_refused,
);

/// Asserts that a push was refused, and left nothing on disk.
#[track_caller]
fn assert_refused(scene: &Scene<'_>, push: &Push, texts: &[&str]) {
    let packs = || {
        let entries = std::fs::read_dir(scene.bare().join("objects/pack"));
        entries.into_iter().flatten().count()
    };
    let before = packs();
    let answer = push.send(scene);
    for text in texts {
        assert!(answer.contains(text), "{text:?} is not in {answer:?}");
    }
    assert!(!answer.contains("ok refs/"), "{answer:?}");
    assert_eq!(packs(), before, "no pack came");
    scene.assert_clean();
}

/// A pack of exactly these objects.
pub fn pack(scene: &Scene<'_>, objects: &[&str]) -> Vec<u8> {
    let mut command = scene.tree.command(&["pack-objects", "--stdout", "-q"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("git can be started");
    let lines: String = objects.iter().map(|id| format!("{id}\n")).collect();
    child.stdin.take().expect("a pipe").write_all(lines.as_bytes()).expect("git reads");
    let output = child.wait_with_output().expect("git ends");
    assert!(output.status.success());
    output.stdout
}

/// Stores an object that git itself would not create.
fn store_object(scene: &Scene<'_>, kind: &str, content: &[u8]) -> String {
    let arguments = ["hash-object", "-t", kind, "-w", "--stdin", "--literally"];
    let mut command = scene.tree.command(&arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("git can be started");
    child.stdin.take().expect("a pipe").write_all(content).expect("git reads");
    let output = child.wait_with_output().expect("git ends");
    assert!(output.status.success());
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn store_commit(scene: &Scene<'_>, tree: &str, parent: Option<&str>) -> String {
    let parent = parent.map(|parent| format!("parent {parent}\n")).unwrap_or_default();
    let who = "Ada <ada@example.com> 1474540200 +0000";
    let text = format!("tree {tree}\n{parent}author {who}\ncommitter {who}\n\nx\n");
    store_object(scene, "commit", text.as_bytes())
}

fn broken_packs_are_refused(forge: &Forge) {
    let scene = Scene::filled(forge);
    let tip = scene.tree.write("a", "a".repeat(5000)).commit("More\n");
    let tree = scene.tree.git(&["rev-parse", "HEAD^{tree}"]);
    let blob = scene.tree.git(&["rev-parse", "HEAD:a"]);
    let good = pack(&scene, &[&tip, &tree, &blob]);
    let mut flipped = good.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0x55;
    let mut counted = good.clone();
    counted[11] = 200;
    let mut huge = good.clone();
    huge[8..12].copy_from_slice(&[0xff; 4]);
    let mut checksum = good.clone();
    *checksum.last_mut().expect("bytes") ^= 1;
    for (_what, pack) in [
        ("nothing", vec![]),
        ("truncated", good[..good.len() - 30].to_vec()),
        ("only a header", good[..12].to_vec()),
        ("flipped", flipped),
        ("fewer than counted", counted),
        ("far fewer than counted", huge),
        ("checksum", checksum),
        ("no pack", b"hello".to_vec()),
    ] {
        let push = Push::new(ZERO, &tip, "refs/heads/x").pack(pack);
        assert_refused(
            &scene,
            &push,
            &["unpack the pack is not valid", "ng refs/heads/x unpacker"],
        );
    }
    // The complete pack of these objects is accepted.
    let answer = Push::new(ZERO, &tip, "refs/heads/x").pack(good).send(&scene);
    assert!(answer.contains("unpack ok") && answer.contains("ok refs/heads/x"), "{answer}");
    scene.assert_sound();
}

fn histories_with_holes_are_refused(forge: &Forge) {
    let scene = Scene::filled(forge);
    let hidden = scene.tree.write("a", "a").commit("Never sent\n");
    let tip = scene.tree.write("b", "b").commit("Sent\n");
    let of = |what: &str| scene.tree.git(&["rev-parse", what]);
    let (tree, a, b) = (of("HEAD^{tree}"), of("HEAD:a"), of("HEAD:b"));
    for objects in [
        // Packs without the parent, without a file, and without a tree.
        &[&tip, &tree, &a, &b][..],
        &[&tip, &tree, &a, &hidden],
        &[&tip, &a, &b, &hidden],
    ] {
        let objects: Vec<&str> = objects.iter().map(|id| id.as_str()).collect();
        let push = Push::new(ZERO, &tip, "refs/heads/x").pack(pack(&scene, &objects));
        let texts = ["unpack ok", "ng refs/heads/x missing necessary objects"];
        assert_refused(&scene, &push, &texts);
    }
    scene.assert_sound();
}

fn trees_that_could_do_harm_are_refused(forge: &Forge) {
    let scene = Scene::filled(forge);
    let blob = store_object(&scene, "blob", b"x");
    let mut bytes = Vec::new();
    for pair in blob.as_bytes().chunks(2) {
        let digits = std::str::from_utf8(pair).expect("hex");
        bytes.push(u8::from_str_radix(digits, 16).expect("hex"));
    }
    for name in [".git", ".GIT", "..", ".", "", "a/b", "git~1", ".g\u{200d}it"] {
        let content = [format!("100644 {name}\0").as_bytes(), &bytes].concat();
        let tree = store_object(&scene, "tree", &content);
        let commit = store_commit(&scene, &tree, None);
        let objects = pack(&scene, &[&commit, &tree, &blob]);
        let push = Push::new(ZERO, &commit, "refs/heads/x").pack(objects);
        assert_refused(&scene, &push, &["ng refs/heads/x unpacker error"]);
    }
}

fn objects_with_errors_of_git_fsck_are_refused(forge: &Forge) {
    let scene = Scene::filled(forge);
    let (blob, other) = (store_object(&scene, "blob", b"x"), store_object(&scene, "blob", b"y"));
    let modules = store_object(&scene, "blob", b"[submodule \"../../x\"]\n\turl = ../x.git\n");
    let entry = |mode: &str, name: &str, id: &str| {
        let digits = |pair: &[u8]| {
            let pair = std::str::from_utf8(pair).expect("hex");
            u8::from_str_radix(pair, 16).expect("hex")
        };
        let id: Vec<u8> = id.as_bytes().chunks(2).map(digits).collect();
        [format!("{mode} {name}\0").as_bytes(), &id].concat()
    };
    let file = |name: &str, id: &str| entry("100644", name, id);
    for (content, error) in [
        ([file("a", &blob), file("a", &other)].concat(), "duplicateEntries"),
        ([file("b", &blob), file("a", &other)].concat(), "treeNotSorted"),
        (file(".gitmodules", &modules), "gitmodulesName"),
        (file(".GitModules", &modules), "gitmodulesName"),
        (entry("120000", ".gitmodules", &blob), "gitmodulesSymlink"),
        // The same object as a file and as a folder.
        ([file("a", &blob), entry("40000", "b", &blob)].concat(), "is a blob, not a tree"),
        ([entry("40000", "a", &blob), file("b", &blob)].concat(), "is a blob, not a tree"),
    ] {
        let tree = store_object(&scene, "tree", &content);
        let commit = store_commit(&scene, &tree, None);
        let objects = pack(&scene, &[&commit, &tree, &blob, &other, &modules]);
        let push = Push::new(ZERO, &commit, "refs/heads/x").pack(objects);
        assert_refused(&scene, &push, &["ng refs/heads/x unpacker error", error]);
    }
    let tree = store_object(&scene, "tree", &file("a", &blob));
    let who = "Ada <ada@example.com> 1400000000 +0000";
    for (author, error) in [
        (format!("author {who}\nauthor {who}\n"), Some("multipleAuthors")),
        (String::new(), Some("missingAuthor")),
        ("author Ada <ada@example.com> 01 +0000\n".to_owned(), Some("zeroPaddedDate")),
        // Published histories have such objects, so they are accepted.
        ("author Ada <ada@example.com> 1400000000 +51800\n".to_owned(), None),
    ] {
        let content = format!("tree {tree}\n{author}committer {who}\n\nx\n");
        let commit = store_object(&scene, "commit", content.as_bytes());
        let objects = pack(&scene, &[&commit, &tree, &blob]);
        let push = Push::new(ZERO, &commit, "refs/heads/y").pack(objects);
        match error {
            Some(error) => {
                assert_refused(&scene, &push, &["ng refs/heads/y unpacker error", error]);
            }
            None => assert!(push.send(&scene).contains("ok refs/heads/y"), "{author}"),
        }
    }
}

fn refs_to_nothing_are_refused(forge: &Forge) {
    let scene = Scene::filled(forge);
    let tip = scene.tree.git(&["rev-parse", "HEAD"]);
    let blob = scene.tree.git(&["rev-parse", "HEAD:README"]);
    let empty = pack(&scene, &[]);
    let nothing = "1".repeat(40);
    for (old, new, name, text) in [
        (ZERO, nothing.as_str(), "refs/heads/x", "missing necessary objects"),
        (ZERO, &blob, "refs/heads/x", "missing necessary objects"),
        (ZERO, &tip, "refs/heads/../x", "funny refname"),
        (ZERO, &tip, "refs/heads/-x", "funny refname"),
        (ZERO, &tip, "HEAD", "funny refname"),
        (ZERO, &tip, "refs/heads/x.lock", "funny refname"),
        // The current value of the ref differs from the expected one.
        (ZERO, &tip, "refs/heads/master", "failed to update ref"),
        (&nothing, &tip, "refs/heads/master", "failed to update ref"),
        (&tip, ZERO, "refs/heads/missing", "failed to update ref"),
    ] {
        let push = Push::new(old, new, name);
        let push = if new == ZERO { push } else { push.pack(empty.clone()) };
        assert_refused(&scene, &push, &[&format!("ng {name} {text}")]);
    }
    assert_eq!(scene.on_server(&["for-each-ref"]).lines().count(), 1);
    scene.assert_sound();
}

/// The server still has the objects of a deleted branch. A push that names them would make them visible.
fn pushes_that_lead_to_unreachable_objects_are_refused(forge: &Forge) {
    let scene = Scene::filled(forge);
    let of = |what: &str| scene.tree.git(&["rev-parse", what]);
    let (base, base_tree) = (of("HEAD"), of("HEAD^{tree}"));
    let secret = scene.tree.write("secret", "a secret\n").commit("Secret\n");
    let (secret_tree, secret_blob) = (of("HEAD^{tree}"), of("HEAD:secret"));
    scene.push("ada", &["HEAD:refs/heads/secret"]).ok();
    scene.push("ada", &[":refs/heads/secret"]).ok();
    assert_eq!(scene.on_server(&["cat-file", "-t", &secret]).trim_end(), "commit");

    let on_secret = store_commit(&scene, &base_tree, Some(&secret));
    let with_tree = store_commit(&scene, &secret_tree, Some(&base));
    let tree =
        store_object(&scene, "tree", &[&b"100644 f\0"[..], &id_bytes(&secret_blob)].concat());
    let with_blob = store_commit(&scene, &tree, Some(&base));
    let who = "Ada <ada@example.com> 1474540200 +0000";
    let text = format!("object {secret}\ntype commit\ntag t\ntagger {who}\n\nx\n");
    let tag = store_object(&scene, "tag", text.as_bytes());
    for (new, name, pack) in [
        (&secret, "refs/heads/x", pack(&scene, &[])),
        (&secret_blob, "refs/tags/x", pack(&scene, &[])),
        (&secret_tree, "refs/tags/x", pack(&scene, &[])),
        (&on_secret, "refs/heads/x", pack(&scene, &[&on_secret])),
        (&with_tree, "refs/heads/x", pack(&scene, &[&with_tree])),
        (&with_blob, "refs/heads/x", pack(&scene, &[&with_blob, &tree])),
        (&tag, "refs/tags/x", pack(&scene, &[&tag])),
    ] {
        let push = Push::new(ZERO, new, name).pack(pack);
        assert_refused(&scene, &push, &[&format!("ng {name} missing necessary objects")]);
    }
    // A client that has the objects can send them again.
    let again = [format!("{with_blob}:refs/heads/y"), format!("{secret}:refs/heads/secret")];
    scene.push("ada", &[&again[0], &again[1]]).ok();
    scene.assert_sound();
}

/// Git takes an entry whose mode has an unknown type for a submodule, so a push may name any id in it. Whoever reads the
/// tree must not take the id for an object of this repository.
fn entries_of_unknown_modes_lead_to_no_object(forge: &Forge) {
    let scene = Scene::filled(forge);
    let base = scene.tree.git(&["rev-parse", "HEAD"]);
    scene.tree.write("secret", "a secret\n").commit("Secret\n");
    let secret = scene.tree.git(&["rev-parse", "HEAD:secret"]);
    scene.push("ada", &["HEAD:refs/heads/secret"]).ok();
    scene.push("ada", &[":refs/heads/secret"]).ok();
    let missing = "12".repeat(20);
    let push_entry = |mode: &str, id: &str, old: &str, name: &str| {
        let text = [mode.as_bytes(), b" odd\0", &id_bytes(id)].concat();
        let tree = store_object(&scene, "tree", &text);
        let commit = store_commit(&scene, &tree, Some(&base));
        let answer =
            Push::new(old, &commit, name).pack(pack(&scene, &[&commit, &tree])).send(&scene);
        assert!(answer.contains(&format!("ok {name}")), "{mode}: {answer}");
    };
    for mode in ["1", "777", "10644", "20000", "60000", "170000"] {
        push_entry(mode, &secret, ZERO, &format!("refs/heads/secret-{mode}"));
        push_entry(mode, &missing, ZERO, &format!("refs/heads/missing-{mode}"));
    }
    push_entry("777", &missing, &base, "refs/heads/master");
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    for (name, more) in
        [("all", &[][..]), ("shallow", &["--depth", "1"]), ("one", &["--single-branch"])]
    {
        let clone = folder.path().join(name).to_string_lossy().into_owned();
        let address = scene.address("ada", PASSWORD);
        scene.git(&[&["clone", "-q", "--bare"], more, &[&address, &clone]].concat()).ok();
        let found = scene.git(&["--git-dir", &clone, "cat-file", "-e", &secret]);
        assert!(!found.success, "{name}: the object of a deleted branch was sent");
    }
    let project = scene.project;
    for call in ["contributors", "tree", "commits"] {
        let path = format!("/projects/{project}/repository/{call}");
        forge.get(&path).token(&scene.ada).send().expect(200);
    }
    let raw = forge.get(&format!("/projects/{project}/repository/raw_blobs/{secret}"));
    let developer = scene.member("dev", "30");
    raw.token(&developer).send().expect(404);
}

/// A push could show what an unreachable object contains by a delta on it.
fn deltas_on_unreachable_objects_are_refused(forge: &Forge) {
    let scene = Scene::filled(forge);
    let tip = scene.tree.git(&["rev-parse", "HEAD"]);
    scene.tree.write("secret", "a secret\n").commit("Secret\n");
    let base = id_bytes(&scene.tree.git(&["rev-parse", "HEAD:secret"]));
    scene.push("ada", &["HEAD:refs/heads/secret"]).ok();
    // The whole base plus one letter.
    let (delta, blob) = ([9, 10, 0x90, 9, 1, b'x'], store_object(&scene, "blob", b"a secret\nx"));
    let tree_text = [&b"100644 f\0"[..], &id_bytes(&blob)].concat();
    let tree = store_object(&scene, "tree", &tree_text);
    let who = "Ada <ada@example.com> 1474540200 +0000";
    let text = format!("tree {tree}\nparent {tip}\nauthor {who}\ncommitter {who}\n\nx\n");
    let commit = store_object(&scene, "commit", text.as_bytes());
    let thin = build_pack(
        &[
            ([entry_header(7, delta.len()), base].concat(), delta.to_vec()),
            (entry_header(2, tree_text.len()), tree_text),
            (entry_header(1, text.len()), text.into_bytes()),
        ],
        Compression::default(),
    );
    let push = Push::new(ZERO, &commit, "refs/heads/x").pack(thin);

    scene.push("ada", &[":refs/heads/secret"]).ok();
    assert_refused(&scene, &push, &["ng refs/heads/x missing necessary objects"]);
    scene.push("ada", &["HEAD:refs/heads/secret"]).ok();
    let answer = push.send(&scene);
    assert!(answer.contains("ok refs/heads/x"), "its base is reachable: {answer:?}");
    scene.assert_sound();
}

/// The bytes of an id.
fn id_bytes(id: &str) -> Vec<u8> {
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).expect("hex"), 16);
    id.as_bytes().chunks(2).map(|pair| byte(pair).expect("hex")).collect()
}

/// Commits and tags are held in memory as a whole when they are shown, so their size is limited.
fn commits_and_tags_that_nobody_reads_are_refused(forge: &Forge) {
    let scene = Scene::filled(forge);
    let tree = scene.tree.git(&["rev-parse", "HEAD^{tree}"]);
    let tip = scene.tree.git(&["rev-parse", "HEAD"]);
    let who = "Ada <ada@example.com> 1474540200 +0000";
    let long = "x".repeat(17 << 20);
    let text = format!("tree {tree}\nauthor {who}\ncommitter {who}\n\n{long}");
    let commit = store_object(&scene, "commit", text.as_bytes());
    let text = format!("object {tip}\ntype commit\ntag v1\ntagger {who}\n\n{long}");
    let tag = store_object(&scene, "tag", text.as_bytes());
    for (id, name) in [(commit, "refs/heads/x"), (tag, "refs/tags/v1")] {
        let push = Push::new(ZERO, &id, name).pack(pack(&scene, &[&id]));
        assert_refused(&scene, &push, &["is too large"]);
    }
}

/// Builds a pack. Each entry is its header, and the data that is compressed after it.
fn build_pack(entries: &[(Vec<u8>, Vec<u8>)], level: Compression) -> Vec<u8> {
    let mut pack = b"PACK\0\0\0\x02".to_vec();
    pack.extend_from_slice(&(entries.len() as u32).to_be_bytes());
    for (start, data) in entries {
        pack.extend_from_slice(start);
        let mut encoder = ZlibEncoder::new(&mut pack, level);
        encoder.write_all(data).and_then(|()| encoder.finish().map(drop)).expect("memory");
    }
    let checksum = Sha1::digest(&pack);
    pack.extend_from_slice(&checksum);
    pack
}

/// The header of a pack entry: its kind and size.
fn entry_header(kind: u8, size: usize) -> Vec<u8> {
    let (mut bytes, mut size, mut byte) = (vec![], size >> 4, kind << 4 | (size & 15) as u8);
    while size > 0 {
        bytes.push(byte | 0x80);
        (byte, size) = ((size & 0x7f) as u8, size >> 7);
    }
    bytes.push(byte);
    bytes
}

fn a_push_ends_when_its_client_hangs_up(forge: &Forge) {
    let scene = Scene::filled(forge);
    let tip = scene.tree.git(&["rev-parse", "HEAD"]);
    // A delta that copies 64 KiB 4,096 times, which takes a while to hash.
    let block = vec![7; 64 << 10];
    let whole = entry_header(3, block.len());
    let delta = [&[0x80, 0x80, 0x04][..], &[0x80, 0x80, 0x80, 0x80, 0x01], &[0x80; 4096]].concat();
    let compressed = build_pack(&[(whole.clone(), block.clone())], Compression::default());
    // The content without the header and the checksum of the pack.
    let distance = u8::try_from(compressed.len() - 32).expect("a small entry");
    assert!(distance < 0x80, "{distance} takes two bytes");
    let differing = [entry_header(6, delta.len()), vec![distance]].concat();
    let pack = build_pack(&[(whole, block), (differing, delta)], Compression::default());

    let line = format!("{ZERO} {tip} refs/heads/x\0report-status");
    let mut body = format!("{:04x}{line}0000", line.len() + 4).into_bytes();
    body.extend(pack);
    let head = format!(
        "POST /ada/ship.git/git-receive-pack HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: {}\r\n\
         Content-Type: application/x-git-receive-pack-request\r\nContent-Length: {}\r\n\r\n",
        scene.ada,
        body.len()
    );
    let mut client = TcpStream::connect(forge.address).expect("the server listens");
    client.write_all(head.as_bytes()).and_then(|()| client.write_all(&body)).expect("it reads");
    let is_at_work = || forge.scratch_packs() > 0;
    let wait_while = |condition: &dyn Fn() -> bool, what: &str| {
        let until = Instant::now() + Duration::from_secs(120);
        while condition() {
            assert!(Instant::now() < until, "{what}");
            thread::sleep(Duration::from_millis(5));
        }
    };
    wait_while(&|| !is_at_work(), "the push does not begin");
    drop(client);
    wait_while(&is_at_work, "the push does not end");
    assert_eq!(scene.server_ref("refs/heads/x"), None, "the push was abandoned");
    scene.assert_sound();
}

fn a_gzip_body_that_becomes_huge_is_refused(forge: &Forge) {
    let scene = Scene::filled(forge);
    let tip = scene.tree.git(&["rev-parse", "HEAD"]);
    let zeros = vec![0; 40 << 20];
    let pack = build_pack(&[(entry_header(3, zeros.len()), zeros)], Compression::none());
    let line = format!("{ZERO} {tip} refs/heads/x\0report-status");
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    write!(gzip, "{:04x}{line}0000", line.len() + 4).expect("memory");
    gzip.write_all(&pack).expect("memory");
    let body = gzip.finish().expect("memory");
    assert!(body.len() < 1 << 20, "{}", body.len());
    let request = forge.page("POST", "/ada/ship.git/git-receive-pack").token(&scene.ada);
    let request = request.header("Content-Type", "application/x-git-receive-pack-request");
    let answer = request.header("Content-Encoding", "gzip").body(body).send();
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    assert_eq!(answer.status, 200, "{text}");
    assert!(text.contains("unpack the gzip body of the push expands too much"), "{text}");
    assert_eq!(scene.server_ref("refs/heads/x"), None);
    scene.assert_sound();
}
