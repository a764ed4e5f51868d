//! The Debian package of `deploy/debian`, in a root directory of its own. Its scripts run there with the tools
//! of this machine, as when a system is installed from another one (`DPKG_ROOT`). What they do with a running
//! systemd is tested with programs that print their arguments.

use super::units::{UNITS, expect_sound, unit, values};
use super::{first_token, run};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use tests::{
    RootDirectory, Shape, as_root, free_port, on_shapes, programs_dir, public_directory, root,
    without_deployment,
};

/// The directories with what the package depends on: libraries and certificate authorities.
const DEPENDENCIES: [&str; 3] = ["/lib", "/lib64", "/etc/ssl"];
const SETTINGS: &str = "etc/latchkey/latchkey.toml";
const DATA: &str = "var/lib/latchkey";
/// The path of the program on the machine.
const PROGRAM: &str = "/usr/bin/latchkey";
/// The link of an enabled service.
const ENABLED: &str = "etc/systemd/system/multi-user.target.wants/latchkey.service";

/// The root directory of a machine.
pub(super) struct Machine {
    root: PathBuf,
}

fn build(directory: &Path, revision: &str) -> PathBuf {
    let mut build = Command::new(root().join("deploy/debian/build"));
    build.arg(programs_dir()).arg(directory).arg(revision);
    // The compression would take half a minute.
    let printed = run(build.env("DPKG_DEB_COMPRESSOR_TYPE", "none"));
    PathBuf::from(printed.trim_end())
}

impl Machine {
    /// A machine that has only what a package depends on, in the versions of this machine, and `env`, which
    /// every machine has.
    pub(super) fn with_dependencies_of(package: &Path, root: PathBuf) -> Self {
        for directory in [
            "dev",
            "etc/ssl",
            "lib",
            "lib64",
            "proc",
            "tmp",
            "usr/bin",
            "var/lib/dpkg/info",
        ] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        fs::create_dir_all(root.join("var/lib/dpkg/updates")).unwrap();
        fs::copy("/usr/bin/env", root.join("usr/bin/env")).unwrap();
        let depends = run(Command::new("dpkg-deb")
            .arg("--field")
            .arg(package)
            .arg("Depends"));
        let names = depends
            .split(',')
            .map(|name| name.split_whitespace().next().unwrap());
        let status = run(Command::new("dpkg-query").arg("--status").args(names));
        fs::write(root.join("var/lib/dpkg/status"), status).unwrap();
        Self { root }
    }

    /// Runs dpkg on a package, and returns what it prints.
    pub(super) fn dpkg(&self, action: &str, package: impl AsRef<Path>) -> String {
        let mut dpkg = as_root("dpkg");
        dpkg.arg("--root").arg(&self.root);
        dpkg.arg("--log").arg(self.root.join("dpkg.log"));
        // The path of a user may lack /sbin.
        dpkg.args(["--force-script-chrootless,bad-path", action])
            .arg(package.as_ref());
        run(&mut dpkg)
    }

    fn systemctl(&self, arguments: &[&str]) {
        let mut systemctl = as_root("systemctl");
        run(systemctl.arg("--root").arg(&self.root).args(arguments));
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap()
    }

    fn has(&self, path: &str) -> bool {
        // The link of a service leads to a path that this machine lacks.
        self.root.join(path).symlink_metadata().is_ok()
    }

    /// The service as its unit describes it, at this port.
    fn service(&self, port: u16) -> RootDirectory {
        let unit = self.read("usr/lib/systemd/system/latchkey.service");
        let [name] = values(&unit, "User")[..] else {
            panic!("{unit}");
        };
        let users = self.read("etc/passwd");
        let user = users.lines().find(|line| line.split(':').next() == Some(name));
        let number = user.unwrap().split(':').nth(2).unwrap();
        let listen = format!("LATCHKEY_LISTEN=127.0.0.1:{port}");
        let settings = values(&unit, "Environment").into_iter().chain([listen.as_str()]);
        let settings = settings.map(|setting| setting.split_once('=').unwrap());
        RootDirectory {
            path: self.root.clone(),
            user: number.parse().unwrap(),
            shared: &DEPENDENCIES,
            environment: settings
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        }
    }

