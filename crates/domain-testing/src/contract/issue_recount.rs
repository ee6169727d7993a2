//! Issue lists by label and milestone, whose totals come from counters, compared with a recount.

use super::check::{read, write};
use crate::builders::{
    a_day, a_group, a_member, a_milestone, a_project, a_user, an_issue_at, at, insert_label,
};
use hexforge_domain::id::{MilestoneId, NamespaceId, ProjectId, UserId};
use hexforge_domain::issue::query::{Clearance, IssueFilter, IssueScope, LabelFilter};
use hexforge_domain::issue::{Issue, IssueState, NewIssue};
use hexforge_domain::member::AccessLevel;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{Store, StoreError, Tx};
use hexforge_domain::project::query::{ListAudience, Viewer};

const TITLES: [&str; 3] = ["bug", "wish", "rare"];

/// A group with two public projects and a private one. The reporter has that level in the second
/// project only.
struct World {
    group: NamespaceId,
    projects: [ProjectId; 3],
    /// The milestones `1.0` and `2.0` of each project.
    milestones: Vec<(MilestoneId, ProjectId, &'static str)>,
    owner: UserId,
    reporter: UserId,
}

/// An issue with the titles of its labels.
#[derive(Clone, Debug)]
struct Written {
    issue: Issue,
    labels: Vec<&'static str>,
}

fn a_world(store: &dyn Store) -> World {
    let [owner, reporter] = ["ada", "bob"].map(|name| a_user(name).stored_in(store).id);
    let group = a_group("team").stored_in(store).id;
    let projects = [
        a_project("one", group, owner).public().stored_in(store).id,
        a_project("two", group, owner).public().stored_in(store).id,
        a_project("three", group, owner).stored_in(store).id,
    ];
    let milestones = write(store, |tx| {
        tx.project_members().insert(projects[1], a_member(reporter, AccessLevel::Reporter))?;
        let mut milestones = Vec::new();
        for project in projects {
            for title in TITLES {
                insert_label(tx, project, title)?;
            }
            for title in ["1.0", "2.0"] {
                let made = tx.milestones().insert(a_milestone(project, title))?;
                milestones.push((made.id, project, title));
            }
        }
        Ok(milestones)
    });
    World { group, projects, milestones, owner, reporter }
}

/// A deterministic pseudo-random number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }
}

/// Makes one change: creates, updates or deletes an issue.
fn change(
    tx: &mut dyn Tx,
    world: &World,
    random: &mut Random,
    number: i64,
    before: Option<&Written>,
) -> Result<Option<Written>, StoreError> {
    let people = [world.owner, world.reporter];
    let mut issue = match before {
        Some(before) if random.below(5) == 0 => {
            tx.issues().delete(before.issue.id)?;
            return Ok(None);
        }
        Some(before) => before.issue.clone(),
        None => {
            let (project, author) = (world.projects[random.below(3)], people[random.below(2)]);
            let confidential = random.below(3) == 0;
            let new = NewIssue { confidential, ..an_issue_at(project, author, at(number)) };
            tx.issues().insert(new)?
        }
    };
    let there = world.milestones.iter().filter(|(_, project, _)| *project == issue.project);
    let milestones: Vec<MilestoneId> = there.map(|(id, ..)| *id).collect();
    issue.milestone = milestones.get(random.below(3)).copied();
    issue.state = [IssueState::Opened, IssueState::Reopened, IssueState::Closed][random.below(3)];
    issue.confidential = random.below(3) == 0;
    issue.author = people[random.below(2)];
    issue.assignee = [None, Some(world.owner), Some(world.reporter)][random.below(3)];
    let labels: Vec<&str> = TITLES.into_iter().filter(|_| random.below(2) == 0).collect();
    let mut ids = Vec::new();
    for title in &labels {
        ids.extend(tx.labels().find_by_title(issue.project, title)?.map(|label| label.id));
    }
    tx.issues().set_labels(issue.id, &ids)?;
    tx.issues().update(&issue)?;
    Ok(Some(Written { issue, labels }))
}

impl World {
    /// Returns whether an issue matches a filter, computed in memory.
    fn fits(&self, filter: &IssueFilter, Written { issue, labels }: &Written) -> bool {
        let sees = |audience: ListAudience| {
            audience.restricted_to().is_none() || issue.project != self.projects[2]
        };
        let in_scope = match filter.scope {
            IssueScope::Project(project) => issue.project == project,
            IssueScope::Milestone(_, milestone) => issue.milestone == Some(milestone),
            IssueScope::AuthoredBy(author, audience) => issue.author == author && sees(audience),
            IssueScope::AssignedTo(user, audience) => {
                issue.assignee == Some(user) && sees(audience)
            }
            IssueScope::Group(_, audience) => sees(audience),
        };
        let own = |user| issue.author == user || issue.assignee == Some(user);
        let cleared = match filter.clearance {
            Clearance::All => true,
            Clearance::Nothing => false,
            Clearance::Own(user) => own(user),
            Clearance::ByRole(user) => own(user) || issue.project == self.projects[1],
        };
        let titled = |title: &String| labels.contains(&title.as_str());
        let labelled = match &filter.labels {
            None => true,
            Some(LabelFilter::Any(titles)) => titles.iter().any(titled),
            Some(LabelFilter::All(titles)) => titles.iter().all(titled),
        };
        let goal = self.milestones.iter().find(|(id, ..)| issue.milestone == Some(*id));
        let for_goal = |title: &String| goal.is_some_and(|(.., goal)| goal == title);
        in_scope
            && (!issue.confidential || cleared)
            && filter.open.is_none_or(|open| issue.state.is_open() == open)
            && labelled
            && filter.milestone.as_ref().is_none_or(for_goal)
    }

