//! `/projects/:id/access_requests` and `/groups/:id/access_requests`: reference sections 6.1 and 6.3.

use chrono::TimeDelta;
use hexforge_domain::id::UserId;
use hexforge_domain::outbox::SystemEvent;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    activity_in, add_member, member_json, new_group, new_project, path_of_group, path_of_project,
    project_in,
};
use crate::api::support::{id_of, ids, message, queued_events};

on_every_store!(
    a_request_is_kept_and_shown_to_those_who_answer_it,
    asking_again_changes_nothing,
    a_request_gives_no_right_and_is_in_no_list_of_members,
    who_is_approved_becomes_a_member_with_news_and_activity,
    a_request_is_approved_at_the_level_that_is_given,
    becoming_a_member_answers_the_request,
    a_request_is_taken_back_or_refused,
    who_asks_is_no_member_to_be_removed,
    requests_go_with_their_users_and_with_what_they_are_about,
    who_was_a_member_once_may_ask_again,
);

/// A public group and a public project of ada's that accept access requests, and ada's token.
fn sources(forge: &Forge) -> (Value, Value, String) {
    let (_, ada) = forge.user("ada");
    let open = [("visibility_level", "20"), ("request_access_enabled", "true")];
    let crew = new_group(forge, &ada, "crew", &open);
    let ship = new_project(forge, &ada, "Ship", &open);
    (crew, ship, ada)
}

fn paths(crew: &Value, ship: &Value) -> [String; 2] {
    [path_of_group(crew), path_of_project(ship)].map(|path| format!("{path}/access_requests"))
}

/// The requester, as responses show it.
fn requester_json(forge: &Forge, id: i64, since: &str) -> Value {
    let mut shown = member_json(forge, id, 0, Value::Null);
    let fields = shown.as_object_mut().expect("an object");
    fields.remove("access_level");
    fields.remove("expires_at");
    fields.insert("requested_at".to_owned(), json!(since));
    shown
}

/// POST /projects/:id/access_requests, GET /projects/:id/access_requests,
/// POST /groups/:id/access_requests, GET /groups/:id/access_requests
fn a_request_is_kept_and_shown_to_those_who_answer_it(forge: &Forge) {
    let (crew, ship, ada) = sources(forge);
    let (bob, bob_token) = forge.user("bob");
    let (cid, cid_token) = forge.user("cid");
    let before = queued_events(forge);
    for path in paths(&crew, &ship) {
        let none = forge.get(&path).token(&ada).send();
        assert_eq!((none.expect(200), none.header("X-Total")), (json!([]), Some("0")));
        let asked = forge.post(&path).token(&bob_token).send();
        asked.expect(201);
        let expected = requester_json(forge, bob, "2016-09-22T10:30:00.000Z");
        assert_eq!(asked.text(), expected.to_string());
        forge.post(&path).token(&cid_token).send().expect(201);
        for token in [&ada, ROOT] {
            let list = forge.get(&path).token(token).send().expect(200);
            assert_eq!((ids(&list), &list[1]), (vec![cid, bob], &expected));
        }
        let page = forge.get(&format!("{path}?per_page=1&page=2")).token(&ada).send();
        assert_eq!((ids(&page.expect(200)), page.header("X-Total")), (vec![bob], Some("2")));
    }
    assert_eq!(queued_events(forge), before);
    assert_eq!(activity_in(forge, &ship).len(), 1);
}

/// POST /projects/:id/access_requests, POST /groups/:id/access_requests
fn asking_again_changes_nothing(forge: &Forge) {
    let (crew, ship, ada) = sources(forge);
    let (bob, token) = forge.user("bob");
    for path in paths(&crew, &ship) {
        let first = forge.post(&path).token(&token).send().expect(201);
        forge.clock.advance(TimeDelta::minutes(1));
        assert_eq!(forge.post(&path).token(&token).send().expect(201), first);
        assert_eq!(ids(&forge.get(&path).token(&ada).send().expect(200)), [bob]);
    }
}

