//! Rules that an operator can make stricter than those of the reference.

use super::ci::CiAbility;
use super::project::ProjectAbility;

/// Which rules are stricter. None by default: clients expect those of the reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StrictRules {
    /// Only those who may start pipelines start manual jobs.
    pub manual_jobs: bool,
    /// Only masters remove tags through the interface, as with a push.
    pub tags: bool,
    /// Only those who may see one build see the list of builds.
    pub build_lists: bool,
}

impl StrictRules {
    /// What starting a manual job needs.
    pub fn to_start_manual_jobs(self) -> CiAbility {
        if self.manual_jobs { CiAbility::Run } else { CiAbility::ReadBuilds }
    }

    /// What removing a tag through the interface needs, besides the right to push.
    pub fn to_remove_tags(self) -> ProjectAbility {
        if self.tags { ProjectAbility::Administer } else { ProjectAbility::PushCode }
    }

    /// What seeing the list of builds needs.
    pub fn to_list_builds(self) -> CiAbility {
        if self.build_lists { CiAbility::ReadBuilds } else { CiAbility::SeeProject }
    }

    /// Reads names of rules, separated by commas. Fails with the first name that is no rule.
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
