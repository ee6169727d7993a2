//! A job of a configuration.

use super::options::Options;
use super::refs::RefPattern;
use crate::ci::when::When;

/// A visible job, including the settings that it inherits from the top level. It becomes a build of each pipeline to
/// which it applies.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The key of the job.
    pub name: String,
    /// The name of the stage.
    pub stage: String,
    /// The index of the stage.
    pub stage_index: i32,
    /// The commands that a runner executes: the lines of `before_script` and `script`.
    pub commands: String,
    /// The condition under which it runs.
    pub when: When,
    /// Whether a failure is ignored.
    pub allow_failure: bool,
    /// The tags that a runner has to have, without duplicates.
    pub tags: Vec<String>,
    /// The patterns of refs for which the job runs; empty for all refs.
    pub only: Vec<RefPattern>,
    /// The patterns of refs for which the job does not run.
    pub except: Vec<RefPattern>,
    /// The environment to which it deploys.
    pub environment: Option<Environment>,
    /// The top-level variables, overridden by the variables of the job.
    pub variables: Vec<(String, String)>,
    /// The other options for the runner.
    pub options: Options,
}

impl Job {
    /// The approximate memory size in bytes.
    pub(super) fn weight(&self) -> usize {
        let variables = self.variables.iter().map(|(key, value)| key.len() + value.len() + 48);
        size_of::<Job>()
            + self.commands.len()
            + variables.sum::<usize>()
            + self.options.as_node().weight()
    }
}

/// An environment that a job deploys to or stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// The name, in which variables are not expanded yet.
    pub name: String,
    /// The URL of the environment.
    pub url: Option<String>,
    /// Whether the job starts or stops the environment.
    pub action: EnvironmentAction,
    /// The name of the job that stops the environment.
    pub on_stop: Option<String>,
}

/// The action of a job on its environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EnvironmentAction {
    /// Deploys to the environment.
    #[default]
    Start,
    /// Stops the environment.
    Stop,
}

impl EnvironmentAction {
    /// The value in the configuration file.
    pub fn as_str(self) -> &'static str {
        match self {
            EnvironmentAction::Start => "start",
            EnvironmentAction::Stop => "stop",
        }
    }

    /// Parses the value in the configuration file.
    pub fn parse(word: &str) -> Option<EnvironmentAction> {
        [EnvironmentAction::Start, EnvironmentAction::Stop]
            .into_iter()
            .find(|action| action.as_str() == word)
    }
}
