//! Runners request builds, and report their state and log.

use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_RANGE, HeaderName, RANGE, USER_AGENT};
use actix_web::{HttpRequest, HttpResponse, web};
use hexforge_application::error::{Entity, Error};
use hexforge_application::runner::{self, Appended, Report, Update};
use hexforge_domain::ci::status::Transition;
use hexforge_domain::id::BuildId;
use hexforge_domain::runner::RunnerInfo;
use hexforge_domain::text::limit;

use super::VERSION;
use super::runners::info;
use crate::api::{Api, ApiWithBytes};
use crate::call::{self, Calls};
use crate::entities::runner::AssignmentJson;
use crate::error::{ApiError, ApiResult};
use crate::params::{parameters, picked};
use crate::respond;

const BUILD_STATUS: HeaderName = HeaderName::from_static("build-status");
const BUILD_TOKEN: HeaderName = HeaderName::from_static("build-token");

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    let request = call::post("/ci/api/v1/builds/register", "Requests a build to run", request);
    let request = request.also_at("/ci/api/v1/builds/register.json").without_sign_in();
    calls.add(request.created::<AssignmentJson<'_>>().empty(StatusCode::NO_CONTENT));
    let one = "/ci/api/v1/builds/{id}";
    calls.add(
        call::put(one, "Updates the state and the log of a build", update)
            .without_sign_in()
            .boolean(),
    );
    let trace =
        call::patch(format!("{one}/trace.txt"), "Appends to the log of a build", append_trace)
            .without_sign_in();
    let trace = trace.takes_header("BUILD-TOKEN").takes_header("Content-Range");
    calls.add(trace.takes_bytes("text/plain").empty(StatusCode::ACCEPTED));
}

parameters! {
    /// The token of a runner; a missing one counts as invalid.
    struct Token {
        token: String = picked::any_text("token", limit::SHORT).expected().otherwise(String::new()),
    }
}

parameters! {
    struct Info {
        info: Option<RunnerInfo> = picked::text_map("info", limit::SHORT).map(info),
    }
}

parameters!(Report {
    ended: picked::word("state", &["running", "success", "failed"])
        .map(|word| word.as_deref().and_then(ended)),
    trace: picked::content("trace", limit::LOG),
});

parameters! {
    struct TokenOfBuild {
        token: Option<String> = picked::any_text("token", limit::SHORT).undescribed(),
    }
}

fn ended(state: &str) -> Option<Transition> {
    match state {
        "success" => Some(Transition::Succeed),
        "failed" => Some(Transition::Fail),
        _ => None,
    }
}

/// Parses the id in a path, which may have a file extension. An invalid id becomes one that no build has.
pub(super) fn read_id(text: &str) -> BuildId {
    let text = text.strip_suffix(".json").unwrap_or(text);
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    BuildId(if digits { text.parse().unwrap_or(0) } else { 0 })
}

/// The token of a build, from a parameter or a header; a missing one counts as invalid.
pub(super) fn build_token(request: &HttpRequest, given: Option<String>) -> String {
    let header = || request.headers().get(BUILD_TOKEN)?.to_str().ok().map(str::to_owned);
    given.or_else(header).unwrap_or_default()
}

async fn request(api: Api<(Token, Info)>, request: HttpRequest) -> ApiResult<HttpResponse> {
    let given = api
        .run_for_runner(|app, (Token { token }, Info { info })| {
            let given = runner::request(app, &token, info);
            given.map(|given| given.map(|given| (given, app.clock.now())))
        })
        .await?;
    let Some((given, now)) = given else {
        let agent = request.headers().get(USER_AGENT).and_then(|agent| agent.to_str().ok());
        // Newer runners expect 204 if no build is waiting, older ones 404.
        return match agent.is_some_and(knows_no_content) {
            true => Ok(HttpResponse::NoContent().finish()),
            false => Err(Error::NotFound(Entity::Unnamed).into()),
        };
    };
    let version = (VERSION, api.revision());
    respond::created(AssignmentJson::new(&given, now, api.links(), version))
}

