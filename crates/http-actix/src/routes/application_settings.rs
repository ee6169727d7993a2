//! The settings of the service, for administrators.

use actix_web::HttpResponse;
use hexforge_application::application_settings;
use hexforge_domain::application_settings::rule::{SettingInput, SettingRule};
use hexforge_domain::application_settings::{ApplicationSettings, REPOSITORY_STORAGE};
use hexforge_domain::text::limit;

use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::application_settings::ApplicationSettingsJson;
use crate::error::ApiResult;
use crate::openapi::{self, Param};
use crate::params::{Parameters, Reader};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Application settings");
    let path = "/application/settings";
    let get = call::get(path, "Shows the settings of the service", get);
    calls.add(get.ok::<ApplicationSettingsJson>());
    let update = call::put(path, "Changes settings of the service", update);
    calls.add(update.ok::<ApplicationSettingsJson>());
}

/// The settings in a request. All are optional.
struct GivenSettings(Vec<(&'static str, SettingInput)>);

impl Parameters for GivenSettings {
    fn read(from: &mut Reader<'_>) -> Self {
        let names = ApplicationSettings::RULES.iter().map(|(name, _)| *name);
        let names = names.chain([REPOSITORY_STORAGE]);
        Self(names.filter_map(|name| Some((name, from.setting(name)?))).collect())
    }

    fn describe(to: &mut Vec<Param>) {
        to.extend(ApplicationSettings::RULES.iter().map(|(name, rule)| describe(name, *rule)));
        to.push(openapi::text(REPOSITORY_STORAGE, limit::SHORT));
    }
}

fn describe(name: &'static str, rule: SettingRule) -> Param {
    match rule {
        SettingRule::Switch => openapi::boolean(name),
        SettingRule::Integer { .. } | SettingRule::OneOf(_) => openapi::integer(name),
        SettingRule::Word(words) => openapi::one_of(name, words),
        SettingRule::Text { max } => openapi::text(name, max),
        SettingRule::Url => openapi::text(name, limit::URL),
        SettingRule::Texts { max, .. } => openapi::texts(name, max),
        SettingRule::SomeLevels => openapi::integers(name),
    }
}

async fn get(api: Api) -> ApiResult<HttpResponse> {
    let shown = api.run(|app, actor, ()| application_settings::get(app, actor)).await?;
    respond::ok(ApplicationSettingsJson::from(shown))
}

async fn update(api: Api<GivenSettings>) -> ApiResult<HttpResponse> {
    let changed = api
        .run_unread(|app, actor, unread| {
            application_settings::authorize(actor)?;
            let GivenSettings(given) = unread.read()?;
            Ok(application_settings::update(app, actor, &given)?)
        })
        .await?;
    respond::ok(ApplicationSettingsJson::from(changed))
}
