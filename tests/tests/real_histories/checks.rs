//! Runs all checks, and reports all failures together at the end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::settings::print_progress;

/// The results so far.
#[derive(Default)]
pub struct Checks {
    repository: String,
    number: usize,
    failures: Vec<String>,
}

impl Checks {
    /// Sets the repository of the next checks.
    pub fn begin(&mut self, repository: &str) {
        repository.clone_into(&mut self.repository);
        print_progress(repository);
    }

    /// Runs one check. Errors and panics are failures, and do not prevent other checks. Returns whether the check
    /// passed.
    pub fn check(&mut self, name: &str, check: impl FnOnce() -> Result<(), String>) -> bool {
        let started = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(format!("panicked: {}", text.unwrap_or("without a message")))
        });
        self.number += 1;
        let outcome = if result.is_ok() { "ok" } else { "FAILED" };
        print_progress(&format!("{outcome} {:.1} s {name}", started.elapsed().as_secs_f64()));
        if let Err(problem) = &result {
            self.failures.push(format!("{}: {name}\n{problem}", self.repository));
        }
        result.is_ok()
    }

    /// Panics with all failures, if there are any.
    pub fn finish(self) {
        let summary = format!("{} checks, {} failed", self.number, self.failures.len());
        print_progress(&summary);
        assert!(self.failures.is_empty(), "{}\n\n{summary}", self.failures.join("\n\n"));
    }
}

/// Compares two lists in any order, and shows the first differences.
pub fn same_set(what: &str, ours: &[String], expected: &[String]) -> Result<(), String> {
    let sorted = |list: &[String]| {
        let mut list = list.to_vec();
        list.sort_unstable();
        list
    };
    let (ours, expected) = (sorted(ours), sorted(expected));
    if ours == expected {
        return Ok(());
    }
    let only_in = |list: &[String], other: &[String]| -> Vec<String> {
        list.iter().filter(|one| other.binary_search(one).is_err()).cloned().collect()
    };
    let (extra, missing) = (only_in(&ours, &expected), only_in(&expected, &ours));
    let first = |list: &[String]| list.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
    Err(format!(
        "{what} differ: {} instead of {}; {} missing ({}); {} too many ({})",
        ours.len(),
        expected.len(),
        missing.len(),
        first(&missing),
        extra.len(),
        first(&extra),
    ))
}

/// Compares two lists, including their order.
pub fn same_list(what: &str, ours: &[String], expected: &[String]) -> Result<(), String> {
    same_set(what, ours, expected)?;
    match ours.iter().zip(expected).position(|(ours, expected)| ours != expected) {
        None => Ok(()),
        Some(at) => Err(format!(
            "{what} have another order: number {at} is {} instead of {}",
            ours[at], expected[at]
        )),
    }
}
