//! Projects.

pub(crate) mod project;
pub(crate) mod project_list;
pub(crate) mod protection;
pub(crate) mod release;
pub(crate) mod star;
