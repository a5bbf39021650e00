//! Ratings and the sequential test on simulated results of known strength.

use jarmo::arena::{Bout, Cluster, Conclusion, Fit, Pairing, Sprt, expected_score};
use jarmo::random::{Stream, stream};
use rand::RngExt;

/// Simulated agents of known strength.
struct World {
    truth: Vec<f64>,
    draws_between_equals: f64,
    /// The most Elo by which an opening favours one side.
    opening_elo: f64,
}

impl World {
    /// The half points of the first agent in a pair, and the draws.
    fn pair(&self, first: usize, second: usize, stream: &mut Stream) -> (u32, u32) {
        let opening = self.opening_elo * (2.0 * uniform(stream) - 1.0);
        let difference = self.truth[first] - self.truth[second];
        let mut half_points = 0;
        let mut draws = 0;
        for favour in [opening, -opening] {
            let [win, draw, _] = result_probabilities(difference + favour, self.draws_between_equals);
            let roll = uniform(stream);
            if roll < win {
                half_points += 2;
            } else if roll < win + draw {
                half_points += 1;
                draws += 1;
            }
        }
        (half_points, draws)
    }

    fn play(&self, pairing: Pairing, pairs: u32, stream: &mut Stream) -> Vec<Bout> {
        let bouts = pairing.bouts(self.truth.len());
        let bout = |(first, second)| {
            let mut bout = Bout { first, second, ..Bout::default() };
            for _ in 0..pairs {
                let (half_points, draws) = self.pair(first, second, stream);
                bout.draws += draws;
                bout.clusters.push(Cluster { pairs: 1, half_points });
            }
            bout
        };
        bouts.into_iter().map(bout).collect()
    }

    fn mean(&self) -> f64 {
        self.truth.iter().sum::<f64>() / self.truth.len() as f64
    }
}

/// The probabilities of win, draw and loss for an agent that is this much stronger. Equal agents draw a share
/// `draws_between_equals` of their games, below 1.
fn result_probabilities(elo: f64, draws_between_equals: f64) -> [f64; 3] {
    let nu = 2.0 * draws_between_equals / (1.0 - draws_between_equals);
    let score = expected_score(elo);
    let unit = score * (1.0 - score);
    let draw = 2.0 * nu * unit / (0.5 * nu + (0.25 * nu * nu + (4.0 - nu * nu) * unit).sqrt());
    [score - 0.5 * draw, draw, 1.0 - score - 0.5 * draw]
}

fn uniform(stream: &mut Stream) -> f64 {
    stream.random_range(0.0..1.0)
}

/// The share of trials in which the truth lies inside the interval: for every agent relative to the
/// mean, and for every difference to the first agent.
fn coverage(world: &World, pairing: Pairing, pairs: u32, trials: u32) -> (f64, f64) {
    let agents = world.truth.len();
    let (mut ratings, mut differences) = (0, 0);
    for trial in 0..trials {
        let mut stream = stream(5, u64::from(trial));
        let fit = Fit::new(agents, &world.play(pairing, pairs, &mut stream));
        for agent in 0..agents {
            let rating = fit.rating(agent, None);
            let missed = rating.elo - (world.truth[agent] - world.mean());
            ratings += u32::from(missed.abs() <= rating.margin);
            if agent > 0 {
                let difference = fit.difference(agent, 0);
                let missed = difference.elo - (world.truth[agent] - world.truth[0]);
                differences += u32::from(missed.abs() <= difference.margin);
            }
        }
    }
    let share = |hits: u32, per_trial: usize| f64::from(hits) / (trials as usize * per_trial) as f64;
    (share(ratings, agents), share(differences, agents - 1))
}

#[test]
fn the_truth_lies_inside_the_interval_in_95_percent_of_1000_trials() {
    let robin = Pairing::RoundRobin;
    for (truth, draws, pairs, pairing) in [
        (vec![0.0, 40.0], 0.1, 100, robin),
        (vec![0.0, 250.0], 0.3, 100, robin),
        (vec![0.0, 600.0], 0.1, 100, robin),
        (vec![0.0, 0.0], 0.7, 200, robin),
        (vec![-150.0, -30.0, 0.0, 60.0, 200.0], 0.1, 40, robin),
        (vec![0.0, -80.0, 50.0, 150.0], 0.4, 100, Pairing::Gauntlet),
    ] {
        let world = World { truth, draws_between_equals: draws, opening_elo: 0.0 };
        let (ratings, differences) = coverage(&world, pairing, pairs, 1000);
        for share in [ratings, differences] {
            assert!((0.93..=0.97).contains(&share), "{:?}: {share}", world.truth);
        }
    }
}

/// One bout with these half points per pair.
fn bout(half_points: &[u32]) -> Bout {
    let cluster = |&half_points| Cluster { pairs: 1, half_points };
    Bout { first: 0, second: 1, draws: 0, clusters: half_points.iter().map(cluster).collect() }
}

