//! Contract tests of [`Uploads`]. Each case gets an empty storage.

use std::io::Read;

use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::uploads::Uploads;
use hexforge_domain::project::upload::{UploadKey, UploadName, UploadSecret};

/// All cases.
pub const CASES: [fn(&dyn Uploads); 5] = [
    a_finished_file_is_found_at_its_place_only,
    an_unfinished_file_leaves_nothing,
    discarding_takes_all_of_one_project,
    an_open_file_can_be_read_to_its_end,
    tidying_keeps_what_is_finished,
];

fn key(project: i64, secret: u8, name: &str) -> UploadKey {
    UploadKey {
        project: ProjectId(project),
        secret: UploadSecret::new([secret; 16]),
        name: UploadName::from_client(name),
    }
}

fn upload(uploads: &dyn Uploads, key: &UploadKey, chunks: &[&[u8]]) {
    let mut file = uploads.begin(key).expect("a file can be begun");
    for chunk in chunks {
        file.append(chunk).expect("a file can be added to");
        assert_eq!(read_content(uploads, key), None, "nobody sees it yet");
    }
    file.finish().expect("a file can be finished");
}

fn read_content(uploads: &dyn Uploads, key: &UploadKey) -> Option<Vec<u8>> {
    let mut found = uploads.open(key).expect("places can be looked at")?;
    let mut content = Vec::new();
    found.content.read_to_end(&mut content).expect("a file can be read");
    assert_eq!(found.size, content.len() as u64);
    Some(content)
}

fn projects(uploads: &dyn Uploads) -> Vec<i64> {
    let all = uploads.projects().expect("projects can be listed");
    let mut all: Vec<i64> = all.map(|id| id.0).collect();
    all.sort_unstable();
    all
}

fn a_finished_file_is_found_at_its_place_only(uploads: &dyn Uploads) {
    let it = key(7, 1, "größe+1.txt");
    upload(uploads, &it, &[b"one ", b"", b"two"]);
    assert_eq!(read_content(uploads, &it).as_deref(), Some(&b"one two"[..]));
    for other in [key(8, 1, "größe+1.txt"), key(7, 2, "größe+1.txt"), key(7, 1, "other.txt")] {
        assert_eq!(read_content(uploads, &other), None, "{other:?}");
    }
    upload(uploads, &key(7, 3, "empty"), &[]);
    assert_eq!(read_content(uploads, &key(7, 3, "empty")), Some(Vec::new()));
    assert_eq!(projects(uploads), [7]);
}

fn an_unfinished_file_leaves_nothing(uploads: &dyn Uploads) {
    let it = key(7, 1, "a.txt");
    let mut file = uploads.begin(&it).expect("a file can be begun");
    file.append(b"half").expect("a file can be added to");
    drop(file);
    assert_eq!(read_content(uploads, &it), None);
    assert_eq!(projects(uploads), []);
}

fn discarding_takes_all_of_one_project(uploads: &dyn Uploads) {
    let (one, two, other) = (key(7, 1, "a.txt"), key(7, 2, "b.txt"), key(263, 1, "a.txt"));
    for it in [&one, &two, &other] {
        upload(uploads, it, &[b"x"]);
    }
    assert_eq!(projects(uploads), [7, 263]);
    uploads.remove_project(ProjectId(7));
    uploads.remove_project(ProjectId(7));
    uploads.remove_project(ProjectId(8));
    let left = [&one, &two, &other].map(|it| read_content(uploads, it).is_some());
    assert_eq!(left, [false, false, true]);
    assert_eq!(projects(uploads), [263]);
    // A file that was being written is still stored; its use case is responsible for it.
    upload(uploads, &one, &[b"y"]);
    assert_eq!(read_content(uploads, &one).as_deref(), Some(&b"y"[..]));
}

fn an_open_file_can_be_read_to_its_end(uploads: &dyn Uploads) {
    let it = key(7, 1, "a.txt");
    upload(uploads, &it, &[&[b'x'; 100_000]]);
    let mut found = uploads.open(&it).expect("places can be looked at").expect("it is there");
    uploads.remove_project(ProjectId(7));
    let mut read = Vec::new();
    found.content.read_to_end(&mut read).expect("a file can be read");
    assert_eq!(read.len(), 100_000);
}

fn tidying_keeps_what_is_finished(uploads: &dyn Uploads) {
    let it = key(7, 1, "a.txt");
    upload(uploads, &it, &[b"x"]);
    uploads.remove_leftovers().expect("it can be tidied");
    assert_eq!(read_content(uploads, &it).as_deref(), Some(&b"x"[..]));
}
