//! Trees: values backed up where the mover repeats, certain results, bounds of memory, batches.

mod common;

use std::collections::HashMap;

use jarmo::eval::{Cache, Evaluation, Evaluator, Rollout, ScriptedEvaluator, Uniform, Value};
use jarmo::game::{Action, Game, Mask, Player, Verdict};
use jarmo::games::scripted::Node;
use jarmo::games::{ConnectFour, Guard, Jarmo, Scripted, ScriptedPosition, Tammi};
use jarmo::random::stream;
use jarmo::search::{
    Batch, GumbelSettings, Policy, PuctSettings, Step, Tree, TreeLimit, dirichlet, gumbel_noise,
};
use rand::Rng;

const GUMBEL: Policy = Policy::Gumbel(GumbelSettings {
    considered: 16,
    value_scale: 0.1,
    visit_offset: 50.0,
    point: 0.0,
});

fn policies() -> [Policy; 2] {
    [GUMBEL, Policy::Puct(PuctSettings::default())]
}

/// A tree of a game's start with everything judged by `evaluator`, after this many simulations.
fn grown<G: Game>(
    game: &G,
    policy: Policy,
    simulations: u32,
    evaluator: &mut impl Evaluator<G>,
) -> Tree<G> {
    let limit = TreeLimit::for_simulations(game, simulations);
    let mut tree = Tree::new(game.clone(), policy, limit, game.start());
    tree.plan(simulations, simulations, &[], 7);
    Batch::new(game).search(std::slice::from_mut(&mut tree), evaluator, |_| false);
    tree
}

/// Judges each node of a scripted game by its number, seen by White.
fn by_node(
    game: &Scripted,
    white: HashMap<u32, f32>,
) -> ScriptedEvaluator<impl FnMut(&ScriptedPosition, &mut [f32]) -> Evaluation + use<>> {
    let rules = game.clone();
    ScriptedEvaluator::new(game, 1, move |position: &ScriptedPosition, logits| {
        logits.fill(0.0);
        let text = rules.position_text(position);
        let node: u32 = text.split(' ').next().unwrap().parse().unwrap();
        let result = white.get(&node).copied().unwrap_or(0.0);
        let value = Value {
            win: (1.0 + result) / 2.0,
            draw: 0.0,
            loss: (1.0 - result) / 2.0,
            score: 10.0 * result,
        };
        Evaluation::of(match rules.to_move(position) {
            Player::White => value,
            Player::Black => value.flip(),
        })
    })
}

/// A long corridor in which `mover` never has a choice, so that nothing is certain early.
fn corridor(mover: Player, length: usize) -> Node {
    let mut node = Node::end(1, 1);
    for _ in 0..length {
        node = Node::Choice(mover, vec![node]);
    }
    node
}

#[test]
fn values_keep_their_sign_where_the_mover_repeats() {
    // White moves to node 1, again to node 2, then Black to node 3, Black to node 4.
    let line = Node::white([Node::white([Node::white([Node::black([Node::black([
        corridor(Player::White, 20),
    ])])])])]);
    let game = Scripted::new(&line);
    let white = HashMap::from([(1, 0.5), (2, 0.25), (3, 0.125), (4, -0.5)]);
    for policy in policies() {
        let tree = grown(&game, policy, 4, &mut by_node(&game, white.clone()));
        let root = tree.root_actions()[0];
        let mean = (0.5 + 0.25 + 0.125 - 0.5) / 4.0;
        let value = root.value.unwrap();
        assert!((value.expectation() - mean).abs() < 1e-6, "{value:?}");
        assert!((value.score - 10.0 * mean).abs() < 1e-5, "{value:?}");
        // The root's own judgement, 0, is one evaluation more.
        let own = tree.value().unwrap().expectation();
        assert!((own - mean * 4.0 / 5.0).abs() < 1e-6, "{own}");
    }
}

