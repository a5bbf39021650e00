//! Playing in the browser.

mod crowd;
mod http;

mod browser;
mod program;
mod web;
