//! Ids in paths.

use std::convert::Infallible;
use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest, web};
use hexforge_application::user::Owner;
use hexforge_domain::group::GroupRef;
use hexforge_domain::id::{
    EmailId, IssueId, KeyId, MergeRequestId, ProjectId, SnippetId, TokenId, UserId,
};
use hexforge_domain::project::ProjectRef;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::error::ApiError;

/// An id in a path. A text that is not a valid id becomes an id that nothing has, so the response is "not found".
#[derive(Clone, Copy)]
pub struct PathId(i64);

const NO_ID: i64 = 0;

impl PathId {
    fn parse(text: &str) -> Self {
        let digits = text.bytes().all(|b| b.is_ascii_digit());
        Self(if digits { text.parse().unwrap_or(NO_ID) } else { NO_ID })
    }
}

impl<'de> Deserialize<'de> for PathId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::parse(&text))
    }
}

macro_rules! from_path {
    ($($id:ident),+) => {$(
        impl From<PathId> for $id {
            fn from(id: PathId) -> Self {
                $id(id.0)
            }
        }
    )+};
}

from_path!(UserId, KeyId, EmailId, ProjectId, IssueId, MergeRequestId, SnippetId, TokenId);

/// The path parameter `id`.
#[derive(Deserialize)]
struct Id<T> {
    id: T,
}

/// Reads the path parameter `id`, and ignores all others.
fn id_in_path<T: DeserializeOwned>(request: &HttpRequest) -> Ready<Result<T, ApiError>> {
    let id = web::Path::<Id<T>>::extract(request).into_inner();
    ready(id.map(|path| path.into_inner().id).map_err(|_| ApiError::no_route()))
}

/// A project in a path: an id, or `namespace%2Fproject`.
#[derive(Clone)]
pub struct ProjectPath(pub ProjectRef);

impl<'de> Deserialize<'de> for ProjectPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(ProjectRef::parse(&text)))
    }
}

impl FromRequest for ProjectPath {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        id_in_path(request)
    }
}

/// A group in a path: its path, or an id.
#[derive(Clone)]
pub struct GroupPath(pub GroupRef);

impl<'de> Deserialize<'de> for GroupPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(GroupRef::new(text)))
    }
}

impl FromRequest for GroupPath {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        id_in_path(request)
    }
}

/// The owner of keys or addresses: the user in the path (`/users/:id/…`), else the caller (`/user/…`).
pub struct OwnerPath(pub Owner);

impl FromRequest for OwnerPath {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let mut values = request.match_info().iter();
        let of_user = |pattern: String| pattern.starts_with("/api/v3/users/");
        let is_of_user = request.match_pattern().is_some_and(of_user);
        let user = values.next().filter(|_| is_of_user);
        ready(Ok(Self(match user {
            Some((_, user)) => Owner::User(PathId::parse(user).into()),
            None => Owner::Actor,
        })))
    }
}
