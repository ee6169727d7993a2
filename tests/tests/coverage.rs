//! Every call is listed, routed, tested and refused to the right callers. No call of the specification is missing.

use std::collections::HashSet;
use std::path::Path;

use hexforge_http_actix::Dialect;
use hexforge_tests::{Backend, Forge, ForgeOptions, Response};
use serde_json::json;

/// All calls that the program declares.
const ENDPOINTS: &str = include_str!("../endpoints.txt");

/// The calls of the specification, copied from it.
const SPECIFICATION: &str = include_str!("../specification.txt");

/// The sections of the specification, in its order, with the number of their calls.
const SECTIONS: [(&str, usize); 11] = [
    ("Groups", 8),
    ("Projects", 18),
    ("Project hooks", 5),
    ("Branches", 7),
    ("Tags and releases", 6),
    ("Repository content", 6),
    ("Labels", 6),
    ("Issue boards", 6),
    ("System hooks", 4),
    ("Pipelines", 5),
    ("Users", 23),
];

/// The calls for administrators.
const ADMINISTRATORS_ONLY: [&str; 29] = [
    "GET /application/settings",
    "PUT /application/settings",
    "GET /runners/all",
    "GET /deploy_keys",
    "GET /keys/:id",
    "POST /groups/:id/projects/:project_id",
    "GET /projects/all",
    "POST /projects/user/:user_id",
    "POST /projects/:id/fork/:forked_from_id",
    "GET /hooks",
    "POST /hooks",
    "GET /hooks/:id",
    "DELETE /hooks/:id",
    "POST /users",
    "PUT /users/:id",
    "DELETE /users/:id",
    "GET /users/:uid/keys",
    "POST /users/:id/keys",
    "DELETE /users/:uid/keys/:id",
    "GET /users/:uid/emails",
    "POST /users/:id/emails",
    "DELETE /users/:uid/emails/:id",
    "PUT /users/:uid/block",
    "PUT /users/:uid/unblock",
    "GET /broadcast_messages",
    "POST /broadcast_messages",
    "GET /broadcast_messages/:id",
    "PUT /broadcast_messages/:id",
    "DELETE /broadcast_messages/:id",
];

/// Calls without authentication, with the answer to a request without parameters.
const FOR_ANYONE: [(&str, u16); 17] = [
    ("POST /projects/:id/ref/:reference/trigger/builds", 400),
    ("GET /templates/licenses", 200),
    ("GET /templates/licenses/:name", 404),
    ("GET /templates/gitignores", 200),
    ("GET /templates/gitignores/:name", 404),
    ("GET /templates/gitlab_ci_ymls", 200),
    ("GET /templates/gitlab_ci_ymls/:name", 404),
    ("GET /licenses", 200),
    ("GET /licenses/:name", 404),
    ("GET /gitignores", 200),
    ("GET /gitignores/:name", 404),
    ("GET /gitlab_ci_ymls", 200),
    ("GET /gitlab_ci_ymls/:name", 404),
    ("POST /session", 400),
    ("GET /openapi.json", 200),
    ("POST /ci/lint", 400),
    ("POST /projects/:id/trigger/builds", 400),
];

/// Calls of runners, with the answer to a request without parameters. Runners authenticate with their own tokens.
const FOR_RUNNERS: [(&str, u16); 8] = [
    ("POST /ci/api/v1/runners/register", 400),
    ("DELETE /ci/api/v1/runners/delete", 400),
    ("POST /ci/api/v1/builds/register", 403),
    ("PUT /ci/api/v1/builds/:id", 403),
    ("PATCH /ci/api/v1/builds/:id/trace.txt", 404),
    ("POST /ci/api/v1/builds/:id/artifacts", 404),
    ("GET /ci/api/v1/builds/:id/artifacts", 404),
    ("DELETE /ci/api/v1/builds/:id/artifacts", 404),
];

