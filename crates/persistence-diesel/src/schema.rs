//! The tables of both databases. Written by hand, held true by `tests/schema.rs`.

diesel::table! {
    users (id) {
        id -> BigInt,
        username -> Text,
        name -> Text,
        email -> Text,
        password_hash -> Text,
        state -> Text,
        admin -> Bool,
        external -> Bool,
        can_create_group -> Bool,
        projects_limit -> Integer,
        bio -> Nullable<Text>,
        location -> Nullable<Text>,
        organization -> Nullable<Text>,
        skype -> Nullable<Text>,
        linkedin -> Nullable<Text>,
        twitter -> Nullable<Text>,
        website_url -> Nullable<Text>,
        theme_id -> Integer,
        color_scheme_id -> Integer,
        avatar -> Nullable<Text>,
        two_factor_enabled -> Bool,
        confirmed_at -> Nullable<Timestamp>,
        last_sign_in_at -> Nullable<Timestamp>,
        current_sign_in_at -> Nullable<Timestamp>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        search_text -> Text,
    }
}

diesel::table! {
    namespaces (id) {
        id -> BigInt,
        path -> Text,
        path_folded -> Text,
        name -> Text,
        owner_id -> Nullable<BigInt>,
    }
}

diesel::table! {
    identities (id) {
        id -> BigInt,
        user_id -> BigInt,
        provider -> Text,
        extern_uid -> Nullable<Text>,
    }
}

diesel::table! {
    emails (id) {
        id -> BigInt,
        user_id -> BigInt,
        email -> Text,
        is_primary -> Bool,
    }
}

diesel::table! {
    keys (id) {
        id -> BigInt,
        user_id -> BigInt,
        title -> Text,
        key -> Text,
        fingerprint -> Text,
        created_at -> Timestamp,
    }
}

diesel::table! {
    tokens (id) {
        id -> BigInt,
        user_id -> BigInt,
        kind -> Text,
        name -> Text,
        hash -> Binary,
        created_at -> Timestamp,
        expires_at -> Nullable<Timestamp>,
        revoked_at -> Nullable<Timestamp>,
    }
}

diesel::table! {
    sign_in_failures (subject) {
        subject -> Text,
        failures -> Integer,
        since -> Timestamp,
        refused_until -> Nullable<Timestamp>,
    }
}

diesel::table! {
    events (id) {
        id -> BigInt,
        project_id -> BigInt,
        author_id -> BigInt,
        action -> Text,
        target_type -> Nullable<Text>,
        target_id -> Nullable<BigInt>,
        target_title -> Nullable<Text>,
        data -> Nullable<Text>,
        created_at -> Timestamp,
    }
}

diesel::table! {
    outbox (id) {
        id -> BigInt,
        kind -> Text,
        payload -> Text,
        created_at -> Timestamp,
    }
}

diesel::joinable!(tokens -> users (user_id));
diesel::allow_tables_to_appear_in_same_query!(users, tokens);
