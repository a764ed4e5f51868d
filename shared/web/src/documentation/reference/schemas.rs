//! Schemas of the document: the fields of objects, and examples.

use serde_json::{Map, Value};

/// The number of levels of nested objects whose fields are listed.
const MAX_DEPTH: usize = 3;
/// The number of levels of nested objects and arrays in an example. Deeper ones are empty.
const MAX_EXAMPLE_DEPTH: usize = 8;
/// The number of values up to which they are listed.
const MAX_VALUES: usize = 12;
/// The media types of the bodies that are shown. OAuth requests may be sent as either; the form is the usual one.
const MEDIA_TYPES: [&str; 2] = [FORM, "application/json"];
pub(crate) const FORM: &str = "application/x-www-form-urlencoded";
/// The place of the reader's client id in the samples.
pub(crate) const CLIENT_ID: &str = "YOUR_CLIENT_ID";
/// The values of OAuth parameters. A sample has all of them that its operation knows.
const OAUTH_VALUES: [(&str, &str); 8] = [
    ("client_id", CLIENT_ID),
    ("code", "CODE"),
    ("code_challenge", "CODE_CHALLENGE"),
    ("code_challenge_method", "S256"),
    ("code_verifier", "CODE_VERIFIER"),
    ("grant_type", "authorization_code"),
    ("redirect_uri", "https://app.example.org/callback"),
    ("response_type", "code"),
];

/// A parameter or a member of a body.
pub(crate) struct Field {
    /// The name, with those of the objects that contain it.
    pub(crate) name: String,
    /// The type in words.
    pub(crate) kind: String,
    pub(crate) is_required: bool,
    pub(crate) description: String,
}

/// A body of a request or a response.
pub(crate) struct Body {
    pub(crate) media_type: &'static str,
    pub(crate) fields: Vec<Field>,
    pub(crate) example: Value,
}

/// The schemas of a document.
#[derive(Clone, Copy)]
pub(crate) struct Schemas<'a> {
    document: &'a Value,
    /// Whether examples have required members only.
    is_brief: bool,
}

/// Returns the items of an array.
pub(crate) fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns the members of an object.
pub(crate) fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

impl Body {
    /// Reads the `content` of a request or a response. Returns `None` if no media type of it is shown.
    pub(crate) fn read(schemas: Schemas<'_>, content: &Value) -> Option<Self> {
        let mut known = MEDIA_TYPES.into_iter();
        let (media_type, content) = known.find_map(|name| Some((name, content.get(name)?)))?;
        let schema = &content["schema"];
        let mut fields = Vec::new();
        schemas.add_fields("", schema, &mut fields);
        let example = content.get("example").cloned();
        Some(Self {
            media_type,
            fields,
            example: example.unwrap_or_else(|| schemas.example("", schema)),
        })
    }

    /// Returns the example as indented JSON.
    pub(crate) fn indented(&self) -> String {
        format!("{:#}", self.example)
    }
}

impl<'a> Schemas<'a> {
    pub(crate) fn of_requests(document: &'a Value) -> Self {
        let is_brief = true;
        Self { document, is_brief }
    }

    pub(crate) fn of_responses(document: &'a Value) -> Self {
        let is_brief = false;
        Self { document, is_brief }
    }

