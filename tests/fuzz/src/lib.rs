//! Properties of the parsers of untrusted input. A fuzzer looks for inputs that violate them, see
//! docs/develop/testing.md. The tests below check the inputs in `corpus/`.

mod harness;
mod targets;

pub use targets::TARGETS;

#[cfg(test)]
mod tests {
    use super::TARGETS;
    use std::collections::BTreeSet;
    use std::fs;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::path::{Path, PathBuf};

    fn corpus() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
    }

    fn entries(directory: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    #[test]
    fn every_input_of_the_corpus_has_the_properties() {
        let mut failed = Vec::new();
        for (name, check) in TARGETS {
            let files = entries(&corpus().join(name));
            assert!(files.len() >= 3, "{name} has fewer than three inputs");
            for file in files {
                let input = fs::read(&file).unwrap();
                if catch_unwind(AssertUnwindSafe(|| check(&input))).is_err() {
                    failed.push(file);
                }
            }
        }
        assert!(failed.is_empty(), "{failed:?}");
    }

    #[test]
    fn every_corpus_has_a_target() {
        let names: BTreeSet<PathBuf> = TARGETS.iter().map(|(name, _)| corpus().join(name)).collect();
        let directories = entries(&corpus()).into_iter().collect();
        assert_eq!(names, directories);
    }
}
