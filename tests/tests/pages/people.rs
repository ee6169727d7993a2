//! The pages of persons, their feeds, and the activity in own projects.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};

use super::support::{Browser, project, user};

on_every_store!(
    a_person_is_shown_with_projects_and_activity,
    parts_of_a_person_show_what_the_visitor_may_see,
    old_addresses_lead_to_a_person,
    feeds_show_what_their_reader_may_see,
    tokens_are_written_into_no_answer,
    strangers_see_nobody_if_public_visibility_is_restricted,
    hostile_addresses_name_nobody,
);

fn a_person_is_shown_with_projects_and_activity(forge: &Forge) {
    project(forge, "open", "20");
    project(forge, "hidden", "0");
    user(forge, "ada");
    for (who, projects) in [(None, 1), (Some("ada"), 1), (Some("root"), 2)] {
        let browser = match who {
            Some(name) => Browser::signed_in(forge, name),
            None => Browser::stranger(forge),
        };
        let page = browser.get("/root").page(200);
        assert_eq!(page.heading(), "Administrator");
        assert_eq!(page.all("head title"), ["Administrator · hexforge"]);
        assert!(page.all(".person").iter().any(|text| text.contains("@root")));
        let listed = page.all("ul[aria-label=Projects] .title");
        assert_eq!(listed.len(), projects, "{who:?} {listed:?}");
        let activity = page.all("ul[aria-label=Activity] li");
        assert!(activity.iter().any(|line| line.contains("root/open")), "{activity:?}");
        let is_hidden = !activity.iter().any(|line| line.contains("root/hidden"));
        assert_eq!(is_hidden, who != Some("root"), "{who:?}");
        let images = page.attributes("svg[role=img]", "aria-label");
        assert!(images[0].starts_with("Contributions of Administrator"), "{images:?}");
        assert!(page.1.contains("in the last year, most on"), "{}", page.1);
        let feed = page.attributes("link[rel=alternate]", "href");
        assert_eq!(feed, ["/root.atom"]);
    }
    assert_eq!(Browser::stranger(forge).get("/nobody").page(404).heading(), "Page not found");
}

fn parts_of_a_person_show_what_the_visitor_may_see(forge: &Forge) {
    project(forge, "open", "20");
    project(forge, "hidden", "0");
    for (path, level) in [("public-crew", "20"), ("secret-crew", "0")] {
        let fields = [("name", path), ("path", path), ("visibility_level", level)];
        forge.post("/groups").token(ROOT).form(&fields).send().expect(201);
    }
    for (title, level) in [("public snippet", "20"), ("private snippet", "0")] {
        let fields = [
            ("title", title),
            ("file_name", "a.rb"),
            ("content", "puts 1"),
            ("visibility_level", level),
        ];
        forge.post("/snippets").token(ROOT).form(&fields).send().expect(201);
    }
    let (stranger, root) = (Browser::stranger(forge), Browser::signed_in(forge, "root"));
    for (part, list, few, all) in [
        ("projects", "Projects", 1, 2),
        ("groups", "Groups", 1, 2),
        ("contributed", "Projects", 1, 2),
        ("snippets", "Snippets", 1, 2),
    ] {
        for (browser, number) in [(&stranger, few), (&root, all)] {
            let page = browser.get(&format!("/users/root/{part}")).page(200);
            assert_eq!(page.heading(), "Administrator", "{part}");
            let listed = page.all(&format!("ul[aria-label={list}] .title"));
            assert_eq!(listed.len(), number, "{part}: {listed:?}");
        }
        assert_eq!(stranger.get(&format!("/users/nobody/{part}")).0.status, 404);
    }
    let calendar = stranger.get("/users/root/calendar").page(200);
    assert_eq!(calendar.all("table[aria-label='Contributions by month'] tbody tr").len(), 1);
}

fn old_addresses_lead_to_a_person(forge: &Forge) {
    user(forge, "ada");
    let stranger = Browser::stranger(forge);
    stranger.get("/u/ada").redirects(301, "/ada");
    stranger.get("/users/ada").redirects(301, "/ada");
    stranger.get("/ADA").redirects(301, "/ada");
    assert_eq!(stranger.get("/u/nobody").0.status, 404);
    assert_eq!(stranger.get("/ada.keys").0.status, 200);
    assert_eq!(stranger.get("/nobody.keys").0.status, 404);
}

