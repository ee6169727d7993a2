//! Git over HTTP: what there is, fetching and pushing.
//!
//! The right that is asked for is that of the operation which is carried out, whatever the query says. Bodies
//! are read while they come, on threads made for waiting, and answers are sent while they are written.

mod answer;
mod body;
mod caller;

use std::sync::Arc;

use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderName};
use actix_web::{HttpRequest, HttpResponse, web};
use hexforge_application::error::Error;
use hexforge_application::git_access::{GitRefusal, may_fetch, may_fetch_own, may_push};
use hexforge_application::push;
use hexforge_application::repository;
use hexforge_domain::limiter::{Caller as PermitHolder, Permit};
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::git_transport::{Conversation, HangUp, ProtocolVersion, Service};
use hexforge_domain::project::{Project, ProjectRef};
use serde::Deserialize;

use crate::client::client_address;
use crate::shared::{self, Shared};
use crate::stream;
use crate::work;
use answer::Answer;
use body::{Encoding, Incoming};
use caller::Caller;

const GIT_PROTOCOL: HeaderName = HeaderName::from_static("git-protocol");

/// The most bytes, after unpacking, in which a client says what it wants and has.
const LONGEST_WISH: u64 = 256 << 20;

/// Adds the addresses of repositories.
pub fn configure(cfg: &mut web::ServiceConfig) {
    cfg.route("/{namespace}/{project}/info/refs", web::get().to(info_refs))
        .route("/{namespace}/{project}/git-upload-pack", web::post().to(upload_pack))
        .route("/{namespace}/{project}/git-receive-pack", web::post().to(receive_pack));
}

/// The address of a repository as a path has it.
#[derive(Deserialize)]
struct Address {
    namespace: String,
    project: String,
}

impl Address {
    fn named(self) -> ProjectRef {
        let path = self.project.strip_suffix(".git").unwrap_or(&self.project).to_owned();
        ProjectRef::Path { namespace: self.namespace, path }
    }
}

#[derive(Deserialize)]
struct Query {
    service: Option<String>,
}

/// Tells a client what there is.
async fn info_refs(
    request: HttpRequest,
    shared: web::Data<Shared>,
    address: web::Path<Address>,
    query: web::Query<Query>,
) -> Result<HttpResponse, Answer> {
    let service = match query.service.as_deref() {
        None => return Err(Answer::Denied("Please upgrade your git client.")),
        Some(name) => Service::parse(name).ok_or(Answer::Denied("There is no such service."))?,
    };
    let (caller, project) = admit(&request, &shared, service, address.into_inner().named()).await?;
    let permit = permit(&shared, service, holder(&request, caller)).await?;
    let (version, app) = (version(&request), Arc::clone(&shared.app));
    let written = stream::start(&shared.limiter, permit, move |to| {
        // The second version begins by itself.
        if service == Service::ReceivePack || version != ProtocolVersion::V2 {
            let line = format!("# service={}\n", service.as_str());
            let named = write!(to, "{:04x}{line}0000", line.len() + 4);
            named.map_err(GitError::ReaderGone)?;
        }
        let repository = repository::open(&app, project.id)?;
        Ok::<_, Error>(repository.advertise(service, version, to)?)
    });
    let media_type = format!("application/x-{}-advertisement", service.as_str());
    Ok(written.await?.of_unknown_size(&mut answer::uncached(&media_type)))
}

/// Gives a client what it has not.
async fn upload_pack(
    request: HttpRequest,
    shared: web::Data<Shared>,
    address: web::Path<Address>,
    payload: web::Payload,
) -> Result<HttpResponse, Answer> {
    let service = Service::UploadPack;
    let encoding = encoding(&request, service)?;
    let (caller, project) = admit(&request, &shared, service, address.into_inner().named()).await?;
    // A client that is slow to say what it wants holds no permit.
    let mut incoming = Incoming::new(payload, shared.limiter.transfer);
    let early = incoming.beginning().await;
    let holder = holder(&request, caller);
    let permit = permit(&shared, service, holder).await?;
    let (version, app) = (version(&request), Arc::clone(&shared.app));
    let (sender, body) = body::channel(shared.limiter.transfer);
    drop(actix_web::rt::spawn(body::pump(early, incoming, sender)));
    let written = stream::start(&shared.limiter, permit, move |to| {
        let mut from = encoding.decoded(body, LONGEST_WISH);
        let repository = repository::open_for(&app, project.id, holder)?;
        let stateless = Conversation::Stateless;
        Ok::<_, Error>(repository.upload_pack(version, stateless, &mut from, to)?)
    });
    Ok(written.await?.of_unknown_size(&mut answer::uncached(&result_of(service))))
}

