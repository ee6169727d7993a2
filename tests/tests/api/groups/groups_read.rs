//! `GET /groups/:id`: reference sections 1.7, 1.11 and 2.3.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    add_member, external_user, fields_of, new_group, new_project, no_group, path_of_group,
    path_of_project, project_in, project_now, share,
};
use crate::api::support::{HUGE, MISSING, assert_only_for_users, id_of, ids};

on_every_store!(
    a_group_shows_its_fields_and_projects_in_order,
    a_group_is_found_by_its_path_and_then_by_its_id,
    reading_a_group_is_for_users,
    a_private_group_is_hidden_from_all_but_members_and_administrators,
    an_internal_group_is_hidden_from_external_users,
    who_sees_a_project_of_a_group_sees_the_group,
    who_sees_a_project_shared_with_a_group_sees_the_group,
    a_group_shows_only_the_projects_that_the_reader_may_see,
    a_project_shared_until_yesterday_no_longer_opens_anything,
);

#[track_caller]
fn read(forge: &Forge, token: &str, group: &Value) -> Value {
    forge.get(&path_of_group(group)).token(token).send().expect(200)
}

#[track_caller]
fn assert_hidden(forge: &Forge, token: &str, group: &Value) {
    let path = group["path"].as_str().expect("a group has a path");
    for path in [path_of_group(group), format!("/groups/{path}")] {
        assert_eq!(forge.get(&path).token(token).send().expect(404), no_group(), "{path}");
    }
}

/// GET /groups/:id
fn a_group_shows_its_fields_and_projects_in_order(forge: &Forge) {
    let form = [
        ("name", "The Team"),
        ("path", "Team.1"),
        ("description", "<b>&"),
        ("visibility_level", "10"),
        ("lfs_enabled", "false"),
        ("request_access_enabled", "true"),
    ];
    let group = forge.post("/groups").token(ROOT).form(&form).send().expect(201);
    let expected = |projects: Value, shared: Value| {
        json!({
            "id": id_of(&group), "name": "The Team", "path": "Team.1", "description": "<b>&",
            "visibility_level": 10, "lfs_enabled": false, "avatar_url": null,
            "web_url": "http://forge.test/groups/Team.1", "request_access_enabled": true,
            "projects": projects, "shared_projects": shared
        })
    };
    let empty = forge.get("/groups/Team.1").token(ROOT).send();
    empty.expect(200);
    assert_eq!(empty.text(), expected(json!([]), json!([])).to_string());
    let first = id_of(&project_in(forge, &group, "first", &[]));
    let second = id_of(&project_in(forge, &group, "second", &[("visibility_level", "10")]));
    let theirs = new_project(forge, ROOT, "theirs", &[]);
    share(forge, &theirs, &group, "30");
    let full = forge.get("/groups/Team.1").token(ROOT).send();
    full.expect(200);
    let [first, second, theirs] = [first, second, id_of(&theirs)].map(|id| project_now(forge, id));
    assert_eq!(full.text(), expected(json!([second, first]), json!([theirs])).to_string());
    // The fields of reference section 3.1, without those for project administrators.
    let in_group = [
        "id",
        "description",
        "default_branch",
        "tag_list",
        "public",
        "archived",
        "visibility_level",
        "ssh_url_to_repo",
        "http_url_to_repo",
        "web_url",
        "name",
        "name_with_namespace",
        "path",
        "path_with_namespace",
        "container_registry_enabled",
        "issues_enabled",
        "merge_requests_enabled",
        "wiki_enabled",
        "builds_enabled",
        "snippets_enabled",
        "created_at",
        "last_activity_at",
        "shared_runners_enabled",
        "lfs_enabled",
        "creator_id",
        "namespace",
        "avatar_url",
        "star_count",
        "forks_count",
        "open_issues_count",
        "public_builds",
        "shared_with_groups",
        "only_allow_merge_if_build_succeeds",
        "request_access_enabled",
        "only_allow_merge_if_all_discussions_are_resolved",
    ];
    assert_eq!(fields_of(&full.json()["projects"][0]), in_group);
    assert_eq!(full.json()["projects"][0]["name_with_namespace"], "The Team / second");
    // Without its own setting, a project has that of its group.
    assert_eq!(full.json()["projects"][0]["lfs_enabled"], false);
    assert_eq!(
        full.json()["shared_projects"][0]["shared_with_groups"],
        json!([{"group_id": id_of(&group), "group_name": "The Team", "group_access_level": 30}])
    );
}

