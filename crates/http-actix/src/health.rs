//! Routes for operators: health checks and metrics.

use actix_web::{HttpResponse, web};
use hexforge_application::delivery;
use serde_json::json;

use crate::shared::Shared;

/// Tells whether a path is one of these routes. They are neither limited nor delayed, and other paths below `/-/` are
/// pages like all others.
pub(crate) fn is_for_operators(path: &str) -> bool {
    matches!(path, "/-/liveness" | "/-/readiness" | "/-/metrics")
}

/// Adds the routes.
pub fn configure(cfg: &mut web::ServiceConfig) {
    cfg.route("/-/liveness", web::get().to(liveness));
    cfg.route("/-/readiness", web::get().to(readiness));
    cfg.route("/-/metrics", web::get().to(metrics));
}

/// Reports that the process answers.
async fn liveness() -> HttpResponse {
    HttpResponse::Ok().json(json!({ "status": "ok" }))
}

/// Reports whether the database and the storage are usable.
async fn readiness(shared: web::Data<Shared>) -> HttpResponse {
    let checked = web::block(move || {
        let database = shared.edge.app.store.check_ready().map_err(|error| error.to_string());
        [("database", database), ("storage", (shared.storage_ready)())]
    })
    .await;
    let Ok(checks) = checked else {
        return HttpResponse::ServiceUnavailable().json(json!({ "status": "failed" }));
    };
    let mut status = HttpResponse::Ok();
    let mut body = serde_json::Map::new();
    for (name, check) in checks {
        let state = match check {
            Ok(()) => "ok",
            Err(cause) => {
                tracing::warn!(%cause, check = name, "a readiness check failed");
                status = HttpResponse::ServiceUnavailable();
                "failed"
            }
        };
        body.insert(name.to_owned(), json!(state));
    }
    status.json(body)
}

async fn metrics(shared: web::Data<Shared>) -> HttpResponse {
    let rendered = web::block(move || {
        measure_queue(&shared);
        (shared.metrics)()
    });
    match rendered.await {
        Ok(text) => HttpResponse::Ok().content_type("text/plain; version=0.0.4").body(text),
        Err(_) => HttpResponse::ServiceUnavailable().finish(),
    }
}

/// Sets the gauge of deliveries that wait for hooks. The queue is in the database, so all processes report the same.
fn measure_queue(shared: &Shared) {
    let queue = match delivery::queue_size(&shared.edge.app) {
        Ok(queue) => queue,
        Err(error) => {
            tracing::warn!(%error, "the length of the delivery queue cannot be read");
            return;
        }
    };
    let now = shared.edge.app.clock.now();
    let age = queue.oldest.map_or(0, |oldest| (now - oldest).num_milliseconds().max(0));
    metrics::gauge!("hexforge_hook_events_waiting").set(queue.events as f64);
    metrics::gauge!("hexforge_hook_deliveries_waiting").set(queue.deliveries as f64);
    metrics::gauge!("hexforge_hook_oldest_waiting_seconds").set(age as f64 / 1000.0);
}
