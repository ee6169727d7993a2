//! `GET /groups` and `GET /groups/owned`: reference sections 2.1 and 2.2.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    add_member, error, external_user, new_group, no_group, path_of_group, path_of_project,
    project_in,
};
use crate::api::support::{assert_only_for_users, id_of, ids};

on_every_store!(
    a_group_in_a_list_shows_its_fields_in_order,
    the_lists_are_for_users,
    users_list_the_groups_they_are_members_of,
    administrators_list_all_groups,
    all_available_adds_what_is_open_to_the_caller,
    groups_can_be_skipped,
    groups_are_searched_by_name_and_path,
    groups_are_sorted_by_name_or_path,
    wrong_parameters_are_told_in_the_order_of_declaration,
    the_lists_come_in_pages,
    owned_groups_are_those_of_which_one_is_an_owner,
    a_group_of_the_path_owned_is_reached_by_its_id,
);

#[track_caller]
fn list(forge: &Forge, token: &str, query: &[(&str, &str)]) -> Value {
    forge.get("/groups").token(token).query(query).send().expect(200)
}

#[track_caller]
fn paths(list: &Value) -> Vec<&str> {
    let groups = list.as_array().expect("a list").iter();
    groups.map(|group| group["path"].as_str().expect("a group has a path")).collect()
}

/// GET /groups, GET /groups/owned
fn a_group_in_a_list_shows_its_fields_in_order(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    for path in ["/groups", "/groups/owned"] {
        let empty = forge.get(path).token(&ada).send();
        assert_eq!(empty.expect(200), json!([]), "{path}");
        assert_eq!(empty.header("X-Total"), Some("0"), "{path}");
    }
    let form = [("name", "The Team"), ("path", "team")];
    let id = id_of(&forge.post("/groups").token(&ada).form(&form).send().expect(201));
    let expected = json!([{
        "id": id, "name": "The Team", "path": "team", "description": "", "visibility_level": 20,
        "lfs_enabled": true, "avatar_url": null, "web_url": "http://forge.test/groups/team",
        "request_access_enabled": false
    }]);
    for path in ["/groups", "/groups/owned"] {
        let list = forge.get(path).token(&ada).send();
        list.expect(200);
        assert_eq!(list.text(), expected.to_string(), "{path}");
    }
}

/// GET /groups, GET /groups/owned
fn the_lists_are_for_users(forge: &Forge) {
    assert_only_for_users(
        forge,
        &[
            ("GET", "/groups".into()),
            ("GET", "/groups?sort=up".into()),
            ("GET", "/groups/owned".into()),
        ],
    );
}

/// GET /groups
fn users_list_the_groups_they_are_members_of(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    for (path, level) in [("a", 10), ("b", 20), ("c", 30), ("d", 40), ("e", 50)] {
        let group = new_group(forge, ROOT, path, &[("visibility_level", "0")]);
        add_member(forge, &path_of_group(&group), ada, level, &[]);
    }
    new_group(forge, ROOT, "open", &[]);
    let past = new_group(forge, ROOT, "past", &[]);
    add_member(forge, &path_of_group(&past), ada, 50, &[("expires_at", "2016-09-22")]);
    let coming = new_group(forge, ROOT, "z", &[]);
    add_member(forge, &path_of_group(&coming), ada, 10, &[("expires_at", "2016-09-23")]);
    assert_eq!(paths(&list(forge, &token, &[])), ["a", "b", "c", "d", "e", "z"]);
    // A member of a project in a group is not a member of the group.
    let other = new_group(forge, ROOT, "other", &[]);
    let project = project_in(forge, &other, "p", &[]);
    add_member(forge, &path_of_project(&project), ada, 40, &[]);
    assert_eq!(list(forge, &token, &[]).as_array().map(Vec::len), Some(6));
}

