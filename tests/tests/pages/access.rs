//! Who sees which page. What a visitor may not see looks like what does not exist.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};

use super::support::{Browser, project, user};

on_every_store!(hidden_projects_look_like_missing_ones, visitors_see_what_the_interface_shows_them);

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

fn hidden_projects_look_like_missing_ones(forge: &Forge) {
    project(forge, "ship", "0");
    user(forge, "ada");
    for browser in [Browser::stranger(forge), Browser::signed_in(forge, "ada")] {
        for page in PAGES {
            let hidden = browser.get(&format!("/root/ship{page}"));
            let missing = browser.get(&format!("/root/shop{page}"));
            assert_eq!(hidden.page(404).heading(), "Page not found");
            // Forms have random tokens.
            let shown = |text: &str| {
                let lines = text.lines().filter(|line| !line.contains("authenticity_token"));
                lines.collect::<Vec<_>>().join("\n")
            };
            let missing = missing.page(404).1.replace("shop", "ship");
            assert_eq!(shown(&hidden.page(404).1), shown(&missing), "{page}");
        }
        assert!(browser.get("/explore").page(200).all("ul[aria-label=Projects] a").is_empty());
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
    for (who, private, internal, public) in [
        (None, [404, 404], [404, 404], [200, 200]),
        (Some("other"), [404, 404], [200, 200], [200, 200]),
        // A guest of a private project sees the project, but not its code.
        (Some("guest"), [200, 404], [200, 200], [200, 200]),
        (Some("reporter"), [200, 200], [200, 200], [200, 200]),
        (Some("developer"), [200, 200], [200, 200], [200, 200]),
        (Some("master"), [200, 200], [200, 200], [200, 200]),
    ] {
        let browser = match who {
            Some(name) => Browser::signed_in(forge, name),
            None => Browser::stranger(forge),
        };
        for ((name, _), [home, code]) in levels.into_iter().zip([private, internal, public]) {
            for page in PAGES {
                let expected = if page.is_empty() { home } else { code };
                let seen = browser.get(&format!("/root/{name}{page}"));
                assert_eq!(seen.0.status, expected, "{who:?} {name}{page}");
            }
        }
    }
}
