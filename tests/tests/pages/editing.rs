//! Forms that write files.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};

use super::support::{Browser, Page, project};

on_every_store!(
    files_are_created_edited_and_deleted,
    a_new_branch_leads_to_a_merge_request,
    mistakes_keep_what_was_typed,
    a_change_in_between_shows_both_texts,
    the_first_file_of_a_repository_is_created,
);

/// Sends a form with all its fields, some of them changed.
fn send(browser: &Browser<'_>, page: &Page, changed: &[(&str, &str)]) -> super::support::Seen {
    let action = page.attributes("main form[method=post]", "action").remove(0);
    let hidden: Vec<(String, String)> = ["authenticity_token", "based_on", "branch"]
        .into_iter()
        .filter_map(|name| {
            let values = page.attributes(&format!("main form input[name={name}]"), "value");
            Some((name.to_owned(), values.into_iter().next()?))
        })
        .collect();
    let kept = hidden.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let fields: Vec<_> = kept.chain(changed.iter().copied()).collect();
    browser.post(&action, &fields)
}

fn content(forge: &Forge, id: i64, path: &str) -> Option<String> {
    let address = format!("/projects/{id}/repository/blobs/master?filepath={path}");
    let file = forge.get(&address).token(ROOT).send();
    (file.status == 200).then(|| file.text().to_owned())
}

fn files_are_created_edited_and_deleted(forge: &Forge) {
    let (id, _tree) = project(forge, "ship", "20");
    let root = Browser::signed_in(forge, "root");
    let folder = root.get("/root/ship/tree/master/src").page(200);
    let address = folder.attributes("main a[href*='/new/']", "href").remove(0);
    assert_eq!(folder.all("main a[href*='/new/']"), ["New file"]);
    let form = root.get(&address).page(200);
    assert_eq!(form.heading(), "New file");
    assert_eq!(
        form.all("form[aria-label='New file'] label"),
        ["File name", "File content", "Commit message", "Target branch"]
    );
    assert_eq!(form.all("form[aria-label='New file'] button"), ["Commit changes"]);
    let fields =
        [("file_name", "b/new.txt"), ("content", "a\r\n<b>\r\n"), ("commit_message", "Add it")];
    send(&root, &form, &fields).redirects(303, "/root/ship/blob/master/src/b/new.txt");
    assert_eq!(content(forge, id, "src/b/new.txt").as_deref(), Some("a\n<b>\n"));
    let file = root.get("/root/ship/blob/master/src/b/new.txt").page(200);
    assert_eq!(file.all("[role=status]"), ["It was created."]);
    assert_eq!(file.all("main .latest a")[0], "Add it");
    let edit = file.attributes("main a[href*='/edit/']", "href").remove(0);
    let form = root.get(&edit).page(200);
    assert_eq!(form.heading(), "Edit file");
    assert_eq!(form.all("textarea[name=content]"), ["a <b>"]);
    assert!(form.all("form[aria-label='Edit file'] label").iter().all(|name| name != "File name"));
    send(&root, &form, &[("content", "changed\n"), ("commit_message", "")])
        .redirects(303, "/root/ship/blob/master/src/b/new.txt");
    assert_eq!(content(forge, id, "src/b/new.txt").as_deref(), Some("changed\n"));
    let file = root.get("/root/ship/blob/master/src/b/new.txt").page(200);
    assert_eq!(file.all("main .latest a")[0], "Update src/b/new.txt");
    assert_eq!(file.all("details summary"), ["Delete"]);
    assert_eq!(file.all("details button"), ["Delete file"]);
    send(&root, &file, &[]).redirects(303, "/root/ship/tree/master");
    assert_eq!(content(forge, id, "src/b/new.txt"), None);
    let folder = root.get("/root/ship/tree/master").page(200);
    send(&root, &folder, &[("dir_name", "docs")]).redirects(303, "/root/ship/tree/master/docs");
    assert_eq!(content(forge, id, "docs/.gitkeep").as_deref(), Some(""));
    let stranger = Browser::stranger(forge).get("/root/ship/blob/master/README.md").page(200);
    for link in ["Edit", "Delete", "New file"] {
        assert!(!stranger.all("main a, main summary").contains(&link.to_owned()), "{link}");
    }
    let commit = root.get("/root/ship/tree/master~1").page(200);
    assert!(commit.all("main a[href*='/new/']").is_empty(), "only branches can be changed");
}

