//! Branches and tags.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};

use super::support::{Browser, project, user};

on_every_store!(
    branches_are_listed,
    branches_are_created_and_deleted,
    tags_are_listed_created_and_deleted,
    release_notes_are_edited,
    who_may_not_push_changes_no_refs,
    the_shown_ref_is_selected_among_many_branches,
    forms_keep_their_branch_among_many_branches,
);

/// Adds 205 branches that are sorted before `master`, and a tag.
fn with_many_branches(forge: &Forge, name: &str) -> i64 {
    let (id, tree) = project(forge, name, "20");
    let branches: Vec<String> = (0..205).map(|one| format!("master:b{one:03}")).collect();
    let fetch = ["fetch", "-q", "."].into_iter().chain(branches.iter().map(String::as_str));
    tree.git(&fetch.collect::<Vec<_>>());
    tree.git(&["tag", "v1"]);
    forge.fill(id, &tree);
    id
}

fn the_shown_ref_is_selected_among_many_branches(forge: &Forge) {
    with_many_branches(forge, "ship");
    let root = Browser::signed_in(forge, "root");
    let id = root.get("/root/ship/commits/master").page(200);
    let id = id.attributes("ul[aria-label=Commits] .title a", "href").remove(0);
    let id = id.rsplit('/').next().expect("addresses have a slash").to_owned();
    let selected = ".switcher option[selected]";
    for (page, shown) in [
        ("/root/ship".to_owned(), "master"),
        ("/root/ship/tree/master/src".to_owned(), "master"),
        ("/root/ship/tree/b204".to_owned(), "b204"),
        ("/root/ship/tree/v1".to_owned(), "v1"),
        (format!("/root/ship/tree/{id}"), id.as_str()),
    ] {
        let found = root.get(&page).page(200);
        assert_eq!(found.attributes(selected, "value"), [shown], "{page}");
        assert!(found.attributes(".switcher option", "value").contains(&"b000".to_owned()));
    }
}

fn forms_keep_their_branch_among_many_branches(forge: &Forge) {
    let id = with_many_branches(forge, "ship");
    let root = Browser::signed_in(forge, "root");
    let settings = root.get("/root/ship/edit").page(200);
    let selected = |select: &str| format!("{select} option[selected]");
    assert_eq!(settings.attributes(&selected("#default_branch"), "value"), ["master"]);
    let branches = settings.attributes("#default_branch option", "value");
    assert_eq!(branches.len(), 206, "no tags");
    let protected = root.get("/root/ship/protected_branches").page(200);
    assert!(!protected.attributes("#branch option", "value").contains(&"v1".to_owned()));
    let new = root.get("/root/ship/merge_requests/new").page(200);
    assert_eq!(new.attributes(&selected("#target"), "value"), ["master"]);
    assert_eq!(new.attributes("#source option", "value").len(), 206);
    let fields = [("source_branch", "b000"), ("target_branch", "master"), ("title", "One")];
    let made = forge.post(&format!("/projects/{id}/merge_requests")).token(ROOT);
    made.form(&fields).send().expect(201);
    let edit = root.get("/root/ship/merge_requests/1/edit").page(200);
    assert_eq!(edit.attributes(&selected("#target_branch"), "value"), ["master"]);
}

fn branches_are_listed(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    tree.git(&["branch", "merged"]);
    tree.git(&["checkout", "-q", "-b", "topic/one"]);
    tree.write("new.txt", "x\n").commit("Topic work");
    tree.git(&["checkout", "-q", "master"]);
    tree.write("other.txt", "y\n").commit("Master work");
    forge.fill(id, &tree);
    let protect = format!("/projects/{id}/repository/branches/merged/protect");
    forge.put(&protect).token(ROOT).send().expect(200);
    let stranger = Browser::stranger(forge);
    let page = stranger.get("/root/ship/branches").page(200);
    assert_eq!(page.heading(), "Branches");
    let list = "ul[aria-label=Branches] > li";
    assert_eq!(page.all(&format!("{list} .title a")), ["master", "merged", "topic/one"]);
    let badges = |place: u32| page.all(&format!("{list}:nth-child({place}) .badge"));
    assert!(badges(1).contains(&"default".to_owned()), "{:?}", badges(1));
    assert_eq!(badges(2), ["protected", "merged"]);
    assert!(badges(3).is_empty());
    assert!(page.1.contains("1 commit ahead, 1 commit behind"), "{}", page.1);
    assert!(page.all("main button").iter().all(|name| !name.starts_with("Delete")));
    assert!(!page.all("main a").contains(&"New branch".to_owned()));
    let found = stranger.get("/root/ship/branches?search=TOPIC").page(200);
    assert_eq!(found.all(&format!("{list} .title a")), ["topic/one"]);
    assert_eq!(found.attributes("form[aria-label=Filter] input", "value"), ["TOPIC"]);
    let none = stranger.get("/root/ship/branches?search=nope").page(200);
    assert!(none.all(list).is_empty() && none.1.contains("No branch has “nope” in its name."));
    let root = Browser::signed_in(forge, "root").get("/root/ship/branches").page(200);
    let buttons = root.all(&format!("{list} button"));
    assert_eq!(buttons, ["Delete topic/one"], "not the default and no protected one");
    let navigation = root.all("nav[aria-label=Project] a");
    for name in ["Branches", "Tags"] {
        assert!(navigation.contains(&name.to_owned()), "{navigation:?}");
    }
}

