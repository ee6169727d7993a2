//! The path of a request in the access log. Some paths contain secrets, such as tokens of triggers, which are hidden.

/// Shown in place of a path without a route, because it may contain anything.
const HIDDEN: &str = "{…}";

/// Prefixes of paths that are shown even if no route matches.
const PREFIXES: [&str; 3] = ["/api/v3", "/ci/api/v1", "/-"];

/// Parameters whose values are shown if all characters may occur in names.
const NAMES: [&str; 2] = ["namespace", "project"];

/// Parameters whose values are never shown.
const SECRETS: [&str; 2] = ["token", "secret"];

/// Returns the pattern of the route with ids and names of projects filled in. Of a path without a route only a known
/// prefix is shown.
pub(super) fn logged_path<'a>(
    pattern: Option<&str>,
    path: &str,
    value_of: impl Fn(&str) -> Option<&'a str>,
) -> String {
    let Some(pattern) = pattern else {
        let known = |prefix: &&&str| {
            path.strip_prefix(**prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let prefix = PREFIXES.iter().find(known).copied().unwrap_or_default();
        return format!("{prefix}/{HIDDEN}");
    };
    let mut shown = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(start) = rest.find('{') {
        let (before, from_brace) = rest.split_at(start);
        shown.push_str(before);
        let (parameter, behind) = split_parameter(from_brace);
        let name = parameter.split(':').next().unwrap_or_default();
        match value_of(name).filter(|value| is_shown(name, value)) {
            Some(value) => shown.push_str(value),
            None => shown.extend(["{", name, "}"]),
        }
        rest = behind;
    }
    shown.push_str(rest);
    shown
}

/// Splits `{id:[0-9]{1,9}}/keys` into `id:[0-9]{1,9}` and `/keys`.
fn split_parameter(text: &str) -> (&str, &str) {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => (),
        }
        if depth == 0 {
            return (&text[1..at], &text[at + 1..]);
        }
    }
    (&text[1..], "")
}

fn is_shown(name: &str, value: &str) -> bool {
    let is_id = (1..=19).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_digit());
    let of_name = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    let is_name = (1..=255).contains(&value.len()) && value.bytes().all(of_name);
    !SECRETS.contains(&name) && (is_id || NAMES.contains(&name) && is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_shown_and_secrets_are_not() {
        let values = |name: &str| match name {
            "id" => Some("12"),
            "user" => Some("ada%20l"),
            "token" => Some("4-abcdef"),
            "secret" => Some("123456"),
            "namespace" => Some("team"),
            "project" => Some("ship.git"),
            "name" => Some("plan.pdf"),
            _ => None,
        };
        for (pattern, shown) in [
            ("/api/v3/user", "/api/v3/user"),
            ("/api/v3/projects/{id}/triggers/{token}", "/api/v3/projects/12/triggers/{token}"),
            ("/api/v3/users/{id:[0-9]{1,9}}/keys/{key}", "/api/v3/users/12/keys/{key}"),
            ("/api/v3/users/{user}", "/api/v3/users/{user}"),
            (
                "/{namespace}/{project}/uploads/{secret}/{name}",
                "/team/ship.git/uploads/{secret}/{name}",
            ),
            ("/{namespace}/{project}/info/refs", "/team/ship.git/info/refs"),
            ("/x/{tail:.*", "/x/{tail}"),
        ] {
            assert_eq!(logged_path(Some(pattern), "/", values), shown);
        }
        let id = |id: &'static str| logged_path(Some("/projects/{id}"), "/", move |_| Some(id));
        assert_eq!(id("group%2Fproject"), "/projects/{id}");
        assert_eq!(id("12345678901234567890"), "/projects/{id}", "no id has so many digits");
        let odd = |name: &str| (name == "project").then_some("a%0Ab");
        assert_eq!(logged_path(Some("/{namespace}/{project}"), "/", odd), "/{namespace}/{project}");
    }

    #[test]
    fn paths_without_a_route_show_a_known_beginning() {
        for (path, shown) in [
            ("/", "/{…}"),
            ("/api/v3/projects/1/trigger/4-abcdef", "/api/v3/{…}"),
            ("/api/v3", "/api/v3/{…}"),
            ("/api/v34-abcdef", "/{…}"),
            ("/ci/api/v1/builds/4-abcdef/x", "/ci/api/v1/{…}"),
            ("/-/4-abcdef", "/-/{…}"),
            ("/4-abcdef", "/{…}"),
        ] {
            assert_eq!(logged_path(None, path, |_| None), shown, "{path}");
        }
    }
}
