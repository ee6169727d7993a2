//! The members of projects and groups. Everybody who sees a project or group sees its members; those who administer it
//! change them.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use chrono::NaiveDate;
use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::group::page::{self as group_page, GroupPage};
use hexforge_application::member::page::MembersPageDetails;
use hexforge_application::member::request::{self, RequestView};
use hexforge_application::member::{self, AccessFields, MemberSource, MemberView};
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::group::GroupRef;
use hexforge_domain::id::UserId;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::paging::Paged;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::group::GroupAbility;
use hexforge_domain::policy::project::ProjectAbility;

use super::groups::{self, GroupFrame};
use super::project::{frame_of, other_spelling};
use super::settings::base_of;
use crate::address;
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::forms::{Choice, Form};
use crate::frame::{Frame, Pager};
use crate::moment::Moment;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/groups/{group}/group_members", of_group);
    pages.post("/groups/{group}/group_members", add_to_group);
    pages.post("/groups/{group}/group_members/request_access", ask_group);
    pages.post("/groups/{group}/group_members/{id}", update_in_group);
    pages.post("/groups/{group}/group_members/{id}/remove", remove_from_group);
    pages.post("/groups/{group}/group_members/{id}/approve", approve_in_group);
    pages.post("/groups/{group}/group_members/{id}/deny", deny_in_group);
    pages.get("/{namespace}/{project}/project_members", of_project);
    pages.post("/{namespace}/{project}/project_members", add_to_project);
    pages.post("/{namespace}/{project}/project_members/request_access", ask_project);
    pages.post("/{namespace}/{project}/project_members/{id}", update_in_project);
    pages.post("/{namespace}/{project}/project_members/{id}/remove", remove_from_project);
    pages.post("/{namespace}/{project}/project_members/{id}/approve", approve_in_project);
    pages.post("/{namespace}/{project}/project_members/{id}/deny", deny_in_project);
}

/// A member in the table.
struct Row {
    id: i64,
    username: String,
    name: String,
    role: &'static str,
    roles: Vec<Choice>,
    expires: String,
    /// Whether the viewer may change the role of the member.
    may_change: bool,
    /// Whether the viewer may remove the member: everybody may leave.
    may_remove: bool,
    /// Why the member has to stay.
    stays: Option<&'static str>,
}

/// An access request in the list.
struct RequestRow {
    id: i64,
    username: String,
    name: String,
    at: Moment,
    roles: Vec<Choice>,
}

#[derive(Template)]
#[template(path = "members.html")]
struct MembersPage {
    frame: Frame,
    /// The address of this page, to which the forms are sent.
    address: String,
    faults: Faults,
    may_change: bool,
    user: String,
    roles: Vec<Choice>,
    expires_at: String,
    search: String,
    rows: Vec<Row>,
    /// What is wrong with the form of a row.
    row_faults: Faults,
    total: u64,
    pager: Pager,
    requests: Vec<RequestRow>,
    may_request: bool,
    /// The viewer, who requested access.
    requested: Option<UserId>,
    /// The group, on its page.
    group: Option<GroupFrame>,
    /// The group of a project, whose members have access as well.
    parent: Option<Parent>,
}

/// The group that a project belongs to.
struct Parent {
    name: String,
    /// The address of the members of the group.
    members: String,
}

/// The faults of the form for a new member, and those of a row.
#[derive(Default)]
struct AllFaults {
    new: Faults,
    row: Faults,
}

/// Whether the page is that of a group or of a project.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Group,
    Project,
}

impl Of {
    fn source(self, visit: &Visit) -> MemberSource {
        match self {
            Of::Group => MemberSource::Group(GroupRef::new(visit.param("group"))),
            Of::Project => MemberSource::Project(visit.project()),
        }
    }

    fn address(self, visit: &Visit) -> String {
        match self {
            Of::Group => format!("/groups/{}/group_members", address::path(visit.param("group"))),
            Of::Project => format!("{}/project_members", base_of(visit)),
        }
    }
}

