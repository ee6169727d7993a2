//! Parses the command that a client requests. No program is run: the few commands of git clients are recognised,
//! and everything else is refused.

use hexforge_domain::lfs::LfsOperation;
use hexforge_domain::ports::git_transport::Service;
use hexforge_domain::project::ProjectRef;

/// The maximum length of a command line. No git client sends more.
const LONGEST: usize = 4096;

/// A parsed command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    /// The task alone decides the required permission.
    pub(crate) task: Task,
    pub(crate) project: ProjectRef,
}

/// The tasks that the server offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// A task on the repository.
    Repository(RepositoryTask),
    /// Sends credentials for the LFS requests of the client, which go over HTTP.
    AuthenticateLfs(LfsOperation),
}

/// The tasks on a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RepositoryTask {
    /// Fetch or push, after the ref advertisement.
    Serve(Service),
    /// Sends an archive.
    Archive,
}

impl Task {
    /// The command name that clients request.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Task::Repository(RepositoryTask::Serve(service)) => service.as_str(),
            Task::Repository(RepositoryTask::Archive) => "git-upload-archive",
            Task::AuthenticateLfs(_) => "git-lfs-authenticate",
        }
    }
}

impl RepositoryTask {
    /// Returns true if the task changes the repository.
    pub(crate) fn is_push(self) -> bool {
        self == RepositoryTask::Serve(Service::ReceivePack)
    }
}

const FETCH: Task = Task::Repository(RepositoryTask::Serve(Service::UploadPack));
const PUSH: Task = Task::Repository(RepositoryTask::Serve(Service::ReceivePack));
const ARCHIVE: Task = Task::Repository(RepositoryTask::Archive);

/// Why a command is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is not a git command.
    Unknown,
    /// Its path cannot be the path of a project.
    NoProject,
}

/// The message for a project that does not exist or that the user may not see.
pub(crate) const NOT_FOUND: &str = "The project you were looking for could not be found.";

impl Refusal {
    /// The message to the user.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Refusal::Unknown => {
                "Only git-upload-pack, git-receive-pack, git-upload-archive and git-lfs-authenticate are served here: \
                 there is no shell."
            }
            Refusal::NoProject => NOT_FOUND,
        }
    }
}

impl Command {
    pub(crate) fn parse(line: &[u8]) -> Result<Self, Refusal> {
        let line = std::str::from_utf8(line).map_err(|_| Refusal::Unknown)?;
        if line.len() > LONGEST {
            return Err(Refusal::Unknown);
        }
        let words = split_words(line).ok_or(Refusal::Unknown)?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (task, path) = match words[..] {
            ["git-upload-pack", path] | ["git", "upload-pack", path] => (FETCH, path),
            ["git-receive-pack", path] | ["git", "receive-pack", path] => (PUSH, path),
            ["git-upload-archive", path] | ["git", "upload-archive", path] => (ARCHIVE, path),
            ["git-lfs-authenticate", path, operation] => {
                let operation = LfsOperation::parse(operation).ok_or(Refusal::Unknown)?;
                (Task::AuthenticateLfs(operation), path)
            }
            _ => return Err(Refusal::Unknown),
        };
        Ok(Self { task, project: parse_project(path).ok_or(Refusal::NoProject)? })
    }
}

/// Parses `/namespace/project.git` of ssh:// URLs, or `namespace/project.git` of scp-like addresses.
fn parse_project(path: &str) -> Option<ProjectRef> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    let (namespace, project) = path.split_once('/')?;
    let project = project.strip_suffix(".git").unwrap_or(project);
    let is_name = |name: &str| {
        // Home folders (`~`) and relative paths (`.`, `..`) are not supported.
        !name.is_empty() && !name.starts_with('~') && !name.contains('/') && !is_dots(name)
    };
    let both = is_name(namespace) && is_name(project);
    both.then(|| ProjectRef::Path { namespace: namespace.to_owned(), path: project.to_owned() })
}

fn is_dots(name: &str) -> bool {
    name == "." || name == ".."
}

