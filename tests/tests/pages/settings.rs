//! New projects, forks, and the settings of a project.

use hexforge_domain::ports::store::StoreError;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, an_ssh_key, on_every_store};
use serde_json::Value;

use super::support::{Browser, project, team, user};

on_every_store!(
    a_project_is_created,
    an_import_shows_its_progress,
    a_project_is_forked,
    settings_exist_only_for_those_who_administer,
    a_project_is_changed,
    a_project_is_archived_transferred_and_removed,
    administrators_make_a_project_a_fork_of_another,
    branches_are_protected,
    a_project_is_shared_with_groups,
    keys_variables_and_triggers_are_added_and_removed,
    runners_are_paused_and_removed,
    services_are_set_and_disabled,
    the_activity_of_a_project_is_a_page_and_a_feed,
    the_go_command_learns_the_repository,
);

/// A project as the API shows it.
fn shown(forge: &Forge, id: i64) -> Value {
    forge.get(&format!("/projects/{id}")).token(ROOT).send().expect(200)
}

fn a_project_is_created(forge: &Forge) {
    user(forge, "ada");
    Browser::stranger(forge)
        .get("/projects/new")
        .redirects(302, "/users/sign_in?return_to=%2Fprojects%2Fnew");
    let ada = Browser::signed_in(forge, "ada");
    let home = ada.get("/").page(200);
    assert_eq!(home.attributes("main a[href='/projects/new']", "href").len(), 1);
    assert!(home.all(".empty")[0].starts_with("You have no projects yet"));
    let form = ada.get("/projects/new").page(200);
    assert_eq!(form.heading(), "New project");
    let all = form.all("form[aria-label='New project'] label, legend");
    for label in [
        "Project name",
        "Project path",
        "Namespace",
        "Project description",
        "Visibility level",
        "Private",
        "Internal",
        "Public",
        "Git repository URL",
    ] {
        assert!(all.iter().any(|known| known == label), "{label} in {all:?}");
    }
    assert_eq!(form.all("select#namespace_id option[selected]"), ["ada"]);
    assert_eq!(form.all("form[aria-label='New project'] button"), ["Create project"]);
    let create = |fields: &[(&str, &str)]| ada.post_from("/projects/new", "/projects/new", fields);
    let bad = create(&[("name", ""), ("description", "kept <b>"), ("visibility_level", "20")]);
    let bad = bad.page(422);
    assert_eq!(bad.all("textarea#description"), ["kept <b>"], "what was typed stays");
    assert_eq!(bad.attributes("input#name", "aria-invalid"), ["true"]);
    assert_eq!(bad.attributes("input[value='20'][checked]", "type"), ["radio"]);
    let fields = [
        ("name", "My Ship"),
        ("path", "ship"),
        ("description", "Fast"),
        ("visibility_level", "20"),
    ];
    create(&fields).redirects(303, "/ada/ship");
    let home = ada.get("/ada/ship").page(200);
    assert_eq!(home.all("[role=status]"), ["It was created."]);
    let navigation = home.all("nav[aria-label=Project] a");
    assert_eq!(navigation[..3], ["Overview", "Files", "Commits"], "the repository is empty");
    for star in ["star", "unstar"] {
        let address = format!("/ada/ship/{star}");
        ada.post_from("/ada/ship", &address, &[]).redirects(303, "/ada/ship");
        let home = ada.get("/ada/ship").page(200);
        assert_eq!(home.all("[role=status]"), ["Your changes were saved."], "{star}");
    }
    let page = Browser::stranger(forge).get("/ada/ship").page(200);
    assert_eq!((page.heading(), page.all(".lead")), ("My Ship".into(), vec!["Fast".into()]));
    let taken = create(&fields).page(422);
    assert!(taken.all("[role=alert] li").iter().any(|line| line.contains("taken")));
    let fields = [("name", "x"), ("namespace_id", "1"), ("visibility_level", "0")];
    assert_eq!(create(&fields).page(422).heading(), "New project", "the namespace of another user");
}

