//! The name, description, visibility and features of a project; archive, transfer and removal.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::error::Error;
use hexforge_application::group::transfer;
use hexforge_application::project::edit::{self, NameRule};
use hexforge_application::project::fields::{FeatureFields, ProjectFields};
use hexforge_application::project::page::ProjectPage;
use hexforge_application::project::{self, archive, fork_link};
use hexforge_application::repository;
use hexforge_domain::group::GroupRef;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::project::{ArchiveCommand, Archived, Features, ProjectRef};

use super::super::new_project::{filled, visibility_choices};
use super::super::project::other_spelling;
use super::{administered, after_button, base_of, frame, to_page};
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::forms::{Choice, Form};
use crate::frame::Frame;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/edit", show);
    pages.post("/{namespace}/{project}/edit", save);
    pages.post("/{namespace}/{project}/settings/features", save_features);
    pages.post("/{namespace}/{project}/archive", archive_project);
    pages.post("/{namespace}/{project}/unarchive", unarchive_project);
    pages.post("/{namespace}/{project}/transfer", transfer_project);
    pages.post("/{namespace}/{project}/add_fork", add_fork);
    pages.post("/{namespace}/{project}/remove_fork", remove_fork);
    pages.post("/{namespace}/{project}/remove", remove);
}

/// A switch of a feature: the name of its field, its label, and its value.
struct Switch {
    name: &'static str,
    label: &'static str,
    is_set: bool,
}

#[derive(Template)]
#[template(path = "settings.html")]
struct SettingsPage {
    frame: Frame,
    base: String,
    project: String,
    project_name: String,
    path: String,
    description: String,
    visibility: Vec<Choice>,
    branches: Vec<Choice>,
    features: Vec<Switch>,
    /// Whether the project itself says whether it has LFS.
    says_lfs: bool,
    is_owner: bool,
    is_fork: bool,
    /// Whether the visitor may make the project a fork of another one.
    may_link: bool,
    source: String,
    is_archived: bool,
    may_transfer: bool,
    avatar: Option<String>,
    group: String,
    /// The faults of the form that was sent; those of the others are empty.
    general: Faults,
    moved: Faults,
    linked: Faults,
    removal: Faults,
}

/// What the page shows: the project, and the names of its branches.
type Loaded = (ProjectPage, Vec<String>);

async fn load(visit: &Visit) -> PageResult<(Viewer, Loaded)> {
    let (named, client) = (visit.project(), visit.address());
    visit
        .run(move |app, viewer| {
            let project = administered(app, viewer.actor(), &named)?;
            let readable = repository::readable(app, viewer.actor(), client, &named)?;
            let at = repository::revision_or_default(app, &readable, None)?;
            Ok((project, at.map(|at| repository::branch_names(&at)).unwrap_or_default()))
        })
        .await
}

/// The form whose faults are shown.
enum Faulty {
    None,
    General(Faults),
    Transfer(Faults),
    Fork(Faults),
    Removal(Faults),
}

async fn show(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, loaded) = load(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &loaded.0) {
        return Ok(redirect);
    }
    Ok(page(&visit, &viewer, loaded, Faulty::None))
}

async fn show_again(visit: &Visit, faulty: Faulty) -> PageResult<HttpResponse> {
    let (viewer, loaded) = load(visit).await?;
    Ok(page(visit, &viewer, loaded, faulty))
}

