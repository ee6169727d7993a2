//! `POST /projects/fork/:id`: reference sections 1.7, 3.9 and 4.10. Forking without a target is row 11 of the dialects.

use hexforge_domain::member::AccessLevel;
use hexforge_domain::outbox::{SystemEvent, TeamFacts};
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    activity_in, add_member, external_user, fields_of, member_facts, new_group, new_project,
    no_project, path_of_group, project_facts, project_in,
};
use crate::api::projects::project_support::{a_cast, namespace_of, read};
use crate::api::support::{
    MISSING, assert_only_for_users, field_error, id_of, message, queued_events,
};

on_every_store!(
    a_fork_is_a_copy_with_a_source,
    a_fork_is_news_and_activity,
    targets_are_named_by_id_path_or_name,
    an_administrator_forks_for_others,
    who_may_fork_depends_on_the_visibility,
    targets_have_to_be_usable,
    names_and_paths_are_taken_in_the_target,
    a_group_bounds_the_visibility_of_forks,
    forks_count_for_the_limit,
    the_target_is_looked_up_before_the_source,
);

fn path(source: &Value) -> String {
    format!("/projects/fork/{}", id_of(source))
}

#[track_caller]
fn fork(forge: &Forge, token: &str, source: &Value, namespace: &str) -> Value {
    forge.post(&path(source)).token(token).form(&[("namespace", namespace)]).send().expect(201)
}

fn no_target() -> Value {
    message("404 Target Namespace Not Found")
}

/// POST /projects/fork/:id
fn a_fork_is_a_copy_with_a_source(forge: &Forge) {
    let (_, owner) = forge.user("ada");
    let (bob, token) = forge.user("bob");
    let more = [
        ("path", "Ship.js"),
        ("description", "d"),
        ("visibility_level", "10"),
        ("shared_runners_enabled", "false"),
        ("builds_enabled", "false"),
        ("issues_enabled", "false"),
        ("snippets_enabled", "true"),
        ("wiki_enabled", "false"),
        ("public_builds", "false"),
        ("lfs_enabled", "false"),
        ("request_access_enabled", "true"),
        ("only_allow_merge_if_build_succeeds", "true"),
    ];
    let source = new_project(forge, &owner, "The Ship", &more);
    for call in ["star", "archive"] {
        let path = format!("/projects/{}/{call}", id_of(&source));
        forge.post(&path).token(&owner).send().expect(201);
    }
    let hook = [("url", "http://example.com/")];
    let hooks = format!("/projects/{}/hooks", id_of(&source));
    forge.post(&hooks).token(&owner).form(&hook).send().expect(201);
    let answer = forge.post("/projects/fork/ADA%2Fship.js").token(&token);
    let made = answer.form(&[("namespace", "bob")]).send().expect(201);
    for (field, expected) in [
        ("name", json!("The Ship")),
        ("path", json!("Ship.js")),
        ("path_with_namespace", json!("bob/Ship.js")),
        ("description", json!("d")),
        ("visibility_level", json!(10)),
        ("shared_runners_enabled", json!(false)),
        ("builds_enabled", json!(false)),
        ("issues_enabled", json!(true)),
        ("snippets_enabled", json!(false)),
        ("wiki_enabled", json!(true)),
        ("public_builds", json!(true)),
        ("lfs_enabled", json!(true)),
        ("request_access_enabled", json!(false)),
        ("only_allow_merge_if_build_succeeds", json!(false)),
        ("archived", json!(false)),
        ("star_count", json!(0)),
        ("forks_count", json!(0)),
        ("creator_id", json!(bob)),
        ("default_branch", Value::Null),
        ("avatar_url", Value::Null),
    ] {
        assert_eq!(made[field], expected, "{field}");
    }
    assert_eq!(made["owner"]["id"], bob);
    assert_ne!(made["runners_token"], source["runners_token"]);
    let simple = json!({
        "id": id_of(&source), "http_url_to_repo": "http://forge.test/ada/Ship.js.git",
        "web_url": "http://forge.test/ada/Ship.js", "name": "The Ship",
        "name_with_namespace": "ada / The Ship", "path": "Ship.js",
        "path_with_namespace": "ada/Ship.js"
    });
    assert_eq!(made["forked_from_project"].to_string(), simple.to_string());
    let mut shown = read(forge, &token, &made);
    shown.as_object_mut().and_then(|fields| fields.shift_remove("permissions")).expect("shown");
    assert_eq!(made.to_string(), shown.to_string());
    assert!(fields_of(&made).contains(&"runners_token"));
    assert_eq!(read(forge, &owner, &source)["forks_count"], 1);
    let hooks = format!("/projects/{}/hooks", id_of(&made));
    assert_eq!(forge.get(&hooks).token(&token).send().expect(200), json!([]));
    let members = format!("/projects/{}/members", id_of(&made));
    let members = forge.get(&members).token(&token).send().expect(200);
    assert_eq!((members.as_array().map(Vec::len), &members[0]["id"]), (Some(1), &json!(bob)));
    // A project may be forked into several namespaces.
    new_group(forge, &token, "crew", &[]);
    let second = fork(forge, &token, &source, "crew");
    assert_eq!(second.get("owner"), None);
    assert_eq!(read(forge, &owner, &source)["forks_count"], 2);
}

