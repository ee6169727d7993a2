//! The variables of a build, in the order of the reference. When a name occurs twice, the later value wins.

use hexforge_domain::ci::when::When;

use super::assignment::Assignment;

/// A variable of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildVariable {
    /// The name of the variable.
    pub key: String,
    /// The value of the variable.
    pub value: String,
    /// Whether a log may show the value.
    pub public: bool,
}

/// Facts about the server that only the transport knows.
#[derive(Clone, Copy, Debug)]
pub struct Server<'a> {
    /// The version of the server.
    pub version: &'a str,
    /// The revision of the server.
    pub revision: &'a str,
    /// The URL of the build's project.
    pub project_url: &'a str,
}

/// The name of the server in `CI_SERVER_NAME`.
const SERVER_NAME: &str = "hexforge";

/// Returns all variables of a build.
pub fn variables(given: &Assignment, server: Server<'_>) -> Vec<BuildVariable> {
    let mut all = VariableList(Vec::new());
    add_build_variables(&mut all, given, server);
    add_project_variables(&mut all, given, server);
    for (key, value) in &given.definition.variables {
        all.add_public(key, value.clone());
    }
    if let Some(user) = &given.user {
        all.add_public("GITLAB_USER_ID", user.id.to_string());
        all.add_public("GITLAB_USER_EMAIL", user.email.as_str().to_owned());
    }
    for secret in &given.secrets {
        all.add_secret(&secret.key, secret.value.reveal().to_owned());
    }
    for (key, value) in given.triggered.iter().flatten() {
        all.add_secret(key, value.clone());
    }
    all.0
}

fn add_build_variables(all: &mut VariableList, given: &Assignment, server: Server<'_>) {
    let (build, pipeline) = (&given.build, &given.pipeline);
    all.add_public("CI", "true".to_owned());
    all.add_public("GITLAB_CI", "true".to_owned());
    all.add_public("CI_BUILD_ID", build.id.to_string());
    all.add_secret("CI_BUILD_TOKEN", given.token.reveal().to_owned());
    all.add_public("CI_BUILD_REF", pipeline.sha.to_string());
    all.add_public("CI_BUILD_BEFORE_SHA", pipeline.before_sha.to_string());
    all.add_public("CI_BUILD_REF_NAME", pipeline.reference.clone());
    all.add_public("CI_BUILD_NAME", build.name.clone());
    all.add_public("CI_BUILD_STAGE", build.stage.clone());
    all.add_public("CI_SERVER_NAME", SERVER_NAME.to_owned());
    all.add_public("CI_SERVER_VERSION", server.version.to_owned());
    all.add_public("CI_SERVER_REVISION", server.revision.to_owned());
    if pipeline.tag {
        all.add_public("CI_BUILD_TAG", pipeline.reference.clone());
    }
    if given.triggered.is_some() {
        all.add_public("CI_BUILD_TRIGGERED", "true".to_owned());
    }
    if build.when == When::Manual {
        all.add_public("CI_BUILD_MANUAL", "true".to_owned());
    }
}

fn add_project_variables(all: &mut VariableList, given: &Assignment, server: Server<'_>) {
    let (project, place) = (&given.project.project, &given.project.place);
    all.add_public("CI_PROJECT_ID", project.id.to_string());
    all.add_public("CI_PROJECT_NAME", project.path.as_str().to_owned());
    all.add_public("CI_PROJECT_PATH", place.path_of(project));
    all.add_public("CI_PROJECT_NAMESPACE", place.namespace.path.as_str().to_owned());
    all.add_public("CI_PROJECT_URL", server.project_url.to_owned());
    all.add_public("CI_PIPELINE_ID", given.pipeline.id.to_string());
    if let Some(runner) = &given.runner {
        all.add_public("CI_RUNNER_ID", runner.id.to_string());
        all.add_public("CI_RUNNER_DESCRIPTION", runner.description.clone());
        let tags: Vec<&str> = runner.tags.iter().collect();
        all.add_public("CI_RUNNER_TAGS", tags.join(", "));
    }
}

struct VariableList(Vec<BuildVariable>);

impl VariableList {
    fn add_public(&mut self, key: &str, value: String) {
        self.0.push(BuildVariable { key: key.to_owned(), value, public: true });
    }

    fn add_secret(&mut self, key: &str, value: String) {
        self.0.push(BuildVariable { key: key.to_owned(), value, public: false });
    }
}