/// GET /groups
fn administrators_list_all_groups(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    new_group(forge, &ada, "hidden", &[("visibility_level", "0")]);
    new_group(forge, &ada, "inside", &[("visibility_level", "10")]);
    new_group(forge, ROOT, "own", &[]);
    for all_available in ["false", "true"] {
        let all = list(forge, ROOT, &[("all_available", all_available)]);
        assert_eq!(paths(&all), ["hidden", "inside", "own"], "{all_available}");
    }
    // Namespaces of users are not groups.
    assert_eq!(list(forge, ROOT, &[("search", "ada")]), json!([]));
}

/// GET /groups
fn all_available_adds_what_is_open_to_the_caller(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (eve, outside) = external_user(forge, "eve");
    let (_, stranger) = forge.user("stranger");
    let level = |level| [("visibility_level", level)];
    new_group(forge, ROOT, "hidden", &level("0"));
    new_group(forge, ROOT, "inside", &level("10"));
    new_group(forge, ROOT, "open", &level("20"));
    let member = new_group(forge, ROOT, "member", &level("0"));
    add_member(forge, &path_of_group(&member), ada, 10, &[]);
    let working = new_group(forge, ROOT, "working", &level("0"));
    let project = path_of_project(&project_in(forge, &working, "p", &[]));
    add_member(forge, &project, ada, 10, &[]);
    add_member(forge, &project, eve, 10, &[]);
    for word in ["true", "1", "YES"] {
        let all = list(forge, &token, &[("all_available", word)]);
        assert_eq!(paths(&all), ["inside", "member", "open", "working"], "{word}");
    }
    let yes = [("all_available", "true")];
    assert_eq!(paths(&list(forge, &outside, &yes)), ["open", "working"]);
    assert_eq!(paths(&list(forge, &stranger, &yes)), ["inside", "open"]);
    for word in ["false", "0", "off", ""] {
        assert_eq!(paths(&list(forge, &token, &[("all_available", word)])), ["member"], "{word}");
    }
}

/// GET /groups
fn groups_can_be_skipped(forge: &Forge) {
    let groups = ["a", "b", "c"].map(|path| id_of(&new_group(forge, ROOT, path, &[])));
    let [first, second, third] = groups.map(|id| id.to_string());
    let one = list(forge, ROOT, &[("skip_groups[]", &first)]);
    assert_eq!(paths(&one), ["b", "c"]);
    let two = list(forge, ROOT, &[("skip_groups[]", &first), ("skip_groups[]", &third)]);
    assert_eq!(paths(&two), ["b"]);
    let unknown = list(forge, ROOT, &[("skip_groups[]", "987654"), ("skip_groups[]", &second)]);
    assert_eq!(paths(&unknown), ["a", "c"]);
    let counted = forge.get(&format!("/groups?skip_groups[]={first}")).token(ROOT).send();
    assert_eq!(counted.header("X-Total"), Some("2"));
    for query in [("skip_groups", first.as_str()), ("skip_groups[]", "x")] {
        let refused = forge.get("/groups").token(ROOT).query(&[query]).send().expect(400);
        assert_eq!(refused, error("skip_groups is invalid"), "{query:?}");
    }
}

/// GET /groups
fn groups_are_searched_by_name_and_path(forge: &Forge) {
    for (name, path) in [("Größe 100", "size"), ("Under_score", "u2"), ("Other", "SIZED")] {
        let form = [("name", name), ("path", path)];
        forge.post("/groups").token(ROOT).form(&form).send().expect(201);
    }
    for (search, found) in [
        ("size", vec!["size", "SIZED"]),
        ("SIZE", vec!["size", "SIZED"]),
        ("ized", vec!["SIZED"]),
        ("R_s", vec!["u2"]),
        ("größe", vec!["size"]),
        // Wildcards of SQL are plain characters.
        ("_", vec!["u2"]),
        ("%", vec![]),
        ("'", vec![]),
        ("", vec!["size", "SIZED", "u2"]),
    ] {
        let mut list = list(forge, ROOT, &[("search", search), ("order_by", "path")]);
        let list = list.as_array_mut().expect("a list");
        list.sort_by_key(|group| group["path"].as_str().map(str::to_lowercase));
        assert_eq!(paths(&json!(list)), found, "{search}");
    }
}

