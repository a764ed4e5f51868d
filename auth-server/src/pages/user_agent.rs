//! Browsers in words.

use super::text;

/// The browsers, each with the part of a `User-Agent` header by which it is known. Most browsers claim to be
/// those further down too.
const BROWSERS: [(&str, &str); 10] = [
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Edg/", "Edge"),
    ("EdgA/", "Edge"),
    ("EdgiOS/", "Edge"),
    ("OPR/", "Opera"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Safari/", "Safari"),
];

/// The operating systems, each with the part of a `User-Agent` header by which it is known.
const SYSTEMS: [(&str, &str); 7] = [
    ("Windows", "Windows"),
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
];

/// Returns the browser and the operating system that a `User-Agent` header names, such as "Firefox on Linux".
/// The first word of the header stands for another browser.
pub(super) fn in_words(user_agent: Option<&str>) -> String {
    let header = user_agent.unwrap_or_default();
    let named = |names: &[(&str, &'static str)]| {
        let mut names = names.iter();
        names
            .find(|(part, _)| header.contains(part))
            .map(|(_, name)| *name)
    };
    let first_word = header.split([' ', '/']).next().filter(|word| !word.is_empty());
    match (named(&BROWSERS).or(first_word), named(&SYSTEMS)) {
        (Some(browser), Some(system)) => text::of("browser-on-system")
            .with("browser", browser)
            .with("system", system)
            .plain(),
        (Some(browser), None) => browser.to_owned(),
        (None, _) => text::of("browser-unknown").plain(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_and_systems_are_recognized() {
        for (user_agent, expected) in [
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
                "Firefox on Linux",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
                "Safari on iOS",
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
                "Chrome on macOS",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/140.0 Mobile/15E148 Safari/605.1.15",
                "Firefox on iOS",
            ),
            (
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36 EdgA/140.0.0.0",
                "Edge on Android",
            ),
            ("curl/8.5.0", "curl"),
            ("", "An unknown program"),
        ] {
            assert_eq!(in_words(Some(user_agent)), expected, "{user_agent}");
        }
    }
}
