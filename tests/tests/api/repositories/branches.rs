//! Branches: reference sections 1.4, 2.1 to 2.3, 2.6 to 2.9, and rows 1, 5 and 9 of the dialects.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::everywhere::concurrent_calls::{at_once, statuses};
use crate::api::groups::group_support::in_the_original;
use crate::api::projects::project_support::{names, read};
use crate::api::repositories::refs_support::{
    branch_json, do_tasks, empty_fixture, filled_fixture, new_branch, protect,
};
use crate::api::support::{message, queued_events};

on_every_store!(
    branches_are_listed_by_the_bytes_of_their_names,
    a_branch_is_found_by_its_exact_name,
    a_branch_can_be_made_from_whatever_names_a_commit,
    a_branch_can_be_removed_unless_it_is_the_default_or_protected,
    merged_branches_go_later,
    what_is_pushed_to_an_empty_repository_later_is_not_removed,
    an_empty_repository_has_no_branches,
    the_default_branch_follows_what_is_there,
    a_branch_that_becomes_the_default_is_protected,
    changes_of_branches_by_others_are_seen_at_once,
    of_two_branches_of_one_name_made_at_once_one_is_made,
    rows_1_5_and_9_in_the_specification,
);

/// GET /projects/:id/repository/branches
fn branches_are_listed_by_the_bytes_of_their_names(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for name in ["alpha", "Zeta", "feature/a.b", "ünï"] {
        fixture.tree.git_bare(&["branch", name, "master"]);
    }
    let all = ["Zeta", "alpha", "feature/a.b", "feature/x", "master", "ünï"];
    let expected: Vec<Value> = all.iter().map(|name| branch_json(&fixture, name)).collect();
    let list = forge.get(&fixture.branches).token(fixture.token("reporter")).send();
    list.expect(200);
    assert_eq!(list.text(), Value::from(expected).to_string());
    for (query, shown) in
        [("?per_page=2", &all[..2]), ("?per_page=2&page=2", &all[2..4]), ("?page=2", &[])]
    {
        let page = forge.get(&format!("{}{query}", fixture.branches)).token(ROOT).send();
        assert_eq!(names(&page.expect(200)), shown, "{query}");
        assert_eq!(page.header("X-Total"), Some("6"), "{query}");
    }
    // The project can also be given by its path.
    let by_path = "/projects/ada%2Fship/repository/branches";
    assert_eq!(forge.get(by_path).token(ROOT).send().text(), list.text());
}

/// GET /projects/:id/repository/branches/:branch
fn a_branch_is_found_by_its_exact_name(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for name in ["with.1.2.3", "a%2Fb", "release", "x/protect", "100%", "a+b", "ünï"] {
        fixture.tree.git_bare(&["branch", name, "master"]);
    }
    for (path, name) in [
        ("master", "master"),
        ("feature/x", "feature/x"),
        ("feature%2Fx", "feature/x"),
        ("with.1.2.3", "with.1.2.3"),
        // The name is percent-decoded once.
        ("a%252Fb", "a%2Fb"),
        ("release", "release"),
        ("x/protect", "x/protect"),
        ("100%25", "100%"),
        ("a+b", "a+b"),
        ("%C3%BCn%C3%AF", "ünï"),
    ] {
        let path = format!("{}/{path}", fixture.branches);
        let found = forge.get(&path).token(fixture.token("reporter")).send();
        found.expect(200);
        assert_eq!(found.text(), branch_json(&fixture, name).to_string(), "{path}");
    }
    let (commit, short) = (fixture.id("master"), fixture.id("master")[..8].to_owned());
    for path in [
        "missing",
        "Master",
        "v1.0.0",
        "feature",
        "feature/x/y",
        "HEAD",
        "refs/heads/master",
        "heads/master",
        "master~1",
        "..",
        "a..b",
        "-x",
        "%00",
        "a%0Ab",
        "%ff",
        "master%20",
        &commit,
        &short,
        &"x".repeat(5000),
        &"x/".repeat(2500),
    ] {
        let path = format!("{}/{path}", fixture.branches);
        let missing = forge.get(&path).token(fixture.token("reporter")).send().expect(404);
        assert_eq!(missing, message("404 Branch Not Found"), "{path}");
    }
}

