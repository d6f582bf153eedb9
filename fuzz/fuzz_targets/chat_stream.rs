#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| turnkeep_checks::fuzz::run("chat_stream", data));
