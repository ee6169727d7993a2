//! Filters and orders of the lists of projects: reference section 4.1.

use chrono::TimeDelta;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};

use crate::api::groups::group_support::{
    add_member, error, new_group, new_project, path_of_project, project_in,
};
use crate::api::projects::project_support::assert_list;

on_every_store!(
    archived_projects_can_be_left_out_or_asked_for_alone,
    lists_can_be_cut_down_to_a_visibility,
    a_search_looks_at_names_paths_descriptions_and_namespaces,
    a_search_takes_every_character_for_itself,
    lists_are_sorted_by_what_is_asked_for,
    what_is_created_together_is_sorted_by_id,
    lists_come_in_pages,
    filters_hold_together,
);

const LISTS: [&str; 5] =
    ["/projects", "/projects/visible", "/projects/owned", "/projects/starred", "/projects/all"];

/// Asserts what all five lists show to root, who owns and starred all projects.
#[track_caller]
fn assert_all(forge: &Forge, query: &str, expected: &[&str]) {
    for path in LISTS {
        assert_list(forge, ROOT, &format!("{path}?{query}"), expected);
    }
}

fn starred(forge: &Forge, name: &str, more: &[(&str, &str)]) -> String {
    let project = new_project(forge, ROOT, name, more);
    let path = path_of_project(&project);
    forge.post(&format!("{path}/star")).token(ROOT).send().expect(201);
    path
}

/// GET /projects, GET /projects/visible, GET /projects/owned, GET /projects/starred,
/// GET /projects/all
fn archived_projects_can_be_left_out_or_asked_for_alone(forge: &Forge) {
    let old = starred(forge, "old", &[]);
    starred(forge, "new", &[]);
    forge.post(&format!("{old}/archive")).token(ROOT).send().expect(201);
    for (query, expected) in [
        ("", &["new", "old"][..]),
        ("archived=", &["new", "old"]),
        ("archived=nonsense", &["new", "old"]),
        ("archived=true", &["old"]),
        ("archived=1", &["old"]),
        ("archived=false", &["new"]),
        ("archived=No", &["new"]),
    ] {
        assert_all(forge, query, expected);
    }
}

/// GET /projects, GET /projects/visible, GET /projects/owned, GET /projects/starred,
/// GET /projects/all
fn lists_can_be_cut_down_to_a_visibility(forge: &Forge) {
    for (name, level) in [("hidden", "0"), ("inner", "10"), ("open", "20")] {
        starred(forge, name, &[("visibility_level", level)]);
    }
    for (query, expected) in [
        ("visibility=private", &["hidden"][..]),
        ("visibility=internal", &["inner"]),
        ("visibility=public", &["open"]),
        ("visibility=PuBlic", &["open"]),
        ("visibility=", &["open", "inner", "hidden"]),
    ] {
        assert_all(forge, query, expected);
    }
    for path in LISTS {
        for word in ["20", "secret", "publi"] {
            let path = format!("{path}?visibility={word}");
            let refused = forge.get(&path).token(ROOT).send();
            let expected = error("visibility does not have a valid value");
            assert_eq!(refused.expect(400), expected, "{path}");
        }
    }
}

/// GET /projects, GET /projects/visible, GET /projects/owned, GET /projects/starred,
/// GET /projects/all
fn a_search_looks_at_names_paths_descriptions_and_namespaces(forge: &Forge) {
    starred(forge, "Alpha Centauri", &[("path", "hyperspace")]);
    starred(forge, "Beta", &[("description", "Nothing but Text")]);
    let crew = new_group(forge, ROOT, "team-7", &[("name", "Deep Sea Divers")]);
    let gamma = project_in(forge, &crew, "Gamma", &[]);
    forge.post(&format!("{}/star", path_of_project(&gamma))).token(ROOT).send().expect(201);
    for (query, expected) in [
        ("search=centauri", &["Alpha Centauri"][..]),
        ("search=ALPHA%20C", &["Alpha Centauri"]),
        ("search=hYPERs", &["Alpha Centauri"]),
        ("search=nothing", &["Beta"]),
        ("search=TEXT", &["Beta"]),
        ("search=deep", &["Gamma"]),
        ("search=sea%20divers", &["Gamma"]),
        ("search=team-7", &[]),
        ("search=a", &["Gamma", "Beta", "Alpha Centauri"]),
        ("search=", &["Gamma", "Beta", "Alpha Centauri"]),
        ("search=missing", &[]),
    ] {
        assert_all(forge, query, expected);
    }
}