#[test]
fn both_players_choose_for_themselves_where_the_mover_repeats() {
    // Black would give White the win at once if he were taken for White at his second choice.
    let trap = Node::black([Node::black([Node::end(9, 0), Node::end(0, 9)])]);
    let game = Scripted::new(&Node::white([trap, Node::end(5, 5)]));
    for policy in policies() {
        let tree = grown(&game, policy, 64, &mut Uniform);
        assert_eq!(tree.best(), Some(Action(1)), "{policy:?}");
        assert_eq!(tree.proven(), Some((Verdict::Draw, None)), "{policy:?}");
    }
}

#[test]
fn points_count_as_far_as_they_are_told_to() {
    // Nearly lost either way: the first a little less so, the second by fewer points.
    let game = Scripted::new(&Node::white([
        corridor(Player::Black, 50),
        corridor(Player::Black, 50),
    ]));
    let best = |policy: Policy| {
        let rules = game.clone();
        let mut judge = ScriptedEvaluator::new(&game, 1, move |position: &_, logits| {
            logits.fill(0.0);
            let text = rules.position_text(position);
            let node: u32 = text.split(' ').next().unwrap().parse().unwrap();
            let (win, score) = if node > 51 { (0.96, 1.0) } else { (0.95, 6.0) };
            Evaluation::of(Value {
                win,
                draw: 0.0,
                loss: 1.0 - win,
                score,
            })
        });
        let tree = grown(&game, policy, 32, &mut judge);
        for root in tree.root_actions() {
            let value = root.value.unwrap();
            let [result, score] = [[-0.9, -6.0], [-0.92, -1.0]][root.action.index()];
            assert!((value.expectation() - result).abs() < 1e-5, "{value:?}");
            assert!((value.score - score).abs() < 1e-5, "{value:?}");
        }
        tree.best()
    };
    for (point, action) in [(0.0, Action(0)), (0.05, Action(1))] {
        let gumbel = GumbelSettings {
            point,
            ..GumbelSettings::default()
        };
        assert_eq!(best(Policy::Gumbel(gumbel)), Some(action), "{point}");
        let puct = PuctSettings {
            point,
            ..PuctSettings::default()
        };
        assert_eq!(best(Policy::Puct(puct)), Some(action), "{point}");
    }
}

#[test]
fn certain_wins_are_played_the_quickest_first() {
    let slow = Node::black([Node::white([Node::end(2, 1)])]);
    let slower = Node::black([Node::white([Node::black([Node::white([Node::end(2, 1)])])])]);
    let game = Scripted::new(&Node::white([slower, slow.clone(), Node::end(3, 3)]));
    for policy in policies() {
        let mut tree = grown(&game, policy, 100, &mut Uniform);
        let (verdict, plies) = tree.proven().unwrap();
        assert_eq!(verdict, Verdict::Win);
        assert!(plies == Some(3) || plies == Some(5), "{plies:?}");
        let best = tree.best().unwrap();
        let known: Vec<_> = tree.root_actions().iter().map(|root| root.proven).collect();
        let quickest = known
            .iter()
            .flatten()
            .filter(|proven| proven.0 == Verdict::Win)
            .map(|proven| proven.1.unwrap())
            .min();
        assert_eq!(known[best.index()], Some((Verdict::Win, quickest)));
        let mut weights = vec![0.0; game.actions()];
        tree.write_policy(&mut weights);
        assert_eq!(weights[best.index()], 1.0, "{weights:?}");
        // The search is over: nothing more is selected.
        tree.plan(10, 10, &[], 0);
        assert!(matches!(tree.select(), Step::Done));
    }
}

#[test]
fn certain_losses_hold_out_the_longest() {
    let long = Node::black([Node::white([Node::black([Node::end(0, 1)])])]);
    let game = Scripted::new(&Node::white([
        Node::end(0, 4),
        long,
        Node::black([Node::end(0, 1)]),
    ]));
    for policy in policies() {
        let tree = grown(&game, policy, 100, &mut Uniform);
        assert_eq!(tree.proven(), Some((Verdict::Loss, Some(4))), "{policy:?}");
        assert_eq!(tree.best(), Some(Action(1)));
        assert_eq!(tree.line(Action(1)).len(), 4);
    }
}

