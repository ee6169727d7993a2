//! Issue references in texts. A referenced issue gets one system note for each issue, merge request or commit that
//! mentions it.

use hexforge_domain::Timestamp;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{IssueId, ProjectId, UserId};
use hexforge_domain::issue::Issue;
use hexforge_domain::issue::reference::{IssueReference, references};
use hexforge_domain::merge_request::MergeRequest;
use hexforge_domain::note::system::SystemNote;
use hexforge_domain::note::{NewNote, NoteSource, Noteable};
use hexforge_domain::policy::tracker::{IssueAbility, TrackerAbility};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::unique::sorted_unique;

use super::Editor;
use crate::access::Requester;
use crate::access::tracker::Tracker;
use crate::app::App;
use crate::error::{Entity, Error};
use crate::view::project as project_view;

/// Finds the issue references in texts. Call it before the transaction begins, because its duration grows with the
/// length of the texts.
pub fn find_references(app: &App, texts: &[Option<&str>]) -> Vec<IssueReference> {
    let texts = texts.iter().flatten();
    texts.flat_map(|text| references(text, &app.settings.external_url)).collect()
}

/// The issue references of texts, with their projects locked.
pub struct Mentions<'a> {
    named: &'a [IssueReference],
    others: ReferencedProjects,
}

impl<'a> Mentions<'a> {
    /// Locks the project of the request, as [`Requester::locked_tracker`] does, together with the projects of the
    /// [referenced](find_references) issues that the actor may see.
    pub fn lock(
        tx: &mut dyn Tx,
        requester: Requester,
        home: &ProjectRef,
        named: &'a [IssueReference],
    ) -> Result<(Tracker, Self), Error> {
        let home = tx.projects().find(home)?.ok_or(Error::NotFound(Entity::Project))?;
        let (home, others) = ReferencedProjects::lock(tx, requester, home.id, named)?;
        let home = home.ok_or(Error::NotFound(Entity::Project))?;
        let home = requester.tracker_of(tx, home)?;
        Ok((home, Self { named, others }))
    }

    /// Adds a system note to each referenced issue that the actor may see: it was mentioned in this issue.
    pub(crate) fn write_notes(
        &self,
        tx: &mut dyn Tx,
        editor: Editor<'_>,
        issue: &Issue,
    ) -> Result<(), StoreError> {
        let Editor { user, tracker, now } = editor;
        self.write_notes_of(tx, tracker, MentionPlace::Issue(issue), user, now)
    }

    /// Adds a system note to each referenced issue that the actor may see: it was mentioned in this place of the
    /// project.
    pub(crate) fn write_notes_of(
        &self,
        tx: &mut dyn Tx,
        home: &Tracker,
        place: MentionPlace<'_>,
        author: UserId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let mention = Mention { place, project: &home.project, author, at };
        mention.write_notes(tx, Some(home), &self.others, self.named)
    }
}

/// The locked projects that references name, each with the path in the reference.
#[derive(Default)]
pub struct ReferencedProjects(Vec<(String, Tracker)>);

impl ReferencedProjects {
    /// Locks a project and the referenced projects that the actor may see. All locks are taken together, so that
    /// concurrent transactions cannot deadlock.
    pub fn lock(
        tx: &mut dyn Tx,
        requester: Requester,
        home: ProjectId,
        named: &[IssueReference],
    ) -> Result<(Option<Project>, Self), Error> {
        let paths = named.iter().filter_map(|reference| reference.project.as_deref());
        let mut found = Vec::new();
        for path in sorted_unique(paths) {
            if let Some(project) = tx.projects().find(&ProjectRef::parse(path))? {
                let id = project.id;
                if visible_tracker(tx, requester, project)?.is_some() {
                    found.push((path, id));
                }
            }
        }
        let ids: Vec<ProjectId> = found.iter().map(|(_, id)| *id).chain([home]).collect();
        let locked = match ids[..] {
            [home] => tx.projects().lock(home)?.into_iter().collect(),
            _ => tx.projects().lock_all(&ids)?,
        };
        let mut others = Vec::new();
        for (path, id) in found {
            let project = locked.iter().find(|project| project.id == id).cloned();
            // The visibility may have changed before the lock was taken.
            let tracker = match project {
                Some(project) => visible_tracker(tx, requester, project)?,
                None => None,
            };
            others.extend(tracker.map(|tracker| (path.to_owned(), tracker)));
        }
        Ok((locked.into_iter().find(|project| project.id == home), Self(others)))
    }

    /// Returns the tracker of the project that a reference names; `home` if it names none.
    pub fn tracker_of<'a>(
        &'a self,
        home: Option<&'a Tracker>,
        reference: &IssueReference,
    ) -> Option<&'a Tracker> {
        match &reference.project {
            None => home,
            Some(path) => {
                self.0.iter().find(|(other, _)| other == path).map(|(_, tracker)| tracker)
            }
        }
    }
}

