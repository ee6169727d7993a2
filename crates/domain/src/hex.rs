//! Hexadecimal encoding.

/// Parses exactly `N` bytes from hexadecimal digits in lower or upper case.
pub fn parse<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (target, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *target = byte(pair)?;
    }
    Some(bytes)
}

/// Parses bytes from hexadecimal digits in lower or upper case.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    text.as_bytes().chunks(2).map(byte).collect()
}

fn byte(pair: &[u8]) -> Option<u8> {
    let [high, low] = pair else { return None };
    let digit = |digit: &u8| char::from(*digit).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

/// Encodes bytes as hexadecimal digits in lower case.
pub fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_as_they_are_written() {
        for (bytes, text) in [(&[][..], ""), (&[0, 0x0f, 0xa0, 0xff][..], "000fa0ff")] {
            assert_eq!(encode(bytes), text);
            assert_eq!(decode(text).as_deref(), Some(bytes));
        }
        assert_eq!(decode("0F"), Some(vec![15]));
        for wrong in ["0", "0g", "000", "ä0", "+1"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
        assert_eq!(parse::<1>("0f"), Some([15]));
        assert_eq!(parse::<2>("0f"), None);
    }
}
