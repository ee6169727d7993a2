//! Files of repositories.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hexforge_application::repository::Content;
use hexforge_application::repository::files::FileView;
use serde::Serialize;
use utoipa::ToSchema;

/// A file of a revision with its content.
#[derive(Serialize, ToSchema)]
pub struct FileJson {
    file_name: String,
    file_path: String,
    /// Null for a submodule.
    size: Option<u64>,
    encoding: &'static str,
    content: String,
    #[serde(rename = "ref")]
    revision: String,
    blob_id: String,
    commit_id: String,
    last_commit_id: Option<String>,
}

impl From<&FileView> for FileJson {
    /// The content of a large file is left empty, because it is streamed.
    fn from(file: &FileView) -> Self {
        let (size, content) = match &file.content {
            None => (None, String::new()),
            Some(Content::Small(bytes)) => (Some(bytes.len() as u64), STANDARD.encode(bytes)),
            Some(Content::Large(blob, _)) => (Some(blob.size), String::new()),
        };
        Self {
            file_name: file.path.rsplit('/').next().unwrap_or_default().to_owned(),
            file_path: file.path.clone(),
            size,
            encoding: "base64",
            content,
            revision: file.revision.clone(),
            blob_id: file.id.to_string(),
            commit_id: file.commit.to_string(),
            last_commit_id: file.last_commit.map(|id| id.to_string()),
        }
    }
}

/// The file that a commit changed.
#[derive(Serialize, ToSchema)]
pub struct ChangedFileJson {
    /// The path of the file.
    pub file_path: String,
    /// The branch of the commit.
    pub branch_name: String,
}
