//! Starring projects: reference sections 3.7 and 4.8.

use chrono::TimeDelta;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::Value;

use crate::api::groups::group_support::{fields_of, no_project, project_now};
use crate::api::projects::project_support::{a_cast, assert_list, assert_unchanged, read};
use crate::api::support::{MISSING, assert_only_for_users, id_of, queued_events};

on_every_store!(
    a_star_is_given_once_by_each_user,
    a_star_is_taken_back_once,
    the_answer_is_the_project_without_what_its_reader_is_to_it,
    everybody_who_reads_a_project_may_star_it,
    stars_are_for_users_and_for_projects_they_see,
    stars_are_no_news_and_no_activity_but_a_change,
);

#[track_caller]
fn count(forge: &Forge, project: &Value) -> i64 {
    read(forge, ROOT, project)["star_count"].as_i64().expect("a number")
}

/// POST /projects/:id/star
fn a_star_is_given_once_by_each_user(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let path = format!("{}/star", cast.path);
    for (stars, who) in [(1, "owner"), (2, "guest"), (3, "stranger"), (4, "external"), (5, "root")]
    {
        let starred = forge.post(&path).token(cast.token(who)).send().expect(201);
        assert_eq!(starred["star_count"], stars, "{who}");
        assert_unchanged(&forge.post(&path).token(cast.token(who)).send());
        assert_eq!(count(forge, &cast.project), stars);
        assert_list(forge, cast.token(who), "/projects/starred", &["Ship"]);
    }
    assert_list(forge, cast.token("master"), "/projects/starred", &[]);
}

/// DELETE /projects/:id/star
fn a_star_is_taken_back_once(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let path = format!("{}/star", cast.path);
    let (guest, owner) = (cast.token("guest"), cast.token("owner"));
    assert_unchanged(&forge.delete(&path).token(guest).send());
    for token in [guest, owner] {
        forge.post(&path).token(token).send().expect(201);
    }
    let taken = forge.delete(&path).token(guest).send().expect(200);
    assert_eq!(taken["star_count"], 1);
    assert_unchanged(&forge.delete(&path).token(guest).send());
    assert_eq!(count(forge, &cast.project), 1);
    assert_list(forge, guest, "/projects/starred", &[]);
    assert_list(forge, owner, "/projects/starred", &["Ship"]);
    // And given again.
    assert_eq!(forge.post(&path).token(guest).send().expect(201)["star_count"], 2);
}

/// POST /projects/:id/star, DELETE /projects/:id/star
fn the_answer_is_the_project_without_what_its_reader_is_to_it(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let path = "/projects/ada%2Fship/star";
    let starred = forge.post(path).token(cast.token("owner")).send().expect(201);
    assert_eq!(starred.to_string(), project_now(forge, id_of(&cast.project)).to_string());
    assert!(!fields_of(&starred).contains(&"runners_token"));
    assert!(!fields_of(&starred).contains(&"permissions"));
    let taken = forge.delete(path).token(cast.token("owner")).send().expect(200);
    assert_eq!(taken.to_string(), project_now(forge, id_of(&cast.project)).to_string());
}

/// POST /projects/:id/star, DELETE /projects/:id/star
fn everybody_who_reads_a_project_may_star_it(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let path = format!("{}/star", cast.path);
    forge.post(&format!("{}/archive", cast.path)).token(ROOT).send().expect(201);
    for who in ["guest", "reporter", "developer", "master", "owner", "root"] {
        forge.post(&path).token(cast.token(who)).send().expect(201);
    }
    assert_eq!(count(forge, &cast.project), 6);
    for who in ["guest", "reporter", "developer", "master", "owner", "root"] {
        forge.delete(&path).token(cast.token(who)).send().expect(200);
    }
    assert_eq!(count(forge, &cast.project), 0);
}

/// POST /projects/:id/star, DELETE /projects/:id/star
fn stars_are_for_users_and_for_projects_they_see(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let path = format!("{}/star", cast.path);
    let missing = format!("/projects/{MISSING}/star");
    for method in ["POST", "DELETE"] {
        assert_only_for_users(forge, &[(method, path.clone()), (method, missing.clone())]);
        for (who, path) in [("stranger", &path), ("external", &path), ("root", &missing)] {
            let refused = forge.request(method, path).token(cast.token(who)).send();
            assert_eq!(refused.expect(404), no_project(), "{method} {who}");
        }
    }
    assert_eq!(count(forge, &cast.project), 0);
    // An internal project is only hidden from external users.
    let form = [("name", "Ship"), ("visibility_level", "10")];
    forge.put(&cast.path).token(ROOT).form(&form).send().expect(200);
    forge.post(&path).token(cast.token("stranger")).send().expect(201);
    let refused = forge.post(&path).token(cast.token("external")).send();
    assert_eq!(refused.expect(404), no_project());
    // The star stays when the project becomes hidden, but the list does not show the project.
    let form = [("name", "Ship"), ("visibility_level", "0")];
    forge.put(&cast.path).token(ROOT).form(&form).send().expect(200);
    assert_list(forge, cast.token("stranger"), "/projects/starred", &[]);
    let refused = forge.delete(&path).token(cast.token("stranger")).send();
    assert_eq!(refused.expect(404), no_project());
    assert_eq!(count(forge, &cast.project), 1);
}

/// POST /projects/:id/star, DELETE /projects/:id/star
fn stars_are_no_news_and_no_activity_but_a_change(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let owner = cast.token("owner");
    crate::api::groups::group_support::new_project(forge, owner, "Later", &[]);
    let events = format!("{}/events", cast.path);
    let before = (queued_events(forge), forge.get(&events).token(owner).send().expect(200));
    let by_change = "/projects?order_by=updated_at";
    assert_list(forge, owner, by_change, &["Later", "Ship"]);
    forge.clock.advance(TimeDelta::hours(2));
    let starred = forge.post(&format!("{}/star", cast.path)).token(owner).send().expect(201);
    assert_eq!(starred["last_activity_at"], "2016-09-22T10:30:00.000Z");
    assert_list(forge, owner, by_change, &["Ship", "Later"]);
    assert_eq!((queued_events(forge), forge.get(&events).token(owner).send().expect(200)), before);
}