/// Calls that guests of a private project may use, with the answer. All other calls answer 403; forking has an answer
/// of its own.
const FOR_GUESTS: [(&str, u16); 90] = [
    ("GET /projects/:id", 200),
    ("GET /projects/:id/events", 200),
    ("POST /projects/:id/star", 201),
    ("DELETE /projects/:id/star", 200),
    ("POST /projects/fork/:id", 409),
    // Without a file.
    ("POST /projects/:id/uploads", 400),
    ("GET /projects/:id/members", 200),
    ("GET /projects/:id/members/:user_id", 200),
    ("GET /projects/:id/users", 200),
    ("GET /projects/:id/labels", 200),
    ("POST /projects/:id/labels/:label_id/subscription", 404),
    ("DELETE /projects/:id/labels/:label_id/subscription", 404),
    ("GET /projects/:id/boards", 200),
    ("GET /projects/:id/boards/:board_id/lists", 404),
    ("GET /projects/:id/boards/:board_id/lists/:list_id", 404),
    // These calls look up the label or list before they check the permission.
    ("POST /projects/:id/boards/:board_id/lists", 400),
    ("PUT /projects/:id/boards/:board_id/lists/:list_id", 404),
    ("GET /projects/:id/issues", 200),
    ("POST /projects/:id/issues", 201),
    ("GET /projects/:id/issues/:issue_id", 404),
    ("PUT /projects/:id/issues/:issue_id", 404),
    ("POST /projects/:id/issues/:issue_id/move", 404),
    ("POST /projects/:id/issues/:issue_id/subscription", 404),
    ("DELETE /projects/:id/issues/:issue_id/subscription", 404),
    ("GET /projects/:id/issues/:noteable_id/notes", 404),
    ("GET /projects/:id/issues/:noteable_id/notes/:note_id", 404),
    ("POST /projects/:id/issues/:noteable_id/notes", 404),
    ("PUT /projects/:id/issues/:noteable_id/notes/:note_id", 404),
    ("DELETE /projects/:id/issues/:noteable_id/notes/:note_id", 404),
    ("GET /projects/:id/merge_requests/:merge_request_id", 404),
    ("PUT /projects/:id/merge_requests/:merge_request_id", 404),
    ("GET /projects/:id/merge_requests/:merge_request_id/commits", 404),
    ("GET /projects/:id/merge_requests/:merge_request_id/changes", 404),
    ("GET /projects/:id/merge_requests/:merge_request_id/closes_issues", 404),
    ("GET /projects/:id/merge_requests/:merge_request_id/comments", 404),
    ("POST /projects/:id/merge_requests/:merge_request_id/comments", 404),
    ("PUT /projects/:id/merge_requests/:merge_request_id/merge", 404),
    ("POST /projects/:id/merge_requests/:merge_request_id/cancel_merge_when_build_succeeds", 404),
    ("PUT /projects/:id/merge_requests/:merge_request_id/cancel_merge_when_build_succeeds", 404),
    ("POST /projects/:id/merge_requests/:merge_request_id/subscription", 404),
    ("DELETE /projects/:id/merge_requests/:merge_request_id/subscription", 404),
    ("GET /projects/:id/merge_requests/:merge_request_id/versions", 404),
    ("GET /projects/:id/merge_requests/:merge_request_id/versions/:version_id", 404),
    ("GET /projects/:id/merge_requests/:noteable_id/notes", 404),
    ("GET /projects/:id/merge_requests/:noteable_id/notes/:note_id", 404),
    ("POST /projects/:id/merge_requests/:noteable_id/notes", 404),
    ("PUT /projects/:id/merge_requests/:noteable_id/notes/:note_id", 404),
    ("DELETE /projects/:id/merge_requests/:noteable_id/notes/:note_id", 404),
    ("GET /projects/:id/issues/:issue_id/award_emoji", 404),
    ("POST /projects/:id/issues/:issue_id/award_emoji", 404),
    ("GET /projects/:id/issues/:issue_id/award_emoji/:award_id", 404),
    ("DELETE /projects/:id/issues/:issue_id/award_emoji/:award_id", 404),
    ("GET /projects/:id/issues/:noteable_id/notes/:note_id/award_emoji", 404),
    ("POST /projects/:id/issues/:noteable_id/notes/:note_id/award_emoji", 404),
    ("GET /projects/:id/issues/:noteable_id/notes/:note_id/award_emoji/:award_id", 404),
    ("DELETE /projects/:id/issues/:noteable_id/notes/:note_id/award_emoji/:award_id", 404),
    ("GET /projects/:id/merge_requests/:merge_request_id/award_emoji", 404),
    ("POST /projects/:id/merge_requests/:merge_request_id/award_emoji", 404),
    ("GET /projects/:id/merge_requests/:merge_request_id/award_emoji/:award_id", 404),
    ("DELETE /projects/:id/merge_requests/:merge_request_id/award_emoji/:award_id", 404),
    ("GET /projects/:id/merge_requests/:noteable_id/notes/:note_id/award_emoji", 404),
    ("POST /projects/:id/merge_requests/:noteable_id/notes/:note_id/award_emoji", 404),
    ("GET /projects/:id/merge_requests/:noteable_id/notes/:note_id/award_emoji/:award_id", 404),
    ("DELETE /projects/:id/merge_requests/:noteable_id/notes/:note_id/award_emoji/:award_id", 404),
    ("GET /projects/:id/snippets/:snippet_id/award_emoji", 404),
    ("POST /projects/:id/snippets/:snippet_id/award_emoji", 404),
    ("GET /projects/:id/snippets/:snippet_id/award_emoji/:award_id", 404),
    ("DELETE /projects/:id/snippets/:snippet_id/award_emoji/:award_id", 404),
    ("GET /projects/:id/snippets/:noteable_id/notes/:note_id/award_emoji", 404),
    ("POST /projects/:id/snippets/:noteable_id/notes/:note_id/award_emoji", 404),
    ("GET /projects/:id/snippets/:noteable_id/notes/:note_id/award_emoji/:award_id", 404),
    ("DELETE /projects/:id/snippets/:noteable_id/notes/:note_id/award_emoji/:award_id", 404),
    ("POST /projects/:id/issues/:issue_id/todo", 404),
    ("POST /projects/:id/merge_requests/:merge_request_id/todo", 404),
    ("GET /projects/:id/notification_settings", 200),
    ("PUT /projects/:id/notification_settings", 200),
    ("GET /projects/:id/snippets", 200),
    // These calls look up the snippet before they check the permission.
    ("GET /projects/:id/snippets/:snippet_id", 404),
    ("PUT /projects/:id/snippets/:snippet_id", 404),
    ("DELETE /projects/:id/snippets/:snippet_id", 404),
    ("GET /projects/:id/snippets/:snippet_id/raw", 404),
    ("GET /projects/:id/snippets/:noteable_id/notes", 404),
    ("GET /projects/:id/snippets/:noteable_id/notes/:note_id", 404),
    ("POST /projects/:id/snippets/:noteable_id/notes", 404),
    ("PUT /projects/:id/snippets/:noteable_id/notes/:note_id", 404),
    ("DELETE /projects/:id/snippets/:noteable_id/notes/:note_id", 404),
    ("GET /projects/:id/milestones", 200),
    ("GET /projects/:id/milestones/:milestone_id", 404),
    ("GET /projects/:id/milestones/:milestone_id/issues", 404),
    ("GET /projects/:id/builds", 200),
];

