//! `GET /projects/:id`: reference sections 1.7, 1.11, 3.1, 3.2 and 4.2.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    add_member, external_user, fields_of, new_group, new_project, no_project, path_of_group,
    path_of_project, project_in, share,
};
use crate::api::projects::project_support::{a_cast, namespace_of, read};
use crate::api::support::{HUGE, MISSING, assert_only_for_users, id_of};

on_every_store!(
    a_personal_project_shows_its_fields_in_order,
    a_project_of_a_group_shows_its_fields_in_order,
    a_project_is_found_by_its_id_and_by_its_path,
    reading_a_project_is_for_users,
    who_may_read_depends_on_the_visibility,
    a_group_and_a_share_open_a_project,
    permissions_are_those_of_the_memberships,
    only_administrators_of_a_project_see_the_token_of_its_runners,
);

const THEN: &str = "2016-09-22T10:30:00.000Z";

/// GET /projects/:id
fn a_personal_project_shows_its_fields_in_order(forge: &Forge) {
    let ada = id_of(&forge.new_user("ada", &[("name", "Ada L.")]));
    let token = forge.sign_in("ada");
    let more = [("description", "<b>&"), ("path", "Ship.js"), ("visibility_level", "20")];
    let made = new_project(forge, &token, "The Ship", &more);
    let group = id_of(&new_group(forge, ROOT, "crew", &[]));
    let crew = json!({ "id": group });
    share(forge, &made, &crew, "30");
    let runners = made["runners_token"].as_str().expect("the owner sees it");
    let expected = json!({
        "id": id_of(&made), "description": "<b>&", "default_branch": null, "tag_list": [],
        "public": true, "archived": false, "visibility_level": 20,
        "ssh_url_to_repo": "ssh://git@forge.test:2222/ada/Ship.js.git",
        "http_url_to_repo": "http://forge.test/ada/Ship.js.git",
        "web_url": "http://forge.test/ada/Ship.js",
        "owner": {
            "name": "Ada L.", "username": "ada", "id": ada, "state": "active",
            "avatar_url":
                "http://www.gravatar.com/avatar/3e3417d7ef77d5932a6734b916515ed5?s=80&d=identicon",
            "web_url": "http://forge.test/ada", "created_at": THEN
        },
        "name": "The Ship", "name_with_namespace": "Ada L. / The Ship", "path": "Ship.js",
        "path_with_namespace": "ada/Ship.js", "container_registry_enabled": true,
        "issues_enabled": true, "merge_requests_enabled": true, "wiki_enabled": true,
        "builds_enabled": true, "snippets_enabled": false, "created_at": THEN,
        "last_activity_at": THEN, "shared_runners_enabled": true, "lfs_enabled": true,
        "creator_id": ada,
        "namespace": {
            "id": id_of(&made["namespace"]), "name": "ada", "path": "ada", "owner_id": ada,
            "created_at": THEN, "updated_at": THEN, "description": "", "avatar": null,
            "share_with_group_lock": false, "visibility_level": 20,
            "request_access_enabled": false, "deleted_at": null, "lfs_enabled": null,
            "kind": "user"
        },
        "avatar_url": null, "star_count": 0, "forks_count": 0, "open_issues_count": 0,
        "runners_token": runners, "public_builds": true,
        "shared_with_groups":
            [{ "group_id": group, "group_name": "crew", "group_access_level": 30 }],
        "only_allow_merge_if_build_succeeds": false, "request_access_enabled": false,
        "only_allow_merge_if_all_discussions_are_resolved": false,
        "permissions": {
            "project_access": { "access_level": 40, "notification_level": 3 },
            "group_access": null
        }
    });
    let shown = forge.get(&path_of_project(&made)).token(&token).send();
    shown.expect(200);
    assert_eq!(shown.text(), expected.to_string());
}

