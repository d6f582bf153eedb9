//! turnkeep's build and checks. Run as `cargo xtask <command>`; `cargo xtask help` lists them.
//!
//! Exit codes: 0 good, 1 a check failed, 2 wrong usage, 3 a tool or data set is missing.
mod acceptance;
mod bench;
mod build;
mod conformance;
mod demo;
mod fast;
mod npm;
mod planted;
mod shell;
mod size;
mod tools;
mod torture;

use std::process::ExitCode;

use anyhow::{Result, bail};
use pico_args::Arguments;
use turnkeep_checks::support;

const HELP: &str = "\
usage: cargo xtask <command>

  build                        core to wasm, bindings to JavaScript, pkg/ assembled and measured
  test [--bless]               the fast tier: build, tests, lints, types, tarball in Node, Chromium, workerd
                               (--bless rewrites the committed list of packed files)
  demo [args...]               builds if needed, installs the packed package, runs examples/demo
  conformance [DIR] [options]  cases and recordings of DIR (default: CONFORMANCE_DIR) against the core
      --out FILE                 one JSON line per id, sorted
      --runner native|node       default native; node runs the packed package
      --mutate SEED              other ids, names and values, another order: same verdicts
  acceptance A1|A2|A3|A4|A5    one acceptance figure; data from CONFORMANCE_DIR
  acceptance A6                generated values and turns: native, wasm and a naive reader in Python agree; needs no data
  acceptance B1 [options]      each fuzz target of fuzz/ for a while; needs no data
      --seconds N                for each target, default 20
      --keep                     what reaches new code becomes the committed corpus, minimised
  acceptance B2                hostile answers: codes, heap, time against size, natively and in wasm
  acceptance B4                10,000 inputs with hostile keys through the packed package; needs no data
  acceptance http              each recording over real HTTP: the runtime's outcome is the native one, and the guard agrees
  acceptance guard             every SDK of benches/torture behind the guard: no unsafe stream runs a tool
  acceptance aimock            another project's server: our runtime and the vendors' parsers agree, or a rule says why not
  acceptance real-server       the same with a real model's server at REAL_SERVER_URL (without /v1), REAL_SERVER_MODEL
  torture                      the guard's figure as tables, without and with the guard, into benches/torture/results.md
  js FILTER                    the files of tests/js whose names hold FILTER, on the packed package
  bench [--quick] [--lanes L]  the stream harness of CONFORMANCE_DIR/bench with our lanes, and each bar; a whole run
                               rewrites benches/streams/results.md
  planted [FILTER]             applies each tests/planted/*.patch in a copy and demands a red check
  generate                     rewrites generated, committed files (the case list of the browser test)
";

fn main() -> ExitCode {
    let mut args = Arguments::from_env();
    match dispatch(&mut args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("xtask: {error:#}");
            if error.downcast_ref::<shell::Missing>().is_some() {
                ExitCode::from(3)
            } else if error.downcast_ref::<shell::Usage>().is_some() {
                ExitCode::from(2)
            } else {
                ExitCode::from(1)
            }
        }
    }
}

/// `Ok(false)` says that a check failed and has said so itself.
fn dispatch(args: &mut Arguments) -> Result<bool> {
    let command = args.subcommand()?;
    match command.as_deref() {
        Some("build") => {
            no_more(args)?;
            build::build().map(|()| true)
        }
        Some("test") => {
            let bless = args.contains("--bless");
            no_more(args)?;
            fast::run(bless)
        }
        Some("demo") => demo::run(args.clone().finish()),
        Some("conformance") => {
            let options = conformance::Options::parse(args)?;
            no_more(args)?;
            conformance::run(&options)
        }
        Some("acceptance") => {
            let options =
                acceptance::Options { seconds: args.opt_value_from_str("--seconds")?, keep: args.contains("--keep") };
            let id: String = args.free_from_str()?;
            no_more(args)?;
            acceptance::run(&id, &options)
        }
        Some("torture") => {
            no_more(args)?;
            torture::run_all(torture::Program::Tables)
        }
        Some("js") => {
            let filter: String = args.free_from_str()?;
            no_more(args)?;
            fast::js(&filter)
        }
        Some("bench") => {
            let options =
                bench::Options { quick: args.contains("--quick"), lanes: args.opt_value_from_str("--lanes")? };
            no_more(args)?;
            bench::run_all(&options)
        }
        Some("planted") => planted::run_all(args.opt_free_from_str::<String>()?.as_deref()),
        Some("generate") => conformance::generate_embedded(),
        None | Some("help") => {
            print!("{HELP}");
            Ok(true)
        }
        Some(other) => bail!(shell::Usage(format!("no command `{other}`\n{HELP}"))),
    }
}

fn no_more(args: &Arguments) -> Result<()> {
    let rest = args.clone().finish();
    if rest.is_empty() { Ok(()) } else { bail!(shell::Usage(format!("what is {rest:?}?\n{HELP}"))) }
}