fn an_import_shows_its_progress(forge: &Forge) {
    let root = Browser::signed_in(forge, "root");
    let bad = [("name", "copy"), ("import_url", "file:///etc/passwd")];
    let bad = root.post_from("/projects/new", "/projects/new", &bad).page(422);
    assert_eq!(bad.attributes("input#import_url", "aria-invalid"), ["true"]);
    let lines = bad.all("[role=alert] li");
    assert!(lines[0].starts_with("Git repository URL "), "{lines:?}");
    let fields = [("name", "copy"), ("import_url", "http://example.com/copy.git")];
    let made = root.post_from("/projects/new", "/projects/new", &fields);
    made.redirects(303, "/root/copy/import");
    let seen = root.get("/root/copy/import");
    assert_eq!(seen.page(200).heading(), "Import in progress");
    assert_eq!(seen.page(200).all("[role=status]").len(), 1);
    assert_eq!(seen.0.header("Refresh"), Some("5"));
    assert_eq!(Browser::stranger(forge).get("/root/copy/import").0.status, 404);
    assert_eq!(root.post_from("/", "/root/copy/import", &[]).0.status, 404, "it is running");
    let now = forge.app.clock.now();
    let fail = |again| {
        let failed = forge.app.store.write::<_, StoreError>(|tx| {
            let task = tx.repository_tasks().claim(now, now)?.expect("the import waits");
            tx.repository_tasks().fail(task.id, "no such host", again)
        });
        failed.expect("it is stored");
    };
    fail(Some(now));
    let page = root.get("/root/copy/import").page(200);
    assert_eq!(page.all("[role=status]").len(), 1, "it is tried again");
    assert!(page.all(".alert")[0].ends_with("no such host"));
    fail(None);
    let page = root.get("/root/copy/import").page(200);
    assert!(page.all("[role=alert]")[0].contains("no such host"));
    let again = |url| root.post_from("/", "/root/copy/import", &[("import_url", url)]);
    let bad = again("file:///etc/passwd").page(422);
    assert_eq!(bad.attributes("input#import_url", "value"), ["file:///etc/passwd"]);
    again("http://example.com/copy.git").redirects(303, "/root/copy/import");
    assert_eq!(root.get("/root/copy/import").page(200).all("[role=status]").len(), 1);
    project(forge, "ship", "20");
    root.get("/root/ship/import").redirects(302, "/root/ship");
}

fn a_project_is_forked(forge: &Forge) {
    project(forge, "ship", "20");
    project(forge, "hidden", "0");
    user(forge, "ada");
    let stranger = Browser::stranger(forge);
    assert!(stranger.get("/root/ship").page(200).all("a[href$='/forks/new']").is_empty());
    let sign_in = "/users/sign_in?return_to=%2Froot%2Fship%2Fforks%2Fnew";
    stranger.get("/root/ship/forks/new").redirects(302, sign_in);
    assert_eq!(stranger.get("/root/hidden/forks/new").0.status, 404);
    let ada = Browser::signed_in(forge, "ada");
    assert_eq!(ada.get("/root/ship").page(200).all("a[href$='/forks/new']"), ["Fork"]);
    let page = "/root/ship/forks/new";
    assert_eq!(ada.get(page).page(200).heading(), "Fork project");
    ada.post_from(page, page, &[]).redirects(303, "/ada/ship");
    assert_eq!(ada.get("/ada/ship").page(200).all("[role=status]"), ["It was created."]);
    assert_eq!(ada.get("/ada/ship").page(200).all("table[aria-label=Files] tr").len(), 3);
    for (browser, expected) in [(&stranger, vec!["ada/ship"]), (&ada, vec!["ada/ship"])] {
        let forks = browser.get("/root/ship/forks").page(200);
        assert_eq!(
            (forks.heading().as_str(), forks.all("ul[aria-label=Forks] a")),
            ("Forks", expected.iter().map(ToString::to_string).collect())
        );
    }
    assert_eq!(stranger.get("/root/hidden/forks").0.status, 404);
    let again = ada.post_from(page, page, &[]).page(422);
    assert!(!again.all("[role=alert] li").is_empty());
    assert_eq!(ada.get("/root/hidden/forks/new").0.status, 404);
}

