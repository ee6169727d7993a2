//! `POST /projects/:id/share`: reference sections 1.11 and 4.12.

use chrono::TimeDelta;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    activity_in, add_member, error, forbidden, new_group, new_project, no_group, no_project,
    path_of_group, path_of_project, project_in, share,
};
use crate::api::projects::project_support::{a_cast, assert_list, lock_shares, not_given, read};
use crate::api::support::{HUGE, MISSING, assert_only_for_users, id_of, message, queued_events};

on_every_store!(
    a_share_is_shown_and_opens_the_project,
    a_share_gives_no_more_than_its_level,
    a_share_ends_with_its_day,
    sharing_is_for_those_who_administer_the_project,
    groups_have_to_be_seen,
    what_is_needed_is_asked_for_in_order,
    sharing_has_rules,
    a_locked_namespace_is_not_shared,
    only_groups_shared_with_are_shown,
);

fn path(project: &Value) -> String {
    format!("{}/share", path_of_project(project))
}

/// POST /projects/:id/share
fn a_share_is_shown_and_opens_the_project(forge: &Forge) {
    let (_, owner) = forge.user("ada");
    let (bob, token) = forge.user("bob");
    let ship = new_project(forge, &owner, "Ship", &[]);
    let crew = new_group(forge, &owner, "crew", &[("name", "The Crew")]);
    add_member(forge, &path_of_group(&crew), bob, 20, &[]);
    assert_eq!(forge.get(&path_of_project(&ship)).token(&token).send().expect(404), no_project());
    let before = (queued_events(forge), activity_in(forge, &ship));
    let fields = json!({"group_id": id_of(&crew), "group_access": 30, "expires_at": "2016-09-26"});
    let answer = forge.post("/projects/ada%2Fship/share").token(&owner).json(&fields).send();
    let made = answer.expect(201);
    let expected = json!({
        "id": id_of(&made), "project_id": id_of(&ship), "group_id": id_of(&crew),
        "group_access": 30, "expires_at": "2016-09-26"
    });
    assert_eq!(answer.text(), expected.to_string());
    assert_eq!((queued_events(forge), activity_in(forge, &ship)), before);
    let shown = read(forge, &token, &ship);
    let line = json!([{
        "group_id": id_of(&crew), "group_name": "The Crew", "group_access_level": 30
    }]);
    assert_eq!(shown["shared_with_groups"], line);
    let group = forge.get("/groups/crew").token(&token).send().expect(200);
    assert_eq!(group["shared_projects"][0]["id"], id_of(&ship));
    assert_eq!(group["shared_projects"][0]["shared_with_groups"], line);
    assert_list(forge, &token, "/projects", &["Ship"]);
    // A share without an end date does not expire.
    let club = new_group(forge, &owner, "club", &[]);
    for (expires_at, group) in
        [(json!(null), &club), (json!(""), &new_group(forge, &owner, "x", &[]))]
    {
        let fields =
            json!({"group_id": id_of(group), "group_access": "10", "expires_at": expires_at});
        let made = forge.post(&path(&ship)).token(&owner).json(&fields).send().expect(201);
        assert_eq!(made["expires_at"], Value::Null);
    }
}

/// POST /projects/:id/share
fn a_share_gives_no_more_than_its_level(forge: &Forge) {
    let (_, owner) = forge.user("ada");
    let crew = new_group(forge, &owner, "crew", &[]);
    let members = [10, 20, 30, 40, 50].map(|level| {
        let (user, token) = forge.user(&format!("level{level}"));
        add_member(forge, &path_of_group(&crew), user, level, &[]);
        (level, token)
    });
    for access in [10, 20, 30, 40] {
        let project = new_project(forge, &owner, &format!("p{access}"), &[]);
        let fields = json!({"group_id": id_of(&crew), "group_access": access});
        forge.post(&path(&project)).token(&owner).json(&fields).send().expect(201);
        for (level, token) in &members {
            let effective = access.min(*level);
            read(forge, token, &project);
            // A master may see hooks and change the description, but not delete the project.
            let hooks =
                forge.get(&format!("{}/hooks", path_of_project(&project))).token(token).send();
            hooks.expect(if effective == 40 { 200 } else { 403 });
            let deleted = forge.delete(&path_of_project(&project)).token(token).send();
            assert_eq!(deleted.expect(403), forbidden(), "{level} {access}");
            // A reporter may download, and so may fork.
            let form = [("namespace", format!("level{level}"))];
            let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
            let fork = format!("/projects/fork/{}", id_of(&project));
            let fork = forge.post(&fork).token(token).form(&form).send();
            fork.expect(if effective >= 20 { 201 } else { 409 });
        }
    }
}

