//! The test of all numbers on the command line.

use std::any::TypeId;
use std::path::PathBuf;

use clap::CommandFactory;

use self::walk::try_every_number;
use super::Cli;
use jarmo_core::net::KernelKind;
use jarmo_exact::agent::AgentSpec;
use jarmo_judge::arena::{Anchor, Sprt};

#[path = "../../tests/common/numbers.rs"]
mod walk;

#[test]
fn every_number_of_every_command_has_bounds_that_its_error_names() {
    let mut others = vec![
        TypeId::of::<String>(),
        TypeId::of::<PathBuf>(),
        TypeId::of::<AgentSpec>(),
        TypeId::of::<Anchor>(),
        TypeId::of::<Sprt>(),
        TypeId::of::<KernelKind>(),
    ];
    #[cfg(feature = "train")]
    others.push(TypeId::of::<jarmo_learn::train::DeviceKind>());
    let mut command = Cli::command();
    command.build();
    assert!(try_every_number(&command, &others) > 35);
}
