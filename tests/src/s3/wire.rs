//! Requests and answers as S3 clients send and expect them: headers, query parameters, ranges, XML and errors.

use std::ops::Range;

use actix_web::http::header::{self, HeaderMap};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};

/// Largest length of a key in bytes.
const MAX_KEY_LENGTH: usize = 1024;
/// Query parameters that are understood. All others are answered with NotImplemented.
const PARAMETERS: [&str; 10] = [
    "continuation-token",
    "delete",
    "delimiter",
    "list-type",
    "max-keys",
    "partNumber",
    "prefix",
    "start-after",
    "uploadId",
    "uploads",
];
/// Request headers that are answered with NotImplemented. Ignoring them would change or return the wrong object.
const UNSUPPORTED_HEADERS: [&str; 5] =
    ["if-match", "if-modified-since", "if-none-match", "if-unmodified-since", "x-amz-copy-source"];

/// A request without its body.
pub(super) struct Call {
    /// The HTTP method.
    pub(super) method: Method,
    /// The first segment of the path.
    pub(super) bucket: String,
    /// The rest of the path. It is empty for requests to the bucket.
    pub(super) key: String,
    query: Vec<(String, String)>,
    headers: HeaderMap,
}

impl Call {
    /// Decodes path and query of the request.
    pub(super) fn new(request: &HttpRequest) -> Self {
        let path = request.uri().path().trim_start_matches('/');
        let (bucket, key) = path.split_once('/').unwrap_or((path, ""));
        let query = request.query_string().split('&').filter(|pair| !pair.is_empty());
        let query = query.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (percent_decode(&name.replace('+', " ")), percent_decode(&value.replace('+', " ")))
        });
        Self {
            method: request.method().clone(),
            bucket: percent_decode(bucket),
            key: percent_decode(key),
            query: query.collect(),
            headers: request.headers().clone(),
        }
    }

    /// The decoded value of a query parameter.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value of a header, if it is text.
    pub(super) fn header(&self, name: impl AsRef<str>) -> Option<&str> {
        self.headers.get(name.as_ref()).and_then(|value| value.to_str().ok())
    }

    /// Whether the request may change the bucket.
    pub(super) fn changes_objects(&self) -> bool {
        !matches!(self.method, Method::GET | Method::HEAD)
    }

    /// The request as `S3Server::requests` shows it.
    pub(super) fn log_line(&self) -> String {
        let (method, key) = (&self.method, &self.key);
        if key.is_empty() && *method == Method::GET {
            return format!("LIST {}", self.parameter("prefix").unwrap_or_default());
        }
        let operation = ["delete", "uploads", "partNumber", "uploadId"]
            .into_iter()
            .find_map(|name| Some((name, self.parameter(name)?)));
        match operation {
            None => format!("{method} {key}"),
            Some(("partNumber", number)) => format!("{method} {key}?partNumber={number}"),
            Some((name, _)) => format!("{method} {key}?{name}"),
        }
    }

    /// The access key id in `AWS4-HMAC-SHA256 Credential=ID/DATE/REGION/s3/aws4_request, …`.
    pub(super) fn access_key_id(&self) -> Option<&str> {
        let authorization =
            self.header(header::AUTHORIZATION)?.strip_prefix("AWS4-HMAC-SHA256 ")?;
        let fields = authorization.split(',').map(str::trim);
        let credential = fields.filter_map(|field| field.strip_prefix("Credential=")).next()?;
        credential.split('/').next()
    }

    /// Refuses requests with a parameter, header or key that this server does not support.
    pub(super) fn check_supported(&self) -> Result<(), S3Error> {
        if let Some((name, _)) = self.query.iter().find(|(name, _)| !PARAMETERS.contains(&&**name))
        {
            return Err(not_implemented(&format!("query parameter `{name}`")));
        }
        if let Some(name) =
            UNSUPPORTED_HEADERS.iter().find(|name| self.headers.contains_key(**name))
        {
            return Err(not_implemented(&format!("header `{name}`")));
        }
        if self.key.len() > MAX_KEY_LENGTH {
            return Err(error(400, "KeyTooLongError", "Your key is too long"));
        }
        Ok(())
    }

    /// Compares the header `x-amz-content-sha256` with the digest of the body.
    pub(super) fn check_digest(&self, digest: &str) -> Result<(), S3Error> {
        match self.header("x-amz-content-sha256") {
            Some(expected) if expected.starts_with("STREAMING-") => {
                Err(not_implemented("an aws-chunked body"))
            }
            Some(expected) if expected != "UNSIGNED-PAYLOAD" && expected != digest => {
                let message =
                    "The provided 'x-amz-content-sha256' header does not match what was computed.";
                Err(error(400, "XAmzContentSHA256Mismatch", message))
            }
            _ => Ok(()),
        }
    }
}

