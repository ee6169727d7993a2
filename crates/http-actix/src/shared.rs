//! State shared by all requests of a server.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use actix_web::web::Bytes;
use chrono::TimeDelta;
use hexforge_application::app::App;
use hexforge_application::limiter::Limiter;
use hexforge_domain::Timestamp;
use hexforge_domain::network::Network;
use hexforge_http_edge::Edge;

use crate::dialect::Dialect;
use crate::limits::{RateLimits, Usage};
use crate::payloads::JsonPayloads;
use hexforge_http_edge::links::Links;

/// Settings of the API.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// The base of every URL in responses, without a slash at the end.
    pub external_url: String,
    /// The port on which repositories are reached over SSH.
    pub ssh_port: u16,
    /// The dialect of the API.
    pub dialect: Dialect,
    /// The maximum size of a request body in bytes, except for uploads.
    pub max_body: usize,
    /// Rate limits.
    pub rate_limits: RateLimits,
    /// The proxies whose forwarded headers are believed.
    pub trusted_proxies: Vec<Network>,
    /// Timeout for the first request head of a connection.
    pub head_timeout: Duration,
    /// The revision that `GET /version` shows.
    pub revision: String,
}

/// Renders the metrics as text for Prometheus.
pub type RenderMetrics = Arc<dyn Fn() -> String + Send + Sync>;

/// Checks whether the storage outside the database is usable.
pub type StorageReady = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

/// State shared by all requests.
pub struct Shared {
    pub(crate) edge: Arc<Edge>,
    pub(crate) settings: HttpSettings,
    pub(crate) usage: Option<Arc<Usage>>,
    pub(crate) forwarder_reports: OncePerMinute,
    pub(crate) openapi: OnceLock<Bytes>,
    pub(crate) metrics: RenderMetrics,
    pub(crate) storage_ready: StorageReady,
}

impl Shared {
    /// Creates the shared state.
    pub fn new(
        app: App,
        settings: HttpSettings,
        limiter: Arc<Limiter>,
        metrics: RenderMetrics,
        storage_ready: StorageReady,
    ) -> Self {
        let cache = Arc::clone(&app.application_settings);
        let links =
            Links::new(&settings.external_url, settings.ssh_port, cache).with_lfs(app.settings.lfs);
        let edge = Edge {
            app: Arc::new(app),
            limiter,
            known_callers: Arc::default(),
            payloads: Arc::new(JsonPayloads::with(&links)),
            links,
            trusted_proxies: settings.trusted_proxies.clone(),
        };
        Self {
            edge: Arc::new(edge),
            usage: Usage::new(settings.rate_limits).map(Arc::new),
            settings,
            forwarder_reports: OncePerMinute::default(),
            openapi: OnceLock::new(),
            metrics,
            storage_ready,
        }
    }

    /// The settings.
    pub fn settings(&self) -> &HttpSettings {
        &self.settings
    }

    /// The state that this edge shares with others.
    pub fn edge(&self) -> Arc<Edge> {
        Arc::clone(&self.edge)
    }
}

/// Limits an action to once a minute.
#[derive(Default)]
pub(crate) struct OncePerMinute(Mutex<Option<Timestamp>>);

impl OncePerMinute {
    /// Returns true at most once a minute.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // If the clock was set back, the action is due at once.
        let is_due = last.is_none_or(|last| now < last || now - last >= TimeDelta::minutes(1));
        if is_due {
            *last = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_is_due_once_a_minute() {
        let reports = OncePerMinute::default();
        for (seconds, is_due) in [
            (100, true),
            (100, false),
            (159, false),
            (160, true),
            (161, false),
            (40, true),
            (99, false),
        ] {
            let now = Timestamp::from_timestamp(seconds, 0).expect("a moment");
            assert_eq!(reports.is_due(now), is_due, "{seconds}");
        }
    }
}