    /// Starts the service as its unit does. Dropping the result kills it.
    async fn start(&self) -> impl Drop + use<> {
        self.service(free_port()).serve(PROGRAM).await
    }
}

fn expect_units_of_the_project(machine: &Machine) {
    let packaged = |name: &str| machine.read(&format!("usr/lib/systemd/system/{name}"));
    expect_sound(&UNITS.map(|(name, _)| (name, packaged(name))));
    for (name, program) in UNITS {
        let user = name.trim_end_matches(".service");
        let packaged = packaged(name);
        let original = unit(name)
            .replace(
                &format!("/usr/local/bin/{program}"),
                &format!("/usr/bin/{program}"),
            )
            .replace("DynamicUser=yes", &format!("User={user}"));
        assert_eq!(packaged, original);
        assert_eq!(values(&packaged, "User"), [user]);
        assert!(
            machine.read("etc/passwd").contains(&format!("{user}:x:")),
            "{user}"
        );
        for file in [
            format!("usr/bin/{program}"),
            format!("usr/share/bash-completion/completions/{program}"),
            format!("usr/share/fish/vendor_completions.d/{program}.fish"),
            format!("usr/share/zsh/vendor-completions/_{program}"),
            format!("usr/share/man/man1/{program}.1.gz"),
        ] {
            assert!(machine.root.join(&file).metadata().unwrap().len() > 0, "{file}");
        }
    }
    assert!(
        machine
            .read("usr/share/doc/latchkey/copyright")
            .contains("MIT License")
    );
    for document in [
        "sbom.cdx.json",
        "crate-licenses.gz",
        "README.md",
        "docs/apps/README.md",
        "docs/operate/README.md",
    ] {
        assert!(
            machine.has(&format!("usr/share/doc/latchkey/{document}")),
            "{document}"
        );
    }
    let secrets = machine.root.join("etc/latchkey/credentials").metadata().unwrap();
    assert_eq!(secrets.mode() & 0o777, 0o700);
}

/// Gets a token by the documented commands that follow the start of the service.
pub(super) async fn expect_first_token(machine: &Machine, path: &str, began: Instant) {
    let commands = first_token::documented_end("Debian package");
    let (_, commands) = commands.split_once("sudo systemctl start latchkey\n").unwrap();
    let port = free_port();
    let service = machine.service(port);
    let _server = service.serve(PROGRAM).await;
    let commands = commands.replace(":8080", &format!(":{port}"));
    first_token::expect(path, began, &commands, |script| {
        let stand_ins = "sudo() { \"$@\"; }\nrunuser() { shift 3; inside \"$@\"; }";
        service.bash(&format!("{stand_ins}\n{script}"))
    });
}

async fn the_package_installs_upgrades_and_leaves_the_data(_: Shape) {
    let directory = public_directory();
    let began = first_token::begin();
    let first = build(directory.path(), "1");
    let machine = Machine::with_dependencies_of(&first, directory.path().join("root"));
    machine.dpkg("--install", &first);
    expect_first_token(&machine, "the Debian package, from the built programs", began).await;
    expect_units_of_the_project(&machine);
    assert!(!machine.has("etc/systemd"), "a service is enabled");

    machine.systemctl(&["enable", "latchkey.service"]);
    assert!(machine.has(ENABLED));
    // The examples become the settings of an installation of production.
    let settings = machine.read(SETTINGS);
    let settings = settings.replace("\n#base-url", "\nbase-url");
    let settings = settings.replace("\n#trusted-proxies", "\ntrusted-proxies");
    assert_eq!(settings.lines().filter(|line| line.contains(" = ")).count(), 2);
    fs::write(machine.root.join(SETTINGS), &settings).unwrap();
    drop(machine.start().await);
    let key = machine.read(&format!("{DATA}/master.key"));
    let password = machine.read(&format!("{DATA}/admin-password"));

    let second = build(directory.path(), "2");
    machine.dpkg("--install", &second);
    assert_eq!(machine.read(SETTINGS), settings);
    assert!(machine.has(ENABLED));
    drop(machine.start().await);
    assert_eq!(machine.read(&format!("{DATA}/master.key")), key);
    assert_eq!(machine.read(&format!("{DATA}/admin-password")), password);

    machine.dpkg("--remove", "latchkey");
    assert!(!machine.has("usr/bin/latchkey") && !machine.has(ENABLED));
    assert_eq!(machine.read(SETTINGS), settings);
    let kept = machine.dpkg("--purge", "latchkey");
    assert!(
        kept.contains(&format!("Kept: {}/{DATA}\n", machine.root.display())),
        "{kept}"
    );
    assert!(!machine.has("etc/latchkey"));
    assert_eq!(machine.read(&format!("{DATA}/master.key")), key);
}

