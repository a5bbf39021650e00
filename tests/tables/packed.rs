//! Packed tables: equal to the tables they are made from, damaged, and enough to win.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use jarmo::agent::{Agent, EndgameAgent, Limit, RandomAgent, Request};
use jarmo::game::{Game, Mask, Proven, Verdict};
use jarmo::games::{Jarmo, JarmoPosition, Tammi};
use jarmo::random::{Stream, below, stream};
use jarmo::tables::{BuildSettings, Endgames, Layer, Solvable, TableProgress, Tables};
use jarmo::tables::{build, pack, random_position, verify};
use rand::Rng;

/// Tables up to a force, and the same packed, in two folders; whole tables up to `distances`.
struct Both<G: Solvable = Jarmo> {
    folder: tempfile::TempDir,
    exact: Tables<G>,
    packed: Tables<G>,
}

impl Both {
    fn new(force: u32, distances: u32) -> Both {
        Both::of(Jarmo::standard(), force, distances)
    }
}

impl<G: Solvable> Both<G> {
    fn of(game: G, force: u32, distances: u32) -> Both<G> {
        let folder = tempfile::tempdir().unwrap();
        let settings = BuildSettings { force, save_every: Duration::from_secs(1000) };
        build(&game, &folder.path().join("exact"), settings, &mut |_| {}).unwrap();
        let both = |which: &str| folder.path().join(which);
        pack(&game, &both("exact"), &both("packed"), distances, &mut |_| {}).unwrap();
        let open = |which: &str| Tables::open(&game, &both(which)).unwrap();
        Both { exact: open("exact"), packed: open("packed"), folder }
    }
}

impl Both {
    fn file(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join("packed").join(name)
    }

    fn pack_again(&self) -> Vec<String> {
        let game = Jarmo::standard();
        let mut told = Vec::new();
        let (from, to) = (self.folder.path().join("exact"), self.folder.path().join("packed"));
        pack(&game, &from, &to, 0, &mut |progress| match progress {
            TableProgress::Kept(force) => told.push(format!("kept {force}")),
            TableProgress::Done(force, what) if what.starts_with("copied") => {
                told.push(format!("copied {force}"));
            }
            TableProgress::Done(force, _) => told.push(format!("packed {force}")),
            _ => {}
        })
        .unwrap();
        told
    }
}

#[test]
fn packed_results_are_those_of_the_tables() {
    let both = Both::new(5, 0);
    let mut compared = 0;
    for layer in both.exact.layers() {
        assert!(both.packed.bytes(layer.force).is_none(), "packed");
        // All positions, and some of the largest layer.
        let step = if layer.force < 5 { 1 } else { 37 };
        for index in (0..layer.size).step_by(step) {
            let position = layer.placement(index).position();
            let exact = both.exact.proven(&position).unwrap();
            let packed = both.packed.proven(&position).unwrap();
            assert_eq!(packed.verdict, exact.verdict, "force {} {index}", layer.force);
            assert_eq!(packed.is_over(), exact.is_over());
            assert_eq!(packed.plies, exact.plies.filter(|&plies| plies == 0));
            compared += 1;
        }
    }
    assert!(compared > 590_000, "{compared}");
    assert_eq!(both.packed.stats(), both.exact.stats());
    let size = |name: &str| fs::metadata(both.folder.path().join(name)).unwrap().len();
    assert!(30 * size("packed/force-05.packed") < size("exact/force-05.table"));
    for check in verify(&Jarmo::standard(), &both.packed, 2000, 1) {
        assert!(check.mistakes.is_empty(), "{:?}", check.mistakes);
    }
}

