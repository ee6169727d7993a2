//! The pages of merge requests, and the dashboards of issues and merge requests.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, WorkTree, on_every_store};

use super::issues::{buttons, issue, member};
use super::support::{Browser, project, user};

on_every_store!(
    a_merge_request_is_created_discussed_and_merged,
    a_comment_is_stored_only_with_its_change_of_the_state,
    lines_of_the_changes_are_commented,
    conflicts_are_told,
    people_see_merge_requests_by_their_role,
    dashboards_show_own_things,
    two_editors_of_a_merge_request_see_both_texts,
    a_merge_request_names_the_issues_that_it_closes,
);

/// A project with a branch that changes a file.
pub fn with_topic(forge: &Forge, name: &str, visibility: &str) -> (i64, WorkTree) {
    let (id, tree) = project(forge, name, visibility);
    tree.git(&["checkout", "-q", "-b", "topic"]);
    tree.write("src/a/main.rs", "fn main() {\n    println!(\"<i>\");\n}\n").commit("Second");
    forge.fill(id, &tree);
    (id, tree)
}

/// Creates a merge request by the interface, as the administrator.
pub fn request(forge: &Forge, project: i64, more: &[(&str, &str)]) {
    let fields = [("source_branch", "topic"), ("target_branch", "master"), ("title", "Second")];
    let fields: Vec<_> = fields.iter().chain(more).copied().collect();
    let new = forge.post(&format!("/projects/{project}/merge_requests")).token(ROOT);
    new.form(&fields).send().expect(201);
}

fn a_comment_is_stored_only_with_its_change_of_the_state(forge: &Forge) {
    let (id, _) = with_topic(forge, "ship", "20");
    issue(forge, id, &[("title", "One")]);
    request(forge, id, &[]);
    member(forge, id, "bob", "10");
    let (bob, root) = (Browser::signed_in(forge, "bob"), Browser::signed_in(forge, "root"));
    for one in ["/root/ship/issues/1", "/root/ship/merge_requests/1"] {
        let notes = format!("{one}/notes");
        let fields = [("note", "his"), ("state_event", "close")];
        let refused = bob.post_from(one, &notes, &fields).page(403);
        assert!(refused.1.contains("Nothing was changed"), "{}", refused.1);
        let comments = || root.get(one).page(200).all("ol[aria-label=Discussion] .prose");
        assert!(comments().is_empty(), "{one}: {:?}", comments());
        let fields = [("note", "hers"), ("state_event", "close")];
        let done = root.post_from(one, &notes, &fields).0;
        assert_eq!(done.status, 303);
        assert!(done.header("Location").unwrap_or_default().contains("#note_"), "{one}");
        assert_eq!(comments()[0], "hers", "{one}");
        assert_eq!(root.get(one).page(200).all(".state"), ["Closed"], "{one}");
        root.post_from(one, &notes, &[("note", " "), ("state_event", "reopen")])
            .redirects(303, one);
        assert_eq!(root.get(one).page(200).all(".state"), ["Open"], "{one}");
    }
}

