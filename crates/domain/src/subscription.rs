//! Subscriptions of users to labels, issues and merge requests.

use crate::change::Change;

/// The subscription state of one user for one label, issue or merge request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subscribed {
    /// Subscribed.
    Yes,
    /// Not subscribed.
    No,
}

/// A change of the subscription that a request may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubscriptionCommand {
    /// Subscribe to the label, issue or merge request.
    Subscribe,
    /// Unsubscribe from the label, issue or merge request.
    Unsubscribe,
}

impl Subscribed {
    /// Applies a command.
    pub fn apply(self, command: SubscriptionCommand) -> Change<Subscribed> {
        match (self, command) {
            (Subscribed::No, SubscriptionCommand::Subscribe) => Change::Applied(Subscribed::Yes),
            (Subscribed::Yes, SubscriptionCommand::Subscribe) => Change::Unchanged,
            (Subscribed::Yes, SubscriptionCommand::Unsubscribe) => Change::Applied(Subscribed::No),
            (Subscribed::No, SubscriptionCommand::Unsubscribe) => Change::Unchanged,
        }
    }

    /// The value in the API and in the database.
    pub fn as_bool(self) -> bool {
        match self {
            Subscribed::Yes => true,
            Subscribed::No => false,
        }
    }

    /// Converts the value from the API or the database.
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
