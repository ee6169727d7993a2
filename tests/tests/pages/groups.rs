//! The pages of groups.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};

use super::support::{Browser, user};

on_every_store!(
    a_user_creates_edits_and_removes_a_group,
    groups_are_seen_by_those_who_may_see_them,
    settings_of_a_group_are_for_its_owners,
    a_group_shows_the_issues_and_milestones_of_its_projects,
    a_group_shows_the_merge_requests_of_its_projects,
    labels_of_a_group_are_changed_by_its_masters,
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

fn a_group_shows_the_issues_and_milestones_of_its_projects(forge: &Forge) {
    let crew = group(forge, "crew", "20");
    let inside = crew.to_string();
    let mut ids = Vec::new();
    for (name, level) in [("open", "20"), ("secret", "0")] {
        let fields =
            [("name", name), ("namespace_id", inside.as_str()), ("visibility_level", level)];
        let made = forge.post("/projects").token(ROOT).form(&fields).send().expect(201);
        ids.push(made["id"].as_i64().expect("projects have ids"));
        let path = |kind: &str| format!("/projects/{}/{kind}", made["id"]);
        let title = format!("A thing of {name}");
        for kind in ["issues", "milestones"] {
            let fields = [("title", title.as_str())];
            forge.post(&path(kind)).token(ROOT).form(&fields).send().expect(201);
        }
    }
    let guest = user(forge, "guest");
    let add = forge.post(&format!("/projects/{}/members", ids[1])).token(ROOT);
    let text = guest.to_string();
    add.form(&[("user_id", text.as_str()), ("access_level", "10")]).send().expect(201);
    user(forge, "other");
    for (who, expected) in [("other", 1), ("guest", 2), ("root", 2)] {
        let browser = Browser::signed_in(forge, who);
        for (page, heading) in [("issues", "Issues"), ("milestones", "Milestones")] {
            let page = browser.get(&format!("/groups/crew/{page}")).page(200);
            assert_eq!(page.heading(), heading);
            assert_eq!(page.all("title"), [format!("{heading} · crew · hexforge")]);
            let listed = page.all(&format!("ul[aria-label='{heading}'] > li"));
            assert_eq!(listed.len(), expected, "{who} {heading}: {listed:?}");
        }
        let closed = browser.get("/groups/crew/issues?state=closed").page(200);
        assert_eq!(closed.all(".empty"), ["There are no issues to show."]);
        let tabs = closed.all("main ul.tabs:not(nav ul) a");
        assert!(tabs.contains(&format!("Open {expected}")), "{tabs:?}");
    }
    for page in ["issues", "milestones", "merge_requests", "labels"] {
        let seen = Browser::stranger(forge).get(&format!("/groups/crew/{page}"));
        assert_eq!(seen.0.status, 404, "strangers see no issues");
    }
}

fn a_group_shows_the_merge_requests_of_its_projects(forge: &Forge) {
    let crew = group(forge, "crew", "20").to_string();
    let guest = user(forge, "guest");
    user(forge, "other");
    for (name, level) in [("open", "20"), ("secret", "0")] {
        let fields = [("name", name), ("namespace_id", crew.as_str()), ("visibility_level", level)];
        let made = forge.post("/projects").token(ROOT).form(&fields).send().expect(201);
        let id = made["id"].as_i64().expect("projects have ids");
        let tree = forge.work_tree(id);
        tree.write("README.md", "# Ship\n").commit("First");
        for branch in ["one", "two"] {
            tree.git(&["checkout", "-q", "-b", branch]);
            tree.write(branch, "changed\n").commit(branch);
        }
        forge.fill(id, &tree);
        for branch in ["one", "two"] {
            let title = format!("{branch} of {name}");
            let fields =
                [("source_branch", branch), ("target_branch", "master"), ("title", title.as_str())];
            let new = forge.post(&format!("/projects/{id}/merge_requests")).token(ROOT);
            new.form(&fields).send().expect(201);
        }
        if level == "0" {
            let (guest, add) =
                (guest.to_string(), forge.post(&format!("/projects/{id}/members")).token(ROOT));
            let fields = [("user_id", guest.as_str()), ("access_level", "10")];
            add.form(&fields).send().expect(201);
        }
    }
    let address = "/groups/crew/merge_requests";
    // Guests of a private project do not read its merge requests.
    for (who, expected) in [("other", 2), ("guest", 2), ("root", 4)] {
        let browser = Browser::signed_in(forge, who);
        let page = browser.get(address).page(200);
        assert_eq!(page.heading(), "Merge requests");
        assert_eq!(page.all("title"), ["Merge requests · crew · hexforge"]);
        let titles = page.all("ul[aria-label='Merge requests'] .title");
        assert_eq!(titles.len(), expected, "{who}: {titles:?}");
        assert_eq!(titles.contains(&"two of secret".to_owned()), who == "root", "{titles:?}");
        let tabs = page.all("main ul.tabs:not(nav ul) a");
        assert_eq!(tabs[..2], [format!("Open {expected}"), "Merged 0".to_owned()]);
        let links = page.attributes("ul[aria-label='Merge requests'] .title a", "href");
        assert!(links.contains(&"/crew/open/merge_requests/1".to_owned()), "{links:?}");
    }
    let root = Browser::signed_in(forge, "root");
    let found = root.get(&format!("{address}?search=ONE")).page(200);
    assert_eq!(found.all("ul[aria-label='Merge requests'] > li").len(), 2);
    let closed = root.get(&format!("{address}?state=closed")).page(200);
    assert_eq!(closed.all(".empty"), ["There are no merge requests to show."]);
    assert_eq!(Browser::stranger(forge).get(address).0.status, 404);
}

fn labels_of_a_group_are_changed_by_its_masters(forge: &Forge) {
    let crew = group(forge, "crew", "20");
    for (name, level) in [("developer", "30"), ("master", "40")] {
        let id = user(forge, name);
        add_member(forge, crew, id, level);
    }
    let page = "/groups/crew/labels";
    let (master, developer) =
        (Browser::signed_in(forge, "master"), Browser::signed_in(forge, "developer"));
    let bad = [("title", "bug"), ("color", "red")];
    let refused = master.post_from(page, page, &bad).page(422);
    assert_eq!(refused.attributes("input[aria-invalid=true]", "name"), ["color"]);
    assert_eq!(refused.attributes("input#title", "value"), ["bug"]);
    let good = [("title", "bug & more"), ("color", "#ff0000"), ("description", "It breaks")];
    master.post_from(page, page, &good).redirects(303, page);
    assert_eq!(master.post_from(page, page, &good).0.status, 422, "it exists");
    let seen = developer.get(page).page(200);
    assert_eq!(seen.all("ul[aria-label=Labels] .title"), ["bug & more"]);
    assert!(seen.all("main form").is_empty(), "developers do not change it");
    let change = [("label", "bug & more"), ("title", "fault"), ("color", "#00ff00")];
    let update = format!("{page}/update");
    assert_eq!(developer.post_from("/", &update, &change).0.status, 403);
    master.post_from(page, &update, &change).redirects(303, page);
    assert_eq!(master.get(page).page(200).all("ul[aria-label=Labels] .title"), ["fault"]);
    let delete = format!("{page}/delete");
    assert_eq!(developer.post_from("/", &delete, &[("label", "fault")]).0.status, 403);
    master.post_from(page, &delete, &[("label", "fault")]).redirects(303, page);
    assert_eq!(master.post_from(page, &delete, &[("label", "fault")]).0.status, 404);
}
