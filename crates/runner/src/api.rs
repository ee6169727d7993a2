//! The calls of the runner protocol.

pub mod artifacts;

use std::time::Duration;

use reqwest::header::{CONTENT_RANGE, CONTENT_TYPE, RANGE};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::Error;
use crate::protocol::Assignment;
use crate::tls;

/// The time limit of short calls.
const SHORT: Duration = Duration::from_secs(30);

/// The time limit for each block of a long transfer.
const IDLE: Duration = Duration::from_secs(120);

/// The longest part of an error answer that is read.
const MAX_ERROR: usize = 4 << 10;

/// The longest answer that is read. A build with all its variables and earlier builds is far shorter.
const MAX_ANSWER: usize = 32 << 20;

/// The connection to one server.
#[derive(Clone, Debug)]
pub struct Api {
    http: reqwest::Client,
    url: String,
}

/// The data that a runner sends when it registers.
#[derive(Clone, Debug)]
pub struct Registration<'a> {
    /// The registration token.
    pub token: &'a str,
    /// The description.
    pub description: &'a str,
    /// The tags.
    pub tags: &'a [String],
    /// Whether it takes builds without tags.
    pub run_untagged: bool,
    /// Whether it is restricted to its projects.
    pub locked: bool,
}

/// The answer to a registration.
#[derive(Clone, Debug, Deserialize)]
pub struct Registered {
    /// The id of the runner.
    pub id: i64,
    /// The token of the runner.
    pub token: String,
}

/// The answer to a piece of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Appended {
    /// The log has this length, and the build goes on.
    Accepted(u64),
    /// The build was canceled or has ended otherwise.
    Ended,
    /// The log has this length, where the next piece has to start.
    WrongOffset(u64),
}

