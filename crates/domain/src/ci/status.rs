//! The statuses of pipelines, builds and commit statuses, and the transitions of builds.

/// The status of a pipeline or a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Created, but its stage is not reached yet.
    Created,
    /// Waiting for a runner.
    Pending,
    /// Running on a runner.
    Running,
    /// Finished successfully.
    Success,
    /// Finished with a failure.
    Failed,
    /// Canceled by a user.
    Canceled,
    /// Not executed. A user may still start the build manually, or retry a build of an earlier stage.
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

    /// The name of the status in the API and in the database.
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

    /// Parses the name of a status.
    pub fn parse(word: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// Returns whether the work has ended: success, failed or canceled. Skipped is not complete, because nothing was
    /// executed.
    pub fn is_complete(self) -> bool {
        match self {
            Status::Success | Status::Failed | Status::Canceled => true,
            Status::Created | Status::Pending | Status::Running | Status::Skipped => false,
        }
    }

    /// The status of a commit, from the statuses of all its pipelines. `None` without any pipeline.
    pub fn of_pipelines(pipelines: &[Status]) -> Option<Status> {
        use Status::{Canceled, Created, Pending, Running, Skipped, Success};
        let all = |among: &[Status]| pipelines.iter().all(|status| among.contains(status));
        let any = |among: &[Status]| pipelines.iter().any(|status| among.contains(status));
        Some(match pipelines {
            [] => return None,
            _ if all(&[Success]) => Success,
            _ if all(&[Created]) => Created,
            _ if all(&[Success, Skipped]) => Skipped,
            _ if all(&[Success, Skipped, Canceled]) => Canceled,
            _ if all(&[Created, Skipped, Pending]) => Pending,
            _ if any(&[Running, Pending, Created]) => Running,
            _ => Status::Failed,
        })
    }

    /// The status of a build after a transition.
    ///
    /// # Errors
    /// [`Refused`] when the transition is not possible from this status.
    pub fn apply(self, transition: Transition) -> Result<Status, Refused> {
        if transition.starts_from(self) {
            Ok(transition.target())
        } else {
            Err(Refused { from: self, transition })
        }
    }
}

/// A transition of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transition {
    /// The build becomes pending and waits for a runner.
    Enqueue,
    /// A skipped build becomes created again, because a build of an earlier stage is retried.
    Reopen,
    /// A runner takes the build; sets `started_at`.
    Run,
    /// The build succeeds; sets `finished_at`.
    Succeed,
    /// The build fails; sets `finished_at`.
    Fail,
    /// A user cancels the build; sets `finished_at`.
    Cancel,
    /// The build is skipped.
    Skip,
}

/// The transition is not possible from the status of the build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a {} build cannot become {}", .from.as_str(), .transition.target().as_str())]
pub struct Refused {
    /// The status of the build.
    pub from: Status,
    /// The requested transition.
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

    /// The transition that leads to a status; each status has exactly one.
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

    /// The status to which the transition leads.
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

    /// Returns whether the transition sets the build's `started_at`.
    pub fn sets_started_at(self) -> bool {
        self == Transition::Run
    }

    /// Returns whether the transition sets the build's `finished_at`.
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

    /// commits_files.md 2.1.
    #[test]
    fn the_pipelines_of_a_commit_have_one_status() {
        use Status::*;
        for (pipelines, expected) in [
            (&[][..], None),
            (&[Success, Success], Some(Success)),
            (&[Created, Created], Some(Created)),
            (&[Success, Skipped], Some(Skipped)),
            (&[Skipped], Some(Skipped)),
            (&[Success, Skipped, Canceled], Some(Canceled)),
            (&[Canceled], Some(Canceled)),
            (&[Created, Skipped, Pending], Some(Pending)),
            (&[Pending], Some(Pending)),
            (&[Success, Pending], Some(Running)),
            (&[Failed, Created], Some(Running)),
            (&[Running, Failed], Some(Running)),
            (&[Success, Failed], Some(Failed)),
            (&[Failed, Canceled, Skipped], Some(Failed)),
        ] {
            assert_eq!(Status::of_pipelines(pipelines), expected, "{pipelines:?}");
        }
    }

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
