//! The plan of a build, made from the assignment of the server alone.

use std::time::Duration;

use url::Url;

use crate::error::Error;
use crate::glob::Pattern;
use crate::protocol::{Artifacts, Assignment, Cache, EarlierBuild, Variable};
use crate::script::Trace;
use crate::variables::{self, MAX_EXPANDED, Room, Variables};

/// The longest time of `after_script`.
pub const AFTER_SCRIPT_TIMEOUT: Duration = Duration::from_secs(300);

/// The longest time limit of a build in seconds, a year.
const LONGEST_BUILD: u64 = 365 * 24 * 3600;

/// A build, ready to be run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where the working copy comes from.
    pub sources: Sources,
    /// The container image that the job names.
    pub image: Option<String>,
    /// The images of the services that the job names.
    pub services: Vec<String>,
    /// The entries of `before_script` and `script`.
    pub script: Vec<String>,
    /// The entries of `after_script`.
    pub after_script: Vec<String>,
    /// Whether the shell shows each command.
    pub trace: Trace,
    /// The variables.
    pub variables: Variables,
    /// The names of variables that cannot be passed on.
    pub refused_variables: Vec<String>,
    /// The values that the log must not show.
    pub secrets: Vec<Vec<u8>>,
    /// The cache.
    pub cache: Option<CachePlan>,
    /// The artifacts to upload.
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
    /// How submodules are checked out.
    pub submodules: Submodules,
    /// The clone address, without credentials.
    pub url: String,
    /// Scheme, host and port of the server.
    pub origin: String,
    /// The commit.
    pub sha: String,
    /// The branch or tag.
    pub reference: String,
    /// Whether the reference is a tag.
    pub is_tag: bool,
    /// The variables of the build that also change how the runner itself uses git.
    pub switches: Vec<(String, String)>,
}

/// The variables that git gets while the runner fetches the sources. It gets no other variable of the build, because
/// they could make it run programs.
const GIT_SWITCHES: [&str; 2] = ["GIT_SSL_NO_VERIFY", "GIT_LFS_SKIP_SMUDGE"];

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
    /// Makes the plan of an assignment. Variables may refer to those of `environment`, the environment in which the job
    /// starts. `project` is the folder of the working copy.
    /// # Errors
    /// A part of the assignment cannot be used.
    pub fn new(
        given: &Assignment,
        environment: &[(String, String)],
        project: &str,
    ) -> Result<Self, Error> {
        let own = runner_variables(given, project)?;
        // A variable that refers to its own name means the one that it overrides.
        let overridden = own.iter().map(|own| (own.key.clone(), own.value.clone()));
        let overridden: Vec<_> = environment.iter().cloned().chain(overridden).collect();
        let all: Vec<Variable> = own.into_iter().chain(given.variables.iter().cloned()).collect();
        let (variables, refused_variables) = Variables::merge(&all, &overridden);
        let mut secrets = variables::secrets(&given.variables, &variables);
        secrets.push(given.token.as_bytes().to_vec());
        let sources = sources(given, &variables)?;
        let (options, mut room) = (&given.options, Room::default());
        let image = options.image.as_deref();
        let image = image.map(|image| expand("image", image, &variables, &mut room)).transpose()?;
        let services = options.services.iter().flatten();
        let services = services.map(|image| expand("services", image, &variables, &mut room));
        let services = services.collect::<Result<Vec<_>, _>>()?;
        let mut cache = None;
        if let Some(one) = &options.cache {
            cache = cache_plan(one, given, project, &variables, &mut room)?;
        }
        let mut artifacts = None;
        if let Some(one) = &options.artifacts {
            artifacts = artifacts_plan(one, project, &variables, &mut room)?;
        }
        Ok(Self {
            script: given.options.script.clone().unwrap_or_else(|| vec![given.commands.clone()]),
            after_script: given.options.after_script.clone().unwrap_or_default(),
            image,
            services,
            cache,
            artifacts,
            dependencies: dependencies(given),
            timeout: Duration::from_secs(given.timeout.clamp(1, LONGEST_BUILD)),
            refused_variables,
            secrets,
            trace: trace(&variables),
            variables,
            sources,
        })
    }
}

