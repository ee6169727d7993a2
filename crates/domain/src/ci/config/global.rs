//! The keys of the whole file.

use super::ConfigError;
use super::node::Node;
use super::place::{Place, specified};
use super::shared::{self, Shared};

/// Every key that is no job.
const KEYS: [&str; 8] =
    ["before_script", "image", "services", "after_script", "variables", "stages", "types", "cache"];

/// Whether a key of the file is a job, hidden or not.
pub(super) fn is_job(key: &str) -> bool {
    !KEYS.contains(&key)
}

/// What the file says outside its jobs.
pub(super) struct Global {
    pub(super) shared: Shared,
    pub(super) variables: Vec<(String, String)>,
    pub(super) stages: Vec<String>,
}

impl Global {
    /// Checks the keys in the original's order, whichever order they have in the file.
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

/// `stages`, or by their old name `types`, which nobody looks at beside the new one.
fn stages(map: &[(String, Node)]) -> Result<Vec<String>, ConfigError> {
    let key = if specified(map, "stages").is_some() { "stages" } else { "types" };
    let stages = shared::texts(map, key, &Place::top(key))?;
    Ok(stages.unwrap_or_else(|| ["build", "test", "deploy"].map(str::to_owned).to_vec()))
}
