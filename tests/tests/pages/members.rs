//! The members of projects and groups.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};

use super::support::{Browser, project, team, user};

on_every_store!(
    members_are_seen_by_all_and_changed_by_masters,
    members_are_added_changed_and_removed,
    members_of_groups_have_the_same_page,
    a_project_names_the_group_whose_members_have_access,
    the_last_owner_stays,
    access_is_requested_and_granted,
);

const PAGE: &str = "/root/ship/project_members";

fn members_are_seen_by_all_and_changed_by_masters(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    team(forge, &[id]);
    user(forge, "other");
    for (who, may_change) in [
        (None, false),
        (Some("other"), false),
        (Some("guest"), false),
        (Some("developer"), false),
        (Some("master"), true),
        (Some("root"), true),
    ] {
        let browser = Browser::of(forge, who);
        let page = browser.get(PAGE).page(200);
        assert_eq!(page.heading(), "Members");
        assert!(page.all("title")[0].starts_with("Members · root/ship · hexforge"));
        let names = page.all("table[aria-label=Members] tbody tr td:first-child .muted");
        assert!(names.contains(&"@guest".to_owned()), "{who:?} {names:?}");
        assert_eq!(page.all("form[aria-label='Add member']").len(), usize::from(may_change));
        assert_eq!(
            page.attributes("select", "aria-label").iter().any(|name| name == "Role of guest"),
            may_change,
            "{who:?}"
        );
        let buttons = page.all("button");
        assert_eq!(buttons.iter().any(|name| name == "Update guest"), may_change);
        let may_remove = may_change || who == Some("guest");
        assert_eq!(buttons.iter().any(|name| name == "Remove guest"), may_remove, "{who:?}");
    }
}

fn members_are_added_changed_and_removed(forge: &Forge) {
    let (id, _) = project(forge, "ship", "0");
    let guest = team(forge, &[id]);
    let eve = user(forge, "eve");
    let master = Browser::signed_in(forge, "master");
    let level = |user: i64| {
        let path = format!("/projects/{id}/members/{user}");
        let shown = forge.get(&path).token(ROOT).send();
        (shown.status == 200).then(|| shown.json()["access_level"].as_i64().unwrap_or(0))
    };
    let form = |name: &str, role: &str, date: &str| {
        let fields = [("user", name), ("role", role), ("expires_at", date)];
        master.post_from(PAGE, PAGE, &fields)
    };
    for (name, role, date, fault) in [
        ("nobody", "30", "", "does not exist"),
        ("eve", "30", "tomorrow", "is invalid"),
        ("eve", "50", "", "access level is unknown"),
        ("guest", "30", "", "is a member already"),
    ] {
        let again = form(name, role, date).page(422);
        assert!(again.all("[role=alert] li")[0].contains(fault), "{:?}", again.all("[role=alert]"));
        assert_eq!(again.attributes("input#user", "value"), [name], "what was typed stays");
        assert_eq!(level(eve), None);
    }
    let again = form("guest", "30", "").page(422);
    assert_eq!(again.all("#user-fault"), ["The group or user is a member already."]);
    form("eve", "30", "2030-01-02").redirects(303, PAGE);
    assert_eq!(level(eve), Some(30));
    assert_eq!(master.get(PAGE).page(200).all("[role=status]"), ["It was created."]);
    let one = format!("{PAGE}/{eve}");
    master.post_from(PAGE, &one, &[("role", "20")]).redirects(303, PAGE);
    assert_eq!(level(eve), Some(20));
    let eve_browser = Browser::signed_in(forge, "eve");
    let refused = eve_browser.post_from(PAGE, &one, &[("role", "40")]);
    assert_eq!(refused.page(403).heading(), "Not allowed");
    let fields = [("user", "eve"), ("role", "40")];
    assert_eq!(eve_browser.post_from(PAGE, PAGE, &fields).page(403).heading(), "Not allowed");
    let others = format!("{PAGE}/{guest}/remove");
    eve_browser.post_from(PAGE, &others, &[]).page(403);
    assert_eq!(level(guest), Some(10));
    eve_browser.post_from(PAGE, &format!("{one}/remove"), &[]).redirects(303, "/");
    assert_eq!(level(eve), None, "everybody may leave");
    master.post_from(PAGE, &others, &[]).redirects(303, PAGE);
    assert_eq!(level(guest), None);
}

fn members_of_groups_have_the_same_page(forge: &Forge) {
    let fields = [("name", "Crew"), ("path", "crew"), ("visibility_level", "20")];
    forge.post("/groups").token(ROOT).form(&fields).send().expect(201);
    user(forge, "eve");
    let page = "/groups/crew/group_members";
    let stranger = Browser::stranger(forge).get(page).page(200);
    assert_eq!(stranger.heading(), "Members");
    assert!(stranger.all("form[aria-label='Add member']").is_empty());
    let root = Browser::signed_in(forge, "root");
    assert!(root.get(page).page(200).all("select#role option").contains(&"Owner".to_owned()));
    root.post_from(page, page, &[("user", "eve"), ("role", "50")]).redirects(303, page);
    let shown = root.get(page).page(200);
    assert_eq!(shown.all("table[aria-label=Members] tbody tr").len(), 2);
    assert_eq!(Browser::stranger(forge).get("/groups/none/group_members").0.status, 404);
}

