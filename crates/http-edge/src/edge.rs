//! The state that all requests of all edges share.

use std::sync::Arc;

use hexforge_application::app::App;
use hexforge_application::limiter::Limiter;
use hexforge_domain::network::Network;
use hexforge_domain::ports::payloads::Payloads;

use crate::known_callers::KnownCallers;
use crate::links::Links;

/// The state that all requests share. The server adds it to the data of the application, as `web::Data<Edge>`.
#[derive(Clone)]
pub struct Edge {
    /// The use cases' ports and settings.
    pub app: Arc<App>,
    /// The permits and threads for work.
    pub limiter: Arc<Limiter>,
    /// The users of tokens that signed a user in.
    pub known_callers: Arc<KnownCallers>,
    /// The URLs of the service.
    pub links: Links,
    /// Renders the payloads of hooks.
    pub payloads: Arc<dyn Payloads>,
    /// The proxies whose forwarded headers are believed.
    pub trusted_proxies: Vec<Network>,
}
