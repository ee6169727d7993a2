//! See `hexforge_tests::hostile::pack_streams`.
#![no_main]

use hexforge_tests::hostile;

libfuzzer_sys::fuzz_target!(init: hostile::write_seeds("pack_streams"), |data: &[u8]| hostile::pack_streams(data));
