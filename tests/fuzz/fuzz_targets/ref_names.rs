//! See `hexforge_tests::hostile::ref_names`.
#![no_main]

use hexforge_tests::hostile;

libfuzzer_sys::fuzz_target!(init: hostile::write_seeds("ref_names"), |data: &[u8]| hostile::ref_names(data));
