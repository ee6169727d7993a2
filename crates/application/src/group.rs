//! Groups: reads, creates, changes and removes them.

pub mod fields;
pub mod page;
pub mod transfer;

use hexforge_domain::field_errors::{FieldErrors, FieldProblem};
use hexforge_domain::group::{GroupFilter, GroupRef, GroupScope, NewGroup};
use hexforge_domain::id::NamespaceId;
use hexforge_domain::member::{AccessLevel, Membership};
use hexforge_domain::namespace::Namespace;
use hexforge_domain::outbox::{GroupFacts, GroupMemberFacts, MemberFacts, SystemEvent};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::group::GroupAbility;
use hexforge_domain::policy::user::may_create_groups;
use hexforge_domain::policy::{Actor, Protected};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::query::{ListAudience, ProjectFilter, ProjectScope};
use hexforge_domain::visibility::Visibility;

use crate::access::{self, Requester};
use crate::app::App;
use crate::error::{Entity, Error};
use crate::project::{ProjectListing, ROWS_PER_READ, remove_all_in};
use crate::view::group::GroupDetail;
use crate::view::project::{self as project_view, ProjectView};
use fields::GroupFields;

/// The maximum number of own and of shared projects that the detail of a group contains, each. The paginated list has
/// all of them.
const SHOWN_PROJECTS: u64 = 1000;

/// Lists the groups that the actor is a member of, or all groups for administrators. `all_available` adds the visible
/// groups that the actor is not a member of.
pub fn list(
    app: &App,
    actor: Actor,
    all_available: bool,
    filter: GroupFilter,
    page: Page,
) -> Result<Paged<Namespace>, Error> {
    let scope = match (actor, all_available) {
        (Actor::Anonymous, _) => return Err(Error::Unauthenticated),
        (Actor::Admin { .. }, _) => GroupScope::All,
        (Actor::User { id, .. }, false) => GroupScope::MemberOf(id),
        (Actor::User { id, external }, true) => GroupScope::AvailableTo { user: id, external },
    };
    let filter = GroupFilter { scope, ..filter };
    app.store.read(|tx| Ok(tx.groups().list(&filter, app.today(), page)?))
}

/// Lists the groups that the actor owns.
pub fn list_owned(app: &App, actor: Actor, page: Page) -> Result<Paged<Namespace>, Error> {
    let user = access::own_account(actor)?;
    app.store.read(|tx| Ok(tx.groups().owned_by(user, app.today(), page)?))
}

/// Returns one group with the projects that the actor may see.
pub fn get(app: &App, actor: Actor, named: &GroupRef) -> Result<GroupDetail, Error> {
    app.store.read(|tx| {
        let group = app.requester(actor).group(tx, GroupAbility::Read, named)?;
        detail(tx, app.requester(actor), group)
    })
}

/// Returns whether the actor administers a group that the actor may see.
pub fn may_administer(app: &App, actor: Actor, named: &GroupRef) -> Result<bool, Error> {
    app.store.read(|tx| {
        let requester = app.requester(actor);
        let group = requester.group(tx, GroupAbility::Read, named)?;
        Ok(requester.group_facts(tx, &group)?.allows(actor, GroupAbility::Administer))
    })
}

/// Lists the projects in a group and those shared with it that the actor may see.
pub fn projects(
    app: &App,
    actor: Actor,
    named: &GroupRef,
    listing: &ProjectListing,
    page: Page,
) -> Result<Paged<ProjectView>, Error> {
    app.store.read(|tx| {
        let requester = app.requester(actor);
        let group = requester.group(tx, GroupAbility::Read, named)?;
        let viewer = audience_of(tx, requester, &group)?;
        let scope = ProjectScope::OfGroup { group: group.id, viewer };
        let projects = tx.projects().list(&listing.filter(scope, requester.today), page)?;
        Ok(project_view::full_page(tx, projects, requester, None)?)
    })
}

/// Returns the audience for lists of the group's projects: unrestricted if the actor may read all of them.
pub(crate) fn audience_of(
    tx: &mut dyn Tx,
    requester: Requester,
    group: &Namespace,
) -> Result<ListAudience, Error> {
    let facts = requester.group_facts(tx, group)?;
    if facts.allows(requester.actor, GroupAbility::ReadAllProjects) {
        Ok(ListAudience::Unrestricted)
    } else {
        access::viewer(requester.actor).map(ListAudience::Viewer)
    }
}

fn detail(tx: &mut dyn Tx, requester: Requester, group: Namespace) -> Result<GroupDetail, Error> {
    let viewer = audience_of(tx, requester, &group)?;
    let mut load_projects = |scope| -> Result<Vec<ProjectView>, Error> {
        let filter = ProjectFilter::newest_first(scope, requester.today);
        let page = Page::Numbered { number: 1, size: SHOWN_PROJECTS };
        let projects = tx.projects().list(&filter, page)?;
        Ok(project_view::full_page(tx, projects, requester, None)?.items)
    };
    Ok(GroupDetail {
        projects: load_projects(ProjectScope::InGroup { group: group.id, viewer })?,
        shared_projects: load_projects(ProjectScope::SharedWith { group: group.id, viewer })?,
        group,
    })
}

