//! The shell scripts of a build.

use crate::plan::{Sources, Strategy, Submodules};

/// Which shell runs a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    /// bash, with `pipefail`.
    Bash,
    /// Any POSIX shell, for container images without bash.
    Posix,
}

/// Quotes a text so that a shell takes it literally.
pub fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The script of a job. Each entry is shown and then runs whole, whatever lines it has. The first command that fails
/// ends the script.
pub fn job(shell: Shell, folder: &str, entries: &[String]) -> String {
    let mut script = prelude(shell, folder);
    for entry in entries {
        script.push_str(&show(entry));
        script.push_str(entry);
        script.push('\n');
    }
    script
}

fn prelude(shell: Shell, folder: &str) -> String {
    let options = match shell {
        Shell::Bash => "set -eo pipefail\nset +o noclobber\n",
        Shell::Posix => "set -e\n",
    };
    format!("{options}cd {}\n", quote(folder))
}

/// Prints an entry in bold green before it runs.
fn show(entry: &str) -> String {
    let shown = entry.trim_end();
    format!("printf '\\033[32;1m%s\\033[0m\\n' {}\n", quote(&format!("$ {shown}")))
}

/// The script that brings the working copy to the commit of the build. The credentials are in the environment, see
/// [`git_environment`].
pub fn sources(sources: &Sources, folder: &str) -> String {
    let folder = quote(folder);
    let (url, sha) = (quote(&sources.url), quote(&sources.sha));
    let mut script = String::from("set -e\n");
    match sources.strategy {
        Strategy::None => {
            script.push_str(&format!("mkdir -p {folder}\necho 'Skipping the git repository'\n"));
            return script;
        }
        Strategy::Clone => {
            script.push_str(&format!("rm -rf {folder}\necho 'Cloning the repository...'\n"));
        }
        Strategy::Fetch => script.push_str(&format!(
            "if [ -d {folder}/.git ]; then echo 'Fetching changes...'; \
             else rm -rf {folder}; echo 'Cloning the repository...'; fi\n"
        )),
    }
    // A build that was killed may have left locks behind. Nothing else uses this working copy now.
    script.push_str(&format!(
        "mkdir -p {folder}\ncd {folder}\n\
         git init -q --template= .\n\
         rm -f .git/*.lock .git/refs/remotes/origin/*.lock\n\
         git config remote.origin.url {url}\n"
    ));
    script.push_str(&fetch(sources, &sha));
    script.push_str(&format!(
        "git checkout -f -q --detach {sha}\n\
         git clean -ffdxq\n\
         echo \"Checked out $(git rev-parse --short HEAD) as {}\"\n",
        sources.reference.replace(['"', '$', '`', '\\', '\n'], "?")
    ));
    script.push_str(match sources.submodules {
        Submodules::None => "",
        Submodules::Normal => "git submodule sync -q\ngit submodule update -q --init --force\n",
        Submodules::Recursive => {
            "git submodule sync -q --recursive\ngit submodule update -q --init --recursive --force\n"
        }
    });
    script
}

/// Fetches the branches and tags and, if they do not contain it, the exact commit: the branch may have been replaced
/// by a forced push since the pipeline was created.
fn fetch(sources: &Sources, sha: &str) -> String {
    let missing = format!("git cat-file -e {sha}'^{{commit}}' 2>/dev/null");
    match sources.depth {
        Some(depth) => {
            format!("{missing} || git fetch -q --no-tags --depth {depth} origin {sha}\n")
        }
        None => format!(
            "shallow=; if [ -f .git/shallow ]; then shallow=--unshallow; fi\n\
             git fetch -q --prune --force $shallow origin '+refs/heads/*:refs/remotes/origin/*' \
             '+refs/tags/*:refs/tags/*'\n\
             {missing} || git fetch -q --no-tags origin {sha}\n"
        ),
    }
}

/// Lists the untracked files of the working copy, separated by NUL.
pub fn untracked(folder: &str) -> String {
    format!("cd {}\ngit ls-files --others -z\n", quote(folder))
}

