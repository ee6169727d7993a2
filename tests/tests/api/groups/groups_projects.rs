//! `GET /groups/:id/projects`: reference sections 2.7 and 4.1.

use hexforge_domain_testing::builders::at;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    add_member, error, external_user, new_group, new_project, no_group, path_of_group,
    path_of_project, project_in, project_now, share,
};
use crate::api::support::{HUGE, MISSING, assert_only_for_users, id_of, ids};

on_every_store!(
    the_list_has_the_projects_of_the_group_and_those_shared_with_it,
    members_see_all_projects_and_others_those_they_may_see,
    the_list_is_for_those_who_may_see_the_group,
    the_list_comes_in_pages,
    the_list_is_filtered_by_what_projects_are,
    the_list_is_filtered_by_words,
    the_newest_project_comes_first_unless_another_order_is_asked_for,
    projects_with_builds_come_first_on_demand,
);

#[track_caller]
fn list(forge: &Forge, token: &str, group: &Value, query: &[(&str, &str)]) -> Value {
    let path = format!("{}/projects", path_of_group(group));
    forge.get(&path).token(token).query(query).send().expect(200)
}

/// GET /groups/:id/projects
fn the_list_has_the_projects_of_the_group_and_those_shared_with_it(forge: &Forge) {
    let group = new_group(forge, ROOT, "team", &[]);
    assert_eq!(list(forge, ROOT, &group, &[]), json!([]));
    let own = project_in(forge, &group, "own", &[]);
    let shared = new_project(forge, ROOT, "shared", &[]);
    share(forge, &shared, &group, "20");
    new_project(forge, ROOT, "unrelated", &[("visibility_level", "20")]);
    let expected = json!([project_now(forge, id_of(&shared)), project_now(forge, id_of(&own))]);
    for path in ["/groups/team/projects".to_owned(), format!("{}/projects", path_of_group(&group))]
    {
        let list = forge.get(&path).token(ROOT).send();
        list.expect(200);
        assert_eq!(list.text(), expected.to_string(), "{path}");
        assert_eq!(list.header("X-Total"), Some("2"), "{path}");
    }
}

/// GET /groups/:id/projects
fn members_see_all_projects_and_others_those_they_may_see(forge: &Forge) {
    let (ada, guest) = forge.user("ada");
    let (bob, past) = forge.user("bob");
    let (carl, of_project) = forge.user("carl");
    let (_, stranger) = forge.user("stranger");
    let (_, external) = external_user(forge, "eve");
    let group = new_group(forge, ROOT, "open", &[]);
    add_member(forge, &path_of_group(&group), ada, 10, &[]);
    add_member(forge, &path_of_group(&group), bob, 50, &[("expires_at", "2016-09-22")]);
    let mut made = Vec::new();
    for level in ["0", "10", "20"] {
        made.push(project_in(forge, &group, level, &[("visibility_level", level)]));
        let theirs = new_project(forge, ROOT, level, &[("visibility_level", level)]);
        share(forge, &theirs, &group, "10");
        made.push(theirs);
    }
    add_member(forge, &path_of_project(&made[0]), carl, 10, &[]);
    for (who, token, visible) in [
        ("member", guest.as_str(), vec![5, 4, 3, 2, 1, 0]),
        ("administrator", ROOT, vec![5, 4, 3, 2, 1, 0]),
        ("member of one project", &of_project, vec![5, 4, 3, 2, 0]),
        ("stranger", &stranger, vec![5, 4, 3, 2]),
        ("former member", &past, vec![5, 4, 3, 2]),
        ("external", &external, vec![5, 4]),
    ] {
        let expected: Vec<i64> = visible.into_iter().map(|n: usize| id_of(&made[n])).collect();
        let list = list(forge, token, &group, &[("order_by", "id")]);
        assert_eq!(ids(&list), expected, "{who}");
        let text = list.to_string();
        assert!(!text.contains("runners_token") && !text.contains("permissions"), "{who}");
    }
}

/// GET /groups/:id/projects
fn the_list_is_for_those_who_may_see_the_group(forge: &Forge) {
    let (_, stranger) = forge.user("stranger");
    let group = new_group(forge, ROOT, "hidden", &[("visibility_level", "0")]);
    let path = format!("{}/projects", path_of_group(&group));
    assert_only_for_users(forge, &[("GET", path.clone()), ("GET", "/groups/x/projects".into())]);
    assert_eq!(forge.get(&path).token(&stranger).send().expect(404), no_group());
    for missing in [MISSING.to_string().as_str(), HUGE, "stranger", "HIDDEN"] {
        let path = format!("/groups/{missing}/projects");
        assert_eq!(forge.get(&path).token(ROOT).send().expect(404), no_group(), "{missing}");
    }
}

/// GET /groups/:id/projects
fn the_list_comes_in_pages(forge: &Forge) {
    let group = new_group(forge, ROOT, "team", &[]);
    let made = ["a", "b", "c"].map(|name| id_of(&project_in(forge, &group, name, &[])));
    let path = format!("{}/projects?per_page=2&page=2", path_of_group(&group));
    let page = forge.get(&path).token(ROOT).send();
    assert_eq!(ids(&page.expect(200)), [made[0]]);
    assert_eq!((page.header("X-Total"), page.header("X-Prev-Page")), (Some("3"), Some("1")));
}