/// Calls that are refused to masters too.
const FOR_OWNERS: [&str; 7] = [
    "POST /projects/:id/archive",
    "POST /projects/:id/unarchive",
    "DELETE /projects/:id",
    "DELETE /projects/:id/fork",
    "DELETE /projects/:id/boards/:board_id/lists/:list_id",
    "DELETE /projects/:id/issues/:issue_id",
    "DELETE /projects/:id/merge_requests/:merge_request_id",
];

/// Parameters with which no call on a project fails before the look-up of the project.
const PARAMETERS: &str = "name=x&namespace=eve&url=http://h/&group_id=1&group_access=10&user_id=1&access_level=10\
     &color=%23FFAABB&label_id=987654&position=1&title=x&body=x&to_project_id=987654\
     &ref=x&key=x&value=x&job=x&source_branch=x&target_branch=y&note=x";

/// Calls that no test names yet. New calls must not be added here.
const UNTESTED: [&str; 0] = [];

#[derive(Debug)]
struct Endpoint {
    section: String,
    method: String,
    path: String,
}

impl Endpoint {
    /// The call as tests name it: `GET /users/:id`.
    fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// The path with all ids replaced by 1.
    fn first(&self) -> String {
        let segments = self.path.split('/');
        let filled = segments.map(|segment| if segment.starts_with(':') { "1" } else { segment });
        filled.collect::<Vec<_>>().join("/")
    }

