//! The pages of snippets, of projects and of persons.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};

use super::support::{Browser, project, team, user};

on_every_store!(
    a_snippet_of_a_project_is_written_discussed_and_removed,
    snippets_of_projects_are_seen_by_their_level,
    personal_snippets_belong_to_their_authors,
);

/// A project with snippets enabled. Returns its id.
fn with_snippets(forge: &Forge, name: &str, visibility: &str) -> i64 {
    let (id, _) = project(forge, name, visibility);
    let on = forge.put(&format!("/projects/{id}")).token(ROOT);
    on.form(&[("name", name), ("snippets_enabled", "true")]).send().expect(200);
    id
}

const FIELDS: [(&str, &str); 4] = [
    ("title", "Greeting <b>"),
    ("file_name", "hello.rs"),
    ("visibility_level", "10"),
    ("content", "fn main() {\n    let x = \"<script>alert(1)</script>\";\n}\n"),
];

fn a_snippet_of_a_project_is_written_discussed_and_removed(forge: &Forge) {
    let id = with_snippets(forge, "ship", "20");
    team(forge, &[id]);
    let (list, new) = ("/root/ship/snippets", "/root/ship/snippets/new");
    let reporter = Browser::signed_in(forge, "reporter");
    let page = reporter.get(list).page(200);
    assert_eq!((page.heading(), page.all(".empty").len()), ("Snippets".to_owned(), 1));
    assert!(page.all("main a").contains(&"New snippet".to_owned()));
    let form = reporter.get(new).page(200);
    assert_eq!(form.heading(), "New snippet");
    let labels = form.all("form[aria-label='New snippet'] label");
    assert_eq!(labels, ["Title", "File name", "Private", "Internal", "Public", "Content"]);
    let wrong =
        [("title", ""), ("file_name", "a b"), ("content", "kept"), ("visibility_level", "0")];
    let wrong = reporter.post_from(new, list, &wrong).page(422);
    assert_eq!(wrong.all("textarea"), ["kept"]);
    assert_eq!(wrong.attributes("[aria-invalid]", "id"), ["title", "file_name"]);
    let made = reporter.post_from(new, list, &FIELDS);
    assert_eq!(made.0.status, 303, "{}", made.0.text());
    let one = made.0.header("Location").expect("it leads to the snippet").to_owned();
    let page = reporter.get(&one).page(200);
    assert_eq!(page.heading(), "Greeting <b>");
    assert_eq!(page.all("section[aria-label='hello.rs'] td.line").len(), 3);
    assert!(!page.1.contains("<script>alert"));
    let raw = reporter.get(&format!("{one}/raw")).0;
    assert_eq!(raw.text(), FIELDS[3].1);
    assert_eq!(raw.header("Content-Type"), Some("text/plain; charset=utf-8"));
    assert_eq!(raw.header("Content-Security-Policy"), Some("default-src 'none'; sandbox"));
    assert_eq!(reporter.get(list).page(200).all("ul[aria-label=Snippets] .title a").len(), 1);
    // The address is that of the interface.
    let shown = forge.get(&format!("/projects/{id}/snippets")).token(ROOT).send().expect(200);
    assert!(shown[0]["web_url"].as_str().expect("a URL").ends_with(&one));
    let guest = Browser::signed_in(forge, "guest");
    let written = guest.post_from(&one, &format!("{one}/notes"), &[("note", "**nice**")]);
    assert_eq!(written.0.status, 303);
    let page = guest.get(&one).page(200);
    assert_eq!(page.all("article[aria-label='Comment by guest'] strong"), ["nice"]);
    guest.post_from(&one, &format!("{one}/award"), &[("name", "tada")]).redirects(303, &one);
    assert_eq!(guest.get(&one).page(200).all("button[aria-pressed=true]"), [":tada: 1"]);
    let master = Browser::signed_in(forge, "master");
    for browser in [&guest, &master] {
        let page = browser.get(&one).page(200);
        assert!(!page.all("main a").contains(&"Edit".to_owned()), "only its author changes it");
        assert_eq!(browser.get(&format!("{one}/edit")).0.status, 404);
        let changed = browser.post_from(&one, &format!("{one}/edit"), &FIELDS).0.status;
        assert_eq!(changed, 403);
        let removed = browser.post_from(&one, &format!("{one}/delete"), &[]).0.status;
        assert_eq!(removed, 403);
    }
    let edit = format!("{one}/edit");
    let form = reporter.get(&edit).page(200);
    assert_eq!(form.attributes("#title", "value"), ["Greeting <b>"]);
    let fields =
        [("title", "Hello"), ("file_name", ""), ("content", "x"), ("visibility_level", "0")];
    reporter.post_from(&edit, &edit, &fields).redirects(303, &one);
    assert_eq!(reporter.get(&one).page(200).heading(), "Hello");
    assert_eq!(reporter.post(&format!("{one}/delete"), &[]).0.status, 403, "there is no token");
    reporter.post_from(&one, &format!("{one}/delete"), &[]).redirects(303, list);
    assert_eq!(reporter.get(&one).0.status, 404);
}

