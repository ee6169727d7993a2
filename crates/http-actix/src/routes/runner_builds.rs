//! Runners request builds, and report their state and log.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_LENGTH, CONTENT_RANGE, HeaderName, RANGE, USER_AGENT};
use actix_web::{HttpMessage, HttpRequest, HttpResponse, web};
use hexforge_application::app::App;
use hexforge_application::error::{Entity, Error};
use hexforge_application::retry;
use hexforge_application::runner::{self, Appended, Report, Update, Updated};
use hexforge_domain::ci::status::{Status, Transition};
use hexforge_domain::id::{BuildId, UserId};
use hexforge_domain::limiter::Permit;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::runner::RunnerInfo;
use hexforge_domain::text::limit;
use tokio::time::sleep;

use super::VERSION;
use super::runners::info;
use crate::api::{Api, ApiWithStream};
use crate::call::{self, Calls};
use crate::entities::runner::AssignmentJson;
use crate::error::{ApiError, ApiResult};
use crate::params::{BodyStream, LongText, Params, parameters, picked, too_large};
use crate::respond;

/// The size of the blocks in which bodies are read.
const BLOCK: usize = 1 << 20;

/// The size of the blocks in which updates are read. Each block is a sign of life of its runner, so a slow one must not
/// take minutes.
const REPORT_BLOCK: usize = 256 << 10;

/// The maximum size of an update: a log of the maximum length, most of it escaped.
const MAX_REPORT: usize = 3 * limit::LOG;

/// The longest time in seconds that a request waits for a build.
const LONGEST_WAIT: i64 = 10;

/// The interval in which a waiting request looks for a build.
const POLL: Duration = Duration::from_millis(250);

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
    /// What the runner says of itself, for how many seconds it waits for a build, and whether it runs the entries of a
    /// script one by one. Only the first is in the original.
    struct Info {
        info: Option<RunnerInfo> = picked::lenient_text_map("info", limit::SHORT).map(info),
        wait: Option<i64> = picked::number("wait"),
        entries: bool = picked::switch("entries").otherwise(false),
    }
}

