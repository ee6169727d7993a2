//! What has to be done for a build, as far as the assignment of the server tells it.

use std::time::Duration;

use url::Url;

use crate::error::Error;
use crate::glob::Pattern;
use crate::protocol::{Artifacts, Assignment, Cache, EarlierBuild};
use crate::variables::{self, Variables};

/// The longest time of `after_script`.
pub const AFTER_SCRIPT_TIMEOUT: Duration = Duration::from_secs(300);

/// The longest time limit of a build in seconds, a year.
const LONGEST_BUILD: u64 = 365 * 24 * 3600;

/// A build, ready to be run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The folder of the working copy below the folder of a slot, such as `group/project`.
    pub folder: String,
    /// Where the working copy comes from.
    pub sources: Sources,
    /// The entries of `before_script` and `script`.
    pub script: Vec<String>,
    /// The entries of `after_script`.
    pub after_script: Vec<String>,
    /// The variables.
    pub variables: Variables,
    /// The names of variables that cannot be passed on.
    pub refused_variables: Vec<String>,
    /// The values that the log must not show.
    pub secrets: Vec<Vec<u8>>,
    /// What is kept for later builds.
    pub cache: Option<CachePlan>,
    /// What is uploaded.
    pub artifacts: Option<ArtifactsPlan>,
    /// The builds whose artifacts are downloaded.
    pub dependencies: Vec<EarlierBuild>,
    /// The time limit of the build.
    pub timeout: Duration,
}

/// Where the working copy comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    /// How an existing working copy is used.
    pub strategy: Strategy,
    /// The number of commits; all if absent.
    pub depth: Option<u32>,
    /// What happens to submodules.
    pub submodules: Submodules,
    /// The clone address, without credentials.
    pub url: String,
    /// Scheme, host and port of the server.
    pub origin: String,
    /// The commit.
    pub sha: String,
    /// The branch or tag, for the log.
    pub reference: String,
}

/// `GIT_STRATEGY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Removes an existing working copy.
    Clone,
    /// Updates an existing working copy.
    Fetch,
    /// Does not use git.
    None,
}

/// `GIT_SUBMODULE_STRATEGY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submodules {
    /// Leaves submodules alone.
    None,
    /// Checks out the submodules of the project.
    Normal,
    /// Checks out their submodules too.
    Recursive,
}

/// A choice of files below the project folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The patterns of paths.
    pub patterns: Vec<Pattern>,
    /// The patterns that are invalid, for the log.
    pub refused: Vec<String>,
    /// Whether all untracked files belong to it.
    pub untracked: bool,
}

/// A cache of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachePlan {
    /// The key.
    pub key: String,
    /// The files.
    pub files: Selection,
}

/// The artifacts of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactsPlan {
    /// The name of the archive.
    pub file_name: String,
    /// The files.
    pub files: Selection,
    /// When they are uploaded.
    pub when: ArtifactsWhen,
    /// How long the server keeps them.
    pub expire_in: Option<String>,
}

/// `artifacts:when`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArtifactsWhen {
    /// When the script succeeded.
    OnSuccess,
    /// When the script failed.
    OnFailure,
    /// Always.
    Always,
}

impl ArtifactsWhen {
    /// Returns whether they are uploaded after this result.
    pub fn applies(self, succeeded: bool) -> bool {
        match self {
            ArtifactsWhen::OnSuccess => succeeded,
            ArtifactsWhen::OnFailure => !succeeded,
            ArtifactsWhen::Always => true,
        }
    }
}

impl Plan {
    /// Makes the plan of an assignment. Variables may refer to those of `host`.
    /// # Errors
    /// A part of the assignment cannot be used.
    pub fn new(given: &Assignment, host: &[(String, String)]) -> Result<Self, Error> {
        let (variables, refused_variables) = Variables::merge(&given.variables, host);
        let mut secrets = variables::secrets(&given.variables);
        secrets.push(given.token.as_bytes().to_vec());
        let sources = sources(given, &variables)?;
        Ok(Self {
            folder: project_folder(&sources.url)?,
            script: given.options.script.clone().unwrap_or_else(|| vec![given.commands.clone()]),
            after_script: given.options.after_script.clone().unwrap_or_default(),
            cache: given
                .options
                .cache
                .as_ref()
                .and_then(|cache| cache_plan(cache, given, &variables)),
            artifacts: given
                .options
                .artifacts
                .as_ref()
                .and_then(|one| artifacts_plan(one, &variables)),
            dependencies: dependencies(given),
            timeout: Duration::from_secs(given.timeout.clamp(1, LONGEST_BUILD)),
            refused_variables,
            variables,
            secrets,
            sources,
        })
    }
}

