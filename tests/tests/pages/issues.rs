//! The pages of issues.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::Value;

use super::support::{Browser, Page, project, user};

on_every_store!(
    issues_are_listed_and_filtered,
    an_issue_is_created_edited_and_discussed,
    two_editors_see_both_texts,
    people_see_issues_by_their_role,
    names_in_texts_are_links_to_what_the_reader_may_see,
    comments_belong_to_their_authors,
    an_issue_is_moved_and_deleted,
    several_issues_are_changed_at_once,
    issues_have_a_feed,
    comments_get_emoji_and_issues_todos,
    an_issue_names_the_merge_requests_that_mention_it,
);

/// Adds a user to a project with a role.
pub fn member(forge: &Forge, project: i64, username: &str, level: &str) -> i64 {
    let id = user(forge, username);
    let add = forge.post(&format!("/projects/{project}/members")).token(ROOT);
    add.form(&[("user_id", &id.to_string()), ("access_level", level)]).send().expect(201);
    id
}

/// Creates an issue by the interface, as the administrator.
pub fn issue(forge: &Forge, project: i64, fields: &[(&str, &str)]) -> Value {
    let new = forge.post(&format!("/projects/{project}/issues")).token(ROOT);
    new.form(fields).send().expect(201)
}

/// The names of the buttons in a form.
pub fn buttons(page: &Page, form: &str) -> Vec<String> {
    page.all(&format!("form[aria-label='{form}'] button"))
}

fn issues_are_listed_and_filtered(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    let ada = member(forge, id, "ada", "30");
    issue(forge, id, &[("title", "Paint <it>"), ("labels", "bug,two words")]);
    let assigned = [("title", "Engine"), ("assignee_id", &ada.to_string())];
    issue(forge, id, &assigned);
    let closed = issue(forge, id, &[("title", "Old")])["id"].clone();
    let close = forge.put(&format!("/projects/{id}/issues/{closed}")).token(ROOT);
    close.form(&[("state_event", "close")]).send().expect(200);
    let browser = Browser::signed_in(forge, "ada");
    let titles = |query: &str| {
        let page = browser.get(&format!("/root/ship/issues{query}")).page(200);
        assert_eq!(page.heading(), "Issues");
        page.all("ul[aria-label=Issues] .title a")
    };
    let page = browser.get("/root/ship/issues").page(200);
    assert_eq!(page.all("title"), ["Issues · root/ship · hexforge"]);
    assert_eq!(page.all(".tabs a"), ["Open 2", "Closed 1", "All 3"]);
    assert_eq!(
        page.all("form[aria-label=Filter] label"),
        ["Text", "Author", "Assignee", "Milestone", "Label", "Sort"]
    );
    assert!(page.all("main a").contains(&"New issue".to_owned()));
    let bug = "bug".to_owned();
    assert!(page.all("form[aria-label=Filter] option").contains(&bug));
    for (query, expected) in [
        ("", vec!["Engine", "Paint <it>"]),
        ("?state=closed", vec!["Old"]),
        ("?state=all", vec!["Old", "Engine", "Paint <it>"]),
        ("?state=all&sort=created_asc", vec!["Paint <it>", "Engine", "Old"]),
        ("?search=PAINT", vec!["Paint <it>"]),
        (&format!("?assignee_id={ada}"), vec!["Engine"]),
        (&format!("?author_id={ada}"), vec![]),
        ("?label_name[]=bug", vec!["Paint <it>"]),
        ("?label_name%5B%5D=bug&label_name%5B%5D=two%20words", vec!["Paint <it>"]),
        ("?label_name[]=none", vec![]),
        ("?milestone_title=1.0", vec![]),
        ("?page=9", vec![]),
        ("?page=x&sort=x&state=x&author_id=x", vec!["Engine", "Paint <it>"]),
    ] {
        assert_eq!(titles(query), expected, "{query}");
    }
    let page = browser.get("/root/ship/issues?search=nothing").page(200);
    assert_eq!(page.all(".empty"), ["There are no issues to show."]);
    assert_eq!(page.all(".tabs a"), ["Open 0", "Closed 0", "All 0"]);
    for number in 0..20 {
        issue(forge, id, &[("title", &format!("More {number}"))]);
    }
    assert_eq!(titles("").len(), 20);
    let page = browser.get("/root/ship/issues").page(200);
    let next = page.attributes("nav[aria-label=Pages] a[rel=next]", "href").remove(0);
    assert_eq!(browser.get(&next).page(200).all("ul[aria-label=Issues] .title a").len(), 2);
    browser.get("/Root/Ship/issues?state=all").redirects(301, "/root/ship/issues?state=all");
}