/// The choices of a role. Only members of groups can be owners.
pub(super) fn role_choices(with_owner: bool, chosen: &str) -> Vec<Choice> {
    let levels = AccessLevel::ALL.into_iter();
    let levels = levels.filter(|level| with_owner || *level != AccessLevel::Owner);
    let choice = |level: AccessLevel| {
        let number = level.level().to_string();
        let is_chosen = number == chosen;
        Choice::new(number, level.as_str(), is_chosen)
    };
    levels.map(choice).collect()
}

/// A date in a form; `None` if the field is empty.
pub(super) fn parse_date(text: &str) -> Result<Option<NaiveDate>, Error> {
    if text.is_empty() {
        return Ok(None);
    }
    let invalid = |_| Error::from(FieldErrors::single("expires_at", "is invalid"));
    NaiveDate::parse_from_str(text, "%Y-%m-%d").map(Some).map_err(invalid)
}

/// What the page shows.
struct Loaded {
    place: Place,
    /// The group of a project, if the visitor may see it.
    parent: Option<GroupPage>,
    may_change: bool,
    members: Paged<MemberView>,
    details: MembersPageDetails,
}

/// Whose members they are.
enum Place {
    Group(GroupPage),
    Project(Box<ProjectPage>),
}

async fn load(visit: &Visit, of: Of) -> PageResult<(Viewer, Loaded)> {
    let (source, page) = (of.source(visit), visit.page());
    let search = visit.query("search").map(str::to_owned);
    visit
        .run(move |app, viewer| {
            let source = spelled(app, &source)?;
            let (place, may_change) = rights(app, viewer.actor(), &source)?;
            let parent = parent(app, viewer.actor(), &place)?;
            let members = member::list(app, viewer.actor(), &source, search.as_deref(), page)?;
            let details = member::page::details(app, viewer.actor(), &source)?;
            Ok(Loaded { place, parent, may_change, members, details })
        })
        .await
}

