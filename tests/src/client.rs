//! An HTTP client that sends paths, headers and bodies unchanged and shows the whole response.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

use crate::description;

/// An HTTP request under construction.
#[must_use]
pub struct Request {
    address: SocketAddr,
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
}

impl Request {
    /// Creates a request. The target is sent unchanged.
    pub fn new(address: SocketAddr, method: &str, target: &str) -> Self {
        Self {
            address,
            method: method.to_owned(),
            target: target.to_owned(),
            headers: Vec::new(),
            body: None,
        }
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds the token as `PRIVATE-TOKEN` header.
    pub fn token(self, token: &str) -> Self {
        self.header("PRIVATE-TOKEN", token)
    }

    /// Appends parameters to the query.
    pub fn query(mut self, pairs: &[(&str, &str)]) -> Self {
        let separator = if self.target.contains('?') { '&' } else { '?' };
        self.target.push(separator);
        self.target.push_str(&encoded(pairs));
        self
    }

    /// Sends parameters as a form.
    pub fn form(self, pairs: &[(&str, &str)]) -> Self {
        let body = encoded(pairs);
        self.header("Content-Type", "application/x-www-form-urlencoded").body(body)
    }

    /// Sends parameters as a JSON object.
    pub fn json(self, value: &Value) -> Self {
        self.header("Content-Type", "application/json").body(value.to_string())
    }

    /// Sends parameters as parts of a multipart form.
    pub fn multipart(self, pairs: &[(&str, &str)]) -> Self {
        let mut body = String::new();
        for (name, value) in pairs {
            body.push_str(&format!(
                "--frontier\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
            ));
        }
        body.push_str("--frontier--\r\n");
        self.header("Content-Type", "multipart/form-data; boundary=frontier").body(body)
    }

    /// Uploads a file like python-requests: the part has no `Content-Type`.
    pub fn file(self, name: &str, content: &[u8]) -> Self {
        self.form_data(&[(&format!("name=\"file\"; filename=\"{name}\""), content)])
    }

    /// Sends a multipart form. Each part is the text after `form-data; ` in its header, and its content.
    pub fn form_data(self, parts: &[(&str, &[u8])]) -> Self {
        let mut body = Vec::new();
        for (disposition, content) in parts {
            let head = format!("Content-Disposition: form-data; {disposition}");
            body.extend_from_slice(format!("--frontier\r\n{head}\r\n\r\n").as_bytes());
            body.extend_from_slice(content);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(b"--frontier--\r\n");
        self.header("Content-Type", "multipart/form-data; boundary=frontier").body(body)
    }

    /// Sets the body, which is sent unchanged.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }

    /// Sends the request on a new connection and reads the response. Panics unless the OpenAPI document allows the
    /// response.
    #[track_caller]
    pub fn send(self) -> Response {
        let (address, method, target) = (self.address, self.method.clone(), self.target.clone());
        let bytes = self.into_bytes();
        let answer = Response::parse(&exchange(address, &bytes));
        description::check(&method, &target, &answer);
        answer
    }

    /// Sends the request to a server that may be killed meanwhile. Returns `None` unless the whole response arrived.
    pub fn try_send(self) -> Option<Response> {
        let address = self.address;
        let bytes = self.into_bytes();
        let stream = TcpStream::connect(address).ok()?;
        let answer = exchange_on(stream, &bytes);
        let response = Response::try_parse(&answer)?;
        if matches!(response.status, 204 | 304) {
            return Some(response);
        }
        let length: usize = response.header("content-length")?.parse().ok()?;
        (response.body.len() == length).then_some(response)
    }

    fn into_bytes(self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            head.push_str(&format!("Host: {}\r\n", self.address));
        }
        head.push_str("Connection: close\r\n");
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(body) = &self.body {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend(self.body.unwrap_or_default());
        bytes
    }
}

/// Sends bytes, and returns everything that arrives until the server closes the connection.
pub fn exchange(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    exchange_on(TcpStream::connect(address).expect("the server listens"), bytes)
}

fn exchange_on(mut stream: TcpStream, bytes: &[u8]) -> Vec<u8> {
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out can be set");
    // The server may respond and close before it has read everything; the failed write is not an error then.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let mut buffer = [0; 16 * 1024];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return answer,
            Ok(read) => answer.extend_from_slice(&buffer[..read]),
            // Linux does not restart a read with a timeout after a signal.
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return answer,
        }
    }
}

fn encoded(pairs: &[(&str, &str)]) -> String {
    let escape = |text: &str| -> String {
        text.bytes()
            .map(|b| match b {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                    char::from(b).to_string()
                }
                b => format!("%{b:02X}"),
            })
            .collect()
    };
    let pairs: Vec<_> =
        pairs.iter().map(|(name, value)| format!("{}={}", escape(name), escape(value))).collect();
    pairs.join("&")
}

/// An HTTP response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// All headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// Parses a response that is not chunked.
    pub fn parse(bytes: &[u8]) -> Self {
        Self::try_parse(bytes)
            .unwrap_or_else(|| panic!("no HTTP answer: {:?}", String::from_utf8_lossy(bytes)))
    }

    fn try_parse(bytes: &[u8]) -> Option<Self> {
        let split = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(&bytes[..split]).into_owned();
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok())?;
        let headers = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        Some(Self { status, headers, body: bytes[split + 4..].to_vec() })
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let name = name.to_ascii_lowercase();
        self.headers.iter().find(|(n, _)| *n == name).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("the body is UTF-8")
    }

    /// Parses the body as JSON. Panics unless the `Content-Type` is JSON.
    pub fn json(&self) -> Value {
        let content_type = self.header("content-type");
        assert_eq!(content_type, Some("application/json"), "{}", self.text());
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }

    /// Asserts the status, and returns the body as JSON.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        self.json()
    }
}
