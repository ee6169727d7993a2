//! Parsing of one job.

use std::collections::{HashMap, HashSet};

use super::ConfigError;
use super::entries;
use super::global::Global;
use super::job::Job;
use super::node::Node;
use super::options::Options;
use super::place::{Place, specified};
use super::refs::RefPatterns;
use super::shared::{self, Shared};
use crate::ci::when::When;

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

/// Parses a job. The existence of its stage and of the jobs it names is checked later, because that requires all jobs.
/// Its stage index is 0 until then.
pub(super) fn parse(
    name: &str,
    node: &Node,
    global: &Global,
    place: &Place,
    patterns: &mut RefPatterns,
) -> Result<Job, ConfigError> {
    let empty = Node::Map(Vec::new());
    let node = if matches!(node, Node::Null | Node::Bool(false)) { &empty } else { node };
    let job = place.map(node)?;
    let own = own(job, name, place)?;

    let before_script = shared::texts(job, "before_script", &place.at("before_script"))?;
    let script = script(job, &place.at("script"))?;
    let stage = stage(job, place)?;
    let after_script = shared::texts(job, "after_script", &place.at("after_script"))?;
    let cache = shared::cache(job, &place.at("cache"))?;
    let image = shared::text(job, "image", &place.at("image"))?;
    let services = shared::texts(job, "services", &place.at("services"))?;
    let only = entries::references(job, "only", &place.at("only"), patterns)?;
    let except = entries::references(job, "except", &place.at("except"), patterns)?;
    let variables = shared::variables(job, &place.at("variables"))?;
    let artifacts = entries::artifacts(job, &place.at("artifacts"))?;
    let environment = entries::environment(job, &place.at("environment"))?;

    let shared = Shared { before_script, image, services, after_script, cache }.or(&global.shared);
    let mut lines = shared.before_script.unwrap_or_default();
    lines.extend(script);
    let (environment, environment_told) = environment.unzip();
    let options = [
        ("image", shared.image.map(Node::text)),
        ("services", shared.services.map(Node::texts)),
        ("artifacts", artifacts),
        ("cache", shared.cache),
        ("dependencies", own.dependencies.map(Node::texts)),
        ("after_script", shared.after_script.map(Node::texts)),
        ("environment", environment_told),
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
        variables: merged(&global.variables, variables),
        options: Options::from_node(&Node::map(options)),
    })
}

/// The attributes of a job that the original implementation validates before the values of other keys.
struct Own {
    tags: Vec<String>,
    allow_failure: bool,
    when: When,
    dependencies: Option<Vec<String>>,
}

fn own(job: &[(String, Node)], name: &str, place: &Place) -> Result<Own, ConfigError> {
    place.only_keys(job, &KEYS)?;
    if job.is_empty() {
        return Err(place.wrong("config", "can't be blank"));
    }
    if specified(job, "script").is_none_or(Node::is_blank) {
        return Err(place.wrong("script", "can't be blank"));
    }
    if name.trim().is_empty() {
        return Err(place.wrong("name", "can't be blank"));
    }
    let mut tags = match specified(job, "tags") {
        None => Vec::new(),
        Some(node) => place.texts_of(node, "tags")?,
    };
    let mut seen = HashSet::new();
    tags.retain(|tag| seen.insert(tag.clone()));
    let allow_failure = match specified(job, "allow_failure") {
        None => false,
        Some(node) => place.boolean_of(node, "allow failure")?,
    };
    let when = match specified(job, "when") {
        None => When::default(),
        Some(node) => node.as_text().and_then(When::parse).ok_or_else(|| {
            place.wrong("when", "should be on_success, on_failure, always or manual")
        })?,
    };
    let dependencies =
        specified(job, "dependencies").map(|node| place.texts_of(node, "dependencies"));
    Ok(Own { tags, allow_failure, when, dependencies: dependencies.transpose()? })
}

fn script(job: &[(String, Node)], place: &Place) -> Result<Vec<String>, ConfigError> {
    match specified(job, "script") {
        Some(Node::Text(line)) => Ok(vec![line.clone()]),
        node => node
            .and_then(|node| place.texts(node).ok())
            .ok_or_else(|| place.wrong("config", "should be a string or an array of strings")),
    }
}

/// Parses `stage`, or the old name `type`, which is ignored if `stage` is present.
fn stage(job: &[(String, Node)], place: &Place) -> Result<String, ConfigError> {
    let key = if specified(job, "stage").is_some() { "stage" } else { "type" };
    let stage = shared::text(job, key, &place.at(key))?;
    Ok(stage.unwrap_or_else(|| "test".to_owned()))
}

/// The top-level variables, overridden by the variables of a job.
fn merged(global: &[(String, String)], own: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut merged = global.to_vec();
    let places: HashMap<&str, usize> =
        global.iter().enumerate().map(|(place, (key, _))| (key.as_str(), place)).collect();
    for (key, value) in own {
        match places.get(key.as_str()) {
            Some(place) => merged[*place].1 = value,
            None => merged.push((key, value)),
        }
    }
    merged
}
