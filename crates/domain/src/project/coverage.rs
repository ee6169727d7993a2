//! The regular expression with which a project extracts the test coverage from the logs of its builds.

use crate::ci::coverage;
use crate::text::{TooLong, limit, within};

/// A valid regular expression for the coverage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoverageExpression(String);

crate::text::stored_text!(CoverageExpression);

impl CoverageExpression {
    /// Parses an expression; a blank text is `None`. An invalid expression is refused when it is set, and not at the
    /// end of each build.
    pub fn parse(text: &str) -> Result<Option<Self>, CoverageExpressionError> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        within(text, limit::SHORT)?;
        if !coverage::is_usable(text) {
            return Err(CoverageExpressionError::Invalid);
        }
        Ok(Some(Self(text.to_owned())))
    }
}

/// Why a text is not a valid coverage expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CoverageExpressionError {
    /// Too long.
    #[error(transparent)]
    TooLong(#[from] TooLong),
    /// The text is not a valid regular expression, or it is too large when compiled.
    #[error("is invalid")]
    Invalid,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_usable_expressions_are_accepted() {
        let long = "a".repeat(256);
        for (text, expected) in [
            (r"\(\d+\.\d+%\) covered", Ok(Some(r"\(\d+\.\d+%\) covered"))),
            (r" /total: (\d+)/i ", Ok(Some(r"/total: (\d+)/i"))),
            ("", Ok(None)),
            ("  ", Ok(None)),
            ("//", Err("is invalid")),
            ("(", Err("is invalid")),
            (r"(a)\1", Err("is invalid")),
            ("((a{1000}){1000}){1000}", Err("is invalid")),
            (&long, Err("is too long (maximum is 255 characters)")),
        ] {
            let parsed = CoverageExpression::parse(text);
            let parsed =
                parsed.as_ref().map(|found| found.as_ref().map(CoverageExpression::as_str));
            assert_eq!(
                parsed.map_err(ToString::to_string),
                expected.map_err(str::to_owned),
                "{text}"
            );
        }
    }
}
