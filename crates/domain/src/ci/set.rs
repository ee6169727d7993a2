//! The combined status of a set of builds: all builds of a pipeline, or those of the stages before a stage.

use super::status::Status;
use super::when::When;

/// The properties of a build that determine the status of its set. Only the latest build of each name is a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetMember {
    /// The status of the build.
    pub status: Status,
    /// Whether a failure is ignored.
    pub allow_failure: bool,
    /// The condition under which it runs.
    pub when: When,
}

impl SetMember {
    /// Returns whether the build is ignored: an allowed failure, or a skipped build that is manual or runs on failure.
    fn is_ignored(self) -> bool {
        match self.status {
            Status::Failed | Status::Canceled => self.allow_failure,
            Status::Skipped => matches!(self.when, When::Manual | When::OnFailure),
            Status::Created | Status::Pending | Status::Running | Status::Success => false,
        }
    }
}

/// The combined status of a set of builds; `None` for an empty set.
pub fn status_of(members: impl IntoIterator<Item = SetMember>) -> Option<Status> {
    let mut any = false;
    let mut count = Count::default();
    for member in members {
        any = true;
        if !member.is_ignored() {
            count.add(member.status);
        }
    }
    any.then(|| count.status())
}

/// The status of a pipeline with these builds: skipped without builds, failed with an invalid configuration.
pub fn pipeline_status(
    members: impl IntoIterator<Item = SetMember>,
    has_yaml_errors: bool,
) -> Status {
    if has_yaml_errors {
        return Status::Failed;
    }
    status_of(members).unwrap_or(Status::Skipped)
}

/// The number of counted builds by status.
#[derive(Default)]
struct Count {
    created: usize,
    pending: usize,
    running: usize,
    success: usize,
    failed: usize,
    canceled: usize,
    skipped: usize,
}

impl Count {
    fn add(&mut self, status: Status) {
        *match status {
            Status::Created => &mut self.created,
            Status::Pending => &mut self.pending,
            Status::Running => &mut self.running,
            Status::Success => &mut self.success,
            Status::Failed => &mut self.failed,
            Status::Canceled => &mut self.canceled,
            Status::Skipped => &mut self.skipped,
        } += 1;
    }

    /// Applies the rules of the reference in order; the first rule that matches decides.
    fn status(&self) -> Status {
        let all = self.created
            + self.pending
            + self.running
            + self.success
            + self.failed
            + self.canceled
            + self.skipped;
        if all == self.success {
            Status::Success
        } else if all == self.created {
            Status::Created
        } else if all == self.success + self.skipped {
            Status::Skipped
        } else if all == self.success + self.skipped + self.canceled {
            Status::Canceled
        } else if all == self.created + self.skipped + self.pending {
            Status::Pending
        } else if self.running + self.pending + self.created > 0 {
            Status::Running
        } else {
            Status::Failed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Status::*;

    fn member(status: Status) -> SetMember {
        SetMember { status, allow_failure: false, when: When::OnSuccess }
    }

    fn allowed(status: Status) -> SetMember {
        SetMember { allow_failure: true, ..member(status) }
    }

    fn when(when: When, status: Status) -> SetMember {
        SetMember { when, ..member(status) }
    }

    #[test]
    fn the_first_rule_that_holds_decides() {
        let table: &[(&[Status], Status)] = &[
            (&[Success], Success),
            (&[Success, Success], Success),
            (&[Created], Created),
            (&[Created, Created], Created),
            (&[Skipped], Skipped),
            (&[Success, Skipped], Skipped),
            (&[Canceled], Canceled),
            (&[Success, Canceled], Canceled),
            (&[Success, Skipped, Canceled], Canceled),
            (&[Pending], Pending),
            (&[Pending, Created], Pending),
            (&[Created, Skipped], Pending),
            (&[Pending, Created, Skipped], Pending),
            (&[Running], Running),
            (&[Success, Pending], Running),
            (&[Success, Created], Running),
            (&[Failed, Pending], Running),
            (&[Failed, Created], Running),
            (&[Canceled, Pending], Running),
            (&[Canceled, Running, Failed], Running),
            (&[Failed], Failed),
            (&[Failed, Success], Failed),
            (&[Failed, Canceled], Failed),
            (&[Failed, Skipped], Failed),
        ];
        for (statuses, expected) in table {
            let members = statuses.iter().copied().map(member);
            assert_eq!(status_of(members), Some(*expected), "{statuses:?}");
            let reversed = statuses.iter().rev().copied().map(member);
            assert_eq!(status_of(reversed), Some(*expected), "reversed {statuses:?}");
        }
    }

    #[test]
    fn some_builds_are_left_out() {
        let table: &[(&[SetMember], Status)] = &[
            (&[allowed(Failed)], Success),
            (&[allowed(Canceled)], Success),
            (&[member(Success), allowed(Failed)], Success),
            (&[member(Canceled), allowed(Failed)], Canceled),
            (&[member(Failed), allowed(Failed)], Failed),
            // An allowed failure is ignored only after the build has failed or was canceled.
            (&[allowed(Running)], Running),
            (&[member(Success), allowed(Running)], Running),
            (&[allowed(Pending)], Pending),
            (&[allowed(Skipped)], Skipped),
            (&[when(When::Manual, Skipped)], Success),
            (&[when(When::Manual, Skipped), when(When::Manual, Skipped)], Success),
            (&[when(When::OnFailure, Skipped)], Success),
            (&[when(When::Always, Skipped)], Skipped),
            (&[member(Success), when(When::OnFailure, Skipped)], Success),
            (&[member(Created), when(When::Manual, Skipped)], Created),
            // Manual and on-failure builds count like any other unless they are skipped.
            (&[when(When::Manual, Running)], Running),
            (&[when(When::Manual, Failed)], Failed),
            (&[when(When::Manual, Created)], Created),
            (&[when(When::OnFailure, Failed)], Failed),
        ];
        for (members, expected) in table {
            assert_eq!(status_of(members.iter().copied()), Some(*expected), "{members:?}");
        }
    }

    #[test]
    fn a_pipeline_without_builds_is_skipped_and_one_with_errors_has_failed() {
        assert_eq!(status_of([]), None);
        assert_eq!(pipeline_status([], false), Skipped);
        assert_eq!(pipeline_status([], true), Failed);
        assert_eq!(pipeline_status([member(Success)], true), Failed);
        assert_eq!(pipeline_status([member(Success), member(Pending)], false), Running);
    }
}
