use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use gix::object::Kind;

use super::{AcceptedFaults, Fault, Fsck, modules};

const TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const WHO: &str = "Ada <ada@example.com> 1400000000 +0100";

fn fault_of(kind: Kind, data: &[u8]) -> Option<Fault> {
    Fsck { accepted: &AcceptedFaults::none() }.check(kind, data).err()
}

fn commit() -> String {
    format!("tree {TREE}\nparent {TREE}\nauthor {WHO}\ncommitter {WHO}\n\nmessage\n")
}

fn tag() -> String {
    format!("object {TREE}\ntype commit\ntag v1\ntagger {WHO}\n\nmessage\n")
}

/// Builds a tree from pairs of mode and name.
fn tree(entries: &[(&str, &str)]) -> Vec<u8> {
    let entry =
        |(mode, name): &(&str, &str)| [format!("{mode} {name}\0").as_bytes(), &[7; 20]].concat();
    entries.iter().flat_map(entry).collect()
}

#[test]
fn commits_and_tags_with_errors_are_known_by_git_s_names() {
    let cases = [
        ("message", "x\0", None),
        ("tree ", "Tree ", Some(Fault::MissingTree)),
        ("tree 4", "tree x", Some(Fault::BadTreeSha1)),
        ("parent 4", "parent x", Some(Fault::BadParentSha1)),
        ("author A", "auth A", Some(Fault::MissingAuthor)),
        ("committer", "commit", Some(Fault::MissingCommitter)),
        ("Ada <", "<", Some(Fault::MissingNameBeforeEmail)),
        ("Ada <", "A>da <", Some(Fault::BadName)),
        ("<ada@example.com>", "", Some(Fault::MissingEmail)),
        ("Ada <", "Ada<", Some(Fault::MissingSpaceBeforeEmail)),
        ("ada@", "ada<", Some(Fault::BadEmail)),
        ("> 14", ">14", Some(Fault::MissingSpaceBeforeDate)),
        ("1400000000", "014", Some(Fault::ZeroPaddedDate)),
        ("1400000000", "0", None),
        ("1400000000", "9223372036854775807", None),
        ("1400000000", "9223372036854775808", Some(Fault::BadDateOverflow)),
        ("1400000000", "14x", Some(Fault::BadDate)),
        ("1400000000", "noon", Some(Fault::BadDate)),
        ("+0100", "+010", Some(Fault::BadTimezone)),
        ("+0100", "0100", Some(Fault::BadTimezone)),
        ("Ada", "A\0da", Some(Fault::NulInHeader)),
    ];
    for (from, to, fault) in cases {
        let data = commit().replacen(from, to, 1);
        assert_eq!(fault_of(Kind::Commit, data.as_bytes()), fault, "{data}");
    }
    let twice = commit().replacen("author", &format!("author {WHO}\nauthor"), 1);
    assert_eq!(fault_of(Kind::Commit, twice.as_bytes()), Some(Fault::MultipleAuthors));
    let cut = commit().split("\n\n").next().map(str::to_owned).unwrap_or_default();
    assert_eq!(fault_of(Kind::Commit, cut.as_bytes()), Some(Fault::UnterminatedHeader));
    let cases = [
        ("message", "x", None),
        ("object", "objekt", Some(Fault::MissingObject)),
        ("object 4", "object x", Some(Fault::BadObjectSha1)),
        ("type", "typ", Some(Fault::MissingTypeEntry)),
        ("type commit", "type thing", Some(Fault::BadType)),
        ("tag v1", "name v1", Some(Fault::MissingTagEntry)),
        ("tagger", "tager", None),
        ("+0100", "", Some(Fault::BadTimezone)),
    ];
    for (from, to, fault) in cases {
        let data = tag().replacen(from, to, 1);
        assert_eq!(fault_of(Kind::Tag, data.as_bytes()), fault, "{data}");
    }
}