fn an_issue_is_created_edited_and_discussed(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    let ada = member(forge, id, "ada", "20").to_string();
    let label = forge.post(&format!("/projects/{id}/labels")).token(ROOT);
    label.form(&[("name", "bug"), ("color", "#ff0000")]).send().expect(200);
    let browser = Browser::signed_in(forge, "ada");
    let form =
        browser.get("/root/ship/issues/new?issue[title]=Leak&issue[description]=b").page(200);
    assert_eq!(form.heading(), "New issue");
    let form_of = |selector: &str| format!("form[aria-label='New issue'] {selector}");
    assert_eq!(form.attributes(&form_of("#title"), "value"), ["Leak"]);
    assert_eq!(form.all(&form_of("textarea")), ["b"]);
    assert_eq!(buttons(&form, "New issue"), ["Submit issue", "Preview"]);
    assert_eq!(form.all(&form_of("fieldset legend")), ["Labels"]);
    let send = |fields: &[(&str, &str)]| {
        browser.post_from("/root/ship/issues/new", "/root/ship/issues", fields)
    };
    let empty = send(&[("title", " "), ("description", "kept *text*")]).page(422);
    assert_eq!(empty.attributes("#title", "aria-invalid"), ["true"]);
    assert_eq!(empty.all("[role=alert] li"), ["Title can't be blank."]);
    assert_eq!(empty.all("textarea#description"), ["kept *text*"]);
    let late = send(&[("title", "x"), ("due_date", "tomorrow")]).page(422);
    assert_eq!(late.attributes("#due_date", "aria-invalid"), ["true"]);
    let preview = send(&[("title", "x"), ("description", "**fat**"), ("preview", "1")]).page(200);
    assert_eq!(preview.all("section[aria-label=Preview] strong"), ["fat"]);
    assert_eq!(preview.all("textarea#description"), ["**fat**"]);
    let fields = [
        ("title", "Leak <b>"),
        ("description", "# Big\n\n- [x] done\n\n<script>1</script>"),
        ("assignee_id", ada.as_str()),
        ("labels_shown", "1"),
        ("label_name", "bug"),
        ("due_date", "2030-02-03"),
        ("confidential", "1"),
    ];
    send(&fields).redirects(303, "/root/ship/issues/1");
    let page = browser.get("/root/ship/issues/1").page(200);
    assert_eq!(page.all("[role=status]"), ["It was created."]);
    assert_eq!(page.heading(), "Leak <b>");
    assert_eq!(page.all("title"), ["Leak <b> (#1) · root/ship · hexforge"]);
    assert_eq!(page.all(".state"), ["Open"]);
    assert_eq!(page.all("section[aria-label=Description] h3"), ["Big"]);
    assert!(!page.1.contains("<script>1"));
    let details = page.all("aside[aria-label=Details] dd");
    assert_eq!(details, ["ada", "none", "bug", "2030-02-03", "ada"]);
    assert_eq!(page.attributes("aside circle", "fill"), ["#ff0000"]);
    assert!(page.1.contains("confidential"));
    assert_eq!(buttons(&page, "Add a comment"), ["Comment", "Preview", "Close issue"]);
    let comment = |fields: &[(&str, &str)]| {
        browser.post_from("/root/ship/issues/1", "/root/ship/issues/1/notes", fields)
    };
    let empty = comment(&[("note", "")]).page(422);
    assert_eq!(empty.attributes("textarea#note", "aria-invalid"), ["true"]);
    let shown = comment(&[("note", "_so_"), ("preview", "1")]).page(200);
    assert_eq!(shown.all("section[aria-label=Preview] em"), ["so"]);
    let done = comment(&[("note", "First!")]);
    let address = done.0.header("Location").expect("it redirects").to_owned();
    assert!(address.starts_with("/root/ship/issues/1#note_"), "{address}");
    let page = browser.get("/root/ship/issues/1").page(200);
    let anchor = address.split_once('#').expect("an anchor").1;
    assert_eq!(
        page.all(&format!("li#{anchor} article[aria-label='Comment by ada'] p")),
        ["First!"]
    );
    comment(&[("note", "Closing"), ("state_event", "close")]);
    let page = browser.get("/root/ship/issues/1").page(200);
    assert_eq!(page.all(".state"), ["Closed"]);
    assert_eq!(page.all("ol[aria-label=Discussion] article").len(), 2);
    assert!(page.all(".system").iter().any(|note| note.ends_with("closed")), "{}", page.1);
    assert_eq!(buttons(&page, "Add a comment"), ["Comment", "Preview", "Reopen issue"]);
    comment(&[("note", ""), ("state_event", "reopen")]).redirects(303, "/root/ship/issues/1");
    assert_eq!(browser.get("/root/ship/issues/1").page(200).all(".state"), ["Open"]);
    let post = |verb: &str, fields: &[(&str, &str)]| {
        let target = format!("/root/ship/issues/1/{verb}");
        browser.post_from("/root/ship/issues/1", &target, fields)
    };
    let subscription = || browser.get("/root/ship/issues/1").page(200).all("aside form button");
    assert!(subscription().contains(&"Unsubscribe".to_owned()), "authors are subscribed");
    post("unsubscribe", &[]).redirects(303, "/root/ship/issues/1");
    assert!(subscription().contains(&"Subscribe".to_owned()));
    post("subscribe", &[]).redirects(303, "/root/ship/issues/1");
    post("award", &[("name", "tada")]).redirects(303, "/root/ship/issues/1");
    let given = || browser.get("/root/ship/issues/1").page(200).all("button[aria-pressed]");
    assert_eq!(given(), [":tada: 1"]);
    post("award", &[("name", "tada")]).redirects(303, "/root/ship/issues/1");
    assert!(given().is_empty());
    assert_eq!(post("award", &[("name", "no such")]).0.status, 422);
}

