//! Helpers of the tests about branches and tags: a filled repository, and the expected responses.

use hexforge_application::repository::task;
use hexforge_domain::branch::protection::{DeveloperRights, Protection};
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::store::StoreError;
use hexforge_tests::Forge;
use hexforge_tests::work_tree::WorkTree;
use serde_json::{Value, json};

use crate::api::projects::project_support::{Cast, a_cast};
use crate::api::support::id_of;

/// A project with its users and a repository.
pub struct ProjectFixture {
    /// The project and its users.
    pub cast: Cast,
    /// The work tree from which the repository was filled.
    pub tree: WorkTree,
    /// The path for branches in the API.
    pub branches: String,
    /// The path for tags in the API.
    pub tags: String,
}

impl ProjectFixture {
    /// The token of a user of the cast.
    #[track_caller]
    pub fn token(&self, who: &str) -> &str {
        self.cast.token(who)
    }

    /// The id of the project.
    pub fn project(&self) -> i64 {
        id_of(&self.cast.project)
    }

    /// The id of the object that a revision names, by git.
    pub fn id(&self, revision: &str) -> String {
        self.tree.git_bare(&["rev-parse", revision])
    }
}

/// A private project with an empty repository.
pub fn empty_fixture(forge: &Forge) -> ProjectFixture {
    empty_fixture_with_visibility(forge, "0")
}

/// A project with this visibility and an empty repository.
pub fn empty_fixture_with_visibility(forge: &Forge, level: &str) -> ProjectFixture {
    let cast = a_cast(forge, level);
    let tree = forge.work_tree(id_of(&cast.project));
    let branches = format!("{}/repository/branches", cast.path);
    let tags = format!("{}/repository/tags", cast.path);
    ProjectFixture { cast, tree, branches, tags }
}

/// A private project with the commits One, Two and Three on `master`, the branch `feature/x` that starts at Two, and
/// the tags `v1.0.0` (lightweight) on One and `v1.1.0` (annotated) on Two.
pub fn filled_fixture(forge: &Forge) -> ProjectFixture {
    let fixture = empty_fixture(forge);
    fill(forge, &fixture);
    fixture
}

/// Fills the repository as described at [`filled_fixture`].
pub fn fill(forge: &Forge, fixture: &ProjectFixture) {
    let tree = &fixture.tree;
    tree.write("README", "one\n").commit("One");
    tree.git(&["tag", "v1.0.0"]);
    tree.git(&["checkout", "-q", "-b", "feature/x"]);
    tree.write("x", "x\n").commit("Beside");
    tree.git(&["checkout", "-q", "master"]);
    tree.write("README", "two\n").write("docs/a", "a\n").commit("Two");
    tree.git(&["tag", "-a", "v1.1.0", "-m", "The second\n\nwith more"]);
    tree.write("README", "three\n").commit("Three\n\nand a body");
    forge.fill(fixture.project(), tree);
}

/// A commit, as branches and single tags show it.
pub fn commit_json(fixture: &ProjectFixture, revision: &str) -> Value {
    let look = |format: &str| {
        let date = "--date=format:%Y-%m-%dT%H:%M:%S.000+02:00";
        fixture.tree.git_bare(&["log", "-1", date, &format!("--format={format}"), revision])
    };
    let parents = look("%P");
    let parents: Vec<&str> = parents.split_whitespace().collect();
    json!({
        "id": look("%H"), "message": format!("{}\n", look("%B")), "parent_ids": parents,
        "authored_date": look("%ad"), "author_name": "Ada", "author_email": "ada@example.com",
        "committed_date": look("%cd"), "committer_name": "Bob",
        "committer_email": "bob@example.com"
    })
}

/// An unprotected branch, as responses show it.
pub fn branch_json(fixture: &ProjectFixture, name: &str) -> Value {
    let full = format!("refs/heads/{name}");
    json!({
        "name": name, "commit": commit_json(fixture, &full), "protected": false,
        "developers_can_push": false, "developers_can_merge": false
    })
}

/// A tag, as a single tag is shown.
pub fn tag_json(fixture: &ProjectFixture, name: &str, message: Value, release: Value) -> Value {
    let full = format!("refs/tags/{name}");
    json!({
        "name": name, "message": message, "commit": commit_json(fixture, &full), "release": release
    })
}

/// A tag in lists and in the response to its creation, which have the parents under both names.
pub fn listed_tag_json(
    fixture: &ProjectFixture,
    name: &str,
    message: Value,
    release: Value,
) -> Value {
    let mut tag = tag_json(fixture, name, message, release);
    let commit = tag["commit"].as_object().expect("a commit");
    let mut both = serde_json::Map::new();
    for (field, value) in commit {
        both.insert(field.clone(), value.clone());
        if field == "parent_ids" {
            both.insert("parents_ids".to_owned(), value.clone());
        }
    }
    tag["commit"] = Value::Object(both);
    tag
}

/// Protects branches by a pattern, for which the API has no call.
pub fn protect(forge: &Forge, fixture: &ProjectFixture, pattern: &str, push: bool, merge: bool) {
    let protection =
        Protection { pattern: pattern.to_owned(), developers: DeveloperRights { push, merge } };
    let project = ProjectId(fixture.project());
    let put: Result<(), StoreError> =
        forge.app.store.write(|tx| tx.protections().put(project, &protection));
    put.expect("the store of the server can be written");
}

/// Runs the queued background tasks of repositories.
pub fn do_tasks(forge: &Forge) {
    while task::run_next(&forge.app).expect("tasks can be done") {}
}

/// Creates a branch, and returns the response.
#[track_caller]
pub fn new_branch(forge: &Forge, fixture: &ProjectFixture, name: &str, from: &str) -> Value {
    let form = [("branch_name", name), ("ref", from)];
    forge.post(&fixture.branches).token(fixture.token("developer")).form(&form).send().expect(200)
}

/// Creates a tag, and returns the response.
#[track_caller]
pub fn new_tag(forge: &Forge, fixture: &ProjectFixture, form: &[(&str, &str)]) -> Value {
    forge.post(&fixture.tags).token(fixture.token("developer")).form(form).send().expect(201)
}
