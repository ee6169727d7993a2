//! The rules for changes of branches and tags, by git pushes and by the API.

use crate::branch::protection::Protection;
use crate::member::AccessLevel;
use crate::push::RefKind;

/// The facts about the actor and the project for decisions about a ref change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushFacts {
    /// Whether the actor may push to the project at all.
    pub may_push: bool,
    /// Whether the actor is an administrator.
    pub admin: bool,
    /// The access level from the actor's memberships; for owners at least master.
    pub level: Option<AccessLevel>,
    /// Whether the repository has no branch yet, and the settings let only masters create the first one.
    pub restricts_first_push: bool,
    /// The protected branches.
    pub protections: Vec<Protection>,
}

/// The kind of a ref change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefAction {
    /// The ref is created.
    Create,
    /// The ref moves to a descendant of its current commit.
    FastForward,
    /// The ref moves to a commit that is not a descendant of its current commit.
    Force,
    /// The ref is deleted.
    Delete,
}

/// Why a ref change is refused. The text is shown to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PushRefusal {
    /// The actor may not push to the project.
    #[error("You are not allowed to push code to this project.")]
    Project,
    /// Only the service itself changes the refs of merge requests.
    #[error("You are not allowed to change the references of merge requests.")]
    Reserved,
    /// Only masters may move or delete an existing tag.
    #[error("You are not allowed to change existing tags on this project.")]
    ExistingTag,
    /// Nobody may force-push to a protected branch.
    #[error("You are not allowed to force push code to a protected branch on this project.")]
    ForcePush,
    /// Nobody may delete a protected branch.
    #[error("You are not allowed to delete protected branches from this project.")]
    DeleteProtected,
    /// The actor may not push to this protected branch.
    #[error("You are not allowed to push code to protected branches on this project.")]
    Protected,
}

impl PushFacts {
    /// Decides whether a change of one ref is allowed.
    pub fn check(&self, kind: &RefKind, action: RefAction) -> Result<(), PushRefusal> {
        if !self.may_push {
            return Err(PushRefusal::Project);
        }
        match kind {
            RefKind::Branch(name) => self.check_branch(name.as_str(), action),
            RefKind::Tag(_) => match action {
                RefAction::Create => Ok(()),
                RefAction::FastForward | RefAction::Force | RefAction::Delete => {
                    let master = self.admin || self.level >= Some(AccessLevel::Master);
                    if master { Ok(()) } else { Err(PushRefusal::ExistingTag) }
                }
            },
            RefKind::Reserved => Err(PushRefusal::Reserved),
            RefKind::Other => Ok(()),
        }
    }

    /// Returns whether the actor may add commits to a branch, which need not exist.
    pub fn may_commit_to(&self, branch: &str) -> bool {
        self.may_push && self.check_branch(branch, RefAction::FastForward).is_ok()
    }

    /// Returns whether the actor may merge a merge request into a branch: who may push to it or merge into it.
    pub fn may_merge_into(&self, branch: &str) -> bool {
        let mut covering = self.protections.iter().filter(|one| one.covers(branch)).peekable();
        let is_protected = covering.peek().is_some();
        let reaches =
            |one: &Protection| self.level >= Some(one.push_level().min(one.merge_level()));
        self.may_push && (!is_protected || self.admin || covering.any(reaches))
    }