fn two_editors_see_both_texts(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    issue(forge, id, &[("title", "One"), ("description", "first")]);
    member(forge, id, "ada", "20");
    let (ada, root) = (Browser::signed_in(forge, "ada"), Browser::signed_in(forge, "root"));
    let address = "/root/ship/issues/1/edit";
    let seen = |browser: &Browser<'_>| {
        let page = browser.get(address).page(200);
        assert_eq!(page.heading(), "Edit issue");
        assert_eq!(buttons(&page, "Edit issue"), ["Save changes", "Preview"]);
        page.attributes("input[name=seen]", "value").remove(0)
    };
    let (of_ada, of_root) = (seen(&ada), seen(&root));
    let save = |browser: &Browser<'_>, seen: &str, text: &str| {
        let fields = [("title", "One"), ("description", text), ("seen", seen)];
        browser.post_from(address, address, &fields)
    };
    // A comment is no edit.
    root.post_from("/root/ship/issues/1", "/root/ship/issues/1/notes", &[("note", "hm")]);
    save(&ada, &of_ada, "second").redirects(303, "/root/ship/issues/1");
    let conflict = save(&root, &of_root, "third").page(409);
    assert_eq!(conflict.all("section[aria-label='Stored meanwhile'] pre"), ["second"]);
    assert_eq!(conflict.all("textarea#description"), ["third"]);
    let again = conflict.attributes("input[name=seen]", "value").remove(0);
    let stored = || ada.get("/root/ship/issues/1").page(200).all("section[aria-label=Description]");
    assert_eq!(stored(), ["second"]);
    save(&root, &again, "third").redirects(303, "/root/ship/issues/1");
    assert_eq!(stored(), ["third"]);
    let empty = ada.post_from(address, address, &[("title", ""), ("seen", &seen(&ada))]).page(422);
    assert_eq!(empty.attributes("#title", "aria-invalid"), ["true"]);
}

