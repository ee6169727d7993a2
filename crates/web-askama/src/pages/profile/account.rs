//! The own profile, the facts of the own account, and preferences of this browser.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::user;
use hexforge_application::user::fields::UserFields;
use hexforge_domain::text::ShortText;
use hexforge_domain::user::User;

use crate::cookies::{Notice, Scheme};
use crate::diff::Layout;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::forms::{Choice, Form};
use crate::frame::Frame;
use crate::moment::Moment;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

const PROFILE: &str = "/profile";
const PREFERENCES: &str = "/profile/preferences";

pub(super) fn declare(pages: &mut Pages) {
    pages.get(PROFILE, edit_profile);
    pages.post(PROFILE, change_profile);
    pages.get("/profile/account", account);
    pages.get(PREFERENCES, preferences);
    pages.post(PREFERENCES, change_preferences);
}

/// The fields of the profile: the name in the form, and the label.
const FIELDS: [(&str, &str); 7] = [
    ("name", "Name"),
    ("location", "Location"),
    ("organization", "Organization"),
    ("website_url", "Website"),
    ("skype", "Skype"),
    ("linkedin", "LinkedIn"),
    ("twitter", "Twitter"),
];

struct Field {
    name: &'static str,
    label: &'static str,
    value: String,
}

#[derive(Template)]
#[template(path = "profile/profile.html")]
struct ProfilePage {
    frame: Frame,
    faults: Faults,
    username: String,
    bio: String,
    fields: Vec<Field>,
}

async fn edit_profile(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, user) = visit.run_signed_in(|_, signed_in| Ok(signed_in.user.clone())).await?;
    let value = |name: &str| stored_value(&user, name);
    Ok(show_profile(&visit, &viewer, StatusCode::OK, Faults::default(), value))
}

/// The stored value of a field.
fn stored_value(user: &User, name: &str) -> String {
    let profile = &user.profile;
    let text = match name {
        "name" => return user.name.as_str().to_owned(),
        "bio" => &profile.bio,
        "location" => &profile.location,
        "organization" => &profile.organization,
        "website_url" => &profile.website_url,
        "skype" => &profile.skype,
        "linkedin" => &profile.linkedin,
        "twitter" => &profile.twitter,
        _ => &None,
    };
    text.as_ref().map_or("", ShortText::as_str).to_owned()
}

fn show_profile(
    visit: &Visit,
    viewer: &Viewer,
    status: StatusCode,
    faults: Faults,
    value: impl Fn(&str) -> String,
) -> HttpResponse {
    let frame = Frame::new(visit, viewer, "Profile");
    let page = ProfilePage {
        username: frame.account.as_ref().map_or_else(String::new, |a| a.username.clone()),
        bio: value("bio"),
        fields: FIELDS.map(|(name, label)| Field { name, label, value: value(name) }).into(),
        frame,
        faults,
    };
    render::page_with(status, visit, viewer, &page)
}

fn profile_fields(form: &Form) -> UserFields {
    let given = |name: &str| form.given(name).map(str::to_owned);
    UserFields {
        name: given("name"),
        bio: given("bio"),
        location: given("location"),
        organization: given("organization"),
        website_url: given("website_url"),
        skype: given("skype"),
        linkedin: given("linkedin"),
        twitter: given("twitter"),
        ..UserFields::default()
    }
}

async fn change_profile(visit: Visit) -> PageResult<HttpResponse> {
    let fields = profile_fields(visit.form());
    let (viewer, changed) = visit
        .submit(move |app, signed_in| user::update_own(app, signed_in.actor, &fields).map(drop))
        .await?;
    match changed {
        Ok(()) => Ok(render::see_other_with(&visit, PROFILE, Notice::Saved)),
        Err(faults) => {
            let typed = |name: &str| visit.form().raw(name).to_owned();
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            Ok(show_profile(&visit, &viewer, status, faults, typed))
        }
    }
}

#[derive(Template)]
#[template(path = "profile/account.html")]
struct AccountPage {
    frame: Frame,
    user: User,
    created: Moment,
    projects: u64,
    limit: String,
    may_create_group: bool,
}

async fn account(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, full) =
        visit.run_signed_in(|app, signed_in| user::current(app, signed_in.actor)).await?;
    let frame = Frame::new(&visit, &viewer, "Account");
    let page = AccountPage {
        created: frame.moment(full.user.created_at),
        projects: full.personal_projects,
        limit: full.user.privileges.projects_limit.0.to_string(),
        may_create_group: full.can_create_group(),
        user: full.user,
        frame,
    };
    render::page(&visit, &viewer, &page)
}

#[derive(Template)]
#[template(path = "profile/preferences.html")]
struct PreferencesPage {
    frame: Frame,
    faults: Faults,
    colors: Vec<Choice>,
    layouts: Vec<Choice>,
    has_shortcuts: bool,
}

async fn preferences(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, ()) = visit.run_signed_in(|_, _| Ok(())).await?;
    let choice =
        |scheme: Scheme| Choice::new(scheme.as_str(), scheme.label(), scheme == visit.scheme());
    let page = PreferencesPage {
        frame: Frame::new(&visit, &viewer, "Preferences"),
        faults: Faults::default(),
        colors: Scheme::ALL.map(choice).into(),
        layouts: Layout::ALL
            .map(|(layout, word, label)| Choice::new(word, label, layout == visit.layout()))
            .into(),
        has_shortcuts: visit.has_shortcuts(),
    };
    render::page(&visit, &viewer, &page)
}

async fn change_preferences(visit: Visit) -> PageResult<HttpResponse> {
    visit.run_signed_in(|_, _| Ok(())).await?;
    let scheme = Scheme::parse(visit.form().text("colors")).unwrap_or_default();
    let mut response = render::see_other_with(&visit, PREFERENCES, Notice::Saved);
    let has_shortcuts = visit.form().given("shortcuts").is_some();
    let layout = Layout::parse(visit.form().text("diff_view")).unwrap_or_default();
    let jar = visit.jar();
    for cookie in [jar.new_scheme(scheme), jar.new_layout(layout), jar.new_shortcuts(has_shortcuts)]
    {
        // A cookie of fixed characters is always a valid header.
        let _ = response.add_cookie(&cookie);
    }
    Ok(response)
}
