//! The fields `forked_from_project` and `shared_with_groups` of a project show nothing that is hidden from the reader:
//! reference sections 1.11 and 3.1.

use hexforge_domain::id::{NamespaceId, ProjectId};
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    add_member, external_user, new_group, new_project, path_of_group, path_of_project, project_in,
    share,
};
use crate::api::projects::project_support::{lock_shares, read};
use crate::api::support::{id_of, read_store};

on_every_store!(
    a_source_is_shown_to_those_who_see_it,
    an_internal_source_is_hidden_from_external_users,
    lists_hide_the_sources_that_the_reader_does_not_see,
    groups_that_are_shown_may_be_seen,
    a_share_that_has_ended_is_not_shown_and_may_be_made_again,
    dates_in_the_past_are_accepted_and_give_nothing,
    a_project_moved_to_a_group_is_shared_with_it_no_more,
    shares_in_a_circle_do_no_harm,
);

#[track_caller]
fn fork(forge: &Forge, token: &str, source: &Value, namespace: &str) -> Value {
    let path = format!("/projects/fork/{}", id_of(source));
    forge.post(&path).token(token).form(&[("namespace", namespace)]).send().expect(201)
}

fn source_of(shown: &Value) -> Option<i64> {
    shown.get("forked_from_project").map(id_of)
}

/// GET /projects/:id, POST /projects/:id/star, PUT /projects/:id, POST /projects/:id/archive
fn a_source_is_shown_to_those_who_see_it(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (bob, bob_token) = forge.user("bob");
    let (cid, cid_token) = forge.user("cid");
    let source = new_project(forge, &ada, "Ship", &[]);
    add_member(forge, &path_of_project(&source), bob, 20, &[]);
    let copy = fork(forge, &bob_token, &source, "bob");
    assert_eq!(source_of(&copy), Some(id_of(&source)));
    let path = path_of_project(&copy);
    add_member(forge, &path, cid, 40, &[]);
    for (token, expected) in [
        (bob_token.as_str(), Some(id_of(&source))),
        (ROOT, Some(id_of(&source))),
        (&cid_token, None),
    ] {
        assert_eq!(source_of(&read(forge, token, &copy)), expected);
        let starred = forge.post(&format!("{path}/star")).token(token).send().expect(201);
        assert_eq!(source_of(&starred), expected);
        let form = [("name", "Ship"), ("description", "d")];
        let changed = forge.put(&path).token(token).form(&form).send().expect(200);
        assert_eq!(source_of(&changed), expected);
    }
    // A user who leaves the source no longer sees it, even as the source of their own fork.
    let member = format!("{}/members/{bob}", path_of_project(&source));
    forge.delete(&member).token(&ada).send().expect(200);
    let archived = forge.post(&format!("{path}/archive")).token(&bob_token).send().expect(201);
    assert_eq!(source_of(&archived), None);
    assert_eq!(source_of(&read(forge, ROOT, &copy)), Some(id_of(&source)));
}

/// GET /projects/:id
fn an_internal_source_is_hidden_from_external_users(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (_, bob) = forge.user("bob");
    let (guest, guest_token) = external_user(forge, "external");
    let source = new_project(forge, &ada, "Ship", &[("visibility_level", "10")]);
    let copy = fork(forge, &bob, &source, "bob");
    add_member(forge, &path_of_project(&copy), guest, 10, &[]);
    assert_eq!(source_of(&read(forge, &bob, &copy)), Some(id_of(&source)));
    assert_eq!(source_of(&read(forge, &guest_token, &copy)), None);
    add_member(forge, &path_of_project(&source), guest, 10, &[]);
    assert_eq!(source_of(&read(forge, &guest_token, &copy)), Some(id_of(&source)));
}

