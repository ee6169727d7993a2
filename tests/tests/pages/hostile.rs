//! What hostile visitors send to the pages of issues, merge requests, pipelines, builds and snippets.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};

use super::issues::{issue, member};
use super::support::{Browser, project, user};

on_every_store!(
    odd_queries_and_paths_are_no_errors_of_the_server,
    odd_fields_are_no_errors_of_the_server,
    ids_of_other_projects_reach_nothing,
    hostile_texts_run_nothing,
    huge_texts_are_refused_and_kept,
);

/// Texts that programs stumble over.
const ODD: [&str; 8] = [
    "\0",
    "\u{202e}gnp.exe",
    "<script>alert(1)</script>",
    "99999999999999999999",
    "-1",
    "' OR 1=1 --",
    "%00%ff",
    "../../etc/passwd",
];

/// Encodes every byte of a text for a query.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

fn odd_queries_and_paths_are_no_errors_of_the_server(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    issue(forge, id, &[("title", "One")]);
    let on = forge.put(&format!("/projects/{id}")).token(ROOT);
    on.form(&[("name", "ship"), ("snippets_enabled", "true")]).send().expect(200);
    let root = Browser::signed_in(forge, "root");
    let check = |address: &str| {
        let status = root.get(address).0.status;
        assert!(matches!(status, 200 | 400 | 404), "{address}: {status}");
    };
    for odd in ODD.map(encoded) {
        for list in [
            "/root/ship/issues",
            "/root/ship/issues.atom",
            "/root/ship/merge_requests",
            "/root/ship/milestones",
            "/root/ship/labels",
            "/root/ship/pipelines",
            "/root/ship/builds",
            "/root/ship/environments",
            "/root/ship/snippets",
            "/dashboard/issues",
            "/dashboard/merge_requests",
            "/dashboard/milestones",
            "/dashboard/labels",
            "/dashboard/todos",
            "/dashboard/snippets",
        ] {
            let names = ["page", "search", "state", "sort", "scope", "author_id", "assignee_id"];
            let more = ["milestone_title", "label_name[]", "type", "action"];
            for name in names.into_iter().chain(more) {
                check(&format!("{list}?{name}={odd}"));
            }
        }
        for page in ["issues", "merge_requests", "milestones", "labels", "boards", "snippets"] {
            check(&format!("/root/ship/{page}/{odd}"));
            check(&format!("/root/ship/{page}/{odd}/edit"));
        }
        for page in ["pipelines", "builds", "environments"] {
            check(&format!("/root/ship/{page}/{odd}"));
        }
        check(&format!("/root/ship/builds/1/artifacts/browse/{odd}"));
        check(&format!("/root/ship/builds/1/artifacts/file/{odd}"));
        check(&format!("/root/ship/builds/1/trace.json?from={odd}&line={odd}&style={odd}"));
        check(&format!(
            "/root/ship/merge_requests/new?merge_request[source_branch]={odd}&merge_request[target_branch]={odd}"
        ));
        check(&format!(
            "/root/ship/issues/new?issue[title]={odd}&issue[assignee_id]={odd}&issue[milestone_id]={odd}"
        ));
        check(&format!("/snippets/{odd}"));
    }
}

fn odd_fields_are_no_errors_of_the_server(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    issue(forge, id, &[("title", "One")]);
    let on = forge.put(&format!("/projects/{id}")).token(ROOT);
    on.form(&[("name", "ship"), ("snippets_enabled", "true")]).send().expect(200);
    let root = Browser::signed_in(forge, "root");
    let token = root.get("/root/ship/issues").page(200).token();
    let names = [
        "title",
        "description",
        "note",
        "name",
        "color",
        "priority",
        "ref",
        "iid",
        "from",
        "to",
        "label_id",
        "position",
        "to_project",
        "assignee_id",
        "milestone_id",
        "label_name",
        "due_date",
        "start_date",
        "seen",
        "state_event",
        "add_label",
        "remove_label",
        "source_branch",
        "target_branch",
        "target_project_id",
        "content",
        "file_name",
        "visibility_level",
        "external_url",
        "sha",
        "merge_commit_message",
    ];
    for odd in ODD {
        for address in [
            "/root/ship/issues",
            "/root/ship/issues/bulk",
            "/root/ship/issues/1/edit",
            "/root/ship/issues/1/notes",
            "/root/ship/issues/1/award",
            "/root/ship/issues/1/move",
            "/root/ship/issues/1/todo",
            "/root/ship/labels",
            "/root/ship/milestones",
            "/root/ship/boards/1/move",
            "/root/ship/boards/1/lists",
            "/root/ship/merge_requests",
            "/root/ship/pipelines/new",
            "/root/ship/environments",
            "/root/ship/snippets",
            "/snippets",
        ] {
            let mut fields = names.map(|name| (name, odd)).to_vec();
            fields.extend([("labels_shown", "1"), ("authenticity_token", token.as_str())]);
            let seen = root.post(address, &fields).0;
            let is_answered = matches!(seen.status, 303 | 400 | 403 | 404 | 409 | 422);
            assert!(is_answered, "{address} {odd:?}: {} {}", seen.status, seen.text());
            // Without any field but the token.
            let seen = root.post(address, &[("authenticity_token", token.as_str())]).0;
            assert!(seen.status < 500, "{address}: {} {}", seen.status, seen.text());
        }
    }
}

