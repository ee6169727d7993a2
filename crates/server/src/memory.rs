//! What the C library is told about memory.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// From this size on a block comes from the system, and goes back to it as soon as it is free. glibc would raise that by
/// itself to the largest block that was ever given back, and keep what is smaller in arenas of which each few threads
/// have one: with each of them the 8 MB that it takes to make a `tar.bz2` would stay. A size that is set is not raised.
const SETTING: (&str, &str) = ("MALLOC_MMAP_THRESHOLD_", "1048576");

/// Begins the process anew with that, unless whoever started it chose a size: it is read before the program begins.
pub fn give_back() {
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
    // It only takes more memory.
    tracing::debug!(%error, "the program was not begun anew");
}
