//! The pages of groups.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};

use super::support::{Browser, user};

on_every_store!(
    a_user_creates_edits_and_removes_a_group,
    groups_are_seen_by_those_who_may_see_them,
    settings_of_a_group_are_for_its_owners,
);

/// Creates a group of the administrator, and returns its id.
fn group(forge: &Forge, path: &str, visibility: &str) -> i64 {
    let fields = [("name", path), ("path", path), ("visibility_level", visibility)];
    let made = forge.post("/groups").token(ROOT).form(&fields).send().expect(201);
    made["id"].as_i64().expect("groups have ids")
}

fn add_member(forge: &Forge, group: i64, user: i64, level: &str) {
    let (user, add) = (user.to_string(), forge.post(&format!("/groups/{group}/members")));
    let fields = [("user_id", user.as_str()), ("access_level", level)];
    add.token(ROOT).form(&fields).send().expect(201);
}

fn a_user_creates_edits_and_removes_a_group(forge: &Forge) {
    user(forge, "ada");
    let ada = Browser::signed_in(forge, "ada");
    let form = ada.get("/groups/new").page(200);
    assert_eq!(form.heading(), "New group");
    let labels = form.all("form[aria-label='New group'] label");
    let expected = ["Group name", "Group path", "Description", "Private", "Internal", "Public"];
    assert_eq!(labels, expected);
    assert_eq!(form.all("fieldset legend"), ["Visibility level"]);
    assert_eq!(form.all("form[aria-label='New group'] button"), ["Create group"]);
    let fields = [("name", "The Crew"), ("path", "no spaces!"), ("visibility_level", "20")];
    let refused = ada.post_from("/groups/new", "/groups", &fields).page(422);
    assert_eq!(refused.attributes("[aria-invalid=true]", "name"), ["path"]);
    assert_eq!(refused.attributes("input[name=name]", "value"), ["The Crew"]);
    assert_eq!(refused.attributes("input[type=radio][checked]", "value"), ["20"]);
    for reserved in ["explore", "oauth", "invites", "search"] {
        let fields = [("name", "x"), ("path", reserved)];
        let refused = ada.post_from("/groups/new", "/groups", &fields).page(422);
        assert_eq!(
            refused.all("[role=alert] li"),
            [format!("Path {reserved} is a reserved name.")]
        );
    }
    let fields = [("name", "The Crew"), ("path", "crew"), ("visibility_level", "20")];
    ada.post_from("/groups/new", "/groups", &fields).redirects(303, "/groups/crew");
    let home = ada.get("/groups/crew").page(200);
    assert_eq!(home.heading(), "The Crew");
    assert_eq!(home.all("title"), ["The Crew · hexforge"]);
    assert_eq!(home.all("[role=status]"), ["It was created."]);
    let links = home.all("main a");
    for link in ["New project", "Members", "Settings"] {
        assert!(links.iter().any(|text| text == link), "{link}: {links:?}");
    }
    assert_eq!(ada.get("/crew").page(200).heading(), "The Crew");
    ada.get("/Crew").redirects(301, "/crew");
    assert_eq!(ada.get("/dashboard/groups").page(200).all(".list .title"), ["The Crew"]);

    let edit = "/groups/crew/edit";
    assert_eq!(ada.get(edit).page(200).heading(), "Group settings");
    for address in ["/groups/CREW", "/groups/Crew/edit", "/groups/Crew/group_members?page=1"] {
        ada.get(address).redirects(301, &address.replace("CREW", "crew").replace("Crew", "crew"));
    }
    let link = home.attributes("main a[href^='/projects/new']", "href").remove(0);
    let form = ada.get(&link).page(200);
    assert_eq!(form.all("select#namespace_id option[selected]"), ["crew"], "the group is chosen");
    let fields = [("name", "Crew 2"), ("path", "crew2"), ("visibility_level", "20")];
    ada.post_from(edit, edit, &fields).redirects(303, "/groups/crew2/edit");
    assert_eq!(ada.get("/groups/crew").0.status, 404);
    let edit = "/groups/crew2/edit";
    let refused = ada.post_from(edit, edit, &[("name", "n"), ("path", "a b")]).page(422);
    assert_eq!(refused.attributes("input[name=path]", "value"), ["a b"]);

    let remove = "/groups/crew2/remove";
    let form = ada.get(edit).page(200);
    assert_eq!(form.all("form[aria-label='Remove group'] label"), ["Type crew2 to confirm"]);
    let refused = ada.post_from(edit, remove, &[("confirmation", "crew")]).page(422);
    assert_eq!(refused.all("[role=alert] li"), ["Confirmation is not the path of the group."]);
    assert_eq!(ada.post(remove, &[("confirmation", "crew2")]).0.status, 403, "no token");
    assert_eq!(ada.get("/groups/crew2").0.status, 200);
    ada.post_from(edit, remove, &[("confirmation", "crew2")]).redirects(303, "/dashboard/groups");
    assert_eq!(ada.get("/groups/crew2").0.status, 404);
}

