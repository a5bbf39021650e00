//! A target under libFuzzer, which keeps inputs that reach new code. `tools/fuzz` builds and runs it. The environment
//! variable FUZZ_TARGET names the target; with FUZZ_SEEDS its corpus is only written into that folder. The arguments
//! are those of libFuzzer.
#![no_main]

use std::cell::RefCell;
use std::path::Path;
use std::{env, fs, process};

use fuzz::{TARGETS, Target, Tools, corpus};
use libfuzzer_sys::fuzz_target;

thread_local! {
    static TOOLS: RefCell<(&'static Target, Tools)> = RefCell::new((target(), Tools::new()));
}

fn target() -> &'static Target {
    let name = env::var("FUZZ_TARGET").unwrap_or_default();
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    let place = names.iter().position(|known| *known == name);
    &TARGETS[place.unwrap_or_else(|| panic!("FUZZ_TARGET must be one of {}", names.join(", ")))]
}

fn write_seeds() {
    let Some(folder) = env::var_os("FUZZ_SEEDS") else {
        return;
    };
    for (number, input) in corpus(target()).iter().enumerate() {
        fs::write(Path::new(&folder).join(number.to_string()), input).expect("a folder with room");
    }
    process::exit(0);
}

fuzz_target!(
    init: write_seeds(),
    |bytes: &[u8]| TOOLS.with_borrow_mut(|(target, tools)| (target.run)(tools, bytes))
);
