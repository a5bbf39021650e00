//! Finds out what the tests of the web page need, so that those that cannot run are listed as ignored.

use std::env;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(browser, axe, page, proxies)");
    for variable in ["PATH", "JARMO_AXE", "JARMO_BROWSER", "JARMO_PAGE", "JARMO_PROXIES"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let has = |program: &str| {
        let file = format!("{program}{}", env::consts::EXE_SUFFIX);
        // nginx is where the search path of users does not lead.
        env::split_paths(&path).chain(["/usr/sbin".into()]).any(|folder| folder.join(&file).is_file())
    };
    if has("chromedriver") {
        println!("cargo::rustc-cfg=browser");
    }
    if has("nginx") && has("caddy") {
        println!("cargo::rustc-cfg=proxies");
    }
    if env::var_os("JARMO_AXE").is_some() {
        println!("cargo::rustc-cfg=axe");
    }
    if env::var_os("JARMO_PAGE").is_some() {
        println!("cargo::rustc-cfg=page");
    }
}
