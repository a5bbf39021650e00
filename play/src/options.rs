//! The options of the `play` program, and the front end that they select.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write, stdin, stdout};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, ValueEnum};

use crate::Games;
use crate::agents::Seat;
use crate::analysis::annotated;
use crate::exercise::Exercise;
use crate::files;
use crate::lang::Language;
use crate::levels::Level;
use crate::machine::{self, fresh_seed};
use crate::server::{self, Origin, ServerLimits, ServerOptions, StaticPage};
use crate::session::Session;
use crate::specs::Store;
use crate::tui::{self, App};
use crate::{plain, puzzles};
use jarmo_core::game::Player;
use jarmo_core::numbers::{MAX_PLIES, NumberRange, PORT, QUIET_LIMIT, SEED};
use jarmo_exact::catalog::GameSettings;
use jarmo_host::ascii::locale_has_unicode;
use jarmo_host::options::{Shell, print_completions, print_manual, shortened, with_negative_numbers};
use jarmo_host::program::{VERSION, version};
use jarmo_host::record::GameRecord;
use jarmo_session::page::Defaults;

/// Play a board game: in the terminal, as plain lines, or in a browser.
#[derive(Parser, Debug)]
#[command(name = "play", version = version(), max_term_width = 100, after_help = WHO)]
pub struct Options {
    /// The game
    #[arg(long, default_value = "jarmo", value_name = "NAME")]
    game: String,
    #[arg(long, value_name = "WHO", help = format!("Your opponent [default: {}]", Level::USUAL.name()))]
    opponent: Option<String>,
    /// The side you play [default: white]
    #[arg(long, value_name = "SIDE")]
    side: Option<Side>,
    /// The player of White; overrides --side and --opponent
    #[arg(long, value_name = "WHO")]
    white: Option<String>,
    /// The player of Black; overrides --side and --opponent
    #[arg(long, value_name = "WHO")]
    black: Option<String>,
    /// Play with lines of text; the default if input or output is not a terminal, or the locale is ASCII only
    #[arg(long, conflicts_with = "web")]
    plain: bool,
    /// Serve the game to a browser on this machine
    #[arg(long)]
    web: bool,
    /// The port for the browser; 0 for any free port
    #[arg(long, default_value_t = 8025, value_name = "PORT", requires = "web", value_parser = PORT.parser::<u16>())]
    port: u16,
    /// The address to serve the page on; everyone who can reach it can play and use this CPU [default: 127.0.0.1]
    #[arg(long, value_name = "ADDRESS", requires = "web")]
    host: Option<IpAddr>,
    /// How many games one address can have open, and how many games of two people are saved for it
    #[arg(long, default_value_t = 50, value_name = "GAMES", requires = "web",
          value_parser = PER_ADDRESS.parser::<u16>())]
    per_address: u16,
    /// The address of the page behind a reverse proxy, such as `https://play.example`; may be repeated
    #[arg(long, value_name = "URL", requires = "web")]
    origin: Vec<Origin>,
    /// The address of a reverse proxy, whose X-Forwarded-For or Forwarded header is trusted; may be repeated
    #[arg(long, value_name = "ADDRESS", requires = "web")]
    proxy: Vec<IpAddr>,
    /// The folder that tools/build_page has made, so that an agent can learn in the browser [default: page, beside the
    /// program]
    #[arg(long, value_name = "FOLDER", requires = "web")]
    page: Option<PathBuf>,
    /// Start from this position, as text from `jarmo rules show` or the page (docs/games has the formats)
    #[arg(long, value_name = "TEXT", conflicts_with = "load")]
    position: Option<String>,
    /// Load the last game of a record file
    #[arg(long, value_name = "FILE", conflicts_with = "analyse")]
    load: Option<PathBuf>,
    /// Analyse the last game of a record file, or a new game: the agent evaluates every position
    #[arg(long, value_name = "RECORD", num_args = 0..=1, visible_alias = "analyze")]
    analyse: Option<Option<PathBuf>>,
    /// Learn the game step by step
    #[arg(long, conflicts_with_all = ["web", "load", "analyse", "puzzles"])]
    learn: bool,
    /// Solve puzzles of jarmo, tammi or connect_four; your rating is kept in $XDG_DATA_HOME/jarmo or ~/.local/share/jarmo
    #[arg(long, conflicts_with_all = ["web", "load", "analyse"])]
    puzzles: bool,
    /// With --analyse: append the annotated record to this file and exit
    #[arg(long, value_name = "FILE", requires = "analyse", conflicts_with = "web")]
    export: Option<PathBuf>,
    /// The language: en, de, it, fi, eo [default: from the environment]
    #[arg(long, value_name = "CODE", value_parser = language)]
    lang: Option<Language>,
    /// Exact tables from `jarmo tables build`: their results are shown, and the best level and the analysis use
    /// them
    #[arg(long, value_name = "FOLDER")]
    tables: Option<PathBuf>,
    /// A board file that replaces the standard lines (jarmo and guard), or random:SEED
    #[arg(long, value_name = "FILE")]
    board: Option<PathBuf>,
    /// Plies after which a game is drawn, 0 for no limit [default: the game's own]
    #[arg(long, value_name = "PLIES", value_parser = MAX_PLIES.parser::<u32>())]
    max_plies: Option<u32>,
    /// Plies without a capture after which tammi is drawn [default: 30]
    #[arg(long, value_name = "PLIES", value_parser = QUIET_LIMIT.parser::<u32>())]
    quiet_limit: Option<u32>,
    /// The seed of random numbers for the agents [default: another one each time]
    #[arg(long, value_name = "NUMBER", value_parser = SEED.parser::<u64>())]
    seed: Option<u64>,
    /// Print a script that completes options in a shell, and exit
    #[arg(long, value_name = "SHELL", exclusive = true)]
    completions: Option<Shell>,
    /// Print the manual page, and exit
    #[arg(long, exclusive = true)]
    man: bool,
    #[arg(skip)]
    games: Games,
}

