//! The two dialects: every row of docs/dialects.md is a function here, and nothing else in the
//! program knows that there are two.

use std::str::FromStr;

use actix_web::http::StatusCode;
use hexforge_application::error::{Error, Thing};
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::paging::Page;

use crate::error::{ApiError, ApiResult};

/// Which of two answers the server gives where there are two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// As the specification says.
    #[default]
    Specification,
    /// As the service did for which today's clients were written.
    Original,
}

/// No dialect of that name.
#[derive(Debug, PartialEq, Eq)]
pub struct UnknownDialect;

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<Self, UnknownDialect> {
        match name {
            "specification" => Ok(Self::Specification),
            "original" => Ok(Self::Original),
            _ => Err(UnknownDialect),
        }
    }
}

impl Dialect {
    /// The name by which it is chosen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Specification => "specification",
            Self::Original => "original",
        }
    }

    /// Row 9: what a list that hangs on one entity shows when no page is asked for.
    pub fn unasked_page(self, first: Page) -> Page {
        match self {
            Self::Specification => first,
            Self::Original => Page::Whole,
        }
    }

    /// Row 13: changing a user to a name or address that another one has.
    pub fn taken_on_update(self, error: Error) -> ApiError {
        match (self, &error) {
            (Self::Specification, Error::Conflict(_)) => {
                ApiError::from(error).with_status(StatusCode::NOT_FOUND)
            }
            (Self::Specification | Self::Original, _) => error.into(),
        }
    }

    /// Row 14: deleting a user who is not there.
    pub fn deleted_user<T>(self, deleted: Option<T>) -> ApiResult<Option<T>> {
        match (self, deleted) {
            (Self::Original, None) => Err(Error::NotFound(Thing::User).into()),
            (Self::Specification | Self::Original, deleted) => Ok(deleted),
        }
    }

    /// Row 15: registering a key that somebody has registered. The specification names the key
    /// beside its fingerprint.
    pub fn used_key(self, error: Error) -> ApiError {
        let taken = "has already been taken";
        match (self, error) {
            (Self::Specification, Error::Invalid(fields))
                if fields.of("fingerprint") == [taken] =>
            {
                let mut fields: FieldErrors = fields;
                fields.add("key", taken);
                Error::Invalid(fields).into()
            }
            (Self::Specification | Self::Original, error) => error.into(),
        }
    }
}
