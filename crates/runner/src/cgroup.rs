//! Control groups (version 2) of builds: limits for all processes of a build together, and a way to kill them all at
//! once. Where the system does not allow them, a build has the limits of single processes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The beginning of the names of the groups that this program makes.
const PREFIX: &str = "hexforge-build-";

/// The group into which the runner moves, because a group with limits for its children contains no processes itself.
const OWN: &str = "hexforge-runner";

/// The length of a period of the processor limit, in microseconds.
const PERIOD: u64 = 100_000;

/// How often the removal of a group is tried, while the kernel ends its processes.
const TRIES: u32 = 100;

/// The limits of a build.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Memory in bytes.
    pub memory: Option<u64>,
    /// The number of processes and threads.
    pub processes: Option<u64>,
    /// The number of processors; one half is a half of one.
    pub cpus: Option<f64>,
}

impl Limits {
    /// The files of a group and what they have to contain.
    fn files(self) -> Vec<(&'static str, String)> {
        let memory = self.memory.map(|bytes| ("memory.max", bytes.to_string()));
        // Without it, a build that reaches the limit would fill the swap space.
        let swap = self.memory.map(|_| ("memory.swap.max", "0".to_owned()));
        let processes = self.processes.map(|count| ("pids.max", count.to_string()));
        let cpus = self.cpus.map(|cpus| {
            // The kernel takes no less than one thousandth of a second.
            let share = (cpus.clamp(0.01, 10_000.0) * PERIOD as f64) as u64;
            ("cpu.max", format!("{share} {PERIOD}"))
        });
        [memory, swap, processes, cpus].into_iter().flatten().collect()
    }

    fn controllers(self) -> Vec<&'static str> {
        let wanted = [
            ("memory", self.memory.is_some()),
            ("pids", self.processes.is_some()),
            ("cpu", self.cpus.is_some()),
        ];
        wanted.into_iter().filter(|(_, wanted)| *wanted).map(|(name, _)| name).collect()
    }
}

/// Where groups of builds are made.
#[derive(Clone, Debug)]
pub struct Groups {
    /// The group above those of the builds.
    parent: PathBuf,
    /// The group of the runner and its supervisors.
    home: PathBuf,
}

/// A group, as a supervisor has to know it.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct GroupPaths {
    /// The folder of the group of the build.
    pub group: PathBuf,
    /// The folder of the group of the runner.
    pub home: PathBuf,
}

impl Groups {
    /// Finds out where this process may make groups, if it may. With limits it moves into a group of its own.
    pub fn find(limits: Limits) -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        Self::find_below(&own_folder(&mounts, &own)?, limits)
    }

    fn find_below(own: &Path, limits: Limits) -> Option<Self> {
        let inside = own.file_name().is_some_and(|name| name == OWN);
        let parent = if inside { own.parent()?.to_owned() } else { own.to_owned() };
        let mut groups = Self { home: own.to_owned(), parent };
        groups.remove_leftovers();
        // Whether it may is found out by doing it.
        let trial = groups.parent.join(format!("{PREFIX}trial-{}", std::process::id()));
        fs::create_dir(&trial).ok()?;
        let usable = trial.join("cgroup.procs").exists() || !groups.parent.starts_with("/sys");
        let _ = fs::remove_dir(&trial);
        if !usable {
            return None;
        }
        for controller in limits.controllers() {
            if let Err(error) = groups.enable(controller) {
                tracing::warn!(
                    controller,
                    %error,
                    "limits of builds as a whole cannot be set here: single processes are limited instead"
                );
                break;
            }
        }
        Some(groups)
    }

    /// Lets the groups of builds have limits of this kind.
    fn enable(&mut self, controller: &str) -> io::Result<()> {
        let file = self.parent.join("cgroup.subtree_control");
        let has = |text: String| text.split_whitespace().any(|word| word == controller);
        if fs::read_to_string(&file).is_ok_and(has) {
            return Ok(());
        }
        if fs::write(&file, format!("+{controller}")).is_ok() {
            return Ok(());
        }
        // The group must not contain processes itself.
        if self.home == self.parent {
            let own = self.parent.join(OWN);
            match fs::create_dir(&own) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => fs::write(own.join("cgroup.procs"), "0")?,
            }
            self.home = own;
        }
        fs::write(&file, format!("+{controller}"))
    }

    /// Removes the groups of builds whose runner was killed. Those that are in use stay.
    fn remove_leftovers(&self) {
        for entry in fs::read_dir(&self.parent).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(PREFIX) {
                let _ = fs::remove_dir(entry.path());
            }
        }
    }

    /// Makes the group of a build. Servers give the same ids to their builds, so `runner` is the key of the runner.
    /// # Errors
    /// The system does not allow it.
    pub fn create(&self, runner: &str, build: i64, limits: Limits) -> io::Result<Group> {
        let name = format!("{PREFIX}{}-{runner}-{build}", std::process::id());
        let folder = self.parent.join(name);
        fs::create_dir(&folder)?;
        let group = Group { paths: GroupPaths { group: folder, home: self.home.clone() } };
        for (file, content) in limits.files() {
            let written = fs::write(group.paths.group.join(file), content);
            // There may be no swap space to limit.
            if file != "memory.swap.max" {
                written?;
            }
        }
        Ok(group)
    }
}

