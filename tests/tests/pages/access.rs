//! Who sees which page. What a visitor may not see looks like what does not exist.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Response, on_every_store};

use super::support::{Browser, project, user};

on_every_store!(
    hidden_projects_look_like_missing_ones,
    hidden_groups_look_like_missing_ones,
    visitors_see_what_the_interface_shows_them,
    owners_and_members_of_a_group_see_its_projects,
    pages_of_people_need_a_user,
);

/// The pages of a project that has a commit.
const PAGES: [&str; 19] = [
    "",
    "/tree/master",
    "/tree/master/src",
    "/blob/master/README.md",
    "/raw/master/README.md",
    "/blame/master/README.md",
    "/commits/master",
    "/commits/master.atom",
    "/compare",
    "/compare/master...master",
    "/branches",
    "/branches?search=m",
    "/tags",
    "/tags.atom",
    "/find_file/master",
    "/files/master.json",
    "/repository/archive.zip",
    "/graphs/master",
    "/network/master",
];

/// A page as a test compares it: tokens of forms are random.
fn shown(page: &str) -> String {
    let mut parts = page.split("name=\"authenticity_token\" value=\"");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shown.push_str(part.split_once('"').map_or("", |(_, rest)| rest));
    }
    shown
}

/// An address of each page below a pattern. All parameters have values that exist in a filled project.
fn filled(pattern: &str, named: &[(&str, &str)]) -> String {
    let value = |segment: &str| {
        let Some((name, ending)) = segment.strip_prefix('{').and_then(|rest| rest.split_once('}'))
        else {
            return segment.to_owned();
        };
        let known = named.iter().find(|(known, _)| *known == name);
        let value = known.map_or("1", |(_, value)| *value);
        format!("{value}{ending}")
    };
    pattern.split('/').map(value).collect::<Vec<_>>().join("/")
}

/// The addresses of all pages with this method whose pattern begins so.
fn all(method: &str, beginning: &str, named: &[(&str, &str)]) -> Vec<String> {
    let list = hexforge_web_askama::list();
    let lines = list.lines().filter_map(|line| line.strip_prefix(method)?.strip_prefix(' '));
    let found: Vec<String> = lines
        .filter(|pattern| pattern.starts_with(beginning))
        .map(|pattern| filled(pattern, named))
        .collect();
    assert!(found.len() > 5, "{method} {beginning}");
    found
}

/// What a response shows, but for what is random and for the names, which are equally long.
fn told(seen: &Response, name: &str) -> (u16, Vec<(String, String)>, String) {
    let is_random =
        |(header, _): &&(String, String)| ["date", "x-request-id"].contains(&header.as_str());
    let headers = seen.headers.iter().filter(|header| !is_random(header));
    let headers = headers.map(|(header, value)| (header.clone(), value.replace(name, "NAME")));
    (seen.status, headers.collect(), shown(seen.text()).replace(name, "NAME"))
}

fn hidden_projects_look_like_missing_ones(forge: &Forge) {
    project(forge, "ship", "0");
    user(forge, "ada");
    let named = |project| {
        let rest = ("rest...", "master/README.md");
        [("namespace", "root"), ("project", project), ("sha", "master"), rest, ("name", "slack")]
    };
    for browser in [Browser::stranger(forge), Browser::signed_in(forge, "ada")] {
        let pages = |project| all("GET", "/{namespace}/{project}", &named(project));
        for (hidden, missing) in pages("ship").into_iter().zip(pages("shop")) {
            let (hidden, missing) = (browser.get(&hidden).0, browser.get(&missing).0);
            assert_eq!(told(&hidden, "ship"), told(&missing, "shop"));
            let is_badge = hidden.header("Content-Type") == Some("image/svg+xml");
            assert_eq!(hidden.status, if is_badge { 200 } else { 404 }, "{}", hidden.text());
        }
        let slashes = ["/root/ship/", "/Root/Ship", "/ROOT/ship/issues"];
        for address in slashes {
            let (hidden, missing) =
                (browser.get(address).0, browser.get(&address.replace("hip", "hop")).0);
            assert_eq!(told(&hidden, "hip"), told(&missing, "hop"), "{address}");
        }
        assert!(browser.get("/explore").page(200).all("ul[aria-label=Projects] a").is_empty());
    }
    let ada = Browser::signed_in(forge, "ada");
    let token = ada.get("/").page(200).token();
    let forms = |project| all("POST", "/{namespace}/{project}", &named(project));
    for (hidden, missing) in forms("ship").into_iter().zip(forms("shop")) {
        let send = |address: &str| ada.post(address, &[("authenticity_token", &token)]).0;
        let (seen, other) = (send(&hidden), send(&missing));
        assert_eq!(told(&seen, "ship"), told(&other, "shop"), "{hidden}");
        assert!([303, 404].contains(&seen.status), "{hidden}: {}", seen.status);
    }
}

