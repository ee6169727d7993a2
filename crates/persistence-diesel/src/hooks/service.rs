//! Services of projects. Properties are sealed, because most kinds have secrets among them.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::id::{ProjectId, ServiceId};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::service::port::Services;
use hexforge_domain::service::{ProjectService, Properties, PropertyValue, ServiceKind};
use serde_json::{Map, Value};

use crate::database::backend;
use crate::database::schema::{hook_lanes, projects, services};
use crate::database::seal::{Purpose, Seals};
use crate::database::time::{to_naive, to_utc};
use crate::database::tx::DieselTx;
use crate::query::among::AmongValues;

/// A row of `services` without the URL, which is one of the properties.
#[derive(Queryable, Selectable)]
#[diesel(table_name = services)]
struct ServiceRow {
    id: i64,
    project_id: i64,
    name: String,
    active: bool,
    properties: String,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl ServiceRow {
    fn read(self, seals: &Seals) -> Result<ProjectService, StoreError> {
        let kind =
            ServiceKind::parse(&self.name).ok_or(StoreError::Corrupt("name of a service"))?;
        let properties = seals.open(Purpose::ServiceProperties, &self.properties)?;
        Ok(ProjectService {
            id: ServiceId(self.id),
            project: ProjectId(self.project_id),
            kind,
            active: self.active,
            properties: properties_from_text(&properties)
                .ok_or(StoreError::Corrupt("properties of a service"))?,
            created_at: to_utc(self.created_at),
            updated_at: to_utc(self.updated_at),
        })
    }
}

fn properties_to_text(properties: &Properties) -> String {
    let json = |value: &PropertyValue| match value {
        PropertyValue::Text(text) => Value::String(backend::without_nul(text)),
        PropertyValue::Flag(flag) => Value::Bool(*flag),
        PropertyValue::Number(number) => serde_json::from_str(number).unwrap_or(Value::Null),
    };
    let entries = properties.iter();
    let entries = entries.map(|(name, value)| (name.to_owned(), value.map_or(Value::Null, json)));
    Value::Object(entries.collect::<Map<_, _>>()).to_string()
}

fn properties_from_text(text: &str) -> Option<Properties> {
    let entries: Map<String, Value> = serde_json::from_str(text).ok()?;
    let value = |value| match value {
        Value::Null => Some(None),
        Value::Bool(flag) => Some(Some(PropertyValue::Flag(flag))),
        Value::Number(number) => Some(Some(PropertyValue::Number(number.to_string()))),
        Value::String(text) => Some(Some(PropertyValue::Text(text))),
        Value::Array(_) | Value::Object(_) => None,
    };
    entries.into_iter().map(|(name, json)| Some((name, value(json)?))).collect()
}

/// The columns that a change sets.
#[derive(AsChangeset, Insertable)]
#[diesel(table_name = services, treat_none_as_null = true)]
struct ServiceValues {
    active: bool,
    properties: String,
    url: Option<String>,
    external_tracker: bool,
    updated_at: NaiveDateTime,
}

impl ServiceValues {
    fn new(seals: &Seals, service: &ProjectService) -> Result<Self, StoreError> {
        let url = service.delivery_url();
        let url = url.map(|url| seals.seal(Purpose::HookUrl, url.as_str())).transpose()?;
        let properties = properties_to_text(&service.properties);
        Ok(Self {
            active: service.active,
            properties: seals.seal(Purpose::ServiceProperties, &properties)?,
            url,
            external_tracker: service.active && service.kind.is_tracker(),
            updated_at: to_naive(service.updated_at),
        })
    }
}

impl DieselTx<'_> {
    fn read_services(&mut self, rows: Vec<ServiceRow>) -> Result<Vec<ProjectService>, StoreError> {
        let seals = self.seals;
        self.fail_on_error(rows.into_iter().map(|row| row.read(seals)).collect())
    }
}

impl Services for DieselTx<'_> {
    fn find(
        &mut self,
        project: ProjectId,
        kind: ServiceKind,
    ) -> Result<Option<ProjectService>, StoreError> {
        let row: Option<ServiceRow> = self.run(|conn| {
            services::table
                .filter(services::project_id.eq(project.0))
                .filter(services::name.eq(kind.name()))
                .select(ServiceRow::as_select())
                .get_result(conn)
                .optional()
        })?;
        Ok(self.read_services(row.into_iter().collect())?.pop())
    }

    fn receivers_of(&mut self, projects: &[ProjectId]) -> Result<Vec<ProjectService>, StoreError> {
        let ids: Vec<i64> = projects.iter().map(|id| id.0).collect();
        let mut rows: Vec<ServiceRow> = self.by_ids(&ids, |conn, ids| {
            services::table
                .filter(services::url.is_not_null())
                .filter(services::project_id.among(ids))
                .filter(services::project_id.eq_any(projects::table.select(projects::id)))
                .select(ServiceRow::as_select())
                .load(conn)
        })?;
        rows.sort_unstable_by_key(|row| row.id);
        self.read_services(rows)
    }

    fn links_of(&mut self, project: ProjectId) -> Result<Vec<ProjectService>, StoreError> {
        let names = ServiceKind::all().filter(|kind| kind.is_link()).map(ServiceKind::name);
        let names: Vec<&str> = names.collect();
        let rows: Vec<ServiceRow> = self.run(|conn| {
            services::table
                .filter(services::project_id.eq(project.0))
                .filter(services::name.eq_any(names))
                .filter(services::active)
                .order(services::id)
                .select(ServiceRow::as_select())
                .load(conn)
        })?;
        self.read_services(rows)
    }

    fn insert(
        &mut self,
        project: ProjectId,
        kind: ServiceKind,
        (active, properties): (bool, Properties),
        at: Timestamp,
    ) -> Result<ProjectService, StoreError> {
        let id = ServiceId(0);
        let service = ProjectService {
            id,
            project,
            kind,
            active,
            properties,
            created_at: at,
            updated_at: at,
        };
        let values = self.fail_on_error(ServiceValues::new(self.seals, &service))?;
        let values = (
            services::project_id.eq(project.0),
            services::name.eq(kind.name()),
            values,
            services::created_at.eq(to_naive(at)),
        );
        let id = self.run(|conn| {
            diesel::insert_into(services::table)
                .values(values)
                .returning(services::id)
                .get_result(conn)
        })?;
        Ok(ProjectService { id: ServiceId(id), ..service })
    }

    fn update(&mut self, service: &ProjectService) -> Result<(), StoreError> {
        let values = self.fail_on_error(ServiceValues::new(self.seals, service))?;
        let has_url = values.url.is_some();
        let row = services::table.find(service.id.0);
        self.write(|conn| diesel::update(row).set(values).execute(conn))?;
        if has_url {
            return Ok(());
        }
        // Without a URL, the deliveries could not be sent and would stay due.
        let lane = hook_lanes::table.filter(hook_lanes::service_id.eq(service.id.0));
        self.write(|conn| diesel::delete(lane).execute(conn))
    }
}