const PER_ADDRESS: NumberRange<u64> = NumberRange::new(1, 500);

const WHO: &str = "\
WHO is `human`, a level (newcomer, beginner, easy, casual, medium, hard, expert, best), or an agent's spec: \
random, greedy, uniform:SIMULATIONS, rollout:SIMULATIONS, alphabeta:NODES, trained, FILE.safetensors, or the folder \
of a run for its newest checkpoint.

All levels except newcomer use a trained agent: GAME.safetensors in ./checkpoints or in checkpoints beside the \
program, or else the one that is part of the program. If $JARMO_CHECKPOINTS is set, only that folder is searched.";

/// The side of the person at the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Side {
    /// Moves first
    White,
    /// Moves second
    Black,
}

/// A failure of the program: a message and the exit status.
#[derive(Debug)]
pub struct Failure {
    /// What is wrong, and the remedy.
    pub message: String,
    /// 2 for an invalid option, 1 for anything else.
    pub status: u8,
}

impl Failure {
    fn usage(message: impl ToString) -> Failure {
        Failure { message: message.to_string(), status: 2 }
    }

    fn new(message: impl ToString) -> Failure {
        Failure { message: message.to_string(), status: 1 }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::new(error)
    }
}

/// The command line for these games, of which the first one is the default.
pub fn command(games: &Games) -> clap::Command {
    let names = games.names();
    with_negative_numbers(Options::command()).mut_arg("game", |arg| {
        let arg = arg.help(format!("The game: {}", names.join(", ")));
        arg.default_value(names[0])
    })
}

fn language(text: &str) -> Result<Language, String> {
    let codes = Language::ALL.map(Language::code);
    Language::parse(text).ok_or_else(|| format!("use one of {}", codes.join(", ")))
}

/// Waits for Ctrl-C, or on Unix for SIGTERM. Both are listened to from now on, since the first process of a
/// container has no other way to end.
#[cfg(unix)]
fn asked_to_stop() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn asked_to_stop() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        // If the signal cannot be awaited, it ends the program by itself.
        let _ = tokio::signal::ctrl_c().await;
    })
}

