//! The top-level keys of the file that are not jobs.

use super::ConfigError;
use super::location::{Location, specified};
use super::node::Node;
use super::shared::{self, Shared};

/// Every top-level key that is not a job.
const KEYS: [&str; 8] =
    ["before_script", "image", "services", "after_script", "variables", "stages", "types", "cache"];

/// Returns whether a top-level key is a job, hidden or not.
pub(super) fn is_job(key: &str) -> bool {
    !KEYS.contains(&key)
}

/// The top-level settings, which apply to all jobs.
pub(super) struct Global {
    pub(super) shared: Shared,
    pub(super) variables: Vec<(String, String)>,
    pub(super) stages: Vec<String>,
}

impl Global {
    /// Parses the top-level keys, in the order of the original implementation and not of the file, so that the first
    /// error is the same.
    pub(super) fn parse(map: &[(String, Node)]) -> Result<Global, ConfigError> {
        let location = Location::top;
        let before_script =
            shared::optional_texts(map, "before_script", &location("before_script"))?;
        let image = shared::optional_text(map, "image", &location("image"))?;
        let services = shared::optional_texts(map, "services", &location("services"))?;
        let after_script = shared::optional_texts(map, "after_script", &location("after_script"))?;
        let variables = shared::parse_variables(map, &location("variables"))?;
        let stages = parse_stages(map)?;
        let cache = shared::parse_cache(map, &location("cache"))?;
        let shared = Shared { before_script, image, services, after_script, cache };
        Ok(Global { shared, variables, stages })
    }
}

/// Parses `stages`, or the old name `types`, which is ignored if `stages` is present.
fn parse_stages(map: &[(String, Node)]) -> Result<Vec<String>, ConfigError> {
    let key = if specified(map, "stages").is_some() { "stages" } else { "types" };
    let stages = shared::optional_texts(map, key, &Location::top(key))?;
    Ok(stages.unwrap_or_else(|| ["build", "test", "deploy"].map(str::to_owned).to_vec()))
}
