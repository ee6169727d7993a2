//! The tables of both databases. Written by hand, compared with both databases by `tests/schema.rs`.

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
        name_folded -> Text,
        description -> Text,
        visibility_level -> Integer,
        lfs_enabled -> Nullable<Bool>,
        request_access_enabled -> Bool,
        share_with_group_lock -> Bool,
        avatar -> Nullable<Text>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        personal_projects -> BigInt,
    }
}

diesel::table! {
    group_members (group_id, user_id) {
        group_id -> BigInt,
        user_id -> BigInt,
        access_level -> Integer,
        notification_level -> Integer,
        expires_at -> Nullable<Date>,
    }
}

diesel::table! {
    projects (id) {
        id -> BigInt,
        namespace_id -> BigInt,
        creator_id -> Nullable<BigInt>,
        name -> Text,
        path -> Text,
        path_folded -> Text,
        description -> Nullable<Text>,
        visibility_level -> Integer,
        archived -> Bool,
        issues_enabled -> Bool,
        merge_requests_enabled -> Bool,
        wiki_enabled -> Bool,
        builds_enabled -> Bool,
        snippets_enabled -> Bool,
        container_registry_enabled -> Bool,
        shared_runners_enabled -> Bool,
        public_builds -> Bool,
        lfs_enabled -> Nullable<Bool>,
        merge_only_if_build_succeeds -> Bool,
        merge_only_if_discussions_resolved -> Bool,
        request_access_enabled -> Bool,
        star_count -> Integer,
        open_issues_count -> Integer,
        forked_from_id -> Nullable<BigInt>,
        runners_token -> Text,
        import_url -> Nullable<Text>,
        avatar -> Nullable<Text>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        last_activity_at -> Timestamp,
        search_text -> Text,
        default_branch -> Nullable<Text>,
    }
}

diesel::table! {
    copied_repositories (project_id) {
        project_id -> BigInt,
    }
}

diesel::table! {
    runners_tokens (project_id) {
        project_id -> BigInt,
        sealed -> Text,
        proof -> Text,
    }
}

diesel::table! {
    sealing (name) {
        name -> Text,
        last_id -> BigInt,
    }
}

diesel::table! {
    runner_registration (id) {
        id -> BigInt,
        rotations -> BigInt,
    }
}

diesel::table! {
    installation_secrets (name) {
        name -> Text,
        sealed -> Text,
    }
}

diesel::table! {
    key_proofs (id) {
        id -> BigInt,
        proof -> Text,
    }
}

diesel::table! {
    fork_counts (project_id) {
        project_id -> BigInt,
        forks -> BigInt,
    }
}

diesel::table! {
    list_changes (writer) {
        writer -> BigInt,
        changes -> BigInt,
    }
}

diesel::table! {
    project_members (project_id, user_id) {
        project_id -> BigInt,
        user_id -> BigInt,
        access_level -> Integer,
        notification_level -> Integer,
        expires_at -> Nullable<Date>,
    }
}

diesel::table! {
    project_shares (id) {
        id -> BigInt,
        group_id -> BigInt,
        project_id -> BigInt,
        group_access -> Integer,
        expires_at -> Nullable<Date>,
    }
}

diesel::table! {
    access_requests (id) {
        id -> BigInt,
        user_id -> BigInt,
        group_id -> Nullable<BigInt>,
        project_id -> Nullable<BigInt>,
        requested_at -> Timestamp,
    }
}

diesel::table! {
    stars (project_id, user_id) {
        project_id -> BigInt,
        user_id -> BigInt,
    }
}

diesel::table! {
    project_hooks (id) {
        id -> BigInt,
        project_id -> BigInt,
        url -> Text,
        token -> Nullable<Text>,
        push_events -> Bool,
        tag_push_events -> Bool,
        issues_events -> Bool,
        merge_requests_events -> Bool,
        note_events -> Bool,
        build_events -> Bool,
        pipeline_events -> Bool,
        wiki_page_events -> Bool,
        enable_ssl_verification -> Bool,
        created_at -> Timestamp,
        updated_at -> Timestamp,
    }
}

diesel::table! {
    protected_branches (project_id, pattern) {
        project_id -> BigInt,
        pattern -> Text,
        developers_can_push -> Bool,
        developers_can_merge -> Bool,
    }
}

diesel::table! {
    releases (project_id, tag) {
        project_id -> BigInt,
        tag -> Text,
        description -> Text,
        created_at -> Timestamp,
        updated_at -> Timestamp,
    }
}

