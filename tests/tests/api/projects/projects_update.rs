//! `PUT /projects/:id`: reference sections 1.6, 3.5 and 4.6. Updates without a name are row 10 of the dialects.

use chrono::TimeDelta;
use hexforge_domain::outbox::SystemEvent;
use hexforge_domain_testing::builders::at;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    activity_in, add_member, fields_of, forbidden, new_group, new_project, no_project,
    path_of_group, path_of_project, project_facts, project_in, project_now,
};
use crate::api::projects::project_support::{a_cast, assert_list, read};
use crate::api::support::{MISSING, assert_only_for_users, field_error, id_of, queued_events};

on_every_store!(
    every_field_can_be_changed,
    missing_fields_of_a_project_do_not_change,
    rights_depend_on_the_field,
    owners_of_the_group_own_its_projects,
    strangers_are_refused_before_anything_is_read,
    visibility_is_changed_in_two_ways,
    a_new_path_is_news_and_a_new_address,
    a_new_name_alone_is_neither_an_event_nor_a_new_path,
    issues_that_are_switched_off_are_not_counted,
    updating_is_no_activity,
    the_default_branch_can_be_changed,
);

#[track_caller]
fn edit(forge: &Forge, token: &str, project: &Value, fields: &Value) -> Value {
    forge.put(&path_of_project(project)).token(token).json(fields).send().expect(200)
}

/// PUT /projects/:id
fn every_field_can_be_changed(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let ship = new_project(forge, &token, "Ship", &[]);
    let fields = json!({
        "name": "Boat", "path": "newPath", "description": "d", "issues_enabled": false,
        "merge_requests_enabled": false, "builds_enabled": false, "wiki_enabled": false,
        "snippets_enabled": true, "container_registry_enabled": false,
        "shared_runners_enabled": false, "visibility_level": 10, "public_builds": false,
        "only_allow_merge_if_build_succeeds": true,
        "only_allow_merge_if_all_discussions_are_resolved": true, "lfs_enabled": false,
        "request_access_enabled": true, "import_url": "http://example.com/x.git"
    });
    let answer = edit(forge, &token, &ship, &fields);
    for (field, value) in fields.as_object().expect("an object") {
        if field != "import_url" {
            assert_eq!(answer[field], *value, "{field}");
        }
    }
    assert_eq!(answer["path_with_namespace"], "ada/newPath");
    assert_eq!(answer["name_with_namespace"], "ada / Boat");
    let mut shown = read(forge, &token, &ship);
    shown.as_object_mut().and_then(|fields| fields.remove("permissions")).expect("shown");
    assert_eq!(answer.to_string(), shown.to_string());
    assert_eq!(answer["runners_token"], ship["runners_token"]);
    // Fields that no call sets do not change, whatever is sent.
    let fields = json!({
        "name": "Boat", "namespace_id": 1, "archived": true, "creator_id": 1, "star_count": 9,
        "id": 9, "runners_token": "x", "tag_list": ["x"]
    });
    assert_eq!(edit(forge, &token, &ship, &fields), answer);
}

/// PUT /projects/:id
fn missing_fields_of_a_project_do_not_change(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let more = [("description", "d"), ("visibility_level", "10"), ("snippets_enabled", "true")];
    let ship = new_project(forge, &token, "Ship", &more);
    for fields in [
        json!({"name": "Ship"}),
        json!({
            "name": "Ship", "path": "", "description": "  ", "visibility_level": "",
            "public": null, "snippets_enabled": "", "import_url": " "
        }),
    ] {
        assert_eq!(edit(forge, &token, &ship, &fields), ship, "{fields}");
    }
    // An invalid boolean counts as false; false is a value, not a missing one.
    let fields = json!({"name": "Ship", "snippets_enabled": "nonsense", "wiki_enabled": false});
    let answer = edit(forge, &token, &ship, &fields);
    assert_eq!(
        (&answer["snippets_enabled"], &answer["wiki_enabled"]),
        (&json!(false), &json!(false))
    );
    assert_eq!((&answer["description"], &answer["issues_enabled"]), (&json!("d"), &json!(true)));
}

