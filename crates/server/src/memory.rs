//! Configures the memory allocator of the C library.

use std::env;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Settings of glibc. It reads them from the environment before the program begins.
const SETTINGS: [(&str, &str); 2] = [
    // Larger blocks come directly from the system, and return to it as soon as they are freed. By default, glibc raises
    // this threshold to the largest block that was ever freed, and keeps smaller blocks in arenas, one per few threads.
    // Each arena would then keep the 8 MB that writing a `tar.bz2` needs. An explicit threshold is not raised.
    ("MALLOC_MMAP_THRESHOLD_", "1048576"),
    // The free memory that an arena keeps. glibc would raise this threshold together with the other one. Without that
    // it stays at 128 KB, less than what SQLite needs for some queries, so that each of them would fetch memory from
    // the system and return it.
    ("MALLOC_TRIM_THRESHOLD_", "2097152"),
];

/// Restarts the process with these settings. An explicit setting is kept.
pub fn restart_with_settings() {
    let missing = SETTINGS.iter().filter(|(name, _)| env::var_os(name).is_none());
    let missing: Vec<_> = missing.copied().collect();
    if !cfg!(target_env = "gnu") || missing.is_empty() {
        return;
    }
    let Ok(program) = env::current_exe() else { return };
    let mut arguments = env::args_os();
    let mut again = Command::new(program);
    if let Some(name) = arguments.next() {
        again.arg0(name);
    }
    let error = again.args(arguments).envs(missing).exec();
    // Without the settings the process only takes more memory and time.
    tracing::debug!(%error, "the program could not restart itself with memory settings");
}
