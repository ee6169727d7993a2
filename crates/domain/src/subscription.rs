//! Whether a user hears of what happens to a label or an issue.

use crate::change::Change;

/// The state between one user and one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subscribed {
    /// The user hears of it.
    Yes,
    /// The user does not.
    No,
}

/// What the user may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubscriptionCommand {
    /// Hear of it.
    Subscribe,
    /// Hear of it no more.
    Unsubscribe,
}

impl Subscribed {
    /// What becomes of the state.
    pub fn apply(self, command: SubscriptionCommand) -> Change<Subscribed> {
        match (self, command) {
            (Subscribed::No, SubscriptionCommand::Subscribe) => Change::Applied(Subscribed::Yes),
            (Subscribed::Yes, SubscriptionCommand::Subscribe) => Change::Unchanged,
            (Subscribed::Yes, SubscriptionCommand::Unsubscribe) => Change::Applied(Subscribed::No),
            (Subscribed::No, SubscriptionCommand::Unsubscribe) => Change::Unchanged,
        }
    }

    /// As the interface and the store say it.
    pub fn as_bool(self) -> bool {
        match self {
            Subscribed::Yes => true,
            Subscribed::No => false,
        }
    }

    /// The state of that word.
    pub fn from_bool(subscribed: bool) -> Self {
        if subscribed { Subscribed::Yes } else { Subscribed::No }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscribe_and_unsubscribe() {
        use {Change::*, Subscribed::*, SubscriptionCommand::*};
        for (state, command, expected) in [
            (No, Subscribe, Applied(Yes)),
            (Yes, Subscribe, Unchanged),
            (Yes, Unsubscribe, Applied(No)),
            (No, Unsubscribe, Unchanged),
        ] {
            assert_eq!(state.apply(command), expected, "{state:?} on {command:?}");
        }
    }
}
