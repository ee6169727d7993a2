//! Distinct, well-formed public SSH keys for which nobody has a private key.

/// Ed25519 public key number `n`, with a comment.
pub fn an_ssh_key(n: u32) -> String {
    let mut blob = Vec::new();
    for part in [&b"ssh-ed25519"[..], &point(n)[..]] {
        blob.extend(u32::try_from(part.len()).expect("short").to_be_bytes());
        blob.extend(part);
    }
    format!("ssh-ed25519 {} key-{n}@example.com", base64(&blob))
}

fn point(n: u32) -> [u8; 32] {
    let mut bytes = [7; 32];
    bytes[..4].copy_from_slice(&n.to_be_bytes());
    bytes
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let mut group = [0; 3];
        group[..chunk.len()].copy_from_slice(chunk);
        let bits = u32::from_be_bytes([0, group[0], group[1], group[2]]);
        for place in 0..4 {
            let letter = ALPHABET[(bits >> (18 - 6 * place)) as usize & 63];
            text.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}
