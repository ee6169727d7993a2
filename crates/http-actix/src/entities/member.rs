//! Members of groups and projects.

use hexforge_application::member::MemberView;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::links::Links;
use super::user;

/// A member as an answer shows it: the user's summary, and what it is here.
pub struct MemberJson<'a>(pub &'a MemberView, pub &'a Links);

impl Serialize for MemberJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self((user, membership), links) = self;
        let mut map = serializer.serialize_map(None)?;
        user::summary(&mut map, user, links)?;
        map.serialize_entry("access_level", &membership.level.level())?;
        map.serialize_entry("expires_at", &membership.expires_at.map(|day| day.to_string()))?;
        map.end()
    }
}