    /// The path for a project, with the parameters that the call needs.
    fn on_project(&self, project: i64, user: i64) -> String {
        let segments = self.path.split('/').map(|segment| match segment {
            ":id" => project.to_string(),
            ":user_id" => user.to_string(),
            segment if segment.starts_with(':') => "1".to_owned(),
            segment => segment.to_owned(),
        });
        // Other calls have other values for `state`.
        let state = if self.path.contains("/statuses/") { "&state=success" } else { "" };
        format!("{}?{PARAMETERS}{state}", segments.collect::<Vec<_>>().join("/"))
    }

    fn is_about_a_project(&self) -> bool {
        let about = self.path == "/projects/fork/:id" || self.path.starts_with("/projects/:id");
        about && !self.is_for_administrators() && !self.is_for_anyone()
    }

    /// Calls on projects that only need a token of the project.
    fn is_for_anyone(&self) -> bool {
        FOR_ANYONE.iter().any(|(name, _)| *name == self.name())
    }

    /// Calls outside of `/api/v3`.
    fn is_for_runners(&self) -> bool {
        self.path.starts_with("/ci/api/v1/")
    }

    fn is_for_administrators(&self) -> bool {
        ADMINISTRATORS_ONLY.contains(&self.name().as_str())
    }
}

fn listed(list: &str) -> Vec<Endpoint> {
    let mut section = String::new();
    let mut endpoints = Vec::new();
    for line in list.lines().filter(|line| !line.trim().is_empty()) {
        if let Some(title) = line.strip_prefix("# ") {
            title.clone_into(&mut section);
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let [method, path] = words[..] else { panic!("no endpoint: {line}") };
        assert!(["GET", "POST", "PUT", "PATCH", "DELETE"].contains(&method), "no method: {line}");
        assert!(path.starts_with('/'), "no path: {line}");
        let (method, path) = (method.to_owned(), path.to_owned());
        endpoints.push(Endpoint { section: section.clone(), method, path });
    }
    endpoints
}

fn endpoints() -> Vec<Endpoint> {
    listed(ENDPOINTS)
}

fn a_forge() -> Forge {
    Forge::start(ForgeOptions { backend: Backend::Fake, dialect: Dialect::Specification })
        .expect("the fake is always there")
}

fn is_no_route(response: &Response) -> bool {
    response.status == 404 && response.json() == json!({"error": "404 Not Found"})
}

/// `HEXFORGE_WRITE_LISTS=1 cargo test -p hexforge-tests --test coverage` writes the list again.
#[test]
fn the_list_has_all_calls_that_the_program_declares() {
    let declared = format!("{ABOUT}{}", hexforge_http_actix::routes::endpoints());
    if std::env::var_os("HEXFORGE_WRITE_LISTS").is_some() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/endpoints.txt");
        std::fs::write(file, &declared).expect("the list can be written");
    } else {
        assert_eq!(ENDPOINTS, declared, "run this test with HEXFORGE_WRITE_LISTS=1");
    }
}

