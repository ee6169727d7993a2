//! See `hexforge_tests::hostile::ssh_keys`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hexforge_tests::hostile::ssh_keys(data));