#[test]
fn certain_children_are_never_visited_again() {
    let game = Scripted::new(&Node::white([
        Node::end(0, 1),
        Node::end(1, 1),
        corridor(Player::Black, 300),
        Node::black([Node::end(0, 1), corridor(Player::Black, 300)]),
    ]));
    for policy in policies() {
        let tree = grown(&game, policy, 200, &mut Uniform);
        let roots = tree.root_actions();
        assert_eq!((roots[0].visits, roots[1].visits), (1, 1), "{policy:?}");
        assert_eq!(roots[1].proven, Some((Verdict::Draw, Some(1))));
        // Black proves the fourth a loss for White as soon as he looks at its first branch.
        assert_eq!(roots[3].proven, Some((Verdict::Loss, Some(2))));
        assert!(roots[3].visits <= 3, "{}", roots[3].visits);
        let mut weights = vec![0.0; game.actions()];
        tree.write_policy(&mut weights);
        assert_eq!(
            (weights[0], weights[3]),
            (0.0, 0.0),
            "no mass on certain losses"
        );
    }
}

#[test]
fn an_evaluators_certainty_counts_like_an_end() {
    let game = Scripted::new(&Node::white([
        corridor(Player::Black, 50),
        corridor(Player::Black, 50),
    ]));
    let rules = game.clone();
    let mut tables =
        ScriptedEvaluator::new(&game, 1, move |position: &ScriptedPosition, logits| {
            logits.fill(0.0);
            let lost = rules.position_text(position) == "1 1";
            Evaluation {
                value: Value::EVEN,
                proven: lost.then_some((Verdict::Loss, Some(6))),
            }
        });
    let tree = grown(&game, GUMBEL, 20, &mut tables);
    assert_eq!(tree.proven(), Some((Verdict::Win, Some(7))));
    assert_eq!(tree.best(), Some(Action(0)));
}

#[test]
fn positions_with_one_legal_action_are_run_through_where_moves_are_often_forced() {
    let game = Tammi::new(30, 200);
    let mut start = game.start();
    let mut stream = stream(3, 0);
    while game.ply(&start) < 20 || game.legal(&start).count() == 1 {
        let legal = game.legal(&start);
        game.play(
            &mut start,
            legal.nth(stream.next_u64() as u32 % legal.count()),
        );
    }
    for policy in policies() {
        for nodes in [3, 10, 100, 1000] {
            let rules = game.clone();
            let mut asked = Vec::new();
            let mut judge = ScriptedEvaluator::new(&game, 1, |position: &_, logits| {
                logits.fill(0.0);
                asked.push(rules.legal(position).count());
                Evaluation::of(Value::EVEN)
            });
            let limit = TreeLimit {
                nodes,
                edges: 100 * nodes,
            };
            let mut tree = Tree::new(game.clone(), policy, limit, start);
            tree.plan(400, 400, &[], 7);
            Batch::new(&game).search(std::slice::from_mut(&mut tree), &mut judge, |_| false);
            let size = tree.size();
            assert!(size.nodes <= nodes as usize);
            // Where there is no room to run on, the position is judged after all.
            let forced = asked.iter().filter(|&&count| count == 1).count();
            assert!(forced <= usize::from(tree.is_full()), "{forced} judged");
            if nodes == 1000 {
                assert_eq!(tree.simulations_done(), 400);
                assert!(size.nodes > asked.len() + 40, "{size:?}, {}", asked.len());
            }
            for root in tree.root_actions() {
                let value = root.value.map_or(0.0, |value| value.expectation());
                assert!((-1.0..=1.0).contains(&value), "{root:?}");
            }
        }
    }
}

#[test]
fn a_full_tree_stops_and_answers() {
    let game = Jarmo::standard();
    let limit = TreeLimit {
        nodes: 20,
        edges: 100,
    };
    for policy in policies() {
        let mut tree = Tree::new(game.clone(), policy, limit, game.start());
        tree.plan(1000, 1000, &[], 0);
        Batch::new(&game).search(std::slice::from_mut(&mut tree), &mut Uniform, |_| false);
        assert!(tree.is_full());
        assert!(game.legal(&game.start()).contains(tree.best().unwrap()));
        let size = tree.size();
        assert!(size.nodes <= 20 && size.edges <= 100, "{size:?}");
    }
    let none = TreeLimit { nodes: 0, edges: 0 };
    let mut tree = Tree::new(game.clone(), GUMBEL, none, game.start());
    tree.plan(10, 10, &[], 0);
    assert!(matches!(tree.select(), Step::Done));
    assert_eq!((tree.best(), tree.value()), (None, None));
}