impl Options {
    /// Parses these arguments, of which the first is the name of the program.
    ///
    /// # Panics
    /// Panics without a game.
    pub fn of(games: Games, arguments: impl IntoIterator<Item = OsString>) -> Result<Options, clap::Error> {
        let matches = command(&games).try_get_matches_from(arguments).map_err(shortened)?;
        Options::parsed(games, &matches)
    }

    /// The options as [`command`] has parsed them.
    pub fn parsed(games: Games, matches: &ArgMatches) -> Result<Options, clap::Error> {
        let options = Options::from_arg_matches(matches).map_err(shortened)?;
        Ok(Options { games, ..options })
    }

    /// Runs the selected front end until the player leaves.
    pub fn run(&self) -> Result<(), Failure> {
        if self.man || self.completions.is_some() {
            return self.describe();
        }
        let language = self.lang.unwrap_or_else(machine::language);
        if self.web {
            return self.serve(language);
        }
        let terminal = stdin().is_terminal() && stdout().is_terminal();
        let by_lines = self.export.is_some() || self.is_plain(terminal, locale_has_unicode());
        let mut session = self.session(!by_lines)?;
        let exported = |problem, path: &Path| Failure::new(format!("--export: {}: {problem}", path.display()));
        if let Some(path) = &self.export {
            files::check_appending(path).map_err(|problem| exported(problem, path))?; // before the work
        }
        if self.analyse.is_some() {
            session.set_analysing(true);
        }
        session.evaluating = !by_lines; // lines show no bar
        let exercise = self.exercise(&mut session, language)?;
        if !by_lines {
            let mut app = App::new(session, language, self.seed());
            if let Some(exercise) = exercise {
                app.train(exercise);
            }
            return Ok(tui::run(&mut app)?);
        }
        plain::run(&mut session, language.texts(), exercise, self.analyse.is_some())?;
        let Some(path) = &self.export else { return Ok(()) };
        files::append_line(path, &annotated(&session)).map_err(|problem| exported(problem, path))
    }

    /// Prints what a shell or the manual needs to know about the program. A closed pipe is no error.
    fn describe(&self) -> Result<(), Failure> {
        let command = command(&self.games);
        let printed = match self.completions {
            Some(shell) => print_completions(command, shell, "play"),
            None => print_manual(command, format!("play {VERSION}")),
        };
        match printed {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            printed => Ok(printed?),
        }
    }

    /// Whether the game is played by lines of text: on request, without a terminal, or if the locale cannot show the
    /// braille dots of the screen.
    pub fn is_plain(&self, terminal: bool, unicode: bool) -> bool {
        self.plain || !terminal || !unicode
    }

    /// What is on the board first, if it is not the game.
    fn exercise(&self, session: &mut Session, language: Language) -> Result<Option<Exercise>, Failure> {
        let exercise = match (self.learn, self.puzzles) {
            (true, _) => Exercise::lesson(session),
            (_, true) if puzzles::of(&self.game).is_empty() => Err("no_puzzles"),
            (_, true) => Exercise::puzzles(session),
            _ => return Ok(None),
        };
        exercise.map(Some).map_err(|key| Failure::usage(language.texts().get(key)))
    }

