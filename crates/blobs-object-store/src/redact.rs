//! Removes secrets from error messages.

use hexforge_domain::project::upload::UploadSecret;

/// Removes the queries of URLs, which may contain signatures, and the secrets of uploaded files.
pub(crate) fn redacted(text: &str) -> String {
    let shown = |part| if UploadSecret::parse(part).is_some() { "..." } else { part };
    without_queries(&text.split('/').map(shown).collect::<Vec<_>>().join("/"))
}

fn without_queries(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('?') {
        shown.push_str(&rest[..start]);
        let query = &rest[start..];
        let end = query.find(|c: char| c.is_whitespace() || "\"')>,".contains(c));
        rest = end.map_or("", |end| &query[end..]);
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_do_not_show_secrets() {
        let uploaded = format!("PUT http://a/uploads/1/{}/61 failed", "0f".repeat(16));
        for (text, shown) in [
            (uploaded.as_str(), "PUT http://a/uploads/1/.../61 failed"),
            ("plain", "plain"),
            ("for url (https://a/b?sig=secret&x=1) it failed", "for url (https://a/b) it failed"),
            ("one ?a two ?b", "one  two "),
        ] {
            assert_eq!(redacted(text), shown);
        }
    }
}