#[test]
fn an_edge_takes_at_most_100_bytes() {
    fn check<G: Game>(game: G) {
        let tree = grown(&game, GUMBEL, 2000, &mut Rollout::new(game.clone()));
        let size = tree.size();
        let per_edge = size.bytes as f64 / size.edges as f64;
        assert!(per_edge <= 100.0, "{}: {per_edge}", game.id());
    }
    check(Jarmo::standard());
    check(Guard::standard());
    check(Tammi::standard());
    check(ConnectFour::new(0));
}

#[test]
fn a_simulation_allocates_nothing() {
    fn check<G: Game>(game: G) {
        for policy in policies() {
            let limit = TreeLimit::for_simulations(&game, 600);
            let mut tree = Tree::new(game.clone(), policy, limit, game.start());
            let mut batch = Batch::new(&game);
            let mut rollout = Rollout::new(game.clone());
            let mut more = |simulations| {
                tree.plan(simulations, simulations, &[], 3);
                batch.search(std::slice::from_mut(&mut tree), &mut rollout, |_| false);
            };
            more(10); // the rows of the batch and of the plan
            let count = allocation_counter::measure(|| more(500)).count_total;
            assert_eq!(count, 0, "{} {policy:?}", game.id());
        }
    }
    check(Jarmo::standard());
    check(Guard::standard());
    check(Tammi::standard());
    check(ConnectFour::new(0));
}

#[test]
fn no_simulations_answer_from_the_judgement_of_the_root() {
    let game = Scripted::new(&Node::white([
        corridor(Player::Black, 9),
        corridor(Player::Black, 9),
    ]));
    let mut second =
        ScriptedEvaluator::new(&game, 1, |_: &ScriptedPosition, logits: &mut [f32]| {
            logits.fill(0.0);
            logits[1] = 1.0;
            Evaluation::of(Value::EVEN)
        });
    let tree = grown(&game, GUMBEL, 0, &mut second);
    assert_eq!(tree.best(), Some(Action(1)));
    assert_eq!(tree.size().nodes, 1);
}

#[test]
fn a_position_that_is_over_has_nothing_to_search() {
    let game = Scripted::new(&Node::white([Node::end(1, 0)]));
    let mut position = game.start();
    game.play(&mut position, Action(0));
    let mut tree = Tree::new(game, GUMBEL, TreeLimit { nodes: 9, edges: 9 }, position);
    tree.plan(5, 5, &[], 0);
    assert!(matches!(tree.select(), Step::Done));
    assert_eq!(tree.best(), None);
}

#[test]
#[should_panic(expected = "not the leaf selected last")]
fn a_leaf_of_before_a_restart_is_refused() {
    let game = Jarmo::standard();
    let limit = TreeLimit::for_simulations(&game, 8);
    let mut tree = Tree::new(game.clone(), GUMBEL, limit, game.start());
    tree.plan(8, 8, &[], 0);
    let Step::Judge(leaf) = tree.select() else {
        panic!("the root wants to be judged");
    };
    tree.restart(game.start());
    tree.expand(leaf, &[], &Evaluation::of(Value::EVEN));
}

/// A policy with opinions: a hash of the position, the same whatever it is asked with.
fn opinionated<G: Game>(
    game: &G,
    batch: usize,
) -> ScriptedEvaluator<impl FnMut(&G::Position, &mut [f32]) -> Evaluation + use<G>> {
    let rules = game.clone();
    ScriptedEvaluator::new(game, batch, move |position: &G::Position, logits| {
        let text = rules.position_text(position);
        let seed = text.bytes().fold(1_u64, |sum, byte| {
            sum.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte)
        });
        let mut bits = stream(seed, 0);
        let mut uniform = || (bits.next_u64() >> 40) as f32 / (1 << 24) as f32;
        logits.iter_mut().for_each(|logit| *logit = 4.0 * uniform());
        let win = uniform();
        Evaluation::of(Value {
            win: 0.9 * win,
            draw: 0.1,
            loss: 0.9 * (1.0 - win),
            score: 6.0 * win - 3.0,
        })
    })
}

