//! How the same bytes are read: the file's own reads, whole, byte by byte, every single cut, random cuts.
use super::case::Case;
use super::rng::Rng;

/// Bodies up to this size are tried with every single cut.
pub const EVERY_CUT_UP_TO: usize = 4096;
/// Random splits of every body.
pub const RANDOM_SPLITS: usize = 200;

/// Offsets where a read ends, ascending; the last read takes the rest.
pub type Cuts = Vec<usize>;

/// Each piece between the cuts; empty ones are left out, since a read of no bytes is no read.
pub fn pieces<'a>(body: &'a [u8], cuts: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain(std::iter::once(body.len()));
    starts.zip(ends).filter_map(|(start, end)| body.get(start..end)).filter(|piece| !piece.is_empty())
}

/// Every way in which a case is read; the first is the file's own.
pub fn of_case(case: &Case, seed: u64) -> Vec<Cuts> {
    if case.fixed_reads {
        return vec![case.reads.clone()];
    }
    let mut all = vec![case.reads.clone()];
    all.extend(of_body(case.job.body.len(), EVERY_CUT_UP_TO, &mut Rng::for_text(seed, &case.id)));
    all
}

/// Whole, byte by byte, every single cut of a body up to `every_up_to`, and random splits.
pub fn of_body(len: usize, every_up_to: usize, rng: &mut Rng) -> Vec<Cuts> {
    let mut all: Vec<Cuts> = vec![Vec::new(), (1..len).collect()];
    if len <= every_up_to {
        all.extend((1..len).map(|cut| vec![cut]));
    }
    all.extend((0..RANDOM_SPLITS).map(|_| random(len, rng)));
    all
}

/// Between one and about thirty cuts.
pub fn random(len: usize, rng: &mut Rng) -> Cuts {
    let count = 1 + rng.below(30.min(len.max(1)));
    let mut cuts: Cuts = (0..count).map(|_| rng.below(len)).collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}