fn people_see_issues_by_their_role(forge: &Forge) {
    let ids =
        [("private", "0"), ("public", "20")].map(|(name, level)| project(forge, name, level).0);
    for id in ids {
        issue(forge, id, &[("title", "Seen")]);
        issue(forge, id, &[("title", "Secret"), ("confidential", "true")]);
    }
    for (name, level) in [("guest", "10"), ("reporter", "20"), ("master", "40")] {
        let id = user(forge, name).to_string();
        for project in ids {
            let add = forge.post(&format!("/projects/{project}/members")).token(ROOT);
            add.form(&[("user_id", &id), ("access_level", level)]).send().expect(201);
        }
    }
    user(forge, "other");
    let stranger = Browser::stranger(forge);
    let hidden = stranger.get("/root/private/issues/1").page(404).1;
    let missing = stranger.get("/root/private/issues/9").page(404).1;
    let missing = missing.replace("issues%2F9", "issues%2F1").replace("issues/9", "issues/1");
    assert_eq!(hidden, missing);
    stranger
        .get("/root/public/issues/new")
        .redirects(302, "/users/sign_in?return_to=%2Froot%2Fpublic%2Fissues%2Fnew");
    assert_eq!(stranger.get("/root/private/issues/new").0.status, 404, "it is hidden");
    for (who, private, public, secret, edit) in [
        (None, 404, 404, 404, 404),
        (Some("other"), 404, 200, 404, 404),
        (Some("guest"), 200, 200, 404, 404),
        (Some("reporter"), 200, 200, 200, 200),
        (Some("master"), 200, 200, 200, 200),
        (Some("root"), 200, 200, 200, 200),
    ] {
        let browser = match who {
            Some(name) => Browser::signed_in(forge, name),
            None => Browser::stranger(forge),
        };
        for (address, expected) in [
            ("/root/private/issues", private),
            ("/root/private/issues/1", private),
            ("/root/public/issues", public),
            ("/root/public/issues/1", public),
            ("/root/public/issues/2", secret),
            ("/root/public/issues/1/edit", edit),
            ("/root/public/issues/3", 404),
            ("/root/public/issues/x", 404),
        ] {
            assert_eq!(browser.get(address).0.status, expected, "{who:?} {address}");
        }
        if public == 200 {
            let page = browser.get("/root/public/issues").page(200);
            let count = if secret == 200 { "Open 2" } else { "Open 1" };
            assert_eq!(page.all(".tabs a")[0], count, "{who:?}");
            let page = browser.get("/root/public/issues/1").page(200);
            let has_edit = page.all("main a").contains(&"Edit".to_owned());
            assert_eq!(has_edit, edit == 200, "{who:?}");
            assert_eq!(buttons(&page, "Add a comment").len(), if edit == 200 { 3 } else { 2 });
        }
    }
    let other = Browser::signed_in(forge, "other");
    for (address, fields) in [
        ("/root/public/issues/1/edit", &[("title", "x")][..]),
        ("/root/public/issues/1/delete", &[]),
        ("/root/public/issues/1/notes", &[("state_event", "close")]),
    ] {
        let status = other.post_from("/root/public/issues/1", address, fields).0.status;
        assert!(matches!(status, 403 | 404), "{address} {status}");
    }
    let page = other.get("/root/public/issues/1").page(200);
    assert_eq!((page.heading(), page.all(".state")), ("Seen".to_owned(), vec!["Open".to_owned()]));
    let off = forge.put(&format!("/projects/{}", ids[1])).token(ROOT);
    off.form(&[("name", "public"), ("issues_enabled", "false")]).send().expect(200);
    assert_eq!(other.get("/root/public/issues").0.status, 404);
}

