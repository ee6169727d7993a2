//! Answers requests with `git http-backend`, without a network.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use hexforge_domain::ports::outgoing::{
    Outgoing, OutgoingBody, OutgoingError, OutgoingMethod, OutgoingRequest, OutgoingResponse,
    Redirects,
};

/// A request as the server receives it.
#[derive(Debug)]
pub struct ReceivedRequest {
    pub method: OutgoingMethod,
    /// From the scheme to the port, with user name and password.
    pub origin: String,
    pub path: String,
    pub query: String,
    pub protocol: Option<String>,
    pub kind: Option<String>,
    pub body: Vec<u8>,
    pub follows: bool,
}

/// The answer of the server.
pub struct Answer {
    pub status: u16,
    pub kind: String,
    pub body: Box<dyn Read + Send>,
    /// The address after redirects.
    pub url: Option<String>,
}

impl Answer {
    pub fn new(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        let body = std::io::Cursor::new(body.into());
        Self { status, kind: kind.into(), body: Box::new(body), url: None }
    }
}

type Answering = dyn Fn(ReceivedRequest) -> Result<Answer, OutgoingError> + Send + Sync;

/// A network with one server.
pub struct Network {
    answering: Box<Answering>,
    pub urls: Mutex<Vec<String>>,
}

impl Network {
    pub fn new(
        answering: impl Fn(ReceivedRequest) -> Result<Answer, OutgoingError> + Send + Sync + 'static,
    ) -> Self {
        Self { answering: Box::new(answering), urls: Mutex::default() }
    }
}

impl Outgoing for Network {
    fn send(&self, request: OutgoingRequest) -> Result<OutgoingResponse, OutgoingError> {
        self.urls.lock().expect("no panic").push(request.url.clone());
        let (address, query) = request.url.split_once('?').unwrap_or((&request.url, ""));
        let start = address.find("://").expect("a scheme") + 3;
        let end = address[start..].find('/').map_or(address.len(), |end| start + end);
        let header = |name: &str| {
            let found = request.headers.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone())
        };
        let received = ReceivedRequest {
            method: request.method,
            origin: address[..end].into(),
            path: address[end..].into(),
            query: query.into(),
            protocol: header("git-protocol"),
            kind: header("content-type"),
            body: match request.body {
                OutgoingBody::Bytes(bytes) => bytes,
                OutgoingBody::Reader(_) => panic!("imports know what they send"),
            },
            follows: request.redirects == Redirects::Checked,
        };
        let answer = (self.answering)(received)?;
        let url = answer.url.unwrap_or_else(|| match request.url.split_once('@') {
            Some((_, rest)) => format!("http://{rest}"),
            None => request.url.clone(),
        });
        Ok(OutgoingResponse {
            url,
            status: answer.status,
            headers: vec![("content-type".into(), answer.kind)],
            body: answer.body,
        })
    }
}

/// Answers for the repositories in a folder with git's own server.
pub struct Backend {
    pub root: PathBuf,
    /// Overrides the protocol version of the client.
    pub protocol: Option<&'static str>,
}

impl Backend {
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), protocol: None }
    }

    pub fn answer(&self, received: &ReceivedRequest) -> Answer {
        let protocol = self.protocol.map(str::to_owned).or_else(|| received.protocol.clone());
        let mut child = Command::new("git")
            .arg("http-backend")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").expect("a path"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_PROJECT_ROOT", &self.root)
            .env("GIT_HTTP_EXPORT_ALL", "1")
            .env("GIT_PROTOCOL", protocol.unwrap_or_default())
            .env("PATH_INFO", &received.path)
            .env("QUERY_STRING", &received.query)
            .env("CONTENT_TYPE", received.kind.clone().unwrap_or_default())
            .env("CONTENT_LENGTH", received.body.len().to_string())
            .env(
                "REQUEST_METHOD",
                match received.method {
                    OutgoingMethod::Get => "GET",
                    OutgoingMethod::Post => "POST",
                },
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("git is installed");
        let mut input = child.stdin.take().expect("piped");
        let body = received.body.clone();
        let writer = std::thread::spawn(move || drop(input.write_all(&body)));
        let output = child.wait_with_output().expect("git ends").stdout;
        writer.join().expect("it was written");
        let end = output.windows(4).position(|part| part == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&output[..end]).into_owned();
        let value =
            |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let status = value("Status:").map_or(200, |status| status[..3].parse().expect("a status"));
        Answer::new(status, value("Content-Type:").unwrap_or_default(), &output[end + 4..])
    }
}
