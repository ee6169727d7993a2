//! Resolves what the texts of a page name, for links to things that the reader may see.

use std::collections::{BTreeMap, HashMap, HashSet};

use hexforge_domain::commit::ObjectId;
use hexforge_domain::issue::commit_reference::CommitReference;
use hexforge_domain::issue::inline::{Named, Piece, split};
use hexforge_domain::issue::reference::{Reference, ReferenceKind};
use hexforge_domain::label::Label;
use hexforge_domain::milestone::{Milestone, MilestoneFilter};
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::merge_request::MergeRequestAbility;
use hexforge_domain::policy::tracker::TrackerAbility;
use hexforge_domain::ports::store::Tx;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::service::ISSUE_ID;

use crate::access::tracker::Tracker;
use crate::app::App;
use crate::error::Error;
use crate::issue::mentions::{NamedObjects, visible_tracker};

/// The maximum numbers of things that are looked up for one page. Further names stay plain text.
const MAX_THINGS: usize = 200;
const MAX_PROJECTS: usize = 10;
const MAX_USERS: usize = 20;
const MAX_TITLES: u64 = 500;

/// The things that texts name and that the reader may see.
#[derive(Clone, Debug, Default)]
pub struct ResolvedReferences {
    things: HashMap<Reference, String>,
    users: HashSet<String>,
    labels: Vec<Label>,
    milestones: Vec<Milestone>,
    commits: Vec<(Option<String>, ObjectId)>,
    /// The template of the addresses of issues, if the project has an external issue tracker.
    issue_template: Option<String>,
}

impl ResolvedReferences {
    /// Returns the address of an issue of the project in its external issue tracker.
    pub fn external_issue(&self, reference: &Reference) -> Option<String> {
        let is_own = reference.kind == ReferenceKind::Issue && reference.project.is_none();
        let template = self.issue_template.as_ref().filter(|_| is_own)?;
        Some(template.replace(ISSUE_ID, &reference.iid.to_string()))
    }

    /// Returns the title of an issue or merge request.
    pub fn thing(&self, reference: &Reference) -> Option<&str> {
        self.things.get(reference).map(String::as_str)
    }

    /// Returns whether a user with this name exists.
    pub fn has_user(&self, username: &str) -> bool {
        self.users.contains(username)
    }

    /// Returns a label of the project by its title or its id.
    pub fn label(&self, named: &str) -> Option<&Label> {
        let by_title = self.labels.iter().find(|label| label.title.as_str() == named);
        let id = named.parse().ok();
        by_title.or_else(|| self.labels.iter().find(|label| Some(label.shown_id().0) == id))
    }

    /// Returns a milestone of the project by its title or its number.
    pub fn milestone(&self, named: &str) -> Option<&Milestone> {
        let by_title = self.milestones.iter().find(|one| one.title.as_str() == named);
        let iid = named.parse().ok();
        by_title.or_else(|| self.milestones.iter().find(|one| Some(one.iid) == iid))
    }

    /// Returns the full id of a commit.
    pub fn commit(&self, named: &CommitReference) -> Option<ObjectId> {
        let is_named = |(path, id): &&(Option<String>, ObjectId)| {
            *path == named.project && id.to_string().starts_with(&named.id)
        };
        self.commits.iter().find(is_named).map(|(_, id)| *id)
    }
}

