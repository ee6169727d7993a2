//! The process between the runner and the processes of a build: `hexforge runner-supervise`.
//!
//! It starts one command and waits for it. All processes that the command starts stay below it, also those that leave
//! their process group or session, because orphans are handed to it (`PR_SET_CHILD_SUBREAPER`). When the command has
//! ended, or when the runner closes the pipe on standard input, it kills everything that is left and ends. The runner's
//! end of the pipe closes too when the runner is killed, so a killed runner leaves no process behind.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, flock};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, WaitStatus, getpid, kill_process,
    set_child_subreaper, setrlimit, umask, wait,
};
use serde::{Deserialize, Serialize};

use crate::cgroup::GroupPaths;

/// The first argument of the program that makes it a supervisor.
pub const ARGUMENT: &str = "runner-supervise";

/// How long processes have between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(700);

/// The longest specification, in bytes.
const MAX_SPEC: u32 = 64 << 20;

/// The exit code for a command that cannot be started.
pub const CANNOT_START: u8 = 127;

/// A command with its surroundings.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Spec {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its whole environment.
    pub environment: Vec<(String, String)>,
    /// Its working folder.
    pub folder: PathBuf,
    /// The file on its standard input; nothing if absent.
    pub input: Option<PathBuf>,
    /// The limit of the address space of each process, in bytes.
    pub memory: Option<u64>,
    /// The limit of processes of the user.
    pub processes: Option<u64>,
    /// The control group of the build.
    pub group: Option<GroupPaths>,
    /// The user and the group as whom the command runs; those of the runner if absent.
    pub user: Option<(u32, u32)>,
    /// The file that is locked until no process of the command is left.
    pub busy: Option<PathBuf>,
}

impl Spec {
    /// Writes the specification for the supervisor.
    /// # Errors
    /// The pipe is closed.
    pub fn send(&self, to: &mut impl Write) -> std::io::Result<()> {
        let text = serde_json::to_vec(self).map_err(std::io::Error::other)?;
        let length = u32::try_from(text.len()).map_err(std::io::Error::other)?;
        to.write_all(&length.to_be_bytes())?;
        to.write_all(&text)?;
        to.flush()
    }

    fn receive(from: &mut impl Read) -> std::io::Result<Self> {
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        let length = u32::from_be_bytes(length);
        if length > MAX_SPEC {
            return Err(std::io::Error::other("the specification is too long"));
        }
        let mut text = Vec::new();
        from.take(length.into()).read_to_end(&mut text)?;
        serde_json::from_slice(&text).map_err(std::io::Error::other)
    }
}

/// Runs as the supervisor. The exit code is that of the command, or 128 and the signal that ended it.
pub fn main() -> ExitCode {
    match supervise() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "ERROR: the command cannot be started: {error}");
            ExitCode::from(CANNOT_START)
        }
    }
}

fn supervise() -> std::io::Result<u8> {
    let mut stdin = std::io::stdin();
    let spec = Spec::receive(&mut stdin)?;
    // Held until this process ends, which is after all others.
    let busy = spec.busy.as_ref().map(std::fs::File::open).transpose()?;
    if let Some(busy) = &busy {
        flock(busy, FlockOperation::LockShared)?;
    }
    set_child_subreaper(Some(getpid()))?;
    // The runner keeps its own files private. Files of builds have the usual permissions.
    umask(Mode::from_raw_mode(0o022));
    limit(&spec)?;
    let mut command = Command::new(&spec.program);
    command.args(&spec.arguments).current_dir(&spec.folder).env_clear();
    command.envs(spec.environment.iter().map(|(key, value)| (key, value))).process_group(0);
    command.stdin(match &spec.input {
        Some(file) => Stdio::from(std::fs::File::open(file)?),
        None => Stdio::null(),
    });
    if let Some((user, group)) = spec.user {
        // A process of root that does so also leaves its other groups.
        command.uid(user).gid(group);
    }
    // Started before the command: where no thread can be started, no command must be left without it. It ends with the
    // process.
    let (tell_group, group_of_thread) = mpsc::channel();
    std::thread::Builder::new().spawn(move || {
        let _ = std::io::copy(&mut stdin, &mut std::io::sink());
        terminate(group_of_thread.recv().ok().flatten().as_ref());
    })?;
    // The command is in the group from its beginning. This process is not, because the group is killed as a whole.
    let group = spec.group.filter(|group| group.enter().is_ok());
    let child = command.spawn();
    let group = group.filter(|group| group.leave().is_ok());
    let _ = tell_group.send(group.clone());
    let child = child
        .map_err(|error| std::io::Error::other(format!("{}: {error}", spec.program.display())))?;
    let main = Pid::from_child(&child);
    let status = wait_for(main);
    if let Some(group) = &group {
        group.kill();
    }
    kill_all();
    Ok(status)
}