/// GET /groups/:id
fn a_group_is_found_by_its_path_and_then_by_its_id(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let first = new_group(forge, ROOT, "Team", &[]);
    let id = id_of(&first);
    for path in ["/groups/Team".to_owned(), format!("/groups/{id}"), "/groups/Team/".into()] {
        assert_eq!(id_of(&forge.get(&path).token(&token).send().expect(200)), id, "{path}");
    }
    for path in [
        "team".to_owned(),
        "ada".into(),
        "root".into(),
        MISSING.to_string(),
        HUGE.into(),
        "0".into(),
        "-1".into(),
        format!("{id}x"),
        "%27".into(),
    ] {
        let missing = forge.get(&format!("/groups/{path}")).token(ROOT).send().expect(404);
        assert_eq!(missing, no_group(), "{path}");
    }
    // The namespace of a user is not found by its id either.
    let namespaces = forge.get("/namespaces").token(&token).send().expect(200);
    let own = id_of(&namespaces[0]);
    let personal = forge.get(&format!("/groups/{own}")).token(ROOT).send().expect(404);
    assert_eq!(personal, no_group());
    // A path of digits takes precedence over the id with the same digits.
    let other = id_of(&new_group(forge, ROOT, &id.to_string(), &[]));
    let found = forge.get(&format!("/groups/{id}")).token(ROOT).send().expect(200);
    assert_eq!(id_of(&found), other);
}

/// GET /groups/:id
fn reading_a_group_is_for_users(forge: &Forge) {
    new_group(forge, ROOT, "open", &[]);
    assert_only_for_users(forge, &[("GET", "/groups/open".into()), ("GET", "/groups/x".into())]);
}

/// GET /groups/:id
fn a_private_group_is_hidden_from_all_but_members_and_administrators(forge: &Forge) {
    let (ada, member) = forge.user("ada");
    let (bob, past) = forge.user("bob");
    let (_, stranger) = forge.user("stranger");
    let group = new_group(forge, ROOT, "hidden", &[("visibility_level", "0")]);
    add_member(forge, &path_of_group(&group), ada, 10, &[]);
    add_member(forge, &path_of_group(&group), bob, 50, &[("expires_at", "2016-09-22")]);
    assert_hidden(forge, &stranger, &group);
    assert_hidden(forge, &past, &group);
    for token in [&member, ROOT] {
        assert_eq!(read(forge, token, &group)["visibility_level"], 0);
    }
    // With sudo, an administrator has the permissions of the other user.
    let path = path_of_group(&group);
    let as_stranger = forge.get(&path).token(ROOT).header("SUDO", "stranger").send();
    assert_eq!(as_stranger.expect(404), no_group());
}

/// GET /groups/:id
fn an_internal_group_is_hidden_from_external_users(forge: &Forge) {
    let (_, normal) = forge.user("normal");
    let (eve, external) = external_user(forge, "eve");
    let inside = new_group(forge, ROOT, "inside", &[("visibility_level", "10")]);
    let open = new_group(forge, ROOT, "open", &[("visibility_level", "20")]);
    read(forge, &normal, &inside);
    assert_hidden(forge, &external, &inside);
    read(forge, &external, &open);
    add_member(forge, &path_of_group(&inside), eve, 10, &[]);
    read(forge, &external, &inside);
}