/// The settings that let git use the token of the build for the server, and for no other host. The token itself stays
/// in the variable `CI_BUILD_TOKEN`, so neither addresses nor files nor command lines contain it.
pub fn git_environment(origin: &str) -> Vec<(String, String)> {
    let helper = "!f() { test \"$1\" = get || exit 0; \
                  printf 'username=gitlab-ci-token\\npassword=%s\\n' \"$CI_BUILD_TOKEN\"; }; f";
    let settings = [("credential.helper", ""), (&*format!("credential.{origin}.helper"), helper)]
        .map(|(k, v)| (k.to_owned(), v));
    let mut environment = vec![
        ("GIT_TERMINAL_PROMPT".to_owned(), "0".to_owned()),
        ("GIT_CONFIG_COUNT".to_owned(), "2".to_owned()),
    ];
    for (at, (key, value)) in settings.into_iter().enumerate() {
        environment.push((format!("GIT_CONFIG_KEY_{at}"), key));
        environment.push((format!("GIT_CONFIG_VALUE_{at}"), value.to_owned()));
    }
    environment
}

/// Settings of git for the steps of the runner itself, besides [`git_environment`]: no hook, monitor or prompt that an
/// earlier build may have left in the working copy.
pub fn runner_git_environment(origin: &str) -> Vec<(String, String)> {
    let mut environment = git_environment(origin);
    let more = [
        ("core.hooksPath", "/dev/null"),
        ("core.fsmonitor", "false"),
        ("gc.auto", "0"),
        ("advice.detachedHead", "false"),
    ];
    for (at, (key, value)) in more.into_iter().enumerate() {
        environment.push((format!("GIT_CONFIG_KEY_{}", at + 2), key.to_owned()));
        environment.push((format!("GIT_CONFIG_VALUE_{}", at + 2), value.to_owned()));
    }
    environment.retain(|(key, _)| key != "GIT_CONFIG_COUNT");
    environment.push(("GIT_CONFIG_COUNT".to_owned(), "6".to_owned()));
    environment
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(strategy: Strategy, depth: Option<u32>) -> Sources {
        Sources {
            strategy,
            depth,
            submodules: Submodules::None,
            url: "http://forge/a/b.git".into(),
            origin: "http://forge".into(),
            sha: "ab".repeat(20),
            reference: "it's $(here)".into(),
        }
    }

    #[test]
    fn texts_are_quoted() {
        assert_eq!(quote("it's"), r"'it'\''s'");
    }

    #[test]
    fn each_entry_runs_whole() {
        let entries = ["cat <<EOF\na\nEOF".to_owned(), "echo 'x'".to_owned()];
        let script = job(Shell::Bash, "/b", &entries);
        assert!(script.contains("\ncat <<EOF\na\nEOF\nprintf"), "{script}");
        assert!(script.starts_with("set -eo pipefail\n"));
        assert!(!job(Shell::Posix, "/b", &entries).contains("pipefail"));
    }

    #[test]
    fn sources_never_contain_credentials() {
        for strategy in [Strategy::None, Strategy::Clone, Strategy::Fetch] {
            let script = sources(&of(strategy, Some(5)), "/b");
            assert!(!script.contains('@') && !script.contains("$(here)"), "{script}");
        }
        let helper = git_environment("http://forge");
        assert!(helper.iter().any(|(_, value)| value == "credential.http://forge.helper"));
        assert!(
            runner_git_environment("http://forge")
                .iter()
                .filter(|(key, _)| key == "GIT_CONFIG_COUNT")
                .count()
                == 1
        );
    }

    #[test]
    fn a_depth_fetches_only_the_commit() {
        let script = sources(&of(Strategy::Fetch, Some(5)), "/b");
        assert!(script.contains("--depth 5 origin 'abab") && !script.contains("refs/heads"));
        let script = sources(&of(Strategy::Clone, None), "/b");
        assert!(script.contains("rm -rf '/b'") && script.contains("refs/heads/*"));
    }
}
