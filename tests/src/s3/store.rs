//! The objects and multipart uploads of the bucket, and the operations on them.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::time::SystemTime;

use actix_web::HttpResponse;
use actix_web::http::{StatusCode, header};
use actix_web::web::Bytes;
use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};

use super::BUCKET;
use super::wire::{
    Answer, Call, S3Error, elements, error, hex, invalid_argument, malformed_xml,
    method_not_allowed, not_implemented, parse_range, part_reference, xml, xml_escape, xml_time,
    xml_unescape,
};

/// Largest number of keys in one page, and in one DeleteObjects request.
pub(super) const MAX_KEYS: usize = 1000;
/// Smallest size of a part of a multipart upload, except the last part.
const MIN_PART: usize = 5 << 20;

/// The content of the bucket.
pub(super) struct Store {
    /// Objects by key. `String` is ordered by bytes, as S3 orders keys.
    pub(super) objects: BTreeMap<String, Object>,
    /// Multipart uploads by id. A completed or aborted upload is removed.
    pub(super) uploads: BTreeMap<String, Upload>,
    uploads_created: usize,
    /// Largest number of keys in one page of a list.
    pub(super) page_size: usize,
}

/// An object, or a part of a multipart upload.
pub(super) struct Object {
    /// The content.
    pub(super) content: Bytes,
    /// The ETag, with quotes.
    e_tag: String,
    /// The time of Last-Modified.
    pub(super) modified: DateTime<Utc>,
}

/// A multipart upload that is neither completed nor aborted.
pub(super) struct Upload {
    /// The key of the object that the upload creates.
    pub(super) key: String,
    parts: BTreeMap<usize, Object>,
}

impl Store {
    /// Returns an empty store.
    pub(super) fn new() -> Self {
        let (objects, uploads) = (BTreeMap::new(), BTreeMap::new());
        Self { objects, uploads, uploads_created: 0, page_size: MAX_KEYS }
    }

    /// Replaces the content of an object without a change of its ETag and time, or creates the object.
    pub(super) fn set_content(&mut self, key: &str, content: Bytes) {
        match self.objects.get_mut(key) {
            Some(object) => object.content = content,
            None => {
                let digest = hex(&Sha256::digest(&content));
                self.objects.insert(key.into(), Object::new(content, &digest));
            }
        }
    }

    /// Executes a request. `digest` is the SHA-256 of the body.
    pub(super) fn execute(&mut self, call: &Call, body: Bytes, digest: &str) -> Answer {
        let upload = call.parameter("uploadId");
        match (call.method.as_str(), call.key.is_empty(), upload) {
            ("GET", true, _) => self.list(call),
            ("HEAD", true, _) => Ok(HttpResponse::Ok().finish()),
            ("POST", true, _) if call.parameter("delete").is_some() => self.delete_many(&body),
            ("GET" | "HEAD", false, _) => self.read(call),
            ("PUT", false, Some(id)) => self.upload_part(call, id, Object::new(body, digest)),
            ("PUT", false, None) => Ok(self.put(call, Object::new(body, digest))),
            ("POST", false, _) if call.parameter("uploads").is_some() => {
                Ok(self.create_upload(call))
            }
            ("POST", false, Some(id)) => self.complete_upload(call, id, &body),
            ("DELETE", false, Some(id)) => self.abort_upload(call, id),
            ("DELETE", false, None) => {
                self.objects.remove(&call.key);
                Ok(HttpResponse::NoContent().finish())
            }
            _ => Err(method_not_allowed()),
        }
    }

    /// GetObject and HeadObject. The HTTP server leaves the body out of answers to HEAD.
    fn read(&self, call: &Call) -> Answer {
        let message = "The specified key does not exist.";
        let object = self.objects.get(&call.key).ok_or_else(|| error(404, "NoSuchKey", message))?;
        let size = object.content.len();
        let range = match call.header(header::RANGE) {
            Some(range) => parse_range(range, size)?,
            None => None,
        };
        let modified = object.modified.format("%a, %d %b %Y %H:%M:%S GMT").to_string();
        let mut response = HttpResponse::Ok();
        response.insert_header((header::CONTENT_TYPE, "binary/octet-stream"));
        response.insert_header((header::ACCEPT_RANGES, "bytes"));
        response.insert_header((header::ETAG, object.e_tag.as_str()));
        response.insert_header((header::LAST_MODIFIED, modified));
        let Some(range) = range else { return Ok(response.body(object.content.clone())) };
        let content_range = format!("bytes {}-{}/{size}", range.start, range.end - 1);
        response.status(StatusCode::PARTIAL_CONTENT);
        response.insert_header((header::CONTENT_RANGE, content_range));
        Ok(response.body(object.content.slice(range)))
    }