#[test]
fn packed_tables_of_tammi_have_all_values() {
    let game = Tammi::standard();
    let both = Both::of(game.clone(), 3, 0);
    for layer in both.exact.layers() {
        assert!(both.packed.bytes(layer.force()).is_none(), "packed");
        for index in 0..layer.size() {
            let position = layer.position_at(index);
            assert_eq!(
                both.packed.proven(&position),
                both.exact.proven(&position),
                "{}",
                game.position_text(&position)
            );
        }
    }
    assert_eq!(both.packed.stats(), both.exact.stats());
    let size = |name: &str| fs::metadata(both.folder.path().join(name)).unwrap().len();
    assert!(8 * size("packed/tammi-03.packed") < size("exact/tammi-03.table"));
    for check in verify(&game, &both.packed, 1000, 1) {
        assert!(check.mistakes.is_empty() && check.games > 0, "{check:?}");
    }
    // In the middle of a capture, and with plies since the last one.
    let mut random = stream(5, 0);
    let (mut compared, mut captures) = (0, 0);
    for _ in 0..300 {
        let mut position = random_position(both.exact.layers().last().unwrap(), &mut random);
        while game.outcome(&position).is_none() {
            assert_eq!(both.packed.proven(&position), both.exact.proven(&position));
            compared += 1;
            captures += u32::from(position.jumper().is_some());
            let legal = game.legal(&position);
            let action = legal.nth(below(random.next_u64(), legal.count()));
            game.play(&mut position, action);
        }
    }
    assert!(compared > 2000 && captures > 0, "{compared}, {captures}");
}

#[test]
fn packed_results_have_plies_however_many_they_are() {
    let both = Both::of(Tammi::new(60, 0), 4, 0);
    let stats = both.packed.stats();
    assert_eq!(stats.last().unwrap().longest_win.unwrap().0, 60);
    assert_eq!(stats, both.exact.stats());
    for layer in both.exact.layers() {
        for index in (0..layer.size()).step_by(101) {
            let position = layer.position_at(index);
            assert_eq!(both.packed.proven(&position), both.exact.proven(&position), "force {}", layer.force());
        }
    }
}

#[test]
fn a_file_of_the_first_format_is_refused_and_packed_again() {
    let both = Both::new(3, 0);
    let file = both.file("force-03.packed");
    let sound = fs::read(&file).unwrap();
    let mut old = sound.clone();
    old[8..12].copy_from_slice(&1_u32.to_le_bytes());
    let header = xxhash_rust::xxh3::xxh3_64(&old[..152]);
    old[152..160].copy_from_slice(&header.to_le_bytes());
    fs::write(&file, old).unwrap();
    let error = Tables::open(&Jarmo::standard(), file.parent().unwrap()).unwrap_err().to_string();
    assert!(error.ends_with("force-03.packed: has format version 1, this build needs 2; pack it again"), "{error}");
    assert_eq!(both.pack_again(), ["kept 2", "packed 3"]);
    assert!(fs::read(&file).unwrap() == sound);
}

#[test]
fn tables_up_to_a_force_are_copied_whole() {
    let both = Both::new(4, 3);
    assert!(both.file("force-03.table").exists() && both.file("force-04.packed").exists());
    assert!(!both.file("force-03.packed").exists() && !both.file("force-04.table").exists());
    assert!(both.packed.bytes(3) == both.exact.bytes(3) && both.packed.bytes(4).is_none());
    let game = Jarmo::standard();
    let position = game.parse_position("5/2w2/5/2b2/5 w - - 0").unwrap();
    assert_eq!(both.packed.proven(&position), Some(Proven::win(1)));
}

#[test]
fn a_damaged_file_is_refused_by_name_and_packed_again() {
    let both = Both::new(4, 0);
    let file = both.file("force-04.packed");
    let sound = fs::read(&file).unwrap();
    let length = sound.len();
    // One bit anywhere: in every part of the header and the directory, and in every block.
    let places = (0..200).chain((200..length).step_by(23)).chain([length - 1]);
    let open = || Tables::open(&Jarmo::standard(), file.parent().unwrap());
    let mut refused = 0;
    for place in places {
        let mut bytes = sound.clone();
        bytes[place] ^= 1 << (place % 8);
        fs::write(&file, &bytes).unwrap();
        let error = open().unwrap_err().to_string();
        assert!(error.contains("force-04.packed") && error.contains("pack it again"), "{error}");
        refused += 1;
    }
    assert!(refused > 500, "{refused}");
    for cut in [0, 100, 159, 1000, length - 1] {
        fs::write(&file, &sound[..cut]).unwrap();
        assert!(open().is_err());
    }
    fs::write(&file, [&sound[..], &[0]].concat()).unwrap();
    assert!(open().is_err());
    assert_eq!(both.pack_again(), ["kept 2", "kept 3", "packed 4"]);
    assert!(fs::read(&file).unwrap() == sound, "the same bytes again");
    // Killed before the new file got its name.
    fs::write(file.with_extension("packed.tmp"), &sound[..1000]).unwrap();
    fs::remove_file(&file).unwrap();
    assert_eq!(both.pack_again(), ["kept 2", "kept 3", "packed 4"]);
    assert!(fs::read(&file).unwrap() == sound);
    fs::remove_file(both.file("force-03.packed")).unwrap();
    let error = open().unwrap_err().to_string();
    assert!(error.contains("force-03"), "{error}");
}

