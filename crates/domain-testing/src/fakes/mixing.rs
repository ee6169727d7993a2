//! A small deterministic hash function. The fakes use it instead of the digests of the real adapters.

/// FNV-1a with a seeded start and a final mixing step, so that every input bit affects every output
/// bit.
pub(super) fn hash_with_seed(seed: u64, bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0100_0000_01b3;
    let start = 0xcbf2_9ce4_8422_2325_u64 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = bytes.iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME));
    let stirred = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    stirred ^ (stirred >> 33)
}

/// Returns a hash of `LENGTH` bytes, eight bytes per seed.
pub(super) fn hash_bytes<const LENGTH: usize>(bytes: &[u8]) -> [u8; LENGTH] {
    let mut mixed = [0; LENGTH];
    for (seed, part) in (0_u64..).zip(mixed.chunks_mut(8)) {
        part.copy_from_slice(&hash_with_seed(seed, bytes).to_be_bytes()[..part.len()]);
    }
    mixed
}
