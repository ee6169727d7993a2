//! `POST /user/keys` and `POST /users/:id/keys`: reference section 3, valid and invalid keys.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, an_ssh_key, on_every_store};
use serde_json::{Value, json};

use crate::api::support::{field_error, id_of};

on_every_store!(
    keys_of_all_kinds_are_taken_and_kept_as_they_were_given,
    what_is_no_key_is_refused_with_all_that_is_wrong,
    titles_and_keys_have_their_lengths,
    the_length_of_a_key_counts_characters_and_leaves_its_fingerprint_alone,
    a_key_belongs_to_one_user_whatever_its_title_and_comment,
);

const RSA: &str = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQDCMqYTAt/pKT69Sw0+9VAhiZmWmxqZQ+lslAEf6fA9qkO45VCl+ez1EiMMzpTj4HRBknyn+TBl3Slgpb5tn1oYmjcyn4UY+KTXTs14pgjc9tZ5wEx155xuTQc2/1nUd4Ao36aZd0shrq/tU9wvYXQf5dmLiBOPjLbDQaYUGmIvvYde5MxMz5wkUg8eBYKuscmxLBK4/XhwP2rv8HcfQeYX7Hey7rRrencrsuh4HlxiyKjynWBSRE38xJlGOx5KQnJrV6kJoTxFKPXnN0SmAddVk61c/PPk/EYYqMx8LWCddE+tCVvxpM+Mf9ysnUfTOt3e/qTpeahXwWRvgsCAaxoZ me@home";
const DSA: &str = "ssh-dss AAAAB3NzaC1kc3MAAACBAKTGxqgczCHJ2Nukg6IKOhuhaA+9sMFPTnJmipVgJKxRkl7WlHSgEkKaSv39Ss28dnGoX6/jer/2KsJjHQ/2Ib7uBbgu2raS2VgG7E0ZTSO+x7Cty4N67IcxvhVTOvJYrcwTAVE7AbdxottofkwOqBy4JJTGWNXFsr0Dgrjqk2FHAAAAFQCymhdy/dCWKTpkZD7iUIeobh6UgQAAAIAJprSU2ZO87sGaxppO20h3/ARLrIPDP1O7adU24boG0o0wEjTisgbqtspCNj3FjX7w4TAseGTbOmxjzBUYdvzBjW3bh4T0J0EalWfvwcouJnEO2OZQqyyniDpKap0RbSwGqlwTXP/d17oQA2NkGLxShvvCvqxcGNgoBHcMfwrsRwAAAIBqlCh+EwlFXOL/tsXTvaZqLGX0VSDm2kJNPloE5nxmJvT/eR5Uv6KG/zPv9NDtLqk5j7NiCPLxliYCK1Vr02D694CI+CLZR98R6XzMtGlJViOT1Urbo0/aubjNen/OS8Yj6R7XoN9C8W0cubwpOT62mpMv1vxGS8ASeUgjUELBnw== me@home";
const ECDSA: &str = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBIt8ixcNSKNx715kqfYaGyXao9cEKJV0VQykNlG4ClNe5nCw4XVNeoXjIY67zDHn8KxtRkZUdJIdh8m66iw69Tw= me@home";
const UNREADABLE: &str = "cannot be generated";

/// The base64 part of a key.
fn blob(key: &str) -> &str {
    key.split(' ').nth(1).expect("a key has a blob")
}

/// A key without its comment.
fn bare_of(key: &str) -> String {
    key.split(' ').take(2).collect::<Vec<_>>().join(" ")
}

/// POST /user/keys
fn keys_of_all_kinds_are_taken_and_kept_as_they_were_given(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let bare = bare_of(&an_ssh_key(1));
    let commented = format!("{} a long comment, with blanks & ümläuts", bare_of(&an_ssh_key(2)));
    for key in [RSA, DSA, ECDSA, &bare, &commented] {
        let form = [("title", "t"), ("key", &format!(" \n{key} \r\n"))];
        let added = forge.post("/user/keys").token(&token).form(&form).send().expect(201);
        assert_eq!(added["key"], key);
        let read = forge.get(&format!("/user/keys/{}", id_of(&added))).token(&token).send();
        assert_eq!(read.expect(200), added);
    }
}

