//! See `hexforge_tests::hostile::pkt_lines_of_fetches`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hexforge_tests::hostile::pkt_lines_of_fetches(data));
