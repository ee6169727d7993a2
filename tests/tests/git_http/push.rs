//! The effects of a push: reference sections 2.9 and 2.10.

use hexforge_tests::{Forge, on_every_store};

use super::support::Scene;

on_every_store!(
    the_first_push_makes_the_default_branch,
    branches_and_tags_come_move_and_go,
    the_first_branch_may_have_any_name,
    histories_grow_push_by_push,
    shallow_clones_may_push,
    a_logo_in_the_default_branch_is_the_picture_of_the_project,
);

/// 2.9: HEAD is set, the branch is protected, and the feed has an event.
fn the_first_push_makes_the_default_branch(forge: &Forge) {
    let scene = Scene::new(forge);
    assert!(scene.shown()["default_branch"].is_null());
    let tip = scene.tree.write("README", "hello\n").commit("Begin\n");
    scene.push("ada", &["master"]).ok();
    assert_eq!(scene.server_ref("refs/heads/master"), Some(tip.clone()));
    assert_eq!(scene.shown()["default_branch"], "master");
    let path = format!("/projects/{}/repository/branches/master", scene.project);
    let branch = forge.get(&path).token(&scene.ada).send().expect(200);
    assert_eq!(branch["commit"]["id"], tip);
    assert_eq!(branch["protected"], true);
    assert_eq!(branch["developers_can_push"], false);
    let events = scene.events();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["action_name"], "pushed new");
    assert_eq!(events[0]["data"]["after"], tip);
    assert_eq!(events[0]["data"]["total_commits_count"], 1);
    scene.assert_sound();
}

fn the_first_branch_may_have_any_name(forge: &Forge) {
    let scene = Scene::new(forge);
    scene.tree.commit("Begin\n");
    scene.push("ada", &["master:refs/heads/trunk"]).ok();
    assert_eq!(scene.shown()["default_branch"], "trunk");
    assert_eq!(scene.on_server(&["symbolic-ref", "HEAD"]), "refs/heads/trunk");
    scene.push("ada", &["master:refs/heads/other"]).ok();
    assert_eq!(scene.shown()["default_branch"], "trunk");
}

fn branches_and_tags_come_move_and_go(forge: &Forge) {
    let scene = Scene::filled(forge);
    let tree = &scene.tree;
    // The first push contains no objects.
    scene.push("ada", &["master:refs/heads/topic"]).ok();
    tree.git(&["checkout", "-q", "-b", "topic"]);
    let tip = tree.write("a/b", "b\n").commit("Add b\n");
    scene.push("ada", &["topic"]).ok();
    assert_eq!(scene.server_ref("refs/heads/topic"), Some(tip.clone()));
    tree.git(&["reset", "-q", "--hard", "master"]);
    let other = tree.write("c", "c\n").commit("Add c\n");
    scene.push("ada", &["topic"]).refused(&["[rejected]"]);
    scene.push("ada", &["--force", "topic"]).ok();
    assert_eq!(scene.server_ref("refs/heads/topic"), Some(other));
    tree.git(&["tag", "light"]);
    tree.git(&["tag", "-m", "Full", "v1.0"]);
    scene.push("ada", &["--tags"]).ok();
    assert_eq!(scene.server_ref("refs/tags/v1.0"), Some(tree.git(&["rev-parse", "v1.0"])));
    let path = format!("/projects/{}/repository/tags/v1.0", scene.project);
    let tag = forge.get(&path).token(&scene.ada).send().expect(200);
    assert_eq!(tag["message"], "Full");
    scene.push("ada", &["--delete", "topic", "light"]).ok();
    assert_eq!(scene.server_ref("refs/heads/topic"), None);
    assert_eq!(scene.server_ref("refs/tags/light"), None);
    let words: Vec<_> = scene.events().iter().map(|e| e["action_name"].to_string()).collect();
    assert_eq!(words.len(), 8, "{words:?}");
    assert_eq!(words.iter().filter(|word| *word == "\"deleted\"").count(), 2);
    assert_eq!(words.iter().filter(|word| *word == "\"pushed to\"").count(), 2);
    scene.push("ada", &["topic:refs/notes/x"]).ok();
    assert_eq!(scene.events().len(), 8, "other refs create no events");
    scene.assert_sound();
}