#[test]
fn near_the_limit_on_the_length_only_draws_are_known() {
    let both = Both::new(4, 0);
    let game = Jarmo::standard();
    let at = |text: &str, ply: u32| {
        let start = text.strip_suffix(" 0").unwrap();
        game.parse_position(&format!("{start} {ply}")).unwrap()
    };
    let won = "5/b4/4b/5/2w1w w - - 0"; // in 23 plies
    let known = |ply| Endgames::known(&both.packed, &game, &at(won, ply));
    let win = Proven { verdict: Verdict::Win, plies: None };
    assert_eq!(known(0), Some(win));
    assert_eq!(known(200 - 24), Some(win));
    assert_eq!(known(200 - 23), None, "an action later the limit is too close");
    for ply in [0, 200 - 24] {
        let position = at(won, ply);
        for action in game.legal(&position).iter() {
            let exact = both.exact.after(&game, &position, action);
            let packed = both.packed.after(&game, &position, action);
            assert_eq!(packed.verdict, exact.verdict);
        }
    }
}

#[test]
fn a_won_position_is_won_against_the_best_defence() {
    let both = Both::new(5, 0);
    let Played { games, plies, distance } = play_out(&both.exact, Arc::new(both.packed), 5, 150);
    assert_eq!(games, 150);
    assert!(plies >= distance, "nothing is quicker than the tables");
    assert!(plies < 2 * distance, "{plies} plies instead of {distance}");
}

/// Won games: their number, their plies, and what the distances promised.
struct Played {
    games: u32,
    plies: u32,
    distance: u32,
}

/// An agent with packed results plays random won positions against the tables' longest defence.
fn play_out(exact: &Tables, packed: Arc<Tables>, force: u32, games: u32) -> Played {
    let game = Jarmo::standard();
    let outside = RandomAgent::new(game.clone());
    let mut agent = EndgameAgent::new(game.clone(), packed, Box::new(outside));
    let layer = exact.layers().find(|layer| layer.force == force).unwrap();
    let mut positions = stream(3, 0);
    let mut played = Played { games: 0, plies: 0, distance: 0 };
    while played.games < games {
        let start = random_position(layer, &mut positions);
        let value = exact.proven(&start).unwrap();
        if value.verdict != Verdict::Win || value.is_over() {
            continue;
        }
        played.games += 1;
        played.distance += value.plies.unwrap();
        let mut random = stream(4, played.games.into());
        let mut position = start;
        while game.outcome(&position).is_none() {
            let action = if position.to_move() == start.to_move() {
                choose(&mut agent, position, &mut random)
            } else {
                exact.actions(&game, &position).unwrap()[0].action
            };
            game.play(&mut position, action);
            played.plies += 1;
        }
        let outcome = game.outcome(&position).unwrap();
        let text = game.position_text(&start);
        assert_eq!(outcome.winner, Some(start.to_move()), "{text}: {value}");
    }
    played
}

fn choose(agent: &mut EndgameAgent<Jarmo>, position: JarmoPosition, stream: &mut Stream) -> jarmo::game::Action {
    let mut requests = [Request { position, stream, limit: Limit::default(), memory: None }];
    agent.choose(&mut requests).remove(0).action
}