/// The pages of the settings.
const SETTINGS: [(&str, &str); 8] = [
    ("edit", "Project settings"),
    ("group_links", "Groups"),
    ("protected_branches", "Protected branches"),
    ("deploy_keys", "Deploy keys"),
    ("variables", "Variables"),
    ("triggers", "Triggers"),
    ("runners", "Runners"),
    ("services", "Services"),
];

fn settings_exist_only_for_those_who_administer(forge: &Forge) {
    let (public, _) = project(forge, "ship", "20");
    let (private, _) = project(forge, "boat", "0");
    team(forge, &[public, private]);
    user(forge, "other");
    for who in [None, Some("other"), Some("guest"), Some("reporter"), Some("developer")] {
        let browser = Browser::of(forge, who);
        for (page, _) in SETTINGS {
            for project in ["ship", "boat"] {
                let seen = browser.get(&format!("/root/{project}/{page}"));
                assert_eq!(seen.page(404).heading(), "Page not found", "{who:?} {project} {page}");
            }
        }
    }
    for who in ["master", "root"] {
        let browser = Browser::signed_in(forge, who);
        for (page, heading) in SETTINGS {
            let seen = browser.get(&format!("/root/boat/{page}")).page(200);
            assert_eq!(seen.heading(), heading, "{who}");
            let title = format!("{heading} · root/boat · hexforge");
            assert_eq!(seen.all("title"), [title]);
        }
        let links = browser.get("/root/boat/edit").page(200);
        let links = links.attributes("nav[aria-label='Project settings'] a", "href");
        for link in links {
            assert_eq!(browser.get(&link).0.status, 200, "{link}");
        }
    }
    let master = Browser::signed_in(forge, "master").get("/root/boat/edit").page(200);
    assert!(master.all("input#name, input[type=radio]").is_empty(), "owners rename a project");
    assert!(master.all("form[aria-label='Remove project']").is_empty());
    let developer = Browser::signed_in(forge, "developer");
    for action in ["edit", "archive", "remove", "variables", "deploy_keys", "settings/features"] {
        let fields = [("description", "x"), ("key", "K"), ("confirmation", "root/ship")];
        let address = format!("/root/ship/{action}");
        assert_eq!(developer.post_from("/root/ship", &address, &fields).0.status, 403, "{action}");
    }
    assert_eq!(shown(forge, public)["archived"], false);
}

fn a_project_is_changed(forge: &Forge) {
    let (id, tree) = project(forge, "ship", "0");
    tree.git(&["checkout", "-q", "-b", "next"]);
    tree.commit("Next");
    forge.fill(id, &tree);
    team(forge, &[id]);
    let root = Browser::signed_in(forge, "root");
    let page = "/root/ship/edit";
    let form = root.get(page).page(200);
    assert_eq!(form.attributes("input#name", "value"), ["ship"]);
    assert_eq!(form.all("select#default_branch option"), ["master", "next"]);
    assert_eq!(form.all("form[aria-label=General] button"), ["Save changes"]);
    let bad = root.post_from(page, page, &[("name", ""), ("description", "D"), ("path", "ship")]);
    assert_eq!(bad.page(422).all("textarea#description"), ["D"]);
    assert_eq!(shown(forge, id)["name"], "ship");
    let fields = [
        ("name", "Big Ship"),
        ("path", "bigship"),
        ("description", "Fast"),
        ("visibility_level", "10"),
        ("default_branch", "next"),
    ];
    root.post_from(page, page, &fields).redirects(303, "/root/bigship/edit");
    let page = "/root/bigship/edit";
    assert_eq!(root.get(page).page(200).all("[role=status]"), ["Your changes were saved."]);
    let after = shown(forge, id);
    assert_eq!((&after["name"], &after["description"]), (&"Big Ship".into(), &"Fast".into()));
    assert_eq!(
        (&after["visibility_level"], &after["default_branch"]),
        (&10.into(), &"next".into())
    );
    let features = "/root/bigship/settings/features";
    root.post_from(page, features, &[("merge_requests", "1"), ("builds", "1")])
        .redirects(303, page);
    let after = shown(forge, id);
    assert_eq!(
        (&after["issues_enabled"], &after["merge_requests_enabled"]),
        (&false.into(), &true.into())
    );
    let master = Browser::signed_in(forge, "master");
    master.post_from(page, page, &[("description", "By a master")]).redirects(303, page);
    assert_eq!(shown(forge, id)["description"], "By a master");
    assert_eq!(master.post_from(page, page, &[("name", "Mine")]).0.status, 403);
    assert_eq!(shown(forge, id)["name"], "Big Ship");
}

