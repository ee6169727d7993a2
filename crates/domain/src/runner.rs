//! Runners: programs elsewhere that take builds.

pub mod port;

use crate::Timestamp;
use crate::build::Tags;
use crate::field_errors::FieldErrors;
use crate::id::RunnerId;
use crate::text::{limit, within};

/// A runner as it is stored. Its token is made of its id; see
/// [`Vault::token`](crate::ports::vault::Vault::token).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runner {
    /// Assigned by the store, never reused.
    pub id: RunnerId,
    /// What its owner says of it.
    pub description: String,
    /// Whether it is given builds.
    pub active: bool,
    /// Whether it takes builds of all projects that want shared runners.
    pub shared: bool,
    /// Whether it takes builds without tags.
    pub run_untagged: bool,
    /// Whether it stays with its projects.
    pub locked: bool,
    /// What it has.
    pub tags: Tags,
    /// What it says of itself.
    pub info: RunnerInfo,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it last asked for a build.
    pub contacted_at: Option<Timestamp>,
}

impl Runner {
    /// Whether it takes builds that ask for this.
    pub fn takes(&self, tags: &Tags) -> bool {
        if tags.is_empty() { self.run_untagged } else { tags.are_among(&self.tags) }
    }

    /// Where it looks for builds.
    pub fn reach(&self) -> Reach {
        match (self.shared, self.locked) {
            (true, false) => Reach::Everywhere,
            (true, true) | (false, _) => Reach::OwnProjects,
        }
    }
}

/// Where a runner looks for builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// In all projects that want shared runners.
    Everywhere,
    /// In the projects it is bound to.
    OwnProjects,
}

/// What a runner says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunnerInfo {
    /// Its program.
    pub name: Option<String>,
    /// The version of that.
    pub version: Option<String>,
    /// The revision of that.
    pub revision: Option<String>,
    /// The system it is on.
    pub platform: Option<String>,
    /// The machine it is on.
    pub architecture: Option<String>,
}

impl RunnerInfo {
    /// Checks the lengths.
    /// # Errors
    /// What is too long, under `info`.
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

/// More tags than this no runner has.
pub const MOST_TAGS: usize = 100;

/// What is needed to register a runner.
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
    /// The moment of registration.
    pub at: Timestamp,
}

impl NewRunner {
    /// Checks the lengths of what the runner says.
    /// # Errors
    /// Everything that is too long or too much.
    pub fn check(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::default();
        errors.check("description", within(&self.description, limit::SHORT));
        if self.tags.iter().count() > MOST_TAGS {
            errors.add("tag_list", format_args!("are too many (maximum is {MOST_TAGS})"));
        }
        let long = self.tags.iter().find_map(|tag| within(tag, limit::SHORT).err());
        errors.check_given("tag_list", long.map(Err::<(), _>));
        if let Err(wrong) = self.info.check() {
            errors.extend(wrong);
        }
        errors.into_result()
    }
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
