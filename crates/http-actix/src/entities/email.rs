//! Secondary e-mail addresses.

use hexforge_domain::user::Email;
use serde::Serialize;
use utoipa::ToSchema;

/// An address in a response.
#[derive(Serialize, ToSchema)]
pub struct EmailJson {
    id: i64,
    email: String,
}

impl From<Email> for EmailJson {
    fn from(email: Email) -> Self {
        Self { id: email.id.0, email: email.address.as_str().to_owned() }
    }
}
