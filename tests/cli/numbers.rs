//! Impossible numbers, given to the program: refused with exit status 2 before anything is written.

use std::fs;

use assert_cmd::Command;
use predicates::str::{contains, is_empty};

#[test]
fn impossible_numbers_are_refused_before_anything_is_written() {
    let cases = [
        ("arena random alphabeta:9?mb=90000 --games-out g", "from 1 to 65536"),
        ("arena random rollout:2000000000 --games-out g", "from 0 to 1000000000"),
        ("arena random greedy --random-plies 4294967295 --games-out g", "from 0 to 1000"),
        ("arena random greedy --random-plies 500 --games-out g", "--random-plies"),
        ("arena random greedy --sims 18446744073709551615 --games-out g", "from 1 to 1000000000"),
        ("arena random greedy --games -2 --games-out g", "from 2 to 1000000"),
        ("arena random greedy --games 4294967294 --games-out g", "from 2 to 1000000"),
        ("arena random greedy --threads 18446744073709551615 --games-out g", "from 1 to 1024"),
        ("arena random greedy --anchor random=1e300 --games-out g", "from -10000 to 10000"),
        ("arena random greedy --sprt 0,inf --games-out g", "from -1000 to 1000"),
        ("train --run r --set run.threads=9223372036854775807", "from 0 to 1024"),
        ("train --run r --set run.reuse=1e300", "from 0.001 to 1000"),
        ("train --run r --set run.reuse=nan", "from 0.001 to 1000"),
        ("train --run r --set evaluation.random_plies=1001", "from 0 to 1000"),
        ("train --run r --set evaluation.random_plies=190", "evaluation.random_plies = 190: most games"),
        (
            "train --run r --set game.name=connect_four --set evaluation.random_plies=38",
            "evaluation.random_plies = 38: most games",
        ),
        ("train --run r --steps -1", "from 0 to 1000000000000"),
        ("train --run r --minutes inf", "from 0 to 10000000"),
        ("train --run r --steps 18446744073709551615", "from 0 to 1000000000000"),
        ("bench search --games 18446744073709551615", "from 1 to 65536"),
        ("bench net --batch 18446744073709551615", "from 1 to 65536"),
        ("accuracy random --worst 101", "from 0 to 100"),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (words, message) in cases {
        Command::cargo_bin("jarmo")
            .unwrap()
            .current_dir(folder.path())
            .args(words.split(' '))
            .assert()
            .code(2)
            .stdout(is_empty())
            .stderr(contains(message));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{words}");
    }
}
