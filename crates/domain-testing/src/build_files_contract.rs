//! Contract tests of [`BuildFiles`]. Each case gets an empty storage.

use std::io::Read;

use hexforge_domain::id::{BuildId, ProjectId};
use hexforge_domain::ports::build_files::BuildFiles;
use hexforge_domain::ports::uploads::StoredFile;

/// All cases.
pub const CASES: [fn(&dyn BuildFiles); 4] = [
    a_log_grows_at_its_end,
    a_log_is_replaced_whole_and_removed,
    artifacts_are_seen_when_they_are_finished,
    discarding_takes_all_of_one_project,
];

const ONE: (ProjectId, BuildId) = (ProjectId(0x1234), BuildId(1));
const OTHER: (ProjectId, BuildId) = (ProjectId(7), BuildId(2));

fn content(found: Option<StoredFile>) -> Option<String> {
    let mut found = found?;
    let mut content = String::new();
    found.content.read_to_string(&mut content).expect("a file can be read");
    assert_eq!(found.size, content.len() as u64);
    Some(content)
}

fn trace(files: &dyn BuildFiles, (project, build): (ProjectId, BuildId)) -> Option<String> {
    content(files.open_trace(project, build).expect("it can be looked for"))
}

fn artifacts(files: &dyn BuildFiles, (project, build): (ProjectId, BuildId)) -> Option<String> {
    content(files.open_artifacts(project, build).expect("it can be looked for"))
}

fn append_trace(
    files: &dyn BuildFiles,
    (project, build): (ProjectId, BuildId),
    at: u64,
    text: &str,
) {
    files.append_trace(project, build, at, text.as_bytes()).expect("a log can be added to");
}

fn a_log_grows_at_its_end(files: &dyn BuildFiles) {
    assert_eq!(trace(files, ONE), None);
    assert_eq!(files.trace_size(ONE.0, ONE.1).expect("it can be asked"), 0);
    append_trace(files, ONE, 0, "one\n");
    append_trace(files, ONE, 4, "two\nhalf");
    append_trace(files, ONE, 8, "three\n");
    assert_eq!(trace(files, ONE).as_deref(), Some("one\ntwo\nthree\n"), "what was half is gone");
    assert_eq!(files.trace_size(ONE.0, ONE.1).expect("it can be asked"), 14);
    assert_eq!(trace(files, (ONE.0, OTHER.1)), None);
    assert_eq!(trace(files, (OTHER.0, ONE.1)), None);
}

fn a_log_is_replaced_whole_and_removed(files: &dyn BuildFiles) {
    append_trace(files, ONE, 0, "a long log");
    files.replace_trace(ONE.0, ONE.1, b"short").expect("a log can be replaced");
    assert_eq!(trace(files, ONE).as_deref(), Some("short"));
    for _ in 0..2 {
        files.remove_trace(ONE.0, ONE.1).expect("a log can be removed");
        assert_eq!(trace(files, ONE), None);
    }
}

fn artifacts_are_seen_when_they_are_finished(files: &dyn BuildFiles) {
    let mut given_up = files.begin_artifacts(ONE.0, ONE.1).expect("they can be begun");
    given_up.append(b"x").expect("they can be added to");
    drop(given_up);
    assert_eq!(artifacts(files, ONE), None);
    for text in ["first", "second"] {
        let before = artifacts(files, ONE);
        let mut new = files.begin_artifacts(ONE.0, ONE.1).expect("they can be begun");
        new.append(text.as_bytes()).expect("they can be added to");
        assert_eq!(artifacts(files, ONE), before);
        new.finish().expect("they can be finished");
        assert_eq!(artifacts(files, ONE).as_deref(), Some(text));
    }
    files.remove_leftovers().expect("it can be tidied");
    assert_eq!(artifacts(files, ONE).as_deref(), Some("second"));
    for _ in 0..2 {
        files.remove_artifacts(ONE.0, ONE.1).expect("they can be removed");
        assert_eq!(artifacts(files, ONE), None);
    }
}

fn discarding_takes_all_of_one_project(files: &dyn BuildFiles) {
    append_trace(files, ONE, 0, "one");
    append_trace(files, OTHER, 0, "other");
    let projects = |files: &dyn BuildFiles| {
        let all = files.projects().expect("projects can be listed");
        let mut all: Vec<i64> = all.map(|id| id.0).collect();
        all.sort_unstable();
        all
    };
    assert_eq!(projects(files), [7, 0x1234]);
    files.remove_project(ONE.0);
    files.remove_project(ONE.0);
    assert_eq!(projects(files), [7]);
    assert_eq!((trace(files, ONE), trace(files, OTHER).as_deref()), (None, Some("other")));
}