fn a_project_names_the_group_whose_members_have_access(forge: &Forge) {
    let fields = [("name", "Night Crew"), ("path", "crew"), ("visibility_level", "0")];
    let group = forge.post("/groups").token(ROOT).form(&fields).send().expect(201);
    let group = group["id"].to_string();
    let fields = [("name", "ship"), ("namespace_id", group.as_str()), ("visibility_level", "0")];
    let made = forge.post("/projects").token(ROOT).form(&fields).send().expect(201);
    let id = made["id"].as_i64().expect("projects have ids");
    let page = "/crew/ship/project_members";
    let root = Browser::signed_in(forge, "root");
    let shown = root.get(page).page(200);
    let links = "main p a[href='/groups/crew/group_members']";
    assert_eq!(shown.all(links), ["members of Night Crew"]);
    assert_eq!(shown.all(".empty"), ["The project has no members of its own."]);
    // A member of the project sees the name of the group only if the group itself can be opened.
    team(forge, &[id]);
    let guest = Browser::signed_in(forge, "guest");
    let sees_group = guest.get("/groups/crew").0.status == 200;
    assert_eq!(guest.get(page).page(200).all(links).len(), usize::from(sees_group));
    // The owner of a personal project is no group.
    project(forge, "boat", "0");
    let personal = root.get("/root/boat/project_members").page(200);
    assert!(!personal.1.contains("belongs to the group"));
}

fn the_last_owner_stays(forge: &Forge) {
    let fields = [("name", "Crew"), ("path", "crew")];
    forge.post("/groups").token(ROOT).form(&fields).send().expect(201);
    let eve = user(forge, "eve");
    let (root, page) = (Browser::signed_in(forge, "root"), "/groups/crew/group_members");
    let shown = root.get(page).page(200);
    assert!(shown.1.contains("the last owner cannot leave"), "it is said before");
    assert!(!shown.all("button").contains(&"Remove root".to_owned()));
    let address = |user: i64| format!("{page}/{user}");
    root.post_from(page, &format!("{}/remove", address(1)), &[]).redirects(303, page);
    assert_eq!(root.get(page).page(200).all("table[aria-label=Members] tbody tr").len(), 1);
    let refused = root.post_from(page, &address(1), &[("role", "10")]).page(422);
    let why = "Role cannot be taken from the only owner of the group.";
    assert_eq!(refused.all("[role=alert] li"), [why]);
    root.post_from(page, page, &[("user", "eve"), ("role", "50"), ("expires_at", "2999-01-01")])
        .redirects(303, page);
    // A date that is removed from the form is removed from the membership.
    root.post_from(page, &address(eve), &[("role", "50"), ("expires_at", "")]).redirects(303, page);
    let shown = root.get(page).page(200);
    assert_eq!(shown.attributes("input[name=expires_at][aria-label$=eve]", "value"), [""]);
    root.post_from(page, &address(1), &[("role", "10")]).redirects(303, page);
    assert!(root.get(page).page(200).1.contains("the last owner cannot leave"), "it is eve now");
    let home = project(forge, "ship", "0");
    let shown = root.get(PAGE).page(200);
    assert!(shown.1.contains("the owner of the project cannot leave"), "{}", home.0);
}

fn access_is_requested_and_granted(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    let eve = user(forge, "eve");
    let (root, browser) = (Browser::signed_in(forge, "root"), Browser::signed_in(forge, "eve"));
    let fields = [("name", "ship"), ("request_access_enabled", "true")];
    forge.put(&format!("/projects/{id}")).token(ROOT).form(&fields).send().expect(200);
    let has = |browser: &Browser<'_>, name: &str| {
        browser.get(PAGE).page(200).all("button").contains(&name.to_owned())
    };
    assert!(has(&browser, "Request access"));
    assert!(!has(&root, "Request access") && !has(&Browser::stranger(forge), "Request access"));
    let ask = format!("{PAGE}/request_access");
    browser.post_from(PAGE, &ask, &[]).redirects(303, PAGE);
    assert!(has(&browser, "Withdraw access request"));
    browser.post_from(PAGE, &format!("{PAGE}/{eve}/deny"), &[]).redirects(303, PAGE);
    browser.post_from(PAGE, &ask, &[]).redirects(303, PAGE);
    let approve = format!("{PAGE}/{eve}/approve");
    assert_eq!(browser.post_from(PAGE, &approve, &[("role", "40")]).0.status, 403);
    let rows = root.get(PAGE).page(200).all("table[aria-label='Access requests'] tbody tr");
    assert!(rows.len() == 1 && rows[0].contains("@eve"), "{rows:?}");
    assert!(browser.get(PAGE).page(200).all("table[aria-label='Access requests']").is_empty());
    root.post_from(PAGE, &approve, &[("role", "20")]).redirects(303, PAGE);
    let shown = forge.get(&format!("/projects/{id}/members/{eve}")).token(ROOT).send().expect(200);
    assert_eq!(shown["access_level"], 20);
    assert!(!has(&browser, "Request access"));
    assert_eq!(browser.post_from(PAGE, &ask, &[]).0.status, 403, "she is a member");
}