fn feeds_show_what_their_reader_may_see(forge: &Forge) {
    project(forge, "open", "20");
    project(forge, "hidden", "0");
    let stranger = Browser::stranger(forge);
    let feed = stranger.get("/root.atom").0;
    assert_eq!(feed.header("Content-Type"), Some("application/atom+xml; charset=utf-8"));
    assert!(feed.text().starts_with("<?xml"), "{}", feed.text());
    assert!(feed.text().contains("root/open") && !feed.text().contains("root/hidden"));
    let own = Browser::signed_in(forge, "root").get("/root.atom").0;
    assert!(own.text().contains("root/hidden"), "{}", own.text());
    // Feed readers send a token, which opens nothing but feeds.
    let by_token = stranger.get(&format!("/dashboard.atom?private_token={ROOT}")).0;
    assert_eq!(by_token.status, 200);
    assert!(by_token.text().contains("root/hidden"), "{}", by_token.text());
    assert_eq!(stranger.get("/dashboard.atom?private_token=wrong").0.status, 302);
    assert_eq!(stranger.get(&format!("/dashboard/activity?private_token={ROOT}")).0.status, 302);
    let hidden = "/root/hidden";
    for feed in [".atom", "/commits/master.atom", "/commits/master/src.atom", "/tags.atom"] {
        let feed = format!("{hidden}{feed}");
        assert_eq!(stranger.get(&feed).0.status, 404, "{feed}");
        assert_eq!(stranger.get(&format!("{feed}?private_token=wrong")).0.status, 404, "{feed}");
        let by_token = stranger.get(&format!("{feed}?private_token={ROOT}")).0;
        assert_eq!(by_token.status, 200, "{feed}");
        let media_type = Some("application/atom+xml; charset=utf-8");
        assert_eq!(by_token.header("Content-Type"), media_type, "{feed}");
    }
    for page in ["", "/commits/master", "/tags", "/activity"] {
        let page = format!("{hidden}{page}?private_token={ROOT}");
        assert_eq!(stranger.get(&page).0.status, 404, "{page}");
    }

    user(forge, "ada");
    let ada = Browser::signed_in(forge, "ada");
    assert_eq!(ada.get("/dashboard/activity").page(200).heading(), "Activity");
    assert!(ada.get("/dashboard/activity").page(200).all(".list li").is_empty());
    let root = Browser::signed_in(forge, "root");
    let lines = root.get("/dashboard/activity").page(200).all("ul[aria-label=Activity] li");
    assert!(lines.iter().any(|line| line.contains("root/hidden")), "{lines:?}");
}

fn tokens_are_written_into_no_answer(forge: &Forge) {
    project(forge, "ship", "0");
    let stranger = Browser::stranger(forge);
    for (address, status) in [
        ("/dashboard.atom?private_token=", 200),
        ("/root/ship/issues.atom?state=opened&private%5Ftoken=", 200),
        ("/root/missing.atom?private_token=", 404),
        ("/dashboard/activity?page=1&private_token=", 302),
        ("/root/ship/issues.atom/?private_token=", 200),
        ("/root/ship/issues/?private_token=", 301),
    ] {
        let answer = stranger.get(&format!("{address}{ROOT}")).0;
        assert_eq!(answer.status, status, "{address}");
        assert!(!answer.text().contains(ROOT), "{address}: {}", answer.text());
        assert!(!format!("{:?}", answer.headers).contains(ROOT), "{address}: {:?}", answer.headers);
    }
    // A token that opens nothing is not written into the link that leads back either.
    let answer = stranger.get("/dashboard.atom?private_token=wrong-secret").0;
    assert_eq!(answer.header("Location"), Some("/users/sign_in?return_to=%2Fdashboard.atom"));
    let feed = stranger.get(&format!("/root/ship/issues.atom?private_token={ROOT}&state=all")).0;
    assert!(feed.text().contains("/root/ship/issues.atom?state=all\""), "{}", feed.text());
}

fn strangers_see_nobody_if_public_visibility_is_restricted(forge: &Forge) {
    user(forge, "ada");
    let fields = [("restricted_visibility_levels[]", "20")];
    forge.put("/application/settings").token(ROOT).form(&fields).send().expect(200);
    let stranger = Browser::stranger(forge);
    for address in ["/ada", "/ada.keys", "/ada.atom", "/u/ada", "/users/ada/projects"] {
        assert_eq!(stranger.get(address).0.status, 404, "{address}");
    }
    assert_eq!(Browser::signed_in(forge, "ada").get("/ada").0.status, 200);
}

fn hostile_addresses_name_nobody(forge: &Forge) {
    let root = Browser::signed_in(forge, "root");
    for name in ["%00", "a%00b", "%FF", "%F0%9F%98%80", "%0d%0a", "..;", "%5c", "'", "%25"] {
        for address in ["/{}", "/{}.atom", "/{}.keys", "/u/{}", "/users/{}/projects", "/groups/{}"]
        {
            let address = address.replace("{}", name);
            assert_eq!(root.get(&address).0.status, 404, "{address}");
        }
        for address in ["/search?search={}", "/explore?search={}&page={}", "/admin/users?search={}"]
        {
            let address = address.replace("{}", name);
            assert_eq!(root.get(&address).0.status, 200, "{address}");
        }
    }
    for page in ["0", "-1", "x", "99999999999999999999", "9223372036854775807"] {
        assert_eq!(root.get(&format!("/explore?page={page}")).0.status, 200, "{page}");
    }
    let fields = [("name", "a\0b"), ("bio", "\u{202e}evil\0")];
    root.post_from("/profile", "/profile", &fields).redirects(303, "/profile");
    let page = root.get("/profile").page(200);
    assert_eq!(page.attributes("input[name=name]", "value"), ["a\u{fffd}b"]);
}
