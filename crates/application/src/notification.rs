//! The notification settings of the actor: for everything, for a group or for a project.

use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::group::GroupRef;
use hexforge_domain::id::UserId;
use hexforge_domain::member::Membership;
use hexforge_domain::notification::{
    NotificationChange, NotificationEvent, NotificationLevel, NotificationScope,
    NotificationSetting,
};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::group::GroupAbility;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::user::EmailAddress;

use crate::access::{self, Requester};
use crate::app::App;
use crate::error::{Entity, Error, Refusal};

/// The error text for an address of another user, or of nobody.
const NOT_OWNED: &str = "is not an email you own";

/// The maximum number of characters of an unknown level that the error text repeats.
const QUOTED: usize = 50;

/// What the settings of a request are for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotificationTarget {
    /// Everything.
    Global,
    /// A group.
    Group(GroupRef),
    /// A project.
    Project(ProjectRef),
}

impl NotificationTarget {
    /// Returns the scope, if the actor may read the group or project.
    fn scope(&self, tx: &mut dyn Tx, requester: Requester) -> Result<NotificationScope, Error> {
        Ok(match self {
            Self::Global => NotificationScope::Global,
            Self::Group(named) => {
                NotificationScope::Group(requester.group(tx, GroupAbility::Read, named)?.id)
            }
            Self::Project(named) => {
                NotificationScope::Project(requester.project(tx, ProjectAbility::Read, named)?.id)
            }
        })
    }
}

/// The changed values in a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotificationFields {
    pub level: Option<String>,
    /// Events, and whether the user wants to be notified about them.
    pub events: Vec<(NotificationEvent, bool)>,
    /// The address, for [`NotificationTarget::Global`].
    pub address: Option<String>,
}

impl NotificationFields {
    fn validate(self, tx: &mut dyn Tx, user: UserId) -> Result<NotificationChange, Error> {
        let chosen = |wanted: bool| {
            let events = self.events.iter().filter(|(_, is_wanted)| *is_wanted == wanted);
            events.map(|(event, _)| *event).collect()
        };
        let (added, removed) = (chosen(true), chosen(false));
        let level = match self.level {
            Some(name) => match NotificationLevel::from_name(&name) {
                Some(level) => Some(level),
                None => {
                    let quoted = name.chars().take(QUOTED).collect();
                    return Err(Error::Refused(Refusal::NotificationLevel(quoted)));
                }
            },
            None => None,
        };
        let address = match self.address {
            Some(address) => Some(own_address(tx, user, &address)?),
            None => None,
        };
        Ok(NotificationChange { level, added, removed, address })
    }
}

/// Returns an address, if the user has it as the primary or a secondary one.
fn own_address(tx: &mut dyn Tx, user: UserId, address: &str) -> Result<EmailAddress, Error> {
    let not_owned = || FieldErrors::single("notification_email", NOT_OWNED);
    let address = EmailAddress::parse(address).map_err(|_| not_owned())?;
    match tx.emails().holder(&address)? {
        Some(holder) if holder.user == user => Ok(address),
        _ => Err(not_owned().into()),
    }
}

/// Notification settings in a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotificationView {
    /// The settings.
    pub setting: NotificationSetting,
    /// The address that notifications go to, for [`NotificationTarget::Global`].
    pub address: Option<EmailAddress>,
}

/// Returns the settings of the actor.
pub fn get(
    app: &App,
    actor: Actor,
    target: &NotificationTarget,
) -> Result<NotificationView, Error> {
    let user = access::own_account(actor)?;
    app.store.read(|tx| {
        let scope = target.scope(tx, app.requester(actor))?;
        let setting = tx.notification_settings().get(user, scope)?;
        view(tx, user, scope, setting)
    })
}

/// Changes the given settings of the actor.
pub fn update(
    app: &App,
    actor: Actor,
    target: &NotificationTarget,
    fields: NotificationFields,
) -> Result<NotificationView, Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        let scope = target.scope(tx, app.requester(actor))?;
        let change = fields.validate(tx, user)?;
        let setting = if change == NotificationChange::default() {
            tx.notification_settings().get(user, scope)?
        } else {
            tx.notification_settings().change(user, scope, &change)?
        };
        show_in_membership(tx, user, scope, setting.level)?;
        view(tx, user, scope, setting)
    })
}

/// Stores the level in the membership of the user, which shows it in lists of projects.
fn show_in_membership(
    tx: &mut dyn Tx,
    user: UserId,
    scope: NotificationScope,
    notification_level: NotificationLevel,
) -> Result<(), StoreError> {
    let changed = |member: Option<Membership>| {
        let member = member.filter(|member| member.notification_level != notification_level)?;
        Some(Membership { notification_level, ..member })
    };
    match scope {
        NotificationScope::Global => {}
        NotificationScope::Group(group) => {
            if let Some(member) = changed(tx.group_members().find(group, user)?) {
                tx.group_members().update(group, member)?;
            }
        }
        NotificationScope::Project(project) => {
            if let Some(member) = changed(tx.project_members().find(project, user)?) {
                tx.project_members().update(project, member)?;
            }
        }
    }
    Ok(())
}

fn view(
    tx: &mut dyn Tx,
    user: UserId,
    scope: NotificationScope,
    setting: NotificationSetting,
) -> Result<NotificationView, Error> {
    if scope != NotificationScope::Global {
        return Ok(NotificationView { setting, address: None });
    }
    let chosen = match &setting.address {
        Some(address) => {
            let holder = tx.emails().holder(address)?;
            holder.filter(|holder| holder.user == user).map(|_| address.clone())
        }
        None => None,
    };
    let address = match chosen {
        Some(address) => address,
        None => tx.users().find(user)?.ok_or(Error::NotFound(Entity::User))?.email,
    };
    Ok(NotificationView { setting, address: Some(address) })
}
