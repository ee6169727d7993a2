//! Configures the memory allocator of the C library.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Larger blocks come directly from the system, and return to it as soon as they are freed. By default, glibc raises
/// this threshold to the largest block that was ever freed, and keeps smaller blocks in arenas, one per few threads.
/// Each arena would then keep the 8 MB that writing a `tar.bz2` needs. An explicit threshold is not raised.
const SETTING: (&str, &str) = ("MALLOC_MMAP_THRESHOLD_", "1048576");

/// Restarts the process with this setting, because glibc reads it before the program begins. An
/// explicit setting is kept.
pub fn restart_with_mmap_threshold() {
    if !cfg!(target_env = "gnu") || std::env::var_os(SETTING.0).is_some() {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    let mut arguments = std::env::args_os();
    let mut again = Command::new(program);
    if let Some(name) = arguments.next() {
        again.arg0(name);
    }
    let error = again.args(arguments).env(SETTING.0, SETTING.1).exec();
    // Without the setting the process only takes more memory.
    tracing::debug!(%error, "the program could not restart itself with a memory setting");
}