    fn check_branch(&self, name: &str, action: RefAction) -> Result<(), PushRefusal> {
        let mut levels = self
            .protections
            .iter()
            .filter(|protection| protection.covers(name))
            .map(Protection::push_level)
            .peekable();
        if levels.peek().is_none() {
            // Every branch counts as protected, for administrators too.
            return if self.restricts_first_push && self.level < Some(AccessLevel::Master) {
                Err(PushRefusal::Protected)
            } else {
                Ok(())
            };
        }
        match action {
            RefAction::Force => Err(PushRefusal::ForcePush),
            RefAction::Delete => Err(PushRefusal::DeleteProtected),
            RefAction::Create | RefAction::FastForward => {
                let allowed = self.admin || levels.any(|level| self.level >= Some(level));
                if allowed { Ok(()) } else { Err(PushRefusal::Protected) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::branch::BranchName;
    use crate::branch::protection::DeveloperRights;
    use crate::tag::TagName;
    use AccessLevel::{Developer, Master};
    use PushRefusal::{DeleteProtected, ExistingTag, ForcePush, Project, Protected, Reserved};
    use RefAction::{Create, Delete, FastForward, Force};

    fn branch(name: &str) -> RefKind {
        RefKind::Branch(BranchName::parse(name).expect("a name"))
    }

    fn facts(level: Option<AccessLevel>, admin: bool, developers_push: bool) -> PushFacts {
        PushFacts {
            may_push: admin || level >= Some(Developer),
            admin,
            level,
            restricts_first_push: false,
            protections: vec![Protection {
                pattern: "p".into(),
                developers: DeveloperRights { push: developers_push, merge: true },
            }],
        }
    }

    /// Reference section 2.10.
    #[test]
    fn the_whole_matrix_of_ref_changes() {
        let tag = RefKind::Tag(TagName::parse("v1").expect("a name"));
        let (developer, master) =
            (facts(Some(Developer), false, false), facts(Some(Master), false, false));
        let (admin, trusted) = (facts(None, true, false), facts(Some(Developer), false, true));
        let reporter = facts(Some(AccessLevel::Reporter), false, false);
        for (facts, kind, action, expected) in [
            (&reporter, branch("x"), Create, Err(Project)),
            (&developer, branch("x"), Create, Ok(())),
            (&developer, branch("x"), Force, Ok(())),
            (&developer, branch("x"), Delete, Ok(())),
            (&developer, branch("p"), FastForward, Err(Protected)),
            (&developer, branch("p"), Create, Err(Protected)),
            (&trusted, branch("p"), FastForward, Ok(())),
            (&trusted, branch("p"), Force, Err(ForcePush)),
            (&master, branch("p"), FastForward, Ok(())),
            (&master, branch("p"), Force, Err(ForcePush)),
            (&master, branch("p"), Delete, Err(DeleteProtected)),
            (&admin, branch("p"), FastForward, Ok(())),
            (&admin, branch("p"), Force, Err(ForcePush)),
            (&admin, branch("p"), Delete, Err(DeleteProtected)),
            (&developer, tag.clone(), Create, Ok(())),
            (&developer, tag.clone(), Force, Err(ExistingTag)),
            (&developer, tag.clone(), FastForward, Err(ExistingTag)),
            (&developer, tag.clone(), Delete, Err(ExistingTag)),
            (&master, tag.clone(), Delete, Ok(())),
            (&admin, tag.clone(), Force, Ok(())),
            (&developer, RefKind::Other, Delete, Ok(())),
            (&admin, RefKind::Reserved, Create, Err(Reserved)),
            (&admin, RefKind::Reserved, Delete, Err(Reserved)),
            (&reporter, RefKind::Reserved, Create, Err(Project)),
        ] {
            assert_eq!(facts.check(&kind, action), expected, "{facts:?} {kind:?} {action:?}");
        }
    }

    /// Reference section 6.2 of merge requests.
    #[test]
    fn merging_takes_the_right_to_push_or_to_merge() {
        let rights = |push, merge| DeveloperRights { push, merge };
        for (level, admin, developers, unprotected, protected) in [
            (None, false, rights(true, true), false, false),
            (Some(AccessLevel::Reporter), false, rights(true, true), false, false),
            (Some(Developer), false, rights(false, false), true, false),
            (Some(Developer), false, rights(true, false), true, true),
            (Some(Developer), false, rights(false, true), true, true),
            (Some(Master), false, rights(false, false), true, true),
            (None, true, rights(false, false), true, true),
        ] {
            let mut facts = facts(level, admin, false);
            facts.protections[0].developers = developers;
            let found = (facts.may_merge_into("x"), facts.may_merge_into("p"));
            assert_eq!(found, (unprotected, protected), "{level:?} {admin} {developers:?}");
            facts.may_push = false;
            assert!(!facts.may_merge_into("x") && !facts.may_merge_into("p"), "archived");
        }
    }

    /// Reference section 2.9.
    #[test]
    fn the_first_push_needs_a_master_and_administrators_are_none() {
        for (level, admin, expected) in [
            (Some(Developer), false, Err(Protected)),
            (Some(Master), false, Ok(())),
            (Some(AccessLevel::Owner), false, Ok(())),
            (None, true, Err(Protected)),
            (Some(Master), true, Ok(())),
        ] {
            let facts = facts(level, admin, false);
            let facts = PushFacts { restricts_first_push: true, protections: vec![], ..facts };
            assert_eq!(facts.check(&branch("master"), Create), expected, "{level:?} {admin}");
        }
    }
}
