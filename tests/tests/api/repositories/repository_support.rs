//! Helpers of the tests about the content of repositories.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Request, Response, WorkTree};
use serde_json::Value;

use crate::api::groups::group_support::{forbidden, new_project, no_project};
use crate::api::projects::project_support::a_cast;
use crate::api::support::{MISSING, id_of, message};

/// The project `shop` of root, and the work tree from which it is filled.
pub struct Repo<'a> {
    forge: &'a Forge,
    pub project: i64,
    pub tree: WorkTree,
}

impl<'a> Repo<'a> {
    pub fn new(forge: &'a Forge) -> Self {
        let project = id_of(&new_project(forge, ROOT, "shop", &[]));
        Self { forge, project, tree: forge.work_tree(project) }
    }

    /// Pushes the work tree into the repository.
    pub fn fill(&self) -> &Self {
        self.forge.fill(self.project, &self.tree);
        self
    }

    /// A GET request below `repository/`.
    pub fn ask(&self, call: &str) -> Request {
        self.forge.get(&format!("/projects/{}/repository/{call}", self.project)).token(ROOT)
    }

    /// The response to such a request with these parameters.
    pub fn get(&self, call: &str, query: &[(&str, &str)]) -> Response {
        self.ask(call).query(query).send()
    }
}

/// The values of one field of a list, in its order.
#[track_caller]
pub fn column<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    let list = list.as_array().expect("a list");
    list.iter().map(|one| one[field].as_str().expect("a text")).collect()
}

/// The response of a comparison.
#[track_caller]
pub fn compare(repo: &Repo<'_>, from: &str, to: &str) -> Value {
    repo.get("compare", &[("from", from), ("to", to)]).expect(200)
}

/// Revisions that no repository has: searches, other syntax of git, and nonsense.
pub const NO_REVISIONS: [&str; 32] = [
    "missing",
    "-x",
    "--all",
    "^master",
    ":/text",
    ":0:a.txt",
    "master:a.txt",
    "HEAD^{/x}",
    "master^{tree}",
    "@{-1}",
    "@{u}",
    "master@{0}",
    "master..master",
    "master...master",
    "master~99",
    "master^9",
    "master^!",
    "..",
    "../HEAD",
    "refs",
    "refs/heads",
    "refs/heads/../../HEAD",
    "config",
    "objects",
    "packed-refs",
    "a b",
    "a\nb",
    "*",
    "ffff",
    "0000000000000000000000000000000000000000",
    "ffffffffffffffffffffffffffffffffffffffff",
    "ffffffffffffffffffffffffffffffffffffffffff",
];

/// Asserts that readers of the code get 200 for a call below `repository/`, and that others get their error even if the
/// parameters are invalid, as in `broken`: sections 1.1 to 1.3.
#[track_caller]
pub fn assert_for_readers_of_code(forge: &Forge, call: &str, broken: &str) {
    let cast = a_cast(forge, "0");
    let tree = forge.work_tree(id_of(&cast.project));
    tree.write("a.txt", "a\n").commit("Begin");
    forge.fill(id_of(&cast.project), &tree);
    let at = |call: &str| format!("{}/repository/{call}", cast.path);
    let status = |who: &str| forge.get(&at(call)).token(cast.token(who)).send().status;
    let readers = ["reporter", "developer", "master", "owner", "root"];
    for who in readers {
        assert_eq!(status(who), 200, "{call} for {who}");
    }
    for call in [call, broken] {
        let ask = |who: &str| forge.get(&at(call)).token(cast.token(who)).send();
        assert_eq!(forge.get(&at(call)).send().expect(401), message("401 Unauthorized"), "{call}");
        assert_eq!(ask("guest").expect(403), forbidden(), "{call}");
        for who in ["stranger", "external"] {
            assert_eq!(ask(who).expect(404), no_project(), "{call} for {who}");
        }
        let missing = forge.get(&format!("/projects/{MISSING}/repository/{call}"));
        assert_eq!(missing.token(ROOT).send().expect(404), no_project(), "{call}");
    }
    let show_to = |level: &str| {
        let form = [("name", "Ship"), ("visibility_level", level)];
        forge.put(&cast.path).token(ROOT).form(&form).send().expect(200);
    };
    show_to("10");
    for who in readers.into_iter().chain(["guest", "stranger"]) {
        assert_eq!(status(who), 200, "{call} of an internal project for {who}");
    }
    assert_eq!(status("external"), 404, "{call}");
    show_to("20");
    for who in ["guest", "stranger", "external"] {
        assert_eq!(status(who), 200, "{call} of a public project for {who}");
    }
    // Section 1.2: not even for a public project.
    assert_eq!(forge.get(&at(call)).send().status, 401, "{call}");
    // Archived projects can be read.
    forge.post(&format!("{}/archive", cast.path)).token(ROOT).send().expect(201);
    assert_eq!(status("stranger"), 200, "{call}");
}