impl Api {
    /// Connects to a server, at the first call. The address may end in `/ci`, as `gitlab-ci-multi-runner` wants it.
    /// # Errors
    /// The address is invalid, or the TLS library cannot be used.
    pub fn new(url: &str) -> Result<Self, Error> {
        let url = url.trim_end_matches('/');
        let url = url.strip_suffix("/ci").unwrap_or(url).to_owned();
        let unusable = |problem: String| Error::Unreachable { url: url.clone(), problem };
        let parsed = url::Url::parse(&url).map_err(|error| unusable(error.to_string()))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(unusable("the address has to begin with http:// or https://".into()));
        }
        let tls = tls::config().map_err(|error| unusable(error.to_string()))?;
        let http = reqwest::Client::builder()
            // Tokens are sent to this server only.
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(user_agent())
            .connect_timeout(Duration::from_secs(10))
            .pool_idle_timeout(Duration::from_secs(60))
            .tls_backend_preconfigured(tls)
            .build()
            .map_err(|error| unusable(error.to_string()))?;
        Ok(Self { http, url })
    }

    /// Registers a runner.
    /// # Errors
    /// The server is away or refuses.
    pub async fn register(&self, new: &Registration<'_>) -> Result<Registered, Error> {
        let body = json!({
            "token": new.token, "description": new.description, "tag_list": new.tags.join(","),
            "run_untagged": new.run_untagged, "locked": new.locked, "info": info(),
        });
        let answer = self.send(self.call(Method::POST, "/runners/register.json", &body)).await?;
        self.read_json(success(answer).await?).await
    }

    /// Removes a runner from the server.
    /// # Errors
    /// The server is away or refuses.
    pub async fn unregister(&self, token: &str) -> Result<(), Error> {
        let call = self.call(Method::DELETE, "/runners/delete", &json!({ "token": token }));
        success(self.send(call).await?).await.map(drop)
    }

    /// Returns whether the server knows the token of a runner.
    /// # Errors
    /// The server is away.
    pub async fn verify(&self, token: &str) -> Result<bool, Error> {
        // No build has this id, so a valid token gets not found and an invalid one is refused.
        let call = self.call(Method::PUT, "/builds/0.json", &json!({ "token": token }));
        let answer = self.send(call).await?;
        match answer.status() {
            StatusCode::FORBIDDEN => Ok(false),
            StatusCode::NOT_FOUND => Ok(true),
            _ => success(answer).await.map(|_| true),
        }
    }

    /// Asks for a build. The server may wait this long for one.
    /// # Errors
    /// The server is away or refuses.
    pub async fn request_build(
        &self,
        token: &str,
        wait: Duration,
    ) -> Result<Option<Assignment>, Error> {
        let body =
            json!({ "token": token, "info": info(), "wait": wait.as_secs(), "entries": true });
        let call = self.call(Method::POST, "/builds/register.json", &body).timeout(SHORT + wait);
        let answer = self.send(call).await?;
        match answer.status() {
            StatusCode::NO_CONTENT | StatusCode::NOT_FOUND => Ok(None),
            _ => self.read_json(success(answer).await?).await.map(Some),
        }
    }

    /// Appends a piece to the log of a build. An empty piece is a sign of life.
    /// # Errors
    /// The server is away or refuses.
    pub async fn append(
        &self,
        build: i64,
        token: &str,
        first: u64,
        piece: Vec<u8>,
    ) -> Result<Appended, Error> {
        let last = (first + piece.len() as u64).saturating_sub(1).max(first);
        let url = format!("{}/ci/api/v1/builds/{build}/trace.txt", self.url);
        let call = self.http.patch(url).timeout(IDLE).header("BUILD-TOKEN", token);
        let call = call
            .header(CONTENT_TYPE, "text/plain")
            .header(CONTENT_RANGE, format!("{first}-{last}"));
        let answer = self.send(call.body(piece)).await?;
        let header = |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok());
        let length =
            header(RANGE.as_str()).and_then(|range| range.strip_prefix("0-")?.parse().ok());
        match (answer.status(), length) {
            (StatusCode::ACCEPTED, Some(length)) => match header("build-status") {
                Some("running") | None => Ok(Appended::Accepted(length)),
                Some(_) => Ok(Appended::Ended),
            },
            (StatusCode::RANGE_NOT_SATISFIABLE, Some(length)) => Ok(Appended::WrongOffset(length)),
            _ => {
                success(answer).await?;
                Err(Error::step("the server acknowledged a piece of the log without its length"))
            }
        }
    }

    /// Reports the final state of a build, with the length and the checksum of its log.
    /// # Errors
    /// The server is away or refuses; 404 means that the build is no longer this runner's.
    pub async fn finish(&self, build: i64, token: &str, end: &FinalReport) -> Result<(), Error> {
        let state = if end.succeeded { "success" } else { "failed" };
        let path = format!("/builds/{build}.json");
        let body = json!({
            "token": token, "state": state,
            "trace_length": end.length, "trace_checksum": format!("crc32:{:08x}", end.crc32),
        });
        success(self.send(self.call(Method::PUT, &path, &body)).await?).await.map(drop)
    }

    fn call(&self, method: Method, path: &str, body: &Value) -> RequestBuilder {
        let url = format!("{}/ci/api/v1{path}", self.url);
        let call = self.http.request(method, url).timeout(SHORT);
        call.header(CONTENT_TYPE, "application/json").body(body.to_string())
    }

    async fn send(&self, call: RequestBuilder) -> Result<Response, Error> {
        call.send().await.map_err(|error| match error.is_builder() {
            // It would be the same the next time.
            true => Error::step(format!("the request cannot be sent: {}", describe(&error))),
            false => self.unreachable(&describe(&error)),
        })
    }

    async fn read_json<T: for<'a> Deserialize<'a>>(
        &self,
        mut answer: Response,
    ) -> Result<T, Error> {
        let mut text = Vec::new();
        while let Some(chunk) =
            answer.chunk().await.map_err(|error| self.unreachable(&describe(&error)))?
        {
            if text.len() + chunk.len() > MAX_ANSWER {
                return Err(Error::step(format!(
                    "the answer of {} has more than {MAX_ANSWER} bytes",
                    self.url
                )));
            }
            text.extend_from_slice(&chunk);
        }
        serde_json::from_slice(&text).map_err(|error| {
            Error::step(format!("the answer of {} cannot be read: {error}", self.url))
        })
    }

    fn unreachable(&self, problem: &str) -> Error {
        Error::Unreachable { url: self.url.clone(), problem: problem.to_owned() }
    }
}

/// The end of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FinalReport {
    /// Whether it succeeded.
    pub succeeded: bool,
    /// The length of the whole log.
    pub length: u64,
    /// The checksum of the whole log.
    pub crc32: u32,
}

