//! Loads the settings. Flags override environment variables, these override the file, and the file
//! overrides the defaults.

mod declaration;
mod flags;
mod form;
mod settings;
#[cfg(test)]
mod tests;

pub use settings::{Config, CostlyPages, LogFormat, Overrides};

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use hexforge_domain::limiter::TransferLimits;

use declaration::unless_empty;
use settings::DEFAULT_DATA_DIR;

impl Config {
    /// Loads the settings from flags and variables, then from a file. The default file is
    /// `hexforge.toml` in the data folder, if it exists.
    ///
    /// # Errors
    /// The error names the invalid setting.
    pub fn load(overrides: Overrides, file: Option<&Path>) -> Result<Self> {
        let data_dir = unless_empty(overrides.data_dir.clone());
        let data_dir = data_dir.as_deref().unwrap_or(DEFAULT_DATA_DIR);
        let in_data_dir = Path::new(data_dir).join("hexforge.toml");
        let from_file = match file {
            Some(file) => read_file(file)?,
            None if in_data_dir.exists() => read_file(&in_data_dir)?,
            None => Overrides::default(),
        };
        Self::resolve(overrides.or(from_file))
    }

    fn resolve(mut chosen: Overrides) -> Result<Self> {
        let data_dir = chosen.data_dir.as_deref().unwrap_or(DEFAULT_DATA_DIR);
        let database = Path::new(data_dir).join("hexforge.db");
        chosen.database_url.get_or_insert_with(|| format!("sqlite://{}", database.display()));
        Self::parse(chosen)
    }

    /// The public base URL. Without a setting it is the address of the HTTP server.
    pub fn external_url(&self, address: SocketAddr) -> String {
        self.external_url.clone().unwrap_or_else(|| format!("http://{address}"))
    }

    /// The least rate and the longest pause of a transfer; slower ones lose their permit.
    pub fn transfer_limits(&self) -> TransferLimits {
        TransferLimits {
            idle: Duration::from_secs(self.transfer_idle),
            min_rate: self.min_transfer_rate * 1024,
        }
    }
}

/// Prints the settings in the format of the file, without secrets.
impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut effective = self.clone();
        effective.external_url = Some(self.external_url(self.listen));
        effective.lines().iter().try_for_each(|line| f.write_str(line))
    }
}

fn read_file(path: &Path) -> Result<Overrides> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the settings in {} cannot be read", path.display()))?;
    let table: toml::Table = toml::from_str(&text)
        .with_context(|| format!("the settings in {} are no TOML", path.display()))?;
    // Numbers and booleans are accepted with and without quotes.
    let texts: toml::Table = table
        .into_iter()
        .map(|(name, value)| match value {
            toml::Value::Integer(number) => (name, toml::Value::String(number.to_string())),
            toml::Value::Float(number) => (name, toml::Value::String(number.to_string())),
            toml::Value::Boolean(switch) => (name, toml::Value::String(switch.to_string())),
            value => (name, value),
        })
        .collect();
    texts.try_into().with_context(|| format!("the settings in {} are wrong", path.display()))
}
