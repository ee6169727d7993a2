//! `PUT /groups/:id`: reference section 2.5.

use hexforge_domain_testing::builders::at;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    add_member, error, forbidden, new_group, no_group, no_project, path_of_group, path_of_project,
    project_in, project_now,
};
use crate::api::support::{HUGE, assert_only_for_users, field_error, id_of, queued_events};

on_every_store!(
    an_owner_changes_every_field,
    missing_fields_of_a_group_do_not_change,
    at_least_one_field_has_to_be_given,
    changing_a_group_is_for_its_owners_and_administrators,
    the_parameters_are_looked_at_before_the_group,
    the_rules_are_those_of_new_groups_told_by_field,
    a_group_cannot_be_more_hidden_than_its_projects,
    an_unknown_visibility_level_changes_nothing,
    projects_move_with_the_path_of_their_group,
    updating_a_group_is_no_event,
);

#[track_caller]
fn update_group(forge: &Forge, token: &str, group: &Value, form: &[(&str, &str)]) -> Value {
    forge.put(&path_of_group(group)).token(token).form(form).send().expect(200)
}

#[track_caller]
fn group_now(forge: &Forge, group: &Value) -> Value {
    forge.get(&path_of_group(group)).token(ROOT).send().expect(200)
}

/// PUT /groups/:id
fn an_owner_changes_every_field(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let group = new_group(forge, &ada, "team", &[]);
    let project = project_in(forge, &group, "p", &[]);
    let form = [
        ("name", "New name"),
        ("path", "new-path"),
        ("description", "new & better"),
        ("visibility_level", "10"),
        ("lfs_enabled", "false"),
        ("request_access_enabled", "true"),
    ];
    forge.clock.set(at(60));
    let changed = forge.put("/groups/team").token(&ada).form(&form).send();
    changed.expect(200);
    let project = project_now(forge, id_of(&project));
    let expected = json!({
        "id": id_of(&group), "name": "New name", "path": "new-path",
        "description": "new & better", "visibility_level": 10, "lfs_enabled": false,
        "avatar_url": null, "web_url": "http://forge.test/groups/new-path",
        "request_access_enabled": true, "projects": [project], "shared_projects": []
    });
    assert_eq!(changed.text(), expected.to_string());
    assert_eq!(group_now(forge, &group), expected);
    assert_eq!(expected["projects"][0]["namespace"]["updated_at"], "2016-09-22T10:31:00.000Z");
    assert_eq!(expected["projects"][0]["namespace"]["created_at"], "2016-09-22T10:30:00.000Z");
    // As JSON, with all fields of the earlier response beside the change.
    let mut whole = expected.clone();
    whole["lfs_enabled"] = json!(true);
    let changed = forge.put("/groups/new-path").token(&ada).json(&whole).send().expect(200);
    assert_eq!(changed["lfs_enabled"], true);
}

/// PUT /groups/:id
fn missing_fields_of_a_group_do_not_change(forge: &Forge) {
    let form = [("description", "d"), ("visibility_level", "10"), ("lfs_enabled", "false")];
    let group = new_group(forge, ROOT, "team", &form);
    for (field, value) in [
        ("name", json!("Other")),
        ("path", json!("other")),
        ("description", json!("")),
        ("visibility_level", json!(20)),
        ("lfs_enabled", json!(true)),
        ("request_access_enabled", json!(true)),
    ] {
        let mut expected = group_now(forge, &group);
        let mut change = serde_json::Map::new();
        change.insert(field.to_owned(), value.clone());
        let change = Value::Object(change);
        let answer = forge.put(&path_of_group(&group)).token(ROOT).json(&change).send();
        expected[field] = value;
        if field == "path" {
            expected["web_url"] = json!("http://forge.test/groups/other");
        }
        assert_eq!(answer.expect(200), expected, "{field}");
        assert_eq!(group_now(forge, &group), expected, "{field}");
    }
    // Its own name and path are not taken, in any case.
    let same = update_group(forge, ROOT, &group, &[("name", "Other"), ("path", "OTHER")]);
    assert_eq!((&same["name"], &same["path"]), (&json!("Other"), &json!("OTHER")));
}

/// PUT /groups/:id
fn at_least_one_field_has_to_be_given(forge: &Forge) {
    let group = new_group(forge, ROOT, "team", &[]);
    let text = "name, path, description, visibility_level, lfs_enabled, request_access_enabled are \
                missing, at least one parameter must be provided";
    for form in [vec![], vec![("nonsense", "1"), ("id", "7")]] {
        let refused = forge.put(&path_of_group(&group)).token(ROOT).form(&form).send();
        assert_eq!(refused.expect(400), error(text));
    }
}

/// PUT /groups/:id
fn changing_a_group_is_for_its_owners_and_administrators(forge: &Forge) {
    let groups = ["0", "10", "20"]
        .map(|level| new_group(forge, ROOT, &format!("g{level}"), &[("visibility_level", level)]));
    let (_, stranger) = forge.user("stranger");
    let (master, master_token) = forge.user("master");
    let (past, past_token) = forge.user("past");
    let (owner, owner_token) = forge.user("owner");
    for (group, hidden) in groups.iter().zip([true, false, false]) {
        let path = path_of_group(group);
        add_member(forge, &path, master, 40, &[]);
        add_member(forge, &path, past, 50, &[("expires_at", "2016-09-22")]);
        add_member(forge, &path, owner, 50, &[]);
        assert_only_for_users(forge, &[("PUT", path.clone())]);
        let form = [("description", "changed")];
        for token in [&stranger, &past_token] {
            let refused = forge.put(&path).token(token).form(&form).send();
            if hidden {
                assert_eq!(refused.expect(404), no_group());
            } else {
                assert_eq!(refused.expect(403), forbidden());
            }
        }
        let refused = forge.put(&path).token(&master_token).form(&form).send();
        assert_eq!(refused.expect(403), forbidden());
        assert_eq!(group_now(forge, group)["description"], "");
        for token in [owner_token.as_str(), ROOT] {
            let form = [("description", token)];
            assert_eq!(update_group(forge, token, group, &form)["description"], token);
        }
    }
}