#[test]
fn trees_are_sorted_and_have_each_name_once() {
    let (file, folder) = ("100644", "40000");
    type Entries<'a> = &'a [(&'a str, &'a str)];
    let (long, longer) = ("n".repeat(4096), "n".repeat(4097));
    let cases: [(Entries<'_>, Option<Fault>); 11] = [
        (&[], None),
        (&[(file, "a"), (folder, "b"), (file, "c")], None),
        (&[(file, "a.b"), (folder, "a"), (file, "a0")], None),
        (&[(file, "b"), (file, "a")], Some(Fault::TreeNotSorted)),
        (&[(folder, "a"), (file, "a.b")], Some(Fault::TreeNotSorted)),
        (&[(file, "a"), (file, "a")], Some(Fault::DuplicateEntries)),
        (&[(file, "a"), (file, "a.b"), (folder, "a")], Some(Fault::DuplicateEntries)),
        (
            &[(file, "a"), (file, "a.b"), (file, "a.b.c"), (folder, "a.b")],
            Some(Fault::DuplicateEntries),
        ),
        (&[(file, "")], Some(Fault::BadTree)),
        (&[(file, &long)], None),
        (&[(file, &longer)], Some(Fault::LargePathname)),
    ];
    for (entries, fault) in cases {
        assert_eq!(fault_of(Kind::Tree, &tree(entries)), fault, "{entries:?}");
    }
    for broken in ["100644 a", "100644", "x a\0", "100644 a\0short"] {
        assert_eq!(fault_of(Kind::Tree, broken.as_bytes()), Some(Fault::BadTree), "{broken}");
    }
}

#[test]
fn submodules_that_could_do_harm_are_known() {
    let cases = [
        (
            "[submodule \"a/b\"]\npath = a\nurl = https://example.com/a.git\nupdate = rebase\n",
            vec![],
        ),
        ("[submodule \"a\"]\nurl = ../b.git\n", vec![]),
        ("[submodule \"a\"]\nurl = git@example.com:a.git\n", vec![]),
        ("[submodule \"a\"]\nurl = /srv/a.git\n", vec![]),
        ("no settings at all [", vec![]),
        ("[submodule \"../a\"]\n", vec![Fault::GitmodulesName]),
        ("[submodule \"a\\\\..\\\\b\"]\n", vec![Fault::GitmodulesName]),
        ("[submodule \"a\"]\nurl = -ufoo\n", vec![Fault::GitmodulesUrl]),
        ("[submodule \"a\"]\nurl = ../../:example.com\n", vec![Fault::GitmodulesUrl]),
        ("[submodule \"a\"]\nurl = ./%0ahost=example.com\n", vec![Fault::GitmodulesUrl]),
        ("[submodule \"a\"]\nurl = https://example.com/%0a.git\n", vec![Fault::GitmodulesUrl]),
        ("[submodule \"a\"]\nurl = https:///example.com/a.git\n", vec![Fault::GitmodulesUrl]),
        ("[submodule \"a\"]\npath = -x\n", vec![Fault::GitmodulesPath]),
        ("[submodule \"a\"]\nupdate = !rm\n", vec![Fault::GitmodulesUpdate]),
    ];
    for (text, faults) in cases {
        assert_eq!(modules::faults(text.as_bytes()), faults, "{text}");
    }
}

#[test]
fn accepted_errors_are_named_as_git_names_them() {
    let accepted = AcceptedFaults::parse("zeroPaddedDate, badtimezone").expect("both are errors");
    assert_eq!(accepted.to_string(), "badTimezone,zeroPaddedDate");
    assert_eq!(AcceptedFaults::parse("none"), Ok(AcceptedFaults::none()));
    assert_eq!(AcceptedFaults::none().to_string(), "none");
    assert_eq!(AcceptedFaults::parse("badTree,nothing"), Err("nothing".to_owned()));
    let data = commit().replacen("1400000000 +0100", "01400000000 +1", 1);
    let fsck = Fsck { accepted: &accepted };
    assert_eq!(fsck.check(Kind::Commit, data.as_bytes()), Ok(()));
}

/// Compares our verdict with that of `git fsck`, for objects with one to three random changes.
#[test]
fn git_fsck_finds_the_same_errors() {
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(folder.path()).args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null");
        git
    };
    assert!(git(&["init", "-q", "--bare", "."]).status().expect("git can be started").success());
    let mut random = Random(11);
    let mut ours = BTreeMap::new();
    for number in 0..600 {
        let (kind, mut data) = match number % 3 {
            0 => (Kind::Commit, commit().into_bytes()),
            1 => (Kind::Tag, tag().into_bytes()),
            _ => (Kind::Tree, random.tree()),
        };
        for _ in 0..=random.below(3) {
            random.change(kind, &mut data);
        }
        let id = write_loose(folder.path(), kind, &data);
        ours.insert(id, (fault_of(kind, &data).map(Fault::name), data));
    }
    let fsck = git(&["fsck", "--no-dangling"]).stdout(Stdio::null()).output();
    let printed = String::from_utf8_lossy(&fsck.expect("git can be started").stderr).into_owned();
    // `error in tree <id>: <name>: <text>`; an object can have several lines.
    let mut theirs: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut unparsed = String::new();
    for line in printed.lines() {
        let Some(line) = line.strip_prefix("error in ") else {
            // For an object that it cannot parse, git reports no error name.
            unparsed.push_str(line);
            continue;
        };
        let mut words = line.split(' ');
        let (Some(_), Some(id), Some(name)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        // The objects refer to objects that do not exist, which is not tested here.
        if name == "broken" {
            continue;
        }
        let id = id.trim_end_matches(':').to_owned();
        theirs.entry(id).or_default().push(name.trim_end_matches(':'));
    }
    let mut found = 0;
    for (id, (fault, data)) in &ours {
        let git = theirs.get(id).cloned().unwrap_or_default();
        // Git reports all errors of a tree in its own order, but only one if the tree is truncated.
        let is_among = |fault| git.contains(&fault) || git.contains(&"badTree");
        let is_among = |fault| is_among(fault) || unparsed.contains(id);
        let same = fault.map_or(git.is_empty(), is_among);
        assert!(same, "{fault:?} instead of {git:?}: {}", data.escape_ascii());
        found += usize::from(fault.is_some());
    }
    assert!(found > 100, "{found} objects have errors");
}

fn write_loose(repository: &Path, kind: Kind, data: &[u8]) -> String {
    let mut object = format!("{kind} {}\0", data.len()).into_bytes();
    object.extend(data);
    let id = gix::objs::compute_hash(gix::hash::Kind::Sha1, kind, data).expect("it can be hashed");
    let id = id.to_string();
    let folder = repository.join("objects").join(&id[..2]);
    fs::create_dir_all(&folder).expect("the repository can be written");
    let mut compressed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    compressed.write_all(&object).expect("memory can be written");
    let compressed = compressed.finish().expect("memory can be written");
    fs::write(folder.join(&id[2..]), compressed).expect("the repository can be written");
    id
}

/// A pseudo-random generator with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    fn tree(&mut self) -> Vec<u8> {
        let names = ["a", "a-b", "a.b", "a.b-c", "a0", "b", "b.c"];
        let count = 1 + self.below(5);
        let mut entries: Vec<(&str, &str)> = (0..count)
            .map(|_| (["100644", "40000"][self.below(2)], names[self.below(names.len())]))
            .collect();
        if self.below(3) > 0 {
            entries.sort_by_key(|(mode, name)| {
                if *mode == "40000" { format!("{name}/") } else { (*name).to_owned() }
            });
        }
        tree(&entries)
    }

    /// Removes, duplicates or replaces a part of the object.
    fn change(&mut self, kind: Kind, data: &mut Vec<u8>) {
        if kind == Kind::Tree {
            if self.below(4) == 0 {
                data.truncate(data.len() - self.below(data.len().min(30)));
            }
            return;
        }
        let text = String::from_utf8_lossy(data).into_owned();
        let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
        let at = self.below(lines.len().min(5));
        let pieces = ["<", ">", " ", "\n", "0", "1400000000", "Ada", "+0100", "\0", "4b825"];
        match self.below(4) {
            0 => {
                lines.remove(at);
            }
            1 => lines.insert(at, lines[at].clone()),
            2 => lines[at] = lines[at].replacen(pieces[self.below(pieces.len())], "", 1),
            _ => {
                let from = pieces[self.below(pieces.len())];
                let to = pieces[self.below(pieces.len())];
                lines[at] = lines[at].replacen(from, to, 1);
            }
        }
        *data = lines.join("\n").into_bytes();
    }
}