const ABOUT: &str = "# All calls of the interface, below /api/v3 where no other prefix is shown. This file is \
                     generated;\n# tests/tests/coverage.rs says how.\n";

#[test]
fn the_94_calls_of_the_specification_are_served() {
    let (all, specified) = (endpoints(), listed(SPECIFICATION));
    for (section, count) in SECTIONS {
        let found = specified.iter().filter(|endpoint| endpoint.section == section).count();
        assert_eq!(found, count, "{section}");
    }
    assert_eq!(specified.len(), 94);
    let names: HashSet<String> = all.iter().map(Endpoint::name).collect();
    assert_eq!(names.len(), all.len(), "no call is listed twice");
    let known = |name: &str| names.contains(name);
    for endpoint in specified {
        assert!(known(&endpoint.name()), "{} is not served", endpoint.name());
    }
    assert!(ADMINISTRATORS_ONLY.iter().all(|name| known(name)));
    assert!(FOR_ANYONE.iter().all(|(name, _)| known(name)));
    assert!(FOR_RUNNERS.iter().all(|(name, _)| known(name)));
    assert!(FOR_GUESTS.iter().all(|(name, _)| known(name)));
    assert!(FOR_OWNERS.iter().all(|name| known(name)));
    assert!(UNTESTED.iter().all(|name| known(name)));
}

#[test]
fn every_call_is_routed_and_needs_authentication() {
    let forge = a_forge();
    for endpoint in endpoints() {
        let name = endpoint.name();
        let answer = match endpoint.is_for_runners() {
            true => forge.page(&endpoint.method, &endpoint.first()).send(),
            false => forge.request(&endpoint.method, &endpoint.first()).send(),
        };
        assert!(!is_no_route(&answer), "{name} is not routed");
        match FOR_ANYONE.iter().chain(&FOR_RUNNERS).find(|(open, _)| *open == name) {
            Some((_, status)) => assert_eq!(answer.status, *status, "{name}"),
            None => {
                assert_eq!(answer.status, 401, "{name}");
                assert_eq!(answer.json(), json!({"message": "401 Unauthorized"}), "{name}");
            }
        }
    }
}

#[test]
fn calls_for_administrators_are_refused_to_other_users() {
    let forge = a_forge();
    let (_, token) = forge.user("ada");
    for endpoint in endpoints().into_iter().filter(Endpoint::is_for_administrators) {
        let name = endpoint.name();
        let answer = forge.request(&endpoint.method, &endpoint.first()).token(&token).send();
        assert_eq!(answer.status, 403, "{name}");
        assert_eq!(answer.json(), json!({"message": "403 Forbidden"}), "{name}");
    }
}

/// A private project of ada's: its id, and hers.
fn a_private_project(forge: &Forge) -> (i64, i64) {
    let (ada, token) = forge.user("ada");
    let made = forge.post("/projects").token(&token).form(&[("name", "Secret")]).send().expect(201);
    (made["id"].as_i64().expect("a project has an id"), ada)
}

fn about_projects() -> impl Iterator<Item = Endpoint> {
    endpoints().into_iter().filter(Endpoint::is_about_a_project)
}

#[test]
fn calls_on_projects_hide_private_ones_from_strangers() {
    let forge = a_forge();
    let (project, ada) = a_private_project(&forge);
    let (_, eve) = forge.user("eve");
    for endpoint in about_projects() {
        let name = endpoint.name();
        let path = endpoint.on_project(project, ada);
        let answer = forge.request(&endpoint.method, &path).token(&eve).send();
        assert_eq!(answer.status, 404, "{name}");
        assert_eq!(answer.json(), json!({"message": "404 Project Not Found"}), "{name}");
    }
}

