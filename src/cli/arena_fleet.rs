//! The machines of `jarmo arena --fleet`.

use super::Failure;
use super::fleet::AccessArgs;
use jarmo_fleet::Link;

#[derive(clap::Args)]
pub(super) struct FleetArgs {
    /// Let the workers of the server at this address play all games (see `jarmo fleet up`)
    #[arg(long, value_name = "URL", conflicts_with_all = ["movetime", "threads"])]
    fleet: Option<String>,
    #[command(flatten)]
    access: AccessArgs,
}

impl FleetArgs {
    /// The server of the other machines, if there are any.
    pub(super) fn connect(&self) -> Result<Option<Link>, Failure> {
        self.access.connect(self.fleet.as_deref(), "arena")
    }
}