/// POST /projects/fork/:id
fn a_fork_is_news_and_activity(forge: &Forge) {
    let (_, owner) = forge.user("ada");
    let (bob, token) = forge.user("bob");
    let source = new_project(forge, &owner, "Ship", &[("public", "true")]);
    let before = queued_events(forge).len();
    let made = fork(forge, &token, &source, "bob");
    let project = project_facts(&made, "bob", "bob@example.com");
    let member = member_facts("bob", bob, AccessLevel::Master);
    let expected = [
        SystemEvent::ProjectCreated(project.clone()),
        SystemEvent::TeamMemberAdded(TeamFacts { project, member }),
    ];
    assert_eq!(queued_events(forge)[before..], expected);
    assert_eq!(activity_in(forge, &made), [("created".to_owned(), bob)]);
    assert_eq!(activity_in(forge, &source).len(), 1);
}

/// POST /projects/fork/:id
fn targets_are_named_by_id_path_or_name(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let own = namespace_of(&new_project(forge, &token, "own", &[]));
    let crew = new_group(forge, &token, "crew", &[("name", "The Crew")]);
    let group = id_of(&crew).to_string();
    for (number, (named, path)) in [
        (own.as_str(), "ada"),
        ("ada", "ada"),
        ("ADA", "ada"),
        (group.as_str(), "crew"),
        ("Crew", "crew"),
        ("The Crew", "crew"),
        ("the crew", "crew"),
    ]
    .into_iter()
    .enumerate()
    {
        let source = new_project(forge, ROOT, &format!("p{number}"), &[("public", "true")]);
        let made = fork(forge, &token, &source, named);
        assert_eq!(made["namespace"]["path"], path, "{named}");
    }
}

/// POST /projects/fork/:id
fn an_administrator_forks_for_others(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (_, owner) = forge.user("bob");
    let source = new_project(forge, &owner, "Ship", &[]);
    let made = fork(forge, ROOT, &source, "ada");
    assert_eq!((&made["owner"]["id"], &made["creator_id"]), (&json!(ada), &json!(1)));
    let members = format!("/projects/{}/members", id_of(&made));
    let members = forge.get(&members).token(&token).send().expect(200);
    assert_eq!((&members[0]["id"], &members[0]["access_level"]), (&json!(1), &json!(40)));
    // The owner owns it without being a member.
    forge.delete(&format!("/projects/{}", id_of(&made))).token(&token).send().expect(200);
}

/// POST /projects/fork/:id
fn who_may_fork_depends_on_the_visibility(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let path = path(&cast.project);
    let mut round = 0;
    let mut attempt = |who: &str, name: &str| {
        round += 1;
        let group = new_group(forge, ROOT, &format!("g{round}"), &[]);
        let user = forge.get("/user").token(cast.token(who)).send().expect(200);
        if who != "root" {
            add_member(forge, &path_of_group(&group), id_of(&user), 40, &[]);
        }
        let form = [("namespace", group["path"].as_str().expect("a path"))];
        let answer = forge.post(&path).token(cast.token(who)).form(&form).send();
        assert!(answer.status != 201 || answer.json()["name"] == name);
        answer
    };
    let forbidden = field_error("forked_from_project_id", "is forbidden");
    assert_eq!(attempt("guest", "Ship").expect(409), forbidden);
    for who in ["stranger", "external"] {
        assert_eq!(attempt(who, "Ship").expect(404), no_project(), "{who}");
    }
    for who in ["reporter", "developer", "master", "owner", "root"] {
        attempt(who, "Ship").expect(201);
    }
    for (level, refused) in [("10", &["external"][..]), ("20", &[])] {
        let form = [("name", "Ship"), ("visibility_level", level)];
        forge.put(&cast.path).token(ROOT).form(&form).send().expect(200);
        for who in ["guest", "stranger", "external"] {
            let answer = attempt(who, "Ship");
            if refused.contains(&who) {
                assert_eq!(answer.expect(404), no_project(), "{who} {level}");
            } else {
                answer.expect(201);
            }
        }
    }
}

