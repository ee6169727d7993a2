//! Forms that write files: each change is one commit.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::commit::AuthorFields;
use hexforge_application::error::{Error, FileRefusal, Refusal};
use hexforge_application::file::{self, ChangedFile, Edit, FileCommit};
use hexforge_application::repository::ref_path;
use hexforge_application::repository::{self, Revision};
use hexforge_domain::commit::ObjectId;
use hexforge_domain::policy::merge_request::RequestsAbility;

use super::file::{Address, joined};
use super::project::{frame_of, missing, other_spelling};
use super::pushing::{self, Pushable};
use crate::address;
use crate::cookies::Notice;
use crate::error::{PageError, PageResult};
use crate::faults::Faults;
use crate::frame::Frame;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/new/{rest...}", new);
    pages.post("/{namespace}/{project}/create/{rest...}", create);
    pages.get("/{namespace}/{project}/edit/{rest...}", edit);
    pages.post("/{namespace}/{project}/update/{rest...}", update);
    pages.post("/{namespace}/{project}/blob/{rest...}", delete);
    pages.post("/{namespace}/{project}/create_dir/{rest...}", create_folder);
}

/// The file that keeps an otherwise empty folder, which git cannot store.
const KEEP: &str = ".gitkeep";

/// The place that an address names: a branch, tag or commit, and a path.
struct Place {
    /// The name in the address.
    name: String,
    path: String,
    /// The branch to which changes go, unless another one is entered.
    branch: String,
    file: Option<TextFile>,
}

/// A file that can be edited.
struct TextFile {
    id: ObjectId,
    text: String,
}

/// The fields of a form.
#[derive(Clone, Debug, Default)]
struct Fields {
    file_name: String,
    content: String,
    message: String,
    branch: String,
    based_on: String,
}

impl Fields {
    fn of(visit: &Visit) -> Self {
        let form = visit.form();
        Self {
            file_name: form.text("file_name").to_owned(),
            content: form.raw("content").to_owned(),
            message: form.raw("commit_message").to_owned(),
            branch: form.text("branch").to_owned(),
            based_on: form.text("based_on").to_owned(),
        }
    }

    /// The commit that the form asks for. A branch that does not exist starts from `start`.
    fn commit(&self, path: &str, start: &str, default_message: String) -> FileCommit {
        let message = self.message.trim();
        FileCommit {
            path: path.trim_start_matches('/').to_owned(),
            branch: self.branch.clone(),
            start_branch: (self.branch != start).then(|| start.to_owned()),
            message: if message.is_empty() { default_message } else { message.to_owned() },
            author: AuthorFields::default(),
            based_on: ObjectId::parse(&self.based_on),
        }
    }
}

#[derive(Template)]
#[template(path = "file_form.html")]
struct FileForm {
    frame: Frame,
    heading: &'static str,
    action: String,
    /// The folder of a new file, with a slash at its end.
    folder: String,
    /// The path of a file that is edited.
    path: Option<String>,
    fields: Fields,
    names: Vec<String>,
    faults: Faults,
    /// What somebody else wrote meanwhile.
    theirs: Option<String>,
    back: String,
}

/// Reads what an address names. An empty repository has nothing but the branch that the first commit makes.
async fn find(visit: &Visit) -> PageResult<(Viewer, Pushable, Place)> {
    let (viewer, pushable) = pushing::find(visit).await?;
    let (place, rest) = (Address::of(visit), visit.param("rest"));
    let default = pushable.default_branch();
    let is_empty = pushable.names.is_empty();
    let (_, found) = visit
        .run(move |app, viewer| {
            let readable = repository::readable(app, viewer.actor(), place.client, &place.named)?;
            let Some(located) = ref_path::locate(app, &readable, &rest)? else {
                let branch = rest.clone();
                return Ok(is_empty.then(|| Place {
                    name: branch.clone(),
                    path: String::new(),
                    branch,
                    file: None,
                }));
            };
            let is_branch = repository::has_branch(&located.at, &located.name);
            let branch = if is_branch { located.name.clone() } else { default.clone() };
            let file = read_text(located.at, &located.path)?;
            Ok(Some(Place { name: located.name, path: located.path, branch, file }))
        })
        .await?;
    match found {
        Some(place) => Ok((viewer, pushable, place)),
        None => Err(PageError::not_found(viewer)),
    }
}