/// The variables that the runner sets. Those of the server override them.
fn runner_variables(given: &Assignment, project: &str) -> Result<Vec<Variable>, Error> {
    let url = clone_url(given)?;
    let own = [
        ("CI_SERVER", "yes"),
        ("CI_PROJECT_DIR", project),
        // Without credentials: git gets them from the credential helper.
        ("CI_BUILD_REPO", url.as_str()),
        ("CI_DEBUG_TRACE", "false"),
    ];
    let own =
        own.map(|(key, value)| Variable { key: key.into(), value: value.into(), public: true });
    Ok(own.into())
}

/// `CI_DEBUG_TRACE`, with the spellings that the original runner accepts.
fn trace(variables: &Variables) -> Trace {
    match variables.get("CI_DEBUG_TRACE") {
        Some("1" | "t" | "T" | "true" | "TRUE" | "True") => Trace::On,
        Some(_) | None => Trace::Off,
    }
}

/// The clone address without credentials.
fn clone_url(given: &Assignment) -> Result<Url, Error> {
    let mut url = Url::parse(&given.repo_url).map_err(|error| {
        Error::step(format!("the clone address of the server is invalid: {error}"))
    })?;
    if url.set_username("").and_then(|()| url.set_password(None)).is_err() {
        return Err(Error::step("the clone address of the server has no host"));
    }
    Ok(url)
}

fn sources(given: &Assignment, variables: &Variables) -> Result<Sources, Error> {
    let url = clone_url(given)?;
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
    let switches = GIT_SWITCHES
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), variables.get(name)?.to_owned())));
    Ok(Sources {
        strategy,
        depth: depth.filter(|depth| *depth > 0),
        submodules,
        origin: url.origin().ascii_serialization(),
        url: url.into(),
        sha: given.sha.clone(),
        reference: given.reference.clone(),
        is_tag: given.tag,
        switches: switches.collect(),
    })
}

/// The folder of the working copy below the folder of a slot, such as `group/project`: the path of the project from its
/// clone address. Every part is a plain name.
/// # Errors
/// The address has no such path.
pub fn project_folder(given: &Assignment) -> Result<String, Error> {
    let url = clone_url(given)?;
    let path = url.path().trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let plain = |part: &str| {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'+');
        // Names may begin with a dot, such as `.dotfiles`.
        !matches!(part, "" | "." | ".." | ".git") && part.bytes().all(allowed)
    };
    if path.is_empty() || !path.split('/').all(plain) {
        return Err(Error::step(format!("the clone address {url} has no usable project path")));
    }
    Ok(path.to_owned())
}

fn selection(
    paths: Option<&Vec<String>>,
    untracked: Option<bool>,
    project: &str,
    variables: &Variables,
    room: &mut Room,
) -> Option<Selection> {
    let mut chosen = Selection { untracked: untracked == Some(true), ..Selection::default() };
    for path in paths.into_iter().flatten() {
        let expanded = variables.expand(path, room);
        let pattern = expanded.as_deref().map(|path| below_project(path, project));
        match pattern.and_then(Pattern::parse) {
            Some(pattern) => chosen.patterns.push(pattern),
            None => chosen.refused.push(expanded.unwrap_or_else(|| path.clone())),
        }
    }
    (chosen != Selection::default()).then_some(chosen)
}

/// Makes a path relative to the project folder, if it is the absolute path of the folder or of something in it.
fn below_project<'a>(path: &'a str, project: &str) -> &'a str {
    match path.trim().strip_prefix(project) {
        Some("" | "/") => ".",
        Some(rest) => rest.strip_prefix('/').unwrap_or(path),
        None => path,
    }
}

/// Expands the variables in a setting of a job.
fn expand(
    setting: &str,
    text: &str,
    variables: &Variables,
    room: &mut Room,
) -> Result<String, Error> {
    let too_long = || {
        Error::step(format!(
            "`{setting}` is too long: with its variables it has more than {MAX_EXPANDED} bytes"
        ))
    };
    variables.expand(text, room).ok_or_else(too_long)
}

