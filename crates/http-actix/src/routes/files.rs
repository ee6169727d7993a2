//! Single files of repositories. Permission to read or write the code is checked before the parameters.

use std::io::{BufWriter, Write};

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::ContentType;
use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use hexforge_application::commit::AuthorFields;
use hexforge_application::error::{Entity, Error};
use hexforge_application::file::{self, Edit, FileCommit};
use hexforge_application::repository::files::{self, FileView};
use hexforge_application::repository::{self, Content};
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::git::{Blob, GitError, Repository};
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use crate::api::{Api, ApiRequest, ApiWithForm};
use crate::call::{self, Calls};
use crate::entities::file::{ChangedFileJson, FileJson};
use crate::error::{ApiError, ApiResult};
use crate::params::{actions, nested, parameters, picked};
use crate::respond;
use hexforge_http_edge::stream;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Files");
    let files = "/projects/{id}/repository/files";
    calls.add(call::get(files, "Shows a file of a revision", get).ok::<FileJson>());
    let create = call::post(files, "Creates a file with one commit", create);
    calls.add(create.created::<ChangedFileJson>());
    let update = call::put(files, "Changes or creates a file with one commit", update);
    calls.add(update.ok::<ChangedFileJson>());
    let delete = call::delete(files, "Removes a file with one commit", delete);
    calls.add(delete.ok::<ChangedFileJson>());
}

parameters! {
    struct Wanted {
        path: String = picked::needed_content("file_path", limit::LOOKUP),
        revision: String = picked::needed_text("ref", limit::REF_NAME),
    }
}

parameters! {
    struct Place {
        path: String = picked::needed_content("file_path", limit::LOOKUP),
        branch: String = picked::needed_content("branch_name", limit::REF_NAME),
    }
}

parameters! {
    /// The message and the author of the commit.
    struct Texts {
        message: String = picked::needed_text("commit_message", limit::LONG),
        author_email: Option<String> = picked::content("author_email", limit::SHORT),
        author_name: Option<String> = picked::content("author_name", limit::SHORT),
    }
}

parameters! {
    struct NewContent {
        place: Place = nested::<Place>(),
        content: String = picked::needed_content("content", limit::LOG),
        texts: Texts = nested::<Texts>(),
        encoding: Option<String> = picked::text("encoding", limit::SHORT),
    }
}

parameters! {
    struct Removal {
        place: Place = nested::<Place>(),
        texts: Texts = nested::<Texts>(),
    }
}

impl NewContent {
    fn into_commit(self) -> (FileCommit, Vec<u8>) {
        let content = actions::decode(&self.content, self.encoding.as_deref());
        (file_commit(self.place, self.texts), content)
    }
}

fn file_commit(place: Place, texts: Texts) -> FileCommit {
    let Texts { message, author_email, author_name } = texts;
    FileCommit {
        path: place.path.trim_start_matches('/').to_owned(),
        branch: place.branch,
        start_branch: None,
        message,
        author: AuthorFields { email: author_email, name: author_name },
        based_on: None,
    }
}

async fn get(
    ApiWithForm(api): ApiWithForm<Wanted>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let address = api.peer();
    let (actor, at, path) = api
        .run_unread(move |app, actor, unread| {
            let project = repository::readable(app, actor, address, &named)?;
            let Wanted { path, revision } = unread.read()?;
            let at = repository::revision(app, &project, &revision)?;
            Ok((actor, at.ok_or(Error::NotFound(Entity::Commit))?, path))
        })
        .await?;
    let permit = api.permit(|limiter| &limiter.comparisons, actor).await?;
    let found = move || {
        let file = files::get(at, &path)?;
        Ok((respond::to_json(&FileJson::from(&file))?, file))
    };
    let (json, FileView { content, .. }) = api.run_permitted(permit, found).await?;
    match content {
        Some(Content::Large(blob, repository)) => send(&api, actor, json, (blob, repository)).await,
        Some(Content::Small(_)) | None => {
            Ok(HttpResponse::Ok().content_type(ContentType::json()).body(json))
        }
    }
}

/// The member into which the content of a large file is written. Quotes inside of texts are escaped, so it occurs once.
const EMPTY_CONTENT: &[u8] = br#""content":"""#;

/// Streams a large file in base64 into the JSON that has no content yet.
async fn send(
    api: &ApiRequest,
    actor: Actor,
    mut json: Vec<u8>,
    (blob, repository): (Blob, Box<dyn Repository>),
) -> ApiResult<HttpResponse> {
    let found = json.windows(EMPTY_CONTENT.len()).position(|text| text == EMPTY_CONTENT);
    let at = found.ok_or_else(|| ApiError::internal(&"the JSON of a file has no content"))?;
    let end = json.split_off(at + EMPTY_CONTENT.len() - 1);
    let size = (json.len() + end.len()) as u64 + blob.size.div_ceil(3) * 4;
    let permit = api.permit(|limiter| &limiter.blobs, actor).await?;
    let write = move |to: &mut dyn Write| {
        // The encoder needs a writer that takes every piece as a whole.
        let mut to = BufWriter::new(to);
        to.write_all(&json).map_err(GitError::ReaderGone)?;
        let mut encoder = EncoderWriter::new(&mut to, &STANDARD);
        repository.write_blob(blob.id, &mut encoder)?;
        encoder.finish().map_err(GitError::ReaderGone)?;
        drop(encoder);
        to.write_all(&end).and_then(|()| to.flush()).map_err(GitError::ReaderGone)
    };
    let body = stream::start(api.limiter(), permit, write).await?;
    let mut response = HttpResponse::Ok();
    response.content_type(ContentType::json());
    Ok(body.of_size(size, &mut response))
}

async fn create(api: Api<NewContent>, project: ProjectPath) -> ApiResult<HttpResponse> {
    change(api, project, StatusCode::CREATED, |new: NewContent| {
        let (commit, content) = new.into_commit();
        (commit, Edit::Create(content))
    })
    .await
}

async fn update(api: Api<NewContent>, project: ProjectPath) -> ApiResult<HttpResponse> {
    change(api, project, StatusCode::OK, |new: NewContent| {
        let (commit, content) = new.into_commit();
        (commit, Edit::Update(content))
    })
    .await
}

async fn delete(api: Api<Removal>, project: ProjectPath) -> ApiResult<HttpResponse> {
    let removal = |Removal { place, texts }| (file_commit(place, texts), Edit::Delete);
    change(api, project, StatusCode::OK, removal).await
}

/// Changes a file. The response has the status and names the file and the branch.
async fn change<P: crate::params::Parameters + 'static>(
    api: Api<P>,
    ProjectPath(named): ProjectPath,
    status: StatusCode,
    edit_of: fn(P) -> (FileCommit, Edit),
) -> ApiResult<HttpResponse> {
    let changed = api
        .run_unread(move |app, actor, unread| {
            let project = file::authorize(app, actor, &named)?;
            let (commit, edit) = edit_of(unread.read()?);
            file::commit(app, actor, &project, &commit, edit)?;
            Ok(ChangedFileJson { file_path: commit.path, branch_name: commit.branch })
        })
        .await?;
    respond::with(status, changed)
}
