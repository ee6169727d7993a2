//! A scripted CI runner that speaks plain HTTP like a real one.

use std::net::SocketAddr;

use serde_json::Value;

use crate::client::{Request, Response};

/// The user agent of a real runner.
pub const AGENT: &str = "gitlab-ci-multi-runner 1.5.2 (1-5-stable; go1.6.3; linux/amd64)";

/// A registered runner.
#[derive(Clone)]
pub struct Runner {
    address: SocketAddr,
    /// Its id.
    pub id: i64,
    /// Its token.
    pub token: String,
}

/// A request to the API for runners: `call(address, "POST", "/builds/register")`.
pub fn call(address: SocketAddr, method: &str, path: &str) -> Request {
    Request::new(address, method, &format!("/ci/api/v1{path}"))
}

impl Runner {
    /// Registers a runner, by the token of the service or of a project.
    #[track_caller]
    pub fn register(address: SocketAddr, token: &str, more: &[(&str, &str)]) -> Self {
        let mut fields = vec![("token", token)];
        fields.extend(more);
        let made = call(address, "POST", "/runners/register.json").form(&fields).send().expect(201);
        let text = made["token"].as_str().expect("a runner has a token");
        Self { address, id: made["id"].as_i64().expect("an id"), token: text.to_owned() }
    }

    /// The same runner, with the address of another server.
    pub fn at(&self, address: SocketAddr) -> Self {
        Self { address, ..self.clone() }
    }

    /// A request for the next build.
    pub fn build_request(&self) -> Request {
        let request = call(self.address, "POST", "/builds/register.json");
        request.header("User-Agent", AGENT).form(&[("token", &self.token)])
    }

    /// Requests the next build. Returns `None` if there is none.
    #[track_caller]
    pub fn take(&self) -> Option<Value> {
        let answer = self.build_request().send();
        if answer.status == 204 { None } else { Some(answer.expect(201)) }
    }

    /// A request that updates a build.
    pub fn update_request(&self, build: &Value, fields: &[(&str, &str)]) -> Request {
        let mut all = vec![("token", self.token.as_str())];
        all.extend(fields);
        call(self.address, "PUT", &format!("/builds/{}.json", build["id"])).form(&all)
    }

    /// Sets the final state of a build.
    #[track_caller]
    pub fn end(&self, build: &Value, state: &str) {
        self.update_request(build, &[("state", state)]).send().expect(200);
    }

    /// A request that appends a piece to the log. `first` is its offset.
    pub fn append_request(&self, build: &Value, first: usize, piece: &str) -> Request {
        let last = (first + piece.len()).saturating_sub(1);
        call(self.address, "PATCH", &format!("/builds/{}/trace.txt", build["id"]))
            .header("BUILD-TOKEN", token_of(build))
            .header("Content-Type", "text/plain")
            .header("Content-Range", &format!("{first}-{last}"))
            .body(piece)
    }

    /// A request about the artifacts of a build.
    pub fn artifacts(&self, method: &str, build: &Value) -> Request {
        call(self.address, method, &format!("/builds/{}/artifacts", build["id"]))
            .header("BUILD-TOKEN", token_of(build))
    }

    /// Sends a log in pieces, and asserts that each is accepted. Returns the last response.
    #[track_caller]
    pub fn log(&self, build: &Value, pieces: &[&str]) -> Response {
        let mut length = 0;
        let mut last = None;
        for piece in pieces {
            let answer = self.append_request(build, length, piece).send();
            length += piece.len();
            assert_eq!(answer.status, 202, "{}", String::from_utf8_lossy(&answer.body));
            assert_eq!(answer.header("range"), Some(format!("0-{length}").as_str()));
            last = Some(answer);
        }
        last.expect("there is a piece")
    }
}

/// The token of a build, from the response that its runner got.
pub fn token_of(build: &Value) -> &str {
    build["token"].as_str().expect("a build has a token")
}