fn page(visit: &Visit, viewer: &Viewer, (project, names): Loaded, faulty: Faulty) -> HttpResponse {
    let form = visit.form();
    let (mut general, mut moved, mut linked, mut removal) = Default::default();
    let status = match &faulty {
        Faulty::None => StatusCode::OK,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    match faulty {
        Faulty::None => (),
        Faulty::General(faults) => general = faults,
        Faulty::Transfer(faults) => moved = faults,
        Faulty::Fork(faults) => linked = faults,
        Faulty::Removal(faults) => removal = faults,
    }
    let row = &project.placed.project;
    let was_sent = form.given("name").is_some() || form.given("description").is_some();
    let typed = |name: &str, stored: &str| match form.given(name).filter(|_| was_sent) {
        Some(text) => text.to_owned(),
        None => stored.to_owned(),
    };
    let level = form.given("visibility_level").and_then(|level| level.parse().ok());
    let default = row.default_branch.as_ref().map_or("", |name| name.as_str());
    let default = typed("default_branch", default);
    let stored_description = row.description.as_ref().map_or("", |text| text.as_str());
    let path = project.path();
    let page = SettingsPage {
        frame: frame(visit, viewer, &project, "Project settings"),
        base: format!("/{path}"),
        project_name: typed("name", row.name.as_str()),
        path: typed("path", row.path.as_str()),
        description: typed("description", stored_description),
        visibility: visibility_choices(level.or(Some(row.visibility.level().into()))),
        // An empty repository has no branch to choose.
        branches: if names.is_empty() { vec![] } else { Choice::branches(&names, &default) },
        features: switches(&row.features),
        says_lfs: row.features.lfs.is_some(),
        is_owner: project.may(ProjectAbility::Own),
        is_fork: row.forked_from.is_some(),
        may_link: row.forked_from.is_none() && project.may_link_forks(),
        source: form.text("source").to_owned(),
        is_archived: row.archived == Archived::Yes,
        may_transfer: project.may_transfer(),
        avatar: row.avatar.as_ref().map(|_| format!("/{path}/avatar")),
        group: form.text("group").to_owned(),
        project: path,
        general,
        moved,
        linked,
        removal,
    };
    render::page_with(status, visit, viewer, &page)
}

fn switches(features: &Features) -> Vec<Switch> {
    let switch = |name, label, is_set| Switch { name, label, is_set };
    vec![
        switch("issues", "Issues", features.issues),
        switch("merge_requests", "Merge requests", features.merge_requests),
        switch("builds", "Builds", features.builds),
        switch("snippets", "Snippets", features.snippets),
        switch("wiki", "Wiki", features.wiki),
        switch("shared_runners", "Shared runners", features.shared_runners),
        switch("public_builds", "Public builds", features.public_builds),
        switch(
            "only_if_build_succeeds",
            "Only allow merge requests to be merged if the build succeeds",
            features.merge_only_if_build_succeeds,
        ),
        switch(
            "only_if_resolved",
            "Only allow merge requests to be merged if all discussions are resolved",
            features.merge_only_if_discussions_resolved,
        ),
        switch("request_access", "Allow users to request access", features.request_access),
        switch("container_registry", "Container registry", features.container_registry),
        switch("lfs", "Git LFS", features.lfs.unwrap_or(true)),
    ]
}

fn switched(form: &Form) -> FeatureFields {
    let is_set = |name: &str| Some(form.is_set(name));
    FeatureFields {
        issues: is_set("issues"),
        merge_requests: is_set("merge_requests"),
        wiki: is_set("wiki"),
        builds: is_set("builds"),
        snippets: is_set("snippets"),
        container_registry: is_set("container_registry"),
        shared_runners: is_set("shared_runners"),
        public_builds: is_set("public_builds"),
        // Projects that say nothing about LFS keep that, unless the checkbox is not set.
        lfs: (!form.is_set("lfs") || form.is_set("lfs_said")).then(|| form.is_set("lfs")),
        merge_only_if_build_succeeds: is_set("only_if_build_succeeds"),
        merge_only_if_discussions_resolved: is_set("only_if_resolved"),
        request_access: is_set("request_access"),
    }
}

/// Saves the form "General". A new path moves the address of the project.
async fn save(visit: Visit) -> PageResult<HttpResponse> {
    let (named, form) = (visit.project(), visit.form().clone());
    let (_, saved) = visit
        .submit(move |app, signed_in| {
            let before = administered(app, signed_in.actor, &named)?.placed.project;
            let level = filled(&form, "visibility_level");
            let stored_level = before.visibility.level().to_string();
            let fields = ProjectFields {
                name: form.given("name").map(str::to_owned),
                path: filled(&form, "path").filter(|path| path != before.path.as_str()),
                description: form.given("description").map(str::to_owned),
                // Only owners may set it, even to the value that it has.
                visibility_level: level.filter(|level| *level != stored_level),
                default_branch: filled(&form, "default_branch").filter(|name| {
                    before.default_branch.as_ref().is_none_or(|known| known.as_str() != name)
                }),
                ..ProjectFields::default()
            };
            let after = edit::edit(app, signed_in.actor, &named, NameRule::Optional, &fields)?;
            Ok(after.place.path_of(&after.project))
        })
        .await?;
    match saved {
        Ok(path) => Ok(render::see_other_with(&visit, &format!("/{path}/edit"), Notice::Saved)),
        Err(faults) => show_again(&visit, Faulty::General(faults)).await,
    }
}

async fn save_features(visit: Visit) -> PageResult<HttpResponse> {
    let (named, features) = (visit.project(), switched(visit.form()));
    let fields = ProjectFields { features, ..ProjectFields::default() };
    let (_, saved) = visit
        .submit(move |app, signed_in| {
            edit::edit(app, signed_in.actor, &named, NameRule::Optional, &fields)
        })
        .await?;
    after_button(&visit, "edit", saved, Notice::Saved)
}

async fn archive_project(visit: Visit) -> PageResult<HttpResponse> {
    change_archive(visit, ArchiveCommand::Archive).await
}

async fn unarchive_project(visit: Visit) -> PageResult<HttpResponse> {
    change_archive(visit, ArchiveCommand::Unarchive).await
}

async fn change_archive(visit: Visit, command: ArchiveCommand) -> PageResult<HttpResponse> {
    let named = visit.project();
    let (_, saved) = visit
        .submit(move |app, signed_in| archive::apply(app, signed_in.actor, &named, command))
        .await?;
    after_button(&visit, "edit", saved, Notice::Saved)
}

/// Moves the project into a group. Only administrators of the service may do this.
async fn transfer_project(visit: Visit) -> PageResult<HttpResponse> {
    let (named, group) = (visit.project(), GroupRef::new(visit.form().text("group")));
    let (_, moved) = visit
        .submit(move |app, signed_in| {
            let project = administered(app, signed_in.actor, &named)?.placed.project;
            let missing = || Faults::of_field("group", "doesn't exist");
            match transfer::into_group(app, signed_in.actor, &group, project.id) {
                Ok(detail) => {
                    let path = (detail.group.path.as_str(), project.path.as_str());
                    Ok(Ok(format!("/{}/{}", path.0, path.1)))
                }
                Err(Error::NotFound(_)) => Ok(Err(missing())),
                Err(error) => Err(error),
            }
        })
        .await?;
    match moved.and_then(|moved| moved) {
        Ok(path) => Ok(render::see_other_with(&visit, &format!("{path}/edit"), Notice::Saved)),
        Err(faults) => show_again(&visit, Faulty::Transfer(faults)).await,
    }
}

/// Makes the project a fork of another one. Only administrators of the service may do this.
async fn add_fork(visit: Visit) -> PageResult<HttpResponse> {
    let (named, source) = (visit.project(), visit.form().text("source").trim().to_owned());
    let (_, linked) = visit
        .submit(move |app, signed_in| {
            let project = administered(app, signed_in.actor, &named)?;
            let fork = ProjectRef::Id(project.placed.project.id);
            let source = ProjectRef::parse(source.trim_matches('/'));
            let of_source = |text: &str| Ok(Err(Faults::of_field("source", text)));
            match fork_link::create(app, signed_in.actor, &fork, &source) {
                Ok(_) => Ok(Ok(())),
                Err(Error::NotFound(_)) => of_source("doesn't exist"),
                Err(Error::Invalid(fields))
                    if fields.messages("forked_from_project_id").is_empty() =>
                {
                    Err(Error::Invalid(fields))
                }
                Err(Error::Invalid(_)) => of_source("is the project itself or one of its forks"),
                Err(error) => Err(error),
            }
        })
        .await?;
    match linked.and_then(|linked| linked) {
        Ok(()) => to_page(&visit, "edit", Notice::Saved),
        Err(faults) => show_again(&visit, Faulty::Fork(faults)).await,
    }
}

/// Removes the relation of a fork to its source.
async fn remove_fork(visit: Visit) -> PageResult<HttpResponse> {
    let named = visit.project();
    let (_, removed) = visit
        .submit(move |app, signed_in| fork_link::delete(app, signed_in.actor, &named).map(drop))
        .await?;
    after_button(&visit, "edit", removed, Notice::Saved)
}

/// Removes the project, if its path was typed.
async fn remove(visit: Visit) -> PageResult<HttpResponse> {
    let (named, typed) = (visit.project(), visit.form().text("confirmation").to_owned());
    let (_, removed) = visit
        .submit(move |app, signed_in| {
            let page = administered(app, signed_in.actor, &named)?;
            if !page.may(ProjectAbility::Own) {
                return Err(Error::Forbidden(None));
            }
            if typed != page.path() {
                return Ok(false);
            }
            project::delete(app, signed_in.actor, &named)?;
            Ok(true)
        })
        .await?;
    match removed {
        Ok(true) => Ok(render::see_other_with(&visit, "/", Notice::Removed)),
        Ok(false) => {
            let text = format!("must be {}", base_of(&visit).trim_start_matches('/'));
            let faults = Faults::of_field("confirmation", &text);
            show_again(&visit, Faulty::Removal(faults)).await
        }
        Err(faults) => show_again(&visit, Faulty::Removal(faults)).await,
    }
}
