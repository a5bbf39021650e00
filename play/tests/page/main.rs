//! Playing in the browser.

mod chromium;
mod crowd;
mod http;

mod access;
mod browser;
mod friends;
mod kept;
mod learn;
mod messages;
mod notices;
mod program;
mod share;
mod study;
mod web;