diesel::table! {
    repository_tasks (id) {
        id -> BigInt,
        project_id -> BigInt,
        kind -> Text,
        source_id -> Nullable<BigInt>,
        user_id -> Nullable<BigInt>,
        url -> Nullable<Text>,
        tries -> Integer,
        due_at -> Nullable<Timestamp>,
        error -> Nullable<Text>,
        created_at -> Timestamp,
        data -> Nullable<Text>,
    }
}

diesel::table! {
    repositories (project_id) {
        project_id -> BigInt,
        head -> Text,
        refs_version -> BigInt,
        packs_version -> BigInt,
    }
}

diesel::table! {
    refs (project_id, name) {
        project_id -> BigInt,
        name -> Text,
        target -> Binary,
        peeled -> Nullable<Binary>,
    }
}

diesel::table! {
    packs (id) {
        id -> BigInt,
        project_id -> Nullable<BigInt>,
        sha256 -> Binary,
        bytes -> BigInt,
        objects -> BigInt,
        created_at -> Timestamp,
        retired_at -> Nullable<Timestamp>,
    }
}

diesel::table! {
    condemned_packs (sha256) {
        sha256 -> Binary,
        at -> Timestamp,
    }
}

diesel::table! {
    system_hooks (id) {
        id -> BigInt,
        url -> Text,
        token -> Nullable<Text>,
        push_events -> Bool,
        tag_push_events -> Bool,
        enable_ssl_verification -> Bool,
        created_at -> Timestamp,
        updated_at -> Timestamp,
    }
}

diesel::table! {
    iids (project_id) {
        project_id -> BigInt,
        issues -> BigInt,
        milestones -> BigInt,
        merge_requests -> BigInt,
        deployments -> BigInt,
        removed_deployments -> BigInt,
        open_issues -> Integer,
        closed_issues -> Integer,
        open_confidential -> Integer,
        closed_confidential -> Integer,
        open_requests -> Integer,
        closed_requests -> Integer,
        merged_requests -> Integer,
    }
}

diesel::table! {
    labels (id) {
        id -> BigInt,
        project_id -> BigInt,
        title -> Text,
        color -> Text,
        description -> Nullable<Text>,
        priority -> Nullable<BigInt>,
        open_issues -> Integer,
        closed_issues -> Integer,
        open_confidential -> Integer,
        closed_confidential -> Integer,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        group_label_id -> Nullable<BigInt>,
        title_start -> Text,
        open_merge_requests -> Integer,
    }
}

diesel::table! {
    group_labels (id) {
        id -> BigInt,
        group_id -> BigInt,
        title -> Text,
        color -> Text,
        description -> Nullable<Text>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        title_start -> Text,
    }
}

diesel::table! {
    label_subscriptions (label_id, user_id) {
        label_id -> BigInt,
        user_id -> BigInt,
    }
}

diesel::table! {
    milestones (id) {
        id -> BigInt,
        project_id -> BigInt,
        iid -> BigInt,
        title -> Text,
        description -> Nullable<Text>,
        state -> Text,
        due_date -> Nullable<Date>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        open_issues -> Integer,
        closed_issues -> Integer,
        open_confidential -> Integer,
        closed_confidential -> Integer,
        start_date -> Nullable<Date>,
    }
}

diesel::table! {
    issues (id) {
        id -> BigInt,
        project_id -> BigInt,
        iid -> BigInt,
        author_id -> BigInt,
        assignee_id -> Nullable<BigInt>,
        milestone_id -> Nullable<BigInt>,
        updated_by_id -> Nullable<BigInt>,
        moved_to_id -> Nullable<BigInt>,
        title -> Text,
        description -> Nullable<Text>,
        state -> Text,
        confidential -> Bool,
        due_date -> Nullable<Date>,
        user_notes_count -> Integer,
        created_at -> Timestamp,
        updated_at -> Timestamp,
    }
}

diesel::table! {
    issue_labels (issue_id, label_id) {
        issue_id -> BigInt,
        label_id -> BigInt,
        author_id -> BigInt,
    }
}