/// GET /projects/:id
fn a_project_of_a_group_shows_its_fields_in_order(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let more = [("name", "The Crew"), ("description", "d"), ("lfs_enabled", "false")];
    let group = new_group(forge, ROOT, "crew", &more);
    add_member(forge, &path_of_group(&group), ada, 50, &[]);
    let made = project_in(forge, &group, "Ship", &[("visibility_level", "10")]);
    let source = new_project(forge, ROOT, "Hull", &[("public", "true")]);
    let fork = [("namespace", "crew")];
    let fork = forge.post(&format!("/projects/fork/{}", id_of(&source))).token(ROOT).form(&fork);
    let fork = fork.send().expect(201);
    let expected = |project: &Value, lower: &str, name: &str, level: i64, source: Option<Value>| {
        let mut expected = json!({
            "id": id_of(project), "description": null, "default_branch": null, "tag_list": [],
            "public": level == 20, "archived": false, "visibility_level": level,
            "ssh_url_to_repo": format!("ssh://git@forge.test:2222/crew/{lower}.git"),
            "http_url_to_repo": format!("http://forge.test/crew/{lower}.git"),
            "web_url": format!("http://forge.test/crew/{lower}"),
            "name": name, "name_with_namespace": format!("The Crew / {name}"), "path": lower,
            "path_with_namespace": format!("crew/{lower}"), "container_registry_enabled": true,
            "issues_enabled": true, "merge_requests_enabled": true, "wiki_enabled": true,
            "builds_enabled": true, "snippets_enabled": false, "created_at": THEN,
            "last_activity_at": THEN, "shared_runners_enabled": true, "lfs_enabled": false,
            "creator_id": 1,
            "namespace": {
                "id": id_of(&group), "name": "The Crew", "path": "crew", "owner_id": null,
                "created_at": THEN, "updated_at": THEN, "description": "d",
                "avatar": { "url": null }, "share_with_group_lock": false,
                "visibility_level": 20, "request_access_enabled": false, "deleted_at": null,
                "lfs_enabled": false, "kind": "group"
            }
        });
        let rest = json!({
            "avatar_url": null, "star_count": 0, "forks_count": 0, "open_issues_count": 0,
            "runners_token": project["runners_token"], "public_builds": true,
            "shared_with_groups": [], "only_allow_merge_if_build_succeeds": false,
            "request_access_enabled": false,
            "only_allow_merge_if_all_discussions_are_resolved": false,
            "permissions": {
                "project_access": null,
                "group_access": { "access_level": 50, "notification_level": 3 }
            }
        });
        let fields = expected.as_object_mut().expect("an object");
        fields.extend(source.map(|source| ("forked_from_project".to_owned(), source)));
        fields.extend(rest.as_object().expect("an object").clone());
        expected.to_string()
    };
    let shown = forge.get(&path_of_project(&made)).token(&token).send();
    assert_eq!(shown.text(), expected(&made, "ship", "Ship", 10, None));
    let simple = json!({
        "id": id_of(&source), "http_url_to_repo": "http://forge.test/root/hull.git",
        "web_url": "http://forge.test/root/hull", "name": "Hull",
        "name_with_namespace": "Administrator / Hull", "path": "hull",
        "path_with_namespace": "root/hull"
    });
    let shown = forge.get(&path_of_project(&fork)).token(&token).send();
    assert_eq!(shown.text(), expected(&fork, "hull", "Hull", 20, Some(simple)));
}

/// GET /projects/:id
fn a_project_is_found_by_its_id_and_by_its_path(forge: &Forge) {
    forge.new_user("user.name", &[]);
    let token = forge.sign_in("user.name");
    let made = new_project(forge, &token, "Some Code", &[("path", "My.Project.js")]);
    let expected = read(forge, &token, &made);
    for named in [
        format!("0{}", id_of(&made)),
        "user.name%2FMy.Project.js".to_owned(),
        "user.name%2fMy.Project.js".to_owned(),
        "USER.NAME%2Fmy.project.JS".to_owned(),
        "user%2Ename%2FMy%2EProject%2Ejs".to_owned(),
        "user.name%2FMy.Project.js/".to_owned(),
    ] {
        let shown = forge.get(&format!("/projects/{named}")).token(&token).send().expect(200);
        assert_eq!(shown, expected, "{named}");
    }
    // A path without its namespace is not looked up, even if it looks like an id.
    let number = id_of(&made) + 1000;
    new_project(forge, &token, "Number", &[("path", &number.to_string())]);
    for named in [
        "My.Project.js".to_owned(),
        number.to_string(),
        MISSING.to_string(),
        "0".to_owned(),
        "-1".to_owned(),
        HUGE.to_owned(),
        format!("{}x", id_of(&made)),
        "user.name%2Fmissing".to_owned(),
        "missing%2FMy.Project.js".to_owned(),
        "user.name%2FMy.Project.js%2F".to_owned(),
        "user.name%2FMy.Project.js.git".to_owned(),
        "user.name%2F".to_owned(),
        "%2F".to_owned(),
        "My.Project_js".to_owned(),
        "user_name%2FMy_Project_js".to_owned(),
        "user.name%2F%25".to_owned(),
    ] {
        let missing = forge.get(&format!("/projects/{named}")).token(&token).send().expect(404);
        assert_eq!(missing, no_project(), "{named}");
    }
    let named = format!("user.name%2F{number}");
    forge.get(&format!("/projects/{named}")).token(&token).send().expect(200);
}

/// GET /projects/:id
fn reading_a_project_is_for_users(forge: &Forge) {
    let open = new_project(forge, ROOT, "open", &[("public", "true")]);
    assert_only_for_users(
        forge,
        &[
            ("GET", path_of_project(&open)),
            ("GET", "/projects/root%2Fopen".into()),
            ("GET", format!("/projects/{MISSING}")),
        ],
    );
}

