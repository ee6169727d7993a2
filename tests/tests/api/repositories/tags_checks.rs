//! Refused requests about tags, and the order of checks: reference sections 1.1 to 1.3, 3.3 and 3.4.

use hexforge_tests::damage::{Damage, damage};
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::json;

use crate::api::groups::group_support::{error, forbidden, no_project};
use crate::api::projects::project_support::names;
use crate::api::repositories::branches_checks::an_ambiguous_start;
use crate::api::repositories::refs_support::{
    empty_fixture_with_visibility, fill, filled_fixture, new_tag, protect,
};
use crate::api::support::{MISSING, assert_only_for_users, message, queued_events};

on_every_store!(
    checks_come_in_their_order,
    reading_is_for_those_who_read_the_code,
    writing_is_for_developers_and_up,
    what_is_archived_stays_as_it_is,
    names_that_git_does_not_allow_are_refused,
    what_names_no_commit_is_refused,
    a_name_that_is_a_folder_is_refused,
    protections_of_branches_are_none_of_tags,
    a_damaged_tag_hurts_only_those_who_ask_for_it,
);

/// GET /projects/:id/repository/tags, GET /projects/:id/repository/tags/:tag_name,
/// POST /projects/:id/repository/tags, DELETE /projects/:id/repository/tags/:tag_name,
/// POST /projects/:id/repository/tags/:tag_name/release, PUT /projects/:id/repository/tags/:tag_name/release
fn checks_come_in_their_order(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let told = queued_events(forge).len();
    let calls = [
        ("GET", ""),
        ("GET", "/missing"),
        ("POST", ""),
        ("DELETE", "/missing"),
        ("POST", "/missing/release"),
        ("PUT", "/missing/release"),
    ];
    let paths = |project: &str| {
        calls.map(|(method, path)| (method, format!("{project}/repository/tags{path}")))
    };
    assert_only_for_users(forge, &paths(&fixture.cast.path));
    assert_only_for_users(forge, &paths(&format!("/projects/{MISSING}")));
    for (method, path) in paths(&format!("/projects/{MISSING}")) {
        let missing = forge.request(method, &path).token(ROOT).send().expect(404);
        assert_eq!(missing, no_project(), "{method} {path}");
    }
    for (method, path) in paths(&fixture.cast.path) {
        let hidden = forge.request(method, &path).token(fixture.token("stranger")).send();
        assert_eq!(hidden.expect(404), no_project(), "{method} {path}");
        let refused = forge.request(method, &path).token(fixture.token("guest")).send();
        assert_eq!(refused.expect(403), forbidden(), "{method} {path}");
    }
    for (method, path, text) in [
        ("POST", "", "tag_name is missing, ref is missing"),
        ("POST", "?tag_name=x", "ref is missing"),
        ("POST", "?ref=x&message=m", "tag_name is missing"),
        ("POST", "/missing/release", "description is missing"),
        ("PUT", "/missing/release", "description is missing"),
    ] {
        for who in ["reporter", "owner"] {
            let path = format!("{}{path}", fixture.tags);
            let wrong = forge.request(method, &path).token(fixture.token(who)).send();
            assert_eq!(wrong.expect(400), error(text), "{who} {method} {path}");
        }
    }
    for (method, path) in [
        ("POST", "?tag_name=..&ref="),
        ("DELETE", "/missing"),
        ("POST", "/missing/release?description=d"),
        ("PUT", "/missing/release?description=d"),
    ] {
        let path = format!("{}{path}", fixture.tags);
        let refused = forge.request(method, &path).token(fixture.token("reporter")).send();
        assert_eq!(refused.expect(403), forbidden(), "{method} {path}");
    }
    for (name, from, text) in [
        ("", "", "Tag name invalid"),
        ("a b", "missing", "Tag name invalid"),
        ("v1.0.0", "missing", "Tag v1.0.0 already exists"),
        ("new", "missing", "Target missing is invalid"),
        ("new", "", "Target  is invalid"),
    ] {
        let form = [("tag_name", name), ("ref", from), ("message", "m")];
        let answer = forge.post(&fixture.tags).token(ROOT).form(&form).send();
        assert_eq!(answer.expect(405), message(text), "{name} {from}");
    }
    assert_eq!(queued_events(forge).len(), told);
}