/// Whether the user agent is `gitlab-ci-multi-runner 1.5.2 (…)`, or `1.6.0~beta.167.g2b2bacc`.
fn knows_no_content(agent: &str) -> bool {
    let mut rest = agent.split("gitlab-ci-multi-runner ");
    let _ = rest.next();
    rest.any(|rest| rest.split_once(' ').is_some_and(|(version, _)| is_version(version)))
}

fn is_version(text: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (release, beta) = match text.split_once("~beta.") {
        Some((release, beta)) => (release, Some(beta)),
        None => (text, None),
    };
    let is_beta = |text: &str| {
        text.split_once(".g").is_some_and(|(count, revision)| {
            let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
            number(count) && !revision.is_empty() && revision.bytes().all(hex)
        })
    };
    let parts: Vec<&str> = release.split('.').collect();
    parts.len() == 3 && parts.into_iter().all(number) && beta.is_none_or(is_beta)
}

async fn update(api: Api<(Token, Report)>, id: web::Path<String>) -> ApiResult<HttpResponse> {
    let id = read_id(&id);
    let revision = api.revision().to_owned();
    api.run_for_runner(move |app, (Token { token }, report)| {
        let call = Update { token: &token, build: id, version: (VERSION, &revision) };
        runner::update(app, call, &report)
    })
    .await?;
    respond::ok(true)
}

async fn append_trace(
    call: ApiWithBytes<TokenOfBuild>,
    request: HttpRequest,
    id: web::Path<String>,
) -> ApiResult<HttpResponse> {
    let (ApiWithBytes(api, piece), id) = (call, read_id(&id));
    let token = build_token(&request, api.read()?.token);
    let first = request.headers().get(CONTENT_RANGE).map(|range| first_of(range.as_bytes()));
    let appended = api
        .run_for_runner(move |app, _| runner::append_trace(app, id, &token, first, &piece))
        .await?;
    let range = |length: u64| (RANGE, format!("0-{length}"));
    match appended {
        Appended::Accepted { status, length } => Ok(HttpResponse::Accepted()
            .insert_header((BUILD_STATUS, status.as_str()))
            .insert_header(range(length))
            .finish()),
        Appended::WrongOffset { length } => {
            let (name, value) = range(length);
            let status = StatusCode::RANGE_NOT_SATISFIABLE;
            let error = ApiError::error(status, "416 Range Not Satisfiable");
            Err(error.with_header(name, &value))
        }
    }
}

/// The first byte of a `Content-Range`. `u64::MAX` if it cannot be parsed: no log is as long, so the request is
/// refused.
fn first_of(range: &[u8]) -> u64 {
    let text = std::str::from_utf8(range).unwrap_or_default();
    let first = text.split('-').next().unwrap_or_default().trim();
    first.parse().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_runners_are_told_that_there_is_no_content() {
        for (agent, knows) in [
            ("gitlab-ci-multi-runner 1.5.2 (1-5-stable; go1.6.3; linux/amd64)", true),
            ("gitlab-ci-multi-runner 1.6.0~beta.167.g2b2bacc (master; go1.6.3; linux/amd64)", true),
            ("Go-http-client/1.1 gitlab-ci-multi-runner 1.5.2 ", true),
            ("gitlab-ci-multi-runner 1.5.2", false),
            ("gitlab-ci-multi-runner 1.5 (x)", false),
            ("gitlab-ci-multi-runner 1.6.0~beta (x)", false),
            ("gitlab-ci-multi-runner 1.6.0~beta.1.gxyz (x)", false),
            ("curl/7.0", false),
            ("", false),
        ] {
            assert_eq!(knows_no_content(agent), knows, "{agent}");
        }
    }

    #[test]
    fn a_range_begins_with_a_number() {
        for (range, first) in
            [("0-10", 0), ("28-39", 28), ("7", 7), ("", u64::MAX), ("x-1", u64::MAX)]
        {
            assert_eq!(first_of(range.as_bytes()), first, "{range}");
        }
    }

    #[test]
    fn an_id_may_end_like_a_file() {
        for (text, id) in [("12", 12), ("12.json", 12), ("x", 0), ("-1", 0), ("", 0)] {
            assert_eq!(read_id(text), BuildId(id), "{text}");
        }
    }
}