/// PUT /projects/:id
fn rights_depend_on_the_field(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let before = project_now(forge, id_of(&cast.project));
    let told = queued_events(forge);
    let all = [
        json!({"name": "Ship", "description": "d"}),
        json!({"name": "Ship", "path": "boat"}),
        json!({"name": "Ship", "wiki_enabled": false}),
    ];
    let of_owners = [
        json!({"name": "Boat"}),
        json!({"name": "ship"}),
        json!({"name": "Boat", "description": "d"}),
        json!({"name": "Ship", "visibility_level": 0}),
        json!({"name": "Ship", "visibility_level": 20}),
        json!({"name": "Ship", "public": true}),
        json!({"name": "Ship", "public": false, "description": "d"}),
        json!({"name": "Ship", "visibility_level": 7}),
        json!({"name": "-"}),
    ];
    for who in ["guest", "reporter", "developer", "stranger", "external"] {
        for fields in all.iter().chain(&of_owners).chain(&[json!({})]) {
            let refused = forge.put(&cast.path).token(cast.token(who)).json(fields).send();
            assert_eq!(refused.expect(403), forbidden(), "{who} {fields}");
        }
    }
    for fields in &of_owners {
        let refused = forge.put(&cast.path).token(cast.token("master")).json(fields).send();
        assert_eq!(refused.expect(403), forbidden(), "{fields}");
    }
    assert_eq!((project_now(forge, id_of(&before)), queued_events(forge)), (before, told));
    for who in ["master", "owner", "root"] {
        for fields in &all {
            let answer = edit(forge, cast.token(who), &cast.project, fields);
            assert!(fields_of(&answer).contains(&"runners_token"), "{who}");
            assert!(!fields_of(&answer).contains(&"permissions"), "{who}");
        }
        let undo = json!({
            "name": "Ship", "path": "ship", "wiki_enabled": true, "description": "x"
        });
        edit(forge, cast.token("master"), &cast.project, &undo);
    }
    for who in ["owner", "root"] {
        for fields in &of_owners[..7] {
            edit(forge, cast.token(who), &cast.project, fields);
        }
        edit(forge, ROOT, &cast.project, &json!({"name": "Ship", "public": true}));
    }
}

/// PUT /projects/:id
fn owners_of_the_group_own_its_projects(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (bob, bob_token) = forge.user("bob");
    let crew = new_group(forge, ROOT, "crew", &[]);
    let ship = project_in(forge, &crew, "Ship", &[]);
    add_member(forge, &path_of_group(&crew), ada, 50, &[]);
    add_member(forge, &path_of_group(&crew), bob, 40, &[]);
    let path = path_of_project(&ship);
    for form in [[("name", "Boat")], [("name", "ship")]] {
        let refused = forge.put(&path).token(&bob_token).form(&form).send();
        assert_eq!(refused.expect(403), forbidden());
    }
    let both = json!({"name": "Boat", "visibility_level": 20});
    assert_eq!(edit(forge, &token, &ship, &both)["visibility_level"], 20);
    // The creator of the project, as a mere member, is not an owner either.
    let own = [("namespace_id", id_of(&crew).to_string())];
    let own = own.each_ref().map(|(name, value)| (*name, value.as_str()));
    let made = new_project(forge, &bob_token, "Raft", &own);
    let refused = forge.put(&path_of_project(&made)).token(&bob_token);
    assert_eq!(refused.form(&[("name", "Log")]).send().expect(403), forbidden());
}

/// PUT /projects/:id
fn strangers_are_refused_before_anything_is_read(forge: &Forge) {
    let cast = a_cast(forge, "0");
    assert_only_for_users(
        forge,
        &[("PUT", cast.path.clone()), ("PUT", format!("/projects/{MISSING}"))],
    );
    for fields in [json!({}), json!({"name": "x"}), json!({"name": ["x"], "visibility_level": 7})] {
        for who in ["stranger", "external"] {
            let refused = forge.put(&cast.path).token(cast.token(who)).json(&fields).send();
            assert_eq!(refused.expect(404), no_project(), "{who} {fields}");
        }
        let missing = forge.put(&format!("/projects/{MISSING}")).token(ROOT).json(&fields).send();
        assert_eq!(missing.expect(404), no_project());
    }
    let wrong = forge.put(&cast.path).token(ROOT).json(&json!({"name": ["x"]})).send();
    assert_eq!(wrong.expect(400), json!({"error": "name is invalid"}));
}