fn a_project_is_archived_transferred_and_removed(forge: &Forge) {
    let (id, _) = project(forge, "ship", "20");
    let fields = [("name", "Crew"), ("path", "crew"), ("visibility_level", "20")];
    forge.post("/groups").token(ROOT).form(&fields).send().expect(201);
    let root = Browser::signed_in(forge, "root");
    let page = "/root/ship/edit";
    root.post_from(page, "/root/ship/archive", &[]).redirects(303, page);
    assert_eq!(shown(forge, id)["archived"], true);
    let buttons = root.get(page).page(200).all("button");
    assert!(buttons.iter().any(|name| name == "Unarchive project"), "{buttons:?}");
    root.post_from(page, "/root/ship/unarchive", &[]).redirects(303, page);
    assert_eq!(shown(forge, id)["archived"], false);
    let missing = root.post_from(page, "/root/ship/transfer", &[("group", "nobody")]).page(422);
    assert_eq!(missing.attributes("input#group", "value"), ["nobody"]);
    let moved = root.post_from(page, "/root/ship/transfer", &[("group", "crew")]);
    moved.redirects(303, "/crew/ship/edit");
    let page = "/crew/ship/edit";
    let form = root.get(page).page(200);
    let labels = form.all("form[aria-label='Remove project'] label");
    assert_eq!(labels, ["Type crew/ship to confirm"]);
    let wrong = root.post_from(page, "/crew/ship/remove", &[("confirmation", "ship")]).page(422);
    assert_eq!(wrong.attributes("input#confirmation", "aria-invalid"), ["true"]);
    assert_eq!(root.get("/crew/ship").0.status, 200);
    root.post_from(page, "/crew/ship/remove", &[("confirmation", "crew/ship")]).redirects(303, "/");
    assert_eq!(root.get("/").page(200).all("[role=status]"), ["It was removed."]);
    assert_eq!(root.get("/crew/ship").0.status, 404);
}

fn administrators_make_a_project_a_fork_of_another(forge: &Forge) {
    let (ship, _) = project(forge, "ship", "10");
    let (boat, _) = project(forge, "boat", "0");
    project(forge, "open", "20");
    forge.new_user("boss", &[("admin", "true")]);
    let ada = user(forge, "ada");
    let fields = [("name", "raft"), ("visibility_level", "0")];
    forge.post(&format!("/projects/user/{ada}")).token(ROOT).form(&fields).send().expect(201);
    let owner = Browser::signed_in(forge, "ada");
    let page = owner.get("/ada/raft/edit").page(200);
    assert!(page.all("form[aria-label='Add fork relation']").is_empty(), "owners cannot do it");
    let refused =
        owner.post_from("/ada/raft/edit", "/ada/raft/add_fork", &[("source", "root/ship")]);
    assert!(refused.0.status == 403 || refused.0.status == 404, "{}", refused.0.status);
    let boss = Browser::signed_in(forge, "boss");
    let page = boss.get("/root/boat/edit").page(200);
    assert_eq!(page.all("form[aria-label='Add fork relation'] label"), ["Source project"]);
    assert_eq!(page.faults(), Vec::<String>::new());
    let add = |project: &str, source: &str| {
        let action = format!("/root/{project}/add_fork");
        boss.post_from("/root/boat/edit", &action, &[("source", source)])
    };
    for (source, alert) in [
        ("root/nothing", "Source doesn't exist."),
        ("", "Source doesn't exist."),
        ("root/boat", "Source is the project itself or one of its forks."),
    ] {
        let bad = add("boat", source).page(422);
        assert_eq!(bad.attributes("input#source", "value"), [source], "what was typed stays");
        assert!(bad.all("[role=alert] li").contains(&alert.to_owned()), "{source}: {}", bad.1);
    }
    let alert = &add("open", "root/ship").page(422).all("[role=alert] li")[0];
    assert!(alert.contains("fork source project has lower visibility"), "{alert}");
    add("boat", "/root/ship/").redirects(303, "/root/boat/edit");
    assert_eq!(shown(forge, boat)["forked_from_project"]["id"], ship);
    let page = boss.get("/root/boat/edit").page(200);
    assert!(page.all("form[aria-label='Add fork relation']").is_empty());
    assert!(page.all("button").contains(&"Remove fork relation".to_owned()));
    assert_eq!(add("boat", "root/open").page(422).all("[role=alert]").len(), 1, "it has a source");
    assert_eq!(add("ship", "root/boat").page(422).all("[role=alert]").len(), 1, "a circle");
    boss.post_from("/root/boat/edit", "/root/boat/remove_fork", &[])
        .redirects(303, "/root/boat/edit");
    assert!(shown(forge, boat)["forked_from_project"].is_null());
}

