//! `/projects/:id/snippets`: section 2 of the reference of the rest of v3.

use hexforge_domain_testing::builders::at;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    add_member, external_user, forbidden, new_project, no_project, path_of_project,
};
use crate::api::support::{
    HUGE, MISSING, assert_only_for_users, field_error, id_of, ids, message, queued_events,
};

on_every_store!(
    a_snippet_is_created_read_and_listed,
    the_content_is_only_in_the_raw_form,
    each_level_has_its_readers,
    snippets_are_hidden_while_they_are_off,
    who_may_create_is_asked_before_the_parameters,
    fields_are_demanded_in_order,
    invalid_fields_have_their_texts,
    the_author_changes_what_is_given,
    a_master_changes_no_snippet_of_others,
    a_deleted_snippet_is_shown_once_more,
    snippets_of_other_projects_are_not_found,
    the_calls_are_for_users_who_see_the_project,
    changing_and_deleting_a_snippet_causes_no_event_and_no_hook,
);

const NOT_FOUND: &str = "404 Not found";

/// A project of ada's with snippets, by its path in the API.
fn project(forge: &Forge, token: &str, level: &str) -> (String, Value) {
    let fields = [("snippets_enabled", "true"), ("visibility_level", level)];
    let made = new_project(forge, token, "Site", &fields);
    (path_of_project(&made), made)
}

fn form<'a>(title: &'a str, level: &'a str) -> [(&'a str, &'a str); 4] {
    [("title", title), ("file_name", "a.rb"), ("code", "puts 1\n"), ("visibility_level", level)]
}

#[track_caller]
fn create(forge: &Forge, token: &str, project: &str, title: &str, level: &str) -> Value {
    let path = format!("{project}/snippets");
    forge.post(&path).token(token).form(&form(title, level)).send().expect(201)
}

/// 2.1, 2.3. POST /projects/:id/snippets, GET /projects/:id/snippets, GET /projects/:id/snippets/:snippet_id
fn a_snippet_is_created_read_and_listed(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (project, shown) = project(forge, &token, "0");
    let before = queued_events(forge).len();
    let path = format!("{project}/snippets");
    assert_eq!(forge.get(&path).token(&token).send().expect(200), json!([]));
    let made = forge.post(&path).token(&token).form(&form("One <b>", "0")).send();
    let id = id_of(&made.expect(201));
    let user = forge.get(&format!("/users/{ada}")).token(&token).send().expect(200);
    let expected = json!({
        "id": id, "title": "One <b>", "file_name": "a.rb",
        "author": {
            "name": "ada", "username": "ada", "id": ada, "state": "active",
            "avatar_url": user["avatar_url"], "web_url": user["web_url"]
        },
        "updated_at": "2016-09-22T10:30:00.000Z", "created_at": "2016-09-22T10:30:00.000Z",
        "expires_at": null,
        "web_url": format!("{}/snippets/{id}", shown["web_url"].as_str().expect("a URL"))
    });
    assert_eq!(made.text(), expected.to_string());
    let read = forge.get(&format!("{path}/{id}")).token(&token).send();
    assert_eq!((read.expect(200), read.text()), (expected.clone(), &*expected.to_string()));
    forge.clock.set(at(5));
    let second = create(forge, &token, &project, "Two", "20");
    let list = forge.get(&path).token(&token).send();
    assert_eq!(list.text(), json!([second, expected]).to_string());
    let page = forge.get(&format!("{path}?per_page=1&page=2")).token(&token).send();
    assert_eq!((page.expect(200), page.header("X-Total")), (json!([expected]), Some("2")));
    // No hook and no activity event.
    assert_eq!(queued_events(forge).len(), before);
    let events = forge.get(&format!("{project}/events")).token(&token).send().expect(200);
    assert!(!events.to_string().contains("nippet"), "{events}");
}

/// 2.3. GET /projects/:id/snippets/:snippet_id/raw
fn the_content_is_only_in_the_raw_form(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let (project, _) = project(forge, &token, "20");
    let code = "\u{feff}<script>\r\nüñ\n\n";
    let fields = json!({"title": "t", "file_name": "x", "code": code, "visibility_level": 0});
    let path = format!("{project}/snippets");
    let made = forge.post(&path).token(&token).json(&fields).send().expect(201);
    assert!(!made.to_string().contains("script"));
    let raw = forge.get(&format!("{path}/{}/raw", id_of(&made))).token(&token).send();
    assert_eq!((raw.status, raw.text()), (200, code));
    assert!(raw.header("Content-Type").is_some_and(|kind| kind.starts_with("text/plain")));
    assert_eq!(raw.header("X-Content-Type-Options"), Some("nosniff"));
    let (_, eve) = forge.user("eve");
    let hidden = forge.get(&format!("{path}/{}/raw", id_of(&made))).token(&eve).send();
    assert_eq!(hidden.expect(404), message(NOT_FOUND));
}