/// GET /projects/:id/repository/tags, GET /projects/:id/repository/tags/:tag_name
fn reading_is_for_those_who_read_the_code(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let everybody =
        ["owner", "root", "guest", "reporter", "developer", "master", "stranger", "external"];
    for (level, refused, hidden) in [
        ("0", &["guest"][..], &["stranger", "external"][..]),
        ("10", &[], &["external"]),
        ("20", &[], &[]),
    ] {
        let form = [("name", "Ship"), ("visibility_level", level)];
        forge.put(&fixture.cast.path).token(ROOT).form(&form).send().expect(200);
        for who in everybody {
            for path in [fixture.tags.clone(), format!("{}/v1.0.0", fixture.tags)] {
                let answer = forge.get(&path).token(fixture.token(who)).send();
                if hidden.contains(&who) {
                    assert_eq!(answer.expect(404), no_project(), "{who} {level}");
                } else if refused.contains(&who) {
                    assert_eq!(answer.expect(403), forbidden(), "{who} {level}");
                } else {
                    answer.expect(200);
                }
            }
        }
    }
}

/// POST /projects/:id/repository/tags, DELETE /projects/:id/repository/tags/:tag_name,
/// POST /projects/:id/repository/tags/:tag_name/release, PUT /projects/:id/repository/tags/:tag_name/release
fn writing_is_for_developers_and_up(forge: &Forge) {
    let fixture = empty_fixture_with_visibility(forge, "20");
    fill(forge, &fixture);
    let calls = [
        ("POST", "?tag_name=new&ref=master&message=m&release_description=d", 201),
        ("PUT", "/new/release?description=d", 200),
        ("DELETE", "/new", 200),
        ("POST", "?tag_name=new&ref=master", 201),
        ("POST", "/new/release?description=d", 201),
        ("DELETE", "/new", 200),
    ];
    for who in ["guest", "reporter", "stranger", "external"] {
        for (method, path, _) in calls {
            let path = format!("{}{path}", fixture.tags);
            let refused = forge.request(method, &path).token(fixture.token(who)).send();
            assert_eq!(refused.expect(403), forbidden(), "{who} {method} {path}");
        }
    }
    for who in ["developer", "master", "owner", "root"] {
        for (method, path, status) in calls {
            let path = format!("{}{path}", fixture.tags);
            forge.request(method, &path).token(fixture.token(who)).send().expect(status);
        }
    }
}

/// POST /projects/:id/repository/tags, DELETE /projects/:id/repository/tags/:tag_name
fn what_is_archived_stays_as_it_is(forge: &Forge) {
    let fixture = filled_fixture(forge);
    forge.post(&format!("{}/archive", fixture.cast.path)).token(ROOT).send().expect(201);
    for who in ["developer", "master", "owner", "root"] {
        for (method, path) in [
            ("POST", "?tag_name=new&ref=master"),
            ("DELETE", "/v1.0.0"),
            ("POST", "/v1.0.0/release?description=d"),
            ("PUT", "/v1.0.0/release?description=d"),
        ] {
            let path = format!("{}{path}", fixture.tags);
            let refused = forge.request(method, &path).token(fixture.token(who)).send();
            assert_eq!(refused.expect(403), forbidden(), "{who} {method} {path}");
        }
        forge.get(&fixture.tags).token(fixture.token(who)).send().expect(200);
    }
}

/// POST /projects/:id/repository/tags
fn names_that_git_does_not_allow_are_refused(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let (long, deep) = ("x".repeat(5000), "x/".repeat(2500) + "x");
    for name in [
        "", " ", "-x", "-d", "..", "a..b", "HEAD", "@", "a b", "a~b", "a^b", "a:b", "a?b", "a*b",
        "a[b", "a\\b", "a\nb", "a\u{1b}b", "a\u{7f}b", "/a", "a/", "a//b", "a.", "a.lock", ".a",
        "a/.b", "a@{b", &long, &deep,
    ] {
        for text in ["", "annotated"] {
            let fields = json!({"tag_name": name, "ref": "master", "message": text});
            let refused = forge.post(&fixture.tags).token(ROOT).json(&fields).send();
            assert_eq!(refused.expect(405), message("Tag name invalid"), "{name:?}");
        }
    }
    // Git accepts this name, so it is a tag with a long name.
    new_tag(forge, &fixture, &[("tag_name", "refs/heads/x"), ("ref", "master")]);
    assert_eq!(fixture.id("refs/tags/refs/heads/x"), fixture.id("master"));
    fixture.tree.assert_sound();
}

