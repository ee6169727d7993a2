//! Uploaded files.

use hexforge_domain::project::upload::UploadKey;
use serde::Serialize;
use utoipa::ToSchema;

/// An upload in a response.
#[derive(Serialize, ToSchema)]
pub struct UploadJson {
    alt: String,
    url: String,
    markdown: String,
}

impl From<UploadKey> for UploadJson {
    fn from(place: UploadKey) -> Self {
        let url = place.url();
        Self { alt: place.name.alt().to_owned(), markdown: place.name.markdown(&url), url }
    }
}
