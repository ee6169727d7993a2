//! The batch: a client names objects, and learns where to download or upload each of them.

use actix_web::http::StatusCode;
use actix_web::http::header::AUTHORIZATION;
use actix_web::{HttpRequest, HttpResponse, web};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hexforge_application::app::App;
use hexforge_application::lfs::{self, BatchEntry, LfsIdentity, LfsProject, MAX_OBJECTS, token};
use hexforge_domain::lfs::{LfsObject, LfsOid, LfsOperation};
use hexforge_domain::project::ProjectRef;
use serde_json::{Map, Value, json};

use super::Client;
use super::answer::{LfsError, MEDIA_TYPE, TOO_LARGE};
use crate::git_http::answer::uncached;
use crate::git_http::body::Incoming;
use crate::git_http::caller;
use crate::params::json;
use crate::shared::Shared;

/// The maximum number of bytes of a batch. An object takes about a hundred.
const MAX_BYTES: usize = 1 << 20;

/// The maximum number of values in a batch, nested ones included: several for each object. A value takes many times the
/// memory of its text.
const MAX_VALUES: usize = 10 * MAX_OBJECTS;

/// Answers a batch.
pub(super) async fn answer(
    request: &HttpRequest,
    shared: &web::Data<Shared>,
    named: ProjectRef,
    payload: web::Payload,
) -> Result<HttpResponse, LfsError> {
    lfs::require_lfs(&shared.edge.app)?;
    // The body is read before the caller is identified. Otherwise a client that sends slowly could get a token for a
    // password that was changed meanwhile.
    let body = Incoming::new(payload, shared.edge.limiter.transfer).whole(MAX_BYTES).await?;
    let client = Client::identify(request, shared).await?;
    let batch = Batch::parse(&body)?;
    let operation = batch.operation;
    let project = client.admit(shared, operation, named).await?;
    let objects = batch.objects()?;
    let links = Links::new(request, shared, client, &project, operation).await?;
    let wanted: Vec<Option<LfsObject>> = objects.iter().map(parse_object).collect();
    let look_up = move |app: &App| lfs::batch(app, &project, operation, &wanted);
    let entries = match operation {
        LfsOperation::Download => caller::blocking(shared, client.holder, look_up).await?,
        // The file of each object is looked for, in an object store with a request each.
        LfsOperation::Upload => {
            let pool = &shared.edge.limiter.lfs_uploads;
            caller::run_long(shared, pool, client.holder, look_up).await?
        }
    };
    let objects: Vec<Value> = objects
        .iter()
        .zip(entries)
        .map(|(object, entry)| links.entry(object, entry, operation))
        .collect();
    let body = json!({ "transfer": "basic", "objects": objects, "hash_algo": "sha256" });
    Ok(uncached(MEDIA_TYPE).body(body.to_string()))
}

const TOO_MANY: LfsError =
    LfsError::Message(StatusCode::PAYLOAD_TOO_LARGE, "The request has more than 1000 objects.");

/// The request of a client, as far as it is checked.
struct Batch {
    operation: LfsOperation,
    fields: Map<String, Value>,
}

impl Batch {
    /// Parses the operation, which decides about the required permission.
    fn parse(body: &[u8]) -> Result<Self, LfsError> {
        let fields = match json::parse_at_most(body, MAX_VALUES) {
            Ok(Value::Object(fields)) => fields,
            Err(error) if error.is_data() => return Err(TOO_MANY),
            Ok(_) | Err(_) => {
                let message = "The request is not a JSON object.";
                return Err(LfsError::Message(StatusCode::BAD_REQUEST, message));
            }
        };
        let operation = fields.get("operation").and_then(Value::as_str);
        let operation = operation.and_then(LfsOperation::parse).ok_or(LfsError::unprocessable(
            "The operation is unknown: it must be `download` or `upload`.",
        ))?;
        Ok(Self { operation, fields })
    }

