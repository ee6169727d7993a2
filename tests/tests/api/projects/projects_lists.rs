//! The five lists of projects: reference sections 1.11, 3.3 and 4.1.

use chrono::TimeDelta;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    add_member, error, external_user, fields_of, forbidden, new_group, new_project, path_of_group,
    path_of_project, project_in, project_now, share,
};
use crate::api::projects::project_support::{assert_list, lock_shares};
use crate::api::support::{assert_only_for_users, id_of};

on_every_store!(
    own_projects_are_those_that_memberships_and_shares_give,
    visible_projects_are_also_those_open_to_the_caller,
    owned_projects_are_those_in_ones_own_namespaces,
    all_projects_are_for_administrators,
    administrators_see_no_more_in_the_other_lists,
    starred_projects_are_those_that_one_may_still_see,
    memberships_and_shares_end_with_their_day,
    a_locked_group_shares_nothing,
    lists_are_for_users,
    lists_show_full_projects_with_permissions,
    short_lists_show_seven_fields,
);

const LISTS: [&str; 5] =
    ["/projects", "/projects/visible", "/projects/owned", "/projects/starred", "/projects/all"];

/// Projects of ada and of three groups. Bob and the external user eve see parts of them.
struct Scene {
    ada: String,
    bob: String,
    eve: String,
}

fn a_scene(forge: &Forge) -> Scene {
    let (_, ada) = forge.user("ada");
    let (bob, bob_token) = forge.user("bob");
    let (eve, eve_token) = external_user(forge, "eve");
    let private = [("visibility_level", "0")];
    let crew = new_group(forge, &ada, "crew", &private);
    let guild = new_group(forge, &bob_token, "guild", &private);
    let club = new_group(forge, &ada, "club", &private);
    for user in [bob, eve] {
        add_member(forge, &path_of_group(&crew), user, 10, &[]);
        add_member(forge, &path_of_group(&club), user, 20, &[]);
    }
    new_project(forge, &ada, "secret", &[]);
    new_project(forge, &ada, "inner", &[("visibility_level", "10")]);
    new_project(forge, &ada, "open", &[("visibility_level", "20")]);
    let joined = new_project(forge, &ada, "joined", &[]);
    let lent = new_project(forge, &ada, "lent", &[]);
    share(forge, &lent, &club, "10");
    project_in(forge, &crew, "ours", &[]);
    project_in(forge, &guild, "guilds", &[]);
    new_project(forge, &bob_token, "mine", &[]);
    for user in [bob, eve] {
        add_member(forge, &path_of_project(&joined), user, 10, &[]);
    }
    Scene { ada, bob: bob_token, eve: eve_token }
}

/// GET /projects
fn own_projects_are_those_that_memberships_and_shares_give(forge: &Forge) {
    let scene = a_scene(forge);
    let path = "/projects";
    assert_list(forge, &scene.bob, path, &["mine", "guilds", "ours", "lent", "joined"]);
    assert_list(forge, &scene.eve, path, &["ours", "lent", "joined"]);
    let of_ada = ["ours", "lent", "joined", "open", "inner", "secret"];
    assert_list(forge, &scene.ada, path, &of_ada);
}

/// GET /projects/visible
fn visible_projects_are_also_those_open_to_the_caller(forge: &Forge) {
    let scene = a_scene(forge);
    let path = "/projects/visible";
    let of_bob = ["mine", "guilds", "ours", "lent", "joined", "open", "inner"];
    assert_list(forge, &scene.bob, path, &of_bob);
    assert_list(forge, &scene.eve, path, &["ours", "lent", "joined", "open"]);
    let (_, cid) = forge.user("cid");
    assert_list(forge, &cid, path, &["open", "inner"]);
    let (_, fay) = external_user(forge, "fay");
    assert_list(forge, &fay, path, &["open"]);
}

/// GET /projects/owned
fn owned_projects_are_those_in_ones_own_namespaces(forge: &Forge) {
    let scene = a_scene(forge);
    let path = "/projects/owned";
    assert_list(forge, &scene.bob, path, &["mine", "guilds"]);
    assert_list(forge, &scene.eve, path, &[]);
    let of_ada = ["ours", "lent", "joined", "open", "inner", "secret"];
    assert_list(forge, &scene.ada, path, &of_ada);
}

