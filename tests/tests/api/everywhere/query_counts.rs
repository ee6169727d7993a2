//! The number of database queries per call, including the look-up of the token. It does not depend on the amount of
//! data.

use std::sync::atomic::Ordering;

use hexforge_http_actix::Dialect;
use hexforge_tests::forge::{ROOT, Restrictions};
use hexforge_tests::{Backend, Forge, ForgeOptions, an_ssh_key};

use crate::api::ci::ci_support::{CONFIGURATION, ci_fixture, push};
use crate::api::ci::runner_support::shared_runner;

/// A server that counts its queries. It always runs in this process.
fn counted(options: ForgeOptions) -> Option<Forge> {
    Forge::start_restricted(options, Restrictions::default())
}

#[test]
fn calls_send_a_bounded_number_of_queries_on_sqlite() {
    calls_send_a_bounded_number_of_queries(Backend::Sqlite);
}

#[test]
fn calls_send_a_bounded_number_of_queries_on_postgres() {
    calls_send_a_bounded_number_of_queries(Backend::Postgres);
}

/// GET /user, GET /users, GET /projects/:id/repository/compare, GET /projects, GET /projects/visible, GET /groups
fn calls_send_a_bounded_number_of_queries(backend: Backend) {
    let options = ForgeOptions { backend, dialect: Dialect::Specification };
    let Some(forge) = counted(options) else { return };
    let few = counts(&forge);
    for number in 0..30 {
        forge.new_user(&format!("user-{number}"), &[]);
        let name = format!("project-{number}");
        let path = format!("group-{number}");
        forge.post("/projects").token(ROOT).form(&[("name", &name)]).send().expect(201);
        forge
            .post("/groups")
            .token(ROOT)
            .form(&[("name", &path), ("path", &path)])
            .send()
            .expect(201);
    }
    let many = counts(&forge);
    for ((call, few), (_, many)) in few.iter().zip(&many) {
        // An empty list needs fewer queries, and no call needs more than a handful.
        assert!(few <= many && *many <= 10, "{call}: {few} queries, then {many}");
    }
    let of = |call: &str| many.iter().find(|(name, _)| *name == call).map(|(_, count)| *count);
    // Queries: token, account, identities, number of projects.
    assert_eq!(of("/user"), Some(4));
    // Queries: token, total, version of the lists, ids, rows, identities, numbers of projects.
    assert_eq!(of("/users?per_page=20"), Some(7));
    // Queries: token and project. Content is read from the repository.
    let before = forge.queries.load(Ordering::Relaxed);
    let compared = forge.get("/projects/1/repository/compare?from=x&to=y").token(ROOT).send();
    assert_eq!((compared.status, forge.queries.load(Ordering::Relaxed) - before), (200, 2));
    // Totals, and all ids of a short list, are cached until something changes.
    for ((call, many), (_, again)) in many.iter().zip(&counts(&forge)) {
        assert!(again <= many && again + 2 >= *many, "{call}: {many} queries, then {again}");
    }
}

fn counts(forge: &Forge) -> Vec<(&'static str, u64)> {
    [
        "/user",
        "/users?per_page=20",
        "/projects?per_page=20",
        "/projects/visible",
        "/groups?per_page=20",
    ]
    .map(|call| {
        let before = forge.queries.load(Ordering::Relaxed);
        forge.get(call).token(ROOT).send().expect(200);
        (call, forge.queries.load(Ordering::Relaxed) - before)
    })
    .to_vec()
}

#[test]
fn lists_send_as_many_queries_whatever_their_length_on_sqlite() {
    lists_send_as_many_queries_whatever_their_length(Backend::Sqlite);
}

#[test]
fn lists_send_as_many_queries_whatever_their_length_on_postgres() {
    lists_send_as_many_queries_whatever_their_length(Backend::Postgres);
}

/// The most queries per call: token, list with its total, ids and rows, and what each project shows: namespaces, their
/// owners, shares and two kinds of memberships.
const LISTS: [(&str, u64); 5] = [
    ("/projects", 12),
    ("/projects/visible", 12),
    ("/projects/starred", 10),
    ("/groups", 7),
    ("/groups/team/projects", 12),
];

