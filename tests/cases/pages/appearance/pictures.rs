//! The pictures of the pages in `target/screenshots`: a directory for each language and appearance, and
//! beside it a sheet with all its pictures. Each part of the walk replaces its own pictures, so the parts can
//! run one by one.

use std::fs::{create_dir_all, read_dir, remove_file, write};
use std::path::{Path, PathBuf};
use tests::{Appearance, Chromium};
use tokio::sync::Mutex;
use url::Url;

/// The width of a sheet, in pixels.
const SHEET_WIDTH: u32 = 3_600;
/// The greatest height of a sheet, in pixels. Chromium draws no picture of a page that is higher than 16,384
/// pixels.
const MAX_SHEET_HEIGHT: u64 = 12_000;
/// The number of pictures of a phone beside each other on a sheet, and of a desktop.
const COLUMNS: [u32; 2] = [18, 12];
const SHEET_STYLE: &str = "figure { margin: 0 } figcaption { overflow-wrap: anywhere }
    body { display: grid; gap: 12px; align-items: start; margin: 12px; font: 12px sans-serif }
    img { width: 100%; max-height: 24rem; object-fit: cover; object-position: top; border: 1px solid gray }";
/// Waits for all pictures of a sheet. Returns its height in pixels.
const HEIGHT: &str = "
    await Promise.all([...document.images].map(image => image.decode()));
    return document.documentElement.scrollHeight;
";
const LANGUAGES: [&str; 2] = ["en", "de"];

/// Held by the part that draws the sheets.
static DRAWING: Mutex<()> = Mutex::const_new(());

/// The pictures of a part of the walk in one language.
pub(super) struct Pictures {
    part: &'static str,
    language: &'static str,
}

impl Pictures {
    /// Removes the pictures of a former run.
    pub(super) fn begin(part: &'static str, language: &'static str) -> Self {
        let begin = format!("{part}.");
        for appearance in Appearance::all() {
            let directory = directory(language, appearance);
            create_dir_all(&directory).unwrap();
            for name in names(&directory)
                .into_iter()
                .filter(|name| name.starts_with(&begin))
            {
                remove_file(directory.join(name)).unwrap();
            }
        }
        Self { part, language }
    }

    /// Takes a picture of the page with this name.
    pub(super) async fn take(&self, chromium: &Chromium, name: &str, appearance: Appearance) {
        let file = format!("{}.{name}.png", self.part);
        let directory = directory(self.language, appearance);
        chromium.screenshot(&directory.join(file)).await;
    }

    /// Draws the sheets of this language with the pictures of all parts, and writes the contact sheet: a page
    /// with the sheets of all languages, each of which leads to its pictures.
    pub(super) async fn draw_sheets(&self, chromium: &Chromium) {
        let _drawing = DRAWING.lock().await;
        chromium.appear(Appearance::default()).await;
        chromium.be_a_desktop(SHEET_WIDTH).await;
        for appearance in Appearance::all() {
            draw_sheet(chromium, self.language, appearance).await;
        }
        let of_language = |language| Appearance::all().map(move |appearance| sheet(language, appearance));
        let sheets = LANGUAGES.into_iter().flat_map(of_language);
        let drawn = sheets.filter(|sheet| screenshots().join(format!("{sheet}.png")).exists());
        let figure = |sheet: String| {
            format!(
                "<h2>{sheet}</h2><a href=\"{sheet}.html\"><img src=\"{sheet}.png\" style=\"width: 100%\"></a>"
            )
        };
        let figures: String = drawn.map(figure).collect();
        let page = format!("<!doctype html><title>All pages and states</title>{figures}");
        write(screenshots().join("index.html"), page).unwrap();
    }
}

/// Writes the page with all pictures of a language and an appearance, and a picture of this page.
async fn draw_sheet(chromium: &Chromium, language: &str, appearance: Appearance) {
    let (sheet, directory) = (sheet(language, appearance), directory(language, appearance));
    let figure = |name: String| {
        let source = format!("{sheet}/{name}");
        let title = name.trim_end_matches(".png");
        format!(
            "<figure><a href=\"{source}\"><img src=\"{source}\"></a><figcaption>{title}</figcaption></figure>"
        )
    };
    let figures: String = names(&directory).into_iter().map(figure).collect();
    let columns = COLUMNS[usize::from(!appearance.is_phone)];
    let style = format!("{SHEET_STYLE} body {{ grid-template-columns: repeat({columns}, 1fr) }}");
    let page = format!("<!doctype html><title>{sheet}</title><style>{style}</style>{figures}");
    let file = screenshots().join(format!("{sheet}.html"));
    write(&file, page).unwrap();
    let url = Url::from_file_path(file.canonicalize().unwrap()).unwrap();
    chromium.open(url.as_str()).await;
    let height = chromium.run(HEIGHT, &[]).await.as_u64().unwrap();
    assert!(
        height <= MAX_SHEET_HEIGHT,
        "the sheet {sheet} is {height} pixels high"
    );
    chromium
        .screenshot(&screenshots().join(format!("{sheet}.png")))
        .await;
}

fn screenshots() -> PathBuf {
    tests::root().join("target/screenshots")
}

/// The name of the sheet of a language and an appearance, and of the directory of its pictures.
fn sheet(language: &str, appearance: Appearance) -> String {
    format!("{language}.{}", appearance.name())
}

fn directory(language: &str, appearance: Appearance) -> PathBuf {
    screenshots().join(sheet(language, appearance))
}

/// The names of the files in a directory, in their order.
fn names(directory: &Path) -> Vec<String> {
    let entries = read_dir(directory).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