/// GET /groups
fn groups_are_sorted_by_name_or_path(forge: &Forge) {
    for (name, path) in [("bb", "c1"), ("aa", "d2"), ("dd", "a3"), ("cc", "b4")] {
        let form = [("name", name), ("path", path)];
        forge.post("/groups").token(ROOT).form(&form).send().expect(201);
    }
    let by_name = ["d2", "c1", "b4", "a3"];
    let by_path = ["a3", "b4", "c1", "d2"];
    for (query, expected) in [
        (vec![], by_name),
        (vec![("sort", "asc")], by_name),
        (vec![("sort", "desc")], by_path),
        (vec![("order_by", "name")], by_name),
        (vec![("order_by", "path")], by_path),
        (vec![("order_by", "path"), ("sort", "desc")], by_name),
    ] {
        assert_eq!(paths(&list(forge, ROOT, &query)), expected, "{query:?}");
    }
}

/// GET /groups
fn wrong_parameters_are_told_in_the_order_of_declaration(forge: &Forge) {
    for (query, text) in [
        ("order_by=id", "order_by does not have a valid value"),
        ("order_by=NAME", "order_by does not have a valid value"),
        ("sort=up", "sort does not have a valid value"),
        ("all_available=maybe", "all_available is invalid"),
        (
            "sort=up&order_by=id&all_available=x&skip_groups=1",
            "skip_groups is invalid, all_available is invalid, \
             order_by does not have a valid value, sort does not have a valid value",
        ),
    ] {
        let refused = forge.get(&format!("/groups?{query}")).token(ROOT).send().expect(400);
        assert_eq!(refused, error(text), "{query}");
    }
}

/// GET /groups, GET /groups/owned
fn the_lists_come_in_pages(forge: &Forge) {
    let groups = ["a", "b", "c"].map(|path| id_of(&new_group(forge, ROOT, path, &[])));
    let page = forge.get("/groups?per_page=2&page=2&search=").token(ROOT).send();
    assert_eq!(ids(&page.expect(200)), [groups[2]]);
    assert_eq!(page.header("X-Total"), Some("3"));
    assert_eq!(page.header("X-Total-Pages"), Some("2"));
    assert_eq!(page.header("X-Next-Page"), Some(""));
    let owned = forge.get("/groups/owned?per_page=2").token(ROOT).send();
    assert_eq!(ids(&owned.expect(200)), [groups[2], groups[1]]);
    assert_eq!((owned.header("X-Total"), owned.header("X-Next-Page")), (Some("3"), Some("2")));
}

/// GET /groups/owned
fn owned_groups_are_those_of_which_one_is_an_owner(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let made = id_of(&new_group(forge, &token, "made", &[]));
    let [mastered, given, past] = ["mastered", "given", "past"].map(|path| {
        let group = new_group(forge, ROOT, path, &[]);
        (id_of(&group), path_of_group(&group))
    });
    add_member(forge, &mastered.1, ada, 40, &[]);
    add_member(forge, &given.1, ada, 50, &[]);
    add_member(forge, &past.1, ada, 50, &[("expires_at", "2016-09-01")]);
    let owned = |token| ids(&forge.get("/groups/owned").token(token).send().expect(200));
    assert_eq!(owned(token.as_str()), [given.0, made]);
    // Administrators only get their own groups, and this call has no filters.
    assert_eq!(owned(ROOT), [past.0, given.0, mastered.0]);
    let filtered = forge.get("/groups/owned?search=zzz&order_by=nonsense").token(ROOT).send();
    assert_eq!(ids(&filtered.expect(200)).len(), 3);
}

/// GET /groups/owned, GET /groups/:id
fn a_group_of_the_path_owned_is_reached_by_its_id(forge: &Forge) {
    let group = new_group(forge, ROOT, "owned", &[]);
    let list = forge.get("/groups/owned").token(ROOT).send().expect(200);
    assert_eq!(list, json!([group]));
    let read = forge.get(&path_of_group(&group)).token(ROOT).send().expect(200);
    assert_eq!(read["path"], "owned");
    assert_eq!(forge.get("/groups/nobody").token(ROOT).send().expect(404), no_group());
}