fn branches_are_protected(forge: &Forge) {
    project(forge, "ship", "0");
    let root = Browser::signed_in(forge, "root");
    let page = "/root/ship/protected_branches";
    let form = root.get(page).page(200);
    let labels = form.all("form[aria-label='Protect a branch'] label");
    assert_eq!(labels, ["Branch", "Allowed to merge", "Allowed to push"]);
    assert_eq!(form.all("select#push option"), ["Masters", "Developers and masters"]);
    let missing = root.post_from(page, page, &[("branch", "none"), ("push", "masters")]).page(422);
    assert_eq!(missing.attributes("select#branch", "aria-invalid"), ["true"]);
    let fields = [("branch", "master"), ("push", "developers"), ("merge", "masters")];
    root.post_from(page, page, &fields).redirects(303, page);
    let row = root.get(page).page(200).all("table[aria-label='Protected branches'] td");
    assert_eq!(row[..3], ["master", "Masters", "Developers and masters"]);
    let buttons = root.get(page).page(200).all("table[aria-label='Protected branches'] button");
    assert_eq!(buttons, ["Unprotect master", "Update master"]);
    let fields = [("branch", "master"), ("push", "masters"), ("merge", "developers")];
    root.post_from(page, page, &fields).redirects(303, page);
    let row = root.get(page).page(200).all("table[aria-label='Protected branches'] td");
    assert_eq!(row[..3], ["master", "Developers and masters", "Masters"]);
    let remove = format!("{page}/remove");
    root.post_from(page, &remove, &[("branch", "master")]).redirects(303, page);
    assert!(root.get(page).page(200).all("table[aria-label='Protected branches']").is_empty());
    assert_eq!(root.post_from(page, &remove, &[("branch", "master")]).0.status, 404);
}

fn a_project_is_shared_with_groups(forge: &Forge) {
    project(forge, "ship", "0");
    let fields = [("name", "Crew"), ("path", "crew")];
    forge.post("/groups").token(ROOT).form(&fields).send().expect(201);
    let root = Browser::signed_in(forge, "root");
    let page = "/root/ship/group_links";
    let missing = root.post_from(page, page, &[("group", "none"), ("role", "30")]).page(422);
    assert_eq!(missing.attributes("input#group", "value"), ["none"]);
    let fields = [("group", "crew"), ("role", "30"), ("expires_at", "2030-05-01")];
    root.post_from(page, page, &fields).redirects(303, page);
    let shown = root.get(page).page(200);
    let row = shown.all("table[aria-label=Groups] td");
    assert_eq!(row[..3], ["Crew", "Developer", "2030-05-01"]);
    assert_eq!(root.post_from(page, page, &fields).0.status, 422, "it is shared already");
    let remove = shown.attributes("table[aria-label=Groups] form", "action").remove(0);
    root.post_from(page, &remove, &[]).redirects(303, page);
    assert!(root.get(page).page(200).all("table[aria-label=Groups]").is_empty());
}