/// GET /projects, GET /projects/visible, GET /projects/search/:query, GET /groups/:id/projects,
/// GET /groups/:id
fn lists_hide_the_sources_that_the_reader_does_not_see(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (cid, token) = forge.user("cid");
    let crew = new_group(forge, ROOT, "crew", &[]);
    add_member(forge, &path_of_group(&crew), cid, 30, &[]);
    let [seen, hidden] = ["Seen", "Hidden"].map(|name| new_project(forge, &ada, name, &[]));
    add_member(forge, &path_of_project(&seen), cid, 10, &[]);
    for source in [&seen, &hidden] {
        fork(forge, ROOT, source, "crew");
    }
    let check = |list: &Value, token: &str| {
        for project in list.as_array().expect("a list") {
            if project["namespace"]["path"] != "crew" {
                continue;
            }
            let expected = match project["name"].as_str() {
                Some("Seen") => Some(id_of(&seen)),
                Some("Hidden") if token == ROOT => Some(id_of(&hidden)),
                _ => None,
            };
            assert_eq!(source_of(project), expected, "{project}");
        }
    };
    for path in ["/projects", "/projects/visible", "/projects/search/crew", "/groups/crew/projects"]
    {
        for token in [token.as_str(), ROOT] {
            let list = forge.get(path).token(token).send().expect(200);
            assert!(list.as_array().is_some_and(|list| list.len() >= 2), "{path}");
            check(&list, token);
        }
    }
    let detail = forge.get("/groups/crew").token(&token).send().expect(200);
    check(&detail["projects"], &token);
}

/// GET /projects/:id, GET /groups/:id
fn groups_that_are_shown_may_be_seen(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (_, stranger) = forge.user("stranger");
    let ship = new_project(forge, &ada, "Ship", &[("visibility_level", "20")]);
    let secret = new_group(forge, ROOT, "secret", &[("visibility_level", "0")]);
    forge.get("/groups/secret").token(&stranger).send().expect(404);
    share(forge, &ship, &secret, "30");
    // Everybody who sees a project that is shared with a group may see the group.
    let shown = read(forge, &stranger, &ship);
    assert_eq!(shown["shared_with_groups"][0]["group_id"], secret["id"]);
    forge.get("/groups/secret").token(&stranger).send().expect(200);
    // A forbidden share has no effect, so neither is shown.
    let crew = new_group(forge, ROOT, "crew", &[]);
    let other = project_in(forge, &crew, "Other", &[("visibility_level", "20")]);
    let hidden = new_group(forge, ROOT, "hidden", &[("visibility_level", "0")]);
    share(forge, &other, &hidden, "30");
    lock_shares(forge, &crew);
    assert_eq!(read(forge, &stranger, &other)["shared_with_groups"], json!([]));
    forge.get("/groups/hidden").token(&stranger).send().expect(404);
}

fn share_until(forge: &Forge, project: &Value, group: &Value, day: &str) -> Value {
    let fields = json!({"group_id": id_of(group), "group_access": 30, "expires_at": day});
    let path = format!("{}/share", path_of_project(project));
    forge.post(&path).token(ROOT).json(&fields).send().expect(201)
}

/// POST /projects/:id/share
fn a_share_that_has_ended_is_not_shown_and_may_be_made_again(forge: &Forge) {
    let (_, stranger) = forge.user("stranger");
    let ship = new_project(forge, ROOT, "Ship", &[("visibility_level", "20")]);
    let secret = new_group(forge, ROOT, "secret", &[("visibility_level", "0")]);
    share_until(forge, &ship, &secret, "2016-09-23");
    assert_eq!(read(forge, &stranger, &ship)["shared_with_groups"][0]["group_id"], secret["id"]);
    forge.clock.advance(chrono::TimeDelta::days(1));
    for token in [&stranger, ROOT] {
        assert_eq!(read(forge, token, &ship)["shared_with_groups"], json!([]));
    }
    forge.get("/groups/secret").token(&stranger).send().expect(404);
    share_until(forge, &ship, &secret, "2016-09-30");
    let shown = read(forge, ROOT, &ship);
    assert_eq!(shown["shared_with_groups"].as_array().map(Vec::len), Some(1));
    let again = json!({"group_id": id_of(&secret), "group_access": 10});
    let path = format!("{}/share", path_of_project(&ship));
    forge.post(&path).token(ROOT).json(&again).send().expect(409);
}

