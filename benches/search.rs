//! Benchmarks of the hot paths of search: `cargo bench --bench search`.

use divan::{Bencher, black_box};
use jarmo::eval::{Evaluator, Rollout, Uniform};
use jarmo::games::{ConnectFour, Guard, Jarmo, Tammi};
use jarmo::search::{
    AlphaBeta, Batch, GumbelSettings, HasHeuristic, Heuristic, PuctSettings, SearchRule, Tree,
    TreeLimit,
};

const SIMULATIONS: u32 = 256;
const NODES: u64 = 20_000;

fn main() {
    divan::main();
}

/// The standard rules of each game, for benchmarks that are generic over games.
trait Standard: HasHeuristic {
    fn standard_rules() -> Self;
}

impl Standard for Jarmo {
    fn standard_rules() -> Self {
        Jarmo::standard()
    }
}

impl Standard for Guard {
    fn standard_rules() -> Self {
        Guard::standard()
    }
}

impl Standard for Tammi {
    fn standard_rules() -> Self {
        Tammi::standard()
    }
}

impl Standard for ConnectFour {
    fn standard_rules() -> Self {
        ConnectFour::new(0)
    }
}

fn grow<G: Standard>(
    bencher: Bencher<'_, '_>,
    rule: SearchRule,
    evaluator: &mut impl Evaluator<G>,
) {
    let game = G::standard_rules();
    let limit = TreeLimit::for_simulations(&game, SIMULATIONS);
    let mut tree = Tree::new(game.clone(), rule, limit, game.start());
    let mut batch = Batch::new(&game);
    let bencher = bencher.counter(divan::counter::ItemsCount::new(SIMULATIONS));
    bencher.bench_local(|| {
        tree.restart(game.start());
        tree.plan(SIMULATIONS, SIMULATIONS, &[], 1);
        batch.search(std::slice::from_mut(&mut tree), evaluator, |_| false);
        black_box(tree.best())
    });
}

#[divan::bench(types = [Jarmo, Guard, Tammi, ConnectFour])]
fn gumbel_uniform<G: Standard>(bencher: Bencher<'_, '_>) {
    grow::<G>(
        bencher,
        SearchRule::Gumbel(GumbelSettings::default()),
        &mut Uniform,
    );
}

#[divan::bench(types = [Jarmo, Guard, Tammi, ConnectFour])]
fn puct_uniform<G: Standard>(bencher: Bencher<'_, '_>) {
    grow::<G>(
        bencher,
        SearchRule::Puct(PuctSettings::default()),
        &mut Uniform,
    );
}

#[divan::bench(types = [Jarmo, Guard, Tammi, ConnectFour])]
fn puct_rollout<G: Standard>(bencher: Bencher<'_, '_>) {
    let mut rollout = Rollout::new(G::standard_rules());
    grow::<G>(
        bencher,
        SearchRule::Puct(PuctSettings::default()),
        &mut rollout,
    );
}

#[divan::bench(types = [Jarmo, Guard, Tammi, ConnectFour])]
fn alphabeta<G: Standard>(bencher: Bencher<'_, '_>) {
    let game = G::standard_rules();
    let mut search = AlphaBeta::new(game.clone(), 1 << 20, NODES);
    let bencher = bencher.counter(divan::counter::ItemsCount::new(NODES));
    bencher.bench_local(|| search.search(&game.start(), NODES, 1, &mut || false, &mut |_| {}));
}

#[divan::bench(types = [Jarmo, Guard, Tammi, ConnectFour])]
fn evaluate_and_key<G: Standard>(bencher: Bencher<'_, '_>) {
    let game = G::standard_rules();
    let heuristic = game.heuristic().unwrap();
    let start = game.start();
    bencher.bench_local(|| {
        let position = black_box(&start);
        (heuristic.evaluate(position), heuristic.key(position))
    });
}