fn snippets_of_projects_are_seen_by_their_level(forge: &Forge) {
    let (private, public) = (with_snippets(forge, "boat", "0"), with_snippets(forge, "ship", "20"));
    project(forge, "raft", "20");
    team(forge, &[private, public]);
    user(forge, "other");
    let external = user(forge, "external");
    let outside = forge.put(&format!("/users/{external}")).token(ROOT);
    outside.form(&[("external", "true")]).send().expect(200);
    let make = |project: i64, level: &str| {
        let new = forge.post(&format!("/projects/{project}/snippets")).token(ROOT);
        let fields =
            [("title", level), ("file_name", "a"), ("code", "x"), ("visibility_level", level)];
        new.form(&fields).send().expect(201)["id"].to_string()
    };
    let ids = ["0", "10", "20"].map(|level| make(public, level));
    let hidden = make(private, "20");
    for (who, list, seen, of_private, may_create) in [
        (None, 404, [404, 404, 404], 404, 302),
        (Some("other"), 200, [404, 200, 200], 404, 404),
        (Some("external"), 200, [404, 404, 200], 404, 404),
        (Some("guest"), 200, [200, 200, 200], 200, 404),
        (Some("reporter"), 200, [200, 200, 200], 200, 200),
        (Some("developer"), 200, [200, 200, 200], 200, 200),
        (Some("master"), 200, [200, 200, 200], 200, 200),
        (Some("root"), 200, [200, 200, 200], 200, 200),
    ] {
        let browser = Browser::of(forge, who);
        let status = |address: &str| browser.get(address).0.status;
        assert_eq!(status("/root/ship/snippets"), list, "{who:?}");
        assert_eq!(status("/root/ship/snippets/new"), may_create, "{who:?}");
        for (id, expected) in ids.iter().zip(seen) {
            assert_eq!(status(&format!("/root/ship/snippets/{id}")), expected, "{who:?} {id}");
            assert_eq!(status(&format!("/root/ship/snippets/{id}/raw")), expected, "{who:?} {id}");
        }
        assert_eq!(status(&format!("/root/boat/snippets/{hidden}")), of_private, "{who:?}");
        assert_eq!(status(&format!("/root/ship/snippets/{hidden}")), 404, "it is elsewhere");
        assert_eq!(status("/root/ship/snippets/x"), 404);
        assert_eq!(status("/root/raft/snippets"), 404, "snippets are off there");
    }
}

fn personal_snippets_belong_to_their_authors(forge: &Forge) {
    user(forge, "ada");
    user(forge, "bob");
    let (ada, bob) = (Browser::signed_in(forge, "ada"), Browser::signed_in(forge, "bob"));
    let list = "/dashboard/snippets";
    let stranger = Browser::stranger(forge);
    stranger.get(list).redirects(302, "/users/sign_in?return_to=%2Fdashboard%2Fsnippets");
    assert_eq!(stranger.get("/snippets/new").0.status, 302);
    ada.get("/snippets").redirects(301, list);
    assert_eq!(ada.get(list).page(200).heading(), "Snippets");
    let make = |level: &str| {
        let mut fields = FIELDS;
        fields[2].1 = level;
        let made = ada.post_from("/snippets/new", "/snippets", &fields);
        assert_eq!(made.0.status, 303, "{}", made.0.text());
        made.0.header("Location").expect("it leads to the snippet").to_owned()
    };
    let [private, internal, public] = ["0", "10", "20"].map(make);
    assert_eq!(ada.get(list).page(200).all("ul[aria-label=Snippets] .title a").len(), 3);
    let open = bob.get("/snippets/public").page(200);
    assert_eq!(open.attributes("ul[aria-label=Snippets] .title a", "href"), [public.as_str()]);
    for (browser, expected) in
        [(&ada, [200, 200, 200]), (&bob, [404, 200, 200]), (&stranger, [404, 404, 200])]
    {
        for (page, expected) in [&private, &internal, &public].into_iter().zip(expected) {
            assert_eq!(browser.get(page).0.status, expected, "{page}");
            assert_eq!(browser.get(&format!("{page}/raw")).0.status, expected, "{page}");
        }
    }
    // Each link of the page of the person leads to a snippet.
    for address in
        bob.get("/users/ada/snippets").page(200).attributes("ul[aria-label=Snippets] a", "href")
    {
        assert_eq!(bob.get(&address).0.status, 200, "{address}");
    }
    assert_eq!(bob.get(&format!("{public}/edit")).0.status, 404);
    for action in ["edit", "delete"] {
        let sent = bob.post_from(&public, &format!("{public}/{action}"), &FIELDS).0.status;
        assert_eq!(sent, 404, "{action}");
    }
    let edit = format!("{public}/edit");
    let empty = ada.post_from(&edit, &edit, &[("title", "x"), ("content", " ")]).page(422);
    assert_eq!(empty.attributes("[aria-invalid]", "id"), ["file_content"]);
    let fields = [("title", "New"), ("content", "y"), ("visibility_level", "20")];
    ada.post_from(&edit, &edit, &fields).redirects(303, &public);
    assert_eq!(bob.get(&public).page(200).heading(), "New");
    ada.post_from(&public, &format!("{public}/delete"), &[]).redirects(303, list);
    assert_eq!(ada.get(&public).0.status, 404);
}
