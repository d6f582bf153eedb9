//! `build`: the core to wasm, its glue, the bindings, `pkg/` assembled and measured.
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use wasm_bindgen_cli_support::Bindgen;

use crate::shell::{cargo, command, read, root, run, sha256_hex, stage, target_dir, write};
use crate::{npm, size, tools};

/// What the core's own code may use. `wasm-opt` refuses a module that uses more.
const WASM_FEATURES: [&str; 6] = [
    "--enable-bulk-memory",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-multivalue",
];

pub fn pkg() -> PathBuf {
    root().join("pkg")
}

pub fn build() -> Result<()> {
    tools::wasm_target()?;
    stage("cargo build: the core for wasm32", || {
        run(cargo()
            .args(["build", "--release", "--lib", "-p", "turnkeep", "--features", "js"])
            .args(["--target", tools::WASM_TARGET]))
    })?;
    let glue = stage("wasm-bindgen: the glue", bind)?;
    npm::install()?;
    let wasm = stage("wasm-opt -Oz (npm binaryen)", || optimise(&glue.wasm))?;
    stage("generated files for the bindings", || generate(&glue, &wasm))?;
    stage("tsc: bindings to pkg/dist", compile)?;
    stage("assemble pkg/", || assemble(&wasm))?;
    stage("sizes against pkg/size-budget.json", size::over_budget)?;
    write(&stamp_file(), inputs_digest()?.as_bytes())
}

/// Builds when an input has changed since the last build.
pub fn build_if_stale() -> Result<()> {
    let stamp = std::fs::read_to_string(stamp_file()).unwrap_or_default();
    if stamp == inputs_digest()? && pkg().join("dist/core.wasm").is_file() {
        println!("==> pkg/ is up to date");
        return Ok(());
    }
    build()
}

fn stamp_file() -> PathBuf {
    target_dir().join("pkg.stamp")
}

/// A digest over every file that goes into the package.
fn inputs_digest() -> Result<String> {
    let root = root();
    let mut text = root.display().to_string();
    let mut files = Vec::new();
    for dir in ["src", "bindings/src", "bindings/types"] {
        files.extend(crate::shell::files_below(&root.join(dir), "")?);
    }
    for file in ["Cargo.toml", "Cargo.lock", "bindings/package-lock.json", "bindings/tsconfig.json", "pkg/package.json"]
    {
        files.push(root.join(file));
    }
    files.push(root.join("README.md"));
    for file in files.iter().filter(|file| file.is_file() && !file.starts_with(root.join("bindings/src/generated"))) {
        text.push_str(&format!("\n{} {}", file.display(), sha256_hex(&read(file)?)));
    }
    Ok(sha256_hex(text.as_bytes()))
}

struct Glue {
    js: PathBuf,
    types: PathBuf,
    wasm: PathBuf,
}