/// Returns the tracker of a project if the actor may see its issues.
pub fn visible_tracker(
    tx: &mut dyn Tx,
    requester: Requester,
    project: Project,
) -> Result<Option<Tracker>, Error> {
    match requester.tracker_of(tx, project) {
        Err(Error::Store(error)) => Err(error.into()),
        Err(_) => Ok(None),
        Ok(tracker) => Ok(tracker.allows(TrackerAbility::ReadIssues).then_some(tracker)),
    }
}

/// The issue, merge request or commit whose text mentions issues.
#[derive(Clone, Copy)]
pub enum MentionPlace<'a> {
    Issue(&'a Issue),
    MergeRequest(&'a MergeRequest),
    Commit(ObjectId),
}

/// A text that mentions issues, with its author and time.
pub struct Mention<'a> {
    pub place: MentionPlace<'a>,
    /// The project of the place.
    pub project: &'a Project,
    pub author: UserId,
    pub at: Timestamp,
}

impl Mention<'_> {
    /// Adds a system note to each referenced issue that the actor may see.
    pub fn write_notes(
        &self,
        tx: &mut dyn Tx,
        home: Option<&Tracker>,
        others: &ReferencedProjects,
        named: &[IssueReference],
    ) -> Result<(), StoreError> {
        let mut by_project: Vec<(&Tracker, Vec<i64>)> = Vec::new();
        for reference in named {
            let Some(tracker) = others.tracker_of(home, reference) else { continue };
            let known = by_project.iter_mut().find(|(t, _)| t.project.id == tracker.project.id);
            match known {
                Some((_, iids)) => iids.push(reference.iid),
                None => by_project.push((tracker, vec![reference.iid])),
            }
        }
        for (tracker, iids) in by_project {
            self.write_notes_in(tx, tracker, &iids)?;
        }
        Ok(())
    }

    fn write_notes_in(
        &self,
        tx: &mut dyn Tx,
        tracker: &Tracker,
        iids: &[i64],
    ) -> Result<(), StoreError> {
        let mut issues = tx.issues().find_by_iids(tracker.project.id, iids)?;
        issues.retain(|issue| tracker.sees(issue) && !self.is_place(issue.id));
        if issues.is_empty() {
            return Ok(());
        }
        issues.sort_by_key(|issue| issue.iid);
        let ids: Vec<Noteable> = issues.iter().map(|issue| issue.id.into()).collect();
        let noted = tx.notes().mentioned_by(self.source(), &ids)?;
        let name = self.name_in(tx, &tracker.project)?;
        for issue in issues.iter().filter(|issue| !noted.contains(&issue.id.into())) {
            tx.notes().insert(NewNote {
                project: issue.project,
                on: issue.id.into(),
                position: None,
                author: self.author,
                body: SystemNote::MentionedIn(&name).body(),
                system: true,
                source: Some(self.source()),
                created_at: self.at,
                at: self.at,
            })?;
        }
        Ok(())
    }

    /// Closes an open issue, if the actor may update it. The system note names the place.
    pub(crate) fn close_issue(
        &self,
        tx: &mut dyn Tx,
        tracker: &Tracker,
        iid: i64,
    ) -> Result<(), StoreError> {
        let found = tx.issues().find_by_iids(tracker.project.id, &[iid])?;
        let may = |issue: &Issue| tracker.authorize(IssueAbility::Update, issue).is_ok();
        let issue = found.into_iter().find(|issue| issue.state.is_open() && may(issue));
        let Some(issue) = issue else { return Ok(()) };
        let name = self.name_in(tx, &tracker.project)?;
        let editor = Editor { user: self.author, tracker, now: self.at };
        editor.close_via(tx, issue, &name)
    }

    fn is_place(&self, issue: IssueId) -> bool {
        match self.place {
            MentionPlace::Issue(place) => place.id == issue,
            MentionPlace::MergeRequest(_) | MentionPlace::Commit(_) => false,
        }
    }

    fn source(&self) -> NoteSource {
        let project = self.project.id;
        match self.place {
            MentionPlace::Issue(issue) => NoteSource::Issue { project, issue: issue.id },
            MentionPlace::MergeRequest(request) => {
                NoteSource::MergeRequest { project, merge_request: request.id }
            }
            MentionPlace::Commit(id) => NoteSource::Commit { project, id },
        }
    }

    /// Returns the name of the place for texts of a project. For texts of other projects it includes the project path.
    pub fn name_in(&self, tx: &mut dyn Tx, project: &Project) -> Result<String, StoreError> {
        let is_same_project = project.id == self.project.id;
        let path = if is_same_project {
            String::new()
        } else {
            project_view::placed(tx, self.project.clone())?.place.path_of(self.project)
        };
        Ok(match self.place {
            MentionPlace::Issue(issue) => format!("issue {path}#{}", issue.iid),
            MentionPlace::MergeRequest(request) => format!("merge request {path}!{}", request.iid),
            MentionPlace::Commit(id) if is_same_project => format!("commit {id}"),
            MentionPlace::Commit(id) => format!("commit {path}@{id}"),
        })
    }
}
