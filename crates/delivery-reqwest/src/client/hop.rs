//! One request of a chain of redirects.

use std::time::Duration;

use hexforge_domain::ports::outgoing::{
    OutgoingBody, OutgoingError, OutgoingMethod, OutgoingRequest,
};
use percent_encoding::percent_decode_str;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

use super::body;
use super::error::map_error;
use crate::guard::Guard;

/// Headers that may be sent to another host after a redirect. All other headers may contain secrets.
const SAFE_HEADERS: [&str; 5] =
    ["accept", "accept-language", "content-type", "git-protocol", "user-agent"];

/// A request to one URL of the chain.
pub(crate) struct Hop {
    /// The URL without user name and password.
    pub(crate) url: Url,
    pub(crate) method: OutgoingMethod,
    headers: HeaderMap,
    credentials: Option<(String, String)>,
    body: Option<OutgoingBody>,
    wait: Duration,
}

impl Hop {
    /// The first request, to a URL that was checked.
    pub(crate) fn first(mut url: Url, request: OutgoingRequest) -> Result<Self, OutgoingError> {
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let credentials = (!url.username().is_empty() || url.password().is_some())
            .then(|| (decoded(url.username()), decoded(url.password().unwrap_or_default())));
        strip_credentials(&mut url);
        Ok(Self {
            url,
            method: request.method,
            headers: header_map(&request.headers)?,
            credentials,
            body: Some(request.body),
            // The limit for connecting and waiting for the response headers together. It is the longer of both
            // timeouts, not their sum, because connecting takes either little time or most of its own timeout.
            wait: request.time_outs.connect.max(request.time_outs.idle),
        })
    }

    /// Sends the request and waits for the response headers.
    pub(crate) async fn send(
        &mut self,
        client: &reqwest::Client,
    ) -> Result<reqwest::Response, OutgoingError> {
        let method = match self.method {
            OutgoingMethod::Get => reqwest::Method::GET,
            OutgoingMethod::Post => reqwest::Method::POST,
        };
        let mut request = client.request(method, self.url.clone()).headers(self.headers.clone());
        if let Some((name, password)) = &self.credentials {
            request = request.basic_auth(name, Some(password));
        }
        request = match self.body.take() {
            Some(OutgoingBody::Bytes(bytes))
                if bytes.is_empty() && self.method == OutgoingMethod::Get =>
            {
                request
            }
            Some(OutgoingBody::Bytes(bytes)) => request.body(bytes),
            Some(OutgoingBody::Reader(reader)) => request.body(body::stream_body(reader)),
            None => request,
        };
        match tokio::time::timeout(self.wait, request.send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(map_error(&error, self.url.host_str().unwrap_or_default())),
            Err(_) => Err(OutgoingError::TimedOut),
        }
    }

    /// The request to the target of a redirect. On another origin it has no credentials and only [`SAFE_HEADERS`].
    pub(crate) fn next(self, guard: &Guard, location: &str) -> Result<Self, OutgoingError> {
        let refused = |why: &str| OutgoingError::Refused(why.to_owned());
        let joined = self.url.join(location);
        let mut url = joined.map_err(|_| refused("the address redirects to an invalid URL"))?;
        guard.check_parsed(&url)?;
        if self.url.scheme() == "https" && url.scheme() == "http" {
            return Err(refused("the address redirects from https to http"));
        }
        strip_credentials(&mut url);
        let mut next = Self { url, body: None, ..self };
        if next.url.origin() != self.url.origin() {
            next.credentials = None;
            next.headers = next
                .headers
                .into_iter()
                .filter_map(|(name, value)| Some((name?, value)))
                .filter(|(name, _)| SAFE_HEADERS.contains(&name.as_str()))
                .collect();
        }
        Ok(next)
    }
}

fn strip_credentials(url: &mut Url) {
    // These calls fail only for URLs without a host, which the guard refuses.
    let _ = url.set_username("");
    let _ = url.set_password(None);
}

fn header_map(headers: &[(String, String)]) -> Result<HeaderMap, OutgoingError> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let pair = HeaderName::from_bytes(name.as_bytes())
            .ok()
            .zip(HeaderValue::from_bytes(value.as_bytes()).ok());
        // The value may be secret, so the message contains only the name.
        let Some((key, value)) = pair else {
            return Err(OutgoingError::Refused(format!(
                "the header `{}` is not valid",
                name.escape_debug()
            )));
        };
        map.append(key, value);
    }
    Ok(map)
}
