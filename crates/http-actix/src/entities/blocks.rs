//! Parts that several payloads of hooks have in common.

use hexforge_domain::outbox::project::{Person, ProjectCard};
use hexforge_domain::push::PushedProject;
use hexforge_domain::visibility::Visibility;
use serde::Serialize;
use utoipa::ToSchema;

use hexforge_http_edge::links::Links;

/// The project of a payload, as it was at the time of the event.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    name: &'a str,
    description: Option<&'a str>,
    avatar: Option<&'a str>,
    namespace: &'a str,
    visibility: Visibility,
    path: &'a str,
    default_branch: Option<&'a str>,
}

impl<'a> From<&'a PushedProject> for Place<'a> {
    fn from(project: &'a PushedProject) -> Self {
        Self {
            name: &project.name,
            description: project.description.as_deref(),
            avatar: project.avatar.as_deref(),
            namespace: &project.namespace,
            visibility: project.visibility,
            path: &project.path_with_namespace,
            default_branch: project.default_branch.as_deref(),
        }
    }
}

impl<'a> From<&'a ProjectCard> for Place<'a> {
    fn from(card: &'a ProjectCard) -> Self {
        Self {
            name: &card.name,
            description: card.description.as_deref(),
            avatar: card.avatar.as_deref(),
            namespace: &card.namespace,
            visibility: card.visibility,
            path: &card.path_with_namespace,
            default_branch: card.default_branch.as_deref(),
        }
    }
}

/// A project in its short form.
#[derive(Serialize, ToSchema)]
pub struct ShortProjectBlock<'a> {
    name: &'a str,
    description: Option<&'a str>,
    web_url: String,
    avatar_url: Option<String>,
    git_ssh_url: String,
    git_http_url: String,
    namespace: &'a str,
    visibility_level: i32,
    path_with_namespace: &'a str,
    default_branch: Option<&'a str>,
}

/// A project in its full form, which repeats the URLs under their old names.
#[derive(Serialize, ToSchema)]
pub struct ProjectBlock<'a> {
    #[serde(flatten)]
    short: ShortProjectBlock<'a>,
    homepage: String,
    url: String,
    ssh_url: String,
    http_url: String,
}

/// A repository in its short form.
#[derive(Serialize, ToSchema)]
pub struct ShortRepositoryBlock<'a> {
    name: &'a str,
    url: String,
    description: Option<&'a str>,
    homepage: String,
}

/// A repository in the payloads of pushes and builds.
#[derive(Serialize, ToSchema)]
pub struct RepositoryBlock<'a> {
    #[serde(flatten)]
    short: ShortRepositoryBlock<'a>,
    git_http_url: String,
    git_ssh_url: String,
    visibility_level: i32,
}

/// A user in a payload.
#[derive(Serialize, ToSchema)]
pub struct PersonBlock<'a> {
    name: &'a str,
    username: &'a str,
    avatar_url: Option<String>,
}

impl<'a> ShortProjectBlock<'a> {
    pub fn new(place: Place<'a>, links: &Links) -> Self {
        Self {
            name: place.name,
            description: place.description,
            web_url: links.project(place.path),
            avatar_url: links.project_avatar(place.path, place.avatar),
            git_ssh_url: links.ssh_to_repo(place.path),
            git_http_url: links.http_to_repo(place.path),
            namespace: place.namespace,
            visibility_level: place.visibility.level(),
            path_with_namespace: place.path,
            default_branch: place.default_branch,
        }
    }
}

impl<'a> ProjectBlock<'a> {
    pub fn new(place: Place<'a>, links: &Links) -> Self {
        Self {
            short: ShortProjectBlock::new(place, links),
            homepage: links.project(place.path),
            url: links.ssh_to_repo(place.path),
            ssh_url: links.ssh_to_repo(place.path),
            http_url: links.http_to_repo(place.path),
        }
    }
}

impl<'a> ShortRepositoryBlock<'a> {
    pub fn new(place: Place<'a>, links: &Links) -> Self {
        Self {
            name: place.name,
            url: links.ssh_to_repo(place.path),
            description: place.description,
            homepage: links.project(place.path),
        }
    }
}

impl<'a> RepositoryBlock<'a> {
    pub fn new(place: Place<'a>, links: &Links) -> Self {
        Self {
            short: ShortRepositoryBlock::new(place, links),
            git_http_url: links.http_to_repo(place.path),
            git_ssh_url: links.ssh_to_repo(place.path),
            visibility_level: place.visibility.level(),
        }
    }
}

impl<'a> PersonBlock<'a> {
    pub fn new(person: &'a Person, links: &Links) -> Self {
        Self {
            name: &person.name,
            username: &person.username,
            avatar_url: links.avatar_of(person.id, person.avatar.as_deref(), &person.email),
        }
    }
}