/// What two trees must have in common to be the same.
fn summary<G: Game>(tree: &Tree<G>) -> String {
    format!(
        "{:?} {:?} {:?}",
        tree.root_actions(),
        tree.best(),
        tree.size()
    )
}

#[test]
fn a_tree_does_not_depend_on_its_neighbours() {
    fn check<G: Game>(game: G, positions: usize) {
        let mut choose = common::chooser(5);
        let mut starts = Vec::new();
        while starts.len() < positions {
            let mut position = game.start();
            for _ in 0..choose(25) {
                let legal = game.legal(&position);
                if legal.is_empty() {
                    break;
                }
                game.play(
                    &mut position,
                    legal.nth(choose(legal.count() as usize) as u32),
                );
            }
            starts.push(position);
        }
        for policy in policies() {
            let make = |(index, position): (usize, &G::Position)| {
                let limit = TreeLimit::for_simulations(&game, 60);
                let mut tree = Tree::new(game.clone(), policy, limit, *position);
                let mut noise = stream(3, index as u64);
                let legal = game.legal(position).count() as usize;
                let noise: Vec<f32> = match policy {
                    Policy::Gumbel(_) => {
                        (0..legal).map(|_| gumbel_noise(noise.next_u64())).collect()
                    }
                    Policy::Puct(_) => {
                        let mut sample = vec![0.0; legal];
                        dirichlet(0.5, &mut sample, || noise.next_u64());
                        sample
                    }
                };
                tree.plan(20 + index as u32, 60, &noise, index as u64);
                tree
            };
            let trees = || starts.iter().enumerate().map(make).collect::<Vec<_>>();
            let mut alone = trees();
            for tree in &mut alone {
                Batch::new(&game).search(
                    std::slice::from_mut(tree),
                    &mut opinionated(&game, 1),
                    |_| false,
                );
            }
            for width in [3, 1000] {
                let mut together = trees();
                let mut evaluator = opinionated(&game, width);
                Batch::new(&game).search(&mut together, &mut evaluator, |_| false);
                for (one, other) in alone.iter().zip(&together) {
                    assert_eq!(summary(one), summary(other), "{} {width}", game.id());
                }
            }
            // The random games of rollouts come from each tree's own seed.
            let (mut one_by_one, mut all) = (trees(), trees());
            let mut rollout = Rollout::new(game.clone());
            for tree in &mut one_by_one {
                Batch::new(&game).search(std::slice::from_mut(tree), &mut rollout, |_| false);
            }
            Batch::new(&game).search(&mut all, &mut rollout, |_| false);
            for (one, other) in one_by_one.iter().zip(&all) {
                assert_eq!(summary(one), summary(other), "{}", game.id());
            }
        }
    }
    check(Jarmo::standard(), 20);
    check(Guard::standard(), 20);
    check(Tammi::standard(), 10);
}

#[test]
fn a_cache_changes_nothing_but_the_number_of_evaluations() {
    let game = Jarmo::standard();
    let plain = grown(&game, GUMBEL, 400, &mut opinionated(&game, 1));
    for capacity in [1, 64, 1 << 14] {
        let mut cache = Cache::new(&game, opinionated(&game, 1), capacity);
        let first = grown(&game, GUMBEL, 400, &mut cache);
        let (_, misses) = cache.hits_and_misses();
        let second = grown(&game, GUMBEL, 400, &mut cache);
        let (hits, all_misses) = cache.hits_and_misses();
        assert_eq!(summary(&first), summary(&plain));
        assert_eq!(summary(&second), summary(&plain));
        if capacity > 400 {
            assert_eq!(misses, all_misses, "everything is remembered");
            assert!(hits >= 300, "{hits}");
        }
    }
}

