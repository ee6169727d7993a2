//! Tags: reference sections 1.4 and 3.1 to 3.4, and rows 4 and 9 of the dialects.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::everywhere::concurrent_calls::{at_once, statuses};
use crate::api::groups::group_support::in_the_original;
use crate::api::projects::project_support::names;
use crate::api::repositories::refs_support::{
    empty_fixture, filled_fixture, listed_tag_json, new_branch, new_tag, tag_json,
};
use crate::api::support::{message, queued_events};

on_every_store!(
    tags_are_listed_backwards_with_both_names_of_parents,
    a_tag_is_found_by_its_exact_name,
    a_tag_without_a_message_is_only_a_name,
    a_tag_with_a_message_is_annotated_by_the_caller,
    a_tag_can_be_made_from_whatever_names_a_commit,
    a_tag_is_removed_with_its_release,
    an_empty_repository_has_no_tags,
    tags_of_others_are_seen_at_once,
    of_two_tags_of_one_name_made_at_once_one_is_made,
    rows_4_and_9_in_the_specification,
);

/// GET /projects/:id/repository/tags
fn tags_are_listed_backwards_with_both_names_of_parents(forge: &Forge) {
    let fixture = filled_fixture(forge);
    fixture.tree.git_bare(&["tag", "v1.10", "master"]);
    fixture.tree.git_bare(&["tag", "v1.9", "master"]);
    fixture.tree.git_bare(&["tag", "-a", "V2", "-m", "", "master"]);
    fixture.tree.git_bare(&["tag", "-a", "of/a/tag", "-m", "outer", "v1.1.0"]);
    // A tag that does not lead to a commit is not listed.
    fixture.tree.git_bare(&["tag", "blob", "master:README"]);
    let release = json!({"tag_name": "v1.9", "description": "Nine"});
    let path = format!("{}/v1.9/release", fixture.tags);
    forge.post(&path).token(ROOT).form(&[("description", "Nine")]).send().expect(201);
    let second = "The second\n\nwith more";
    let expected: Vec<Value> = [
        ("v1.9", Value::Null, release.clone()),
        ("v1.10", Value::Null, Value::Null),
        ("v1.1.0", json!(second), Value::Null),
        ("v1.0.0", Value::Null, Value::Null),
        ("of/a/tag", json!("outer"), Value::Null),
        ("V2", json!(""), Value::Null),
    ]
    .into_iter()
    .map(|(name, text, release)| listed_tag_json(&fixture, name, text, release))
    .collect();
    let list = forge.get(&fixture.tags).token(fixture.token("reporter")).send();
    list.expect(200);
    assert_eq!(list.text(), Value::from(expected).to_string());
    let single = forge.get(&format!("{}/v1.9", fixture.tags)).token(ROOT).send();
    single.expect(200);
    assert_eq!(single.text(), tag_json(&fixture, "v1.9", Value::Null, release).to_string());
    let page = forge.get(&format!("{}?per_page=2&page=2", fixture.tags)).token(ROOT).send();
    assert_eq!(names(&page.expect(200)), ["v1.1.0", "v1.0.0"]);
}

/// GET /projects/:id/repository/tags/:tag_name
fn a_tag_is_found_by_its_exact_name(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for name in ["a/b", "a%2Fb", "release", "x/release", "with.1.2", "ünï"] {
        fixture.tree.git_bare(&["tag", name, "master"]);
    }
    for (path, name) in [
        ("v1.0.0", "v1.0.0"),
        ("a/b", "a/b"),
        ("a%2Fb", "a/b"),
        ("a%252Fb", "a%2Fb"),
        ("release", "release"),
        ("x/release", "x/release"),
        ("with.1.2", "with.1.2"),
        ("%C3%BCn%C3%AF", "ünï"),
    ] {
        let found = forge.get(&format!("{}/{path}", fixture.tags)).token(ROOT).send();
        found.expect(200);
        let expected = tag_json(&fixture, name, Value::Null, Value::Null);
        assert_eq!(found.text(), expected.to_string(), "{path}");
    }
    let annotated = forge.get(&format!("{}/v1.1.0", fixture.tags)).token(ROOT).send();
    let text = json!("The second\n\nwith more");
    let expected = tag_json(&fixture, "v1.1.0", text, Value::Null);
    assert_eq!(annotated.expect(200), expected);
    for path in [
        "missing",
        "V1.0.0",
        "master",
        "a",
        "a/b/c",
        "refs/tags/v1.0.0",
        "tags/v1.0.0",
        "..",
        "a..b",
        "-x",
        "HEAD",
        "%00",
        "%ff",
        &fixture.id("master"),
        &"x".repeat(5000),
    ] {
        let missing = forge.get(&format!("{}/{path}", fixture.tags)).token(ROOT).send();
        assert_eq!(missing.expect(404), message("404 Tag Not Found"), "{path}");
    }
}

