//! A minimal browser for the issuer's pages: cookies and forms, no JavaScript, no automatic redirects.

use crate::accounts::User;
use crate::http::{Call, Caller};
use crate::reply::Reply;
use crate::world::World;
use scraper::{ElementRef, Html, Selector};
use std::collections::BTreeMap;
use url::Url;

/// The `Accept` header of browsers that open a page.
const ACCEPT: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
/// The maximum number of pages between an authorization request and the app.
const MAX_PAGES: usize = 12;

/// One browser with its cookies.
#[derive(Clone, Debug)]
pub struct Browser {
    caller: Caller,
    cookies: BTreeMap<String, String>,
}

/// A page shown by a browser.
#[derive(Clone, Debug)]
pub struct Page {
    /// The URL from which it was loaded.
    pub url: Url,
    /// The HTTP response.
    pub reply: Reply,
}

/// Returns a text of a page with plain hyphens in place of those at which no line ends (U+2011).
pub(crate) fn plain_hyphens(text: &str) -> String {
    text.replace('\u{2011}', "-")
}

#[derive(Debug)]
struct Form {
    action: Url,
    fields: Vec<(String, String)>,
}

impl World {
    /// A new browser.
    pub fn browser(&self) -> Browser {
        Browser {
            caller: self.anyone(),
            cookies: BTreeMap::new(),
        }
    }
}

impl User {
    /// A browser in which this user is signed in.
    pub fn browser(&self) -> Browser {
        let mut browser = Browser {
            caller: self.anonymous(),
            cookies: BTreeMap::new(),
        };
        browser.set_cookie("sid", &self.sid);
        browser.set_cookie("csrf", &self.csrf);
        browser
    }
}

impl Browser {
    /// The same browser, whose user prefers this language.
    #[must_use]
    pub fn in_language(mut self, tag: &str) -> Self {
        self.caller = self.caller.with("accept-language", tag);
        self
    }

    /// The value of a stored cookie.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        self.cookies.get(name).map(String::as_str)
    }

    /// Stores a cookie.
    pub fn set_cookie(&mut self, name: &str, value: &str) {
        self.cookies.insert(name.to_owned(), value.to_owned());
    }

    /// Removes a cookie.
    pub fn delete_cookie(&mut self, name: &str) {
        self.cookies.remove(name);
    }

    /// Opens a path or a URL. A redirect is returned, not followed.
    pub async fn open(&mut self, address: &str) -> Page {
        let url = Url::parse(self.caller.base()).unwrap().join(address).unwrap();
        let reply = self.open_call(address).await;
        self.keep_cookies(&reply);
        Page { url, reply }
    }

    /// Opens a URL whose response may be a 5xx. Does not store cookies.
    pub async fn open_failing(&mut self, address: &str) -> Page {
        let url = Url::parse(address).unwrap();
        let call = self.caller.get(url.as_str()).may_fail();
        let reply = self.with_cookies(call).await;
        Page { url, reply }
    }

    /// Fills in the form that contains the first field, and submits it.
    pub async fn submit(&mut self, page: &Page, fields: &[(&str, &str)]) -> Page {
        let (action, fields) = page.fill_in(fields);
        self.post(&action, &fields).await
    }

    /// Posts a form as a page of the issuer's own origin does.
    pub async fn post(&mut self, action: &Url, fields: &[(String, String)]) -> Page {
        let reply = self.post_call(action, fields).await;
        self.keep_cookies(&reply);
        Page {
            url: action.clone(),
            reply,
        }
    }

    /// Prepares the request of [`Browser::open`].
    pub fn open_call(&self, address: &str) -> Call {
        let url = Url::parse(self.caller.base()).unwrap().join(address).unwrap();
        self.with_cookies(self.caller.get(url.as_str()).header("accept", ACCEPT))
    }

    /// Prepares the request of [`Browser::submit`].
    pub fn submit_call(&self, page: &Page, fields: &[(&str, &str)]) -> Call {
        let (action, fields) = page.fill_in(fields);
        self.post_call(&action, &fields)
    }

    /// Prepares the request of [`Browser::post`].
    pub fn post_call(&self, action: &Url, fields: &[(String, String)]) -> Call {
        let call = self.caller.post(action.as_str()).form(fields);
        let call = call
            .header("origin", self.caller.base())
            .header("sec-fetch-site", "same-origin")
            .header("accept", ACCEPT);
        self.with_cookies(call)
    }

    /// Follows redirects, submits the sign-in form if it is shown, the form with the code of a device as it
    /// is, and the consent form with `decision`. Returns the first redirect to another origin, or the page on
    /// which the flow ended without one.
    pub async fn complete_flow(&mut self, start: &str, user: &User, decision: &str) -> Result<Url, Page> {
        let mut page = self.open(start).await;
        for _ in 0..MAX_PAGES {
            if let Some(next) = page.location() {
                if next.origin() != page.url.origin() {
                    return Ok(next);
                }
                page = self.open(next.as_str()).await;
            } else if page.form_with("password").is_some() {
                let fields = [
                    ("email", user.email.as_str()),
                    ("password", user.password.as_str()),
                ];
                page = self.submit(&page, &fields).await;
            } else if page.form_with("user_code").is_some() {
                let csrf = page.hidden("csrf").unwrap();
                page = self.submit(&page, &[("csrf", &csrf)]).await;
            } else if page.form_with("decision").is_some() {
                page = self.submit(&page, &[("decision", decision)]).await;
            } else {
                return Err(page);
            }
        }
        panic!("no redirect to the app after {MAX_PAGES} pages: {}", page.reply);
    }

    fn with_cookies(&self, call: Call) -> Call {
        if self.cookies.is_empty() {
            return call;
        }
        let pairs: Vec<String> = self
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        call.header("cookie", &pairs.join("; "))
    }

    fn keep_cookies(&mut self, reply: &Reply) {
        for line in reply.headers.get_all("set-cookie") {
            let line = line.to_str().unwrap();
            let (pair, attributes) = line.split_once(';').unwrap_or((line, ""));
            let (name, value) = pair.split_once('=').unwrap();
            if attributes.to_ascii_lowercase().contains("max-age=0") {
                self.cookies.remove(name);
            } else {
                self.set_cookie(name, value);
            }
        }
    }
}