parameters!(Report {
    ended: picked::word("state", &["running", "success", "failed"])
        .map(|word| word.as_deref().and_then(ended)),
    trace: picked::content("trace", limit::LOG),
    length: picked::number("trace_length")
        .map(|length| length.and_then(|length| u64::try_from(length).ok())),
    checksum: picked::any_text("trace_checksum", limit::SHORT),
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
    let (Token { token }, Info { wait, entries, .. }) = api.read()?;
    let until = Instant::now() + wait_time(wait);
    let given = loop {
        let given = api
            .run_for_runner(token.clone(), |app, (Token { token }, Info { info, .. })| {
                let given = runner::request(app, &token, info);
                given.map(|given| given.map(|given| (given, app.clock.now())))
            })
            .await?;
        if given.is_some() || Instant::now() + POLL > until {
            break given;
        }
        // Between two looks the request holds a connection and nothing else.
        sleep(POLL).await;
    };
    if let Some((given, _)) = &given {
        api.remember_runner_token(given.token.reveal());
    }
    let Some((given, now)) = given else {
        let agent = request.headers().get(USER_AGENT).and_then(|agent| agent.to_str().ok());
        // Newer runners expect 204 if no build is waiting, older ones 404.
        return match agent.is_some_and(knows_no_content) {
            true => Ok(HttpResponse::NoContent().finish()),
            false => Err(Error::NotFound(Entity::Unnamed).into()),
        };
    };
    let version = (VERSION, api.revision());
    let shown = AssignmentJson::new(&given, now, api.links(), version);
    respond::created(if entries { shown.with_entries(&given) } else { shown })
}

/// How long the request of a runner may wait for a build. Not in the original: older runners do not ask for it.
fn wait_time(seconds: Option<i64>) -> Duration {
    Duration::from_secs(seconds.unwrap_or_default().clamp(0, LONGEST_WAIT).unsigned_abs())
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

async fn update(
    call: ApiWithStream<(Token, Report)>,
    request: HttpRequest,
    id: web::Path<String>,
) -> ApiResult<HttpResponse> {
    let (ApiWithStream(api, body), id) = (call, read_id(&id));
    let (params, _permit) = read_report(&api, &request, body, id).await?;
    let (Token { token }, report): (Token, Report) =
        params.read_declared(&HashMap::new(), api.dialect())?;
    let revision = api.revision().to_owned();
    let report = Arc::new(report);
    let updated = api
        .run_for_runner(token.clone(), move |app, _| {
            let call = Update { token: &token, build: id, version: (VERSION, &revision) };
            runner::update(app, call, &report)
        })
        .await?;
    match updated {
        Updated::Stored => respond::ok(true),
        Updated::Incomplete { length } => Err(wrong_length(length)),
    }
}

/// Reads the body of an update, which may contain a whole log. If that is long, the token is checked before it is read,
/// and the log takes a permit for uploads.
async fn read_report(
    api: &Api<(Token, Report)>,
    request: &HttpRequest,
    mut body: BodyStream,
    id: BuildId,
) -> ApiResult<(Params, Option<Permit>)> {
    let media_type = request.content_type().trim().to_ascii_lowercase();
    if media_type != "application/json" {
        let form = read_short(&mut body, api.max_body()).await?;
        return Ok((api.params().with_form(&form)?, None));
    }
    let (mut text, mut received, mut permit) = (LongText::new("trace", limit::LOG), 0, None);
    let mut runner: Option<String> = None;
    while let Some(block) = body.next_block(REPORT_BLOCK).await? {
        received += block.len();
        text.push(&block);
        // What a log has beyond its limit is read and discarded, because the state of the build follows. Only a runner
        // that runs the build may send so much: with a permit for uploads, and at the minimum rate.
        let is_too_long = received > MAX_REPORT && runner.is_none();
        if text.rest_length() > api.max_body() || is_too_long {
            return Err(too_large());
        }
        if received < REPORT_BLOCK {
            continue;
        }
        if permit.is_some() {
            if let Some(token) = &runner {
                authorize_again(api, token, id).await?;
            }
            continue;
        }
        runner = match text.head() {
            Some(head) => token_of_report(api, &head)?,
            None => None,
        };
        let user = match &runner {
            Some(token) => authorize_report(api, token, id).await?,
            None => None,
        };
        permit = Some(api.permit_of(|limiter| &limiter.uploads, user).await?);
    }
    let (rest, trace) = text.finish();
    let params = api.params().with_json(&rest)?;
    if trace.is_empty() {
        return Ok((params, permit));
    }
    Ok((params.with_text("trace", String::from_utf8_lossy(&trace).into_owned()), permit))
}

/// The token of an update whose log is still read, if the token comes before the log.
fn token_of_report(api: &Api<(Token, Report)>, head: &[u8]) -> ApiResult<Option<String>> {
    let params = api.params().with_json(head)?;
    if !params.has("token") {
        return Ok(None);
    }
    let Token { token } = params.read_declared(&HashMap::new(), api.dialect())?;
    Ok(Some(token))
}

/// Checks the token of an update before most of its log is read. Returns the user of the build, if it has one.
async fn authorize_report(
    api: &Api<(Token, Report)>,
    token: &str,
    id: BuildId,
) -> ApiResult<Option<UserId>> {
    let own = token.to_owned();
    api.run_for_runner(token.to_owned(), move |app, _| runner::authorize_update(app, &own, id))
        .await
}

/// Checks the token again while the log is read. An update counts once for the rate limits, however long it is.
async fn authorize_again(api: &Api<(Token, Report)>, token: &str, id: BuildId) -> ApiResult<()> {
    let own = token.to_owned();
    let is_busy = |error: &Error| matches!(error, Error::Store(StoreError::Busy));
    let authorize = move |app: &App| {
        retry::while_busy(retry::TRIES, is_busy, || runner::authorize_update(app, &own, id))
    };
    api.run_step(authorize).await.map(drop)
}

/// Reads a body of bounded size.
async fn read_short(body: &mut BodyStream, max: usize) -> ApiResult<Vec<u8>> {
    let mut whole = Vec::new();
    while let Some(block) = body.next_block(BLOCK).await? {
        if whole.len() + block.len() > max {
            return Err(too_large());
        }
        whole.extend_from_slice(&block);
    }
    Ok(whole)
}

/// Appends a piece block by block, so that a long one takes little memory. Each block is one transaction.
async fn append_trace(
    call: ApiWithStream<TokenOfBuild>,
    request: HttpRequest,
    id: web::Path<String>,
) -> ApiResult<HttpResponse> {
    let (ApiWithStream(api, mut body), id) = (call, read_id(&id));
    let token = build_token(&request, api.read()?.token);
    let mut first = request.headers().get(CONTENT_RANGE).map(|range| first_of(range.as_bytes()));
    if announced_length(&request).is_none_or(|length| length > BLOCK as u64) {
        let token = token.clone();
        api.run_for_runner(token.clone(), move |app, _| runner::authorize_trace(app, id, &token))
            .await?;
    }
    let mut block = body.next_block(BLOCK).await?.unwrap_or_default();
    let appended = loop {
        let (piece, of_build) = (Arc::new(block), token.clone());
        let appended = api
            .run_for_runner(token.clone(), move |app, _| {
                runner::append_trace(app, id, &of_build, first, &piece)
            })
            .await?;
        match (&appended, body.next_block(BLOCK).await?) {
            (Appended::Accepted { status: Status::Running, length }, Some(next)) => {
                first = Some(*length);
                block = next;
            }
            _ => break appended,
        }
    };
    let range = |length: u64| (RANGE, format!("0-{length}"));
    match appended {
        Appended::NoOffset => Err(ApiError::bad_request("400 Missing header Content-Range")),
        Appended::Accepted { status, length } => Ok(HttpResponse::Accepted()
            .insert_header((BUILD_STATUS, status.as_str()))
            .insert_header(range(length))
            .finish()),
        Appended::WrongOffset { length } => Err(wrong_length(length)),
    }
}

/// Tells a runner how long the log is.
fn wrong_length(length: u64) -> ApiError {
    let error = ApiError::error(StatusCode::RANGE_NOT_SATISFIABLE, "416 Range Not Satisfiable");
    error.with_header(RANGE, &format!("0-{length}"))
}

/// The length of the body, if the client tells it.
fn announced_length(request: &HttpRequest) -> Option<u64> {
    request.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
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
