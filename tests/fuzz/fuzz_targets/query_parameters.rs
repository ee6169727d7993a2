//! See `hexforge_tests::hostile::query_parameters`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hexforge_tests::hostile::query_parameters(data));
