//! Tables at work: in front of an evaluator, as an agent, and as the measure of other agents.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jarmo::accuracy::Exam;
use jarmo::agent::{Agent, AgentSpec, Limit, RandomAgent, Request, build};
use jarmo::eval::{Evaluation, Evaluator, Uniform, Value, WithEndgames};
use jarmo::game::{Game, Verdict};
use jarmo::games::{Guard, Jarmo, JarmoPosition};
use jarmo::random::stream;
use jarmo::tables::index::Layer;
use jarmo::tables::{
    BuildSettings, Endgames, Exact, HasEndgames, Tables, random_position, shuttle_effect,
};

fn tables(force: u32) -> Tables {
    Tables::solve(&Jarmo::standard(), force).unwrap()
}

fn build_in(folder: &Path, force: u32) {
    let settings = BuildSettings {
        force,
        save_every: Duration::from_secs(1000),
    };
    jarmo::tables::build(&Jarmo::standard(), folder, settings, &mut |_| {}).unwrap();
}

fn agent(text: &str) -> Box<dyn Agent<Jarmo>> {
    build(Jarmo::standard(), &text.parse::<AgentSpec>().unwrap()).unwrap()
}

fn choose(agent: &mut dyn Agent<Jarmo>, position: JarmoPosition) -> jarmo::agent::Choice {
    let mut stream = stream(1, 1);
    let mut requests = [Request {
        position,
        stream: &mut stream,
        limit: Limit::default(),
    }];
    agent.choose(&mut requests).remove(0)
}

#[test]
fn an_evaluator_behind_tables_is_asked_only_what_they_do_not_know() {
    let game = Jarmo::standard();
    let known = game.parse_position("5/2w2/5/2b2/5 w - - 0").unwrap();
    let mut evaluator = WithEndgames::new(game.clone(), Arc::new(tables(3)), Uniform);
    let positions = [game.start(), known, game.start()];
    let mut evaluations = [Evaluation::of(Value::EVEN); 3];
    evaluator.evaluate(&positions, &[1, 2, 3], &mut [], &mut evaluations);
    assert_eq!(evaluations[1].proven, Some((Verdict::Win, Some(1))));
    assert_eq!(evaluations[1].value.win, 1.0);
    assert_eq!(evaluations[0].proven, None);
    assert_eq!(evaluations[0], evaluations[2]);
    assert_eq!(evaluator.hits(), 1);
}

#[test]
fn a_result_beyond_the_limit_on_the_length_is_a_draw() {
    let tables = tables(4);
    let text = |ply: u32| format!("5/b4/4b/5/2w1w w - - {ply}");
    let game = Jarmo::standard();
    let known = |ply| {
        let position = game.parse_position(&text(ply)).unwrap();
        tables.known(&game, &position)
    };
    assert_eq!(known(0), Some((Verdict::Win, Some(23))));
    assert_eq!(known(200 - 23), Some((Verdict::Win, Some(23))));
    assert_eq!(known(200 - 22), Some((Verdict::Draw, None)));
    assert_eq!(tables.known(&game, &game.start()), None);
}

#[test]
fn the_agent_wins_every_won_position_in_the_plies_it_announces() {
    let folder = tempfile::tempdir().unwrap();
    build_in(folder.path(), 4);
    let game = Jarmo::standard();
    let tables = Tables::open(&game, folder.path()).unwrap();
    let mut perfect = agent(&format!("tables:{}?sims=8", folder.path().display()));
    let mut other = RandomAgent::new(game.clone());
    let layer = Layer::new(4);
    let mut draw = stream(5, 5);
    let mut won = 0;
    for _ in 0..200 {
        let start = random_position(&layer, &mut draw);
        let Some(Exact::Win(plies @ 1..)) = tables.exact(&start) else {
            continue;
        };
        let announced = choose(perfect.as_mut(), start).proven;
        assert_eq!(announced, Some((Verdict::Win, Some(plies))));
        let mut position = start;
        while game.outcome(&position).is_none() {
            let mover = position.to_move();
            let choice = if mover == start.to_move() {
                choose(perfect.as_mut(), position)
            } else {
                choose(&mut other, position)
            };
            game.play(&mut position, choice.action);
        }
        let outcome = game.outcome(&position).unwrap();
        assert_eq!(outcome.verdict(start.to_move()), Verdict::Win);
        assert!(game.ply(&position) <= plies);
        won += 1;
    }
    assert!(won > 50);
    // Where the tables end it searches.
    let choice = choose(perfect.as_mut(), game.start());
    assert_eq!((choice.nodes, choice.proven), (8, None));
}

#[test]
fn every_tree_agent_can_have_tables_behind_its_leaves() {
    let folder = tempfile::tempdir().unwrap();
    build_in(folder.path(), 4);
    let game = Jarmo::standard();
    // Every capture leads into the tables, force 5 itself lies outside.
    let position = game.parse_position("b4/2w2/1b3/1w3/2W2 w - - 0").unwrap();
    assert_eq!(position.force(), 6);
    let spec = format!("uniform:64?tables={}", folder.path().display());
    let choice = choose(agent(&spec).as_mut(), position);
    assert_eq!(choice.nodes, 64);
    let inside = game.parse_position("5/b4/4b/5/2w1w w - - 0").unwrap();
    let choice = choose(agent(&spec).as_mut(), inside);
    assert_eq!(choice.proven, Some((Verdict::Win, Some(23))));
}

