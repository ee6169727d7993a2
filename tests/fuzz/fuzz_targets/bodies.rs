//! See `hexforge_tests::hostile::bodies`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hexforge_tests::hostile::bodies(data));
