//! See `hexforge_tests::hostile::ci_configuration`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hexforge_tests::hostile::ci_configuration(data));