/// PUT /projects/:id
fn visibility_is_changed_in_two_ways(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let ship = new_project(forge, &token, "Ship", &[("visibility_level", "10")]);
    for (fields, level) in [
        (json!({"public": true}), 20),
        (json!({}), 20),
        (json!({"public": false}), 0),
        (json!({"visibility_level": 20, "public": false}), 20),
        (json!({"visibility_level": 0, "public": true}), 0),
        (json!({"visibility_level": "10"}), 10),
    ] {
        let mut fields = fields;
        fields["name"] = json!("Ship");
        let answer = edit(forge, &token, &ship, &fields);
        assert_eq!(
            (&answer["visibility_level"], &answer["public"]),
            (&json!(level), &json!(level == 20))
        );
    }
    let refused = forge.put(&path_of_project(&ship)).token(ROOT);
    let refused = refused.form(&[("name", "Ship"), ("visibility_level", "7")]).send().expect(400);
    let text = "unknown has been restricted by your GitLab administrator";
    assert_eq!(refused, field_error("visibility_level", text));
}

/// PUT /projects/:id
fn a_new_path_is_news_and_a_new_address(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let ship = new_project(forge, &token, "Ship", &[]);
    let before = queued_events(forge).len();
    forge.clock.advance(TimeDelta::seconds(5));
    let answer = edit(forge, &token, &ship, &json!({"name": "Ship", "path": "Boat"}));
    assert_eq!(answer["web_url"], "http://forge.test/ada/Boat");
    assert_eq!(answer["http_url_to_repo"], "http://forge.test/ada/Boat.git");
    assert_eq!(answer["ssh_url_to_repo"], "ssh://git@forge.test:2222/ada/Boat.git");
    let mut facts = project_facts(&answer, "ada", "ada@example.com");
    facts.updated_at = at(5);
    let expected = [SystemEvent::ProjectRenamed(facts, "ada/ship".to_owned())];
    assert_eq!(queued_events(forge)[before..], expected);
    forge.get("/projects/ada%2Fboat").token(&token).send().expect(200);
    let old = forge.get("/projects/ada%2Fship").token(&token).send();
    assert_eq!(old.expect(404), no_project());
    // The old path can be used again, and a change of case does not conflict with itself.
    let other = new_project(forge, &token, "Other", &[("path", "ship")]);
    edit(forge, &token, &ship, &json!({"name": "Ship", "path": "bOAT"}));
    assert_eq!(read(forge, &token, &other)["path"], "ship");
}

/// PUT /projects/:id
fn a_new_name_alone_is_neither_an_event_nor_a_new_path(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let ship = new_project(forge, &token, "Ship", &[]);
    let before = queued_events(forge);
    let answer = edit(forge, &token, &ship, &json!({"name": "The Boat"}));
    assert_eq!((&answer["name"], &answer["path"]), (&json!("The Boat"), &json!("ship")));
    edit(forge, &token, &ship, &json!({"name": "The Boat", "path": "ship", "description": "d"}));
    assert_eq!(queued_events(forge), before);
    assert_list(forge, &token, "/projects?search=boat", &["The Boat"]);
}

/// PUT /projects/:id
fn issues_that_are_switched_off_are_not_counted(forge: &Forge) {
    let ship = new_project(forge, ROOT, "Ship", &[]);
    let off = edit(forge, ROOT, &ship, &json!({"name": "Ship", "issues_enabled": false}));
    assert_eq!(off.get("open_issues_count"), None);
    assert_eq!(read(forge, ROOT, &ship).get("open_issues_count"), None);
    let on = edit(forge, ROOT, &ship, &json!({"name": "Ship", "issues_enabled": true}));
    assert_eq!(on["open_issues_count"], 0);
}