/// Resolves what the texts of a page of a project name.
pub fn resolve(
    app: &App,
    actor: Actor,
    home: &ProjectRef,
    texts: &[&str],
) -> Result<ResolvedReferences, Error> {
    let wanted = Wanted::read(texts, &app.settings.external_url);
    let given: Vec<Option<&str>> =
        if wanted.has_commits { texts.iter().copied().map(Some).collect() } else { vec![] };
    let commits = NamedObjects::find(app, actor, home, &given)?.into_commits();
    let found = app.store.read_autocommit(|tx| {
        let requester = app.requester(actor);
        let mut found = ResolvedReferences::default();
        for (path, references) in &wanted.things {
            let named = path.as_deref().map(ProjectRef::parse);
            let Some(project) = tx.projects().find(named.as_ref().unwrap_or(home))? else {
                continue;
            };
            if path.is_none() && project.external_tracker {
                let links = tx.services().links_of(project.id)?;
                found.issue_template =
                    links.iter().find_map(|link| link.issue_template().map(str::to_owned));
            }
            if let Some(tracker) = visible_tracker(tx, requester, project)? {
                find_things(tx, &tracker, references, &mut found)?;
            }
        }
        for name in &wanted.users {
            if tx.users().find_by_username(name)?.is_some() {
                found.users.insert((*name).to_owned());
            }
        }
        if wanted.has_titles
            && let Some(project) = tx.projects().find(home)?
            && let Some(tracker) = visible_tracker(tx, requester, project)?
            && tracker.allows(TrackerAbility::ReadLabels)
        {
            let (project, page) =
                (tracker.project.id, Page::Numbered { number: 1, size: MAX_TITLES });
            found.labels = tx.labels().list(project, page)?.items;
            let all = MilestoneFilter::default();
            found.milestones = tx.milestones().list(project, &all, page)?.items;
        }
        Ok::<_, Error>(found)
    })?;
    Ok(ResolvedReferences { commits, ..found })
}

/// What texts name, by kind.
#[derive(Default)]
struct Wanted<'a> {
    things: BTreeMap<Option<String>, Vec<Reference>>,
    users: Vec<&'a str>,
    has_titles: bool,
    has_commits: bool,
}

impl<'a> Wanted<'a> {
    fn read(texts: &[&'a str], address: &str) -> Self {
        let mut wanted = Self::default();
        let mut count = 0;
        for piece in texts.iter().flat_map(|text| split(text, address)) {
            let Piece::Named(_, named) = piece else { continue };
            match named {
                Named::Thing(reference) if count < MAX_THINGS => {
                    let known = wanted.things.len();
                    let is_known = wanted.things.contains_key(&reference.project);
                    if is_known || known < MAX_PROJECTS {
                        count += 1;
                        wanted.things.entry(reference.project.clone()).or_default().push(reference);
                    }
                }
                Named::User(name) if wanted.users.len() < MAX_USERS => {
                    if !wanted.users.contains(&name) {
                        wanted.users.push(name);
                    }
                }
                Named::Thing(_) | Named::User(_) => (),
                Named::Label(_) | Named::Milestone(_) => wanted.has_titles = true,
                Named::Commit(_) => wanted.has_commits = true,
            }
        }
        wanted
    }
}

/// Adds the issues and merge requests of one project that the reader may see.
fn find_things(
    tx: &mut dyn Tx,
    tracker: &Tracker,
    references: &[Reference],
    found: &mut ResolvedReferences,
) -> Result<(), Error> {
    for kind in [ReferenceKind::Issue, ReferenceKind::MergeRequest] {
        let of_kind = references.iter().filter(|one| one.kind == kind);
        let iids: Vec<i64> = of_kind.clone().map(|one| one.iid).collect();
        if iids.is_empty() {
            continue;
        }
        let project = tracker.project.id;
        let titles: HashMap<i64, String> = match kind {
            ReferenceKind::Issue => {
                let issues = tx.issues().find_by_iids(project, &iids)?.into_iter();
                let seen = issues.filter(|issue| tracker.sees(issue));
                seen.map(|issue| (issue.iid, issue.title.as_str().to_owned())).collect()
            }
            ReferenceKind::MergeRequest => {
                let requests = tx.merge_requests().find_by_iids(project, &iids)?.into_iter();
                let may = |one: &_| tracker.allows_on(MergeRequestAbility::Read, one);
                let seen = requests.filter(may);
                seen.map(|one| (one.iid, one.title.as_str().to_owned())).collect()
            }
        };
        let named = of_kind.filter_map(|one| Some((one.clone(), titles.get(&one.iid)?.clone())));
        found.things.extend(named);
    }
    Ok(())
}
