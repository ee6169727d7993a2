//! See `hexforge_tests::hostile::ci_configuration`.
#![no_main]

use hexforge_tests::hostile;

libfuzzer_sys::fuzz_target!(init: hostile::write_seeds("ci_configuration"), |data: &[u8]| hostile::ci_configuration(data));
