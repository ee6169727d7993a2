//! `DELETE /groups/:id`: reference section 2.6.

use hexforge_domain::member::AccessLevel;
use hexforge_domain::outbox::{SystemEvent, TeamFacts};
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    add_member, forbidden, group_facts, group_member, member_facts, new_group, new_project,
    no_group, no_project, path_of_group, path_of_project, project_facts, project_in, share,
};
use crate::api::support::{HUGE, MISSING, assert_only_for_users, id_of, queued_events};

on_every_store!(
    a_removed_group_is_shown_as_a_namespace,
    a_group_goes_with_everything_inside,
    projects_of_others_lose_the_share_and_stay,
    removing_a_group_is_for_its_owners_and_administrators,
    a_removed_group_is_told_with_all_that_goes,
);

#[track_caller]
fn delete(forge: &Forge, token: &str, group: &Value) -> Value {
    forge.delete(&path_of_group(group)).token(token).send().expect(200)
}

/// DELETE /groups/:id
fn a_removed_group_is_shown_as_a_namespace(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let form = [("name", "The Team"), ("path", "team"), ("description", "about")];
    let group = forge.post("/groups").token(&ada).form(&form).send().expect(201);
    let removed = forge.delete("/groups/team").token(&ada).send();
    removed.expect(200);
    let expected = json!({
        "id": id_of(&group), "name": "The Team", "path": "team", "owner_id": null,
        "created_at": "2016-09-22T10:30:00.000Z", "updated_at": "2016-09-22T10:30:00.000Z",
        "description": "about", "avatar": {"url": null}, "share_with_group_lock": false,
        "visibility_level": 20, "request_access_enabled": false, "deleted_at": null,
        "lfs_enabled": null, "kind": "group"
    });
    assert_eq!(removed.text(), expected.to_string());
    let hidden = [("visibility_level", "0"), ("lfs_enabled", "false")];
    let removed = delete(forge, &ada, &new_group(forge, &ada, "x", &hidden));
    assert_eq!(removed["lfs_enabled"], false);
    assert_eq!(removed["visibility_level"], 0);
}

/// DELETE /groups/:id
fn a_group_goes_with_everything_inside(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let group = new_group(forge, ROOT, "team", &[]);
    add_member(forge, &path_of_group(&group), ada, 50, &[]);
    let project = project_in(forge, &group, "p", &[("visibility_level", "20")]);
    let path = path_of_project(&project);
    add_member(forge, &path, ada, 30, &[]);
    let hook = [("url", "http://example.com")];
    forge.post(&format!("{path}/hooks")).token(ROOT).form(&hook).send().expect(201);
    forge.post(&format!("{path}/star")).token(&token).send().expect(201);
    delete(forge, &token, &group);
    for reader in [token.as_str(), ROOT] {
        let gone = |path: &str| forge.get(path).token(reader).send().expect(404);
        assert_eq!(gone("/groups/team"), no_group());
        assert_eq!(gone(&path_of_group(&group)), no_group());
        assert_eq!(gone(&path), no_project());
        assert_eq!(gone("/projects/team%2Fp"), no_project());
    }
    for list in ["/groups", "/groups/owned", "/projects", "/projects/starred"] {
        assert_eq!(forge.get(list).token(&token).send().expect(200), json!([]), "{list}");
    }
    let events = forge.get(&format!("/users/{ada}/events")).token(&token).send();
    assert_eq!(events.expect(200), json!([]));
    let again = forge.delete(&path_of_group(&group)).token(ROOT).send();
    assert_eq!(again.expect(404), no_group());
    // Name and path of the group and of its project can be used again.
    let again = new_group(forge, ROOT, "team", &[]);
    assert!(id_of(&again) > id_of(&group), "ids are not used twice");
    assert!(id_of(&project_in(forge, &again, "p", &[])) > id_of(&project));
}

/// DELETE /groups/:id
fn projects_of_others_lose_the_share_and_stay(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let group = new_group(forge, ROOT, "team", &[]);
    add_member(forge, &path_of_group(&group), ada, 50, &[]);
    let project = new_project(forge, ROOT, "theirs", &[]);
    share(forge, &project, &group, "40");
    let path = path_of_project(&project);
    forge.get(&path).token(&token).send().expect(200);
    delete(forge, &token, &group);
    let read = forge.get(&path).token(ROOT).send().expect(200);
    assert_eq!(read["shared_with_groups"], json!([]));
    assert_eq!(forge.get(&path).token(&token).send().expect(404), no_project());
}

/// DELETE /groups/:id
fn removing_a_group_is_for_its_owners_and_administrators(forge: &Forge) {
    let (_, stranger) = forge.user("stranger");
    let (master, master_token) = forge.user("master");
    let (owner, owner_token) = forge.user("owner");
    for (level, status, body) in
        [("0", 404, no_group()), ("10", 403, forbidden()), ("20", 403, forbidden())]
    {
        let make = |path: &str| new_group(forge, ROOT, path, &[("visibility_level", level)]);
        let [first, second] = [make("first"), make("second")];
        let path = path_of_group(&first);
        add_member(forge, &path, master, 40, &[]);
        add_member(forge, &path, owner, 50, &[]);
        assert_only_for_users(forge, &[("DELETE", path.clone())]);
        let refused = forge.delete(&path).token(&stranger).send();
        assert_eq!(refused.expect(status), body, "{level}");
        let refused = forge.delete(&path).token(&master_token).send();
        assert_eq!(refused.expect(403), forbidden(), "{level}");
        delete(forge, &owner_token, &first);
        delete(forge, ROOT, &second);
    }
    for group in [MISSING.to_string().as_str(), HUGE, "nobody", "owner"] {
        let missing = forge.delete(&format!("/groups/{group}")).token(ROOT).send();
        assert_eq!(missing.expect(404), no_group(), "{group}");
    }
    // The namespace of a user cannot be removed as a group.
    forge.get(&format!("/users/{owner}")).token(ROOT).send().expect(200);
}

/// DELETE /groups/:id
fn a_removed_group_is_told_with_all_that_goes(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (bob, _) = forge.user("bob");
    let group = new_group(forge, &token, "team", &[]);
    add_member(forge, &path_of_group(&group), bob, 10, &[]);
    let [first, second] = ["first", "second"].map(|name| project_in(forge, &group, name, &[]));
    add_member(forge, &path_of_project(&first), bob, 20, &[]);
    let before = queued_events(forge).len();
    delete(forge, &token, &group);
    let facts = |project: &Value| project_facts(project, "team", "");
    let left = TeamFacts {
        project: facts(&first),
        member: member_facts("bob", bob, AccessLevel::Reporter),
    };
    let member = |name: &str, id, level| {
        SystemEvent::GroupMemberRemoved(group_member(&group, name, id, level))
    };
    assert_eq!(
        queued_events(forge)[before..],
        [
            SystemEvent::ProjectDestroyed(facts(&second)),
            SystemEvent::TeamMemberRemoved(left),
            SystemEvent::ProjectDestroyed(facts(&first)),
            member("bob", bob, AccessLevel::Guest),
            member("ada", ada, AccessLevel::Owner),
            SystemEvent::GroupDestroyed(group_facts(&group)),
        ]
    );
}
