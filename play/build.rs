//! Finds out what the tests of the web page need, so that those that cannot run are listed as ignored.

use std::env;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(browser, axe, page)");
    for variable in ["PATH", "JARMO_AXE", "JARMO_BROWSER", "JARMO_PAGE"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let driver = format!("chromedriver{}", env::consts::EXE_SUFFIX);
    if env::split_paths(&path).any(|folder| folder.join(&driver).is_file()) {
        println!("cargo::rustc-cfg=browser");
    }
    if env::var_os("JARMO_AXE").is_some() {
        println!("cargo::rustc-cfg=axe");
    }
    if env::var_os("JARMO_PAGE").is_some() {
        println!("cargo::rustc-cfg=page");
    }
}