/// GET /projects/:id
fn who_may_read_depends_on_the_visibility(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let members = ["guest", "reporter", "developer", "master", "owner", "root"];
    for (level, hidden_from) in
        [("0", &["stranger", "external"][..]), ("10", &["external"]), ("20", &[])]
    {
        let form = [("name", "Ship"), ("visibility_level", level)];
        forge.put(&cast.path).token(cast.token("owner")).form(&form).send().expect(200);
        for who in members.iter().chain(&["stranger", "external"]) {
            for path in [cast.path.as_str(), "/projects/ada%2Fship"] {
                let answer = forge.get(path).token(cast.token(who)).send();
                if hidden_from.contains(who) {
                    assert_eq!(answer.expect(404), no_project(), "{who} {level}");
                } else {
                    assert_eq!(answer.expect(200)["name"], "Ship", "{who} {level}");
                }
            }
        }
    }
}

/// GET /projects/:id
fn a_group_and_a_share_open_a_project(forge: &Forge) {
    let (ada, ada_token) = forge.user("ada");
    let (bob, bob_token) = forge.user("bob");
    let (eve, eve_token) = external_user(forge, "eve");
    let crew = new_group(forge, ROOT, "crew", &[("visibility_level", "0")]);
    let ship = project_in(forge, &crew, "Ship", &[]);
    let guild = new_group(forge, ROOT, "guild", &[("visibility_level", "0")]);
    add_member(forge, &path_of_group(&crew), ada, 10, &[]);
    add_member(forge, &path_of_group(&guild), bob, 50, &[]);
    add_member(forge, &path_of_group(&guild), eve, 10, &[]);
    let path = path_of_project(&ship);
    forge.get(&path).token(&ada_token).send().expect(200);
    forge.get(&path).token(&bob_token).send().expect(404);
    share(forge, &ship, &guild, "10");
    for token in [&bob_token, &eve_token] {
        let shown = forge.get(&path).token(token).send().expect(200);
        // A share is not a membership.
        assert_eq!(shown["permissions"], json!({"project_access": null, "group_access": null}));
        assert_eq!(shown.get("runners_token"), None);
    }
    // Users who leave the group lose access to the project.
    let left = format!("{}/members/{bob}", path_of_group(&guild));
    forge.delete(&left).token(&bob_token).send().expect(200);
    assert_eq!(forge.get(&path).token(&bob_token).send().expect(404), no_project());
}

/// GET /projects/:id
fn permissions_are_those_of_the_memberships(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let crew = new_group(forge, ROOT, "crew", &[]);
    let ship = project_in(forge, &crew, "Ship", &[("public", "true")]);
    let access =
        |level: Option<i64>| level.map(|l| json!({"access_level": l, "notification_level": 3}));
    let assert_shown = |token: &str, project: Option<i64>, group: Option<i64>| {
        let expected = json!({"project_access": access(project), "group_access": access(group)});
        assert_eq!(read(forge, token, &ship)["permissions"], expected);
    };
    assert_shown(&token, None, None);
    assert_shown(ROOT, None, Some(50));
    add_member(forge, &path_of_project(&ship), ada, 20, &[]);
    assert_shown(&token, Some(20), None);
    add_member(forge, &path_of_group(&crew), ada, 30, &[]);
    assert_shown(&token, Some(20), Some(30));
    // An administrator who is not a member of anything.
    let own = new_project(forge, &token, "Own", &[]);
    let shown = read(forge, ROOT, &own);
    assert_eq!(shown["permissions"], json!({"project_access": null, "group_access": null}));
    assert_eq!(namespace_of(&shown), namespace_of(&own));
}

/// GET /projects/:id
fn only_administrators_of_a_project_see_the_token_of_its_runners(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let secret = cast.project["runners_token"].as_str().expect("the owner sees it");
    assert_eq!(secret.len(), 20);
    assert!(secret.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'));
    for who in ["master", "owner", "root"] {
        let shown = read(forge, cast.token(who), &cast.project);
        assert_eq!(shown["runners_token"], secret, "{who}");
        let place = fields_of(&shown).iter().position(|field| *field == "runners_token");
        assert_eq!(fields_of(&shown)[place.expect("shown") - 1], "open_issues_count");
    }
    for who in ["guest", "reporter", "developer", "stranger", "external"] {
        let shown = read(forge, cast.token(who), &cast.project);
        assert_eq!(shown.get("runners_token"), None, "{who}");
        assert!(!shown.to_string().contains(secret));
    }
    let other = new_project(forge, cast.token("owner"), "Other", &[]);
    assert_ne!(other["runners_token"], secret);
}
