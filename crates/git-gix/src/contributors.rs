//! Who wrote what is there.