#[test]
fn a_cache_judges_twins_in_a_batch_once() {
    let game = Jarmo::standard();
    let mut cache = Cache::new(&game, opinionated(&game, 1), 16);
    let positions = [game.start(); 5];
    let mut logits = vec![0.0; 5 * game.actions()];
    let mut answers = [Evaluation::of(Value::EVEN); 5];
    cache.evaluate(&positions, &[0; 5], &mut logits, &mut answers);
    assert_eq!(cache.hits_and_misses(), (4, 1));
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    let (first, rest) = logits.split_at(game.actions());
    assert!(rest.chunks(game.actions()).all(|row| row == first));
}

#[test]
fn the_subtree_of_a_move_is_kept_whole() {
    let game = Tammi::standard();
    for policy in policies() {
        let mut evaluator = opinionated(&game, 1);
        let limit = TreeLimit::for_simulations(&game, 2000);
        let mut tree = Tree::new(game.clone(), policy, limit, game.start());
        let mut position = game.start();
        for ply in 0..30 {
            if tree.proven().is_some() || game.outcome(&position).is_some() {
                break;
            }
            tree.plan(100, 100, &[], ply);
            Batch::new(&game).search(std::slice::from_mut(&mut tree), &mut evaluator, |_| false);
            let action = tree.best().unwrap();
            let before = tree.root_actions();
            let chosen = before.iter().find(|root| root.action == action).unwrap();
            let (visits, line) = (chosen.visits, tree.line(action));
            tree.advance(action);
            game.play(&mut position, action);
            assert_eq!(*tree.position(), position);
            if game.outcome(&position).is_some() {
                break;
            }
            let after: u32 = tree.root_actions().iter().map(|root| root.visits).sum();
            let judged = u32::from(game.legal(&position).count() > 1); // itself
            assert_eq!(after + judged, visits, "ply {ply}");
            if line.len() > 1 {
                assert_eq!(tree.line(line[1]), line[1..], "ply {ply}");
            }
        }
    }
}

#[test]
fn what_is_known_of_a_later_position_is_kept_if_there_is_room() {
    let game = Jarmo::standard();
    let room = |simulations| TreeLimit::for_simulations(&game, simulations);
    for policy in policies() {
        let grow = || {
            let mut tree = Tree::new(game.clone(), policy, room(600), game.start());
            tree.plan(300, 300, &[], 7);
            let mut evaluator = opinionated(&game, 1);
            Batch::new(&game).search(std::slice::from_mut(&mut tree), &mut evaluator, |_| false);
            tree
        };
        let mut advanced = grow();
        let line = advanced.line(advanced.best().unwrap());
        let mut position = game.start();
        for &action in &line[..2] {
            advanced.advance(action);
            game.play(&mut position, action);
        }
        let nodes = advanced.size().nodes;
        assert!(nodes > 10, "a test of a tree, not of a leaf");
        let mut found = grow();
        found.go_on(position, room(300));
        assert_eq!(*found.position(), position);
        assert_eq!(found.root_actions(), advanced.root_actions());

        let mut full = grow();
        full.go_on(position, room(600));
        assert_eq!((*full.position(), full.size().nodes), (position, 0));
        let mut elsewhere = grow();
        let text = "5/2w2/5/2b2/5 w - - 0";
        elsewhere.go_on(game.parse_position(text).unwrap(), room(300));
        assert_eq!(elsewhere.size().nodes, 0);
    }
}