fn a_merge_request_is_created_discussed_and_merged(forge: &Forge) {
    let (id, _) = with_topic(forge, "ship", "20");
    member(forge, id, "ada", "40");
    let ada = Browser::signed_in(forge, "ada");
    let (list, new) = ("/root/ship/merge_requests", "/root/ship/merge_requests/new");
    let page = ada.get(list).page(200);
    assert_eq!(page.heading(), "Merge requests");
    assert_eq!(page.all(".tabs a"), ["Open 0", "Merged 0", "Closed 0", "All 0"]);
    let form = ada.get(new).page(200);
    assert_eq!(form.heading(), "New merge request");
    assert_eq!(
        form.all("form[aria-label='Select branches'] label"),
        ["Source branch", "Target branch"]
    );
    assert_eq!(buttons(&form, "Select branches"), ["Compare branches and continue"]);
    assert!(form.all("form[aria-label='New merge request']").is_empty());
    let chosen =
        format!("{new}?merge_request[source_branch]=topic&merge_request[target_branch]=master");
    let form = ada.get(&chosen).page(200);
    assert_eq!(buttons(&form, "New merge request"), ["Submit merge request", "Preview"]);
    assert_eq!(form.attributes("#title", "value"), ["Second"]);
    assert_eq!(form.all("ul[aria-label=Commits] .title a"), ["Second"]);
    assert_eq!(form.all("section[aria-label='src/a/main.rs'] tr[data-kind=added] .sign"), ["+"]);
    let create = |title: &str, more: &[(&str, &str)]| {
        let fields = [
            ("source_branch", "topic"),
            ("target_branch", "master"),
            ("title", title),
            ("description", "**why**"),
        ];
        let fields: Vec<_> = fields.iter().chain(more).copied().collect();
        ada.post_from(new, list, &fields)
    };
    let empty = create("", &[]).page(422);
    assert_eq!(empty.all("textarea#description"), ["**why**"]);
    assert_eq!(create("x", &[("preview", "1")]).page(200).all("section strong"), ["why"]);
    let one = "/root/ship/merge_requests/1";
    create("Change it", &[]).redirects(303, one);
    assert_eq!(create("Again", &[]).0.status, 422, "there is one already");
    let page = ada.get(one).page(200);
    assert_eq!(page.heading(), "Change it");
    assert_eq!(page.all("title"), ["Change it (!1) · root/ship · hexforge"]);
    assert_eq!(
        page.all("nav[aria-label='Merge request'] a"),
        ["Discussion", "Commits", "Pipelines", "Changes"]
    );
    assert_eq!(page.all("section[aria-label=Description] strong"), ["why"]);
    assert_eq!(buttons(&page, "Merge"), ["Accept merge request"]);
    assert_eq!(buttons(&page, "Add a comment"), ["Comment", "Preview", "Close merge request"]);
    let comment = |fields: &[(&str, &str)]| ada.post_from(one, &format!("{one}/notes"), fields);
    comment(&[("note", "Closing"), ("state_event", "close")]);
    let page = ada.get(one).page(200);
    assert_eq!(page.all(".state"), ["Closed"]);
    assert_eq!(page.all("article[aria-label='Comment by ada'] p"), ["Closing"]);
    assert!(page.all("form[aria-label=Merge]").is_empty());
    comment(&[("state_event", "reopen")]).redirects(303, one);
    assert_eq!(comment(&[("note", "")]).0.status, 422);
    let edit = format!("{one}/edit");
    assert_eq!(ada.get(&edit).page(200).heading(), "Edit merge request");
    let save = [("title", "Changed"), ("description", "so"), ("target_branch", "master")];
    ada.post_from(&edit, &edit, &save).redirects(303, one);
    ada.post_from(one, &format!("{one}/award"), &[("name", "tada")]).redirects(303, one);
    ada.post_from(one, &format!("{one}/unsubscribe"), &[]).redirects(303, one);
    let commits = ada.get(&format!("{one}/commits")).page(200);
    assert_eq!(commits.all("ul[aria-label=Commits] .title a"), ["Second"]);
    assert_eq!(ada.get(&format!("{one}/pipelines")).page(200).heading(), "Changed");
    ada.get(&format!("{one}/builds")).redirects(301, &format!("{one}/pipelines"));
    let merge = |sha: &str| {
        let fields = [("merge_commit_message", "Merged here"), ("sha", sha)];
        ada.post_from(one, &format!("{one}/merge"), &fields)
    };
    let refused = merge("0123456789012345678901234567890123456789").page(422);
    assert_eq!(refused.all("textarea#merge_commit_message"), ["Merged here"]);
    let sha = ada.get(one).page(200).attributes("input[name=sha]", "value").remove(0);
    merge(&sha).redirects(303, one);
    let page = ada.get(one).page(200);
    assert_eq!(page.all(".state"), ["Merged"]);
    let commits = ada.get("/root/ship/commits/master").page(200);
    assert_eq!(commits.all("ul[aria-label=Commits] .title a")[0], "Merged here");
    let page = ada.get("/root/ship/merge_requests?state=merged").page(200);
    assert_eq!(page.all("ul[aria-label='Merge requests'] .title a"), ["Changed"]);
    assert_eq!(page.all(".tabs a"), ["Open 0", "Merged 1", "Closed 0", "All 1"]);
}

