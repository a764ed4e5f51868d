//! The tutorial quotes the code: a block marked `rust FILE` is a part of this file, without the lines between
//! two parts at `// …`.

use super::blocks;
use std::path::Path;
use tests::{root, without_deployment};

fn the_tutorial_quotes_the_code() {
    let page = Path::new("docs/develop/add-a-route.md");
    let mut quoted = 0;
    for block in blocks(page) {
        let Some(file) = block.language.strip_prefix("rust ") else {
            continue;
        };
        let code =
            std::fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let mut rest = code.as_str();
        for part in block.text.split("// …\n").map(str::trim) {
            let place = format!("{}:{}", page.display(), block.line);
            let (_, after) = rest
                .split_once(part)
                .unwrap_or_else(|| panic!("{place}: {file} has no such code:\n{part}"));
            rest = after;
        }
        quoted += 1;
    }
    assert!(quoted > 6, "only {quoted} blocks were found");
}

without_deployment!(the_tutorial_quotes_the_code);