/// POST /projects/:id/repository/branches
fn a_branch_can_be_made_from_whatever_names_a_commit(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let (one, two, three) = (fixture.id("master~2"), fixture.id("master~1"), fixture.id("master"));
    let beside = fixture.id("feature/x");
    // A branch, a tag and a short commit id with the same name: the tag is used, as in git.
    fixture.tree.git_bare(&["branch", "both", &beside]);
    fixture.tree.git_bare(&["tag", "both", &one]);
    // A full commit id is a commit, even if a branch has that name.
    fixture.tree.git_bare(&["update-ref", &format!("refs/heads/{two}"), &beside]);
    for (number, (from, commit)) in [
        ("master", &three),
        ("feature/x", &beside),
        ("v1.0.0", &one),
        ("v1.1.0", &two),
        ("refs/heads/feature/x", &beside),
        ("heads/feature/x", &beside),
        ("refs/tags/v1.1.0", &two),
        ("HEAD", &three),
        ("master~1", &two),
        ("master^^", &one),
        (" master ", &three),
        (one.as_str(), &one),
        (&one[..7], &one),
        (&one.to_uppercase(), &one),
        (&fixture.id("refs/tags/v1.1.0"), &two),
        ("both", &one),
        (two.as_str(), &two),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("new/{number}.x");
        let form = [("branch_name", name.as_str()), ("ref", from)];
        let made =
            forge.post(&fixture.branches).token(fixture.token("developer")).form(&form).send();
        made.expect(200);
        assert_eq!(fixture.id(&format!("refs/heads/{name}")), *commit, "{from}");
        assert_eq!(made.text(), branch_json(&fixture, &name).to_string(), "{from}");
        fixture.tree.assert_sound();
    }
    // In the body or in the query, in any format.
    let path = format!("{}?branch_name=queried&ref=master", fixture.branches);
    forge.post(&path).token(fixture.token("master")).send().expect(200);
    let fields = json!({"branch_name": "refs/heads/x", "ref": "master"});
    forge.post(&fixture.branches).token(ROOT).json(&fields).send().expect(200);
    assert_eq!(fixture.id("refs/heads/refs/heads/x"), three);
}

/// DELETE /projects/:id/repository/branches/:branch
fn a_branch_can_be_removed_unless_it_is_the_default_or_protected(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for name in ["with.1.2", "a/b", "a/c", "packed/one", "packed/two"] {
        fixture.tree.git_bare(&["branch", name, "master"]);
    }
    fixture.tree.git_bare(&["pack-refs", "--all"]);
    fixture.tree.git_bare(&["branch", "a/d", "master"]);
    for (path, name) in [
        ("with.1.2", "with.1.2"),
        ("a/b", "a/b"),
        ("a%2Fc", "a/c"),
        ("a/d", "a/d"),
        ("packed/one", "packed/one"),
    ] {
        let path = format!("{}/{path}", fixture.branches);
        let gone = forge.delete(&path).token(fixture.token("developer")).send();
        gone.expect(200);
        assert_eq!(gone.text(), json!({ "branch_name": name }).to_string());
        fixture.tree.assert_sound();
        let again = forge.delete(&path).token(ROOT).send().expect(404);
        assert_eq!(again, message("No such branch"));
    }
    let list = forge.get(&fixture.branches).token(ROOT).send().expect(200);
    assert_eq!(names(&list), ["feature/x", "master", "packed/two"]);
    // The folders of removed branches do not prevent branches with those names.
    new_branch(forge, &fixture, "a", "master");
    fixture.tree.assert_sound();
    protect(forge, &fixture, "packed/*", true, true);
    for (name, text) in [
        ("master", "Cannot remove HEAD branch"),
        ("packed/two", "Protected branch cant be removed"),
    ] {
        for who in ["developer", "master", "owner", "root"] {
            let path = format!("{}/{name}", fixture.branches);
            let kept = forge.delete(&path).token(fixture.token(who)).send().expect(400);
            assert_eq!(kept, message(text), "{who}");
        }
    }
    for missing in ["v1.0.0", "HEAD", "..", "-x", "refs/heads/master", &fixture.id("master")] {
        let path = format!("{}/{missing}", fixture.branches);
        let answer = forge.delete(&path).token(ROOT).send().expect(404);
        assert_eq!(answer, message("No such branch"), "{missing}");
    }
}