fn groups_are_seen_by_those_who_may_see_them(forge: &Forge) {
    let ids = [("hidden", "0"), ("inner", "10"), ("open", "20")]
        .map(|(path, level)| group(forge, path, level));
    let project = |name: &str, group: i64, level: &str| {
        let group = group.to_string();
        let fields =
            [("name", name), ("namespace_id", group.as_str()), ("visibility_level", level)];
        forge.post("/projects").token(ROOT).form(&fields).send().expect(201);
    };
    project("secret", ids[2], "0");
    project("shown", ids[2], "20");
    let guest = user(forge, "guest");
    add_member(forge, ids[0], guest, "10");
    user(forge, "other");
    let pages = ["", "/projects", "/activity", ".atom"];
    for (who, expected) in [
        (None, [404, 404, 200]),
        (Some("other"), [404, 200, 200]),
        (Some("guest"), [200, 200, 200]),
        (Some("root"), [200, 200, 200]),
    ] {
        let browser = match who {
            Some(name) => Browser::signed_in(forge, name),
            None => Browser::stranger(forge),
        };
        for (path, status) in ["hidden", "inner", "open"].into_iter().zip(expected) {
            for page in pages {
                let address = format!("/groups/{path}{page}");
                assert_eq!(browser.get(&address).0.status, status, "{who:?} {address}");
            }
            assert_eq!(browser.get(&format!("/{path}")).0.status, status, "{who:?} /{path}");
        }
        let listed = browser.get("/explore/groups").page(200).all(".list .title");
        let seen = expected.iter().filter(|status| **status == 200).count();
        assert_eq!(listed.len(), seen, "{who:?} {listed:?}");
        let projects = browser.get("/groups/open").page(200).all("ul[aria-label=Projects] .title");
        let all = if who == Some("root") { 2 } else { 1 };
        assert_eq!(projects.len(), all, "{who:?} {projects:?}");
        let feed = browser.get("/groups/open.atom");
        assert!(feed.0.text().contains("open/shown"), "{}", feed.0.text());
        assert_eq!(feed.0.text().contains("open/secret"), who == Some("root"));
    }
    let stranger = Browser::stranger(forge);
    let hidden = stranger.get("/groups/hidden").page(404).1;
    let missing = stranger.get("/groups/absent").page(404).1.replace("absent", "hidden");
    assert_eq!(hidden, missing);
    let hidden = stranger.get("/hidden").page(404).1;
    let missing = stranger.get("/absent").page(404).1.replace("absent", "hidden");
    assert_eq!(hidden, missing);
    stranger.get("/groups").redirects(302, "/explore/groups");
    Browser::signed_in(forge, "other").get("/groups").redirects(302, "/dashboard/groups");
    stranger.get("/groups/new").redirects(302, "/users/sign_in?return_to=%2Fgroups%2Fnew");
    let feed = stranger.get("/groups/open.atom");
    assert_eq!(feed.0.header("Content-Type"), Some("application/atom+xml; charset=utf-8"));
    let tag = feed.0.header("ETag").expect("feeds have tags").to_owned();
    let again = forge.page("GET", "/groups/open.atom").header("If-None-Match", &tag).send();
    assert_eq!(again.status, 304);
}

fn settings_of_a_group_are_for_its_owners(forge: &Forge) {
    let id = group(forge, "team", "20");
    for (name, level) in [("guest", "10"), ("master", "40"), ("owner", "50")] {
        let user = user(forge, name);
        add_member(forge, id, user, level);
    }
    let edit = "/groups/team/edit";
    for (who, status) in [("guest", 404), ("master", 404), ("owner", 200), ("root", 200)] {
        let browser = Browser::signed_in(forge, who);
        assert_eq!(browser.get(edit).0.status, status, "{who}");
        let home = browser.get("/groups/team").page(200);
        let has = |text: &str| home.all("main a").iter().any(|link| link == text);
        assert_eq!(has("Settings"), status == 200, "{who}");
        assert_eq!(has("New project"), who != "guest", "{who}");
        if status == 404 {
            let changed = browser.post_from("/groups/team", edit, &[("name", "Taken")]);
            assert_eq!(changed.0.status, 403, "{who}");
            let fields = [("confirmation", "team")];
            let removed = browser.post_from("/groups/team", "/groups/team/remove", &fields);
            assert_eq!(removed.0.status, 403, "{who}");
        }
    }
    assert_eq!(Browser::stranger(forge).get(edit).0.status, 404);
    assert_eq!(Browser::stranger(forge).get("/groups/team").page(200).heading(), "team");
}