/// The group of a project, if the actor may see it.
fn parent(app: &App, actor: Actor, place: &Place) -> Result<Option<GroupPage>, Error> {
    let Place::Project(project) = place else { return Ok(None) };
    let namespace = &project.placed.place.namespace;
    if namespace.owner.is_some() {
        return Ok(None);
    }
    match group_page::get(app, actor, &GroupRef::new(namespace.path.as_str())) {
        Ok(group) => Ok(Some(group)),
        Err(Error::Unauthenticated | Error::Forbidden(_) | Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The source with the stored spelling of a group. Projects are found in any spelling.
fn spelled(app: &App, source: &MemberSource) -> Result<MemberSource, Error> {
    Ok(match source {
        MemberSource::Group(named) => MemberSource::Group(groups::spelled(app, named)?),
        project @ MemberSource::Project(_) => project.clone(),
    })
}

/// Whose members they are, and whether the actor may change them.
fn rights(app: &App, actor: Actor, source: &MemberSource) -> Result<(Place, bool), Error> {
    match source {
        MemberSource::Project(named) => {
            let project = project_page::get(app, actor, named)?;
            let may_change = project.may(ProjectAbility::Administer);
            Ok((Place::Project(Box::new(project)), may_change))
        }
        MemberSource::Group(named) => {
            let group = group_page::get(app, actor, named)?;
            let may_change = group.may(GroupAbility::Administer);
            Ok((Place::Group(group), may_change))
        }
    }
}

async fn of_group(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, loaded) = load(&visit, Of::Group).await?;
    if let Place::Group(found) = &loaded.place
        && let Some(redirect) = groups::other_spelling(&visit, &visit.param("group"), &found.group)
    {
        return Ok(redirect);
    }
    Ok(page(&visit, &viewer, StatusCode::OK, Of::Group, loaded, AllFaults::default()))
}

async fn of_project(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, loaded) = load(&visit, Of::Project).await?;
    if let Place::Project(project) = &loaded.place
        && let Some(redirect) = other_spelling(&visit, project)
    {
        return Ok(redirect);
    }
    Ok(page(&visit, &viewer, StatusCode::OK, Of::Project, loaded, AllFaults::default()))
}

fn page(
    visit: &Visit,
    viewer: &Viewer,
    status: StatusCode,
    of: Of,
    Loaded { place, parent, may_change, members, details }: Loaded,
    faults: AllFaults,
) -> HttpResponse {
    let frame = match &place {
        Place::Project(project) => {
            Frame::of_project(visit, viewer, "Members", frame_of(project, "Members"))
        }
        Place::Group(group) => groups::frame_of(visit, viewer, "Members", &group.group),
    };
    let (form, with_owner) = (visit.form(), of == Of::Group);
    let is_new = form.given("user").is_some();
    let stays = |(user, membership): &MemberView| {
        if details.owner == Some(user.id) {
            Some("the owner of the project cannot leave")
        } else if details.has_one_owner && membership.level == AccessLevel::Owner {
            Some("the last owner cannot leave")
        } else {
            None
        }
    };
    let row = |view: &MemberView| {
        let (user, membership) = view;
        let stays = stays(view);
        let is_free = stays.is_none();
        Row {
            id: user.id.0,
            username: user.username.as_str().to_owned(),
            name: user.name.as_str().to_owned(),
            role: membership.level.as_str(),
            roles: role_choices(with_owner, &membership.level.level().to_string()),
            expires: membership.expires_at.map(|day| day.to_string()).unwrap_or_default(),
            may_change,
            may_remove: is_free && (may_change || viewer.actor().user() == Some(user.id)),
            stays,
        }
    };
    let request = |(user, at): &RequestView| RequestRow {
        id: user.id.0,
        username: user.username.as_str().to_owned(),
        name: user.name.as_str().to_owned(),
        at: frame.moment(*at),
        roles: role_choices(with_owner, &AccessLevel::Developer.level().to_string()),
    };
    let page = MembersPage {
        address: of.address(visit),
        faults: faults.new,
        may_change,
        user: form.text("user").to_owned(),
        roles: role_choices(with_owner, form.given("role").filter(|_| is_new).unwrap_or("10")),
        expires_at: if is_new { form.text("expires_at").to_owned() } else { String::new() },
        search: visit.query("search").unwrap_or_default().to_owned(),
        rows: members.items.iter().map(row).collect(),
        row_faults: faults.row,
        total: members.total,
        pager: Pager::new(visit, members.total),
        requests: details.requests.iter().map(request).collect(),
        may_request: details.may_request,
        requested: details.requested.and(viewer.actor().user()),
        group: match &place {
            Place::Group(group) => Some(GroupFrame::new(group, "Members")),
            Place::Project(_) => None,
        },
        parent: parent.map(|GroupPage { group, .. }| Parent {
            members: format!("/groups/{}/group_members", address::path(group.path.as_str())),
            name: group.name,
        }),
        frame,
    };
    render::page_with(status, visit, viewer, &page)
}

/// The role and the expiry date in a form.
fn access_of(form: &Form) -> Result<AccessFields, Error> {
    let level = form.text("role").parse().unwrap_or(0);
    Ok(AccessFields { level, expires_at: parse_date(form.text("expires_at"))? })
}

async fn add_to_group(visit: Visit) -> PageResult<HttpResponse> {
    add(visit, Of::Group).await
}

async fn add_to_project(visit: Visit) -> PageResult<HttpResponse> {
    add(visit, Of::Project).await
}

async fn add(visit: Visit, of: Of) -> PageResult<HttpResponse> {
    let (source, form) = (of.source(&visit), visit.form().clone());
    let (_, added) = visit
        .submit(move |app, signed_in| {
            let actor = signed_in.actor;
            let (_, may_change) = rights(app, actor, &source)?;
            if !may_change {
                return Err(Error::Forbidden(None));
            }
            member::add_by_login(app, actor, &source, form.text("user"), access_of(&form)?)
        })
        .await?;
    match added {
        Ok(_) => Ok(render::see_other_with(&visit, &of.address(&visit), Notice::Created)),
        Err(faults) => {
            let (viewer, loaded) = load(&visit, of).await?;
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            let faults = AllFaults { new: faults, ..AllFaults::default() };
            Ok(page(&visit, &viewer, status, of, loaded, faults))
        }
    }
}

async fn update_in_group(visit: Visit) -> PageResult<HttpResponse> {
    update(visit, Of::Group).await
}

async fn update_in_project(visit: Visit) -> PageResult<HttpResponse> {
    update(visit, Of::Project).await
}

async fn update(visit: Visit, of: Of) -> PageResult<HttpResponse> {
    let (source, form, user) = (of.source(&visit), visit.form().clone(), UserId(visit.id("id")));
    let (_, changed) = visit
        .submit(move |app, signed_in| {
            rights(app, signed_in.actor, &source)?;
            let access = access_of(&form)?;
            member::page::replace(app, signed_in.actor, &source, user, access).map(drop)
        })
        .await?;
    match changed {
        Ok(()) => Ok(render::see_other_with(&visit, &of.address(&visit), Notice::Saved)),
        Err(faults) => {
            let (viewer, loaded) = load(&visit, of).await?;
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            let faults = AllFaults { row: faults, ..AllFaults::default() };
            Ok(page(&visit, &viewer, status, of, loaded, faults))
        }
    }
}

async fn remove_from_group(visit: Visit) -> PageResult<HttpResponse> {
    remove(visit, Of::Group).await
}

async fn remove_from_project(visit: Visit) -> PageResult<HttpResponse> {
    remove(visit, Of::Project).await
}

/// Removes a member. The last owner of a group and the owner of a personal project stay.
async fn remove(visit: Visit, of: Of) -> PageResult<HttpResponse> {
    let (source, user) = (of.source(&visit), UserId(visit.id("id")));
    let (_, (removed, still_visible)) = visit
        .run_signed_in(move |app, signed_in| {
            let actor = signed_in.actor;
            let removed = match member::remove(app, actor, &source, user) {
                Ok(_) => true,
                // Those who may change members are refused only for members who have to stay.
                Err(Error::Forbidden(_)) if rights(app, actor, &source)?.1 => false,
                Err(error) => return Err(error),
            };
            Ok((removed, rights(app, actor, &source).is_ok()))
        })
        .await?;
    let notice = if removed { Notice::Removed } else { Notice::Refused };
    let address = if still_visible { of.address(&visit) } else { "/".to_owned() };
    Ok(render::see_other_with(&visit, &address, notice))
}

async fn ask_group(visit: Visit) -> PageResult<HttpResponse> {
    ask(visit, Of::Group).await
}

async fn ask_project(visit: Visit) -> PageResult<HttpResponse> {
    ask(visit, Of::Project).await
}

/// Requests access for the visitor.
async fn ask(visit: Visit, of: Of) -> PageResult<HttpResponse> {
    let source = of.source(&visit);
    visit
        .run_signed_in(move |app, signed_in| {
            request::create(app, signed_in.actor, &source).map(drop)
        })
        .await?;
    Ok(render::see_other_with(&visit, &of.address(&visit), Notice::Requested))
}

async fn approve_in_group(visit: Visit) -> PageResult<HttpResponse> {
    approve(visit, Of::Group).await
}

async fn approve_in_project(visit: Visit) -> PageResult<HttpResponse> {
    approve(visit, Of::Project).await
}

async fn approve(visit: Visit, of: Of) -> PageResult<HttpResponse> {
    let (source, user) = (of.source(&visit), UserId(visit.id("id")));
    let level = visit.form().text("role").parse().ok();
    let (_, done) = visit
        .submit(move |app, signed_in| {
            request::approve(app, signed_in.actor, &source, user, level).map(drop)
        })
        .await?;
    let notice = if done.is_ok() { Notice::Created } else { Notice::Refused };
    Ok(render::see_other_with(&visit, &of.address(&visit), notice))
}

async fn deny_in_group(visit: Visit) -> PageResult<HttpResponse> {
    deny(visit, Of::Group).await
}

async fn deny_in_project(visit: Visit) -> PageResult<HttpResponse> {
    deny(visit, Of::Project).await
}

/// Removes a request: one of somebody else, or the own one.
async fn deny(visit: Visit, of: Of) -> PageResult<HttpResponse> {
    let (source, user) = (of.source(&visit), UserId(visit.id("id")));
    visit
        .run_signed_in(move |app, signed_in| {
            request::delete(app, signed_in.actor, &source, user).map(drop)
        })
        .await?;
    Ok(render::see_other_with(&visit, &of.address(&visit), Notice::Removed))
}
