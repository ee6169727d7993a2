//! The HTTP client: sends a request, follows redirects and returns the response.

mod body;
mod error;
mod hop;
mod runtime;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hexforge_domain::ports::outgoing::{
    Certificates, MAX_REDIRECTS, Outgoing, OutgoingError, OutgoingMethod, OutgoingRequest,
    OutgoingResponse, Redirects,
};
use reqwest::header::{HeaderName, LOCATION};

use crate::guard::Guard;
use crate::resolver::{GuardedResolver, Lookup, SystemLookup};
use crate::tls;
use body::ResponseBody;
use hop::Hop;
use runtime::BackgroundRuntime;

/// The maximum number of cached clients. Callers use few combinations of settings; further clients are not cached.
const MAX_CLIENTS: usize = 8;

/// The idle timeout of pooled connections.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// Sends requests to addresses that its [`Guard`] allows.
///
/// Four measures keep requests from going elsewhere. Host names are resolved only by our resolver, which checks the
/// addresses that it found, and reqwest connects to exactly these. A host that is an IP address is never resolved, so
/// each URL is checked before use. Redirects are followed here and not by reqwest, so their URLs are checked too. No
/// proxy from the environment is used, because it would resolve hosts itself.
pub struct GuardedClient {
    resolver: GuardedResolver,
    clients: Mutex<Vec<(Settings, reqwest::Client)>>,
    runtime: Arc<BackgroundRuntime>,
}

/// The settings that reqwest fixes per client.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Settings {
    connect: Duration,
    certificates: Certificates,
}

impl GuardedClient {
    /// Creates a client that resolves hosts with the system resolver.
    pub fn new(guard: Guard) -> io::Result<Self> {
        Self::with_lookup(guard, Arc::new(SystemLookup))
    }

    /// Creates a client with a custom resolver.
    pub fn with_lookup(guard: Guard, lookup: Arc<dyn Lookup>) -> io::Result<Self> {
        let runtime = Arc::new(BackgroundRuntime::start()?);
        let resolver = GuardedResolver { guard, lookup };
        Ok(Self { resolver, clients: Mutex::default(), runtime })
    }

    fn client(&self, settings: Settings) -> Result<reqwest::Client, OutgoingError> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = clients.iter().find(|(known, _)| *known == settings) {
            return Ok(client.clone());
        }
        let unusable =
            |error: &dyn std::fmt::Display| OutgoingError::Unreachable(error.to_string());
        let tls = tls::config(settings.certificates).map_err(|error| unusable(&error))?;
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            // Header names are case-insensitive in HTTP, but some receiving scripts depend on title case.
            .http1_title_case_headers()
            .dns_resolver(Arc::new(self.resolver.clone()))
            .connect_timeout(settings.connect)
            .pool_idle_timeout(POOL_IDLE_TIMEOUT)
            .tls_backend_preconfigured(tls)
            .build()
            .map_err(|error| unusable(&error))?;
        if clients.len() < MAX_CLIENTS {
            clients.push((settings, client.clone()));
        }
        Ok(client)
    }

    /// Sends the request and follows redirects of GET requests. Returns the last response with its request.
    async fn send_following_redirects(
        &self,
        client: &reqwest::Client,
        mut hop: Hop,
        redirects: Redirects,
    ) -> Result<(reqwest::Response, Hop), OutgoingError> {
        for _ in 0..=MAX_REDIRECTS {
            let response = hop.send(client).await?;
            let may_follow = redirects == Redirects::Checked && hop.method == OutgoingMethod::Get;
            let Some(location) = redirect_target(&response).filter(|_| may_follow) else {
                return Ok((response, hop));
            };
            hop = hop.next(&self.resolver.guard, &location)?;
        }
        Err(OutgoingError::Refused("the address redirects too often".into()))
    }
}

impl Outgoing for GuardedClient {
    fn send(&self, request: OutgoingRequest) -> Result<OutgoingResponse, OutgoingError> {
        let url = self.resolver.guard.check_url(&request.url)?;
        let (redirects, idle) = (request.redirects, request.time_outs.idle);
        let deadline = request.time_outs.whole.map(|whole| Instant::now() + whole);
        let client = self.client(Settings {
            connect: request.time_outs.connect,
            certificates: request.certificates,
        })?;
        let hop = Hop::first(url, request)?;
        let follow = self.send_following_redirects(&client, hop, redirects);
        let (response, hop) = match deadline {
            None => self.runtime.block_on(follow)?,
            Some(deadline) => self
                .runtime
                .block_on(async { tokio::time::timeout_at(deadline.into(), follow).await })
                .map_err(|_| OutgoingError::TimedOut)??,
        };
        let text = |(name, value): (&HeaderName, &reqwest::header::HeaderValue)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        };
        Ok(OutgoingResponse {
            url: hop.url.into(),
            status: response.status().as_u16(),
            headers: response.headers().iter().filter_map(text).collect(),
            body: Box::new(ResponseBody::new(response, Arc::clone(&self.runtime), idle, deadline)),
        })
    }
}

/// The target of a redirect; `None` if the response is not one.
fn redirect_target(response: &reqwest::Response) -> Option<String> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    response.headers().get(LOCATION)?.to_str().ok().map(str::to_owned)
}
