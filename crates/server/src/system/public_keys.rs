//! Parses SSH public keys in the OpenSSH format, and checks SSH signatures.

use hexforge_domain::ports::public_keys::{PublicKeys, SignatureCheck};
use hexforge_domain::user::key::Fingerprint;
use md5::{Digest, Md5};
use ssh_key::public::{KeyData, RsaPublicKey};
use ssh_key::{Algorithm, PublicKey, SshSig};

/// Parses keys in the one-line format of `.pub` files.
pub struct OpensshKeys;

impl PublicKeys for OpensshKeys {
    fn fingerprint(&self, key: &str) -> Option<Fingerprint> {
        // Without this limit, a text of some megabytes is decoded, in part while its project is locked.
        let key = (key.len() <= MAX_BYTES).then(|| PublicKey::from_openssh(key).ok())??;
        let known = match key.key_data() {
            KeyData::Rsa(_) | KeyData::Dsa(_) | KeyData::Ecdsa(_) | KeyData::Ed25519(_) => true,
            // Hardware keys, certificates and custom algorithm names are not supported.
            _ => false,
        };
        let blob = known.then(|| key.to_bytes().ok())??;
        let pairs: Vec<String> =
            Md5::digest(&blob).iter().map(|byte| format!("{byte:02x}")).collect();
        Some(Fingerprint(pairs.join(":")))
    }

    fn signing_key(&self, signature: &str) -> Option<String> {
        let signature = read_signature(signature)?;
        PublicKey::from(signature.public_key().clone()).to_openssh().ok()
    }

    fn check_signature(
        &self,
        key: &str,
        signature: &str,
        namespace: &str,
        text: &[u8],
    ) -> SignatureCheck {
        let key = PublicKey::from_openssh(key).ok();
        let (Some(key), Some(signature)) = (key, read_signature(signature)) else {
            return SignatureCheck::Unsupported;
        };
        let is_supported = match signature.algorithm() {
            Algorithm::Ed25519 | Algorithm::Ecdsa { .. } => true,
            // Signatures with SHA-1 prove nothing, and longer keys cannot be used.
            Algorithm::Rsa { hash } => {
                let is_usable = |key: &RsaPublicKey| key.key_size() <= MAX_RSA_BITS;
                hash.is_some() && key.key_data().rsa().is_some_and(is_usable)
            }
            // DSA, hardware keys, certificates and custom algorithm names.
            _ => false,
        };
        match is_supported {
            true if key.verify(namespace, text, &signature).is_ok() => SignatureCheck::Valid,
            true => SignatureCheck::Invalid,
            false => SignatureCheck::Unsupported,
        }
    }
}

/// The longest RSA keys that signatures can be checked with.
const MAX_RSA_BITS: u32 = 8192;

fn read_signature(text: &str) -> Option<SshSig> {
    (text.len() <= MAX_BYTES).then(|| SshSig::from_pem(text).ok())?
}