    /// PutObject.
    fn put(&mut self, call: &Call, object: Object) -> HttpResponse {
        let response = HttpResponse::Ok().insert_header((header::ETAG, &*object.e_tag)).finish();
        self.objects.insert(call.key.clone(), object);
        response
    }

    /// DeleteObjects.
    fn delete_many(&mut self, body: &[u8]) -> Answer {
        let request = str::from_utf8(body).map_err(|_| malformed_xml())?;
        let keys = elements(request, "Key").into_iter().map(xml_unescape);
        let keys = keys.collect::<Option<Vec<_>>>().ok_or_else(malformed_xml)?;
        if keys.is_empty() || keys.len() > MAX_KEYS {
            return Err(malformed_xml());
        }
        let mut result = String::new();
        for key in keys {
            // Keys without an object are reported as deleted, too.
            self.objects.remove(&key);
            result += &format!("<Deleted><Key>{}</Key></Deleted>", xml_escape(&key));
        }
        Ok(xml("DeleteResult", &result))
    }

    /// ListObjectsV2.
    fn list(&self, call: &Call) -> Answer {
        if call.parameter("list-type") != Some("2") {
            return Err(not_implemented("ListObjects of version 1"));
        }
        let prefix = call.parameter("prefix").unwrap_or_default();
        let delimiter = call.parameter("delimiter").filter(|delimiter| !delimiter.is_empty());
        let max_keys = match call.parameter("max-keys").map(str::parse) {
            None => MAX_KEYS,
            Some(Ok(number)) => number,
            Some(Err(_)) => return Err(invalid_argument("max-keys must be a number")),
        };
        let token = call.parameter("continuation-token").map(|token| {
            Token::parse(token).ok_or_else(|| invalid_argument("the continuation token is invalid"))
        });
        // A token takes precedence over `start-after`, which clients repeat with every page.
        let after = token.transpose()?.or_else(|| call.parameter("start-after").map(Token::key));
        let page_size = max_keys.min(self.page_size);

        let (mut contents, mut prefixes) = (String::new(), String::new());
        let (mut count, mut last, mut truncated) = (0, None::<Token>, false);
        let start = after.as_ref().map(|token| token.item.as_str()).filter(|item| *item >= prefix);
        let start = start.map_or(Bound::Included(prefix), Bound::Excluded);
        let covers = |token: &Option<Token>, key: &str| {
            token.as_ref().is_some_and(|token| token.is_prefix && key.starts_with(&token.item))
        };
        let keys = self.objects.range::<str, _>((start, Bound::Unbounded));
        for (key, object) in keys.take_while(|(key, _)| key.starts_with(prefix)) {
            // The common prefix of this key is already in this page or the page before.
            if covers(&after, key) || covers(&last, key) {
                continue;
            }
            if count == page_size {
                // S3 answers `max-keys=0` with an empty list that is not truncated.
                truncated = max_keys > 0;
                break;
            }
            count += 1;
            let end = delimiter.and_then(|delimiter| {
                key[prefix.len()..].find(delimiter).map(|at| prefix.len() + at + delimiter.len())
            });
            last = Some(match end {
                Some(end) => {
                    let common = xml_escape(&key[..end]);
                    prefixes +=
                        &format!("<CommonPrefixes><Prefix>{common}</Prefix></CommonPrefixes>");
                    Token { item: key[..end].into(), is_prefix: true }
                }
                None => {
                    contents += &object.list_entry(key);
                    Token::key(key)
                }
            });
        }
        let mut result = format!(
            "<Name>{BUCKET}</Name><Prefix>{}</Prefix><KeyCount>{count}</KeyCount>\
             <MaxKeys>{max_keys}</MaxKeys><IsTruncated>{truncated}</IsTruncated>",
            xml_escape(prefix),
        );
        if let Some(last) = last.filter(|_| truncated) {
            let token = last.encode();
            result += &format!("<NextContinuationToken>{token}</NextContinuationToken>");
        }
        Ok(xml("ListBucketResult", &(result + &contents + &prefixes)))
    }

    /// CreateMultipartUpload.
    fn create_upload(&mut self, call: &Call) -> HttpResponse {
        self.uploads_created += 1;
        let id = format!("upload-{}", self.uploads_created);
        let upload = Upload { key: call.key.clone(), parts: BTreeMap::new() };
        self.uploads.insert(id.clone(), upload);
        let key = xml_escape(&call.key);
        xml(
            "InitiateMultipartUploadResult",
            &format!("<Bucket>{BUCKET}</Bucket><Key>{key}</Key><UploadId>{id}</UploadId>"),
        )
    }

    fn upload(&mut self, call: &Call, id: &str) -> Result<&mut Upload, S3Error> {
        let upload = self.uploads.get_mut(id).filter(|upload| upload.key == call.key);
        let message = "The specified multipart upload does not exist.";
        upload.ok_or_else(|| error(404, "NoSuchUpload", message))
    }