/// POST /projects/:id/share
fn a_share_ends_with_its_day(forge: &Forge) {
    let (_, owner) = forge.user("ada");
    let (bob, token) = forge.user("bob");
    let crew = new_group(forge, &owner, "crew", &[]);
    add_member(forge, &path_of_group(&crew), bob, 40, &[]);
    for (name, day, days) in [("over", "2016-09-22", 0), ("two", "2016-09-24T10:00:00Z", 2)] {
        let project = new_project(forge, &owner, name, &[]);
        let fields = json!({"group_id": id_of(&crew), "group_access": 40, "expires_at": day});
        let made = forge.post(&path(&project)).token(&owner).json(&fields).send().expect(201);
        assert_eq!(made["expires_at"], day[..10]);
        for _ in 0..days {
            forge.get(&path_of_project(&project)).token(&token).send().expect(200);
            forge.clock.advance(TimeDelta::days(1));
        }
        let gone = forge.get(&path_of_project(&project)).token(&token).send();
        assert_eq!(gone.expect(404), no_project(), "{name}");
    }
    assert_list(forge, &token, "/projects", &[]);
}

/// POST /projects/:id/share
fn sharing_is_for_those_who_administer_the_project(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let path = path(&cast.project);
    assert_only_for_users(
        forge,
        &[("POST", path.clone()), ("POST", format!("/projects/{MISSING}/share"))],
    );
    let group = |name: &str| id_of(&new_group(forge, ROOT, name, &[]));
    let refused = group("refused");
    for fields in [
        json!({}),
        json!({"group_id": refused, "group_access": 10}),
        json!({"group_id": MISSING, "group_access": 1, "expires_at": "nonsense"}),
    ] {
        for who in ["guest", "reporter", "developer"] {
            let answer = forge.post(&path).token(cast.token(who)).json(&fields).send();
            assert_eq!(answer.expect(403), forbidden(), "{who} {fields}");
        }
        for who in ["stranger", "external"] {
            let answer = forge.post(&path).token(cast.token(who)).json(&fields).send();
            assert_eq!(answer.expect(404), no_project(), "{who} {fields}");
        }
        let missing = forge.post(&format!("/projects/{MISSING}/share")).token(ROOT).json(&fields);
        assert_eq!(missing.send().expect(404), no_project());
    }
    for who in ["master", "owner", "root"] {
        let fields = json!({"group_id": group(&format!("of-{who}")), "group_access": 10});
        forge.post(&path).token(cast.token(who)).json(&fields).send().expect(201);
    }
    let shares = read(forge, ROOT, &cast.project)["shared_with_groups"].clone();
    assert_eq!(shares.as_array().map(Vec::len), Some(3));
}

/// POST /projects/:id/share
fn groups_have_to_be_seen(forge: &Forge) {
    let (ada, owner) = forge.user("ada");
    let ship = new_project(forge, &owner, "Ship", &[]);
    let own = id_of(&ship["namespace"]);
    let hidden = new_group(forge, ROOT, "hidden", &[("visibility_level", "0")]);
    for group in
        [id_of(&hidden).to_string(), MISSING.to_string(), own.to_string(), "0".into(), HUGE.into()]
    {
        let form = [("group_id", group.as_str()), ("group_access", "10")];
        let refused = forge.post(&path(&ship)).token(&owner).form(&form).send();
        assert_eq!(refused.expect(404), no_group(), "{group}");
    }
    // Groups are identified by id only.
    let form = [("group_id", "hidden"), ("group_access", "10")];
    assert_eq!(forge.post(&path(&ship)).token(ROOT).form(&form).send().expect(404), no_group());
    add_member(forge, &path_of_group(&hidden), ada, 10, &[]);
    let fields = json!({"group_id": id_of(&hidden), "group_access": 10});
    forge.post(&path(&ship)).token(&owner).json(&fields).send().expect(201);
}

