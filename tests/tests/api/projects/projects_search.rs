//! `GET /projects/search/:query`: reference section 6.3.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::json;

use crate::api::groups::group_support::{
    add_member, external_user, new_group, new_project, path_of_project, project_in,
};
use crate::api::projects::project_support::assert_list;
use crate::api::support::assert_only_for_users;

on_every_store!(
    a_search_finds_what_the_caller_sees,
    what_is_searched_for_is_the_path_alone,
    found_projects_come_in_pages_and_in_the_order_asked_for,
    found_projects_show_no_permissions,
);

/// GET /projects/search/:query
fn a_search_finds_what_the_caller_sees(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (bob, bob_token) = forge.user("bob");
    let (_, external) = external_user(forge, "external");
    let private = new_project(forge, &ada, "Blue private", &[]);
    new_project(forge, &ada, "Blue internal", &[("visibility_level", "10")]);
    new_project(forge, &ada, "Blue public", &[("visibility_level", "20")]);
    new_project(forge, &ada, "Red", &[("visibility_level", "20"), ("description", "not BLUE")]);
    new_project(forge, &ada, "Green", &[("visibility_level", "20")]);
    let group = new_group(forge, ROOT, "blues", &[]);
    project_in(forge, &group, "Guitar", &[("visibility_level", "20")]);
    let open = ["Guitar", "Red", "Blue public", "Blue internal"];
    assert_only_for_users(forge, &[("GET", "/projects/search/blue".to_owned())]);
    assert_list(forge, &bob_token, "/projects/search/bLUe", &open);
    assert_list(forge, &external, "/projects/search/blue", &open[..3]);
    // As in `/projects/visible`, administrators see no more than others.
    assert_list(forge, ROOT, "/projects/search/blue", &open);
    add_member(forge, &path_of_project(&private), bob, 10, &[]);
    let all = ["Guitar", "Red", "Blue public", "Blue internal", "Blue private"];
    assert_list(forge, &bob_token, "/projects/search/blue", &all);
    assert_list(forge, &bob_token, "/projects/search/nothing", &[]);
}

/// GET /projects/search/:query
fn what_is_searched_for_is_the_path_alone(forge: &Forge) {
    new_project(forge, ROOT, "100 percent", &[("description", "100%/all, ünï")]);
    new_project(forge, ROOT, "users", &[]);
    for (path, expected) in [
        ("/projects/search/100%25", &["100 percent"][..]),
        ("/projects/search/%25%2Fall", &["100 percent"]),
        ("/projects/search/%C3%9CN%C3%8F", &["100 percent"]),
        ("/projects/search/_", &[]),
        ("/projects/search/%00", &[]),
        // Texts that are sub-paths of a project elsewhere are plain search texts here.
        ("/projects/search/users", &["users"]),
        ("/projects/search/events", &[]),
        ("/projects/search/users?search=percent&query=percent", &["users"]),
    ] {
        assert_list(forge, ROOT, path, expected);
    }
    forge.get("/projects/search/%ff").token(ROOT).send().expect(200);
    forge.get("/projects/search").token(ROOT).send().expect(404);
}

/// GET /projects/search/:query
fn found_projects_come_in_pages_and_in_the_order_asked_for(forge: &Forge) {
    for name in ["item b", "item c", "item a"] {
        new_project(forge, ROOT, name, &[]);
    }
    let found = "/projects/search/item";
    assert_list(forge, ROOT, found, &["item a", "item c", "item b"]);
    let by_name = format!("{found}?order_by=name&sort=asc");
    assert_list(forge, ROOT, &by_name, &["item a", "item b", "item c"]);
    let page = forge.get(&format!("{by_name}&per_page=2&page=2")).token(ROOT).send();
    assert_eq!(page.expect(200)[0]["name"], "item c");
    assert_eq!(page.header("X-Total"), Some("3"));
    let link = page.header("Link").expect("a page has links");
    assert!(link.contains("/api/v3/projects/search/item?order_by=name&page=1"), "{link}");
}

/// GET /projects/search/:query
fn found_projects_show_no_permissions(forge: &Forge) {
    let made = new_project(forge, ROOT, "Ship", &[]);
    let found = forge.get("/projects/search/ship?simple=true").token(ROOT).send().expect(200);
    assert_eq!(found[0]["id"], made["id"]);
    assert_eq!(found[0]["owner"]["username"], json!("root"));
    assert_eq!((found[0].get("permissions"), found[0].get("runners_token")), (None, None));
}
