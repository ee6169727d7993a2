//! Responses to runners.

use hexforge_application::runner::{Assignment, EarlierBuild, Registered, Server, variables};
use hexforge_domain::Timestamp;
use hexforge_domain::build::Build;
use hexforge_domain::ci::config::{Node, Options};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use super::build::ArtifactsJson;
use super::time::Iso;
use hexforge_http_edge::links::Links;

/// The user name with which git clients send the token of a build.
const CLONES_AS: &str = hexforge_application::basic_auth::BUILD_LOGIN;

/// A runner that was just registered.
#[derive(Serialize, ToSchema)]
pub struct RegisteredJson {
    id: i64,
    token: String,
}

impl From<Registered> for RegisteredJson {
    fn from(runner: Registered) -> Self {
        Self { id: runner.id.0, token: runner.token.reveal().to_owned() }
    }
}

/// A build for its runner.
#[derive(Serialize, ToSchema)]
pub struct AssignmentJson<'a> {
    #[serde(flatten)]
    build: BuildJson<'a>,
    commands: &'a str,
    repo_url: String,
    before_sha: String,
    allow_git_fetch: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value, required = false)]
    artifacts_expire_at: Option<Option<Iso>>,
    #[schema(value_type = Value)]
    options: OptionsJson<'a>,
    timeout: i32,
    variables: Vec<VariableJson>,
    depends_on_builds: Vec<BuildJson<'a>>,
    #[schema(value_type = Vec<Value>)]
    credentials: [(); 0],
}

impl<'a> AssignmentJson<'a> {
    /// The assignment at a given time, with the version and the revision of the service.
    pub fn new(
        given: &'a Assignment,
        now: Timestamp,
        links: &Links,
        (version, revision): (&str, &str),
    ) -> Self {
        let path = given.project.place.path_of(&given.project.project);
        let server = Server { version, revision, project_url: &links.project(&path) };
        let artifacts = given.build.artifacts_at(now);
        Self {
            build: BuildJson::new(given, &given.build, given.token.reveal(), now),
            commands: &given.definition.commands,
            repo_url: links.http_to_repo_as(&path, CLONES_AS, given.token.reveal()),
            before_sha: given.pipeline.before_sha.to_string(),
            allow_git_fetch: given.settings.git_fetch,
            artifacts_expire_at: artifacts.map(|file| file.expire_at.map(Iso)),
            options: OptionsJson { options: &given.definition.options, entries: false },
            timeout: given.settings.timeout.seconds(),
            variables: variables(given, server).into_iter().map(VariableJson::from).collect(),
            depends_on_builds: given.earlier.iter().map(|one| earlier(given, one, now)).collect(),
            credentials: [],
        }
    }

    /// Adds the entries of the scripts to the options.
    pub fn with_entries(self, given: &'a Assignment) -> Self {
        let options = OptionsJson { options: &given.definition.options, entries: true };
        Self { options, ..self }
    }
}

fn earlier<'a>(given: &'a Assignment, one: &'a EarlierBuild, now: Timestamp) -> BuildJson<'a> {
    BuildJson::new(given, &one.build, one.token.reveal(), now)
}

/// The fields of a build that runners get.
#[derive(Serialize, ToSchema)]
#[schema(as = RunnerBuild)]
struct BuildJson<'a> {
    id: i64,
    #[serde(rename = "ref")]
    reference: &'a str,
    tag: bool,
    sha: String,
    status: &'static str,
    name: &'a str,
    token: &'a str,
    stage: &'a str,
    project_id: i64,
    project_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ArtifactsJson<'a>, required = false)]
    artifacts_file: Option<ArtifactsJson<'a>>,
}

impl<'a> BuildJson<'a> {
    fn new(given: &'a Assignment, build: &'a Build, token: &'a str, now: Timestamp) -> Self {
        Self {
            id: build.id.0,
            reference: &given.pipeline.reference,
            tag: given.pipeline.tag,
            sha: given.pipeline.sha.to_string(),
            status: build.status.as_str(),
            name: &build.name,
            token,
            stage: &build.stage,
            project_id: build.project.0,
            project_name: given.project.project.name.as_str(),
            artifacts_file: build.artifacts_at(now).map(ArtifactsJson::from),
        }
    }
}

#[derive(Serialize, ToSchema)]
#[schema(as = RunnerVariable)]
struct VariableJson {
    key: String,
    value: String,
    public: bool,
}

impl From<hexforge_application::runner::BuildVariable> for VariableJson {
    fn from(variable: hexforge_application::runner::BuildVariable) -> Self {
        Self { key: variable.key, value: variable.value, public: variable.public }
    }
}

/// A node of a configuration, as JSON.
struct NodeJson<'a>(&'a Node);

/// The options of a build. Original runners do not get the entries of the scripts.
struct OptionsJson<'a> {
    options: &'a Options,
    entries: bool,
}

impl Serialize for OptionsJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let keys = Options::KEYS.into_iter().filter(|key| self.entries || *key != Options::SCRIPT);
        to.collect_map(keys.filter_map(|key| Some((key, NodeJson(self.options.get(key)?)))))
    }
}

impl Serialize for NodeJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Node::Null => to.serialize_unit(),
            Node::Bool(yes) => to.serialize_bool(*yes),
            Node::Integer(number) => to.serialize_i64(*number),
            Node::Float(number) => to.serialize_f64(*number),
            Node::Text(text) => to.serialize_str(text),
            Node::List(list) => {
                let mut items = to.serialize_seq(Some(list.len()))?;
                for item in list {
                    items.serialize_element(&NodeJson(item))?;
                }
                items.end()
            }
            Node::Map(map) => {
                let mut entries = to.serialize_map(Some(map.len()))?;
                for (key, value) in map {
                    entries.serialize_entry(key, &NodeJson(value))?;
                }
                entries.end()
            }
        }
    }
}
