//! The settings of the service.

use hexforge_application::application_settings::SettingsView;
use hexforge_domain::visibility::Visibility;
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Iso;

/// The settings in a response. Some settings are never shown.
#[derive(Serialize, ToSchema)]
pub struct ApplicationSettingsJson {
    id: i64,
    default_projects_limit: i32,
    signup_enabled: bool,
    signin_enabled: bool,
    gravatar_enabled: bool,
    sign_in_text: Option<String>,
    after_sign_up_text: Option<String>,
    created_at: Iso,
    updated_at: Iso,
    home_page_url: Option<String>,
    default_branch_protection: i64,
    restricted_visibility_levels: Vec<i32>,
    max_attachment_size: i64,
    session_expire_delay: i64,
    default_project_visibility: i32,
    default_snippet_visibility: i32,
    default_group_visibility: Option<i32>,
    domain_whitelist: Vec<String>,
    domain_blacklist_enabled: bool,
    domain_blacklist: Vec<String>,
    user_oauth_applications: bool,
    after_sign_out_path: Option<String>,
    container_registry_token_expire_delay: i64,
    repository_storage: String,
    repository_storages: Vec<String>,
    koding_enabled: bool,
    koding_url: Option<String>,
}

impl From<SettingsView> for ApplicationSettingsJson {
    fn from(SettingsView { settings, created_at, updated_at }: SettingsView) -> Self {
        let levels = settings.restricted_visibility_levels.iter().copied();
        Self {
            id: 1,
            default_projects_limit: settings.default_projects_limit.0,
            signup_enabled: settings.signup_enabled,
            signin_enabled: settings.signin_enabled,
            gravatar_enabled: settings.gravatar_enabled,
            created_at: Iso(created_at),
            updated_at: Iso(updated_at),
            default_branch_protection: settings.default_branch_protection.number(),
            restricted_visibility_levels: levels.map(Visibility::level).collect(),
            max_attachment_size: settings.max_attachment_size,
            session_expire_delay: settings.session_expire_delay,
            default_project_visibility: settings.default_project_visibility.level(),
            default_snippet_visibility: settings.default_snippet_visibility.level(),
            default_group_visibility: settings.default_group_visibility.map(Visibility::level),
            domain_blacklist_enabled: settings.domain_blacklist_enabled,
            user_oauth_applications: settings.user_oauth_applications,
            container_registry_token_expire_delay: settings.container_registry_token_expire_delay,
            repository_storage: settings.repository_storage().to_owned(),
            koding_enabled: settings.koding_enabled,
            sign_in_text: settings.sign_in_text,
            after_sign_up_text: settings.after_sign_up_text,
            home_page_url: settings.home_page_url,
            domain_whitelist: settings.domain_whitelist,
            domain_blacklist: settings.domain_blacklist,
            after_sign_out_path: settings.after_sign_out_path,
            repository_storages: settings.repository_storages,
            koding_url: settings.koding_url,
        }
    }
}