/// The bytes named by a Range header. S3 ignores a header that it cannot read.
pub(super) fn parse_range(range: &str, size: usize) -> Result<Option<Range<usize>>, S3Error> {
    let Some((first, last)) = range.strip_prefix("bytes=").and_then(|range| range.split_once('-'))
    else {
        return Ok(None);
    };
    let range = match (first.parse::<usize>(), last.parse::<usize>()) {
        (Ok(first), Ok(last)) if first <= last => first..size.min(last.saturating_add(1)),
        (Ok(first), Err(_)) if last.is_empty() => first..size,
        (Err(_), Ok(count)) if first.is_empty() => size.saturating_sub(count)..size,
        _ => return Ok(None),
    };
    if range.start >= range.end {
        return Err(error(416, "InvalidRange", "The requested range is not satisfiable"));
    }
    Ok(Some(range))
}

/// The response to a request, or the error to answer with.
pub(super) type Answer = Result<HttpResponse, S3Error>;

/// An error as S3 answers it.
pub(super) struct S3Error {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl S3Error {
    /// The error as a response with an XML body.
    pub(super) fn response(&self, call: &Call) -> HttpResponse {
        let (code, message) = (self.code, xml_escape(&self.message));
        let resource = xml_escape(&format!("/{}/{}", call.bucket, call.key));
        HttpResponse::build(self.status).content_type("application/xml").body(format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code>\
             <Message>{message}</Message><Resource>{resource}</Resource></Error>"
        ))
    }
}

/// An error with this HTTP status and S3 error code.
pub(super) fn error(status: u16, code: &'static str, message: impl Into<String>) -> S3Error {
    let status = StatusCode::from_u16(status).expect("the statuses here are valid");
    S3Error { status, code, message: message.into() }
}

/// 403 AccessDenied.
pub(super) fn access_denied() -> S3Error {
    error(403, "AccessDenied", "Access Denied")
}

/// 404 NoSuchBucket.
pub(super) fn no_such_bucket() -> S3Error {
    error(404, "NoSuchBucket", "The specified bucket does not exist")
}

/// 501 NotImplemented. `what` is the subject of the message.
pub(super) fn not_implemented(what: &str) -> S3Error {
    error(501, "NotImplemented", format!("{what} is not implemented by the server of the tests"))
}

/// 405 MethodNotAllowed.
pub(super) fn method_not_allowed() -> S3Error {
    error(405, "MethodNotAllowed", "The specified method is not allowed against this resource.")
}

/// 400 InvalidArgument.
pub(super) fn invalid_argument(message: &str) -> S3Error {
    error(400, "InvalidArgument", message)
}

/// 400 MalformedXML.
pub(super) fn malformed_xml() -> S3Error {
    error(400, "MalformedXML", "The XML you provided was not well-formed or did not validate")
}

/// A response with status 200 and an XML document whose root element has this name and content.
pub(super) fn xml(name: &str, content: &str) -> HttpResponse {
    HttpResponse::Ok().content_type("application/xml").body(format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <{name} xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">{content}</{name}>"
    ))
}

/// A time in an XML answer. S3 has whole seconds there, as in headers.
pub(super) fn xml_time(time: DateTime<Utc>) -> String {
    time.format("%Y-%m-%dT%H:%M:%S.000Z").to_string()
}

/// Escapes text for the content of an XML element.
pub(super) fn xml_escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            control if control.is_control() => escaped += &format!("&#{};", u32::from(control)),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Resolves the entities in the content of an XML element. Returns `None` for an unknown entity.
pub(super) fn xml_unescape(text: &str) -> Option<String> {
    let mut pieces = text.split('&');
    let mut unescaped = String::from(pieces.next()?);
    for piece in pieces {
        let (name, rest) = piece.split_once(';')?;
        unescaped.push(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            _ => {
                let number = name.strip_prefix('#')?;
                let number = match number.strip_prefix('x') {
                    Some(number) => u32::from_str_radix(number, 16),
                    None => number.parse(),
                };
                char::from_u32(number.ok()?)?
            }
        });
        unescaped.push_str(rest);
    }
    Some(unescaped)
}

/// The contents of all elements of that name, which have no attributes in the requests read here.
pub(super) fn elements<'a>(xml: &'a str, name: &str) -> Vec<&'a str> {
    let (start, end) = (format!("<{name}>"), format!("</{name}>"));
    let found = xml.split(start.as_str()).skip(1);
    found.filter_map(|rest| rest.split_once(end.as_str()).map(|(content, _)| content)).collect()
}

/// Number and ETag, without quotes, of a part in the request to complete an upload.
pub(super) fn part_reference(part: &str) -> Option<(usize, String)> {
    let number = elements(part, "PartNumber").first()?.parse().ok()?;
    let e_tag = xml_unescape(elements(part, "ETag").first()?)?;
    Some((number, e_tag.trim_matches('"').into()))
}

/// Resolves `%XX`. Bytes that are not UTF-8 are replaced, because S3 keys are UTF-8.
fn percent_decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut decoded, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let digits = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// Bytes as lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
