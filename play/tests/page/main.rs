//! Playing in the browser.
//!
//! Without chromedriver, the tests with a browser are listed as ignored, and those with reverse proxies without nginx and
//! caddy; `build.rs` looks for them.

mod chromium;
mod clocks;
mod crowd;
mod http;

mod access;
mod admission;
mod browser;
mod deepening;
mod fits;
mod friends;
mod kept;
mod learn;
mod messages;
mod notices;
mod openings;
mod own;
mod program;
mod proxies;
mod saved;
mod share;
mod study;
mod tab;
mod variations;
mod watch;
mod web;

#[test]
fn nothing_is_ignored_where_a_browser_is_asked_for() {
    let wanted = std::env::var_os("JARMO_BROWSER").is_some();
    assert!(!wanted || cfg!(browser), "install chromium and chromium-driver");
    assert!(!wanted || cfg!(axe), "set JARMO_AXE to axe.min.js of axe-core");
    assert!(!wanted || cfg!(page), "set JARMO_PAGE to the folder that tools/build_page makes");
}

#[test]
fn nothing_is_ignored_where_proxies_are_asked_for() {
    let wanted = std::env::var_os("JARMO_PROXIES").is_some();
    assert!(!wanted || cfg!(proxies), "install nginx and caddy");
}