/// Reads a file if it is text that a form can show.
fn read_text(at: Revision, path: &str) -> Result<Option<TextFile>, Error> {
    if path.is_empty() {
        return Ok(None);
    }
    let file = match repository::file(at, path) {
        Ok(file) => file,
        Err(Error::NotFound(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let id = file.id();
    if file.size() > super::file::MAX_SHOWN as u64 {
        return Ok(None);
    }
    let bytes = file.head(super::file::MAX_SHOWN)?;
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    Ok(text.map(|text| TextFile { id, text }))
}

async fn new(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, pushable, place) = find(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &pushable.project) {
        return Ok(redirect);
    }
    let given = |name: &str| visit.query(name).unwrap_or_default().to_owned();
    let fields = Fields {
        file_name: given("file_name"),
        content: given("content"),
        branch: place.branch.clone(),
        ..Fields::default()
    };
    let form = Form::New { folder: place.path };
    Ok(show(&visit, &viewer, pushable, &place.name, form, fields, Outcome::default()))
}

async fn edit(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, pushable, place) = find(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &pushable.project) {
        return Ok(redirect);
    }
    let Some(file) = place.file else { return Err(PageError::not_found(viewer)) };
    let fields = Fields {
        content: file.text,
        branch: place.branch.clone(),
        based_on: file.id.to_string(),
        ..Fields::default()
    };
    let form = Form::Edit { path: place.path };
    Ok(show(&visit, &viewer, pushable, &place.name, form, fields, Outcome::default()))
}

/// Which form is shown.
enum Form {
    New { folder: String },
    Edit { path: String },
}

/// What came of a form that was sent.
#[derive(Default)]
struct Outcome {
    faults: Faults,
    theirs: Option<String>,
}

fn show(
    visit: &Visit,
    viewer: &Viewer,
    pushable: Pushable,
    name: &str,
    form: Form,
    fields: Fields,
    Outcome { faults, theirs }: Outcome,
) -> HttpResponse {
    let status = match (faults.is_empty(), &theirs) {
        (_, Some(_)) => StatusCode::CONFLICT,
        (false, None) => StatusCode::UNPROCESSABLE_ENTITY,
        (true, None) => StatusCode::OK,
    };
    let base = pushable.base();
    let (heading, verb, back, folder, path) = match form {
        Form::New { folder } => {
            let shown = if folder.is_empty() { String::new() } else { format!("{folder}/") };
            ("New file", "create", ("tree", folder), shown, None)
        }
        Form::Edit { path } => {
            ("Edit file", "update", ("blob", path.clone()), String::new(), Some(path))
        }
    };
    let place = address::path(joined(name, &back.1));
    let page = FileForm {
        frame: Frame::of_project(visit, viewer, heading, frame_of(&pushable.project, "Files")),
        heading,
        action: format!("{base}/{verb}/{place}"),
        back: if pushable.names.is_empty() {
            base.clone()
        } else {
            format!("{base}/{}/{place}", back.0)
        },
        folder,
        path,
        fields,
        names: pushable.names,
        faults,
        theirs,
    };
    render::page_with(status, visit, viewer, &page)
}

async fn create(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, pushable, place) = find(&visit).await?;
    let fields = Fields::of(&visit);
    let faults = match fields.file_name.trim_matches('/') {
        "" => Err(Faults::of_field("file_name", "can't be blank")),
        name => {
            let path = joined_path(&place.path, name);
            let commit = fields.commit(&path, &place.branch, format!("Add {path}"));
            write(&visit, commit, Edit::Create(fields.content.clone().into_bytes()))
                .await?
                .map(|changed| (path, changed))
        }
    };
    match faults {
        Ok((path, changed)) => {
            let branches = [&*place.branch, &*fields.branch];
            Ok(redirect_after(changed, &visit, &pushable, branches, &path, Notice::Created))
        }
        Err(faults) => {
            let form = Form::New { folder: place.path };
            let outcome = Outcome { faults, theirs: None };
            Ok(show(&visit, &viewer, pushable, &place.name, form, fields, outcome))
        }
    }
}

async fn update(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, pushable, place) = find(&visit).await?;
    let mut fields = Fields::of(&visit);
    let path = place.path.clone();
    let commit = fields.commit(&path, &place.branch, format!("Update {path}"));
    let edit = Edit::Update(fields.content.clone().into_bytes());
    match write(&visit, commit, edit).await? {
        Ok(changed) => {
            let branches = [&*place.branch, &*fields.branch];
            Ok(redirect_after(changed, &visit, &pushable, branches, &path, Notice::Saved))
        }
        Err(faults) => {
            let theirs = match faults.has(CHANGED) {
                true => Some(current(&visit, [&fields.branch, &place.branch], &path).await?),
                false => None,
            };
            // The next attempt is made in the knowledge of what the other person wrote.
            if let Some(file) = &theirs {
                fields.based_on = file.as_ref().map(|file| file.id.to_string()).unwrap_or_default();
            }
            let theirs = theirs.map(|file| file.map(|file| file.text).unwrap_or_default());
            let form = Form::Edit { path };
            let outcome = Outcome { faults, theirs };
            Ok(show(&visit, &viewer, pushable, &place.name, form, fields, outcome))
        }
    }
}

/// What a branch has at a path now. If it does not exist, the branch from which it would start is read.
async fn current(visit: &Visit, branches: [&str; 2], path: &str) -> PageResult<Option<TextFile>> {
    let (named, client) = (visit.project(), visit.address());
    let [rest, otherwise] = branches.map(|branch| joined(branch, path));
    let (_, file) = visit
        .run(move |app, viewer| {
            let readable = repository::readable(app, viewer.actor(), client, &named)?;
            let located = match ref_path::locate(app, &readable, &rest)? {
                Some(located) => located,
                None => ref_path::locate(app, &readable, &otherwise)?.ok_or_else(missing)?,
            };
            read_text(located.at, &located.path)
        })
        .await?;
    Ok(file)
}