    /// UploadPart.
    fn upload_part(&mut self, call: &Call, id: &str, part: Object) -> Answer {
        let number = call.parameter("partNumber").and_then(|number| number.parse().ok());
        let number = number.filter(|number| (1..=10_000).contains(number));
        let number =
            number.ok_or_else(|| invalid_argument("partNumber must be from 1 to 10000"))?;
        let mut response = HttpResponse::Ok();
        response.insert_header((header::ETAG, part.e_tag.as_str()));
        // Clients that send checksums expect them in the answer.
        for name in ["x-amz-checksum-sha256", "x-amz-checksum-crc64nvme"] {
            if let Some(checksum) = call.header(name) {
                response.insert_header((name, checksum));
            }
        }
        self.upload(call, id)?.parts.insert(number, part);
        Ok(response.finish())
    }

    /// CompleteMultipartUpload.
    fn complete_upload(&mut self, call: &Call, id: &str, body: &[u8]) -> Answer {
        let upload = self.upload(call, id)?;
        let request = str::from_utf8(body).map_err(|_| malformed_xml())?;
        let (mut content, mut digests, mut last) = (Vec::new(), Sha256::new(), 0);
        let listed = elements(request, "Part");
        for (index, part) in listed.iter().enumerate() {
            let (number, listed_tag) = part_reference(part).ok_or_else(malformed_xml)?;
            if number <= last {
                let message = "The parts are not in ascending order.";
                return Err(error(400, "InvalidPartOrder", message));
            }
            last = number;
            let known = upload.parts.get(&number);
            let known = known.filter(|part| part.e_tag.trim_matches('"') == listed_tag);
            let Some(part) = known else {
                let message = format!("part {number} was not uploaded with ETag {listed_tag}");
                return Err(error(400, "InvalidPart", message));
            };
            if part.content.len() < MIN_PART && index + 1 < listed.len() {
                let message = format!("part {number} is smaller than {MIN_PART} bytes");
                return Err(error(400, "EntityTooSmall", message));
            }
            content.extend_from_slice(&part.content);
            digests.update(&part.e_tag);
        }
        if listed.is_empty() {
            return Err(malformed_xml());
        }
        let digest = hex(&digests.finalize());
        let e_tag = format!("\"{}-{}\"", &digest[..32], listed.len());
        let (key, escaped_tag) = (xml_escape(&call.key), xml_escape(&e_tag));
        self.uploads.remove(id);
        let object = Object { content: content.into(), e_tag, modified: now() };
        self.objects.insert(call.key.clone(), object);
        Ok(xml(
            "CompleteMultipartUploadResult",
            &format!("<Bucket>{BUCKET}</Bucket><Key>{key}</Key><ETag>{escaped_tag}</ETag>"),
        ))
    }

    /// AbortMultipartUpload.
    fn abort_upload(&mut self, call: &Call, id: &str) -> Answer {
        self.upload(call, id)?;
        self.uploads.remove(id);
        Ok(HttpResponse::NoContent().finish())
    }
}

impl Object {
    /// The ETag has the length of an MD5 sum, as in S3, but is taken from the SHA-256 of the content.
    fn new(content: Bytes, digest: &str) -> Self {
        Self { content, e_tag: format!("\"{}\"", &digest[..32]), modified: now() }
    }

    fn list_entry(&self, key: &str) -> String {
        let (key, e_tag) = (xml_escape(key), xml_escape(&self.e_tag));
        let (modified, size) = (xml_time(self.modified), self.content.len());
        format!(
            "<Contents><Key>{key}</Key><LastModified>{modified}</LastModified>\
             <ETag>{e_tag}</ETag><Size>{size}</Size><StorageClass>STANDARD</StorageClass>\
             </Contents>"
        )
    }
}

/// The last item of a page of a list: a key or a common prefix.
struct Token {
    item: String,
    is_prefix: bool,
}

impl Token {
    fn key(key: &str) -> Self {
        Self { item: key.into(), is_prefix: false }
    }

    /// The token is hexadecimal, so that clients cannot use a key as a token by mistake.
    fn encode(&self) -> String {
        format!("{}-{}", if self.is_prefix { "p" } else { "k" }, hex(self.item.as_bytes()))
    }

    fn parse(token: &str) -> Option<Self> {
        let (is_prefix, item) = match token.split_once('-')? {
            ("p", item) => (true, item),
            ("k", item) => (false, item),
            _ => return None,
        };
        let digits = item.as_bytes().chunks(2).map(|pair| {
            u8::from_str_radix(str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?, 16).ok()
        });
        Some(Self { item: String::from_utf8(digits.collect::<Option<_>>()?).ok()?, is_prefix })
    }
}

/// Returns the current time.
pub(super) fn now() -> DateTime<Utc> {
    DateTime::from(SystemTime::now())
}
