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

/// Whether the shell shows each command of a job, with its variables expanded (`set -x`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trace {
    /// It shows the entries of the script only.
    Off,
    /// It shows every command.
    On,
}

/// Quotes a text so that a shell takes it literally.
pub fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The script of a job. Each entry is shown and then runs whole, whatever lines it has. The first command that fails
/// ends the script.
pub fn job(shell: Shell, folder: &str, entries: &[String], trace: Trace) -> String {
    let mut script = prelude(shell, folder);
    for entry in entries {
        match trace {
            Trace::Off => script.push_str(&show(entry)),
            // The command that shows the entry is not part of the job.
            Trace::On => {
                script.push_str(&format!("{{ set +x; }} 2>/dev/null\n{}set -x\n", show(entry)));
            }
        }
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
    format!("{options}{EMPTY_INPUT}cd {}\n", quote(folder))
}

/// Gives commands an empty standard input. Bubblewrap reads its options from standard input and closes it, so without
/// this line the first file that a command opens would become its standard input.
const EMPTY_INPUT: &str = "exec </dev/null\n";

/// Prints an entry in bold green before it runs.
fn show(entry: &str) -> String {
    let shown = entry.trim_end();
    format!("printf '\\033[32;1m%s\\033[0m\\n' {}\n", quote(&format!("$ {shown}")))
}

/// The script that brings the working copy to the commit of the build. The credentials are in the environment, see
/// [`git_environment`]. With a `mirror`, jobs cannot change what is kept between builds: the history is in the mirror,
/// and the working copy is new. Without one, nothing but history is kept of an earlier working copy.
pub fn sources(sources: &Sources, folder: &str, mirror: Option<&str>) -> String {
    let folder = quote(folder);
    let mut script = format!("set -e\n{EMPTY_INPUT}");
    // A build that was killed may have left locks behind. Nothing else uses these folders now.
    let locks = "find . -name '*.lock' -type f -exec rm -f {} +\n";
    // Addresses contain neither quotes nor backslashes.
    let remote = format!(
        "[remote \"origin\"]\n\turl = \"{}\"\n\tfetch = +refs/heads/*:refs/remotes/origin/*",
        sources.url
    );
    let make = format!(
        "mkdir -p {folder}\ncd {folder}\ngit init -q --template= .\n\
         printf '%s\\n' {} >> .git/config\n",
        quote(&remote)
    );
    // A job may have closed folders, as tools do that protect what they downloaded. `rm` does not remove their content.
    let open = format!(
        "if [ -d {folder} ] && [ ! -L {folder} ]; then\n\
         find {folder} -type d ! -perm -700 -exec chmod u+rwx {{}} \\; || :\nfi\n"
    );
    match (sources.strategy, mirror) {
        (Strategy::None, _) => {
            script.push_str(&format!("mkdir -p {folder}\necho 'Skipping the git repository'\n"));
            return script;
        }
        (Strategy::Clone, _) => {
            script.push_str(&format!(
                "{open}rm -rf {folder}\necho 'Cloning the repository...'\n{make}"
            ));
            script.push_str(&fetch(sources, ".git/shallow"));
        }
        (Strategy::Fetch, None) => {
            script.push_str(&format!(
                "{open}for link in {folder} {folder}/.git {folder}/.git/objects {folder}/.git/refs; do\n\
                 if [ -L \"$link\" ] || [ ! -d \"$link\" ]; then rm -rf {folder}; fi\ndone\n\
                 if [ -d {folder}/.git ]; then\necho 'Fetching changes...'\ncd {folder}\n\
                 {KEEP_REPOSITORY}cd .git\n{KEEP_HISTORY}{locks}else\necho 'Cloning the repository...'\nfi\n{make}"
            ));
            script.push_str(&fetch(sources, ".git/shallow"));
        }
        (Strategy::Fetch, Some(mirror)) => {
            let (mirror, objects) = (quote(mirror), quote(&format!("{mirror}/objects")));
            script.push_str(&format!(
                "if [ -d {mirror} ]; then echo 'Fetching changes...'; \
                 else echo 'Cloning the repository...'; fi\n\
                 mkdir -p {mirror}\ncd {mirror}\ngit init -q --bare --template= .\n{locks}{fetch}\
                 git pack-refs --all\n\
                 git gc -q --auto || :\n\
                 {open}rm -rf {folder}\n{make}\
                 printf '%s\\n' {objects} > .git/objects/info/alternates\n\
                 for file in packed-refs shallow; do\n\
                 if [ -f {mirror}/$file ]; then cp {mirror}/$file .git/$file; fi\ndone\n",
                fetch = fetch(sources, "shallow"),
            ));
        }
    }
    script.push_str(&format!("git checkout -f -q --detach {}\n", quote(&sources.sha)));
    let short = sources.sha.get(..8).unwrap_or(&sources.sha);
    let shown = quote(&format!("Checked out {short} as {}", sources.reference));
    script.push_str(&format!("printf '%s\\n' {shown}\n"));
    script.push_str(match sources.submodules {
        Submodules::None => "",
        Submodules::Normal => "git submodule sync -q\ngit submodule update -q --init --force\n",
        Submodules::Recursive => {
            "git submodule sync -q --recursive\ngit submodule update -q --init --recursive --force\n"
        }
    });
    script
}

/// Removes everything from the working copy of an earlier build but its repository. Git would leave the folders of
/// submodules, whose repositories could have settings that run programs.
const KEEP_REPOSITORY: &str = "find . ! -name . -prune ! -name .git -exec rm -rf {} +\n";

/// Removes everything from the repository of an earlier build but objects, tags and the branches of the server.
/// Settings, hooks, filters, replaced objects and flags of files in the index could make the next build run other
/// things than its commit contains.
const KEEP_HISTORY: &str = "\
set --
for entry in * .[!.]* ..?* refs/* refs/.[!.]*; do
case \"$entry\" in
objects | refs | refs/remotes | refs/tags) ;;
packed-refs | shallow) if [ -L \"$entry\" ]; then set -- \"$@\" \"$entry\"; fi ;;
*) set -- \"$@\" \"./$entry\" ;;
esac
done
rm -rf objects/info/alternates objects/info/http-alternates \"$@\"
if [ -f packed-refs ]; then sed -i -E '/ refs\\/(remotes|tags)\\//!d' packed-refs; fi
";

/// Fetches the branches and tags and, if they do not contain it, the exact commit: the branch may have been replaced
/// by a forced push since the pipeline was created. With a depth, fetches the commit and its branch or tag only.
fn fetch(sources: &Sources, shallow: &str) -> String {
    let (url, sha) = (quote(&sources.url), quote(&sources.sha));
    let missing = format!("git cat-file -e {sha}'^{{commit}}' 2>/dev/null");
    match sources.depth {
        Some(depth) => {
            let refs = match sources.is_tag {
                true => format!("+refs/tags/{0}:refs/tags/{0}", sources.reference),
                false => format!("+refs/heads/{0}:refs/remotes/origin/{0}", sources.reference),
            };
            // The branch or tag may be gone. Each commit that is asked for comes with this depth.
            let fetch = format!("git fetch -q --no-tags --depth {depth} {url} {sha}");
            format!("{fetch} {} 2>/dev/null || {missing} || {fetch}\n", quote(&refs))
        }
        None => format!(
            "unshallow=; if [ -f {shallow} ]; then unshallow=--unshallow; fi\n\
             git fetch -q --prune --force $unshallow {url} '+refs/heads/*:refs/remotes/origin/*' \
             '+refs/tags/*:refs/tags/*'\n\
             {missing} || git fetch -q --no-tags {url} {sha}\n"
        ),
    }
}

/// Lists the tracked files of the working copy and its submodules, separated by NUL.
pub fn tracked(folder: &str) -> String {
    format!("{EMPTY_INPUT}cd {}\ngit ls-files -z\n", quote(folder))
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

/// The hosts that the sources and their submodules may come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// Every host that the machine reaches.
    All,
    /// The server only, because builds of this runner have no network.
    Server,
}

/// A proxy that does not exist.
const NO_PROXY: &str = "http://127.0.0.1:9";

/// Settings of git for the steps of the runner itself, besides [`git_environment`]: no hook, monitor or prompt that an
/// earlier build may have left in the working copy, and no transport that runs programs or reads files of this machine.
pub fn runner_git_environment(origin: &str, hosts: Hosts) -> Vec<(String, String)> {
    let mut environment = git_environment(origin);
    let mut more = vec![
        ("core.hooksPath".to_owned(), "/dev/null"),
        ("core.fsmonitor".to_owned(), "false"),
        ("gc.autoDetach".to_owned(), "false"),
        ("advice.detachedHead".to_owned(), "false"),
    ];
    let protocols = match hosts {
        Hosts::All => "http:https:ssh:git",
        Hosts::Server => {
            // Git has no list of hosts, but a proxy for each.
            more.push(("http.proxy".to_owned(), NO_PROXY));
            more.push((format!("http.{origin}.proxy"), ""));
            "http:https"
        }
    };
    environment.retain(|(key, _)| key != "GIT_CONFIG_COUNT");
    environment.push(("GIT_CONFIG_COUNT".to_owned(), (more.len() + 2).to_string()));
    for (at, (key, value)) in more.into_iter().enumerate() {
        environment.push((format!("GIT_CONFIG_KEY_{}", at + 2), key));
        environment.push((format!("GIT_CONFIG_VALUE_{}", at + 2), value.to_owned()));
    }
    // Objects that stand for others.
    environment.push(("GIT_NO_REPLACE_OBJECTS".to_owned(), "1".to_owned()));
    // Submodules name other repositories.
    environment.push(("GIT_ALLOW_PROTOCOL".to_owned(), protocols.to_owned()));
    environment
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources_with(strategy: Strategy, depth: Option<u32>) -> Sources {
        Sources {
            strategy,
            depth,
            submodules: Submodules::None,
            url: "http://forge/a/b.git".into(),
            origin: "http://forge".into(),
            sha: "ab".repeat(20),
            reference: "it's $(here)".into(),
            is_tag: false,
            switches: vec![],
        }
    }

    #[test]
    fn texts_are_quoted() {
        assert_eq!(quote("it's"), r"'it'\''s'");
    }

    #[test]
    fn each_entry_runs_whole() {
        let entries = ["cat <<EOF\na\nEOF".to_owned(), "echo 'x'".to_owned()];
        let script = job(Shell::Bash, "/b", &entries, Trace::Off);
        assert!(script.contains("\ncat <<EOF\na\nEOF\nprintf"), "{script}");
        assert!(script.starts_with("set -eo pipefail\n"));
        assert!(!script.contains("set -x"), "{script}");
        let script = job(Shell::Posix, "/b", &entries, Trace::On);
        assert!(!script.contains("pipefail"));
        assert!(
            script.contains("set -x\ncat <<EOF\na\nEOF\n{ set +x; } 2>/dev/null\n"),
            "{script}"
        );
    }

    #[test]
    fn sources_never_contain_credentials() {
        for strategy in [Strategy::None, Strategy::Clone, Strategy::Fetch] {
            let script = sources(&sources_with(strategy, Some(5)), "/b", None);
            assert!(
                !script.contains("@forge")
                    && script.contains("it'\\''s $(here)") == (strategy != Strategy::None),
                "{script}"
            );
        }
        let helper = git_environment("http://forge");
        assert!(helper.iter().any(|(_, value)| value == "credential.http://forge.helper"));
    }

    #[test]
    fn without_a_network_sources_come_from_the_server_only() {
        for (hosts, count, protocols) in
            [(Hosts::All, "6", "http:https:ssh:git"), (Hosts::Server, "8", "http:https")]
        {
            let environment = runner_git_environment("http://forge", hosts);
            let values = |wanted: &str| -> Vec<String> {
                let found = environment.iter().filter(|(key, _)| key == wanted);
                found.map(|(_, value)| value.clone()).collect()
            };
            assert_eq!(values("GIT_CONFIG_COUNT"), [count]);
            assert_eq!(values("GIT_ALLOW_PROTOCOL"), [protocols]);
            let has_proxy = environment.iter().any(|(_, value)| value == "http.http://forge.proxy");
            assert_eq!(has_proxy, hosts == Hosts::Server);
        }
    }

    #[test]
    fn a_mirror_keeps_the_history_and_the_working_copy_is_new() {
        let script = sources(&sources_with(Strategy::Fetch, None), "/b", Some("/b~mirror"));
        let (fetched, made) = (script.find("git fetch"), script.find("rm -rf '/b'"));
        assert!(fetched.is_some() && fetched < made, "{script}");
        assert!(script.contains("'/b~mirror/objects' > .git/objects/info/alternates"), "{script}");
        let script = sources(&sources_with(Strategy::Clone, None), "/b", Some("/b~mirror"));
        assert!(!script.contains("mirror"), "{script}");
    }

    #[test]
    fn a_working_copy_is_opened_before_it_is_removed() {
        for (strategy, mirror) in
            [(Strategy::Clone, None), (Strategy::Fetch, None), (Strategy::Fetch, Some("/b~mirror"))]
        {
            let script = sources(&sources_with(strategy, None), "/b", mirror);
            let opened = script.find("find '/b' -type d ! -perm -700 -exec chmod u+rwx {} \\;");
            let removed = script.find("rm -rf '/b'");
            assert!(opened.is_some() && opened < removed, "{script}");
        }
    }

    #[test]
    fn a_depth_fetches_only_the_commit_and_its_branch_or_tag() {
        let mut shallow = sources_with(Strategy::Fetch, Some(5));
        for (is_tag, refs) in [
            (false, r"'+refs/heads/it'\''s $(here):refs/remotes/origin/it'\''s $(here)'"),
            (true, r"'+refs/tags/it'\''s $(here):refs/tags/it'\''s $(here)'"),
        ] {
            shallow.is_tag = is_tag;
            let script = sources(&shallow, "/b", None);
            let fetch = format!("--depth 5 'http://forge/a/b.git' '{}'", shallow.sha);
            assert!(script.contains(&format!("{fetch} {refs} 2>/dev/null || ")), "{script}");
            assert!(script.contains(&format!("{fetch}\n")), "{script}");
            assert!(!script.contains("git fetch -q --prune"), "{script}");
        }
        let script = sources(&sources_with(Strategy::Clone, None), "/b", None);
        assert!(script.contains("rm -rf '/b'") && script.contains("refs/heads/*"));
    }
}