/// GET /projects, GET /projects/visible, GET /projects/starred, GET /groups, GET /groups/:id/projects
fn lists_send_as_many_queries_whatever_their_length(backend: Backend) {
    let options = ForgeOptions { backend, dialect: Dialect::Specification };
    let Some(forge) = counted(options) else { return };
    let (_, ada) = forge.user("ada");
    let group = forge
        .post("/groups")
        .token(&ada)
        .form(&[("name", "team"), ("path", "team")])
        .send()
        .expect(201);
    let group = group["id"].to_string();
    let add = |numbers: std::ops::Range<usize>| {
        for number in numbers {
            let name = format!("project-{number}");
            let form = [("name", name.as_str()), ("namespace_id", &group)];
            let project = forge.post("/projects").token(&ada).form(&form).send().expect(201);
            let star = format!("/projects/{}/star", project["id"]);
            forge.post(&star).token(&ada).send().expect(201);
            let path = format!("group-{number}");
            let form = [("name", path.as_str()), ("path", &path)];
            forge.post("/groups").token(&ada).form(&form).send().expect(201);
        }
    };
    let count = |token: &str, call: &str| {
        let before = forge.queries.load(Ordering::Relaxed);
        forge.get(call).token(token).send().expect(200);
        forge.queries.load(Ordering::Relaxed) - before
    };
    let lists = || {
        let mut counts = Vec::new();
        for token in [ROOT, &ada] {
            for (list, most) in LISTS {
                for search in ["", "?search=project", "?search=group", "?search=pr", "?search=zz"] {
                    for order in ["name", "path"] {
                        let mark = if search.is_empty() { '?' } else { '&' };
                        let call = format!("{list}{search}{mark}order_by={order}");
                        let queries = count(token, &call);
                        assert!(queries <= most, "{call}: {queries} queries");
                        counts.push((call, queries));
                    }
                }
            }
        }
        counts
    };
    add(0..30);
    let few = lists();
    add(30..60);
    let many = lists();
    assert_eq!(few, many, "what there is does not matter");
}

#[test]
fn calls_about_issues_send_a_bounded_number_of_queries_on_sqlite() {
    calls_about_issues_send_a_bounded_number_of_queries(Backend::Sqlite);
}

#[test]
fn calls_about_issues_send_a_bounded_number_of_queries_on_postgres() {
    calls_about_issues_send_a_bounded_number_of_queries(Backend::Postgres);
}

/// The calls and their most queries. Each includes three for the token, the project and the role of the caller.
const ABOUT_ISSUES: [(&str, u64); 11] = [
    // Queries: total, rows, subscriptions, confidential issues of the caller, and open merge requests.
    ("labels", 8),
    // Queries: board, lists with their total, labels.
    ("boards", 7),
    // Queries: total, ids, rows; labels, milestones, users, subscriptions, participation, votes, and the path of the
    // project.
    ("issues", 13),
    // Queries: also the ids of the label and of the milestone.
    ("issues?labels=label-1&state=opened&milestone=goal", 15),
    ("milestones", 6),
    // Queries: total, ids, rows; authors, issues, milestones, notes, authors of notes.
    ("events", 11),
    ("/issues", 12),
    ("/groups/team/issues", 16),
    ("/users/1/events", 11),
    // Queries: total, ids, rows; authors, projects, issues, and what each issue shows.
    ("/todos", 18),
    // Queries: issue, total, ids, rows, givers.
    ("issues/1/award_emoji", 8),
];

