//! A stranger cannot distinguish a private project from a missing one: reference section 1.11. Every response about the
//! private one, headers included, is compared with the response about the missing one.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Response, on_every_store};
use serde_json::{Value, json};

use crate::api::files::upload_support::upload_file;
use crate::api::groups::group_support::{
    add_member, external_user, new_group, new_project, path_of_project, project_in, share,
};
use crate::api::projects::project_support::assert_list;
use crate::api::support::{MISSING, id_of, message, queued_events};
use crate::api::tracker::tracker_support::new_issue;

on_every_store!(
    calls_on_a_private_project_answer_as_on_a_missing_one,
    an_internal_project_is_missing_to_external_users,
    lists_and_searches_do_not_count_private_projects,
    groups_and_namespaces_do_not_show_private_projects,
    private_groups_are_as_missing_ones_wherever_they_can_be_named,
    feeds_do_not_show_private_projects,
    what_is_refused_changes_nothing,
    uploads_of_a_private_project_are_as_those_of_a_missing_one,
);

/// All calls with a project in their path, with valid parameters and without.
const CALLS: [(&str, &str); 57] = [
    ("GET", "/projects/:id"),
    ("PUT", "/projects/:id"),
    ("PUT", "/projects/:id?name=x&visibility_level=20"),
    ("PUT", "/projects/:id?name=-&path=-"),
    ("DELETE", "/projects/:id"),
    ("GET", "/projects/:id/events"),
    ("GET", "/projects/:id/events?per_page=1&page=2"),
    ("POST", "/projects/:id/star"),
    ("DELETE", "/projects/:id/star"),
    ("POST", "/projects/:id/archive"),
    ("POST", "/projects/:id/unarchive"),
    ("POST", "/projects/:id/share"),
    ("POST", "/projects/:id/share?group_id=1&group_access=99"),
    ("POST", "/projects/fork/:id"),
    ("POST", "/projects/fork/:id?namespace=stranger"),
    ("POST", "/projects/fork/:id?namespace=missing"),
    ("POST", "/projects/:id/uploads"),
    ("GET", "/projects/:id/hooks"),
    ("POST", "/projects/:id/hooks?url=nonsense"),
    ("GET", "/projects/:id/hooks/:hook"),
    ("PUT", "/projects/:id/hooks/:hook?url=http://example.com/"),
    ("DELETE", "/projects/:id/hooks/:hook"),
    ("GET", "/projects/:id/members"),
    ("GET", "/projects/:id/members?query=ada"),
    ("GET", "/projects/:id/users?search=ada"),
    ("DELETE", "/projects/:id/fork"),
    ("GET", "/projects/:id/access_requests"),
    ("POST", "/projects/:id/access_requests"),
    ("GET", "/projects/:id/repository/tree"),
    ("GET", "/projects/:id/repository/blobs/master"),
    ("GET", "/projects/:id/repository/commits/master/blob?filepath=x"),
    ("GET", "/projects/:id/repository/raw_blobs/e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
    ("GET", "/projects/:id/repository/archive"),
    ("GET", "/projects/:id/repository/archive.zip?sha=master"),
    ("GET", "/projects/:id/repository/compare"),
    ("GET", "/projects/:id/repository/compare?from=master&to=x"),
    ("GET", "/projects/:id/repository/contributors"),
    ("GET", "/projects/:id/repository/branches"),
    ("GET", "/projects/:id/repository/branches?per_page=1&page=2"),
    ("GET", "/projects/:id/repository/branches/master"),
    ("GET", "/projects/:id/repository/branches/feature%2Fx"),
    ("POST", "/projects/:id/repository/branches"),
    ("POST", "/projects/:id/repository/branches?branch_name=x&ref=master"),
    ("POST", "/projects/:id/repository/branches?branch_name=..&ref="),
    ("DELETE", "/projects/:id/repository/branches/master"),
    ("PUT", "/projects/:id/repository/branches/master/protect"),
    ("PUT", "/projects/:id/repository/branches/master/protect?developers_can_push=nonsense"),
    ("PUT", "/projects/:id/repository/branches/master/unprotect"),
    ("DELETE", "/projects/:id/repository/merged_branches"),
    ("GET", "/projects/:id/repository/tags"),
    ("GET", "/projects/:id/repository/tags/v1"),
    ("POST", "/projects/:id/repository/tags"),
    ("POST", "/projects/:id/repository/tags?tag_name=x&ref=master&message=m"),
    ("DELETE", "/projects/:id/repository/tags/v1"),
    ("POST", "/projects/:id/repository/tags/v1/release"),
    ("POST", "/projects/:id/repository/tags/v1/release?description=d"),
    ("PUT", "/projects/:id/repository/tags/v1/release?description=d"),
];

/// The same for members.
const MEMBER_CALLS: [(&str, &str); 7] = [
    ("GET", "/projects/:id/members/:user"),
    ("POST", "/projects/:id/members"),
    ("POST", "/projects/:id/members?user_id=:user&access_level=99"),
    ("PUT", "/projects/:id/members/:user?access_level=10"),
    ("DELETE", "/projects/:id/members/:user"),
    ("PUT", "/projects/:id/access_requests/:user/approve"),
    ("DELETE", "/projects/:id/access_requests/:user"),
];

/// The same for issues, labels, boards, branches and tags.
const WRITING_CALLS: [(&str, &str); 34] = [
    ("GET", "/projects/:id/labels"),
    ("POST", "/projects/:id/labels"),
    ("POST", "/projects/:id/labels?name=bug&color=red"),
    ("PUT", "/projects/:id/labels?name=bug&new_name=x"),
    ("DELETE", "/projects/:id/labels?name=bug"),
    ("POST", "/projects/:id/labels/bug/subscription"),
    ("DELETE", "/projects/:id/labels/bug/subscription"),
    ("GET", "/projects/:id/boards"),
    ("GET", "/projects/:id/boards/:board/lists"),
    ("POST", "/projects/:id/boards/:board/lists"),
    ("POST", "/projects/:id/boards/:board/lists?label_id=1"),
    ("GET", "/projects/:id/boards/:board/lists/1"),
    ("PUT", "/projects/:id/boards/:board/lists/1?position=1"),
    ("DELETE", "/projects/:id/boards/:board/lists/1"),
    ("GET", "/projects/:id/issues?labels=bug"),
    ("POST", "/projects/:id/issues"),
    ("POST", "/projects/:id/issues?title=x&labels=bug"),
    ("GET", "/projects/:id/issues/:issue"),
    ("PUT", "/projects/:id/issues/:issue?state_event=close"),
    ("DELETE", "/projects/:id/issues/:issue"),
    ("POST", "/projects/:id/issues/:issue/move"),
    ("POST", "/projects/:id/issues/:issue/move?to_project_id=1"),
    ("POST", "/projects/:id/issues/:issue/subscription"),
    ("DELETE", "/projects/:id/issues/:issue/subscription"),
    ("GET", "/projects/:id/issues/:issue/notes"),
    ("POST", "/projects/:id/issues/:issue/notes?body=x"),
    ("GET", "/projects/:id/issues/:issue/notes/1"),
    ("PUT", "/projects/:id/issues/:issue/notes/1?body=x"),
    ("DELETE", "/projects/:id/issues/:issue/notes/1"),
    ("GET", "/projects/:id/milestones"),
    ("POST", "/projects/:id/milestones?title=1.0"),
    ("GET", "/projects/:id/milestones/1"),
    ("PUT", "/projects/:id/milestones/1?title=x"),
    ("GET", "/projects/:id/milestones/1/issues"),
];

/// Everything that a caller can see of a response.
fn visible_parts(answer: &Response) -> (u16, Vec<(String, String)>, String) {
    let mut headers = answer.headers.clone();
    headers.retain(|(name, _)| name != "date" && name != "x-request-id");
    headers.sort();
    (answer.status, headers, answer.text().to_owned())
}

/// A hidden project of ada's with a hook, a star, a share, a member, an issue with a label, a board, branches and a
/// tag.
struct Secret {
    id: String,
    issue: String,
    board: String,
    hook: String,
    user: String,
}

fn a_secret(forge: &Forge, level: &str) -> Secret {
    let (_, owner) = forge.user("ada");
    let (bob, _) = forge.user("bob");
    let more = [("visibility_level", level), ("description", "whisper")];
    let project = new_project(forge, &owner, "Secret", &more);
    let path = path_of_project(&project);
    add_member(forge, &path, bob, 40, &[]);
    let hook = [("url", "http://example.com/")];
    let hook = forge.post(&format!("{path}/hooks")).token(&owner).form(&hook).send().expect(201);
    forge.post(&format!("{path}/star")).token(&owner).send().expect(201);
    let crew = new_group(forge, &owner, "crew", &[("visibility_level", "0")]);
    share(forge, &project, &crew, "40");
    let issue = new_issue(forge, &owner, &path, "a secret", &[("labels", "bug")]);
    let boards = forge.get(&format!("{path}/boards")).token(&owner).send().expect(200);
    let tree = forge.work_tree(id_of(&project));
    tree.write("a", "whisper").commit("One");
    tree.git(&["branch", "feature/x"]);
    tree.git(&["tag", "v1"]);
    forge.fill(id_of(&project), &tree);
    Secret {
        id: id_of(&project).to_string(),
        issue: id_of(&issue).to_string(),
        board: id_of(&boards[0]).to_string(),
        hook: id_of(&hook).to_string(),
        user: bob.to_string(),
    }
}

#[track_caller]
fn assert_indistinguishable(forge: &Forge, token: &str, secret: &Secret) {
    let missing = MISSING.to_string();
    for (method, call) in CALLS.into_iter().chain(MEMBER_CALLS).chain(WRITING_CALLS) {
        let fill = |id: &str| {
            let call = call.replace(":id", id).replace(":hook", &secret.hook);
            let call = call.replace(":issue", &secret.issue).replace(":board", &secret.board);
            call.replace(":user", &secret.user)
        };
        let ask = |id: &str| visible_parts(&forge.request(method, &fill(id)).token(token).send());
        let expected = ask(&missing);
        assert!(expected.0 == 404 || expected.0 == 400, "{method} {call}: {}", expected.2);
        assert_eq!(ask(&secret.id), expected, "{method} {call}");
        for (known, unknown) in [
            ("ada%2Fsecret", "ada%2Fmissing"),
            ("ADA%2FSECRET", "nobody%2Fsecret"),
            ("ada%2Fsecret", &missing),
        ] {
            assert_eq!(ask(known), ask(unknown), "{method} {call}");
        }
    }
}

/// GET /projects/:id, PUT /projects/:id, DELETE /projects/:id, GET /projects/:id/events,
/// POST /projects/:id/star, POST /projects/:id/share, POST /projects/fork/:id,
/// GET /projects/:id/hooks, GET /projects/:id/members
fn calls_on_a_private_project_answer_as_on_a_missing_one(forge: &Forge) {
    let secret = a_secret(forge, "0");
    let (_, stranger) = forge.user("stranger");
    let (_, external) = external_user(forge, "external");
    for token in [&stranger, &external] {
        assert_indistinguishable(forge, token, &secret);
    }
    // Callers without a token learn nothing, too.
    for (method, call) in CALLS {
        let ask = |id: &str| {
            visible_parts(
                &forge.request(method, &call.replace(":id", id).replace(":hook", "1")).send(),
            )
        };
        assert_eq!(ask(&secret.id).0, 401, "{method} {call}");
        assert_eq!(ask(&secret.id), ask(&MISSING.to_string()), "{method} {call}");
    }
    // With sudo, an administrator sees what the stranger sees.
    let path = format!("/projects/{}?sudo=stranger", secret.id);
    let hidden = forge.get(&path).token(ROOT).send();
    assert_eq!(hidden.expect(404), message("404 Project Not Found"));
}

/// GET /projects/:id
fn an_internal_project_is_missing_to_external_users(forge: &Forge) {
    let secret = a_secret(forge, "10");
    let (_, external) = external_user(forge, "external");
    assert_indistinguishable(forge, &external, &secret);
}

/// GET /projects, GET /projects/visible, GET /projects/owned, GET /projects/starred
fn lists_and_searches_do_not_count_private_projects(forge: &Forge) {
    let tokens = [forge.user("stranger").1, external_user(forge, "external").1];
    let lists = ["/projects", "/projects/visible", "/projects/owned", "/projects/starred"];
    let queries = [
        "",
        "?search=secret",
        "?search=whisper",
        "?search=ada",
        "?visibility=private",
        "?archived=false",
        "?simple=true&search=secret",
        "?per_page=1&page=2",
        "?order_by=last_activity_at&sort=asc",
    ];
    let ask = || {
        let mut answers = Vec::new();
        for token in &tokens {
            for list in lists {
                for query in queries {
                    let answer = forge.get(&format!("{list}{query}")).token(token).send();
                    answers.push(visible_parts(&answer));
                }
            }
        }
        answers
    };
    let before = ask();
    let secret = a_secret(forge, "0");
    assert_eq!(ask(), before);
    // A former member who starred the project no longer sees it in lists or totals.
    let bob = forge.sign_in("bob");
    let path = format!("/projects/{}", secret.id);
    forge.post(&format!("{path}/star")).token(&bob).send().expect(201);
    assert_list(forge, &bob, "/projects/starred?search=secret", &["Secret"]);
    forge.delete(&format!("{path}/members/{}", secret.user)).token(&bob).send().expect(200);
    for list in lists {
        assert_list(forge, &bob, list, &[]);
    }
}

/// GET /groups/:id, GET /groups/:id/projects, GET /namespaces
fn groups_and_namespaces_do_not_show_private_projects(forge: &Forge) {
    let (_, owner) = forge.user("ada");
    let tokens = [forge.user("stranger").1, external_user(forge, "external").1];
    let crew = new_group(forge, &owner, "crew", &[]);
    let open = project_in(forge, &crew, "Open", &[("public", "true")]);
    let club = new_group(forge, &owner, "club", &[]);
    let ask = || {
        let paths = [
            "/groups/crew",
            "/groups/crew/projects",
            "/groups/crew/projects?search=secret",
            "/groups/crew/projects?visibility=private",
            "/groups/club",
            "/groups/club/projects",
            "/groups?all_available=true",
            "/namespaces",
            "/namespaces?search=ada",
            "/users/1",
        ];
        let ask = |token: &String, path| visible_parts(&forge.get(path).token(token).send());
        tokens.iter().flat_map(|token| paths.map(|path| ask(token, path))).collect::<Vec<_>>()
    };
    let before = ask();
    let secret = project_in(forge, &crew, "Secret", &[]);
    let lent = new_project(forge, &owner, "Lent", &[]);
    share(forge, &lent, &club, "40");
    share(forge, &secret, &club, "40");
    assert_eq!(ask(), before);
    assert_list(forge, &tokens[0], "/groups/crew/projects", &["Open"]);
    assert_eq!(open["namespace"]["id"], id_of(&crew));
}

/// POST /projects, POST /projects/:id/share, POST /projects/fork/:id, GET /groups/:id
fn private_groups_are_as_missing_ones_wherever_they_can_be_named(forge: &Forge) {
    let (_, owner) = forge.user("ada");
    let hidden = new_group(forge, &owner, "hidden", &[("visibility_level", "0")]);
    project_in(forge, &hidden, "Secret", &[]);
    let (_, token) = forge.user("stranger");
    let own = new_project(forge, &token, "Own", &[]);
    let source = new_project(forge, ROOT, "Open", &[("public", "true")]);
    let share = format!("{}/share", path_of_project(&own));
    let fork = format!("/projects/fork/{}", id_of(&source));
    let known = [id_of(&hidden).to_string(), "hidden".to_owned()];
    let unknown = [MISSING.to_string(), "missing".to_owned()];
    for (known, unknown) in known.iter().zip(&unknown) {
        for (method, path, field) in [
            ("POST", "/projects?name=New", "namespace_id"),
            ("POST", &share, "group_id"),
            ("POST", &fork, "namespace"),
        ] {
            let ask = |value: &str| {
                let form = [(field, value), ("group_access", "10")];
                visible_parts(&forge.request(method, path).token(&token).form(&form).send())
            };
            assert_eq!(ask(known), ask(unknown), "{path}");
            assert!(ask(known).0 >= 400);
        }
        let ask =
            |path: &str| visible_parts(&forge.get(&format!("/groups/{path}")).token(&token).send());
        for rest in ["", "/projects", "/members"] {
            assert_eq!(ask(&format!("{known}{rest}")), ask(&format!("{unknown}{rest}")), "{rest}");
        }
    }
}

/// GET /users/:id/events
fn feeds_do_not_show_private_projects(forge: &Forge) {
    let (ada, owner) = forge.user("ada");
    let tokens = [
        forge.user("stranger").1,
        external_user(forge, "external").1,
        // Not even to administrators who are not members.
        ROOT.to_owned(),
    ];
    new_project(forge, &owner, "Open", &[("public", "true")]);
    let path = format!("/users/{ada}/events");
    let ask =
        || tokens.each_ref().map(|token| visible_parts(&forge.get(&path).token(token).send()));
    let before = ask();
    new_project(forge, &owner, "Secret", &[]);
    assert_eq!(ask(), before);
    let feed = forge.get(&path).token(&owner).send();
    assert_eq!(feed.header("X-Total"), Some("2"));
}

/// PUT /projects/:id, DELETE /projects/:id, POST /projects/:id/members
fn what_is_refused_changes_nothing(forge: &Forge) {
    let secret = a_secret(forge, "0");
    let (_, token) = forge.user("stranger");
    let path = format!("/projects/{}", secret.id);
    let look = || {
        let parts = ["", "/events", "/hooks", "/members"];
        let parts: Vec<Value> = parts
            .iter()
            .map(|part| forge.get(&format!("{path}{part}")).token(ROOT).send().expect(200))
            .collect();
        (parts, queued_events(forge))
    };
    let before = look();
    assert_indistinguishable(forge, &token, &secret);
    assert_eq!(look(), before);
    assert_eq!(forge.get("/projects").token(&token).send().expect(200), json!([]));
}

/// POST /projects/:id/uploads
fn uploads_of_a_private_project_are_as_those_of_a_missing_one(forge: &Forge) {
    let secret = a_secret(forge, "0");
    let url = upload_file(forge, ROOT, &format!("/projects/{}", secret.id), "a.png", b"whisper");
    let tokens =
        ["no such token".to_owned(), forge.user("stranger").1, external_user(forge, "external").1];
    for token in &tokens {
        let ask = |method: &str, project: &str| {
            visible_parts(&forge.page(method, &format!("/{project}{url}")).token(token).send())
        };
        for method in ["GET", "HEAD"] {
            let expected = ask(method, "ada/missing");
            assert_eq!(expected.0, 404);
            assert_eq!(ask(method, "ada/secret"), expected);
            assert_eq!(ask(method, "nobody/secret"), expected);
        }
        // The uploaded file makes no difference.
        let send = |id: &str| {
            let upload = forge.post(&format!("/projects/{id}/uploads")).token(token);
            visible_parts(&upload.file("a.png", b"x").send())
        };
        assert_eq!(send(&secret.id), send(&MISSING.to_string()));
        assert_eq!(send("ada%2Fsecret"), send("ada%2Fmissing"));
    }
    // Readers of the project cannot distinguish a wrong address from a hidden one.
    let wrong = url.replace("a.png", "b.png");
    let own = visible_parts(&forge.page("GET", &format!("/ada/secret{wrong}")).token(ROOT).send());
    let hidden = forge.page("GET", &format!("/ada/secret{url}")).token(&tokens[1]).send();
    assert_eq!(visible_parts(&hidden), own);
}
