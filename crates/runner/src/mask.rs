//! Replaces secret values in a log while it is written, also where a value is split between two writes.

/// What a log shows instead of a secret value.
pub const MASK: &[u8] = b"[MASKED]";

/// Whether more bytes of the stream may follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    MayFollow,
    IsReached,
}

/// Masks a stream of bytes.
#[derive(Debug)]
pub struct Masker {
    secrets: Vec<Vec<u8>>,
    /// Whether a secret begins with the byte.
    begins: [bool; 256],
    /// The end of the stream so far, if it may be the beginning of a secret.
    held: Vec<u8>,
}

impl Masker {
    /// Masks these values.
    pub fn new(mut secrets: Vec<Vec<u8>>) -> Self {
        secrets.retain(|secret| !secret.is_empty());
        // The longest value wins where one is the beginning of another.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        let mut begins = [false; 256];
        for secret in &secrets {
            begins[usize::from(secret[0])] = true;
        }
        Self { secrets, begins, held: Vec::new() }
    }

    /// Returns the masked form of the next bytes, without an end that may be the beginning of a secret.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        if self.secrets.is_empty() {
            return bytes.to_vec();
        }
        let mut input = std::mem::take(&mut self.held);
        input.extend_from_slice(bytes);
        let (masked, used) = self.mask(&input, End::MayFollow);
        self.held = input.split_off(used);
        masked
    }

    /// Returns the masked rest at the end of the stream.
    pub fn finish(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        self.mask(&held, End::IsReached).0
    }

    /// Masks `input` up to the place where a secret may begin that is not complete. Returns how much was used.
    fn mask(&self, input: &[u8], end: End) -> (Vec<u8>, usize) {
        let (mut masked, mut copied, mut at) = (Vec::with_capacity(input.len()), 0, 0);
        while at < input.len() {
            if !self.begins[usize::from(input[at])] {
                at += 1;
                continue;
            }
            let rest = &input[at..];
            // A longer secret that may still become complete is waited for.
            let is_beginning = |one: &Vec<u8>| one.len() > rest.len() && one.starts_with(rest);
            if end == End::MayFollow && self.secrets.iter().any(is_beginning) {
                break;
            }
            match self.secrets.iter().find(|secret| rest.starts_with(secret)) {
                Some(secret) => {
                    masked.extend_from_slice(&input[copied..at]);
                    masked.extend_from_slice(MASK);
                    at += secret.len();
                    copied = at;
                }
                None => at += 1,
            }
        }
        masked.extend_from_slice(&input[copied..at]);
        (masked, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(secrets: &[&str], pieces: &[&str]) -> String {
        let mut masker =
            Masker::new(secrets.iter().map(|secret| secret.as_bytes().to_vec()).collect());
        let mut done = Vec::new();
        for piece in pieces {
            done.extend(masker.push(piece.as_bytes()));
        }
        done.extend(masker.finish());
        String::from_utf8(done).expect("the input is text")
    }

    #[test]
    fn secrets_are_masked_wherever_the_stream_is_cut() {
        let (text, expected) = ("a secret, asecretb, sec", "a [MASKED], a[MASKED]b, sec");
        for cut in 0..=text.len() {
            let (first, second) = text.split_at(cut);
            assert_eq!(masked(&["secret"], &[first, second]), expected, "cut at {cut}");
        }
        let single: Vec<String> = text.chars().map(String::from).collect();
        let single: Vec<&str> = single.iter().map(String::as_str).collect();
        assert_eq!(masked(&["secret"], &single), expected);
    }

    #[test]
    fn the_longest_secret_wins() {
        assert_eq!(masked(&["abc", "abcdef"], &["abc", "def abc"]), "[MASKED] [MASKED]");
        assert_eq!(masked(&["aab"], &["aaab"]), "a[MASKED]");
        assert_eq!(masked(&[], &["abc"]), "abc");
    }

    #[test]
    fn only_a_possible_beginning_is_held_back() {
        let mut masker = Masker::new(vec![b"secret".to_vec()]);
        assert_eq!(masker.push(b"progress 10%"), b"progress 10%");
        assert_eq!(masker.push(b"x sec"), b"x ");
        assert_eq!(masker.push(b"ond"), b"second");
    }
}