    fn serve(&self, language: Language) -> Result<(), Failure> {
        // Reports invalid options here rather than in the browser, and keeps the tables open between sessions.
        let first = self.session(false)?;
        let options = ServerOptions {
            defaults: Defaults {
                language,
                game: self.game.clone(),
                seats: first.seats().iter().map(ToString::to_string).collect(),
                settings: self.settings(),
                store: self.store(false),
                record: self.record()?.map(|record| record.to_line()),
                analyse: self.analyse.is_some(),
            },
            bounds: ServerLimits { per_address: self.per_address.into(), ..ServerLimits::default() },
            folder: files::data_folder().map(|folder| folder.join("duels")),
            origins: self.origin.clone(),
            proxies: self.proxy.clone(),
            page: self.static_page()?,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let stop = asked_to_stop()?;
            let host = self.host.unwrap_or(IpAddr::from([127, 0, 0, 1]));
            let listener = server::bind(SocketAddr::new(host, self.port)).await?;
            let address = listener.local_addr()?;
            let mut out = stdout();
            writeln!(out, "http://{address}/")?;
            if !address.ip().is_loopback() {
                writeln!(
                    out,
                    "Everyone who can reach this address can play here without a password and use this machine's \
                     CPU. Press Ctrl-C to stop."
                )?;
            }
            out.flush()?;
            server::run(listener, options, stop).await
        })?;
        Ok(())
    }

    fn static_page(&self) -> Result<Option<Arc<StaticPage>>, Failure> {
        let Some(folder) = self.page.clone().or_else(machine::static_page) else { return Ok(None) };
        let page = StaticPage::read(&folder);
        let page = page.map_err(|error| Failure::new(format!("--page: {}: {error}", folder.display())))?;
        Ok(Some(Arc::new(page)))
    }

    fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(fresh_seed)
    }

    fn seats(&self) -> Result<[String; 2], Failure> {
        let person = "human".to_owned();
        let opponent = self.opponent.as_deref().unwrap_or(Level::USUAL.name());
        let [white, black] = match self.side {
            _ if self.analyse.is_some() => [person.clone(), person],
            None | Some(Side::White) => [person, opponent.to_owned()],
            Some(Side::Black) => [opponent.to_owned(), person],
        };
        let player = |given: &Option<String>, usual: String| files::player(given.as_ref().unwrap_or(&usual));
        Ok([player(&self.white, white).map_err(Failure::usage)?, player(&self.black, black).map_err(Failure::usage)?])
    }

    fn settings(&self) -> GameSettings {
        GameSettings { board: self.board.clone(), max_plies: self.max_plies, quiet_limit: self.quiet_limit }
    }

    fn store(&self, needs_layout: bool) -> Store {
        Store { games: self.games.clone(), needs_layout, tables: self.tables.clone(), ..machine::installed() }
    }

    fn session(&self, needs_layout: bool) -> Result<Session, Failure> {
        let [white, black] = self.seats()?;
        let (store, seats) = (self.store(needs_layout), [&*white, &*black]);
        let session = Session::new(store, &self.game, self.settings(), None, seats, self.seed());
        let mut session = session.map_err(Failure::usage)?;
        if let Some(folder) = &self.tables
            && session.board().agents().tables.is_none()
        {
            let (folder, game) = (folder.display(), session.board().game());
            return Err(Failure::usage(format!("--tables: {folder} has no tables of {game}")));
        }
        if let Some(record) = self.record()? {
            session.load(&record).map_err(|error| match self.record_path() {
                Some(path) => Failure::new(format!("{}: {error}", path.display())),
                None => Failure::usage(format!("--position: {error}")),
            })?;
        }
        // The players of a loaded game come back with it, if it names them and no others are given.
        let given = [&self.opponent, &self.white, &self.black];
        let named = session.seats().iter().any(|seat| *seat != Seat::Human);
        let by_record = self.record_path().is_some() && named && self.analyse.is_none();
        if by_record && self.side.is_none() && given.iter().all(|who| who.is_none()) {
            return Ok(session);
        }
        for (player, seat) in Player::BOTH.into_iter().zip([&white, &black]) {
            session.set_seat(player, seat).map_err(Failure::usage)?;
        }
        Ok(session)
    }

    /// The game to begin with: that of a file, or one without moves from a position.
    fn record(&self) -> Result<Option<GameRecord>, Failure> {
        match (&self.position, self.record_path()) {
            (Some(_), Some(_)) => {
                Err(Failure::usage("--position: a record has a position of its own; give one of the two"))
            }
            (Some(position), None) => {
                let (game, position) = (self.game.clone(), Some(position.trim().to_owned()));
                Ok(Some(GameRecord { game, position, ..GameRecord::default() }))
            }
            (None, Some(path)) => {
                let problem = |error| Failure::new(format!("{}: {error}", path.display()));
                files::last_record(path).map(Some).map_err(problem)
            }
            (None, None) => Ok(None),
        }
    }

    fn record_path(&self) -> Option<&Path> {
        let analysed = self.analyse.as_ref().and_then(|path| path.as_deref());
        self.load.as_deref().or(analysed)
    }
}