diesel::table! {
    merge_requests (id) {
        id -> BigInt,
        project_id -> BigInt,
        iid -> BigInt,
        source_project_id -> BigInt,
        source_branch -> Text,
        target_branch -> Text,
        author_id -> BigInt,
        assignee_id -> Nullable<BigInt>,
        milestone_id -> Nullable<BigInt>,
        updated_by_id -> Nullable<BigInt>,
        title -> Text,
        description -> Nullable<Text>,
        state -> Text,
        merge_status -> Text,
        head -> Nullable<Binary>,
        merge_commit -> Nullable<Binary>,
        merge_user_id -> Nullable<BigInt>,
        merge_message -> Nullable<Text>,
        merge_removes_source -> Nullable<Bool>,
        seen_source -> BigInt,
        seen_target -> BigInt,
        user_notes_count -> Integer,
        created_at -> Timestamp,
        updated_at -> Timestamp,
    }
}

diesel::table! {
    merge_request_versions (id) {
        id -> BigInt,
        merge_request_id -> BigInt,
        head_commit -> Nullable<Binary>,
        start_commit -> Nullable<Binary>,
        base_commit -> Nullable<Binary>,
        size -> Nullable<Text>,
        created_at -> Timestamp,
    }
}

diesel::table! {
    merge_request_labels (merge_request_id, label_id) {
        merge_request_id -> BigInt,
        label_id -> BigInt,
    }
}

diesel::table! {
    merge_request_subscriptions (merge_request_id, user_id) {
        merge_request_id -> BigInt,
        user_id -> BigInt,
        subscribed -> Bool,
    }
}

diesel::table! {
    merge_request_participants (merge_request_id, user_id) {
        merge_request_id -> BigInt,
        user_id -> BigInt,
    }
}

diesel::table! {
    issue_subscriptions (issue_id, user_id) {
        issue_id -> BigInt,
        user_id -> BigInt,
        subscribed -> Bool,
    }
}

diesel::table! {
    issue_participants (issue_id, user_id) {
        issue_id -> BigInt,
        user_id -> BigInt,
    }
}

diesel::table! {
    snippets (id) {
        id -> BigInt,
        project_id -> Nullable<BigInt>,
        author_id -> BigInt,
        title -> Text,
        file_name -> Text,
        visibility_level -> Integer,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        content -> Text,
    }
}

diesel::table! {
    notes (id) {
        id -> BigInt,
        project_id -> BigInt,
        issue_id -> Nullable<BigInt>,
        author_id -> BigInt,
        updated_by_id -> Nullable<BigInt>,
        body -> Text,
        system -> Bool,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        source_project_id -> Nullable<BigInt>,
        source_issue_id -> Nullable<BigInt>,
        source_commit -> Nullable<Text>,
        merge_request_id -> Nullable<BigInt>,
        commit_id -> Nullable<Text>,
        path -> Nullable<Text>,
        line -> Nullable<BigInt>,
        source_merge_request_id -> Nullable<BigInt>,
        snippet_id -> Nullable<BigInt>,
        old_line -> Nullable<BigInt>,
    }
}

diesel::table! {
    awards (id) {
        id -> BigInt,
        issue_id -> Nullable<BigInt>,
        user_id -> BigInt,
        name -> Text,
        created_at -> Timestamp,
        merge_request_id -> Nullable<BigInt>,
        note_id -> Nullable<BigInt>,
        snippet_id -> Nullable<BigInt>,
    }
}

diesel::table! {
    application_settings (id) {
        id -> BigInt,
        version -> BigInt,
        changed -> Text,
        created_at -> Timestamp,
        updated_at -> Timestamp,
    }
}

diesel::table! {
    broadcast_messages (id) {
        id -> BigInt,
        message -> Text,
        starts_at -> Timestamp,
        ends_at -> Timestamp,
        color -> Text,
        font -> Text,
    }
}

diesel::table! {
    notification_settings (id) {
        id -> BigInt,
        user_id -> BigInt,
        project_id -> Nullable<BigInt>,
        group_id -> Nullable<BigInt>,
        level -> Integer,
        events -> Integer,
        address -> Nullable<Text>,
    }
}

diesel::table! {
    todos (id) {
        id -> BigInt,
        user_id -> BigInt,
        project_id -> BigInt,
        issue_id -> Nullable<BigInt>,
        merge_request_id -> Nullable<BigInt>,
        commit_id -> Nullable<Text>,
        author_id -> BigInt,
        action -> Text,
        note_id -> Nullable<BigInt>,
        state -> Text,
        created_at -> Timestamp,
    }
}

diesel::table! {
    boards (id) {
        id -> BigInt,
        project_id -> BigInt,
    }
}

