//! What the pages of members show beside the members, and the change of a membership as a form sends it.

use hexforge_domain::Timestamp;
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::id::UserId;
use hexforge_domain::member::{AccessLevel, Membership, is_in_force};
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::request::may_request_access;
use hexforge_domain::ports::store::Tx;

use super::request::RequestView;
use super::source::{Found, MemberOperation};
use super::{AccessFields, MemberSource, MemberView, write_membership};
use crate::access::Requester;
use crate::app::App;
use crate::error::{Entity, Error};

/// The maximum number of access requests on a page.
const MAX_REQUESTS: u64 = 100;

/// What a page of members shows beside the members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MembersPageDetails {
    /// The access requests, highest user id first, for those who change the members.
    pub requests: Vec<RequestView>,
    /// The time when the actor requested access.
    pub requested: Option<Timestamp>,
    /// Whether the actor may request access.
    pub may_request: bool,
    /// Whether a group has one owner, who has to stay.
    pub has_one_owner: bool,
    /// The owner of a personal project, who has to stay.
    pub owner: Option<UserId>,
}

/// Returns what a page of members shows beside the members. Strangers see nothing of it.
pub fn details(
    app: &App,
    actor: Actor,
    source: &MemberSource,
) -> Result<MembersPageDetails, Error> {
    let Some(user) = actor.user() else { return Ok(MembersPageDetails::default()) };
    app.store.read(|tx| {
        let requester = app.requester(actor);
        let found = source.load(tx, requester, MemberOperation::Read)?;
        let may_review = match source.load(tx, requester, MemberOperation::Review) {
            Ok(_) => true,
            Err(Error::Forbidden(_) | Error::NotFound(_)) => false,
            Err(error) => return Err(error),
        };
        let requests = match may_review {
            true => {
                let page = Page::Numbered { number: 1, size: MAX_REQUESTS };
                tx.access_requests().list(found.request_source(), page)?.items
            }
            false => Vec::new(),
        };
        let requested = tx.access_requests().find(found.request_source(), user)?;
        let may_request = may_request(tx, requester, &found, user)? && requested.is_none();
        let has_one_owner = match &found {
            Found::Group(group) => tx.group_members().count_owners(group.id, requester.today)? == 1,
            Found::Project(_) => false,
        };
        let owner = match &found {
            Found::Group(_) => None,
            Found::Project(project) => {
                tx.namespaces().find(project.namespace)?.and_then(|home| home.owner)
            }
        };
        Ok(MembersPageDetails { requests, requested, may_request, has_one_owner, owner })
    })
}

/// Returns whether a user may request access to a group or project.
pub(super) fn may_request(
    tx: &mut dyn Tx,
    requester: Requester,
    found: &Found,
    user: UserId,
) -> Result<bool, Error> {
    let (enabled, member) = match found {
        Found::Group(group) => {
            let level = tx.groups().level(group.id, user, requester.today)?;
            (group.request_access_enabled, level.is_some())
        }
        Found::Project(project) => {
            let role = tx.projects().role(project.id, user, requester.today)?;
            (project.features.request_access, role.owner || role.level.is_some())
        }
    };
    Ok(may_request_access(enabled, member))
}

/// Replaces level and expiry date of a membership. Without a date, the membership does not expire any more. The only
/// owner of a group stays its owner.
pub fn replace(
    app: &App,
    actor: Actor,
    source: &MemberSource,
    user: UserId,
    access: AccessFields,
) -> Result<MemberView, Error> {
    app.store.write(|tx| {
        let requester = app.requester(actor);
        let found = source.load(tx, requester, MemberOperation::Administer)?;
        let before = found.member(tx, user)?.ok_or(Error::NotFound(Entity::Record))?;
        let level = source.parse_level(access.level)?;
        let after = Membership { level, expires_at: access.expires_at, ..before };
        if let Found::Group(group) = &found {
            let owns = |one: &Membership| {
                one.level == AccessLevel::Owner && is_in_force(one.expires_at, requester.today)
            };
            let is_last =
                owns(&before) && tx.group_members().count_owners(group.id, requester.today)? == 1;
            if is_last && (!owns(&after) || after.expires_at.is_some()) {
                let why = "cannot be taken from the only owner of the group";
                return Err(FieldErrors::single("role", why).into());
            }
        }
        write_membership(tx, &found, after)
    })
}
