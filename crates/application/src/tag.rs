//! Tags.

pub mod release;

use hexforge_domain::commit::Signature;
use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::git::{GitError, RefChange};
use hexforge_domain::ports::git_transport::Proposal;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::refs::{Atomicity, Peeled};
use hexforge_domain::tag::{Release, Tag, TagName};
use hexforge_domain::text::{limit, within_field};

use crate::access;
use crate::app::App;
use crate::branch::{Conflict, conclude, project_to_push};
use crate::error::{Entity, Error, Missing, Refusal};
use crate::project::page::ProjectPage;
use crate::push::{self, PushOutcome};
use crate::repository::refs::names_containing;
use crate::repository::{self, open, sight};

/// A tag with its release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagView {
    /// The tag.
    pub tag: Tag,
    /// The release of the tag, if it has one.
    pub release: Option<Release>,
}

/// The fields of a new tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTag {
    /// The name of the tag.
    pub name: String,
    /// The revision to tag.
    pub from: String,
    /// A message makes the tag an annotated one.
    pub message: Option<String>,
    /// The description of the release to publish.
    pub release: Option<String>,
}

/// Lists the tags of a project, in descending order of names.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    page: Page,
) -> Result<Paged<TagView>, Error> {
    let project = repository::authorize(app, actor, named)?;
    let tags = open::open_by_header(app, &project, Caller::BACKGROUND)?.tags(page)?;
    with_releases(app, project.id, tags)
}

/// Lists the tags of a project whose names contain a text, in any case of letters, in descending order of names.
pub fn search(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    text: &str,
    page: Page,
) -> Result<Paged<TagView>, Error> {
    let project = repository::authorize(app, actor, named)?;
    let repository = open::open_by_header(app, &project, Caller::BACKGROUND)?;
    let mut names = names_containing(repository.refs(), TagName::FOLDER, text);
    names.reverse();
    let found = page.slice(names);
    let mut items = Vec::new();
    for name in found.items {
        items.extend(repository.tag(&TagName::stored(name))?);
    }
    with_releases(app, project.id, Paged { items, total: found.total })
}

fn with_releases(app: &App, project: ProjectId, tags: Paged<Tag>) -> Result<Paged<TagView>, Error> {
    let names: Vec<&TagName> = tags.items.iter().map(|tag| &tag.name).collect();
    let releases = app.store.read_autocommit(|tx| tx.releases().of_tags(project, &names))?;
    Ok(tags.map(|tag| {
        let release = releases.iter().find(|release| release.tag == tag.name).cloned();
        TagView { tag, release }
    }))
}

/// Returns whether the actor may delete tags of the project of a page.
pub fn may_delete(app: &App, project: &ProjectPage) -> bool {
    project.may(ProjectAbility::PushCode) && project.may(app.settings.strict.to_remove_tags())
}

/// Returns one tag.
pub fn get(app: &App, actor: Actor, named: &ProjectRef, name: &str) -> Result<TagView, Error> {
    let missing = || Error::NotFound(Entity::Tag);
    let parsed = TagName::parse(name);
    let (project, release) = app.store.read_autocommit(|tx| {
        let code = ProjectAbility::DownloadCode;
        let project = app.requester(actor).project_header(tx, code, named)?;
        let name = parsed.as_ref().map_err(|_| missing())?;
        let release = tx.releases().find(project.id, name)?;
        Ok::<_, Error>((project, release))
    })?;
    let name = parsed.map_err(|_| missing())?;
    let repository = open::open_by_header(app, &project, Caller::BACKGROUND)?;
    let tag = repository.tag(&name)?.ok_or_else(missing)?;
    Ok(TagView { tag, release })
}

/// Creates a tag, and its release if one is given.
pub fn create(app: &App, actor: Actor, named: &ProjectRef, new: &NewTag) -> Result<TagView, Error> {
    let project = project_to_push(app, actor, named)?;
    let name = TagName::parse_new(&new.name).map_err(|_| Error::Refused(Refusal::TagName))?;
    for (field, given) in [("message", &new.message), ("release_description", &new.release)] {
        within_field(field, given.as_deref().unwrap_or_default(), limit::LONG)?;
    }
    let repository = repository::open(app, project.id)?;
    let exists = || Error::Refused(Refusal::TagExists(name.to_string()));
    if repository.refs().target(&name.full()).is_some() {
        return Err(exists());
    }
    let from = new.from.trim();
    let commit = sight::resolve(app, actor, project.id, repository.as_ref(), from)?;
    let commit = commit.ok_or_else(|| Error::Refused(Refusal::TagTarget(new.from.clone())))?;
    let text = |text: &Option<String>| {
        text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let message = text(&new.message);
    // Read before the change, so that no tag is created for a corrupt commit.
    let shown = repository.commit(commit)?.ok_or(GitError::Missing)?;
    let (target, packs) = match &message {
        Some(message) => {
            let tagger = tagger(app, actor)?;
            let (tag, pack) = repository.write_tag(&name, commit, &tagger, message)?;
            (tag, vec![pack])
        }
        None => (commit, vec![]),
    };
    let release = new.release.as_ref().filter(|text| !text.trim().is_empty());
    let release = release.map(|text| Release { tag: name.clone(), description: text.clone() });
    let changes = vec![RefChange { name: name.full(), old: None, new: Some(target) }];
    let peeled = if target == commit { Peeled::new() } else { Peeled::from([(target, commit)]) };
    let proposal = Proposal { changes, peeled, atomicity: Atomicity::AllOrNone, packs };
    let changes = push::Changes { proposal, release: release.clone() };
    let repository = repository.as_ref();
    let outcome = push::change_refs_with_release(app, actor, &project, repository, changes);
    // A conflict: another request created the tag first, or the name is a folder of other tags.
    let conflict = Conflict { exists: exists(), missing: tag_conflict(&name) };
    conclude(app, project.id, &name.full(), outcome, conflict)?;
    Ok(TagView { tag: Tag { name, message, commit: shown }, release })
}

/// Deletes a tag and its release.
pub fn delete(app: &App, actor: Actor, named: &ProjectRef, name: &str) -> Result<(), Error> {
    let project = project_to_push(app, actor, named)?;
    let ability = app.settings.strict.to_remove_tags();
    app.store.read(|tx| app.requester(actor).project(tx, ability, named))?;
    let missing = || Error::Missing(Missing::Tag);
    let name = TagName::parse(name).map_err(|_| missing())?;
    let repository = repository::open(app, project.id)?;
    let target = repository.refs().target(&name.full()).ok_or_else(missing)?;
    let change = RefChange { name: name.full(), old: Some(target), new: None };
    let removed = push::remove_tag(app, actor, &project, repository.as_ref(), change);
    // A conflict: another request moved or deleted the tag meanwhile.
    let conflict = Conflict { exists: tag_conflict(&name), missing: missing() };
    conclude(app, project.id, &name.full(), removed.map(|()| PushOutcome::Done), conflict)
}

/// The error when a concurrent change or another tag name prevents the change of a tag.
fn tag_conflict(name: &TagName) -> Error {
    Error::Refused(Refusal::TagMoved(name.to_string()))
}

/// Returns the signature for an annotated tag: the caller and the current time.
fn tagger(app: &App, actor: Actor) -> Result<Signature, Error> {
    let id = access::own_account(actor)?;
    let user = app.store.read(|tx| tx.users().find(id))?.ok_or(Error::Unauthenticated)?;
    Ok(Signature {
        name: user.name.as_str().to_owned(),
        email: user.email.as_str().to_owned(),
        at: Signature::time(app.clock.now().timestamp(), 0),
    })
}
