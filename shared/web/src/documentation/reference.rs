//! The reference of the API: the operations of the OpenAPI document, as the pages and the Markdown show them.

pub(crate) mod samples;
pub(crate) mod schemas;

use samples::{Request, Sample, samples};
use schemas::{Body, Field, Schemas, items, members};
use serde_json::{Map, Value};

/// The methods of operations, in the order of the pages.
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// All operations of the document.
pub(crate) struct Reference {
    /// The base URL of the program.
    pub(crate) base: String,
    /// The general description, in Markdown.
    pub(crate) description: String,
    pub(crate) sections: Vec<Section>,
}

/// The operations with one tag, which are on one page.
pub(crate) struct Section {
    pub(crate) name: String,
    /// The name of the page in its path.
    pub(crate) slug: String,
    pub(crate) description: String,
    pub(crate) operations: Vec<Operation>,
}

pub(crate) struct Operation {
    pub(crate) id: String,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) summary: String,
    pub(crate) description: String,
    /// The credentials that it requires, in Markdown.
    pub(crate) access: String,
    pub(crate) parameters: Vec<Field>,
    pub(crate) body: Option<Body>,
    pub(crate) responses: Vec<Response>,
    pub(crate) errors: Vec<Response>,
    pub(crate) samples: [Sample; 4],
}

pub(crate) struct Response {
    pub(crate) status: String,
    pub(crate) description: String,
    pub(crate) body: Option<Body>,
}

impl Reference {
    /// Reads the serialized document of the program with the URL `base`.
    pub(crate) fn read(document: &[u8], base: String) -> Result<Self, serde_json::Error> {
        let document: Value = serde_json::from_slice(document)?;
        let sections = items(&document["tags"]).map(|tag| Section::read(&document, tag));
        Ok(Self {
            base,
            description: text(&document["info"]["description"]),
            sections: sections.collect(),
        })
    }
}

impl Section {
    fn read(document: &Value, tag: &Value) -> Self {
        let name = text(&tag["name"]);
        let mut operations = Vec::new();
        for (path, item) in members(&document["paths"]) {
            let methods = METHODS.into_iter();
            let tagged = methods.filter(|method| item[*method]["tags"][0] == tag["name"]);
            operations.extend(tagged.map(|method| Operation::read(document, path, item, method)));
        }
        Self {
            slug: name.to_lowercase().replace(' ', "-"),
            description: text(&tag["description"]),
            name,
            operations,
        }
    }
}

impl Operation {
    fn read(document: &Value, path: &str, item: &Value, method: &str) -> Self {
        let operation = &item[method];
        let requests = Schemas::of_requests(document);
        let responses = members(&operation["responses"])
            .map(|(status, response)| Response::read(Schemas::of_responses(document), status, response));
        let (errors, responses) = responses.partition(|response| response.status.as_str() >= "400");
        let body = Body::read(requests, &operation["requestBody"]["content"]);
        let method = method.to_uppercase();
        let request = Request::of(document, path, item, operation, &method, body.as_ref());
        let samples = samples(&request);
        Self {
            id: text(&operation["operationId"]),
            path: path.to_owned(),
            summary: text(&operation["summary"]),
            description: text(&operation["description"]),
            access: access(&operation["security"]),
            parameters: items(&operation["parameters"])
                .map(|parameter| requests.parameter(parameter))
                .collect(),
            method,
            body,
            responses,
            errors,
            samples,
        }
    }
}

impl Response {
    fn read(schemas: Schemas<'_>, status: &str, response: &Value) -> Self {
        let response = schemas.resolve(response);
        // All errors have the same body, and the description names their codes.
        let has_own_body = status < "400";
        let body = has_own_body.then(|| Body::read(schemas, &response["content"]));
        Self {
            status: status.to_owned(),
            description: text(&response["description"]),
            body: body.flatten(),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Describes the alternatives of `security` in Markdown.
fn access(security: &Value) -> String {
    let alternatives: Vec<String> = items(security).map(credentials).collect();
    match alternatives.is_empty() {
        true => "Requires no credentials.".to_owned(),
        false => format!("Requires {}.", alternatives.join("; or ")),
    }
}

/// Describes the credentials of one alternative.
fn credentials(alternative: &Value) -> String {
    let schemes = members(alternative).map(|(name, scopes)| {
        let scopes: Vec<String> = items(scopes).map(|scope| format!("`{}`", text(scope))).collect();
        match (name.as_str(), scopes.is_empty()) {
            ("oauth2", false) => format!("an access token with {}", scopes.join(" and ")),
            ("oauth2", true) => "an access token".to_owned(),
            ("session", _) => "the session cookie".to_owned(),
            ("csrf", _) => "the header `x-csrf-token`".to_owned(),
            ("client", _) => "the credentials of a confidential client".to_owned(),
            ("registration", _) => "a registration token".to_owned(),
            (other, _) => other.to_owned(),
        }
    });
    let schemes: Vec<String> = schemes.collect();
    match alternative.as_object().is_none_or(Map::is_empty) {
        true => "no credentials".to_owned(),
        false => schemes.join(" and "),
    }
}

/// Splits Markdown into paragraphs, and these into pieces, each with the name of its HTML element. The name is
/// empty for plain text.
pub(crate) fn paragraphs(markdown: &str) -> Vec<Vec<(&'static str, &str)>> {
    let paragraphs = markdown.split("\n\n").filter(|text| !text.is_empty());
    paragraphs
        .map(|text| {
            let by_code = text.split('`').enumerate();
            let pieces = by_code.flat_map(|(index, text)| match index % 2 {
                0 => styled(text, "**", "strong"),
                _ => vec![("code", text)],
            });
            pieces.filter(|(_, text)| !text.is_empty()).collect()
        })
        .collect()
}

/// Splits a text at `mark`. Every second piece is in `element`.
fn styled<'a>(text: &'a str, mark: &str, element: &'static str) -> Vec<(&'static str, &'a str)> {
    let pieces = text.split(mark).enumerate();
    pieces
        .map(|(index, text)| (["", element][index % 2], text))
        .collect()
}