async fn a_purge_deletes_the_data_on_demand(_: Shape) {
    let directory = public_directory();
    let package = build(directory.path(), "1");
    let machine = Machine::with_dependencies_of(&package, directory.path().join("root"));
    machine.dpkg("--install", &package);
    // systemd makes such a link for a service whose user is dynamic.
    fs::create_dir_all(machine.root.join("var/lib/private/latchkey")).unwrap();
    symlink("private/latchkey", machine.root.join(DATA)).unwrap();
    let data = [DATA, "var/lib/latchkey-auth", "etc/latchkey/credentials"];
    for path in data {
        fs::create_dir_all(machine.root.join(path)).unwrap();
        fs::write(machine.root.join(path).join("master-key"), "secret").unwrap();
    }
    machine.dpkg("--purge", "latchkey");
    assert!(data.iter().all(|path| machine.has(&format!("{path}/master-key"))));

    machine.dpkg("--install", &package);
    fs::write(machine.root.join("etc/latchkey/delete-data"), "").unwrap();
    machine.dpkg("--purge", "latchkey");
    assert!(!data.iter().any(|path| machine.has(path)));
    assert!(!machine.has("var/lib/private/latchkey/master-key"));
}

/// Runs a script of the package for an action of dpkg, on a machine that has this directory of systemd.
/// Returns the commands for systemd, which are not carried out. Those that restart a service fail.
fn commands_of(script: &str, action: &str, systemd: &str) -> Vec<String> {
    const RUN: &str = r#"
        mkdir -p "$1" /run/programs
        for name in systemctl systemd-sysusers; do
            printf '#!/bin/sh\necho "${0##*/} $*"\n[ "$1" != try-restart ]\n' >"/run/programs/$name"
            chmod +x "/run/programs/$name"
        done
        PATH=/run/programs:$PATH "$2" "$3""#;
    let mut sandbox = Command::new("bwrap");
    sandbox.args(["--unshare-all", "--die-with-parent", "--ro-bind", "/", "/"]);
    sandbox.args(["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"]);
    sandbox.args(["sh", "-e", "-c", RUN, "sh", systemd]);
    sandbox.arg(root().join("deploy/debian").join(script)).arg(action);
    let printed = run(sandbox.env_remove("DPKG_ROOT"));
    printed.lines().map(str::to_owned).collect()
}

fn the_scripts_tell_a_running_systemd_what_changed() {
    let running = |script: &str, action: &str| commands_of(script, action, "/run/systemd/system");
    let configured = [
        "systemd-sysusers latchkey.conf",
        "systemctl daemon-reload",
        "systemctl try-restart latchkey.service",
        "systemctl try-restart latchkey-auth.service",
        "systemctl try-restart latchkey-api.service",
    ];
    assert_eq!(running("postinst", "configure"), configured);
    let removed = [
        "systemctl stop latchkey.service latchkey-auth.service latchkey-api.service",
        "systemctl --quiet disable latchkey.service latchkey-auth.service latchkey-api.service",
    ];
    assert_eq!(running("prerm", "remove"), removed);
    assert_eq!(running("postrm", "remove"), ["systemctl daemon-reload"]);
    for script in ["prerm", "postrm"] {
        assert!(running(script, "upgrade").is_empty(), "{script}");
    }

    let stopped = |script: &str, action: &str| commands_of(script, action, "/run/elsewhere");
    assert_eq!(stopped("postinst", "configure"), configured[..1]);
    assert_eq!(stopped("prerm", "remove"), removed[1..]);
    assert!(stopped("postrm", "remove").is_empty());
}

on_shapes!(the_package_installs_upgrades_and_leaves_the_data: sqlite Sqlite);
on_shapes!(a_purge_deletes_the_data_on_demand: sqlite Sqlite);

without_deployment!(the_scripts_tell_a_running_systemd_what_changed);