fn cache_plan(
    cache: &Cache,
    given: &Assignment,
    project: &str,
    variables: &Variables,
    room: &mut Room,
) -> Result<Option<CachePlan>, Error> {
    let Some(files) = selection(cache.paths.as_ref(), cache.untracked, project, variables, room)
    else {
        return Ok(None);
    };
    let key = expand("cache:key", cache.key.as_deref().unwrap_or_default(), variables, room)?;
    // As the original runner: without a key, each job and branch has its own cache.
    let key = if key.is_empty() { format!("{}/{}", given.name, given.reference) } else { key };
    Ok(Some(CachePlan { key, files }))
}

fn artifacts_plan(
    given: &Artifacts,
    project: &str,
    variables: &Variables,
    room: &mut Room,
) -> Result<Option<ArtifactsPlan>, Error> {
    let Some(files) = selection(given.paths.as_ref(), given.untracked, project, variables, room)
    else {
        return Ok(None);
    };
    let name = given.name.as_deref().map(|name| expand("artifacts:name", name, variables, room));
    let name = name.transpose()?;
    let name = name.map(|name| name.replace(['/', '\\', '\0', '\n', '\r', '"'], "-"));
    let name = name.filter(|name| !name.trim_matches(['.', ' ', '-']).is_empty());
    let when = match given.when.as_deref() {
        Some("on_failure") => ArtifactsWhen::OnFailure,
        Some("always") => ArtifactsWhen::Always,
        Some(_) | None => ArtifactsWhen::OnSuccess,
    };
    Ok(Some(ArtifactsPlan {
        file_name: format!("{}.zip", name.as_deref().unwrap_or("artifacts")),
        files,
        when,
        expire_in: given.expire_in.clone().filter(|text| !text.is_empty()),
    }))
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
        Plan::new(&assignment(json), &[], "/builds/group/app").expect("usable")
    }

    #[test]
    fn credentials_leave_the_address() {
        let plan = plan(serde_json::json!({}));
        assert_eq!(plan.sources.url, "http://forge:8080/group/app.git");
        assert_eq!(plan.sources.origin, "http://forge:8080");
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
        for (value, expected) in [("true", Trace::On), ("1", Trace::On), ("no", Trace::Off)] {
            let variables = [serde_json::json!({"key": "CI_DEBUG_TRACE", "value": value})];
            let plan = plan(serde_json::json!({ "variables": variables }));
            assert_eq!(plan.trace, expected, "{value}");
        }
        assert_eq!(
            with("GIT_SUBMODULE_STRATEGY", "recursive", true).submodules,
            Submodules::Recursive
        );
    }

    #[test]
    fn only_switches_reach_the_git_of_the_runner() {
        let variables = [
            serde_json::json!({"key": "GIT_SSL_NO_VERIFY", "value": "$YES"}),
            serde_json::json!({"key": "GIT_LFS_SKIP_SMUDGE", "value": "1"}),
            serde_json::json!({"key": "GIT_SSH_COMMAND", "value": "touch /evil"}),
            serde_json::json!({"key": "YES", "value": "true"}),
        ];
        let switches = plan(serde_json::json!({ "variables": variables })).sources.switches;
        let switches: Vec<_> = switches.iter().map(|(key, value)| (&**key, &**value)).collect();
        assert_eq!(switches, [("GIT_SSL_NO_VERIFY", "true"), ("GIT_LFS_SKIP_SMUDGE", "1")]);
    }

    #[test]
    fn names_and_keys_are_expanded() {
        let plan = plan(serde_json::json!({
            "variables": [{"key": "CI_BUILD_REF_NAME", "value": "feature/x", "public": true}],
            "options": {
                "artifacts": {"name": "app-$CI_BUILD_REF_NAME", "paths": ["bin", "/etc"], "when": "always"},
                "cache": {"key": "$CI_BUILD_REF_NAME", "untracked": true},
                "image": "ruby:${CI_BUILD_REF_NAME}", "services": ["mysql", "$CI_BUILD_REF_NAME"],
            },
        }));
        assert_eq!(plan.image.as_deref(), Some("ruby:feature/x"));
        assert_eq!(plan.services, ["mysql", "feature/x"]);
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
    fn variables_of_the_runner_are_expanded_like_others() {
        let variable = |key: &str, value: &str| serde_json::json!({"key": key, "value": value});
        let plan = plan(serde_json::json!({
            "variables": [
                variable("GOPATH", "$CI_PROJECT_DIR/go:$CI_SERVER:$CI_BUILD_REPO"),
                variable("TRACED", "$CI_DEBUG_TRACE"),
                variable("CI_SERVER", "$CI_SERVER, of course"),
            ],
            "options": {
                "artifacts": {"paths": ["$CI_PROJECT_DIR/bin", "$CI_PROJECT_DIR/../x", "${CI_PROJECT_DIR}2/y"]},
                "cache": {"paths": ["$CI_PROJECT_DIR"]},
            },
        }));
        let gopath = "/builds/group/app/go:$CI_SERVER, of course:http://forge:8080/group/app.git";
        assert_eq!(plan.variables.get("GOPATH"), Some(gopath));
        assert_eq!(plan.variables.get("TRACED"), Some("false"));
        assert_eq!(plan.variables.get("CI_SERVER"), Some("yes, of course"));
        let artifacts = plan.artifacts.expect("given").files;
        assert_eq!(artifacts.patterns, [Pattern::parse("bin").expect("valid")]);
        assert_eq!(artifacts.refused, ["/builds/group/app/../x", "/builds/group/app2/y"]);
        let cache = plan.cache.expect("given").files;
        assert_eq!(cache.patterns, [Pattern::parse(".").expect("valid")]);
    }

    #[test]
    fn texts_that_become_too_long_are_refused() {
        let with = |options: serde_json::Value| {
            let long = serde_json::json!({"key": "A", "value": "a".repeat(1 << 20)});
            let given = assignment(serde_json::json!({ "variables": [long], "options": options }));
            Plan::new(&given, &[], "/builds/group/app")
        };
        let text = "$A".repeat(9);
        let paths = serde_json::json!({"cache": {"paths": [text, "$A", "vendor"]}});
        let files = with(paths).expect("usable").cache.expect("given").files;
        assert_eq!((files.patterns.len(), files.refused), (2, vec![text.clone()]));
        for (options, setting) in [
            (serde_json::json!({"cache": {"key": text, "paths": ["x"]}}), "`cache:key`"),
            (serde_json::json!({"artifacts": {"name": text, "paths": ["x"]}}), "`artifacts:name`"),
        ] {
            let error = with(options).expect_err("too long").to_string();
            assert!(error.contains(setting) && error.len() < 200, "{error}");
        }
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
    fn names_of_projects_may_begin_with_a_dot() {
        let folder_of = |path: &str| {
            let url = format!("http://gitlab-ci-token:tok-en-tok@forge/{path}.git");
            project_folder(&assignment(serde_json::json!({ "repo_url": url }))).ok()
        };
        for (path, expected) in [
            ("group/app", Some("group/app")),
            ("me/.dotfiles", Some("me/.dotfiles")),
            ("_a/b.c-d", Some("_a/b.c-d")),
            ("me/.git", None),
            ("me/a b", None),
        ] {
            assert_eq!(folder_of(path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn hostile_assignments_are_refused() {
        for change in [
            serde_json::json!({"repo_url": "http://forge/../../etc"}),
            serde_json::json!({"repo_url": "file:///etc/passwd"}),
            serde_json::json!({"repo_url": "http://forge/a/.git.git"}),
            serde_json::json!({"sha": "--upload-pack=x"}),
        ] {
            let given = assignment(change.clone());
            let planned = Plan::new(&given, &[], "/builds");
            let folder = planned.and_then(|_| project_folder(&given));
            assert!(folder.is_err() || folder.is_ok_and(|it| !it.contains("..")), "{change}");
        }
    }
}
