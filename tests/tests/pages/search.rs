//! The search, the help, and the registration.

use hexforge_application::app::SignUp;
use hexforge_http_actix::Dialect;
use hexforge_tests::forge::{PASSWORD, ROOT};
use hexforge_tests::{Backend, Forge, ForgeOptions, Restrictions, on_every_store};

use super::support::{Browser, project, user};

on_every_store!(
    a_search_finds_what_the_visitor_may_see,
    code_and_commits_of_a_project_are_searched,
    help_and_suggestions,
    nobody_registers_unless_it_is_open,
);

fn a_search_finds_what_the_visitor_may_see(forge: &Forge) {
    let (open, _) = project(forge, "door-open", "20");
    let (hidden, _) = project(forge, "door-hidden", "0");
    for id in [open, hidden] {
        let add = |kind: &str| {
            let fields = [("title", "A broken Door & more")];
            forge.post(&format!("/projects/{id}/{kind}")).token(ROOT).form(&fields).send()
        };
        add("issues").expect(201);
        add("milestones").expect(201);
    }
    user(forge, "doorman");
    let (stranger, root) = (Browser::stranger(forge), Browser::signed_in(forge, "root"));
    let ada = Browser::signed_in(forge, "doorman");
    let few = ["Projects 1", "Issues 1", "Merge requests 0", "Milestones 1"];
    let tabs = |browser: &Browser<'_>| {
        let page = browser.get("/search?search=DOOR").page(200);
        assert_eq!(page.heading(), "Search");
        page.all("nav[aria-label=Scope] a")
    };
    assert_eq!(tabs(&stranger), few[..1], "strangers see no issues");
    assert_eq!(tabs(&ada), [few[0], few[1], few[2], few[3], "People 1"]);
    assert_eq!(
        tabs(&root),
        ["Projects 2", "Issues 2", "Merge requests 0", "Milestones 2", "People 1"]
    );
    let results = |browser: &Browser<'_>, scope: &str| {
        let page = browser.get(&format!("/search?search=door&scope={scope}")).page(200);
        page.attributes("ul[aria-label=Results] a", "href")
    };
    assert_eq!(results(&stranger, "projects"), ["/root/door-open"]);
    assert!(results(&stranger, "issues").is_empty());
    assert_eq!(results(&ada, "issues"), ["/root/door-open/issues/1"]);
    assert_eq!(
        results(&root, "issues"),
        ["/root/door-hidden/issues/1", "/root/door-open/issues/1"]
    );
    assert_eq!(results(&ada, "users"), ["/u/doorman"]);
    assert!(results(&stranger, "users").is_empty());
    // Without a choice, the first scope with results is listed.
    let page = ada.get("/search?search=broken").page(200);
    assert_eq!(page.all("nav[aria-label=Scope] a[aria-current]"), ["Issues 1"]);
    let none = stranger.get("/search?search=nothing-like-it").page(200);
    assert!(none.all("main").iter().any(|text| text.contains("No results")), "{}", none.1);
    assert_eq!(stranger.get("/search").page(200).heading(), "Search");
    let fields = [("name", "Crew"), ("path", "crew"), ("visibility_level", "20")];
    let group = forge.post("/groups").token(ROOT).form(&fields).send().expect(201);
    for id in [open, hidden] {
        let place = format!("/groups/{}/projects/{id}", group["id"]);
        forge.post(&place).token(ROOT).send().expect(201);
    }
    project(forge, "door-other", "20");
    for (browser, number) in [(&stranger, "Projects 1"), (&root, "Projects 2")] {
        let page = browser.get("/search?search=door&group_id=crew&scope=issues").page(200);
        assert_eq!(page.all("nav[aria-label=Scope] a"), [number]);
        assert_eq!(page.attributes("input[name=group_id]", "value"), ["crew"]);
    }
    assert_eq!(root.get("/search?search=door&group_id=none").0.status, 404);
    let in_hidden = format!("/search?search=door&project_id={hidden}");
    assert_eq!(stranger.get(&in_hidden).0.status, 404);
    assert_eq!(root.get(&in_hidden).page(200).all("nav[aria-label=Scope] a")[0], "Issues 1");
}

fn code_and_commits_of_a_project_are_searched(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    let stranger = Browser::stranger(forge);
    let find = |scope: &str, text: &str| {
        stranger.get(&format!("/search?search={text}&project_id={id}&scope={scope}")).page(200)
    };
    let page = find("blobs", "PRINTLN");
    let tabs = page.all("nav[aria-label=Scope] a");
    assert_eq!(&tabs[tabs.len() - 2..], ["Code", "Commits"]);
    let hits = page.attributes("ul[aria-label=Results] a", "href");
    assert_eq!(hits, ["/root/ship/blob/master/src/a/main.rs#L2"]);
    assert_eq!(stranger.get(&hits[0]).0.status, 200);
    let commits = find("commits", "best").all("ul[aria-label=Results] .title");
    assert_eq!(commits, ["First & <best>"]);
    assert!(find("blobs", "absent-text").1.contains("No results"));
    // Guests of a private project do not search its code.
    let (hidden, _) = project(forge, "hidden", "0");
    let guest = user(forge, "guest").to_string();
    let fields = [("user_id", guest.as_str()), ("access_level", "10")];
    forge.post(&format!("/projects/{hidden}/members")).token(ROOT).form(&fields).send().expect(201);
    let guest = Browser::signed_in(forge, "guest");
    let page = guest.get(&format!("/search?search=println&project_id={hidden}&scope=blobs"));
    let page = page.page(200);
    assert!(!page.all("nav[aria-label=Scope] a").iter().any(|tab| tab == "Code"));
    assert!(page.all("ul[aria-label=Results] a").is_empty());
}