/// GET /projects/:id/labels, GET /projects/:id/boards, GET /projects/:id/issues, GET /issues,
/// GET /projects/:id/milestones, GET /projects/:id/events, GET /groups/:id/issues, GET /todos,
/// GET /projects/:id/issues/:issue_id/award_emoji
fn calls_about_issues_send_a_bounded_number_of_queries(backend: Backend) {
    let options = ForgeOptions { backend, dialect: Dialect::Specification };
    let Some(forge) = counted(options) else { return };
    let team = forge.post("/groups").token(ROOT).form(&[("name", "team"), ("path", "team")]);
    let team = team.send().expect(201)["id"].to_string();
    let form = [("name", "Ship"), ("namespace_id", &team), ("visibility_level", "0")];
    let project = forge.post("/projects").token(ROOT).form(&form).send().expect(201);
    let path = format!("/projects/{}", project["id"]);
    let (guest, token) = forge.user("guest");
    let form = [("user_id", guest.to_string()), ("access_level", "10".to_owned())];
    let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
    forge.post(&format!("{path}/members")).token(ROOT).form(&form).send().expect(201);
    let board = forge.get(&format!("{path}/boards")).token(ROOT).send().expect(200);
    let lists = format!("{path}/boards/{}/lists", board[0]["id"]);
    let fill = |numbers: std::ops::Range<usize>| {
        for number in numbers {
            let goal = format!("goal-{number}");
            let goal =
                forge.post(&format!("{path}/milestones")).token(ROOT).form(&[("title", &goal)]);
            let goal = goal.send().expect(201)["id"].to_string();
            let (user, awarding) = forge.user(&format!("user-{number}"));
            let user = user.to_string();
            let form = [("user_id", user.as_str()), ("access_level", "20")];
            forge.post(&format!("{path}/members")).token(ROOT).form(&form).send().expect(201);
            let form = [
                ("title", "an issue"),
                ("labels", &format!("label-{number},all")),
                ("milestone_id", &goal),
                ("assignee_id", &user),
            ];
            let issue = forge.post(&format!("{path}/issues")).token(ROOT).form(&form).send();
            let issue = issue.expect(201);
            let notes = format!("{path}/issues/{}/notes", issue["id"]);
            forge.post(&notes).token(ROOT).form(&[("body", "a note")]).send().expect(201);
            for token in [ROOT, &token] {
                let todo = format!("{path}/issues/{}/todo", issue["id"]);
                forge.post(&todo).token(token).send().expect(201);
            }
            let award = format!("{path}/issues/1/award_emoji");
            forge.post(&award).token(&awarding).form(&[("name", "tada")]).send().expect(201);
            let secret = [("title", "a secret"), ("labels", "all"), ("confidential", "true")];
            forge.post(&format!("{path}/issues")).token(&token).form(&secret).send().expect(201);
            let labels = forge.get(&format!("{path}/labels?per_page=100")).token(ROOT).send();
            let labels = labels.expect(200);
            let label = labels.as_array().and_then(|labels| labels.last()).expect("a label");
            let label = label["id"].to_string();
            // The last label by title may already have a list.
            forge.post(&lists).token(ROOT).form(&[("label_id", &label)]).send();
        }
    };
    let count = || {
        ABOUT_ISSUES.map(|(call, _)| {
            let call = match call.strip_prefix('/') {
                Some(_) => call.to_owned(),
                None => format!("{path}/{call}"),
            };
            [token.as_str(), ROOT].map(|token| {
                let before = forge.queries.load(Ordering::Relaxed);
                forge.get(&call).token(token).send().expect(200);
                forge.queries.load(Ordering::Relaxed) - before
            })
        })
    };
    fill(0..2);
    let few = count();
    fill(2..14);
    let many = count();
    for (((call, most), few), many) in ABOUT_ISSUES.iter().zip(few).zip(many) {
        for (few, many) in few.into_iter().zip(many) {
            assert!(few <= many && many <= *most, "{call}: {few} queries, then {many}");
        }
    }
    assert_eq!(count(), many);
}

#[test]
fn pages_of_pipelines_and_builds_send_as_many_queries_whatever_their_length_on_sqlite() {
    pages_of_pipelines_and_builds_send_as_many_queries(Backend::Sqlite);
}

#[test]
fn pages_of_pipelines_and_builds_send_as_many_queries_whatever_their_length_on_postgres() {
    pages_of_pipelines_and_builds_send_as_many_queries(Backend::Postgres);
}

/// GET /projects/:id/pipelines, GET /projects/:id/builds
fn pages_of_pipelines_and_builds_send_as_many_queries(backend: Backend) {
    let options = ForgeOptions { backend, dialect: Dialect::Specification };
    let Some(forge) = counted(options) else { return };
    let fixture = ci_fixture(&forge, CONFIGURATION);
    let counts = || {
        ["pipelines?", "builds?", "pipelines?scope=branches&"].map(|list| {
            let path = format!("{}/{list}per_page=100", fixture.cast.path);
            let before = forge.queries.load(Ordering::Relaxed);
            forge.get(&path).token(fixture.token("reporter")).send().expect(200);
            forge.queries.load(Ordering::Relaxed) - before
        })
    };
    push(&forge, &fixture, "first");
    let few = counts();
    for number in 0..10 {
        push(&forge, &fixture, &format!("branch-{number}"));
    }
    assert_eq!(counts(), few);
    // Queries: token, project, role, total, ids, rows, users; for builds also pipelines and their commits.
    assert!(few[0] <= 9 && few[1] <= 11 && few[2] <= 9, "{few:?}");
}

#[test]
fn lists_of_keys_snippets_and_runners_send_as_many_queries_on_sqlite() {
    lists_of_keys_snippets_and_runners_send_as_many_queries(Backend::Sqlite);
}

