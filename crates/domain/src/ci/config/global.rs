//! The top-level keys of the file that are not jobs.

use super::ConfigError;
use super::node::Node;
use super::place::{Place, specified};
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
    /// Validates the keys in the order of the original implementation, whatever their order in the file.
    pub(super) fn parse(map: &[(String, Node)]) -> Result<Global, ConfigError> {
        let place = Place::top;
        let before_script = shared::texts(map, "before_script", &place("before_script"))?;
        let image = shared::text(map, "image", &place("image"))?;
        let services = shared::texts(map, "services", &place("services"))?;
        let after_script = shared::texts(map, "after_script", &place("after_script"))?;
        let variables = shared::variables(map, &place("variables"))?;
        let stages = stages(map)?;
        let cache = shared::cache(map, &place("cache"))?;
        let shared = Shared { before_script, image, services, after_script, cache };
        Ok(Global { shared, variables, stages })
    }
}

/// Parses `stages`, or the old name `types`, which is ignored if `stages` is present.
fn stages(map: &[(String, Node)]) -> Result<Vec<String>, ConfigError> {
    let key = if specified(map, "stages").is_some() { "stages" } else { "types" };
    let stages = shared::texts(map, key, &Place::top(key))?;
    Ok(stages.unwrap_or_else(|| ["build", "test", "deploy"].map(str::to_owned).to_vec()))
}
