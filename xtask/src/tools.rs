//! Tools outside Cargo and npm: found, or installed where we may, or named with the command that installs them.
//!
//! Wasm-pack and the wasm-bindgen command are kept in version-named folders of the user's cache, so that a fresh
//! clone on the same machine does not build them again. They serve the browser test only: the package itself is built
//! with wasm-bindgen as a library, whose version Cargo.lock holds.
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::shell::{Missing, capture, cargo, command, run, stage, which};

const WASM_PACK: &str = "0.15.1";
const WASM_BINDGEN: &str = "0.2.130";
const CARGO_FUZZ: &str = "0.13.1";
const RFC8785: &str = "0.1.4";
pub const WASM_TARGET: &str = "wasm32-unknown-unknown";

pub fn cache_dir() -> PathBuf {
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")))
        .unwrap_or_else(std::env::temp_dir);
    base.join("turnkeep")
}

/// The Rust target of the core. Always added explicitly: a toolchain file does not do it.
pub fn wasm_target() -> Result<()> {
    let libdir = capture(command("rustc").args(["--print", "target-libdir", "--target", WASM_TARGET]))?;
    if Path::new(libdir.trim()).is_dir() {
        return Ok(());
    }
    let add = ["target", "add", WASM_TARGET];
    if which("rustup").is_none() {
        bail!(Missing(format!("the Rust target {WASM_TARGET}; with rustup: rustup {}", add.join(" "))));
    }
    stage("rustup target add", || run(command("rustup").args(add)))
}

pub fn node() -> Result<PathBuf> {
    let node = which("node").ok_or_else(|| Missing("node 20 or newer: https://nodejs.org".into()))?;
    let version = capture(command(&node).arg("--version"))?;
    let major: u32 = version.trim().trim_start_matches('v').split('.').next().unwrap_or("").parse().unwrap_or(0);
    if major < 20 {
        bail!(Missing(format!("node 20 or newer; {} is {}", node.display(), version.trim())));
    }
    Ok(node)
}

pub fn npm() -> Result<PathBuf> {
    which("npm").ok_or_else(|| Missing("npm: it comes with node".into()).into())
}

/// A browser and its driver: `CHROME` and `CHROMEDRIVER`, else PATH, else Debian's packages when we are root there.
pub struct Browser {
    pub chrome: PathBuf,
    pub driver: PathBuf,
}

pub fn browser() -> Result<Browser> {
    if let Some(found) = find_browser() {
        return Ok(found);
    }
    const PACKAGES: [&str; 2] = ["chromium", "chromium-driver"];
    if !is_root_on_debian() {
        bail!(Missing(format!(
            "Chromium and chromedriver: set CHROME and CHROMEDRIVER, or: apt-get install {}",
            PACKAGES.join(" ")
        )));
    }
    stage("apt-get install chromium chromium-driver", || {
        let apt = || {
            let mut apt = command("apt-get");
            apt.env("DEBIAN_FRONTEND", "noninteractive").arg("-qq");
            apt
        };
        run(apt().arg("update"))?;
        run(apt().args(["install", "-y", "--no-install-recommends"]).args(PACKAGES))
    })?;
    find_browser().ok_or_else(|| Missing("Chromium, although apt-get has installed it".into()).into())
}

fn find_browser() -> Option<Browser> {
    let from = |variable: &str, names: &[&str]| {
        std::env::var_os(variable)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
            .or_else(|| names.iter().find_map(|name| which(name)))
    };
    Some(Browser {
        chrome: from("CHROME", &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"])?,
        driver: from("CHROMEDRIVER", &["chromedriver"])?,
    })
}

fn is_root_on_debian() -> bool {
    let root = capture(command("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    root && Path::new("/etc/debian_version").exists() && which("apt-get").is_some()
}

/// The folder of `wasm-pack`.
pub fn wasm_pack() -> Result<PathBuf> {
    cached("wasm-pack", "wasm-pack", WASM_PACK, true)
}

/// The folder of `wasm-bindgen` and `wasm-bindgen-test-runner`. Its own lock file may name versions that a registry
/// no longer has, so it is resolved anew, for this compiler.
pub fn wasm_bindgen_cli() -> Result<PathBuf> {
    cached("wasm-bindgen-cli", "wasm-bindgen-test-runner", WASM_BINDGEN, false)
}

/// The folder of `cargo-fuzz`.
pub fn cargo_fuzz() -> Result<PathBuf> {
    cached("cargo-fuzz", "cargo-fuzz", CARGO_FUZZ, true)
}

fn cached(krate: &str, binary: &str, version: &str, locked: bool) -> Result<PathBuf> {
    let home = cache_dir().join(format!("{krate}-{version}"));
    let bin = home.join("bin");
    if bin.join(binary).is_file() {
        return Ok(bin);
    }
    if let Some(found) = which(binary) {
        let said = capture(command(&found).arg("--version")).unwrap_or_default();
        if said.split_whitespace().any(|word| word == version) {
            return found.parent().map(Path::to_path_buf).context("a program without a folder");
        }
    }
    stage(&format!("cargo install {krate} {version} (minutes, once per machine)"), || {
        let mut install = cargo();
        install.args(["install", krate, "--version", version, "--root"]).arg(&home);
        install.env_remove("CARGO_TARGET_DIR").env("CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS", "fallback");
        if locked {
            install.arg("--locked");
        }
        run(&mut install).map_err(|error| {
            Missing(format!(
                "{krate} {version} ({error:#}). By hand: CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS=fallback \
                 cargo install {krate} --version {version}{} --root {}",
                if locked { " --locked" } else { "" },
                home.display()
            ))
            .into()
        })
    })?;
    Ok(bin)
}

/// A Python that has `rfc8785`, the canonical form that is not ours.
pub fn python_rfc8785() -> Result<PathBuf> {
    let home = cache_dir().join(format!("python-rfc8785-{RFC8785}"));
    let python = home.join("bin/python");
    let version = ["-c", "from importlib.metadata import version; print(version('rfc8785'))"];
    let ready = || capture(command(&python).args(version)).is_ok_and(|said| said.trim() == RFC8785);
    if ready() {
        return Ok(python);
    }
    let base = which("python3").ok_or_else(|| Missing("python3, 3.9 or newer, with venv and pip".into()))?;
    stage(&format!("pip install rfc8785 {RFC8785} (once per machine)"), || {
        let package = format!("rfc8785=={RFC8785}");
        run(command(base).args(["-m", "venv", "--clear"]).arg(&home))
            .and_then(|()| {
                run(command(&python).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", &package]))
            })
            .map_err(|error| Missing(format!("a Python environment with {package} ({error:#})")).into())
    })?;
    if ready() { Ok(python) } else { bail!(Missing(format!("rfc8785 {RFC8785}, although pip has installed it"))) }
}