/// POST /projects/:id/repository/tags
fn a_tag_without_a_message_is_only_a_name(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for (name, more) in [
        ("plain", &[][..]),
        ("empty/message", &[("message", "")]),
        ("blank.message", &[("message", " \n"), ("release_description", "  ")]),
    ] {
        let mut form = vec![("tag_name", name), ("ref", "master")];
        form.extend(more);
        let made = forge.post(&fixture.tags).token(fixture.token("developer")).form(&form).send();
        made.expect(201);
        let expected = listed_tag_json(&fixture, name, Value::Null, Value::Null);
        assert_eq!(made.text(), expected.to_string());
        assert_eq!(fixture.tree.git_bare(&["cat-file", "-t", name]), "commit");
        assert_eq!(fixture.id(name), fixture.id("master"));
        fixture.tree.assert_sound();
    }
}

/// POST /projects/:id/repository/tags
fn a_tag_with_a_message_is_annotated_by_the_caller(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let form = [
        ("tag_name", "v2"),
        ("ref", "v1.1.0"),
        ("message", " \n Two lines\n\nünï "),
        ("release_description", " # Notes\n"),
    ];
    let made = forge.post(&fixture.tags).token(fixture.token("developer")).form(&form).send();
    made.expect(201);
    let release = json!({"tag_name": "v2", "description": " # Notes\n"});
    let text = json!("Two lines\n\nünï");
    assert_eq!(
        made.text(),
        listed_tag_json(&fixture, "v2", text.clone(), release.clone()).to_string()
    );
    let read = forge.get(&format!("{}/v2", fixture.tags)).token(ROOT).send().expect(200);
    assert_eq!(read, tag_json(&fixture, "v2", text, release));
    let object = format!(
        "object {}\ntype commit\ntag v2\ntagger developer <developer@example.com> 1474540200 +0000\n\n\
         Two lines\n\nünï",
        fixture.id("master~1")
    );
    assert_eq!(fixture.tree.git_bare(&["cat-file", "-p", "refs/tags/v2"]), object);
    fixture.tree.assert_sound();
    // Display names with characters that git does not allow in names do not break a tag.
    for (number, name) in ["<>", "a<b>c", "Ünï", "x\ny"].into_iter().enumerate() {
        let username = format!("strange{number}");
        let user = forge.new_user(&username, &[]);
        crate::api::support::change_account(forge, user["id"].as_i64().expect("an id"), |user| {
            if let Ok(name) = hexforge_domain::user::DisplayName::parse(name) {
                user.name = name;
            }
        });
        crate::api::groups::group_support::add_member(
            forge,
            &fixture.cast.path,
            user["id"].as_i64().expect("an id"),
            30,
            &[],
        );
        let token = forge.sign_in(&username);
        let form = [("tag_name", username.as_str()), ("ref", "master"), ("message", "m\u{1}m")];
        forge.post(&fixture.tags).token(&token).form(&form).send().expect(201);
        fixture.tree.assert_sound();
    }
}

/// POST /projects/:id/repository/tags
fn a_tag_can_be_made_from_whatever_names_a_commit(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let (one, two, beside) =
        (fixture.id("master~2"), fixture.id("master~1"), fixture.id("feature/x"));
    for (number, (from, commit)) in [
        ("feature/x", &beside),
        ("v1.0.0", &one),
        ("v1.1.0", &two),
        ("master~1", &two),
        (&one[..8], &one),
        (one.as_str(), &one),
        (&fixture.id("refs/tags/v1.1.0"), &two),
    ]
    .into_iter()
    .enumerate()
    {
        for message in ["", "annotated"] {
            let name = format!("t{number}{message}");
            let made = new_tag(
                forge,
                &fixture,
                &[("tag_name", name.as_str()), ("ref", from), ("message", message)],
            );
            assert_eq!(made["commit"]["id"], **commit, "{from}");
            assert_eq!(fixture.id(&format!("{name}^{{commit}}")), *commit, "{from}");
        }
    }
    fixture.tree.assert_sound();
}

