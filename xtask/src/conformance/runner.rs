//! A runner decodes one job in many ways of reading it. The native one guards each run against panics and hangs.
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::support::case::Job;
use crate::support::native;
use crate::support::splits::Cuts;
use crate::support::verdict::Verdict;

/// Decoding one response once may take this long.
pub const ONE_RUN: Duration = Duration::from_secs(5);
/// All ways of reading one job together.
pub const ONE_JOB: Duration = Duration::from_secs(120);

/// A verdict for each way of reading, or what went wrong with the runner: a panic, a trap, a hang.
pub type Outcome = Result<Vec<Verdict>, String>;

pub trait Runner {
    /// An error is a runner that cannot go on at all.
    fn run(&mut self, job: &Job, plans: &[Cuts]) -> Result<Outcome>;
}

/// The core linked into this program.
pub struct Native;

impl Runner for Native {
    fn run(&mut self, job: &Job, plans: &[Cuts]) -> Result<Outcome> {
        let (send, receive) = mpsc::channel();
        let (job, plans) = (job.clone(), plans.to_vec());
        // A thread of its own, so that a hang is a failed job and not a hung check.
        std::thread::Builder::new().stack_size(8 << 20).spawn(move || {
            let outcome = plans.iter().map(|cuts| guarded(&job, cuts)).collect();
            drop(send.send(outcome));
        })?;
        Ok(receive.recv_timeout(ONE_JOB).unwrap_or_else(|_| Err(format!("no answer in {} s", ONE_JOB.as_secs()))))
    }
}

fn guarded(job: &Job, cuts: &Cuts) -> Result<Verdict, String> {
    let start = Instant::now();
    let verdict = catch_unwind(AssertUnwindSafe(|| native::run(job, cuts))).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        format!("PANIC: {}", text.unwrap_or("no message"))
    })??;
    if start.elapsed() > ONE_RUN {
        return Err(format!("took {:.1} s", start.elapsed().as_secs_f64()));
    }
    Ok(verdict)
}
