//! The status that a set of builds has together: a pipeline's, or that of the stages before one.

use super::status::Status;
use super::when::When;

/// What a build adds to the status of its set. Only the latest build of each name is a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Where the build is.
    pub status: Status,
    /// Whether its failure counts for nothing.
    pub allow_failure: bool,
    /// When it runs.
    pub when: When,
}

impl Member {
    /// Whether it is left out: an allowed failure, or a build that waits for an occasion.
    fn is_left_out(self) -> bool {
        match self.status {
            Status::Failed | Status::Canceled => self.allow_failure,
            Status::Skipped => matches!(self.when, When::Manual | When::OnFailure),
            Status::Created | Status::Pending | Status::Running | Status::Success => false,
        }
    }
}

/// The status of a set of builds; nothing for a set without any.
pub fn status_of(members: impl IntoIterator<Item = Member>) -> Option<Status> {
    let mut any = false;
    let mut count = Count::default();
    for member in members {
        any = true;
        if !member.is_left_out() {
            count.add(member.status);
        }
    }
    any.then(|| count.status())
}

/// The status of a pipeline with these builds. One that nothing belongs to is skipped, and one
/// whose configuration is wrong has failed.
pub fn pipeline_status(members: impl IntoIterator<Item = Member>, has_yaml_errors: bool) -> Status {
    if has_yaml_errors {
        return Status::Failed;
    }
    status_of(members).unwrap_or(Status::Skipped)
}

/// How many counted builds have each status.
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

    /// The first rule of the reference that holds.
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
