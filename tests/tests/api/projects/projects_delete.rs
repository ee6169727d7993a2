//! `DELETE /projects/:id`: reference section 4.7.

use hexforge_domain::member::AccessLevel;
use hexforge_domain::outbox::{SystemEvent, TeamFacts};
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    add_member, forbidden, member_facts, new_group, new_project, no_project, path_of_group,
    path_of_project, project_facts, project_in, share,
};
use crate::api::projects::project_support::{a_cast, assert_list, read};
use crate::api::support::{MISSING, activity_count, assert_only_for_users, id_of, queued_events};

on_every_store!(
    a_removed_project_is_gone_for_every_call,
    its_name_and_path_are_free_at_once,
    removing_is_for_owners,
    owners_of_the_group_remove_its_projects,
    a_removed_project_is_news_with_all_its_members,
    forks_stay_and_are_forks_no_more,
    a_removed_fork_is_counted_no_more,
);

/// DELETE /projects/:id
fn a_removed_project_is_gone_for_every_call(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let owner = cast.token("owner");
    let crew = new_group(forge, ROOT, "crew", &[]);
    share(forge, &cast.project, &crew, "30");
    let hook = [("url", "http://example.com/")];
    let hook = forge.post(&format!("{}/hooks", cast.path)).token(owner).form(&hook).send();
    let hook = id_of(&hook.expect(201));
    for who in ["owner", "stranger"] {
        forge.post(&format!("{}/star", cast.path)).token(cast.token(who)).send().expect(201);
    }
    let answer = forge.delete(&cast.path).token(owner).send();
    assert_eq!((answer.expect(200), answer.text()), (json!(true), "true"));
    let path = &cast.path;
    for (method, path) in [
        ("GET", path.clone()),
        ("GET", "/projects/ada%2Fship".to_owned()),
        ("PUT", path.clone()),
        ("DELETE", path.clone()),
        ("GET", format!("{path}/events")),
        ("POST", format!("{path}/star")),
        ("DELETE", format!("{path}/star")),
        ("POST", format!("{path}/archive")),
        ("POST", format!("{path}/unarchive")),
        ("POST", format!("{path}/share")),
        ("GET", format!("{path}/hooks")),
        ("GET", format!("{path}/hooks/{hook}")),
        ("DELETE", format!("{path}/hooks/{hook}")),
        ("GET", format!("{path}/members")),
        ("GET", format!("{path}/members/{}", cast.ada)),
        ("POST", format!("/projects/fork/{}?namespace=ada", id_of(&cast.project))),
    ] {
        for token in [owner, ROOT] {
            let gone = forge.request(method, &path).token(token).send();
            assert_eq!(gone.expect(404), no_project(), "{method} {path}");
        }
    }
    for who in ["owner", "stranger", "master", "root"] {
        for list in ["/projects", "/projects/visible", "/projects/owned", "/projects/starred"] {
            assert_list(forge, cast.token(who), list, &[]);
        }
    }
    assert_list(forge, ROOT, "/projects/all", &[]);
    let group = forge.get("/groups/crew").token(ROOT).send().expect(200);
    assert_eq!(group["shared_projects"], json!([]));
    // Its events no longer appear in the feeds of their authors.
    for who in ["owner", "guest", "master"] {
        let user = forge.get("/user").token(cast.token(who)).send().expect(200);
        assert_eq!(activity_count(forge, id_of(&user)), 0, "{who}");
        let feed = forge.get(&format!("/users/{}/events", id_of(&user))).token(ROOT).send();
        assert_eq!((feed.expect(200), feed.header("X-Total")), (json!([]), Some("0")));
    }
}

/// DELETE /projects/:id
fn its_name_and_path_are_free_at_once(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let ship = new_project(forge, &token, "Ship", &[]);
    forge.post(&format!("{}/star", path_of_project(&ship))).token(&token).send().expect(201);
    forge.delete("/projects/ada%2Fship").token(&token).send().expect(200);
    let again = new_project(forge, &token, "Ship", &[]);
    assert_ne!(id_of(&again), id_of(&ship), "ids are not given out again");
    assert_eq!(again["star_count"], 0);
    assert_ne!(again["runners_token"], ship["runners_token"]);
    forge.get(&path_of_project(&ship)).token(&token).send().expect(404);
}