/// The maximum number of bytes of a signature, and of a key with its comment, which is more than any key that can be
/// registered has.
const MAX_BYTES: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys and fingerprints as `ssh-keygen -l -E md5` prints them.
    const KEYS: [(&str, &str); 5] = [
        (
            "ssh-dss AAAAB3NzaC1kc3MAAACBAKTGxqgczCHJ2Nukg6IKOhuhaA+9sMFPTnJmipVgJKxRkl7WlHSgEkKaSv39Ss28dnGoX6/jer/2KsJjHQ/2Ib7uBbgu2raS2VgG7E0ZTSO+x7Cty4N67IcxvhVTOvJYrcwTAVE7AbdxottofkwOqBy4JJTGWNXFsr0Dgrjqk2FHAAAAFQCymhdy/dCWKTpkZD7iUIeobh6UgQAAAIAJprSU2ZO87sGaxppO20h3/ARLrIPDP1O7adU24boG0o0wEjTisgbqtspCNj3FjX7w4TAseGTbOmxjzBUYdvzBjW3bh4T0J0EalWfvwcouJnEO2OZQqyyniDpKap0RbSwGqlwTXP/d17oQA2NkGLxShvvCvqxcGNgoBHcMfwrsRwAAAIBqlCh+EwlFXOL/tsXTvaZqLGX0VSDm2kJNPloE5nxmJvT/eR5Uv6KG/zPv9NDtLqk5j7NiCPLxliYCK1Vr02D694CI+CLZR98R6XzMtGlJViOT1Urbo0/aubjNen/OS8Yj6R7XoN9C8W0cubwpOT62mpMv1vxGS8ASeUgjUELBnw== me@home",
            "26:43:34:90:6d:8a:6b:7b:06:6f:fc:e8:6d:9f:2c:8d",
        ),
        (
            "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBIt8ixcNSKNx715kqfYaGyXao9cEKJV0VQykNlG4ClNe5nCw4XVNeoXjIY67zDHn8KxtRkZUdJIdh8m66iw69Tw= me@home",
            "c7:26:84:db:da:11:75:03:e1:7f:f2:df:cf:da:0b:6d",
        ),
        (
            "ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBABWmSqKQoMqVa1mvJlNNkFKhBSjoP6GsdGZ+hjcpRXpgKuHok0aGjCjEkX3G86iKQGKbpiPAWHjoj5F/AxNLLffHgHsunpKFWRwqc7mllJF79wZ4FHZNbLQscz/Vzp+PN1Md5JbqFcwy+Ys8xyDx9JzDtP0Ei45BOYfdm0FQcvN8nRwMw== me@home",
            "cf:d4:e7:96:51:3a:46:85:bf:72:d5:b8:a3:06:4c:37",
        ),
        (
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICifpYPrldD9KtWGzGwz1f8TDGUBAKh1FTCklii0hAjt me@home",
            "52:33:fb:42:3d:a4:af:aa:83:41:3d:b3:81:c9:d4:1f",
        ),
        (
            "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQDCMqYTAt/pKT69Sw0+9VAhiZmWmxqZQ+lslAEf6fA9qkO45VCl+ez1EiMMzpTj4HRBknyn+TBl3Slgpb5tn1oYmjcyn4UY+KTXTs14pgjc9tZ5wEx155xuTQc2/1nUd4Ao36aZd0shrq/tU9wvYXQf5dmLiBOPjLbDQaYUGmIvvYde5MxMz5wkUg8eBYKuscmxLBK4/XhwP2rv8HcfQeYX7Hey7rRrencrsuh4HlxiyKjynWBSRE38xJlGOx5KQnJrV6kJoTxFKPXnN0SmAddVk61c/PPk/EYYqMx8LWCddE+tCVvxpM+Mf9ysnUfTOt3e/qTpeahXwWRvgsCAaxoZ me@home",
            "40:d4:33:d7:83:aa:a4:1b:8e:3d:da:d0:71:8b:87:e6",
        ),
    ];

    #[test]
    fn fingerprints_equal_those_of_ssh_keygen() {
        for (key, fingerprint) in KEYS {
            assert_eq!(
                OpensshKeys.fingerprint(key),
                Some(Fingerprint(fingerprint.into())),
                "{key}"
            );
        }
    }

    /// Made by `ssh-keygen -Y sign -n git` for the text `signed`, with the key before it.
    const SIGNED: (&str, &str) = (
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAJ39+A6rIYp8fthG9IC5omiUpAAAj7gdNnMOypWB7C8",
        "-----BEGIN SSH SIGNATURE-----\n\
         U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAgAnf34Dqshinx+2Eb0gLmiaJSkA\n\
         ACPuB02cw7KlYHsLwAAAADZ2l0AAAAAAAAAAZzaGE1MTIAAABTAAAAC3NzaC1lZDI1NTE5\n\
         AAAAQIpTnoWtkG3YWMu1lBSf5bBDnwB1q/SBybnj3NYwB2JfUswV74b0YuNsVslCwtc8sp\n\
         RDpciJS9nhd7JDX3yXTwk=\n\
         -----END SSH SIGNATURE-----\n",
    );

    #[test]
    fn signatures_of_ssh_keygen_are_valid_for_their_key_text_and_namespace() {
        let (key, signature) = SIGNED;
        assert_eq!(OpensshKeys.signing_key(signature).as_deref(), Some(key));
        let check = |key, signature, namespace, text: &str| {
            OpensshKeys.check_signature(key, signature, namespace, text.as_bytes())
        };
        assert_eq!(check(key, signature, "git", "signed"), SignatureCheck::Valid);
        for (key, namespace, text) in
            [(KEYS[3].0, "git", "signed"), (key, "file", "signed"), (key, "git", "signed\n")]
        {
            assert_eq!(check(key, signature, namespace, text), SignatureCheck::Invalid, "{key}");
        }
        let long = signature.repeat(500);
        for other in ["", "garbage", &signature[..100], &long] {
            assert_eq!(OpensshKeys.signing_key(other), None);
            assert_eq!(check(key, other, "git", "signed"), SignatureCheck::Unsupported);
        }
        assert_eq!(check("garbage", signature, "git", "signed"), SignatureCheck::Unsupported);
    }

    #[test]
    fn what_is_no_key_has_no_fingerprint() {
        for key in [
            "",
            "garbage",
            "ssh-rsa garbage",
            "ssh-rsa AAAA",
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5",
            "ssh-foo@example.com AAAAE3NzaC1mb29AZXhhbXBsZS5jb20AAAABeA==",
        ] {
            assert_eq!(OpensshKeys.fingerprint(key), None, "{key}");
        }
        let (key, _) = KEYS[0];
        let with_comment = |bytes: usize| format!("{key} {}", "c".repeat(bytes - key.len() - 1));
        assert!(OpensshKeys.fingerprint(&with_comment(MAX_BYTES)).is_some());
        assert_eq!(OpensshKeys.fingerprint(&with_comment(MAX_BYTES + 1)), None);
    }
}
