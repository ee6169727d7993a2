//! Services of projects: one set of calls for all names. Permission to administer the project is checked before the
//! name and the parameters.

use std::collections::BTreeSet;

use actix_web::{HttpResponse, web};
use hexforge_application::error::{Entity, Error};
use hexforge_application::{delivery, project, service};
use hexforge_domain::service::{Properties, PropertyValue, ServiceKind};
use hexforge_domain::text::limit;
use serde_json::Value;

use super::ids::ProjectPath;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::service::ServiceJson;
use crate::error::{ApiError, ApiResult};
use crate::openapi::{self as doc, Param};
use crate::params::{Parameters, Reader};
use crate::payloads::JsonPayloads;
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Services");
    let one = "/projects/{id}/services/{name}";
    calls.add(call::get(one, "Shows the settings of a service", get).ok::<ServiceJson>());
    calls.add(call::put(one, "Sets the properties of a service, and activates it", set).boolean());
    let clear = "Removes the properties of a service, and deactivates it";
    calls.add(call::delete(one, clear, self::clear).boolean());
}

/// The values of all parameters that are properties of any service.
struct GivenProperties(Vec<(&'static str, Value)>);

/// The names of the properties of all services, each once.
fn names() -> BTreeSet<&'static str> {
    ServiceKind::all().flat_map(ServiceKind::properties).map(|property| property.name).collect()
}

impl Parameters for GivenProperties {
    fn read(from: &mut Reader<'_>) -> Self {
        let given = names().into_iter().filter_map(|name| Some((name, from.value(name)?.clone())));
        Self(given.collect())
    }

    fn describe(to: &mut Vec<Param>) {
        to.extend(names().into_iter().map(|name| doc::text(name, limit::SERVICE_PROPERTY)));
    }
}

impl GivenProperties {
    /// The properties of one service.
    /// # Errors
    /// A value is neither a text, nor a boolean, nor a number.
    fn of(self, kind: ServiceKind) -> ApiResult<Properties> {
        let mut given = Vec::new();
        for (name, value) in self.0 {
            let invalid = || ApiError::bad_request(format!("{name} is invalid"));
            let value = match value {
                _ if kind.property(name).is_none() => continue,
                Value::Null => continue,
                Value::Bool(flag) => PropertyValue::Flag(flag),
                Value::Number(number) => PropertyValue::Number(number.to_string()),
                Value::String(text) if !text.contains('\0') => PropertyValue::Text(text),
                Value::String(_) | Value::Array(_) | Value::Object(_) => return Err(invalid()),
            };
            given.push((name, value));
        }
        Ok(Properties::given(kind, given))
    }
}

fn kind(name: &str) -> Result<ServiceKind, Error> {
    ServiceKind::parse(name).ok_or(Error::NotFound(Entity::Service))
}

async fn get(api: Api, path: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), name) = path.into_inner();
    let found = api
        .run(move |app, actor, ()| {
            project::authorize_administration(app, actor, &named)?;
            service::get(app, actor, &named, kind(&name)?)
        })
        .await?;
    respond::ok(ServiceJson::from(&found))
}

async fn set(
    api: Api<GivenProperties>,
    path: web::Path<(ProjectPath, String)>,
) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), name) = path.into_inner();
    let payloads = JsonPayloads::with(api.links());
    api.run_unread(move |app, actor, unread| {
        project::authorize_administration(app, actor, &named)?;
        let kind = kind(&name)?;
        let given = unread.read()?.of(kind)?;
        delivery::catch_up(app, &payloads)?;
        Ok(service::set(app, actor, &named, kind, given)?)
    })
    .await?;
    respond::ok(true)
}

async fn clear(api: Api, path: web::Path<(ProjectPath, String)>) -> ApiResult<HttpResponse> {
    let (ProjectPath(named), name) = path.into_inner();
    api.run(move |app, actor, ()| {
        project::authorize_administration(app, actor, &named)?;
        service::clear(app, actor, &named, kind(&name)?)
    })
    .await?;
    respond::ok(true)
}
