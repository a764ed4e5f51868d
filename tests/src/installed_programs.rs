//! Locates the programs and libraries that the tests use.

use crate::repository::root;
use std::path::PathBuf;
use std::process::Command;

/// The advice in errors about missing programs.
pub(crate) const INSTALL_HINT: &str = "run tests/run, which installs missing packages as root or lists them";

/// The path of a PostgreSQL program: the newest version below /usr/lib/postgresql, else on the PATH.
pub(crate) fn postgres_program(name: &str) -> Result<PathBuf, String> {
    let packaged = subdirectories("/usr/lib/postgresql")
        .into_iter()
        .filter_map(|dir| {
            let version: u32 = dir.file_name()?.to_str()?.parse().ok()?;
            Some((version, dir.join("bin").join(name)))
        })
        .filter(|(_, program)| program.is_file())
        .max();
    let on_path = || {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path)
            .map(|dir| dir.join(name))
            .find(|program| program.is_file())
    };
    packaged
        .map(|(_, program)| program)
        .or_else(on_path)
        .ok_or_else(|| format!("PostgreSQL ({name}) is not installed: {INSTALL_HINT}"))
}

/// The path of a tool or of its directory, below the directory into which `tests/run` installs the tools.
pub fn tool(path: &str) -> PathBuf {
    let tool = root().join("target/tools").join(path);
    assert!(tool.exists(), "{} is missing: {INSTALL_HINT}", tool.display());
    tool
}

/// Prepares the TypeScript compiler, which checks types and writes nothing.
pub fn type_checker() -> Command {
    let options = "--noEmit --strict --target es2022 --module esnext --moduleResolution bundler";
    let mut command = Command::new("node");
    command
        .arg(tool("latchkey-auth/node_modules/typescript/lib/tsc.js"))
        .args(options.split(' '));
    command
}

/// The path of the libfaketime library.
pub(crate) fn libfaketime() -> PathBuf {
    ["/usr/lib", "/usr/lib64", "/usr/local/lib"]
        .into_iter()
        .flat_map(|dir| {
            let mut dirs = subdirectories(dir);
            dirs.push(PathBuf::from(dir));
            dirs
        })
        .map(|dir| dir.join("faketime/libfaketimeMT.so.1"))
        .find(|library| library.is_file())
        .unwrap_or_else(|| panic!("libfaketime is not installed: {INSTALL_HINT}"))
}

fn subdirectories(dir: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return Vec::new();
    };
    entries.flatten().map(|entry| entry.path()).collect()
}