fn lines_of_the_changes_are_commented(forge: &Forge) {
    let (id, _) = with_topic(forge, "ship", "20");
    request(forge, id, &[]);
    user(forge, "ada");
    let ada = Browser::signed_in(forge, "ada");
    let one = "/root/ship/merge_requests/1";
    let page = ada.get(&format!("{one}/diffs")).page(200);
    assert_eq!(page.heading(), "Second");
    let rows = "section[aria-label='src/a/main.rs'] tr";
    assert_eq!(page.all(&format!("{rows}[data-kind=added] .sign")), ["+"]);
    let link = page.attributes(&format!("{rows}[data-kind=added] a.comment"), "href").remove(0);
    let form = ada.get(&link).page(200);
    assert_eq!(buttons(&form, "Comment on line 2"), ["Comment"]);
    assert_eq!(form.all("pre.message"), ["+ println!(\"<i>\");"]);
    let send = |address: &str, text: &str| ada.post_from(&link, address, &[("note", text)]);
    assert_eq!(send(&link, "").0.status, 422);
    assert_eq!(send(&format!("{one}/diffs/comment"), "x").0.status, 422);
    let done = send(&link, "Why *this*?");
    assert_eq!(done.0.status, 303);
    let page = ada.get(one).page(200);
    assert_eq!(page.all("article[aria-label='Comment by ada'] code"), ["src/a/main.rs:2"]);
    assert_eq!(page.all("article[aria-label='Comment by ada'] em"), ["this"]);
    for layout in ["", "?view=parallel"] {
        let page = ada.get(&format!("{one}/diffs{layout}")).page(200);
        let mut names = page.attributes(&format!("{rows} a.comment"), "aria-label");
        names.sort_unstable();
        let expected = [
            "Comment on line 1",
            "Comment on line 2",
            "Comment on line 3",
            "Comment on removed line 2",
        ];
        assert_eq!(names, expected, "{layout}");
        let links = page.attributes(&format!("{rows} a[href*='old=2&next=']"), "href");
        let link = links.first().unwrap_or_else(|| panic!("{layout}: {}", page.1));
        let form = ada.get(link).page(200);
        assert_eq!(buttons(&form, "Comment on line 2"), ["Comment"]);
        assert_eq!(form.all("pre.message"), ["- println!(\"<b>\");"]);
        assert_eq!(ada.post_from(link, link, &[("note", "Gone")]).0.status, 303);
    }
    let page = ada.get(one).page(200);
    let places = page.all("article[aria-label='Comment by ada'] code");
    assert_eq!(places, ["src/a/main.rs:2"; 3]);
    let text = ada.get(&format!("{one}.diff")).0;
    assert_eq!(text.header("Content-Type"), Some("text/plain; charset=utf-8"));
    assert!(text.text().contains("+    println!(\"<i>\");"), "{}", text.text());
    let patch = ada.get(&format!("{one}.patch")).0;
    assert!(patch.text().contains("Subject: [PATCH] Second"), "{}", patch.text());
}

fn conflicts_are_told(forge: &Forge) {
    let (id, tree) = with_topic(forge, "ship", "20");
    tree.git(&["checkout", "-q", "master"]);
    tree.write("src/a/main.rs", "fn other() {}\n").commit("Other");
    forge.fill(id, &tree);
    request(forge, id, &[]);
    let root = Browser::signed_in(forge, "root");
    let page = root.get("/root/ship/merge_requests/1").page(200);
    let text = page.all("section[aria-label=Merging]").remove(0);
    assert!(text.contains("can't be merged automatically"), "{text}");
    assert!(text.contains("git merge origin/master"), "{text}");
    assert!(page.all("form[aria-label=Merge]").is_empty());
}

fn people_see_merge_requests_by_their_role(forge: &Forge) {
    let (hidden, _) = with_topic(forge, "hidden", "0");
    let (id, _) = with_topic(forge, "ship", "20");
    for id in [hidden, id] {
        request(forge, id, &[]);
    }
    member(forge, hidden, "guest", "10");
    user(forge, "other");
    for (who, private, public, new) in [
        (None, 404, 404, 302),
        (Some("other"), 404, 200, 404),
        (Some("guest"), 404, 200, 404),
        (Some("root"), 200, 200, 200),
    ] {
        let browser = match who {
            Some(name) => Browser::signed_in(forge, name),
            None => Browser::stranger(forge),
        };
        for (address, expected) in [
            ("/root/hidden/merge_requests", private),
            ("/root/hidden/merge_requests/1", private),
            ("/root/hidden/merge_requests/1/diffs", private),
            ("/root/hidden/merge_requests/1.diff", private),
            ("/root/ship/merge_requests", public),
            ("/root/ship/merge_requests/1", public),
            ("/root/ship/merge_requests/1/commits", public),
            ("/root/ship/merge_requests/9", 404),
            ("/root/ship/merge_requests/new", new),
        ] {
            assert_eq!(browser.get(address).0.status, expected, "{who:?} {address}");
        }
    }
    let other = Browser::signed_in(forge, "other");
    let one = "/root/ship/merge_requests/1";
    assert!(other.get(one).page(200).all("form[aria-label=Merge]").is_empty());
    for verb in ["merge", "edit", "delete"] {
        let status = other.post_from(one, &format!("{one}/{verb}"), &[("title", "x")]).0.status;
        assert!(matches!(status, 403 | 404), "{verb} {status}");
    }
    assert_eq!(other.get(one).page(200).all(".state"), ["Open"]);
}

