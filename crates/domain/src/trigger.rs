//! Triggers, by which external programs start pipelines.

pub mod port;

use crate::Timestamp;
use crate::field_errors::FieldErrors;
use crate::id::{PipelineId, ProjectId, TriggerId, TriggerRequestId};
use crate::ports::vault::Sealed;
use crate::text::{TooLong, limit, within};

/// The maximum number of variables for one pipeline.
pub const MAX_VARIABLES: usize = 200;

/// A trigger as it is stored. Its token is derived from its id; see
/// [`Vault::token`](crate::ports::vault::Vault::token).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// Assigned by the store, never reused.
    pub id: TriggerId,
    /// The project whose pipelines it starts.
    pub project: ProjectId,
    /// The creation time.
    pub created_at: Timestamp,
    /// The time of the last change.
    pub updated_at: Timestamp,
    /// The time when it last started a pipeline.
    pub last_used_at: Option<Timestamp>,
}

/// A request that started a pipeline with a trigger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriggerRequest {
    /// Assigned by the store.
    pub id: TriggerRequestId,
    /// The pipeline.
    pub pipeline: PipelineId,
    /// The trigger; `None` when it was deleted.
    pub trigger: Option<TriggerId>,
    /// The variables of the request, encrypted.
    pub variables: Sealed,
    /// The time of the request.
    pub created_at: Timestamp,
}

/// Checks the variables of a trigger request: their number, each name, each value, and the total
/// size.
/// # Errors
/// The first error, under `variables`.
pub fn check_variables(variables: &[(String, String)]) -> Result<(), FieldErrors> {
    if variables.len() > MAX_VARIABLES {
        let message = format!("are too many (maximum is {MAX_VARIABLES})");
        return Err(FieldErrors::single("variables", message));
    }
    let mut bytes = 0;
    for (key, value) in variables {
        let checked = within(key, limit::SHORT).and_then(|()| within(value, limit::VARIABLE_VALUE));
        bytes += key.len() + value.len();
        let total = if bytes > limit::LONG { Err(TooLong(limit::LONG)) } else { Ok(()) };
        checked.and(total).map_err(|error| FieldErrors::single("variables", error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_have_limits_one_by_one_and_together() {
        let pair = |key: usize, value: usize| ("k".repeat(key), "v".repeat(value));
        let full = pair(limit::SHORT, limit::VARIABLE_VALUE);
        for (variables, message) in [
            (vec![], None),
            (vec![full.clone()], None),
            (vec![pair(1, 1); MAX_VARIABLES], None),
            (vec![pair(1, 1); MAX_VARIABLES + 1], Some("are too many (maximum is 200)")),
            (vec![pair(256, 1)], Some("is too long (maximum is 255 characters)")),
            (vec![pair(1, 65_537)], Some("is too long (maximum is 65536 characters)")),
            (vec![full; 16], Some("is too long (maximum is 1048576 characters)")),
        ] {
            let found =
                check_variables(&variables).map_err(|wrong| wrong.messages("variables").to_vec());
            let expected = message.map_or(Ok(()), |message| Err(vec![message.to_owned()]));
            assert_eq!(found, expected, "{} variables", variables.len());
        }
    }
}