#[test]
fn calls_on_projects_are_refused_to_members_with_too_few_rights() {
    let forge = a_forge();
    let (project, ada) = a_private_project(&forge);
    let member = |name: &str, level: &str| {
        let (user, token) = forge.user(name);
        let form = [("user_id", user.to_string()), ("access_level", level.to_owned())];
        let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
        let members = format!("/projects/{project}/members");
        let added = forge.post(&members).token(hexforge_tests::forge::ROOT).form(&form);
        added.send().expect(201);
        token
    };
    let (guest, master) = (member("eve", "10"), member("master", "40"));
    for endpoint in about_projects() {
        let name = endpoint.name();
        let path = endpoint.on_project(project, ada);
        let answer = forge.request(&endpoint.method, &path).token(&guest).send();
        match FOR_GUESTS.iter().find(|(open, _)| *open == name) {
            Some((_, status)) => assert_eq!(answer.status, *status, "{name}"),
            None => {
                assert_eq!(answer.status, 403, "{name}");
                assert_eq!(answer.json(), json!({"message": "403 Forbidden"}), "{name}");
            }
        }
        if FOR_OWNERS.contains(&name.as_str()) {
            let answer = forge.request(&endpoint.method, &path).token(&master).send();
            assert_eq!(answer.status, 403, "{name}");
            assert_eq!(answer.json(), json!({"message": "403 Forbidden"}), "{name}");
        }
    }
}

#[test]
fn every_call_is_named_by_a_test() {
    let sources = test_sources();
    let untested: Vec<String> = endpoints()
        .into_iter()
        .map(|endpoint| endpoint.name())
        .filter(|name| !names(&sources, name))
        .collect();
    assert_eq!(untested, UNTESTED, "what tests name, and what the list of exceptions says");
}

#[test]
fn a_longer_path_does_not_name_a_shorter_one() {
    assert!(names("`GET /users/:id`", "GET /users/:id"));
    assert!(names("GET /users/:id: reading", "GET /users/:id"));
    assert!(names("GET /users/:id/keys, GET /users/:id", "GET /users/:id"));
    assert!(!names("GET /users/:id/keys", "GET /users/:id"));
    assert!(!names("GET /users", "GET /user"));
    assert!(!names("GET /users/:id", "GET /users"));
    assert!(!names("GET /projects/:id_or_path", "GET /projects/:id"));
}

/// The tests that docs/security.md names exist.
#[test]
fn tests_named_in_the_security_page_exist() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/security.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let rows: Vec<&str> = page
        .lines()
        .skip_while(|line| *line != "## Findings of the audit")
        .take_while(|line| *line != "### Bytes at random")
        .filter(|line| {
            line.starts_with("| ") && !line.starts_with("| Area") && !line.starts_with("| #")
        })
        .collect();
    assert_eq!(rows.len(), 18 + 26, "one for each finding and lesson");
    let mut sources = Vec::new();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    for folder in ["crates", "tests"] {
        read_sources(&Path::new(root).join(folder), &mut sources);
    }
    let sources = sources.join("\n");
    for row in rows {
        let shown = row.rsplit(" | ").next().expect("rows have columns");
        let is_test = |word: &&str| word.len() > 14 && !word.contains(['/', '.', ' ', '-', ':']);
        let tests: Vec<&str> = shown.split('`').skip(1).step_by(2).filter(is_test).collect();
        assert!(!tests.is_empty(), "no test is named: {row}");
        for test in tests {
            assert!(sources.contains(&format!("fn {test}(")), "there is no `{test}`");
        }
    }
}

fn read_sources(folder: &Path, sources: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder of ours").flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") {
            read_sources(&path, sources);
        } else if path.extension().is_some_and(|end| end == "rs") {
            sources.push(std::fs::read_to_string(&path).expect("a file of ours"));
        }
    }
}

/// Whether a text names an endpoint, and not only a longer path that starts with it.
fn names(text: &str, endpoint: &str) -> bool {
    text.match_indices(endpoint).any(|(at, _)| {
        let rest = &text[at + endpoint.len()..];
        !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_'))
    })
}

fn test_sources() -> String {
    let mut sources = Vec::new();
    read_sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/api"), &mut sources);
    sources.join("\n")
}
