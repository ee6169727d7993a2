//! Domain values as JSON in text columns.
//!
//! The domain crate does not know serde. [`stored!`] makes a twin of a domain type that derives `Serialize` and
//! `Deserialize` with `#[serde(remote)]`: the derived code reads and builds the domain type itself, so a twin
//! that lacks one of its fields does not compile.

use chrono::{DateTime, FixedOffset, NaiveDate};
use hexforge_domain::Timestamp;
use hexforge_domain::branch::BranchName;
use hexforge_domain::ci::status::Status;
use hexforge_domain::ci::when::When;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{
    BuildId, IssueId, KeyId, MergeRequestId, MilestoneId, NamespaceId, NoteId, PipelineId,
    ProjectId, RunnerId, SnippetId, UserId,
};
use hexforge_domain::issue::IssueState;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::merge_request::{MergeRequestState, MergeStatus, RequestBranch};
use hexforge_domain::outbox::merge_request::MergeRequestAction;
use hexforge_domain::outbox::project::IssueAction;
use hexforge_domain::visibility::Visibility;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A type with a JSON form. The methods have the signatures that `#[serde(with = "Stored")]` calls.
pub(crate) trait Stored: Sized {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;
    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

/// Returns the JSON form of a value.
pub(crate) fn to_text<T: Stored>(value: &T) -> String {
    serde_json::to_string(&Writing(value)).expect("structs, lists and scalars have a JSON form")
}

/// Parses the JSON form of a value. Returns `None` if the text is not valid.
pub(crate) fn from_text<T: Stored>(text: &str) -> Option<T> {
    serde_json::from_str(text).ok().map(|Reading(value)| value)
}

/// Makes a [`Stored`] value serializable.
struct Writing<'a, T>(&'a T);

impl<T: Stored> Serialize for Writing<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// Makes a [`Stored`] value deserializable.
#[derive(Deserialize)]
#[serde(bound = "T: Stored")]
struct Reading<T>(#[serde(deserialize_with = "Stored::deserialize")] T);

impl<T: Stored> Stored for Option<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Serialize::serialize(&self.as_ref().map(Writing), serializer)
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value: Option<Reading<T>> = Deserialize::deserialize(deserializer)?;
        Ok(value.map(|Reading(value)| value))
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(Writing))
    }

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values: Vec<Reading<T>> = Deserialize::deserialize(deserializer)?;
        Ok(values.into_iter().map(|Reading(value)| value).collect())
    }
}

/// Implements [`Stored`] for structs. The fields are in the order of the JSON and may have serde attributes.
macro_rules! stored {
    ($($type:ty { $($(#[$attribute:meta])* $field:ident: $field_type:ty),+ $(,)? })+) => {$(
        const _: () = {
            use $crate::database::json::Stored;

            type Domain = $type;

            #[derive(serde::Serialize, serde::Deserialize)]
            #[serde(remote = "Domain")]
            struct Twin {
                $($(#[$attribute])* #[serde(with = "Stored")] $field: $field_type),+
            }

            impl Stored for Domain {
                fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                    Twin::serialize(self, to)
                }

                fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                    Twin::deserialize(from)
                }
            }
        };
    )+};
}

/// Implements [`Stored`] for types by converting them to and from another stored type. The conversion back returns
/// `None` for an unknown value.
macro_rules! stored_as {
    ($($type:ty => $form:ty: $to:expr, $from:expr;)+) => {$(
        impl $crate::database::json::Stored for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let to: fn(&Self) -> $form = $to;
                $crate::database::json::Stored::serialize(&to(self), serializer)
            }

            fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let form: $form = $crate::database::json::Stored::deserialize(from)?;
                let from: fn($form) -> Option<Self> = $from;
                from(form).ok_or_else(|| serde::de::Error::custom("the value is unknown"))
            }
        }
    )+};
}

pub(crate) use {stored, stored_as};

/// Implements [`Stored`] for types that serde supports itself.
macro_rules! stored_by_serde {
    ($($type:ty),+) => {$(
        impl Stored for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Serialize::serialize(self, serializer)
            }

            fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Deserialize::deserialize(deserializer)
            }
        }
    )+};
}

stored_by_serde!(bool, i64, u32, u64, String);

stored_as! {
    BuildId => i64: |id| id.0, |id| Some(Self(id));
    IssueId => i64: |id| id.0, |id| Some(Self(id));
    KeyId => i64: |id| id.0, |id| Some(Self(id));
    MergeRequestId => i64: |id| id.0, |id| Some(Self(id));
    MilestoneId => i64: |id| id.0, |id| Some(Self(id));
    NamespaceId => i64: |id| id.0, |id| Some(Self(id));
    NoteId => i64: |id| id.0, |id| Some(Self(id));
    SnippetId => i64: |id| id.0, |id| Some(Self(id));
    PipelineId => i64: |id| id.0, |id| Some(Self(id));
    ProjectId => i64: |id| id.0, |id| Some(Self(id));
    RunnerId => i64: |id| id.0, |id| Some(Self(id));
    UserId => i64: |id| id.0, |id| Some(Self(id));
    AccessLevel => i64: |access| access.level().into(), Self::from_level;
    Visibility => i64: |visibility| visibility.level().into(), Self::from_level;
    IssueAction => String: |action| action.as_str().to_owned(), |word| Self::parse(&word);
    IssueState => String: |state| state.as_str().to_owned(), |word| Self::parse(&word);
    MergeRequestAction => String: |action| action.as_str().to_owned(), |word| Self::parse(&word);
    MergeRequestState => String: |state| state.as_str().to_owned(), |word| Self::parse(&word);
    MergeStatus => String: |status| status.as_str().to_owned(), |word| Self::parse(&word);
    Status => String: |status| status.as_str().to_owned(), |word| Self::parse(&word);
    When => String: |when| when.as_str().to_owned(), |word| Self::parse(&word);
    BranchName => String: |branch| branch.as_str().to_owned(), |name| Some(Self::stored(name));
    RequestBranch => String: |branch| branch.as_str().to_owned(), |name| Some(Self::stored(name));
    ObjectId => String: |id| id.to_string(), |hex| Self::parse(&hex);
    Timestamp => i64: |at| at.timestamp_micros(), Self::from_timestamp_micros;
    DateTime<FixedOffset> => String: |at| at.to_rfc3339(), |text| Self::parse_from_rfc3339(&text).ok();
    NaiveDate => String: |day| day.to_string(), |text| text.parse().ok();
}
