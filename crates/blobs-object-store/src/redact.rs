//! Removes secrets from error messages.

use hexforge_domain::project::upload::UploadSecret;

/// Removes the query strings of URLs, which may contain signatures, and the secrets of uploaded files.
pub(crate) fn redact(text: &str) -> String {
    let redacted = |part| if UploadSecret::parse(part).is_some() { "..." } else { part };
    strip_queries(&text.split('/').map(redacted).collect::<Vec<_>>().join("/"))
}

fn strip_queries(text: &str) -> String {
    let mut redacted = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('?') {
        redacted.push_str(&rest[..start]);
        let query = &rest[start..];
        let end = query.find(|c: char| c.is_whitespace() || "\"')>,".contains(c));
        rest = end.map_or("", |end| &query[end..]);
    }
    redacted + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_do_not_show_secrets() {
        let uploaded = format!("PUT http://a/uploads/1/{}/61 failed", "0f".repeat(16));
        for (text, redacted) in [
            (uploaded.as_str(), "PUT http://a/uploads/1/.../61 failed"),
            ("plain", "plain"),
            ("for url (https://a/b?sig=secret&x=1) it failed", "for url (https://a/b) it failed"),
            ("one ?a two ?b", "one  two "),
        ] {
            assert_eq!(redact(text), redacted);
        }
    }
}
