//! See `hexforge_tests::hostile::query_parameters`.
#![no_main]

use hexforge_tests::hostile;

libfuzzer_sys::fuzz_target!(init: hostile::write_seeds("query_parameters"), |data: &[u8]| hostile::query_parameters(data));