fn hidden_groups_look_like_missing_ones(forge: &Forge) {
    let fields = [("name", "Crew"), ("path", "crew"), ("visibility_level", "0")];
    forge.post("/groups").token(ROOT).form(&fields).send().expect(201);
    user(forge, "ada");
    let named = |group| [("path", group), ("group", group)];
    for browser in [Browser::stranger(forge), Browser::signed_in(forge, "ada")] {
        let pages = |group| {
            let mut pages = all("GET", "/groups/{", &named(group));
            let others = ["/{}", "/{}.atom", "/{}.keys", "/users/{}/projects", "/u/{}"];
            pages.extend(others.map(|page| page.replace("{}", group)));
            pages
        };
        for (hidden, missing) in pages("crew").into_iter().zip(pages("crow")) {
            let (seen, other) = (browser.get(&hidden).0, browser.get(&missing).0);
            assert_eq!(told(&seen, "crew"), told(&other, "crow"), "{hidden}");
            assert_eq!(seen.status, 404, "{hidden}");
        }
        assert!(browser.get("/explore/groups").page(200).all("ul[aria-label=Groups] a").is_empty());
    }
    let ada = Browser::signed_in(forge, "ada");
    let token = ada.get("/").page(200).token();
    let forms = |group| all("POST", "/groups/{", &named(group));
    for (hidden, missing) in forms("crew").into_iter().zip(forms("crow")) {
        let send = |address: &str| ada.post(address, &[("authenticity_token", &token)]).0;
        let (seen, other) = (send(&hidden), send(&missing));
        assert_eq!(told(&seen, "crew"), told(&other, "crow"), "{hidden}");
        assert_eq!(seen.status, 404, "{hidden}");
    }
}

fn visitors_see_what_the_interface_shows_them(forge: &Forge) {
    let levels = [("private", "0"), ("internal", "10"), ("public", "20")];
    let ids = levels.map(|(name, level)| project(forge, name, level).0);
    let roles = [("guest", "10"), ("reporter", "20"), ("developer", "30"), ("master", "40")];
    for (role, level) in roles {
        let id = user(forge, role).to_string();
        for project in ids {
            let add = forge.post(&format!("/projects/{project}/members")).token(ROOT);
            add.form(&[("user_id", &id), ("access_level", level)]).send().expect(201);
        }
    }
    user(forge, "other");
    forge.new_user("external", &[("external", "true")]);
    forge.new_user("boss", &[("admin", "true")]);
    let blocked = user(forge, "blocked");
    for (who, private, internal, public) in [
        (None, [404, 404], [404, 404], [200, 200]),
        (Some("other"), [404, 404], [200, 200], [200, 200]),
        // A guest of a private project sees the project, but not its code.
        (Some("guest"), [200, 404], [200, 200], [200, 200]),
        (Some("reporter"), [200, 200], [200, 200], [200, 200]),
        (Some("developer"), [200, 200], [200, 200], [200, 200]),
        (Some("master"), [200, 200], [200, 200], [200, 200]),
        // The projects are those of root.
        (Some("root"), [200, 200], [200, 200], [200, 200]),
        (Some("boss"), [200, 200], [200, 200], [200, 200]),
        (Some("external"), [404, 404], [404, 404], [200, 200]),
        (Some("blocked"), [404, 404], [404, 404], [200, 200]),
    ] {
        let browser = Browser::of(forge, who);
        if who == Some("blocked") {
            forge.put(&format!("/users/{blocked}/block")).token(ROOT).send().expect(200);
        }
        for ((name, _), [home, code]) in levels.into_iter().zip([private, internal, public]) {
            for page in PAGES {
                let expected = if page.is_empty() { home } else { code };
                let seen = browser.get(&format!("/root/{name}{page}"));
                assert_eq!(seen.0.status, expected, "{who:?} {name}{page}");
            }
        }
    }
}

