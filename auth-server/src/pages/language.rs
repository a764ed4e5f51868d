//! The languages of the pages, with their texts as Fluent resources.

use axum::http::{HeaderMap, Uri};
use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource};
use std::borrow::Cow;
use std::sync::LazyLock;
use web::content_negotiation::preferred_language;
use web::cookies;

/// The cookie with the language that an authorization request or the address of a page asked for.
pub(crate) const COOKIE: &str = "language";
/// The cookie with the language that the user chose.
pub(super) const CHOICE_COOKIE: &str = "chosen_language";
/// The parameter with the tag of a language, in the links with which users choose one.
const CHOICE: &str = "language";

/// The tags of the languages (RFC 5646). The first is the default.
pub(crate) const TAGS: [&str; 2] = ["en", "de"];
/// The names of the languages in themselves, in the order of [`TAGS`].
const NAMES: [&str; TAGS.len()] = ["English", "Deutsch"];

/// The texts of the languages, in the order of [`TAGS`].
const SOURCES: [&str; TAGS.len()] = [
    include_str!("../../locales/en.ftl"),
    include_str!("../../locales/de.ftl"),
];

static BUNDLES: LazyLock<[FluentBundle<FluentResource>; TAGS.len()]> =
    LazyLock::new(|| std::array::from_fn(|position| bundle(TAGS[position], SOURCES[position])));

/// A language of the pages: a position in [`TAGS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Language(usize);

impl Language {
    /// Chooses the language of a request: the first that it supports of the user's choice, which is a
    /// parameter or a cookie, of the parameter `ui_locales` (OpenID Connect Core 1.0 §3.1.2.1), of the cookie
    /// that keeps this parameter of an earlier request, and of `Accept-Language`. Otherwise English.
    pub(crate) fn of_request(uri: &Uri, headers: &HeaderMap) -> Self {
        let by_cookie = |name| Self::of_locales(cookies::single(headers, name)?);
        let by_header = || Self::of_tag(preferred_language(headers, &TAGS)?);
        Self::chosen_by(uri)
            .or_else(|| by_cookie(CHOICE_COOKIE))
            .or_else(|| Self::asked_by(uri))
            .or_else(|| by_cookie(COOKIE))
            .or_else(by_header)
            .unwrap_or_default()
    }

    /// Returns the language that the user chooses with this request.
    pub(super) fn chosen_by(uri: &Uri) -> Option<Self> {
        Self::of_tag(&parameter(uri, CHOICE)?)
    }

    /// Returns the language for which the parameter `ui_locales` of this request asks.
    pub(super) fn asked_by(uri: &Uri) -> Option<Self> {
        Self::of_locales(&parameter(uri, "ui_locales")?)
    }

    /// Returns the other languages.
    pub(super) fn others(self) -> impl Iterator<Item = Self> {
        (0..TAGS.len()).map(Self).filter(move |other| *other != self)
    }

    /// Returns the path and the query of a page in this language, which it keeps. The token of a mailed link
    /// is left out: a cookie keeps it. A path with two slashes at its beginning would lead to another host.
    pub(super) fn path_of(self, uri: &Uri) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let present = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
        query.extend_pairs(present.filter(|(name, _)| name != CHOICE && name != "token"));
        query.append_pair(CHOICE, self.tag());
        let path = uri.path().trim_start_matches(['/', '\\']);
        format!("/{path}?{}", query.finish())
    }

    /// Returns the name of the language in itself.
    pub(super) fn name(self) -> &'static str {
        NAMES[self.0]
    }

    /// Returns the first supported language of a list of tags that are separated by spaces.
    pub(crate) fn of_locales(locales: &str) -> Option<Self> {
        locales.split(' ').find_map(Self::of_tag)
    }

    /// Returns the language of a tag with any subtags, such as `de-AT`.
    fn of_tag(tag: &str) -> Option<Self> {
        let primary = tag.split('-').next().unwrap_or_default();
        let position = TAGS
            .iter()
            .position(|supported| supported.eq_ignore_ascii_case(primary));
        position.map(Self)
    }

    /// Returns the tag of the language.
    pub(crate) fn tag(self) -> &'static str {
        TAGS[self.0]
    }

    /// Returns the value of the message `id`, or its attribute. Each argument is between the characters
    /// U+2068 and U+2069. Returns `None` if the language has no such text.
    pub(super) fn format(
        self,
        id: &str,
        attribute: Option<&str>,
        arguments: &FluentArgs<'_>,
    ) -> Option<String> {
        let bundle = &BUNDLES[self.0];
        let message = bundle.get_message(id)?;
        let pattern = match attribute {
            Some(name) => message.get_attribute(name)?.value(),
            None => message.value()?,
        };
        let mut errors = Vec::new();
        let text = bundle.format_pattern(pattern, Some(arguments), &mut errors);
        if !errors.is_empty() {
            tracing::error!(
                id,
                language = self.tag(),
                ?errors,
                "a text of a page lacks an argument"
            );
        }
        Some(text.into_owned())
    }
}

/// Returns the first query parameter of this name.
pub(super) fn parameter<'a>(uri: &'a Uri, name: &str) -> Option<Cow<'a, str>> {
    let mut parameters = form_urlencoded::parse(uri.query()?.as_bytes());
    parameters
        .find(|(found, _)| found == name)
        .map(|(_, value)| value)
}

