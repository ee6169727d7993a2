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
    fn from(key: UploadKey) -> Self {
        let url = key.url();
        Self { alt: key.name.alt().to_owned(), markdown: key.name.markdown(&url), url }
    }
}