fn owners_and_members_of_a_group_see_its_projects(forge: &Forge) {
    let fields = [("name", "Crew"), ("path", "crew"), ("visibility_level", "0")];
    let group = forge.post("/groups").token(ROOT).form(&fields).send().expect(201);
    let (id, _) = project(forge, "ship", "0");
    forge.post(&format!("/groups/{}/projects/{id}", group["id"])).token(ROOT).send().expect(201);
    let roles = [
        ("guest", "10"),
        ("reporter", "20"),
        ("developer", "30"),
        ("master", "40"),
        ("owner", "50"),
    ];
    for (role, level) in roles {
        let user = user(forge, role).to_string();
        let add = forge.post(&format!("/groups/{}/members", group["id"])).token(ROOT);
        add.form(&[("user_id", &user), ("access_level", level)]).send().expect(201);
    }
    for (role, code, settings, removal, group_settings) in [
        ("guest", 404, 404, 0, 404),
        ("reporter", 200, 404, 0, 404),
        ("developer", 200, 404, 0, 404),
        ("master", 200, 200, 0, 404),
        ("owner", 200, 200, 1, 200),
        ("root", 200, 200, 1, 200),
    ] {
        let browser = Browser::signed_in(forge, role);
        assert_eq!(browser.get("/crew/ship").page(200).heading(), "ship", "{role}");
        assert_eq!(browser.get("/crew/ship/tree/master").0.status, code, "{role}");
        let edit = browser.get("/crew/ship/edit");
        assert_eq!(edit.0.status, settings, "{role}");
        if settings == 200 {
            let forms = edit.page(200).all("form[aria-label='Remove project']");
            assert_eq!(forms.len(), removal, "{role}");
        }
        assert_eq!(browser.get("/groups/crew/edit").0.status, group_settings, "{role}");
        assert_eq!(browser.get("/groups/crew").page(200).heading(), "Crew", "{role}");
    }
}

/// Pages that need a user lead strangers to the sign-in, and back.
fn pages_of_people_need_a_user(forge: &Forge) {
    let stranger = Browser::stranger(forge);
    let begin = ["/dashboard", "/profile", "/groups/new", "/projects/new"];
    let list = hexforge_web_askama::list();
    let pages = list.lines().filter_map(|line| line.strip_prefix("GET "));
    for pattern in pages.filter(|pattern| begin.iter().any(|begin| pattern.starts_with(begin))) {
        let address = filled(pattern, &[]);
        let encoded = address.replace('/', "%2F");
        stranger.get(&address).redirects(302, &format!("/users/sign_in?return_to={encoded}"));
    }
    for address in ["/admin", "/admin/users", "/admin/nothing"] {
        let page = stranger.get(address).page(404);
        assert_eq!(page.heading(), "Page not found");
        let encoded = address.replace('/', "%2F");
        let link = format!("/users/sign_in?return_to={encoded}");
        assert_eq!(page.attributes("main a", "href"), [link.as_str(), "/"]);
    }
}