/// POST /projects/:id/access_requests, POST /groups/:id/access_requests
fn a_request_gives_no_right_and_is_in_no_list_of_members(forge: &Forge) {
    let (crew, ship, ada) = sources(forge);
    let (bob, token) = forge.user("bob");
    for path in paths(&crew, &ship) {
        forge.post(&path).token(&token).send().expect(201);
    }
    let [of_crew, of_ship] = [path_of_group(&crew), path_of_project(&ship)];
    let lists =
        [format!("{of_crew}/members"), format!("{of_ship}/members"), format!("{of_ship}/users")];
    for path in lists {
        let list = forge.get(&path).token(ROOT).send().expect(200);
        assert!(!ids(&list).contains(&bob), "{path}");
    }
    for source in [&of_crew, &of_ship] {
        forge.get(&format!("{source}/members/{bob}")).token(&ada).send().expect(404);
        forge.put(source).token(&token).form(&[("name", "x")]).send().expect(403);
    }
    for list in ["/groups", "/projects", "/groups/owned"] {
        assert_eq!(forge.get(list).token(&token).send().expect(200), json!([]), "{list}");
    }
    let hide = [("name", "Ship"), ("visibility_level", "0")];
    forge.put(&of_ship).token(&ada).form(&hide).send().expect(200);
    forge.get(&of_ship).token(&token).send().expect(404);
}

/// PUT /projects/:id/access_requests/:user_id/approve,
/// PUT /groups/:id/access_requests/:user_id/approve
fn who_is_approved_becomes_a_member_with_news_and_activity(forge: &Forge) {
    let (crew, ship, ada) = sources(forge);
    let (bob, token) = forge.user("bob");
    for path in paths(&crew, &ship) {
        forge.post(&path).token(&token).send().expect(201);
    }
    let before = queued_events(forge).len();
    for path in paths(&crew, &ship) {
        let approved = forge.put(&format!("{path}/{bob}/approve")).token(&ada).send();
        approved.expect(201);
        assert_eq!(approved.text(), member_json(forge, bob, 30, Value::Null).to_string());
        assert_eq!(forge.get(&path).token(&ada).send().expect(200), json!([]));
        let member = path.replace("access_requests", &format!("members/{bob}"));
        assert_eq!(forge.get(&member).token(&ada).send().expect(200)["access_level"], 30);
        let again = forge.put(&format!("{path}/{bob}/approve")).token(&ada).send();
        assert_eq!(again.expect(404), message("404 Not found"));
    }
    let told = queued_events(forge).split_off(before);
    let [SystemEvent::GroupMemberAdded(group), SystemEvent::TeamMemberAdded(team)] = &told[..]
    else {
        panic!("{told:?}")
    };
    assert_eq!((group.member.user, team.member.user), (UserId(bob), UserId(bob)));
    assert_eq!((group.group.path.as_str(), team.project.id.0), ("crew", id_of(&ship)));
    assert_eq!(activity_in(forge, &ship)[0], ("joined".to_owned(), bob));
}

/// PUT /projects/:id/access_requests/:user_id/approve,
/// PUT /groups/:id/access_requests/:user_id/approve
fn a_request_is_approved_at_the_level_that_is_given(forge: &Forge) {
    let (crew, ship, ada) = sources(forge);
    let (bob, token) = forge.user("bob");
    for (path, refused, level) in
        paths(&crew, &ship).iter().zip([("15", "50"), ("50", "40")]).map(|(p, (r, l))| (p, r, l))
    {
        forge.post(path).token(&token).send().expect(201);
        let approve = |level: &str| {
            let call = forge.put(&format!("{path}/{bob}/approve")).token(&ada);
            call.form(&[("access_level", level)]).send()
        };
        assert_eq!(approve(refused).expect(422), message("Access level is not known"));
        assert_eq!(approve("x").expect(400), json!({"error": "access_level is invalid"}));
        assert_eq!(approve(level).expect(201)["access_level"].to_string(), level);
    }
}

/// POST /projects/:id/members, POST /groups/:id/members
fn becoming_a_member_answers_the_request(forge: &Forge) {
    let (crew, ship, ada) = sources(forge);
    let (bob, token) = forge.user("bob");
    for path in paths(&crew, &ship) {
        forge.post(&path).token(&token).send().expect(201);
        let source = path.replace("/access_requests", "");
        let joined = add_member(forge, &source, bob, 10, &[]);
        assert_eq!((id_of(&joined), &joined["access_level"]), (bob, &json!(10)));
        assert_eq!(forge.get(&path).token(&ada).send().expect(200), json!([]));
        // The end of the membership does not restore the request.
        forge.delete(&format!("{source}/members/{bob}")).token(&ada).send().expect(200);
        assert_eq!(forge.get(&path).token(&ada).send().expect(200), json!([]));
    }
}

