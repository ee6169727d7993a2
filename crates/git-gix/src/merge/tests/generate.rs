//! Generates pairs of branches with typical changes: edits, renames of files and folders, deletions, changes of mode and
//! type, binary files, line ends, and merges in both directions.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::support::Random;

/// A file of a generated commit.
#[derive(Clone, Debug, PartialEq, Eq)]
struct File {
    mode: &'static str,
    content: Vec<u8>,
}

type Files = BTreeMap<String, File>;

struct Commit {
    parents: Vec<usize>,
    files: Files,
    date: i64,
    what: Vec<String>,
}

/// Two branches with their history. The last two commits are the tips.
pub(super) struct Pair(Vec<Commit>);

const FOLDERS: [&str; 7] = ["", "a/", "b/", "a/c/", "d/", "d/e/", "f/"];
const NAMES: [&str; 8] = ["x", "y", "main.rs", "lib.rs", "Makefile", "z.txt", "a", "d"];

/// Generates the pair of a seed.
pub(super) fn pair(seed: u64) -> Pair {
    let random = &mut Random::new(seed.wrapping_mul(7919));
    (0..20).for_each(|_| _ = random.below(2));
    let mut base = Files::new();
    for number in 0..3 + random.below(18) {
        let path = format!("{}{}", random.pick(&FOLDERS), random.pick(&NAMES));
        let file = new_file(random, number);
        put(&mut base, path, file);
    }
    let date = |random: &mut Random, at: usize| {
        1_400_000_000 + 60 * at as i64 * i64::from(!random.one_in(9))
    };
    let mut commits = vec![Commit {
        parents: vec![],
        files: base,
        date: 1_399_999_000,
        what: vec!["base".into()],
    }];
    let mut tips = [0, 0];
    for _ in 0..if random.one_in(4) { 1 + random.below(2) } else { 0 } {
        // A criss-cross merge: both branches merge each other's last commit.
        for tip in &mut tips {
            *tip = edited(random, &mut commits, vec![*tip], date);
        }
        let [one, two] = tips;
        for (tip, parents) in [(0, [one, two]), (1, [two, one])] {
            let files = mixed(random, &commits[one].files, &commits[two].files);
            let at = commits.len();
            let date = date(random, at);
            let what = vec![format!("merge {parents:?}")];
            commits.push(Commit { parents: parents.to_vec(), files, date, what });
            tips[tip] = at;
        }
    }
    edited(random, &mut commits, vec![tips[0]], date);
    edited(random, &mut commits, vec![tips[1]], date);
    Pair(commits)
}

/// Takes each file from one of two commits.
fn mixed(random: &mut Random, one: &Files, two: &Files) -> Files {
    let mut files = Files::new();
    let paths: std::collections::BTreeSet<&String> = one.keys().chain(two.keys()).collect();
    for path in paths {
        let from = if random.one_in(2) { one } else { two };
        if let Some(file) = from.get(path) {
            put(&mut files, path.clone(), file.clone());
        }
    }
    files
}

fn edited(
    random: &mut Random,
    commits: &mut Vec<Commit>,
    parents: Vec<usize>,
    date: fn(&mut Random, usize) -> i64,
) -> usize {
    let mut files = commits[parents[0]].files.clone();
    let what = (0..1 + random.below(5)).map(|_| edit(random, &mut files)).collect();
    let at = commits.len();
    let date = date(random, at);
    commits.push(Commit { parents, files, date, what });
    at
}

/// Makes one change.
fn edit(random: &mut Random, files: &mut Files) -> String {
    let paths: Vec<String> = files.keys().cloned().collect();
    if paths.is_empty() || random.one_in(8) {
        let path = format!("{}{}", random.pick(&FOLDERS), random.pick(&NAMES));
        // Few contents, so that both sides may add the same.
        let number = random.below(40);
        let file = if random.one_in(3) { shared_file(number) } else { new_file(random, number) };
        put(files, path.clone(), file);
        return format!("add {path}");
    }
    let path = random.pick(&paths).clone();
    match random.below(14) {
        0 => {
            files.remove(&path);
            format!("remove {path}")
        }
        1..=3 => {
            let to = format!("{}{}", random.pick(&FOLDERS), random.pick(&NAMES));
            if let Some(mut file) = files.remove(&path) {
                if random.one_in(2) {
                    edit_lines(random, &mut file);
                }
                put(files, to.clone(), file);
            }
            format!("rename {path} {to}")
        }
        4 | 5 => rename_folder(random, files, &path),
        6 => {
            if let Some(file) = files.get_mut(&path) {
                *file = changed_type(random, file);
            }
            format!("change type of {path}")
        }
        7 => {
            if let Some(file) = files.get_mut(&path).filter(|file| file.mode != "160000") {
                let text = String::from_utf8_lossy(&file.content).replace("\r\n", "\n");
                file.content = text.replace('\n', "\r\n").into_bytes();
            }
            format!("change line ends of {path}")
        }
        8 => {
            files.remove(&path);
            put(files, format!("{path}/inside"), new_file(random, 50));
            format!("turn {path} into a folder")
        }
        _ => {
            if let Some(file) = files.get_mut(&path) {
                edit_lines(random, file);
            }
            format!("edit {path}")
        }
    }
}

fn rename_folder(random: &mut Random, files: &mut Files, path: &str) -> String {
    let Some(end) = path.find('/') else { return "nothing".into() };
    let (from, to) =
        (path[..=end].to_owned(), (*random.pick(&["g/", "h/i/", "a/", "b/", ""])).to_owned());
    let moved: Vec<String> = files.keys().filter(|path| path.starts_with(&from)).cloned().collect();
    for old in moved {
        if random.one_in(6) {
            continue;
        }
        if let Some(mut file) = files.remove(&old) {
            if random.one_in(5) {
                edit_lines(random, &mut file);
            }
            put(files, format!("{to}{}", &old[from.len()..]), file);
        }
    }
    format!("rename folder {from} {to}")
}