fn names_in_texts_are_links_to_what_the_reader_may_see(forge: &Forge) {
    let (hidden, _) = project(forge, "hidden", "0");
    issue(forge, hidden, &[("title", "Hidden")]);
    let (id, _) = project(forge, "ship", "20");
    issue(forge, id, &[("title", "First"), ("labels", "two words")]);
    issue(forge, id, &[("title", "Secret"), ("confidential", "true")]);
    user(forge, "ada");
    let page = Browser::signed_in(forge, "ada").get("/root/ship/commits/master").page(200);
    let commit = page.attributes("ul[aria-label=Commits] .title a", "href").remove(0);
    let sha = commit.rsplit('/').next().expect("an id").to_owned();
    let text = format!(
        "#1 #2 #99 root/hidden#1 @ada @nobody ~\"two words\" ~none {} `#1` [#1](https://e.test)",
        &sha[..10]
    );
    issue(forge, id, &[("title", "Names"), ("description", &text)]);
    let links = |who: &str| {
        let page = Browser::signed_in(forge, who).get("/root/ship/issues/3").page(200);
        page.attributes("section[aria-label=Description] a", "href")
    };
    let label = "/root/ship/issues?label_name%5B%5D=two%20words".to_owned();
    let [first, secret] = ["1", "2"].map(|iid| format!("/root/ship/issues/{iid}"));
    let (person, foreign) = ("/ada".to_owned(), "https://e.test".to_owned());
    assert_eq!(links("ada"), [&first, &person, &label, &commit, &foreign].map(String::clone));
    let elsewhere = "/root/hidden/issues/1".to_owned();
    let all = [&first, &secret, &elsewhere, &person, &label, &commit, &foreign];
    assert_eq!(links("root"), all.map(String::clone));
}

fn comments_belong_to_their_authors(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    issue(forge, id, &[("title", "One")]);
    member(forge, id, "ada", "30");
    member(forge, id, "bob", "30");
    let (ada, bob) = (Browser::signed_in(forge, "ada"), Browser::signed_in(forge, "bob"));
    let page = "/root/ship/issues/1";
    let written = ada.post_from(page, "/root/ship/issues/1/notes", &[("note", "mine")]);
    let address = written.0.header("Location").expect("it redirects").to_owned();
    let note = address.rsplit('_').next().expect("an id").to_owned();
    let target = format!("{page}/notes/{note}");
    let own = ada.get(page).page(200);
    assert_eq!(buttons(&own, &format!("Edit comment {note}")), [format!("Save comment {note}")]);
    let delete = format!("Delete comment {note}");
    assert!(own.all("button").contains(&delete));
    assert!(!bob.get(page).page(200).all("button").contains(&delete));
    assert_eq!(bob.post_from(page, &target, &[("note", "his")]).0.status, 403);
    assert_eq!(bob.post_from(page, &format!("{target}/delete"), &[]).0.status, 403);
    let body = || ada.get(page).page(200).all(&format!("li#note_{note} .prose"));
    assert_eq!(body(), ["mine"]);
    assert_eq!(ada.post_from(page, &target, &[("note", " ")]).0.status, 422);
    ada.post_from(page, &target, &[("note", "changed")]).redirects(303, &address);
    assert_eq!(body(), ["changed"]);
    ada.post_from(page, &format!("{target}/delete"), &[]).redirects(303, page);
    assert!(body().is_empty());
    assert_eq!(ada.post(&format!("{page}/notes"), &[("note", "forged")]).0.status, 403);
    assert!(ada.get(page).page(200).all("ol[aria-label=Discussion] article").is_empty());
}

fn an_issue_is_moved_and_deleted(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    project(forge, "boat", "20");
    issue(forge, id, &[("title", "One")]);
    let root = Browser::signed_in(forge, "root");
    let page = "/root/ship/issues/1";
    let moved =
        |target: &str| root.post_from(page, "/root/ship/issues/1/move", &[("to_project", target)]);
    let missing = moved("root/nothing").page(422);
    assert_eq!(missing.attributes("#to_project", "value"), ["root/nothing"]);
    assert_eq!(moved("root/ship").0.status, 422);
    moved("root/boat").redirects(303, "/root/boat/issues/1");
    let old = root.get(page).page(200);
    assert_eq!(
        (old.all(".state"), old.all(".notice a")),
        (vec!["Closed".to_owned()], vec!["root/boat#1".to_owned()])
    );
    root.post_from(page, "/root/ship/issues/1/delete", &[]).redirects(303, "/root/ship/issues");
    assert_eq!(root.get(page).0.status, 404);
}