fn sources(given: &Assignment, variables: &Variables) -> Result<Sources, Error> {
    let mut url = Url::parse(&given.repo_url).map_err(|error| {
        Error::step(format!("the clone address of the server is invalid: {error}"))
    })?;
    if url.set_username("").and_then(|()| url.set_password(None)).is_err() {
        return Err(Error::step("the clone address of the server has no host"));
    }
    if !(given.sha.len() >= 40 && given.sha.bytes().all(|b| b.is_ascii_hexdigit())) {
        return Err(Error::step(format!("`{}` is not the id of a commit", given.sha)));
    }
    let strategy = match variables.get("GIT_STRATEGY") {
        Some("none") => Strategy::None,
        Some("clone") => Strategy::Clone,
        Some("fetch") => Strategy::Fetch,
        Some(_) | None if given.allow_git_fetch => Strategy::Fetch,
        Some(_) | None => Strategy::Clone,
    };
    let submodules = match variables.get("GIT_SUBMODULE_STRATEGY") {
        Some("normal") => Submodules::Normal,
        Some("recursive") => Submodules::Recursive,
        Some(_) | None => Submodules::None,
    };
    let depth = variables.get("GIT_DEPTH").and_then(|depth| depth.trim().parse().ok());
    Ok(Sources {
        strategy,
        depth: depth.filter(|depth| *depth > 0),
        submodules,
        origin: url.origin().ascii_serialization(),
        url: url.into(),
        sha: given.sha.clone(),
        reference: given.reference.clone(),
    })
}

/// The path of the project from its clone address. Every part is a plain name.
fn project_folder(url: &str) -> Result<String, Error> {
    let path = Url::parse(url).map(|url| url.path().to_owned()).unwrap_or_default();
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let plain = |part: &str| {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'+');
        !part.is_empty() && !part.starts_with('.') && part.bytes().all(allowed)
    };
    if path.is_empty() || !path.split('/').all(plain) {
        return Err(Error::step(format!("the clone address {url} has no usable project path")));
    }
    Ok(path.to_owned())
}

fn selection(
    paths: Option<&Vec<String>>,
    untracked: Option<bool>,
    variables: &Variables,
) -> Option<Selection> {
    let mut chosen = Selection { untracked: untracked == Some(true), ..Selection::default() };
    for path in paths.into_iter().flatten() {
        let path = variables.expand(path);
        match Pattern::parse(&path) {
            Some(pattern) => chosen.patterns.push(pattern),
            None => chosen.refused.push(path),
        }
    }
    (chosen != Selection::default()).then_some(chosen)
}

fn cache_plan(cache: &Cache, given: &Assignment, variables: &Variables) -> Option<CachePlan> {
    let files = selection(cache.paths.as_ref(), cache.untracked, variables)?;
    let key = cache.key.as_deref().map(|key| variables.expand(key)).filter(|key| !key.is_empty());
    // As the original runner: without a key, each job and branch has its own cache.
    let key = key.unwrap_or_else(|| format!("{}/{}", given.name, given.reference));
    Some(CachePlan { key, files })
}

fn artifacts_plan(given: &Artifacts, variables: &Variables) -> Option<ArtifactsPlan> {
    let files = selection(given.paths.as_ref(), given.untracked, variables)?;
    let name = given.name.as_deref().map(|name| variables.expand(name));
    let name = name.map(|name| name.replace(['/', '\\', '\0', '\n', '\r', '"'], "-"));
    let name = name.filter(|name| !name.trim_matches(['.', ' ', '-']).is_empty());
    let when = match given.when.as_deref() {
        Some("on_failure") => ArtifactsWhen::OnFailure,
        Some("always") => ArtifactsWhen::Always,
        Some(_) | None => ArtifactsWhen::OnSuccess,
    };
    Some(ArtifactsPlan {
        file_name: format!("{}.zip", name.as_deref().unwrap_or("artifacts")),
        files,
        when,
        expire_in: given.expire_in.clone().filter(|text| !text.is_empty()),
    })
}

