//! See `hexforge_tests::hostile::ref_names`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hexforge_tests::hostile::ref_names(data));
