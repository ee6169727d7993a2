//! Rules that an operator can make stricter than the reference.

use super::ci::CiAbility;
use super::project::ProjectAbility;

/// The rules that are stricter than the reference. By default none is, because clients expect the rules of the
/// reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StrictRules {
    /// Manual jobs can be started only by users who may start pipelines.
    pub manual_jobs: bool,
    /// Tags can be deleted through the API only by masters, as by a push.
    pub tags: bool,
    /// The list of builds is visible only to users who may see single builds.
    pub build_lists: bool,
}

impl StrictRules {
    /// The ability required to start a manual job.
    pub fn to_start_manual_jobs(self) -> CiAbility {
        if self.manual_jobs { CiAbility::Run } else { CiAbility::ReadBuilds }
    }

    /// The ability required to delete a tag through the API, besides the ability to push.
    pub fn to_remove_tags(self) -> ProjectAbility {
        if self.tags { ProjectAbility::Administer } else { ProjectAbility::PushCode }
    }

    /// The ability required to list builds.
    pub fn to_list_builds(self) -> CiAbility {
        if self.build_lists { CiAbility::ReadBuilds } else { CiAbility::SeeProject }
    }

    /// Parses rule names, separated by commas. Fails with the first unknown name.
    pub fn parse(names: &str) -> Result<Self, String> {
        let mut rules = Self::default();
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match name {
                "manual_jobs" => rules.manual_jobs = true,
                "tags" => rules.tags = true,
                "build_lists" => rules.build_lists = true,
                _ => return Err(name.to_owned()),
            }
        }
        Ok(rules)
    }
}

impl std::fmt::Display for StrictRules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all = [
            (self.manual_jobs, "manual_jobs"),
            (self.tags, "tags"),
            (self.build_lists, "build_lists"),
        ];
        let names: Vec<&str> =
            all.into_iter().filter_map(|(is_strict, name)| is_strict.then_some(name)).collect();
        f.write_str(&names.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_by_their_names() {
        let rules = StrictRules::parse("tags, build_lists").expect("both are rules");
        assert_eq!(rules, StrictRules { tags: true, build_lists: true, manual_jobs: false });
        assert_eq!(rules.to_string(), "tags,build_lists");
        assert_eq!(StrictRules::parse(""), Ok(StrictRules::default()));
        assert_eq!(StrictRules::parse("tags,all"), Err("all".to_owned()));
    }
}