fn ids_of_other_projects_reach_nothing(forge: &Forge) {
    let (ship, _) = project(forge, "ship", "20");
    let (boat, _) = project(forge, "boat", "0");
    member(forge, ship, "ada", "40");
    issue(forge, ship, &[("title", "Seen")]);
    let hidden = issue(forge, boat, &[("title", "Hidden"), ("labels", "bug")]);
    let path = format!("/projects/{boat}");
    let note = forge.post(&format!("{path}/issues/{}/notes", hidden["id"])).token(ROOT);
    let note = note.form(&[("body", "hidden")]).send().expect(201)["id"].to_string();
    let milestone = forge.post(&format!("{path}/milestones")).token(ROOT);
    let milestone = milestone.form(&[("title", "1.0")]).send().expect(201)["id"].to_string();
    let label =
        forge.get(&format!("{path}/labels")).token(ROOT).send().expect(200)[0]["id"].to_string();
    let environment = forge.post(&format!("{path}/environments")).token(ROOT);
    let environment = environment.form(&[("name", "live")]).send().expect(201)["id"].to_string();
    let root = Browser::signed_in(forge, "root");
    let lists = root.get("/root/boat/boards").page(200).attributes("main form", "action");
    let board = lists[0].split('/').nth(4).expect("the id of the board").to_owned();
    let ada = Browser::signed_in(forge, "ada");
    let here = "/root/ship/issues/1";
    for (address, fields) in [
        (format!("{here}/notes/{note}"), &[("note", "changed")][..]),
        (format!("{here}/notes/{note}/delete"), &[]),
        (format!("{here}/notes/{note}/award"), &[("name", "tada")]),
        (format!("/root/ship/milestones/{milestone}/edit"), &[("title", "x")]),
        (format!("/root/ship/milestones/{milestone}/delete"), &[]),
        (format!("/root/ship/milestones/{milestone}/state"), &[("state_event", "close")]),
        (format!("/root/ship/labels/{label}/edit"), &[("title", "x"), ("color", "#000000")]),
        (format!("/root/ship/labels/{label}/delete"), &[]),
        (format!("/root/ship/labels/{label}/subscribe"), &[]),
        (format!("/root/ship/environments/{environment}/edit"), &[("name", "x")]),
        (format!("/root/ship/environments/{environment}/delete"), &[]),
        (format!("/root/ship/boards/{board}/lists/default"), &[]),
        (format!("/root/boat/issues/1/notes/{note}"), &[("note", "changed")]),
        ("/root/boat/issues/1/todo".to_owned(), &[]),
        ("/root/boat/issues/bulk".to_owned(), &[("iid", "1"), ("state_event", "close")]),
    ] {
        let status = ada.post_from(here, &address, fields).0.status;
        assert!(matches!(status, 403 | 404), "{address}: {status}");
    }
    for address in [
        format!("/root/ship/milestones/{milestone}"),
        format!("/root/ship/environments/{environment}"),
    ] {
        assert_eq!(ada.get(&address).0.status, 404, "{address}");
    }
    // A milestone of another project is not taken, and changes nothing.
    let fields =
        [("title", "New"), ("milestone_id", milestone.as_str()), ("assignee_id", "999999")];
    let sent = ada.post_from("/root/ship/issues/new", "/root/ship/issues", &fields).0.status;
    assert!(matches!(sent, 303 | 422), "{sent}");
    assert!(root.get("/root/boat/issues/1").page(200).1.contains("hidden"));
    let goal = root.get(&format!("/root/boat/milestones/{milestone}")).page(200);
    assert_eq!((goal.heading(), goal.all("ul[aria-label=Issues] li").len()), ("1.0".to_owned(), 0));
}