/// PUT /groups/:id
fn the_parameters_are_looked_at_before_the_group(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    new_group(forge, ROOT, "open", &[]);
    for group in ["open", "missing", "987654", HUGE, "ada"] {
        let path = format!("/groups/{group}");
        let wrong = [("request_access_enabled", "?"), ("visibility_level", "x"), ("name", "n")];
        let refused = forge.put(&path).token(&ada).form(&wrong).send();
        let text = "visibility_level is invalid, request_access_enabled is invalid";
        assert_eq!(refused.expect(400), error(text), "{group}");
        if group != "open" {
            let missing = forge.put(&path).token(ROOT).form(&[("name", "n")]).send();
            assert_eq!(missing.expect(404), no_group(), "{group}");
        }
    }
}

/// PUT /groups/:id
fn the_rules_are_those_of_new_groups_told_by_field(forge: &Forge) {
    forge.user("ada");
    let group = new_group(forge, ROOT, "team", &[]);
    new_group(forge, ROOT, "other", &[]);
    let before = group_now(forge, &group);
    let path_format = "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' \
                       or end in '.', '.git' or '.atom'.";
    let long = "a".repeat(256);
    for (field, value, text) in [
        ("path", "OTHER", "has already been taken"),
        ("path", "Ada", "has already been taken"),
        ("path", "a.git", path_format),
        ("path", "users", "users is a reserved name"),
        ("path", "", "can't be blank"),
        ("name", "other", "has already been taken"),
        ("name", "a&b", "can contain only letters, digits, '_', '.', dash and space."),
        ("name", &long, "is too long (maximum is 255 characters)"),
        ("description", &long, "is too long (maximum is 255 characters)"),
    ] {
        let form = [(field, value), ("lfs_enabled", "false")];
        let refused = forge.put(&path_of_group(&group)).token(ROOT).form(&form).send();
        assert_eq!(refused.expect(400), field_error(field, text), "{field} {value}");
        assert_eq!(group_now(forge, &group), before);
    }
}

/// PUT /groups/:id
fn a_group_cannot_be_more_hidden_than_its_projects(forge: &Forge) {
    let group = new_group(forge, ROOT, "team", &[]);
    let project = project_in(forge, &group, "p", &[("visibility_level", "20")]);
    let lower = |level: &str, text: &str| {
        let form = [("visibility_level", level), ("description", "new")];
        let refused = forge.put(&path_of_group(&group)).token(ROOT).form(&form).send();
        assert_eq!(refused.expect(400), field_error("visibility_level", text));
    };
    let text = "is not allowed since there are projects with higher visibility.";
    lower("0", &format!("private {text}"));
    lower("10", &format!("internal {text}"));
    assert_eq!(group_now(forge, &group)["description"], "");
    let hide = |level| {
        let form = [("name", "p"), ("visibility_level", level)];
        forge.put(&path_of_project(&project)).token(ROOT).form(&form).send().expect(200);
    };
    hide("10");
    lower("0", &format!("private {text}"));
    assert_eq!(
        update_group(forge, ROOT, &group, &[("visibility_level", "10")])["visibility_level"],
        10
    );
    hide("0");
    assert_eq!(
        update_group(forge, ROOT, &group, &[("visibility_level", "0")])["visibility_level"],
        0
    );
}

/// PUT /groups/:id
fn an_unknown_visibility_level_changes_nothing(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let group = new_group(forge, &ada, "team", &[]);
    let before = group_now(forge, &group);
    for token in [ada.as_str(), ROOT] {
        let form = [("visibility_level", "7"), ("name", "New"), ("path", "admin")];
        assert_eq!(update_group(forge, token, &group, &form), before);
        assert_eq!(group_now(forge, &group), before);
    }
}

/// PUT /groups/:id
fn projects_move_with_the_path_of_their_group(forge: &Forge) {
    let group = new_group(forge, ROOT, "old", &[]);
    let project = project_in(forge, &group, "p", &[]);
    let changed = update_group(forge, ROOT, &group, &[("path", "newer")]);
    let moved = &changed["projects"][0];
    assert_eq!(moved["path_with_namespace"], "newer/p");
    assert_eq!(moved["web_url"], "http://forge.test/newer/p");
    assert_eq!(moved["http_url_to_repo"], "http://forge.test/newer/p.git");
    assert_eq!(moved["ssh_url_to_repo"], "ssh://git@forge.test:2222/newer/p.git");
    assert_eq!(moved["namespace"]["path"], "newer");
    let read = |path: &str| forge.get(path).token(ROOT).send();
    assert_eq!(id_of(&read("/projects/newer%2Fp").expect(200)), id_of(&project));
    assert_eq!(read("/projects/old%2Fp").expect(404), no_project());
    assert_eq!(read("/groups/old").expect(404), no_group());
    // The old path can be used again.
    let form = [("name", "another"), ("path", "old")];
    forge.post("/groups").token(ROOT).form(&form).send().expect(201);
}

/// PUT /groups/:id
fn updating_a_group_is_no_event(forge: &Forge) {
    let group = new_group(forge, ROOT, "old", &[]);
    project_in(forge, &group, "p", &[]);
    let before = queued_events(forge);
    update_group(
        forge,
        ROOT,
        &group,
        &[("path", "newer"), ("name", "New"), ("visibility_level", "0")],
    );
    assert_eq!(queued_events(forge), before);
}
