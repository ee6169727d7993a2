//! Reading the whole file: its own keys, then the jobs, then what jobs say about each other.

use super::global::{self, Global};
use super::job::Job;
use super::node::Node;
use super::place::Place;
use super::refs::RefPatterns;
use super::{ConfigError, Configuration, parse_job, relations};

/// How large the jobs may be together, in bytes. Each has a copy of what it takes over from the
/// file, so few lines could ask for any amount of memory.
const MAX_WEIGHT: usize = 16 << 20;

impl Configuration {
    /// Reads a document.
    ///
    /// # Errors
    /// The first thing that is wrong, in the original's order: the keys of the whole file, the jobs
    /// one by one, then stages, dependencies and environments, again job by job.
    pub fn from_node(document: &Node) -> Result<Configuration, ConfigError> {
        let map = document
            .as_map()
            .ok_or_else(|| ConfigError("Invalid configuration format".to_owned()))?;
        let global = Global::parse(map)?;
        let mut jobs = jobs(map, &global)?;
        let places = relations::check(&global.stages, &jobs)?;
        for (job, place) in jobs.iter_mut().zip(places) {
            job.stage_index = place;
        }
        Ok(Configuration { stages: global.stages, jobs })
    }
}

/// The visible jobs. Hidden ones are there to be copied from, so nothing in them is looked at.
fn jobs(map: &[(String, Node)], global: &Global) -> Result<Vec<Job>, ConfigError> {
    let place = Place::top("jobs");
    let is_hidden = |name: &str| name.starts_with('.');
    let entries = || map.iter().filter(|(key, _)| global::is_job(key));
    if entries().all(|(name, _)| is_hidden(name)) {
        return Err(place.wrong("config", "should contain at least one visible job"));
    }
    let mut jobs = Vec::new();
    let mut patterns = RefPatterns::default();
    let mut weight = 0;
    for (name, node) in entries() {
        let place = place.at(name);
        if !is_hidden(name) {
            let job = parse_job::parse(name, node, global, &place, &mut patterns)?;
            weight += job.weight();
            if weight > MAX_WEIGHT {
                let text = format!("makes the jobs larger than {MAX_WEIGHT} bytes together");
                return Err(place.wrong("config", &text));
            }
            jobs.push(job);
        } else if node.is_blank() {
            return Err(place.wrong("config", "can't be blank"));
        }
    }
    Ok(jobs)
}
