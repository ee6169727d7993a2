//! Parsing of one job.

use std::collections::{HashMap, HashSet};

use super::ConfigError;
use super::entries;
use super::global::Global;
use super::job::Job;
use super::location::{Location, specified};
use super::node::Node;
use super::options::Options;
use super::refs::RefPatterns;
use super::shared::{self, Shared};
use crate::ci::when::When;

/// Every key that a job may have.
const KEYS: [&str; 17] = [
    "tags",
    "script",
    "only",
    "except",
    "type",
    "image",
    "services",
    "allow_failure",
    "stage",
    "when",
    "artifacts",
    "cache",
    "dependencies",
    "before_script",
    "after_script",
    "variables",
    "environment",
];

/// Parses a job. References to its stage and to other jobs are checked later, because that requires all jobs. The stage
/// index of the job is 0 until then.
pub(super) fn parse(
    name: &str,
    node: &Node,
    global: &Global,
    location: &Location,
    patterns: &mut RefPatterns,
) -> Result<Job, ConfigError> {
    let empty = Node::Map(Vec::new());
    let node = if matches!(node, Node::Null | Node::Bool(false)) { &empty } else { node };
    let job = location.require_map(node)?;
    let own = parse_own(job, name, location)?;

    let before_script =
        shared::optional_texts(job, "before_script", &location.at("before_script"))?;
    let script = parse_script(job, &location.at("script"))?;
    let stage = parse_stage(job, location)?;
    let after_script = shared::optional_texts(job, "after_script", &location.at("after_script"))?;
    let cache = shared::parse_cache(job, &location.at("cache"))?;
    let image = shared::optional_text(job, "image", &location.at("image"))?;
    let services = shared::optional_texts(job, "services", &location.at("services"))?;
    let only = entries::parse_ref_patterns(job, "only", &location.at("only"), patterns)?;
    let except = entries::parse_ref_patterns(job, "except", &location.at("except"), patterns)?;
    let variables = shared::parse_variables(job, &location.at("variables"))?;
    let artifacts = entries::parse_artifacts(job, &location.at("artifacts"))?;
    let environment = entries::parse_environment(job, &location.at("environment"))?;

    let shared = Shared { before_script, image, services, after_script, cache }.or(&global.shared);
    let mut lines = shared.before_script.unwrap_or_default();
    lines.extend(script);
    let (environment, environment_option) = environment.unzip();
    let options = [
        ("image", shared.image.map(Node::text)),
        ("services", shared.services.map(Node::texts)),
        ("artifacts", artifacts),
        ("cache", shared.cache),
        ("dependencies", own.dependencies.map(Node::texts)),
        ("after_script", shared.after_script.map(Node::texts)),
        ("environment", environment_option),
        (Options::SCRIPT, Some(Node::texts(lines.clone()))),
    ];
    let options = options.into_iter().filter_map(|(key, value)| Some((key, value?)));
    Ok(Job {
        name: name.to_owned(),
        stage,
        stage_index: 0,
        commands: lines.join("\n"),
        when: own.when,
        allow_failure: own.allow_failure,
        tags: own.tags,
        only,
        except,
        environment,
        variables: merge_variables(&global.variables, variables),
        options: Options::from_node(&Node::map(options)),
    })
}

/// The attributes of a job that the original implementation validates before the values of other keys.
struct OwnAttributes {
    tags: Vec<String>,
    allow_failure: bool,
    when: When,
    dependencies: Option<Vec<String>>,
}

fn parse_own(
    job: &[(String, Node)],
    name: &str,
    location: &Location,
) -> Result<OwnAttributes, ConfigError> {
    location.require_known_keys(job, &KEYS)?;
    if job.is_empty() {
        return Err(location.error("config", "can't be blank"));
    }
    if specified(job, "script").is_none_or(Node::is_blank) {
        return Err(location.error("script", "can't be blank"));
    }
    if name.trim().is_empty() {
        return Err(location.error("name", "can't be blank"));
    }
    let mut tags = match specified(job, "tags") {
        None => Vec::new(),
        Some(node) => location.require_attribute_texts(node, "tags")?,
    };
    let mut unique = HashSet::new();
    tags.retain(|tag| unique.insert(tag.clone()));
    let allow_failure = match specified(job, "allow_failure") {
        None => false,
        Some(node) => location.require_attribute_boolean(node, "allow failure")?,
    };
    let when = match specified(job, "when") {
        None => When::default(),
        Some(node) => node.as_text().and_then(When::parse).ok_or_else(|| {
            location.error("when", "should be on_success, on_failure, always or manual")
        })?,
    };
    let dependencies = specified(job, "dependencies")
        .map(|node| location.require_attribute_texts(node, "dependencies"));
    Ok(OwnAttributes { tags, allow_failure, when, dependencies: dependencies.transpose()? })
}

fn parse_script(job: &[(String, Node)], location: &Location) -> Result<Vec<String>, ConfigError> {
    match specified(job, "script") {
        Some(Node::Text(line)) => Ok(vec![line.clone()]),
        node => node
            .and_then(|node| location.require_texts(node).ok())
            .ok_or_else(|| location.error("config", "should be a string or an array of strings")),
    }
}

/// Parses `stage`, or the old name `type`, which is ignored if `stage` is present.
fn parse_stage(job: &[(String, Node)], location: &Location) -> Result<String, ConfigError> {
    let key = if specified(job, "stage").is_some() { "stage" } else { "type" };
    let stage = shared::optional_text(job, key, &location.at(key))?;
    Ok(stage.unwrap_or_else(|| "test".to_owned()))
}

/// The top-level variables, overridden by the variables of a job.
fn merge_variables(
    global: &[(String, String)],
    own: Vec<(String, String)>,
) -> Vec<(String, String)> {
    let mut merged = global.to_vec();
    let indexes: HashMap<&str, usize> =
        global.iter().enumerate().map(|(index, (key, _))| (key.as_str(), index)).collect();
    for (key, value) in own {
        match indexes.get(key.as_str()) {
            Some(index) => merged[*index].1 = value,
            None => merged.push((key, value)),
        }
    }
    merged
}