/// DELETE /projects/:id/repository/merged_branches
fn merged_branches_go_later(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let path = format!("{}/repository/merged_branches", fixture.cast.path);
    for (name, at) in [
        ("merged", "master~1"),
        ("deep/merged", "master~2"),
        ("same", "master"),
        ("kept-1", "master~2"),
        ("protected", "master~1"),
    ] {
        fixture.tree.git_bare(&["branch", name, at]);
    }
    protect(forge, &fixture, "kept-*", false, false);
    protect(forge, &fixture, "protected", true, true);
    let all = ["deep/merged", "feature/x", "kept-1", "master", "merged", "protected", "same"];
    let list = || {
        let list = forge.get(&fixture.branches).token(ROOT).send().expect(200);
        names(&list).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    // Everybody who reads the project gets the success status, but nothing is removed for those who may not push.
    let answer = forge.delete(&path).token(fixture.token("reporter")).send();
    assert_eq!((answer.status, answer.text()), (200, "200"));
    do_tasks(forge);
    assert_eq!(list(), all);
    let told = queued_events(forge).len();
    let answer = forge.delete(&path).token(fixture.token("developer")).send();
    assert_eq!((answer.status, answer.text()), (200, "200"));
    assert_eq!(list(), all, "the task has not run yet");
    do_tasks(forge);
    assert_eq!(list(), ["feature/x", "kept-1", "master", "protected", "same"]);
    assert_eq!(queued_events(forge).len() - told, 2, "one event per removed branch");
    fixture.tree.assert_sound();
    forge.delete(&path).token(fixture.token("developer")).send().expect(200);
    do_tasks(forge);
    assert_eq!(queued_events(forge).len() - told, 2);
    // If the project is archived before the task runs, its branches stay.
    fixture.tree.git_bare(&["branch", "again", "master~1"]);
    forge.delete(&path).token(fixture.token("developer")).send().expect(200);
    forge.post(&format!("{}/archive", fixture.cast.path)).token(ROOT).send().expect(201);
    do_tasks(forge);
    assert!(list().contains(&"again".to_owned()));
}

/// GET /projects/:id/repository/branches, GET /projects/:id/repository/branches/:branch,
/// POST /projects/:id/repository/branches, DELETE /projects/:id/repository/branches/:branch,
/// PUT /projects/:id/repository/branches/:branch/protect
fn an_empty_repository_has_no_branches(forge: &Forge) {
    let made = empty_fixture(forge);
    let token = made.token("owner");
    // A repository that was never written to, and one that has no objects.
    let bare = forge.post("/projects").token(token);
    let bare = bare.form(&[("name", "Bare")]).send().expect(201);
    let bare = format!("/projects/{}/repository", bare["id"]);
    for path in [format!("{}/repository", made.cast.path), bare] {
        let list = forge.get(&format!("{path}/branches")).token(token).send();
        assert_eq!((list.expect(200), list.header("X-Total")), (json!([]), Some("0")));
        let branch = format!("{path}/branches/master");
        let missing = message("404 Branch Not Found");
        assert_eq!(forge.get(&branch).token(token).send().expect(404), missing);
        for action in ["protect", "unprotect"] {
            let answer = forge.put(&format!("{branch}/{action}")).token(token).send();
            assert_eq!(answer.expect(404), missing);
        }
        let gone = forge.delete(&branch).token(token).send().expect(404);
        assert_eq!(gone, message("No such branch"));
        let form = [("branch_name", "master"), ("ref", "master")];
        let refused = forge.post(&format!("{path}/branches")).token(token).form(&form).send();
        assert_eq!(refused.expect(400), message("Invalid reference name"));
        let merged = forge.delete(&format!("{path}/merged_branches")).token(token).send();
        assert_eq!(merged.expect(200), json!(200));
        do_tasks(forge);
    }
    assert_eq!(read(forge, token, &made.cast.project)["default_branch"], Value::Null);
}

/// DELETE /projects/:id/repository/merged_branches
fn what_is_pushed_to_an_empty_repository_later_is_not_removed(forge: &Forge) {
    let fixture = empty_fixture(forge);
    let path = format!("{}/repository/merged_branches", fixture.cast.path);
    forge.delete(&path).token(ROOT).send().expect(200);
    fixture.tree.write("a", "a").commit("One");
    fixture.tree.git(&["branch", "merged"]);
    fixture.tree.write("a", "b").commit("Two");
    forge.fill(fixture.project(), &fixture.tree);
    do_tasks(forge);
    let list = forge.get(&fixture.branches).token(ROOT).send().expect(200);
    assert_eq!(names(&list), ["master", "merged"]);
}

/// GET /projects/:id, POST /projects/:id/repository/branches
fn the_default_branch_follows_what_is_there(forge: &Forge) {
    let fixture = empty_fixture(forge);
    let shown = || read(forge, ROOT, &fixture.cast.project)["default_branch"].clone();
    assert_eq!(shown(), Value::Null);
    fixture.tree.write("a", "a").commit("One");
    fixture.tree.git(&["branch", "-m", "only"]);
    forge.fill(fixture.project(), &fixture.tree);
    assert_eq!(shown(), "only");
    let kept = forge.delete(&format!("{}/only", fixture.branches)).token(ROOT).send().expect(400);
    assert_eq!(kept, message("Cannot remove HEAD branch"));
    // Without a branch for HEAD, the first branch by name is the default.
    new_branch(forge, &fixture, "early", "only");
    assert_eq!(shown(), "early");
    // HEAD names that branch now, so a new first branch changes nothing.
    new_branch(forge, &fixture, "a", "only");
    new_branch(forge, &fixture, "master", "only");
    assert_eq!(shown(), "early");
    assert_eq!(fixture.tree.git_bare(&["symbolic-ref", "HEAD"]), "refs/heads/early");
    forge.delete(&format!("{}/only", fixture.branches)).token(ROOT).send().expect(200);
    assert_eq!(shown(), "early");
    fixture.tree.assert_sound();
}

/// POST /projects/:id/repository/branches
fn a_branch_that_becomes_the_default_is_protected(forge: &Forge) {
    let fixture = empty_fixture(forge);
    fixture.tree.write("a", "a").commit("One");
    fixture.tree.git(&["branch", "b"]);
    fixture.tree.git(&["branch", "-m", "a"]);
    forge.fill(fixture.project(), &fixture.tree);
    // HEAD names `master`, which does not exist yet. When it is created, it becomes the default.
    let made = new_branch(forge, &fixture, "master", "a");
    assert_eq!((&made["protected"], &made["developers_can_push"]), (&json!(true), &json!(false)));
    assert_eq!(read(forge, ROOT, &fixture.cast.project)["default_branch"], "master");
    let other = new_branch(forge, &fixture, "c", "a");
    assert_eq!(other["protected"], false);
    // An existing protection stays as it is.
    fixture.tree.git_bare(&["update-ref", "-d", "refs/heads/master"]);
    protect(forge, &fixture, "master", true, true);
    let made = new_branch(forge, &fixture, "master", "a");
    assert_eq!((&made["protected"], &made["developers_can_push"]), (&json!(true), &json!(true)));
}

/// GET /projects/:id/repository/branches, GET /projects/:id/repository/branches/:branch
fn changes_of_branches_by_others_are_seen_at_once(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let (one, two) = (fixture.id("master~2"), fixture.id("master~1"));
    let list = || {
        let list = forge.get(&fixture.branches).token(ROOT).send().expect(200);
        let branch = |branch: &Value| {
            let text = |value: &Value| value.as_str().expect("a text").to_owned();
            (text(&branch["name"]), text(&branch["commit"]["id"]))
        };
        list.as_array().expect("a list").iter().map(branch).collect::<Vec<_>>()
    };
    let tip_of = |name: &str| {
        let found = forge.get(&format!("{}/{name}", fixture.branches)).token(ROOT).send();
        (found.status == 200).then(|| found.json()["commit"]["id"].as_str().map(str::to_owned))?
    };
    for round in 0..10 {
        let name = format!("by/git{round}");
        let full = format!("refs/heads/{name}");
        for commit in [&one, &two, &one] {
            fixture.tree.git_bare(&["update-ref", &full, commit]);
            assert_eq!(tip_of(&name).as_ref(), Some(commit));
            assert!(list().contains(&(name.clone(), commit.clone())));
        }
        if round % 2 == 0 {
            fixture.tree.git_bare(&["pack-refs", "--all", "--prune"]);
            assert!(list().contains(&(name.clone(), one.clone())));
        }
        fixture.tree.git_bare(&["update-ref", "-d", &full]);
        assert_eq!(tip_of(&name), None);
        assert!(list().iter().all(|(other, _)| *other != name));
    }
}

/// POST /projects/:id/repository/branches, DELETE /projects/:id/repository/branches/:branch
fn of_two_branches_of_one_name_made_at_once_one_is_made(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let (developer, master) = (fixture.token("developer"), fixture.token("master"));
    for round in 0..5 {
        let name = format!("race/{round}");
        let create = |token: &str, from: &str| {
            let form = [("branch_name", name.as_str()), ("ref", from)];
            forge.post(&fixture.branches).token(token).form(&form).send()
        };
        let before = queued_events(forge).len();
        let answers = at_once([&|| create(developer, "master"), &|| create(master, "feature/x")]);
        assert_eq!(statuses(&answers), [200, 400]);
        let refused = answers.iter().find(|answer| answer.status == 400).expect("one of them");
        assert_eq!(refused.json(), message("Branch already exists"));
        let won = answers.iter().find(|answer| answer.status == 200).expect("the other one");
        assert_eq!(won.json()["commit"]["id"], fixture.id(&format!("refs/heads/{name}")));
        assert_eq!(queued_events(forge).len() - before, 1);
        let path = format!("{}/{name}", fixture.branches);
        let delete = |token: &str| forge.delete(&path).token(token).send();
        let answers = at_once([&|| delete(developer), &|| delete(master)]);
        assert_eq!(statuses(&answers), [200, 404]);
        let refused = answers.iter().find(|answer| answer.status == 404).expect("one of them");
        assert_eq!(refused.json(), message("No such branch"));
        assert_eq!(queued_events(forge).len() - before, 2);
    }
    fixture.tree.assert_sound();
}

#[test]
fn rows_1_5_and_9_in_the_original() {
    in_the_original(|forge| rows_1_5_and_9(forge, 201, 405, 23));
}

fn rows_1_5_and_9_in_the_specification(forge: &Forge) {
    rows_1_5_and_9(forge, 200, 400, 20);
}

/// Rows 1, 5 and 9: POST /projects/:id/repository/branches,
/// DELETE /projects/:id/repository/branches/:branch, GET /projects/:id/repository/branches
fn rows_1_5_and_9(forge: &Forge, made: u16, kept: u16, unasked: usize) {
    let fixture = filled_fixture(forge);
    for number in 0..21 {
        let form = [("branch_name", format!("b{number:02}")), ("ref", "master".to_owned())];
        let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
        let answer = forge.post(&fixture.branches).token(ROOT).form(&form).send().expect(made);
        assert_eq!(answer["name"], form[0].1);
    }
    protect(forge, &fixture, "b2*", false, false);
    for (name, text) in
        [("master", "Cannot remove HEAD branch"), ("b20", "Protected branch cant be removed")]
    {
        let answer = forge.delete(&format!("{}/{name}", fixture.branches)).token(ROOT).send();
        assert_eq!(answer.expect(kept), message(text));
    }
    let missing = forge.delete(&format!("{}/missing", fixture.branches)).token(ROOT).send();
    assert_eq!(missing.expect(404), message("No such branch"));
    let headers =
        ["X-Total", "X-Total-Pages", "X-Per-Page", "X-Page", "X-Next-Page", "X-Prev-Page", "Link"];
    let list = forge.get(&fixture.branches).token(ROOT).send();
    assert_eq!(list.expect(200).as_array().map(Vec::len), Some(unasked));
    let shown = headers.map(|name| list.header(name).is_some());
    assert_eq!(shown, [unasked == 20; 7]);
    for (query, count) in [("page=1", 20), ("page=2", 3), ("per_page=5", 5), ("per_page=500", 23)] {
        let page = forge.get(&format!("{}?{query}", fixture.branches)).token(ROOT).send();
        assert_eq!(page.expect(200).as_array().map(Vec::len), Some(count), "{query}");
        assert_eq!(page.header("X-Total"), Some("23"), "{query}");
    }
}