fn several_issues_are_changed_at_once(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    for (title, labels) in [("One", "bug"), ("Two", "old"), ("Three", "old")] {
        issue(forge, id, &[("title", title), ("labels", labels)]);
    }
    member(forge, id, "ada", "20");
    user(forge, "other");
    let (ada, other) = (Browser::signed_in(forge, "ada"), Browser::signed_in(forge, "other"));
    let (list, bulk) = ("/root/ship/issues", "/root/ship/issues/bulk");
    let page = ada.get(list).page(200);
    assert_eq!(page.attributes("input[form=several]", "aria-label").len(), 3);
    assert_eq!(buttons(&page, "Change selected issues"), ["Change selected"]);
    assert!(other.get(list).page(200).attributes("input[form=several]", "value").is_empty());
    let fields = [
        ("iid", "1"),
        ("iid", "2"),
        ("iid", "99"),
        ("state_event", "close"),
        ("add_label", "bug"),
        ("remove_label", "old"),
    ];
    assert_eq!(other.post_from(list, bulk, &fields).0.status, 403);
    ada.post_from(list, bulk, &fields).redirects(303, list);
    for (iid, state, labels) in
        [("1", "Closed", vec!["bug"]), ("2", "Closed", vec!["bug"]), ("3", "Open", vec!["old"])]
    {
        let page = ada.get(&format!("{list}/{iid}")).page(200);
        assert_eq!(page.all(".state"), [state], "{iid}");
        assert_eq!(page.all("aside .chip"), labels, "{iid}");
    }
    ada.post_from(list, bulk, &[("iid", "1"), ("state_event", "reopen")]).redirects(303, list);
    assert_eq!(ada.get("/root/ship/issues/1").page(200).all(".state"), ["Open"]);
    ada.post_from(list, bulk, &[("state_event", "close")]).redirects(303, list);
    assert_eq!(ada.get(list).page(200).all("[role=alert]").len(), 1, "nothing was chosen");
    assert_eq!(ada.post(bulk, &fields).0.status, 403, "there is no token");
}

fn issues_have_a_feed(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    issue(forge, id, &[("title", "Paint <it>"), ("description", "& more")]);
    issue(forge, id, &[("title", "Secret"), ("confidential", "true")]);
    user(forge, "ada");
    let ada = Browser::signed_in(forge, "ada");
    let page = ada.get("/root/ship/issues").page(200);
    let feed = "/root/ship/issues.atom";
    assert_eq!(page.all(&format!("main a[href='{feed}']")), ["Feed"]);
    assert_eq!(page.attributes("link[rel=alternate]", "href"), [feed]);
    let seen = ada.get(feed).0;
    assert_eq!(seen.status, 200);
    assert_eq!(seen.header("Content-Type"), Some("application/atom+xml; charset=utf-8"));
    let text = seen.text();
    assert!(text.contains("Paint &#60;it&#62;") || text.contains("Paint &lt;it&gt;"), "{text}");
    assert!(text.contains("/root/ship/issues/1") && !text.contains("Secret"), "{text}");
    let stranger = Browser::stranger(forge);
    assert_eq!(stranger.get(feed).0.status, 404);
    let by_token = stranger.get(&format!("{feed}?private_token={ROOT}")).0;
    assert!(by_token.status == 200 && by_token.text().contains("Secret"));
    assert_eq!(stranger.get("/root/none/issues.atom").0.status, 404);
}

