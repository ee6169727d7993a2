//! The rules for pushes, reference sections 2.9 and 2.10.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use hexforge_tests::forge::{PASSWORD, ROOT};
use hexforge_tests::{Forge, on_every_store};

use super::hostile::pack;
use super::support::Scene;
use super::wire::ZERO;

on_every_store!(
    a_developer_cannot_make_the_first_push,
    the_first_branch_is_protected_as_the_settings_say,
    protected_branches_take_what_masters_bring,
    one_refusal_declines_the_whole_push,
    existing_tags_are_for_masters,
    atomic_pushes_are_all_or_nothing,
    nothing_is_told_of_a_change_that_is_not_made,
    the_branch_of_head_stays,
    whoever_is_blocked_while_a_push_comes_in_pushes_no_more,
);

const PROTECTED: &str =
    "remote: GitLab: You are not allowed to push code to protected branches on this project.";

fn a_developer_cannot_make_the_first_push(forge: &Forge) {
    let scene = Scene::new(forge);
    scene.member("dev", "30");
    scene.tree.commit("Begin\n");
    let said = scene.push("dev", &["master:refs/heads/x"]);
    said.refused(&[PROTECTED, "[remote rejected]", "(pre-receive hook declined)"]);
    assert!(scene.events().is_empty());
    scene.assert_clean();
    // Administrators have no role in the project, so they cannot make the first push.
    scene.push("root", &["master"]).refused(&[PROTECTED]);
    scene.member("master", "40");
    scene.push("master", &["master"]).ok();
    scene.push("dev", &["master:refs/heads/x"]).ok();
}

/// 2.9: "0 none, 1 developers can push, 2 full (default), 3 developers can merge".
fn the_first_branch_is_protected_as_the_settings_say(forge: &Forge) {
    let scene = Scene::new(forge);
    let (dev, _) = forge.user("dev");
    scene.tree.commit("Begin\n");
    for (setting, may_begin, protected, push, merge) in [
        ("0", true, false, false, false),
        ("1", true, true, true, false),
        ("2", false, true, false, false),
        ("3", false, true, false, true),
    ] {
        let form = [("default_branch_protection", setting)];
        forge.put("/application/settings").token(ROOT).form(&form).send().expect(200);
        let name = format!("boat-{setting}");
        let made = forge.post("/projects").token(&scene.ada).form(&[("name", &name)]).send();
        let path = format!("/projects/{}", made.expect(201)["id"]);
        let form = [("user_id", dev.to_string()), ("access_level", "30".to_owned())];
        let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
        forge.post(&format!("{path}/members")).token(ROOT).form(&form).send().expect(201);
        let address =
            |who| scene.address(who, PASSWORD).replace("/ship.git", &format!("/{name}.git"));
        let begun = scene.push_to(&address("dev"), &["master"]);
        if may_begin {
            begun.ok();
        } else {
            begun.refused(&[PROTECTED]);
            scene.push_to(&address("ada"), &["master"]).ok();
        }
        let branch = format!("{path}/repository/branches/master");
        let shown = forge.get(&branch).token(&scene.ada).send().expect(200);
        let flags = ["protected", "developers_can_push", "developers_can_merge"];
        assert_eq!(flags.map(|flag| shown[flag] == true), [protected, push, merge], "{setting}");
    }
}

fn protected_branches_take_what_masters_bring(forge: &Forge) {
    let scene = Scene::filled(forge);
    scene.member("dev", "30");
    scene.member("master", "40");
    let first = scene.tree.git(&["rev-parse", "HEAD"]);
    scene.tree.commit("More\n");
    scene.push("dev", &["master"]).refused(&[PROTECTED]);
    assert_eq!(scene.server_ref("refs/heads/master"), Some(first.clone()));
    scene.push("master", &["master"]).ok();
    let back = format!("{first}:refs/heads/master");
    for who in ["dev", "master", "ada", "root"] {
        let text = "GitLab: You are not allowed to force push code to a protected branch";
        scene.push(who, &["--force", &back]).refused(&[text]);
        let text = "GitLab: You are not allowed to delete protected branches from this project.";
        scene.push(who, &["--delete", "master"]).refused(&[text]);
    }
    scene.tree.commit("Even more\n");
    scene.push("root", &["master"]).ok();
    scene.assert_sound();
}

/// The rules are checked for each ref, not only for the first.
fn one_refusal_declines_the_whole_push(forge: &Forge) {
    let scene = Scene::filled(forge);
    scene.member("dev", "30");
    scene.tree.commit("More\n");
    let said = scene.push("dev", &["master:refs/heads/a", "master", "master:refs/heads/z"]);
    said.refused(&[PROTECTED]);
    assert_eq!(said.stderr.matches("(pre-receive hook declined)").count(), 3, "{}", said.stderr);
    assert_eq!(scene.server_ref("refs/heads/a"), None);
    assert_eq!(scene.server_ref("refs/heads/z"), None);
    assert_eq!(scene.events().len(), 1);
    scene.assert_sound();
}