#[test]
fn lists_of_keys_snippets_and_runners_send_as_many_queries_on_postgres() {
    lists_of_keys_snippets_and_runners_send_as_many_queries(Backend::Postgres);
}

/// GET /deploy_keys, GET /projects/:id/deploy_keys, GET /projects/:id/snippets, GET /snippets, GET /snippets/public,
/// GET /projects/:id/snippets/:noteable_id/notes, GET /runners/all, GET /projects/:id/runners
fn lists_of_keys_snippets_and_runners_send_as_many_queries(backend: Backend) {
    let options = ForgeOptions { backend, dialect: Dialect::Specification };
    let Some(forge) = counted(options) else { return };
    let on = [("name", "ship"), ("snippets_enabled", "true")];
    let project = forge.post("/projects").token(ROOT).form(&on).send().expect(201);
    let path = |rest: &str| format!("/projects/{}{rest}", project["id"]);
    let code = [("title", "t"), ("file_name", "f"), ("code", "c"), ("visibility_level", "20")];
    let snippet = forge.post(&path("/snippets")).token(ROOT).form(&code).send().expect(201);
    let notes = path(&format!("/snippets/{}/notes", snippet["id"]));
    let add = |numbers: std::ops::Range<u32>| {
        for number in numbers {
            let key = [("title", "k"), ("key", &an_ssh_key(number))];
            forge.post(&path("/deploy_keys")).token(ROOT).form(&key).send().expect(201);
            forge.post(&path("/snippets")).token(ROOT).form(&code).send().expect(201);
            let text = [("title", "t"), ("file_name", "f"), ("content", "c")];
            let personal = forge.post("/snippets?visibility_level=20").token(ROOT).form(&text);
            personal.send().expect(201);
            forge.post(&notes).token(ROOT).form(&[("body", "a note")]).send().expect(201);
            shared_runner(&forge, &[]);
        }
    };
    let lists = [
        "/deploy_keys".to_owned(),
        path("/deploy_keys"),
        path("/snippets"),
        "/snippets".into(),
        "/snippets/public".into(),
        notes.clone(),
        "/runners/all".into(),
        path("/runners"),
    ];
    let counts = || {
        lists.each_ref().map(|list| {
            let before = forge.queries.load(Ordering::Relaxed);
            forge.get(&format!("{list}?per_page=50")).token(ROOT).send().expect(200);
            forge.queries.load(Ordering::Relaxed) - before
        })
    };
    add(0..3);
    let few = counts();
    add(3..40);
    for ((list, few), many) in lists.iter().zip(few).zip(counts()) {
        // Queries: token, project with its namespace, total, ids, rows, authors.
        assert!(few == many && many <= 9, "{list}: {few} queries, then {many}");
    }
}

#[test]
fn lists_of_environments_and_deployments_send_as_many_queries_on_sqlite() {
    lists_of_environments_and_deployments_send_as_many_queries(Backend::Sqlite);
}

#[test]
fn lists_of_environments_and_deployments_send_as_many_queries_on_postgres() {
    lists_of_environments_and_deployments_send_as_many_queries(Backend::Postgres);
}

/// GET /projects/:id/environments, GET /projects/:id/deployments
fn lists_of_environments_and_deployments_send_as_many_queries(backend: Backend) {
    let options = ForgeOptions { backend, dialect: Dialect::Specification };
    let Some(forge) = counted(options) else { return };
    let configuration = "deploy: {script: ship, environment: review/$CI_BUILD_REF_NAME}";
    let fixture = ci_fixture(&forge, configuration);
    let runner = shared_runner(&forge, &[]);
    let add = |numbers: std::ops::Range<u32>| {
        for number in numbers {
            push(&forge, &fixture, &format!("topic-{number}"));
            runner.end(&runner.take().expect("a build is waiting"), "success");
        }
    };
    let lists =
        ["/environments", "/deployments"].map(|list| format!("{}{list}", fixture.cast.path));
    let counts = || {
        lists.each_ref().map(|list| {
            let before = forge.queries.load(Ordering::Relaxed);
            forge.get(&format!("{list}?per_page=50")).token(ROOT).send().expect(200);
            forge.queries.load(Ordering::Relaxed) - before
        })
    };
    add(0..2);
    let few = counts();
    add(2..15);
    for ((list, few), many) in lists.iter().zip(few).zip(counts()) {
        // Queries: token, project with its namespace, total, ids, rows; of deployments also the environments, and the
        // builds with their pipelines, commits, users and runners.
        assert!(few == many && many <= 12, "{list}: {few} queries, then {many}");
    }
}
