//! Validation of the references from jobs to stages and to other jobs.

use std::collections::HashMap;

use super::ConfigError;
use super::job::{EnvironmentAction, Job};

/// The stages and jobs that a job can refer to.
struct Definitions<'a> {
    stages: HashMap<&'a str, i32>,
    jobs: HashMap<&'a str, &'a Job>,
}

/// Checks the references of all jobs. Returns the stage index of each job, in the order of the jobs.
///
/// # Errors
/// The first invalid reference, job by job.
pub(super) fn check_references(stages: &[String], jobs: &[Job]) -> Result<Vec<i32>, ConfigError> {
    let mut definitions = Definitions {
        stages: HashMap::new(),
        jobs: jobs.iter().map(|job| (job.name.as_str(), job)).collect(),
    };
    for (stage, index) in stages.iter().zip(0..) {
        definitions.stages.entry(stage).or_insert(index);
    }
    let mut indexes = Vec::with_capacity(jobs.len());
    for job in jobs {
        let Some(index) = definitions.stages.get(job.stage.as_str()) else {
            let stages = stages.join(", ");
            return Err(job_error(job, &format!("stage parameter should be {stages}")));
        };
        definitions.check_dependencies(job, *index)?;
        definitions.check_on_stop(job)?;
        indexes.push(*index);
    }
    Ok(indexes)
}

impl Definitions<'_> {
    fn check_dependencies(&self, job: &Job, stage_index: i32) -> Result<(), ConfigError> {
        for name in job.options.dependencies().unwrap_or_default() {
            let Some(dependency) = self.jobs.get(name) else {
                return Err(job_error(job, &format!("undefined dependency: {name}")));
            };
            let earlier = self.stages.get(dependency.stage.as_str());
            if earlier.is_none_or(|earlier| *earlier >= stage_index) {
                let wrong = format!("dependency {name} is not defined in prior stages");
                return Err(job_error(job, &wrong));
            }
        }
        Ok(())
    }

    fn check_on_stop(&self, job: &Job) -> Result<(), ConfigError> {
        let Some(environment) = &job.environment else { return Ok(()) };
        let Some(name) = &environment.on_stop else { return Ok(()) };
        let wrong = |text: &str| Err(job_error(job, &format!("on_stop job {name} {text}")));
        let Some(stop) = self.jobs.get(name.as_str()) else { return wrong("is not defined") };
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

/// An error about a job. Unlike errors with a location, it keeps the case of the job name.
fn job_error(job: &Job, text: &str) -> ConfigError {
    ConfigError(format!("{} job: {text}", job.name))
}
