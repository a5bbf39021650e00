//! The options of the program.

use std::any::TypeId;
use std::net::IpAddr;
use std::path::PathBuf;

use clap::CommandFactory;
use play::lang::Language;
use play::options::Options;

#[path = "../../../tests/common/numbers.rs"]
mod numbers;

#[test]
fn every_number_has_bounds_that_its_error_names() {
    let others = [
        TypeId::of::<String>(),
        TypeId::of::<PathBuf>(),
        TypeId::of::<IpAddr>(),
        TypeId::of::<Language>(),
        TypeId::of::<Option<PathBuf>>(),
    ];
    let mut command = Options::command();
    command.build();
    assert_eq!(numbers::try_every_number(&command, &others), 5);
}