/// Splits a command line that git quoted for a shell: single quotes, with `\'` and `\!` between them. Outside of
/// quotes only characters that a shell does not interpret are accepted.
fn split_words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars();
    while let Some(character) = rest.next() {
        match character {
            ' ' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        '\'' => break,
                        quoted if quoted.is_control() => return None,
                        quoted => word.push(quoted),
                    }
                }
            }
            '\\' => match rest.next()? {
                escaped @ ('\'' | '!') => word.get_or_insert_default().push(escaped),
                _ => return None,
            },
            plain if plain.is_ascii_alphanumeric() || "-_./+~@".contains(plain) => {
                word.get_or_insert_default().push(plain);
            }
            _ => return None,
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<(Task, String), Refusal> {
        let command = Command::parse(line.as_bytes())?;
        match command.project {
            ProjectRef::Path { namespace, path } => {
                Ok((command.task, format!("{namespace}/{path}")))
            }
            ProjectRef::Id(_) => panic!("a command names a project by its path"),
        }
    }

    #[test]
    fn commands_that_git_clients_send() {
        for (line, task, project) in [
            ("git-upload-pack '/ada/ship.git'", FETCH, "ada/ship"),
            ("git-upload-pack 'ada/ship.git'", FETCH, "ada/ship"),
            ("git-upload-pack 'ada/ship'", FETCH, "ada/ship"),
            ("git-upload-pack ada/ship.git", FETCH, "ada/ship"),
            ("git-upload-pack '/ada/ship.git/'", FETCH, "ada/ship"),
            ("git upload-pack '/ada/ship.git'", FETCH, "ada/ship"),
            ("git-receive-pack '/ada/ship.js.git'", PUSH, "ada/ship.js"),
            ("git receive-pack 'ada/ship.git'", PUSH, "ada/ship"),
            ("git-upload-archive 'ada/ship.git'", ARCHIVE, "ada/ship"),
            (
                "git-lfs-authenticate 'ada/ship.git' download",
                Task::AuthenticateLfs(LfsOperation::Download),
                "ada/ship",
            ),
            (
                "git-lfs-authenticate /ada/ship.git upload",
                Task::AuthenticateLfs(LfsOperation::Upload),
                "ada/ship",
            ),
            ("git-receive-pack 'a'\\''b/c'\\!'d.git'", PUSH, "a'b/c!d"),
        ] {
            assert_eq!(parse(line), Ok((task, project.to_owned())), "{line}");
        }
    }

    #[test]
    fn paths_that_are_none_of_a_project() {
        for path in [
            "",
            "/",
            "ada",
            "/ada",
            "//ada/ship",
            "ada//ship",
            "ada/ship/more",
            "~/ship",
            "/~/ship",
            "~ada/ship",
            "ada/~ship",
            "../ship",
            "ada/..",
            "./ship",
            "ada/../../etc",
            "ada/.git",
        ] {
            let line = format!("git-upload-pack '{path}'");
            assert_eq!(parse(&line), Err(Refusal::NoProject), "{path}");
        }
    }

    /// Security lessons, argument injection: no input reaches a shell, because there is none.
    #[test]
    fn everything_else_is_refused() {
        for line in [
            "",
            "git-upload-pack",
            "git-upload-pack 'a/b' 'c/d'",
            "git-upload-pack --strict 'a/b'",
            "git-upload-pack 'a/b'; id",
            "git-upload-pack 'a/b' && id",
            "git-upload-pack $(id)",
            "git-upload-pack `id`",
            "git-upload-pack 'a/b",
            "git-upload-pack 'a\nb/c'",
            "git-upload-pack \"a/b\"",
            "git-upload-pack a\\/b",
            "GIT_DIR=x git-upload-pack 'a/b'",
            "env --split-string=id",
            "git",
            "git 'upload-pack a/b'",
            "git -c core.x=y upload-pack 'a/b'",
            "git lfs-authenticate a/b download",
            "git-lfs-authenticate a/b",
            "git-lfs-authenticate a/b verify",
            "git-lfs-authenticate a/b download upload",
            "git-lfs-transfer a/b download",
            "scp -t /tmp",
            "git-shell -c x",
            "sh",
        ] {
            assert_eq!(parse(line), Err(Refusal::Unknown), "{line}");
        }
        assert_eq!(Command::parse(b"git-upload-pack '\xff/b'"), Err(Refusal::Unknown));
        let long = format!("git-upload-pack '{}/b'", "a".repeat(LONGEST));
        assert_eq!(parse(&long), Err(Refusal::Unknown));
    }
}
