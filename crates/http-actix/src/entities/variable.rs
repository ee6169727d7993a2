//! Variables of projects.

use hexforge_application::variable::VariableView;
use serde::Serialize;
use utoipa::ToSchema;

/// A variable in a response.
#[derive(Serialize, ToSchema)]
pub struct VariableJson<'a> {
    key: &'a str,
    value: &'a str,
}

impl<'a> From<&'a VariableView> for VariableJson<'a> {
    fn from(view: &'a VariableView) -> Self {
        Self { key: &view.key, value: view.value.reveal() }
    }
}
