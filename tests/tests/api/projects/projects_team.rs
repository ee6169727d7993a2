//! `GET /projects/:id/users`: reference sections 1.11 and 6.3.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::json;

use crate::api::groups::group_support::{
    add_member, fields_of, new_group, no_project, path_of_group, path_of_project, project_in, share,
};
use crate::api::projects::project_support::{a_cast, lock_shares};
use crate::api::support::{HUGE, assert_only_for_users, ids};

on_every_store!(
    the_team_is_everybody_who_works_on_the_project_once,
    expired_and_forbidden_memberships_are_not_in_the_team,
    the_team_can_be_searched_and_comes_in_pages,
    the_team_is_for_those_who_may_see_the_project,
);

/// GET /projects/:id/users
fn the_team_is_everybody_who_works_on_the_project_once(forge: &Forge) {
    let crew = new_group(forge, ROOT, "crew", &[]);
    let friends = new_group(forge, ROOT, "friends", &[("visibility_level", "0")]);
    let ship = project_in(forge, &crew, "Ship", &[]);
    let [ada, bob, cid, _out] = ["ada", "bob", "cid", "out"].map(|name| forge.user(name).0);
    add_member(forge, &path_of_project(&ship), ada, 10, &[]);
    for user in [ada, bob] {
        add_member(forge, &path_of_group(&crew), user, 20, &[]);
    }
    for user in [ada, bob, cid] {
        add_member(forge, &path_of_group(&friends), user, 30, &[]);
    }
    let path = format!("{}/users", path_of_project(&ship));
    assert_eq!(ids(&forge.get(&path).token(ROOT).send().expect(200)), [bob, ada, 1]);
    share(forge, &ship, &friends, "10");
    let team = forge.get(&path).token(ROOT).send();
    assert_eq!(ids(&team.expect(200)), [cid, bob, ada, 1]);
    assert_eq!(team.header("X-Total"), Some("4"));
    let first = &team.json()[0];
    let summary = ["name", "username", "id", "state", "avatar_url", "web_url"];
    assert_eq!((fields_of(first), &first["username"]), (summary.to_vec(), &json!("cid")));
}

/// GET /projects/:id/users
fn expired_and_forbidden_memberships_are_not_in_the_team(forge: &Forge) {
    let crew = new_group(forge, ROOT, "crew", &[]);
    let friends = new_group(forge, ROOT, "friends", &[]);
    let ship = project_in(forge, &crew, "Ship", &[]);
    let [ada, bob, cid] = ["ada", "bob", "cid"].map(|name| forge.user(name).0);
    let past = [("expires_at", "2016-09-22")];
    add_member(forge, &path_of_project(&ship), ada, 40, &past);
    add_member(forge, &path_of_group(&crew), bob, 40, &past);
    add_member(forge, &path_of_group(&friends), cid, 40, &[]);
    share(forge, &ship, &friends, "10");
    let path = format!("{}/users", path_of_project(&ship));
    assert_eq!(ids(&forge.get(&path).token(ROOT).send().expect(200)), [cid, 1]);
    lock_shares(forge, &crew);
    assert_eq!(ids(&forge.get(&path).token(ROOT).send().expect(200)), [1]);
}

/// GET /projects/:id/users
fn the_team_can_be_searched_and_comes_in_pages(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let team = |query: &str| forge.get(&format!("{}/users?{query}", cast.path)).token(ROOT).send();
    let names = |query: &str| {
        let found = team(query).expect(200);
        let found = found.as_array().expect("a list").iter();
        found.map(|user| user["username"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names("search="), ["master", "developer", "reporter", "guest", "ada"]);
    assert_eq!(names("search=TER"), ["master", "reporter"]);
    assert_eq!(names("search=guest@example"), ["guest"]);
    assert_eq!(names("search=stranger"), [""; 0]);
    assert_eq!(names("per_page=2&page=2"), ["reporter", "guest"]);
    assert_eq!(team("per_page=2").header("X-Total-Pages"), Some("3"));
}

/// GET /projects/:id/users
fn the_team_is_for_those_who_may_see_the_project(forge: &Forge) {
    let cast = a_cast(forge, "10");
    let path = format!("{}/users", cast.path);
    assert_only_for_users(forge, &[("GET", path.clone())]);
    for who in ["owner", "guest", "stranger", "root"] {
        forge.get(&path).token(cast.token(who)).send().expect(200);
    }
    let hidden = forge.get(&path).token(cast.token("external")).send();
    assert_eq!(hidden.expect(404), no_project());
    let missing = forge.get(&format!("/projects/{HUGE}/users")).token(ROOT).send();
    assert_eq!(missing.expect(404), no_project());
}
