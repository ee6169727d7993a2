//! Parsing of the whole file: first the top-level keys, then the jobs, then the references between jobs.

use super::global::{self, Global};
use super::job::Job;
use super::location::Location;
use super::node::Node;
use super::refs::RefPatterns;
use super::{ConfigError, Configuration, parse_job, relations};

/// The maximum memory size of all jobs together, in bytes. Each job has a copy of the inherited settings, so a short
/// file could otherwise need any amount of memory.
const MAX_WEIGHT: usize = 16 << 20;

impl Configuration {
    /// Parses a document.
    ///
    /// # Errors
    /// The first error in the order of the original implementation: top-level keys, then jobs one by one, then stages,
    /// dependencies and environments, again job by job.
    pub fn from_node(document: &Node) -> Result<Configuration, ConfigError> {
        let map = document
            .as_map()
            .ok_or_else(|| ConfigError("Invalid configuration format".to_owned()))?;
        let global = Global::parse(map)?;
        let mut jobs = parse_jobs(map, &global)?;
        let stage_indexes = relations::check_references(&global.stages, &jobs)?;
        for (job, stage_index) in jobs.iter_mut().zip(stage_indexes) {
            job.stage_index = stage_index;
        }
        Ok(Configuration { stages: global.stages, jobs })
    }
}

/// Parses the visible jobs. Hidden jobs are templates to copy from, so their content is not validated.
fn parse_jobs(map: &[(String, Node)], global: &Global) -> Result<Vec<Job>, ConfigError> {
    let location = Location::top("jobs");
    let is_hidden = |name: &str| name.starts_with('.');
    let entries = || map.iter().filter(|(key, _)| global::is_job(key));
    if entries().all(|(name, _)| is_hidden(name)) {
        return Err(location.error("config", "should contain at least one visible job"));
    }
    let mut jobs = Vec::new();
    let mut patterns = RefPatterns::default();
    let mut weight = 0;
    for (name, node) in entries() {
        let location = location.at(name);
        if !is_hidden(name) {
            let job = parse_job::parse(name, node, global, &location, &mut patterns)?;
            weight += job.weight();
            if weight > MAX_WEIGHT {
                let text = format!("makes the jobs larger than {MAX_WEIGHT} bytes together");
                return Err(location.error("config", &text));
            }
            jobs.push(job);
        } else if node.is_blank() {
            return Err(location.error("config", "can't be blank"));
        }
    }
    Ok(jobs)
}