/// White has a quiet move and one after which Black is to choose, and, as a judge knows, to lose.
#[test]
fn a_position_known_to_be_won_without_its_way_is_searched_again() {
    let lost = Node::Choice(
        Player::Black,
        vec![corridor(Player::White, 3), corridor(Player::White, 2)],
    );
    let game = Scripted::new(&Node::Choice(
        Player::White,
        vec![corridor(Player::Black, 9), lost],
    ));
    for policy in policies() {
        let rules = game.clone();
        let mut evaluator =
            ScriptedEvaluator::new(&game, 1, move |position: &ScriptedPosition, logits| {
                logits.fill(0.0);
                let choices = rules.legal(position).count();
                let is_start = rules.ply(position) == 0;
                Evaluation {
                    proven: (choices == 2 && !is_start).then_some((Verdict::Loss, Some(4))),
                    ..Evaluation::of(Value::EVEN)
                }
            });
        let limit = TreeLimit::for_simulations(&game, 40);
        let mut tree = Tree::new(game.clone(), policy, limit, game.start());
        let mut batch = Batch::new(&game);
        tree.plan(20, 20, &[], 7);
        batch.search(std::slice::from_mut(&mut tree), &mut evaluator, |_| false);
        assert_eq!(tree.proven(), Some((Verdict::Win, Some(5))), "{policy:?}");
        let mut position = game.start();
        game.play(&mut position, tree.best().unwrap());
        tree.go_on(position, TreeLimit::for_simulations(&game, 20));
        assert_eq!(tree.size().nodes, 0, "{policy:?}");
        tree.plan(20, 20, &[], 7);
        batch.search(std::slice::from_mut(&mut tree), &mut evaluator, |_| false);
        assert!(tree.best().is_some());
    }
}

#[test]
fn a_temperature_makes_priors_flatter() {
    let game = Jarmo::standard();
    let priors = |temperature: f32| -> Vec<f32> {
        let settings = PuctSettings {
            temperature,
            ..PuctSettings::default()
        };
        let tree = grown(&game, Policy::Puct(settings), 4, &mut opinionated(&game, 1));
        tree.root_actions().iter().map(|root| root.prior).collect()
    };
    let (plain, flat) = (priors(1.0), priors(2.0));
    assert!((flat.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    let roots: Vec<f32> = plain.iter().map(|prior| prior.sqrt()).collect();
    let sum: f32 = roots.iter().sum();
    let most = |numbers: &[f32]| numbers.iter().fold(0.0, |most: f32, &n| most.max(n));
    assert!(most(&plain) > 1.2 * most(&flat), "a test of an opinion");
    for (flat, root) in flat.iter().zip(roots) {
        assert!((flat - root / sum).abs() < 1e-5);
    }
}

#[test]
fn noise_comes_from_outside_and_changes_the_choice() {
    let game = Jarmo::standard();
    let legal = game.legal(&game.start()).count() as usize;
    let pick = |favourite: usize| {
        let limit = TreeLimit::for_simulations(&game, 16);
        let mut tree = Tree::new(game.clone(), GUMBEL, limit, game.start());
        let mut noise = vec![0.0; legal];
        noise[favourite] = 50.0;
        tree.plan(16, 16, &noise, 0);
        Batch::new(&game).search(std::slice::from_mut(&mut tree), &mut Uniform, |_| false);
        tree.best()
    };
    let actions: Vec<Action> = game.legal(&game.start()).iter().collect();
    for (favourite, action) in actions.into_iter().enumerate() {
        assert_eq!(pick(favourite), Some(action));
    }
}

#[test]
fn dirichlet_and_gumbel_noise_have_their_means() {
    let mut bits = stream(11, 0);
    for alpha in [0.03, 0.3, 1.0, 10.0] {
        let (mut sum, mut squares) = (0.0, 0.0);
        const SAMPLES: usize = 20_000;
        for _ in 0..SAMPLES {
            let mut sample = [0.0; 4];
            dirichlet(alpha, &mut sample, || bits.next_u64());
            assert!((sample.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            sum += f64::from(sample[0]);
            squares += f64::from(sample[0]).powi(2);
        }
        let mean = sum / SAMPLES as f64;
        let variance = squares / SAMPLES as f64 - mean * mean;
        let expected = 0.25 * 0.75 / (4.0 * alpha + 1.0);
        assert!((mean - 0.25).abs() < 0.02, "{alpha}: {mean}");
        assert!(
            (variance / expected - 1.0).abs() < 0.1,
            "{alpha}: {variance}"
        );
    }
    let mean = (0..20_000)
        .map(|_| f64::from(gumbel_noise(bits.next_u64())))
        .sum::<f64>()
        / 20_000.0;
    assert!((mean - 0.577).abs() < 0.03, "{mean}");
}
