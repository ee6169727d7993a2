//! See `hexforge_tests::hostile::bodies`.
#![no_main]

use hexforge_tests::hostile;

libfuzzer_sys::fuzz_target!(init: hostile::write_seeds("bodies"), |data: &[u8]| hostile::bodies(data));