fn branches_are_created_and_deleted(forge: &Forge) {
    let (id, _tree) = project(forge, "ship", "20");
    let root = Browser::signed_in(forge, "root");
    let form = root.get("/root/ship/branches/new").page(200);
    assert_eq!(form.heading(), "New branch");
    assert_eq!(form.all("form[aria-label='New branch'] label"), ["Branch name", "Create from"]);
    assert_eq!(form.all("form[aria-label='New branch'] button"), ["Create branch"]);
    assert_eq!(form.attributes("input[name=ref]", "value"), ["master"]);
    let send = |name: &str, from: &str| {
        let fields = [("branch_name", name), ("ref", from)];
        root.post_from("/root/ship/branches/new", "/root/ship/branches", &fields)
    };
    for (name, from, wrong) in [
        ("a..b", "master", "branch_name"),
        ("", "master", "branch_name"),
        ("master", "master", "branch_name"),
        ("ok", "nope", "ref"),
    ] {
        let refused = send(name, from).page(422);
        assert_eq!(refused.attributes("[aria-invalid=true]", "name"), [wrong], "{name} {from}");
        assert_eq!(refused.all("form [role=alert]").len(), 1);
        assert_eq!(refused.attributes("input[name=branch_name]", "value"), [name]);
        assert_eq!(refused.attributes("input[name=ref]", "value"), [from]);
    }
    send("topic/two", "master").redirects(303, "/root/ship/tree/topic/two");
    let branches = format!("/projects/{id}/repository/branches");
    let names = || forge.get(&branches).token(ROOT).send().expect(200);
    assert_eq!(names().as_array().expect("a list").len(), 2);
    let delete = |name: &str| {
        root.post_from("/root/ship/branches", "/root/ship/branches/delete", &[("name", name)])
    };
    assert_eq!(delete("master").page(403).heading(), "Not allowed");
    delete("topic/two").redirects(303, "/root/ship/branches");
    assert_eq!(delete("topic/two").0.status, 404);
    assert_eq!(names().as_array().expect("a list").len(), 1);
    let done = root.post_from("/root/ship/branches", "/root/ship/branches/delete_merged", &[]);
    done.redirects(303, "/root/ship/branches");
}

fn tags_are_listed_created_and_deleted(forge: &Forge) {
    project(forge, "ship", "20");
    let root = Browser::signed_in(forge, "root");
    let form = root.get("/root/ship/tags/new").page(200);
    assert_eq!(form.heading(), "New tag");
    let labels = form.all("form[aria-label='New tag'] label");
    assert_eq!(labels, ["Tag name", "Create from", "Message", "Release notes"]);
    let send = |name: &str, from: &str, message: &str, notes: &str| {
        let fields = [
            ("tag_name", name),
            ("ref", from),
            ("message", message),
            ("release_description", notes),
        ];
        root.post_from("/root/ship/tags/new", "/root/ship/tags", &fields)
    };
    let refused = send("v 1", "master", "m", "n").page(422);
    assert_eq!(refused.attributes("[aria-invalid=true]", "name"), ["tag_name"]);
    assert_eq!(refused.all("textarea[name=message]"), ["m"]);
    send("v1", "nope", "", "").page(422);
    send("v1", "master", "First <tag>", "**Notes** <script>1</script>")
        .redirects(303, "/root/ship/tags/v1");
    send("rel/2", "master", "", "").redirects(303, "/root/ship/tags/rel/2");
    let page = Browser::stranger(forge).get("/root/ship/tags").page(200);
    assert_eq!(page.heading(), "Tags");
    assert_eq!(page.all("ul[aria-label=Tags] .title a"), ["v1", "rel/2"]);
    assert_eq!(page.all("ul[aria-label=Tags] pre"), ["First <tag>"]);
    assert_eq!(page.all("ul[aria-label=Tags] .prose strong"), ["Notes"]);
    assert!(!page.1.contains("<script>"));
    assert_eq!(page.all("main button"), ["Filter"]);
    assert_eq!(page.all("form[aria-label=Filter] label"), ["Filter by name"]);
    let found = root.get("/root/ship/tags?search=REL").page(200);
    assert_eq!(found.all("ul[aria-label=Tags] .title a"), ["rel/2"]);
    assert_eq!(found.attributes("#search", "value"), ["REL"]);
    let none = root.get("/root/ship/tags?search=nope").page(200);
    assert_eq!(none.all(".empty"), ["No tag has “nope” in its name."]);
    let tag = root.get("/root/ship/tags/rel/2").page(200);
    assert_eq!(tag.heading(), "rel/2");
    assert_eq!(tag.all("main button"), ["Delete rel/2"]);
    for link in ["Browse files", "Download zip", "Download tar.gz", "Edit release notes of rel/2"] {
        assert!(tag.all("main a").contains(&link.to_owned()), "{link}");
    }
    let delete =
        || root.post_from("/root/ship/tags", "/root/ship/tags/delete", &[("name", "rel/2")]);
    delete().redirects(303, "/root/ship/tags");
    assert_eq!(delete().0.status, 404);
    assert_eq!(root.get("/root/ship/tags/rel/2").0.status, 404);
    let feed = Browser::stranger(forge).get("/root/ship/tags.atom").0;
    assert_eq!(feed.header("Content-Type"), Some("application/atom+xml; charset=utf-8"));
    assert!(feed.text().contains("<title>v1</title>"), "{}", feed.text());
}