fn changed_type(random: &mut Random, file: &File) -> File {
    match (random.below(5), file.mode) {
        (0, _) => {
            File { mode: "120000", content: format!("target{}", random.below(3)).into_bytes() }
        }
        (1, _) => {
            File { mode: "160000", content: format!("{:040x}", 1 + random.below(3)).into_bytes() }
        }
        (2, _) => File { mode: "100644", content: vec![0, 1, 2, random.below(3) as u8, 0, 9] },
        (_, "100644") => File { mode: "100755", content: file.content.clone() },
        (_, "100755") => File { mode: "100644", content: file.content.clone() },
        (_, _) => new_file(random, 60),
    }
}

/// Puts a file at a path, in place of what would be in the way.
fn put(files: &mut Files, path: String, file: File) {
    let folder = format!("{path}/");
    files.retain(|other, _| !other.starts_with(&folder) && !path.starts_with(&format!("{other}/")));
    files.insert(path, file);
}

fn new_file(random: &mut Random, number: usize) -> File {
    if random.one_in(30) {
        return File { mode: "100644", content: vec![] };
    }
    // Few different lines, so that there are many ways to compare two versions.
    if random.one_in(5) {
        let words = ["a\n", "b\n", "}\n", "\n", "    return;\n"];
        let content = (0..5 + random.below(60)).map(|_| words[random.below(5)]).collect::<String>();
        return File { mode: "100644", content: content.into_bytes() };
    }
    let mut content = String::new();
    for line in 0..3 + random.below(30) {
        let _ = match random.below(6) {
            0 => writeln!(content, "}}"),
            1 => writeln!(content),
            _ => writeln!(content, "line {line} of file {number} {}", random.below(3)),
        };
    }
    // Versions of git before 2.44 ignore an incomplete last line when they estimate the similarity of files.
    if content.len() > 300 && random.one_in(6) {
        content.pop();
    }
    let mode = if random.one_in(8) { "100755" } else { "100644" };
    File { mode, content: content.into_bytes() }
}

fn shared_file(number: usize) -> File {
    let content = (0..10).map(|line| format!("shared {line} {}\n", number % 4)).collect::<String>();
    File { mode: "100644", content: content.into_bytes() }
}

/// Changes some lines.
fn edit_lines(random: &mut Random, file: &mut File) {
    if file.mode == "160000" || file.mode == "120000" {
        *file = match file.mode {
            "160000" => File {
                mode: "160000",
                content: format!("{:040x}", 1 + random.below(4)).into_bytes(),
            },
            _ => {
                File { mode: "120000", content: format!("target{}", random.below(4)).into_bytes() }
            }
        };
        return;
    }
    let mut lines: Vec<Vec<u8>> =
        file.content.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    for _ in 0..1 + random.below(3) {
        let at = random.below(lines.len() + 1);
        let new = match random.below(4) {
            0 => b"}\n".to_vec(),
            1 => b"\n".to_vec(),
            _ => format!("changed {}\n", random.below(5)).into_bytes(),
        };
        match random.below(4) {
            0 => lines.insert(at, new),
            1 if at < lines.len() => drop(lines.remove(at)),
            2 if at < lines.len() => {
                let moved = lines.remove(at);
                lines.insert(random.below(lines.len() + 1), moved);
            }
            _ if at < lines.len() => lines[at] = new,
            _ => lines.push(new),
        }
    }
    file.content = lines.concat();
}

impl Pair {
    /// Writes the commits for `git fast-import`, with the branches `ours` and `theirs`.
    pub(super) fn write(&self, seed: u64, to: &mut Vec<u8>) {
        let mark = |at: usize| seed * 100 + at as u64 + 1;
        for (at, commit) in self.0.iter().enumerate() {
            let branch = format!("commit-{seed}-{at}");
            let mut head = format!("commit refs/heads/{branch}\nmark :{}\n", mark(at));
            let _ = write!(head, "committer A <a@b> {} +0000\ndata 1\nx\n", commit.date);
            for (number, parent) in commit.parents.iter().enumerate() {
                let word = if number == 0 { "from" } else { "merge" };
                let _ = writeln!(head, "{word} :{}", mark(*parent));
            }
            head.push_str("deleteall\n");
            to.extend_from_slice(head.as_bytes());
            for (path, file) in &commit.files {
                if file.mode == "160000" {
                    let id = String::from_utf8_lossy(&file.content);
                    to.extend_from_slice(format!("M 160000 {id} {path}\n").as_bytes());
                    continue;
                }
                let length = file.content.len();
                to.extend_from_slice(
                    format!("M {} inline {path}\ndata {length}\n", file.mode).as_bytes(),
                );
                to.extend_from_slice(&file.content);
                to.push(b'\n');
            }
            to.push(b'\n');
        }
        for (name, back) in [("ours", 2), ("theirs", 1)] {
            let tip = mark(self.0.len() - back);
            to.extend_from_slice(
                format!("reset refs/heads/{name}-{seed}\nfrom :{tip}\n\n").as_bytes(),
            );
        }
    }

    /// Lists the changes of all commits.
    pub(super) fn describe(&self) -> String {
        let commits = self.0.iter().enumerate().map(|(at, commit)| {
            format!("  {at} {:?}: {}\n", commit.parents, commit.what.join(", "))
        });
        commits.collect()
    }
}