fn bundle(tag: &str, source: &str) -> FluentBundle<FluentResource> {
    let language = tag.parse().unwrap_or_default();
    let mut bundle = FluentBundle::new_concurrent(vec![language]);
    // A test checks that the texts have no errors.
    let resource = FluentResource::try_new(source.to_owned()).unwrap_or_else(|(resource, _)| resource);
    bundle.add_resource_overriding(resource);
    bundle
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::header;
    use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};
    use foundation::scope;
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;

    /// The names of the texts of a language, each with its arguments. The name of an attribute follows that
    /// of its message and a dot.
    fn texts(source: &str) -> BTreeMap<String, BTreeSet<String>> {
        let resource = fluent_syntax::parser::parse(source).unwrap();
        let mut texts = BTreeMap::new();
        for entry in resource.body {
            let Entry::Message(message) = entry else {
                assert!(!matches!(entry, Entry::Junk { .. }), "{entry:?}");
                continue;
            };
            let id = message.id.name;
            let value = message.value.iter().map(|value| (id.to_owned(), value));
            let attributes = message
                .attributes
                .iter()
                .map(|attribute| (format!("{id}.{}", attribute.id.name), &attribute.value));
            for (name, pattern) in value.chain(attributes) {
                assert!(
                    texts.insert(name, arguments(pattern)).is_none(),
                    "{id} appears twice"
                );
            }
        }
        texts
    }

    fn arguments(pattern: &Pattern<&str>) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for element in &pattern.elements {
            let PatternElement::Placeable { expression } = element else {
                continue;
            };
            let inline = match expression {
                Expression::Inline(inline) => inline,
                Expression::Select { selector, variants } => {
                    names.extend(variants.iter().flat_map(|variant| arguments(&variant.value)));
                    selector
                }
            };
            if let InlineExpression::VariableReference { id } = inline {
                names.insert(id.name.to_owned());
            }
        }
        names
    }

    #[test]
    fn all_languages_have_the_same_texts_with_the_same_arguments() {
        let english = texts(SOURCES[0]);
        for (tag, source) in TAGS.iter().zip(SOURCES).skip(1) {
            let mut other = texts(source);
            for name in scope::ALL {
                let id = format!("scope-{}", name.replace(':', "-"));
                assert!(other.remove(&id).is_some(), "{tag} lacks {id}");
            }
            assert_eq!(english, other, "{tag}");
        }
    }

    fn collect_ids(dir: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect_ids(&path, found);
            } else if let Ok(source) = std::fs::read_to_string(&path) {
                for call in [" of(\"", "text::of(\""] {
                    let ids = source.split(call).skip(1);
                    found.extend(ids.filter_map(|rest| Some(rest.split('"').next()?.to_owned())));
                }
            }
        }
    }

    #[test]
    fn every_text_is_used_and_every_used_text_exists() {
        let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut used = BTreeSet::new();
        for dir in ["src", "templates", "../deploy/standalone"] {
            collect_ids(&crate_dir.join(dir), &mut used);
        }
        let english = texts(SOURCES[0]);
        let ids = english
            .keys()
            .map(|name| name.split('.').next().unwrap().to_owned());
        let ids: BTreeSet<String> = ids.collect();
        let missing: Vec<_> = used.difference(&ids).collect();
        let unused: Vec<_> = ids.difference(&used).collect();
        assert!(
            missing.is_empty() && unused.is_empty(),
            "missing: {missing:?}, unused: {unused:?}"
        );
    }

    #[test]
    fn a_page_in_another_language_keeps_its_query() {
        let german = Language::of_tag("de").unwrap();
        for (uri, expected) in [
            ("/signin", "/signin?language=de"),
            ("/signin?flow=a%2Bb&language=en", "/signin?flow=a%2Bb&language=de"),
            ("//evil.example/x", "/evil.example/x?language=de"),
            ("/\\/evil.example/x", "/evil.example/x?language=de"),
        ] {
            assert_eq!(german.path_of(&uri.parse().unwrap()), expected);
        }
    }

    #[test]
    fn the_first_supported_language_counts() {
        let language = |uri: &str, cookie: &str, accepted: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, format!("a=b; {cookie}").parse().unwrap());
            headers.insert(header::ACCEPT_LANGUAGE, accepted.parse().unwrap());
            Language::of_request(&uri.parse().unwrap(), &headers).tag()
        };
        for (uri, cookie, accepted, expected) in [
            ("/signin", "", "", "en"),
            ("/signin", "", "fr, de-AT;q=0.5, en;q=0.4", "de"),
            ("/signin", "", "de;q=0", "en"),
            ("/signin", "language=fr DE", "en", "de"),
            ("/signin?ui_locales=fr+de-CH", "language=en", "en", "de"),
            ("/signin?ui_locales=fr", "", "de", "de"),
            (
                "/signin?ui_locales=en",
                "chosen_language=de; language=en",
                "en",
                "de",
            ),
            (
                "/signin?language=de&ui_locales=en",
                "chosen_language=en",
                "en",
                "de",
            ),
            ("/signin?language=fr", "chosen_language=x", "de", "de"),
        ] {
            assert_eq!(
                language(uri, cookie, accepted),
                expected,
                "{uri} {cookie} {accepted}"
            );
        }
    }
}
