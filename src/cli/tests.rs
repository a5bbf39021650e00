//! The test of all numbers on the command line.

use std::any::TypeId;
use std::path::PathBuf;

use clap::CommandFactory;

use self::walk::try_every_number;
use super::{Cli, missing_feature};
use jarmo_core::net::KernelKind;
use jarmo_exact::agent::AgentSpec;
use jarmo_judge::arena::{Anchor, Sprt};

#[path = "../../tests/common/numbers.rs"]
mod walk;

#[test]
fn a_command_of_a_missing_feature_is_named_with_it() {
    let small = || clap::Command::new("jarmo").subcommand(clap::Command::new("arena")).arg(clap::arg!(--seed <N>));
    let problem = |argument: &str, fleet: bool| {
        let error = small().try_get_matches_from(["jarmo", argument]).unwrap_err();
        missing_feature(&error, &[("train", true), ("fleet", fleet)])
    };
    let told = "needs the feature fleet, which this program was built without; build it with: cargo build --release \
                --features fleet";
    assert_eq!(problem("worker", false).unwrap(), format!("`worker` {told}"));
    assert_eq!(problem("--fleet", false).unwrap(), format!("`--fleet` {told}"));
    for (argument, fleet) in [("worker", true), ("train", false), ("fleets", false), ("--tables", false)] {
        assert_eq!(problem(argument, fleet), None, "{argument}");
    }
}

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
