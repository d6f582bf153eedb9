//! npm: the bindings' own tools, the packed tarball, and the folder where it is installed for tests and examples.
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::build::pkg;
use crate::shell::{capture, command, read, read_json, root, run, sha256_hex, stage, target_dir, write};
use crate::tools;

/// `npm ci` in `bindings/` when `node_modules` is missing or was installed from another lock file.
pub fn install() -> Result<()> {
    let bindings = root().join("bindings");
    let stamp = bindings.join("node_modules/.lock-digest");
    let digest = sha256_hex(&read(&bindings.join("package-lock.json"))?);
    if std::fs::read_to_string(&stamp).is_ok_and(|old| old == digest) {
        return Ok(());
    }
    stage("npm ci in bindings/", || {
        let npm = tools::npm()?;
        run(command(npm).current_dir(&bindings).args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]))
    })?;
    write(&stamp, digest.as_bytes())
}

pub struct Packed {
    pub tarball: PathBuf,
    /// Paths inside the tarball, sorted.
    pub files: Vec<String>,
}

/// `npm pack` of `pkg/`.
pub fn pack() -> Result<Packed> {
    let out = target_dir().join("pack");
    std::fs::create_dir_all(&out)?;
    let text = capture(
        command(tools::npm()?)
            .current_dir(pkg())
            .args(["pack", "--json", "--loglevel=error", "--pack-destination"])
            .arg(&out),
    )?;
    let report: serde_json::Value = serde_json::from_str(&text).context("npm pack --json gave no JSON")?;
    // npm 10 gives a list, npm 11 a list too, later ones an object by name.
    let entry = match &report {
        serde_json::Value::Array(list) => list.first(),
        serde_json::Value::Object(by_name) => by_name.values().next(),
        _ => None,
    };
    let entry = entry.context("npm pack names no package")?;
    let name = entry["filename"].as_str().context("npm pack names no file")?;
    let mut files: Vec<String> = entry["files"]
        .as_array()
        .context("npm pack lists no files")?
        .iter()
        .filter_map(|file| file["path"].as_str().map(str::to_owned))
        .collect();
    files.sort();
    if files.is_empty() {
        bail!("npm pack lists no files");
    }
    Ok(Packed { tarball: out.join(name), files })
}

/// Installs the tarball into `target/installed` and links the root's `node_modules` there, so that `tests/` and
/// `examples/` import `turnkeep` exactly as a user's project does. Peers come from the bindings' own tools.
pub fn install_tarball(packed: &Packed) -> Result<PathBuf> {
    let home = target_dir().join("installed");
    let stamp = home.join("digest");
    let digest = sha256_hex(&read(&packed.tarball)?);
    let package = home.join("node_modules/turnkeep");
    if !(std::fs::read_to_string(&stamp).is_ok_and(|old| old == digest) && package.is_dir()) {
        if home.exists() {
            std::fs::remove_dir_all(&home)?;
        }
        write(&home.join("package.json"), b"{ \"name\": \"installed\", \"private\": true, \"type\": \"module\" }\n")?;
        let mut npm = command(tools::npm()?);
        npm.current_dir(&home)
            .args(["install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"])
            .args(["--install-links", "--ignore-scripts", "--prefer-offline"])
            .arg(&packed.tarball);
        // The peer, and the one dependency, as the lock file of the bindings has them.
        npm.arg(root().join("bindings/node_modules/zod"));
        npm.arg(root().join("bindings/node_modules/@cfworker/json-schema"));
        run(&mut npm)?;
        write(&stamp, digest.as_bytes())?;
    }
    link(&home.join("node_modules"), &root().join("node_modules"))?;
    check_no_scripts(&package)?;
    Ok(package)
}

/// Packs and installs what `pkg/` holds now.
pub fn installed() -> Result<PathBuf> {
    stage("pack and install the tarball in target/installed", || install_tarball(&pack()?))
}

fn check_no_scripts(package: &Path) -> Result<()> {
    let manifest = read_json(&package.join("package.json"))?;
    for field in ["scripts", "bundleDependencies"] {
        if !manifest[field].is_null() {
            bail!("the package has `{field}`: it must install without scripts");
        }
    }
    let dependencies: Vec<&String> =
        manifest["dependencies"].as_object().into_iter().flat_map(|all| all.keys()).collect();
    if dependencies != ["@cfworker/json-schema"] {
        bail!("the package depends on {dependencies:?}: only the JSON Schema library is meant to be there");
    }
    Ok(())
}

fn link(to: &Path, at: &Path) -> Result<()> {
    match std::fs::symlink_metadata(at) {
        Ok(meta) if meta.file_type().is_symlink() => {
            if std::fs::read_link(at)? == to {
                return Ok(());
            }
            std::fs::remove_file(at)?;
        }
        Ok(_) => bail!("{} is a real folder; remove it: tests and examples need a link there", at.display()),
        Err(_) => {}
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(to, at).with_context(|| format!("cannot link {}", at.display()))?;
    #[cfg(windows)]
    std::os::windows::fs::symlink_dir(to, at).with_context(|| format!("cannot link {}", at.display()))?;
    Ok(())
}
