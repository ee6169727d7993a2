//! Pages of lists: their parameters and headers.

use actix_web::HttpResponseBuilder;
use hexforge_domain::paging::Page;

use crate::api::ApiRequest;
use crate::params::Params;

const DEFAULT_SIZE: u64 = 20;
const MAX_SIZE: u64 = 100;

/// Parameters that links to other pages must not contain.
const SECRETS: [&str; 3] = ["private_token", "access_token", "bearer_token"];

impl Params {
    /// The requested page. Invalid values count as not given.
    pub fn page(&self) -> Page {
        let number = self.count("page").unwrap_or(1);
        let size = self.count("per_page").unwrap_or(DEFAULT_SIZE).min(MAX_SIZE);
        Page::Numbered { number, size }
    }

    /// The number of entries before the requested page, and the size of the page, in a list whose pages are counted
    /// from 0.
    pub fn page_from_zero(&self) -> (u64, u64) {
        let size = self.count("per_page").unwrap_or(DEFAULT_SIZE).min(MAX_SIZE);
        (self.count("page").unwrap_or(0).saturating_mul(size), size)
    }

    /// A number from 1 on; anything else counts as not given.
    fn count(&self, name: &str) -> Option<u64> {
        let text = self.lenient_text(name)?;
        let digits = text.trim().trim_start_matches('+');
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        // A number that does not fit means a page after the last one.
        Some(digits.parse().unwrap_or(u64::MAX)).filter(|n| *n > 0)
    }
}

impl ApiRequest {
    /// The requested page.
    pub fn page(&self) -> Page {
        self.params().page()
    }

    /// The position and size of the requested page, counted from 0.
    pub fn page_from_zero(&self) -> (u64, u64) {
        self.params().page_from_zero()
    }

    /// The requested page of a list that belongs to one entity, such as a user's keys.
    pub fn page_of_short_list(&self) -> Page {
        if self.asks_for_page() { self.page() } else { self.dialect().default_page(self.page()) }
    }

    /// The requested page, or the whole list if the request names none.
    pub fn page_or_whole(&self) -> Page {
        if self.asks_for_page() { self.page() } else { Page::Whole }
    }

    /// Whether the request names a page. A blank value counts as not given.
    fn asks_for_page(&self) -> bool {
        ["page", "per_page"].iter().any(|name| self.params().any_text(name).is_some())
    }

    /// Adds the headers of a page to a response. A whole list has none.
    pub fn page_headers(&self, response: &mut HttpResponseBuilder, page: Page, total: u64) {
        let Page::Numbered { number, size } = page else { return };
        let pages = total.div_ceil(size);
        let next = (number < pages).then(|| number + 1);
        let prev = (number > 1).then(|| number - 1);
        let text = |number: Option<u64>| number.map_or_else(String::new, |n| n.to_string());
        response
            .insert_header(("X-Total", total.to_string()))
            .insert_header(("X-Total-Pages", pages.to_string()))
            .insert_header(("X-Per-Page", size.to_string()))
            .insert_header(("X-Page", number.to_string()))
            .insert_header(("X-Next-Page", text(next)))
            .insert_header(("X-Prev-Page", text(prev)));
        let links = [
            prev.map(|number| ("prev", number)),
            next.map(|number| ("next", number)),
            Some(("first", 1)),
            Some(("last", pages)),
        ];
        let links = links.into_iter().flatten().map(|(relation, number)| {
            format!("<{}>; rel=\"{relation}\"", self.page_url(number, size))
        });
        response.insert_header(("Link", links.collect::<Vec<_>>().join(", ")));
    }

    /// The URL of another page of the same list, with the other parameters sorted by name.
    fn page_url(&self, number: u64, size: u64) -> String {
        let (number, size) = (number.to_string(), size.to_string());
        let mut pairs: Vec<(&str, &str)> = self
            .params()
            .query_pairs()
            .filter(|(name, _)| !matches!(*name, "page" | "per_page") && !SECRETS.contains(name))
            .chain([("page", number.as_str()), ("per_page", size.as_str())])
            .collect();
        pairs.sort_by_key(|(name, _)| *name);
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        self.links().to(&format!("{}?{query}", self.path()))
    }
}
