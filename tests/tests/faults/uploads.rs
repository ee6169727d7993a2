//! Uploaded files.

use serde_json::Value;

use super::lane::{Lane, Place, SHIP, Step, send_expecting};

/// Somebody who uploads.
#[derive(Default)]
pub struct Uploads {
    made: usize,
    checked: usize,
    /// Where they are, and what is in them.
    files: Vec<(String, String)>,
}

impl Uploads {
    fn assert_there(&self, place: &Place<'_>, from: usize) {
        for (url, content) in &self.files[from..] {
            let address = format!("/root/ship{url}");
            let file = hexforge_tests::Request::new(place.address(), "GET", &address);
            let file = file.token(hexforge_tests::program::ROOT).send();
            assert_eq!((file.status, file.text()), (200, content.as_str()), "{url}");
        }
    }
}

impl Lane for Uploads {
    fn step(&mut self, place: &Place<'_>) -> Step {
        self.made += 1;
        let content = format!("file {} ", self.made).repeat(1000);
        let path = format!("/projects/{SHIP}/uploads");
        let request = place.ask("POST", &path).file("notes.txt", content.as_bytes());
        let Some(answer) = send_expecting(request, &[201]) else { return Step::Gone };
        let url = answer.json()["url"].as_str().expect("an address").to_owned();
        self.files.push((url, content));
        Step::Done
    }

    fn check(&mut self, place: &Place<'_>, _: &[Value]) {
        self.assert_there(place, self.checked);
        self.checked = self.files.len();
    }

    fn check_all(&self, place: &Place<'_>, _: &[Value]) {
        self.assert_there(place, 0);
    }
}
