//! Merge requests.

use actix_web::http::StatusCode;
use actix_web::http::header::ContentType;
use actix_web::{HttpResponse, web};
use hexforge_application::merge_request::create::NewRequestFields;
use hexforge_application::merge_request::fields::MergeRequestFields;
use hexforge_application::merge_request::merge::{self, MergeWishes};
use hexforge_application::merge_request::version::{self, OpenVersion};
use hexforge_application::merge_request::{
    self, MergeRequestListing, automatic, closing, comments, create, subscription, update,
};
use hexforge_application::note::{NoteFields, NoteOutcome};
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::id::{MergeRequestId, MergeRequestVersionId};
use hexforge_domain::issue::label_list;
use hexforge_domain::merge_request::query::{MergeRequestOrder, StateFilter};
use hexforge_domain::merge_request::{MergeRequestCommand, RequestBranch, Title};
use hexforge_domain::subscription::SubscriptionCommand;
use hexforge_domain::text::{LongText, limit};
use serde_json::json;

use super::ids::{PathId, ProjectPath};
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::commit::CommitJson;
use crate::entities::issue::IssueJson;
use crate::entities::merge_request::{
    MergeRequestChangesJson, MergeRequestCommentJson, MergeRequestJson, VersionDetailJson,
    VersionJson,
};
use crate::error::{ApiError, ApiResult};
use crate::params::{declared, parameters};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Merge requests");
    let all = "/projects/{id}/merge_requests";
    let list = call::get(all, "Lists the merge requests of a project", list);
    calls.add(list.list::<MergeRequestJson<'_>>());
    let add = call::post(all, "Creates a merge request", add);
    calls.add(add.created::<MergeRequestJson<'_>>());
    declare_one(calls);
    let one = "/projects/{id}/merge_requests/{merge_request_id}";
    let delete = call::delete(one, "Removes a merge request", delete);
    calls.add(delete.ok::<MergeRequestJson<'_>>());
    let versions = format!("{one}/versions");
    let list = call::get(versions.clone(), "Lists the versions of a merge request", list_versions);
    calls.add(list.whole_list::<VersionJson>());
    let about = "Shows a version with its commits and changes";
    let version = call::get(format!("{versions}/{{version_id}}"), about, get_version);
    calls.add(version.ok::<VersionDetailJson<'_>>());
}

/// The path of a call on one merge request, and the same path with the singular, which old clients use.
macro_rules! paths {
    ($rest:literal) => {
        (
            concat!("/projects/{id}/merge_requests/{merge_request_id}", $rest),
            concat!("/projects/{id}/merge_request/{merge_request_id}", $rest),
        )
    };
}

/// Declares the calls that have both the plural and the singular path.
fn declare_one(calls: &mut Calls) {
    let (path, old) = paths!("");
    let get = call::get(path, "Shows a merge request", get).also_at(old);
    calls.add(get.ok::<MergeRequestJson<'_>>());
    let change = call::put(path, "Updates a merge request", change).also_at(old);
    calls.add(change.ok::<MergeRequestJson<'_>>());
    let (path, old) = paths!("/commits");
    let commits = call::get(path, "Lists the commits of a merge request", list_commits);
    calls.add(commits.also_at(old).whole_list::<CommitJson>());
    let (path, old) = paths!("/changes");
    let changes = call::get(path, "Shows a merge request with its changes", get_changes);
    calls.add(changes.also_at(old).ok::<MergeRequestChangesJson<'_>>());
    let (path, old) = paths!("/closes_issues");
    let issues = call::get(path, "Lists the issues that merging closes", list_closed);
    calls.add(issues.also_at(old).list::<IssueJson<'_>>());
    let (path, old) = paths!("/comments");
    let comments = call::get(path, "Lists the comments on a merge request", list_comments);
    calls.add(comments.also_at(old).list::<MergeRequestCommentJson<'_>>());
    let comment = call::post(path, "Comments on a merge request", add_comment);
    calls.add(comment.also_at(old).created::<MergeRequestCommentJson<'_>>());
    let (path, old) = paths!("/merge");
    let merge = call::put(path, "Merges a merge request", merge_request_in_path);
    calls.add(merge.also_at(old).ok::<MergeRequestJson<'_>>());
    let (path, old) = paths!("/cancel_merge_when_build_succeeds");
    let about = "Cancels the automatic merge of a merge request";
    let cancel = call::post(path, about, cancel_by_post).also_at(old);
    calls.add(cancel.created::<MergeRequestJson<'_>>());
    let cancel = call::put(path, about, cancel_by_put).also_at(old);
    calls.add(cancel.ok::<MergeRequestJson<'_>>());
    let (path, old) = paths!("/subscription");
    let subscribe = call::post(path, "Subscribes the caller to a merge request", subscribe);
    calls.add(subscribe.also_at(old).created::<MergeRequestJson<'_>>().unchanged());
    let about = "Unsubscribes the caller from a merge request";
    let unsubscribe = call::delete(path, about, unsubscribe).also_at(old);
    calls.add(unsubscribe.ok::<MergeRequestJson<'_>>().unchanged());
}

parameters! {
    struct Listing {
        states: StateFilter =
            declared::one_of_unless_blank("state", &["opened", "closed", "merged", "all"])
                .map(state_filter),
        order: MergeRequestOrder =
            declared::one_of("order_by", &["created_at", "updated_at"]).map(order),
        ascending: bool =
            declared::one_of("sort", &["asc", "desc"]).map(|word| word == Some("asc")),
        iids: Option<Vec<i64>> = declared::one_or_more_integers("iid"),
    }
}

fn state_filter(word: Option<&'static str>) -> StateFilter {
    match word {
        Some("opened") => StateFilter::Open,
        Some("closed") => StateFilter::Closed,
        Some("merged") => StateFilter::Merged,
        _ => StateFilter::All,
    }
}

fn order(word: Option<&'static str>) -> MergeRequestOrder {
    match word {
        Some("updated_at") => MergeRequestOrder::UpdatedAt,
        _ => MergeRequestOrder::CreatedAt,
    }
}

parameters! {
    struct InPath {
        id: MergeRequestId = declared::in_path("merge_request_id").map(MergeRequestId),
    }
}

parameters! {
    struct VersionInPath {
        version: MergeRequestVersionId =
            declared::in_path("version_id").map(MergeRequestVersionId),
    }
}

parameters! {
    struct NewRequest {
        title: String = declared::text("title", limit::SHORT).needed(),
        source_branch: String = declared::text("source_branch", limit::REF_NAME).needed(),
        target_branch: String = declared::text("target_branch", limit::REF_NAME).needed(),
        target_project: Option<i64> = declared::integer("target_project_id"),
        description: Option<String> = declared::text("description", limit::LONG),
        assignee: Option<i64> = declared::integer("assignee_id"),
        milestone: Option<i64> = declared::integer("milestone_id"),
        labels: Option<String> = declared::text("labels", limit::LABEL_LIST),
    }
}

impl NewRequest {
    fn into_fields(self) -> NewRequestFields {
        NewRequestFields {
            source_branch: self.source_branch,
            target_branch: self.target_branch,
            target_project: self.target_project,
            fields: MergeRequestFields {
                title: Some(Title::parse(&self.title)),
                description: self.description.map(|text| LongText::parse(&text)),
                target_branch: None,
                assignee: self.assignee,
                milestone: self.milestone,
                labels: self.labels.map(|list| label_list::parse(&list)),
                command: None,
            },
        }
    }
}

parameters! {
    struct Changes {
        title: Option<String> = declared::text("title", limit::SHORT),
        target_branch: Option<String> = declared::text("target_branch", limit::REF_NAME),
        description: Option<String> = declared::text("description", limit::LONG),
        assignee: Option<Option<i64>> = declared::integer("assignee_id").or_cleared(),
        milestone: Option<Option<i64>> = declared::integer("milestone_id").or_cleared(),
        labels: Option<String> = declared::text("labels", limit::LABEL_LIST),
        command: Option<Option<MergeRequestCommand>> =
            declared::one_of("state_event", &["close", "reopen", "merge"]).map_given(command),
    },
    |from| from.at_least_one(&[
        "title",
        "target_branch",
        "description",
        "assignee_id",
        "milestone_id",
        "labels",
        "state_event",
    ])
}

/// The command for a state event. `merge` is accepted and does nothing.
fn command(word: &'static str) -> Option<MergeRequestCommand> {
    match word {
        "close" => Some(MergeRequestCommand::Close),
        "reopen" => Some(MergeRequestCommand::Reopen),
        _ => None,
    }
}

impl Changes {
    fn into_fields(self) -> MergeRequestFields {
        let branch = |name: String| RequestBranch::parse("target_branch", &name);
        MergeRequestFields {
            title: self.title.map(|title| Title::parse(&title)),
            description: self.description.map(|text| LongText::parse(&text)),
            target_branch: self.target_branch.map(branch),
            assignee: self.assignee.map(Option::unwrap_or_default),
            milestone: self.milestone.map(Option::unwrap_or_default),
            labels: self.labels.map(|list| label_list::parse(&list)),
            command: self.command.flatten(),
        }
    }
}

parameters! {
    struct Wishes {
        message: Option<String> = declared::text("merge_commit_message", limit::LONG),
        remove_source_branch: Option<bool> = declared::boolean("should_remove_source_branch"),
        when_build_succeeds: Option<bool> = declared::boolean("merge_when_build_succeeds"),
        sha: Option<String> = declared::text("sha", limit::LOOKUP),
    }
}

parameters! {
    struct NewComment {
        note: String = declared::text("note", limit::LONG).needed(),
    }
}

/// The project and the merge request in a path.
type RequestPath = web::Path<(ProjectPath, PathId)>;

async fn list(api: Api<Listing>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page();
    let requests = api
        .run(move |app, actor, Listing { states, order, ascending, iids }| {
            let listing = MergeRequestListing { states, iids, order, ascending };
            merge_request::list(app, actor, &named, listing, page)
        })
        .await?;
    let json = requests.as_ref().map(|view| MergeRequestJson::new(view, api.links()));
    respond::paged(&api, page, json)
}

async fn get(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let view = api
        .run(move |app, actor, InPath { id }| merge_request::get(app, actor, &named, id))
        .await?;
    respond::ok(MergeRequestJson::new(&view, api.links()))
}

async fn add(api: Api<NewRequest>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let view = api
        .run(move |app, actor, new| create::create(app, actor, &named, &new.into_fields()))
        .await?;
    respond::created(MergeRequestJson::new(&view, api.links()))
}

async fn change(
    api: Api<(InPath, Changes)>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let view = api
        .run(move |app, actor, (InPath { id }, changes)| {
            update::update(app, actor, &named, id, &changes.into_fields())
        })
        .await?;
    respond::ok(MergeRequestJson::new(&view, api.links()))
}

async fn delete(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let view = api
        .run(move |app, actor, InPath { id }| merge_request::delete(app, actor, &named, id))
        .await?;
    respond::ok(MergeRequestJson::new(&view, api.links()))
}

async fn merge_request_in_path(
    api: Api<(InPath, Wishes)>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let view = api
        .run(move |app, actor, (InPath { id }, wishes)| {
            let message = wishes.message.filter(|text| !text.trim().is_empty());
            let too_long = |problem| FieldErrors::single("merge_commit_message", problem);
            let parse = |text: String| LongText::parse(&text).map_err(too_long);
            let wishes = MergeWishes {
                message: message.map(parse).transpose()?,
                remove_source_branch: wishes.remove_source_branch,
                when_build_succeeds: wishes.when_build_succeeds.unwrap_or(false),
                sha: wishes.sha,
            };
            merge::merge(app, actor, &named, id, &wishes)
        })
        .await?;
    respond::ok(MergeRequestJson::new(&view, api.links()))
}

async fn cancel_by_post(api: Api<InPath>, path: ProjectPath) -> ApiResult<HttpResponse> {
    cancel(api, path, StatusCode::CREATED).await
}

async fn cancel_by_put(api: Api<InPath>, path: ProjectPath) -> ApiResult<HttpResponse> {
    cancel(api, path, StatusCode::OK).await
}

async fn cancel(
    api: Api<InPath>,
    ProjectPath(named): ProjectPath,
    status: StatusCode,
) -> ApiResult<HttpResponse> {
    let view =
        api.run(move |app, actor, InPath { id }| automatic::cancel(app, actor, &named, id)).await?;
    respond::with(status, MergeRequestJson::new(&view, api.links()))
}

async fn list_commits(
    api: Api<InPath>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let (actor, version) = api
        .run_unread(move |app, actor, unread| {
            let InPath { id } = unread.read()?;
            let (_, version) = version::open_newest(app, actor, &named, id)?;
            Ok((actor, version))
        })
        .await?;
    let permit = api.permit(|limiter| &limiter.comparisons, actor).await?;
    let read = move || {
        let commits = version.commits()?;
        respond::to_json(&commits.iter().map(CommitJson::from).collect::<Vec<_>>())
    };
    json_response(api.run_permitted(permit, read).await?)
}

async fn get_changes(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let (actor, view, version) = api
        .run_unread(move |app, actor, unread| {
            let InPath { id } = unread.read()?;
            let (view, version) = version::open_newest(app, actor, &named, id)?;
            Ok((actor, view, version))
        })
        .await?;
    let permit = api.permit(|limiter| &limiter.comparisons, actor).await?;
    let diffs = api.run_permitted(permit, move || Ok(version.diffs()?)).await?;
    respond::ok(MergeRequestChangesJson::new(&view, &diffs, api.links()))
}

async fn list_versions(
    api: Api<InPath>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let versions =
        api.run(move |app, actor, InPath { id }| version::list(app, actor, &named, id)).await?;
    respond::ok(versions.iter().map(VersionJson::from).collect::<Vec<_>>())
}

async fn get_version(
    api: Api<(InPath, VersionInPath)>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let (actor, found) = api
        .run_unread(move |app, actor, unread| {
            let (InPath { id }, VersionInPath { version }) = unread.read()?;
            Ok((actor, version::open_one(app, actor, &named, id, version)?))
        })
        .await?;
    let permit = api.permit(|limiter| &limiter.comparisons, actor).await?;
    json_response(api.run_permitted(permit, move || version_json(&found)).await?)
}

fn version_json(found: &OpenVersion) -> ApiResult<Vec<u8>> {
    let (commits, diffs) = (found.commits()?, found.diffs()?);
    let version = found.version().map(|version| VersionDetailJson::new(version, &commits, &diffs));
    respond::to_json(&version)
}

fn json_response(json: Vec<u8>) -> ApiResult<HttpResponse> {
    Ok(HttpResponse::Ok().content_type(ContentType::json()).body(json))
}

async fn list_closed(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page();
    let issues = api
        .run(move |app, actor, InPath { id }| closing::list(app, actor, &named, id, page))
        .await?;
    respond::paged(&api, page, issues.as_ref().map(|view| IssueJson::new(view, api.links())))
}

async fn list_comments(
    api: Api<InPath>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let page = api.page();
    let notes = api
        .run(move |app, actor, InPath { id }| comments::list(app, actor, &named, id, page))
        .await?;
    respond::paged(
        &api,
        page,
        notes.as_ref().map(|view| MergeRequestCommentJson::new(view, api.links())),
    )
}

async fn add_comment(
    api: Api<(InPath, NewComment)>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let (text, written) = api
        .run(move |app, actor, (InPath { id }, NewComment { note })| {
            let fields = NoteFields { body: note.clone(), created_at: None };
            let written = comments::create(app, actor, &named, id, &fields);
            let written =
                written.map_err(|error| ApiError::sentence("Failed to save note", error))?;
            Ok::<_, ApiError>((note, written))
        })
        .await?;
    respond::created(match &written {
        NoteOutcome::Note(view) => MergeRequestCommentJson::new(view, api.links()),
        NoteOutcome::Award(view) => {
            MergeRequestCommentJson::of_text(&text, &view.user, api.links())
        }
        NoteOutcome::Commands(_, user, _) => {
            MergeRequestCommentJson::of_text("Your commands have been executed!", user, api.links())
        }
    })
}

async fn subscribe(api: Api, ids: RequestPath) -> ApiResult<HttpResponse> {
    let command = SubscriptionCommand::Subscribe;
    change_subscription(api, ids, command, StatusCode::CREATED).await
}

async fn unsubscribe(api: Api, ids: RequestPath) -> ApiResult<HttpResponse> {
    change_subscription(api, ids, SubscriptionCommand::Unsubscribe, StatusCode::OK).await
}

async fn change_subscription(
    api: Api,
    ids: RequestPath,
    command: SubscriptionCommand,
    status: StatusCode,
) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), id) = ids.into_inner();
    let id = MergeRequestId::from(id);
    let change =
        api.run(move |app, actor, ()| subscription::apply(app, actor, &named, id, command)).await?;
    respond::changed(status, change, |view| json!(MergeRequestJson::new(view, api.links())))
}