impl Page {
    /// The redirect target.
    pub fn location(&self) -> Option<Url> {
        let location = self.reply.headers.get("location")?.to_str().unwrap();
        Some(self.url.join(location).unwrap())
    }

    /// The words of the text without markup, each separated by one space.
    pub fn visible_text(&self) -> String {
        let html = Html::parse_document(&self.reply.text());
        let words = html.root_element().text().flat_map(str::split_whitespace);
        plain_hyphens(&words.collect::<Vec<_>>().join(" "))
    }

    /// The absolute targets of its links.
    pub fn links(&self) -> Vec<Url> {
        let html = Html::parse_document(&self.reply.text());
        let selector = Selector::parse("a[href]").unwrap();
        html.select(&selector)
            .filter_map(|link| self.url.join(link.attr("href")?).ok())
            .collect()
    }

    /// The texts that it shows to be copied.
    pub fn copied(&self) -> Vec<String> {
        let html = Html::parse_document(&self.reply.text());
        let selector = Selector::parse("pre code[data-copy]").unwrap();
        html.select(&selector).map(|code| code.text().collect()).collect()
    }

    /// The recovery codes that it shows.
    pub fn recovery_codes(&self) -> Vec<String> {
        let html = Html::parse_document(&self.reply.text());
        let selector = Selector::parse(".codes code").unwrap();
        html.select(&selector).map(|code| code.text().collect()).collect()
    }

    /// The ids of the fields that are marked as wrong.
    pub fn wrong_fields(&self) -> Vec<String> {
        let html = Html::parse_document(&self.reply.text());
        let selector = Selector::parse("[aria-invalid=true]").unwrap();
        let ids = html
            .select(&selector)
            .map(|field| field.attr("id").unwrap().to_owned());
        ids.collect()
    }

    /// The value of a hidden input.
    pub fn hidden(&self, name: &str) -> Option<String> {
        let html = Html::parse_document(&self.reply.text());
        let selector = Selector::parse("input[type=hidden]").unwrap();
        let mut inputs = html.select(&selector);
        inputs
            .find(|input| input.attr("name") == Some(name))?
            .attr("value")
            .map(str::to_owned)
    }

    /// Whether it contains a form with a field of this name.
    pub fn asks_for(&self, field: &str) -> bool {
        self.form_with(field).is_some()
    }

    /// The action and all fields of the form that contains the first field, with these values filled in.
    fn fill_in(&self, fields: &[(&str, &str)]) -> (Url, Vec<(String, String)>) {
        let form = self
            .form_with(fields[0].0)
            .unwrap_or_else(|| panic!("no such form: {}", self.reply));
        let mut all = form.fields;
        for (name, value) in fields {
            all.retain(|(present, _)| present != name);
            all.push(((*name).to_owned(), (*value).to_owned()));
        }
        (form.action, all)
    }

    fn form_with(&self, field: &str) -> Option<Form> {
        let html = Html::parse_document(&self.reply.text());
        let (forms, named) = (
            Selector::parse("form").unwrap(),
            Selector::parse("[name]").unwrap(),
        );
        let has_field =
            |form: &ElementRef<'_>| form.select(&named).any(|input| input.attr("name") == Some(field));
        let form = html.select(&forms).find(has_field)?;
        let action = match form.attr("action") {
            Some(action) if !action.is_empty() => self.url.join(action).unwrap(),
            _ => self.url.clone(),
        };
        let fields = form
            .select(&named)
            .filter(|input| input.value().name() == "input")
            .filter(|input| !matches!(input.attr("type"), Some("submit" | "radio" | "checkbox")))
            .map(|input| {
                let value = input.attr("value").unwrap_or_default();
                (input.attr("name").unwrap().to_owned(), value.to_owned())
            })
            .collect();
        Some(Form { action, fields })
    }
}