/// DELETE /projects/:id/repository/tags/:tag_name
fn a_tag_is_removed_with_its_release(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for name in ["a/b", "a/c", "packed"] {
        fixture.tree.git_bare(&["tag", "-a", name, "-m", name, "master"]);
    }
    fixture.tree.git_bare(&["pack-refs", "--all", "--prune"]);
    let path = format!("{}/packed/release", fixture.tags);
    forge.post(&path).token(ROOT).form(&[("description", "d")]).send().expect(201);
    for (path, name) in
        [("a/b", "a/b"), ("a%2Fc", "a/c"), ("packed", "packed"), ("v1.0.0", "v1.0.0")]
    {
        let path = format!("{}/{path}", fixture.tags);
        let gone = forge.delete(&path).token(fixture.token("developer")).send();
        gone.expect(200);
        assert_eq!(gone.text(), json!({ "tag_name": name }).to_string());
        fixture.tree.assert_sound();
        let again = forge.delete(&path).token(ROOT).send().expect(404);
        assert_eq!(again, message("No such tag"));
    }
    let made = new_tag(forge, &fixture, &[("tag_name", "packed"), ("ref", "master")]);
    assert_eq!(made["release"], Value::Null);
    let list = forge.get(&fixture.tags).token(ROOT).send().expect(200);
    assert_eq!(names(&list), ["v1.1.0", "packed"]);
    for missing in ["master", "HEAD", "..", "-x", "refs/tags/packed"] {
        let answer = forge.delete(&format!("{}/{missing}", fixture.tags)).token(ROOT).send();
        assert_eq!(answer.expect(404), message("No such tag"), "{missing}");
    }
}

/// GET /projects/:id/repository/tags, GET /projects/:id/repository/tags/:tag_name,
/// POST /projects/:id/repository/tags, DELETE /projects/:id/repository/tags/:tag_name,
/// POST /projects/:id/repository/tags/:tag_name/release
fn an_empty_repository_has_no_tags(forge: &Forge) {
    let made = empty_fixture(forge);
    let token = made.token("owner");
    let bare = forge.post("/projects").token(token).form(&[("name", "Bare")]).send().expect(201);
    for tags in [made.tags.clone(), format!("/projects/{}/repository/tags", bare["id"])] {
        let list = forge.get(&tags).token(token).send();
        assert_eq!((list.expect(200), list.header("X-Total")), (json!([]), Some("0")));
        let tag = format!("{tags}/v1");
        let missing = forge.get(&tag).token(token).send().expect(404);
        assert_eq!(missing, message("404 Tag Not Found"));
        let gone = forge.delete(&tag).token(token).send().expect(404);
        assert_eq!(gone, message("No such tag"));
        for method in ["POST", "PUT"] {
            let release = forge.request(method, &format!("{tag}/release")).token(token);
            let release = release.form(&[("description", "d")]).send().expect(404);
            assert_eq!(release, message("Tag does not exist"));
        }
        let form = [("tag_name", "v1"), ("ref", "master"), ("message", "m")];
        let refused = forge.post(&tags).token(token).form(&form).send().expect(405);
        assert_eq!(refused, message("Target master is invalid"));
    }
}

/// GET /projects/:id/repository/tags, GET /projects/:id/repository/tags/:tag_name
fn tags_of_others_are_seen_at_once(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for round in 0..10 {
        let name = format!("t/{round}");
        let path = format!("{}/{name}", fixture.tags);
        let list = || {
            let list = forge.get(&fixture.tags).token(ROOT).send().expect(200);
            list.as_array().expect("a list").iter().any(|tag| tag["name"] == name)
        };
        fixture.tree.git_bare(&["tag", &name, "master"]);
        assert_eq!(forge.get(&path).token(ROOT).send().expect(200)["message"], Value::Null);
        assert!(list());
        fixture.tree.git_bare(&["tag", "-f", "-a", &name, "-m", "now", "master~1"]);
        assert_eq!(forge.get(&path).token(ROOT).send().expect(200)["message"], "now");
        fixture.tree.git_bare(&["pack-refs", "--all"]);
        assert!(list());
        fixture.tree.git_bare(&["tag", "-d", &name]);
        forge.get(&path).token(ROOT).send().expect(404);
        assert!(!list());
    }
    // A tag object that another process packs can still be read.
    fixture.tree.git_bare(&["repack", "-adq"]);
    fixture.tree.git_bare(&["prune-packed"]);
    forge.get(&format!("{}/v1.1.0", fixture.tags)).token(ROOT).send().expect(200);
    new_branch(forge, &fixture, "after", "v1.1.0");
    fixture.tree.assert_sound();
}