/// 2.2 with its ruling. GET /projects/:id/snippets, GET /projects/:id/snippets/:snippet_id
fn each_level_has_its_readers(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (project, _) = project(forge, &ada, "20");
    let (guest, guests) = forge.user("guest");
    let (_, stranger) = forge.user("stranger");
    let (_, external) = external_user(forge, "external");
    let (left, lefts) = forge.user("left");
    add_member(forge, &project, guest, 10, &[]);
    add_member(forge, &project, left, 20, &[]);
    let all = ["0", "10", "20"].map(|level| id_of(&create(forge, &lefts, &project, "t", level)));
    let [private, internal, public] = all;
    forge.delete(&format!("{project}/members/{left}")).token(ROOT).send().expect(200);
    let path = format!("{project}/snippets");
    for (token, seen) in [
        (ada.as_str(), vec![public, internal, private]),
        (&guests, vec![public, internal, private]),
        (ROOT, vec![public, internal, private]),
        (&stranger, vec![public, internal]),
        (&external, vec![public]),
        // The author alone has no privilege.
        (&lefts, vec![public, internal]),
    ] {
        assert_eq!(ids(&forge.get(&path).token(token).send().expect(200)), seen);
        for id in all {
            let one = forge.get(&format!("{path}/{id}")).token(token).send();
            match seen.contains(&id) {
                true => assert_eq!(id_of(&one.expect(200)), id),
                false => assert_eq!(one.expect(404), message(NOT_FOUND)),
            }
        }
    }
    // Changing or deleting a hidden snippet is refused by its look-up, for the author too.
    let hidden = format!("{path}/{private}");
    for token in [&lefts, &stranger] {
        let put = forge.put(&hidden).token(token).form(&[("title", "x")]).send();
        assert_eq!(put.expect(404), message(NOT_FOUND));
        let deleted = forge.delete(&hidden).token(token).send().expect(404);
        assert_eq!(deleted, message("404 Snippet Not Found"));
    }
}

/// 2.2, ruling. GET /projects/:id/snippets, POST /projects/:id/snippets, GET /projects/:id/snippets/:snippet_id,
/// PUT /projects/:id/snippets/:snippet_id, DELETE /projects/:id/snippets/:snippet_id
fn snippets_are_hidden_while_they_are_off(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (project, shown) = project(forge, &ada, "20");
    let id = id_of(&create(forge, &ada, &project, "t", "20"));
    let off = [("name", "Site"), ("snippets_enabled", "false")];
    forge.put(&project).token(&ada).form(&off).send().expect(200);
    let path = format!("{project}/snippets");
    for token in [ada.as_str(), ROOT] {
        assert_eq!(forge.get(&path).token(token).send().expect(200), json!([]));
        for more in ["", "/raw"] {
            let one = forge.get(&format!("{path}/{id}{more}")).token(token).send();
            assert_eq!(one.expect(404), message(NOT_FOUND));
        }
        let refused = forge.post(&path).token(token).form(&form("t", "0")).send();
        assert_eq!(refused.expect(403), forbidden());
        let put = forge.put(&format!("{path}/{id}")).token(token).form(&[("title", "x")]).send();
        assert_eq!(put.expect(404), message(NOT_FOUND));
        let deleted = forge.delete(&format!("{path}/{id}")).token(token).send().expect(404);
        assert_eq!(deleted, message("404 Snippet Not Found"));
    }
    // A new project has them off.
    assert_eq!(shown["snippets_enabled"], true);
    assert_eq!(new_project(forge, &ada, "Plain", &[])["snippets_enabled"], false);
    let on = [("name", "Site"), ("snippets_enabled", "true")];
    forge.put(&project).token(&ada).form(&on).send().expect(200);
    assert_eq!(ids(&forge.get(&path).token(&ada).send().expect(200)), [id]);
}

/// 2.3. POST /projects/:id/snippets
fn who_may_create_is_asked_before_the_parameters(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (project, _) = project(forge, &ada, "20");
    let (guest, guests) = forge.user("guest");
    let (reporter, reporters) = forge.user("reporter");
    let (_, stranger) = forge.user("stranger");
    add_member(forge, &project, guest, 10, &[]);
    add_member(forge, &project, reporter, 20, &[]);
    let path = format!("{project}/snippets");
    for token in [&guests, &stranger] {
        let refused = forge.post(&path).token(token).json(&json!({"title": []})).send();
        assert_eq!(refused.expect(403), forbidden());
    }
    create(forge, &reporters, &project, "t", "0");
}