/// GET /groups/:id/projects
fn the_list_is_filtered_by_what_projects_are(forge: &Forge) {
    let group = new_group(forge, ROOT, "team", &[]);
    let [hidden, inside, open] = ["0", "10", "20"]
        .map(|level| id_of(&project_in(forge, &group, level, &[("visibility_level", level)])));
    forge.post(&format!("/projects/{inside}/archive")).token(ROOT).send().expect(201);
    for (query, expected) in [
        (vec![("visibility", "private")], vec![hidden]),
        (vec![("visibility", "internal")], vec![inside]),
        (vec![("visibility", "public")], vec![open]),
        (vec![("archived", "true")], vec![inside]),
        (vec![("archived", "false")], vec![open, hidden]),
        (vec![("archived", "")], vec![open, inside, hidden]),
        (vec![("archived", "false"), ("visibility", "internal")], vec![]),
        (vec![("archived", "true"), ("visibility", "internal")], vec![inside]),
    ] {
        assert_eq!(ids(&list(forge, ROOT, &group, &query)), expected, "{query:?}");
    }
    let path = format!("{}/projects?visibility=secret", path_of_group(&group));
    let refused = forge.get(&path).token(ROOT).send().expect(400);
    assert_eq!(refused, error("visibility does not have a valid value"));
}

/// GET /groups/:id/projects
fn the_list_is_filtered_by_words(forge: &Forge) {
    let group = new_group(forge, ROOT, "team", &[]);
    let red = project_in(forge, &group, "Red One", &[("path", "first")]);
    let blue = project_in(forge, &group, "Blue", &[("path", "second_one")]);
    let plain = project_in(forge, &group, "Plain", &[("description", "neither red nor 100%")]);
    let [red, blue, plain] = [red, blue, plain].map(|project| id_of(&project));
    for (search, expected) in [
        ("ONE", vec![blue, red]),
        ("red", vec![plain, red]),
        ("100%", vec![plain]),
        ("_", vec![blue]),
        ("nothing like it", vec![]),
        ("", vec![plain, blue, red]),
    ] {
        let found = list(forge, ROOT, &group, &[("search", search)]);
        assert_eq!(ids(&found), expected, "{search}");
    }
}

/// GET /groups/:id/projects
fn the_newest_project_comes_first_unless_another_order_is_asked_for(forge: &Forge) {
    let group = new_group(forge, ROOT, "team", &[]);
    let (ada, _) = forge.user("ada");
    let mut made = Vec::new();
    for (seconds, name, path) in [(20, "bb", "c1"), (0, "aa", "b2"), (10, "cc", "a3")] {
        forge.clock.set(at(seconds));
        made.push(project_in(forge, &group, name, &[("path", path)]));
    }
    // Later activity in the second project is not an update of the project.
    forge.clock.set(at(10_000));
    add_member(forge, &path_of_project(&made[1]), ada, 10, &[]);
    forge.clock.set(at(20_000));
    forge.post(&format!("{}/star", path_of_project(&made[2]))).token(ROOT).send().expect(201);
    let [b, a, c] = [0, 1, 2].map(|n: usize| id_of(&made[n]));
    for (order, descending) in [
        ("", [b, c, a]),
        ("created_at", [b, c, a]),
        ("nonsense", [b, c, a]),
        ("id", [c, a, b]),
        ("name", [c, b, a]),
        ("path", [b, a, c]),
        ("last_activity_at", [a, b, c]),
        ("updated_at", [c, b, a]),
    ] {
        let query = [("order_by", order)];
        assert_eq!(ids(&list(forge, ROOT, &group, &query)), descending, "{order}");
        let query = [("order_by", order), ("sort", "desc")];
        assert_eq!(ids(&list(forge, ROOT, &group, &query)), descending, "{order}");
        let mut ascending = descending;
        ascending.reverse();
        let query = [("order_by", order), ("sort", "asc")];
        assert_eq!(ids(&list(forge, ROOT, &group, &query)), ascending, "{order}");
    }
}

/// GET /groups/:id/projects
fn projects_with_builds_come_first_on_demand(forge: &Forge) {
    let group = new_group(forge, ROOT, "team", &[]);
    let [a, b, c, d] = [("a", "true"), ("b", "false"), ("c", "true"), ("d", "false")]
        .map(|(name, on)| id_of(&project_in(forge, &group, name, &[("builds_enabled", on)])));
    for (query, expected) in [
        (vec![("ci_enabled_first", "true")], [c, a, d, b]),
        (vec![("ci_enabled_first", "true"), ("sort", "asc")], [a, c, b, d]),
        (vec![("ci_enabled_first", "false")], [d, c, b, a]),
    ] {
        assert_eq!(ids(&list(forge, ROOT, &group, &query)), expected, "{query:?}");
    }
}