/// The bundler target's `_bg.js` takes any instance: no top-level await, no `instanceof` that fails across realms.
fn bind() -> Result<Glue> {
    let input = target_dir().join(tools::WASM_TARGET).join("release/turnkeep.wasm");
    let out = target_dir().join("glue");
    Bindgen::new()
        .input_path(&input)
        .bundler(true)?
        .typescript(true)
        .omit_default_module_path(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(&out)?;
    ensure!(!out.join("snippets").exists(), "the glue has snippets: JavaScript inside the Rust core is not allowed");
    Ok(Glue { js: out.join("turnkeep_bg.js"), types: out.join("turnkeep.d.ts"), wasm: out.join("turnkeep_bg.wasm") })
}

/// Optimised bytes, kept by the hash of what went in, since this is the slowest stage of a warm build.
fn optimise(wasm: &Path) -> Result<Vec<u8>> {
    let wasm_opt = root().join("bindings/node_modules/binaryen/bin/wasm-opt");
    let version = read(&root().join("bindings/node_modules/binaryen/package.json"))?;
    let key = sha256_hex(&[read(wasm)?, version, WASM_FEATURES.concat().into_bytes()].concat());
    let kept = target_dir().join(format!("wasm-opt/{key}.wasm"));
    if !kept.is_file() {
        let part = kept.with_extension("part");
        std::fs::create_dir_all(target_dir().join("wasm-opt"))?;
        // Node only: another wasm-opt from PATH may exit 0 and break the module.
        run(command(tools::node()?).arg(wasm_opt).arg(wasm).arg("-Oz").args(WASM_FEATURES).arg("-o").arg(&part))?;
        std::fs::rename(&part, &kept)?;
    }
    read(&kept)
}

/// `bindings/src/generated/`: what the TypeScript sources import.
fn generate(glue: &Glue, wasm: &[u8]) -> Result<()> {
    let out = root().join("bindings/src/generated");
    write(&out.join("glue.js"), &read(&glue.js)?)?;
    let types = String::from_utf8(read(&glue.types)?)?
        + "\n/** Gives the glue the exports of an instance. */\nexport function __wbg_set_wasm(exports: unknown): void;\n";
    write(&out.join("glue.d.ts"), types.as_bytes())?;
    let inline = format!("export default \"{}\";\n", base64(wasm));
    write(&out.join("wasm-base64.js"), inline.as_bytes())?;
    write(&out.join("wasm-base64.d.ts"), b"declare const base64: string;\nexport default base64;\n")?;
    Ok(())
}

fn compile() -> Result<()> {
    let dist = pkg().join("dist");
    if dist.exists() {
        std::fs::remove_dir_all(&dist)?;
    }
    let tsc = root().join("bindings/node_modules/typescript/bin/tsc");
    run(command(tools::node()?).arg(tsc).args(["--project", "bindings/tsconfig.json"]))
        .context("the bindings do not compile")
}

/// What is packed beside `dist/`: the texts a user of the tarball is pointed to.
const PACKED: [&str; 9] = [
    "README.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "docs/errors.md",
    "docs/guard.md",
    "docs/quirks.md",
    "docs/rules.md",
    "docs/scenarios.md",
    "docs/task-contract.md",
];

fn assemble(wasm: &[u8]) -> Result<()> {
    let (root, pkg) = (root(), pkg());
    let dist = pkg.join("dist");
    write(&dist.join("core.wasm"), wasm)?;
    for file in ["glue.js", "wasm-base64.js"] {
        write(&dist.join("generated").join(file), &read(&root.join("bindings/src/generated").join(file))?)?;
    }
    for types in crate::shell::files_below(&root.join("bindings/types"), ".d.ts")? {
        let name = types.file_name().context("a file without a name")?;
        write(&dist.join(name), &read(&types)?)?;
    }
    for file in PACKED {
        let from = root.join(file);
        if from.is_file() {
            write(&pkg.join(file), &read(&from)?)?;
        } else {
            println!("    note: no {file} at the root, so none in the package");
        }
    }
    check_exports(&pkg)
}

/// Each file that package.json names is there: a wrong path would only show at a user's import.
fn check_exports(pkg: &Path) -> Result<()> {
    fn paths(value: &serde_json::Value, into: &mut Vec<String>) {
        match value {
            serde_json::Value::String(path) => into.push(path.clone()),
            serde_json::Value::Object(members) => members.values().for_each(|value| paths(value, into)),
            _ => {}
        }
    }
    let mut named = Vec::new();
    paths(&crate::shell::read_json(&pkg.join("package.json"))?["exports"], &mut named);
    let missing: Vec<_> = named.iter().filter(|path| !pkg.join(path).is_file()).collect();
    if !missing.is_empty() {
        bail!("pkg/package.json exports files that the build does not make: {missing:?}");
    }
    println!("    {} exported files are there", named.len());
    Ok(())
}

pub fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let letter = char::from(ALPHABET[(bits >> (18 - 6 * place) & 63) as usize]);
            text.push(if place <= group.len() { letter } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_of_the_rfc_4648_examples() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(super::base64(bytes.as_bytes()), text);
        }
    }
}