fn keys_variables_and_triggers_are_added_and_removed(forge: &Forge) {
    project(forge, "ship", "0");
    let root = Browser::signed_in(forge, "root");
    let page = "/root/ship/deploy_keys";
    let bad = root.post_from(page, page, &[("title", "laptop"), ("key", "nonsense")]).page(422);
    assert_eq!(bad.attributes("input#title", "value"), ["laptop"]);
    let key = an_ssh_key(7);
    root.post_from(page, page, &[("title", "laptop"), ("key", &key)]).redirects(303, page);
    let shown = root.get(page).page(200);
    assert_eq!(shown.all("ul[aria-label='Deploy keys'] .title"), ["laptop"]);
    let remove = shown.attributes("ul[aria-label='Deploy keys'] form", "action").remove(0);
    root.post_from(page, &remove, &[]).redirects(303, page);
    assert!(root.get(page).page(200).all("ul[aria-label='Deploy keys']").is_empty());

    let page = "/root/ship/variables";
    let bad = root.post_from(page, page, &[("key", "A B"), ("value", "hunter2")]).page(422);
    assert_eq!(bad.attributes("input#key", "value"), ["A B"]);
    assert!(!bad.1.contains("hunter2"), "values are secrets");
    root.post_from(page, page, &[("key", "TOKEN"), ("value", "hunter2")]).redirects(303, page);
    let shown = root.get(page).page(200);
    assert_eq!(shown.all("table[aria-label=Variables] code"), ["TOKEN"]);
    assert!(!shown.1.contains("hunter2"));
    let buttons = shown.all("table[aria-label=Variables] button");
    assert_eq!(buttons, ["Update TOKEN", "Remove TOKEN"]);
    let fields = [("key", "TOKEN"), ("value", "hunter3")];
    root.post_from(page, &format!("{page}/update"), &fields).redirects(303, page);
    let stored = forge.get("/projects/root%2Fship/variables/TOKEN").token(ROOT).send().expect(200);
    assert_eq!(stored["value"], "hunter3");
    let missing = [("key", "NONE"), ("value", "x")];
    assert_eq!(root.post_from(page, &format!("{page}/update"), &missing).0.status, 404);
    root.post_from(page, &format!("{page}/remove"), &[("key", "TOKEN")]).redirects(303, page);
    assert!(root.get(page).page(200).all("table[aria-label=Variables]").is_empty());

    let page = "/root/ship/triggers";
    root.post_from(page, page, &[]).redirects(303, page);
    let seen = root.get(page);
    assert_eq!(seen.0.header("Cache-Control"), Some("no-store"), "the page has secrets");
    let token = seen.page(200).all("table[aria-label=Triggers] code").remove(0);
    root.post_from(page, &format!("{page}/remove"), &[("trigger", &token)]).redirects(303, page);
    assert!(root.get(page).page(200).all("table[aria-label=Triggers]").is_empty());
}

fn runners_are_paused_and_removed(forge: &Forge) {
    let (id, _) = project(forge, "ship", "0");
    let root = Browser::signed_in(forge, "root");
    let page = "/root/ship/runners";
    let token = root.get(page).page(200).attributes("input#runner-token", "value").remove(0);
    assert_eq!(shown(forge, id)["runners_token"], token.as_str());
    let more = [("description", "mine"), ("tag_list", "a,b")];
    let runner = hexforge_tests::Runner::register(forge.address, &token, &more);
    let cells = || root.get(page).page(200).all("table[aria-label=Runners] td");
    assert_eq!(cells()[2..4], ["a, b", "active"]);
    let one = format!("{page}/{}", runner.id);
    root.post_from(page, &format!("{one}/pause"), &[]).redirects(303, page);
    assert_eq!(cells()[3], "paused");
    root.post_from(page, &format!("{one}/resume"), &[]).redirects(303, page);
    assert_eq!(cells()[3], "active");
    assert_eq!(root.post_from(page, &format!("{one}/explode"), &[]).0.status, 404);
    let edit = format!("{one}/edit");
    let form = root.get(&edit).page(200);
    assert_eq!(form.attributes("input#tags", "value"), ["a, b"]);
    let long = "x".repeat(300);
    let refused = root.post_from(&edit, &edit, &[("description", &long)]).page(422);
    assert_eq!(refused.attributes("input[aria-invalid=true]", "name"), ["description"]);
    let fields = [("description", "yours"), ("tags", "c"), ("active", "1"), ("run_untagged", "1")];
    root.post_from(&edit, &edit, &fields).redirects(303, page);
    assert_eq!(cells()[2..4], ["c", "active"]);
    assert_eq!(root.get(&format!("{page}/99/edit")).0.status, 404);
    // Another project gets the same runner.
    project(forge, "boat", "0");
    let other = "/root/boat/runners";
    let offered = root.get(other).page(200).attributes("select#runner option", "value");
    assert_eq!(offered, [runner.id.to_string()]);
    let enable = format!("{other}/enable");
    root.post_from(other, &enable, &[("runner", &offered[0])]).redirects(303, other);
    assert_eq!(root.get(other).page(200).all("table[aria-label=Runners] tbody tr").len(), 1);
    root.post_from(other, &format!("{other}/{}/remove", runner.id), &[]).redirects(303, other);
    root.post_from(page, &format!("{one}/remove"), &[]).redirects(303, page);
    assert!(cells().is_empty());
    root.post_from(page, &format!("{page}/token"), &[]).redirects(303, page);
    assert_ne!(shown(forge, id)["runners_token"], token.as_str());
}

