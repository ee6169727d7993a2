//! What the forms and filters of issues and merge requests offer: people, milestones and labels of a project.

use hexforge_domain::id::UserId;
use hexforge_domain::label::Label;
use hexforge_domain::milestone::{Milestone, MilestoneFilter, MilestoneState};
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::user::User;

use crate::access::tracker::Tracker;

/// The maximum number of choices of each kind.
const MANY: Page = Page::Numbered { number: 1, size: 100 };

/// The choices in a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrackerChoices {
    /// The team of the project and the chosen people, by name.
    pub people: Vec<User>,
    /// The open milestones, newest first.
    pub milestones: Vec<Milestone>,
    /// The labels, by title.
    pub labels: Vec<Label>,
}

impl TrackerChoices {
    /// Loads the choices. `chosen` are people who are offered even if they are not in the team.
    pub(crate) fn load(
        tx: &mut dyn Tx,
        tracker: &Tracker,
        chosen: impl Iterator<Item = UserId>,
    ) -> Result<Self, StoreError> {
        let (project, today) = (tracker.project.id, tracker.requester.today);
        let mut people = tx.project_members().team(project, None, today, MANY)?.items;
        let is_missing = |id: &UserId| people.iter().all(|user| user.id != *id);
        let others: Vec<UserId> = chosen.filter(is_missing).collect();
        people.extend(crate::view::user::load_users(tx, others)?.into_values());
        people.sort_by(|one, other| {
            (one.name.as_str(), one.id).cmp(&(other.name.as_str(), other.id))
        });
        let open = MilestoneFilter { state: Some(MilestoneState::Active), iids: None };
        let milestones = tx.milestones().list(project, &open, MANY)?.items;
        let labels = tx.labels().list(project, MANY)?.items;
        Ok(Self { people, milestones, labels })
    }
}
