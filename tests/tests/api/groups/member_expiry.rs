//! Memberships that expire: reference sections 1.11 and 4.3 of projects, 6.2 of users.

use std::thread;

use chrono::TimeDelta;
use hexforge_application::member::expiry;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::outbox::{SystemEvent, TeamFacts};
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::json;

use crate::api::groups::group_support::{
    activity_in, add_member, group_facts, member_facts, new_group, new_project, path_of_group,
    path_of_project, project_facts, project_in,
};
use crate::api::support::{id_of, ids, queued_events};

on_every_store!(
    a_membership_gives_nothing_from_its_day_on_and_is_gone_after_that,
    the_end_of_a_membership_is_activity_and_news,
    an_expired_member_can_be_added_again_at_once,
    many_memberships_end_in_several_transactions,
    those_who_end_memberships_at_once_end_each_once,
    no_membership_ends_after_a_stop_signal,
);

const EXPIRED: &str = "removed due to membership expiration from";

/// Ends all expired memberships, and returns their number.
fn expire(forge: &Forge) -> u64 {
    expiry::run(&forge.app, &|| true).expect("memberships can be ended")
}

/// POST /projects/:id/members, POST /groups/:id/members: an expired membership has no effect (1.11).
fn an_expired_member_can_be_added_again_at_once(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let crew = new_group(forge, ROOT, "crew", &[("visibility_level", "0")]);
    let ship = new_project(forge, ROOT, "Ship", &[]);
    for source in [path_of_group(&crew), path_of_project(&ship)] {
        add_member(forge, &source, ada, 40, &[("expires_at", "2016-09-22")]);
        assert_eq!(forge.get(&source).token(&token).send().status, 404, "{source}");
        add_member(forge, &source, ada, 30, &[]);
        assert_eq!(forge.get(&source).token(&token).send().status, 200, "{source}");
        let one = forge.get(&format!("{source}/members/{ada}")).token(ROOT).send().expect(200);
        assert_eq!((&one["access_level"], &one["expires_at"]), (&json!(30), &json!(null)));
    }
    assert_eq!(expire(forge), 0);
}

/// GET /projects/:id, GET /groups/:id, GET /projects/:id/members, GET /groups/:id/members
fn a_membership_gives_nothing_from_its_day_on_and_is_gone_after_that(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let crew = new_group(forge, ROOT, "crew", &[("visibility_level", "0")]);
    let ship = new_project(forge, ROOT, "Ship", &[]);
    let sources = [path_of_group(&crew), path_of_project(&ship)];
    for source in &sources {
        // Today is 2016-09-22.
        add_member(forge, source, ada, 40, &[("expires_at", "2016-09-24")]);
    }
    let listed = |source: &str| {
        let members = forge.get(&format!("{source}/members")).token(ROOT).send().expect(200);
        ids(&members).contains(&ada)
    };
    for (day, status) in [(22, 200), (23, 200), (24, 404)] {
        if day < 24 {
            assert_eq!(expire(forge), 0);
        }
        for source in &sources {
            let read = forge.get(source).token(&token).send();
            assert_eq!(read.status, status, "{source} on {day}");
            assert!(listed(source), "{source} on {day}");
        }
        forge.clock.advance(TimeDelta::days(1));
    }
    for list in ["/projects", "/groups"] {
        assert_eq!(ids(&forge.get(list).token(&token).send().expect(200)), [0; 0], "{list}");
    }
    assert_eq!(expire(forge), 2);
    for source in &sources {
        assert!(!listed(source), "{source}");
        forge.get(source).token(&token).send().expect(404);
        // A new membership is possible.
        add_member(forge, source, ada, 10, &[]);
        forge.get(source).token(&token).send().expect(200);
    }
    assert_eq!(expire(forge), 0);
}

/// GET /projects/:id/events
fn the_end_of_a_membership_is_activity_and_news(forge: &Forge) {
    let (ada, _) = forge.user("ada");
    let crew = new_group(forge, ROOT, "crew", &[]);
    let ship = project_in(forge, &crew, "Ship", &[]);
    let past = [("expires_at", "2016-09-22")];
    add_member(forge, &path_of_group(&crew), ada, 50, &past);
    add_member(forge, &path_of_project(&ship), ada, 30, &past);
    let before = queued_events(forge).len();
    assert_eq!(expire(forge), 2);
    let project = project_facts(&ship, "crew", "");
    let member = |level| member_facts("ada", ada, level);
    let team = TeamFacts { project, member: member(AccessLevel::Developer) };
    let told = queued_events(forge).split_off(before);
    let [SystemEvent::TeamMemberRemoved(left), SystemEvent::GroupMemberRemoved(of_group)] =
        &told[..]
    else {
        panic!("{told:?}")
    };
    assert_eq!(*left, team);
    assert_eq!(of_group.group, group_facts(&crew));
    assert_eq!(of_group.member, member(AccessLevel::Owner));
    let activity = activity_in(forge, &ship);
    assert_eq!(activity[0], (EXPIRED.to_owned(), ada));
    assert_eq!(expire(forge), 0);
    assert_eq!(activity_in(forge, &ship), activity);
    // The feed of the member shows it too, to those who see the project.
    let feed = forge.get(&format!("/users/{ada}/events")).token(ROOT).send().expect(200);
    assert_eq!(feed[0]["action_name"], EXPIRED);
}

/// A group and a project in it, each with this number of expired members.
fn expired_members(forge: &Forge, count: usize) -> (serde_json::Value, serde_json::Value) {
    let crew = new_group(forge, ROOT, "crew", &[]);
    let ship = project_in(forge, &crew, "Ship", &[]);
    for number in 0..count {
        let user = id_of(&forge.new_user(&format!("user{number}"), &[]));
        let past = [("expires_at", "2016-09-01")];
        add_member(forge, &path_of_group(&crew), user, 10, &past);
        add_member(forge, &path_of_project(&ship), user, 10, &past);
    }
    (crew, ship)
}

/// POST /projects/:id/members, POST /groups/:id/members
fn many_memberships_end_in_several_transactions(forge: &Forge) {
    let (crew, ship) = expired_members(forge, 105);
    assert_eq!(expire(forge), 210);
    for source in [path_of_group(&crew), path_of_project(&ship)] {
        let left = forge.get(&format!("{source}/members")).token(ROOT).send().expect(200);
        assert!(ids(&left).iter().all(|user| *user == 1), "{source}");
    }
    assert_eq!(expire(forge), 0);
}

/// POST /projects/:id/members, POST /groups/:id/members
fn those_who_end_memberships_at_once_end_each_once(forge: &Forge) {
    let (_, ship) = expired_members(forge, 20);
    let before = queued_events(forge).len();
    let ended: u64 = thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(|| expire(forge))).collect();
        workers.into_iter().map(|worker| worker.join().expect("no worker panics")).sum()
    });
    assert_eq!((ended, queued_events(forge).len() - before), (40, 40));
    let path = format!("/projects/{}/events?per_page=100", id_of(&ship));
    let events = forge.get(&path).token(ROOT).send().expect(200);
    let events = events.as_array().expect("a list").iter();
    assert_eq!(events.filter(|event| event["action_name"] == EXPIRED).count(), 20);
}

/// POST /projects/:id/members
fn no_membership_ends_after_a_stop_signal(forge: &Forge) {
    expired_members(forge, 2);
    assert_eq!(expiry::run(&forge.app, &|| false).expect("nothing is done"), 0);
    assert_eq!(expire(forge), 4);
}
