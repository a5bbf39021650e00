//! An agent that draws its actions from a policy.

use jarmo::agent::{Agent, Candidate, Decision, Limit, Request, SamplingAgent};
use jarmo::eval::Value;
use jarmo::game::{Action, Game, Mask};
use jarmo::games::Jarmo;
use jarmo::random::stream;

/// Considers the first three legal actions, always with the same policy.
struct Undecided;

const POLICY: [f32; 3] = [0.6, 0.3, 0.1];

impl Agent<Jarmo> for Undecided {
    fn choose(&mut self, requests: &mut [Request<'_, Jarmo>]) -> Vec<Decision> {
        let decision = |request: &mut Request<'_, Jarmo>| {
            let legal = Jarmo::standard().legal(&request.position);
            let candidate = |(action, policy)| Candidate {
                action,
                visits: 0,
                policy,
                value: Value::EVEN,
                proven: None,
                line: vec![action],
            };
            let candidates: Vec<_> = legal.iter().zip(POLICY).map(candidate).collect();
            Decision { action: candidates[0].action, value: Value::EVEN, proven: None, nodes: 0, depth: 0, candidates }
        };
        requests.iter_mut().map(decision).collect()
    }
}

#[test]
fn sampling_draws_actions_as_often_as_policy_and_temperature_say() {
    let game = Jarmo::standard();
    let actions: Vec<Action> = game.legal(&game.start()).iter().take(3).collect();
    for temperature in [0.5, 1.0, 2.0] {
        let mut agent = SamplingAgent::new(Box::new(Undecided), temperature);
        let weights = POLICY.map(|policy| f64::from(policy).powf(1.0 / f64::from(temperature)));
        let all: f64 = weights.iter().sum();
        let mut counts = [0; 3];
        const DRAWS: u32 = 20_000;
        let mut stream = stream(1, 0);
        for _ in 0..DRAWS {
            let mut requests =
                [Request { position: game.start(), stream: &mut stream, limit: Limit::default(), memory: None }];
            let decision = agent.choose(&mut requests).remove(0);
            assert_eq!(decision.candidates[0].action, decision.action);
            assert_eq!(decision.candidates.len(), 3);
            let drawn = actions.iter().position(|action| *action == decision.action);
            counts[drawn.unwrap()] += 1;
        }
        for (count, weight) in counts.into_iter().zip(weights) {
            let share = f64::from(count) / f64::from(DRAWS);
            let expected = weight / all;
            let deviation = (expected * (1.0 - expected) / f64::from(DRAWS)).sqrt();
            assert!((share - expected).abs() < 5.0 * deviation, "{temperature}: {counts:?}");
        }
    }
}