async fn delete(visit: Visit) -> PageResult<HttpResponse> {
    let (_, pushable, place) = find(&visit).await?;
    let mut fields = Fields::of(&visit);
    if fields.branch.is_empty() {
        fields.branch = place.branch.clone();
    }
    let path = place.path;
    let commit = fields.commit(&path, &place.branch, format!("Delete {path}"));
    match write(&visit, commit, Edit::Delete).await? {
        Ok(_) => {
            // The folder of the file is gone with its last file.
            Ok(written(&visit, &pushable, "tree", &fields.branch, "", Notice::Removed))
        }
        Err(_) => Ok(written(&visit, &pushable, "blob", &fields.branch, &path, Notice::Refused)),
    }
}

/// Makes a folder, by a file that keeps it.
async fn create_folder(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, pushable, place) = find(&visit).await?;
    let mut fields = Fields::of(&visit);
    let name = visit.form().text("dir_name").trim_matches('/').to_owned();
    if fields.branch.is_empty() {
        fields.branch = place.branch.clone();
    }
    let folder = joined_path(&place.path, &name);
    let path = joined_path(&folder, KEEP);
    let commit = fields.commit(&path, &place.branch, format!("Add folder {folder}"));
    let outcome = match name.is_empty() {
        true => Err(Faults::of_field("file_name", "can't be blank")),
        false => write(&visit, commit, Edit::Create(Vec::new())).await?,
    };
    match outcome {
        Ok(_) => Ok(written(&visit, &pushable, "tree", &fields.branch, &folder, Notice::Created)),
        Err(faults) => {
            fields.file_name = joined_path(&name, KEEP);
            let form = Form::New { folder: place.path };
            let outcome = Outcome { faults, theirs: None };
            Ok(show(&visit, &viewer, pushable, &place.name, form, fields, outcome))
        }
    }
}

/// Makes the commit. What is wrong with the fields comes back.
async fn write(
    visit: &Visit,
    commit: FileCommit,
    edit: Edit,
) -> PageResult<Result<ChangedFile, Faults>> {
    let named = visit.project();
    let (_, outcome) = visit
        .run_signed_in(move |app, signed_in| {
            let project = file::authorize(app, signed_in.actor, &named)?;
            match file::commit(app, signed_in.actor, &project, &commit, edit.clone()) {
                Ok(changed) => Ok(Ok(changed)),
                Err(error) => faults(error).map(Err),
            }
        })
        .await?;
    Ok(outcome)
}

/// The name under which the fault of a concurrent change is kept.
const CHANGED: &str = "base";

fn faults(error: Error) -> Result<Faults, Error> {
    let Error::Refused(refusal) = error else { return Faults::of(error) };
    Ok(match refusal {
        Refusal::File(
            FileRefusal::Traversal | FileRefusal::PathCharacters | FileRefusal::InvalidPath,
        ) => Faults::of_field("file_name", "has characters or parts that are not allowed"),
        Refusal::File(FileRefusal::Exists) => Faults::of_field("file_name", "exists already"),
        Refusal::File(FileRefusal::NotFound) => Faults::of_form("the file does not exist any more"),
        Refusal::File(FileRefusal::Changed) => {
            Faults::of_field(CHANGED, "somebody else changed the file while you edited it")
        }
        Refusal::BranchName => Faults::of_field("branch", "is not a valid name of a branch"),
        Refusal::FileContent(_) => Faults::of_field("content", "is not accepted by git"),
        Refusal::BranchProtected => Faults::of_field(
            "branch",
            "is protected. Enter the name of a new branch, then create a merge request",
        ),
        Refusal::NotOnBranch => Faults::of_field("branch", "does not exist"),
        Refusal::BranchMoved(_) => Faults::of_field(
            "branch",
            "was changed meanwhile, or cannot be created beside a branch whose name is its folder",
        ),
        refusal => return Faults::of(Error::Refused(refusal)),
    })
}

fn joined_path(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Redirects to the written file, or to the form for a merge request if the commit created its branch.
fn redirect_after(
    changed: ChangedFile,
    visit: &Visit,
    pushable: &Pushable,
    [start, branch]: [&str; 2],
    path: &str,
    notice: Notice,
) -> HttpResponse {
    if !changed.created_branch || !pushable.project.may_request(RequestsAbility::CreateFrom) {
        return written(visit, pushable, "blob", branch, path, notice);
    }
    let query = address::query([
        ("merge_request[source_branch]", branch),
        ("merge_request[target_branch]", start),
    ]);
    let form = format!("{}/merge_requests/new?{query}", pushable.base());
    render::see_other_with(visit, &form, notice)
}

fn written(
    visit: &Visit,
    pushable: &Pushable,
    page: &str,
    branch: &str,
    path: &str,
    notice: Notice,
) -> HttpResponse {
    let place = address::path(joined(branch, path));
    render::see_other_with(visit, &format!("{}/{page}/{place}", pushable.base()), notice)
}