    /// All filters in which labels or milestones select issues.
    fn filters(&self) -> Vec<IssueFilter> {
        let viewer = ListAudience::Viewer(Viewer { user: self.reporter, external: false });
        let scopes = [
            IssueScope::Project(self.projects[0]),
            IssueScope::Milestone(self.projects[0], self.milestones[0].0),
            IssueScope::Group(self.group, ListAudience::Unrestricted),
            IssueScope::Group(self.group, viewer),
            IssueScope::AuthoredBy(self.reporter, viewer),
        ];
        let clearances = [
            Clearance::All,
            Clearance::Nothing,
            Clearance::Own(self.reporter),
            Clearance::ByRole(self.reporter),
        ];
        let titles = |titles: &[&str]| titles.iter().map(|title| (*title).to_owned()).collect();
        let labels = [
            None,
            Some(LabelFilter::All(titles(&["bug"]))),
            Some(LabelFilter::All(titles(&["wish", "bug"]))),
            Some(LabelFilter::All(titles(&["bug", "none"]))),
            Some(LabelFilter::Any(titles(&["rare", "bug", "none"]))),
        ];
        let mut filters = Vec::new();
        for (scope, clearance) in scopes.into_iter().flat_map(|s| clearances.map(|c| (s, c))) {
            for labels in &labels {
                for milestone in [None, Some("1.0".to_owned())] {
                    for open in [None, Some(true), Some(false)] {
                        let (labels, milestone) = (labels.clone(), milestone.clone());
                        let all = IssueFilter::newest_first(scope, clearance, a_day());
                        filters.push(IssueFilter { labels, milestone, open, ..all });
                    }
                }
            }
        }
        filters
    }
}

/// Lists and totals equal a recount after any sequence of changes, including rolled back ones.
pub fn lists_by_labels_and_milestones_are_what_a_recount_gives(store: &dyn Store) {
    let world = a_world(store);
    let filters = world.filters();
    let mut random = Random(11);
    let mut written: Vec<Written> = Vec::new();
    for round in 0..90 {
        let chosen = random.below(written.len() * 2 + 1);
        let keep = random.below(5) > 0;
        let changed = store.write(|tx| {
            let changed = change(tx, &world, &mut random, round, written.get(chosen))?;
            if keep { Ok(changed) } else { Err(StoreError::Gone) }
        });
        match changed {
            Ok(changed) => {
                if chosen < written.len() {
                    written.remove(chosen);
                }
                written.extend(changed);
            }
            Err(error) => assert!(!keep, "{error}"),
        }
        if round % 45 == 44 {
            assert_lists(store, &world, &filters, &written);
        }
    }
    assert!(written.len() > 10, "{}", written.len());
    // Issues of which the user is author or assignee are deleted with the user and no longer
    // counted.
    write(store, |tx| tx.users().delete(world.reporter));
    let gone = |Written { issue, .. }: &Written| {
        issue.author == world.reporter || issue.assignee == Some(world.reporter)
    };
    written.retain(|written| !gone(written));
    let of_nobody = |filter: &IssueFilter| match (filter.scope, filter.clearance) {
        (IssueScope::Group(_, audience), Clearance::All) => audience.restricted_to().is_none(),
        (IssueScope::Project(_) | IssueScope::Milestone(..), Clearance::All) => true,
        _ => false,
    };
    let left: Vec<IssueFilter> = filters.into_iter().filter(of_nobody).collect();
    assert_lists(store, &world, &left, &written);
}

fn assert_lists(store: &dyn Store, world: &World, filters: &[IssueFilter], written: &[Written]) {
    for filter in filters {
        let fitting = written.iter().filter(|written| world.fits(filter, written));
        let mut expected: Vec<_> =
            fitting.map(|written| (written.issue.created_at, written.issue.id)).collect();
        expected.sort_unstable();
        expected.reverse();
        for page in [Page::Whole, Page::Numbered { number: 2, size: 3 }] {
            let found = read(store, |tx| tx.issues().list(filter, page));
            assert_eq!(found.total, expected.len() as u64, "{filter:?}");
            let ids: Vec<_> =
                found.items.iter().map(|issue| (issue.created_at, issue.id)).collect();
            assert_eq!(ids, page.slice(expected.clone()).items, "{filter:?}");
        }
    }
}