/// GET /projects/all
fn all_projects_are_for_administrators(forge: &Forge) {
    let scene = a_scene(forge);
    let path = "/projects/all";
    for query in ["", "?visibility=nonsense", "?simple=true"] {
        for token in [&scene.ada, &scene.bob, &scene.eve] {
            let refused = forge.get(&format!("{path}{query}")).token(token).send();
            assert_eq!(refused.expect(403), forbidden());
            assert_eq!(refused.header("X-Total"), None);
        }
    }
    let all = ["mine", "guilds", "ours", "lent", "joined", "open", "inner", "secret"];
    assert_list(forge, ROOT, path, &all);
}

/// GET /projects, GET /projects/visible, GET /projects/owned
fn administrators_see_no_more_in_the_other_lists(forge: &Forge) {
    a_scene(forge);
    new_project(forge, ROOT, "roots", &[]);
    assert_list(forge, ROOT, "/projects", &["roots"]);
    assert_list(forge, ROOT, "/projects/visible", &["roots", "open", "inner"]);
    assert_list(forge, ROOT, "/projects/owned", &["roots"]);
    // A hidden project that the administrator starred is not listed either.
    for path in ["ada%2Fsecret", "ada%2Fopen"] {
        forge.post(&format!("/projects/{path}/star")).token(ROOT).send().expect(201);
    }
    assert_list(forge, ROOT, "/projects/starred", &["open"]);
}

/// GET /projects/starred
fn starred_projects_are_those_that_one_may_still_see(forge: &Forge) {
    let scene = a_scene(forge);
    let path = "/projects/starred";
    for token in [&scene.bob, &scene.eve] {
        assert_list(forge, token, path, &[]);
        for project in ["ada%2Fopen", "ada%2Fjoined", "ada%2Flent", "crew%2Fours"] {
            forge.post(&format!("/projects/{project}/star")).token(token).send().expect(201);
        }
        assert_list(forge, token, path, &["ours", "lent", "joined", "open"]);
        let id = id_of(&forge.get("/user").token(token).send().expect(200));
        for source in ["/groups/crew", "/projects/ada%2Fjoined"] {
            forge.delete(&format!("{source}/members/{id}")).token(token).send().expect(200);
        }
        assert_list(forge, token, path, &["lent", "open"]);
    }
    assert_list(forge, &scene.ada, path, &[]);
}

/// GET /projects, GET /projects/visible, GET /projects/owned, GET /projects/starred
fn memberships_and_shares_end_with_their_day(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (bob, token) = forge.user("bob");
    let tomorrow = [("expires_at", "2016-09-23")];
    let private = [("visibility_level", "0")];
    let crew = new_group(forge, &ada, "crew", &private);
    let guild = new_group(forge, &ada, "guild", &private);
    project_in(forge, &crew, "ours", &[]);
    add_member(forge, &path_of_group(&crew), bob, 50, &tomorrow);
    add_member(forge, &path_of_group(&guild), bob, 50, &[]);
    let joined = new_project(forge, &ada, "joined", &[]);
    add_member(forge, &path_of_project(&joined), bob, 40, &tomorrow);
    let lent = new_project(forge, &ada, "lent", &[]);
    let group = id_of(&guild).to_string();
    let form = [("group_id", group.as_str()), ("group_access", "40"), ("expires_at", "2016-09-23")];
    let path = format!("{}/share", path_of_project(&lent));
    forge.post(&path).token(&ada).form(&form).send().expect(201);
    let over = new_project(forge, &ada, "over", &[]);
    add_member(forge, &path_of_project(&over), bob, 40, &[("expires_at", "2016-09-22")]);
    for project in [&joined, &lent] {
        let path = format!("{}/star", path_of_project(project));
        forge.post(&path).token(&token).send().expect(201);
    }
    for path in ["/projects", "/projects/visible"] {
        assert_list(forge, &token, path, &["lent", "joined", "ours"]);
    }
    assert_list(forge, &token, "/projects/owned", &["ours"]);
    assert_list(forge, &token, "/projects/starred", &["lent", "joined"]);
    forge.clock.advance(TimeDelta::days(1));
    for path in ["/projects", "/projects/visible", "/projects/owned", "/projects/starred"] {
        assert_list(forge, &token, path, &[]);
    }
    for project in [&joined, &lent, &over] {
        forge.get(&path_of_project(project)).token(&token).send().expect(404);
    }
}