/// Takes in what a client has.
async fn receive_pack(
    request: HttpRequest,
    shared: web::Data<Shared>,
    address: web::Path<Address>,
    payload: web::Payload,
) -> Result<HttpResponse, Answer> {
    let service = Service::ReceivePack;
    let encoding = encoding(&request, service)?;
    let (caller, project) = admit(&request, &shared, service, address.into_inner().named()).await?;
    // A client that sends nothing, or little, holds no permit.
    let mut incoming = Incoming::new(payload, shared.limiter.transfer);
    let early = incoming.beginning().await;
    let permit = permit(&shared, service, holder(&request, caller)).await?;
    let app = Arc::clone(&shared.app);
    let (sender, body) = body::channel(shared.limiter.transfer);
    // The handler is dropped when the connection closes. The push on its thread continues, so it is told by a signal.
    let waiting = SignalOnDrop(HangUp::default());
    let hang_up = waiting.0.clone();
    let taken = work::run(&shared.limiter, permit, move || {
        let mut from = encoding.decoded_push(body);
        let mut to = Vec::new();
        let client = push::Client { from: &mut from, to: &mut to, hang_up: &hang_up };
        push::receive(&app, caller.actor, &project, client).map(|()| to)
    });
    let pumped = body::pump(early, incoming, sender);
    // A client listens only when it has said everything.
    let (taken, ()) = futures_util::future::join(taken, pumped).await;
    drop(waiting);
    let report = taken??;
    Ok(answer::uncached(&result_of(service)).body(report))
}

/// Signals the hang-up of a client when it is dropped.
struct SignalOnDrop(HangUp);

impl Drop for SignalOnDrop {
    fn drop(&mut self) {
        self.0.signal();
    }
}

/// The project, if whoever asks may do this with it.
async fn admit(
    request: &HttpRequest,
    shared: &web::Data<Shared>,
    service: Service,
    named: ProjectRef,
) -> Result<(Caller, Project), Answer> {
    let caller = caller::identify(request, shared).await?;
    let holder = holder(request, caller);
    let project = caller::blocking(shared, holder, move |app| match (service, caller.own) {
        (Service::UploadPack, Some(own)) => may_fetch_own(app, own, &named),
        (Service::UploadPack, None) => may_fetch(app, caller.actor, &named),
        (Service::ReceivePack, _) => match may_push(app, caller.actor, &named) {
            Ok(_) if caller.reads_only => Err(GitRefusal::Forbidden("This token only reads.")),
            outcome => outcome,
        },
    });
    Ok((caller, project.await?))
}

/// The holder of the permits of a request.
fn holder(request: &HttpRequest, caller: Caller) -> PermitHolder {
    PermitHolder::new(caller.actor, client_address(request))
}

async fn permit(shared: &Shared, service: Service, holder: PermitHolder) -> Result<Permit, Answer> {
    let lane = match service {
        Service::UploadPack => &shared.limiter.fetches,
        Service::ReceivePack => &shared.limiter.pushes,
    };
    shared::permit(lane, holder).await.ok_or(Answer::Busy)
}

/// The content encoding of the body, if its media type belongs to this service.
fn encoding(request: &HttpRequest, service: Service) -> Result<Encoding, Answer> {
    let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    if header(CONTENT_TYPE) != Some(&format!("application/x-{}-request", service.as_str())) {
        return Err(Answer::Unsupported("Unsupported content type."));
    }
    Encoding::parse(header(CONTENT_ENCODING)).ok_or(Answer::Unsupported("Unsupported encoding."))
}

fn version(request: &HttpRequest) -> ProtocolVersion {
    let asked = request.headers().get(GIT_PROTOCOL).and_then(|value| value.to_str().ok());
    asked.map(ProtocolVersion::parse).unwrap_or_default()
}

fn result_of(service: Service) -> String {
    format!("application/x-{}-result", service.as_str())
}