/// Thin packs are completed. The number of packs exceeds the initial capacity of an open repository.
fn histories_grow_push_by_push(forge: &Forge) {
    let scene = Scene::filled(forge);
    let mut text: String = (0..500).map(|line| format!("line {line}\n")).collect();
    for number in 0..40 {
        text.push_str(&format!("more {number}\n"));
        scene.tree.write("long", &text).commit(&format!("Add {number}\n"));
        scene.push("ada", &["master"]).ok();
    }
    let path = format!("/projects/{}/repository/branches/master", scene.project);
    let branch = forge.get(&path).token(&scene.ada).send().expect(200);
    assert_eq!(branch["commit"]["id"], scene.tree.git(&["rev-parse", "HEAD"]));
    assert_eq!(scene.events()[0]["data"]["total_commits_count"], 1);
    scene.assert_sound();
}

/// Objects that the client lacks do not matter, because the server has them.
fn shallow_clones_may_push(forge: &Forge) {
    let scene = Scene::filled(forge);
    scene.tree.commit("More\n");
    scene.push("ada", &["master"]).ok();
    let shallow = tempfile::tempdir().expect("a temporary folder can be made");
    let folder = shallow.path().join("clone").to_string_lossy().into_owned();
    forge.ref_rows(scene.project).write_to(&scene.bare());
    let source = format!("file://{}", scene.bare().display());
    scene.tree.git(&["clone", "-q", "--depth", "1", &source, &folder]);
    scene.tree.git(&["-C", &folder, "commit", "-q", "--allow-empty", "-m", "Shallow"]);
    let address = scene.address("ada", hexforge_tests::forge::PASSWORD);
    scene.git(&["-C", &folder, "push", &address, "master"]).ok();
    let tip = scene.tree.git(&["-C", &folder, "rev-parse", "HEAD"]);
    assert_eq!(scene.server_ref("refs/heads/master"), Some(tip));
    // A history whose first commits nobody has is refused.
    scene.tree.git(&["-C", &folder, "commit", "-q", "--allow-empty", "-m", "x"]);
    let rootless = scene.forge.post("/projects").token(&scene.ada);
    rootless.form(&[("name", "other")]).send().expect(201);
    let address = address.replace("ship", "other");
    let said = scene.git(&["-C", &folder, "push", &address, "master"]);
    said.refused(&["shallow update not allowed"]);
    scene.assert_sound();
}

/// projects_groups.md 3.1, `avatar_url`.
fn a_logo_in_the_default_branch_is_the_picture_of_the_project(forge: &Forge) {
    let scene = Scene::filled(forge);
    assert!(scene.shown()["avatar_url"].is_null());
    let picture = b"\x89PNG and so on";
    scene.tree.write("logo.gif", b"GIF89a").write("logo.png", picture).commit("A logo\n");
    scene.push("ada", &["master:refs/heads/topic"]).ok();
    assert!(scene.shown()["avatar_url"].is_null(), "that branch is not shown");
    scene.push("ada", &["master"]).ok();
    let project = scene.shown();
    let url = format!("{}/avatar", project["web_url"].as_str().expect("an address"));
    assert_eq!(project["avatar_url"], url);
    let path = url.strip_prefix("http://forge.test").expect("our address");
    let shown = forge.page("GET", path).token(&scene.ada).send();
    assert_eq!((shown.status, shown.header("Content-Type")), (200, Some("image/png")));
    assert_eq!(shown.body, picture);
    assert_eq!(forge.page("GET", path).send().status, 404, "the project is private");
    let told = scene.events().into_iter().next().expect("a push");
    assert_eq!(told["data"]["project"]["avatar_url"], url);
    scene.tree.git(&["rm", "-q", "logo.png", "logo.gif"]);
    scene.tree.commit("None\n");
    scene.push("ada", &["master"]).ok();
    assert!(scene.shown()["avatar_url"].is_null());
    assert_eq!(forge.page("GET", path).token(&scene.ada).send().status, 404);
}
