//! The watch for tokens in the addresses, the history and the web storage of every page of a tab.

use super::Demo;

/// Reports in the console each token that a page writes into the address, the history or the web storage. What
/// it writes without a function is seen soon after.
const WATCH: &str = r"
    {
        const check = (place, text) => {
            if (/eyJ[\w-]+\.eyJ[\w-]+/.test(text)) console.error(`${place} has a token`);
        };
        const look = () => {
            check('the address', location.href);
            check('the history', JSON.stringify(history.state));
            check('the storage', JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
        };
        const { setItem } = Storage.prototype;
        Storage.prototype.setItem = function (name, value) {
            check('the storage', `${name} ${value}`);
            return setItem.call(this, name, value);
        };
        for (const method of ['pushState', 'replaceState']) {
            const change = history[method].bind(history);
            history[method] = (state, title, url) => {
                check('the history', `${JSON.stringify(state)} ${url}`);
                return change(state, title, url);
            };
        }
        if (location.protocol.startsWith('http')) {
            look();
            setInterval(look, 100);
            for (const event of ['hashchange', 'pagehide']) addEventListener(event, look);
        }
    }
";
/// Writes a token into each place, with and without a function, and removes it when the watch has seen it.
const PLANT: &str = "
    const token = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.', { pathname } = location;
    const seen = () => new Promise(resolve => setTimeout(resolve, 300));
    history.replaceState(token, '');
    await seen();
    history.replaceState(null, '', `#${token}`);
    await seen();
    history.replaceState(null, '', pathname);
    sessionStorage.setItem('planted', token);
    sessionStorage.removeItem('planted');
    localStorage.planted = token;
    await seen();
    delete localStorage.planted;
";

impl Demo<'_> {
    /// Watches the pages that this tab opens from now on.
    pub(super) async fn watch(&self) {
        self.chromium.add_script(WATCH).await;
    }

    /// Opens a tab that is watched, and turns to it. Returns it.
    pub(super) async fn open_tab(&self) -> String {
        let tab = self.chromium.open_tab().await;
        self.watch().await;
        tab
    }

    /// Expects that no address in the history of the tab has a token or a code.
    pub(super) async fn expect_no_token_in_history(&self) {
        for url in self.chromium.history().await {
            let has_secret = ["?code=", "&code=", ".eyJ"].iter().any(|part| url.contains(part));
            assert!(!has_secret, "{url}");
        }
    }

    /// Expects that the watch of the tab sees tokens in each place. Its console has nothing else.
    pub(super) async fn expect_watch(&self) {
        self.chromium.run(PLANT, &[]).await;
        let console = self.chromium.console().await;
        for place in ["the address", "the history", "the storage"] {
            let report = format!("{place} has a token");
            let has_report = console.iter().any(|message| message.contains(&report));
            assert!(has_report, "{place}: {console:?}");
        }
    }
}