fn dashboards_show_own_things(forge: &Forge) {
    let (id, _) = with_topic(forge, "ship", "20");
    let ada = member(forge, id, "ada", "30").to_string();
    let assigned = [("title", "Engine"), ("assignee_id", ada.as_str())];
    issue(forge, id, &assigned);
    issue(forge, id, &[("title", "Not hers")]);
    request(forge, id, &[("assignee_id", &ada)]);
    let browser = Browser::signed_in(forge, "ada");
    let page = browser.get("/dashboard/issues").page(200);
    assert_eq!(page.heading(), "Issues");
    assert_eq!(page.all("ul[aria-label=Issues] .title a"), ["Engine"]);
    assert_eq!(page.all(".tabs a"), ["Open 1", "Closed 0", "All 1"]);
    let page = browser.get("/dashboard/issues?scope=created").page(200);
    assert!(page.all("ul[aria-label=Issues] .title a").is_empty());
    let page = browser.get("/dashboard/merge_requests").page(200);
    assert_eq!(page.heading(), "Merge requests");
    assert_eq!(page.all("ul[aria-label='Merge requests'] .title a"), ["Second"]);
    for page in ["/dashboard/issues", "/dashboard/merge_requests"] {
        assert_eq!(Browser::stranger(forge).get(page).0.status, 302, "{page}");
    }
}

fn two_editors_of_a_merge_request_see_both_texts(forge: &Forge) {
    let (id, _) = with_topic(forge, "ship", "20");
    member(forge, id, "ada", "30");
    request(forge, id, &[("description", "first")]);
    let (ada, root) = (Browser::signed_in(forge, "ada"), Browser::signed_in(forge, "root"));
    let (one, edit) = ("/root/ship/merge_requests/1", "/root/ship/merge_requests/1/edit");
    let seen = |browser: &Browser<'_>| {
        browser.get(edit).page(200).attributes("input[name=seen]", "value").remove(0)
    };
    let (of_ada, of_root) = (seen(&ada), seen(&root));
    let save = |browser: &Browser<'_>, seen: &str, text: &str| {
        let fields = [
            ("title", "Second"),
            ("description", text),
            ("target_branch", "master"),
            ("seen", seen),
        ];
        browser.post_from(edit, edit, &fields)
    };
    save(&root, &of_root, "by root").redirects(303, one);
    let page = save(&ada, &of_ada, "by ada").page(409);
    assert_eq!(page.all("section[aria-label='Stored meanwhile'] pre"), ["by root"]);
    assert_eq!(page.all("textarea#description"), ["by ada"]);
    let again = page.attributes("input[name=seen]", "value").remove(0);
    save(&ada, &again, "by both").redirects(303, one);
    let page = ada.get(one).page(200);
    assert_eq!(page.all("section[aria-label=Description] .prose"), ["by both"]);
}

fn a_merge_request_names_the_issues_that_it_closes(forge: &Forge) {
    let (id, _) = with_topic(forge, "ship", "20");
    issue(forge, id, &[("title", "Leak <b>")]);
    issue(forge, id, &[("title", "Secret"), ("confidential", "true")]);
    request(forge, id, &[("description", "Closes #1, closes #2")]);
    user(forge, "ada");
    let closed = |who: &str| {
        let page = Browser::signed_in(forge, who).get("/root/ship/merge_requests/1").page(200);
        page.all("section[aria-label=Merging] a[href*='/issues/']")
    };
    assert_eq!(closed("ada"), ["#1 Leak <b>"]);
    assert_eq!(closed("root"), ["#1 Leak <b>", "#2 Secret"]);
}
