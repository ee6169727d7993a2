//! Packs that nobody should take: refused, and nothing stays.

use std::io::Write;
use std::process::Stdio;

use hexforge_tests::{Forge, on_every_store};

use super::support::Scene;
use super::wire::{Push, ZERO};

on_every_store!(
    broken_packs_are_refused,
    histories_with_holes_are_refused,
    trees_that_could_do_harm_are_refused,
    refs_to_nothing_are_refused,
    commits_and_tags_that_nobody_reads_are_refused,
);

/// Asserts that a push was refused and left nothing.
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

/// Packs these objects and nothing else.
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

/// Stores an object that git would not make.
fn hash(scene: &Scene<'_>, kind: &str, content: &[u8]) -> String {
    let arguments = ["hash-object", "-t", kind, "-w", "--stdin", "--literally"];
    let mut command = scene.tree.command(&arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("git can be started");
    child.stdin.take().expect("a pipe").write_all(content).expect("git reads");
    let output = child.wait_with_output().expect("git ends");
    assert!(output.status.success());
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn commit_of(scene: &Scene<'_>, tree: &str, parent: Option<&str>) -> String {
    let parent = parent.map(|parent| format!("parent {parent}\n")).unwrap_or_default();
    let who = "Ada <ada@example.com> 1474540200 +0000";
    let text = format!("tree {tree}\n{parent}author {who}\ncommitter {who}\n\nx\n");
    hash(scene, "commit", text.as_bytes())
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
    // The same objects in one piece are taken.
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
        // Without the parent, a file, the folder.
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
    let blob = hash(&scene, "blob", b"x");
    let mut bytes = Vec::new();
    for pair in blob.as_bytes().chunks(2) {
        let digits = std::str::from_utf8(pair).expect("hex");
        bytes.push(u8::from_str_radix(digits, 16).expect("hex"));
    }
    for name in [".git", ".GIT", "..", ".", "", "a/b", "git~1", ".g\u{200d}it"] {
        let content = [format!("100644 {name}\0").as_bytes(), &bytes].concat();
        let tree = hash(&scene, "tree", &content);
        let commit = commit_of(&scene, &tree, None);
        let objects = pack(&scene, &[&commit, &tree, &blob]);
        let push = Push::new(ZERO, &commit, "refs/heads/x").pack(objects);
        assert_refused(&scene, &push, &["ng refs/heads/x unpacker error"]);
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
        // What is there is not what was expected.
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

/// They are held whole wherever they are shown.
fn commits_and_tags_that_nobody_reads_are_refused(forge: &Forge) {
    let scene = Scene::filled(forge);
    let tree = scene.tree.git(&["rev-parse", "HEAD^{tree}"]);
    let tip = scene.tree.git(&["rev-parse", "HEAD"]);
    let who = "Ada <ada@example.com> 1474540200 +0000";
    let long = "x".repeat(17 << 20);
    let text = format!("tree {tree}\nauthor {who}\ncommitter {who}\n\n{long}");
    let commit = hash(&scene, "commit", text.as_bytes());
    let text = format!("object {tip}\ntype commit\ntag v1\ntagger {who}\n\n{long}");
    let tag = hash(&scene, "tag", text.as_bytes());
    for (id, name) in [(commit, "refs/heads/x"), (tag, "refs/tags/v1")] {
        let push = Push::new(ZERO, &id, name).pack(pack(&scene, &[&id]));
        assert_refused(&scene, &push, &["is too large"]);
    }
}