fn a_new_branch_leads_to_a_merge_request(forge: &Forge) {
    let (id, _tree) = project(forge, "ship", "20");
    let root = Browser::signed_in(forge, "root");
    let form = root.get("/root/ship/edit/master/README.md").page(200);
    let request = "/root/ship/merge_requests/new?merge_request%5Bsource_branch%5D=fix%2Freadme\
                   &merge_request%5Btarget_branch%5D=master";
    send(&root, &form, &[("branch", "fix/readme"), ("content", "mine\n")]).redirects(303, request);
    assert_ne!(content(forge, id, "README.md").as_deref(), Some("mine\n"));
    let file = root.get("/root/ship/blob/fix/readme/README.md").page(200);
    assert_eq!(file.all("main .latest a")[0], "Update README.md");
    let branches = forge.get(&format!("/projects/{id}/repository/branches")).token(ROOT).send();
    assert_eq!(branches.expect(200).as_array().map(Vec::len), Some(2));
    let page = root.get(request).page(200);
    assert_eq!(page.all("ul[aria-label=Commits] .title a"), ["Update README.md"]);
    // The branch is created with the commit, so one push created the only pipeline.
    let events = forge.get(&format!("/projects/{id}/events")).token(ROOT).send().expect(200);
    assert_eq!(events[0]["data"]["ref"], "refs/heads/fix/readme");
    assert_ne!(events[1]["data"]["ref"], "refs/heads/fix/readme");
    // The branch exists now: the next change leads to the file.
    let form = root.get("/root/ship/edit/master/README.md").page(200);
    let fields = [("branch", "fix/readme"), ("content", "again"), ("based_on", "")];
    send(&root, &form, &fields).redirects(303, "/root/ship/blob/fix/readme/README.md");
}

fn mistakes_keep_what_was_typed(forge: &Forge) {
    let (id, _tree) = project(forge, "ship", "20");
    let root = Browser::signed_in(forge, "root");
    let form = root.get("/root/ship/new/master").page(200);
    for (name, branch, wrong) in [
        ("", "master", "file_name"),
        ("../x", "master", "file_name"),
        (".git/x", "master", "file_name"),
        ("README.md", "master", "file_name"),
        ("new.txt", "no..pe", "branch"),
    ] {
        let fields = [
            ("file_name", name),
            ("content", "  my <text>\n"),
            ("commit_message", "Why"),
            ("branch", branch),
        ];
        let refused = send(&root, &form, &fields).page(422);
        assert_eq!(refused.heading(), "New file");
        assert_eq!(refused.attributes("[aria-invalid=true]", "name"), [wrong], "{name} {branch}");
        assert_eq!(refused.attributes("input[name=file_name]", "value"), [name]);
        assert_eq!(refused.all("textarea[name=content]"), ["my <text>"]);
        assert_eq!(refused.all("textarea[name=commit_message]"), ["Why"]);
        assert_eq!(refused.all("form [role=alert]").len(), 1);
    }
    assert_eq!(content(forge, id, "new.txt"), None);
    for address in
        ["/root/ship/edit/master/nope", "/root/ship/edit/master/src", "/root/ship/new/nope"]
    {
        assert_eq!(root.get(address).0.status, 404, "{address}");
    }
}

fn a_change_in_between_shows_both_texts(forge: &Forge) {
    let (id, _tree) = project(forge, "ship", "20");
    let root = Browser::signed_in(forge, "root");
    let form = root.get("/root/ship/edit/master/README.md").page(200);
    let other = forge.put(&format!("/projects/{id}/repository/files")).token(ROOT);
    let fields = [
        ("file_path", "README.md"),
        ("branch_name", "master"),
        ("content", "theirs"),
        ("commit_message", "Other"),
    ];
    other.form(&fields).send().expect(200);
    let conflict = send(&root, &form, &[("content", "mine")]).page(409);
    assert_eq!(conflict.all("textarea#theirs"), ["theirs"]);
    assert_eq!(conflict.all("textarea[name=content]"), ["mine"]);
    assert_eq!(conflict.all("form [role=alert]").len(), 1);
    assert_eq!(content(forge, id, "README.md").as_deref(), Some("theirs"));
    // Whoever sends it again has seen both texts.
    send(&root, &conflict, &[("content", "mine")])
        .redirects(303, "/root/ship/blob/master/README.md");
    assert_eq!(content(forge, id, "README.md").as_deref(), Some("mine"));
}

fn the_first_file_of_a_repository_is_created(forge: &Forge) {
    let made = forge.post("/projects").token(ROOT).form(&[("name", "new")]).send().expect(201);
    let id = made["id"].as_i64().expect("projects have ids");
    let root = Browser::signed_in(forge, "root");
    let home = root.get("/root/new").page(200);
    let address = home.attributes("main a[href^='/root/new/new/']", "href").remove(0);
    let form = root.get(&address).page(200);
    let fields = [("file_name", "README.md"), ("content", "# New\n"), ("branch", "master")];
    send(&root, &form, &fields).redirects(303, "/root/new/blob/master/README.md");
    assert_eq!(content(forge, id, "README.md").as_deref(), Some("# New\n"));
}