/// POST /projects/:id/share
fn what_is_needed_is_asked_for_in_order(forge: &Forge) {
    let ship = new_project(forge, ROOT, "Ship", &[]);
    let crew = id_of(&new_group(forge, ROOT, "crew", &[]));
    for (fields, expected) in [
        (json!({}), not_given("group_id")),
        (json!({"group_id": " ", "group_access": 10}), not_given("group_id")),
        (json!({"group_id": crew}), not_given("group_access")),
        (json!({"group_id": crew, "group_access": ""}), not_given("group_access")),
        (json!({"group_id": MISSING}), not_given("group_access")),
        (
            json!({"group_id": crew, "group_access": 10, "expires_at": "nonsense"}),
            error("expires_at is invalid"),
        ),
        (
            json!({"group_id": crew, "group_access": 10, "expires_at": "2016-02-30"}),
            error("expires_at is invalid"),
        ),
    ] {
        let refused = forge.post(&path(&ship)).token(ROOT).json(&fields).send();
        assert_eq!(refused.expect(400), expected, "{fields}");
    }
    assert_eq!(read(forge, ROOT, &ship)["shared_with_groups"], json!([]));
}

/// POST /projects/:id/share
fn sharing_has_rules(forge: &Forge) {
    let crew = new_group(forge, ROOT, "crew", &[]);
    let club = new_group(forge, ROOT, "club", &[]);
    let ship = project_in(forge, &crew, "Ship", &[]);
    for level in [json!(0), json!(15), json!(50), json!(1234), json!("guest"), json!(-10)] {
        let fields = json!({"group_id": id_of(&club), "group_access": level});
        let refused = forge.post(&path(&ship)).token(ROOT).json(&fields).send();
        let expected = message("Group access is not included in the list");
        assert_eq!(refused.expect(409), expected, "{level}");
    }
    let own = json!({"group_id": id_of(&crew), "group_access": 10});
    let refused = forge.post(&path(&ship)).token(ROOT).json(&own).send();
    let expected = message("Project cannot be shared with the project it is in.");
    assert_eq!(refused.expect(409), expected);
    let fields = json!({"group_id": id_of(&club), "group_access": 10});
    forge.post(&path(&ship)).token(ROOT).json(&fields).send().expect(201);
    let again = json!({"group_id": id_of(&club), "group_access": 40});
    let refused = forge.post(&path(&ship)).token(ROOT).json(&again).send();
    assert_eq!(refused.expect(409), message("Group already shared with this group"));
    let shares = &read(forge, ROOT, &ship)["shared_with_groups"];
    assert_eq!(
        (shares.as_array().map(Vec::len), &shares[0]["group_access_level"]),
        (Some(1), &json!(10))
    );
}

/// POST /projects/:id/share
fn a_locked_namespace_is_not_shared(forge: &Forge) {
    let crew = new_group(forge, ROOT, "crew", &[]);
    let club = new_group(forge, ROOT, "club", &[]);
    let ship = project_in(forge, &crew, "Ship", &[]);
    lock_shares(forge, &crew);
    for access in [10, 15] {
        let fields = json!({"group_id": id_of(&club), "group_access": access});
        let refused = forge.post(&path(&ship)).token(ROOT).json(&fields).send();
        assert_eq!(refused.expect(400), message("The project sharing with group is disabled"));
    }
    let fields = json!({"group_id": MISSING, "group_access": 10});
    let refused = forge.post(&path(&ship)).token(ROOT).json(&fields).send();
    assert_eq!(refused.expect(404), no_group());
    assert_eq!(read(forge, ROOT, &ship)["namespace"]["share_with_group_lock"], true);
}

/// GET /projects/:id
fn only_groups_shared_with_are_shown(forge: &Forge) {
    let ship = new_project(forge, ROOT, "Ship", &[]);
    let other = new_project(forge, ROOT, "Other", &[]);
    let (one, two) = (new_group(forge, ROOT, "one", &[]), new_group(forge, ROOT, "two", &[]));
    share(forge, &ship, &two, "40");
    share(forge, &ship, &one, "10");
    share(forge, &other, &one, "20");
    let line = |group: &Value, level: i64| {
        json!({
            "group_id": id_of(group), "group_name": group["name"], "group_access_level": level
        })
    };
    let shown = read(forge, ROOT, &ship);
    assert_eq!(shown["shared_with_groups"], json!([line(&two, 40), line(&one, 10)]));
    assert_eq!(read(forge, ROOT, &other)["shared_with_groups"], json!([line(&one, 20)]));
}