/// Limits apply to this process and are inherited.
fn limit(spec: &Spec) -> std::io::Result<()> {
    for (resource, limit) in [(Resource::As, spec.memory), (Resource::Nproc, spec.processes)] {
        if let Some(limit) = limit {
            setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) })?;
        }
    }
    // Core dumps could contain secrets.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    Ok(())
}

/// Waits for the command, and reaps every other process that ends before.
fn wait_for(main: Pid) -> u8 {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == main => return code(status),
            Ok(_) => (),
            Err(rustix::io::Errno::INTR) => (),
            // No child is left, which cannot happen before the command ended.
            Err(_) => return CANNOT_START,
        }
    }
}

fn code(status: WaitStatus) -> u8 {
    let code = status.exit_status().or(status.terminating_signal().map(|signal| 128 + signal));
    u8::try_from(code.unwrap_or(1)).unwrap_or(1)
}

/// Asks all processes to end, and kills them after a grace period. The main thread notices the end of the command and
/// exits.
fn terminate(group: Option<&GroupPaths>) {
    for pid in descendants() {
        let _ = kill_process(pid, Signal::TERM);
    }
    let since = Instant::now();
    while since.elapsed() < GRACE {
        std::thread::sleep(Duration::from_millis(20));
    }
    loop {
        if let Some(group) = group {
            group.kill();
        }
        for pid in descendants() {
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Kills and reaps all processes that are left. Children of a killed process become children of this one.
fn kill_all() {
    loop {
        for pid in descendants() {
            let _ = kill_process(pid, Signal::KILL);
        }
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) => (),
                Ok(None) => break,
                Err(_) => return,
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// All processes below this one.
fn descendants() -> Vec<Pid> {
    let mut children = children();
    let own = children.remove(&getpid().as_raw_nonzero().get()).unwrap_or_default();
    with_descendants(&mut children, own)
}

/// All processes, by their parents.
pub(crate) fn children() -> HashMap<i32, Vec<i32>> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        if let Some(parent) = parent_of(&stat) {
            children.entry(parent).or_default().push(pid);
        }
    }
    children
}

/// Returns these processes and all their descendants.
pub(crate) fn with_descendants(children: &mut HashMap<i32, Vec<i32>>, first: Vec<i32>) -> Vec<Pid> {
    let (mut found, mut next) = (Vec::new(), first);
    while let Some(pid) = next.pop() {
        found.extend(Pid::from_raw(pid));
        next.extend(children.remove(&pid).unwrap_or_default());
    }
    found
}

/// The parent in `/proc/PID/stat`. The name of the program is in parentheses and may contain anything.
fn parent_of(stat: &str) -> Option<i32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_specification_is_read_back() {
        let spec =
            Spec { program: "/bin/sh".into(), arguments: vec!["-c".into()], ..Spec::default() };
        let mut pipe = Vec::new();
        spec.send(&mut pipe).expect("written");
        let read = Spec::receive(&mut pipe.as_slice()).expect("read");
        assert_eq!((read.program, read.arguments), (spec.program, spec.arguments));
        assert!(Spec::receive(&mut [255_u8, 255, 255, 255].as_slice()).is_err());
    }

    #[test]
    fn the_parent_is_behind_the_name() {
        assert_eq!(parent_of("12 (a) b (c) S 7 12 12 0"), Some(7));
        assert_eq!(parent_of("12 sh S 7"), None);
    }
}