/// POST /projects/:id/repository/tags, DELETE /projects/:id/repository/tags/:tag_name
fn of_two_tags_of_one_name_made_at_once_one_is_made(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let (developer, master) = (fixture.token("developer"), fixture.token("master"));
    for round in 0..5 {
        let name = format!("race{round}");
        let create = |token: &str, text: &str| {
            let form = [
                ("tag_name", name.as_str()),
                ("ref", "master"),
                ("message", text),
                ("release_description", text),
            ];
            forge.post(&fixture.tags).token(token).form(&form).send()
        };
        let before = queued_events(forge).len();
        let answers = at_once([&|| create(developer, "one"), &|| create(master, "two")]);
        assert_eq!(statuses(&answers), [201, 405]);
        let refused = answers.iter().find(|answer| answer.status == 405).expect("one of them");
        assert_eq!(refused.json(), message(&format!("Tag {name} already exists")));
        let won = answers.iter().find(|answer| answer.status == 201).expect("the other").json();
        let path = format!("{}/{name}", fixture.tags);
        let read = forge.get(&path).token(ROOT).send().expect(200);
        assert_eq!((&read["message"], &read["release"]), (&won["message"], &won["release"]));
        assert_eq!(read["release"]["description"], won["message"]);
        let delete = |token: &str| forge.delete(&path).token(token).send();
        let answers = at_once([&|| delete(developer), &|| delete(master)]);
        assert_eq!(statuses(&answers), [200, 404]);
        assert_eq!(queued_events(forge).len() - before, 2);
    }
    fixture.tree.assert_sound();
}

#[test]
fn rows_4_and_9_in_the_original() {
    in_the_original(|forge| rows_4_and_9(forge, 400, 22));
}

fn rows_4_and_9_in_the_specification(forge: &Forge) {
    rows_4_and_9(forge, 405, 20);
}

/// Rows 4 and 9: POST /projects/:id/repository/tags, GET /projects/:id/repository/tags
fn rows_4_and_9(forge: &Forge, refused: u16, unasked: usize) {
    let fixture = filled_fixture(forge);
    for (name, from, text) in [
        ("a b", "master", "Tag name invalid"),
        ("v1.0.0", "master", "Tag v1.0.0 already exists"),
        ("new", "foo", "Target foo is invalid"),
    ] {
        let form = [("tag_name", name), ("ref", from)];
        let answer = forge.post(&fixture.tags).token(ROOT).form(&form).send();
        assert_eq!(answer.expect(refused), message(text));
    }
    // Missing fields and permissions give the same errors in both dialects.
    let missing = forge.post(&fixture.tags).token(ROOT).send().expect(400);
    assert_eq!(missing, json!({"error": "tag_name is missing, ref is missing"}));
    let form = [("tag_name", "a b"), ("ref", "foo")];
    forge.post(&fixture.tags).token(fixture.token("reporter")).form(&form).send().expect(403);
    for number in 0..20 {
        fixture.tree.git_bare(&["tag", &format!("t{number}"), "master"]);
    }
    let list = forge.get(&fixture.tags).token(ROOT).send();
    let shown = list.expect(200);
    assert_eq!(shown.as_array().map(Vec::len), Some(unasked));
    let commit = &shown[0]["commit"];
    assert_eq!(commit["parents_ids"], commit["parent_ids"]);
    assert_eq!(commit["parents_ids"], json!([fixture.id("v1.1.0^1")]));
    for header in ["X-Total", "X-Total-Pages", "X-Per-Page", "X-Page", "X-Next-Page", "Link"] {
        assert_eq!(list.header(header).is_some(), unasked == 20, "{header}");
    }
    for (query, count) in [("page=1", 20), ("page=2", 2), ("per_page=3", 3), ("per_page=99", 22)] {
        let page = forge.get(&format!("{}?{query}", fixture.tags)).token(ROOT).send();
        assert_eq!(page.expect(200).as_array().map(Vec::len), Some(count), "{query}");
        assert_eq!(page.header("X-Total"), Some("22"), "{query}");
    }
}
