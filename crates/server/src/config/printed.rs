//! Settings as text.

use std::fmt;

use hexforge_domain::network::Network;

use super::{Config, LogFormat};

/// The settings as a file would have them, without secrets.
impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        writeln!(f, "listen = {}", quoted(&self.listen.to_string()))?;
        let ssh = self.ssh_listen.map_or_else(|| "off".to_owned(), |address| address.to_string());
        writeln!(f, "ssh_listen = {}", quoted(&ssh))?;
        writeln!(f, "data_dir = {}", quoted(&self.data_dir.display().to_string()))?;
        writeln!(f, "database_url = {}", quoted(&self.database_url.to_string()))?;
        if let Some(url) = &self.object_store_url {
            writeln!(f, "object_store_url = {}", quoted(url))?;
        }
        writeln!(f, "cache_gb = {}", self.cache_gb)?;
        match &self.external_url {
            Some(url) => writeln!(f, "external_url = {}", quoted(url))?,
            None => writeln!(f, "external_url = {}", quoted(&format!("http://{}", self.listen)))?,
        }
        writeln!(f, "default_projects_limit = {}", self.default_projects_limit)?;
        writeln!(f, "dialect = {}", quoted(self.dialect.as_str()))?;
        writeln!(f, "max_upload_mb = {}", self.max_upload_mb)?;
        writeln!(f, "max_body_mb = {}", self.max_body_mb)?;
        writeln!(f, "allow_local_requests = {}", self.allow_local_requests)?;
        writeln!(f, "background_work = {}", self.background_work)?;
        writeln!(f, "hook_timeout = {}", self.hook_timeout)?;
        writeln!(f, "max_artifacts_mb = {}", self.max_artifacts_mb)?;
        writeln!(f, "max_push_mb = {}", self.max_push_mb)?;
        writeln!(f, "max_repository_mb = {}", self.max_repository_mb)?;
        writeln!(f, "max_object_mb = {}", self.max_object_mb)?;
        writeln!(f, "push_memory_mb = {}", self.push_memory_mb)?;
        writeln!(f, "build_silence_hours = {}", self.build_silence_hours)?;
        writeln!(f, "sweep_after_hours = {}", self.sweep_after_hours)?;
        writeln!(f, "session_days = {}", self.session_days)?;
        writeln!(f, "rate_limit_per_token = {}", self.rate_limit_per_token)?;
        writeln!(f, "rate_limit_per_address = {}", self.rate_limit_per_address)?;
        let proxies: Vec<String> = self.trusted_proxies.iter().map(Network::to_string).collect();
        writeln!(f, "trusted_proxies = {}", quoted(&proxies.join(", ")))?;
        writeln!(f, "min_transfer_rate = {}", self.min_transfer_rate)?;
        writeln!(f, "transfer_idle = {}", self.transfer_idle)?;
        writeln!(f, "verify_fetches = {}", self.verify_fetches)?;
        writeln!(f, "strict_rules = {}", quoted(&self.strict_rules.to_string()))?;
        let accepted = self.accepted_object_errors.to_string();
        writeln!(f, "accepted_object_errors = {}", quoted(&accepted))?;
        writeln!(f, "log = {}", quoted(&self.log))?;
        let format = match self.log_format {
            LogFormat::Text => "text",
            LogFormat::Json => "json",
        };
        writeln!(f, "log_format = {}", quoted(format))
    }
}