fn help_and_suggestions(forge: &Forge) {
    project(forge, "ship", "20");
    project(forge, "shop", "0");
    let stranger = Browser::stranger(forge);
    assert_eq!(stranger.get("/help/shortcuts").page(200).heading(), "Keyboard");
    stranger.get("/help/user/markdown.md").redirects(301, "/help");
    let suggested = stranger.get("/search/autocomplete?term=sh").0;
    assert_eq!(suggested.header("Content-Type"), Some("application/json"));
    assert_eq!(
        suggested.text(),
        r#"[{"category":"Projects","label":"root/ship","url":"/root/ship"}]"#
    );
    assert_eq!(stranger.get("/search/autocomplete").0.text(), "[]");
}

fn nobody_registers_unless_it_is_open(forge: &Forge) {
    let stranger = Browser::stranger(forge);
    assert_eq!(stranger.get("/users/sign_up").page(404).heading(), "Page not found");
    let form = stranger.get("/users/sign_in").page(200);
    assert!(!form.1.contains("/users/sign_up"), "{}", form.1);
    let fields = [
        ("authenticity_token", form.token()),
        ("name", "Eve".to_owned()),
        ("username", "eve".to_owned()),
        ("email", "eve@evil.test".to_owned()),
        ("password", PASSWORD.to_owned()),
    ];
    let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(stranger.post("/users/sign_up", &fields).0.status, 404);
    let users = forge.get("/users").token(ROOT).send().expect(200);
    assert_eq!(users.as_array().map(Vec::len), Some(1));
}

fn registered(forge: &Forge, username: &str, email: &str) -> (u16, Vec<String>) {
    let stranger = Browser::stranger(forge);
    let form = stranger.get("/users/sign_up").page(200);
    assert_eq!(form.heading(), "Register");
    let labels = form.all("form[aria-label=Register] label");
    assert_eq!(labels, ["Name", "Username", "Email", "Password"]);
    let token = form.token();
    let fields = [
        ("authenticity_token", token.as_str()),
        ("name", "Eve"),
        ("username", username),
        ("email", email),
        ("password", PASSWORD),
        ("admin", "1"),
    ];
    let seen = stranger.post("/users/sign_up", &fields);
    match seen.0.status {
        303 => {
            assert_eq!(stranger.get("/profile").page(200).heading(), "Profile", "signed in");
            assert_eq!(stranger.get("/admin").0.status, 404, "no privileges");
            (303, vec![])
        }
        status => {
            let page = seen.page(status);
            assert_eq!(page.attributes("input[type=password]", "value").concat(), "");
            (status, page.all("[role=alert] li, main [role=status]"))
        }
    }
}

fn forge_with(signup: SignUp) -> Forge {
    let options = ForgeOptions { backend: Backend::Sqlite, dialect: Dialect::Specification };
    let restrictions = Restrictions { signup, ..Restrictions::default() };
    Forge::start_restricted(options, restrictions).expect("SQLite is there")
}

#[test]
fn strangers_register_if_it_is_open() {
    let forge = forge_with(SignUp::Open);
    assert_eq!(registered(&forge, "eve", "eve@home.test"), (303, vec![]));
    let (status, messages) = registered(&forge, "eve", "other@home.test");
    assert_eq!((status, messages.len()), (422, 1), "{messages:?}");
    let fields = [("domain_whitelist[]", "work.test")];
    forge.put("/application/settings").token(ROOT).form(&fields).send().expect(200);
    let refused = vec!["Email is not from an allowed domain.".to_owned()];
    assert_eq!(registered(&forge, "bob", "bob@home.test"), (422, refused));
    let fields = [("signup_enabled", "false")];
    forge.put("/application/settings").token(ROOT).form(&fields).send().expect(200);
    assert_eq!(Browser::stranger(&forge).get("/users/sign_up").0.status, 404);
}

#[test]
fn an_account_waits_for_approval() {
    let forge = forge_with(SignUp::Approval);
    let (status, messages) = registered(&forge, "eve", "eve@home.test");
    assert_eq!(status, 200);
    assert!(messages[0].contains("approved"), "{messages:?}");
    let root = Browser::signed_in(&forge, "root");
    let home = "/admin/users/eve";
    assert_eq!(root.get(home).page(200).all("main button")[0], "Unblock user");
    root.post_from(home, "/admin/users/eve/unblock", &[]).redirects(303, home);
    Browser::signed_in(&forge, "eve");
}
