//! CI runners: external programs that execute builds.

pub mod port;
pub mod query;

use crate::Timestamp;
use crate::build::Tags;
use crate::field_errors::FieldErrors;
use crate::id::RunnerId;
use crate::text::{limit, within};

/// A runner as it is stored. Its token is derived from its id; see
/// [`Vault::token`](crate::ports::vault::Vault::token).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runner {
    /// Assigned by the store, never reused.
    pub id: RunnerId,
    /// The description.
    pub description: String,
    /// Whether the runner gets builds.
    pub active: bool,
    /// Whether the runner takes builds of all projects with shared runners enabled.
    pub shared: bool,
    /// Whether the runner takes builds without tags.
    pub run_untagged: bool,
    /// Whether the runner is restricted to its projects.
    pub locked: bool,
    /// The tags. A build with tags needs a runner that has all of them.
    pub tags: Tags,
    /// The system information that the runner reported.
    pub info: RunnerInfo,
    /// The registration time.
    pub created_at: Timestamp,
    /// The time of the last change.
    pub updated_at: Timestamp,
    /// The time of its last request for a build.
    pub contacted_at: Option<Timestamp>,
}

impl Runner {
    /// Returns whether the runner takes builds with these tags.
    pub fn takes(&self, tags: &Tags) -> bool {
        if tags.is_empty() { self.run_untagged } else { tags.are_among(&self.tags) }
    }

    /// The projects whose builds the runner takes.
    pub fn reach(&self) -> Reach {
        match (self.shared, self.locked) {
            (true, false) => Reach::Everywhere,
            (true, true) | (false, _) => Reach::OwnProjects,
        }
    }
}

/// The projects whose builds a runner takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// All projects with shared runners enabled.
    Everywhere,
    /// The projects that the runner is assigned to.
    OwnProjects,
}

/// The system information that a runner reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunnerInfo {
    /// The name of the runner program.
    pub name: Option<String>,
    /// The version of the program.
    pub version: Option<String>,
    /// The source revision of the program.
    pub revision: Option<String>,
    /// The operating system.
    pub platform: Option<String>,
    /// The processor architecture.
    pub architecture: Option<String>,
}

impl RunnerInfo {
    /// Returns this information, with that of `earlier` for what the runner did not report this time.
    pub fn or(self, earlier: &RunnerInfo) -> Self {
        Self {
            name: self.name.or_else(|| earlier.name.clone()),
            version: self.version.or_else(|| earlier.version.clone()),
            revision: self.revision.or_else(|| earlier.revision.clone()),
            platform: self.platform.or_else(|| earlier.platform.clone()),
            architecture: self.architecture.or_else(|| earlier.architecture.clone()),
        }
    }

    /// Checks the lengths.
    /// # Errors
    /// An error under `info` for each text that is too long.
    pub fn check(&self) -> Result<(), FieldErrors> {
        let Self { name, version, revision, platform, architecture } = self;
        let given = [name, version, revision, platform, architecture].into_iter().flatten();
        let mut errors = FieldErrors::default();
        for text in given {
            errors.check("info", within(text, limit::SHORT));
        }
        errors.into_result()
    }
}

/// The maximum number of tags of a runner.
pub const MAX_TAGS: usize = 100;

/// The input for the registration of a runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRunner {
    /// See [`Runner::description`].
    pub description: String,
    /// See [`Runner::shared`].
    pub shared: bool,
    /// See [`Runner::run_untagged`].
    pub run_untagged: bool,
    /// See [`Runner::locked`].
    pub locked: bool,
    /// See [`Runner::tags`].
    pub tags: Tags,
    /// See [`Runner::info`].
    pub info: RunnerInfo,
    /// The registration time.
    pub at: Timestamp,
}

impl NewRunner {
    /// Checks the lengths of all texts and the number of tags.
    /// # Errors
    /// All errors, under `description`, `tag_list` and `info`.
    pub fn check(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::default();
        if let Err(invalid) = check_texts(&self.description, &self.tags) {
            errors.extend(invalid);
        }
        if let Err(invalid) = self.info.check() {
            errors.extend(invalid);
        }
        errors.into_result()
    }
}

/// Checks the lengths of the description and the tags, and the number of tags.
/// # Errors
/// All errors, under `description` and `tag_list`.
pub fn check_texts(description: &str, tags: &Tags) -> Result<(), FieldErrors> {
    let mut errors = FieldErrors::default();
    errors.check("description", within(description, limit::SHORT));
    if tags.iter().count() > MAX_TAGS {
        errors.add("tag_list", format_args!("are too many (maximum is {MAX_TAGS})"));
    }
    let long = tags.iter().find_map(|tag| within(tag, limit::SHORT).err());
    errors.check_optional("tag_list", long.map(Err::<(), _>));
    errors.into_result()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runner(shared: bool, locked: bool, run_untagged: bool, tags: &[&str]) -> Runner {
        Runner {
            id: RunnerId(1),
            description: String::new(),
            active: true,
            shared,
            run_untagged,
            locked,
            tags: tags.iter().copied().collect(),
            info: RunnerInfo::default(),
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
            contacted_at: None,
        }
    }

    #[test]
    fn a_runner_takes_what_it_has_the_tags_for() {
        for (run_untagged, has, asked, takes) in [
            (true, &[][..], &[][..], true),
            (false, &["a"][..], &[][..], false),
            (true, &["a"], &[], true),
            (true, &["a"], &["a"], true),
            (false, &["a", "b"], &["a"], true),
            (true, &["a"], &["a", "b"], false),
            (true, &[], &["a"], false),
        ] {
            let asked: Tags = asked.iter().copied().collect();
            assert_eq!(runner(true, false, run_untagged, has).takes(&asked), takes, "{asked:?}");
        }
    }

    #[test]
    fn only_shared_runners_that_are_not_locked_look_everywhere() {
        for (shared, locked, reach) in [
            (true, false, Reach::Everywhere),
            (true, true, Reach::OwnProjects),
            (false, false, Reach::OwnProjects),
            (false, true, Reach::OwnProjects),
        ] {
            assert_eq!(runner(shared, locked, true, &[]).reach(), reach);
        }
    }
}