/// POST /user/keys, POST /users/:id/keys
fn what_is_no_key_is_refused_with_all_that_is_wrong(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let good = an_ssh_key(1);
    let unreadable = json!({"message": {"fingerprint": [UNREADABLE]}});
    let garbage = json!({"message": {"key": ["is invalid"], "fingerprint": [UNREADABLE]}});
    let cut = &good[..good.find(" key").expect("a comment") - 8];
    for (key, expected) in [
        ("garbage", &garbage),
        (blob(&good), &garbage),
        ("ssh-rsa garbage", &unreadable),
        ("ssh-rsa", &unreadable),
        ("ecdsa-sha2-nistp256 AAAA", &unreadable),
        (cut, &unreadable),
        // The data is a valid key, but of another type than its prefix says.
        (&format!("ssh-rsa {}", blob(&good)), &unreadable),
        (&format!("ssh-ed25519 {}", blob(RSA)), &unreadable),
    ] {
        let form = [("title", "t"), ("key", key)];
        for (path, token) in [("/user/keys", token.as_str()), (&format!("/users/{ada}/keys"), ROOT)]
        {
            let refused = forge.post(path).token(token).form(&form).send().expect(400);
            assert_eq!(&refused, expected, "{key}");
        }
    }
    for line_end in ["\n", "\r\n", "\r"] {
        let form = [("title", "t"), ("key", &format!("{good}{line_end}{RSA}"))];
        let refused = forge.post("/user/keys").token(&token).form(&form).send().expect(400);
        let expected = json!({"message": {"key": ["is invalid", "should be a single line"]}});
        assert_eq!(refused, expected, "{line_end:?}");
    }
    assert_eq!(forge.get("/user/keys").token(&token).send().expect(200), json!([]));
}

/// POST /user/keys
fn titles_and_keys_have_their_lengths(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let add = |title: &str, key: &str| {
        forge.post("/user/keys").token(&token).form(&[("title", title), ("key", key)]).send()
    };
    let refused = add(&"ü".repeat(256), &an_ssh_key(1)).expect(400);
    assert_eq!(refused, field_error("title", "is too long (maximum is 255 characters)"));
    add(&"ü".repeat(255), &an_ssh_key(1)).expect(201);
    let garbage = format!("ssh-rsa {}", "A".repeat(5000));
    let both = json!({"message": {
        "key": ["is too long (maximum is 5000 characters)"], "fingerprint": [UNREADABLE]
    }});
    assert_eq!(add("t", &garbage).expect(400), both);
    // The comment counts for the length.
    let key = an_ssh_key(2);
    let longest = format!("{key} {}", "c".repeat(5000 - key.len() - 1));
    assert_eq!(add("t", &longest).expect(201)["key"], longest);
}

/// POST /user/keys
fn the_length_of_a_key_counts_characters_and_leaves_its_fingerprint_alone(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let add = |key: &str| {
        forge.post("/user/keys").token(&token).form(&[("title", "t"), ("key", key)]).send()
    };
    let key = an_ssh_key(1);
    let longest = format!("{key} {}", "ü".repeat(5000 - key.len() - 1));
    assert_eq!(add(&longest).expect(201)["key"], longest);
    let refused = add(&format!("{longest}ü")).expect(400);
    assert_eq!(refused, field_error("key", "is too long (maximum is 5000 characters)"));
}

/// POST /user/keys, POST /users/:id/keys
fn a_key_belongs_to_one_user_whatever_its_title_and_comment(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (_, other) = forge.user("bob");
    let key = an_ssh_key(1);
    let good = [("title", "t"), ("key", key.as_str())];
    let added = forge.post("/user/keys").token(&token).form(&good).send().expect(201);
    let taken = "has already been taken";
    let expected: Value = json!({"message": {"fingerprint": [taken], "key": [taken]}});
    let again = [("title", "another"), ("key", &format!("{} another comment", bare_of(&key)))];
    for (path, token) in [
        ("/user/keys", token.as_str()),
        ("/user/keys", &other),
        ("/user/keys", ROOT),
        ("/users/1/keys", ROOT),
        (&format!("/users/{ada}/keys"), ROOT),
    ] {
        for form in [&good, &again] {
            let refused = forge.post(path).token(token).form(form).send();
            assert_eq!(refused.expect(400), expected, "{path}");
            assert_eq!(refused.text(), expected.to_string());
        }
    }
    assert_eq!(forge.get("/user/keys").token(&token).send().expect(200), json!([added]));
    assert_eq!(forge.get("/user/keys").token(&other).send().expect(200), json!([]));
}
