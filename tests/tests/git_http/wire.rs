//! The git protocol over HTTP, byte by byte.

use hexforge_tests::{Forge, on_every_store};

use super::hostile::pack;
use super::support::Scene;

on_every_store!(
    an_empty_probe_request_is_accepted,
    invalid_requests_are_refused,
    answers_with_and_without_a_side_band
);

pub const ZERO: &str = "0000000000000000000000000000000000000000";

/// A push request that git itself would not send.
pub struct Push {
    body: Vec<u8>,
    header: Option<(&'static str, &'static str)>,
}

impl Push {
    pub fn new(old: &str, new: &str, name: &str) -> Self {
        Self::with(old, new, name, "report-status")
    }

    pub fn with(old: &str, new: &str, name: &str, capabilities: &str) -> Self {
        let line = format!("{old} {new} {name}\0{capabilities}");
        let body = format!("{:04x}{line}0000", line.len() + 4).into_bytes();
        Self { body, header: None }
    }

    pub fn pack(mut self, pack: Vec<u8>) -> Self {
        self.body.extend(pack);
        self
    }

    /// Sends the push as ada, and returns the response as text.
    #[track_caller]
    pub fn send(&self, scene: &Scene<'_>) -> String {
        let request = scene.forge.page("POST", "/ada/ship.git/git-receive-pack");
        let mut request = request
            .token(&scene.ada)
            .header("Content-Type", "application/x-git-receive-pack-request");
        if let Some((name, value)) = self.header {
            request = request.header(name, value);
        }
        let answer = request.body(self.body.clone()).send();
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
        let media_type = Some("application/x-git-receive-pack-result");
        assert_eq!(answer.header("content-type"), media_type);
        String::from_utf8_lossy(&answer.body).into_owned()
    }
}

/// Clients with large packs first send an empty request to check their access.
fn an_empty_probe_request_is_accepted(forge: &Forge) {
    let scene = Scene::new(forge);
    let look = Push { body: b"0000".to_vec(), header: None };
    assert_eq!(look.send(&scene), "");
    let expecting = Push { header: Some(("Expect", "100-continue")), ..look };
    let request = scene.forge.page("POST", "/ada/ship.git/git-receive-pack").token(&scene.ada);
    let request = request.header("Content-Type", "application/x-git-receive-pack-request");
    let (name, value) = expecting.header.expect("a header");
    let answer = request.header(name, value).body(expecting.body).send();
    assert_eq!(answer.status, 100);
    assert!(String::from_utf8_lossy(&answer.body).starts_with("HTTP/1.1 200"));
}

fn invalid_requests_are_refused(forge: &Forge) {
    let scene = Scene::new(forge);
    let post = |media_type: &str, encoding: &str, body: &str| {
        let request = scene.forge.page("POST", "/ada/ship.git/git-receive-pack").token(&scene.ada);
        let request = request.header("Content-Type", media_type);
        request.header("Content-Encoding", encoding).body(body).send().status
    };
    let right = "application/x-git-receive-pack-request";
    assert_eq!(post("application/x-git-upload-pack-request", "identity", "0000"), 415);
    assert_eq!(post("text/plain", "identity", "0000"), 415);
    assert_eq!(post(right, "br", "0000"), 415);
    for body in ["hello", "zzzz", "0008helo0000", "0003", "000ahi"] {
        assert_eq!(post(right, "identity", body), 400, "{body}");
    }
    assert_eq!(post(right, "gzip", "0000"), 400);
    scene.assert_clean();
}

fn answers_with_and_without_a_side_band(forge: &Forge) {
    let scene = Scene::filled(forge);
    let tip = scene.tree.git(&["rev-parse", "HEAD"]);
    let empty = pack(&scene, &[]);
    let plain = Push::new(ZERO, &tip, "refs/heads/a").pack(empty.clone()).send(&scene);
    assert_eq!(plain, "000eunpack ok\n0014ok refs/heads/a\n0000");
    let banded = Push::with(ZERO, &tip, "refs/heads/b", " report-status side-band-64k quiet");
    let banded = banded.pack(empty.clone()).send(&scene);
    assert_eq!(banded, "002b\u{1}000eunpack ok\n0014ok refs/heads/b\n00000000");
    let silent = Push::with(ZERO, &tip, "refs/heads/c", "").pack(empty.clone()).send(&scene);
    assert_eq!(silent, "");
    // Push options are not offered, and are refused because their number is unlimited.
    let mut options = Push::with(ZERO, &tip, "refs/heads/d", "report-status push-options");
    options.body.extend(b"0011ci.skip\nX: y\n0000");
    let request = forge.page("POST", "/ada/ship.git/git-receive-pack").token(&scene.ada);
    let request = request.header("Content-Type", "application/x-git-receive-pack-request");
    assert_eq!(request.body(options.pack(empty).body).send().status, 400);
    assert_eq!(scene.server_ref("refs/heads/d"), None);
    scene.assert_sound();
}
