//! Milestones of projects.

use actix_web::HttpResponse;
use chrono::NaiveDate;
use hexforge_application::milestone::{self, MilestoneFields};
use hexforge_domain::id::MilestoneId;
use hexforge_domain::milestone::{MilestoneCommand, MilestoneFilter, MilestoneState};
use hexforge_domain::text::limit;

use super::ids::ProjectPath;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::issue::IssueJson;
use crate::entities::milestone::MilestoneJson;
use crate::error::{ApiError, ApiResult};
use crate::params::{declared, parameters};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Milestones");
    let all = "/projects/{id}/milestones";
    calls
        .add(call::get(all, "Lists the milestones of a project", list).list::<MilestoneJson<'_>>());
    calls.add(call::post(all, "Creates a milestone", create).created::<MilestoneJson<'_>>());
    let one = "/projects/{id}/milestones/{milestone_id}";
    calls.add(call::get(one, "Shows a milestone", get).ok::<MilestoneJson<'_>>());
    calls.add(call::put(one, "Updates a milestone", update).ok::<MilestoneJson<'_>>());
    let issues = call::get(format!("{one}/issues"), "Lists the issues of a milestone", issues);
    calls.add(issues.list::<IssueJson<'_>>());
}

parameters!(MilestoneFilter {
    state: declared::one_of("state", &["active", "closed", "all"])
        .map(|word| word.and_then(MilestoneState::parse)),
    iids: declared::one_or_more_integers("iid"),
});

parameters! {
    struct InPath {
        id: MilestoneId = declared::in_path("milestone_id").map(MilestoneId),
    }
}

parameters! {
    struct NewMilestone {
        title: String = declared::text("title", limit::SHORT).needed(),
        description: Option<String> = declared::text("description", limit::LONG),
        due_date: Option<Option<NaiveDate>> = declared::date("due_date").or_cleared(),
    }
}

parameters! {
    struct ChangedMilestone {
        title: Option<String> = declared::text("title", limit::SHORT),
        description: Option<String> = declared::text("description", limit::LONG),
        due_date: Option<Option<NaiveDate>> = declared::date("due_date").or_cleared(),
        command: Option<MilestoneCommand> =
            declared::one_of("state_event", &["close", "activate"]).map_given(command),
    },
    |from| from.at_least_one(&["title", "description", "due_date", "state_event"])
}

impl From<ChangedMilestone> for MilestoneFields {
    fn from(changed: ChangedMilestone) -> Self {
        let ChangedMilestone { title, description, due_date, command } = changed;
        Self { title, description, start_date: None, due_date, command }
    }
}

fn command(word: &str) -> MilestoneCommand {
    match word {
        "close" => MilestoneCommand::Close,
        _ => MilestoneCommand::Activate,
    }
}

async fn list(
    api: Api<MilestoneFilter>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let page = api.page();
    let milestones = api
        .run(move |app, actor, filter| milestone::list(app, actor, &named, &filter, page))
        .await?;
    respond::paged(&api, page, milestones.as_ref().map(MilestoneJson::from))
}

async fn get(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let found =
        api.run(move |app, actor, InPath { id }| milestone::get(app, actor, &named, id)).await?;
    respond::ok(MilestoneJson::from(&found))
}

async fn create(
    api: Api<NewMilestone>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let made = api
        .run(move |app, actor, new| {
            let NewMilestone { title, description, due_date } = new;
            let fields =
                MilestoneFields { title: Some(title), description, due_date, ..Default::default() };
            milestone::create(app, actor, &named, &fields)
                .map_err(|error| ApiError::sentence("Failed to create milestone", error))
        })
        .await?;
    respond::created(MilestoneJson::from(&made))
}

async fn update(
    api: Api<(InPath, ChangedMilestone)>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let changed = api
        .run(move |app, actor, (InPath { id }, changed)| {
            milestone::update(app, actor, &named, id, &changed.into())
                .map_err(|error| ApiError::sentence("Failed to update milestone", error))
        })
        .await?;
    respond::ok(MilestoneJson::from(&changed))
}

async fn issues(api: Api<InPath>, ProjectPath(named): ProjectPath) -> ApiResult<HttpResponse> {
    let page = api.page();
    let issues = api
        .run(move |app, actor, InPath { id }| milestone::issues(app, actor, &named, id, page))
        .await?;
    respond::paged(&api, page, issues.as_ref().map(|view| IssueJson::new(view, api.links())))
}
