//! Git over HTTP: the ref advertisement, fetches and pushes.
//!
//! The operation that runs decides the required permission, whatever the query says. Threads for long work read a body
//! while it arrives, and a response is sent while it is written.

mod answer;
mod body;
mod caller;
mod lfs;

use std::sync::Arc;

use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderName};
use actix_web::{HttpRequest, HttpResponse, web};
use hexforge_application::error::Error;
use hexforge_application::git_access::{
    GitRefusal, GitTransport, may_fetch, may_fetch_as_build, may_push, require_transport,
};
use hexforge_application::push;
use hexforge_application::repository;
use hexforge_domain::limiter::{Caller as PermitHolder, Permit};
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::git_transport::{
    Conversation, DisconnectSignal, ProtocolVersion, Service,
};
use hexforge_domain::project::{Project, ProjectRef};
use serde::Deserialize;

use crate::routes;
use crate::shared::Shared;
use answer::ErrorAnswer;
use body::{Encoding, Incoming};
use caller::Caller;
use hexforge_http_edge::client::client_address;
use hexforge_http_edge::stream;
use hexforge_http_edge::work;

const GIT_PROTOCOL: HeaderName = HeaderName::from_static("git-protocol");

/// The maximum number of bytes of a fetch request, after decompression.
const MAX_REQUEST_BYTES: u64 = 256 << 20;

/// Adds the routes of git clients.
pub fn configure(cfg: &mut web::ServiceConfig) {
    for (path, route) in [
        ("/{namespace}/{project}/info/refs", web::get().to(info_refs)),
        ("/{namespace}/{project}/git-upload-pack", web::post().to(upload_pack)),
        ("/{namespace}/{project}/git-receive-pack", web::post().to(receive_pack)),
    ] {
        routes::open_resource(cfg, path, route);
    }
    lfs::configure(cfg);
}

/// The namespace and project in the path of a request.
#[derive(Deserialize)]
struct Address {
    namespace: String,
    project: String,
}

impl Address {
    fn project_ref(self) -> ProjectRef {
        let path = self.project.strip_suffix(".git").unwrap_or(&self.project).to_owned();
        ProjectRef::Path { namespace: self.namespace, path }
    }
}

#[derive(Deserialize)]
struct Query {
    service: Option<String>,
}

/// Sends the ref advertisement.
async fn info_refs(
    request: HttpRequest,
    shared: web::Data<Shared>,
    address: web::Path<Address>,
    query: web::Query<Query>,
) -> Result<HttpResponse, ErrorAnswer> {
    let service = match query.service.as_deref() {
        None => return Err(ErrorAnswer::Denied("Please upgrade your git client.")),
        Some(name) => {
            Service::parse(name).ok_or(ErrorAnswer::Denied("There is no such service."))?
        }
    };
    let (caller, project) =
        admit(&request, &shared, service, address.into_inner().project_ref()).await?;
    let permit = permit(&shared, service, holder(&request, caller)).await?;
    let (version, app) = (version(&request), Arc::clone(&shared.edge.app));
    let written = stream::start(&shared.edge.limiter, permit, move |to| {
        // Opened before anything is written, so that a missing project is 404.
        let repository = repository::open_for_client(&app, project.id, PermitHolder::BACKGROUND)?;
        // Fetches with version 2 of the protocol have no service line.
        if service == Service::ReceivePack || version != ProtocolVersion::V2 {
            let line = format!("# service={}\n", service.as_str());
            let written = write!(to, "{:04x}{line}0000", line.len() + 4);
            written.map_err(GitError::ReaderGone)?;
        }
        Ok::<_, Error>(repository.advertise(service, version, to)?)
    });
    let media_type = format!("application/x-{}-advertisement", service.as_str());
    Ok(written.await?.of_unknown_size(&mut answer::uncached(&media_type)))
}

/// Serves a fetch.
async fn upload_pack(
    request: HttpRequest,
    shared: web::Data<Shared>,
    address: web::Path<Address>,
    payload: web::Payload,
) -> Result<HttpResponse, ErrorAnswer> {
    let service = Service::UploadPack;
    let encoding = encoding(&request, service)?;
    let (caller, project) =
        admit(&request, &shared, service, address.into_inner().project_ref()).await?;
    // The beginning is read before there is a permit, so that a slow client holds none.
    let mut incoming = Incoming::new(payload, shared.edge.limiter.transfer);
    let early = incoming.beginning().await;
    let holder = holder(&request, caller);
    let permit = permit(&shared, service, holder).await?;
    let (version, app) = (version(&request), Arc::clone(&shared.edge.app));
    let (sender, body) = body::channel(shared.edge.limiter.transfer);
    drop(actix_web::rt::spawn(body::pump(early, incoming, sender, body::MAX_DISCARDED)));
    let written = stream::start(&shared.edge.limiter, permit, move |to| {
        let mut from = encoding.decoded(body, MAX_REQUEST_BYTES);
        let repository = match caller.build.filter(|build| build.project == project.id) {
            Some(build) => repository::open_for_build(&app, project.id, build.commit, holder)?,
            None => repository::open_for_client(&app, project.id, holder)?,
        };
        let served = repository.upload_pack(version, Conversation::Stateless, &mut from, to);
        repository::unless_removed(&app, project.id, served.map_err(Error::from))
    });
    Ok(written.await?.of_unknown_size(&mut answer::uncached(&result_media_type(service))))
}

