//! Playing in the browser.

mod http;

mod browser;
mod web;
