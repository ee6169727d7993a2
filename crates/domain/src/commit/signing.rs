//! Cryptographic signatures of commits, as `git commit -S` writes them.

/// The namespace of SSH signatures that git makes.
pub const GIT_NAMESPACE: &str = "git";

/// The header of a commit that has its signature, and the beginning of the names of all such headers.
const HEADER: &[u8] = b"gpgsig ";
const HEADERS: &[u8] = b"gpgsig";

/// The format of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureFormat {
    /// OpenPGP, as GnuPG makes it.
    OpenPgp,
    /// The format of `ssh-keygen -Y sign`.
    Ssh,
    /// X.509, as `gpgsm` makes it.
    X509,
    /// Any other text.
    Unknown,
}

impl SignatureFormat {
    /// Returns the format of a signature by its first line, as git does.
    pub fn of(signature: &[u8]) -> Self {
        for (beginning, format) in [
            (&b"-----BEGIN PGP SIGNATURE-----"[..], Self::OpenPgp),
            (b"-----BEGIN PGP MESSAGE-----", Self::OpenPgp),
            (b"-----BEGIN SSH SIGNATURE-----", Self::Ssh),
            (b"-----BEGIN SIGNED MESSAGE-----", Self::X509),
        ] {
            if signature.starts_with(beginning) {
                return format;
            }
        }
        Self::Unknown
    }
}

/// A signature with the bytes that it signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedBytes {
    /// The signature.
    pub signature: Vec<u8>,
    /// The commit without its signatures.
    pub payload: Vec<u8>,
}

impl SignedBytes {
    /// Splits the bytes of a commit object as git does. Returns `None` for a commit without a signature.
    pub fn split(commit: &[u8]) -> Option<Self> {
        /// The header to which a line belongs.
        #[derive(PartialEq)]
        enum In {
            Signature,
            OtherSignature,
            Header,
        }
        let (mut signature, mut payload) = (Vec::new(), Vec::with_capacity(commit.len()));
        let (mut rest, mut place) = (commit, In::Header);
        while !rest.is_empty() {
            let end = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1);
            let (line, after) = rest.split_at(end);
            if line == b"\n" {
                // The message follows.
                payload.extend_from_slice(rest);
                break;
            }
            let continued = line.strip_prefix(b" ");
            place = match continued {
                Some(_) => place,
                None if line.starts_with(HEADER) => In::Signature,
                None if line.starts_with(HEADERS) => In::OtherSignature,
                None => In::Header,
            };
            match place {
                In::Signature => {
                    let text = continued.or_else(|| line.strip_prefix(HEADER)).unwrap_or(line);
                    signature.extend_from_slice(text);
                }
                In::OtherSignature => (),
                In::Header => payload.extend_from_slice(line),
            }
            rest = after;
        }
        (!signature.is_empty()).then_some(Self { signature, payload })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_split_into_signature_and_payload() {
        let head = "tree 1\nauthor A\ncommitter B\n";
        let split = |text: &str| {
            SignedBytes::split(text.as_bytes()).map(|signed| {
                let text = |bytes| String::from_utf8(bytes).expect("it was text");
                (text(signed.signature), text(signed.payload))
            })
        };
        for (headers, signature) in [
            ("gpgsig one\n two\n \n three\n", Some("one\ntwo\n\nthree\n")),
            ("gpgsig one\ngpgsig-sha256 other\n more\n", Some("one\n")),
            ("gpgsig-sha256 other\n more\n", None),
            ("gpgsigx one\n", None),
            ("", None),
        ] {
            let message = "\ngpgsig no header\n text\n";
            let expected = signature.map(|text| (text.to_owned(), format!("{head}{message}")));
            assert_eq!(split(&format!("{head}{headers}{message}")), expected, "{headers:?}");
        }
        let encoding = "encoding x\n";
        let whole = format!("{head}gpgsig one\n{encoding}");
        assert_eq!(split(&whole), Some(("one\n".to_owned(), format!("{head}{encoding}"))));
        assert_eq!(split(""), None);
        assert_eq!(split("gpgsig x"), Some(("x".to_owned(), String::new())));
    }

    #[test]
    fn the_first_line_names_the_format() {
        for (text, format) in [
            ("-----BEGIN PGP SIGNATURE-----\n", SignatureFormat::OpenPgp),
            ("-----BEGIN PGP MESSAGE-----\n", SignatureFormat::OpenPgp),
            ("-----BEGIN SSH SIGNATURE-----\n", SignatureFormat::Ssh),
            ("-----BEGIN SIGNED MESSAGE-----\n", SignatureFormat::X509),
            (" -----BEGIN SSH SIGNATURE-----\n", SignatureFormat::Unknown),
            ("", SignatureFormat::Unknown),
        ] {
            assert_eq!(SignatureFormat::of(text.as_bytes()), format, "{text:?}");
        }
    }
}