fn comments_get_emoji_and_issues_todos(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    issue(forge, id, &[("title", "One")]);
    user(forge, "ada");
    let (ada, root) = (Browser::signed_in(forge, "ada"), Browser::signed_in(forge, "root"));
    let page = "/root/ship/issues/1";
    let written = root.post_from(page, &format!("{page}/notes"), &[("note", "mine")]);
    let address = written.0.header("Location").expect("it redirects").to_owned();
    let note = address.rsplit('_').next().expect("an id").to_owned();
    let award = format!("{page}/notes/{note}/award");
    ada.post_from(page, &award, &[("name", ":tada:")]).redirects(303, &address);
    let given = || ada.get(page).page(200).all(&format!("#note_{note} button[aria-pressed]"));
    assert_eq!(given(), [":tada: 1"]);
    ada.post_from(page, &award, &[("name", "tada")]).redirects(303, &address);
    assert!(given().is_empty(), "it is taken back");
    ada.post_from(page, &award, &[("name", "no such emoji")]).redirects(303, &address);
    assert_eq!(ada.get(page).page(200).all("[role=alert]").len(), 1);
    let elsewhere = format!("{page}/notes/999999/award");
    assert_eq!(ada.post_from(page, &elsewhere, &[("name", "tada")]).0.status, 404);
    let todo = format!("{page}/todo");
    let todos =
        || ada.get("/dashboard/todos").page(200).all("ul[aria-label=Todos] li a:nth-child(2)");
    ada.post_from(page, &todo, &[]).redirects(303, page);
    ada.post_from(page, &todo, &[]).redirects(303, page);
    assert_eq!(todos(), ["One"]);
    let has = |name: &str| ada.get(page).page(200).all("aside button").contains(&name.to_owned());
    assert!(has("Mark todo as done") && !has("Add todo"));
    ada.post_from(page, &todo, &[("state_event", "done")]).redirects(303, page);
    assert!(todos().is_empty() && has("Add todo"));
}

fn an_issue_names_the_merge_requests_that_mention_it(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "0");
    tree.git(&["checkout", "--quiet", "-b", "topic"]);
    tree.write("topic.txt", "topic\n");
    tree.commit("Work");
    forge.fill(id, &tree);
    member(forge, id, "gus", "10");
    member(forge, id, "rob", "20");
    issue(forge, id, &[("title", "Paint")]);
    issue(forge, id, &[("title", "Other")]);
    let request = |title: &str, target: &str, description: &str| {
        let branches = forge.post(&format!("/projects/{id}/repository/branches")).token(ROOT);
        branches.form(&[("branch_name", target), ("ref", "master")]).send().expect(200);
        let fields = [
            ("source_branch", "topic"),
            ("target_branch", target),
            ("title", title),
            ("description", description),
        ];
        let new = forge.post(&format!("/projects/{id}/merge_requests")).token(ROOT);
        new.form(&fields).send().expect(201)
    };
    let first = request("Closes <it>", "one", "Closes #1");
    request("Nothing", "two", "See #2");
    let third = request("By a comment", "three", "");
    let notes = format!("/projects/{id}/merge_requests/{}/notes", third["id"]);
    forge.post(&notes).token(ROOT).form(&[("body", "As in #1")]).send().expect(201);
    let close = format!("/projects/{id}/merge_requests/{}", first["id"]);
    forge.put(&close).token(ROOT).form(&[("state_event", "close")]).send().expect(200);
    let list = "ul[aria-label='Related merge requests']";
    for (name, expected) in [
        ("root", vec!["!3 By a comment Open", "!1 Closes <it> Closed"]),
        ("rob", vec!["!3 By a comment Open", "!1 Closes <it> Closed"]),
        // Guests of a private project may not read its merge requests.
        ("gus", vec![]),
    ] {
        let page = Browser::signed_in(forge, name).get("/root/ship/issues/1").page(200);
        assert_eq!(page.all(&format!("{list} li")), expected, "{name}");
        assert_eq!(page.faults(), Vec::<String>::new());
    }
    let browser = Browser::signed_in(forge, "root");
    let page = browser.get("/root/ship/issues/1").page(200);
    let links = page.attributes(&format!("{list} a"), "href");
    assert_eq!(links, ["/root/ship/merge_requests/3", "/root/ship/merge_requests/1"]);
    let off = forge.put(&format!("/projects/{id}")).token(ROOT);
    off.form(&[("name", "ship"), ("merge_requests_enabled", "false")]).send().expect(200);
    let page = browser.get("/root/ship/issues/1").page(200);
    assert!(page.all(list).is_empty(), "merge requests are disabled");
}
