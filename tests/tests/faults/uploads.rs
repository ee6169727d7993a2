//! A worker that uploads files.

use serde_json::Value;

use super::worker::{SHIP, Servers, Step, Worker, send_expecting};

/// The acknowledged uploads.
#[derive(Default)]
pub struct Uploads {
    made: usize,
    checked: usize,
    /// The addresses of files, and their contents.
    files: Vec<(String, String)>,
}

impl Uploads {
    fn assert_there(&self, servers: &Servers<'_>, from: usize) {
        for (url, content) in &self.files[from..] {
            let address = format!("/root/ship{url}");
            let file = hexforge_tests::Request::new(servers.address(), "GET", &address);
            let file = file.token(hexforge_tests::program::ROOT).send();
            assert_eq!((file.status, file.text()), (200, content.as_str()), "{url}");
        }
    }
}

impl Worker for Uploads {
    fn step(&mut self, servers: &Servers<'_>) -> Step {
        self.made += 1;
        let content = format!("file {} ", self.made).repeat(1000);
        let path = format!("/projects/{SHIP}/uploads");
        let request = servers.ask("POST", &path).file("notes.txt", content.as_bytes());
        let Some(answer) = send_expecting(request, &[201]) else { return Step::NoAnswer };
        let url = answer.json()["url"].as_str().expect("an address").to_owned();
        self.files.push((url, content));
        Step::Done
    }

    fn check(&mut self, servers: &Servers<'_>, _: &[Value]) {
        self.assert_there(servers, self.checked);
        self.checked = self.files.len();
    }

    fn check_all(&self, servers: &Servers<'_>, _: &[Value]) {
        self.assert_there(servers, 0);
    }
}
