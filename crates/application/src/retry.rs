//! Retries of transactions that conflict with others.

/// The maximum number of attempts while a caller waits for the response.
pub const TRIES: u32 = 4;

/// Runs work at most `tries` times, while it fails because the store or the repository is busy. Each attempt is one
/// transaction, which was rolled back. Returns the last outcome.
pub fn while_busy<T, E>(
    tries: u32,
    is_busy: impl Fn(&E) -> bool,
    mut work: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    let mut outcome = work();
    for _ in 1..tries {
        match &outcome {
            Err(error) if is_busy(error) => outcome = work(),
            _ => break,
        }
    }
    outcome
}
