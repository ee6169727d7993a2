//! Namespaces and limits of new projects, on `POST /projects`: reference sections 3.8, 3.9 and 4.4.

use hexforge_domain::outbox::SystemEvent;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    activity_in, add_member, external_user, new_group, new_project, path_of_group, project_facts,
};
use crate::api::projects::project_support::{assert_list, namespace_of, not_given};
use crate::api::support::{MISSING, assert_only_for_users, field_error, id_of, queued_events};

on_every_store!(
    projects_are_made_in_namespaces_one_may_use,
    a_project_in_a_group_has_no_members_of_its_own,
    the_limit_counts_projects_in_the_own_namespace,
    making_projects_is_for_users_and_needs_a_name,
);

#[track_caller]
fn create(forge: &Forge, token: &str, fields: &Value) -> Value {
    forge.post("/projects").token(token).json(fields).send().expect(201)
}

/// POST /projects
fn projects_are_made_in_namespaces_one_may_use(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (_, bob) = forge.user("bob");
    let own = namespace_of(&create(forge, &token, &json!({"name": "own"})));
    let of_bob = namespace_of(&create(forge, &bob, &json!({"name": "bobs"})));
    let group = |name: &str, level: i64| {
        let group = new_group(forge, ROOT, name, &[]);
        if level > 0 {
            add_member(forge, &path_of_group(&group), ada, level, &[]);
        }
        id_of(&group).to_string()
    };
    let allowed = [own, group("owners", 50), group("masters", 40)];
    for (number, namespace) in allowed.iter().enumerate() {
        let fields = json!({"name": format!("p{number}"), "namespace_id": namespace});
        let made = create(forge, &token, &fields);
        assert_eq!(namespace_of(&made), *namespace);
        assert_eq!(made["creator_id"], ada);
    }
    let before = queued_events(forge).len();
    for namespace in [
        of_bob.clone(),
        group("developers", 30),
        group("guests", 10),
        group("strangers", 0),
        MISSING.to_string(),
        "0".to_owned(),
        "bob".to_owned(),
    ] {
        let fields = json!({"name": "refused", "namespace_id": namespace});
        let refused = forge.post("/projects").token(&token).json(&fields).send();
        assert_eq!(refused.expect(400), field_error("namespace", "is not valid"), "{namespace}");
    }
    let made_meanwhile = queued_events(forge).split_off(before);
    assert!(made_meanwhile.iter().all(|event| !matches!(event, SystemEvent::ProjectCreated(_))));
    // An administrator may use any namespace, and becomes the creator.
    let made = create(forge, ROOT, &json!({"name": "gift", "namespace_id": of_bob}));
    assert_eq!((&made["owner"]["username"], &made["creator_id"]), (&json!("bob"), &json!(1)));
    let missing = json!({"name": "refused", "namespace_id": MISSING});
    let refused = forge.post("/projects").token(ROOT).json(&missing).send();
    assert_eq!(refused.expect(400), field_error("namespace", "is not valid"));
}

/// POST /projects
fn a_project_in_a_group_has_no_members_of_its_own(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let crew = new_group(forge, &token, "crew", &[("name", "The Crew")]);
    let before = queued_events(forge).len();
    let fields = json!({"name": "Ship", "namespace_id": id_of(&crew)});
    let made = create(forge, &token, &fields);
    assert_eq!(made.get("owner"), None);
    assert_eq!(made["name_with_namespace"], "The Crew / Ship");
    assert_eq!(made["visibility_level"], 0);
    let facts = project_facts(&made, "The Crew", "");
    assert_eq!(queued_events(forge)[before..], [SystemEvent::ProjectCreated(facts)]);
    let members = format!("/projects/{}/members", id_of(&made));
    assert_eq!(forge.get(&members).token(&token).send().expect(200), json!([]));
    assert_eq!(activity_in(forge, &made), [("created".to_owned(), ada)]);
}

/// POST /projects
fn the_limit_counts_projects_in_the_own_namespace(forge: &Forge) {
    let ada = forge.new_user("ada", &[("projects_limit", "2")]);
    let token = forge.sign_in("ada");
    let crew = new_group(forge, &token, "crew", &[]);
    for name in ["a", "b"] {
        create(forge, &token, &json!({"name": name, "namespace_id": id_of(&crew)}));
        create(forge, &token, &json!({"name": name}));
    }
    let text = "Your project limit is 2 projects! Please contact your administrator to increase it";
    let refused = forge.post("/projects").token(&token).json(&json!({"name": "c"})).send();
    assert_eq!(refused.expect(403), json!({"error": [text]}));
    assert_list(forge, &token, "/projects/owned?search=ada", &["b", "a"]);
    create(forge, &token, &json!({"name": "c", "namespace_id": id_of(&crew)}));
    // A removed project no longer counts.
    forge.delete("/projects/ada%2Fa").token(&token).send().expect(200);
    create(forge, &token, &json!({"name": "c"}));
    // External users have a limit of 0.
    let (_, eve) = external_user(forge, "eve");
    let text = "Personal project creation is not allowed. \
                Please contact your administrator with questions";
    let refused = forge.post("/projects").token(&eve).json(&json!({"name": "c"})).send();
    assert_eq!(refused.expect(403), json!({"error": [text]}));
    assert_eq!(ada["projects_limit"], 2);
}

/// POST /projects
fn making_projects_is_for_users_and_needs_a_name(forge: &Forge) {
    assert_only_for_users(forge, &[("POST", "/projects".into())]);
    // The name is checked before the namespace.
    let eve = external_user(forge, "eve").1;
    for (token, form) in [(ROOT, ("namespace_id", "987654")), (&eve, ("path", "x"))] {
        let refused = forge.post("/projects").token(token).form(&[form]).send();
        assert_eq!(refused.expect(400), not_given("name"));
    }
    new_project(forge, ROOT, "Ship", &[]);
}
