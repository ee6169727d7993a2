//! Numbers about this runner, for Prometheus.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Write;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::error::Error;

/// The longest time of a request.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The longest head of a request.
const MAX_HEAD: usize = 8 << 10;

/// The upper bounds of the durations of builds, in seconds.
const BOUNDS: [f64; 8] = [1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14_400.0];

/// The numbers of one process.
#[derive(Debug, Default)]
pub struct Metrics {
    counts: Mutex<BTreeMap<Count, u64>>,
    durations: Mutex<BTreeMap<String, Durations>>,
    log_bytes: AtomicU64,
    slots: AtomicU64,
}

/// The key of a counter: the metric, the runner and the value of its other label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Count {
    metric: &'static str,
    runner: String,
    label: &'static str,
}

#[derive(Debug, Default)]
struct Durations {
    below: [u64; BOUNDS.len()],
    count: u64,
    sum: f64,
}

const BUILDS: &str = "hexforge_runner_builds_total";
const RUNNING: &str = "hexforge_runner_builds_running";
const REQUESTS: &str = "hexforge_runner_requests_total";

impl Metrics {
    /// Sets how many builds may run at once.
    pub fn set_slots(&self, slots: usize) {
        self.slots.store(slots as u64, Ordering::Relaxed);
    }

    /// Counts a request for a build: `build`, `none` or `error`.
    pub fn request_answered(&self, runner: &str, result: &'static str) {
        self.add(REQUESTS, runner, result, 1);
    }

    /// Counts a build that begins.
    pub fn build_started(&self, runner: &str) {
        self.add(RUNNING, runner, "", 1);
    }

    /// Counts a build that ended.
    pub fn build_ended(&self, runner: &str, outcome: &'static str, took: Duration) {
        self.add(RUNNING, runner, "", -1);
        self.add(BUILDS, runner, outcome, 1);
        let mut all = self.durations.lock().unwrap_or_else(PoisonError::into_inner);
        let durations = all.entry(runner.to_owned()).or_default();
        let seconds = took.as_secs_f64();
        for (at, bound) in BOUNDS.iter().enumerate() {
            durations.below[at] += u64::from(seconds <= *bound);
        }
        durations.count += 1;
        durations.sum += seconds;
    }

    /// Counts bytes of logs that a server acknowledged.
    pub fn log_sent(&self, bytes: u64) {
        self.log_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn add(&self, metric: &'static str, runner: &str, label: &'static str, by: i64) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(Count { metric, runner: runner.to_owned(), label }).or_default();
        *count = count.saturating_add_signed(by);
    }

    /// The text for Prometheus.
    pub fn render(&self) -> String {
        let mut text = String::new();
        for (metric, kind, label, help) in [
            (BUILDS, "counter", "outcome", "Builds that ended: success, failed, canceled or lost."),
            (RUNNING, "gauge", "", "Builds that run."),
            (REQUESTS, "counter", "result", "Requests for a build: build, none or error."),
        ] {
            let _ = writeln!(text, "# HELP {metric} {help}\n# TYPE {metric} {kind}");
            let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            for (count, value) in counts.iter().filter(|(count, _)| count.metric == metric) {
                let runner = escaped(&count.runner);
                let _ = match label {
                    "" => writeln!(text, "{metric}{{runner=\"{runner}\"}} {value}"),
                    label => {
                        let word = count.label;
                        writeln!(text, "{metric}{{runner=\"{runner}\",{label}=\"{word}\"}} {value}")
                    }
                };
            }
        }
        let metric = "hexforge_runner_build_seconds";
        let _ = writeln!(text, "# HELP {metric} Durations of builds.\n# TYPE {metric} histogram");
        for (runner, durations) in
            self.durations.lock().unwrap_or_else(PoisonError::into_inner).iter()
        {
            let (runner, count) = (escaped(runner), durations.count);
            for (bound, below) in BOUNDS.iter().zip(durations.below) {
                let _ =
                    writeln!(text, "{metric}_bucket{{runner=\"{runner}\",le=\"{bound}\"}} {below}");
            }
            let _ = writeln!(text, "{metric}_bucket{{runner=\"{runner}\",le=\"+Inf\"}} {count}");
            let _ = writeln!(text, "{metric}_sum{{runner=\"{runner}\"}} {}", durations.sum);
            let _ = writeln!(text, "{metric}_count{{runner=\"{runner}\"}} {count}");
        }
        let bytes = self.log_bytes.load(Ordering::Relaxed);
        let slots = self.slots.load(Ordering::Relaxed);
        for (metric, kind, help, value) in [
            ("hexforge_runner_log_bytes_total", "counter", "Bytes of logs on servers.", bytes),
            ("hexforge_runner_slots", "gauge", "Builds that may run at once.", slots),
        ] {
            let _ =
                writeln!(text, "# HELP {metric} {help}\n# TYPE {metric} {kind}\n{metric} {value}");
        }
        text
    }
}

fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Listens at the address of the numbers.
/// # Errors
/// The address cannot be used.
pub async fn bind(address: SocketAddr) -> Result<TcpListener, Error> {
    let unusable = |error| Error::step(format!("metrics cannot be served on {address}: {error}"));
    TcpListener::bind(address).await.map_err(unusable)
}

/// Serves the numbers over HTTP until the task is aborted.
pub async fn serve(metrics: Arc<Metrics>, listener: TcpListener) -> Infallible {
    if let Ok(address) = listener.local_addr() {
        tracing::info!(%address, "serving metrics");
    }
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let metrics = Arc::clone(&metrics);
                tokio::spawn(timeout(TIMEOUT, async move { answer(stream, &metrics).await.ok() }));
            }
            // Too many open files, for example.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn answer(mut stream: TcpStream, metrics: &Metrics) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < MAX_HEAD {
        if stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let is_known = head.starts_with(b"GET /metrics ") || head.starts_with(b"GET /metrics?");
    let (status, body) = match is_known {
        true => ("200 OK", metrics.render()),
        false => ("404 Not Found", String::new()),
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_are_counted_by_runner_and_outcome() {
        let metrics = Metrics::default();
        metrics.request_answered("a\"b", "build");
        metrics.build_started("a\"b");
        metrics.build_started("a\"b");
        metrics.build_ended("a\"b", "success", Duration::from_secs(3));
        metrics.log_sent(10);
        let text = metrics.render();
        for line in [
            "hexforge_runner_builds_total{runner=\"a\\\"b\",outcome=\"success\"} 1",
            "hexforge_runner_builds_running{runner=\"a\\\"b\"} 1",
            "hexforge_runner_requests_total{runner=\"a\\\"b\",result=\"build\"} 1",
            "hexforge_runner_build_seconds_bucket{runner=\"a\\\"b\",le=\"1\"} 0",
            "hexforge_runner_build_seconds_bucket{runner=\"a\\\"b\",le=\"5\"} 1",
            "hexforge_runner_log_bytes_total 10",
        ] {
            assert!(text.lines().any(|found| found == line), "`{line}` is missing:\n{text}");
        }
    }
}
