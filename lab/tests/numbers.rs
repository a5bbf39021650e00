//! The bounds of the numbers on the command line.

use std::any::TypeId;
use std::path::PathBuf;

use jarmo_exact::agent::AgentSpec;

use self::walk::try_every_number;

#[path = "../../tests/common/numbers.rs"]
mod walk;

#[test]
fn every_number_of_every_command_has_bounds_that_its_error_names() {
    let others = [TypeId::of::<String>(), TypeId::of::<PathBuf>(), TypeId::of::<AgentSpec>()];
    let mut command = lab::cli::command();
    command.build();
    assert!(try_every_number(&command, &others) > 20);
}