/// GET /projects, GET /projects/visible, GET /projects/owned, GET /projects/starred,
/// GET /projects/all
fn a_search_takes_every_character_for_itself(forge: &Forge) {
    starred(forge, "one_two", &[]);
    starred(forge, "oneXtwo", &[("description", "100% \\ 'sure'")]);
    for (query, expected) in [
        ("search=e_t", &["one_two"][..]),
        ("search=%25", &["oneXtwo"]),
        ("search=0%25%20", &["oneXtwo"]),
        ("search=%5C", &["oneXtwo"]),
        ("search='sure'", &["oneXtwo"]),
        ("search=_", &["one_two"]),
        ("search=*", &[]),
    ] {
        assert_all(forge, query, expected);
    }
}

/// GET /projects, GET /projects/visible, GET /projects/owned, GET /projects/starred,
/// GET /projects/all
fn lists_are_sorted_by_what_is_asked_for(forge: &Forge) {
    let (ada, _) = forge.user("ada");
    let hour = || forge.clock.advance(TimeDelta::hours(1));
    let b = starred(forge, "b", &[("path", "z")]);
    hour();
    starred(forge, "a", &[("path", "y")]);
    hour();
    let c = starred(forge, "c", &[("path", "x")]);
    hour();
    // Activity is not an update, and an update is not activity.
    add_member(forge, &b, ada, 10, &[]);
    hour();
    let form = [("name", "c"), ("description", "d")];
    forge.put(&c).token(ROOT).form(&form).send().expect(200);
    for (order, ascending) in [
        ("order_by=id", ["b", "a", "c"]),
        ("order_by=name", ["a", "b", "c"]),
        ("order_by=path", ["c", "a", "b"]),
        ("order_by=created_at", ["b", "a", "c"]),
        ("order_by=updated_at", ["b", "a", "c"]),
        ("order_by=last_activity_at", ["a", "c", "b"]),
        ("order_by=nonsense", ["b", "a", "c"]),
        ("order_by=", ["b", "a", "c"]),
        ("", ["b", "a", "c"]),
    ] {
        assert_all(forge, &format!("{order}&sort=asc"), &ascending);
        let mut descending = ascending;
        descending.reverse();
        for sort in ["", "sort=desc", "sort=nonsense", "sort="] {
            assert_all(forge, &format!("{order}&{sort}"), &descending);
        }
    }
}

/// GET /projects
fn what_is_created_together_is_sorted_by_id(forge: &Forge) {
    for name in ["m", "z", "a"] {
        starred(forge, name, &[]);
    }
    for order in ["created_at", "updated_at", "last_activity_at", "id"] {
        assert_all(forge, &format!("order_by={order}&sort=asc"), &["m", "z", "a"]);
        assert_all(forge, &format!("order_by={order}"), &["a", "z", "m"]);
    }
}

/// GET /projects, GET /projects/visible, GET /projects/owned, GET /projects/starred,
/// GET /projects/all
fn lists_come_in_pages(forge: &Forge) {
    for number in 10..33 {
        starred(forge, &format!("p{number}"), &[]);
    }
    for path in LISTS {
        for (query, count, first) in [
            ("", 20, Some("p32")),
            ("?page=2", 3, Some("p12")),
            ("?page=3&per_page=5", 5, Some("p22")),
            ("?page=9", 0, None),
            ("?simple=true&page=2&per_page=22", 1, Some("p10")),
        ] {
            let list = forge.get(&format!("{path}{query}")).token(ROOT).send();
            let shown = list.expect(200);
            assert_eq!(shown.as_array().map(Vec::len), Some(count), "{path}{query}");
            assert_eq!(shown[0]["name"].as_str(), first, "{path}{query}");
            assert_eq!(list.header("X-Total"), Some("23"), "{path}{query}");
        }
        let list = forge.get(&format!("{path}?search=p1&per_page=4&page=2")).token(ROOT).send();
        assert_eq!(list.header("X-Total"), Some("10"));
        let link = format!("<http://forge.test/api/v3{path}?page=3&per_page=4&search=p1>");
        assert!(list.header("Link").is_some_and(|all| all.contains(&link)), "{path}");
    }
}

/// GET /projects
fn filters_hold_together(forge: &Forge) {
    let old = starred(forge, "old ship", &[("public", "true")]);
    starred(forge, "new ship", &[("public", "true")]);
    starred(forge, "hidden ship", &[]);
    starred(forge, "boat", &[("public", "true")]);
    forge.post(&format!("{old}/archive")).token(ROOT).send().expect(201);
    assert_all(forge, "search=ship&visibility=public&archived=false", &["new ship"]);
    assert_all(forge, "search=ship&visibility=public&order_by=name", &["old ship", "new ship"]);
    assert_all(forge, "search=boat&visibility=private", &[]);
}