/// DELETE /projects/:id/access_requests/:user_id, DELETE /groups/:id/access_requests/:user_id
fn a_request_is_taken_back_or_refused(forge: &Forge) {
    let (crew, ship, ada) = sources(forge);
    let (bob, token) = forge.user("bob");
    let before = queued_events(forge);
    for path in paths(&crew, &ship) {
        let one = format!("{path}/{bob}");
        for who in [&token, &ada, ROOT] {
            let asked = forge.post(&path).token(&token).send().expect(201);
            let gone = forge.delete(&one).token(who).send();
            assert_eq!(gone.expect(200), asked);
            assert_eq!(forge.get(&path).token(&ada).send().expect(200), json!([]));
            let again = forge.delete(&one).token(who).send();
            assert_eq!(again.expect(404), message("404 Not found"));
        }
    }
    assert_eq!(queued_events(forge), before);
    assert_eq!(activity_in(forge, &ship).len(), 1);
}

/// DELETE /projects/:id/members/:user_id, DELETE /groups/:id/members/:user_id
fn who_asks_is_no_member_to_be_removed(forge: &Forge) {
    let (crew, ship, ada) = sources(forge);
    let (bob, token) = forge.user("bob");
    let [of_crew, of_ship] = paths(&crew, &ship);
    for path in [&of_crew, &of_ship] {
        forge.post(path).token(&token).send().expect(201);
    }
    let remove = |path: &str| {
        let member = path.replace("access_requests", &format!("members/{bob}"));
        forge.delete(&member).token(&ada).send()
    };
    let missing = message(&format!("404 Member: user_id:{bob} Not Found"));
    assert_eq!(remove(&of_crew).expect(404), missing);
    let revoked = json!({"message": "Access revoked", "id": bob});
    assert_eq!(remove(&of_ship).expect(200), revoked);
    for path in [&of_crew, &of_ship] {
        assert_eq!(ids(&forge.get(path).token(&ada).send().expect(200)), [bob]);
    }
}

/// DELETE /users/:id, DELETE /projects/:id, DELETE /groups/:id
fn requests_go_with_their_users_and_with_what_they_are_about(forge: &Forge) {
    let (crew, ship, ada) = sources(forge);
    let inside = project_in(forge, &crew, "Inside", &[("request_access_enabled", "true")]);
    let open = [("name", "Inside"), ("visibility_level", "20")];
    forge.put(&path_of_project(&inside)).token(ROOT).form(&open).send().expect(200);
    let (bob, bob_token) = forge.user("bob");
    let (cid, cid_token) = forge.user("cid");
    let of_inside = format!("{}/access_requests", path_of_project(&inside));
    let [of_crew, of_ship] = paths(&crew, &ship);
    for path in [&of_crew, &of_ship, &of_inside] {
        for token in [&bob_token, &cid_token] {
            forge.post(path).token(token).send().expect(201);
        }
    }
    forge.delete(&format!("/users/{bob}")).token(ROOT).send().expect(200);
    for path in [&of_crew, &of_ship, &of_inside] {
        assert_eq!(ids(&forge.get(path).token(&ada).send().expect(200)), [cid], "{path}");
    }
    forge.delete(&path_of_project(&ship)).token(&ada).send().expect(200);
    forge.delete(&path_of_group(&crew)).token(&ada).send().expect(200);
    for path in [&of_crew, &of_ship, &of_inside] {
        forge.get(path).token(&ada).send().expect(404);
    }
    assert_eq!(id_of(&forge.get("/user").token(&cid_token).send().expect(200)), cid);
}

/// PUT /projects/:id/access_requests/:user_id/approve,
/// PUT /groups/:id/access_requests/:user_id/approve
fn who_was_a_member_once_may_ask_again(forge: &Forge) {
    let (crew, ship, ada) = sources(forge);
    let (bob, token) = forge.user("bob");
    for path in paths(&crew, &ship) {
        let source = path.replace("/access_requests", "");
        add_member(forge, &source, bob, 40, &[("expires_at", "2016-09-22")]);
        forge.post(&path).token(&token).send().expect(201);
        let approved = forge.put(&format!("{path}/{bob}/approve")).token(&ada).send().expect(201);
        assert_eq!(approved, member_json(forge, bob, 30, Value::Null));
        forge.post(&path).token(&token).send().expect(403);
    }
}