/// 2.3. POST /projects/:id/snippets
fn fields_are_demanded_in_order(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (project, _) = project(forge, &ada, "0");
    let path = format!("{project}/snippets");
    let whole = form("t", "0");
    for (at, (name, _)) in whole.iter().enumerate() {
        for blank in [None, Some(""), Some("  ")] {
            let mut fields = whole[..at].to_vec();
            fields.extend(blank.map(|blank| (*name, blank)));
            let refused = forge.post(&path).token(&ada).form(&fields).send().expect(400);
            assert_eq!(refused, message(&format!("400 (Bad request) \"{name}\" not given")));
        }
    }
    // The number 0 is a value.
    let fields = json!({"title": "t", "file_name": "f", "code": "c", "visibility_level": 0});
    forge.post(&path).token(&ada).json(&fields).send().expect(201);
}

/// 2.3, the table of rules. POST /projects/:id/snippets, PUT /projects/:id/snippets/:snippet_id
fn invalid_fields_have_their_texts(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (project, _) = project(forge, &ada, "0");
    let snippet = create(forge, &ada, &project, "t", "0");
    let path = format!("{project}/snippets");
    let one = format!("{path}/{}", id_of(&snippet));
    let (long, huge) = ("t".repeat(256), "c".repeat(1_048_577));
    let too_long = "is too long (maximum is 255 characters)";
    let characters = "can contain only letters, digits, '_', '-', '@' and '.'.";
    let restricted = "unknown has been restricted by your GitLab administrator";
    for (name, value, token, text) in [
        ("title", long.as_str(), ada.as_str(), too_long),
        ("file_name", &long, &ada, too_long),
        ("file_name", "a b", &ada, characters),
        ("file_name", "../etc/passwd", &ada, characters),
        ("file_name", "ü", &ada, characters),
        ("visibility_level", "5", &ada, restricted),
        ("visibility_level", "-1", &ada, restricted),
        ("visibility_level", "99999999999999999999", &ada, restricted),
        ("visibility_level", "1.5", &ada, restricted),
        ("visibility_level", "secret", &ada, restricted),
        ("visibility_level", "5", ROOT, "is not included in the list"),
    ] {
        let mut fields = form("t", "0").to_vec();
        fields.retain(|(other, _)| *other != name);
        fields.push((name, value));
        let refused = forge.post(&path).token(token).form(&fields).send().expect(400);
        assert_eq!(refused, field_error(name, text), "{name} {value}");
        let refused = forge.put(&one).token(token).form(&[(name, value)]).send().expect(400);
        assert_eq!(refused, field_error(name, text), "{name} {value}");
    }
    let content = "is too long (maximum is 1048576 characters)";
    let refused = forge.put(&one).token(&ada).form(&[("code", huge.as_str())]).send().expect(400);
    assert_eq!(refused, field_error("content", content));
    // Nothing was stored.
    assert_eq!(forge.get(&path).token(&ada).send().expect(200), json!([snippet]));
}

/// 2.3. PUT /projects/:id/snippets/:snippet_id
fn the_author_changes_what_is_given(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (project, _) = project(forge, &ada, "20");
    let (reporter, author) = forge.user("author");
    let (_, stranger) = forge.user("stranger");
    add_member(forge, &project, reporter, 20, &[]);
    let mut snippet = create(forge, &author, &project, "t", "0");
    let one = format!("{project}/snippets/{}", id_of(&snippet));
    let raw = |expected: &str| {
        let raw = forge.get(&format!("{one}/raw")).token(&author).send();
        assert_eq!((raw.status, raw.text()), (200, expected));
    };
    forge.clock.set(at(60));
    // Blank fields are ignored.
    let fields = [("title", " "), ("file_name", ""), ("code", "puts 2"), ("visibility_level", "")];
    let changed = forge.put(&one).token(&author).form(&fields).send();
    snippet["updated_at"] = json!("2016-09-22T10:31:00.000Z");
    assert_eq!((changed.expect(200), changed.text()), (snippet.clone(), &*snippet.to_string()));
    raw("puts 2");
    let fields = json!({"title": "New", "file_name": "b@1.rb", "visibility_level": 10});
    let changed = forge.put(&one).token(ROOT).json(&fields).send().expect(200);
    snippet["title"] = json!("New");
    snippet["file_name"] = json!("b@1.rb");
    assert_eq!(changed, snippet);
    raw("puts 2");
    // The level is not shown, but counts.
    forge.get(&one).token(&stranger).send().expect(200);
    assert_eq!(forge.put(&one).token(&author).send().expect(200), snippet);
}