diesel::table! {
    board_lists (id) {
        id -> BigInt,
        board_id -> BigInt,
        label_id -> BigInt,
        position -> Integer,
        created_at -> Timestamp,
        deleted_at -> Nullable<Timestamp>,
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
        user_id -> Nullable<BigInt>,
        title -> Text,
        key -> Text,
        fingerprint -> Text,
        created_at -> Timestamp,
    }
}

diesel::table! {
    project_deploy_keys (project_id, key_id) {
        project_id -> BigInt,
        key_id -> BigInt,
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
    browser_sessions (id) {
        id -> BigInt,
        user_id -> BigInt,
        hash -> Binary,
        created_at -> Timestamp,
        last_used_at -> Timestamp,
        address -> Nullable<Text>,
        browser -> Text,
        remembered -> Bool,
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
    sign_in_addresses (user_id, network) {
        user_id -> BigInt,
        network -> Text,
        seen_at -> Timestamp,
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
        issue_id -> Nullable<BigInt>,
        merge_request_id -> Nullable<BigInt>,
        snippet_id -> Nullable<BigInt>,
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

diesel::table! {
    pipelines (id) {
        id -> BigInt,
        project_id -> BigInt,
        user_id -> Nullable<BigInt>,
        sha -> Text,
        before_sha -> Text,
        reference -> Text,
        tag -> Bool,
        status -> Text,
        yaml_errors -> Nullable<Text>,
        duration -> Nullable<BigInt>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        started_at -> Nullable<Timestamp>,
        finished_at -> Nullable<Timestamp>,
        commit_message -> Text,
        commit_author_name -> Text,
        commit_author_email -> Text,
        commit_authored_at -> Text,
        commit_committed_at -> Text,
    }
}

diesel::table! {
    ref_pipelines (project_id, tag, reference) {
        project_id -> BigInt,
        tag -> Bool,
        reference -> Text,
        pipeline_id -> BigInt,
        present -> Bool,
    }
}

diesel::table! {
    project_settings (project_id) {
        project_id -> BigInt,
        coverage_expression -> Nullable<Text>,
        build_timeout -> Nullable<Integer>,
        build_git_fetch -> Nullable<Bool>,
    }
}

diesel::table! {
    build_definitions (id) {
        id -> BigInt,
        pipeline_id -> BigInt,
        commands -> Text,
        options -> Text,
        variables -> Text,
    }
}

diesel::table! {
    runners (id) {
        id -> BigInt,
        description -> Text,
        active -> Bool,
        is_shared -> Bool,
        run_untagged -> Bool,
        locked -> Bool,
        tags -> Text,
        name -> Nullable<Text>,
        version -> Nullable<Text>,
        revision -> Nullable<Text>,
        platform -> Nullable<Text>,
        architecture -> Nullable<Text>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        contacted_at -> Nullable<Timestamp>,
    }
}

diesel::table! {
    runner_projects (runner_id, project_id) {
        runner_id -> BigInt,
        project_id -> BigInt,
    }
}

diesel::table! {
    builds (id) {
        id -> BigInt,
        project_id -> BigInt,
        pipeline_id -> BigInt,
        definition_id -> Nullable<BigInt>,
        kind -> Text,
        name -> Text,
        stage -> Text,
        stage_index -> Integer,
        status -> Text,
        run_when -> Text,
        allow_failure -> Bool,
        tags -> Text,
        superseded -> Bool,
        user_id -> Nullable<BigInt>,
        runner_id -> Nullable<BigInt>,
        coverage -> Nullable<Text>,
        target_url -> Nullable<Text>,
        description -> Nullable<Text>,
        artifacts_name -> Nullable<Text>,
        artifacts_size -> Nullable<BigInt>,
        artifacts_expire_at -> Nullable<Timestamp>,
        erased_at -> Nullable<Timestamp>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        queued_at -> Nullable<Timestamp>,
        started_at -> Nullable<Timestamp>,
        finished_at -> Nullable<Timestamp>,
    }
}

diesel::table! {
    triggers (id) {
        id -> BigInt,
        project_id -> BigInt,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        last_used_at -> Nullable<Timestamp>,
    }
}

diesel::table! {
    trigger_requests (id) {
        id -> BigInt,
        pipeline_id -> BigInt,
        trigger_id -> Nullable<BigInt>,
        variables -> Binary,
        created_at -> Timestamp,
    }
}

diesel::table! {
    variables (id) {
        id -> BigInt,
        project_id -> BigInt,
        key -> Text,
        value -> Binary,
    }
}

diesel::table! {
    hook_payloads (id) {
        id -> BigInt,
        body -> Text,
        created_at -> Timestamp,
    }
}

diesel::table! {
    hook_lanes (id) {
        id -> BigInt,
        project_hook_id -> Nullable<BigInt>,
        system_hook_id -> Nullable<BigInt>,
        due_at -> Nullable<Timestamp>,
        claimed -> Bool,
        claims -> BigInt,
        failures -> Integer,
        failing_since -> Nullable<Timestamp>,
        rest_until -> Nullable<Timestamp>,
        service_id -> Nullable<BigInt>,
    }
}

diesel::table! {
    services (id) {
        id -> BigInt,
        project_id -> BigInt,
        name -> Text,
        active -> Bool,
        properties -> Text,
        url -> Nullable<Text>,
        external_tracker -> Bool,
        created_at -> Timestamp,
        updated_at -> Timestamp,
    }
}

diesel::table! {
    deliveries (id) {
        id -> BigInt,
        lane_id -> BigInt,
        payload_id -> BigInt,
        key -> Text,
        event -> Text,
        state -> Text,
        tries -> Integer,
        due_at -> Nullable<Timestamp>,
        since -> Timestamp,
        created_at -> Timestamp,
        tried_at -> Nullable<Timestamp>,
        url -> Nullable<Text>,
        millis -> Nullable<Integer>,
        status -> Nullable<Integer>,
        answer -> Nullable<Text>,
        error -> Nullable<Text>,
    }
}

diesel::table! {
    environments (id) {
        id -> BigInt,
        project_id -> BigInt,
        name -> Text,
        external_url -> Nullable<Text>,
        state -> Text,
        stop_branch -> Nullable<Text>,
        created_at -> Timestamp,
        updated_at -> Timestamp,
        removed -> Bool,
    }
}

diesel::table! {
    deployments (id) {
        id -> BigInt,
        project_id -> BigInt,
        iid -> BigInt,
        environment_id -> BigInt,
        build_id -> BigInt,
        reference -> Text,
        sha -> Text,
        user_id -> Nullable<BigInt>,
        on_stop -> Nullable<Text>,
        created_at -> Timestamp,
    }
}

diesel::table! {
    project_roots (id) {
        id -> BigInt,
        removed -> Bool,
        network_id -> Nullable<BigInt>,
    }
}

diesel::table! {
    lfs_networks (id) {
        id -> BigInt,
        bytes -> BigInt,
        removed -> Bool,
    }
}

diesel::table! {
    lfs_objects (network_id, oid) {
        network_id -> BigInt,
        oid -> Binary,
        size -> BigInt,
        created_at -> Timestamp,
    }
}

diesel::table! {
    namespace_roots (id) {
        id -> BigInt,
        removed -> Bool,
    }
}

diesel::table! {
    user_roots (id) {
        id -> BigInt,
        removed -> Bool,
    }
}

diesel::joinable!(project_deploy_keys -> keys (key_id));
diesel::joinable!(tokens -> users (user_id));
diesel::joinable!(browser_sessions -> users (user_id));
diesel::joinable!(group_members -> users (user_id));
diesel::joinable!(project_members -> users (user_id));
diesel::joinable!(access_requests -> users (user_id));
diesel::joinable!(projects -> namespaces (namespace_id));
diesel::joinable!(project_shares -> namespaces (group_id));
diesel::joinable!(issue_labels -> labels (label_id));
diesel::joinable!(merge_request_labels -> labels (label_id));
diesel::allow_tables_to_appear_in_same_query!(
    users,
    tokens,
    browser_sessions,
    group_members,
    project_members,
    access_requests,
    application_settings
);
diesel::allow_tables_to_appear_in_same_query!(namespaces, projects, project_shares, stars, users);
diesel::allow_tables_to_appear_in_same_query!(keys, project_deploy_keys);
diesel::allow_tables_to_appear_in_same_query!(labels, issue_labels);
diesel::allow_tables_to_appear_in_same_query!(labels, merge_request_labels);
diesel::allow_tables_to_appear_in_same_query!(projects, runners_tokens, project_settings);
diesel::allow_tables_to_appear_in_same_query!(environments, deployments);
diesel::allow_tables_to_appear_in_same_query!(
    projects,
    builds,
    pipelines,
    triggers,
    project_hooks,
    services
);
