//! Colours of labels.

/// A colour: `#` and hexadecimal digits. The case of the digits is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Color(String);

crate::text::stored_text!(Color);

/// The number of digits that a colour may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorRule {
    /// Six digits.
    Long,
    /// Six or three digits.
    LongOrShort,
}

/// Error for an invalid colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a valid color code")]
pub struct InvalidColor;

impl Color {
    /// Parses a colour.
    pub fn parse(text: &str, rule: ColorRule) -> Result<Self, InvalidColor> {
        let digits = text.strip_prefix('#').ok_or(InvalidColor)?;
        let is_valid_length = match (rule, digits.len()) {
            (ColorRule::Long | ColorRule::LongOrShort, 6) => true,
            (ColorRule::LongOrShort, 3) => true,
            (ColorRule::Long | ColorRule::LongOrShort, _) => false,
        };
        let is_hexadecimal = digits.bytes().all(|b| b.is_ascii_hexdigit());
        if is_valid_length && is_hexadecimal {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidColor)
        }
    }
}

/// The default is the colour of labels that were created without one.
impl Default for Color {
    fn default() -> Self {
        Self("#428BCA".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_of_either_case_and_three_by_the_other_rule() {
        for (text, long, short) in [
            ("#FFAABB", true, true),
            ("#ffaabb", true, true),
            ("#00fFaA", true, true),
            ("#FAB", false, true),
            ("#FF", false, false),
            ("#FFAA", false, false),
            ("#FFAAFFFF", false, false),
            ("FFAABB", false, false),
            ("#GGAABB", false, false),
            ("# FAABB", false, false),
            ("#FFAABB ", false, false),
            ("#FFAABB\n", false, false),
            ("#ÄÄÄ", false, false),
            ("red", false, false),
            ("#", false, false),
            ("", false, false),
        ] {
            assert_eq!(Color::parse(text, ColorRule::Long).is_ok(), long, "{text:?}");
            assert_eq!(Color::parse(text, ColorRule::LongOrShort).is_ok(), short, "{text:?}");
        }
    }
}
