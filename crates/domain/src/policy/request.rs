//! The rule for access requests.

/// Returns whether a user who may see a group or project may request membership: requests have to be `enabled`, and the
/// user must not have any access level in it yet, from whatever membership.
pub fn may_request_access(enabled: bool, member: bool) -> bool {
    enabled && !member
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_non_members_may_request_access_where_enabled() {
        for (enabled, member, expected) in
            [(true, false, true), (true, true, false), (false, false, false), (false, true, false)]
        {
            assert_eq!(may_request_access(enabled, member), expected, "{enabled} {member}");
        }
    }
}
