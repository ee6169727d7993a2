//! `.gitlab-ci.yml`: what its keys mean, and what is said about a wrong one.
//!
//! How YAML is read is not known here. A [`YamlReader`] makes a [`Node`] of a text, and
//! [`Configuration::parse`] makes jobs of that.

mod entries;
mod expiry;
mod global;
mod job;
mod node;
mod options;
mod parse;
mod parse_job;
mod place;
mod refs;
mod relations;
mod shared;

pub use expiry::seconds as seconds_until_expiry;
pub use job::{Environment, EnvironmentAction, Job};
pub use node::Node;
pub use options::Options;
pub use refs::{RefPattern, Target};

/// The name of the file, at the top of a repository.
pub const FILE_NAME: &str = ".gitlab-ci.yml";

/// Reads YAML.
pub trait YamlReader: Send + Sync {
    /// The tree of the only document in `text`, aliases and merge keys resolved. Of a key that is
    /// there twice the last value counts. Scalars are understood as in YAML 1.1, except that dates
    /// and everything else without a place in [`Node`] are texts.
    ///
    /// It takes bounded time and memory for every text.
    ///
    /// # Errors
    /// What is wrong with the text, for its author to read.
    fn read(&self, text: &str) -> Result<Node, String>;
}

/// The first thing that is wrong with a configuration, in the words of the reference.
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
    /// Reads the text of a file.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn parse(reader: &dyn YamlReader, text: &str) -> Result<Configuration, ConfigError> {
        let document = reader.read(text).map_err(ConfigError);
        document.and_then(|document| Configuration::from_node(&document)).map_err(shortened)
    }

    /// The jobs that a pipeline for `target` has, by stage, then in the order of the file.
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

/// An error of a length that can be kept and shown: some name keys, and keys can be long.
fn shortened(ConfigError(mut text): ConfigError) -> ConfigError {
    const LONGEST: usize = 2_000;
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        text.push('…');
    }
    ConfigError(text)
}