/// POST /projects/:id/repository/tags
fn what_names_no_commit_is_refused(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let ambiguous = an_ambiguous_start(&fixture);
    let (tree, blob) = (fixture.id("master^{tree}"), fixture.id("master:README"));
    let (zeros, unknown, long) = ("0".repeat(40), "1".repeat(40), "x".repeat(5000));
    for from in [
        "foo",
        "master~10",
        "master..feature/x",
        "-x",
        "..",
        "a..b",
        "master:README",
        ":/Two",
        "master@{1}",
        "a\nb",
        "config",
        "refs/heads",
        "feature",
        &tree,
        &blob,
        &zeros,
        &unknown,
        &ambiguous,
        &long,
    ] {
        for annotation in ["", "annotated"] {
            let fields = json!({"tag_name": "new", "ref": from, "message": annotation});
            let refused = forge.post(&fixture.tags).token(ROOT).json(&fields).send();
            assert_eq!(refused.expect(405), message(&format!("Target {from} is invalid")));
        }
    }
    let list = forge.get(&fixture.tags).token(ROOT).send().expect(200);
    assert_eq!(names(&list), ["v1.1.0", "v1.0.0"]);
}

/// POST /projects/:id/repository/tags
fn a_name_that_is_a_folder_is_refused(forge: &Forge) {
    let fixture = filled_fixture(forge);
    new_tag(forge, &fixture, &[("tag_name", "a/b"), ("ref", "master"), ("message", "m")]);
    for packed in [false, true] {
        if packed {
            fixture.tree.git_bare(&["pack-refs", "--all", "--prune"]);
        }
        for name in ["a", "a/b/c", "v1.0.0/x"] {
            let form = [("tag_name", name), ("ref", "master"), ("release_description", "d")];
            let refused = forge.post(&fixture.tags).token(ROOT).form(&form).send();
            let text = format!("Could not update tag {name}. Please refresh and try again.");
            assert_eq!(refused.expect(405), message(&text), "packed: {packed}");
        }
        fixture.tree.assert_sound();
    }
}

/// POST /projects/:id/repository/tags
fn protections_of_branches_are_none_of_tags(forge: &Forge) {
    let fixture = filled_fixture(forge);
    protect(forge, &fixture, "*", false, false);
    new_tag(forge, &fixture, &[("tag_name", "v2"), ("ref", "master")]);
    // Unlike a push, the API lets developers remove tags.
    let path = format!("{}/v2", fixture.tags);
    forge.delete(&path).token(fixture.token("developer")).send().expect(200);
}

/// GET /projects/:id/repository/tags, GET /projects/:id/repository/tags/:tag_name
fn a_damaged_tag_hurts_only_those_who_ask_for_it(forge: &Forge) {
    forge.pin_to_first_server();
    let fixture = filled_fixture(forge);
    fixture.tree.git_bare(&["tag", "-a", "bad", "-m", "m", "master"]);
    fixture.tree.git_bare(&["tag", "-a", "gone", "-m", "m", "master"]);
    // The first use of a pack verifies its checksum.
    forge.get(&format!("{}/v1.0.0", fixture.tags)).token(ROOT).send().expect(200);
    for (name, how) in [("bad", Damage::Garbage), ("gone", Damage::Missing)] {
        damage(fixture.tree.bare(), &fixture.id(&format!("refs/tags/{name}")), how);
        let answer = forge.get(&format!("{}/{name}", fixture.tags)).token(ROOT).send();
        assert_eq!(answer.expect(500), message("500 Internal Server Error"), "{name}");
    }
    let list = forge.get(&fixture.tags).token(ROOT).send().expect(200);
    assert_eq!(names(&list), ["v1.1.0", "v1.0.0"]);
    new_tag(forge, &fixture, &[("tag_name", "fine"), ("ref", "master"), ("message", "m")]);
    for name in ["bad", "gone"] {
        forge.delete(&format!("{}/{name}", fixture.tags)).token(ROOT).send().expect(200);
    }
}