/// 2.3, 20 (1). PUT /projects/:id/snippets/:snippet_id, DELETE /projects/:id/snippets/:snippet_id
fn a_master_changes_no_snippet_of_others(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (project, _) = project(forge, &ada, "20");
    let (reporter, author) = forge.user("author");
    let (master, masters) = forge.user("master");
    let (_, stranger) = forge.user("stranger");
    add_member(forge, &project, reporter, 20, &[]);
    add_member(forge, &project, master, 40, &[]);
    let snippet = create(forge, &author, &project, "t", "20");
    let one = format!("{project}/snippets/{}", id_of(&snippet));
    for token in [&ada, &masters, &stranger] {
        // The right is asked before the values.
        let put = forge.put(&one).token(token).form(&[("file_name", "/")]).send();
        assert_eq!(put.expect(403), forbidden());
        assert_eq!(forge.delete(&one).token(token).send().expect(403), forbidden());
    }
    assert_eq!(forge.get(&one).token(&ada).send().expect(200), snippet);
}

/// 2.3, ruling. DELETE /projects/:id/snippets/:snippet_id
fn a_deleted_snippet_is_shown_once_more(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (project, _) = project(forge, &ada, "0");
    let path = format!("{project}/snippets");
    for token in [ada.as_str(), ROOT] {
        let snippet = create(forge, &ada, &project, "t", "0");
        let one = format!("{path}/{}", id_of(&snippet));
        let gone = forge.delete(&one).token(token).send();
        assert_eq!((gone.expect(200), gone.text()), (snippet.clone(), &*snippet.to_string()));
        let again = forge.delete(&one).token(token).send().expect(404);
        assert_eq!(again, message("404 Snippet Not Found"));
        assert_eq!(forge.get(&one).token(token).send().expect(404), message(NOT_FOUND));
    }
    assert_eq!(forge.get(&path).token(&ada).send().expect(200), json!([]));
}

/// 1.2, 2.3. GET /projects/:id/snippets/:snippet_id, GET /projects/:id/snippets/:snippet_id/raw
fn snippets_of_other_projects_are_not_found(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (project, _) = project(forge, &ada, "0");
    let fields = [("snippets_enabled", "true")];
    let other = path_of_project(&new_project(forge, &ada, "Other", &fields));
    let id = id_of(&create(forge, &ada, &project, "t", "20"));
    let own = [("title", "t"), ("file_name", "f"), ("content", "c")];
    let personal = id_of(&forge.post("/snippets").token(&ada).form(&own).send().expect(201));
    let missing = MISSING.to_string();
    for id in [&id.to_string(), &personal.to_string(), &missing, "0", "-1", "x", HUGE] {
        let one = format!("{other}/snippets/{id}");
        for path in [one.clone(), format!("{one}/raw")] {
            let read = forge.get(&path).token(&ada).send().expect(404);
            assert_eq!(read, message(NOT_FOUND), "{path}");
        }
        let put = forge.put(&one).token(&ada).form(&[("title", "x")]).send();
        assert_eq!(put.expect(404), message(NOT_FOUND), "{id}");
        let deleted = forge.delete(&one).token(&ada).send().expect(404);
        assert_eq!(deleted, message("404 Snippet Not Found"), "{id}");
    }
}

/// 1.1, 1.2. All six calls.
fn the_calls_are_for_users_who_see_the_project(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (_, stranger) = forge.user("stranger");
    let (private, _) = project(forge, &ada, "0");
    let fields = [("snippets_enabled", "true"), ("visibility_level", "20")];
    let public = path_of_project(&new_project(forge, &ada, "Open", &fields));
    let calls = |project: &str| -> Vec<(&str, String)> {
        let path = format!("{project}/snippets");
        vec![
            ("GET", path.clone()),
            ("POST", path.clone()),
            ("GET", format!("{path}/1")),
            ("PUT", format!("{path}/1")),
            ("DELETE", format!("{path}/1")),
            ("GET", format!("{path}/1/raw")),
        ]
    };
    assert_only_for_users(forge, &calls(&public));
    for (method, path) in calls(&private) {
        let hidden = forge.request(method, &path).token(&stranger).send().expect(404);
        assert_eq!(hidden, no_project(), "{method} {path}");
    }
}

/// 2.3: "No activity event, no hook." PUT /projects/:id/snippets/:snippet_id,
/// DELETE /projects/:id/snippets/:snippet_id
fn changing_and_deleting_a_snippet_causes_no_event_and_no_hook(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (project, _) = project(forge, &ada, "20");
    let one = format!("{project}/snippets/{}", id_of(&create(forge, &ada, &project, "t", "20")));
    let feed = format!("{project}/events");
    let events = || {
        let shown = forge.get(&feed).token(&ada).send().expect(200);
        (shown, queued_events(forge).len())
    };
    let before = events();
    forge.put(&one).token(&ada).form(&[("title", "New")]).send().expect(200);
    forge.delete(&one).token(&ada).send().expect(200);
    assert_eq!(events(), before);
}