/// PUT /projects/:id
fn updating_is_no_activity(forge: &Forge) {
    let ship = new_project(forge, ROOT, "Ship", &[]);
    new_project(forge, ROOT, "Later", &[]);
    forge.clock.advance(TimeDelta::hours(2));
    let by_change = "/projects?order_by=updated_at";
    // Setting the current values is not a change.
    edit(forge, ROOT, &ship, &json!({"name": "Ship", "visibility_level": 0}));
    assert_list(forge, ROOT, by_change, &["Later", "Ship"]);
    let changes = json!({"name": "Boat", "path": "boat", "visibility_level": 20});
    let answer = edit(forge, ROOT, &ship, &changes);
    assert_eq!(answer["last_activity_at"], ship["last_activity_at"]);
    assert_list(forge, ROOT, by_change, &["Boat", "Later"]);
    assert_eq!(activity_in(forge, &ship), [("created".to_owned(), 1)]);
}

/// PUT /projects/:id
fn the_default_branch_can_be_changed(forge: &Forge) {
    let fixture = crate::api::repositories::refs_support::filled_fixture(forge);
    let head = || fixture.tree.git_bare(&["symbolic-ref", "HEAD"]);
    let told = queued_events(forge).len();
    let put = |token: &str, fields: &Value| {
        forge.put(&fixture.cast.path).token(token).json(fields).send()
    };
    for who in ["guest", "reporter", "developer"] {
        let fields = json!({"name": "Ship", "default_branch": "feature/x"});
        assert_eq!(put(fixture.token(who), &fields).expect(403), forbidden(), "{who}");
    }
    for (branch, who) in [("feature/x", "master"), ("master", "owner"), ("feature/x", "root")] {
        let fields = json!({"name": "Ship", "default_branch": branch});
        for _ in 0..2 {
            let answer = put(fixture.token(who), &fields).expect(200);
            assert_eq!(answer["default_branch"], branch);
            assert_eq!(head(), format!("refs/heads/{branch}"));
            assert_eq!(read(forge, ROOT, &fixture.cast.project)["default_branch"], branch);
        }
    }
    // A blank value counts as missing.
    for blank in [json!(""), json!(" "), Value::Null] {
        let fields = json!({"name": "Ship", "default_branch": blank});
        assert_eq!(put(ROOT, &fields).expect(200)["default_branch"], "feature/x");
    }
    // An unknown branch changes nothing, and neither do the other fields of the request.
    for name in ["missing", "v1.0.0", "HEAD", "refs/heads/master", "..", "feature", "-x", "a b"] {
        let fields = json!({"name": "Boat", "description": "d", "default_branch": name});
        let refused = put(ROOT, &fields).expect(400);
        assert_eq!(refused, field_error("default_branch", "does not exist"), "{name}");
    }
    let fields = json!({"name": "-", "default_branch": "master"});
    put(ROOT, &fields).expect(400);
    assert_eq!(head(), "refs/heads/feature/x");
    let shown = read(forge, ROOT, &fixture.cast.project);
    assert_eq!((&shown["name"], &shown["description"]), (&json!("Ship"), &Value::Null));
    // The new default branch cannot be removed.
    let path = format!("{}/feature/x", fixture.branches);
    forge.delete(&path).token(ROOT).send().expect(400);
    forge.delete(&format!("{}/master", fixture.branches)).token(ROOT).send().expect(200);
    assert_eq!(queued_events(forge).len(), told + 1, "only the removal is an event");
    fixture.tree.assert_sound();
    // An empty repository has no branch that could become the default.
    let empty = new_project(forge, ROOT, "Empty", &[]);
    let fields = json!({"name": "Empty", "default_branch": "master"});
    let refused = forge.put(&path_of_project(&empty)).token(ROOT).json(&fields).send();
    assert_eq!(refused.expect(400), field_error("default_branch", "does not exist"));
}
