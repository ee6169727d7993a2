//! The default message of a merge commit.

use super::MergeRequest;
use crate::text::LongText;

impl MergeRequest {
    /// The message of the merge commit when the caller gives none. It does not end with a newline.
    pub fn default_message(&self) -> String {
        let (source, target) = (self.ends.source_branch.as_str(), self.ends.target_branch.as_str());
        let mut parts = vec![
            format!("Merge branch '{source}' into '{target}'"),
            self.title.as_str().to_owned(),
        ];
        let description = self.description.as_ref().map(LongText::as_str);
        parts.extend(description.filter(|text| !text.trim().is_empty()).map(ToOwned::to_owned));
        parts.push(format!("See merge request !{}", self.iid));
        parts.join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests_support::a_request;
    use crate::text::LongText;

    #[test]
    fn the_default_message_names_branches_title_description_and_number() {
        let text = |text: &str| LongText::parse(text).expect("short");
        let (short, long) = (
            "Merge branch 'topic' into 'master'\n\nAdd a\n\nSee merge request !7",
            "Merge branch 'topic' into 'master'\n\nAdd a\n\nCloses #1\n\nSee merge request !7",
        );
        for (description, message) in
            [(None, short), (Some(""), short), (Some(" \n"), short), (Some("Closes #1"), long)]
        {
            let mut request = a_request();
            request.description = description.map(text);
            assert_eq!(request.default_message(), message, "{description:?}");
        }
    }
}