#[test]
fn tables_that_are_not_there_or_of_another_game_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    let spec: AgentSpec = format!("tables:{path}").parse().unwrap();
    assert_eq!(spec.to_string(), format!("tables:{path}"));
    let message = build(Jarmo::standard(), &spec).err().unwrap().to_string();
    assert!(message.contains("force-02.table: is missing"), "{message}");
    let message = build(Guard::standard(), &spec).err().unwrap().to_string();
    assert!(
        message.contains("jarmo only") && message.contains("guard"),
        "{message}"
    );
    assert!("tables:".parse::<AgentSpec>().is_err());
    assert!("tables:x?tables=y".parse::<AgentSpec>().is_err());
}

#[test]
fn tables_are_opened_once_for_all_who_want_them() {
    let folder = tempfile::tempdir().unwrap();
    build_in(folder.path(), 3);
    let game = Jarmo::standard();
    let first = game.open_endgames(folder.path()).unwrap();
    let second = game.open_endgames(&folder.path().join(".")).unwrap();
    assert!(Arc::ptr_eq(&first, &second));
    drop((first, second));
    std::fs::remove_file(folder.path().join("force-03.table")).unwrap();
    std::fs::remove_file(folder.path().join("force-02.table")).unwrap();
    assert!(
        game.open_endgames(folder.path()).is_err(),
        "nobody held them"
    );
}

#[test]
fn perfect_play_scores_full_marks_and_random_play_does_not() {
    let folder = tempfile::tempdir().unwrap();
    build_in(folder.path(), 5);
    let game = Jarmo::standard();
    let tables = Tables::open(&game, folder.path()).unwrap();
    let exam = Exam::random(&game, &tables, 300, 3);
    assert_eq!(exam.len(), 300);

    let mut perfect = agent(&format!("tables:{}", folder.path().display()));
    let best = exam.take(perfect.as_mut(), None, 1);
    assert_eq!((best.all.decisions, best.all.share()), (300, 1.0));
    assert!(best.blunders.is_empty());

    let mut random = RandomAgent::new(game.clone());
    let poor = exam.take(&mut random, None, 1);
    assert!(poor.all.share() < 0.95 && poor.all.critical_share() < 0.8);
    assert_eq!(poor.all.critical, best.all.critical);
    assert_eq!(
        poor.blunders.len() as u64,
        poor.all.decisions - poor.all.right
    );
    let groups: u64 = poor.groups.iter().map(|group| group.tally.decisions).sum();
    assert_eq!(groups, 300);
    for blunder in &poor.blunders {
        assert!(blunder.got.verdict() < blunder.missed.verdict());
    }
    let lost = |at: usize| {
        let blunder = &poor.blunders[at];
        blunder.missed.verdict().sign() - blunder.got.verdict().sign()
    };
    assert!(
        lost(0) >= lost(poor.blunders.len() - 1),
        "the worst come first"
    );

    let played = Exam::self_play(&game, &tables, &mut random, None, 50, 9);
    assert!(!played.is_empty() && played.len() <= 50);
}

#[test]
fn the_shuttle_rule_changes_no_placement_of_two_archers() {
    let effects = shuttle_effect(&Jarmo::standard(), 2).unwrap();
    let effect = &effects[0];
    let fresh = effect.fresh();
    assert_eq!(fresh.positions, 770);
    assert_eq!((fresh.other_result(), fresh.other_distance), (0, 0));
    // With a shuttle used up the one way to win, or to escape, can be closed.
    let all = effect.all();
    assert_eq!((all.positions, all.other_result()), (113_234, 2_498));
    let used_up = effect.streaks.last().unwrap();
    assert!(used_up.other_result() > 0);
    let game = Jarmo::standard().with_max_plies(0);
    let example = used_up.example.unwrap();
    let with_rule = best_by_search(&game, &example, 12);
    let without = tables(2).exact(&example).unwrap().verdict();
    assert_ne!(with_rule, without, "{}", game.position_text(&example));
}

/// The result with all rules, as far as it comes within some plies.
fn best_by_search(game: &Jarmo, position: &JarmoPosition, plies: u32) -> Verdict {
    use jarmo::game::Mask;
    if let Some(outcome) = game.outcome(position) {
        return outcome.verdict(position.to_move());
    }
    if plies == 0 {
        return Verdict::Draw;
    }
    let mut best = Verdict::Loss;
    for action in game.legal(position).iter() {
        let mut next = *position;
        game.play(&mut next, action);
        best = best.max(best_by_search(game, &next, plies - 1).flip());
        if best == Verdict::Win {
            break;
        }
    }
    best
}
