//! Programs that call an operation.

use super::schemas::{Body, FORM, Schemas, items, plain};
use serde_json::{Map, Value};
use url::form_urlencoded::Serializer;

/// Writes the sample of a request in a language.
type Writer = fn(&Request<'_>) -> String;

/// The languages in their order, each with the function that writes its program.
const LANGUAGES: [(&str, Writer); 4] = [
    ("curl", curl),
    ("JavaScript", javascript),
    ("Python", python),
    ("Rust", rust),
];
/// The language of the samples that are open if the reader chose none.
pub(crate) const FIRST_LANGUAGE: &str = LANGUAGES[0].0;

/// A program that calls an operation.
pub(crate) struct Sample {
    pub(crate) language: &'static str,
    pub(crate) code: String,
}

/// A request with all that its operation requires.
pub(crate) struct Request<'a> {
    method: &'a str,
    url: String,
    /// The values have their variables in braces.
    headers: Vec<(&'a str, String)>,
    body: Option<&'a Body>,
}

impl<'a> Request<'a> {
    /// Returns the request of an operation. `item` is the path item that has it.
    pub(crate) fn of(
        document: &'a Value,
        path: &str,
        item: &'a Value,
        operation: &'a Value,
        method: &'a str,
        body: Option<&'a Body>,
    ) -> Self {
        let server = item["servers"].get(0).unwrap_or(&document["servers"][0]);
        let mut url = format!("{}{path}", plain(&server["url"]));
        let mut query = Serializer::new(String::new());
        let mut headers: Vec<(&'a str, String)> = credentials(&operation["security"]);
        let parameters = items(&operation["parameters"]).filter(|parameter| parameter["required"] == true);
        for parameter in parameters {
            let name = parameter["name"].as_str().unwrap_or_default();
            let value = plain(&Schemas::of_requests(document).example(name, &parameter["schema"]));
            match parameter["in"].as_str() {
                Some("path") => url = url.replace(&format!("{{{name}}}"), &value),
                Some("query") => _ = query.append_pair(name, &value),
                _ => headers.push((name, format!("{{{}}}", name.to_lowercase().replace('-', "_")))),
            }
        }
        let query = query.finish();
        if !query.is_empty() {
            url = format!("{url}?{query}");
        }
        // The libraries add the media type of a form.
        if let Some(media_type) = body.map(|body| body.media_type).filter(|name| *name != FORM) {
            headers.push(("Content-Type", media_type.to_owned()));
        }
        Self {
            method,
            url,
            headers,
            body,
        }
    }

    /// Returns the example of the body as indented JSON, with `indent` before all lines but the first.
    fn json(&self, indent: &str) -> Option<String> {
        let body = self.body.filter(|body| body.media_type != FORM)?;
        Some(body.indented().replace('\n', &format!("\n{indent}")))
    }

    /// Returns the fields of the form; `None` if it has none, because Rust could not infer their type.
    fn form(&self) -> Option<&Map<String, Value>> {
        let form = self.body.filter(|body| body.media_type == FORM)?;
        form.example.as_object().filter(|fields| !fields.is_empty())
    }
}

/// Returns the headers with the credentials that a program has: no session if an access token suffices.
fn credentials(security: &Value) -> Vec<(&'static str, String)> {
    let has = |name: &str| items(security).any(|one| one.get(name).is_some());
    let is_open = items(security).any(|one| one.as_object().is_some_and(Map::is_empty));
    if !is_open && (has("oauth2") || has("registration")) {
        vec![("Authorization", "Bearer {token}".to_owned())]
    } else if !is_open && has("csrf") {
        let cookies = "sid={sid}; csrf={csrf}".to_owned();
        vec![("Cookie", cookies), ("x-csrf-token", "{csrf}".to_owned())]
    } else if !is_open && has("session") {
        vec![("Cookie", "sid={sid}".to_owned())]
    } else {
        Vec::new()
    }
}

/// Returns the samples of a request.
pub(crate) fn samples(request: &Request<'_>) -> [Sample; 4] {
    LANGUAGES.map(|(language, program)| Sample {
        language,
        code: program(request),
    })
}

/// Returns the language of this name, in whatever case.
pub(crate) fn language(name: &str) -> Option<&'static str> {
    let mut names = LANGUAGES.into_iter().map(|(language, _)| language);
    names.find(|language| language.eq_ignore_ascii_case(name))
}

fn curl(request: &Request<'_>) -> String {
    let mut parts = vec![match request.method {
        "GET" => format!("curl {}", shell(&request.url)),
        method => format!("curl -X {method} {}", shell(&request.url)),
    }];
    for (name, value) in &request.headers {
        let value = with_variables(value, |name| format!("${}", name.to_uppercase()));
        // Double quotes, in which the shell expands the variables.
        parts.push(format!("-H \"{name}: {value}\""));
    }
    parts.extend(request.json("").map(|json| format!("-d {}", shell(&json))));
    for (name, value) in request.form().into_iter().flatten() {
        parts.push(format!(
            "--data-urlencode {}",
            shell(&format!("{name}={}", plain(value)))
        ));
    }
    parts.join(" \\\n  ")
}

fn javascript(request: &Request<'_>) -> String {
    let mut options = vec![format!("method: {}", quoted(request.method))];
    // A browser sends the cookies itself.
    let (cookies, headers): (Vec<_>, Vec<_>) =
        request.headers.iter().partition(|(name, _)| *name == "Cookie");
    if !cookies.is_empty() {
        options.push("credentials: \"include\"".to_owned());
    }
    let headers = headers.iter().map(|(name, value)| match value.contains('{') {
        true => format!("    {}: `{}`,\n", quoted(name), value.replace('{', "${")),
        false => format!("    {}: {},\n", quoted(name), quoted(value)),
    });
    let headers: String = headers.collect();
    if !headers.is_empty() {
        options.push(format!("headers: {{\n{headers}  }}"));
    }
    options.extend(
        request
            .json("  ")
            .map(|json| format!("body: JSON.stringify({json})")),
    );
    let form = request.form().map(|form| object(form, "    ", "  "));
    options.extend(form.map(|form| format!("body: new URLSearchParams({form})")));
    format!(
        "const response = await fetch({}, {{\n  {},\n}});\nconsole.log(response.status, await response.text());",
        quoted(&request.url),
        options.join(",\n  "),
    )
}

fn python(request: &Request<'_>) -> String {
    let mut arguments = vec![quoted(&request.url), format!("method={}", quoted(request.method))];
    let headers = request.headers.iter().map(|(name, value)| {
        let prefix = if value.contains('{') { "f" } else { "" };
        format!("        {}: {prefix}{},\n", quoted(name), quoted(value))
    });
    let headers: String = headers.collect();
    if !headers.is_empty() {
        arguments.push(format!("headers={{\n{headers}    }}"));
    }
    // Three quotes never follow each other in JSON.
    let json = request.json("").map(|json| json.replace('\\', "\\\\"));
    arguments.extend(json.map(|json| format!("data=\"\"\"{json}\"\"\".encode()")));
    let form = request.form().map(|form| object(form, "        ", "    "));
    arguments.extend(form.map(|form| format!("data=urllib.parse.urlencode({form}).encode()")));
    format!(
        "import urllib.parse\nimport urllib.request\n\nrequest = urllib.request.Request(\n    {},\n)\n\
         with urllib.request.urlopen(request) as response:\n    print(response.status, response.read().decode())",
        arguments.join(",\n    "),
    )
}

fn rust(request: &Request<'_>) -> String {
    let mut calls = vec![format!(
        ".{}({})",
        request.method.to_lowercase(),
        quoted(&request.url)
    )];
    for (name, value) in &request.headers {
        calls.push(match value.contains('{') {
            true => format!(".header({}, format!({}))", quoted(name), quoted(value)),
            false => format!(".header({}, {})", quoted(name), quoted(value)),
        });
    }
    calls.extend(request.json("").map(|json| format!(".body({})", raw(&json))));
    if let Some(form) = request.form() {
        let pairs = form
            .iter()
            .map(|(name, value)| format!("        ({}, {}),\n", quoted(name), quoted(&plain(value))));
        calls.push(format!(".form(&[\n{}    ])", pairs.collect::<String>()));
    }
    format!(
        "let response = reqwest::Client::new()\n    {}\n    .send()\n    .await?;\n\
         println!(\"{{}} {{}}\", response.status(), response.text().await?);",
        calls.join("\n    "),
    )
}

/// Replaces the names in braces.
fn with_variables(value: &str, variable: impl Fn(&str) -> String) -> String {
    let parts = value.split(['{', '}']).enumerate();
    parts
        .map(|(index, part)| match index % 2 {
            0 => part.to_owned(),
            _ => variable(part),
        })
        .collect()
}

/// Returns an object with a member on each line, in the syntax that JavaScript and Python share.
fn object(members: &Map<String, Value>, indent: &str, end: &str) -> String {
    let members = members
        .iter()
        .map(|(name, value)| format!("{indent}{}: {},\n", quoted(name), quoted(&plain(value))));
    format!("{{\n{}{end}}}", members.collect::<String>())
}

/// Returns a string literal of JavaScript, Python and Rust.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Returns a word of the shell that stands for the text itself.
fn shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Returns a raw string literal of Rust, with as few `#` as the text allows, but one.
fn raw(text: &str) -> String {
    let mut marks = "#".to_owned();
    while text.contains(&format!("\"{marks}")) {
        marks.push('#');
    }
    format!("r{marks}\"{text}\"{marks}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_form_without_fields_is_not_sent() {
        let body = Body {
            media_type: FORM,
            fields: Vec::new(),
            example: json!({}),
        };
        let request = Request {
            method: "POST",
            url: "https://id.example.org/userinfo".to_owned(),
            headers: Vec::new(),
            body: Some(&body),
        };
        for Sample { language, code } in samples(&request) {
            let sends = |part: &&str| code.contains(part);
            assert!(
                !["--data", "body:", "data=", ".form("].iter().any(sends),
                "{language}: {code}"
            );
        }
    }

    #[test]
    fn raw_strings_end_with_their_text() {
        for (text, literal) in [
            ("", "r#\"\"#"),
            (r##"{"color": "blue"}"##, r###"r#"{"color": "blue"}"#"###),
            (r##"{"color": "#00f"}"##, r####"r##"{"color": "#00f"}"##"####),
            (r###"["##", "#"]"###, r#####"r###"["##", "#"]"###"#####),
        ] {
            assert_eq!(raw(text), literal);
        }
    }
}