/// Creates a group and makes the actor its owner.
pub fn create(app: &App, actor: Actor, fields: &GroupFields) -> Result<Namespace, Error> {
    let user = access::own_account(actor)?;
    let now = app.clock.now();
    app.store.write(|tx| {
        let creator = tx.users().lock(user)?.ok_or(Error::Unauthenticated)?;
        if !may_create_groups(&creator) {
            return Err(Error::Forbidden(None));
        }
        let settings = app.current_settings(tx)?;
        let mut errors = FieldErrors::default();
        let parsed = fields.parse(&mut errors);
        let visibility = parsed.visibility.unwrap_or(settings.group_visibility());
        if errors.messages("visibility_level").is_empty() {
            app.requester(actor).check_level(&settings, visibility, &mut errors);
        }
        check_taken(tx, None, &parsed, &mut errors)?;
        let new = errors.into_result_with(|| {
            Some(NewGroup {
                path: parsed.path?,
                name: parsed.name?,
                description: parsed.description?,
                visibility,
                lfs_enabled: fields.lfs_enabled,
                request_access_enabled: fields.request_access_enabled.unwrap_or(false),
                at: now,
            })
        })?;
        let group = tx.groups().insert(new).map_err(map_duplicate)?;
        let owner = Membership::new(user, AccessLevel::Owner, None);
        tx.group_members().insert(group.id, owner)?;
        let facts = GroupFacts::from(&group);
        tx.outbox().record(&SystemEvent::GroupCreated(facts.clone()), now)?;
        let member = MemberFacts::new(&creator, AccessLevel::Owner, now);
        let joined = GroupMemberFacts { group: facts, member };
        tx.outbox().record(&SystemEvent::GroupMemberAdded(joined), now)?;
        Ok(group)
    })
}

/// Updates the given fields of a group and leaves the others.
pub fn update(
    app: &App,
    actor: Actor,
    named: &GroupRef,
    fields: &GroupFields,
) -> Result<GroupDetail, Error> {
    app.store.write(|tx| {
        let requester = app.requester(actor);
        let found = requester.group(tx, GroupAbility::Administer, named)?;
        let group = tx.groups().lock(found.id)?.ok_or(Error::NotFound(Entity::Group))?;
        let mut errors = FieldErrors::default();
        let parsed = fields.parse_change(&mut errors);
        if let Some(level) = parsed.visibility.filter(|level| *level != group.visibility) {
            requester.check_level(&*app.current_settings(tx)?, level, &mut errors);
        }
        if errors.messages("visibility_level").is_empty() {
            check_taken(tx, Some(group.id), &parsed, &mut errors)?;
            check_projects_visibility(tx, &group, parsed.visibility, &mut errors)?;
            errors.into_result()?;
            let changed = fields.applied_to(&group, parsed);
            if changed != group {
                let changed = Namespace { updated_at: app.clock.now(), ..changed };
                tx.groups().update(&changed).map_err(map_duplicate)?;
                return detail(tx, requester, changed);
            }
        }
        // An unknown or restricted visibility level discards the whole update and is not an error.
        detail(tx, requester, group)
    })
}

/// Removes a group with all its projects and members.
pub fn delete(app: &App, actor: Actor, named: &GroupRef) -> Result<Namespace, Error> {
    let (group, removed) = app.store.write(|tx| {
        let now = app.clock.now();
        let found = app.requester(actor).group(tx, GroupAbility::Administer, named)?;
        tx.removals().begin()?;
        let group = tx.groups().lock(found.id)?.ok_or(Error::NotFound(Entity::Group))?;
        tx.groups().lock_to_delete(group.id)?;
        let removed = remove_all_in(tx, group.id, app.requester(actor), now)?;
        let facts = GroupFacts::from(&group);
        for number in 1.. {
            let page = Page::Numbered { number, size: ROWS_PER_READ as u64 };
            let members = tx.group_members().list(group.id, None, page)?.items;
            for (user, membership) in &members {
                let member = MemberFacts::new(user, membership.level, now);
                let left = GroupMemberFacts { group: facts.clone(), member };
                tx.outbox().record(&SystemEvent::GroupMemberRemoved(left), now)?;
            }
            if members.len() < ROWS_PER_READ {
                break;
            }
        }
        tx.outbox().record(&SystemEvent::GroupDestroyed(facts), now)?;
        tx.groups().delete(group.id)?;
        Ok::<_, Error>((group, removed))
    })?;
    removed.discard_files(app);
    Ok(group)
}

fn check_taken(
    tx: &mut dyn Tx,
    own: Option<NamespaceId>,
    parsed: &fields::ParsedGroup,
    errors: &mut FieldErrors,
) -> Result<(), Error> {
    let others =
        |found: Option<Namespace>| found.is_some_and(|namespace| Some(namespace.id) != own);
    if let Some(name) = &parsed.name
        && others(tx.namespaces().find_by_name(name.as_str())?)
    {
        errors.add("name", FieldProblem::Taken);
    }
    if let Some(path) = &parsed.path
        && others(tx.namespaces().find_by_path(path)?)
    {
        errors.add("path", FieldProblem::Taken);
    }
    Ok(())
}

/// Adds an error if the group would be less visible than one of its projects.
fn check_projects_visibility(
    tx: &mut dyn Tx,
    group: &Namespace,
    visibility: Option<Visibility>,
    errors: &mut FieldErrors,
) -> Result<(), Error> {
    if let Some(visibility) = visibility
        && visibility < group.visibility
        && tx.groups().highest_visibility_inside(group.id)? > Some(visibility)
    {
        let text = format!(
            "{} is not allowed since there are projects with higher visibility.",
            visibility.as_str()
        );
        errors.add("visibility_level", text);
    }
    Ok(())
}

/// Maps a duplicate key that another transaction inserted after our check.
fn map_duplicate(error: StoreError) -> Error {
    match error {
        StoreError::Duplicate("path") => FieldErrors::single("path", FieldProblem::Taken).into(),
        StoreError::Duplicate("name") => FieldErrors::single("name", FieldProblem::Taken).into(),
        error => error.into(),
    }
}
