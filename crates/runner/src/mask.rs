//! Replaces secret values in a log while it is written, also where a value is split between two writes.

/// The text that a log shows in the place of a secret value.
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
    /// The values in their order, so that few of them are compared with each byte of the stream.
    secrets: Vec<Vec<u8>>,
    /// For each value, the longest other value that it begins with.
    beginnings: Vec<Option<usize>>,
    /// Whether a secret begins with the byte.
    begins: [bool; 256],
    /// The end of the stream so far, if it may be the beginning of a secret.
    held: Vec<u8>,
}

impl Masker {
    /// Masks these values.
    pub fn new(mut secrets: Vec<Vec<u8>>) -> Self {
        secrets.retain(|secret| !secret.is_empty());
        secrets.sort();
        secrets.dedup();
        let mut begins = [false; 256];
        // The values that the last one begins with, the shortest first. In sorted order they come right before it.
        let (mut open, mut beginnings) = (Vec::<usize>::new(), Vec::new());
        for (at, secret) in secrets.iter().enumerate() {
            begins[usize::from(secret[0])] = true;
            while open.last().is_some_and(|last| !secret.starts_with(&secrets[*last])) {
                open.pop();
            }
            beginnings.push(open.last().copied());
            open.push(at);
        }
        Self { secrets, beginnings, begins, held: Vec::new() }
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

    /// Whether a secret begins with `rest` and is longer. Such secrets come right after `rest` in the sorted order.
    fn may_begin(&self, rest: &[u8]) -> bool {
        let next = self.secrets.partition_point(|secret| secret.as_slice() <= rest);
        self.secrets.get(next).is_some_and(|secret| secret.starts_with(rest))
    }

    /// Returns the length of the longest secret that `rest` starts with. Starts at the last secret that sorts up to
    /// `rest`, then follows `beginnings` to shorter ones.
    fn longest_at(&self, rest: &[u8]) -> Option<usize> {
        let next = self.secrets.partition_point(|secret| secret.as_slice() <= rest);
        let mut candidate = next.checked_sub(1);
        while let Some(at) = candidate {
            if rest.starts_with(&self.secrets[at]) {
                return Some(self.secrets[at].len());
            }
            candidate = self.beginnings[at];
        }
        None
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
            if end == End::MayFollow && self.may_begin(rest) {
                break;
            }
            match self.longest_at(rest) {
                Some(length) => {
                    masked.extend_from_slice(&input[copied..at]);
                    masked.extend_from_slice(MASK);
                    at += length;
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

    /// The longest secret at each place, compared with all secrets one by one.
    #[test]
    fn sorted_secrets_are_found_like_all_secrets() {
        let texts = ["a", "ab", "aba", "b", "bab", "ba"];
        for chosen in 0_u32..1 << texts.len() {
            let is_chosen = |at: &usize| chosen & (1 << at) != 0;
            let secrets: Vec<&str> =
                (0..texts.len()).filter(is_chosen).map(|at| texts[at]).collect();
            let masker = Masker::new(secrets.iter().map(|text| text.as_bytes().to_vec()).collect());
            for rest in ["a", "ab", "abab", "abb", "ba", "bab", "baba", "bb", "c", ""] {
                let whole = secrets.iter().filter(|secret| rest.starts_with(**secret));
                let longest = whole.map(|secret| secret.len()).max();
                assert_eq!(masker.longest_at(rest.as_bytes()), longest, "{secrets:?} {rest}");
                let longer = |secret: &&&str| secret.len() > rest.len() && secret.starts_with(rest);
                let begins = secrets.iter().any(|secret| longer(&secret));
                assert_eq!(masker.may_begin(rest.as_bytes()), begins, "{secrets:?} {rest}");
            }
        }
    }

    /// A variable of many lines is many secrets.
    #[test]
    fn many_secrets_are_masked_in_bounded_time() {
        let secrets = (0..50_000).map(|n| format!("aaaaaaaaaa{n:06}").into_bytes()).collect();
        let mut masker = Masker::new(secrets);
        let mut text = vec![b'a'; 1 << 20];
        text.extend_from_slice(b"aaaaaaaaaa012345.");
        let masked = masker.push(&text);
        assert!(masked.ends_with(b"a[MASKED]."), "{}", masked.len());
    }

    #[test]
    fn only_a_possible_beginning_is_held_back() {
        let mut masker = Masker::new(vec![b"secret".to_vec()]);
        assert_eq!(masker.push(b"progress 10%"), b"progress 10%");
        assert_eq!(masker.push(b"x sec"), b"x ");
        assert_eq!(masker.push(b"ond"), b"second");
    }
}
