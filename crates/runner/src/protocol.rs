//! The data of the runner protocol (`/ci/api/v1`).

use serde::Deserialize;

/// A build that the server assigned to this runner.
#[derive(Clone, Debug, Deserialize)]
pub struct Assignment {
    /// The id of the build.
    pub id: i64,
    /// The branch or tag.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Whether the ref is a tag.
    #[serde(default)]
    pub tag: bool,
    /// The commit.
    pub sha: String,
    /// The name of the job.
    pub name: String,
    /// The token of the build.
    pub token: String,
    /// The stage of the job.
    #[serde(default)]
    pub stage: String,
    /// The id of the project.
    pub project_id: i64,
    /// The commands, one per line, of servers that do not send `options.script`.
    #[serde(default)]
    pub commands: String,
    /// The clone address, with the token of the build as password.
    pub repo_url: String,
    /// Whether an existing working copy may be updated; otherwise it is cloned again.
    #[serde(default = "yes")]
    pub allow_git_fetch: bool,
    /// The options of the job.
    #[serde(default)]
    pub options: Options,
    /// The time limit of the build in seconds.
    #[serde(default = "default_timeout")]
    pub timeout: u64,
    /// The variables; a later one overrides an earlier one of the same name.
    #[serde(default)]
    pub variables: Vec<Variable>,
    /// The builds of earlier stages.
    #[serde(default)]
    pub depends_on_builds: Vec<EarlierBuild>,
}

fn yes() -> bool {
    true
}

fn default_timeout() -> u64 {
    3600
}

/// The options of a job.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Options {
    /// The entries of `before_script` and `script`.
    pub script: Option<Vec<String>>,
    /// The container image.
    pub image: Option<String>,
    /// The images of service containers.
    pub services: Option<Vec<String>>,
    /// The artifacts to upload.
    pub artifacts: Option<Artifacts>,
    /// The files that this runner keeps for later builds.
    pub cache: Option<Cache>,
    /// The names of the jobs whose artifacts are downloaded; all earlier ones if absent.
    pub dependencies: Option<Vec<String>>,
    /// The commands after the build, whatever its result.
    pub after_script: Option<Vec<String>>,
}

/// `artifacts` of a job.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Artifacts {
    /// The name of the archive, without extension.
    pub name: Option<String>,
    /// Whether all untracked files belong to it.
    pub untracked: Option<bool>,
    /// The paths, with wildcards.
    pub paths: Option<Vec<String>>,
    /// `on_success`, `on_failure` or `always`.
    pub when: Option<String>,
    /// How long the server keeps it.
    pub expire_in: Option<String>,
}

/// `cache` of a job.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Cache {
    /// The key, in which variables are expanded.
    pub key: Option<String>,
    /// Whether all untracked files belong to it.
    pub untracked: Option<bool>,
    /// The paths, with wildcards.
    pub paths: Option<Vec<String>>,
}

/// A variable of a build.
#[derive(Clone, Debug, Deserialize)]
pub struct Variable {
    /// The name.
    pub key: String,
    /// The value.
    pub value: String,
    /// Whether logs may show the value.
    #[serde(default)]
    pub public: bool,
}

/// A build of an earlier stage.
#[derive(Clone, Debug, Deserialize)]
pub struct EarlierBuild {
    /// The id of the build.
    pub id: i64,
    /// The name of the job.
    pub name: String,
    /// The token with which its artifacts are downloaded.
    pub token: String,
    /// Its artifacts, if it has any.
    pub artifacts_file: Option<ArtifactsFile>,
}

/// The artifacts file of a build.
#[derive(Clone, Debug, Deserialize)]
pub struct ArtifactsFile {
    /// The name of the file.
    pub filename: String,
    /// Its size in bytes.
    #[serde(default)]
    pub size: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_assignment_has_defaults() {
        let text = r#"{"id":1,"ref":"master","sha":"ab","name":"job","token":"t","project_id":2,
            "repo_url":"http://x/a/b.git","options":{"image":null,"environment":{"name":"x"}}}"#;
        let given: Assignment = serde_json::from_str(text).expect("valid");
        assert!(given.allow_git_fetch && given.options.script.is_none());
        assert_eq!(given.timeout, 3600);
    }
}
