//! Fake of the YAML reader.

use hexforge_domain::ci::config::{Node, YamlReader};

/// Reads each line `name: command` as a job with that script.
#[derive(Clone, Copy, Debug, Default)]
pub struct FakeYaml;

impl YamlReader for FakeYaml {
    fn read(&self, text: &str) -> Result<Node, String> {
        let jobs = text.lines().map(|line| {
            let (name, command) = line.split_once(": ").ok_or("no job in a line")?;
            Ok((name, Node::map([("script", Node::text(command))])))
        });
        Ok(Node::map(jobs.collect::<Result<Vec<_>, &str>>()?))
    }
}
