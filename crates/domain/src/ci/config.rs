//! `.gitlab-ci.yml`: the meaning of its keys, and the errors for invalid ones.
//!
//! This module does not parse YAML. A [`YamlReader`] converts a text to a [`Node`], and [`Configuration::parse`]
//! converts that to jobs.

mod entries;
mod expiry;
mod global;
mod job;
mod location;
mod node;
mod options;
mod parse;
mod parse_job;
mod refs;
mod relations;
mod shared;

pub use expiry::seconds as seconds_until_expiry;
pub use job::{Environment, EnvironmentAction, Job};
pub use node::Node;
pub use options::Options;
pub use refs::{RefPattern, Target};

/// The name of the configuration file in the root folder of a repository.
pub const FILE_NAME: &str = ".gitlab-ci.yml";

/// Parses YAML.
pub trait YamlReader: Send + Sync {
    /// Parses the only document in `text` to a tree, with aliases and merge keys resolved. The last value of a repeated
    /// key counts. Scalars have the types of YAML 1.1, except that dates and all other types that [`Node`] lacks become
    /// texts.
    ///
    /// Time and memory are bounded for every input.
    ///
    /// # Errors
    /// A description of the syntax error, for the author of the text.
    fn read(&self, text: &str) -> Result<Node, String>;
}

/// The first error in a configuration. Its wording is that of the original implementation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

/// A valid configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// The names of the stages, in order.
    pub stages: Vec<String>,
    /// The visible jobs, in the order of the file.
    pub jobs: Vec<Job>,
}

impl Configuration {
    /// Parses the text of a configuration file.
    ///
    /// # Errors
    /// The first error in the file.
    pub fn parse(reader: &dyn YamlReader, text: &str) -> Result<Configuration, ConfigError> {
        let document = reader.read(text).map_err(ConfigError);
        document.and_then(|document| Configuration::from_node(&document)).map_err(truncate_error)
    }

    /// The jobs of a pipeline for `target`, sorted by stage, then in the order of the file.
    pub fn jobs_for(&self, target: Target<'_>) -> Vec<&Job> {
        let matches = |patterns: &[RefPattern]| patterns.iter().any(|p| p.matches(target));
        let mut jobs: Vec<&Job> = self
            .jobs
            .iter()
            .filter(|job| job.only.is_empty() || matches(&job.only))
            .filter(|job| !matches(&job.except))
            .collect();
        jobs.sort_by_key(|job| job.stage_index);
        jobs
    }
}

/// Truncates an error text so that it can be stored and shown: some errors quote keys, and keys can be long.
fn truncate_error(ConfigError(mut text): ConfigError) -> ConfigError {
    const LONGEST: usize = 2_000;
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        text.push('…');
    }
    ConfigError(text)
}
