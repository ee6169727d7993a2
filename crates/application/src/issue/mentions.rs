//! Issues that texts name: on each a note tells where it was mentioned, once for each place.

use hexforge_domain::Timestamp;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{IssueId, ProjectId, UserId};
use hexforge_domain::issue::Issue;
use hexforge_domain::issue::reference::{IssueReference, references};
use hexforge_domain::note::system::Remark;
use hexforge_domain::note::{NewNote, NoteSource};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::tracker::TrackerAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{Project, ProjectRef};

use crate::access::tracker::{self, Tracker};
use crate::app::App;
use crate::error::{Error, Thing};
use crate::view::project as project_view;

/// Finds the issues that texts name. It takes as long as the texts are, so it is done before a transaction begins.
pub fn named_in(app: &App, texts: &[Option<&str>]) -> Vec<IssueReference> {
    let texts = texts.iter().flatten();
    texts.flat_map(|text| references(text, &app.settings.external_url)).collect()
}

/// The issues that texts name, in projects that are locked.
pub struct Mentions<'a> {
    named: &'a [IssueReference],
    others: Others,
}

impl<'a> Mentions<'a> {
    /// The project of a call, as by [`tracker::locked`], locked together with those whose issues are [named](named_in)
    /// and that the actor sees.
    pub fn locked(
        app: &App,
        tx: &mut dyn Tx,
        actor: Actor,
        home: &ProjectRef,
        named: &'a [IssueReference],
    ) -> Result<(Tracker, Self), Error> {
        let home = tx.projects().find(home)?.ok_or(Error::NotFound(Thing::Project))?;
        let (home, others) = Others::locked(app, tx, actor, home.id, named)?;
        let home = home.ok_or(Error::NotFound(Thing::Project))?;
        let home = tracker::of(tx, actor, home, app.today())?;
        Ok((home, Self { named, others }))
    }

    /// Writes on the issues that the actor sees that they were mentioned in this one.
    pub fn write(
        &self,
        tx: &mut dyn Tx,
        home: &Tracker,
        issue: &Issue,
        author: UserId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let mention = Mention { place: Where::Issue(issue), project: &home.project, author, at };
        mention.write(tx, Some(home), &self.others, self.named)
    }
}

/// Projects other than the one at hand, by the paths by which texts name them.
#[derive(Default)]
pub struct Others(Vec<(String, Tracker)>);

impl Others {
    /// Locks a project and those that are named and that the actor sees, so that no two wait for
    /// each other.
    pub fn locked(
        app: &App,
        tx: &mut dyn Tx,
        actor: Actor,
        home: ProjectId,
        named: &[IssueReference],
    ) -> Result<(Option<Project>, Self), Error> {
        let mut paths: Vec<&str> =
            named.iter().filter_map(|reference| reference.project.as_deref()).collect();
        paths.sort_unstable();
        paths.dedup();
        let mut found = Vec::new();
        for path in paths {
            if let Some(project) = tx.projects().find(&ProjectRef::parse(path))? {
                let id = project.id;
                if visible(app, tx, actor, project)?.is_some() {
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
            // Who sees it may have changed before it was locked.
            let tracker = match project {
                Some(project) => visible(app, tx, actor, project)?,
                None => None,
            };
            others.extend(tracker.map(|tracker| (path.to_owned(), tracker)));
        }
        Ok((locked.into_iter().find(|project| project.id == home), Self(others)))
    }

    /// The project in which an issue is named.
    pub fn of<'a>(
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

/// A project whose issues the actor may see.
pub fn visible(
    app: &App,
    tx: &mut dyn Tx,
    actor: Actor,
    project: Project,
) -> Result<Option<Tracker>, Error> {
    match tracker::of(tx, actor, project, app.today()) {
        Err(Error::Store(error)) => Err(error.into()),
        Err(_) => Ok(None),
        Ok(tracker) => Ok(tracker.allows(TrackerAbility::ReadIssues).then_some(tracker)),
    }
}

/// Where issues are mentioned.
#[derive(Clone, Copy)]
pub enum Where<'a> {
    Issue(&'a Issue),
    Commit(ObjectId),
}

/// A mention of issues.
pub struct Mention<'a> {
    pub place: Where<'a>,
    /// The project in which that is.
    pub project: &'a Project,
    pub author: UserId,
    pub at: Timestamp,
}

impl Mention<'_> {
    /// Writes on the issues that are named, as far as they are seen, that they were mentioned here.
    pub fn write(
        &self,
        tx: &mut dyn Tx,
        home: Option<&Tracker>,
        others: &Others,
        named: &[IssueReference],
    ) -> Result<(), StoreError> {
        let mut by_project: Vec<(&Tracker, Vec<i64>)> = Vec::new();
        for reference in named {
            let Some(tracker) = others.of(home, reference) else { continue };
            let known = by_project.iter_mut().find(|(t, _)| t.project.id == tracker.project.id);
            match known {
                Some((_, iids)) => iids.push(reference.iid),
                None => by_project.push((tracker, vec![reference.iid])),
            }
        }
        for (tracker, iids) in by_project {
            self.write_in(tx, tracker, &iids)?;
        }
        Ok(())
    }

    fn write_in(&self, tx: &mut dyn Tx, tracker: &Tracker, iids: &[i64]) -> Result<(), StoreError> {
        let mut issues = tx.issues().find_by_iids(tracker.project.id, iids)?;
        issues.retain(|issue| tracker.sees(issue) && !self.is(issue.id));
        if issues.is_empty() {
            return Ok(());
        }
        issues.sort_by_key(|issue| issue.iid);
        let ids: Vec<IssueId> = issues.iter().map(|issue| issue.id).collect();
        let told = tx.notes().mentioned_by(self.source(), &ids)?;
        let near = tracker.project.id == self.project.id;
        let name = if near { self.name("") } else { self.name(&self.path(tx)?) };
        for issue in issues.iter().filter(|issue| !told.contains(&issue.id)) {
            tx.notes().insert(NewNote {
                project: issue.project,
                issue: issue.id,
                author: self.author,
                body: Remark::MentionedIn(&name).body(),
                system: true,
                source: Some(self.source()),
                created_at: self.at,
                at: self.at,
            })?;
        }
        Ok(())
    }

    fn is(&self, issue: IssueId) -> bool {
        match self.place {
            Where::Issue(place) => place.id == issue,
            Where::Commit(_) => false,
        }
    }

    fn source(&self) -> NoteSource {
        let project = self.project.id;
        match self.place {
            Where::Issue(issue) => NoteSource::Issue { project, issue: issue.id },
            Where::Commit(id) => NoteSource::Commit { project, id },
        }
    }

    /// How issues of a project call the place; for those of others the path of its project comes first.
    fn name(&self, path: &str) -> String {
        match self.place {
            Where::Issue(issue) => format!("issue {path}#{}", issue.iid),
            Where::Commit(id) => commit_name(path, id),
        }
    }

    fn path(&self, tx: &mut dyn Tx) -> Result<String, StoreError> {
        path_of(tx, self.project)
    }
}

/// How issues call a commit; those of other projects have the path of its project in front of it.
pub fn commit_name(path: &str, id: ObjectId) -> String {
    if path.is_empty() { format!("commit {id}") } else { format!("commit {path}@{id}") }
}

/// The whole path of a project.
pub fn path_of(tx: &mut dyn Tx, project: &Project) -> Result<String, StoreError> {
    let placed = project_view::placed(tx, project.clone())?;
    Ok(placed.place.path_of(project))
}