/// DELETE /projects/:id
fn removing_is_for_owners(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let missing = format!("/projects/{MISSING}");
    assert_only_for_users(forge, &[("DELETE", cast.path.clone()), ("DELETE", missing.clone())]);
    for who in ["guest", "reporter", "developer", "master"] {
        let refused = forge.delete(&cast.path).token(cast.token(who)).send();
        assert_eq!(refused.expect(403), forbidden(), "{who}");
    }
    for who in ["stranger", "external"] {
        let refused = forge.delete(&cast.path).token(cast.token(who)).send();
        assert_eq!(refused.expect(404), no_project(), "{who}");
    }
    assert_eq!(forge.delete(&missing).token(ROOT).send().expect(404), no_project());
    read(forge, ROOT, &cast.project);
    assert_eq!(forge.delete(&cast.path).token(ROOT).send().expect(200), true);
    // In a visible project, strangers get 403.
    let open = new_project(forge, cast.token("owner"), "Open", &[("public", "true")]);
    let refused = forge.delete(&path_of_project(&open)).token(cast.token("stranger")).send();
    assert_eq!(refused.expect(403), forbidden());
}

/// DELETE /projects/:id
fn owners_of_the_group_remove_its_projects(forge: &Forge) {
    let (ada, ada_token) = forge.user("ada");
    let (bob, bob_token) = forge.user("bob");
    let crew = new_group(forge, ROOT, "crew", &[]);
    let ship = project_in(forge, &crew, "Ship", &[]);
    project_in(forge, &crew, "Boat", &[]);
    add_member(forge, &path_of_group(&crew), ada, 50, &[]);
    add_member(forge, &path_of_group(&crew), bob, 40, &[]);
    let path = path_of_project(&ship);
    assert_eq!(forge.delete(&path).token(&bob_token).send().expect(403), forbidden());
    forge.delete(&path).token(&ada_token).send().expect(200);
    assert_list(forge, ROOT, "/groups/crew/projects", &["Boat"]);
}

/// DELETE /projects/:id
fn a_removed_project_is_news_with_all_its_members(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (bob, _) = forge.user("bob");
    let ship = new_project(forge, &token, "Ship", &[("public", "true")]);
    add_member(forge, &path_of_project(&ship), bob, 10, &[]);
    let before = queued_events(forge).len();
    forge.delete(&path_of_project(&ship)).token(&token).send().expect(200);
    let told = queued_events(forge).split_off(before);
    let project = project_facts(&ship, "ada", "ada@example.com");
    let left = |name: &str, id: i64, level: AccessLevel| {
        let member = member_facts(name, id, level);
        SystemEvent::TeamMemberRemoved(TeamFacts { project: project.clone(), member })
    };
    let (last, members) = told.split_last().expect("there are events");
    assert_eq!(*last, SystemEvent::ProjectDestroyed(project.clone()));
    assert_eq!(members.len(), 2);
    for expected in [left("ada", ada, AccessLevel::Master), left("bob", bob, AccessLevel::Guest)] {
        assert!(members.contains(&expected), "{members:?}");
    }
}

#[track_caller]
fn fork(forge: &Forge, source: &Value, namespace: &str) -> Value {
    let path = format!("/projects/fork/{}", id_of(source));
    forge.post(&path).token(ROOT).form(&[("namespace", namespace)]).send().expect(201)
}

/// DELETE /projects/:id
fn forks_stay_and_are_forks_no_more(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let ship = new_project(forge, &token, "Ship", &[]);
    let forked = fork(forge, &ship, "root");
    new_group(forge, ROOT, "crew", &[]);
    let again = fork(forge, &forked, "crew");
    assert_eq!(id_of(&forked["forked_from_project"]), id_of(&ship));
    forge.delete(&path_of_project(&ship)).token(&token).send().expect(200);
    let mut expected = forked.clone();
    let fields = expected.as_object_mut().expect("an object");
    // Its own fork stays a fork.
    fields["forks_count"] = json!(1);
    fields.shift_remove("forked_from_project");
    let mut shown = read(forge, ROOT, &forked);
    shown.as_object_mut().and_then(|fields| fields.shift_remove("permissions")).expect("shown");
    assert_eq!(shown.to_string(), expected.to_string());
    assert_eq!(id_of(&read(forge, ROOT, &again)["forked_from_project"]), id_of(&forked));
}

/// DELETE /projects/:id
fn a_removed_fork_is_counted_no_more(forge: &Forge) {
    let ship = new_project(forge, ROOT, "Ship", &[]);
    new_group(forge, ROOT, "crew", &[]);
    new_group(forge, ROOT, "club", &[]);
    let count = || read(forge, ROOT, &ship)["forks_count"].as_i64();
    let forks = ["crew", "club"].map(|namespace| fork(forge, &ship, namespace));
    assert_eq!(count(), Some(2));
    for (number, forked) in forks.iter().enumerate() {
        forge.delete(&path_of_project(forked)).token(ROOT).send().expect(200);
        assert_eq!(count(), Some(1 - i64::try_from(number).expect("a small number")));
    }
}