/// POST /projects/:id/share, POST /projects/:id/members, POST /groups/:id/members,
/// PUT /projects/:id/members/:user_id: "a date in the past is accepted and gives nothing" (1.11).
fn dates_in_the_past_are_accepted_and_give_nothing(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let crew = new_group(forge, ROOT, "crew", &[("visibility_level", "0")]);
    let friends = new_group(forge, ROOT, "friends", &[]);
    add_member(forge, &path_of_group(&friends), ada, 50, &[]);
    let [one, two, three] = ["One", "Two", "Three"].map(|name| new_project(forge, ROOT, name, &[]));
    let past = [("expires_at", "1999-12-31")];
    assert_eq!(
        add_member(forge, &path_of_group(&crew), ada, 50, &past)["expires_at"],
        "1999-12-31"
    );
    assert_eq!(
        add_member(forge, &path_of_project(&one), ada, 40, &past)["expires_at"],
        "1999-12-31"
    );
    assert_eq!(share_until(forge, &two, &friends, "1999-12-31")["expires_at"], "1999-12-31");
    add_member(forge, &path_of_project(&three), ada, 40, &[]);
    forge.get(&path_of_project(&three)).token(&token).send().expect(200);
    let member = format!("{}/members/{ada}", path_of_project(&three));
    let form = [("access_level", "40"), ("expires_at", "1999-12-31")];
    let changed = forge.put(&member).token(ROOT).form(&form).send().expect(200);
    assert_eq!(changed["expires_at"], "1999-12-31");
    for path in [
        path_of_group(&crew),
        path_of_project(&one),
        path_of_project(&two),
        path_of_project(&three),
    ] {
        forge.get(&path).token(&token).send().expect(404);
    }
}

/// POST /groups/:id/projects/:project_id
fn a_project_moved_to_a_group_is_shared_with_it_no_more(forge: &Forge) {
    let [crew, friends] = ["crew", "friends"].map(|path| new_group(forge, ROOT, path, &[]));
    let ship = new_project(forge, ROOT, "Ship", &[]);
    share(forge, &ship, &crew, "10");
    share(forge, &ship, &friends, "10");
    let path = format!("{}/projects/{}", path_of_group(&crew), id_of(&ship));
    let moved = forge.post(&path).token(ROOT).send().expect(201);
    assert_eq!(moved["shared_projects"], json!([]));
    let shares = &moved["projects"][0]["shared_with_groups"];
    assert_eq!(shares.as_array().map(Vec::len), Some(1));
    assert_eq!(shares[0]["group_id"], friends["id"]);
    let kept = read_store(forge, |tx| tx.shares().of_projects(&[ProjectId(id_of(&ship))]));
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].share.group, NamespaceId(id_of(&friends)));
    // After the project moved elsewhere, it may be shared with the group again.
    let back = format!("{}/projects/{}", path_of_group(&friends), id_of(&ship));
    forge.post(&back).token(ROOT).send().expect(201);
    share(forge, &ship, &crew, "10");
}

/// POST /projects/:id/share, GET /projects, GET /groups/:id/projects, GET /projects/:id/users
fn shares_in_a_circle_do_no_harm(forge: &Forge) {
    let [one, two] =
        ["one", "two"].map(|path| new_group(forge, ROOT, path, &[("visibility_level", "0")]));
    let [of_one, of_two] = [(&one, "First"), (&two, "Second")]
        .map(|(group, name)| project_in(forge, group, name, &[]));
    share(forge, &of_one, &two, "20");
    share(forge, &of_two, &one, "20");
    let (ada, ada_token) = forge.user("ada");
    let (bob, _) = forge.user("bob");
    add_member(forge, &path_of_group(&one), ada, 40, &[]);
    add_member(forge, &path_of_group(&two), bob, 40, &[]);
    for path in ["/projects", "/groups/one/projects", "/groups/two/projects"] {
        let list = forge.get(path).token(&ada_token).send();
        assert_eq!(list.expect(200).as_array().map(Vec::len), Some(2), "{path}");
        assert_eq!(list.header("X-Total"), Some("2"), "{path}");
    }
    for project in [&of_one, &of_two] {
        let path = format!("{}/users", path_of_project(project));
        let team = forge.get(&path).token(&ada_token).send().expect(200);
        assert_eq!(crate::api::support::ids(&team), [bob, ada, 1]);
    }
    // A share gives its own level at most, and does not extend to further shares.
    let form = [("name", "Second"), ("description", "d")];
    forge.put(&path_of_project(&of_two)).token(&ada_token).form(&form).send().expect(403);
    forge.delete("/groups/two").token(ROOT).send().expect(200);
    assert_eq!(read(forge, &ada_token, &of_one)["shared_with_groups"], json!([]));
}