/// The group of a build. Its processes are killed when it is dropped.
#[derive(Debug)]
pub struct Group {
    /// Where it is.
    pub paths: GroupPaths,
}

impl Drop for Group {
    fn drop(&mut self) {
        self.paths.kill();
        for _ in 0..TRIES {
            match fs::remove_dir(&self.paths.group) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                _ => return,
            }
        }
    }
}

impl GroupPaths {
    /// Moves this process into the group of the build.
    /// # Errors
    /// The system does not allow it.
    pub fn enter(&self) -> io::Result<()> {
        fs::write(self.group.join("cgroup.procs"), "0")
    }

    /// Moves this process back.
    /// # Errors
    /// The system does not allow it.
    pub fn leave(&self) -> io::Result<()> {
        fs::write(self.home.join("cgroup.procs"), "0")
    }

    /// Kills all processes of the group at once, also those that start others faster than they can be counted.
    pub fn kill(&self) {
        let file = self.group.join("cgroup.kill");
        // Kernels before 5.14 do not have it.
        let _ = fs::OpenOptions::new()
            .write(true)
            .open(file)
            .and_then(|mut file| io::Write::write_all(&mut file, b"1"));
    }
}

/// The folder of the group of this process, from the lists of mounts and of groups of the kernel.
fn own_folder(mounts: &str, groups: &str) -> Option<PathBuf> {
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mount = mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        kind.starts_with("cgroup2 ").then_some((place.next()?, place.next()?))
    });
    let (root, mounted_at) = mount?;
    let below = Path::new(path).strip_prefix(root).ok()?;
    Some(Path::new(mounted_at).join(below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_of_a_process_is_found() {
        let mounts = "24 1 0:5 / /proc rw - proc proc rw\n36 25 0:33 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
        let found = |groups: &str| own_folder(mounts, groups);
        assert_eq!(found("0::/\n"), Some(PathBuf::from("/sys/fs/cgroup/")));
        let service = "9:pids:/x\n0::/system.slice/runner.service\n";
        let expected = "/sys/fs/cgroup/system.slice/runner.service";
        assert_eq!(found(service), Some(PathBuf::from(expected)));
        assert_eq!(found("1:memory:/\n"), None);
        let part = mounts.replace("0:33 / /sys", "0:33 /outer /sys");
        assert_eq!(own_folder(&part, "0::/outer/a\n"), Some(PathBuf::from("/sys/fs/cgroup/a")));
        assert_eq!(own_folder("", "0::/\n"), None);
    }

    #[test]
    fn limits_are_written_into_the_group_of_a_build() {
        let folder = tempfile::tempdir().expect("a folder");
        let limits = Limits { memory: Some(1 << 20), processes: Some(7), cpus: Some(1.5) };
        let groups = Groups::find_below(folder.path(), limits).expect("it can be written");
        let made = groups.create("1-a", 5, limits).expect("it can be written");
        let read = |file: &str| fs::read_to_string(made.paths.group.join(file)).expect("written");
        assert_eq!((&*read("memory.max"), &*read("pids.max")), ("1048576", "7"));
        assert_eq!((&*read("cpu.max"), &*read("memory.swap.max")), ("150000 100000", "0"));
        made.paths.enter().expect("it can be written");
        assert_eq!(read("cgroup.procs"), "0");
        made.paths.leave().expect("it can be written");
        let other = groups.create("1-b", 5, limits).expect("its server has the same ids");
        assert_ne!(other.paths.group, made.paths.group);
    }
}
