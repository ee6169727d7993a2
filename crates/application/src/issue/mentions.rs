//! References to issues, merge requests and commits in texts. What is referenced gets one system note for each issue,
//! merge request or commit that mentions it.

mod named;

pub(crate) use named::NamedObjects;

use hexforge_domain::Timestamp;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{MergeRequestId, ProjectId, UserId};
use hexforge_domain::issue::Issue;
use hexforge_domain::issue::reference::{Reference, ReferenceKind};
use hexforge_domain::merge_request::MergeRequest;
use hexforge_domain::note::system::SystemNote;
use hexforge_domain::note::{NewNote, NoteSource, Noteable};
use hexforge_domain::policy::merge_request::MergeRequestAbility;
use hexforge_domain::policy::tracker::IssueAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::unique::sorted_unique;

use super::Editor;
use crate::access::Requester;
use crate::access::tracker::Tracker;
use crate::error::{Entity, Error};
use crate::view::project as project_view;
use named::NamedCommit;

/// The references of texts, with their projects locked.
pub(crate) struct Mentions<'a> {
    named: &'a NamedObjects,
    others: ReferencedProjects,
}

impl<'a> Mentions<'a> {
    /// Locks the project of the request, as [`Requester::locked_tracker`] does, together with the
    /// [named](NamedObjects::find) projects that the actor may see.
    pub(crate) fn lock(
        tx: &mut dyn Tx,
        requester: Requester,
        home: &ProjectRef,
        named: &'a NamedObjects,
    ) -> Result<(Tracker, Self), Error> {
        Self::lock_with(tx, requester, home, None, named)
    }

    /// Like [`lock`](Self::lock), with the lock of one more project.
    pub(crate) fn lock_with(
        tx: &mut dyn Tx,
        requester: Requester,
        home: &ProjectRef,
        also: Option<ProjectId>,
        named: &'a NamedObjects,
    ) -> Result<(Tracker, Self), Error> {
        let home = tx.projects().find(home)?.ok_or(Error::NotFound(Entity::Project))?;
        let (home, others) =
            ReferencedProjects::lock_paths(tx, requester, (home.id, also), named.paths())?;
        let home = home.ok_or(Error::NotFound(Entity::Project))?;
        let home = requester.tracker_of(tx, home)?;
        Ok((home, Self { named, others }))
    }

    /// Adds a system note to everything that is referenced and that the actor may see: it was mentioned in this issue.
    pub(crate) fn write_notes(
        &self,
        tx: &mut dyn Tx,
        editor: Editor<'_>,
        issue: &Issue,
    ) -> Result<(), StoreError> {
        let Editor { user, tracker, now } = editor;
        self.write_notes_of(tx, tracker, MentionPlace::Issue(issue), user, now)
    }

    /// Adds a system note to everything that is referenced and that the actor may see: it was mentioned in this place
    /// of the project.
    pub(crate) fn write_notes_of(
        &self,
        tx: &mut dyn Tx,
        home: &Tracker,
        place: MentionPlace<'_>,
        author: UserId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let mention = Mention { place, project: &home.project, author, at };
        mention.write_notes(tx, Some(home), &self.others, &self.named.references)?;
        mention.write_notes_on_commits(tx, home, &self.others, &self.named.commits)
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
        named: &[Reference],
    ) -> Result<(Option<Project>, Self), Error> {
        let paths = named.iter().filter_map(|reference| reference.project.as_deref());
        Self::lock_paths(tx, requester, (home, None), paths)
    }

    /// Like [`lock`](Self::lock), with the paths of the projects, and with the lock of one more project.
    fn lock_paths<'a>(
        tx: &mut dyn Tx,
        requester: Requester,
        (home, also): (ProjectId, Option<ProjectId>),
        paths: impl Iterator<Item = &'a str>,
    ) -> Result<(Option<Project>, Self), Error> {
        let mut found = Vec::new();
        for path in sorted_unique(paths) {
            if let Some(project) = tx.projects().find(&ProjectRef::parse(path))? {
                let id = project.id;
                if visible_tracker(tx, requester, project)?.is_some() {
                    found.push((path, id));
                }
            }
        }
        let also = also.filter(|also| *also != home);
        let ids: Vec<ProjectId> =
            found.iter().map(|(_, id)| *id).chain(also).chain([home]).collect();
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
        reference: &Reference,
    ) -> Option<&'a Tracker> {
        match reference.project.as_deref() {
            None => home,
            Some(path) => self.find(path),
        }
    }

    fn find(&self, path: &str) -> Option<&Tracker> {
        self.0.iter().find(|(other, _)| other == path).map(|(_, tracker)| tracker)
    }
}

/// Returns the issues with these numbers that the actor may see, in the order of their numbers.
fn find_issues(
    tx: &mut dyn Tx,
    tracker: &Tracker,
    iids: &[i64],
) -> Result<Vec<Noteable>, StoreError> {
    let mut found = tx.issues().find_by_iids(tracker.project.id, iids)?;
    found.retain(|issue| tracker.sees(issue));
    found.sort_by_key(|issue| issue.iid);
    Ok(found.into_iter().map(|issue| issue.id.into()).collect())
}

/// Returns the tracker of a project if the actor sees the project.
pub fn visible_tracker(
    tx: &mut dyn Tx,
    requester: Requester,
    project: Project,
) -> Result<Option<Tracker>, Error> {
    match requester.tracker_of(tx, project) {
        Err(Error::Store(error)) => Err(error.into()),
        Err(_) => Ok(None),
        Ok(tracker) => Ok(Some(tracker)),
    }
}

