//! Refs that only the server writes: heads of merge requests, which clients fetch, and refs that keep commits, which
//! clients do not see. Reference section 10 of the merge requests.

use hexforge_tests::forge::PASSWORD;
use hexforge_tests::{Forge, on_every_store};

use super::support::Scene;

on_every_store!(
    reserved_refs_are_written_by_the_server_alone,
    heads_of_merge_requests_are_fetched,
    refs_that_keep_commits_are_hidden,
);

const REFUSED: &str = "GitLab: You are not allowed to change the references of merge requests.";

/// A project whose server has two commits that no branch has.
struct Reserved<'a> {
    scene: Scene<'a>,
    /// The commit of `refs/merge-requests/1/head`.
    head: String,
    /// The commit of a ref in `refs/keep-around/`.
    kept: String,
}

impl<'a> Reserved<'a> {
    fn new(forge: &'a Forge) -> Self {
        let scene = Scene::filled(forge);
        let [head, kept] = ["head", "kept"].map(|name| {
            scene.tree.git(&["checkout", "-q", "-b", name, "master"]);
            scene.tree.write("README", format!("{name}\n")).commit(&format!("Make {name}\n"));
            scene.push("ada", &[name]).ok();
            scene.tree.git(&["rev-parse", name])
        });
        scene.on_server(&["update-ref", "refs/merge-requests/1/head", &head]);
        scene.on_server(&["update-ref", &format!("refs/keep-around/{kept}"), &kept]);
        scene.push("ada", &["--delete", "head", "kept"]).ok();
        scene.tree.git(&["checkout", "-q", "master"]);
        Self { scene, head, kept }
    }

    fn kept_ref(&self) -> String {
        format!("refs/keep-around/{}", self.kept)
    }

    /// Runs a git command that reads from the server, with each protocol version.
    fn each_version(&self, arguments: &[&str], mut check: impl FnMut(bool, &str)) {
        for version in ["0", "1", "2"] {
            let setting = format!("protocol.version={version}");
            let all = [&["-c", setting.as_str()], arguments].concat();
            let output = self.scene.tree.command(&all).output().expect("git can be started");
            let text = [output.stdout, output.stderr].concat();
            check(output.status.success(), &String::from_utf8_lossy(&text));
        }
    }
}

fn reserved_refs_are_written_by_the_server_alone(forge: &Forge) {
    let reserved = Reserved::new(forge);
    let (scene, kept_ref) = (&reserved.scene, reserved.kept_ref());
    let new_ref = format!("refs/keep-around/{}", reserved.head);
    let before = scene.on_server(&["for-each-ref"]);
    for who in ["ada", "root"] {
        for name in ["refs/merge-requests/1/head", "refs/merge-requests/2/head", &new_ref] {
            let change = format!("+master:{name}");
            scene.push(who, &[&change]).refused(&["[remote rejected]", REFUSED]);
        }
        // The client is not told that this ref exists, so its push expects a new one. The answer does not tell it either.
        scene.push(who, &[&format!("+master:{kept_ref}")]).refused(&["[remote rejected]", REFUSED]);
        let removal = ":refs/merge-requests/1/head";
        scene.push(who, &[removal]).refused(&["[remote rejected]", REFUSED]);
    }
    assert_eq!(scene.on_server(&["for-each-ref"]), before);
    // The push is refused as a whole.
    let both = ["master:refs/heads/a", "master:refs/merge-requests/2/head"];
    scene.push("ada", &both).refused(&[REFUSED]);
    assert_eq!(scene.on_server(&["for-each-ref"]), before);
    scene.assert_sound();
}

fn heads_of_merge_requests_are_fetched(forge: &Forge) {
    let reserved = Reserved::new(forge);
    let (scene, name) = (&reserved.scene, "refs/merge-requests/1/head");
    let address = scene.address("ada", PASSWORD);
    let line = format!("{}\t{name}", reserved.head);
    reserved.each_version(&["ls-remote", &address], |is_ok, said| {
        assert!(is_ok && said.contains(&line), "{said}");
    });
    reserved.each_version(&["fetch", "-q", &address, name], |is_ok, said| assert!(is_ok, "{said}"));
    assert_eq!(scene.tree.git(&["rev-parse", "FETCH_HEAD"]), reserved.head);
}

fn refs_that_keep_commits_are_hidden(forge: &Forge) {
    let reserved = Reserved::new(forge);
    let (scene, kept_ref) = (&reserved.scene, reserved.kept_ref());
    let address = scene.address("ada", PASSWORD);
    for what in [&["ls-remote", &address][..], &["ls-remote", &address, "refs/keep-around/*"]] {
        reserved.each_version(what, |is_ok, said| {
            assert!(is_ok && !said.contains(&reserved.kept), "{said}");
        });
    }
    // git reads the refs before it pushes, too.
    let mut push = scene.tree.command(&["push", "--dry-run", &address, "master"]);
    let said = push.env("GIT_TRACE_PACKET", "1").output().expect("git can be started");
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(
        said.contains("refs/merge-requests/1/head") && !said.contains(&reserved.kept),
        "{said}"
    );
    // Neither the name nor the id leads a client that lacks the commit to it.
    let other = scene.tree.path().join("other.git").to_string_lossy().into_owned();
    scene.tree.git(&["init", "-q", "--bare", &other]);
    for what in [&kept_ref, &reserved.kept] {
        let fetch = ["--git-dir", &other, "fetch", "-q", &address, what];
        reserved.each_version(&fetch, |is_ok, said| assert!(!is_ok, "{what}: {said}"));
    }
    reserved.each_version(
        &["--git-dir", &other, "fetch", "-q", &address, &reserved.head],
        |is_ok, said| {
            assert!(is_ok, "{said}");
        },
    );
    // It is shown to readers, because a merge request needs it, and is in no list.
    let reader = scene.member("reader", "20");
    let path = format!("/projects/{}/repository", scene.project);
    let get = |rest: &str| scene.forge.get(&format!("{path}/{rest}")).token(&reader).send();
    let blob = get(&format!("blobs/{}?filepath=README", reserved.kept));
    assert_eq!((blob.status, blob.text()), (200, "kept\n"));
    assert_eq!(get(&format!("tree?ref_name={kept_ref}")).status, 404);
    let branches = get("branches").expect(200);
    let names: Vec<_> = branches.as_array().expect("a list").iter().collect();
    assert_eq!((names.len(), names[0]["name"].as_str()), (1, Some("master")));
    assert_eq!(get("tags").expect(200).as_array().map(Vec::len), Some(0));
    let fork = scene.member("forker", "20");
    let made = scene.forge.post(&format!("/projects/fork/{}", scene.project)).token(&fork);
    let made = made.form(&[("namespace", "forker")]).send().expect(201);
    let made = made["id"].as_i64().expect("projects have ids");
    let forked = format!("/projects/{made}/repository/blobs/{}?filepath=README", reserved.kept);
    assert_eq!(scene.forge.get(&forked).token(&fork).send().status, 404);
}
