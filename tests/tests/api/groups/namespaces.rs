//! `GET /namespaces`: reference section 6.2.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    add_member, new_group, path_of_group, path_of_project, project_in,
};
use crate::api::support::{assert_only_for_users, id_of, ids};

on_every_store!(
    a_user_lists_its_own_namespace_and_those_of_its_groups,
    an_administrator_lists_all_namespaces,
    namespaces_are_searched_by_name_and_path,
    namespaces_come_in_pages,
    namespaces_are_for_users,
    a_membership_that_is_over_shows_no_namespace,
);

#[track_caller]
fn list(forge: &Forge, token: &str, query: &[(&str, &str)]) -> Value {
    forge.get("/namespaces").token(token).query(query).send().expect(200)
}

#[track_caller]
fn paths(list: &Value) -> Vec<&str> {
    let lines = list.as_array().expect("a list").iter();
    lines.map(|line| line["path"].as_str().expect("a namespace has a path")).collect()
}

/// GET /namespaces
fn a_user_lists_its_own_namespace_and_those_of_its_groups(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let own = forge.get("/namespaces").token(&token).send();
    let id = id_of(&own.expect(200)[0]);
    let line = json!({"id": id, "path": "ada", "kind": "user"});
    assert_eq!(own.text(), json!([line]).to_string());
    let group = new_group(forge, ROOT, "team", &[("visibility_level", "0")]);
    add_member(forge, &path_of_group(&group), ada, 10, &[]);
    // Visible groups, and groups of projects in which the user is a member, are not listed.
    let open = new_group(forge, ROOT, "open", &[]);
    add_member(forge, &path_of_project(&project_in(forge, &open, "p", &[])), ada, 40, &[]);
    let both = forge.get("/namespaces").token(&token).send();
    let team = json!({"id": id_of(&group), "path": "team", "kind": "group"});
    assert_eq!(both.text(), json!([team, line]).to_string());
    assert_eq!(both.header("X-Total"), Some("2"));
}

/// GET /namespaces
fn an_administrator_lists_all_namespaces(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    new_group(forge, &ada, "team", &[("visibility_level", "0")]);
    let all = list(forge, ROOT, &[]);
    assert_eq!(paths(&all), ["team", "ada", "root"]);
    assert!(ids(&all).is_sorted_by(|a, b| a > b), "{all}");
}

/// GET /namespaces
fn namespaces_are_searched_by_name_and_path(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    for (name, path) in [("Größe", "first"), ("Second 2", "a_b")] {
        let form = [("name", name), ("path", path)];
        forge.post("/groups").token(&ada).form(&form).send().expect(201);
    }
    for (search, expected) in [
        ("FIRS", vec!["first"]),
        ("größe", vec!["first"]),
        ("second", vec!["a_b"]),
        ("d", vec!["a_b", "ada"]),
        ("_", vec!["a_b"]),
        ("%", vec![]),
        ("root", vec![]),
        ("", vec!["a_b", "first", "ada"]),
    ] {
        assert_eq!(paths(&list(forge, &ada, &[("search", search)])), expected, "{search}");
    }
    assert_eq!(paths(&list(forge, ROOT, &[("search", "ROOT")])), ["root"]);
}

/// GET /namespaces
fn namespaces_come_in_pages(forge: &Forge) {
    for path in ["a", "b", "c"] {
        new_group(forge, ROOT, path, &[]);
    }
    let page = forge.get("/namespaces?per_page=2&page=2").token(ROOT).send();
    assert_eq!(paths(&page.expect(200)), ["a", "root"]);
    assert_eq!((page.header("X-Total"), page.header("X-Total-Pages")), (Some("4"), Some("2")));
}

/// GET /namespaces
fn namespaces_are_for_users(forge: &Forge) {
    assert_only_for_users(forge, &[("GET", "/namespaces".into())]);
}

/// GET /namespaces
fn a_membership_that_is_over_shows_no_namespace(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let group = new_group(forge, ROOT, "team", &[("visibility_level", "0")]);
    add_member(forge, &path_of_group(&group), ada, 50, &[("expires_at", "2016-09-23")]);
    assert_eq!(paths(&list(forge, &token, &[])), ["team", "ada"]);
    forge.clock.advance(chrono::TimeDelta::days(1));
    assert_eq!(paths(&list(forge, &token, &[])), ["ada"]);
}