/// GET /projects, GET /projects/visible
fn a_locked_group_shares_nothing(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (bob, token) = forge.user("bob");
    let crew = new_group(forge, &ada, "crew", &[]);
    let guild = new_group(forge, &ada, "guild", &[]);
    add_member(forge, &path_of_group(&guild), bob, 40, &[]);
    let ship = project_in(forge, &crew, "ship", &[]);
    share(forge, &ship, &guild, "40");
    assert_list(forge, &token, "/projects", &["ship"]);
    lock_shares(forge, &crew);
    assert_list(forge, &token, "/projects", &[]);
    assert_list(forge, &token, "/projects/visible", &[]);
    forge.get(&path_of_project(&ship)).token(&token).send().expect(404);
}

/// GET /projects, GET /projects/visible, GET /projects/owned, GET /projects/starred,
/// GET /projects/all
fn lists_are_for_users(forge: &Forge) {
    new_project(forge, ROOT, "open", &[("public", "true")]);
    for path in LISTS {
        assert_only_for_users(
            forge,
            &[("GET", path.to_owned()), ("GET", format!("{path}?simple=true&visibility=nonsense"))],
        );
        let refused = forge.get(&format!("{path}?visibility=nonsense")).token(ROOT).send();
        assert_eq!(refused.expect(400), error("visibility does not have a valid value"));
    }
}

/// GET /projects, GET /projects/visible, GET /projects/owned, GET /projects/starred,
/// GET /projects/all
fn lists_show_full_projects_with_permissions(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let ship = new_project(forge, &token, "Ship", &[("issues_enabled", "false")]);
    let crew = new_group(forge, ROOT, "crew", &[]);
    let boat = project_in(forge, &crew, "Boat", &[]);
    for project in [&ship, &boat] {
        let path = format!("{}/star", path_of_project(project));
        forge.post(&path).token(ROOT).send().expect(201);
    }
    forge.post(&format!("{}/star", path_of_project(&ship))).token(&token).send().expect(201);
    let access = |project: Value, group: Value| {
        let access = |level: Value| match level {
            Value::Null => Value::Null,
            level => json!({"access_level": level, "notification_level": 3}),
        };
        json!({"project_access": access(project), "group_access": access(group)})
    };
    let shown = |project: &Value, permissions: Option<Value>| {
        let mut shown = project_now(forge, id_of(project));
        let fields = shown.as_object_mut().expect("an object");
        fields.extend(permissions.map(|found| ("permissions".to_owned(), found)));
        shown
    };
    let of_ada = shown(&ship, Some(access(json!(40), Value::Null)));
    assert_eq!(of_ada.get("open_issues_count"), None);
    for path in ["/projects", "/projects/visible", "/projects/owned", "/projects?simple=false"] {
        let list = forge.get(path).token(&token).send();
        assert_eq!(list.text(), json!([of_ada]).to_string(), "{path}");
    }
    let starred = forge.get("/projects/starred?simple=true").token(&token).send();
    assert_eq!(starred.text(), json!([shown(&ship, None)]).to_string());
    let all = forge.get("/projects/all?simple=true").token(ROOT).send();
    let of_root = shown(&boat, Some(access(Value::Null, json!(50))));
    let foreign = shown(&ship, Some(access(Value::Null, Value::Null)));
    assert_eq!(all.text(), json!([of_root, foreign]).to_string());
}

/// GET /projects, GET /projects/visible
fn short_lists_show_seven_fields(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let ship = new_project(forge, &token, "The Ship", &[]);
    let expected = json!([{
        "id": id_of(&ship), "http_url_to_repo": "http://forge.test/ada/the-ship.git",
        "web_url": "http://forge.test/ada/the-ship", "name": "The Ship",
        "name_with_namespace": "ada / The Ship", "path": "the-ship",
        "path_with_namespace": "ada/the-ship"
    }]);
    for path in ["/projects", "/projects/visible"] {
        for word in ["true", "1", "YES"] {
            let list = forge.get(&format!("{path}?simple={word}&order_by=id")).token(&token).send();
            assert_eq!(list.text(), expected.to_string(), "{path} {word}");
            assert_eq!(list.header("X-Total"), Some("1"));
        }
        for word in ["false", "0", "", "nonsense"] {
            let list = forge.get(&format!("{path}?simple={word}")).token(&token).send();
            assert_eq!(fields_of(&list.expect(200)[0]).len(), 37, "{path} {word}");
        }
    }
}