/// The earlier builds with artifacts: those that `dependencies` names, or all of them.
fn dependencies(given: &Assignment) -> Vec<EarlierBuild> {
    let named = |build: &&EarlierBuild| match &given.options.dependencies {
        Some(names) => names.contains(&build.name),
        None => true,
    };
    let builds = given.depends_on_builds.iter().filter(|build| build.artifacts_file.is_some());
    builds.filter(named).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assignment(json: serde_json::Value) -> Assignment {
        let mut whole = serde_json::json!({
            "id": 7, "ref": "master", "sha": "ab".repeat(20), "name": "rspec", "token": "tok-en-tok", "project_id": 3,
            "repo_url": "http://gitlab-ci-token:tok-en-tok@forge:8080/group/app.git", "commands": "make\nmake test",
        });
        whole
            .as_object_mut()
            .expect("an object")
            .extend(json.as_object().expect("an object").clone());
        serde_json::from_value(whole).expect("valid")
    }

    fn plan(json: serde_json::Value) -> Plan {
        Plan::new(&assignment(json), &[]).expect("usable")
    }

    #[test]
    fn credentials_leave_the_address() {
        let plan = plan(serde_json::json!({}));
        assert_eq!(plan.sources.url, "http://forge:8080/group/app.git");
        assert_eq!(plan.sources.origin, "http://forge:8080");
        assert_eq!(plan.folder, "group/app");
        assert_eq!(plan.script, ["make\nmake test"]);
        assert!(plan.secrets.contains(&b"tok-en-tok".to_vec()));
    }

    #[test]
    fn variables_choose_how_sources_come() {
        let with = |key: &str, value: &str, fetch: bool| {
            plan(serde_json::json!({"allow_git_fetch": fetch, "variables": [{"key": key, "value": value}]})).sources
        };
        assert_eq!(with("X", "", true).strategy, Strategy::Fetch);
        assert_eq!(with("X", "", false).strategy, Strategy::Clone);
        assert_eq!(with("GIT_STRATEGY", "none", true).strategy, Strategy::None);
        assert_eq!(with("GIT_STRATEGY", "clone", true).strategy, Strategy::Clone);
        assert_eq!(with("GIT_STRATEGY", "fetch", false).strategy, Strategy::Fetch);
        assert_eq!(with("GIT_DEPTH", "3", true).depth, Some(3));
        assert_eq!(with("GIT_DEPTH", "x; rm", true).depth, None);
        assert_eq!(
            with("GIT_SUBMODULE_STRATEGY", "recursive", true).submodules,
            Submodules::Recursive
        );
    }

    #[test]
    fn names_and_keys_are_expanded() {
        let plan = plan(serde_json::json!({
            "variables": [{"key": "CI_BUILD_REF_NAME", "value": "feature/x", "public": true}],
            "options": {
                "artifacts": {"name": "app-$CI_BUILD_REF_NAME", "paths": ["bin", "/etc"], "when": "always"},
                "cache": {"key": "$CI_BUILD_REF_NAME", "untracked": true},
            },
        }));
        let artifacts = plan.artifacts.expect("given");
        assert_eq!(artifacts.file_name, "app-feature-x.zip");
        assert_eq!(
            (artifacts.files.patterns.len(), artifacts.files.refused),
            (1, vec!["/etc".to_owned()])
        );
        assert!(artifacts.when.applies(false) && artifacts.when.applies(true));
        assert_eq!(plan.cache.expect("given").key, "feature/x");
    }

    #[test]
    fn a_cache_belongs_to_its_job_and_branch_by_default() {
        let plan = plan(
            serde_json::json!({"options": {"cache": {"paths": ["vendor"]}, "artifacts": {"name": "x"}}}),
        );
        assert_eq!(plan.cache.expect("given").key, "rspec/master");
        assert_eq!(plan.artifacts, None);
    }

    #[test]
    fn dependencies_are_those_with_artifacts() {
        let builds = serde_json::json!([
            {"id": 1, "name": "a", "token": "t", "artifacts_file": {"filename": "a.zip", "size": 1}},
            {"id": 2, "name": "b", "token": "t"},
            {"id": 3, "name": "c", "token": "t", "artifacts_file": {"filename": "c.zip", "size": 1}},
        ]);
        let ids = |options: serde_json::Value| -> Vec<i64> {
            let plan = plan(serde_json::json!({"depends_on_builds": builds, "options": options}));
            plan.dependencies.iter().map(|build| build.id).collect()
        };
        assert_eq!(ids(serde_json::json!({})), [1, 3]);
        assert_eq!(ids(serde_json::json!({"dependencies": ["c", "b"]})), [3]);
        assert_eq!(ids(serde_json::json!({"dependencies": []})), [0; 0]);
    }

    #[test]
    fn a_time_limit_is_bounded() {
        for (given, expected) in [(0, 1), (60, 60), (u64::MAX, LONGEST_BUILD)] {
            let plan = plan(serde_json::json!({ "timeout": given }));
            assert_eq!(plan.timeout, Duration::from_secs(expected));
        }
    }

    #[test]
    fn hostile_assignments_are_refused() {
        for change in [
            serde_json::json!({"repo_url": "http://forge/../../etc"}),
            serde_json::json!({"repo_url": "file:///etc/passwd"}),
            serde_json::json!({"repo_url": "http://forge/a/.hidden.git"}),
            serde_json::json!({"sha": "--upload-pack=x"}),
        ] {
            let given = assignment(change.clone());
            let planned = Plan::new(&given, &[]);
            assert!(
                planned.is_err() || planned.is_ok_and(|plan| !plan.folder.contains("..")),
                "{change}"
            );
        }
    }
}
