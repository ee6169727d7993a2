//! The statuses of pipelines, builds and commit statuses, and how a build goes from one to another.

/// Where a pipeline or a build is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Known, but its stage was not reached yet.
    Created,
    /// Waits for a runner.
    Pending,
    /// A runner works on it.
    Running,
    /// Ended well.
    Success,
    /// Ended badly.
    Failed,
    /// Somebody stopped it.
    Canceled,
    /// Not to be run, unless it is played or an earlier build is retried.
    Skipped,
}

impl Status {
    /// Every status, in the order of the reference.
    pub const ALL: [Status; 7] = [
        Status::Created,
        Status::Pending,
        Status::Running,
        Status::Success,
        Status::Failed,
        Status::Canceled,
        Status::Skipped,
    ];

    /// The word that answers and databases show.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Created => "created",
            Status::Pending => "pending",
            Status::Running => "running",
            Status::Success => "success",
            Status::Failed => "failed",
            Status::Canceled => "canceled",
            Status::Skipped => "skipped",
        }
    }

    /// The status of a word.
    pub fn parse(word: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// Whether work has come to an end: success, failed or canceled. Skipped is not one of them,
    /// because nothing was worked on.
    pub fn is_complete(self) -> bool {
        match self {
            Status::Success | Status::Failed | Status::Canceled => true,
            Status::Created | Status::Pending | Status::Running | Status::Skipped => false,
        }
    }

    /// What becomes of a build by a transition.
    ///
    /// # Errors
    /// [`Refused`] when the transition does not start from this status.
    pub fn apply(self, transition: Transition) -> Result<Status, Refused> {
        if transition.starts_from(self) {
            Ok(transition.target())
        } else {
            Err(Refused { from: self, transition })
        }
    }
}

/// What can happen to a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transition {
    /// It is queued, and waits for a runner.
    Enqueue,
    /// It was skipped, and its stage will be reached again.
    Reopen,
    /// A runner took it; sets `started_at`.
    Run,
    /// It ended well; sets `finished_at`.
    Succeed,
    /// It ended badly; sets `finished_at`.
    Fail,
    /// Somebody stopped it; sets `finished_at`.
    Cancel,
    /// It will not run.
    Skip,
}

/// The transition is not possible from the build's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a {} build cannot become {}", .from.as_str(), .transition.target().as_str())]
pub struct Refused {
    /// What the build is.
    pub from: Status,
    /// What was asked for.
    pub transition: Transition,
}

impl Transition {
    /// Every transition.
    pub const ALL: [Transition; 7] = [
        Transition::Enqueue,
        Transition::Reopen,
        Transition::Run,
        Transition::Succeed,
        Transition::Fail,
        Transition::Cancel,
        Transition::Skip,
    ];

    /// The transition that ends in a status; each status has one.
    pub fn towards(target: Status) -> Transition {
        match target {
            Status::Created => Transition::Reopen,
            Status::Pending => Transition::Enqueue,
            Status::Running => Transition::Run,
            Status::Success => Transition::Succeed,
            Status::Failed => Transition::Fail,
            Status::Canceled => Transition::Cancel,
            Status::Skipped => Transition::Skip,
        }
    }

    /// The status that it ends in.
    pub fn target(self) -> Status {
        match self {
            Transition::Enqueue => Status::Pending,
            Transition::Reopen => Status::Created,
            Transition::Run => Status::Running,
            Transition::Succeed => Status::Success,
            Transition::Fail => Status::Failed,
            Transition::Cancel => Status::Canceled,
            Transition::Skip => Status::Skipped,
        }
    }

    /// Whether the build's `started_at` is set by it.
    pub fn sets_started_at(self) -> bool {
        self == Transition::Run
    }

    /// Whether the build's `finished_at` is set by it.
    pub fn sets_finished_at(self) -> bool {
        self.target().is_complete()
    }

    fn starts_from(self, status: Status) -> bool {
        use Status::{Created, Pending, Running, Skipped};
        match self {
            Transition::Enqueue => matches!(status, Created | Skipped),
            Transition::Reopen => matches!(status, Skipped),
            Transition::Run => matches!(status, Pending),
            Transition::Succeed | Transition::Fail | Transition::Cancel => {
                matches!(status, Created | Pending | Running)
            }
            Transition::Skip => matches!(status, Created | Pending),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_is_found_by_its_word() {
        for status in Status::ALL {
            assert_eq!(Status::parse(status.as_str()), Some(status));
            assert_eq!(Transition::towards(status).target(), status);
        }
        assert_eq!(Status::parse("Success"), None);
        assert_eq!(Status::parse("manual"), None);
    }

    #[test]
    fn a_transition_starts_only_from_the_statuses_of_the_reference() {
        use Status::*;
        let table: [(Transition, &[Status]); 7] = [
            (Transition::Enqueue, &[Created, Skipped]),
            (Transition::Reopen, &[Skipped]),
            (Transition::Run, &[Pending]),
            (Transition::Succeed, &[Created, Pending, Running]),
            (Transition::Fail, &[Created, Pending, Running]),
            (Transition::Cancel, &[Created, Pending, Running]),
            (Transition::Skip, &[Created, Pending]),
        ];
        for (transition, sources) in table {
            for from in Status::ALL {
                let expected = if sources.contains(&from) {
                    Ok(transition.target())
                } else {
                    Err(Refused { from, transition })
                };
                assert_eq!(from.apply(transition), expected, "{from:?} by {transition:?}");
            }
        }
    }

    #[test]
    fn a_refusal_says_what_is_not_possible() {
        let refused = Status::Success.apply(Transition::Run).expect_err("success is the end");
        assert_eq!(refused.to_string(), "a success build cannot become running");
    }

    #[test]
    fn times_are_set_by_taking_and_by_ending() {
        for transition in Transition::ALL {
            use Transition::*;
            assert_eq!(transition.sets_started_at(), transition == Run, "{transition:?}");
            let ends = [Succeed, Fail, Cancel].contains(&transition);
            assert_eq!(transition.sets_finished_at(), ends, "{transition:?}");
        }
    }
}
