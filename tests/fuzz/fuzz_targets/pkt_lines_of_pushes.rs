//! See `hexforge_tests::hostile::pkt_lines_of_pushes`.
#![no_main]

use hexforge_tests::hostile;

libfuzzer_sys::fuzz_target!(init: hostile::write_seeds("pkt_lines_of_pushes"), |data: &[u8]| hostile::pkt_lines_of_pushes(data));
