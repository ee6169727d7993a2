//! Helpers of the tests about uploads.

use hexforge_tests::{Forge, Request};
use serde_json::Value;

/// A file that looks like a small picture, for checks of its first bytes.
pub const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n--\r\n-- not really\0\xff";

/// Uploads a file, and returns its address below the project.
#[track_caller]
pub fn upload_file(
    forge: &Forge,
    token: &str,
    project: &str,
    name: &str,
    content: &[u8],
) -> String {
    let upload = forge.post(&format!("{project}/uploads")).token(token).file(name, content);
    url_of(&upload.send().expect(201))
}

/// The address in the response to an upload.
#[track_caller]
pub fn url_of(answer: &Value) -> String {
    answer["url"].as_str().expect("an upload has an address").to_owned()
}

/// A request for an uploaded file of a project.
pub fn file_at(forge: &Forge, project: &Value, url: &str) -> Request {
    let page = project["web_url"].as_str().expect("a project has a page");
    let page = page.strip_prefix(hexforge_tests::forge::EXTERNAL_URL).expect("below ours");
    forge.page("GET", &encoded(&format!("{page}{url}")))
}

/// Percent-encodes an address.
fn encoded(address: &str) -> String {
    let escape = |b: u8| match b {
        b' '..=b'~' => char::from(b).to_string(),
        b => format!("%{b:02X}"),
    };
    address.bytes().map(escape).collect()
}

/// The number of projects that have stored files.
pub fn projects_with_files(forge: &Forge) -> usize {
    forge.app.uploads.projects().expect("uploads can be listed").count()
}

/// Asserts that no upload left a file, whether finished or not.
#[track_caller]
pub fn assert_nothing_kept(forge: &Forge) {
    assert_eq!(projects_with_files(forge), 0);
    let receiving = forge.folder.path().join("uploads/receiving");
    let left = std::fs::read_dir(receiving).map_or(0, Iterator::count);
    assert_eq!(left, 0, "half a file was left");
}
