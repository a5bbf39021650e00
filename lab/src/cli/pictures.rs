//! `lab pictures`

use std::io::{Write, stdout};
use std::path::PathBuf;

use super::CommandResult;
use crate::pictures::Album;
use jarmo_facade::Games;
use jarmo_host::files::write_whole;

/// Draw the pictures of a list, such as docs/games/pictures.toml, as SVG files beside it
#[derive(clap::Args)]
pub(super) struct Args {
    /// The list
    #[arg(value_name = "FILE")]
    list: PathBuf,
}

pub(super) fn run(args: &Args) -> CommandResult {
    for picture in Album::load(&args.list)?.picture {
        let path = args.list.with_file_name(&picture.file);
        let drawn = picture.draw(&Games::shipped())?;
        write_whole(&path, drawn.as_bytes()).map_err(|error| format!("{}: {error}", path.display()))?;
        writeln!(stdout(), "{}", path.display())?;
    }
    Ok(())
}
