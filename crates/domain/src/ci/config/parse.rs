//! Reading the whole file: its own keys, then the jobs, then what jobs say about each other.

use super::global::{self, Global};
use super::job::{EnvironmentAction, Job};
use super::node::Node;
use super::place::Place;
use super::{ConfigError, Configuration, parse_job};

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
        let jobs = jobs(map, &global)?;
        let mut configuration = Configuration { stages: global.stages, jobs };
        configuration.check_jobs()?;
        Ok(configuration)
    }

    fn check_jobs(&mut self) -> Result<(), ConfigError> {
        for index in 0..self.jobs.len() {
            let job = &self.jobs[index];
            let place = self.place_of(&job.stage).ok_or_else(|| {
                let stages = self.stages.join(", ");
                about(job, &format!("stage parameter should be {stages}"))
            })?;
            self.check_dependencies(job, place)?;
            self.check_on_stop(job)?;
            self.jobs[index].stage_index = place;
        }
        Ok(())
    }

    fn place_of(&self, stage: &str) -> Option<i32> {
        let place = self.stages.iter().position(|known| known == stage)?;
        i32::try_from(place).ok()
    }

    fn job(&self, name: &str) -> Option<&Job> {
        self.jobs.iter().find(|job| job.name == name)
    }

    fn check_dependencies(&self, job: &Job, place: i32) -> Result<(), ConfigError> {
        for name in job.options.dependencies().unwrap_or_default() {
            let dependency = self
                .job(name)
                .ok_or_else(|| about(job, &format!("undefined dependency: {name}")))?;
            if self.place_of(&dependency.stage).is_none_or(|earlier| earlier >= place) {
                let wrong = format!("dependency {name} is not defined in prior stages");
                return Err(about(job, &wrong));
            }
        }
        Ok(())
    }

    fn check_on_stop(&self, job: &Job) -> Result<(), ConfigError> {
        let Some(environment) = &job.environment else { return Ok(()) };
        let Some(name) = &environment.on_stop else { return Ok(()) };
        let wrong = |text: &str| Err(about(job, &format!("on_stop job {name} {text}")));
        let Some(stop) = self.job(name) else { return wrong("is not defined") };
        match &stop.environment {
            None => wrong("does not have environment defined"),
            Some(stopped) if stopped.name != environment.name => {
                wrong("have different environment name")
            }
            Some(stopped) => match stopped.action {
                EnvironmentAction::Start => wrong("needs to have action stop defined"),
                EnvironmentAction::Stop => Ok(()),
            },
        }
    }
}

/// An error in what a job says about others.
fn about(job: &Job, text: &str) -> ConfigError {
    ConfigError(format!("{} job: {text}", job.name))
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
    for (name, node) in entries() {
        let place = place.at(name);
        if !is_hidden(name) {
            jobs.push(parse_job::parse(name, node, global, &place)?);
        } else if node.is_blank() {
            return Err(place.wrong("config", "can't be blank"));
        }
    }
    Ok(jobs)
}
