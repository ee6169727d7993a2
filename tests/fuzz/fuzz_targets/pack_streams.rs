//! See `hexforge_tests::hostile::pack_streams`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hexforge_tests::hostile::pack_streams(data));