impl FinalReport {
    /// The report about a build whose log is in memory.
    pub fn new(succeeded: bool, log: &[u8]) -> Self {
        Self { succeeded, length: log.len() as u64, crc32: crc32fast::hash(log) }
    }
}

/// Turns an answer that is not a success into an error with the message of the server.
async fn success(mut answer: Response) -> Result<Response, Error> {
    if answer.status().is_success() {
        return Ok(answer);
    }
    let mut body = Vec::new();
    while body.len() < MAX_ERROR
        && let Ok(Some(chunk)) = answer.chunk().await
    {
        body.extend_from_slice(&chunk);
    }
    body.truncate(MAX_ERROR);
    let text = String::from_utf8_lossy(&body).into_owned();
    let parsed: Option<Value> = serde_json::from_str(&text).ok();
    let message =
        parsed.as_ref().and_then(|value| value.get("message").or_else(|| value.get("error")));
    let message = match message {
        Some(Value::String(message)) => message.clone(),
        Some(other) => other.to_string(),
        None => text,
    };
    Err(Error::Refused { status: answer.status().as_u16(), message })
}

/// The whole chain of causes, without the address, which is shown by the caller.
fn describe(error: &reqwest::Error) -> String {
    let mut causes = Vec::new();
    let mut next: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(cause) = next {
        causes.push(cause.to_string());
        next = cause.source();
    }
    if causes.is_empty() { "the connection failed".to_owned() } else { causes.join(": ") }
}

fn info() -> Value {
    json!({
        "name": "hexforge-runner",
        "version": env!("CARGO_PKG_VERSION"),
        "platform": std::env::consts::OS,
        "architecture": std::env::consts::ARCH,
        "features": { "variables": true, "artifacts": true, "cache": true },
    })
}

/// The server answers 204 instead of 404 to clients that look like a runner of this version or later.
fn user_agent() -> String {
    format!(
        "hexforge-runner/{} gitlab-ci-multi-runner 1.11.0 ({}/{})",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    )
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// A server that answers each request with this head and then with this block for as long as it is read.
    fn lying(head: String, block: &'static [u8]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut stream = stream;
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(head.as_bytes());
                while !block.is_empty() && stream.write_all(block).is_ok() {}
            }
        });
        format!("http://{address}")
    }

    fn wait<T>(work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("it can be started").block_on(work)
    }

    #[test]
    fn endless_answers_are_not_kept_in_memory() {
        let endless = "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n\r\n".to_owned();
        let api = Api::new(&lying(endless, &[b' '; 1 << 16])).expect("a valid address");
        let error = wait(api.request_build("token", Duration::ZERO)).expect_err("it has no end");
        assert!(error.to_string().contains("has more than"), "{error}");
        let refused = "HTTP/1.1 403 Forbidden\r\n\r\n".to_owned();
        let api = Api::new(&lying(refused, &[b'x'; 1 << 16])).expect("a valid address");
        let error =
            wait(api.finish(1, "token", &FinalReport::new(true, b""))).expect_err("it is refused");
        assert_eq!(error.status(), Some(403));
        assert!(error.to_string().len() < 5000);
    }

    #[test]
    fn a_token_that_cannot_be_sent_is_not_tried_for_ever() {
        let api = Api::new("http://127.0.0.1:1").expect("a valid address");
        let error = wait(api.append(1, "a\nb", 0, vec![])).expect_err("it is no header");
        assert!(!error.is_temporary(), "{error}");
    }

    #[test]
    fn an_address_may_end_in_ci() {
        for given in ["http://forge:80/ci", "http://forge:80/ci/", "http://forge:80/"] {
            assert_eq!(Api::new(given).expect("a valid address").url, "http://forge:80", "{given}");
        }
    }

    #[test]
    fn tokens_do_not_follow_redirects() {
        let other = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let target = other.local_addr().expect("it has an address");
        let moved = format!(
            "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://{target}/\r\nContent-Length: 0\r\n\r\n"
        );
        let api = Api::new(&lying(moved, b"")).expect("a valid address");
        let error = wait(api.unregister("token")).expect_err("it is not followed");
        assert_eq!(error.status(), Some(307));
        other.set_nonblocking(true).expect("Linux can");
        assert!(other.accept().is_err(), "the token went elsewhere");
    }
}
