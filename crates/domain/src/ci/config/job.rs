//! A job of a configuration.

use super::options::Options;
use super::refs::RefPattern;
use crate::ci::when::When;

/// A visible job, with everything that it takes over from the whole file. It becomes a build of
/// each pipeline that it applies to.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its key.
    pub name: String,
    /// The stage it belongs to.
    pub stage: String,
    /// That stage's place among the stages.
    pub stage_index: i32,
    /// What a runner executes: the lines of `before_script` and `script`.
    pub commands: String,
    /// When it runs.
    pub when: When,
    /// Whether its failure counts for nothing.
    pub allow_failure: bool,
    /// What its runner has to be tagged with, each once.
    pub tags: Vec<String>,
    /// The references it is for; empty for all.
    pub only: Vec<RefPattern>,
    /// The references it is not for.
    pub except: Vec<RefPattern>,
    /// What it deploys to.
    pub environment: Option<Environment>,
    /// Those of the file, and its own over them.
    pub variables: Vec<(String, String)>,
    /// What its runner is told.
    pub options: Options,
}

impl Job {
    /// About how many bytes it takes.
    pub(super) fn weight(&self) -> usize {
        let variables = self.variables.iter().map(|(key, value)| key.len() + value.len() + 48);
        size_of::<Job>()
            + self.commands.len()
            + variables.sum::<usize>()
            + self.options.as_node().weight()
    }
}

/// What a job deploys to or stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// Its name, in which variables are not replaced yet.
    pub name: String,
    /// Where it is reached.
    pub url: Option<String>,
    /// Whether the job starts or stops it.
    pub action: EnvironmentAction,
    /// The job that stops it.
    pub on_stop: Option<String>,
}

/// What a job does to its environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EnvironmentAction {
    /// Deploys to it.
    #[default]
    Start,
    /// Takes it down.
    Stop,
}

impl EnvironmentAction {
    /// The word of the configuration file.
    pub fn as_str(self) -> &'static str {
        match self {
            EnvironmentAction::Start => "start",
            EnvironmentAction::Stop => "stop",
        }
    }

    /// The action of a word.
    pub fn parse(word: &str) -> Option<EnvironmentAction> {
        [EnvironmentAction::Start, EnvironmentAction::Stop]
            .into_iter()
            .find(|action| action.as_str() == word)
    }
}
