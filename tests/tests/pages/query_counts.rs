//! The number of database queries per page, including the look-up of the session. It does not depend on the amount of
//! data.

use std::sync::atomic::Ordering;

use hexforge_http_actix::Dialect;
use hexforge_tests::forge::{ROOT, Restrictions};
use hexforge_tests::{Backend, Forge, ForgeOptions};

use super::support::{Browser, project, team};

#[test]
fn pages_send_as_many_queries_whatever_they_list_on_sqlite() {
    pages_send_as_many_queries_whatever_they_list(Backend::Sqlite);
}

#[test]
fn pages_send_as_many_queries_whatever_they_list_on_postgres() {
    pages_send_as_many_queries_whatever_they_list(Backend::Postgres);
}

/// The pages, and their most queries when they are opened again.
const PAGES: [(&str, u64); 30] = [
    ("/", 5),
    ("/explore/projects", 5),
    ("/root/ship", 4),
    ("/root/ship/tree/master/src", 2),
    ("/root/ship/blob/master/README.md", 2),
    ("/root/ship/blame/master/README.md", 2),
    ("/root/ship/commits/master", 3),
    ("/root/ship/commit/COMMIT", 4),
    ("/root/ship/compare/master...topic", 2),
    ("/root/ship/branches", 3),
    ("/root/ship/tags", 3),
    ("/root/ship/issues", 9),
    ("/root/ship/issues/1", 13),
    ("/root/ship/issues/new", 6),
    ("/root/ship/merge_requests", 10),
    ("/root/ship/merge_requests/1", 15),
    ("/root/ship/merge_requests/1/diffs", 7),
    ("/root/ship/milestones", 3),
    ("/root/ship/labels", 5),
    ("/root/ship/boards", 9),
    ("/root/ship/pipelines", 7),
    ("/root/ship/pipelines/1", 5),
    ("/root/ship/builds", 7),
    ("/root/ship/builds/1", 6),
    ("/root/ship/project_members", 7),
    ("/root/ship/edit", 2),
    ("/root", 14),
    ("/dashboard/issues", 4),
    ("/admin/users", 6),
    ("/search?search=thing", 12),
];

fn pages_send_as_many_queries_whatever_they_list(backend: Backend) {
    let options = ForgeOptions { backend, dialect: Dialect::Specification };
    let Some(forge) = Forge::start_restricted(options, Restrictions::default()) else { return };
    let (id, tree) = project(&forge, "ship", "20");
    tree.write(".gitlab-ci.yml", "build: {script: make}\n");
    let commit = tree.commit("Build it");
    tree.git(&["branch", "topic"]);
    forge.fill(id, &tree);
    team(&forge, &[id]);
    let post = |path: &str, fields: &[(&str, &str)]| {
        let made = forge.post(path).token(ROOT).form(fields).send();
        assert!([200, 201].contains(&made.status), "{path}: {}", made.text());
        made
    };
    let of = |part: &str| format!("/projects/{id}/{part}");
    let add = |numbers: std::ops::Range<usize>| {
        for number in numbers {
            let name = format!("thing-{number}");
            post("/projects", &[("name", &name), ("visibility_level", "20")]);
            forge.new_user(&name, &[]);
            post(&of("labels"), &[("name", &name), ("color", "#ff0000")]);
            post(&of("milestones"), &[("title", &name)]);
            let fields = [("title", name.as_str()), ("description", "See #1"), ("labels", &name)];
            post(&of("issues"), &fields);
            let note = [("body", "**Hm.** #1")];
            post(&of("issues/1/notes"), &note);
            post(&of("repository/tags"), &[("tag_name", &name), ("ref", "master")]);
            let fields = [
                ("file_path", name.as_str()),
                ("branch_name", &name),
                ("start_branch", "master"),
                ("content", "text\n"),
                ("commit_message", &name),
            ];
            post(&of("repository/branches"), &[("branch_name", &name), ("ref", "master")]);
            post(&of("repository/files"), &fields);
            let fields =
                [("source_branch", name.as_str()), ("target_branch", "master"), ("title", &name)];
            let made = post(&of("merge_requests"), &fields).json();
            post(&of(&format!("merge_requests/{}/notes", made["id"])), &note);
            post(&of("pipeline"), &[("ref", "master")]);
        }
    };
    let browser = Browser::signed_in(&forge, "root");
    let counts = || {
        PAGES.map(|(address, _)| {
            let address = address.replace("COMMIT", &commit);
            browser.get(&address).page(200);
            let before = forge.queries.load(Ordering::Relaxed);
            browser.get(&address).page(200);
            (address, forge.queries.load(Ordering::Relaxed) - before)
        })
    };
    add(0..3);
    let few = counts();
    add(3..15);
    let many = counts();
    for (((address, few), (_, many)), (_, most)) in few.iter().zip(&many).zip(PAGES) {
        // A list of several pages is counted, with one query more.
        assert!(*many <= few + 1 && *few.max(many) <= most, "{address}: {few}, {many} queries");
    }
}