    /// Follows references, and takes the first alternative that is not null.
    pub(crate) fn resolve<'v>(self, value: &'v Value) -> &'v Value
    where
        'a: 'v,
    {
        self.next(value).map_or(value, |next| self.resolve(next))
    }

    fn next<'v>(self, schema: &'v Value) -> Option<&'v Value>
    where
        'a: 'v,
    {
        if let Some(reference) = schema["$ref"].as_str() {
            return self.document.pointer(reference.trim_start_matches('#'));
        }
        let mut alternatives = items(&schema["oneOf"]).chain(items(&schema["anyOf"]));
        alternatives.find(|schema| schema["type"] != "null")
    }

    /// Returns a parameter of an operation.
    pub(crate) fn parameter(self, parameter: &Value) -> Field {
        let description = parameter["description"].as_str();
        let (schema, place) = (&parameter["schema"], parameter["in"].as_str());
        Field {
            name: parameter["name"].as_str().unwrap_or_default().to_owned(),
            kind: format!("{} in the {}", self.kind(schema), place.unwrap_or_default()),
            is_required: parameter["required"] == true,
            description: description.unwrap_or_else(|| self.description(schema)).to_owned(),
        }
    }

    /// Adds the members of an object, or of the objects in an array, required ones first. `parent` is its name.
    fn add_fields(self, parent: &str, schema: &Value, fields: &mut Vec<Field>) {
        let schema = self.resolve(schema);
        for part in items(&schema["allOf"]) {
            self.add_fields(parent, part, fields);
        }
        if schema["items"].is_object() {
            self.add_fields(&format!("{parent}[]"), &schema["items"], fields);
        }
        let is_required = |name: &String| items(&schema["required"]).any(|one| one == name.as_str());
        let mut ordered: Vec<(&String, &Value)> = members(&schema["properties"]).collect();
        ordered.sort_by_key(|entry| !is_required(entry.0));
        for (name, member) in ordered {
            let field = Field {
                name: match parent {
                    "" => name.clone(),
                    parent => format!("{parent}.{name}"),
                },
                kind: self.kind(member),
                is_required: is_required(name),
                description: self.description(member).to_owned(),
            };
            let path = field.name.clone();
            fields.push(field);
            if path.matches('.').count() < MAX_DEPTH {
                self.add_fields(&path, member, fields);
            }
        }
    }

    fn description<'v>(self, schema: &'v Value) -> &'v str
    where
        'a: 'v,
    {
        match (schema["description"].as_str(), self.next(schema)) {
            (Some(description), _) => description,
            (None, Some(next)) => self.description(next),
            (None, None) => "",
        }
    }

    /// Returns the type of a value in words.
    fn kind(self, schema: &Value) -> String {
        let schema = self.resolve(schema);
        let values: Vec<String> = items(&schema["enum"]).map(plain).collect();
        if (1..=MAX_VALUES).contains(&values.len()) {
            return format!("one of {}", values.join(", "));
        }
        if schema["items"].is_object() {
            return format!("array of {}", self.kind(&schema["items"]));
        }
        let kind = type_of(schema).unwrap_or("object");
        match schema["format"].as_str() {
            Some(format @ ("date-time" | "uri")) => format!("{kind} ({format})"),
            _ => kind.to_owned(),
        }
    }

    /// Returns an example of the value with this name.
    pub(crate) fn example(self, name: &str, schema: &Value) -> Value {
        self.example_within(MAX_EXAMPLE_DEPTH, name, schema)
    }

    /// Returns an example with at most this many levels.
    fn example_within(self, levels: usize, name: &str, schema: &Value) -> Value {
        let given = schema.get("example").or_else(|| schema["examples"].get(0));
        if let Some(given) = given.or_else(|| schema["enum"].get(0)) {
            return given.clone();
        }
        if let Some(next) = self.next(schema) {
            return self.example_within(levels, name, next);
        }
        match type_of(schema) {
            Some("integer" | "number") => schema["minimum"].as_i64().unwrap_or(1).max(1).into(),
            Some("boolean") => true.into(),
            Some("array") => {
                let item = levels.checked_sub(1);
                let item = item.map(|levels| self.example_within(levels, name, &schema["items"]));
                item.into_iter().collect()
            }
            Some("string") => match (oauth_value(name), schema["format"].as_str()) {
                (Some(value), _) => value.into(),
                (None, Some("date-time")) => "2026-01-31T12:00:00.000000Z".into(),
                (None, Some("uri")) => "https://app.example.org/".into(),
                (None, _) => name.to_uppercase().into(),
            },
            _ => self.example_object(levels, schema).into(),
        }
    }

    fn example_object(self, levels: usize, schema: &Value) -> Map<String, Value> {
        let mut object = Map::new();
        let Some(levels) = levels.checked_sub(1) else {
            return object;
        };
        for part in items(&schema["allOf"]) {
            if let Value::Object(part) = self.example_within(levels, "", part) {
                object.extend(part);
            }
        }
        for (name, member) in members(&schema["properties"]) {
            let is_required = items(&schema["required"]).any(|one| one == name.as_str());
            if is_required || !self.is_brief || oauth_value(name).is_some() {
                object.insert(name.clone(), self.example_within(levels, name, member));
            }
        }
        object
    }
}

fn oauth_value(name: &str) -> Option<&'static str> {
    let mut values = OAUTH_VALUES.into_iter();
    values.find_map(|(known, value)| (known == name).then_some(value))
}

/// Returns the type of a schema, without the alternative `null`.
fn type_of(schema: &Value) -> Option<&str> {
    let mut types = items(&schema["type"]).filter_map(Value::as_str);
    schema["type"]
        .as_str()
        .or_else(|| types.find(|name| *name != "null"))
}

/// Returns a text without its quotes, and any other value as JSON.
pub(crate) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A post has replies, which are posts.
    #[test]
    fn examples_of_recursive_schemas_end() {
        let post = json!({ "$ref": "#/post" });
        let document = json!({ "post": { "properties": {
            "title": { "type": "string" }, "replies": { "type": "array", "items": post },
        } } });
        let example = Schemas::of_responses(&document).example("", &post);
        let [last, cut] = [1, 0].map(|above| "/replies/0".repeat(MAX_EXAMPLE_DEPTH / 2 - above));
        assert_eq!(example.pointer(&format!("{last}/title")), Some(&json!("TITLE")));
        assert_eq!(example.pointer(&cut), Some(&json!({})));
    }
}
