//! The convolution learns, a stopped run goes on bit for bit, and its agents play.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use jarmo::agent::{Agent, AgentSpec, build};
use jarmo::agent_file;
use jarmo::arena::{Entrant, Openings, Report, Settings, Tournament};
use jarmo::config::{Base, Config};
use jarmo::erase;
use jarmo::games::ConnectFour;
use jarmo::net::{AgentFile, NetKind, NetShape, Weights};
use jarmo::observe::Event;
use jarmo::run::{RunFolder, check, newest_agent, run};
use jarmo::train::OpenDevice;

/// The settings of the program, on one thread, for this many steps.
fn config(steps: u64) -> Config {
    let base = Base { games: custom_network::games().list(), game: Some("connect_four".to_owned()), net: None };
    let settings = [
        "run.threads=1",
        "run.batch=128",
        "run.first_samples=4096",
        "run.checkpoint=50",
        "selfplay.games=64",
        "selfplay.simulations=8",
        "learner.warm_up=10",
        "evaluation.every=0",
        "evaluation.exam=none",
        &format!("run.steps={steps}"),
    ];
    Config::layered(&base, &[], &settings.map(str::to_owned)).unwrap()
}

/// Runs to the limit, or stops after the first checkpoint.
fn train(folder: &RunFolder, config: &Config, stops: bool) -> AgentFile {
    let (game, stop) = (erase(ConnectFour::new(0)), AtomicBool::new(false));
    run(game.as_ref(), config, folder, &OpenDevice::cpu(), None, &stop, |event| {
        if let Event::Checkpoint(..) = event {
            stop.store(stops, Ordering::Relaxed);
        }
    })
    .unwrap();
    agent_file::load(&newest_agent(folder.path()).unwrap()).unwrap()
}

/// The score of an agent against random play.
fn score(agent: &Path) -> f64 {
    let game = ConnectFour::new(0);
    let specs = [format!("{}?sims=16", agent.display()), "random".to_owned()];
    let agents: Vec<Box<dyn Agent<ConnectFour>>> =
        specs.iter().map(|spec| build(game.clone(), &spec.parse::<AgentSpec>().unwrap()).unwrap()).collect();
    let entrants = specs.map(|name| Entrant { name, checkpoint: None });
    let settings = Settings { pairs: 20, ..Settings::default() };
    let openings = Openings::random(&game, 2, 20, 1).unwrap();
    let mut tournament = Tournament::new(&game, entrants.into(), &openings, settings).unwrap();
    let stop = AtomicBool::new(false);
    tournament.play(vec![agents], &stop, &mut ()).unwrap();
    Report::new(tournament.standings()).matches[0].scores.score
}

#[test]
fn it_learns_and_goes_on_bit_for_bit() {
    let (home, config) = (tempfile::tempdir().unwrap(), config(300));
    let whole = RunFolder::create(&home.path().join("whole"), &config, None).unwrap();
    let expected = train(&whole, &config, false);
    assert_eq!(expected.header().net.to_string(), "conv16");
    let parts = home.path().join("parts");
    let first = RunFolder::create(&parts, &config, None).unwrap();
    let early = train(&first, &config, true);
    assert!(early.header().provenance.step < 300);
    drop(first);
    let (second, config) = RunFolder::open(&parts).unwrap();
    let resumed = train(&second, &config, false);
    assert!(resumed.weights() == expected.weights(), "a resumed run learns something else");

    let score = score(&newest_agent(whole.path()).unwrap());
    assert!(score >= 0.8, "{score} against random play");
}

#[test]
fn a_program_without_the_network_says_which_one_it_needs() {
    let config = config(0);
    let shape = NetShape::of(&ConnectFour::new(0));
    let unknown = Weights::new(NetKind::custom("conv99"), shape, Default::default()).unwrap_err();
    let expected = "the custom network `conv99` is missing: this program knows only conv16; \
                    use the program that registers it";
    assert_eq!(unknown.to_string(), expected);

    let other = config.with(&["net.kind=conv99".to_owned()]).unwrap();
    let problem = check(erase(ConnectFour::new(0)).as_ref(), &other).unwrap_err();
    assert_eq!(problem.to_string(), expected);
}
