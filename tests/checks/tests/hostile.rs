//! Hostile streams and bodies (B2): each ends in its one code, and no decode holds more than its limits say. Times are in
//! `cargo xtask acceptance B2`.
//! In this package, because the core's own forbids `unsafe` even to its tests, and a counting allocator cannot do without.
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use serde_json::Value;
use turnkeep_checks::support::hostile::generators::IDS;
use turnkeep_checks::support::hostile::{GENERATORS, Generator, run};

/// What this thread holds of what it took while counting.
#[derive(Clone, Copy)]
struct Heap {
    counting: bool,
    live: i64,
    peak: i64,
}

thread_local! {
    static HEAP: Cell<Heap> = const { Cell::new(Heap { counting: false, live: 0, peak: 0 }) };
}

struct Counting;

fn count(more: usize, less: usize) {
    let size = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
    // A thread that ends may free after its counter is gone.
    let _ = HEAP.try_with(|heap| {
        let mut now = heap.get();
        if now.counting {
            now.live += size(more) - size(less);
            now.peak = now.peak.max(now.live);
            heap.set(now);
        }
    });
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, layout.size());
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs the core's own work with the counter on, so that what the test itself holds is not counted.
fn counted<T>(work: &mut dyn FnMut() -> T) -> T {
    let on = |counting| HEAP.set(Heap { counting, ..HEAP.get() });
    on(true);
    let result = work();
    on(false);
    result
}

/// Each ends in its code within its limits.
fn check(generators: &[Generator]) {
    let (mut checks, mut wrong, mut closest) = (0, Vec::new(), (0, String::new()));
    for row in generators.iter().flat_map(|one| (one.rows)(one.n)) {
        HEAP.set(Heap { counting: false, live: 0, peak: 0 });
        let seen = run(&row, &mut |work| counted(work)).unwrap();
        wrong.extend(seen.wrong);
        let (peak, bound) = (HEAP.get().peak, i64::try_from(row.bound(&row.config().unwrap().limits)).unwrap());
        if peak <= 0 || peak > bound {
            wrong.push(format!("{}: holds {peak} bytes, {bound} are allowed", row.label()));
        }
        closest = closest.max((peak * 100 / bound, row.label()));
        checks += seen.checks + 1;
    }
    println!("hostile {checks} checks, {} wrong; the closest to its bound: {} % {}", wrong.len(), closest.0, closest.1);
    assert!(checks > 0 && wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_generators_of_the_vector_file() {
    check(&GENERATORS[..IDS]);
}

#[test]
fn our_own_generators() {
    check(&GENERATORS[IDS..]);
}

#[test]
fn every_id_of_the_vector_file_has_a_generator() {
    let file: Vec<Value> = serde_json::from_str(include_str!("../../vectors/own/hostile-streams.json")).unwrap();
    let ids: Vec<&str> = file.iter().map(|entry| entry["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), IDS);
    for id in &ids {
        let rows = GENERATORS.iter().filter(|one| one.id == *id).flat_map(|one| (one.rows)(one.n));
        assert!(rows.filter(|row| row.id == *id).count() > 0, "{id} has no generator");
    }
    println!("{} ids", ids.len());
}
