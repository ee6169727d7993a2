//! Git LFS: the batch of objects that a client asks for, and the transfer of their content. Locks are not supported:
//! their calls have no route, and clients take 404 for "not supported".

mod answer;
mod batch;
mod range;
mod transfer;

use actix_web::{HttpRequest, HttpResponse, web};
use hexforge_application::app::App;
use hexforge_application::lfs::{self, LfsIdentity, LfsProject, LfsRefusal, LfsRequester, token};
use hexforge_application::session::Attempt;
use hexforge_domain::lfs::LfsOperation;
use hexforge_domain::limiter::Caller as PermitHolder;
use hexforge_domain::project::ProjectRef;
use hexforge_http_edge::client::client_address;
use serde::Deserialize;

use super::Address;
use super::caller::{self, Caller};
use crate::params::basic;
use crate::routes;
use crate::shared::Shared;
use answer::{LfsError, respond};

/// Adds the routes of LFS clients.
pub(super) fn configure(cfg: &mut web::ServiceConfig) {
    for (path, route) in [
        ("/{namespace}/{project}/info/lfs/objects/batch", web::post().to(batch)),
        ("/{namespace}/{project}/info/lfs/objects", web::post().to(outdated)),
        ("/{namespace}/{project}/info/lfs/objects/{oid}", web::get().to(outdated)),
        ("/{namespace}/{project}/gitlab-lfs/objects/{oid}", web::get().to(download)),
        ("/{namespace}/{project}/gitlab-lfs/objects/{oid}/{size}", web::put().to(upload)),
    ] {
        routes::open_resource(cfg, path, route);
    }
}

/// The path of the content of an object.
#[derive(Deserialize)]
struct ObjectAddress {
    namespace: String,
    project: String,
    oid: String,
    /// Only in the path of an upload.
    #[serde(default)]
    size: String,
}

impl ObjectAddress {
    /// Returns the project, and the texts of the name and the size.
    fn into_parts(self) -> (ProjectRef, String, String) {
        let Self { namespace, project, oid, size } = self;
        (Address { namespace, project }.project_ref(), oid, size)
    }
}

async fn batch(
    request: HttpRequest,
    shared: web::Data<Shared>,
    address: web::Path<Address>,
    payload: web::Payload,
) -> HttpResponse {
    let named = address.into_inner().project_ref();
    respond(&shared, batch::answer(&request, &shared, named, payload).await)
}

async fn download(
    request: HttpRequest,
    shared: web::Data<Shared>,
    address: web::Path<ObjectAddress>,
) -> HttpResponse {
    respond(&shared, transfer::download(&request, &shared, address.into_inner()).await)
}

async fn upload(
    request: HttpRequest,
    shared: web::Data<Shared>,
    address: web::Path<ObjectAddress>,
    payload: web::Payload,
) -> HttpResponse {
    respond(&shared, transfer::upload(&request, &shared, address.into_inner(), payload).await)
}

/// The response to requests of clients before 2016.
async fn outdated(shared: web::Data<Shared>) -> HttpResponse {
    let refused = match lfs::require_lfs(&shared.edge.app) {
        Ok(()) => LfsError::OutdatedClient,
        Err(refusal) => refusal.into(),
    };
    respond(&shared, Err(refused))
}

/// The caller of an LFS request.
#[derive(Clone, Copy, Debug)]
struct Client {
    requester: LfsRequester,
    /// The holder of the permits of the request.
    holder: PermitHolder,
}

impl Client {
    /// Identifies the caller, by a transfer token or by the credentials of git over HTTP.
    async fn identify(request: &HttpRequest, shared: &web::Data<Shared>) -> Result<Self, LfsError> {
        lfs::require_lfs(&shared.edge.app)?;
        let address = client_address(request);
        let requester = match basic(request) {
            Some((login, password)) if token::has_form(&password) => {
                let attempt = Attempt { login, password, address };
                let anonymous = PermitHolder::anonymous(address);
                let verify = move |app: &App| token::verify(app, &attempt);
                let verified = caller::blocking(shared, anonymous, verify).await?;
                verified.ok_or(LfsRefusal::Challenge)?
            }
            Some(_) | None => {
                LfsRequester::with_credentials(identity(caller::identify(request, shared).await?))
            }
        };
        let holder = PermitHolder::new(requester.identity.actor(), address);
        Ok(Self { requester, holder })
    }

    /// Returns the project, if the caller may transfer its objects in this direction.
    async fn admit(
        self,
        shared: &web::Data<Shared>,
        operation: LfsOperation,
        named: ProjectRef,
    ) -> Result<LfsProject, LfsError> {
        let requester = self.requester;
        let admit = move |app: &App| match lfs::admit(app, requester, operation, &named) {
            // A failed check may be repeated.
            Err(LfsRefusal::Failed(error)) => Err(error),
            decision => Ok(decision),
        };
        Ok(caller::blocking(shared, self.holder, admit).await??)
    }
}

fn identity(caller: Caller) -> LfsIdentity {
    let Caller { actor, reads_only, build } = caller;
    match caller.own() {
        Some(project) => LfsIdentity::BuildOfProject(project),
        None if build.is_some() => LfsIdentity::BuildOfUser(actor),
        None if reads_only => LfsIdentity::Reader(actor),
        None => LfsIdentity::Actor(actor),
    }
}
