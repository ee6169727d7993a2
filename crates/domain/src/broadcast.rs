//! Broadcast messages, which administrators show to all users for a time.

pub mod port;

use chrono::TimeDelta;

use crate::Timestamp;
use crate::field_errors::FieldErrors;
use crate::id::BroadcastId;
use crate::label::{Color, ColorRule};
use crate::text::{self, Blank, limit};

/// A broadcast message as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broadcast {
    /// Assigned by the store, never reused.
    pub id: BroadcastId,
    /// The text, its period and its colours.
    pub content: BroadcastContent,
}

/// The text of a broadcast message, its period and its colours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroadcastContent {
    /// The text.
    pub message: BroadcastText,
    /// The first moment at which the message is shown.
    pub starts_at: Timestamp,
    /// The last moment at which the message is shown.
    pub ends_at: Timestamp,
    /// The colour of the background.
    pub color: Color,
    /// The colour of the text.
    pub font: Color,
}

impl BroadcastContent {
    /// Returns whether the message is shown at a moment.
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.starts_at <= now && now <= self.ends_at
    }
}

/// The text of a broadcast message: not blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroadcastText(String);

crate::text::stored_text!(BroadcastText);

impl BroadcastText {
    /// Parses a text.
    /// # Errors
    /// The problem of the text, under `message`.
    pub fn parse(given: &str) -> Result<Self, FieldErrors> {
        if given.trim().is_empty() {
            return Err(FieldErrors::single("message", Blank));
        }
        text::within_field("message", given, limit::BROADCAST)?;
        Ok(Self(given.to_owned()))
    }
}

/// The values of a request. Those that are not given have defaults, or stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BroadcastFields {
    /// See [`BroadcastContent::message`].
    pub message: Option<String>,
    /// See [`BroadcastContent::starts_at`].
    pub starts_at: Option<Timestamp>,
    /// See [`BroadcastContent::ends_at`].
    pub ends_at: Option<Timestamp>,
    /// See [`BroadcastContent::color`].
    pub color: Option<String>,
    /// See [`BroadcastContent::font`].
    pub font: Option<String>,
}

/// The duration of a message whose end is not given.
const DURATION: TimeDelta = TimeDelta::hours(1);

impl BroadcastFields {
    /// Validates a new message.
    /// # Errors
    /// All problems, by field.
    pub fn create(&self, now: Timestamp) -> Result<BroadcastContent, FieldErrors> {
        let message = Some(self.message.clone().unwrap_or_default());
        let defaults = BroadcastContent {
            message: BroadcastText(String::new()),
            starts_at: now,
            ends_at: now + DURATION,
            color: Color::stored("#E75E40".to_owned()),
            font: Color::stored("#FFFFFF".to_owned()),
        };
        Self { message, ..self.clone() }.update(&defaults)
    }

    /// Validates a change of a message.
    /// # Errors
    /// All problems, by field.
    pub fn update(&self, before: &BroadcastContent) -> Result<BroadcastContent, FieldErrors> {
        let mut errors = FieldErrors::default();
        let message = match &self.message {
            Some(text) => errors.merge(BroadcastText::parse(text)),
            None => Some(before.message.clone()),
        };
        let mut color = |field, given: &Option<String>, before: &Color| match given {
            Some(text) => errors.check(field, Color::parse(text, ColorRule::LongOrShort)),
            None => Some(before.clone()),
        };
        let background = color("color", &self.color, &before.color);
        let font = color("font", &self.font, &before.font);
        errors.into_result_with(|| {
            Some(BroadcastContent {
                message: message?,
                starts_at: self.starts_at.unwrap_or(before.starts_at),
                ends_at: self.ends_at.unwrap_or(before.ends_at),
                color: background?,
                font: font?,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).expect("a moment")
    }

    fn fields(message: &str) -> BroadcastFields {
        BroadcastFields { message: Some(message.to_owned()), ..BroadcastFields::default() }
    }

    #[test]
    fn new_messages_have_defaults() {
        let made = fields(" a text ").create(at(0)).expect("a message");
        assert_eq!(made.message.as_str(), " a text ");
        assert_eq!((made.starts_at, made.ends_at), (at(0), at(3600)));
        assert_eq!((made.color.as_str(), made.font.as_str()), ("#E75E40", "#FFFFFF"));
    }

    #[test]
    fn all_problems_are_reported() {
        let text = |text: &str| Some(text.to_owned());
        let long = "x".repeat(limit::BROADCAST + 1);
        for (given, problems) in [
            (BroadcastFields::default(), "message can't be blank"),
            (fields(" "), "message can't be blank"),
            (fields(&long), "message is too long (maximum is 10000 characters)"),
            (
                BroadcastFields { color: text("red"), font: text("#12"), ..fields("") },
                "message can't be blank; color must be a valid color code; \
                 font must be a valid color code",
            ),
        ] {
            assert_eq!(
                given.create(at(0)).map_err(|errors| errors.to_string()),
                Err(problems.to_owned())
            );
        }
        let short = BroadcastFields { color: text("#abc"), ..fields("x") };
        assert_eq!(
            short.create(at(0)).map(|made| made.color.as_str().to_owned()),
            Ok("#abc".to_owned())
        );
    }

    #[test]
    fn a_change_keeps_what_is_not_given() {
        let before = fields("a text").create(at(0)).expect("a message");
        assert_eq!(BroadcastFields::default().update(&before).as_ref(), Ok(&before));
        let later = BroadcastFields { ends_at: Some(at(9)), ..BroadcastFields::default() };
        let expected = BroadcastContent { ends_at: at(9), ..before.clone() };
        assert_eq!(later.update(&before), Ok(expected));
        assert!(fields("").update(&before).is_err());
    }

    #[test]
    fn a_message_is_active_from_its_start_to_its_end() {
        let message = fields("a text").create(at(0)).expect("a message");
        for (seconds, is_active) in [(-1, false), (0, true), (3600, true), (3601, false)] {
            assert_eq!(message.is_active(at(seconds)), is_active, "{seconds}");
        }
    }
}
