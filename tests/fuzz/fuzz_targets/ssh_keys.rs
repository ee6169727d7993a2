//! See `hexforge_tests::hostile::ssh_keys`.
#![no_main]

use hexforge_tests::hostile;

libfuzzer_sys::fuzz_target!(init: hostile::write_seeds("ssh_keys"), |data: &[u8]| hostile::ssh_keys(data));
