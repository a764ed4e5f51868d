//! The OpenAPI documents of the programs under test, against which every response is validated.

use crate::reply::Reply;
use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Paths of browser pages, including everything below them, that no document describes.
pub const UNDOCUMENTED: [&str; 6] = ["/", "/demo", "/assets", "/docs", "/llms.txt", "/_design"];

/// The merged documents and a cache of validators.
pub struct Contract {
    /// The merged document.
    pub document: Value,
    validators: Mutex<BTreeMap<String, Arc<Validator>>>,
}

/// The documented response for a status.
struct DocumentedResponse<'a> {
    /// The `$ref`, or the operation and status if it is written inline. Part of the cache key of its
    /// validators.
    cache_key: String,
    value: &'a Value,
}

impl Contract {
    /// Merges the documents in `texts`. Deployments whose documents differ only in the origin `base` share
    /// the validators.
    pub(crate) fn merged(texts: &[String], base: &str) -> Arc<Self> {
        static KNOWN: Mutex<BTreeMap<String, Arc<Contract>>> = Mutex::new(BTreeMap::new());
        let text = texts.join("\n").replace(base, "http://localhost");
        let mut known = KNOWN.lock().unwrap();
        let contract = known.entry(text).or_insert_with_key(|text| {
            let mut document = json!({});
            for text in text.lines() {
                merge(&mut document, serde_json::from_str(text).unwrap());
            }
            Arc::new(Self {
                document,
                validators: Mutex::default(),
            })
        });
        Arc::clone(contract)
    }

    /// Each operation with its path and method.
    pub fn operations(&self) -> Vec<(&str, &str, &Value)> {
        const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];
        let paths = self.document["paths"].as_object().unwrap();
        let all = paths
            .iter()
            .flat_map(|(path, item)| METHODS.map(|method| (path.as_str(), method, &item[method])));
        all.filter(|(_, _, operation)| operation.is_object()).collect()
    }

    /// Resolves a `$ref`.
    pub fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str() {
            Some(reference) => self.document.pointer(reference.trim_start_matches('#')).unwrap(),
            None => value,
        }
    }

    /// Validates a value against a schema of the document. Returns the errors. The validator is cached under
    /// `name`.
    pub fn schema_errors(&self, name: &str, schema: &Value, value: &Value) -> Vec<String> {
        let mut validators = self.validators.lock().unwrap();
        let validator = validators.entry(name.to_owned()).or_insert_with(|| {
            let root = json!({ "allOf": [schema], "components": { "schemas": self.document["components"]["schemas"] } });
            let options = jsonschema::draft202012::options().should_validate_formats(true);
            Arc::new(options.build(&root).unwrap())
        });
        let validator = Arc::clone(validator);
        drop(validators);
        validator
            .iter_errors(value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect()
    }

    /// Fails the test unless the response matches the document.
    pub(crate) fn check(&self, method: &str, path: &str, reply: &Reply) {
        let Some((template, item)) = self.find(path).or_else(|| self.find_versioned(path)) else {
            let is_known = UNDOCUMENTED.iter().any(|known| is_below(known, path));
            assert!(is_known || reply.status == 404, "undocumented path: {reply}");
            return;
        };
        let method = method.to_lowercase();
        let operation = &item[if method == "head" { "get" } else { &method }];
        if method == "options" && reply.status == 204 {
            return;
        }
        if !operation.is_object() {
            assert!(
                reply.status == 405 && reply.has("allow"),
                "undocumented method: {reply}"
            );
            return;
        }
        let documented = &operation["responses"][reply.status.to_string()];
        assert!(documented.is_object(), "undocumented status: {reply}");
        let response = DocumentedResponse {
            cache_key: match documented["$ref"].as_str() {
                Some(reference) => reference.to_owned(),
                None => format!("{method} {template} {}", reply.status),
            },
            value: self.resolve(documented),
        };
        self.check_headers(response.value, reply);
        if method != "head" {
            self.check_body(&response, reply);
        }
    }

    fn check_headers(&self, response: &Value, reply: &Reply) {
        for (name, header) in response["headers"].as_object().into_iter().flatten() {
            let is_required = self.resolve(header)["required"] == true;
            assert!(
                !is_required || reply.has(name),
                "the documented header {name} is missing: {reply}"
            );
        }
    }

    fn check_body(&self, response: &DocumentedResponse<'_>, reply: &Reply) {
        let content = response.value["content"].as_object();
        if reply.body.is_empty() {
            let may_be_empty = content.is_none() || response.value["x-may-be-empty"] == true;
            assert!(may_be_empty, "the documented body is missing: {reply}");
            return;
        }
        let media_type = reply.header("content-type").split(';').next().unwrap().trim();
        let documented = content.and_then(|content| content.get(media_type));
        let documented = documented.unwrap_or_else(|| panic!("undocumented media type: {reply}"));
        if media_type.ends_with("json") && !reply.has("content-encoding") {
            let name = format!("{} {media_type}", response.cache_key);
            let schema_errors = self.schema_errors(&name, &documented["schema"], &reply.json());
            assert!(
                schema_errors.is_empty(),
                "the body does not match its schema: {schema_errors:?}\n{reply}"
            );
        }
    }

    /// Finds a path with the version prefix, if the path supports it.
    fn find_versioned(&self, path: &str) -> Option<(&str, &Value)> {
        let found = self.find(path.strip_prefix("/v1")?);
        found.filter(|(_, item)| item["servers"].is_null())
    }

    /// Finds the documented path that matches. Literal paths take precedence over templates.
    fn find(&self, path: &str) -> Option<(&str, &Value)> {
        let paths = self.document["paths"].as_object().unwrap();
        let literal = paths.get_key_value(path);
        let found = literal.or_else(|| {
            paths
                .iter()
                .find(|(template, _)| matches_template(template, path))
        });
        found.map(|(template, item)| (template.as_str(), item))
    }
}

impl std::fmt::Debug for Contract {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Contract(…)")
    }
}

/// Whether a path matches a path template. A `{parameter}` matches one segment that is not empty.
fn matches_template(template: &str, path: &str) -> bool {
    let (mut template, mut path) = (template.split('/'), path.split('/'));
    loop {
        match (template.next(), path.next()) {
            (None, None) => return true,
            (Some(expected), Some(segment))
                if expected == segment || (expected.starts_with('{') && !segment.is_empty()) => {}
            _ => return false,
        }
    }
}

/// Whether a path is `known` or below it. Nothing is below `/`.
fn is_below(known: &str, path: &str) -> bool {
    path == known || (known != "/" && path.starts_with(&format!("{known}/")))
}

/// Merges objects recursively. Existing values take precedence.
fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into @ Value::Null, from) => *into = from,
        _ => {}
    }
}