fn services_are_set_and_disabled(forge: &Forge) {
    project(forge, "ship", "0");
    let root = Browser::signed_in(forge, "root");
    let list = root.get("/root/ship/services").page(200);
    assert!(list.all("ul[aria-label=Services] a").contains(&"Slack".to_owned()));
    let page = "/root/ship/services/slack";
    assert_eq!(root.get(page).page(200).heading(), "Slack");
    assert_eq!(root.post_from(page, page, &[("channel", "#general")]).0.status, 422);
    let fields = [("webhook", "https://example.com/secret"), ("channel", "#general")];
    root.post_from(page, page, &fields).redirects(303, page);
    let shown = root.get(page).page(200);
    assert!(shown.1.contains("The service is active.") && !shown.1.contains("example.com/secret"));
    assert_eq!(shown.attributes("input#channel", "value"), ["#general"]);
    root.post_from(page, &format!("{page}/disable"), &[]).redirects(303, page);
    assert!(root.get(page).page(200).1.contains("The service is not active."));
    assert_eq!(root.get("/root/ship/services/none").0.status, 404);
}

fn the_activity_of_a_project_is_a_page_and_a_feed(forge: &Forge) {
    project(forge, "ship", "20");
    project(forge, "hidden", "0");
    user(forge, "ada");
    let ada = Browser::signed_in(forge, "ada");
    let page = ada.get("/root/ship/activity").page(200);
    assert_eq!(page.heading(), "Activity");
    assert!(page.all("ul[aria-label=Activity] li")[0].contains("created the project"));
    let feed = ada.get("/root/ship.atom").0;
    assert_eq!(feed.status, 200);
    assert_eq!(feed.header("Content-Type"), Some("application/atom+xml; charset=utf-8"));
    assert_eq!(feed.text().matches("<entry>").count(), 1, "{}", feed.text());
    for page in ["/root/hidden/activity", "/root/hidden.atom"] {
        assert_eq!(ada.get(page).0.status, 404, "{page}");
    }
}

fn the_go_command_learns_the_repository(forge: &Forge) {
    project(forge, "ship", "20");
    project(forge, "hidden", "0");
    let browser = Browser::stranger(forge);
    let ask = |path: &str| browser.get(&format!("{path}?go-get=1")).0;
    let known = ask("/root/ship");
    assert_eq!(known.status, 200);
    assert!(known.text().contains("<meta name=\"go-import\" content=\""), "{}", known.text());
    assert!(known.text().contains("/root/ship.git\""), "{}", known.text());
    for below in ["/root/ship/pkg/deep", "/root/ship/tree/none"] {
        assert_eq!(ask(below).text(), known.text(), "{below}");
    }
    for other in ["/root/hidden", "/root/absent"] {
        let name = other.trim_start_matches("/root/");
        let answer = ask(other);
        assert_eq!(answer.status, 200);
        assert_eq!(answer.text().replace(name, "ship"), known.text());
    }
    assert_eq!(ask("/\"><script>/x").text().matches("<script>").count(), 0);
    assert_eq!(browser.get("/root/hidden?go-get=0").0.status, 404);
}