#[test]
fn the_interval_follows_the_variance_of_pairs_not_of_games() {
    // 120 points of 200 games, once from even pairs and once from decided ones.
    let decided = [4, 2, 2, 2, 2].repeat(20);
    let scattered = [4, 4, 4, 0, 0].repeat(20);
    let decided = Fit::new(2, &[bout(&decided)]).difference(0, 1);
    let scattered = Fit::new(2, &[bout(&scattered)]).difference(0, 1);
    assert!((decided.elo - scattered.elo).abs() < 1e-9);
    assert!(2.0 * decided.margin < scattered.margin);
    assert!(expected_score(decided.elo) > 0.59 && expected_score(decided.elo) < 0.6);
}

#[test]
fn exact_repetitions_change_neither_rating_nor_interval() {
    for results in [[4, 4, 2, 2, 2, 0, 3, 1, 4, 2].repeat(3), vec![4], vec![3]] {
        let once = bout(&results);
        let mut again = once.clone();
        for cluster in &mut again.clusters {
            cluster.pairs *= 100;
            cluster.half_points *= 100;
        }
        let [once, again] = [once, again].map(|bout| Fit::new(2, &[bout]).difference(0, 1));
        assert_eq!(again, once);
        assert!(results.len() > 1 || once.margin > 300.0, "one distinct pair is little evidence: {once:?}");
    }
}

#[test]
fn few_games_and_clean_sweeps_have_finite_ratings_and_wide_intervals() {
    let nothing = Fit::new(3, &[bout(&[])]).difference(0, 1);
    assert!(nothing.elo.abs() < 1e-6 && nothing.margin > 600.0 && nothing.margin.is_finite());
    assert_eq!(Fit::new(2, &[bout(&[])]).difference(1, 1).above_zero(), 0.5);
    let one_pair = Fit::new(2, &[bout(&[2])]).difference(0, 1);
    assert!(one_pair.margin > 300.0, "{one_pair:?}");
    let sweep = Fit::new(2, &[bout(&[4; 100])]).difference(0, 1);
    let (low, high) = sweep.interval();
    // At 715 Elo, a score of 98.4 %, 200 wins in 200 games happen once in 25 matches.
    assert!((400.0..715.0).contains(&low) && high > 1200.0, "{sweep:?}");
    assert!(sweep.above_zero() > 0.9999);
    let lost = Fit::new(2, &[bout(&[0; 100])]).difference(0, 1);
    assert!((sweep.elo + lost.elo).abs() < 1e-6);
}

#[test]
fn the_draw_rate_between_equals_is_recovered() {
    for truth in [0.0, 0.1, 0.5, 0.9] {
        let world = World { truth: vec![0.0, 150.0, -100.0], draws_between_equals: truth, opening_elo: 0.0 };
        let bouts = world.play(Pairing::RoundRobin, 3000, &mut stream(9, 0));
        let found = Fit::new(3, &bouts).draws_between_equals;
        assert!((found - truth).abs() < 0.02, "{found} for {truth}");
    }
}

#[test]
fn result_probabilities_have_the_expected_score_and_davidsons_draws() {
    for (elo, share) in [(0.0, 0.0), (0.0, 0.3), (120.0, 0.3), (-300.0, 0.5), (900.0, 0.95)] {
        let [win, draw, loss] = result_probabilities(elo, share);
        let nu = 2.0 * share / (1.0 - share);
        assert!((win + draw + loss - 1.0).abs() < 1e-12);
        assert!((win + 0.5 * draw - expected_score(elo)).abs() < 1e-12);
        assert!((draw * draw - nu * nu * win * loss).abs() < 1e-9);
        assert!(win >= 0.0 && draw >= 0.0 && loss >= 0.0);
    }
    assert!((result_probabilities(0.0, 0.3)[1] - 0.3).abs() < 1e-12);
}

/// Plays pairs until the test decides.
fn decide(world: &World, sprt: Sprt, stream: &mut Stream) -> Conclusion {
    let mut counts = [0; 5];
    loop {
        counts[world.pair(1, 0, stream).0 as usize] += 1;
        let conclusion = sprt.decide(&counts);
        if conclusion != Conclusion::Undecided {
            return conclusion;
        }
    }
}

#[test]
fn the_sequential_test_errs_in_at_most_5_percent_either_way() {
    const TRIALS: u32 = 1500;
    let sprt = Sprt { elo0: 0.0, elo1: 60.0 };
    for (elo, right) in [(0.0, Conclusion::Elo0), (60.0, Conclusion::Elo1)] {
        for draws_between_equals in [0.1, 0.4] {
            let world = World { truth: vec![0.0, elo], draws_between_equals, opening_elo: 0.0 };
            let mut errors = 0;
            for trial in 0..TRIALS {
                let conclusion = decide(&world, sprt, &mut stream(11, u64::from(trial)));
                errors += u32::from(conclusion != right);
            }
            let rate = f64::from(errors) / f64::from(TRIALS);
            assert!((0.02..=0.06).contains(&rate), "{elo} Elo: {rate}");
        }
    }
    // Far from both hypotheses the test does not err.
    let world = World { truth: vec![0.0, 200.0], draws_between_equals: 0.1, opening_elo: 0.0 };
    let stronger = (0..200).filter(|&trial| decide(&world, sprt, &mut stream(12, trial)) == Conclusion::Elo1);
    assert_eq!(stronger.count(), 200);
}
