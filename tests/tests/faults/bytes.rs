//! Random bytes for the parsers of untrusted input, for a short time each.
//!
//! `HEXFORGE_TEST_FUZZ_SECONDS` sets the time per parser, `HEXFORGE_TEST_FUZZ_SEED` the seed. `tests/fuzz` has the same
//! targets for libFuzzer, which is guided by coverage.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use hexforge_tests::RandomNumbers;
use hexforge_tests::hostile::{TARGETS, seeds};
use hexforge_tests::random::number_from_env;

/// Typical parts of the formats.
const PIECES: [&[u8]; 16] = [
    b"0000",
    b"0001",
    b"0002",
    b"ffff",
    b"\0",
    b"\n",
    b"PACK",
    b"%00",
    b"[]",
    b"{\"a\":",
    b"&*a",
    b"<<: ",
    b"..",
    b"\xff\xfe",
    b"refs/heads/",
    b"99999999999999999999",
];

#[test]
fn bytes_at_random_break_no_parser() {
    let millis =
        number_from_env("HEXFORGE_TEST_FUZZ_SECONDS").map_or(250, |seconds| seconds * 1000);
    let seed = number_from_env("HEXFORGE_TEST_FUZZ_SEED").map(|seed| RandomNumbers(seed as u64));
    let mut numbers = seed.unwrap_or_else(RandomNumbers::seeded_by_time);
    let mut told = String::new();
    for (name, target) in TARGETS {
        let seeds = seeds(name);
        assert!(!seeds.is_empty(), "{name} has something to begin with");
        let until = Instant::now() + Duration::from_millis(millis as u64);
        let mut tries = 0;
        while Instant::now() < until {
            let input = changed(&seeds[numbers.below(seeds.len())], &mut numbers);
            let outcome = catch_unwind(AssertUnwindSafe(|| target(&input)));
            assert!(outcome.is_ok(), "{name} broke on {:?}", input.escape_ascii().to_string());
            tries += 1;
        }
        told.push_str(&format!("{name}: {tries}; "));
    }
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{told}");
}

/// A copy of a seed with random changes.
fn changed(seed: &[u8], numbers: &mut RandomNumbers) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(bytes.len() + 1);
        let to = (at + numbers.below(16)).min(bytes.len());
        match numbers.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << numbers.below(8),
            1 if at < bytes.len() => bytes[at] = numbers.next_number().to_le_bytes()[0],
            2 => drop(bytes.drain(at..to)),
            3 => {
                let again = bytes[at..to].to_vec();
                drop(bytes.splice(at..at, again));
            }
            4 => bytes.truncate(at),
            _ => {
                let piece = PIECES[numbers.below(PIECES.len())];
                drop(bytes.splice(at..at, piece.iter().copied()));
            }
        }
    }
    bytes
}