/// Receives a push.
async fn receive_pack(
    request: HttpRequest,
    shared: web::Data<Shared>,
    address: web::Path<Address>,
    payload: web::Payload,
) -> Result<HttpResponse, ErrorAnswer> {
    let service = Service::ReceivePack;
    let encoding = encoding(&request, service)?;
    let (caller, project) =
        admit(&request, &shared, service, address.into_inner().project_ref()).await?;
    // The beginning is read before there is a permit, so that a client that sends little or nothing holds none.
    let mut incoming = Incoming::new(payload, shared.edge.limiter.transfer);
    let early = incoming.beginning().await;
    let permit = permit(&shared, service, holder(&request, caller)).await?;
    let app = Arc::clone(&shared.edge.app);
    let (sender, body) = body::channel(shared.edge.limiter.transfer);
    // If the connection closes, this future is dropped, but the thread of the push is not: the signal tells it.
    let waiting = SignalOnDrop(DisconnectSignal::default());
    let disconnected = waiting.0.clone();
    let taken = work::run_long(&shared.edge.limiter, permit, move || {
        let mut from = encoding.decoded_push(body);
        let mut to = Vec::new();
        let client = push::Client { from: &mut from, to: &mut to, disconnected: &disconnected };
        let received = push::receive(&app, caller.actor, &project, client);
        repository::unless_removed(&app, project.id, received).map(|()| to)
    });
    let pumped = body::pump(early, incoming, sender, body::MAX_DISCARDED);
    // A client reads the response only after it has sent everything, so the whole body is read.
    let (taken, ()) = futures_util::future::join(taken, pumped).await;
    drop(waiting);
    let report = taken??;
    Ok(answer::uncached(&result_media_type(service)).body(report))
}

/// Signals that the client has disconnected when it is dropped.
struct SignalOnDrop(DisconnectSignal);

impl Drop for SignalOnDrop {
    fn drop(&mut self) {
        self.0.signal();
    }
}

/// Returns the caller and the project, if the caller may use the service on it.
async fn admit(
    request: &HttpRequest,
    shared: &web::Data<Shared>,
    service: Service,
    named: ProjectRef,
) -> Result<(Caller, Project), ErrorAnswer> {
    let caller = caller::identify(request, shared).await?;
    let holder = holder(request, caller);
    let transport = if caller.build.is_some() { GitTransport::Build } else { GitTransport::HTTP };
    let project = caller::blocking(shared, holder, move |app| {
        require_transport(app, transport)?;
        match (service, caller.own()) {
            (Service::UploadPack, Some(own)) => may_fetch_as_build(app, own, &named),
            (Service::UploadPack, None) => may_fetch(app, caller.actor, &named),
            (Service::ReceivePack, _) => match may_push(app, caller.actor, &named) {
                Ok(_) if caller.reads_only => Err(GitRefusal::Forbidden("This token only reads.")),
                outcome => outcome,
            },
        }
    });
    Ok((caller, project.await?))
}

/// The holder of the permits of a request.
fn holder(request: &HttpRequest, caller: Caller) -> PermitHolder {
    PermitHolder::new(caller.actor, client_address(request))
}

async fn permit(
    shared: &Shared,
    service: Service,
    holder: PermitHolder,
) -> Result<Permit, ErrorAnswer> {
    let lane = match service {
        Service::UploadPack => &shared.edge.limiter.fetches,
        Service::ReceivePack => &shared.edge.limiter.pushes,
    };
    Ok(hexforge_http_edge::permit::wait(lane, holder).await?)
}

/// The content encoding of the body, if its media type belongs to this service.
fn encoding(request: &HttpRequest, service: Service) -> Result<Encoding, ErrorAnswer> {
    let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    if header(CONTENT_TYPE) != Some(&format!("application/x-{}-request", service.as_str())) {
        return Err(ErrorAnswer::Unsupported("Unsupported content type."));
    }
    Encoding::parse(header(CONTENT_ENCODING))
        .ok_or(ErrorAnswer::Unsupported("Unsupported encoding."))
}

fn version(request: &HttpRequest) -> ProtocolVersion {
    let header = request.headers().get(GIT_PROTOCOL).and_then(|value| value.to_str().ok());
    header.map(ProtocolVersion::parse).unwrap_or_default()
}

fn result_media_type(service: Service) -> String {
    format!("application/x-{}-result", service.as_str())
}