fn release_notes_are_edited(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "20");
    tree.git(&["tag", "rel/1"]);
    forge.fill(id, &tree);
    let root = Browser::signed_in(forge, "root");
    let address = "/root/ship/tags/rel/1/release/edit";
    let form = root.get(address).page(200);
    assert_eq!(form.heading(), "Release notes");
    assert_eq!(form.all("form[aria-label='Release notes'] label"), ["Release notes"]);
    let save = |text: &str| {
        root.post_from(address, "/root/ship/tags/rel/1/release", &[("description", text)])
    };
    let refused = save(" ").page(422);
    assert_eq!(refused.attributes("[aria-invalid=true]", "name"), ["description"]);
    for text in ["One *line*.", "Another *text*."] {
        save(text).redirects(303, "/root/ship/tags/rel/1");
        let page = root.get("/root/ship/tags/rel/1").page(200);
        assert_eq!(page.all(".prose"), [text.replace('*', "")]);
        assert_eq!(root.get(address).page(200).all("textarea"), [text]);
    }
    assert_eq!(root.get("/root/ship/tags/nope/release/edit").0.status, 404);
}

fn who_may_not_push_changes_no_refs(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    project(forge, "secret", "0");
    user(forge, "ada");
    let (stranger, ada) = (Browser::stranger(forge), Browser::signed_in(forge, "ada"));
    for page in ["branches/new", "tags/new", "new/master", "edit/master/README.md"] {
        let here = format!("/root/ship/{page}");
        assert_eq!(stranger.get(&here).0.status, 302, "{page}");
        assert_eq!(ada.get(&here).0.status, 404, "{page}");
        assert_eq!(stranger.get(&format!("/root/secret/{page}")).0.status, 404, "{page}");
    }
    let posts = [
        ("branches", ("branch_name", "x")),
        ("branches/delete", ("name", "master")),
        ("branches/delete_merged", ("name", "x")),
        ("tags", ("tag_name", "x")),
        ("tags/delete", ("name", "x")),
        ("tags/x/release", ("description", "x")),
        ("create/master", ("file_name", "x")),
        ("update/master/README.md", ("content", "x")),
        ("blob/master/README.md", ("branch", "master")),
        ("create_dir/master", ("dir_name", "x")),
    ];
    for (page, field) in posts {
        let fields = [field, ("ref", "master"), ("branch", "master")];
        let refused = ada.post_from("/root/ship", &format!("/root/ship/{page}"), &fields);
        assert_eq!(refused.0.status, 403, "{page}");
        let hidden = ada.post_from("/root/ship", &format!("/root/secret/{page}"), &fields);
        assert_eq!(hidden.0.status, 404, "{page}");
        let forged = stranger.post(&format!("/root/ship/{page}"), &fields);
        assert_eq!(forged.0.status, 403, "{page}");
    }
    let branches = format!("/projects/{id}/repository/branches");
    let names = forge.get(&branches).token(ROOT).send().expect(200);
    assert_eq!(names.as_array().expect("a list").len(), 1);
}