    /// Checks the other fields, and returns the objects.
    fn objects(self) -> Result<Vec<Map<String, Value>>, LfsError> {
        let mut fields = self.fields;
        match fields.get("hash_algo") {
            None | Some(Value::Null) => (),
            Some(Value::String(name)) if name == "sha256" => (),
            Some(_) => return Err(LfsError::unprocessable("The only hash algorithm is `sha256`.")),
        }
        match fields.get("transfers") {
            None | Some(Value::Null) => (),
            // A client that names none uses the default, which is `basic`.
            Some(Value::Array(names)) if names.is_empty() || names.contains(&json!("basic")) => (),
            Some(_) => return Err(LfsError::unprocessable("The only transfer is `basic`.")),
        }
        let objects = match fields.remove("objects") {
            None | Some(Value::Null) => return Err(LfsError::NotFound),
            Some(Value::Array(objects)) if objects.is_empty() => return Err(LfsError::NotFound),
            Some(Value::Array(objects)) => objects,
            Some(_) => return Err(LfsError::unprocessable("`objects` must be an array.")),
        };
        if objects.len() > MAX_OBJECTS {
            return Err(TOO_MANY);
        }
        let to_map = |object| match object {
            Value::Object(fields) => Ok(fields),
            _ => Err(LfsError::unprocessable("Each of `objects` must be an object.")),
        };
        objects.into_iter().map(to_map).collect()
    }
}

/// Parses an object; `None` if its name or size is not valid.
fn parse_object(fields: &Map<String, Value>) -> Option<LfsObject> {
    let size = fields.get("size")?.as_u64().filter(|size| i64::try_from(*size).is_ok())?;
    Some(LfsObject { oid: LfsOid::parse(fields.get("oid")?.as_str()?)?, size })
}

/// The URLs of objects, with the header and the lifetime that the client uses for them.
struct Links {
    /// The URL below which the objects of the project are.
    base: String,
    authorization: Option<String>,
    expires_in: Option<i64>,
}

impl Links {
    async fn new(
        request: &HttpRequest,
        shared: &web::Data<Shared>,
        client: Client,
        project: &LfsProject,
        operation: LfsOperation,
    ) -> Result<Self, LfsError> {
        let repository = shared.edge.links.http_to_repo(&project.path);
        let base = format!("{repository}/gitlab-lfs/objects");
        let (requester, id) = (client.requester, project.id);
        let issue = move |app: &App| token::issue(app, requester, id, operation);
        let issued = caller::blocking(shared, client.holder, issue).await?;
        if let Some(token::Transfer { login, token, expires_in }) = issued {
            let both = STANDARD.encode(format!("{login}:{}", token.reveal()));
            let authorization = Some(format!("Basic {both}"));
            return Ok(Self { base, authorization, expires_in: Some(expires_in) });
        }
        // The token of a build is made for it and ends with it, so that it is used for the transfers too.
        let is_build = matches!(
            requester.identity,
            LfsIdentity::BuildOfUser(_) | LfsIdentity::BuildOfProject(_)
        );
        let own = request.headers().get(AUTHORIZATION).filter(|_| is_build);
        let authorization = own.and_then(|value| value.to_str().ok()).map(str::to_owned);
        Ok(Self { base, authorization, expires_in: None })
    }

    /// The entry of an object in the response.
    fn entry(
        &self,
        asked: &Map<String, Value>,
        entry: BatchEntry,
        operation: LfsOperation,
    ) -> Value {
        let mut shown = Map::new();
        for name in ["oid", "size"] {
            shown.insert(name.to_owned(), asked.get(name).cloned().unwrap_or(Value::Null));
        }
        let error = |code: u16, message: &str| json!({ "code": code, "message": message });
        let (member, value) = match (entry, operation) {
            (BatchEntry::Present(_), LfsOperation::Upload) => return Value::Object(shown),
            (BatchEntry::Present(object), LfsOperation::Download) => {
                ("actions", self.action("download", format!("{}/{}", self.base, object.oid)))
            }
            (BatchEntry::Wanted(LfsObject { oid, size }), _) => {
                ("actions", self.action("upload", format!("{}/{oid}/{size}", self.base)))
            }
            (BatchEntry::Missing, _) => (
                "error",
                error(
                    404,
                    "Object does not exist on the server or you don't have permissions to access it",
                ),
            ),
            (BatchEntry::Malformed, _) => (
                "error",
                error(
                    422,
                    "The oid must have 64 hexadecimal digits, and the size must be an integer of at least 0",
                ),
            ),
            (BatchEntry::TooLarge, _) => ("error", error(422, TOO_LARGE)),
        };
        if member == "actions" {
            shown.insert("authenticated".to_owned(), Value::Bool(true));
        }
        shown.insert(member.to_owned(), value);
        Value::Object(shown)
    }

    fn action(&self, name: &str, href: String) -> Value {
        let mut header = Map::new();
        if let Some(authorization) = &self.authorization {
            header.insert("Authorization".to_owned(), json!(authorization));
        }
        let mut action = json!({ "href": href, "header": header });
        if let Some(expires_in) = self.expires_in {
            action["expires_in"] = json!(expires_in);
        }
        json!({ name: action })
    }
}
