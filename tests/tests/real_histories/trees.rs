//! `GET /projects/:id/repository/tree` against `git ls-tree`: reference section 4.1.

use hexforge_tests::RandomNumbers;

use super::checks::{Checks, same_list};
use super::oracle::Oracle;
use super::server::Server;

/// The number of listed folders per revision, in addition to the root.
const FOLDERS: usize = 2;

/// Lists several folders of several revisions, recursively and not.
pub fn check(
    server: &Server<'_>,
    oracle: &Oracle<'_>,
    random: &mut RandomNumbers,
    checks: &mut Checks,
) {
    let mut revisions = vec![oracle.default_branch.clone()];
    revisions.extend(oracle.random_tag(random));
    revisions.extend([oracle.random_commit(random), oracle.random_commit(random)]);
    for revision in &revisions {
        for path in some_folders(oracle, revision, random) {
            for recursive in [false, true] {
                let name = format!("tree {revision} {path:?} recursive={recursive}");
                checks.check(&name, || check_one(server, oracle, revision, &path, recursive));
            }
        }
    }
}

/// The root and some other folders with UTF-8 names.
fn some_folders(oracle: &Oracle<'_>, revision: &str, random: &mut RandomNumbers) -> Vec<String> {
    let listed = oracle.git.bytes(&oracle.twin, &["ls-tree", "-r", "-d", "-z", revision]);
    let folders = listed.split(|byte| *byte == 0).filter_map(entry);
    let folders: Vec<String> =
        folders.filter(|entry| entry.kind == "tree").map(|e| e.path).collect();
    let mut chosen = vec![String::new()];
    if !folders.is_empty() {
        chosen.extend((0..FOLDERS).map(|_| folders[random.below(folders.len())].clone()));
    }
    chosen.dedup();
    chosen
}

fn check_one(
    server: &Server<'_>,
    oracle: &Oracle<'_>,
    revision: &str,
    path: &str,
    recursive: bool,
) -> Result<(), String> {
    let tree = format!("{revision}:{path}");
    let mut arguments = vec!["ls-tree", "-z"];
    arguments.extend(recursive.then_some(["-r", "-t"]).into_iter().flatten());
    arguments.push(&tree);
    let listed = oracle.git.bytes(&oracle.twin, &arguments);
    let entries: Vec<Entry> = listed.split(|byte| *byte == 0).filter_map(entry).collect();
    let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
    // All folders, then all files, then all submodules.
    let of_kind = |kind: &'static str| entries.iter().filter(move |entry| entry.kind == kind);
    let expected: Vec<String> = ["tree", "blob", "commit"]
        .into_iter()
        .flat_map(of_kind)
        .map(|entry| {
            let Entry { mode, kind, id, path } = entry;
            let name = path.rsplit('/').next().unwrap_or(path);
            format!("{mode} {kind} {id} {name} {prefix}{path}")
        })
        .collect();
    let query = [
        ("ref_name", revision),
        ("path", path),
        ("recursive", if recursive { "true" } else { "false" }),
    ];
    let shown = server.get("tree", &query)?.json();
    let fields = ["mode", "type", "id", "name", "path"];
    let shown: Vec<String> = shown
        .as_array()
        .expect("a tree is a list")
        .iter()
        .map(|entry| fields.map(|field| entry[field].as_str().unwrap_or("?")).join(" "))
        .collect();
    same_list("entries", &shown, &expected)
}

/// One line of `git ls-tree`.
struct Entry {
    mode: String,
    kind: String,
    id: String,
    path: String,
}

/// Parses `<mode> <type> <id>\t<path>`. Returns `None` at the end of the list. Bytes that are not UTF-8 are replaced.
fn entry(line: &[u8]) -> Option<Entry> {
    let line = String::from_utf8_lossy(line);
    let (facts, path) = line.split_once('\t')?;
    let mut facts = facts.split(' ').map(str::to_owned);
    let (mode, kind, id) = (facts.next()?, facts.next()?, facts.next()?);
    Some(Entry { mode, kind, id, path: path.to_owned() })
}