/// POST /projects/fork/:id
fn targets_have_to_be_usable(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    forge.user("bob");
    let source = new_project(forge, ROOT, "Ship", &[("public", "true")]);
    new_group(forge, ROOT, "strangers", &[]);
    for (name, level) in [("guests", 10), ("reporters", 20), ("developers", 30), ("masters", 40)] {
        let group = new_group(forge, ROOT, name, &[]);
        add_member(forge, &path_of_group(&group), ada, level, &[]);
    }
    let before = queued_events(forge);
    let missing = MISSING.to_string();
    for namespace in
        ["bob", "root", "strangers", "guests", "reporters", "developers", "missing", &missing, "0"]
    {
        let form = [("namespace", namespace)];
        let refused = forge.post(&path(&source)).token(&token).form(&form).send();
        assert_eq!(refused.expect(404), no_target(), "{namespace}");
    }
    assert_eq!(queued_events(forge), before);
    fork(forge, &token, &source, "masters");
    let refused = forge.post(&path(&source)).token(ROOT).form(&[("namespace", "missing")]).send();
    assert_eq!(refused.expect(404), no_target());
}

/// POST /projects/fork/:id
fn names_and_paths_are_taken_in_the_target(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let source = new_project(forge, &token, "Ship", &[]);
    let taken = "has already been taken";
    let crew = new_group(forge, &token, "crew", &[]);
    let club = new_group(forge, &token, "club", &[]);
    let guild = new_group(forge, &token, "guild", &[]);
    project_in(forge, &crew, "Ship", &[("path", "other")]);
    project_in(forge, &club, "Other", &[("path", "SHIP")]);
    fork(forge, &token, &source, "guild");
    let before = queued_events(forge);
    for (namespace, fields) in [
        ("ada", json!({"name": [taken], "path": [taken]})),
        ("guild", json!({"name": [taken], "path": [taken]})),
        ("crew", json!({"name": [taken]})),
        ("club", json!({"path": [taken]})),
    ] {
        let form = [("namespace", namespace)];
        let refused = forge.post(&path(&source)).token(&token).form(&form).send();
        assert_eq!(refused.expect(409), json!({ "message": fields }), "{namespace}");
    }
    assert_eq!(queued_events(forge), before);
    assert_eq!(read(forge, &token, &source)["forks_count"], 1);
    assert_eq!(guild["path"], "guild");
}

/// POST /projects/fork/:id
fn a_group_bounds_the_visibility_of_forks(forge: &Forge) {
    let (_, token) = forge.user("ada");
    new_group(forge, &token, "hidden", &[("visibility_level", "0")]);
    new_group(forge, &token, "inner", &[("visibility_level", "10")]);
    for (level, namespace, text) in [
        ("20", "hidden", "public is not allowed in a private group."),
        ("10", "hidden", "internal is not allowed in a private group."),
        ("20", "inner", "public is not allowed in a internal group."),
    ] {
        let name = format!("{namespace}{level}");
        let source = new_project(forge, ROOT, &name, &[("visibility_level", level)]);
        let form = [("namespace", namespace)];
        let refused = forge.post(&path(&source)).token(&token).form(&form).send();
        assert_eq!(refused.expect(409), field_error("visibility_level", text));
    }
}

/// POST /projects/fork/:id
fn forks_count_for_the_limit(forge: &Forge) {
    let source = new_project(forge, ROOT, "Ship", &[("public", "true")]);
    forge.new_user("ada", &[("projects_limit", "1")]);
    let ada = forge.sign_in("ada");
    let (_, eve) = external_user(forge, "eve");
    new_project(forge, &ada, "Boat", &[]);
    for (token, namespace, text) in [
        (
            &ada,
            "ada",
            "Your project limit is 1 projects! Please contact your administrator to increase it",
        ),
        (
            &eve,
            "eve",
            "Personal project creation is not allowed. \
             Please contact your administrator with questions",
        ),
    ] {
        let form = [("namespace", namespace)];
        let refused = forge.post(&path(&source)).token(token).form(&form).send();
        assert_eq!(refused.expect(409), field_error("limit_reached", text));
    }
    new_group(forge, &ada, "crew", &[]);
    fork(forge, &ada, &source, "crew");
}

/// POST /projects/fork/:id
fn the_target_is_looked_up_before_the_source(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let secret = new_project(forge, ROOT, "Secret", &[]);
    let missing = format!("/projects/fork/{MISSING}");
    assert_only_for_users(forge, &[("POST", path(&secret)), ("POST", missing.clone())]);
    for path in [&path(&secret), &missing] {
        for (namespace, expected) in [("missing", no_target()), ("ada", no_project())] {
            let form = [("namespace", namespace)];
            let refused = forge.post(path).token(&token).form(&form).send();
            assert_eq!(refused.expect(404), expected, "{path} {namespace}");
        }
    }
}