/// Markdown and names that try to run something.
const SCRIPTS: &str = "<img src=x onerror=alert(1)> [x](javascript:alert(1)) <a href=\"data:text/html,x\">y</a> \
                       <svg onload=alert(1)></svg> <style>*{}</style> <iframe src=//evil.test></iframe> \
                       ![z](http://evil.test/a.png) </textarea></title><script>alert(1)</script>";

fn hostile_texts_run_nothing(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    let title = "</title><script>alert(1)</script>";
    issue(forge, id, &[("title", title), ("description", SCRIPTS)]);
    let root = Browser::signed_in(forge, "root");
    let fields = [("title", title), ("description", SCRIPTS)];
    root.post_from("/root/ship/milestones/new", "/root/ship/milestones", &fields);
    root.post_from("/root/ship/issues/1", "/root/ship/issues/1/notes", &[("note", SCRIPTS)]);
    root.post_from("/root/ship/issues/1", "/root/ship/issues/1/todo", &[]);
    let snippet = [("title", title), ("file_name", "a"), ("content", SCRIPTS)];
    let made = root.post_from(
        "/snippets/new",
        "/snippets",
        &[&snippet[..], &[("visibility_level", "20")]].concat(),
    );
    let snippet = made.0.header("Location").expect("it was made").to_owned();
    let milestones = root.get("/root/ship/milestones").page(200);
    let milestone = milestones.attributes("ul[aria-label=Milestones] a", "href").remove(0);
    for page in [
        "/root/ship/issues",
        "/root/ship/issues/1",
        "/root/ship/issues/1/edit",
        "/root/ship/boards",
        "/root/ship/labels",
        "/root/ship/milestones",
        &milestone,
        &snippet,
        "/dashboard/todos",
        "/dashboard/milestones",
        "/dashboard/labels",
        "/dashboard/snippets",
        "/dashboard/activity",
        "/root/ship/activity",
    ] {
        let seen = root.get(page).page(200);
        let scripts = seen.attributes("script", "src");
        assert!(seen.all("script").len() == scripts.len(), "{page} has a script of its own");
        assert!(scripts.iter().all(|address| address.starts_with("/-/assets/")), "{page}");
        for wrong in
            ["[onerror]", "[onload]", "[onclick]", "[style]", "iframe", "style", "svg[onload]"]
        {
            assert!(seen.all(wrong).is_empty(), "{page} has {wrong}");
        }
        for link in seen.attributes("a", "href") {
            assert!(
                !link.starts_with("javascript:") && !link.starts_with("data:"),
                "{page}: {link}"
            );
        }
        for picture in seen.attributes("img", "src") {
            assert!(!picture.contains("evil.test"), "{page}: {picture}");
        }
        let policy =
            root.get(page).0.header("Content-Security-Policy").unwrap_or_default().to_owned();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{page}: {policy}");
    }
}

fn huge_texts_are_refused_and_kept(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    issue(forge, id, &[("title", "One")]);
    user(forge, "ada");
    let ada = Browser::signed_in(forge, "ada");
    let (page, notes) = ("/root/ship/issues/1", "/root/ship/issues/1/notes");
    let fits = format!("start {}", "x ".repeat(400_000));
    assert_eq!(ada.post_from(page, notes, &[("note", &fits)]).0.status, 303);
    assert!(ada.get(page).page(200).all("article .prose")[0].starts_with("start x"));
    let long = "y".repeat((1 << 20) + 1);
    let refused = ada.post_from(page, notes, &[("note", &long)]).page(422);
    assert_eq!(refused.attributes("textarea#note", "aria-invalid"), ["true"]);
    assert_eq!(refused.all("textarea#note")[0].len(), long.len(), "nothing typed is lost");
    let title = "t".repeat(256);
    let wrong = ada.post_from("/root/ship/issues/new", "/root/ship/issues", &[("title", &title)]);
    assert_eq!(wrong.page(422).attributes("#title", "value"), [title]);
    // Brackets and quotes of markdown nest without end.
    for deep in ["> ".repeat(20_000), "[".repeat(50_000), "*".repeat(50_000), "- ".repeat(20_000)] {
        assert_eq!(ada.post_from(page, notes, &[("note", &deep)]).0.status, 303);
        assert_eq!(ada.get(page).0.status, 200);
    }
}