/// The issue, merge request or commit whose text mentions issues.
#[derive(Clone, Copy)]
pub enum MentionPlace<'a> {
    Issue(&'a Issue),
    MergeRequest(&'a MergeRequest),
    /// A commit; with the push if its message was just pushed.
    Commit(ObjectId, Option<PushedTo<'a>>),
}

/// The push that brought a commit.
#[derive(Clone, Copy)]
pub struct PushedTo<'a> {
    /// The full name of the ref.
    pub reference: &'a str,
    /// The merge requests that the push merges.
    pub merged: &'a [MergeRequestId],
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
        named: &[Reference],
    ) -> Result<(), StoreError> {
        let mut groups: Vec<(&Tracker, ReferenceKind, Vec<i64>)> = Vec::new();
        for reference in named {
            let Some(tracker) = others.tracker_of(home, reference) else { continue };
            let is_same = |(known, kind, _): &&mut (&Tracker, ReferenceKind, Vec<i64>)| {
                known.project.id == tracker.project.id && *kind == reference.kind
            };
            match groups.iter_mut().find(is_same) {
                Some((_, _, iids)) => iids.push(reference.iid),
                None => groups.push((tracker, reference.kind, vec![reference.iid])),
            }
        }
        for (tracker, kind, iids) in groups {
            let found = match kind {
                ReferenceKind::Issue => find_issues(tx, tracker, &iids)?,
                ReferenceKind::MergeRequest => self.find_requests(tx, tracker, &iids)?,
            };
            self.write_notes_on(tx, tracker, found)?;
        }
        Ok(())
    }

    /// Adds a system note to each named commit whose code the actor may read.
    fn write_notes_on_commits(
        &self,
        tx: &mut dyn Tx,
        home: &Tracker,
        others: &ReferencedProjects,
        named: &[NamedCommit],
    ) -> Result<(), StoreError> {
        let mut found: Vec<(&Tracker, Vec<Noteable>)> = Vec::new();
        for NamedCommit { path, project, id } in named {
            let tracker = path.as_deref().map_or(Some(home), |path| others.find(path));
            // The path may have become that of another project, or the right may have been taken away.
            let is_readable = |one: &&Tracker| one.project.id == *project && one.reads_code();
            let Some(tracker) = tracker.filter(is_readable) else { continue };
            let on = Noteable::Commit { project: *project, id: *id };
            match found.iter_mut().find(|(known, _)| known.project.id == *project) {
                Some((_, commits)) => commits.push(on),
                None => found.push((tracker, vec![on])),
            }
        }
        for (tracker, commits) in found {
            self.write_notes_on(tx, tracker, sorted_unique(commits))?;
        }
        Ok(())
    }

    /// Adds the system note to each of these, unless it has the note or is the place itself.
    fn write_notes_on(
        &self,
        tx: &mut dyn Tx,
        tracker: &Tracker,
        mut named: Vec<Noteable>,
    ) -> Result<(), StoreError> {
        named.retain(|one| *one != self.source().noteable());
        if named.is_empty() {
            return Ok(());
        }
        let noted = tx.notes().mentioned_by(self.source(), &named)?;
        let name = self.name_in(tx, &tracker.project)?;
        for on in named.into_iter().filter(|one| !noted.contains(one)) {
            tx.notes().insert(NewNote {
                project: tracker.project.id,
                on,
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

    /// Returns the merge requests with these numbers that the actor may read, in the order of their numbers. Requests
    /// are not mentioned by their own commits.
    fn find_requests(
        &self,
        tx: &mut dyn Tx,
        tracker: &Tracker,
        iids: &[i64],
    ) -> Result<Vec<Noteable>, StoreError> {
        let mut found = tx.merge_requests().find_by_iids(tracker.project.id, iids)?;
        found.retain(|request| {
            tracker.allows_on(MergeRequestAbility::Read, request) && !self.is_of(request)
        });
        found.sort_by_key(|request| request.iid);
        Ok(found.into_iter().map(|request| request.id.into()).collect())
    }

    /// Returns whether the place is a commit of the merge request.
    fn is_of(&self, request: &MergeRequest) -> bool {
        match self.place {
            MentionPlace::Issue(_)
            | MentionPlace::MergeRequest(_)
            | MentionPlace::Commit(_, None) => false,
            MentionPlace::Commit(_, Some(PushedTo { reference, merged })) => {
                let is_source = request.ends.source_project == self.project.id
                    && request.ends.source_branch.full() == reference;
                is_source || merged.contains(&request.id)
            }
        }
    }

    fn source(&self) -> NoteSource {
        let project = self.project.id;
        match self.place {
            MentionPlace::Issue(issue) => NoteSource::Issue { project, issue: issue.id },
            MentionPlace::MergeRequest(request) => {
                NoteSource::MergeRequest { project, merge_request: request.id }
            }
            MentionPlace::Commit(id, _) => NoteSource::Commit { project, id },
        }
    }

    /// Returns the name of the place for texts of a project. For texts of other projects it includes the project path.
    pub fn name_in(&self, tx: &mut dyn Tx, project: &Project) -> Result<String, StoreError> {
        let is_same_project = project.id == self.project.id;
        let path = if is_same_project {
            String::new()
        } else {
            project_view::with_namespace(tx, self.project.clone())?.place.path_of(self.project)
        };
        Ok(match self.place {
            MentionPlace::Issue(issue) => format!("issue {path}#{}", issue.iid),
            MentionPlace::MergeRequest(request) => format!("merge request {path}!{}", request.iid),
            MentionPlace::Commit(id, _) if is_same_project => format!("commit {id}"),
            MentionPlace::Commit(id, _) => format!("commit {path}@{id}"),
        })
    }
}