/// GET /groups/:id
fn who_sees_a_project_of_a_group_sees_the_group(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let group = new_group(forge, ROOT, "hidden", &[("visibility_level", "0")]);
    let seen = project_in(forge, &group, "seen", &[]);
    project_in(forge, &group, "unseen", &[]);
    assert_hidden(forge, &token, &group);
    add_member(forge, &path_of_project(&seen), ada, 10, &[]);
    assert_eq!(ids(&read(forge, &token, &group)["projects"]), [id_of(&seen)]);
}

/// GET /groups/:id
fn who_sees_a_project_shared_with_a_group_sees_the_group(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let (_, external) = external_user(forge, "eve");
    let group = new_group(forge, ROOT, "hidden", &[("visibility_level", "0")]);
    let secret = new_project(forge, ROOT, "secret", &[]);
    share(forge, &secret, &group, "10");
    assert_hidden(forge, &token, &group);
    let inside = new_project(forge, ROOT, "inside", &[("visibility_level", "10")]);
    share(forge, &inside, &group, "10");
    let shown = read(forge, &token, &group);
    assert_eq!(shown["projects"], json!([]));
    assert_eq!(ids(&shown["shared_projects"]), [id_of(&inside)]);
    assert_hidden(forge, &external, &group);
}

/// GET /groups/:id
fn a_group_shows_only_the_projects_that_the_reader_may_see(forge: &Forge) {
    let (ada, guest) = forge.user("ada");
    let (_, stranger) = forge.user("stranger");
    let (_, external) = external_user(forge, "eve");
    let group = new_group(forge, ROOT, "open", &[]);
    add_member(forge, &path_of_group(&group), ada, 10, &[]);
    let of_group = ["0", "10", "20"]
        .map(|level| id_of(&project_in(forge, &group, level, &[("visibility_level", level)])));
    let shared = ["0", "10", "20"].map(|level| {
        let project = new_project(forge, ROOT, level, &[("visibility_level", level)]);
        share(forge, &project, &group, "20");
        id_of(&project)
    });
    for (who, token, visible) in [
        ("member", guest.as_str(), vec![2, 1, 0]),
        ("administrator", ROOT, vec![2, 1, 0]),
        ("stranger", &stranger, vec![2, 1]),
        ("external", &external, vec![2]),
    ] {
        let shown = read(forge, token, &group);
        let expected = |ids: [i64; 3]| visible.iter().map(|n| ids[*n]).collect::<Vec<i64>>();
        assert_eq!(ids(&shown["projects"]), expected(of_group), "{who}");
        assert_eq!(ids(&shown["shared_projects"]), expected(shared), "{who}");
        let text = shown.to_string();
        assert!(!text.contains("runners_token") && !text.contains("permissions"), "{who}");
    }
}

/// GET /groups/:id
fn a_project_shared_until_yesterday_no_longer_opens_anything(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let group = new_group(forge, ROOT, "team", &[]);
    add_member(forge, &path_of_group(&group), ada, 50, &[]);
    let project = new_project(forge, ROOT, "secret", &[]);
    let id = id_of(&group).to_string();
    let form = [("group_id", id.as_str()), ("group_access", "30"), ("expires_at", "2016-09-23")];
    let path = path_of_project(&project);
    forge.post(&format!("{path}/share")).token(ROOT).form(&form).send().expect(201);
    forge.get(&path).token(&token).send().expect(200);
    assert_eq!(ids(&read(forge, &token, &group)["shared_projects"]), [id_of(&project)]);
    forge.clock.advance(chrono::TimeDelta::days(1));
    forge.get(&path).token(&token).send().expect(404);
    assert_eq!(read(forge, &token, &group)["shared_projects"], json!([]));
    let list = forge.get(&format!("/groups/{id}/projects")).token(&token).send();
    assert_eq!(list.expect(200), json!([]));
}