fn existing_tags_are_for_masters(forge: &Forge) {
    let scene = Scene::filled(forge);
    scene.member("dev", "30");
    scene.tree.git(&["tag", "v1"]);
    scene.push("dev", &["v1"]).ok();
    scene.tree.commit("More\n");
    let text = "GitLab: You are not allowed to change existing tags on this project.";
    scene.push("dev", &["--force", "master:refs/tags/v1"]).refused(&[text]);
    scene.push("dev", &["--delete", "v1"]).refused(&[text]);
    scene.push("ada", &["--force", "master:refs/tags/v1"]).ok();
    scene.push("ada", &["--delete", "v1"]).ok();
}

fn atomic_pushes_are_all_or_nothing(forge: &Forge) {
    let scene = Scene::filled(forge);
    // One branch name is a folder of the other.
    let clashing = ["master:refs/heads/a", "master:refs/heads/a/b", "master:refs/heads/c"];
    let said = scene.push("ada", &[&["--atomic"], &clashing[..]].concat());
    said.refused(&["[remote rejected]"]);
    for name in ["refs/heads/a", "refs/heads/a/b", "refs/heads/c"] {
        assert_eq!(scene.server_ref(name), None, "{name}");
    }
    let said = scene.push("ada", &clashing);
    said.refused(&["failed to update ref"]);
    assert!(scene.server_ref("refs/heads/c").is_some());
    scene.push("ada", &["--atomic", "master:refs/heads/d", "master:refs/tags/e"]).ok();
    assert!(scene.server_ref("refs/tags/e").is_some());
    scene.assert_sound();
}

/// A commit that mentions an issue is pushed to two branches at once, one of which cannot be created.
fn nothing_is_told_of_a_change_that_is_not_made(forge: &Forge) {
    let scene = Scene::filled(forge);
    let issues = format!("/projects/{}/issues", scene.project);
    let issue = forge.post(&issues).token(&scene.ada).form(&[("title", "A leak")]).send();
    let notes = format!("{issues}/{}/notes", issue.expect(201)["id"]);
    let before = scene.events().len();
    let made = scene.tree.commit("Made, see #1\n");
    scene.tree.git(&["checkout", "-q", "-b", "aside", "HEAD^"]);
    scene.tree.commit("Not made, see #1\n");
    let changes = ["master:refs/heads/made", "aside:refs/heads/master/aside"];
    scene.push("ada", &changes).refused(&["failed to update ref"]);
    assert_eq!(scene.server_ref("refs/heads/made"), Some(made.clone()));
    assert_eq!(scene.server_ref("refs/heads/master/aside"), None);
    let events = scene.events();
    assert_eq!(events.len() - before, 1);
    assert_eq!(events[0]["data"]["ref"], "refs/heads/made");
    let notes = forge.get(&notes).token(&scene.ada).send().expect(200);
    let notes: Vec<&str> =
        notes.as_array().expect("a list").iter().filter_map(|note| note["body"].as_str()).collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains(&made), "{notes:?}");
}

/// 2.9: without a protection, git itself protects the branch of HEAD.
fn the_branch_of_head_stays(forge: &Forge) {
    let scene = Scene::filled(forge);
    let path = format!("/projects/{}/repository/branches/master/unprotect", scene.project);
    forge.put(&path).token(&scene.ada).send().expect(200);
    scene.push("ada", &["master:refs/heads/x"]).ok();
    let said = scene.push("ada", &["--delete", "master", "x"]);
    said.refused(&["deletion of the current branch prohibited"]);
    assert!(scene.server_ref("refs/heads/master").is_some());
    assert_eq!(scene.server_ref("refs/heads/x"), None);
    assert_eq!(scene.shown()["default_branch"], "master");
}

/// The decision uses the permissions at the end of the push.
fn whoever_is_blocked_while_a_push_comes_in_pushes_no_more(forge: &Forge) {
    let scene = Scene::filled(forge);
    let tip = scene.tree.git(&["rev-parse", "HEAD"]);
    let line = format!("{ZERO} {tip} refs/heads/late\0report-status");
    let mut body = format!("{:04x}{line}0000", line.len() + 4).into_bytes();
    body.extend(pack(&scene, &[]));
    let ada = forge.get("/user").token(&scene.ada).send().expect(200)["id"].clone();
    let mut stream = TcpStream::connect(forge.address).expect("it listens");
    let head = format!(
        "POST /ada/ship.git/git-receive-pack HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\
         PRIVATE-TOKEN: {}\r\nContent-Type: application/x-git-receive-pack-request\r\n\
         Content-Length: {}\r\n\r\n",
        scene.ada,
        body.len()
    );
    let half = body.len() / 2;
    stream.write_all(head.as_bytes()).expect("it reads");
    stream.write_all(&body[..half]).expect("it reads");
    // At that time the push had been accepted.
    std::thread::sleep(Duration::from_millis(500));
    forge.put(&format!("/users/{ada}/block")).token(ROOT).send().expect(200);
    stream.write_all(&body[half..]).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert!(answer.contains("ng refs/heads/late"), "{answer}");
    assert_eq!(scene.server_ref("refs/heads/late"), None);
}
